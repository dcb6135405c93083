//! An effect in the words of a sentence: estimate and interval on one scale, with their direction.
//! A table leaves the direction to its heading; a sentence has none.

use crate::quantities::{digits, is_change_factor, is_factor, raw_change};
use model::{Direction, Finding, Interval};
use phrases::{Language, say};
use std::cmp::Ordering;

/// What tells how far a ratio lies from no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Percentages of the value itself: `45.2 % higher`.
    Percent,
    /// Factors of a share's odds: `4.20 times higher`. A ratio of odds is no factor of the share.
    Odds,
    /// Factors that say which is better: `4.20 times better`.
    Times,
}

impl Scale {
    /// That of these oriented ratios together: factors where one of them is told as one.
    fn of(finding: &Finding, ratios: &[f64]) -> Self {
        let is_beyond = ratios.iter().any(|ratio| ratio.is_finite() && is_factor(*ratio));
        match (is_beyond, finding.is_odds) {
            (false, _) => Self::Percent,
            (true, true) => Self::Odds,
            (true, false) => Self::Times,
        }
    }

    /// An oriented ratio as this scale has it: that of the values themselves, but for factors that
    /// say which is better.
    fn turned(self, ratio: f64, direction: Direction) -> f64 {
        match (self, direction) {
            (Self::Times, _) | (_, Direction::Higher) => ratio,
            (Self::Percent | Self::Odds, Direction::Lower) => 1.0 / ratio,
        }
    }

    /// A size, or two, in words.
    fn words(self, way: Ordering, size: &str, language: Language) -> String {
        match (self, way) {
            (_, Ordering::Equal) => language.word("unchanged").to_owned(),
            (Self::Percent, Ordering::Less) => say!(language, "{size} % lower", size),
            (Self::Percent, Ordering::Greater) => say!(language, "{size} % higher", size),
            (Self::Odds, Ordering::Less) => {
                say!(language, "{factor} times lower", factor = size)
            }
            (Self::Odds, Ordering::Greater) => {
                say!(language, "{factor} times higher", factor = size)
            }
            (Self::Times, Ordering::Less) => {
                say!(language, "{factor} times worse", factor = size)
            }
            (Self::Times, Ordering::Greater) => {
                say!(language, "{factor} times better", factor = size)
            }
        }
    }
}

/// How far a ratio lies from no difference on a scale, and which way.
struct Distance {
    way: Ordering,
    /// None where it is unbounded.
    digits: Option<String>,
}

impl Distance {
    fn of(ratio: f64, scale: Scale) -> Self {
        let is_percent = scale == Scale::Percent;
        let way = ratio.total_cmp(&1.0);
        if !ratio.is_finite() || (!is_percent && ratio <= 0.0) {
            return Self { way, digits: None };
        }
        let (text, none) = match is_percent {
            // Nothing is left of what is 100 % lower.
            true if ratio <= 0.0005 => ("100".to_owned(), "0.0"),
            true => (format!("{:.1}", 100.0 * (ratio - 1.0).abs()), "0.0"),
            false => (digits(ratio.max(1.0 / ratio)), "1.00"),
        };
        // No direction where none shows.
        let way = if text == none { Ordering::Equal } else { way };
        Self { way, digits: Some(text) }
    }

    fn words(&self, scale: Scale, language: Language) -> String {
        match &self.digits {
            Some(digits) => scale.words(self.way, digits, language),
            None => language.word("unbounded").to_owned(),
        }
    }
}

/// An effect in words.
pub(crate) struct EffectWords {
    /// The estimate: `4.20 times better`, `45.2 % higher`.
    pub estimate: String,
    /// Whether the estimate is a factor that says which is better.
    pub is_times: bool,
    /// What happened to the value itself, where the estimate does not say it: `76.2 % lower`.
    pub change: Option<String>,
    /// The interval, on the scale of the estimate: `18.0 to 78.0 % higher`.
    pub interval: String,
}

impl EffectWords {
    /// Those of a finding's estimate and of the interval that is shown of it.
    pub(crate) fn of(finding: &Finding, language: Language) -> Option<Self> {
        let (effect, shown) = finding.effect.as_ref().zip(finding.shown_interval())?;
        let scale = Scale::of(finding, &[effect.ratio, shown.low, shown.high]);
        let is_times = scale == Scale::Times;
        // `4.20 times better` says `4.20 times higher`.
        let is_said = !is_times || is_change_factor(effect.raw_ratio);
        Some(Self {
            estimate: ratio_on(scale, finding, effect.ratio, language),
            is_times,
            change: raw_change(finding, language).filter(|_| !is_said),
            interval: interval_on(scale, finding, &shown, language),
        })
    }
}

/// Another ratio of a finding's question in words.
pub(crate) fn ratio_in_words(finding: &Finding, ratio: f64, language: Language) -> String {
    ratio_on(Scale::of(finding, &[ratio]), finding, ratio, language)
}

/// Another interval of a finding's question in words.
pub(crate) fn interval_in_words(
    finding: &Finding,
    interval: &Interval,
    language: Language,
) -> String {
    let scale = Scale::of(finding, &[interval.low, interval.high]);
    interval_on(scale, finding, interval, language)
}

fn ratio_on(scale: Scale, finding: &Finding, ratio: f64, language: Language) -> String {
    let turned = scale.turned(ratio, finding.question.direction);
    let text = Distance::of(turned, scale).words(scale, language);
    if finding.is_odds { say!(language, "odds {change}", change = text) } else { text }
}

fn interval_on(scale: Scale, finding: &Finding, interval: &Interval, language: Language) -> String {
    let ends =
        [interval.low, interval.high].map(|end| scale.turned(end, finding.question.direction));
    let low = Distance::of(ends[0].min(ends[1]), scale);
    let high = Distance::of(ends[0].max(ends[1]), scale);
    // An end without a difference lies on the side of the other one.
    let way = low.way.then(high.way);
    let is_one_side = high.way.is_eq() || high.way == way;
    // Below no difference the lower end is the far one.
    let is_turned = is_one_side && way.is_lt();
    let (first, second) = if is_turned { (high, low) } else { (low, high) };
    let both = first.digits.as_ref().zip(second.digits.as_ref());
    if let Some((first, second)) = both.filter(|_| is_one_side) {
        let size = say!(language, "{low} to {high}", low = first, high = second);
        return scale.words(way, &size, language);
    }
    let (first, second) = (first.words(scale, language), second.words(scale, language));
    say!(language, "{low} to {high}", low = first, high = second)
}
