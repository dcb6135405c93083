//! The part of a program that is loaded: what a small guest needs of a static binary.

use artefacts::{Error, Result};
use object::Endianness;
use object::elf::{FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

/// Bytes of the ELF64 header that name the section table (System V ABI, figure 4-3):
/// e_shoff, and e_shentsize with e_shnum and e_shstrndx.
const SECTION_TABLE: [std::ops::Range<usize>; 2] = [0x28..0x30, 0x3a..0x40];

/// A program without what follows its last loaded segment: symbols, debug information and
/// section headers, of which a build for testing has a hundred megabytes.
///
/// # Errors
/// When the bytes are no 64-bit ELF program.
pub fn loadable_part(program: &[u8]) -> Result<Vec<u8>> {
    let attempted = "cannot take a program into a guest";
    let fail = |cause: String| Error::new(artefacts::ErrorKind::Environment, attempted, cause, "");
    let header = FileHeader64::<Endianness>::parse(program).map_err(|e| fail(e.to_string()))?;
    let endian = header.endian().map_err(|error| fail(error.to_string()))?;
    let segments =
        header.program_headers(endian, program).map_err(|error| fail(error.to_string()))?;
    let ends = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_LOAD)
        .filter_map(|segment| segment.p_offset(endian).checked_add(segment.p_filesz(endian)));
    let end = ends.max().ok_or_else(|| fail("it has no loaded segment".to_owned()))?;
    let loaded = usize::try_from(end).ok().and_then(|end| program.get(..end));
    let mut loaded =
        loaded.ok_or_else(|| fail("its segments reach beyond its end".to_owned()))?.to_vec();
    for range in SECTION_TABLE {
        if let Some(bytes) = loaded.get_mut(range) {
            bytes.fill(0);
        }
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn this_test_without_its_symbols_is_smaller_and_still_runs() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let loaded = loadable_part(&program).unwrap();
        assert!(loaded.len() < program.len());
        let directory = tempfile::tempdir().unwrap();
        let (bytes, path) = (directory.path().join("bytes"), directory.path().join("program"));
        std::fs::write(&bytes, &loaded).unwrap();
        // Another test's child would hold a file open that this process writes, and a program
        // that somebody may write is not executed (ETXTBSY).
        let placed = Command::new("install").args([&bytes, &path]).status().unwrap();
        assert!(placed.success());
        let listed = Command::new(&path).arg("--list").output().unwrap();
        assert!(listed.status.success());
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01"] {
            assert!(loadable_part(bytes).is_err());
        }
        let mut cut = std::fs::read("/proc/self/exe").unwrap();
        cut.truncate(4096);
        assert!(loadable_part(&cut).is_err());
    }
}
