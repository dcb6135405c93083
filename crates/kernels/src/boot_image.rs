//! The header of an x86 boot image (Documentation/arch/x86/boot.rst).

use artefacts::{Error, Result};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// "HdrS" stands here.
const MAGIC_AT: u64 = 0x202;
/// Offset of the release text, counted from 0x200.
const RELEASE_AT: u64 = 0x20e;
/// Longest release: __NEW_UTS_LEN is 64, and the build's user and date follow.
const LONGEST: u64 = 256;

/// The release (`uname -r`) that a bootable image says it is.
///
/// # Errors
/// When it is not a boot image, or does not say.
pub fn release_of_image(path: &Path) -> Result<String> {
    let refuse = |cause: String| {
        Error::usage(
            format!("cannot use {} as a kernel", path.display()),
            cause,
            "name a bootable bzImage, as in path:/boot/vmlinuz-6.12.0",
        )
    };
    let fail = |error: std::io::Error| Error::file("read", path, error);
    // Opening a FIFO would wait for somebody to write into it.
    if !fs::metadata(path).map_err(fail)?.is_file() {
        return Err(refuse("it is not a file".to_owned()));
    }
    let mut file = File::open(path).map_err(fail)?;
    read_release(&mut file).map_err(refuse)
}

/// Reads the release of an image from anything that can be read and sought.
///
/// # Errors
/// When it is no boot image, or does not say.
pub fn read_release(image: &mut (impl Read + Seek)) -> Result<String, String> {
    let mut at = |offset: u64, length: u64| -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        image
            .seek(SeekFrom::Start(offset))
            .and_then(|_| image.take(length).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        Ok(bytes)
    };
    let magic = at(MAGIC_AT, 4)?;
    if magic != b"HdrS" {
        return Err("it has no boot header (no `HdrS` at 0x202)".to_owned());
    }
    let offset = at(RELEASE_AT, 2)?;
    let [low, high] = offset[..] else {
        return Err("it ends inside its boot header".to_owned());
    };
    let offset = u64::from(u16::from_le_bytes([low, high]));
    if offset == 0 {
        return Err("its boot header names no release".to_owned());
    }
    let text = at(0x200 + offset, LONGEST)?;
    let end = text.iter().position(|byte| matches!(byte, 0 | b' ')).unwrap_or(text.len());
    let release = String::from_utf8_lossy(&text[..end]).into_owned();
    let is_plain = release.starts_with(|c: char| c.is_ascii_digit())
        && release.len() <= 64
        && release.chars().all(|c| c.is_ascii_graphic() && c != '/');
    if is_plain { Ok(release) } else { Err("its boot header names no readable release".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn image(release: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0_u8; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
        bytes[0x300..0x300 + release.len()].copy_from_slice(release);
        bytes
    }

    #[test]
    fn the_release_stands_where_the_header_points() {
        let bytes = image(b"6.12.1-test (me@here) #1\0");
        assert_eq!(read_release(&mut Cursor::new(bytes)).unwrap(), "6.12.1-test");
    }

    #[test]
    fn a_hostile_image_is_refused() {
        for bytes in [
            Vec::new(),
            vec![0_u8; 0x400],
            image(b"../../etc"),
            image(b"\xff\xfe"),
            image(b"6.1")[..0x20f].to_vec(),
            image(b"6.1")[..0x2f0].to_vec(),
        ] {
            assert!(read_release(&mut Cursor::new(bytes)).is_err());
        }
    }
}
