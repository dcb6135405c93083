//! A campaign's records judged once, at one level: every question's finding, and what follows
//! from these once controls are known.

use crate::claims::{self, ClaimEvidence, ClaimedFindings, claims};
use crate::comparison::{Comparison, Gathered};
use crate::controls::{FailedControls, RestsOn};
use crate::failures::{by_name, compare_pairs, failures, rounded};
use crate::observations::Observations;
use crate::paired::{judge_family, judge_screen};
use crate::pairs::LEAST_BOOTS;
use crate::questions::questions;
use crate::ranking::rankings;
use crate::rulebook::{Basis, Signals};
use crate::trial_facts::{at_strictest_level, strictest_alpha};
use crate::use_cases::{self, use_cases};
use model::{
    Caveat, CaveatCheck, CaveatCode, DECLARED_FAMILY, FINDINGS_FORMAT, Findings, Plan, Record, Role,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Findings with what their verdicts rest on.
pub(crate) struct Judgement {
    pub findings: Findings,
    /// The signals of the declared family's findings, in their order: these come first.
    pub signals: Vec<Signals>,
    /// The findings of the comparisons that claims ask for.
    pub claimed: ClaimedFindings,
}

/// Judges these records once, the whole family at this level.
pub(crate) fn judge_at(plan: &Plan, records: &[Record], alpha: f64) -> Judgement {
    // A plan of millions of trials is held once where it can be.
    let at_alpha = if alpha.to_bits() == plan.alpha.to_bits() {
        Cow::Borrowed(plan)
    } else {
        Cow::Owned(Plan { alpha, ..plan.clone() })
    };
    let plan = &*at_alpha;
    let observations = Observations::of(records);
    // What stands beside a verdict, and claims, hear of no level that is looser by choice.
    let at_level = at_strictest_level(plan);
    let strict = &*at_level;
    let counts = failures(strict, &observations);
    let by_name = by_name(&counts);
    let gathered = Gathered { plan: strict, observations: &observations, counts: &by_name };
    let comparisons: Vec<Comparison<'_>> = questions(plan)
        .into_iter()
        .map(|asked| Comparison::of(asked, gathered, plan.alpha))
        .collect();
    let (family, screen): (Vec<_>, Vec<_>) = comparisons
        .into_iter()
        .partition(|comparison| comparison.asked.question.role != Role::Screen);
    let mut findings = judge_family(&family, plan.alpha);
    findings.extend(judge_screen(&screen, plan.alpha));
    compare_pairs(&mut findings, &observations, Basis::Tests);
    let caveats = campaign_caveats(plan, &observations);
    let mut findings = Findings {
        format: FINDINGS_FORMAT.to_owned(),
        plan_digest: plan.digest.clone(),
        seed: plan.seed,
        alpha: plan.alpha,
        gate_alpha: strictest_alpha(plan),
        is_unfinished: false,
        is_evidence_changed: false,
        families: BTreeMap::from([(DECLARED_FAMILY.to_owned(), family.len())]),
        rankings: Vec::new(),
        use_cases: use_cases(gathered),
        claims: Vec::new(),
        trends: Vec::new(),
        findings,
        failures: counts.into_iter().map(rounded).collect(),
        against: CaveatCheck::of(&caveats),
        caveats,
    };
    let mut claimed = claims::findings(strict, records);
    conclude(strict, Some(&mut claimed), &mut findings);
    let signals = family.into_iter().map(|comparison| comparison.signals).collect();
    Judgement { findings, signals, claimed }
}

/// What follows from the findings once each has its answer: a failed control caps what
/// rests on it, and ranks are those of the answers that are shown. Claims have answers of their
/// own where a test holds; else those of the declared family.
pub(crate) fn conclude(
    plan: &Plan,
    claimed: Option<&mut ClaimedFindings>,
    findings: &mut Findings,
) {
    let failed = FailedControls::among(&findings.findings);
    for finding in &mut findings.findings {
        failed.cap(finding, RestsOn::Workload);
    }
    use_cases::conclude(plan, &mut findings.use_cases, &failed);
    findings.rankings = rankings(plan, &findings.findings);
    let evidence = match claimed {
        Some(claimed) => {
            claims::cap(plan, claimed, &failed);
            ClaimEvidence::of_blocks(claimed, plan.alpha)
        }
        None => ClaimEvidence::declared(findings),
    };
    findings.claims = claims(plan, evidence);
}

fn campaign_caveats(plan: &Plan, observations: &Observations<'_>) -> Vec<Caveat> {
    let of_import = plan.imported.iter().flat_map(|imported| imported.caveats.clone());
    let mut caveats: Vec<Caveat> = of_import.collect();
    if plan.is_simulated() {
        caveats.push(Caveat::new(CaveatCode::Simulated, "nothing ran"));
    }
    caveats.extend(FewBoots::of(plan, observations).map(|few| few.caveat(plan)));
    if plan.is_quick {
        caveats.push(Caveat::new(CaveatCode::Quick, "run with --quick"));
    }
    caveats.sort();
    caveats
}

/// Whether blocks of a campaign share boots of which there are so few that its verdicts speak of
/// these boots alone (docs/method.md#m-blocks).
pub fn shares_few_boots(plan: &Plan, records: &[Record]) -> bool {
    names_boots(plan) && FewBoots::of(plan, &Observations::of(records)).is_some()
}

/// Whether records tell of boots: nothing boots in a simulation, and of an import nobody said how
/// often the machine was booted.
fn names_boots(plan: &Plan) -> bool {
    !plan.is_simulated() && plan.imported.is_none()
}

/// The few boots that blocks of the reference share.
struct FewBoots {
    blocks: usize,
    boots: usize,
    /// Whether all subjects ran in one. A boot may be of the reference alone: subjects of different
    /// kernels have their own.
    is_one: bool,
}

impl FewBoots {
    /// None where records do not name their boots.
    fn of(plan: &Plan, observations: &Observations<'_>) -> Option<Self> {
        if !names_boots(plan) {
            return None;
        }
        let (blocks, boots) = observations.blocks_and_boots(&plan.reference().id);
        let boots = boots.filter(|boots| *boots < LEAST_BOOTS && *boots < blocks)?;
        Some(Self { blocks, boots, is_one: boots == 1 && observations.is_one_boot() })
    }

    /// What tells people of it.
    fn caveat(&self, plan: &Plan) -> Caveat {
        let (blocks, boots) = (self.blocks, self.boots);
        if self.is_one {
            return Caveat::new(CaveatCode::SingleBoot, "all blocks ran in one boot");
        }
        let detail = match boots {
            1 => format!(
                "{} of {} ran in one boot",
                model::counted(blocks, "block"),
                plan.reference().id
            ),
            _ => format!("{blocks} blocks ran in {boots} boots"),
        };
        Caveat::new(CaveatCode::FewBoots, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{in_blocks, metric, noticing, plan, record};
    use crate::{GateLimit, gate};
    use model::{
        Claim, ClaimedEffect, Comparisons, Direction, Finding, Histogram, ImportedOrder, Obstacle,
        Outcome, Reduction, Sample, TrialFact, Unit, Verdict,
    };
    use std::collections::BTreeSet;

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];
    type Campaign = (Plan, Vec<Record>);

    /// A time, a percentile of few samples, a rate and a share, of which `b` has another fifth.
    fn campaign() -> Campaign {
        let mut rate = metric("rate", Direction::Higher, Reduction::Quotient);
        rate.unit = Unit::PerSecond;
        let metrics = vec![
            metric("time", Direction::Lower, Reduction::Median),
            metric("p50", Direction::Lower, Reduction::Quantile(0.5)),
            metric("p999", Direction::Lower, Reduction::Quantile(0.999)),
            metric("share", Direction::Lower, Reduction::Proportion),
            rate,
        ];
        let mut plan = plan(&["a", "a-again", "b"], metrics, 8);
        plan.comparisons = Comparisons::All;
        plan.workloads[0].primary = ["time", "p50", "p999", "share"].map(str::to_owned).into();
        plan.use_cases = vec![fixtures::use_case("use", &[("time", 0.5), ("p50", 0.5)])];
        let claim = |effect| Claim { metric: "time".into(), ..fixtures::claim("b", "a", effect) };
        plan.claims = vec![claim(ClaimedEffect::Better), claim(ClaimedEffect::Change(-0.5))];
        let mut records = Vec::new();
        for (block, noise) in (0_u32..).zip(NOISE) {
            for (subject, factor) in [("a", 1.0), ("a-again", 1.0), ("b", 0.8)] {
                let turn = 1.0 + 0.001 * noise * subject.len() as f64 + 0.001 * noise * factor;
                let mut histogram = Histogram::new();
                histogram.record_many((10_000.0 * factor * turn) as u64, 1_000);
                let samples = vec![
                    Sample::values("time", vec![100.0 * factor * turn]),
                    Sample::histogram("p50", histogram.clone()),
                    Sample::histogram("p999", histogram),
                    Sample::proportion("share", (500.0 * factor * turn) as u64, 10_000),
                    Sample::quotient("rate", 100.0 * turn, 1.0),
                ];
                records.push(record(block, subject, "w", vec![samples]));
            }
        }
        (plan, records)
    }

    fn of(records: &mut [Record], subject: &str, change: impl Fn(&mut Record)) {
        records.iter_mut().filter(|record| record.subject == subject).for_each(change);
    }

    fn set_time(record: &mut Record, value: f64) {
        record.invocations[0].samples[0] = Sample::values("time", vec![value]);
    }

    /// Campaigns that raise most obstacles.
    fn campaigns() -> Vec<Campaign> {
        let changed = |change: fn(&mut Plan, &mut Vec<Record>)| {
            let (mut plan, mut records) = campaign();
            change(&mut plan, &mut records);
            (plan, records)
        };
        let imported = |plan: &mut Plan| {
            let told = Caveat::new(CaveatCode::OrderConfounded, "one after the other");
            plan.imported = Some(noticing(vec![told], ImportedOrder::Unknown));
        };
        let (mut in_order, mut drifting) = campaign();
        imported(&mut in_order);
        for record in &mut drifting {
            let grown = 1.0 + 0.05 * f64::from(record.block);
            let centre = if record.subject == "b" { 80.0 } else { 100.0 };
            set_time(record, centre * grown * (1.0 + 0.001 * NOISE[record.block as usize]));
        }
        vec![
            campaign(),
            (in_order, drifting),
            changed(|_, all| {
                of(all, "a-again", |one| {
                    set_time(one, 150.0 + NOISE[one.block as usize]);
                })
            }),
            changed(|_, all| all.retain(|record| record.block < 4)),
            changed(|_, all| {
                of(all, "b", |record| {
                    if record.block < 3 {
                        record.outcome = Outcome::Failed { reason: "exit code 1".to_owned() };
                    }
                })
            }),
            changed(|_, all| {
                of(all, "b", |record| {
                    record.outcome =
                        Outcome::Invalid { rule: "R".to_owned(), detail: String::new() };
                })
            }),
            changed(|_, all| of(all, "b", |record| set_time(record, 0.0))),
            changed(|_, all| {
                of(all, "b", |record| {
                    let rate = 50.0 + NOISE[record.block as usize];
                    record.invocations[0].samples[4] = Sample::quotient("rate", rate, 1.0);
                })
            }),
            changed(|_, all| {
                for record in all {
                    record.note_fact(TrialFact::Observed, "a probe");
                    record.note_fact(TrialFact::Emulated, "TCG");
                }
            }),
            changed(|plan, all| {
                plan.workloads[0].metrics[0].resolution = 10.0;
                for record in all {
                    set_time(record, 100.0);
                }
            }),
        ]
    }

    /// All that is decided of a campaign whose comparisons and findings lack a caveat.
    fn decided((plan, records): &Campaign, dropped: Option<CaveatCode>) -> Vec<String> {
        let is_kept = |caveat: &Caveat| Some(caveat.code) != dropped;
        let observations = Observations::of(records);
        let counts = failures(plan, &observations);
        let by_name = by_name(&counts);
        let gathered = Gathered { plan, observations: &observations, counts: &by_name };
        let mut family: Vec<Comparison<'_>> = questions(plan)
            .into_iter()
            .filter(|asked| asked.question.role != Role::Screen)
            .map(|asked| Comparison::of(asked, gathered, plan.alpha))
            .collect();
        for comparison in &mut family {
            comparison.caveats.retain(is_kept);
            comparison.noise = comparison.noise.take().filter(is_kept);
        }
        let mut findings = judge_at(plan, records, plan.alpha).findings;
        findings.findings = judge_family(&family, plan.alpha);
        findings.use_cases = use_cases(gathered);
        let drop = |finding: &mut Finding| finding.caveats.retain(is_kept);
        findings.findings.iter_mut().for_each(drop);
        findings.use_cases.iter_mut().flat_map(|case| &mut case.comparisons).for_each(drop);
        let mut claimed = claims::findings(plan, records);
        claimed.every_mut().for_each(drop);
        conclude(plan, Some(&mut claimed), &mut findings);
        findings.findings.iter_mut().for_each(drop);
        findings.use_cases.iter_mut().flat_map(|case| &mut case.comparisons).for_each(drop);
        let of_finding = |finding: &Finding| {
            let Finding { verdict, strength, reason, obstacle, .. } = finding;
            let flags = [finding.is_odds, finding.is_emulated, finding.is_sequence()];
            format!("{verdict:?} {strength:?} {reason:?} {obstacle:?} {flags:?}")
        };
        let of_cases = findings.use_cases.iter().flat_map(|case| &case.comparisons);
        let mut told: Vec<String> =
            findings.findings.iter().chain(of_cases).map(of_finding).collect();
        told.push(format!("{:?} {:?}", findings.rankings, findings.claims));
        let co_best = findings.use_cases.iter().map(|case| (&case.co_best, &case.ranking));
        told.push(format!("{:?}", co_best.collect::<Vec<_>>()));
        for metric in ["time", "p50", "p999"] {
            let limit =
                GateLimit { workload: String::new(), metric: metric.to_owned(), fraction: 0.03 };
            let results = gate(&findings, &[limit]).unwrap();
            let result = &results[0];
            told.push(format!("{:?} {:?} {}", result.outcome, result.p, result.reason));
        }
        told
    }

    #[test]
    fn what_speaks_against_a_check_is_kept_beside_the_caveats_that_say_it_and_nowhere_else() {
        let mut seen = BTreeSet::new();
        let judging: [fn(&Plan, &[Record]) -> Findings; 3] =
            [crate::judge, crate::ended, crate::live];
        for (plan, records) in campaigns() {
            for findings in judging.map(|judge| judge(&plan, &records)) {
                assert_eq!(findings.against, CaveatCheck::of(&findings.caveats));
                let of_cases = findings.use_cases.iter().flat_map(|case| &case.comparisons);
                for finding in findings.findings.iter().chain(of_cases) {
                    assert_eq!(finding.against, CaveatCheck::of(&finding.caveats), "{finding:?}");
                    seen.extend(finding.against.iter().copied());
                }
            }
        }
        assert!(seen.len() > 3, "{seen:?}");
    }

    #[test]
    fn dropping_any_caveat_changes_no_verdict() {
        let mut seen = BTreeSet::new();
        for (index, campaign) in campaigns().iter().enumerate() {
            let all = decided(campaign, None);
            for code in CaveatCode::ALL {
                assert_eq!(decided(campaign, Some(*code)), all, "campaign {index} without {code}");
            }
            let findings = judge_at(&campaign.0, &campaign.1, 0.05).findings;
            let of_cases = findings.use_cases.iter().flat_map(|case| &case.comparisons);
            seen.extend(findings.findings.iter().chain(of_cases).filter_map(|one| one.obstacle));
        }
        for obstacle in [
            Obstacle::ObservedLatency,
            Obstacle::NoValidBlock,
            Obstacle::FailedControl,
            Obstacle::UnequalFailures,
            Obstacle::ZeroValue,
            Obstacle::DriftInOrder,
            Obstacle::UnequalWork,
            Obstacle::ShortTail,
            Obstacle::Component,
            Obstacle::FewPairs,
            Obstacle::CoarseSteps,
        ] {
            assert!(seen.contains(&obstacle), "{obstacle:?} of {seen:?}");
        }
    }

    #[test]
    fn a_margin_that_was_declared_decides_and_one_that_came_with_the_numbers_not_alone() {
        let (mut plan, records) = campaign();
        let decided = |plan: &Plan| {
            let findings = judge_at(plan, &records, plan.alpha).findings.findings;
            let is_it = |one: &&Finding| {
                let question = &one.question;
                (&*question.metric, &*question.reference, &*question.subject) == ("time", "a", "b")
            };
            let finding = findings.iter().find(is_it).unwrap();
            (finding.verdict, finding.obstacle)
        };
        plan.alpha = 0.2;
        plan.workloads[0].metrics[0].margin = 0.5;
        assert_eq!(decided(&plan), (Verdict::Equivalent, None), "of a measured campaign");
        let mut imported = in_blocks(ImportedOrder::Unknown);
        imported.given.usual_margins.insert("time".to_owned(), 0.02);
        plan.imported = Some(imported);
        assert_eq!(decided(&plan), (Verdict::Inconclusive, Some(Obstacle::GivenMargin)));
        plan.workloads[0].metrics[0].margin = 0.001;
        assert_eq!(decided(&plan), (Verdict::Better, None));
    }

    #[test]
    fn a_gate_decides_at_no_level_that_came_with_the_numbers() {
        let (mut plan, records) = campaign();
        plan.alpha = 0.2;
        assert_eq!(judge_at(&plan, &records, 0.2).findings.gate_alpha, None);
        plan.imported = Some(in_blocks(ImportedOrder::Unknown));
        let findings = judge_at(&plan, &records, 0.2).findings;
        let levels =
            |finding: &Finding| [findings.alpha_of(finding), findings.gate_alpha_of(finding)];
        assert!(findings.findings.iter().all(|finding| levels(finding) == [0.2, 0.05]));
        let stricter = judge_at(&plan, &records, 0.01).findings;
        assert_eq!(stricter.gate_alpha, None);
    }

    #[test]
    fn one_failed_control_caps_all_that_rests_on_it_and_is_told_once() {
        let (mut plan, mut records) = campaign();
        of(&mut records, "a-again", |one| set_time(one, 150.0 + NOISE[one.block as usize]));
        let told = |plan: &Plan| {
            let findings = crate::judge(plan, &records);
            let of_cases = findings.use_cases.iter().flat_map(|case| &case.comparisons);
            let all = findings.findings.iter().chain(of_cases);
            let capped = all.filter(|one| one.obstacle == Some(Obstacle::FailedControl));
            let count = |finding: &Finding| {
                let codes = finding.caveats.iter().map(|caveat| caveat.code);
                codes.filter(|code| *code == CaveatCode::AaFail).count()
            };
            capped.map(|one| (one.question.workload.clone(), count(one))).collect::<Vec<_>>()
        };
        let once = [("w".to_owned(), 1), ("use".to_owned(), 1)];
        assert_eq!(told(&plan), once);
        plan.looks = vec![6, 8];
        assert_eq!(told(&plan), once, "nor twice where looks judge again");
        let ended = crate::ended(&Plan { looks: Vec::new(), ..plan }, &records);
        let primary = &ended.findings[0];
        let codes = primary.caveats.iter().filter(|caveat| caveat.code == CaveatCode::AaFail);
        assert_eq!((primary.obstacle, codes.count()), (Some(Obstacle::FailedControl), 1));
    }

    #[test]
    fn a_use_case_obeys_what_its_components_are_forbidden() {
        let stopped = |index: usize| {
            let (plan, records) = &campaigns()[index];
            let findings = judge_at(plan, records, 0.05).findings;
            let comparison = findings.use_cases[0].comparisons[0].clone();
            (comparison.obstacle, comparison.reason.unwrap_or_default())
        };
        let check = |index: usize, why: &str| {
            let (obstacle, reason) = stopped(index);
            assert_eq!(obstacle, Some(Obstacle::Component));
            assert!(reason.contains(why), "{reason}");
        };
        check(1, "w time: nothing shows that the order was randomised");
        check(7, "w p50: not the same work");
        check(8, "w p50: a probe that acts on every event");
    }
}
