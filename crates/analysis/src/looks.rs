//! Adaptive campaigns: looks at pre-declared block counts, each at its own level
//! (docs/method.md#m-looks). A question is answered by the first look that decides it.

use crate::claims::ClaimedFindings;
use crate::judgement::{Judgement, conclude, judge_at};
use crate::{live, trends};
use model::{
    Caveat, CaveatCode, Finding, Findings, Look, Outcome, Plan, Question, Record, Role, Verdict,
};
use stats::spent_at_looks;
use std::collections::{BTreeMap, BTreeSet};

/// What the looks that a campaign has reached have answered.
struct ReachedLooks {
    /// Indices of the complete blocks, in the plan's order.
    complete: Vec<u32>,
    /// The level of each look, of those to come as well.
    levels: Vec<f64>,
    /// How many were reached.
    count: usize,
    /// The first answers of the declared questions and of use cases.
    answered: Vec<Finding>,
    /// The first answers of what claims ask for.
    answered_claims: ClaimedFindings,
    /// All that the last one found.
    latest: Option<Judgement>,
}

impl ReachedLooks {
    fn of(plan: &Plan, records: &[Record]) -> Self {
        let complete = complete_blocks(plan, records);
        let levels = spent_at_looks(&plan.looks, plan.alpha);
        let is_reached = |look: &&u32| **look as usize <= complete.len();
        let count = plan.looks.iter().take_while(is_reached).count();
        let mut answered = Vec::new();
        let mut answered_claims = ClaimedFindings {
            alone: vec![Vec::new(); plan.claims.len()],
            ..ClaimedFindings::default()
        };
        let mut latest = None;
        for (index, (look, level)) in plan.looks.iter().zip(&levels).take(count).enumerate() {
            let of_look = first_blocks(records, &complete[..*look as usize]);
            let judged = evaluated(plan, &of_look, index, *look, *level);
            note_answers(&mut answered, all_of(&judged.findings));
            note_claims(&mut answered_claims, &judged.claimed);
            latest = Some(judged);
        }
        Self { complete, levels, count, answered, answered_claims, latest }
    }

    /// The level that no look has spent.
    fn unspent(&self, alpha: f64) -> f64 {
        (alpha - self.levels.iter().take(self.count).sum::<f64>()).max(0.0)
    }
}

/// Judges an adaptive campaign that was ended at a block that its user chose. Answers of looks
/// stand. What they left open is judged by the confidence sequence at the level that they have not
/// spent: it holds at every block, so nothing is won by choosing one.
pub(crate) fn ended(plan: &Plan, records: &[Record]) -> Findings {
    let looks = ReachedLooks::of(plan, records);
    let alpha = looks.unspent(plan.alpha);
    let rest = Plan { alpha, ..plan.clone() };
    let mut findings = live::decided(&rest, records);
    findings.alpha = model::round_significant(alpha);
    let blocks = model::counted(looks.complete.len(), "complete block");
    let detail = format!("{blocks}, ended on purpose");
    findings.note_caveat(Caveat::new(CaveatCode::StoppedEarly, detail));
    findings.caveats.sort();
    let latest = looks.latest.map(|judged| judged.findings.use_cases);
    findings.use_cases = latest.unwrap_or_default();
    keep_answers(&looks.answered, every_of(&mut findings));
    let why = "the campaign was ended on purpose, and no test of a trend holds at every look";
    conclude(plan, None, &mut findings);
    trends::add_untested(plan, records, why, &mut findings);
    findings
}

/// Judges what a campaign with looks has so far.
pub(crate) fn judge(plan: &Plan, records: &[Record]) -> Findings {
    let ReachedLooks { complete, levels, count: reached, answered, answered_claims, latest } =
        ReachedLooks::of(plan, records);
    let has_more = reached < plan.looks.len()
        && complete.len() > reached.checked_sub(1).map_or(0, |last| plan.looks[last] as usize);
    let Judgement { mut findings, mut claimed, .. } = match latest {
        Some(judged) if !has_more => judged,
        // Between looks the next one's level is spent.
        _ => {
            let index = reached.min(levels.len().saturating_sub(1));
            let mut judged = evaluated(plan, records, index, complete.len() as u32, levels[index]);
            let blocks = model::counted(complete.len(), "complete block");
            let detail = format!("{blocks}, between two looks");
            judged.findings.note_caveat(Caveat::new(CaveatCode::StoppedEarly, detail));
            judged.findings.caveats.sort();
            judged
        }
    };
    keep_answers(&answered, every_of(&mut findings));
    keep_answers(&answered_claims.together, claimed.together.iter_mut());
    for (answered, of_claim) in answered_claims.alone.iter().zip(&mut claimed.alone) {
        keep_answers(answered, of_claim.iter_mut());
    }
    findings.alpha = plan.alpha;
    // A control that fails later takes back what it guards, and ranks and claims are
    // those of the answers that were kept.
    conclude(plan, Some(&mut claimed), &mut findings);
    findings
}

/// Findings and the comparisons of use cases.
fn all_of(findings: &Findings) -> impl Iterator<Item = &Finding> {
    let of_cases = findings.use_cases.iter().flat_map(|case| &case.comparisons);
    findings.findings.iter().chain(of_cases)
}

/// The same, to be changed.
fn every_of(findings: &mut Findings) -> impl Iterator<Item = &mut Finding> {
    let of_cases = findings.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
    findings.findings.iter_mut().chain(of_cases)
}

/// The look that a campaign has just reached, where all its primary questions are
/// answered by it.
pub fn answered_at(plan: &Plan, records: &[Record]) -> Option<u32> {
    let complete = u32::try_from(complete_blocks(plan, records).len()).ok()?;
    if !plan.looks.contains(&complete) {
        return None;
    }
    let findings = judge(plan, records).findings;
    let mut primary = findings.iter().filter(|finding| finding.question.role == Role::Primary);
    primary.all(|finding| finding.verdict != Verdict::Inconclusive).then_some(complete)
}

fn evaluated(plan: &Plan, records: &[Record], index: usize, blocks: u32, alpha: f64) -> Judgement {
    let mut judged = judge_at(plan, records, alpha);
    let look = Look {
        number: index as u32 + 1,
        of: plan.looks.len() as u32,
        blocks,
        alpha: model::round_significant(alpha),
    };
    let of_declared = every_of(&mut judged.findings);
    for finding in of_declared.filter(|finding| finding.question.role != Role::Screen) {
        finding.look = Some(look);
    }
    judged.claimed.every_mut().for_each(|finding| finding.look = Some(look));
    judged
}

/// Puts the first answer to each question in its place. How its subjects failed is no part of it: that
/// is counted anew at each look.
fn keep_answers<'a>(answered: &[Finding], findings: impl Iterator<Item = &'a mut Finding>) {
    let answers = Answers::of(answered);
    for finding in findings {
        if let Some(known) = answers.to(&finding.question) {
            let p_failure = finding.p_failure;
            finding.clone_from(known);
            finding.p_failure = p_failure;
        }
    }
}

/// Keeps the first answer to each question.
fn note_answers<'a>(answered: &mut Vec<Finding>, findings: impl Iterator<Item = &'a Finding>) {
    let new: Vec<Finding> = {
        let answers = Answers::of(answered);
        let is_new = |finding: &&Finding| {
            matches!(finding.verdict, Verdict::Better | Verdict::Worse | Verdict::Equivalent)
                && answers.to(&finding.question).is_none()
        };
        findings.filter(is_new).cloned().collect()
    };
    answered.extend(new);
}

/// Answers by the names in their questions: there may be as many as questions, at each look.
struct Answers<'a>(BTreeMap<[&'a str; 5], Vec<&'a Finding>>);

impl<'a> Answers<'a> {
    fn of(answered: &'a [Finding]) -> Self {
        let mut by_names: BTreeMap<[&str; 5], Vec<&Finding>> = BTreeMap::new();
        for finding in answered {
            by_names.entry(names(&finding.question)).or_default().push(finding);
        }
        Self(by_names)
    }

    /// The first answer to a question.
    fn to(&self, question: &Question) -> Option<&'a Finding> {
        let alike = self.0.get(&names(question))?;
        alike.iter().copied().find(|known| known.question == *question)
    }
}

fn names(question: &Question) -> [&str; 5] {
    let Question { workload, metric, subject, reference, family, .. } = question;
    [workload, metric, subject, reference, family].map(String::as_str)
}

/// The same of what claims ask for. Each claim has its first answers as if it were alone as well:
/// beside others it may be answered later, and otherwise.
fn note_claims(answered: &mut ClaimedFindings, claimed: &ClaimedFindings) {
    note_answers(&mut answered.together, claimed.together.iter());
    for (answered, of_claim) in answered.alone.iter_mut().zip(&claimed.alone) {
        note_answers(answered, of_claim.iter());
    }
}

/// Blocks in the plan's order of which nothing is to come. A subject with nothing
/// but broken rules was given up, and is not waited for.
fn complete_blocks(plan: &Plan, records: &[Record]) -> Vec<u32> {
    let mut ran: Vec<(u32, &str, &str)> = records
        .iter()
        .map(|record| (record.block, record.subject.as_str(), record.workload.as_str()))
        .collect();
    ran.sort_unstable();
    let given_up = given_up(records);
    let is_complete = |block: &&model::Block| {
        let is_due = |sitting: &&model::Sitting| !given_up.contains(sitting.subject.as_str());
        let due = block.sittings.iter().filter(is_due);
        let mut trials = due.flat_map(|sitting| {
            sitting.workloads.iter().map(|workload| (sitting.subject.as_str(), workload.as_str()))
        });
        trials
            .all(|(subject, workload)| ran.binary_search(&(block.index, subject, workload)).is_ok())
    };
    plan.blocks.iter().filter(is_complete).map(|block| block.index).collect()
}

/// Subjects that have records, each of which broke a rule.
fn given_up(records: &[Record]) -> BTreeSet<&str> {
    let mut subjects: BTreeMap<&str, bool> = BTreeMap::new();
    for record in records {
        let is_invalid = matches!(record.outcome, Outcome::Invalid { .. });
        *subjects.entry(record.subject.as_str()).or_insert(true) &= is_invalid;
    }
    let is_given_up = |(subject, is_given_up): (_, bool)| is_given_up.then_some(subject);
    subjects.into_iter().filter_map(is_given_up).collect()
}

fn first_blocks(records: &[Record], blocks: &[u32]) -> Vec<Record> {
    let mut blocks = blocks.to_vec();
    blocks.sort_unstable();
    let is_of_them = |record: &&Record| blocks.binary_search(&record.block).is_ok();
    records.iter().filter(is_of_them).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::judge as judged;
    use model::{Direction, Reduction};

    const NOISE: [f64; 12] = [0.2, -0.4, 0.5, -0.1, 0.3, -0.5, 0.1, -0.3, 0.4, -0.2, 0.25, -0.35];

    fn with_looks(looks: &[u32]) -> Plan {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let blocks = looks.last().copied().unwrap_or(12);
        Plan { looks: looks.to_vec(), ..plan(&["a", "b"], metrics, blocks) }
    }

    /// With a search through all answers for each question this ends at the time limit.
    #[test]
    fn answers_to_very_many_questions_are_kept_at_once_at_each_look() {
        let of = |number: usize| {
            let asked = ::fixtures::question(&format!("w{number}"), "m", "b", "a");
            Finding { verdict: Verdict::Better, ..::fixtures::finding(asked) }
        };
        let first: Vec<Finding> = (0..60_000).map(of).collect();
        let mut later = first.clone();
        later.iter_mut().for_each(|finding| finding.verdict = Verdict::Worse);
        later[7].question.role = Role::Control;
        let mut answered = Vec::new();
        for _ in 0..20 {
            note_answers(&mut answered, first.iter());
            note_answers(&mut answered, later.iter());
        }
        assert_eq!(answered.len(), 60_001, "one of them was another question");
        keep_answers(&answered, later.iter_mut());
        assert_eq!(later[8].verdict, Verdict::Better);
        assert_eq!(later[7].verdict, Verdict::Worse);
    }

    /// With a search through all records for each block this ends at the time limit.
    #[test]
    fn very_many_blocks_are_complete_without_a_subject_that_was_given_up() {
        const BLOCKS: u32 = 150_000;
        let plan = Plan { looks: vec![6], ..plan(&["a", "b"], Vec::new(), BLOCKS) };
        let [good, mut bad] = ["a", "b"].map(|id| crate::fixtures::record(0, id, "w", Vec::new()));
        bad.outcome = Outcome::Invalid { rule: "R".to_owned(), detail: String::new() };
        let of = |one: &Record| -> Vec<Record> {
            (0..BLOCKS).map(|block| Record { block, ..one.clone() }).collect()
        };
        let mut all = of(&good);
        assert_eq!(complete_blocks(&plan, &all), [0_u32; 0], "nothing is known of the other");
        all.extend(of(&bad));
        assert!(complete_blocks(&plan, &all).into_iter().eq(0..BLOCKS));
        assert_eq!(first_blocks(&all, &[4, 2]).len(), 4);
        all.truncate(all.len() - 1);
        if let Some(last) = all.last_mut() {
            last.outcome = Outcome::Completed;
        }
        let complete = complete_blocks(&plan, &all);
        assert!(complete.into_iter().eq(0..BLOCKS - 1), "it is waited for in the last block");
    }

    /// A subject that is better by `percent`, in the first `count` blocks.
    fn improved(percent: f64, count: usize) -> Vec<Record> {
        let values = |scale: f64| -> Vec<f64> {
            let noise = NOISE.iter().take(count).enumerate();
            noise.map(|(index, noise)| scale * (1.0 + 0.01 * noise * (index % 3) as f64)).collect()
        };
        let mut all = records("a", &values(100.0));
        let rotated: Vec<f64> = values(100.0 / (1.0 + percent / 100.0)).into_iter().rev().collect();
        all.extend(records("b", &rotated));
        all
    }

    #[test]
    fn the_first_look_that_decides_gives_the_answer_with_its_level_and_interval() {
        let plan = with_looks(&[6, 10, 12]);
        let early = improved(20.0, 6);
        assert_eq!(answered_at(&plan, &early), Some(6));
        let finding = &judged(&plan, &early).findings[0];
        assert_eq!(finding.verdict, Verdict::Better);
        let look = finding.look.unwrap();
        assert_eq!((look.number, look.of, look.blocks), (1, 3, 6));
        assert!((look.alpha - 0.05 * 0.25).abs() < 1e-12);
        // More blocks do not take it back, and do not narrow it.
        let later = &judged(&plan, &improved(20.0, 12)).findings[0];
        assert_eq!(later.look, finding.look);
        assert_eq!(later.pairs, 6);
        let fixed = judged(&Plan { looks: Vec::new(), ..plan }, &early);
        let width = |finding: &Finding| {
            let interval = finding.effect.as_ref().unwrap().interval;
            interval.high - interval.low
        };
        assert!(width(finding) > width(&fixed.findings[0]), "99 % is wider than 95 %");
        assert_eq!(fixed.findings[0].look, None);
    }

    #[test]
    fn between_looks_the_next_level_is_spent_and_said() {
        let plan = with_looks(&[6, 10, 12]);
        let early = improved(20.0, 5);
        assert_eq!(answered_at(&plan, &early), None);
        let findings = judged(&plan, &early);
        assert_eq!(findings.findings[0].look.unwrap().number, 1);
        assert!(findings.caveats.iter().any(|caveat| caveat.code == CaveatCode::StoppedEarly));
        let at_look = judged(&plan, &improved(20.0, 6));
        assert!(!at_look.caveats.iter().any(|caveat| caveat.code == CaveatCode::StoppedEarly));
    }

    #[test]
    fn an_unanswered_question_goes_on() {
        let plan = with_looks(&[6, 10, 12]);
        // Beyond a margin of 2 % and not shown to be: neither verdict is reached.
        let wild = |scale: f64, turn: usize| -> Vec<f64> {
            (0..10).map(|block| scale * (1.0 + 0.3 * NOISE[(block + turn) % 12])).collect()
        };
        let mut all = records("a", &wild(100.0, 0));
        all.extend(records("b", &wild(101.0, 5)));
        assert_eq!(answered_at(&plan, &all), None);
        assert_eq!(judged(&plan, &all).findings[0].look.unwrap().number, 2);
    }

    #[test]
    fn a_control_that_fails_at_a_later_look_takes_an_earlier_answer_back() {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let plan = Plan { looks: vec![6, 10, 12], ..plan(&["a", "a-again", "b"], metrics, 12) };
        let campaign = |count: usize, of_control: f64| -> Vec<Record> {
            let mut all = improved(20.0, count);
            let control: Vec<f64> = (0..count)
                .map(|block| {
                    let centre = if block < 6 { 100.0 } else { of_control };
                    centre * (1.0 + 0.003 * NOISE[(block + 5) % 12])
                })
                .collect();
            all.extend(records("a-again", &control));
            all
        };
        let of = |findings: &Findings, subject: &str| {
            findings.findings.iter().find(|f| f.question.subject == subject).unwrap().clone()
        };
        let good = judged(&plan, &campaign(12, 100.0));
        assert_eq!(of(&good, "b").verdict, Verdict::Better);
        assert_eq!(of(&good, "b").look.unwrap().number, 1);
        // The control's own first answer stands; this one has none before it fails.
        let mut late = campaign(12, 300.0);
        late.retain(|record| record.subject != "a-again" || record.block >= 4);
        let bad = judged(&Plan { looks: vec![6, 12], ..plan.clone() }, &late);
        assert!(matches!(of(&bad, "a-again").verdict, Verdict::Worse), "{:?}", of(&bad, "a-again"));
        assert_eq!(of(&bad, "b").verdict, Verdict::Inconclusive);
        assert!(of(&bad, "b").caveats.iter().any(|c| c.code == CaveatCode::AaFail));
    }

    #[test]
    fn a_block_that_the_user_chose_has_the_interval_of_every_block() {
        let plan = with_looks(&[6, 10, 12]);
        // The first look answers: its answer stands, with its level.
        let early = crate::ended(&plan, &improved(20.0, 8));
        assert_eq!(early.findings[0].look.unwrap().number, 1);
        assert_eq!(early.findings[0].verdict, Verdict::Better);
        // Between looks what is open has no test of its own, only the sequence.
        let shift = |percent: f64| crate::ended(&plan, &improved(percent, 8)).findings.remove(0);
        let open = shift(0.5);
        assert!(open.is_sequence() && open.look.is_none(), "{open:?}");
        assert_eq!(open.effect.as_ref().unwrap().p_difference, None);
        let next_look = judged(&plan, &improved(0.5, 8)).findings.remove(0);
        assert!(!next_look.is_sequence());
        let width = |finding: &Finding| {
            let interval = finding.effect.as_ref().unwrap().family_interval;
            (interval.high / interval.low).ln()
        };
        let unspent = 0.05 - spent_at_looks(&plan.looks, 0.05)[0];
        let level = crate::ended(&plan, &improved(0.5, 8)).alpha;
        assert!((level - unspent).abs() < 1e-9, "{level}");
        // 1.6 standard deviations at eight blocks, and 1.0 of the test at the next look's level.
        assert!(width(&open) > 1.4 * width(&next_look), "{} {}", width(&open), width(&next_look));
        // Before the first look nothing is spent.
        assert!((crate::ended(&plan, &improved(0.5, 5)).alpha - 0.05).abs() < 1e-12);
    }

    #[test]
    fn ranks_claims_and_use_cases_are_those_of_the_answers_that_are_shown() {
        let plan = Plan {
            comparisons: model::Comparisons::All,
            use_cases: vec![fixtures::use_case("use", &[("m", 1.0)])],
            claims: vec![fixtures::claim("b", "a", model::ClaimedEffect::Better)],
            ..with_looks(&[6, 10, 12])
        };
        // Better in the first six blocks; afterwards it is not, which changes nothing.
        let mut all = improved(20.0, 12);
        for record in all.iter_mut().filter(|r| r.subject == "b" && r.block >= 6) {
            record.invocations[0].samples =
                vec![model::Sample::values("m", vec![130.0 + f64::from(record.block)])].into();
        }
        let findings = judged(&plan, &all);
        assert_eq!(findings.findings[0].look.unwrap().number, 1);
        assert_eq!(findings.rankings[0].ranks[0].subject, "b");
        assert_eq!(findings.claims[0].outcome, model::ClaimOutcome::Confirmed);
        let use_case = &findings.use_cases[0];
        assert_eq!(use_case.co_best, ["b"]);
        assert_eq!(use_case.comparisons[0].look, findings.findings[0].look);
    }
}
