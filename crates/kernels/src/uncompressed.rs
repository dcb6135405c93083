//! What is compressed inside a boot image: the kernel itself, which a virtual machine can enter
//! without unpacking it (PVH, include/xen/interface/elfnote.h).

use object::elf::{FileHeader64, NoteType, PT_NOTE};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write, copy};

/// Number of 512-byte sectors before the payload, but for one (Documentation/arch/x86/boot.rst).
const SECTORS_AT: u64 = 0x1f1;
/// Offset of the payload from the protected-mode code, and its length: two u32.
const PAYLOAD_AT: u64 = 0x248;
/// What a number of sectors of 0 stands for.
const OLD_SECTORS: u64 = 4;
const SECTOR: u64 = 512;
/// The first bytes of what zstd wrote (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// After the payload stands its size when unpacked.
const SIZE_BYTES: u64 = 4;
/// Debian's kernels unpack to some 60 MB.
const LARGEST: u64 = 256 << 20;
/// The 32-bit entry of a kernel, told by a note of this name and kind.
const ENTRY_NOTE: (&[u8], NoteType) = (b"Xen", NoteType(18));

/// Writes the kernel inside a boot image to an empty file. `false` where the image is of another
/// kind: not packed by zstd, or without an entry of this kind; the file is of no use then. Other
/// compressions are not unpacked because entering such a kernel took no less time (ADR 11).
///
/// # Errors
/// When the image cannot be read or unpacked, unpacks to more than 256 MB, or the file cannot be
/// written.
pub fn unpack_kernel(image: &mut (impl Read + Seek), into: &mut File) -> std::io::Result<bool> {
    let mut at = |offset: u64, bytes: &mut [u8]| {
        image.seek(SeekFrom::Start(offset)).and_then(|_| image.read_exact(bytes))
    };
    let (mut sectors, mut payload) = ([0; 1], [0; 8]);
    at(SECTORS_AT, &mut sectors)?;
    at(PAYLOAD_AT, &mut payload)?;
    let [o0, o1, o2, o3, l0, l1, l2, l3] = payload;
    let offset = u64::from(u32::from_le_bytes([o0, o1, o2, o3]));
    let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
    let sectors = if sectors == [0] { OLD_SECTORS } else { u64::from(sectors[0]) };
    let begin = (sectors + 1) * SECTOR + offset;
    let mut magic = [0; ZSTD.len()];
    if length <= SIZE_BYTES || at(begin, &mut magic).is_err() || magic != ZSTD {
        return Ok(false);
    }
    image.seek(SeekFrom::Start(begin))?;
    let packed = image.take(length - SIZE_BYTES);
    let unpacked =
        ruzstd::decoding::StreamingDecoder::new(packed).map_err(std::io::Error::other)?;
    if copy(&mut unpacked.take(LARGEST), into)? == LARGEST {
        return Err(std::io::Error::other("it unpacks to more than any kernel has"));
    }
    into.flush()?;
    Ok(has_entry(into))
}

/// Whether a file is a kernel of 64 bits that names such an entry.
fn has_entry(file: &File) -> bool {
    let data = ReadCache::new(file);
    let Ok(header) = FileHeader64::<object::Endianness>::parse(&data) else { return false };
    let Ok(endian) = header.endian() else { return false };
    let segments = header.program_headers(endian, &data).unwrap_or_default();
    segments.iter().filter(|segment| segment.p_type(endian) == PT_NOTE).any(|segment| {
        let Ok(Some(mut notes)) = segment.notes(endian, &data) else { return false };
        std::iter::from_fn(|| notes.next().ok().flatten())
            .any(|note| (note.name(), note.n_type(endian)) == ENTRY_NOTE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// An ELF file of 64 bits whose only segment holds one note.
    fn kernel(name: &[u8; 4], kind: u32) -> Vec<u8> {
        let mut bytes = vec![0_u8; 0x100];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0x14, &1_u32.to_le_bytes());
        put(0x20, &0x40_u64.to_le_bytes());
        put(0x34, &64_u16.to_le_bytes());
        put(0x36, &56_u16.to_le_bytes());
        put(0x38, &1_u16.to_le_bytes());
        put(0x40, &PT_NOTE.0.to_le_bytes());
        put(0x48, &0x80_u64.to_le_bytes());
        put(0x60, &20_u64.to_le_bytes());
        put(0x70, &4_u64.to_le_bytes());
        put(0x80, &4_u32.to_le_bytes());
        put(0x84, &4_u32.to_le_bytes());
        put(0x88, &kind.to_le_bytes());
        put(0x8c, name);
        bytes
    }

    fn image(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0_u8; 0x600];
        bytes[0x1f1] = 1;
        bytes[0x248..0x24c].copy_from_slice(&0x100_u32.to_le_bytes());
        let length = u32::try_from(payload.len()).unwrap() + 4;
        bytes[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        bytes.truncate(0x400 + 0x100);
        bytes.extend(payload);
        bytes.extend([0; 4]);
        bytes
    }

    fn packed(kernel: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(kernel, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn unpack(image: Vec<u8>) -> std::io::Result<(bool, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        let is_kernel = unpack_kernel(&mut Cursor::new(image), &mut file)?;
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        Ok((is_kernel, bytes))
    }

    #[test]
    fn a_kernel_comes_out_as_it_went_in() {
        let kernel = kernel(b"Xen\0", 18);
        assert_eq!(unpack(image(&packed(&kernel))).unwrap(), (true, kernel));
    }

    #[test]
    fn one_without_such_an_entry_is_entered_as_ever() {
        for other in [kernel(b"Xen\0", 6), kernel(b"GNU\0", 18), b"no ELF file".to_vec()] {
            assert!(!unpack(image(&packed(&other))).unwrap().0);
        }
        // lz4 packed it.
        assert_eq!(unpack(image(&[2, 0x21, 0x4c, 0x18, 0, 0, 0])).unwrap(), (false, Vec::new()));
    }

    #[test]
    fn a_hostile_image_unpacks_to_nothing() {
        let whole = image(&packed(&kernel(b"Xen\0", 18)));
        for end in [0, 0x1f1, 0x24a, 0x500, 0x506, whole.len() - 8] {
            let outcome = unpack(whole[..end].to_vec());
            assert!(!outcome.is_ok_and(|(is_kernel, _)| is_kernel), "{end}");
        }
        let mut far = whole;
        far[0x248..0x250].copy_from_slice(&[0xff; 8]);
        assert!(!unpack(far).unwrap().0);
    }

    #[test]
    fn what_unpacks_without_end_is_refused() {
        // One block of RLE after another, each of 128 KiB.
        let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
        for _ in 0..=(LARGEST >> 17) {
            bytes.extend([0x02, 0x00, 0x10, 0x00]);
        }
        assert!(unpack(image(&bytes)).is_err());
    }
}
