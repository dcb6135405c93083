//! Numbers without blocks (docs/method.md#m-unblocked): imported from somebody who ran one
//! subject and then another. Every cell, every margin over some of its dimensions,
//! and all of it together, by Welch's t on logarithms; Holm within each kind.
//!
//! A replicate is one execution. What it measured more than once, or for several
//! levels of a dimension, is a mean of logarithms inside it; dimensions that each
//! execution fixes are strata of equal weight.

mod alternation;
mod file_order;
mod mix;
mod noise;
mod samples;
mod table;

use crate::absent_runs::absent_by_number;
use crate::claims::{ClaimEvidence, ClaimedFindings, ClaimsAbout, claims, decide_differences};
use crate::comparison::{deciding, effect_of};
use crate::failures::{compare_counted, counted, failures_among, rounded};
use crate::family::{holm_levels, holm_of};
use crate::file_order::FileOrder;
use crate::observations::latest;
use crate::order_origin::OrderOrigin;
use crate::pairs::LEAST_SHOWN;
use crate::quality::unequal_mixes;
use crate::ranking::rankings;
use crate::rulebook::{
    Basis, Evidence, LevelsLeft, Signals, Unchosen, degenerate_caveat, further, infer, obstacles,
    owed_to_choice, rule,
};
use crate::trial_facts::{
    at_strictest_level, copied, doubts, is_order_chosen, parts, strictest_alpha, unchosen,
    unlike_mix,
};
use model::{
    CaveatCheck, ClaimFinding, Comparisons, Effect, FINDINGS_FORMAT, Finding, Findings, Plan,
    Record, Tail, Verdict, round_significant as round,
};
use samples::Samples;
use stats::{TTest, ln};
use std::collections::BTreeMap;
use table::{Family, Table, name_of};

/// With more dimensions than this only single ones are margins.
const MOST_CROSSED: usize = 3;

/// Judges imported samples.
pub(crate) fn judge(
    plan: &Plan,
    records: &[Record],
    dimensions: &[String],
    fixed: &[String],
) -> Findings {
    let table = Table::of(plan, records, dimensions, fixed);
    let mut findings = Vec::new();
    let mut families = BTreeMap::new();
    for kept in margins(dimensions) {
        let family = table.family(&kept, &plan.comparisons);
        families.insert(name_of(&kept, dimensions), family.len());
        findings.extend(judge_family(plan, family.len(), &|number| family.samples(number)));
    }
    // What stands beside a verdict, and claims, hear of no level that is looser by choice.
    let at_level = at_strictest_level(plan);
    let strict = &*at_level;
    let claims = claims_of(strict, &table, dimensions);
    drop(table);
    // Of cells: one execution that fails may be several trials of a margin.
    let known = counted(latest(records));
    compare_counted(&mut findings, &known);
    let of_import = plan.imported.iter().flat_map(|imported| imported.caveats.clone());
    let caveats: Vec<_> = of_import.collect();
    Findings {
        format: FINDINGS_FORMAT.to_owned(),
        plan_digest: plan.digest.clone(),
        seed: plan.seed,
        alpha: plan.alpha,
        gate_alpha: strictest_alpha(plan),
        is_unfinished: false,
        is_evidence_changed: false,
        families,
        rankings: rankings(plan, &findings),
        use_cases: Vec::new(),
        claims,
        trends: Vec::new(),
        findings,
        failures: failures_among(strict, &known).into_iter().map(rounded).collect(),
        against: CaveatCheck::of(&caveats),
        caveats,
    }
}

/// Claims are about any pair of subjects, whether the plan compares them or not. The comparisons of
/// all claims are one family, and those of each claim are judged as if it were the only one.
fn claims_of(plan: &Plan, table: &Table<'_>, dimensions: &[String]) -> Vec<ClaimFinding> {
    if plan.claims.is_empty() {
        return Vec::new();
    }
    let families: Vec<Family<'_, '_>> =
        margins(dimensions).iter().map(|kept| table.family(kept, &Comparisons::All)).collect();
    let about = ClaimsAbout::of(plan);
    let mut asked: Vec<(&Family<'_, '_>, usize)> = Vec::new();
    // Of those the ones that each claim asks.
    let mut of_claims = vec![Vec::new(); plan.claims.len()];
    for (family, number) in
        families.iter().flat_map(|family| (0..family.len()).map(move |number| (family, number)))
    {
        let known = about.about(&family.question(number));
        if !known.is_empty() {
            asked.push((family, number));
        }
        for (index, _) in known {
            of_claims[index].push((family, number));
        }
    }
    let together = judge_claimed(plan, &asked);
    let judge_own = |own: &Vec<(&Family<'_, '_>, usize)>| {
        if own.len() == asked.len() { together.clone() } else { judge_claimed(plan, own) }
    };
    let alone = of_claims.iter().map(judge_own).collect();
    let claimed = ClaimedFindings { together, alone };
    claims(plan, ClaimEvidence::without_blocks(&claimed, plan.alpha))
}

/// The findings of questions that claims ask, each by its family and number.
fn judge_claimed<'a>(plan: &Plan, asked: &[(&Family<'_, 'a>, usize)]) -> Vec<Finding> {
    let samples = |at: usize| -> Samples<'a> {
        let (family, number) = asked[at];
        family.samples(number)
    };
    let mut found = judge_family(plan, asked.len(), &samples);
    let tests: Vec<Option<TTest>> = (0..asked.len()).map(|at| samples(at).test()).collect();
    decide_differences(&mut found, &tests, plan.alpha);
    found
}

/// Which dimensions a question keeps: all of them are cells, none is everything.
fn margins(dimensions: &[String]) -> Vec<Vec<usize>> {
    let count = dimensions.len();
    let mut kept: Vec<Vec<usize>> = if count <= MOST_CROSSED {
        let chosen =
            |pattern: usize| (0..count).filter(|index| pattern >> index & 1 == 1).collect();
        (0..1_usize << count).map(chosen).collect()
    } else {
        let single = (0..count).map(|index| vec![index]);
        [(0..count).collect(), Vec::new()].into_iter().chain(single).collect()
    };
    // Everything first, then the margins, the cells last: the order of reading.
    kept.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    kept
}

/// The test of a question, its margin on the scale of logarithms, and what nobody chose of it.
struct Tested {
    test: Option<TTest>,
    theta: f64,
    unchosen: Option<Unchosen>,
}

impl Tested {
    /// The margin that nobody chose, on the scale of logarithms.
    fn usual_theta(&self) -> f64 {
        self.unchosen.map_or(self.theta, |usual| usual.theta)
    }
}

/// Judges so many questions together. Their samples are made twice: all of them at once would be as
/// many times the file as there are subjects.
fn judge_family<'a>(
    plan: &Plan,
    count: usize,
    samples_of: &dyn Fn(usize) -> Samples<'a>,
) -> Vec<Finding> {
    let tested = |number: usize| {
        let samples = samples_of(number);
        Tested {
            test: samples.test(),
            theta: ln(1.0 + samples.metric.margin),
            unchosen: unchosen(plan, samples.metric, plan.alpha),
        }
    };
    let asked: Vec<Tested> = (0..count).map(tested).collect();
    let of_each = |p: fn(&Tested) -> Option<f64>| asked.iter().map(p).collect::<Vec<_>>();
    let differences = holm_of(&of_each(|one| one.test?.p_difference()));
    let raw = of_each(|one| one.test?.p_equivalence(one.theta));
    let equivalences = holm_of(&raw);
    let unchosen = holm_of(&of_each(|one| one.test?.p_equivalence(one.usual_theta())));
    let levels = holm_levels(&raw, plan.alpha);
    let of_difference = holm_levels(&of_each(|one| one.test?.p_difference()), plan.alpha);
    let judged = (0..count).map(|index| {
        let Tested { test, theta, unchosen: usual } = &asked[index];
        let test = test.as_ref();
        let samples = samples_of(index);
        let evidence = Evidence {
            test,
            difference: differences[index],
            equivalence: equivalences[index],
            theta: *theta,
            alpha: plan.alpha,
            family: count,
        };
        let left = LevelsLeft { difference: of_difference[index], equivalence: levels[index] };
        let mut finding = finding(plan, &samples, (&evidence, left), (*usual, unchosen[index]));
        let is_shown = finding.verdict == Verdict::Equivalent;
        if let (Some(effect), Some(test)) = (&mut finding.effect, test.filter(|_| is_shown)) {
            effect.deciding = (!test.is_degenerate()).then(|| deciding(test, levels[index]));
        }
        finding
    });
    judged.collect()
}

/// The smaller of the margin and of the level that were given and that nobody chose: neither that is
/// looser by choice hides a step, a drift or what ran before.
fn strictest(usual: Option<Unchosen>, [theta, alpha]: [f64; 2]) -> [f64; 2] {
    usual.map_or([theta, alpha], |usual| [usual.theta.min(theta), usual.alpha.min(alpha)])
}

/// The facts of a question, with those of its order, at a margin and a level. Of hundreds of thousands of
/// executions the order takes megabytes, so that it is let go before all else is asked.
fn signals(
    plan: &Plan,
    samples: &Samples<'_>,
    order: Option<FileOrder>,
    correlation: Option<f64>,
    [theta, alpha]: [f64; 2],
) -> Signals {
    let origin = OrderOrigin::of(plan);
    let in_order = order.map(|order| samples.in_order(&order, origin, theta, alpha));
    let in_order = in_order.unwrap_or_default();
    let fixed_order = in_order.confounded.or_else(|| samples.alternates(origin));
    let absent_runs = absent_by_number(plan, &samples.question);
    let mix = samples.unlike_mix.clone().or_else(|| unlike_mix(plan, &samples.question));
    Signals {
        origin,
        fixed_order: fixed_order.into_iter().collect(),
        by_drift: in_order.by_drift,
        correlation,
        doubts: doubts(plan, &samples.question.metric, absent_runs.is_some()),
        absent_runs,
        is_order_chosen: is_order_chosen(plan),
        parts: parts(plan),
        copied: copied(plan, &samples.question),
        raised: mix.as_deref().map(unequal_mixes).into_iter().collect(),
        ..samples.signals(theta, alpha)
    }
}

fn finding(
    plan: &Plan,
    samples: &Samples<'_>,
    (evidence, left): (&Evidence<'_>, LevelsLeft),
    (usual, unchosen): (Option<Unchosen>, Option<f64>),
) -> Finding {
    let Evidence { test, difference, equivalence, theta, alpha, family } = *evidence;
    let [strict, level] = strictest(usual, [theta, alpha]);
    let order = samples.file_order();
    let noise = samples.noise(order.as_ref(), strict, level);
    let signals = signals(plan, samples, order, noise.correlation, [strict, level]);
    let owed = owed_to_choice(evidence, usual, unchosen);
    let mut raised = obstacles(&signals, Basis::Tests, left.times(level / alpha));
    raised.extend(owed.raised);
    let is_unclear = signals.is_unclear() || noise.is_unclear || owed.is_unclear;
    let ruling = rule(infer(evidence), &raised).clear_unless(is_unclear);
    let further = further(&ruling, &raised);
    let told = noise.caveats.into_iter().chain(degenerate_caveat(&signals, &ruling));
    let caveats = samples.caveats(&signals, &raised, told, strict);
    let hides_value = samples.tail().is_some_and(|tail| tail.beyond < LEAST_SHOWN);
    let test = test.filter(|_| !hides_value);
    let value = |side: usize| samples.value(side).filter(|_| !hides_value);
    Finding {
        question: samples.question.clone(),
        verdict: ruling.verdict,
        strength: ruling.strength,
        reason: ruling.reason,
        obstacle: ruling.obstacle,
        further_obstacles: further,
        least_beside: signals.least_beside(),
        step: samples.known_step(),
        p_failure: None,
        is_odds: signals.is_odds,
        is_order_fixed: !signals.fixed_order.is_empty(),
        doubts: signals.doubts.clone(),
        is_emulated: signals.is_emulated,
        look: None,
        margin: samples.metric.margin,
        pairs: samples.replicates(),
        reference_value: value(0),
        subject_value: value(1),
        effect: test.map(|test| Effect {
            adjusted_difference: difference.map(round),
            adjusted_equivalence: equivalence.map(round),
            ..effect_of(
                test,
                samples.metric.direction,
                theta,
                [alpha, alpha / family.max(1) as f64],
            )
        }),
        companion: None,
        planning: None,
        tail: samples
            .tail()
            .map(|tail| Tail { beyond: round(tail.beyond), supported: tail.supported.map(round) }),
        diagnostics: None,
        blocks: Vec::new(),
        against: CaveatCheck::of(&caveats),
        caveats,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record};
    use crate::{GateLimit, GateOutcome, gate};
    use model::{
        Caveat, CaveatCode, Claim, ClaimOutcome, ClaimedEffect, Comparisons, DecidingFacts,
        Direction, Doubt, Histogram, Imported, ImportedDesign, ImportedOrder, Metric, Obstacle,
        Outcome, ParameterValue, Parameters, Reduction, Sample, Strength, TrialFact, WorkloadPlan,
    };
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Workloads `w:1` and `w:2` of the dimension `w`; executions fix what is in `fixed`.
    fn imported(metrics: Vec<Metric>, subjects: &[&str], fixed: &[&str]) -> Plan {
        let mut plan = plan(subjects, metrics, 0);
        let template = plan.workloads.remove(0);
        plan.workloads = ["1", "2"]
            .map(|level| WorkloadPlan {
                label: format!("w:{level}"),
                parameters: Parameters(
                    [("w".to_owned(), ParameterValue::Text(level.to_owned()))].into(),
                ),
                ..template.clone()
            })
            .into();
        plan.comparisons = Comparisons::All;
        plan.imported = Some(fixtures::imported(
            ImportedDesign::Unblocked {
                dimensions: vec!["w".to_owned()],
                fixed: fixed.iter().map(|name| (*name).to_owned()).collect(),
            },
            ImportedOrder::Rows,
        ));
        plan
    }

    /// Five executions of each subject, both workloads; `b` has 20 % more.
    fn records_of(value: impl Fn(&str, u32, u32) -> Vec<Sample>) -> Vec<Record> {
        let mut all = Vec::new();
        for subject in ["a", "b"] {
            for replicate in 0..5 {
                for level in [1, 2] {
                    let samples = value(subject, replicate, level);
                    let mut one = record(replicate, subject, &format!("w:{level}"), vec![samples]);
                    one.sequence = all.len() as u64;
                    all.push(one);
                }
            }
        }
        all
    }

    fn noisy(subject: &str, replicate: u32, level: u32) -> f64 {
        let wobble = 1.0 + 0.004 * f64::from((replicate * 7 + level * 3) % 5);
        10.0 * f64::from(level) * wobble * if subject == "b" { 1.2 } else { 1.0 }
    }

    fn find<'a>(findings: &'a Findings, workload: &str) -> &'a Finding {
        let is_it = |finding: &&Finding| finding.question.workload == workload;
        findings.findings.iter().find(is_it).unwrap()
    }

    fn has(finding: &Finding, code: CaveatCode) -> bool {
        finding.caveats.iter().any(|caveat| caveat.code == code)
    }

    #[test]
    fn a_margin_that_came_with_the_numbers_makes_nothing_equivalent_and_nothing_clear() {
        let all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        let decided = |margin: f64, usual: Option<f64>| {
            let rate = Metric { margin, ..metric("m", Direction::Higher, Reduction::Mean) };
            let mut plan = imported(vec![rate], &["a", "b"], &[]);
            if let Some(imported) = &mut plan.imported {
                let usual = usual.map(|usual| ("m".to_owned(), usual));
                imported.given.usual_margins = usual.into_iter().collect();
            }
            let findings = crate::judge(&plan, &all);
            let finding = find(&findings, "overall");
            (finding.verdict, finding.obstacle)
        };
        assert_eq!(decided(0.5, None), (Verdict::Equivalent, None));
        let taken = (Verdict::Inconclusive, Some(Obstacle::GivenMargin));
        assert_eq!(decided(0.5, Some(0.02)), taken);
        assert_eq!(decided(0.4, Some(0.5)), (Verdict::Equivalent, None), "a stricter one");
        assert_eq!(decided(0.001, Some(0.5)), (Verdict::Better, None));
    }

    #[test]
    fn a_direction_that_came_with_the_numbers_decides_no_gate() {
        let all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        let rate = metric("m", Direction::Higher, Reduction::Mean);
        let mut plan = imported(vec![rate], &["a", "b"], &[]);
        if let Some(imported) = &mut plan.imported {
            imported.given.turned = vec!["m".to_owned()];
        }
        let findings = crate::judge(&plan, &all);
        let finding = find(&findings, "overall");
        assert_eq!(finding.doubts, [Doubt::TurnedDirection]);
        assert_ne!(finding.strength, Some(Strength::Clearly));
        let limit =
            GateLimit { workload: "overall".to_owned(), metric: "m".to_owned(), fraction: 0.03 };
        let results = gate(&findings, &[limit]).unwrap();
        assert_eq!(results[0].outcome, GateOutcome::Inconclusive);
    }

    #[test]
    fn what_an_execution_covers_is_one_replicate_and_what_it_fixes_are_strata() {
        let rate = || vec![metric("m", Direction::Higher, Reduction::Mean)];
        let all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        let covered = crate::judge(&imported(rate(), &["a", "b"], &[]), &all);
        let fixed = crate::judge(&imported(rate(), &["a", "b"], &["w"]), &all);
        let (one, two) = (find(&covered, "overall"), find(&fixed, "overall"));
        assert_eq!((one.pairs, two.pairs), (5, 10));
        let ratio = |finding: &Finding| finding.effect.as_ref().unwrap().ratio;
        assert!((ratio(one) - 1.2).abs() < 1e-9 && (ratio(two) - 1.2).abs() < 1e-9);
        assert_eq!((one.verdict, find(&covered, "w:1").pairs), (Verdict::Better, 5));
        assert!(has(one, CaveatCode::UnblockedDesign) && has(one, CaveatCode::OrderConfounded));
        for finding in covered.findings.iter().chain(&fixed.findings) {
            assert_eq!(finding.against, CaveatCheck::of(&finding.caveats));
        }
        assert_eq!(
            covered.families,
            BTreeMap::from([("cells".to_owned(), 2), ("overall".to_owned(), 1)])
        );
        assert_eq!(covered.rankings[0].ranks[0].subject, "b");
    }

    #[test]
    fn what_rests_on_records_of_an_emulated_processor_says_so() {
        let rate = || vec![metric("m", Direction::Higher, Reduction::Mean)];
        let mut all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        let told = |all: &[Record]| {
            let found = crate::judge(&imported(rate(), &["a", "b"], &[]), all);
            let of = |finding: &Finding| (finding.is_emulated, has(finding, CaveatCode::Tcg));
            let each: Vec<_> = found.findings.iter().map(of).collect();
            (each, found.rankings[0].is_emulated)
        };
        assert_eq!(told(&all), (vec![(false, false); 3], false));
        // One is enough, and so is one that failed.
        all[3].note_fact(TrialFact::Emulated, "TCG");
        assert_eq!(told(&all), (vec![(true, true); 3], true));
        all[3].outcome = Outcome::Failed { reason: "panic".to_owned() };
        assert_eq!(told(&all), (vec![(true, true); 3], true));
    }

    #[test]
    fn failures_come_first_and_a_mix_that_differs_is_no_comparison() {
        let rate = || vec![metric("m", Direction::Higher, Reduction::Mean)];
        let plan = imported(rate(), &["a", "b"], &[]);
        let mut all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        for failed in all.iter_mut().filter(|record| record.subject == "b" && record.block < 2) {
            failed.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
            failed.invocations = vec![fixtures::invocation(Vec::new())].into();
        }
        let findings = crate::judge(&plan, &all);
        let overall = find(&findings, "overall");
        assert_eq!(overall.verdict, Verdict::Inconclusive);
        assert!(has(overall, CaveatCode::DifferentialFailure), "{:?}", overall.caveats);
        assert_eq!(findings.failures.iter().map(|count| count.failed).sum::<u64>(), 4);
        let mut all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        all.retain(|record| record.subject == "a" || record.workload == "w:1");
        let findings = crate::judge(&plan, &all);
        assert_eq!(find(&findings, "w:1").verdict, Verdict::Better);
        assert_eq!(find(&findings, "overall").verdict, Verdict::Inconclusive);
        let overall = find(&findings, "overall");
        assert_eq!(overall.obstacle, Some(Obstacle::UnequalMixes));
        let absent = overall.caveats.iter().find(|one| one.code == CaveatCode::AbsentValues);
        assert_eq!(absent.unwrap().detail, "a cell has values of one subject only (w:2 of a)");
    }

    #[test]
    fn a_tail_without_samples_gives_no_verdict_and_nothing_to_compare_no_number() {
        let p99 = metric("m", Direction::Lower, Reduction::Quantile(0.99));
        let plan = imported(vec![p99], &["a", "b"], &[]);
        let sample = |events: u64| {
            move |subject: &str, replicate: u32, level: u32| {
                let mut histogram = Histogram::new();
                histogram.record_many((1_000.0 * noisy(subject, replicate, level)) as u64, events);
                vec![Sample::histogram("m", histogram)]
            }
        };
        let few = crate::judge(&plan, &records_of(sample(500)));
        assert!(has(find(&few, "overall"), CaveatCode::InsufficientTail));
        assert_eq!(find(&few, "overall").verdict, Verdict::Inconclusive);
        assert!(find(&few, "overall").effect.is_some());
        let hardly_any = crate::judge(&plan, &records_of(sample(100)));
        assert_eq!(find(&hardly_any, "overall").subject_value, None);
        assert!(find(&hardly_any, "overall").effect.is_none());
        let enough = crate::judge(&plan, &records_of(sample(5_000)));
        assert_eq!(find(&enough, "overall").verdict, Verdict::Worse);
        let nothing = crate::judge(&plan, &[]);
        assert!(nothing.findings.is_empty() && nothing.failures.is_empty());
        let zero = records_of(|_, _, _| vec![Sample::values("m", vec![0.0])]);
        let mean = metric("m", Direction::Lower, Reduction::Mean);
        let zeros = crate::judge(&imported(vec![mean], &["a", "b"], &[]), &zero);
        assert!(has(find(&zeros, "overall"), CaveatCode::ZeroValue));
        // Values that are zero are not absent ones.
        let of_one = records_of(|subject, replicate, level| {
            let value = if subject == "a" { 0.0 } else { noisy(subject, replicate, level) };
            vec![Sample::values("m", vec![value])]
        });
        let mean = metric("m", Direction::Lower, Reduction::Mean);
        let judged = crate::judge(&imported(vec![mean], &["a", "b"], &[]), &of_one);
        let overall = find(&judged, "overall");
        assert_eq!(overall.obstacle, Some(Obstacle::ZeroValue));
        let is_absent =
            |finding: &Finding| finding.reason.iter().any(|one| one.contains("there is no value"));
        assert!(!has(overall, CaveatCode::AbsentValues) && !is_absent(overall), "{overall:?}");
    }

    #[test]
    fn a_margin_is_a_mean_over_rows_and_not_over_cells() {
        let rate = vec![metric("m", Direction::Higher, Reduction::Mean)];
        let plan = imported(rate, &["a", "b"], &[]);
        // The first workload was measured three times in each execution, the second once.
        let mut all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        for record in all.iter_mut().filter(|record| record.workload == "w:1") {
            let row = record.invocations[0].clone();
            record.invocations.extend([row.clone(), row]);
        }
        let findings = crate::judge(&plan, &all);
        let of_execution = |subject: &str, r: u32| {
            (3.0 * noisy(subject, r, 1).ln() + noisy(subject, r, 2).ln()) / 4.0
        };
        let mean = (0..5).map(|r| of_execution("a", r)).sum::<f64>() / 5.0;
        let value = find(&findings, "overall").reference_value.unwrap();
        assert!((value / mean.exp() - 1.0).abs() < 1e-9, "{value}");
    }

    /// Five executions of each subject, of which those of `a` and `b` have so many rows of each workload;
    /// a row of the second takes `ratio` as long, of either subject.
    fn mixed(rows: [[usize; 2]; 2], ratio: f64) -> Findings {
        let plan = imported(vec![metric("m", Direction::Lower, Reduction::Mean)], &["a", "b"], &[]);
        let value = |side: u32, replicate: u32, level: u32| {
            let noise = 0.004 * f64::from((replicate * 7 + level * 3 + side) % 5);
            10.0 * (1.0 + noise) * if level == 2 { ratio } else { 1.0 }
        };
        let mut all = records_of(|subject, replicate, level| {
            let side = u32::from(subject == "b");
            vec![Sample::values("m", vec![value(side, replicate, level)])]
        });
        for record in &mut all {
            let side = usize::from(record.subject == "b");
            let count = rows[side][usize::from(record.workload == "w:2")];
            let row = record.invocations[0].clone();
            record.invocations = vec![row; count].into();
        }
        crate::judge(&plan, &all)
    }

    #[test]
    fn a_difference_that_may_be_one_of_the_mix_has_no_verdict() {
        for (rows, told) in [
            ([[9, 1], [1, 9]], "w 1: 90 % of the rows of a, 10 % of those of b"),
            ([[90, 10], [88, 12]], "w 1: 90 % of the rows of a, 88 % of those of b"),
        ] {
            let findings = mixed(rows, 3.0);
            let overall = find(&findings, "overall");
            assert_eq!(overall.verdict, Verdict::Inconclusive, "{rows:?}");
            assert_eq!(overall.obstacle, Some(Obstacle::UnequalMixes), "{rows:?}");
            let reason = overall.reason.as_deref().unwrap();
            assert!(reason.contains(told), "{reason}");
            assert!(has(overall, CaveatCode::UnequalMix));
            // Like is compared with like in each cell.
            for cell in ["w:1", "w:2"] {
                assert_eq!(find(&findings, cell).verdict, Verdict::Equivalent, "{cell}");
            }
        }
    }

    #[test]
    fn a_mix_that_is_the_same_or_can_make_no_difference_has_its_verdict() {
        // The same mix, of more rows, and one row in a hundred of levels that hardly differ.
        for (rows, ratio) in
            [([[9, 1], [9, 1]], 3.0), ([[9, 1], [18, 2]], 3.0), ([[90, 10], [89, 11]], 1.1)]
        {
            let findings = mixed(rows, ratio);
            let overall = find(&findings, "overall");
            assert_eq!(overall.verdict, Verdict::Equivalent, "{rows:?} {:?}", overall.reason);
            assert!(!has(overall, CaveatCode::UnequalMix), "{rows:?}");
        }
    }

    #[test]
    fn one_after_the_other_in_each_stratum_is_confounded_as_a_whole_too() {
        let rate = vec![metric("m", Direction::Higher, Reduction::Mean)];
        let plan = imported(rate, &["a", "b"], &["w"]);
        let mut all = records_of(|s, r, l| vec![Sample::values("m", vec![noisy(s, r, l)])]);
        all.sort_by_key(|record| (record.workload.clone(), record.subject.clone(), record.block));
        for (index, record) in all.iter_mut().enumerate() {
            record.sequence = index as u64;
        }
        let overall = |all: &[Record]| find(&crate::judge(&plan, all), "overall").clone();
        assert!(has(&overall(&all), CaveatCode::OrderConfounded));
        // In turns within each stratum, either of which is first in every other; and always the same.
        for (is_first_fixed, is_told) in [(false, false), (true, true)] {
            all.sort_by_key(|record| {
                let is_second =
                    (record.subject == "b") != (!is_first_fixed && record.block % 2 == 1);
                (record.workload.clone(), record.block, is_second)
            });
            for (index, record) in all.iter_mut().enumerate() {
                record.sequence = index as u64;
            }
            assert_eq!(has(&overall(&all), CaveatCode::OrderConfounded), is_told);
        }
    }

    /// Five subjects in turns, of which some differ a little: whatever else is claimed, what is said
    /// of `b` is said or is open.
    #[test]
    fn claims_about_others_never_turn_a_claim_round() {
        let claim = |subject: &str, effect: ClaimedEffect| Claim {
            workload: Some("overall".to_owned()),
            ..fixtures::claim(subject, "a", effect)
        };
        let ids = ["a", "b", "c", "d", "e"];
        let mut taken = 0;
        for seed in 0..60 {
            let mut random = ChaCha12Rng::seed_from_u64(seed);
            let mut all = Vec::new();
            for replicate in 0..8 {
                for (turn, id) in ids.into_iter().enumerate() {
                    for level in [1, 2] {
                        let normal: f64 = StandardNormal.sample(&mut random);
                        let centre = 0.003 * f64::from(seed as u32 % 7) * (turn % 2) as f64;
                        let value = 100.0 * (centre + 0.008 * normal).exp();
                        let samples = vec![vec![Sample::values("m", vec![value])]];
                        let mut one = record(replicate, id, &format!("w:{level}"), samples);
                        one.sequence = all.len() as u64;
                        all.push(one);
                    }
                }
            }
            let metrics = vec![metric("m", Direction::Lower, Reduction::Mean)];
            let plan = imported(metrics, &ids, &[]);
            let outcome = |claims: Vec<Claim>| {
                let found = crate::judge(&Plan { claims, ..plan.clone() }, &all).claims.remove(0);
                let grounds = "; b against a on overall m, 8 replicates of the smaller sample; ";
                let given = "; the claim was given at import, when the data were there";
                assert!(found.reason.contains(grounds), "{}", found.reason);
                assert!(found.reason.ends_with(given), "{}", found.reason);
                found.outcome
            };
            for effect in [ClaimedEffect::Same, ClaimedEffect::Worse, ClaimedEffect::Change(0.01)] {
                let own = claim("b", effect);
                let others = ["c", "d", "e"].map(|id| claim(id, ClaimedEffect::Better));
                let alone = outcome(vec![own.clone()]);
                let beside = outcome([own].into_iter().chain(others).collect());
                let is_kept = alone == beside || (alone.is_refuted() && !is_shown(beside));
                assert!(is_kept || beside == ClaimOutcome::Undecided, "{alone:?} {beside:?}");
                taken += usize::from(alone != beside);
            }
        }
        assert!(taken > 0, "no claim heard of another");
    }

    fn is_shown(outcome: ClaimOutcome) -> bool {
        outcome == ClaimOutcome::Confirmed
    }

    /// Ten executions of `a` and then ten of `b`, or in turns (a b, b a), of which each takes so much
    /// longer than the one before it, and `b` so much longer besides.
    fn in_a_row(drift: f64, in_turns: bool, effect: f64) -> Findings {
        told_of(Vec::new(), (drift, in_turns, effect))
    }

    /// The same, of which the import says this.
    fn told_of(caveats: Vec<Caveat>, of: (f64, bool, f64)) -> Findings {
        in_a_row_of(caveats, Vec::new(), of)
    }

    /// The same, of which these columns may tell parts of one execution apart.
    fn told_of_parts(columns: &[&str], of: (f64, bool, f64)) -> Findings {
        in_a_row_of(Vec::new(), columns.iter().map(|name| (*name).to_owned()).collect(), of)
    }

    fn in_a_row_of(caveats: Vec<Caveat>, parts: Vec<String>, of: (f64, bool, f64)) -> Findings {
        in_a_row_with(caveats, parts, Vec::new(), of)
    }

    /// The same, with subjects of which values stand twice.
    fn in_a_row_with(
        caveats: Vec<Caveat>,
        parts: Vec<String>,
        copied: Vec<String>,
        (drift, in_turns, effect): (f64, bool, f64),
    ) -> Findings {
        let mut plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Mean)], 0);
        let design = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
        plan.imported = Some(Imported {
            facts: DecidingFacts::of_caveats(&caveats),
            caveats,
            parts,
            copied,
            ..fixtures::imported(design, ImportedOrder::Rows)
        });
        let all: Vec<Record> = (0..20_u32)
            .map(|row| {
                let (subject, replicate) =
                    if in_turns { ((row + row / 2) % 2, row / 2) } else { (row / 10, row % 10) };
                let wobble = 0.006 * (f64::from((row * 7) % 5) - 2.0);
                let own = effect * f64::from(subject);
                let value = 100.0 * (1.0 + wobble + drift * f64::from(row) + own);
                let samples = vec![vec![Sample::values("m", vec![value])]];
                let mut one = record(replicate, ["a", "b"][subject as usize], "w", samples);
                one.sequence = u64::from(row);
                one
            })
            .collect();
        crate::judge(&plan, &all)
    }

    #[test]
    fn what_drifted_while_one_came_after_the_other_is_no_difference_and_passes_no_gate() {
        let limit = || [GateLimit { workload: String::new(), metric: "m".into(), fraction: 0.02 }];
        let of = |drift, in_turns, effect| {
            let findings = in_a_row(drift, in_turns, effect);
            let outcome = gate(&findings, &limit()).unwrap()[0].outcome;
            let one = &findings.findings[0];
            (one.verdict, one.strength, one.obstacle, outcome)
        };
        let none = GateOutcome::Inconclusive;
        let undecided = (Verdict::Inconclusive, None, Some(Obstacle::DriftAlone), none);
        assert_eq!(of(0.004, false, 0.0), undecided);
        // In turns the drift is in both alike.
        assert_eq!(of(0.004, true, 0.0).2, None);
        assert_eq!(of(0.0, true, 0.0), (Verdict::Equivalent, None, None, GateOutcome::Kept));
        // What stands beside a drift is said, never clearly, and passes and fails no gate.
        let worse = (Verdict::Worse, Some(Strength::Detectable), None, none);
        assert_eq!(of(0.0, false, 0.5), worse);
        assert_eq!(of(0.004, false, 0.5), worse);
        assert_eq!(of(0.0, true, 0.5).1, Some(Strength::Clearly));
    }

    #[test]
    fn what_always_follows_the_other_is_never_clearly_different_and_passes_no_gate() {
        let limit = [GateLimit { workload: String::new(), metric: "m".into(), fraction: 0.02 }];
        let of = |order: &str| {
            let metrics = vec![metric("m", Direction::Lower, Reduction::Mean)];
            let mut plan = imported(metrics, &["a", "b"], &[]);
            plan.workloads.truncate(1);
            plan.imported.as_mut().unwrap().design =
                ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
            let mut all: Vec<Record> = Vec::new();
            for (row, subject) in order.chars().enumerate() {
                let subject = subject.to_string();
                let own = all.iter().filter(|record| record.subject == subject).count() as u32;
                // What follows an `a` takes 5 % longer, whichever it is.
                let is_after = row > 0 && order.as_bytes()[row - 1] == b'a';
                let left_behind = if is_after { 0.05 } else { 0.0 };
                let wobble = 0.006 * (((row * 7) % 5) as f64 - 2.0);
                let value = 100.0 * (1.0 + wobble + left_behind);
                let samples = vec![vec![Sample::values("m", vec![value])]];
                let mut one = record(own, &subject, "w:1", samples);
                one.sequence = row as u64;
                all.push(one);
            }
            let findings = crate::judge(&plan, &all);
            let outcome = gate(&findings, &limit).unwrap().remove(0);
            let one = findings.findings[0].clone();
            let is_told = has(&one, CaveatCode::OrderConfounded);
            (one.verdict, one.strength, is_told, outcome.outcome, outcome.reason)
        };
        // Always after it, but once, and not in turns.
        for order in
            ["abababababababababababab", "abababababbaababababab", "aababababababababababb"]
        {
            let (verdict, strength, is_told, outcome, reason) = of(order);
            assert!(is_told, "{order}");
            assert_eq!(verdict, Verdict::Worse, "{order}");
            assert_eq!(strength, Some(Strength::Detectable), "{order}");
            assert_eq!(outcome, GateOutcome::Inconclusive, "{order}");
            assert!(reason.starts_with("what differs may be the order"), "{reason}");
        }
        let (verdict, _, is_told, _, _) = of("abbaabbaabbaabbaabbaabba");
        let is_different = matches!(verdict, Verdict::Better | Verdict::Worse);
        assert!(!is_told && !is_different, "after each as often");
    }

    /// One subject after the other, and all of it drifts: whatever the margin, nothing is said of a
    /// difference that a drift may be.
    #[test]
    fn an_equivalence_beside_a_drift_speaks_of_no_difference() {
        const VALUES: [[f64; 10]; 2] = [
            [
                99.9250, 100.6130, 100.6846, 100.7021, 100.4152, 101.2620, 100.5664, 100.7097,
                101.0802, 101.6854,
            ],
            [
                101.4880, 101.5406, 101.2590, 101.5599, 102.6166, 102.3757, 102.2995, 102.7771,
                102.6360, 102.7504,
            ],
        ];
        let of = |margin: f64| {
            let metrics = vec![Metric { margin, ..metric("m", Direction::Lower, Reduction::Mean) }];
            let mut plan = imported(metrics, &["a", "b"], &[]);
            plan.workloads.truncate(1);
            plan.imported.as_mut().unwrap().design =
                ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
            let mut all: Vec<Record> = Vec::new();
            for (subject, values) in ["a", "b"].into_iter().zip(VALUES) {
                for (own, value) in (0..).zip(values) {
                    let samples = vec![vec![Sample::values("m", vec![value])]];
                    let mut one = record(own, subject, "w:1", samples);
                    one.sequence = all.len() as u64;
                    all.push(one);
                }
            }
            crate::judge(&plan, &all).findings.remove(0)
        };
        let wide = of(0.02);
        assert_eq!(wide.verdict, Verdict::Equivalent);
        assert!(wide.further_obstacles.contains(&Obstacle::DriftAlone), "{wide:?}");
        assert_eq!(wide.reason, None);
        let narrow = of(0.005);
        assert_eq!(
            (narrow.verdict, narrow.obstacle),
            (Verdict::Inconclusive, Some(Obstacle::DriftAlone))
        );
        let reason = narrow.reason.unwrap();
        assert!(reason.contains("beside a drift no difference is shown"), "{reason}");
    }

    #[test]
    fn replicates_that_may_be_parts_of_one_execution_have_no_verdict() {
        let limits = [GateLimit { workload: String::new(), metric: "m".into(), fraction: 0.02 }];
        for effect in [0.0, 0.5, -0.2] {
            let findings = told_of_parts(&["client"], (0.0, true, effect));
            let one = &findings.findings[0];
            assert_eq!(one.verdict, Verdict::Inconclusive, "{effect}");
            assert_eq!((one.strength, one.obstacle), (None, Some(Obstacle::ExecutionParts)));
            let reason = one.reason.as_deref().unwrap();
            assert!(reason.starts_with("client may tell parts of one execution apart"), "{reason}");
            assert_eq!(gate(&findings, &limits).unwrap()[0].outcome, GateOutcome::Inconclusive);
            // By the user's word they are executions.
            let stated = told_of_parts(&[], (0.0, true, effect));
            assert_ne!(stated.findings[0].verdict, Verdict::Inconclusive, "{effect}");
        }
    }

    #[test]
    fn values_that_stand_twice_have_no_verdict_and_decide_no_gate() {
        let limits = [GateLimit { workload: String::new(), metric: "m".into(), fraction: 0.02 }];
        let told = || vec![Caveat::new(CaveatCode::Copied, "all 10 values of a are those of b")];
        for effect in [0.0, 0.5, -0.2] {
            let of = (0.0, true, effect);
            let findings = told_of(told(), of);
            let one = &findings.findings[0];
            assert_eq!(one.verdict, Verdict::Inconclusive, "{effect}");
            assert_eq!((one.strength, one.obstacle), (None, Some(Obstacle::CopiedValues)));
            let reason = one.reason.as_deref().unwrap();
            assert!(reason.starts_with("values of a and b stand twice"), "{reason}");
            let decided = gate(&findings, &limits).unwrap().remove(0);
            assert_eq!(
                (decided.outcome, decided.reason.as_str()),
                (GateOutcome::Inconclusive, reason)
            );
            // What others have twice does not matter.
            let others = in_a_row_with(told(), Vec::new(), vec!["c".to_owned()], of);
            assert_ne!(others.findings[0].verdict, Verdict::Inconclusive, "{effect}");
            let own = in_a_row_with(told(), Vec::new(), vec!["b".to_owned(), "c".to_owned()], of);
            let reason = own.findings[0].reason.as_deref().unwrap();
            assert!(reason.starts_with("values of b stand twice"), "{reason}");
        }
    }

    #[test]
    fn what_is_not_sure_of_an_import_is_never_clear_and_passes_no_gate() {
        let limits = [GateLimit { workload: String::new(), metric: "m".into(), fraction: 0.02 }];
        let both = [
            (CaveatCode::SettingsDiffer, Doubt::UnlikeSettings),
            (CaveatCode::ReplicateLevelUnknown, Doubt::UnknownReplicates),
        ];
        for (effect, verdict, is_different) in [
            (0.0, Verdict::Equivalent, false),
            (0.5, Verdict::Worse, true),
            (-0.2, Verdict::Better, true),
        ] {
            let sure = in_a_row(0.0, true, effect);
            assert_eq!(sure.findings[0].verdict, verdict);
            assert_eq!(sure.findings[0].strength, is_different.then_some(Strength::Clearly));
            assert_ne!(gate(&sure, &limits).unwrap()[0].outcome, GateOutcome::Inconclusive);
            for (code, doubt) in both {
                let told = vec![Caveat::new(code, "told")];
                let findings = told_of(told, (0.0, true, effect));
                let one = &findings.findings[0];
                assert_eq!((one.verdict, one.obstacle), (verdict, None), "{code}");
                assert_eq!(one.strength, is_different.then_some(Strength::Detectable), "{code}");
                assert_eq!(one.doubts, [doubt]);
                let outcome = gate(&findings, &limits).unwrap()[0].outcome;
                assert_eq!(outcome, GateOutcome::Inconclusive, "{code} {effect}");
            }
        }
    }
}
