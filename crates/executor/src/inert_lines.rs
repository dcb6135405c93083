//! Lines that quote a journal, and of which no text of the journal can make two.

use crate::journal::Journal;
use crate::journal_text::JournalText;
use sys::Machine;

/// What the journal's damaged lines say, which nobody knows.
pub(crate) fn unknown(machine: &Machine, text: &JournalText) -> Vec<String> {
    let path = Journal::path(machine);
    let told = |line: &String| {
        format!("{}: {line}: what it says is unknown; read it, then remove it", path.display())
    };
    text.damaged.iter().map(told).collect()
}

/// Ends of lines within a text are written out, so that no text of a journal passes for a line of
/// ours.
pub(crate) fn each_on_one_line(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| model::on_one_line(text)).collect()
}
