//! Paragraphs of what is told of studies.

use crate::output::output_width;
use report::wrapped;
use studies::{ClaimState, JudgedClaim};

/// Blanks before what belongs to the line above.
pub(super) const INDENT: usize = 4;
/// Columns below which text is not read.
const NARROWEST: usize = 40;

/// Adds a paragraph, in lines of the terminal's width.
pub(super) fn push(text: &mut String, indent: usize, paragraph: &str) {
    let room = output_width().max(NARROWEST) - indent;
    for line in wrapped(paragraph, room) {
        text.push_str(&" ".repeat(indent));
        text.push_str(&line);
        text.push('\n');
    }
}

/// What a claim is, and what of it is left open.
pub(super) fn state_of(judged: &JudgedClaim) -> String {
    let open = &judged.claim.not_judged;
    match judged.state {
        _ if open.is_empty() => judged.state.to_string(),
        ClaimState::CannotBeJudged => format!("{}: {open}", judged.state),
        _ => format!("{} (not judged: {open})", judged.state),
    }
}
