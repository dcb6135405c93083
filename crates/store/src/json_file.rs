//! Documents as their files hold them. Their text is never held whole: that of a plan has hundreds of
//! bytes for each block, and that of findings for each pair of blocks.

use crate::durable::replace_with;
use contract::Result;
use model::{Findings, Plan};
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
    replace_with(files, directory, name, &mut |file| write(document, file))
}

/// The text of `plan.json`.
///
/// # Errors
/// When it cannot be encoded.
pub fn plan_text(plan: &Plan) -> io::Result<String> {
    String::from_utf8(pretty_text(plan)?).map_err(io::Error::other)
}

/// The text of `findings.json`.
///
/// # Errors
/// When they cannot be encoded.
pub fn findings_text(findings: &Findings) -> io::Result<Vec<u8>> {
    pretty_text(findings)
}

/// A document as its file holds it, where that is short or is held anyway.
///
/// # Errors
/// When it cannot be encoded.
pub(crate) fn pretty_text<T: Serialize>(document: &T) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    write(document, &mut text)?;
    Ok(text)
}

// All documents go through one type of writer, whatever is written to: serialisers for another one
// would take as long again to compile.
fn write<T: Serialize>(document: &T, file: &mut dyn Write) -> io::Result<()> {
    write_pieces(file, &mut |pieces| serde_json::to_writer_pretty(pieces, document))
}

/// Writes what this encodes and a line feed.
fn write_pieces(
    file: &mut dyn Write,
    encode: &mut dyn FnMut(&mut BufWriter<&mut dyn Write>) -> serde_json::Result<()>,
) -> io::Result<()> {
    let mut pieces = BufWriter::with_capacity(PIECE, file);
    let written = encode(&mut pieces)
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
    fn a_text_that_is_held_is_that_of_the_file() {
        let plan = plan("held", "d");
        let expected = serde_json::to_string_pretty(&plan).unwrap() + "\n";
        assert_eq!(plan_text(&plan).unwrap(), expected);
        assert_eq!(pretty_text(&plan).unwrap(), expected.as_bytes());
        let findings = ::fixtures::findings(Vec::new());
        let expected = serde_json::to_string_pretty(&findings).unwrap() + "\n";
        assert_eq!(findings_text(&findings).unwrap(), expected.as_bytes());
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
