//! An effect in the words of a sentence: direction and number of estimate and interval are those of
//! its row in a table, `31.1 % worse` for `-31.1 %`.

use crate::quantities::{EffectScale, EffectSize, is_change_factor, more_than, raw_change};
use model::{Direction, Finding, Interval};
use phrases::{Language, say};
use std::cmp::Ordering;

/// A size, or two, in words.
fn words(way: Ordering, size: &str, scale: EffectScale, language: Language) -> String {
    match (scale, way) {
        (_, Ordering::Equal) => language.word("unchanged").to_owned(),
        (EffectScale::Percent, Ordering::Less) => say!(language, "{size} % worse", size),
        (EffectScale::Percent, Ordering::Greater) => say!(language, "{size} % better", size),
        (EffectScale::Factor, Ordering::Less) => {
            say!(language, "{factor} times worse", factor = size)
        }
        (EffectScale::Factor, Ordering::Greater) => {
            say!(language, "{factor} times better", factor = size)
        }
    }
}

/// One size in words.
fn size_in_words(size: &EffectSize, scale: EffectScale, language: Language) -> String {
    let Some(digits) = &size.digits else { return language.word("unbounded").to_owned() };
    let told = words(size.way, digits, scale, language);
    if size.is_bound { more_than(&told, language) } else { told }
}

/// An effect in words.
pub(crate) struct EffectWords {
    /// The estimate: `4.20 times better`, `31.1 % worse`.
    pub estimate: String,
    /// What happened to the value itself, where the estimate does not say it: `76.2 % lower`.
    pub change: Option<String>,
    /// The interval, on the scale of the estimate: `15.3 to 43.8 % worse`. None where it has no
    /// width.
    pub interval: Option<String>,
}

impl EffectWords {
    /// Those of a finding's estimate and of the interval that is shown of it.
    pub(crate) fn of(finding: &Finding, language: Language) -> Option<Self> {
        let (effect, shown) = finding.effect.as_ref().zip(finding.shown_interval())?;
        let scale = EffectScale::of(&[effect.ratio, shown.low, shown.high]);
        let estimate = ratio_on(scale, finding, effect.ratio, language);
        // `4.20 times better` says `4.20 times higher`; where higher is better, a percentage is that
        // of the value.
        let is_said = match scale {
            EffectScale::Percent => finding.question.direction == Direction::Higher,
            EffectScale::Factor => is_change_factor(effect.raw_ratio),
        };
        let change = raw_change(finding, language).filter(|change| !is_said && *change != estimate);
        let interval = (!shown.has_no_width()).then(|| interval_on(scale, &shown, language));
        Some(Self { estimate, change, interval })
    }
}

/// Another ratio of a finding's question in words.
pub(crate) fn ratio_in_words(finding: &Finding, ratio: f64, language: Language) -> String {
    ratio_on(EffectScale::of(&[ratio]), finding, ratio, language)
}

/// Another interval in words.
pub(crate) fn interval_in_words(interval: &Interval, language: Language) -> String {
    interval_on(EffectScale::of(&[interval.low, interval.high]), interval, language)
}

fn ratio_on(scale: EffectScale, finding: &Finding, ratio: f64, language: Language) -> String {
    let text = size_in_words(&EffectSize::of(ratio, scale), scale, language);
    if finding.is_odds { say!(language, "odds {change}", change = text) } else { text }
}

fn interval_on(scale: EffectScale, interval: &Interval, language: Language) -> String {
    let low = EffectSize::of(interval.low, scale);
    let high = EffectSize::of(interval.high, scale);
    // An end without a difference lies on the side of the other one.
    let way = low.way.then(high.way);
    let is_one_side = high.way.is_eq() || high.way == way;
    // Below no difference the lower end is the far one.
    let is_turned = is_one_side && way.is_lt();
    let (first, second) = if is_turned { (high, low) } else { (low, high) };
    let both = first.digits.as_ref().zip(second.digits.as_ref());
    let is_short = is_one_side && !first.is_bound && !second.is_bound;
    if let Some((first, second)) = both.filter(|_| is_short) {
        let size = say!(language, "{low} to {high}", low = first, high = second);
        return words(way, &size, scale, language);
    }
    let (first, second) =
        (size_in_words(&first, scale, language), size_in_words(&second, scale, language));
    say!(language, "{low} to {high}", low = first, high = second)
}
