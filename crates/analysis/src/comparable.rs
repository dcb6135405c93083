//! Whether two subjects did the same work while their latencies were measured
//! (docs/method.md#m-comparable): the latency of fewer, or of the lucky ones only, is another
//! question's answer.

use crate::observations::Observations;
use crate::pairs::pairs;
use crate::questions::Asked;
use model::{Direction, Metric, Reduction, SampleData, Unit, p_equation};
use stats::{TTest, exp, fisher_exact, ln};

/// Level at which work counts as unequal.
const LEVEL: f64 = 0.01;
/// From here on a count has a logit as good as any.
const MANY: u64 = 10_000;

/// How the subjects of a percentile differ in their share of successes, or, under an open loop,
/// in the throughput that they achieved. A closed loop's throughput
/// follows its latency and is no other work; nor is a share of late cycles, nor are events that cost something, such as
/// switches of context: they are how the same work was done.
pub(crate) fn unequal_work(observations: &Observations<'_>, asked: &Asked<'_>) -> Option<String> {
    if !matches!(asked.metric.reduction, Reduction::Quantile(_)) {
        return None;
    }
    let is_work = |metric: &&Metric| match metric.reduction {
        Reduction::Proportion => !metric.is_description && !metric.follows_latency,
        Reduction::Quotient => {
            metric.unit == Unit::PerSecond
                && metric.direction == Direction::Higher
                && !asked.workload.is_closed_loop
        }
        _ => false,
    };
    asked.workload.metrics.iter().filter(is_work).find_map(|metric| {
        let of_work = Asked { question: asked.question.clone(), metric, workload: asked.workload };
        let test = TTest::of(&pairs(observations, &of_work).differences)?;
        let is_large = test.mean.abs() > ln(1.0 + metric.margin);
        let p = test.p_difference()?;
        (p < LEVEL && is_large && can_be_told_apart(observations, &of_work)).then(|| {
            let change = exp(test.mean) - 1.0;
            let percent = model::signed_percent(change, 1);
            let what = if metric.reduction == Reduction::Proportion { "odds" } else { "rate" };
            format!("{} differs: {what} {percent} %, {}", metric.id, p_equation(p))
        })
    })
}

/// Whether the counts behind two shares differ by more than so few events do by themselves. The
/// logit of none of many is one of how many, the same in every block: no spread contradicts it.
fn can_be_told_apart(observations: &Observations<'_>, asked: &Asked<'_>) -> bool {
    if asked.metric.reduction != Reduction::Proportion {
        return true;
    }
    let counts = |subject: &str| {
        let (mut hits, mut tries) = (0_u64, 0_u64);
        for block in observations.blocks() {
            let trial = observations.completed(block, subject, &asked.question.workload);
            let invocations = trial.into_iter().flat_map(|record| &record.invocations);
            let samples = invocations.flat_map(|invocation| &invocation.samples);
            for sample in samples.filter(|sample| sample.source == asked.metric.source) {
                if let SampleData::Proportion { successes, attempts } = sample.data {
                    hits = hits.saturating_add(successes);
                    tries = tries.saturating_add(attempts);
                }
            }
        }
        (hits, tries)
    };
    let (own, reference) = (counts(&asked.question.subject), counts(&asked.question.reference));
    let rarer = |(hits, tries): (u64, u64)| hits.min(tries.saturating_sub(hits));
    if rarer(own).max(rarer(reference)) > MANY {
        return true;
    }
    fisher_exact(own.0, own.1, reference.0, reference.1).is_none_or(|p| p < LEVEL)
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{metric, plan, record};
    use crate::judge;
    use model::{CaveatCode, Direction, Histogram, Metric, Reduction, Sample, Unit, Verdict};

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    fn verdict(rate: f64, is_closed_loop: bool, direction: Direction) -> (Verdict, bool) {
        let mut throughput = metric("rate", direction, Reduction::Quotient);
        throughput.unit = Unit::PerSecond;
        let p50 = metric("p50", Direction::Lower, Reduction::Quantile(0.5));
        let mut plan = plan(&["a", "b"], vec![p50, throughput], 8);
        plan.workloads[0].is_closed_loop = is_closed_loop;
        let mut records = Vec::new();
        for (block, noise) in NOISE.iter().enumerate() {
            for (subject, centre, rate) in [("a", 10_000.0, 100.0), ("b", 5_000.0, 100.0 * rate)] {
                let mut histogram = Histogram::new();
                let wobble = 1.0 + 0.01 * noise * if subject == "a" { 1.0 } else { -0.5 };
                histogram.record_many((centre * wobble) as u64, 1_000);
                let samples = vec![
                    Sample::histogram("p50", histogram),
                    Sample::quotient("rate", rate * wobble, 1.0),
                ];
                records.push(record(block as u32, subject, "w", vec![samples]));
            }
        }
        let finding = judge(&plan, &records).findings.remove(0);
        let is_marked =
            finding.caveats.iter().any(|caveat| caveat.code == CaveatCode::NotComparable);
        (finding.verdict, is_marked)
    }

    #[test]
    fn half_the_work_is_not_a_better_latency() {
        let higher = Direction::Higher;
        assert_eq!(verdict(1.0, false, higher), (Verdict::Better, false));
        assert_eq!(verdict(0.5, false, higher), (Verdict::Inconclusive, true));
        assert_eq!(verdict(2.0, true, higher), (Verdict::Better, false), "a closed loop follows");
    }

    #[test]
    fn more_switches_are_no_other_work() {
        assert_eq!(verdict(120.0, false, Direction::Lower), (Verdict::Better, false));
    }

    /// The verdict on a latency beside a share with so many events in each block.
    fn beside(is_description: bool, events: [(u64, u64); 2]) -> (Verdict, bool) {
        let retries = metric("retries", Direction::Lower, Reduction::Proportion);
        beside_share(Metric { is_description, ..retries }, events)
    }

    fn beside_share(retries: Metric, events: [(u64, u64); 2]) -> (Verdict, bool) {
        let p50 = metric("p50", Direction::Lower, Reduction::Quantile(0.5));
        let mut plan = plan(&["a", "b"], vec![p50, retries], 8);
        plan.workloads[0].is_closed_loop = true;
        let mut records = Vec::new();
        for (block, noise) in NOISE.iter().enumerate() {
            for ((subject, centre), (hits, tries)) in
                [("a", 10_000.0), ("b", 9_000.0)].iter().zip(events)
            {
                let mut histogram = Histogram::new();
                histogram.record_many((centre * (1.0 + 0.001 * noise)) as u64, 1_000);
                let samples = vec![
                    Sample::histogram("p50", histogram),
                    // No two blocks are quite alike.
                    Sample::proportion("retries", hits, tries + block as u64 * tries / 500),
                ];
                records.push(record(block as u32, subject, "w", vec![samples]));
            }
        }
        let finding = judge(&plan, &records).findings.remove(0);
        let caveats = finding.caveats.iter();
        let is_marked =
            caveats.filter(|caveat| caveat.code == CaveatCode::NotComparable).count() > 0;
        (finding.verdict, is_marked)
    }

    #[test]
    fn nothing_of_more_is_no_other_work_than_nothing_of_fewer() {
        assert_eq!(beside(false, [(0, 13_000), (0, 14_000)]), (Verdict::Better, false));
        assert_eq!(beside(false, [(0, 13_000), (1, 14_000)]), (Verdict::Inconclusive, true));
        assert_eq!(beside(false, [(13_000, 13_000), (14_000, 14_000)]), (Verdict::Better, false));
        assert_eq!(
            beside(false, [(20_000, 90_000), (30_000, 90_000)]),
            (Verdict::Inconclusive, true)
        );
    }

    #[test]
    fn where_tasks_were_is_no_other_work() {
        assert_eq!(beside(true, [(10, 100), (90, 100)]), (Verdict::Better, false));
        assert_eq!(beside(false, [(10, 100), (90, 100)]), (Verdict::Inconclusive, true));
    }

    #[test]
    fn a_share_of_late_cycles_is_the_latency_itself_and_no_other_work() {
        let late = metric("retries", Direction::Lower, Reduction::Proportion);
        let late = Metric { follows_latency: true, ..late };
        assert_eq!(beside_share(late, [(10, 100), (90, 100)]), (Verdict::Better, false));
    }
}
