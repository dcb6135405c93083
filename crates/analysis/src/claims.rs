//! What new data say of published claims.
//!
//! Each comparison that a claim asks for is judged among those of all claims; what it says of the
//! claim is decided by its verdict and, of a size, by its interval (the rule of
//! docs/method.md#m-claims). A claim about several comparisons is confirmed where each of them
//! confirms it, and refuted by one of them; one without a finding leaves it open.

mod basis;
mod combined;
mod conjunction;
mod cross_workload;
mod family;
mod parts;
mod rule;
mod subjects;

pub(crate) use basis::ClaimEvidence;
pub(crate) use family::{ClaimedFindings, cap, decide_differences, findings};

use crate::comparison_labels::{ComparisonLabel, in_words};
use conjunction::together;
use family::INSIDE_BY_ITSELF;
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimTally, ClaimedEffect, Effect, Finding, Interval, Plan,
    Question, Role, Verdict,
};
use parts::{Part, parts};
use rule::{Measured, outcome, settled};
use stats::ln;

/// Why claims across workloads stay open where nothing tests them.
const UNTESTED: &str = "it compares within blocks, in campaigns that ran to their planned end";

/// Judges every claim of a plan.
pub(crate) fn claims(plan: &Plan, evidence: ClaimEvidence<'_>) -> Vec<ClaimFinding> {
    let of_claim = |(index, claim): (usize, &Claim)| {
        let mut parts = parts(plan, (index, claim), evidence);
        if claim.is_single() {
            parts.truncate(1);
        }
        let is_emulated =
            parts.iter().any(|part| part.finding.is_ok_and(|(finding, _)| finding.is_emulated));
        let judged: Vec<Judged> =
            parts.into_iter().map(|part| Judged::of((index, claim), part, evidence)).collect();
        let (outcome, reason, tally) = match judged.as_slice() {
            [] => {
                let is_of_blocks = claim.is_across_workloads() || claim.is_combined();
                let why = match is_of_blocks && !evidence.basis.has_tests_in_blocks() {
                    true => UNTESTED,
                    false if plan.is_quick => LEFT_OUT,
                    false => "the question was not asked",
                };
                (ClaimOutcome::Undecided, why.to_owned(), None)
            }
            [only] => (only.outcome, only.reason.clone(), None),
            several => {
                let of_each: Vec<ClaimOutcome> = several.iter().map(|one| one.outcome).collect();
                let outcome = together(&of_each, claim.shape.over);
                (outcome, in_each(plan, several), Some(tally(several)))
            }
        };
        ClaimFinding { claim: claim.clone(), outcome, reason, tally, is_emulated }
    };
    plan.claims.iter().enumerate().map(of_claim).collect()
}

/// Why a claim is open that a shortened campaign does not speak of.
const LEFT_OUT: &str = "the question was not asked: --quick left out what it is about";

/// Whether a claim about subjects is about this comparison, and if it is, whether the comparison is
/// the other way round.
pub(crate) fn is_about(plan: &Plan, claim: &Claim, question: &Question) -> Option<bool> {
    let is_meant = question.role == Role::Primary
        && !claim.is_across_workloads()
        && !claim.is_combined()
        && claim.metric.includes(&question.metric)
        && match &claim.workload {
            Some(label) => *label == question.workload,
            // Margins of imported numbers repeat their cells.
            None => plan.workload(&question.workload).is_some(),
        };
    let subject = plan.subject(&question.subject).filter(|_| is_meant)?;
    let reference = plan.subject(&question.reference)?;
    if claim.speaks_of(subject, reference) {
        return Some(false);
    }
    claim.speaks_of(reference, subject).then_some(true)
}

/// What one comparison says of a claim.
struct Judged {
    question: Question,
    outcome: ClaimOutcome,
    reason: String,
    /// The measured log ratio of the value, the claim's way round.
    log: Option<f64>,
    /// Why it has no finding, where it has none.
    unjudged: Option<&'static str>,
}

impl Judged {
    fn of((index, claim): (usize, &Claim), part: Part<'_>, evidence: ClaimEvidence<'_>) -> Self {
        let family = evidence.basis.family_words();
        let (found, unjudged) = match part.finding {
            Ok((finding, is_turned)) => {
                let alone = evidence.alone(index, &finding.question);
                let alone = alone.map(|finding| Reading { finding, is_turned });
                let reading = Reading { finding, is_turned };
                (judge(claim, reading, alone, family), None)
            }
            Err(why) => ((ClaimOutcome::Undecided, why.to_owned(), None), Some(why)),
        };
        let (outcome, reason, log) = found;
        Self { question: part.question, outcome, reason, log, unjudged }
    }
}

/// A finding, read the claim's way round and in the metric's own direction, as claims are written.
#[derive(Debug, Clone, Copy)]
struct Reading<'a> {
    finding: &'a Finding,
    /// Whether it compares the other way round than the claim.
    is_turned: bool,
}

impl<'a> Reading<'a> {
    /// The estimate; none where nothing may be claimed of it.
    fn effect(self) -> Option<&'a Effect> {
        self.finding.effect.as_ref().filter(|_| !self.finding.is_forbidden())
    }

    fn sign(self) -> f64 {
        self.finding.question.direction.sign() * if self.is_turned { -1.0 } else { 1.0 }
    }

    /// The ends of an interval as log ratios of the value, the lower one first.
    fn ends(self, interval: Interval) -> [f64; 2] {
        let mut ends = [interval.low, interval.high].map(|end| self.sign() * ln(end));
        ends.sort_by(f64::total_cmp);
        ends
    }

    fn measured(self, effect: &Effect) -> Measured {
        let verdict = match (self.finding.verdict, self.is_turned) {
            (Verdict::Better, true) => Verdict::Worse,
            (Verdict::Worse, true) => Verdict::Better,
            (verdict, _) => verdict,
        };
        let [low, high] = self.ends(effect.family_interval);
        let theta = ln(1.0 + self.finding.margin);
        Measured { verdict, low, high, theta, direction: self.finding.question.direction }
    }

    fn outcome(self, claimed: ClaimedEffect) -> ClaimOutcome {
        let of_effect = |effect| outcome(claimed, &self.measured(effect));
        self.effect().map_or(ClaimOutcome::Undecided, of_effect)
    }
}

/// The outcome, why, and the measured log ratio, of a comparison among those of all claims and, where
/// it was judged so, among those of its own claim alone.
fn judge(
    claim: &Claim,
    reading: Reading<'_>,
    alone: Option<Reading<'_>>,
    family: &str,
) -> (ClaimOutcome, String, Option<f64>) {
    let finding = reading.finding;
    let Some(effect) = reading.effect() else {
        let reason = finding.reason.clone().unwrap_or_else(|| "there is no estimate".to_owned());
        return (ClaimOutcome::Undecided, reason, None);
    };
    let measured = reading.measured(effect);
    let shown = outcome(claim.effect, &measured);
    let alone = alone.map_or(shown, |alone| alone.outcome(claim.effect));
    let settled = settled(alone, shown);
    let decisive = deciding(finding.verdict, effect, &measured);
    let own = reading.ends(decisive.unwrap_or(effect.interval));
    let log = reading.sign() * effect.log_mean;
    let of_what = if claim.shape.turns.is_some() { "the ratio of the two" } else { "the value" };
    let beside = match (claim.effect, decisive) {
        (ClaimedEffect::Change(fraction), _) => format!(
            "{} with {family} in mind{}",
            range([measured.low, measured.high]),
            of_size(ln(1.0 + fraction), shown, &measured, own)
        ),
        (_, Some(_)) => format!("{} with {family} in mind", range(own)),
        (_, None) => format!("{} for this comparison alone", range(own)),
    };
    let withheld = withheld(finding, alone, settled != shown);
    (settled, format!("measured {} of {of_what}, {beside}{withheld}", change(log)), Some(log))
}

/// Why a comparison is open whose numbers among all claims look decided.
fn withheld(finding: &Finding, alone: ClaimOutcome, is_unlike: bool) -> String {
    if is_unlike {
        let word = word(alone);
        return format!(
            "; were this the plan's only claim, it would be {word} here: it stays open"
        );
    }
    match &finding.reason {
        Some(reason) if reason == INSIDE_BY_ITSELF => format!("; {reason}"),
        _ => String::new(),
    }
}

/// The interval that showed the verdict: that of the level which it was shown at, or that of the
/// family where this shows it as well. None where only the comparison's own interval is known.
fn deciding(verdict: Verdict, effect: &Effect, measured: &Measured) -> Option<Interval> {
    let of_level = match verdict {
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => effect.deciding,
        Verdict::Inconclusive | Verdict::Invalid => None,
    };
    let of_family = || measured.shows_verdict().then_some(effect.family_interval);
    of_level.map(|decisive| decisive.interval).or_else(of_family)
}

/// What the interval of all claims says of a claimed size, and by which the verdict was shown where
/// that one does not show it.
fn of_size(size: f64, outcome: ClaimOutcome, measured: &Measured, decisive: [f64; 2]) -> String {
    let size_in_words = change(size);
    let of_size = match outcome {
        ClaimOutcome::Confirmed => {
            format!(", which has {size_in_words} and neither half nor twice of it")
        }
        ClaimOutcome::RefutedInSize | ClaimOutcome::Refuted => {
            format!(", which excludes {size_in_words}")
        }
        ClaimOutcome::Immaterial => format!(", which has {size_in_words}: less than matters"),
        ClaimOutcome::RefutedAndImmaterial => {
            format!(", which excludes {size_in_words}; both are less than matters")
        }
        ClaimOutcome::Undecided => match measured.verdict {
            Verdict::Inconclusive | Verdict::Invalid => return String::new(),
            _ if measured.goes_with(size) => {
                format!(", too wide to tell {size_in_words} from half or twice of it")
            }
            _ => format!(", which does not exclude {size_in_words}"),
        },
    };
    let shown = match measured.verdict {
        _ if measured.shows_verdict() => return of_size,
        Verdict::Equivalent => "no difference beyond the margin",
        _ => "the direction",
    };
    format!("{of_size}; {shown} is shown by {}", range(decisive))
}

fn tally(judged: &[Judged]) -> ClaimTally {
    let count =
        |is_one: fn(ClaimOutcome) -> bool| judged.iter().filter(|one| is_one(one.outcome)).count();
    ClaimTally {
        confirmed: count(|outcome| outcome == ClaimOutcome::Confirmed),
        refuted: count(ClaimOutcome::is_refuted),
        undecided: count(ClaimOutcome::is_open),
    }
}

/// How one comparison ended.
fn word(outcome: ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Confirmed => "confirmed",
        ClaimOutcome::Refuted => "refuted",
        ClaimOutcome::RefutedInSize => "refuted in size",
        ClaimOutcome::Immaterial => "immaterial",
        ClaimOutcome::RefutedAndImmaterial => "refuted as stated, and immaterial",
        ClaimOutcome::Undecided => "open",
    }
}

/// How several comparisons ended, with their numbers and where each kind was.
fn in_each(plan: &Plan, judged: &[Judged]) -> String {
    let questions: Vec<&Question> = judged.iter().map(|one| &one.question).collect();
    let places = ComparisonLabel::of_each(plan, &questions);
    let mut clauses: Vec<String> = Vec::new();
    for wanted in ClaimOutcome::ALL {
        let word = word(wanted);
        let is_chosen: Vec<bool> = judged.iter().map(|one| one.outcome == wanted).collect();
        let total = judged.len();
        match is_chosen.iter().filter(|is_chosen| **is_chosen).count() {
            0 => {}
            all if all == total => clauses.push(format!("{word} in all {total} comparisons")),
            some => {
                let of_total = if clauses.is_empty() {
                    format!(" of {total} comparisons")
                } else {
                    String::new()
                };
                clauses.push(format!(
                    "{word} in {some}{of_total} ({})",
                    in_words(&places, &is_chosen)
                ));
            }
        }
    }
    format!("{}{}{}", clauses.join(", "), unjudged(judged), measured(judged))
}

/// How many comparisons have no finding, and why the first has none.
fn unjudged(judged: &[Judged]) -> String {
    let mut without = judged.iter().filter_map(|one| one.unjudged);
    let Some(why) = without.next() else { return String::new() };
    format!("; {} of these without a finding: {why}", 1 + without.count())
}

/// From the least to the most that was measured.
fn measured(judged: &[Judged]) -> String {
    let mut logs: Vec<f64> = judged.iter().filter_map(|one| one.log).collect();
    logs.sort_by(f64::total_cmp);
    match logs.as_slice() {
        [] => String::new(),
        [only] => format!("; measured {} of the value", change(*only)),
        [least, .., most] => {
            format!("; measured {} to {} of the value", change(*least), change(*most))
        }
    }
}

/// Two log ratios as signed percentages.
fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", change(low), change(high))
}

/// A log ratio as a signed percentage.
fn change(log: f64) -> String {
    if log.is_finite() {
        format!("{:+.1} %", 100.0 * (stats::exp(log) - 1.0))
    } else {
        "unbounded".to_owned()
    }
}

#[cfg(test)]
mod tests;
