//! The calibration's table: what was counted against what is promised.

use crate::rate::Rate;
use serde::Serialize;
use std::fmt::Write;

/// What is promised of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It is at most this.
    AtMost(f64),
    /// It is at least this.
    AtLeast(f64),
    /// It is at least the first and at most the second.
    Between(f64, f64),
    /// Nothing: shown for comparison.
    None,
}

impl Limit {
    /// Whether a count does not contradict it: the one-sided 99 % limit of the rate does not lie beyond
    /// it.
    fn allows(self, rate: Rate) -> bool {
        let (low, high) = rate.one_sided();
        match self {
            Self::AtMost(most) => low <= most,
            Self::AtLeast(least) => high >= least,
            Self::Between(least, most) => high >= least && low <= most,
            Self::None => true,
        }
    }

    /// Whether the worst count of so many tries would contradict it; of two ends, each of them.
    fn can_refuse(self, rate: Rate) -> bool {
        match self {
            Self::AtMost(_) => !self.allows(rate.with_hits_alone()),
            Self::AtLeast(_) => !self.allows(rate.with_no_hit()),
            Self::Between(..) => {
                !self.allows(rate.with_no_hit()) && !self.allows(rate.with_hits_alone())
            }
            Self::None => false,
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationRow {
    /// Number of the target (docs/method.md#m-targets); none of what is for comparison.
    pub target: Option<u8>,
    /// What is counted, and in which case.
    pub name: String,
    /// The count.
    pub rate: Rate,
    /// What is promised.
    pub limit: Limit,
    /// Whether it holds: its count does not contradict the limit.
    pub holds: bool,
    /// Whether no count of so few campaigns could contradict the limit: that it holds shows nothing.
    pub is_too_few: bool,
}

impl CalibrationRow {
    /// A row holds unless its count contradicts the limit: the one-sided 99 % limit of its rate lies
    /// beyond it. The more campaigns, the less is left to chance.
    pub(crate) fn new(
        target: Option<u8>,
        name: impl Into<String>,
        rate: Rate,
        limit: Limit,
    ) -> Self {
        let holds = limit.allows(rate);
        let is_too_few = limit != Limit::None && !limit.can_refuse(rate);
        Self { target, name: name.into(), rate, limit, holds, is_too_few }
    }
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Simulated campaigns in each cell.
    pub repetitions: u32,
    /// Whether it was a quick one, with its wider bounds.
    pub is_quick: bool,
    /// Every row.
    pub rows: Vec<CalibrationRow>,
}

impl Calibration {
    /// Whether every target holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }
}

/// One row for a terminal or a file.
pub fn text(row: &CalibrationRow) -> String {
    let limit = match row.limit {
        Limit::AtMost(most) => format!("at most {:.1} %", 100.0 * most),
        Limit::AtLeast(least) => format!("at least {:.1} %", 100.0 * least),
        Limit::Between(least, most) => format!("{:.1} % to {:.1} %", 100.0 * least, 100.0 * most),
        Limit::None => "for comparison".to_owned(),
    };
    let (low, high) = row.rate.interval();
    let target = row.target.map_or(String::new(), |target| target.to_string());
    let verdict = match (row.holds, row.limit) {
        (_, Limit::None) => "",
        (true, _) if row.is_too_few => "too few to refuse",
        (true, _) => "holds",
        (false, _) => "MISSED",
    };
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        "{target:>2}  {:<72} {:>6.1} %  [{:>5.1}, {:>5.1}]  {limit:<17} {verdict}",
        row.name,
        100.0 * row.rate.share(),
        100.0 * low,
        100.0 * high
    );
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(limit: Limit, hits: u32, tries: u32) -> CalibrationRow {
        CalibrationRow::new(Some(1), "a row", Rate { hits, tries }, limit)
    }

    /// Wilson's lower limits of 14 and 15 in 150 are 5.14 and 5.62 %, of 1175 and 1176 in 20,000
    /// 5.4998 and 5.5048 %.
    #[test]
    fn a_row_is_missed_by_the_first_count_whose_limit_lies_beyond_the_target() {
        for (limit, tries, last_that_holds, first_missed) in [
            (Limit::AtMost(0.055), 150, 14, 15),
            (Limit::AtMost(0.055), 20_000, 1_175, 1_176),
            (Limit::AtLeast(0.94), 150, 135, 134),
            (Limit::AtLeast(0.94), 20_000, 18_722, 18_721),
        ] {
            let of = |hits| row(limit, hits, tries);
            assert!(of(last_that_holds).holds, "{limit:?} of {tries}");
            assert!(!of(first_missed).holds, "{limit:?} of {tries}");
            assert!(!of(last_that_holds).is_too_few && !of(first_missed).is_too_few);
        }
    }

    /// Each end is held as it is by itself: Wilson's lower limits of 19,646 and 19,647 in 20,000 are
    /// 97.9997 and 98.0050 %.
    #[test]
    fn a_row_between_two_ends_is_missed_beyond_either() {
        let limit = Limit::Between(0.94, 0.98);
        for (hits, tries, holds) in [
            (134, 150, false),
            (135, 150, true),
            (150, 150, true),
            (18_721, 20_000, false),
            (18_722, 20_000, true),
            (19_646, 20_000, true),
            (19_647, 20_000, false),
            (20_000, 20_000, false),
        ] {
            let row = row(limit, hits, tries);
            assert_eq!(row.holds, holds, "{hits} of {tries}");
            // The limit of 150 in 150 is 96.5 %: none of these can be too many.
            assert_eq!(row.is_too_few, tries == 150, "{hits} of {tries}");
        }
        assert!(text(&row(limit, 150, 150)).ends_with("too few to refuse"));
        assert!(text(&row(limit, 19_000, 20_000)).ends_with("94.0 % to 98.0 %  holds"));
        assert!(row(limit, 0, 0).is_too_few);
    }

    /// The limits of none in 16 and in 17 are 25.3 and 24.1 %.
    #[test]
    fn so_few_campaigns_that_no_count_is_refused_are_told_and_do_not_hold_in_words() {
        let least = Limit::AtLeast(0.25);
        for (hits, tries, is_too_few) in
            [(0, 1, true), (1, 1, true), (0, 16, true), (17, 17, false)]
        {
            let row = row(least, hits, tries);
            assert_eq!(row.is_too_few, is_too_few, "{hits} of {tries}");
            assert!(row.holds, "nothing is missed by it");
            let word = if is_too_few { "too few to refuse" } else { "holds" };
            assert!(text(&row).ends_with(word), "{}", text(&row));
        }
        assert!(text(&row(least, 0, 17)).ends_with("MISSED"));
        // One that is wrong is enough where nearly none may be.
        assert!(text(&row(Limit::AtMost(0.055), 1, 1)).ends_with("MISSED"));
        assert!(text(&row(Limit::AtMost(0.055), 0, 1)).ends_with("holds"));
        assert!(text(&row(Limit::AtMost(0.055), 0, 0)).ends_with("too few to refuse"));
        assert!(text(&row(Limit::None, 0, 1)).ends_with("for comparison"));
    }
}
