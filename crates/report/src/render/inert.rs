//! Text that was drawn, for a file that a person opens.

use std::io::{self, Write};

/// Writes lines in which nothing is obeyed instead of shown.
pub(super) fn write_inert(drawn: &[u8], output: &mut dyn Write) -> io::Result<()> {
    output.write_all(model::inert_lines(&String::from_utf8_lossy(drawn)).as_bytes())
}
