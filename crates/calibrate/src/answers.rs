//! Target 12: what is answered beside the verdicts: claims, use cases, gates, the A/A control.

use crate::CalibrationRequest;
use crate::campaigns::{SimulatedCampaign, repeat};
use crate::quantities::apart;
use crate::rate::Rate;
use crate::synthetic::{NO_SHELTER, Shape, THETA, run};
use crate::table::{CalibrationRow, Limit};
use analysis::{GateLimit, GateOutcome};
use contract::Result;
use model::{CaveatCode, ClaimOutcome, Verdict};

/// Target 12 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
const MOST_EQUIVALENT: f64 = 0.065;
const MOST_FAILED_CONTROLS: f64 = 0.05;

/// One thing that is answered, of a true effect on the scale of logarithms (positive: slower).
struct Answer {
    name: &'static str,
    shape: Shape,
    effect: f64,
    limit: Limit,
    is_wrong: fn(&SimulatedCampaign) -> bool,
}

const CLAIM_BETTER: &str = "[[claims]]\nsays = \"it is better\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"better\"\n";
const CLAIM_SAME: &str = "[[claims]]\nsays = \"it is the same\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"same\"\n";
const CLAIM_TENTH: &str = "[[claims]]\nsays = \"it takes a tenth more\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"+10%\"\n";
const CLAIM_TURN: &str = "[[claims]]\nsays = \"it gains\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"better\"\nturns = { workload = [\"w1\", \"w2\"] }\n";
const USE_CASE: &str = "[use_cases.both]\nw1 = 0.5\nw2 = 0.5\n";
/// ln 1.1, ln 1.05 and ln 1.2: a claimed size, and half and twice of its change.
const TENTH: f64 = 0.095_310_179_804_324_9;
const HALF: f64 = 0.048_790_164_169_432;
const TWICE: f64 = 0.182_321_556_793_954_6;

fn claims() -> Vec<Answer> {
    let declaring = |declares| Shape { declares, ..Shape::PAIR };
    let confirmed = |campaign: &SimulatedCampaign| became(campaign, ClaimOutcome::Confirmed);
    let most = Limit::AtMost(MOST);
    vec![
        Answer {
            name: "claim of a direction confirmed, nothing differs",
            shape: Shape { margin: NO_SHELTER, ..declaring(CLAIM_BETTER) },
            effect: 0.0,
            limit: most,
            is_wrong: confirmed,
        },
        Answer {
            name: "claim of a direction refuted, it holds",
            shape: declaring(CLAIM_BETTER),
            effect: -0.01,
            limit: most,
            is_wrong: |campaign| became(campaign, ClaimOutcome::Refuted) && !equivalent(campaign),
        },
        Answer {
            name: "claim of no difference confirmed at the margin itself",
            shape: declaring(CLAIM_SAME),
            effect: THETA,
            limit: Limit::AtMost(MOST_EQUIVALENT),
            is_wrong: confirmed,
        },
        Answer {
            name: "claim of a turn confirmed, both differ alike",
            shape: Shape { workloads: 2, margin: NO_SHELTER, ..declaring(CLAIM_TURN) },
            effect: HALF,
            limit: most,
            is_wrong: confirmed,
        },
        Answer {
            name: "claim of +10 % confirmed at half of it",
            shape: declaring(CLAIM_TENTH),
            effect: HALF,
            limit: most,
            is_wrong: confirmed,
        },
        Answer {
            name: "claim of +10 % confirmed at twice of it",
            shape: declaring(CLAIM_TENTH),
            effect: TWICE,
            limit: most,
            is_wrong: confirmed,
        },
        Answer {
            name: "claim of +10 % refuted, it holds",
            shape: declaring(CLAIM_TENTH),
            effect: TENTH,
            limit: most,
            is_wrong: |campaign| {
                became(campaign, ClaimOutcome::Refuted)
                    || became(campaign, ClaimOutcome::RefutedInSize)
            },
        },
    ]
}

fn others() -> Vec<Answer> {
    let most = Limit::AtMost(MOST);
    vec![
        Answer {
            name: "a use case of two workloads, nothing differs",
            shape: Shape { workloads: 2, declares: USE_CASE, margin: NO_SHELTER, ..Shape::PAIR },
            effect: 0.0,
            limit: most,
            is_wrong: |campaign| {
                let cases = campaign.findings.use_cases.iter();
                cases
                    .flat_map(|case| &case.comparisons)
                    .any(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
            },
        },
        Answer {
            name: "a gate of 2 % kept at 2 % itself",
            shape: Shape::PAIR,
            effect: THETA,
            limit: most,
            is_wrong: |campaign| gated(campaign, GateOutcome::Kept),
        },
        Answer {
            name: "a gate of 2 % breached at 2 % itself",
            shape: Shape::PAIR,
            effect: THETA,
            limit: most,
            is_wrong: |campaign| gated(campaign, GateOutcome::Breached),
        },
        Answer {
            name: "different beside a control, nothing differs",
            shape: Shape { has_control: true, margin: NO_SHELTER, ..Shape::PAIR },
            effect: 0.0,
            limit: most,
            is_wrong: SimulatedCampaign::says_different,
        },
        Answer {
            name: "a control that fails, nothing differs",
            shape: Shape { has_control: true, margin: NO_SHELTER, ..Shape::PAIR },
            effect: 0.0,
            limit: Limit::AtMost(MOST_FAILED_CONTROLS),
            is_wrong: |campaign| campaign.carries(CaveatCode::AaFail),
        },
    ]
}

pub(crate) fn rows(request: &CalibrationRequest<'_>) -> Result<Vec<CalibrationRow>> {
    let mut rows = Vec::new();
    for answer in claims().into_iter().chain(others()) {
        if !answer.name.contains(request.only) {
            continue;
        }
        let wrong = repeat(request, |repetition| {
            let noise = |_: &mut _| apart_but_controls(answer.effect, answer.shape.has_control);
            Ok((answer.is_wrong)(&run(request, &answer.shape, &noise, repetition)?))
        })?;
        rows.push(CalibrationRow::new(Some(12), answer.name, Rate::of(wrong), answer.limit));
    }
    Ok(rows)
}

/// Differences of every subject; none where a control is among them.
fn apart_but_controls(effect: f64, has_control: bool) -> crate::synthetic::Noise {
    apart(if has_control { 0.0 } else { effect })
}

fn became(campaign: &SimulatedCampaign, outcome: ClaimOutcome) -> bool {
    campaign.findings.claims.iter().any(|claim| claim.outcome == outcome)
}

fn equivalent(campaign: &SimulatedCampaign) -> bool {
    campaign.primary().any(|one| one.verdict == Verdict::Equivalent)
}

fn gated(campaign: &SimulatedCampaign, outcome: GateOutcome) -> bool {
    let limit =
        GateLimit { workload: String::new(), metric: "makespan".to_owned(), fraction: 0.02 };
    analysis::gate(&campaign.findings, &[limit])
        .is_ok_and(|results| results.iter().any(|result| result.outcome == outcome))
}
