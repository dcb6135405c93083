//! What one comparison says of a claim: its outcome, and the sentence with what decided it.

use super::basis::{ClaimBasis, ClaimEvidence};
use super::parts::Part;
use super::rule::{Measured, outcome, settled};
use super::sentence::{Scale, at_level, compared, grounds, word};
use model::{
    Claim, ClaimOutcome, ClaimedEffect, Doubt, Effect, Finding, Interval, Plan, Question, Verdict,
};
use stats::ln;

/// What one comparison says of a claim.
pub(super) struct Judged {
    /// What is compared, the claim's way round.
    pub question: Question,
    pub outcome: ClaimOutcome,
    /// What was measured, with the interval that decided and its level; else why there is nothing.
    pub reason: String,
    /// The pair, where it is compared, and in how many of the blocks.
    pub grounds: String,
    /// The measured log ratio of the value, the claim's way round.
    pub log: Option<f64>,
    /// Why it has no finding, where it has none.
    pub unjudged: Option<&'static str>,
    /// What it may tell besides the subjects.
    pub reservations: Vec<&'static str>,
}

impl Judged {
    pub(super) fn of(
        plan: &Plan,
        (index, claim): (usize, &Claim),
        part: Part<'_>,
        evidence: ClaimEvidence<'_>,
    ) -> Self {
        let compared = compared(plan, claim, &part.question);
        let question = part.question;
        let (finding, is_turned) = match part.finding {
            Ok(found) => found,
            Err(why) => {
                return Self {
                    question,
                    outcome: ClaimOutcome::Undecided,
                    reason: why.to_owned(),
                    grounds: compared,
                    log: None,
                    unjudged: Some(why),
                    reservations: Vec::new(),
                };
            }
        };
        let alone = evidence.alone(index, &finding.question);
        let alone = alone.map(|finding| Reading { finding, is_turned });
        let reading = Reading { finding, is_turned };
        let (outcome, reason, log) = judge(claim, reading, alone, evidence);
        let has_blocks = evidence.basis != ClaimBasis::WithoutBlocks;
        let grounds = format!("{compared}, {}", grounds(plan, finding, has_blocks));
        let reservations = reservations(finding);
        Self { question, outcome, reason, grounds, log, unjudged: None, reservations }
    }
}

/// What a finding may tell besides the subjects, as the answer of a report says it: no gate rests on it
/// either.
fn reservations(finding: &Finding) -> Vec<&'static str> {
    let of_order = match finding.verdict {
        Verdict::Equivalent => "the order of the subjects may hide a difference (ORDER_CONFOUNDED)",
        _ => "the order of the subjects may be the difference (ORDER_CONFOUNDED)",
    };
    let of_doubts = finding.doubts.iter().map(|doubt| match doubt {
        Doubt::UnlikeSettings => "it may not be the same work (SETTINGS_DIFFER)",
        Doubt::UnknownReplicates => "the interval may be too narrow (REPLICATE_LEVEL_UNKNOWN)",
        Doubt::TurnedDirection => {
            "which way is better was given against the format (POST_HOC_MARGIN)"
        }
        Doubt::AbsentRuns => "runs that are absent may be those that failed (ABSENT_VALUES)",
    });
    finding.is_order_fixed.then_some(of_order).into_iter().chain(of_doubts).collect()
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
    evidence: ClaimEvidence<'_>,
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
    let [of_comparison, of_family] = evidence.levels(finding);
    let decisive = deciding(finding.verdict, effect, &measured, of_family);
    let (own, level) = decisive.unwrap_or((effect.interval, of_comparison));
    let log = reading.sign() * effect.log_mean;
    let size = match claim.effect {
        ClaimedEffect::Change(fraction) => Some(ln(1.0 + fraction)),
        ClaimedEffect::Better | ClaimedEffect::Worse | ClaimedEffect::Same => None,
    };
    let ends = reading.ends(own);
    let scale = match size {
        Some(size) => Scale::of(&[log, ends[0], ends[1], measured.low, measured.high, size]),
        None => Scale::of(&[log, ends[0], ends[1]]),
    };
    let own = format!("{}{}", scale.range(ends), at_level(level));
    let of_what = if claim.shape.turns.is_some() { "the ratio of the two" } else { "the value" };
    let family = evidence.basis.family_words();
    let beside = match (size, decisive) {
        (Some(size), _) => format!(
            "{}{} with {family} in mind{}",
            scale.range([measured.low, measured.high]),
            at_level(of_family),
            of_size((size, &scale.change(size)), shown, &measured, &own)
        ),
        (None, Some(_)) => format!("{own} with {family} in mind"),
        (None, None) => format!("{own} for this comparison alone"),
    };
    let withheld = withheld(finding, alone, settled, settled != shown);
    let log_in_words = scale.change(log);
    (settled, format!("measured {log_in_words} of {of_what}, {beside}{withheld}"), Some(log))
}

/// Why a comparison is open: other claims beside it, or what left its finding without a verdict. Where
/// that has one, the words about the size tell it.
fn withheld(
    finding: &Finding,
    alone: ClaimOutcome,
    settled: ClaimOutcome,
    is_unlike: bool,
) -> String {
    if is_unlike {
        let word = word(alone);
        return format!(
            "; were this the plan's only claim, it would be {word} here: it stays open"
        );
    }
    let has_verdict = !matches!(finding.verdict, Verdict::Inconclusive | Verdict::Invalid);
    match &finding.reason {
        Some(reason) if settled == ClaimOutcome::Undecided && !has_verdict => format!("; {reason}"),
        _ => String::new(),
    }
}

/// The interval that showed the verdict, and one minus its level: that of the level which it was
/// shown at, or that of the family where this shows it as well. None where only the comparison's own
/// interval is known.
fn deciding(
    verdict: Verdict,
    effect: &Effect,
    measured: &Measured,
    of_family: f64,
) -> Option<(Interval, f64)> {
    let of_level = match verdict {
        Verdict::Better | Verdict::Worse | Verdict::Equivalent => effect.deciding,
        Verdict::Inconclusive | Verdict::Invalid => None,
    };
    let family = || measured.shows_verdict().then_some((effect.family_interval, of_family));
    of_level.map(|decisive| (decisive.interval, decisive.alpha)).or_else(family)
}

/// What the interval of all claims says of a claimed size, and by which the verdict was shown where
/// that one does not show it.
fn of_size(
    (size, size_in_words): (f64, &str),
    outcome: ClaimOutcome,
    measured: &Measured,
    decisive: &str,
) -> String {
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
    format!("{of_size}; {shown} is shown by {decisive}")
}
