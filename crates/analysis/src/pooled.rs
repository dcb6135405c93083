//! A percentile of all blocks together, for tails too scarce to be told block by block
//! (docs/method.md#m-pooled): histograms are merged over the blocks of each subject,
//! and the interval comes from leaving out one block after the other.

use crate::observations::Observations;
use crate::pairs::Pairs;
use crate::questions::Asked;
use crate::reduce::histogram;
use model::{Histogram, Reduction};
use stats::{TTest, ln};

/// The pooled percentiles and the test of their ratio.
pub(crate) struct Pooled {
    pub reference: f64,
    pub subject: f64,
    pub test: TTest,
    /// Events of the subject that has fewer.
    pub events: u64,
}

/// Pools the complete pairs; `None` where a block has no histogram or a percentile is 0.
pub(crate) fn pooled(
    observations: &Observations<'_>,
    asked: &Asked<'_>,
    pairs: &Pairs,
) -> Option<Pooled> {
    let Reduction::Quantile(quantile) = asked.metric.reduction else { return None };
    let question = &asked.question;
    let of = |subject: &str| -> Option<Vec<Histogram>> {
        let blocks = pairs.blocks.iter();
        let of_block = blocks.map(|block| {
            let record = observations.completed(block.block, subject, &question.workload)?;
            histogram(record, &asked.metric.source)
        });
        of_block.collect()
    };
    let (reference, subject) = (of(&question.reference)?, of(&question.subject)?);
    let sign = asked.metric.direction.sign();
    let (all_reference, all_subject) = (Histogram::merged(&reference), Histogram::merged(&subject));
    let of_both = |reference: &Histogram, subject: &Histogram| -> Option<(f64, f64)> {
        let of = |all: &Histogram| all.quantile(quantile).filter(|value| *value > 0);
        Some((of(reference)? as f64, of(subject)? as f64))
    };
    let difference = |(reference, subject): (f64, f64)| sign * (ln(subject) - ln(reference));
    let whole = of_both(&all_reference, &all_subject)?;
    let leave_one_out: Option<Vec<f64>> = reference
        .iter()
        .zip(&subject)
        .map(|(one, other)| {
            of_both(&all_reference.without(one), &all_subject.without(other)).map(difference)
        })
        .collect();
    Some(Pooled {
        reference: whole.0,
        subject: whole.1,
        test: TTest::jackknife(difference(whole), &leave_one_out?)?,
        events: all_reference.count().min(all_subject.count()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use crate::judge;
    use model::{Direction, Plan, Record, Sample, Verdict};

    /// In each block a thousand events, of which a few are slow.
    fn campaign(blocks: u32, slow_ns: u64) -> (Plan, Vec<Record>) {
        let p999 = metric("p999", Direction::Lower, Reduction::Quantile(0.999));
        let mut plan =
            plan(&["a", "b"], vec![model::Metric { source: "m".to_owned(), ..p999 }], blocks);
        plan.workloads[0].pooled = vec!["p999".to_owned()];
        let mut records = Vec::new();
        for block in 0..blocks {
            for (subject, tail) in [("a", 10_000), ("b", slow_ns)] {
                let mut histogram = Histogram::new();
                histogram.record_many(1_000, 990);
                for event in 0..10 {
                    histogram.record(tail + u64::from(block) * 37 + event * 11);
                }
                let samples = vec![vec![Sample::histogram("m", histogram)]];
                records.push(record(block, subject, "w", samples));
            }
        }
        (plan, records)
    }

    #[test]
    fn a_tail_that_no_block_could_tell_is_told_by_all_of_them() {
        let (plan, records) = campaign(12, 20_000);
        let finding = judge(&plan, &records).findings.remove(0);
        assert_eq!(finding.verdict, Verdict::Worse, "{:?}", finding.reason);
        assert!((finding.subject_value.unwrap() / 20_450.0 - 1.0).abs() < 0.01);
        assert!((finding.tail.unwrap().beyond - 12.0).abs() < 1e-6);
        let alone = Plan {
            workloads: vec![model::WorkloadPlan {
                pooled: Vec::new(),
                ..plan.workloads[0].clone()
            }],
            ..plan
        };
        let by_block = judge(&alone, &records).findings.remove(0);
        assert_eq!(by_block.verdict, Verdict::Inconclusive, "one event beyond it in each block");
    }

    #[test]
    fn a_jackknife_of_few_blocks_gives_no_verdict() {
        let (plan, records) = campaign(9, 20_000);
        let finding = judge(&plan, &records).findings.remove(0);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(finding.reason.unwrap().contains("10"));
    }
}
