//! Journals: a torn last line is dropped, whatever was torn, and no damaged line costs another.

use super::{OwnTarget, Reaction, on_text};
use executor::{journal_text, parse_journal};

pub const TARGET: OwnTarget = OwnTarget {
    name: "journal",
    words: &["{\"entry\":", "\"setting\"", "\"applied\"", "\"settled\"", "\"group\"", "\n", "}\n"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let read = parse_journal(text);
        if let Ok(whole) = journal_text(&read.entries) {
            let again = parse_journal(&whole);
            assert_eq!((&again.entries, again.damaged.len()), (&read.entries, 0));
            let next = again.last_number + 1;
            let torn = format!("{whole}{next} 01234567 {{\"entry\":\"sett");
            assert_eq!(parse_journal(&torn), again);
            // Behind a damaged line, which took the number 1 and is told.
            let behind = parse_journal(&format!("damaged\n{whole}"));
            assert_eq!((&behind.entries, behind.damaged.len()), (&read.entries, 1));
        }
        Reaction::of(Some(&read).filter(|read| read.damaged.is_empty()))
    })
}
