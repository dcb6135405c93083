//! What is said differently where an emulated processor ran: its verdicts are marked,
//! and its absolute values are not shown unless somebody insists.

use model::Finding;

/// Stands before every verdict of an emulated processor.
pub(crate) const MARK: &str = "emulated: ";
/// Stands where a value would.
pub(crate) const HIDDEN: &str = "hidden";
/// Why it does.
pub(crate) const WHY_HIDDEN: &str = "Absolute values are hidden: those of an emulated processor are no real one's, \
                                     and only ratios may be read. --absolute shows them.";

/// The mark, where it is due.
pub(crate) fn mark(is_emulated: bool) -> &'static str {
    if is_emulated { MARK } else { "" }
}

/// Whether this finding's absolute values are not shown, on a page that hides those of
/// emulated processors.
pub(crate) fn is_hidden(finding: &Finding, hides_absolute: bool) -> bool {
    hides_absolute && finding.is_emulated()
}
