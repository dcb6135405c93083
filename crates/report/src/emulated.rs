//! What is said differently where an emulated processor ran: its verdicts are marked,
//! and its absolute values are not shown unless somebody insists.

use model::Finding;
use phrases::Language;

/// What stands where a value would.
pub(crate) fn hidden(language: Language) -> String {
    language.word("hidden").to_owned()
}

/// Why it does.
pub(crate) fn why_hidden(language: Language) -> &'static str {
    language.word(
        "Absolute values are hidden: those of an emulated processor are no real one's, and only \
         ratios may be read. --absolute shows them.",
    )
}

/// Stands before every verdict of an emulated processor.
pub(crate) fn mark(is_emulated: bool, language: Language) -> &'static str {
    if is_emulated { language.word("emulated: ") } else { "" }
}

/// Whether this finding's absolute values are not shown, on a page that hides those of
/// emulated processors.
pub(crate) fn is_hidden(finding: &Finding, hides_absolute: bool) -> bool {
    hides_absolute && finding.is_emulated
}
