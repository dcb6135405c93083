//! What a kernel module says of itself: the `.modinfo` section of its ELF file,
//! whatever that file is compressed with.

use artefacts::{Error, Result, open_regular};
use object::{Object, ObjectSection};
use std::io::{BufReader, Read};
use std::path::Path;

/// No module comes near it (the largest of Debian's unpack to some 10 MB).
const LARGEST: u64 = 256 << 20;

/// The modules that a module needs, as they are named in its `depends=`. Names have
/// underscores where files may have dashes.
///
/// # Errors
/// When the bytes are no ELF file or hold no `.modinfo`.
pub fn depends(elf: &[u8]) -> Result<Vec<String>, String> {
    let file = object::File::parse(elf).map_err(|error| format!("it is no module: {error}"))?;
    let section = file.section_by_name(".modinfo").ok_or("it has no section .modinfo")?;
    let data = section.data().map_err(|error| format!("its .modinfo cannot be read: {error}"))?;
    let line = data.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"depends="));
    let names = String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
    let names = names.split(',').filter(|name| !name.is_empty());
    names
        .map(|name| {
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
            if is_plain { Ok(normal(name)) } else { Err(format!("it depends on `{name}`")) }
        })
        .collect()
}

/// The modules that a module's file needs: `.ko`, `.ko.xz`, `.ko.zst` or `.ko.gz`.
///
/// # Errors
/// When it cannot be read or unpacked, or is no module.
pub fn depends_of(path: &Path) -> Result<Vec<String>> {
    let fail = |cause: String| Error::file("read the module", path, cause);
    let bytes = unpacked(path).map_err(|error| fail(error.to_string()))?;
    depends(&bytes).map_err(fail)
}

fn unpacked(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = BufReader::new(open_regular(path)?);
    let reader: Box<dyn Read> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => Box::new(lzma_rust2::XzReader::new(file, true)),
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst") => {
            Box::new(ruzstd::decoding::StreamingDecoder::new(file).map_err(std::io::Error::other)?)
        }
        _ => Box::new(file),
    };
    let mut bytes = Vec::new();
    if reader.take(LARGEST).read_to_end(&mut bytes)? as u64 == LARGEST {
        return Err(std::io::Error::other("it unpacks to more than any module has"));
    }
    Ok(bytes)
}

/// A module's name as the kernel writes it.
pub(crate) fn normal(name: &str) -> String {
    name.replace('-', "_")
}
