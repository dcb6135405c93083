//! The numbers in docs/manual/statistics.md#five-rules-in-numbers, as the code has them.

use crate::fixtures::{metric, plan, record, records};
use crate::judge;
use crate::resolution::{Measurements, Steps};
use model::{
    CaveatCode, ClaimOutcome, ClaimedEffect, Direction, Effect, Finding, Findings, Metric,
    Obstacle, Outcome, Plan, Record, Reduction, Sample, Strength, Verdict,
};
use stats::{
    SignedRank, WithCovariates, confidence_sequence_half_width, exp, fisher_exact, ln, mean,
    spent_at_looks,
};

const MANUAL: &str = include_str!("../../../docs/manual/statistics.md");

/// Values of the reference: those of the manual's first example.
const REFERENCE: [f64; 8] = [812.0, 821.0, 845.0, 818.0, 826.0, 795.0, 838.0, 804.0];

/// The differences that measure no size, and two more blocks.
const WIDE: [f64; 8] = [0.09, 0.07, 0.01, 0.02, 0.08, 0.03, 0.06, 0.05];
const NARROW: [f64; 6] = [0.05, 0.045, 0.03, 0.033, 0.048, 0.034];

/// What the manual says below a heading.
struct Example(&'static str);

impl Example {
    fn of(heading: &str) -> Self {
        let (_, below) = MANUAL.split_once(&format!("\n### {heading}\n")).unwrap();
        Self(below.split("\n#").next().unwrap_or_default())
    }

    #[track_caller]
    fn says(&self, text: &str) {
        assert!(self.0.contains(text), "{text} in {}", self.0);
    }
}

fn higher() -> Metric {
    metric("m", Direction::Higher, Reduction::Median)
}

/// `a` and `b`, of which more is better, with these log differences.
fn campaign(differences: &[f64]) -> Vec<Record> {
    let reference = &REFERENCE[..differences.len()];
    let of_subject = reference.iter().zip(differences).map(|(value, log)| value * exp(*log));
    let mut all = records("a", reference);
    all.extend(records("b", &of_subject.collect::<Vec<_>>()));
    all
}

fn only(findings: &Findings) -> (&Finding, &Effect) {
    let [finding] = findings.findings.as_slice() else { panic!("{findings:?}") };
    (finding, finding.effect.as_ref().unwrap())
}

/// As `+0.7 to +10.0 %`.
fn percents(low: f64, high: f64) -> String {
    format!("{:+.1} to {:+.1} %", 100.0 * (low - 1.0), 100.0 * (high - 1.0))
}

fn listed(differences: &[f64]) -> String {
    differences.iter().map(|one| format!("{one:.3}")).collect::<Vec<_>>().join(", ")
}

/// What a claim comes to.
fn claimed(effect: ClaimedEffect, differences: &[f64]) -> ClaimOutcome {
    let claim = fixtures::claim("b", "a", effect);
    let plan = plan(&["a", "b"], vec![higher()], differences.len() as u32);
    let plan = Plan { claims: vec![claim], ..plan };
    judge(&plan, &campaign(differences)).claims[0].outcome
}

#[test]
fn an_interval_that_holds_half_and_twice_of_a_size_has_measured_none() {
    let example = Example::of("A claim with a size");
    let size = ln(1.04);
    let [whole, half, twice] = [size, size / 2.0, 2.0 * size].map(|log: f64| format!("{log:.4}"));
    example.says(&format!("L = ln 1.04 = {whole}, L/2 = {half}, 2L = {twice}"));
    for (differences, holds, outcome, word) in [
        (&WIDE[..6], [true; 3], ClaimOutcome::Undecided, "L, L/2 and 2L | undecided"),
        (&NARROW[..], [true, false, false], ClaimOutcome::Confirmed, "L alone | confirmed"),
    ] {
        let plan = plan(&["a", "b"], vec![higher()], 6);
        let findings = judge(&plan, &campaign(differences));
        let (finding, effect) = only(&findings);
        assert_eq!(finding.verdict, Verdict::Better);
        let interval = effect.family_interval;
        let [low, high] = [ln(interval.low), ln(interval.high)];
        let held = [size, size / 2.0, 2.0 * size].map(|log| low <= log && log <= high);
        assert_eq!(held, holds);
        let effect = format!("{:+.1} %", 100.0 * (effect.ratio - 1.0));
        let listed = listed(differences);
        example.says(&format!("| {listed} | {effect} | {low:.4} to {high:.4} | {word} |"));
        assert_eq!(claimed(ClaimedEffect::Change(0.04), differences), outcome);
        assert_eq!(claimed(ClaimedEffect::Better, differences), ClaimOutcome::Confirmed);
        let of_ten = claimed(ClaimedEffect::Change(0.1), differences);
        assert_eq!(of_ten, ClaimOutcome::RefutedInSize);
    }
    example.says(&format!("+10 % (L = {:.4})", ln(1.1)));
    let findings = judge(&plan(&["a", "b"], vec![higher()], 6), &campaign(&WIDE[..6]));
    let p = only(&findings).1.p_difference.unwrap();
    example.says(&format!("p = {p:.3} of the first"));
}

#[test]
fn a_campaign_that_is_ended_at_block_8_is_judged_by_the_sequence_at_what_is_left() {
    let example = Example::of("A campaign that is ended at block 8");
    let blocks = vec![6, 10, 16, 24, 32];
    let looks = Plan { looks: blocks, ..plan(&["a", "b"], vec![higher()], 32) };
    let first = judge(&looks, &campaign(&WIDE[..6]));
    assert_eq!(only(&first).0.verdict, Verdict::Inconclusive);
    let p = only(&first).1.p_difference.unwrap();
    let level = spent_at_looks(&looks.looks, looks.alpha)[0];
    example.says(&listed(&WIDE));
    example.says(&format!("p = {p:.3} against its level of {level:.5}"));
    let ended = crate::ended(&looks, &campaign(&WIDE));
    example.says(&format!("α − {level:.5} = {:.5} is left", ended.alpha));
    let (finding, effect) = only(&ended);
    assert_eq!((finding.verdict, finding.strength), (Verdict::Better, Some(Strength::Detectable)));
    let [width, half] =
        [1.0, effect.log_sd].map(|sd| confidence_sequence_half_width(8, sd, ended.alpha));
    let sd = effect.log_sd;
    example.says(&format!("h = {width:.3} s_d = {width:.3} × {sd:.4} = {half:.4}"));
    let interval = effect.family_interval;
    let told = percents(interval.low, interval.high);
    example.says(&format!("{:.5} ± {half:.4} is {told}: *better*", effect.log_mean));
    let planned = judge(&plan(&["a", "b"], vec![higher()], 8), &campaign(&WIDE));
    let interval = only(&planned).1.interval;
    let told = percents(interval.low, interval.high);
    example.says(&format!("eight blocks that were planned would be {told};"));
}

#[test]
fn a_clock_of_ten_ticks_shows_neither_likeness_nor_a_difference_below_a_tick() {
    let example = Example::of("A clock of ten ticks");
    let theta = ln(1.02);
    let steps = |reference: &[f64], subject: &[f64], resolution: f64| {
        let metric = Metric { resolution, ..metric("m", Direction::Lower, Reduction::Median) };
        let values = [reference, subject];
        let measured = Measurements { values, series: [&[], &[]], are_imported: false };
        Steps::of(&measured, &metric, theta)
    };
    let reference = [10.0, 11.0, 10.0, 10.0, 11.0, 10.0, 11.0, 10.0];
    let subject = [11.0, 10.0, 11.0, 11.0, 10.0, 11.0, 11.0, 11.0];
    let found = steps(&reference, &subject, 0.0);
    assert!(found.coarse.is_some() && found.is_one && !found.is_unknown);
    let share = found.coarse.unwrap();
    let told = found.caveat().unwrap().detail.replacen('o', "O", 1);
    example.says(&format!("θ = {theta:.4}. {told}, ln 1.1 = {:.4}", ln(1.0 + share)));
    example.says(&format!("> θ/2 = {:.4}", theta / 2.0));
    let [low, high] = [&reference, &subject].map(|side| mean(side).unwrap());
    let apart = 100.0 * (high / low - 1.0);
    example.says(&format!("Means of {low:.3} and {high:.3} ticks are {apart:.1} % apart"));
    // Of so many ticks, and of one less.
    let of_ticks = |ticks: f64| [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 1.0, 0.0].map(|more| ticks + more);
    let is_coarse =
        |ticks: f64, step: f64| steps(&of_ticks(ticks), &of_ticks(ticks), step).coarse.is_some();
    let least =
        |step: f64| (50_u32..500).find(|ticks| !is_coarse(f64::from(*ticks), step)).unwrap();
    let (inferred, declared) = (least(0.0), least(1.0));
    example.says(&format!("{inferred} ticks a value, where the step is inferred"));
    example
        .says(&format!("or {declared}, where the metric declares it (θ/4 = {:.4})", theta / 4.0));
}

const ORDER: [&str; 8] = ["ab", "ba", "ab", "ba", "ba", "ab", "ab", "ba"];
const IN_ORDER: [f64; 8] = [0.021, 0.018, 0.023, 0.020, 0.031, 0.019, 0.029, 0.022];

/// The blocks of that order in one boot, with those differences.
fn in_order() -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    for (block, order) in ORDER.iter().enumerate() {
        for (position, subject) in order.split("").filter(|one| !one.is_empty()).enumerate() {
            let log = if subject == "b" { IN_ORDER[block] } else { 0.0 };
            let samples = vec![Sample::values("m", vec![REFERENCE[block] * exp(log)])];
            let mut next = record(block as u32, subject, "w", vec![samples]);
            next.position = position as u32;
            next.sequence = all.len() as u64;
            "one".clone_into(&mut next.boot_id);
            all.push(next);
        }
    }
    all
}

#[test]
fn a_difference_stands_where_more_than_half_is_left_beside_what_ran_before() {
    let example = Example::of("What ran before, in eight blocks");
    let findings = judge(&plan(&["a", "b"], vec![higher()], 8), &in_order());
    let (finding, effect) = only(&findings);
    assert_eq!((finding.verdict, finding.obstacle), (Verdict::Better, None));
    assert!(finding.caveats.iter().any(|one| one.code == CaveatCode::CarryOver), "{finding:?}");
    // Whether each sitting of a block followed the other subject's.
    let follows_other = |block: usize| ORDER[block - 1].as_bytes()[1] != ORDER[block].as_bytes()[0];
    let rows: Vec<f64> = (1..8).map(|block| f64::from(u8::from(follows_other(block)))).collect();
    let covariates: Vec<[f64; 2]> = rows.iter().map(|x| [-x, *x]).collect();
    let fit = WithCovariates::of(&IN_ORDER[1..], &covariates).unwrap();
    let tested = finding.diagnostics.as_ref().unwrap().p_predecessor.unwrap();
    assert!((tested - fit.p).abs() < 1e-9, "{tested} {fit:?}");
    let left = fit.mean.unwrap();
    example.says(&format!("| order | {} |", ORDER.join(" | ")));
    let row = |values: &[String]| values.join(" | ");
    example.says(&format!("| d | {} |", row(&IN_ORDER.map(|one| format!("{one:.3}")))));
    let x: Vec<String> = rows.iter().map(|x| format!("{x}")).collect();
    example.says(&format!("| x | | {} |", row(&x)));
    example.says(&format!("leave {} degrees of freedom", fit.degrees));
    example.says(&format!("p of x is {:.4} < 0.04", fit.p));
    let (all, left_of_all) = (effect.log_mean, left.mean);
    example.says(&format!("all eight is {all:.4}, and {left_of_all:.4} are left beside x"));
    assert!(left.p_difference().unwrap() < 0.0001);
}

/// Twenty or ten blocks, in each of which `b` is better, unless it is one of the first that failed.
fn with_failures(blocks: usize, failed: usize) -> Findings {
    // Of so many digits that no step is coarse.
    let value = |block: usize| (block * 7 % 5) as f64 + (0.618_033_988_7 * block as f64).fract();
    let values: Vec<f64> = (0..blocks).map(|block| 100.0 + value(block)).collect();
    let others: Vec<f64> = values.iter().map(|value| value * 0.8 + 0.1).collect();
    let mut all = records("a", &values);
    let mut of_subject = records("b", &others);
    for record in &mut of_subject[..failed] {
        record.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
        record.invocations.clear();
    }
    all.extend(of_subject);
    let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
    judge(&plan(&["a", "b"], metrics, blocks as u32), &all)
}

#[test]
fn two_failures_in_twenty_trials_are_the_worst_ranks_and_leave_a_difference() {
    let example = Example::of("Two failures in twenty trials");
    let told = |blocks, failed| {
        let finding = with_failures(blocks, failed).findings.remove(0);
        (finding.verdict, finding.obstacle)
    };
    assert_eq!(told(20, 2), (Verdict::Better, None));
    assert_eq!(told(10, 1), (Verdict::Inconclusive, Some(Obstacle::SurvivorsOnly)));
    assert_eq!(told(20, 3), (Verdict::Inconclusive, Some(Obstacle::UnequalFailures)));
    let findings = with_failures(20, 2);
    let caveats = &findings.findings[0].caveats;
    assert!(caveats.iter().any(|one| one.code == CaveatCode::ConditionalSuccess), "{caveats:?}");
    let alike = findings.findings[0].p_failure.unwrap();
    assert!((alike - fisher_exact(2, 20, 0, 20).unwrap()).abs() < 1e-9, "{alike}");
    example.says(&format!("Fisher's p of failing alike is {alike:.3}"));
    let ranks = |survived: u32, failed: usize| {
        let worst = f64::from(survived) + 1.0;
        let survivors = (1..=survived).map(f64::from);
        let all: Vec<f64> = survivors.chain(std::iter::repeat_n(-worst, failed)).collect();
        SignedRank::of(&all, 0.05).unwrap().p
    };
    example.says(&format!("their sum of 39 in 210 has p = {:.3} < α", ranks(18, 2)));
    example.says(&format!("Of ten blocks and one failure p is {:.3}", ranks(9, 1)));
}
