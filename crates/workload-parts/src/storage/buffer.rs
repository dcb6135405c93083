//! Memory that direct I/O accepts: aligned, touched before anything is timed.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Bytes of a page, the least alignment; more than any device of today asks for.
const PAGE: usize = 4096;

/// A buffer of whole 8-byte words at an aligned address.
pub struct Buffer {
    start: NonNull<u64>,
    layout: Layout,
}

// SAFETY: the memory belongs to the buffer alone.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `bytes` zeroed and touched bytes, aligned to a page or to `alignment` where that is more.
    ///
    /// # Errors
    /// When there is no such memory, in one sentence.
    pub fn new(bytes: usize, alignment: usize) -> Result<Self, String> {
        let refused = || format!("cannot get a buffer of {bytes} bytes");
        let alignment = alignment.max(PAGE).next_power_of_two();
        let layout = Layout::from_size_align(bytes.max(8), alignment).map_err(|_| refused())?;
        // SAFETY: the layout is not empty.
        let address = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(address.cast()).ok_or_else(refused)?;
        let mut buffer = Self { start, layout };
        // Fresh pages are mapped at their first write, which must not be timed.
        buffer.words_mut().iter_mut().step_by(PAGE / 8).for_each(|word| {
            // SAFETY: a valid place; volatile, so that the write is not left out.
            unsafe { std::ptr::from_mut(word).write_volatile(0) };
        });
        Ok(buffer)
    }

    /// Its content as words.
    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size() / 8) }
    }

    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as above; every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.layout.size()) }
    }

    /// Its content, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout and not used again.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_and_its_words_are_its_bytes() {
        for alignment in [0, 512, 4096, 8192] {
            let mut buffer = Buffer::new(12 * 1024, alignment).unwrap();
            assert!(buffer.bytes().as_ptr().addr().is_multiple_of(alignment.max(PAGE)));
            buffer.words_mut()[1] = u64::from_ne_bytes(*b"schedlab");
            assert_eq!(&buffer.bytes()[8..16], b"schedlab");
            buffer.bytes_mut()[8] = b'S';
            assert_eq!(buffer.words_mut()[1], u64::from_ne_bytes(*b"Schedlab"));
        }
    }
}
