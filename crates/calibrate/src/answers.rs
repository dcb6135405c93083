//! Target 12: what is answered beside the verdicts: claims, use cases, gates, the A/A control.

use crate::campaigns::{SimulatedCampaign, repeat};
use crate::cell::{CalibrationCell, PromisedRow};
use crate::quantities::apart;
use crate::rate::Rate;
use crate::reported::Reported;
use crate::synthetic::{NO_SHELTER, Noise, SIGMA, Shape, THETA, run};
use crate::table::Limit;
use analysis::{GateLimit, GateOutcome};
use model::{ClaimOutcome, Findings, Verdict};

/// Target 12 (docs/method.md#m-targets).
const MOST: f64 = 0.055;
const MOST_EQUIVALENT: f64 = 0.065;

/// One thing that is answered, of a true effect on the scale of logarithms (positive: slower).
struct Answer {
    name: &'static str,
    shape: Shape,
    effect: f64,
    /// Which trials the effect is in.
    noise: fn(f64) -> Noise,
    most: f64,
    is_wrong: fn(&SimulatedCampaign) -> bool,
}

impl Answer {
    /// An effect of every subject but the reference, on each workload.
    fn of(
        name: &'static str,
        shape: Shape,
        effect: f64,
        is_wrong: fn(&SimulatedCampaign) -> bool,
    ) -> Self {
        Self { name, shape, effect, noise: apart, most: MOST, is_wrong }
    }

    fn at_most(self, most: f64) -> Self {
        Self { most, ..self }
    }

    /// An effect on the first workload alone.
    fn on_one_workload(self) -> Self {
        Self { noise: apart_on_the_first_workload, ..self }
    }

    /// The reference's time ends anywhere between two ticks of its clock, in each campaign elsewhere.
    fn anywhere_in_a_tick(self) -> Self {
        Self { noise: apart_in_a_tick, ..self }
    }
}

const CLAIM_BETTER: &str = "[[claims]]\nsays = \"it is better\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"better\"\n";
const CLAIM_SAME: &str = "[[claims]]\nsays = \"it is the same\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"same\"\n";
const CLAIM_TENTH: &str = "[[claims]]\nsays = \"it takes a tenth more\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"+10%\"\n";
const CLAIM_TURN: &str = "[[claims]]\nsays = \"it gains\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"better\"\nturns = { workload = [\"w1\", \"w2\"] }\n";
const CLAIM_ORDER: &str = "[[claims]]\nsays = \"each is better than the next\"\nmetric = \"makespan\"\norder = [\"reference\", \"s1\", \"s2\"]\neffect = \"better\"\n";
const CLAIM_MOST: &str = "[[claims]]\nsays = \"it is worse in most\"\nmetric = \"makespan\"\nsubject = \"s1\"\neffect = \"worse\"\nover = \"most\"\n";
const USE_CASE: &str = "[use_cases.both]\nw1 = 0.5\nw2 = 0.5\n";
/// ln 1.1, ln 1.05 and ln 1.2: a claimed size, and half and twice of its change.
const TENTH: f64 = 0.095_310_179_804_324_9;
const HALF: f64 = 0.048_790_164_169_432;
const TWICE: f64 = 0.182_321_556_793_954_6;
/// ln 1.25: what a gate allows that asks for more than one step of ten.
const QUARTER: f64 = 0.223_143_551_314_209_8;
/// Of ten ticks of a clock, where in the next one the reference's time ends: anywhere.
const ONE_TICK: f64 = 0.1;
/// How often each trial fails where failures are compared.
const FAILING: f64 = 0.3;

fn declaring(declares: &'static str) -> Shape {
    Shape { declares, ..Shape::PAIR }
}

/// The same with so small a margin that no equivalence hides what is wrong.
fn unsheltered(declares: &'static str) -> Shape {
    Shape { margin: NO_SHELTER, ..declaring(declares) }
}

fn claims() -> Vec<Answer> {
    vec![
        Answer::of(
            "claim of a direction confirmed, nothing differs",
            unsheltered(CLAIM_BETTER),
            0.0,
            confirmed,
        ),
        Answer::of(
            "claim of a direction refuted, it holds",
            declaring(CLAIM_BETTER),
            -0.01,
            |campaign| became(campaign, ClaimOutcome::Refuted) && !equivalent(campaign),
        ),
        Answer::of(
            "claim of no difference confirmed at the margin itself",
            declaring(CLAIM_SAME),
            THETA,
            confirmed,
        )
        .at_most(MOST_EQUIVALENT),
        Answer::of(
            "claim of a turn confirmed, both differ alike",
            Shape { workloads: 2, ..unsheltered(CLAIM_TURN) },
            HALF,
            confirmed,
        ),
        Answer::of(
            "claim of +10 % confirmed at half of it",
            declaring(CLAIM_TENTH),
            HALF,
            confirmed,
        ),
        Answer::of(
            "claim of +10 % confirmed at twice of it",
            declaring(CLAIM_TENTH),
            TWICE,
            confirmed,
        ),
        Answer::of("claim of +10 % refuted, it holds", declaring(CLAIM_TENTH), TENTH, |campaign| {
            became(campaign, ClaimOutcome::Refuted) || became(campaign, ClaimOutcome::RefutedInSize)
        }),
    ]
}

/// Claims about several comparisons at once.
fn claims_of_several() -> Vec<Answer> {
    let of_three = Shape { arms: 3, ..unsheltered(CLAIM_ORDER) };
    let on_three = Shape { workloads: 3, ..unsheltered(CLAIM_MOST) };
    vec![
        Answer::of("claim of an order confirmed, nothing differs", of_three, 0.0, confirmed),
        Answer::of(
            "claim of an order confirmed, one of its two steps holds",
            of_three,
            HALF,
            confirmed,
        ),
        Answer::of("claim over most of 3 confirmed, nothing differs", on_three, 0.0, confirmed),
        Answer::of("claim over most of 3 confirmed, it holds in one", on_three, HALF, confirmed)
            .on_one_workload(),
    ]
}

fn others() -> Vec<Answer> {
    vec![
        Answer::of(
            "a use case of two workloads, nothing differs",
            Shape { workloads: 2, ..unsheltered(USE_CASE) },
            0.0,
            |campaign| {
                let cases = campaign.findings.use_cases.iter();
                cases
                    .flat_map(|case| &case.comparisons)
                    .any(|one| matches!(one.verdict, Verdict::Better | Verdict::Worse))
            },
        ),
        Answer::of("a gate of 2 % kept at 2 % itself", Shape::PAIR, THETA, |campaign| {
            gated(&campaign.findings, GateOutcome::Kept)
        }),
        Answer::of("a gate of 2 % breached at 2 % itself", Shape::PAIR, THETA, |campaign| {
            gated(&campaign.findings, GateOutcome::Breached)
        }),
        Answer::of(
            "different beside a control, nothing differs",
            Shape { has_control: true, ..unsheltered("") },
            0.0,
            SimulatedCampaign::says_different,
        ),
    ]
}

/// Gates of clocks of ten steps, and of failures.
fn gates() -> Vec<Answer> {
    let of_clock = |reported| Shape { reported, ..Shape::PAIR };
    let all_pairs = Shape { arms: 3, blocks: 20, ..declaring("comparisons = \"all\"\n") };
    vec![
        Answer::of(
            "a gate of 2 % kept at 2 % itself, a clock of ten steps",
            of_clock(Reported::TenSteps),
            THETA,
            |campaign| gated(&campaign.findings, GateOutcome::Kept),
        )
        .at_most(MOST_EQUIVALENT),
        Answer::of(
            "a gate of 2 % kept at 2 % itself, trials begin with a tick of ten",
            of_clock(Reported::WholeSteps),
            THETA,
            |campaign| gated(&campaign.findings, GateOutcome::Kept),
        )
        .at_most(MOST_EQUIVALENT)
        .anywhere_in_a_tick(),
        Answer::of(
            "a gate of 25 % kept at 25 % itself, trials begin with a tick of ten",
            of_clock(Reported::WholeSteps),
            QUARTER,
            |campaign| gated_at(&campaign.findings, 0.25, GateOutcome::Kept),
        )
        .at_most(MOST_EQUIVALENT)
        .anywhere_in_a_tick(),
        Answer::of(
            "a gate of 25 % breached at 25 % itself, trials begin with a tick of ten",
            of_clock(Reported::WholeSteps),
            QUARTER,
            |campaign| gated_at(&campaign.findings, 0.25, GateOutcome::Breached),
        )
        .anywhere_in_a_tick(),
        Answer {
            noise: failing_alike,
            ..Answer::of(
                "a gate of three pairs breached, all fail alike in 3 of 10 trials",
                all_pairs,
                0.0,
                |campaign| gated(&campaign.findings, GateOutcome::Breached),
            )
        },
    ]
}

pub(crate) fn cells() -> Vec<CalibrationCell> {
    let of_claims = claims().into_iter().chain(claims_of_several());
    of_claims.chain(others()).chain(gates()).map(cell).collect()
}

fn cell(answer: Answer) -> CalibrationCell {
    let row = PromisedRow::new(Some(12), answer.name, Limit::AtMost(answer.most));
    CalibrationCell::of_one(row, move |request| {
        let wrong = repeat(request, |repetition| {
            let noise = |_: &mut _| (answer.noise)(answer.effect);
            Ok((answer.is_wrong)(&run(request, &answer.shape, &noise, repetition)?))
        })?;
        Ok(Rate::of(wrong))
    })
}

/// Subjects differ from the reference on the first workload, and on no other.
fn apart_on_the_first_workload(effect: f64) -> Noise {
    Box::new(move |moment, draws| {
        let is_apart = moment.arm > 0 && moment.workload == 0;
        Some(SIGMA * draws.normal() + if is_apart { effect } else { 0.0 })
    })
}

/// Subjects differ from the reference, whose time is ten to eleven ticks, as drawn for the campaign.
fn apart_in_a_tick(effect: f64) -> Noise {
    let mut drawn: Option<f64> = None;
    Box::new(move |moment, draws| {
        let more = *drawn.get_or_insert_with(|| (1.0 + ONE_TICK * draws.uniform()).ln());
        let effect = if moment.arm == 0 { 0.0 } else { effect };
        Some(more + SIGMA * draws.normal() + effect)
    })
}

/// Each trial of every subject fails with the same chance.
pub(crate) fn failing_alike(_: f64) -> Noise {
    Box::new(|_, draws| {
        let value = SIGMA * draws.normal();
        (draws.uniform() >= FAILING).then_some(value)
    })
}

fn confirmed(campaign: &SimulatedCampaign) -> bool {
    became(campaign, ClaimOutcome::Confirmed)
}

fn became(campaign: &SimulatedCampaign, outcome: ClaimOutcome) -> bool {
    campaign.findings.claims.iter().any(|claim| claim.outcome == outcome)
}

fn equivalent(campaign: &SimulatedCampaign) -> bool {
    campaign.primary().any(|one| one.verdict == Verdict::Equivalent)
}

/// Whether a gate of 2 % comes out so.
pub(crate) fn gated(findings: &Findings, outcome: GateOutcome) -> bool {
    gated_at(findings, 0.02, outcome)
}

/// Whether a gate of this limit does.
fn gated_at(findings: &Findings, fraction: f64, outcome: GateOutcome) -> bool {
    let limit = GateLimit { workload: String::new(), metric: "makespan".to_owned(), fraction };
    analysis::gate(findings, &[limit])
        .is_ok_and(|results| results.iter().any(|result| result.outcome == outcome))
}
