//! Leaks and degradation: how metrics go over a campaign that declared how long it goes on.
//!
//! One number for each block, as everywhere. The slope and its test are Theil's and Sen's,
//! Mann's and Kendall's; the places where the level changes are those of `history`. All series
//! of a campaign are one family, apart from that of its comparisons: no verdict changes.

use crate::family::holm_of;
use crate::observations::Observations;
use crate::over_time::{Series, series};
use crate::ratios::ratio_of;
use model::{
    Caveat, CaveatCode, Direction, Findings, LARGEST_RATIO, LevelChange, Plan, Record, Slope,
    SlopeInterval, TREND_FINDINGS_FORMAT, Trend, TrendOutcome, TrendPoint,
    round_significant as round,
};
use stats::{change_points, ln, median};

/// Fewer blocks are no series (docs/method.md#m-trends).
const LEAST_POINTS: usize = 5;

/// The trends of a campaign of any kind whose records have times, tested at its level.
pub fn trends(plan: &Plan, records: &[Record]) -> Vec<Trend> {
    let observations = Observations::of(records);
    let all = series(plan, &observations, records);
    let mut found = Vec::with_capacity(all.len());
    let mut p_values = Vec::with_capacity(all.len());
    for series in &all {
        let (trend, p) = tested(series, plan.alpha, all.len());
        found.push(trend);
        p_values.push(p);
    }
    // What could not be tested was asked all the same, and counts.
    for ((trend, series), adjusted) in found.iter_mut().zip(&all).zip(holm_of(&p_values)) {
        let (Some(slope), Some(adjusted)) = (&mut trend.slope, adjusted) else { continue };
        slope.adjusted_p = round(adjusted);
        trend.outcome = if adjusted < plan.alpha && excludes_zero(&slope.interval) {
            shown(series, slope)
        } else {
            TrendOutcome::Unshown
        };
    }
    found
}

/// Adds the trends of a soak campaign to its findings; those of any other stay as they are.
pub(crate) fn add(plan: &Plan, records: &[Record], findings: &mut Findings) {
    if plan.pace.is_none() {
        return;
    }
    findings.trends = trends(plan, records);
    TREND_FINDINGS_FORMAT.clone_into(&mut findings.format);
    let told: Vec<Caveat> = findings.trends.iter().filter_map(caveat).collect();
    for one in told {
        findings.note_caveat(one);
    }
    findings.caveats.sort();
}

/// Adds what can be seen of a soak campaign that was not run to its end: its values. No test of
/// a trend holds at whatever moment somebody looks or ends it.
pub(crate) fn add_untested(plan: &Plan, records: &[Record], reason: &str, findings: &mut Findings) {
    if plan.pace.is_none() {
        return;
    }
    let observations = Observations::of(records);
    let all = series(plan, &observations, records);
    findings.trends = all
        .iter()
        .map(|series| Trend { reason: Some(reason.to_owned()), ..untested(series) })
        .collect();
    TREND_FINDINGS_FORMAT.clone_into(&mut findings.format);
}

fn untested(series: &Series<'_>) -> Trend {
    let point = |point: &crate::over_time::Point| TrendPoint {
        block: point.block,
        hours: round(point.hours),
        value: round(point.value),
        stretch: point.stretch,
    };
    Trend {
        workload: series.workload.label.clone(),
        metric: series.metric.id.clone(),
        unit: series.metric.unit,
        direction: series.metric.direction,
        subject: series.subject.id.clone(),
        margin: series.metric.margin,
        outcome: TrendOutcome::Untested,
        is_emulated: series.emulated.is_some(),
        reason: None,
        hours: round(hours(series)),
        slope: None,
        changes: Vec::new(),
        points: series.points.iter().map(point).collect(),
        caveats: series.emulated.iter().cloned().collect(),
    }
}

/// A series tested for itself, and the p of no trend in it.
fn tested(series: &Series<'_>, alpha: f64, family: usize) -> (Trend, Option<f64>) {
    let mut trend = untested(series);
    let is_allowed = series.lack.is_none() && series.points.len() >= LEAST_POINTS;
    if is_allowed {
        trend.changes = changes(series);
    }
    let test = is_allowed.then(|| stats::MonotoneTrend::of(&series.stretches())).flatten();
    let Some(test) = test else {
        trend.reason = Some(why_untested(series));
        return (trend, None);
    };
    if test.correlation() > 0.0 {
        let detail = format!(
            "neighbouring blocks resemble each other beside the trend, by a correlation of {:.2}: \
             its interval was widened",
            test.correlation()
        );
        trend.caveats.push(Caveat::new(CaveatCode::Autocorr, detail));
        trend.caveats.sort();
    }
    let slope = slope(series, &test, alpha, family);
    if slope.family_interval == (SlopeInterval { low: None, high: None }) {
        let count = series.points.len();
        trend.reason =
            Some(format!("{count} blocks are too few to show any trend of {family} series"));
    }
    trend.slope = Some(slope);
    (trend, Some(test.p()))
}

fn why_untested(series: &Series<'_>) -> String {
    match series.lack {
        Some(lack) => lack.to_owned(),
        None if series.points.len() < LEAST_POINTS => {
            let have = if series.points.len() == 1 { "has" } else { "have" };
            let blocks = model::counted(series.points.len(), "block");
            format!("{blocks} {have} a value; a trend needs {LEAST_POINTS}")
        }
        None => "no two blocks of one stretch differ".to_owned(),
    }
}

/// Hours in which it was watched: the stretches' sum.
fn hours(series: &Series<'_>) -> f64 {
    let stretches = series.stretches();
    let length = |stretch: &Vec<(f64, f64)>| Some(stretch.last()?.0 - stretch.first()?.0);
    stretches.iter().filter_map(length).sum()
}

/// The slope; its adjusted p comes later.
fn slope(series: &Series<'_>, test: &stats::MonotoneTrend, alpha: f64, family: usize) -> Slope {
    let per_hour = test.slope();
    // About the beginning of each stretch, where what outlives trials was young.
    let stretches = series.stretches();
    let levels: Vec<f64> = stretches
        .iter()
        .filter_map(|stretch| Some((stretch, stretch.first()?.0)))
        .flat_map(|(stretch, begin)| {
            stretch.iter().map(move |(time, value)| value - per_hour * (time - begin))
        })
        .collect();
    let start = median(&levels).unwrap_or(0.0);
    let change = (start > 0.0).then(|| per_hour * hours(series) / start);
    let interval = |alpha: f64| {
        let (low, high) = test.interval(alpha);
        let end = |end: f64| end.is_finite().then(|| round(end));
        SlopeInterval { low: end(low), high: end(high) }
    };
    Slope {
        per_hour: round(per_hour),
        interval: interval(alpha),
        family_interval: interval(alpha / family.max(1) as f64),
        start: round(start),
        change: change.map(round),
        p: round(test.p()),
        adjusted_p: 1.0,
    }
}

fn excludes_zero(interval: &SlopeInterval) -> bool {
    interval.low.is_some_and(|low| low > 0.0) || interval.high.is_some_and(|high| high < 0.0)
}

/// What a slope that differs from none is, by its direction and its size.
fn shown(series: &Series<'_>, slope: &Slope) -> TrendOutcome {
    let metric = series.metric;
    // Of nothing, or to nothing, any change is large.
    let ratio = slope.change.map_or(0.0, |change| 1.0 + change);
    if ratio > 0.0 && ln(ratio).abs() <= ln(1.0 + metric.margin) {
        return TrendOutcome::Slight;
    }
    let is_better = (slope.per_hour > 0.0) == (metric.direction == Direction::Higher);
    match (is_better, metric.is_memory()) {
        (true, _) => TrendOutcome::Improvement,
        (false, true) => TrendOutcome::Leak,
        (false, false) => TrendOutcome::Degradation,
    }
}

/// Where the level changes, by more than the margin: as in `history`.
fn changes(series: &Series<'_>) -> Vec<LevelChange> {
    let scaled: Vec<f64> = series.points.iter().map(|point| point.scaled).collect();
    let found = change_points(&scaled, ln(1.0 + series.metric.margin));
    let change = |found: stats::ChangePoint| LevelChange {
        block: series.points[found.index].block,
        ratio: ratio_of(found.shift),
        low: ratio_of(found.shift - found.half_width),
        high: ratio_of(found.shift + found.half_width),
        p: round(found.p),
    };
    found.into_iter().map(change).collect()
}

/// What the campaign is warned of.
fn caveat(trend: &Trend) -> Option<Caveat> {
    let code = match trend.outcome {
        TrendOutcome::Leak => CaveatCode::Leak,
        TrendOutcome::Degradation => CaveatCode::Degradation,
        _ => return None,
    };
    let slope = trend.slope.as_ref()?;
    let Trend { workload, metric, subject, hours, .. } = trend;
    let mut detail = format!("{workload} {metric}, {subject}: ");
    match slope.change {
        Some(change) => {
            // Relative to the level at the beginning: no unit, and right for emulated ones too.
            let share = |per_hour: f64| per_hour / slope.start;
            let ends: Vec<String> = [slope.interval.low, slope.interval.high]
                .map(|end| end.map_or("unbounded".to_owned(), |end| signed_percent(share(end))))
                .into();
            detail += &format!(
                "{} % an hour [{}], {} % in {}",
                signed_percent(share(slope.per_hour)),
                ends.join(", "),
                signed_percent(change),
                spoken(*hours)
            );
        }
        None => detail += &format!("from nothing, in {}", spoken(*hours)),
    }
    if let Some(first) = trend.changes.first() {
        let blocks: Vec<String> =
            trend.changes.iter().map(|change| (change.block + 1).to_string()).collect();
        let more = if first.ratio >= LARGEST_RATIO { "more than " } else { "" };
        let percent = format!("{more}{}", signed_percent(first.ratio - 1.0));
        detail += &if blocks.len() == 1 {
            format!("; its level changes at block {} by {percent} %", blocks[0])
        } else {
            format!("; its level changes at blocks {}, first by {percent} %", blocks.join(", "))
        };
    }
    Some(Caveat::new(code, detail))
}

fn spoken(hours: f64) -> String {
    match hours * 60.0 {
        minutes if minutes >= 60.0 => format!("{hours:.1} h"),
        minutes if minutes >= 1.0 => format!("{minutes:.1} min"),
        minutes => format!("{:.1} s", 60.0 * minutes),
    }
}

/// A fraction in percent, in three digits with a sign.
fn signed_percent(fraction: f64) -> String {
    let decimals = match 100.0 * fraction.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.995 => 2,
        _ => 3,
    };
    model::signed_percent(fraction, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use crate::{ended, judge, live};
    use model::{Metric, Outcome, Pace, Reduction, Sample, TrialFact, Unit};
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    const HOUR_NS: u64 = 3_600_000_000_000;
    const BEGUN_NS: u64 = 1_700_000_000_000_000_000;
    const MEGABYTE: f64 = 1e6;

    fn memory() -> Metric {
        let (unit, direction) = (Unit::Bytes, Direction::Lower);
        Metric::new("service_memory", unit, direction, Reduction::Median, "for tests")
    }

    /// A soak campaign of `a`, its control and `b`: latency is primary, memory is not.
    fn soak(blocks: u32) -> Plan {
        let latency = metric("latency", Direction::Lower, Reduction::Median);
        let plan = plan(&["a", "a-again", "b"], vec![latency, memory()], blocks);
        let pace = Pace { duration_ns: u64::from(blocks) * HOUR_NS, every_ns: HOUR_NS };
        Plan { pace: Some(pace), ..plan }
    }

    /// A block each hour, its subjects a minute apart; a value by block and place of the subject.
    fn hourly(
        blocks: u32,
        mut latency: impl FnMut(u32, usize) -> f64,
        mut memory: impl FnMut(u32, usize) -> f64,
    ) -> Vec<Record> {
        let mut all = Vec::new();
        for block in 0..blocks {
            for (place, subject) in ["a", "a-again", "b"].into_iter().enumerate() {
                let samples = vec![
                    Sample::values("latency", vec![latency(block, place)]),
                    Sample::values("service_memory", vec![memory(block, place)]),
                ];
                let sequence = all.len() as u64;
                let started_unix_ns =
                    BEGUN_NS + u64::from(block) * HOUR_NS + place as u64 * HOUR_NS / 60;
                let mut record = record(block, subject, "w", vec![samples]);
                record.sequence = sequence;
                record.started_unix_ns = started_unix_ns;
                all.push(record);
            }
        }
        all
    }

    fn normal(random: &mut ChaCha12Rng) -> f64 {
        StandardNormal.sample(random)
    }

    /// Latency of 100 and memory of 200 MB, with 1 % of noise and what the block brings.
    fn noisy(seed: u64, blocks: u32, leak: impl Fn(u32, usize) -> f64) -> Vec<Record> {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut other = ChaCha12Rng::seed_from_u64(seed + 1_000_000);
        hourly(
            blocks,
            |_, _| 100.0 * (1.0 + 0.01 * normal(&mut random)),
            |block, place| {
                MEGABYTE * (200.0 * (1.0 + 0.01 * normal(&mut other)) + leak(block, place))
            },
        )
    }

    fn outcomes(findings: &Findings) -> Vec<(String, String, TrendOutcome)> {
        let of = |trend: &Trend| (trend.metric.clone(), trend.subject.clone(), trend.outcome);
        findings.trends.iter().map(of).collect()
    }

    fn codes(findings: &Findings) -> Vec<CaveatCode> {
        findings.caveats.iter().map(|caveat| caveat.code).collect()
    }

    #[test]
    fn a_leak_of_a_megabyte_an_hour_is_found_in_noise_and_named_with_its_slope() {
        let mut found = 0;
        for seed in 0..50 {
            let leak = |block: u32, place: usize| if place == 2 { f64::from(block) } else { 0.0 };
            let findings = judge(&soak(24), &noisy(seed, 24, leak));
            let leaks = findings.trends.iter().filter(|trend| trend.outcome.is_bad());
            let leaks: Vec<&Trend> = leaks.collect();
            let [trend] = leaks[..] else { continue };
            assert_eq!((trend.subject.as_str(), trend.outcome), ("b", TrendOutcome::Leak));
            let slope = trend.slope.as_ref().unwrap();
            assert!((0.5..1.5).contains(&(slope.per_hour / MEGABYTE)), "{slope:?}");
            let detail =
                &findings.caveats.iter().find(|c| c.code == CaveatCode::Leak).unwrap().detail;
            assert!(detail.starts_with("w service_memory, b: +0."), "{detail}");
            assert!(detail.contains(" % in 23.0 h"), "{detail}");
            found += 1;
        }
        assert!(found >= 48, "{found} of 50");
    }

    #[test]
    fn campaigns_without_a_trend_are_seldom_called_one() {
        // Six series each; 400 campaigns, two standard errors of 5 % are 2.2 points. Without
        // the margin, which noise of 1 % seldom passes.
        let mut plan = soak(16);
        plan.workloads[0].metrics.iter_mut().for_each(|metric| metric.margin = 1e-9);
        let is_wrong = |seed: &u64| {
            let trends = trends(&plan, &noisy(*seed, 16, |_, _| 0.0));
            trends.iter().any(|trend| trend.outcome != TrendOutcome::Unshown)
        };
        let wrong = (0..400).filter(is_wrong).count();
        assert!(wrong as f64 / 400.0 <= 0.072, "{wrong} of 400");
        assert!(wrong > 0, "a test that never errs is no test");
    }

    #[test]
    fn an_enormous_slope_has_three_digits_as_any_other() {
        for (fraction, text) in [
            (0.004_56, "+0.456"),
            (-0.0612, "-6.12"),
            (4.2, "+420"),
            (1e300, "+1.00e302"),
            (-1e300, "-1.00e302"),
        ] {
            assert_eq!(signed_percent(fraction), text);
        }
    }

    #[test]
    fn a_trend_is_worse_or_better_by_its_metric_and_slight_inside_the_margin() {
        let wobble = |block: u32| 1.0 + 0.001 * f64::from(block * 7 % 5);
        let latency = |rise: f64| {
            let of = move |block: u32, place: usize| {
                let share = if place == 2 { rise * f64::from(block) / 11.0 } else { 0.0 };
                100.0 * (1.0 + share) * wobble(block)
            };
            let all = hourly(12, of, |block, _| MEGABYTE * wobble(block));
            let findings = judge(&soak(12), &all);
            let own = findings.trends.iter().find(|t| t.subject == "b" && t.metric == "latency");
            (own.unwrap().outcome, codes(&findings).contains(&CaveatCode::Degradation))
        };
        assert_eq!(latency(0.3), (TrendOutcome::Degradation, true));
        assert_eq!(latency(-0.3), (TrendOutcome::Improvement, false));
        assert_eq!(latency(0.015), (TrendOutcome::Slight, false));
        assert_eq!(latency(0.0).0, TrendOutcome::Unshown);
    }

    #[test]
    fn a_step_is_told_with_the_block_at_which_it_lies() {
        let step = |block: u32, place: usize| {
            let noise = 0.4 * f64::from(block * 7 % 11) / 11.0;
            if place == 2 && block >= 14 { 160.0 + noise } else { 100.0 + noise }
        };
        let findings = judge(&soak(24), &hourly(24, step, |_, _| MEGABYTE));
        let trend =
            findings.trends.iter().find(|t| t.subject == "b" && t.metric == "latency").unwrap();
        assert_eq!(trend.changes.iter().map(|change| change.block).collect::<Vec<_>>(), [14]);
        assert!((trend.changes[0].ratio - 1.6).abs() < 0.01);
        assert_eq!(trend.outcome, TrendOutcome::Degradation);
        let caveat = findings.caveats.iter().find(|c| c.code == CaveatCode::Degradation).unwrap();
        assert!(caveat.detail.contains("; its level changes at block 15 by +5"), "{caveat:?}");
        let constant = findings.trends.iter().find(|t| t.metric == "service_memory").unwrap();
        assert_eq!(constant.outcome, TrendOutcome::Untested);
        assert_eq!(constant.reason.as_deref(), Some("no two blocks of one stretch differ"));
    }

    /// Memory that grows by a tenth each hour, and is small again from the tenth block on.
    fn restarted() -> Vec<Record> {
        let grown = |block: u32, _: usize| {
            MEGABYTE * (100.0 + 10.0 * f64::from(block % 10) + f64::from(block * 7 % 3))
        };
        hourly(20, |block, _| 100.0 + f64::from(block * 7 % 3), grown)
    }

    #[test]
    fn a_leak_is_found_although_an_interruption_gave_the_memory_back() {
        let mut all = restarted();
        let resumed = all.iter_mut().find(|record| record.block == 10).unwrap();
        resumed.note_fact(TrialFact::Resumed, "for tests");
        let findings = judge(&soak(20), &all);
        let of = |subject: &str| {
            let own = |t: &&Trend| t.subject == subject && t.metric == "service_memory";
            findings.trends.iter().find(own).unwrap()
        };
        for subject in ["a", "a-again", "b"] {
            assert_eq!(of(subject).outcome, TrendOutcome::Leak, "{subject}");
            assert!((of(subject).hours - 18.0).abs() < 1e-6, "the gap is no time of the service");
            let slope = of(subject).slope.as_ref().unwrap();
            assert!((slope.per_hour / MEGABYTE - 10.0).abs() < 0.5, "{slope:?}");
        }
        let told = findings.findings[0].caveats.iter().any(|c| c.code == CaveatCode::Interrupted);
        assert!(told, "comparisons over the gap say so as well");
        // What decides is that it is known, not that it is said.
        let outcomes = |all: &[Record]| -> Vec<TrendOutcome> {
            judge(&soak(20), all).trends.iter().map(|trend| trend.outcome).collect()
        };
        let known = outcomes(&all);
        all.iter_mut().for_each(|record| record.caveats.clear());
        assert_eq!(outcomes(&all), known);
    }

    #[test]
    fn a_trial_that_failed_ends_a_stretch() {
        let mut all = restarted();
        let failed = all.iter_mut().find(|r| r.block == 9 && r.subject == "b").unwrap();
        failed.outcome = Outcome::Failed { reason: "it ended".to_owned() };
        let found = judge(&soak(20), &all);
        let own = found.trends.iter().filter(|trend| trend.metric == "service_memory");
        assert!(own.clone().all(|trend| trend.outcome == TrendOutcome::Leak), "{found:?}");
        let stretches: Vec<u32> = own.clone().flat_map(|t| &t.points).map(|p| p.stretch).collect();
        assert_eq!(stretches.iter().max(), Some(&1));
    }

    #[test]
    fn campaigns_that_declare_no_duration_have_findings_as_before() {
        let leak = |block: u32, _: usize| f64::from(block);
        let all = noisy(1, 24, leak);
        let soak = soak(24);
        let ordinary = Plan { pace: None, ..soak.clone() };
        let before = judge(&ordinary, &all);
        assert_eq!((before.format.as_str(), before.trends.len()), ("schedlab.findings/16", 0));
        assert!(!trends(&ordinary, &all).is_empty(), "they can be asked for all the same");
        // Nor do verdicts of a soak campaign differ from theirs.
        let mut with = judge(&soak, &all);
        assert_eq!(with.format, TREND_FINDINGS_FORMAT);
        assert!(codes(&with).contains(&CaveatCode::Leak));
        with.trends.clear();
        with.caveats.retain(|caveat| caveat.code != CaveatCode::Leak);
        with.format.clone_from(&before.format);
        assert_eq!(with, before);
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let mut all = noisy(2, 12, |block, _| f64::from(block));
        let forward = judge(&soak(12), &all);
        all.reverse();
        assert_eq!(judge(&soak(12), &all), forward);
    }

    #[test]
    fn nothing_is_tested_before_the_end_nor_where_it_was_ended_on_purpose() {
        let all = noisy(3, 16, |block, _| 10.0 * f64::from(block));
        for findings in [live(&soak(24), &all), ended(&soak(24), &all)] {
            let all = outcomes(&findings);
            assert!(all.iter().all(|(_, _, outcome)| *outcome == TrendOutcome::Untested));
            assert_eq!(all.len(), 6);
            assert!(findings.trends[0].reason.as_ref().unwrap().contains("at every look"));
            assert_eq!(findings.trends[0].points.len(), 16, "what is there is shown");
            assert!(!codes(&findings).contains(&CaveatCode::Leak));
        }
    }

    #[test]
    fn a_trend_that_rests_on_an_emulated_processor_says_so_tested_or_not() {
        let mut all = noisy(7, 12, |_, _| 0.0);
        let emulated = all.iter_mut().find(|record| record.subject == "b" && record.block == 3);
        emulated.unwrap().note_fact(TrialFact::Emulated, "TCG");
        let plan = soak(12);
        for findings in [judge(&plan, &all), live(&plan, &all), ended(&plan, &all)] {
            assert_eq!(findings.trends.len(), 6);
            for trend in &findings.trends {
                assert_eq!(trend.is_emulated, trend.subject == "b", "{trend:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_tested_says_why() {
        let few = judge(&soak(5), &noisy(4, 4, |_, _| 0.0));
        assert_eq!(few.trends[0].reason.as_deref(), Some("4 blocks have a value; a trend needs 5"));
        let five = judge(&soak(5), &noisy(4, 5, |block, _| 100.0 * f64::from(block)));
        let reason = "5 blocks are too few to show any trend of 6 series";
        assert_eq!(five.trends[0].reason.as_deref(), Some(reason));
        let zero = |block: u32, place: usize| if (block, place) == (3, 0) { 0.0 } else { 1.0 };
        let zero = judge(&soak(8), &hourly(8, zero, |_, _| MEGABYTE));
        assert!(zero.trends[0].reason.as_ref().unwrap().contains("zero"), "{:?}", zero.trends[0]);
        let mut timeless = noisy(5, 8, |_, _| 0.0);
        timeless.iter_mut().for_each(|record| record.started_unix_ns = 0);
        assert_eq!(judge(&soak(8), &timeless).trends, []);
    }

    #[test]
    fn what_describes_a_run_has_no_trend() {
        let mut plan = soak(8);
        plan.workloads[0].metrics[1].is_description = true;
        let all = noisy(6, 8, |block, _| 50.0 * f64::from(block));
        assert!(judge(&plan, &all).trends.iter().all(|trend| trend.metric == "latency"));
    }
}
