//! The table of caveats in docs/words.md, and those of their rules and of obstacles in
//! docs/method.md.

use model::{CaveatCode, Forbidden, Obstacle};
use std::fmt::Write;

/// Every code with its meaning; one that forbids a verdict is bold.
pub fn table() -> String {
    let mut text = String::from("| code | meaning |\n|---|---|\n");
    for code in by_name() {
        let name = format!("`{code}`");
        let forbids = code.obstacle().is_some_and(Obstacle::forbids_every_verdict);
        let shown = if forbids { format!("**{name}**") } else { name };
        let _ = writeln!(text, "| {shown} | {} |", code.meaning());
    }
    text
}

/// Every code with its rule and the source of that, where it has one.
pub fn rules() -> String {
    let mut text = String::from("| code | rule | source |\n|---|---|---|\n");
    for code in by_name() {
        if let Some(rule) = code.rule() {
            let _ = writeln!(text, "| `{code}` | {} |{}", rule.text, last(rule.source));
        }
    }
    text
}

/// Every obstacle, the strongest first, with what it forbids, what raises it and what tells it.
pub fn obstacles() -> String {
    let mut text =
        String::from("| obstacle | forbids | raised where | caveat |\n|---|---|---|---|\n");
    for obstacle in Obstacle::ALL {
        let forbids = match obstacle.forbids() {
            Forbidden::AnyAnswer => "any answer: invalid",
            Forbidden::EveryVerdict => "every verdict",
            Forbidden::Difference => "better, worse",
            Forbidden::Equivalence => "equivalence",
        };
        // As findings have it, in quotes.
        let name = serde_json::json!(obstacle).to_string().replace('"', "`");
        let codes = obstacle.caveats().iter().map(|code| format!("`{code}`"));
        let codes = last(&codes.collect::<Vec<_>>().join(", "));
        let _ = writeln!(text, "| {name} | {forbids} | {} |{codes}", obstacle.raised_where());
    }
    text
}

fn by_name() -> Vec<CaveatCode> {
    let mut codes = CaveatCode::ALL.to_vec();
    codes.sort_by_key(|code| code.as_str());
    codes
}

/// The last cell of a row, which may be empty.
fn last(cell: &str) -> String {
    if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") }
}
