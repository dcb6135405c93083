//! Quality of pairs (docs/method.md#m-warnings): warnings that travel with a finding and decide
//! nothing, the facts among them that become signals, and obstacles that stand by themselves.

use crate::order_origin::OrderOrigin;
use crate::pairs::Pairs;
use crate::position::order_effect;
use crate::questions::Asked;
use crate::resolution::{Measurements, Steps};
use crate::rulebook::Raised;
use crate::trial_facts::unlike_mix;
use model::{
    BlockEffect, Caveat, CaveatCode, Obstacle, Plan, Reduction, Role, Unit,
    round_significant as round,
};
use stats::{
    OutlierLabels, TTest, equivalence_limit, is_bimodal, label_outliers, lag_one, mann_kendall,
    theil_sen,
};
use std::collections::BTreeSet;

/// Level of the trend test.
const LEVEL: f64 = 0.01;
/// Level at which a change beyond the margin is one and no noise.
const LEVEL_OF_CHANGE: f64 = 0.05;
/// Normal quantile of a two-sided 1 % test.
const Z_99: f64 = 2.58;
/// Steps of up to 0.1 % are coarse against no margin: those of a histogram are as large. It is the
/// logarithm of one plus such a margin.
pub(crate) const FINEST_THETA: f64 = 0.002;
/// Fewer distinct values are steps, not a measurement.
const LEAST_DISTINCT: usize = 10;

/// Beyond this correlation of neighbours, corrected for their number, no verdict is given: the
/// effective number is too uncertain to widen by. Of equal subjects whose effect follows its own past
/// by 0.5, 40 values are then called different in 5 of 100 campaigns, widened alone in 7 (own
/// simulation).
const MOST_CORRELATED: f64 = 0.4;
/// No series resembles its past by more than this, whatever the correction says.
const MOST_CORRECTED: f64 = 0.95;
/// Standard deviations of r1 by which neighbours may resemble each other: this, and a part that
/// falls with the square of the number of values. Of independent values 0.8 of 100 series of ten
/// exceed it, 2.8 of 20, 3.3 of 24 and 3.8 of 40; up to 26 values all that exceed it are above
/// [`MOST_CORRELATED`] once they are corrected, and of up to 13 none has more than two effective values
/// (own simulation, 100,000 series of each number).
const LEAST_ALIKE: f64 = 1.75;
const LEAST_ALIKE_OF_FEW: f64 = 60.0;
/// Of six values more can never be seen.
const MOST_ALIKE: f64 = 2.6;
/// Fewer effective replicates leave less than one degree of freedom.
pub(crate) const LEAST_EFFECTIVE: f64 = 2.0;

/// The t of differences, widened where neighbours resemble each other (AUTOCORR);
/// none where they resemble each other so much that no test is possible.
pub(crate) fn widened(differences: &[f64]) -> (Option<TTest>, Option<Caveat>) {
    let Some((caveat, effective)) = autocorrelation(differences) else {
        return (TTest::of(differences), None);
    };
    let test = match effective {
        None => TTest::of(differences),
        Some(count) if count <= LEAST_EFFECTIVE => None,
        Some(count) => TTest::with_effective_count(differences, count),
    };
    (test, Some(caveat))
}

/// The lag-one correlation of differences that resemble their neighbours by more than the widened t
/// allows for.
pub(crate) fn excessive_correlation(differences: &[f64]) -> Option<f64> {
    correlation(differences).filter(|lag| *lag > MOST_CORRELATED)
}

/// The caveat, and the effective number of replicates where neighbours are alike.
fn autocorrelation(differences: &[f64]) -> Option<(Caveat, Option<f64>)> {
    let lag = correlation(differences)?;
    let effective = (lag > 0.0).then(|| effective_count(differences.len() as f64, lag));
    let widened = match effective {
        None => String::new(),
        Some(count) if count <= LEAST_EFFECTIVE => {
            format!("; {count:.1} effective blocks are too few for a test")
        }
        Some(count) => format!("; widened to {count:.1} effective blocks"),
    };
    let caveat =
        Caveat::new(CaveatCode::Autocorr, format!("lag-one correlation {lag:.2}{widened}"));
    Some((caveat, effective))
}

/// The corrected lag-one correlation of values that are not independent of their neighbours.
fn correlation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let lag = lag_one(values)?;
    let [least, most] = neighbour_limits(count);
    (lag < least || lag > most).then(|| corrected_correlation(count, lag))
}

/// The least and the largest lag-one correlation of so many values that are independent. Its mean is
/// −1/n and its variance (n − 2)²/(n² (n − 1)) (Moran 1948).
pub(crate) fn neighbour_limits(count: f64) -> [f64; 2] {
    let deviation = (count - 2.0) / (count * (count - 1.0).sqrt());
    let alike = (LEAST_ALIKE + LEAST_ALIKE_OF_FEW / (count * count)).min(MOST_ALIKE);
    [-1.0 / count - Z_99 * deviation, -1.0 / count + alike * deviation]
}

/// A lag-one correlation of so many values without its bias: a short series shows less of it than
/// there is, ρ − (1 + 4ρ)/n where the mean is that of the series (Marriott and Pope 1954, of sums
/// that are not divided by their numbers of terms). Of up to four values it is 0.
pub(crate) fn corrected_correlation(count: f64, lag: f64) -> f64 {
    if count <= 4.0 {
        return 0.0;
    }
    ((count * lag + 1.0) / (count - 4.0)).clamp(-MOST_CORRECTED, MOST_CORRECTED)
}

/// The effective number of so many values of this corrected correlation, which is above 0.
pub(crate) fn effective_count(count: f64, correlation: f64) -> f64 {
    count * (1.0 - correlation) / (1.0 + correlation)
}

/// Warnings about a question's pairs that decide nothing.
pub(crate) fn warnings(
    pairs: &Pairs,
    asked: &Asked<'_>,
    steps: &Steps,
    origin: OrderOrigin,
) -> Vec<Caveat> {
    [
        order_effect(pairs, origin),
        bimodal(&pairs.reference, &asked.question.reference),
        bimodal(&pairs.subject, &asked.question.subject),
        quantised(pairs, steps),
        outliers(pairs),
        clamped(pairs),
        closed_loop(asked.workload.is_closed_loop, asked.metric.reduction),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Obstacles to a question about pairs that need nothing but these facts.
pub(crate) fn obstacles(pairs: &Pairs, asked: &Asked<'_>, plan: &Plan) -> Vec<Raised> {
    let mix = unlike_mix(plan, &asked.question);
    [observed_latency(pairs, asked), mix.as_deref().map(unequal_mixes)]
        .into_iter()
        .flatten()
        .collect()
}

/// A latency that was measured while a probe that acts on every event was attached.
fn observed_latency(pairs: &Pairs, asked: &Asked<'_>) -> Option<Raised> {
    let metric = asked.metric;
    let is_latency =
        matches!(metric.reduction, Reduction::Quantile(_)) && metric.unit == Unit::Nanoseconds;
    let reason = "a probe that acts on every event was attached";
    (is_latency && pairs.is_observed).then(|| Raised::silent(Obstacle::ObservedLatency, reason))
}

/// Rows of different kinds of which the subjects have unlike shares.
pub(crate) fn unequal_mixes(detail: &str) -> Raised {
    let reason = format!("the difference may be one of the mix: {detail}");
    let code = CaveatCode::UnequalMix;
    Raised::with_caveat(Obstacle::UnequalMixes, reason, code, detail)
}

/// The change over the whole campaign, from the median slope.
pub(crate) fn reference_change(logs: &[f64]) -> Option<f64> {
    theil_sen(logs).map(|slope| slope * (logs.len() as f64 - 1.0))
}

/// The reference's change, where it drifted.
pub(crate) fn drift(logs: &[f64], theta: f64) -> Option<f64> {
    let p = mann_kendall(logs);
    let change = reference_change(logs)?;
    p.is_some_and(|p| is_drift(p, change, theta)).then_some(change)
}

/// Whether a trend of this p and this change is a drift.
pub(crate) fn is_drift(p: f64, change: f64, theta: f64) -> bool {
    p < LEVEL || (p < LEVEL_OF_CHANGE && change.abs() > theta)
}

/// The caveat where so much noise makes equivalence unlikely.
pub(crate) fn noisy(test: &TTest, count: usize, theta: f64, alpha: f64) -> Option<Caveat> {
    let limit = equivalence_limit(u32::try_from(count).ok()?, alpha) * theta;
    (count >= 2 && test.standard_deviation > limit).then(|| {
        Caveat::new(
            CaveatCode::Noisy,
            format!(
                "differences between blocks vary by {} %; with so many blocks equivalence is likely only where they vary by at most {} %",
                model::percent(test.standard_deviation, 1),
                model::percent(limit, 1)
            ),
        )
    })
}

fn bimodal(logs: &[f64], subject: &str) -> Option<Caveat> {
    is_bimodal(logs).then(|| {
        Caveat::new(CaveatCode::Bimodal, format!("{subject} has two modes over the blocks"))
    })
}

fn quantised(pairs: &Pairs, steps: &Steps) -> Option<Caveat> {
    if let Some(caveat) = steps.caveat() {
        return Some(caveat);
    }
    let (distinct, all) = few_distinct_values(pairs)?;
    let distinct = model::counted(distinct, "distinct value");
    Some(Caveat::new(CaveatCode::Quantised, format!("{distinct} of {all}")))
}

/// How many distinct values there are of how many, where they are few.
pub(crate) fn few_distinct_values(pairs: &Pairs) -> Option<(usize, usize)> {
    let values: Vec<f64> =
        pairs.blocks.iter().flat_map(|block| [block.reference, block.subject]).collect();
    let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    let is_stepped =
        values.len() >= LEAST_DISTINCT && distinct.len() < LEAST_DISTINCT.min(values.len() / 2);
    is_stepped.then_some((distinct.len(), values.len()))
}

/// The largest step of the values of a primary question's pairs as a share of the smallest of them,
/// whatever the margin.
pub(crate) fn known_step(pairs: &Pairs, asked: &Asked<'_>, are_imported: bool) -> Option<f64> {
    let is_primary = asked.question.role == Role::Primary;
    let coarse = || steps(pairs, asked, FINEST_THETA, are_imported).coarse;
    is_primary.then(coarse).flatten().map(round)
}

/// The steps of the values of pairs, which may have been imported.
pub(crate) fn steps(pairs: &Pairs, asked: &Asked<'_>, theta: f64, are_imported: bool) -> Steps {
    let of =
        |value: fn(&BlockEffect) -> f64| -> Vec<f64> { pairs.blocks.iter().map(value).collect() };
    let (reference, subject) = (of(|block| block.reference), of(|block| block.subject));
    let series = pairs.series.each_ref().map(Vec::as_slice);
    let measured = Measurements { values: [&reference, &subject], series, are_imported };
    Steps::of(&measured, asked.metric, theta)
}

fn outliers(pairs: &Pairs) -> Option<Caveat> {
    let differences: Vec<f64> = pairs.blocks.iter().map(|block| block.log_difference).collect();
    let OutlierLabels::Labelled(positions) = label_outliers(&differences) else { return None };
    let blocks: Vec<String> = positions
        .iter()
        .filter_map(|position| pairs.blocks.get(*position))
        .map(|block| (block.block + 1).to_string())
        .collect();
    Some(Caveat::new(CaveatCode::Outlier, far_blocks(&blocks)?))
}

fn far_blocks(blocks: &[String]) -> Option<String> {
    match blocks {
        [] => None,
        [only] => Some(format!("block {only} lies far from the others and is kept")),
        several => {
            Some(format!("blocks {} lie far from the others and are kept", several.join(", ")))
        }
    }
}

fn clamped(pairs: &Pairs) -> Option<Caveat> {
    (pairs.clamped > 0).then(|| {
        let events = model::counted(pairs.clamped, "event");
        Caveat::new(CaveatCode::Clamped, format!("{events} exceeded an hour"))
    })
}

/// That a load which waits for each answer hides its own pauses from a percentile.
pub(crate) fn closed_loop(is_closed_loop: bool, reduction: Reduction) -> Option<Caveat> {
    let is_tail = matches!(reduction, Reduction::Quantile(_));
    (is_tail && is_closed_loop)
        .then(|| Caveat::new(CaveatCode::ClosedLoop, "the load waits for each answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHOD: &str = include_str!("../../../docs/method.md");

    #[test]
    fn what_is_told_of_neighbours_that_resemble_each_other_is_what_is_held() {
        let rule = CaveatCode::Autocorr.rule().unwrap().text;
        for told in [
            format!("below −1/B − {Z_99} s"),
            format!("z = {LEAST_ALIKE} + {LEAST_ALIKE_OF_FEW}/B², at most {MOST_ALIKE}."),
            format!("r = (B r₁ + 1)/(B − 4), at most {MOST_CORRECTED}."),
            format!("at n_eff ≤ {LEAST_EFFECTIVE} there is no test"),
        ] {
            assert!(rule.contains(&told), "{told}: {rule}");
        }
        let raised = Obstacle::CorrelatedBlocks.raised_where();
        assert!(raised.contains(&format!("above {MOST_CORRELATED};")), "{raised}");
        let withheld = format!("[beyond {MOST_CORRELATED} no verdict is given](#m-obstacles)");
        assert!(METHOD.contains(rule) && METHOD.contains(&withheld), "{withheld}");
    }

    #[test]
    fn blocks_far_from_the_others_are_told_in_the_singular_and_the_plural() {
        let told = |blocks: &[&str]| {
            let blocks: Vec<String> = blocks.iter().map(|block| (*block).to_owned()).collect();
            far_blocks(&blocks)
        };
        let [one, two] = [
            "block 2 lies far from the others and is kept",
            "blocks 1, 2 lie far from the others and are kept",
        ];
        assert_eq!(told(&["2"]).as_deref(), Some(one));
        assert_eq!(told(&["1", "2"]).as_deref(), Some(two));
        assert_eq!(told(&[]), None);
    }
}
