//! What serves a use case: every pair of subjects over weighted workloads
//! (docs/method.md#m-use-cases). In each block the components' log differences are added up by
//! their weights, so that what workloads of a block have in common stays in; the rest
//! is the design's own test. Never one total score: the worst component stands beside.

use crate::comparison::{Comparison, Gathered, deciding, effect_of, interval};
use crate::controls::{FailedControls, RestsOn};
use crate::family::{holm_levels, holm_of};
use crate::fragility::skewed;
use crate::pairs::{Pairs, replicates, weighted};
use crate::quality::widened;
use crate::questions::{Asked, every_pair};
use crate::ranking::{co_best, ranking};
use crate::ratios::ratio_of;
use crate::rulebook::{
    Basis, Evidence, LevelsLeft, Numbers, Ruling, Signals, Unchosen, degenerate_caveat, infer,
    obstacles, owed_to_choice, rule, stopping,
};
use crate::sum_order::{OrderOfSum, SumOfParts};
use crate::sums::PassedOn;
use model::{
    BlockEffect, Caveat, CaveatCheck, CaveatCode, Direction, Effect, Finding, Obstacle, Plan,
    Question, Ranking, Role, Subject, Unit, UseCase, UseCaseFinding, Verdict, Worst,
    round_significant as round,
};
use stats::{TTest, exp};

/// The family of all use cases.
const FAMILY: &str = "use_cases";

/// Judges the declared use cases.
pub(crate) fn use_cases(gathered: Gathered<'_>) -> Vec<UseCaseFinding> {
    let plan = gathered.plan;
    // Pairs grow with the square of the subjects, and most plans ask for no use case.
    if plan.use_cases.is_empty() {
        return Vec::new();
    }
    let pairs = every_pair(plan);
    // What Holm's procedure leaves in the worst case.
    let least_level = plan.alpha / (pairs.len() * plan.use_cases.len()).max(1) as f64;
    let sums: Vec<Vec<Sum>> = plan
        .use_cases
        .iter()
        .map(|use_case| {
            let of_pair =
                |pair: &(&Subject, &Subject)| Sum::of(gathered, use_case, *pair, least_level);
            pairs.iter().map(of_pair).collect()
        })
        .collect();
    let all: Vec<&Sum> = sums.iter().flatten().collect();
    let differences = holm_of(&all.iter().map(|sum| sum.p_difference()).collect::<Vec<_>>());
    let p_equivalences: Vec<_> = all.iter().map(|sum| sum.p_equivalence()).collect();
    let equivalences = holm_of(&p_equivalences);
    let levels = holm_levels(&p_equivalences, plan.alpha);
    let unchosen = holm_of(&all.iter().map(|sum| sum.p_unchosen_equivalence()).collect::<Vec<_>>());
    let family = all.len();
    let adjusted = differences.into_iter().zip(equivalences).zip(unchosen);
    let mut adjusted = adjusted.zip(levels);
    let of_case = plan.use_cases.iter().zip(&sums).map(|(use_case, sums)| {
        let comparisons: Vec<Finding> = sums
            .iter()
            .map(|sum| {
                let (adjusted, level) = adjusted.next().unwrap_or_default();
                sum.finding(plan, family, adjusted, level)
            })
            .collect();
        UseCaseFinding {
            use_case: use_case.id.clone(),
            weights: use_case.weights.clone(),
            worst: sums.iter().map(|sum| sum.worst.clone()).collect(),
            ranking: Ranking::default(),
            co_best: Vec::new(),
            without_evidence: Vec::new(),
            comparisons,
        }
    });
    of_case.collect()
}

/// Ranks and the best, from the comparisons as they are shown: one over a component
/// whose control failed says nothing, and a subject without any number is no best.
pub(crate) fn conclude(plan: &Plan, found: &mut [UseCaseFinding], failed: &FailedControls) {
    for finding in found {
        for comparison in &mut finding.comparisons {
            failed.cap(comparison, RestsOn::Components(&finding.weights));
        }
        let comparisons: Vec<&Finding> = finding.comparisons.iter().collect();
        finding.ranking = ranking(plan, &finding.use_case, "", &comparisons);
        let has_number = |id: &String| {
            comparisons.iter().any(|comparison| {
                let question = &comparison.question;
                comparison.effect.is_some()
                    && comparison.obstacle != Some(Obstacle::FailedControl)
                    && (question.subject == *id || question.reference == *id)
            })
        };
        let all: Vec<String> =
            finding.ranking.ranks.iter().map(|rank| rank.subject.clone()).collect();
        let best = co_best(&finding.ranking);
        finding.co_best = best.into_iter().filter(|id| has_number(id)).collect();
        finding.without_evidence = all.into_iter().filter(|id| !has_number(id)).collect();
    }
}

/// Adjusted p of no difference, of one as large as the margin, and of one as large as the margin that
/// nobody chose.
type AdjustedSum = ((Option<f64>, Option<f64>), Option<f64>);

/// One pair of subjects over the components of one use case.
struct Sum {
    question: Question,
    /// The blocks that hold every component, and their replicates.
    pairs: Pairs,
    test: Option<TTest>,
    theta: f64,
    /// What nobody chose, where an import was given another margin or level.
    unchosen: Option<Unchosen>,
    worst: Option<Worst>,
    /// The first component that gives no verdict, and why.
    stopped: Option<String>,
    /// Whether an emulated processor ran any component.
    is_emulated: bool,
    passed_on: PassedOn,
    order: OrderOfSum,
    caveats: Vec<Caveat>,
}

impl Sum {
    fn of(
        gathered: Gathered<'_>,
        use_case: &UseCase,
        (reference, subject): (&Subject, &Subject),
        least_level: f64,
    ) -> Self {
        let plan = gathered.plan;
        let mut sum = Self {
            question: question(use_case, reference, subject),
            pairs: Pairs::default(),
            test: None,
            theta: 0.0,
            unchosen: None,
            worst: None,
            stopped: None,
            is_emulated: false,
            passed_on: PassedOn::default(),
            order: OrderOfSum::default(),
            caveats: Vec::new(),
        };
        let (mut components, mut usual_theta) = (Vec::new(), 0.0);
        for weight in &use_case.weights {
            let name = format!("{} {}", weight.workload, weight.metric);
            let Some(asked) = asked(plan, &weight.workload, &weight.metric, &sum.question) else {
                continue;
            };
            if ![reference, subject].iter().all(|arm| asked.workload.runs_for(arm)) {
                sum.stop(format!("{name} does not run for both"));
                continue;
            }
            let component = Comparison::of(asked, gathered, plan.alpha);
            sum.theta += weight.weight * component.theta;
            let usual = component.unchosen;
            usual_theta += weight.weight * usual.map_or(component.theta, |usual| usual.theta);
            sum.unchosen = usual.or(sum.unchosen);
            sum.note_worst(&component, plan.alpha);
            sum.note_emulation(&component);
            sum.passed_on.note(weight.weight, &component);
            if let Some(reason) = stopping(&component.signals, least_level) {
                sum.stop(format!("{name}: {reason}"));
            }
            components.push((weight.weight, component));
        }
        sum.unchosen = sum.unchosen.map(|usual| Unchosen { theta: usual_theta, ..usual });
        if sum.stopped.is_none() {
            sum.add_up(&components);
            let of_parts = SumOfParts {
                question: &sum.question,
                pairs: &sum.pairs,
                test: sum.test.as_ref(),
                theta: sum.unchosen.map_or(sum.theta, |usual| usual.theta.min(sum.theta)),
            };
            sum.order = OrderOfSum::of(gathered, &components, &of_parts);
        }
        sum
    }

    /// A missing component leaves no number: the weights of the rest are not its own.
    fn stop(&mut self, reason: String) {
        self.stopped.get_or_insert(reason);
    }

    /// A sum that rests on an emulated processor anywhere is no real one's.
    fn note_emulation(&mut self, component: &Comparison<'_>) {
        if component.signals.is_emulated && !self.is_emulated {
            self.is_emulated = true;
            let told = component.caveats.iter().find(|caveat| caveat.code == CaveatCode::Tcg);
            self.caveats.extend(told.cloned());
        }
    }

    fn note_worst(&mut self, component: &Comparison<'_>, alpha: f64) {
        let Some(test) = &component.test else { return };
        let ratio = ratio_of(test.mean);
        if self.worst.as_ref().is_none_or(|worst| ratio < worst.ratio) {
            let question = &component.asked.question;
            self.worst = Some(Worst {
                workload: question.workload.clone(),
                metric: question.metric.clone(),
                ratio,
                interval: interval(test, alpha),
            });
        }
    }

    /// The weighted log differences of the blocks that hold every component.
    fn add_up(&mut self, components: &[(f64, Comparison<'_>)]) {
        let parts: Vec<(f64, &Pairs)> =
            components.iter().map(|(weight, component)| (*weight, &component.pairs)).collect();
        let (blocks, boots) = weighted(&parts);
        let differences = replicates(&blocks, &boots);
        let (test, caveat) = widened(&differences);
        self.pairs = Pairs { blocks, boots, differences, ..Pairs::default() };
        self.test = test;
        self.caveats.extend(caveat);
    }

    fn signals(&self) -> Signals {
        let replicates = self.pairs.differences.len();
        let numbers = Numbers::Sum { replicates, component: self.stopped.clone() };
        Signals {
            is_emulated: self.is_emulated,
            ..self.passed_on.signals(numbers, &self.pairs, self.test.as_ref(), &self.order)
        }
    }

    /// What is told of it whatever is decided: of its parts, and of its own differences.
    fn told(&self, signals: &Signals) -> Vec<Caveat> {
        let mut caveats = self.caveats.clone();
        caveats.extend_from_slice(self.passed_on.caveats());
        caveats.extend(signals.caveats());
        caveats
    }

    /// How tests of another kind disagree with the t of its blocks.
    fn skewed(&self, alpha: f64) -> Option<Caveat> {
        skewed(self.test.as_ref()?, &self.pairs.differences, alpha)
    }

    fn p_difference(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_difference())
    }

    fn p_equivalence(&self) -> Option<f64> {
        self.test.and_then(|test| test.p_equivalence(self.theta))
    }

    /// The same of the margin that nobody chose: that of its metrics themselves where another was given.
    fn p_unchosen_equivalence(&self) -> Option<f64> {
        let theta = self.unchosen.map_or(self.theta, |usual| usual.theta);
        self.test.and_then(|test| test.p_equivalence(theta))
    }

    /// The verdict on the sum, whatever its shape.
    fn ruling(&self, evidence: &Evidence<'_>, unchosen: Option<f64>, signals: &Signals) -> Ruling {
        let owed = owed_to_choice(evidence, self.unchosen, unchosen);
        let left = LevelsLeft::both(evidence.alpha / evidence.family.max(1) as f64);
        let mut raised = obstacles(signals, Basis::Tests, left);
        raised.extend(owed.raised);
        rule(infer(evidence), &raised).clear_unless(signals.is_unclear() || owed.is_unclear)
    }

    fn finding(
        &self,
        plan: &Plan,
        family: usize,
        ((difference, equivalence), unchosen): AdjustedSum,
        level: f64,
    ) -> Finding {
        let signals = self.signals();
        let evidence = Evidence {
            test: self.test.as_ref(),
            difference,
            equivalence,
            theta: self.theta,
            alpha: plan.alpha,
            family,
        };
        let ruling = self.ruling(&evidence, unchosen, &signals);
        // As of a single comparison: how far it lies beyond the margin is not sure.
        let skewed = self.skewed(plan.alpha).filter(|_| !ruling.is_forbidden());
        let ruling = ruling.clear_unless(skewed.is_some());
        let mut caveats = self.told(&signals);
        caveats.extend(skewed);
        caveats.extend(ruling.caveat.clone());
        caveats.extend(degenerate_caveat(&signals, &ruling));
        let is_decided = ruling.verdict == Verdict::Equivalent && !signals.is_degenerate;
        let levels = [plan.alpha, plan.alpha / family.max(1) as f64];
        let effect = self.test.as_ref().map(|test| Effect {
            deciding: is_decided.then(|| deciding(test, level)),
            adjusted_difference: difference.map(round),
            adjusted_equivalence: equivalence.map(round),
            // A ratio of ratios is oriented already.
            ..effect_of(test, Direction::Higher, self.theta, levels)
        });
        let rounded = |block: &BlockEffect| BlockEffect {
            subject: round(block.subject),
            log_difference: round(block.log_difference),
            ..block.clone()
        };
        Finding {
            question: self.question.clone(),
            verdict: ruling.verdict,
            strength: ruling.strength,
            reason: ruling.reason,
            obstacle: ruling.obstacle,
            further_obstacles: Vec::new(),
            least_beside: None,
            step: None,
            p_failure: None,
            is_odds: false,
            is_order_fixed: !signals.fixed_order.is_empty(),
            doubts: signals.doubts,
            is_emulated: self.is_emulated,
            look: None,
            margin: round(exp(self.theta) - 1.0),
            pairs: self.pairs.blocks.len(),
            reference_value: None,
            subject_value: None,
            effect,
            companion: None,
            planning: None,
            tail: None,
            diagnostics: None,
            blocks: self.pairs.blocks.iter().map(rounded).collect(),
            against: CaveatCheck::of(&caveats),
            caveats,
        }
    }
}

fn question(use_case: &UseCase, reference: &Subject, subject: &Subject) -> Question {
    Question {
        workload: use_case.id.clone(),
        metric: String::new(),
        // Ratios of ratios have no unit, and more is better by their orientation.
        unit: Unit::Plain,
        direction: Direction::Higher,
        subject: subject.id.clone(),
        reference: reference.id.clone(),
        role: Role::Primary,
        family: FAMILY.to_owned(),
    }
}

/// A component's own question.
fn asked<'a>(plan: &'a Plan, workload: &str, metric: &str, of: &Question) -> Option<Asked<'a>> {
    let workload = plan.workload(workload)?;
    let metric = workload.metrics.iter().find(|known| known.id == metric)?;
    Some(Asked {
        question: Question {
            workload: workload.label.clone(),
            metric: metric.id.clone(),
            unit: metric.unit,
            direction: metric.direction,
            ..of.clone()
        },
        metric,
        workload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, noticing, plan, record};
    use crate::judge;
    use model::{Doubt, Imported, ImportedOrder, Metric, Record, Reduction, Sample, Strength};

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    /// Subject b wins `gain` on m and loses `loss` on n.
    fn campaign(gain: f64, loss: f64, weights: [f64; 2]) -> UseCaseFinding {
        campaign_of((gain, loss), weights, None)
    }

    /// The same of numbers that were imported.
    fn campaign_of(
        (gain, loss): (f64, f64),
        weights: [f64; 2],
        imported: Option<Imported>,
    ) -> UseCaseFinding {
        let metrics = vec![
            metric("m", Direction::Higher, Reduction::Median),
            metric("n", Direction::Lower, Reduction::Median),
        ];
        let parts = [("m", weights[0]), ("n", weights[1])];
        let use_case = fixtures::use_case("web-server", &parts);
        let plan = Plan { use_cases: vec![use_case], imported, ..plan(&["a", "b"], metrics, 8) };
        let mut records = Vec::new();
        for (index, noise) in NOISE.iter().enumerate() {
            let wobble = 1.0 + 0.003 * noise;
            // As a clock of many digits has what is nearly the same.
            let fine = 1.0 + 1e-10 * noise;
            for (subject, m, n) in [
                ("a", 100.0 * fine, 10.0 * fine),
                ("b", 100.0 * gain * wobble, 10.0 * loss / wobble),
            ] {
                let samples =
                    vec![vec![Sample::values("m", vec![m]), Sample::values("n", vec![n])]];
                records.push(record(index as u32, subject, "w", samples));
            }
        }
        judge(&plan, &records).use_cases.remove(0)
    }

    #[test]
    fn the_effect_is_the_weighted_geometric_mean_and_the_worst_component_stands_beside() {
        let found = campaign(1.2, 1.25, [0.75, 0.25]);
        let effect = found.comparisons[0].effect.as_ref().unwrap();
        let wobbles: f64 = NOISE.iter().map(|noise| (1.0 + 0.003 * noise).ln()).sum::<f64>() / 8.0;
        let expected = 0.75 * 1.2_f64.ln() - 0.25 * 1.25_f64.ln() + wobbles;
        assert!((effect.log_mean - expected).abs() < 1e-9);
        assert_eq!(found.comparisons[0].verdict, Verdict::Better);
        let worst = found.worst[0].as_ref().unwrap();
        assert_eq!(worst.metric, "n");
        assert!((worst.ratio - 0.8).abs() < 0.01, "{worst:?}");
        assert_eq!(found.co_best, ["b"]);
    }

    #[test]
    fn an_equivalence_has_the_interval_that_decided_it() {
        let finding = campaign(1.0, 1.0, [0.5, 0.5]).comparisons.remove(0);
        assert_eq!(finding.verdict, Verdict::Equivalent, "{finding:?}");
        assert_eq!(finding.deciding_alpha(), Some(0.1));
        let unadjusted = finding.effect.as_ref().unwrap().interval;
        let shown = finding.shown_interval().unwrap();
        assert!(unadjusted.low < shown.low && shown.high < unadjusted.high);
        let other = campaign(1.2, 1.0, [0.5, 0.5]).comparisons.remove(0);
        assert_eq!((other.verdict, other.deciding_alpha()), (Verdict::Better, None));
    }

    #[test]
    fn what_is_not_sure_of_the_components_is_not_sure_of_the_use_case() {
        let of = |codes: &[CaveatCode]| {
            let told = codes.iter().map(|code| Caveat::new(*code, "told")).collect();
            let imported = noticing(told, ImportedOrder::Rows);
            campaign_of((1.2, 1.0), [0.5, 0.5], Some(imported)).comparisons.remove(0)
        };
        let sure = of(&[]);
        assert_eq!((sure.verdict, sure.strength), (Verdict::Better, Some(Strength::Clearly)));
        assert!(sure.doubts.is_empty() && !sure.is_order_fixed);
        for (code, doubts) in [
            (CaveatCode::SettingsDiffer, vec![Doubt::UnlikeSettings]),
            (CaveatCode::ReplicateLevelUnknown, vec![Doubt::UnknownReplicates]),
            (CaveatCode::OrderConfounded, Vec::new()),
        ] {
            let one = of(&[code]);
            let in_order = code == CaveatCode::OrderConfounded;
            assert_eq!(one.verdict, Verdict::Better, "{code}");
            assert_eq!(one.strength, Some(Strength::Detectable), "{code}");
            assert_eq!((one.doubts, one.is_order_fixed), (doubts, in_order), "{code}");
            let is_told = one.caveats.iter().any(|caveat| caveat.code == code);
            assert_eq!(is_told, in_order, "{code}: what is doubted is told of the campaign");
        }
    }

    /// A plan whose use case weighs its one metric alone, and the verdict on both.
    fn alone(metric: Metric, records: &[Record]) -> [Finding; 2] {
        let use_case = fixtures::use_case("alone", &[("m", 1.0)]);
        let blocks = records.len() as u32 / 2;
        let plan = Plan { use_cases: vec![use_case], ..plan(&["a", "b"], vec![metric], blocks) };
        let mut findings = judge(&plan, records);
        [findings.findings.remove(0), findings.use_cases.remove(0).comparisons.remove(0)]
    }

    #[test]
    fn a_use_case_of_one_component_has_its_verdict_whatever_came_before() {
        // Twelve blocks of one boot, noise of 1 %, and 1.5 % that each sitting of `a` leaves.
        let mut of_order = 0;
        for seed in 0..200_u64 {
            let mut state = seed;
            let mut noise = || {
                let mut sum = 0.0;
                for _ in 0..12 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                    sum += (state >> 40) as f64 / 16_777_216.0;
                }
                0.01 * (sum - 6.0)
            };
            let mut records: Vec<Record> = Vec::new();
            let mut before = "";
            for (block, first) in "abbaabbaabba".chars().enumerate() {
                let order = if first == 'a' { ["a", "b"] } else { ["b", "a"] };
                for (position, subject) in order.into_iter().enumerate() {
                    let left = if before == "a" { 0.015 } else { 0.0 };
                    let values = vec![100.0 * (1.0 + noise() + left)];
                    let samples = vec![vec![Sample::values("m", values)]];
                    let mut next = record(block as u32, subject, "w", samples);
                    next.position = position as u32;
                    next.sequence = records.len() as u64;
                    "one".clone_into(&mut next.boot_id);
                    records.push(next);
                    before = subject;
                }
            }
            let metric = metric("m", Direction::Lower, Reduction::Median);
            let [single, sum] = alone(Metric { margin: 0.0001, ..metric }, &records);
            assert_eq!((single.verdict, single.strength), (sum.verdict, sum.strength), "{seed}");
            let is_felt = |one: &Finding| {
                one.caveats.iter().any(|caveat| caveat.code == CaveatCode::CarryOver)
            };
            assert_eq!(is_felt(&single), is_felt(&sum), "{seed}: {single:?} {sum:?}");
            if single.obstacle == Some(Obstacle::OrderAlone) {
                assert_eq!(sum.obstacle, Some(Obstacle::OrderAlone), "{seed}");
                of_order += 1;
            }
        }
        assert!(of_order > 14, "{of_order}");
    }

    #[test]
    fn a_sum_that_is_no_larger_than_the_steps_of_its_components_is_no_difference() {
        let values = [100.0, 101.0, 100.0, 102.0, 101.0, 100.0, 101.0, 102.0];
        let mut records = Vec::new();
        for (block, value) in (0_u32..).zip(values) {
            for (subject, value) in [("a", value), ("b", value + 1.0)] {
                let samples = vec![vec![Sample::values("m", vec![value])]];
                records.push(record(block, subject, "w", samples));
            }
        }
        let metric = metric("m", Direction::Higher, Reduction::Median);
        for one in alone(Metric { margin: 0.005, ..metric }, &records) {
            assert_eq!(one.verdict, Verdict::Inconclusive, "{one:?}");
            assert_eq!(one.obstacle, Some(Obstacle::OneStep), "{one:?}");
        }
    }

    #[test]
    fn a_component_that_did_not_run_leaves_no_number() {
        let metrics = vec![metric("m", Direction::Higher, Reduction::Median)];
        let use_case = fixtures::use_case("batch", &[("m", 0.5), ("m", 0.5)]);
        let plan = Plan { use_cases: vec![use_case], ..plan(&["a", "b"], metrics, 8) };
        let records: Vec<_> = (0..8)
            .map(|block| record(block, "a", "w", vec![vec![Sample::values("m", vec![1.0])]]))
            .collect();
        let found = judge(&plan, &records).use_cases.remove(0);
        assert_eq!(found.comparisons[0].verdict, Verdict::Inconclusive);
        assert!(found.comparisons[0].effect.is_none());
        assert!(found.co_best.is_empty(), "nobody has a number");
        assert_eq!(found.without_evidence, ["a", "b"]);
    }

    #[test]
    fn a_failed_control_caps_the_use_case_that_weighs_its_metric() {
        let metrics = vec![metric("m", Direction::Higher, Reduction::Median)];
        let use_case = fixtures::use_case("batch", &[("m", 1.0)]);
        let plan = Plan { use_cases: vec![use_case], ..plan(&["a", "a-again", "b"], metrics, 8) };
        let records = |of_control: f64| -> Vec<_> {
            let of_block = |(block, noise): (usize, &f64)| {
                [("a", 100.0), ("a-again", of_control), ("b", 130.0)].map(|(subject, centre)| {
                    let turn = subject.len() as f64 * 0.001 * noise;
                    let value = centre * (1.0 + turn);
                    record(block as u32, subject, "w", vec![vec![Sample::values("m", vec![value])]])
                })
            };
            NOISE.iter().enumerate().flat_map(of_block).collect()
        };
        let good = judge(&plan, &records(100.0)).use_cases.remove(0);
        assert_eq!((good.comparisons[0].verdict, good.co_best.len()), (Verdict::Better, 1));
        let bad = judge(&plan, &records(140.0)).use_cases.remove(0);
        assert_eq!(bad.comparisons[0].verdict, Verdict::Inconclusive);
        assert!(bad.co_best.is_empty() && bad.without_evidence == ["a", "b"], "{bad:?}");
    }
}
