//! Why trials failed, as many reasons as a person reads: those of somebody else's records may be as many
//! as the records.

use phrases::{Language, counted};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// More reasons of one count than these are told by their number.
const MOST_REASONS: usize = 20;

/// Reasons with how often each was given, those that were given most often, and how many others there
/// are.
pub(crate) struct ToldReasons<'a> {
    /// In the order of their words.
    pub told: Vec<(&'a str, u64)>,
    more: usize,
}

impl<'a> ToldReasons<'a> {
    pub(crate) fn of(reasons: &'a BTreeMap<String, u64>) -> Self {
        let mut told: Vec<(&str, u64)> =
            reasons.iter().map(|(reason, times)| (reason.as_str(), *times)).collect();
        let more = told.len().saturating_sub(MOST_REASONS);
        if more > 0 {
            told.sort_by_key(|(_, times)| Reverse(*times));
            told.truncate(MOST_REASONS);
            told.sort_unstable();
        }
        Self { told, more }
    }

    /// How many are not told, where there are any.
    pub(crate) fn others(&self, language: Language) -> Option<String> {
        let more = self.more;
        (more > 0).then(|| counted!(language, more, "and one more", "and {count} more"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_reasons_the_most_frequent_are_told_and_the_others_counted() {
        let of = |count: u64| -> BTreeMap<String, u64> {
            (1..=count).map(|times| (format!("code {times:05}"), times)).collect()
        };
        let few = of(20);
        let told = ToldReasons::of(&few);
        assert_eq!(told.told.len(), 20);
        assert_eq!((told.told[0], told.others(Language::default())), (("code 00001", 1), None));
        let many = of(10_000);
        let told = ToldReasons::of(&many);
        assert_eq!(told.told.len(), 20);
        assert_eq!((told.told[0], told.told[19]), (("code 09981", 9_981), ("code 10000", 10_000)));
        assert_eq!(told.others(Language::default()).as_deref(), Some("and 9980 more"));
        let one_more = of(21);
        let others = ToldReasons::of(&one_more).others(Language::default());
        assert_eq!(others.as_deref(), Some("and one more"));
    }
}
