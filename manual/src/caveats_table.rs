//! The table of caveats in docs/words.md.

use model::{CaveatCode, Obstacle};
use std::fmt::Write;

/// Every code with its meaning; one that forbids a verdict is bold.
pub fn table() -> String {
    let mut text = String::from("| code | meaning |\n|---|---|\n");
    let mut codes = CaveatCode::ALL.to_vec();
    codes.sort_by_key(|code| code.as_str());
    for code in codes {
        let name = format!("`{code}`");
        let forbids = Obstacle::of_caveat(code).is_some_and(Obstacle::forbids_every_verdict);
        let shown = if forbids { format!("**{name}**") } else { name };
        let _ = writeln!(text, "| {shown} | {} |", code.meaning());
    }
    text
}
