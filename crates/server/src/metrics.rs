//! `/metrics`: the campaign that is followed, in the OpenMetrics text format. Names and base
//! units are those of the convention (prometheus.io/docs/practices/naming). Labels are the plan's
//! own words, and there are never more than [`MOST_OF_A_KIND`] comparisons, or latencies.

use crate::live_feed::LiveState;
use live::{LatencyPoint, LatencySeries, LiveCampaign, MachineSample, RunState};
use model::{Unit, Verdict};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder, text};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit as BaseUnit};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;

pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// More comparisons, or latencies of a subject, would be a load on the scraper; they are
/// counted as omitted.
const MOST_OF_A_KIND: usize = 200;

type Number = Gauge<f64, AtomicU64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Campaign {
    campaign: String,
    venue: String,
    origin: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Trials {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Comparison {
    workload: String,
    metric: String,
    subject: String,
    reference: String,
    /// It stands beside every effect and verdict, because each is seen alone.
    origin: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Judged {
    workload: String,
    metric: String,
    subject: String,
    reference: String,
    origin: &'static str,
    verdict: Word,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Quantile {
    workload: String,
    source: String,
    subject: String,
    origin: &'static str,
    quantile: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cpu {
    cpu: u32,
}

/// A verdict as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Word(Verdict);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        let word = match self.0 {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Invalid => "invalid",
        };
        EncodeLabelValue::encode(&word, encoder)
    }
}

/// What is known at this moment.
///
/// # Errors
/// When it cannot be encoded.
pub(crate) fn text(live_state: &LiveState) -> Result<String, fmt::Error> {
    encoded(
        live_state.watchers(),
        live_state.snapshot().as_ref(),
        live_state.last_sample().as_ref(),
    )
}

fn encoded(
    watchers: usize,
    snapshot: Option<&LiveCampaign>,
    sample: Option<&MachineSample>,
) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("schedlab");
    let count: Gauge = Gauge::default();
    count.set(i64::try_from(watchers).unwrap_or(i64::MAX));
    registry.register("watchers", "Clients that watch the dashboard", count);
    if let Some(snapshot) = snapshot {
        campaign(&mut registry, snapshot);
        comparisons(&mut registry, snapshot);
        latencies(&mut registry, snapshot);
    }
    if let Some(sample) = sample {
        machine(&mut registry, sample);
    }
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    // Labels come from files.
    Ok(model::inert_lines(&text).into_owned())
}

fn campaign(registry: &mut Registry, snapshot: &LiveCampaign) {
    let state = match snapshot.state {
        RunState::Running => "running",
        RunState::Interrupted => "interrupted",
        RunState::Finished => "finished",
        RunState::StoppedEarly => "stopped_early",
    };
    let info = Family::<Campaign, Gauge>::default();
    let labels = Campaign {
        campaign: snapshot.name.clone(),
        venue: snapshot.venue.clone(),
        origin: snapshot.origin.word(),
        state,
    };
    info.get_or_create(&labels).set(1);
    registry.register("campaign", "The campaign that is followed; always 1", info);

    let trials = Family::<Trials, Gauge>::default();
    let counts = [
        ("done", snapshot.trials.done),
        ("planned", snapshot.trials.total),
        ("failed", snapshot.trials.failed),
        ("invalid", snapshot.trials.invalid),
    ];
    for (state, count) in counts {
        trials.get_or_create(&Trials { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("trials", "Trials of the campaign", trials);

    if let Some(left_ms) = snapshot.left_ms {
        let left = Number::default();
        left.set(left_ms as f64 / 1e3);
        let help = "Time that the campaign still takes, by how its estimates held so far";
        registry.register_with_unit("time_left", help, BaseUnit::Seconds, left);
    }
}

fn comparisons(registry: &mut Registry, snapshot: &LiveCampaign) {
    let numbers = [(); 3].map(|()| Family::<Comparison, Number>::default());
    let verdicts = Family::<Judged, Gauge>::default();
    let pairs = Family::<Comparison, Gauge>::default();
    for one in snapshot.verdicts.iter().take(MOST_OF_A_KIND) {
        let labels = Comparison {
            workload: one.workload.clone(),
            metric: one.metric.clone(),
            subject: one.subject.clone(),
            reference: one.reference.clone(),
            origin: snapshot.origin.word(),
        };
        for (family, value) in numbers.iter().zip([one.ratio, one.low, one.high]) {
            if let Some(value) = value {
                family.get_or_create(&labels).set(value);
            }
        }
        pairs.get_or_create(&labels).set(i64::try_from(one.pairs).unwrap_or(i64::MAX));
        let Comparison { workload, metric, subject, reference, origin } = labels;
        let verdict = Word(one.verdict);
        let judged = Judged { workload, metric, subject, reference, origin, verdict };
        verdicts.get_or_create(&judged).set(1);
    }
    let [ratio, low, high] = numbers;
    let help = "Effect on a metric as an oriented ratio: above 1 the subject is better";
    registry.register("effect_ratio", help, ratio);
    let help = "Lower end of the effect's interval; a confidence sequence while trials run";
    registry.register("effect_low_ratio", help, low);
    registry.register("effect_high_ratio", "Upper end of the effect's interval", high);
    registry.register("effect_pairs", "Complete pairs of blocks behind the effect", pairs);
    registry.register("verdict", "The verdict of a comparison; always 1", verdicts);
    let help = "Comparisons that are not shown here";
    registry.register("comparisons_omitted", help, omitted(snapshot.verdicts.len()));
}

/// How many of so many are not shown.
fn omitted(count: usize) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(i64::try_from(count.saturating_sub(MOST_OF_A_KIND)).unwrap_or(i64::MAX));
    gauge
}

/// The last trial of each subject, and nothing of those before: what it did not tell is not known.
fn latencies(registry: &mut Registry, snapshot: &LiveCampaign) {
    let family = Family::<Quantile, Number>::default();
    let timed = snapshot.latencies.iter().filter(|one| one.unit == Unit::Nanoseconds);
    let last: Vec<_> = timed
        .flat_map(|latency| last_of_each(latency).into_iter().map(move |point| (latency, point)))
        .collect();
    for (latency, point) in last.iter().take(MOST_OF_A_KIND) {
        for (labels, value_ns) in quantiles(latency, point, snapshot.origin.word()) {
            family.get_or_create(&labels).set(value_ns as f64 / 1e9);
        }
    }
    let help = "Percentiles of single events in the last finished trial of a subject";
    registry.register_with_unit("latency", help, BaseUnit::Seconds, family);
    let help = "Latencies of a subject that are not shown here";
    registry.register("latencies_omitted", help, omitted(last.len()));
}

/// Each subject's last point.
fn last_of_each(latency: &LatencySeries) -> Vec<&LatencyPoint> {
    let by_subject = latency.points.iter().map(|point| (point.subject.as_str(), point));
    by_subject.collect::<BTreeMap<_, _>>().into_values().collect()
}

fn quantiles<'a>(
    latency: &'a LatencySeries,
    point: &'a LatencyPoint,
    origin: &'static str,
) -> impl Iterator<Item = (Quantile, u64)> + 'a {
    let all = [("0.5", point.p50), ("0.99", point.p99), ("0.999", point.p999)];
    all.into_iter().filter_map(move |(quantile, value)| {
        let labels = Quantile {
            workload: latency.workload.clone(),
            source: latency.source.clone(),
            subject: point.subject.clone(),
            origin,
            quantile,
        };
        Some((labels, value?))
    })
}

fn machine(registry: &mut Registry, sample: &MachineSample) {
    let busy = Family::<Cpu, Number>::default();
    let waiting = Family::<Cpu, Number>::default();
    for one in &sample.cpus {
        let labels = Cpu { cpu: u32::try_from(one.cpu).unwrap_or(u32::MAX) };
        busy.get_or_create(&labels).set(one.busy);
        if let Some(tasks) = one.waiting {
            waiting.get_or_create(&labels).set(tasks);
        }
    }
    registry.register("cpu_busy_ratio", "Share of its time in which a CPU worked", busy);
    registry.register("cpu_waiting_tasks", "Mean number of tasks waiting for a CPU", waiting);
    let shares = [
        ("cpu_steal_ratio", "Share of all CPUs' time that a hypervisor took", Some(sample.steal)),
        ("cpu_foreign_ratio", "Share of it used by what is not the campaign's", sample.foreign),
        ("cpu_pressure_ratio", "Share of time in which a task waited", sample.pressure),
    ];
    for (name, help, share) in shares {
        if let Some(share) = share {
            let gauge = Number::default();
            gauge.set(share);
            registry.register(name, help, gauge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use live::{CpuSample, LiveVerdict, Trials};
    use model::{Direction, NumberOrigin, Role};
    use std::collections::BTreeSet;

    /// The dashboard that goes with these metrics.
    const GRAFANA: &str = include_str!("../../../docs/grafana/schedlab.json");

    fn snapshot(comparisons: usize, word: &str) -> LiveCampaign {
        let verdict = |number: usize| LiveVerdict {
            workload: word.to_owned(),
            metric: "latency_p99".to_owned(),
            unit: Unit::Nanoseconds,
            direction: Direction::Lower,
            subject: format!("subject-{number}"),
            reference: "other".to_owned(),
            role: Role::Primary,
            verdict: Verdict::Better,
            margin: 0.05,
            pairs: 6,
            alpha: 0.05,
            is_sequence: true,
            ratio: Some(1.25),
            low: Some(1.1),
            high: Some(1.5),
        };
        LiveCampaign {
            name: "first-20261122-101530-ab12".to_owned(),
            title: String::new(),
            venue: "host".to_owned(),
            origin: NumberOrigin::Measured,
            is_quick: false,
            hides_absolute: false,
            state: RunState::Running,
            begun_ms: 0,
            trials: Trials { done: 3, total: 12, failed: 1, invalid: 0 },
            left_ms: Some(81_500),
            current: None,
            revision: 3,
            judged_trials: 3,
            verdicts: (0..comparisons).map(verdict).collect(),
            latencies: vec![LatencySeries {
                workload: word.to_owned(),
                source: "wakeup_latency".to_owned(),
                unit: Unit::Nanoseconds,
                points: vec![
                    point("other", Some(2_500), Some(9_000)),
                    point("other", Some(1_500), None),
                ],
            }],
            log: Vec::new(),
        }
    }

    fn point(subject: &str, p50: Option<u64>, p99: Option<u64>) -> LatencyPoint {
        LatencyPoint { order: 0, at_ms: 0, subject: subject.to_owned(), p50, p99, p999: None }
    }

    fn sample() -> MachineSample {
        MachineSample {
            at_ms: 0,
            cpus: vec![CpuSample { cpu: 3, busy: 0.5, waiting: Some(1.5) }],
            steal: 0.25,
            foreign: Some(0.125),
            throttled: None,
            pressure: Some(0.75),
        }
    }

    fn lines(snapshot: &LiveCampaign) -> Vec<String> {
        let text = encoded(2, Some(snapshot), Some(&sample())).unwrap();
        assert!(text.ends_with("# EOF\n"), "{text}");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn values_have_base_units_and_the_plans_own_words() {
        let all = lines(&snapshot(1, "wakeup"));
        for line in [
            "schedlab_watchers 2",
            "schedlab_trials{state=\"failed\"} 1",
            "schedlab_time_left_seconds 81.5",
            "schedlab_latency_seconds{workload=\"wakeup\",source=\"wakeup_latency\",\
             subject=\"other\",origin=\"measured\",quantile=\"0.5\"} 0.0000015",
            "schedlab_cpu_waiting_tasks{cpu=\"3\"} 1.5",
            "schedlab_cpu_foreign_ratio 0.125",
        ] {
            assert!(all.iter().any(|one| one == line), "{line} in {all:#?}");
        }
        assert!(
            !all.iter().any(|line| line.contains("quantile=\"0.99\"")),
            "nothing is no zero, nor what an earlier trial told"
        );
    }

    #[test]
    fn each_effect_verdict_and_latency_says_where_its_numbers_come_from() {
        for (origin, word) in [
            (NumberOrigin::Measured, "measured"),
            (NumberOrigin::Simulated, "simulated"),
            (NumberOrigin::Emulated, "emulated"),
            (NumberOrigin::Unknown, "unknown"),
            (NumberOrigin::Imported, "imported"),
        ] {
            let all = lines(&LiveCampaign { origin, ..snapshot(1, "w") });
            for name in [
                "schedlab_campaign{",
                "schedlab_effect_ratio{",
                "schedlab_effect_low_ratio{",
                "schedlab_effect_high_ratio{",
                "schedlab_effect_pairs{",
                "schedlab_verdict{",
                "schedlab_latency_seconds{",
            ] {
                let told: Vec<&String> = all.iter().filter(|line| line.starts_with(name)).collect();
                let label = format!("origin=\"{word}\"");
                assert!(told.len() == 1 && told[0].contains(&label), "{name}: {all:#?}");
            }
        }
    }

    #[test]
    fn a_large_campaign_has_a_bounded_number_of_series() {
        let mut large = snapshot(MOST_OF_A_KIND + 50, "w");
        let points = &mut large.latencies[0].points;
        *points = (0..MOST_OF_A_KIND - 10)
            .map(|number| point(&format!("subject-{number:03}"), Some(1), Some(2)))
            .collect();
        let other = LatencySeries { source: "other".to_owned(), ..large.latencies[0].clone() };
        large.latencies.push(other);
        let all = lines(&large);
        let count = |name: &str| all.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!(count("schedlab_effect_ratio{"), MOST_OF_A_KIND);
        assert_eq!(count("schedlab_latency_seconds{"), 2 * MOST_OF_A_KIND);
        for told in ["schedlab_comparisons_omitted 50", "schedlab_latencies_omitted 180"] {
            assert!(all.iter().any(|line| line == told), "{told} in {all:#?}");
        }
    }

    #[test]
    fn hostile_words_stay_inside_their_label() {
        let all = lines(&snapshot(1, "w\"} 1\nschedlab_watchers 99\n\\"));
        assert_eq!(all.iter().filter(|line| line.starts_with("schedlab_watchers ")).count(), 1);
        let all = lines(&snapshot(1, "w\u{1b}[2J\u{202e}"));
        assert!(all.iter().any(|line| line.contains("w\u{fffd}[2J\u{fffd}")), "{all:#?}");
        assert!(!all.iter().any(|line| line.contains(model::is_obeyed)), "{all:#?}");
    }

    #[test]
    fn grafana_asks_for_what_is_there_and_for_nothing_else() {
        let all = lines(&snapshot(1, "wakeup"));
        let names: BTreeSet<&str> = all
            .iter()
            .filter_map(|line| line.split([' ', '{']).next())
            .filter(|name| name.starts_with("schedlab_"))
            .collect();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let asked: BTreeSet<&str> = GRAFANA
            .split(|letter| !is_name(letter))
            .filter(|word| word.starts_with("schedlab_"))
            .collect();
        assert!(asked.len() >= 10, "{asked:?}");
        let unknown: Vec<_> = asked.difference(&names).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
