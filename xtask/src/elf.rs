//! Whether a program is static: it names no loader and needs no library.

const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;

/// Whether this 64-bit little-endian ELF program starts without a loader.
/// `None` where the bytes are no such program.
pub fn is_static(bytes: &[u8]) -> Option<bool> {
    if bytes.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    // Offsets of Elf64_Ehdr and Elf64_Phdr (elf(5)).
    let table = usize::try_from(number(bytes, 32, 8)?).ok()?;
    let entry_size = usize::try_from(number(bytes, 54, 2)?).ok()?;
    let entries = usize::try_from(number(bytes, 56, 2)?).ok()?;
    for index in 0..entries {
        let header = table.checked_add(index.checked_mul(entry_size)?)?;
        let kind = u32::try_from(number(bytes, header, 4)?).ok()?;
        let is_dynamic = match kind {
            PT_INTERP => true,
            PT_DYNAMIC => needs_a_library(bytes, header)?,
            _ => false,
        };
        if is_dynamic {
            return Some(false);
        }
    }
    Some(true)
}

/// A static position-independent program has a dynamic section, but needs nothing.
fn needs_a_library(bytes: &[u8], header: usize) -> Option<bool> {
    let offset = usize::try_from(number(bytes, header.checked_add(8)?, 8)?).ok()?;
    let size = usize::try_from(number(bytes, header.checked_add(32)?, 8)?).ok()?;
    for tag in (offset..offset.checked_add(size)?).step_by(16) {
        match number(bytes, tag, 8)? {
            DT_NULL => return Some(false),
            DT_NEEDED => return Some(true),
            _ => {}
        }
    }
    Some(false)
}

fn number(bytes: &[u8], offset: usize, width: usize) -> Option<u64> {
    let field = bytes.get(offset..offset.checked_add(width)?)?;
    Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_test_program_is_static() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(is_static(&bytes), Some(true), "is RUSTFLAGS set in the environment?");
    }

    #[test]
    fn a_program_with_a_loader_is_not() {
        let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let table = number(&bytes, 32, 8).unwrap() as usize;
        bytes[table..table + 4].copy_from_slice(&PT_INTERP.to_le_bytes());
        assert_eq!(is_static(&bytes), Some(false));
    }

    #[test]
    fn other_bytes_are_no_program() {
        assert_eq!(is_static(b"#!/bin/sh\n"), None);
        assert_eq!(is_static(&[0x7f, b'E', b'L', b'F', 2, 1]), None);
    }
}
