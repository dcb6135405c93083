//! How metrics went over a soak campaign, in words: slopes, changes of level, leaks.

use crate::counts;
use crate::emulated::hidden;
use crate::quantities::{confidence, duration, p_value, percent, percent_digits, value};
use model::{Findings, LevelChange, Role, Slope, Trend, TrendOutcome};
use phrases::{Language, counted, noted, say};
use std::collections::BTreeSet;

/// The answer names this many trends; of the others it gives the number.
const NAMED_AT_MOST: usize = 4;

/// What changes of level are.
pub(crate) const OF_CHANGES: &str = noted!(
    "Changes of level are alerts to look closer and no verdicts; a steady rise is told as one too."
);

/// Nanoseconds of some hours.
fn of_hours(hours: f64, language: Language) -> String {
    duration((hours * 3.6e12).round().max(0.0) as u64, language)
}

/// `Over time: 24 blocks in 23 h 0 min`.
pub(crate) fn heading(trends: &[Trend], language: Language) -> String {
    let blocks = trends.iter().map(|trend| trend.points.len()).max().unwrap_or(0);
    say!(
        language,
        "Over time: {blocks} in {duration}",
        blocks = counts::blocks(blocks, language),
        duration = of_hours(longest(trends), language)
    )
}

fn longest(trends: &[Trend]) -> f64 {
    trends.iter().map(|trend| trend.hours).fold(0.0, f64::max)
}

/// What slopes and their names are.
pub(crate) fn legend(findings: &Findings, language: Language) -> String {
    say!(
        language,
        "Slopes are medians over pairs of blocks (Theil-Sen), their intervals {level} % and each \
         for its row alone. A leak, degradation or improvement differs from no trend after \
         correction for {count} series (Mann-Kendall, Holm), and is beyond the margin over the \
         whole time.",
        level = confidence(findings.alpha),
        count = findings.trends.len()
    )
}

/// Whether a trend is worth its line: something was shown, or a verdict is about its metric.
/// `primary` has the metrics of [`primary`].
pub(crate) fn is_told(trend: &Trend, primary: &BTreeSet<(&str, &str)>) -> bool {
    let is_shown = !matches!(trend.outcome, TrendOutcome::Unshown | TrendOutcome::Untested);
    is_shown || !trend.changes.is_empty() || primary.contains(&key(trend))
}

fn key(trend: &Trend) -> (&str, &str) {
    (&trend.workload, &trend.metric)
}

/// Workloads and metrics that a verdict is about.
pub(crate) fn primary(findings: &Findings) -> BTreeSet<(&str, &str)> {
    let asked = findings.findings.iter().map(|finding| &finding.question);
    asked
        .filter(|question| question.role != Role::Screen)
        .map(|question| (question.workload.as_str(), question.metric.as_str()))
        .collect()
}

/// Whether its absolute values are not shown, on a page that hides those of emulated
/// processors.
pub(crate) fn is_hidden(trend: &Trend, hides_absolute: bool) -> bool {
    hides_absolute && trend.is_emulated
}

/// What was found, in a word or few.
pub(crate) fn outcome(outcome: TrendOutcome, language: Language) -> &'static str {
    match outcome {
        TrendOutcome::Leak => language.word("leak"),
        TrendOutcome::Degradation => language.word("degradation"),
        TrendOutcome::Improvement => language.word("improvement"),
        TrendOutcome::Slight => language.word("a trend inside the margin"),
        TrendOutcome::Unshown => language.word("no trend shown"),
        TrendOutcome::Untested => language.word("not tested"),
    }
}

/// `leak; +1.05 MiB an hour (+1.01 MiB to +1.09 MiB), +12.3 % in 23 h 0 min; +5.1 % from block
/// 13 on`.
pub(crate) fn words(trend: &Trend, hides_absolute: bool, language: Language) -> String {
    let mut words = outcome(trend.outcome, language).to_owned();
    if let Some(slope) = &trend.slope {
        let size = per_hour(trend, slope, hides_absolute, language);
        let change = change(slope, language);
        let duration = of_hours(trend.hours, language);
        words = say!(
            language,
            "{outcome}; {slope}, {change} in {duration}",
            outcome = words,
            slope = size,
            change,
            duration
        );
    }
    for part in [changes(trend, language), trend.reason.clone().unwrap_or_default()] {
        if !part.is_empty() {
            words = format!("{words}; {part}");
        }
    }
    words
}

/// `+1.05 MiB an hour (+1.01 MiB to +1.09 MiB)`; of an emulated processor as shares of the level
/// at the beginning.
fn per_hour(trend: &Trend, slope: &Slope, hides_absolute: bool, language: Language) -> String {
    let told = |slope| size(trend, slope, hides_absolute, language);
    say!(
        language,
        "{slope} an hour ({low} to {high})",
        slope = told(slope.per_hour),
        low = end(slope.interval.low, told, language),
        high = end(slope.interval.high, told, language)
    )
}

/// The slope, and the ends of its interval.
pub(crate) fn cells(trend: &Trend, hides_absolute: bool, language: Language) -> (String, String) {
    let Some(slope) = &trend.slope else { return (String::new(), String::new()) };
    let told = |slope| size(trend, slope, hides_absolute, language);
    let (low, high) =
        (end(slope.interval.low, told, language), end(slope.interval.high, told, language));
    (told(slope.per_hour), say!(language, "{low} to {high}", low, high))
}

fn end(end: Option<f64>, told: impl Fn(f64) -> String, language: Language) -> String {
    end.map_or_else(|| language.word("unbounded").to_owned(), told)
}

/// A slope with its sign.
fn size(trend: &Trend, slope: f64, hides_absolute: bool, language: Language) -> String {
    let sign = if slope < 0.0 { "-" } else { "+" };
    if !is_hidden(trend, hides_absolute) {
        return format!("{sign}{}", value(slope.abs(), trend.unit));
    }
    match trend.slope.as_ref().map(|slope| slope.start).filter(|start| *start > 0.0) {
        Some(start) => format!("{sign}{} %", percent_digits(slope.abs() / start)),
        None => hidden(language),
    }
}

/// The change over all hours.
pub(crate) fn change(slope: &Slope, language: Language) -> String {
    match slope.change {
        Some(change) if change > -1.0 => percent(1.0 + change, language),
        None if slope.per_hour == 0.0 => percent(1.0, language),
        _ => language.word("unbounded").to_owned(),
    }
}

/// The adjusted p of no trend.
pub(crate) fn adjusted_p(trend: &Trend) -> String {
    trend.slope.as_ref().map_or_else(String::new, |slope| p_value(slope.adjusted_p))
}

/// `+5.1 % from block 13 on`.
pub(crate) fn changes(trend: &Trend, language: Language) -> String {
    let told = |change: &LevelChange| {
        say!(
            language,
            "{change} from block {block} on",
            change = percent(change.ratio, language),
            block = u64::from(change.block) + 1
        )
    };
    trend.changes.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// What the answer says of a soak campaign that was judged.
pub(crate) fn sentence(findings: &Findings, language: Language) -> Option<String> {
    let trends = &findings.trends;
    if !trends.iter().any(|trend| trend.slope.is_some()) {
        return None;
    }
    let duration = of_hours(longest(trends), language);
    let mut bad: Vec<&Trend> = trends.iter().filter(|trend| trend.outcome.is_bad()).collect();
    // Leaks first, then what verdicts are about: where not all are named, these are.
    let primary = primary(findings);
    bad.sort_by_key(|trend| (trend.outcome != TrendOutcome::Leak, !primary.contains(&key(trend))));
    if bad.is_empty() {
        return Some(say!(
            language,
            "Over {duration} no leak and no degradation was shown.",
            duration
        ));
    }
    let mut named: Vec<String> =
        bad.iter().take(NAMED_AT_MOST).map(|trend| named(trend, language)).collect();
    let more = bad.len().saturating_sub(NAMED_AT_MOST);
    if more > 0 {
        named.push(counted!(language, more, "and one more", "and {count} more"));
    }
    Some(say!(
        language,
        "Over {duration} it got worse: {trends}.",
        duration,
        trends = named.join(", ")
    ))
}

fn named(trend: &Trend, language: Language) -> String {
    let Trend { workload, metric, subject, .. } = trend;
    let change = trend.slope.as_ref().map_or_else(String::new, |slope| change(slope, language));
    if trend.outcome == TrendOutcome::Leak {
        return say!(
            language,
            "{workload} {metric} of {subject} leaks ({change})",
            workload,
            metric,
            subject,
            change
        );
    }
    say!(
        language,
        "{workload} {metric} of {subject} gets worse ({change})",
        workload,
        metric,
        subject,
        change
    )
}
