//! Journals: a torn last line is dropped, whatever was torn.

use super::{OwnTarget, Reaction, on_text};
use executor::parse_journal;

pub const TARGET: OwnTarget = OwnTarget {
    name: "journal",
    words: &["{\"entry\":", "\"setting\"", "\"applied\"", "\"settled\"", "\"group\"", "\n", "}\n"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let entries = parse_journal(text).ok();
        if let Some(entries) = &entries {
            let lines: Vec<String> =
                entries.iter().filter_map(|entry| serde_json::to_string(entry).ok()).collect();
            let whole = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            assert_eq!(parse_journal(&whole).as_ref(), Ok(entries));
            let torn = format!("{whole}{{\"entry\":\"sett");
            assert_eq!(parse_journal(&torn).as_ref(), Ok(entries));
        }
        Reaction::of(entries.as_ref())
    })
}
