//! What the executor tells its guardian of the journal, a line each: `+LINE` was appended;
//! `begin`, then `>LINE` for each line of a new text, come before the file is replaced by it, and
//! `now` comes after.

/// The lines of a new text follow.
pub(crate) const BEGIN: &str = "begin\n";
/// The file has that text.
pub(crate) const NOW: &str = "now\n";
/// Before a line that was appended.
pub(crate) const APPENDED: &str = "+";
/// Before a line of a new text.
pub(crate) const OF_NEXT: &str = ">";
