//! Documents as their files hold them. Their text is never held whole: that of a plan has hundreds of
//! bytes for each block, and that of findings for each pair of blocks.

use crate::durable::replace_with;
use contract::Result;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use sys::Files;

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;

/// Replaces `directory/name` by a document in one step: readers see the old or the new one.
pub(crate) fn replace_json<T: Serialize>(
    files: &dyn Files,
    directory: &Path,
    name: &str,
    document: &T,
) -> Result<()> {
    replace_with(files, directory, name, |file| write(document, file))
}

fn write<T: Serialize>(document: &T, file: &mut dyn Write) -> io::Result<()> {
    let mut pieces = BufWriter::with_capacity(PIECE, file);
    let written = serde_json::to_writer_pretty(&mut pieces, document)
        .map_err(io::Error::from)
        .and_then(|()| pieces.write_all(b"\n"))
        .and_then(|()| pieces.flush());
    // What could not be written is not tried once more.
    drop(pieces.into_parts());
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::plan;

    /// Takes so many pieces, and has no room for the next one.
    struct Room {
        left: usize,
        tried: usize,
        longest: usize,
        bytes: Vec<u8>,
    }

    impl Room {
        fn of(pieces: usize) -> Self {
            Self { left: pieces, tried: 0, longest: 0, bytes: Vec::new() }
        }
    }

    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.tried += 1;
            let left = self.left.checked_sub(1);
            self.left = left.ok_or(io::ErrorKind::StorageFull)?;
            self.longest = self.longest.max(bytes.len());
            self.bytes.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_document_is_the_same_text_in_pieces_and_a_short_one_is_one_piece() {
        let mut document = plan("long", "d");
        for notes in [0, 20_000] {
            document.notes = (0..notes).map(|number| format!("note {number}")).collect();
            let mut room = Room::of(usize::MAX);
            write(&document, &mut room).unwrap();
            let mut expected = serde_json::to_vec_pretty(&document).unwrap();
            expected.push(b'\n');
            assert!(room.bytes == expected, "{notes} notes");
            assert!(room.longest <= PIECE, "{} bytes at once", room.longest);
            assert_eq!(room.tried == 1, notes == 0, "{} pieces", room.tried);
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_tried_once_and_told_as_it_is() {
        let mut document = plan("long", "d");
        document.notes = (0..20_000).map(|number| format!("note {number}")).collect();
        for pieces in [0, 1, 2] {
            let mut room = Room::of(pieces);
            let error = write(&document, &mut room).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            assert_eq!(room.tried, pieces + 1);
        }
    }
}
