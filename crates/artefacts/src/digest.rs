//! SHA-256, as hexadecimal text.

use crate::tree::files_below;
use crate::{Error, Result, open_regular};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The digest of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of a regular file, and its size.
pub fn of_file(path: &Path) -> Result<(String, u64)> {
    let fail = |error| Error::file("read", path, error);
    let mut file = open_regular(path).map_err(fail)?;
    let mut hasher = Sha256::new();
    let mut size = 0_u64;
    let mut buffer = vec![0_u8; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                hasher.update(&buffer[..length]);
                size += length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Ok((hex(&hasher.finalize()), size))
}

/// The digest of all that lies below a directory: names, contents, and what links lead to; not of
/// modes and times.
///
/// # Errors
/// When something of it cannot be read.
pub fn of_tree(directory: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    for inside in files_below(directory)? {
        let path = directory.join(&inside);
        let fail = |error| Error::file("read", &path, error);
        let is_link = path.symlink_metadata().map_err(fail)?.is_symlink();
        let what = if is_link {
            format!("link {}", path.read_link().map_err(fail)?.display())
        } else {
            of_file(&path)?.0
        };
        // No name and no target of a link holds a byte of zero.
        hasher.update(inside.as_os_str().as_encoded_bytes());
        hasher.update([0_u8]);
        hasher.update(what);
        hasher.update([0_u8]);
    }
    Ok(hex(&hasher.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
