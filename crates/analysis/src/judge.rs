//! From a plan and its records to findings.

use crate::judgement::judge_at;
use crate::{live, looks, trends, unblocked};
use model::{Findings, ImportedDesign, Plan, Record};

/// Judges a campaign; an adaptive one look by look, one without blocks by its samples.
pub fn judge(plan: &Plan, records: &[Record]) -> Findings {
    let design = plan.imported.as_ref().map(|imported| &imported.design);
    if let Some(ImportedDesign::Unblocked { dimensions, fixed }) = design {
        return unblocked::judge(plan, records, dimensions, fixed);
    }
    let mut findings = if plan.looks.is_empty() {
        judge_at(plan, records, plan.alpha).findings
    } else {
        looks::judge(plan, records)
    };
    trends::add(plan, records, &mut findings);
    findings
}

/// The findings of a campaign that was ended on purpose, at a block that its user chose: what
/// looks have answered stands, and all else is judged by intervals that hold at every block.
pub fn ended(plan: &Plan, records: &[Record]) -> Findings {
    if plan.looks.is_empty() { live::ended(plan, records) } else { looks::ended(plan, records) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, record, records, steady};
    use model::{
        CaveatCode, Direction, Finding, Histogram, Obstacle, Outcome, Reduction, Role, Sample,
        Strength, TrialFact, Verdict,
    };
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Noise of about 0.5 %, shared by all that use the same block.
    const NOISE: [f64; 10] = [0.2, -0.4, 0.5, -0.1, 0.3, -0.5, 0.1, -0.3, 0.4, -0.2];

    fn around(centre: f64, scale: f64) -> Vec<f64> {
        let wobble = |(block, noise): (usize, &f64)| {
            let other = NOISE[(block * 7 + 3) % 10];
            centre * (1.0 + 0.01 * scale * (noise + 0.3 * other * f64::from(centre as i32 % 7)))
        };
        NOISE.iter().enumerate().map(wobble).collect()
    }

    fn makespan(direction: Direction) -> Vec<model::Metric> {
        vec![metric("m", direction, Reduction::Median)]
    }

    fn judged(subjects: &[(&str, Vec<f64>)], direction: Direction) -> Findings {
        let names: Vec<&str> = subjects.iter().map(|(name, _)| *name).collect();
        let all: Vec<Record> =
            subjects.iter().flat_map(|(name, values)| records(name, values)).collect();
        judge(&plan(&names, makespan(direction), 10), &all)
    }

    fn codes(finding: &Finding) -> Vec<CaveatCode> {
        finding.caveats.iter().map(|caveat| caveat.code).collect()
    }

    #[test]
    fn effects_are_oriented_so_that_more_than_one_is_better() {
        let values = [("a", around(100.0, 1.0)), ("b", around(80.0, 1.0))];
        let lower = judged(&values, Direction::Lower);
        let higher = judged(&values, Direction::Higher);
        assert_eq!(lower.findings[0].verdict, Verdict::Better);
        assert_eq!(lower.findings[0].strength, Some(Strength::Clearly));
        assert_eq!(higher.findings[0].verdict, Verdict::Worse);
        let ratio = |findings: &Findings| findings.findings[0].effect.clone().unwrap();
        assert!((ratio(&lower).ratio * ratio(&higher).ratio - 1.0).abs() < 1e-9);
        assert_eq!(ratio(&lower).raw_ratio, ratio(&higher).raw_ratio);
    }

    #[test]
    fn whatever_rests_on_an_emulated_processor_says_so() {
        let mut plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        plan.comparisons = model::Comparisons::All;
        plan.use_cases = vec![fixtures::use_case("u", &[("m", 1.0)])];
        plan.claims = vec![fixtures::claim("b", "a", model::ClaimedEffect::Better)];
        let flags = |change: fn(&mut Record)| {
            let mut all = records("a", &around(100.0, 1.0));
            all.extend(records("b", &around(80.0, 1.0)));
            all.iter_mut().for_each(change);
            let found = judge(&plan, &all);
            [
                found.findings.iter().all(|finding| finding.is_emulated),
                found.rankings[0].is_emulated,
                found.claims[0].is_emulated,
                found.use_cases[0].comparisons[0].is_emulated,
                found.use_cases[0].ranking.is_emulated,
            ]
        };
        assert_eq!(flags(|_| ()), [false; 5]);
        // One emulated trial is enough, and so is one that failed.
        let one = |record: &mut Record| {
            if record.block == 3 && record.subject == "b" {
                record.note_fact(TrialFact::Emulated, "TCG");
            }
        };
        assert_eq!(flags(one), [true; 5]);
        let failed = |record: &mut Record| {
            record.note_fact(TrialFact::Emulated, "TCG");
            record.outcome = Outcome::Failed { reason: "panic".to_owned() };
        };
        assert_eq!(flags(failed), [true; 5]);
    }

    #[test]
    fn fresh_boots_for_each_kernel_and_block_are_enough_and_shared_ones_are_told() {
        let mut plan = plan(&["a", "b", "c"], makespan(Direction::Lower), 10);
        plan.venue = "vm".to_owned();
        let codes = |boot_of: fn(&Record) -> String| {
            let mut all: Vec<Record> =
                ["a", "b", "c"].iter().flat_map(|id| records(id, &around(100.0, 1.0))).collect();
            for record in &mut all {
                record.boot_id = boot_of(record);
            }
            let caveats = judge(&plan, &all).caveats;
            assert_eq!(crate::shares_few_boots(&plan, &all), !caveats.is_empty());
            caveats.into_iter().map(|caveat| caveat.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(|record| format!("{}-{}", record.block, record.subject)), []);
        // Three kernels make six boots, and each of them was booted twice.
        let twice = |record: &Record| format!("{}-{}", record.block % 2, record.subject);
        assert_eq!(codes(twice), [CaveatCode::FewBoots]);
        assert_eq!(codes(|_| "one".to_owned()), [CaveatCode::SingleBoot]);
        // A boot of each subject: not all blocks ran in one.
        assert_eq!(codes(|record| record.subject.clone()), [CaveatCode::FewBoots]);
        // Nobody knows in how many boots trials ran whose records name none.
        assert_eq!(codes(|_| String::new()), []);
        let but_one = |record: &Record| match record.block {
            3 => String::new(),
            _ => record.subject.clone(),
        };
        assert_eq!(codes(but_one), []);
    }

    #[test]
    fn blocks_that_follow_each_other_too_closely_give_no_verdict() {
        // A slow change of the effect, 10 to 20 %: clear to a t that thinks blocks independent.
        let slow: Vec<f64> =
            (0..10).map(|block| 100.0 / (1.10 + 0.01 * f64::from(block))).collect();
        let findings = judged(&[("a", vec![100.0; 10]), ("b", slow)], Direction::Lower);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(finding).contains(&CaveatCode::Autocorr));
        assert_eq!(finding.effect, None, "no interval that claims what it cannot know");
    }

    #[test]
    fn blocks_too_much_alike_for_any_test_are_told_with_the_drift_that_they_have() {
        let rising = |by: f64| -> Vec<f64> {
            let value = |block: f64| (100.0 + block) / (1.0 + by * (10.0 + block));
            (0..10).map(|block| value(f64::from(block))).collect()
        };
        let findings = judged(&[("a", rising(0.0)), ("b", rising(0.01))], Direction::Lower);
        let finding = &findings.findings[0];
        assert_eq!(finding.effect, None, "no test is possible");
        assert_eq!(finding.obstacle, Some(Obstacle::CorrelatedBlocks));
        assert!(codes(finding).contains(&CaveatCode::Drift), "{:?}", finding.caveats);
    }

    #[test]
    fn rules_that_one_subject_breaks_more_often_suppress_the_verdict() {
        let mut all = records("a", &[100.0; 12]);
        let mut of_subject = records("b", &[100.0; 12]);
        for record in &mut of_subject[..5] {
            let (rule, detail) = ("LEVEL_CHANGED".to_owned(), "for tests".to_owned());
            record.outcome = Outcome::Invalid { rule, detail };
        }
        all.extend(of_subject);
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        let findings = judge(&plan(&["a", "b"], metrics, 12), &all);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(finding).contains(&CaveatCode::DifferentialFailure), "{finding:?}");
        // scipy.stats.fisher_exact([[5, 7], [0, 12]]).
        let p = findings.failures[1].p_invalid.unwrap();
        assert!((p - 0.037_267_080_745).abs() < 1e-9, "{p}");
    }

    /// `a`, and `b` of other values, of which so many of the first trials failed.
    fn survivors(blocks: usize, ratio: f64, failed: [usize; 2]) -> Findings {
        // Of so many digits that no step is coarse.
        let value =
            |block: usize| (block * 7 % 5) as f64 + (0.618_033_988_7 * block as f64).fract();
        let values: Vec<f64> = (0..blocks).map(|block| 100.0 + value(block)).collect();
        let others: Vec<f64> = values.iter().map(|value| value * ratio + 0.1).collect();
        let mut all = Vec::new();
        for (subject, values, failed) in [("a", values, failed[0]), ("b", others, failed[1])] {
            let mut own = records(subject, &values);
            for record in &mut own[..failed] {
                record.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
                record.invocations.clear();
            }
            all.extend(own);
        }
        judge(&plan(&["a", "b"], makespan(Direction::Lower), blocks as u32), &all)
    }

    #[test]
    fn survivors_are_better_only_where_failures_as_the_worst_results_show_it_too() {
        let of = |blocks, ratio, failed| {
            let finding = survivors(blocks, ratio, failed).findings.remove(0);
            (finding.verdict, finding.obstacle)
        };
        // scipy.stats.wilcoxon: 2 of 20 as the worst, p = 0.012; 1 of 10, p = 86/1024.
        assert_eq!(of(20, 0.8, [0, 2]), (Verdict::Better, None));
        assert_eq!(of(10, 0.8, [0, 1]), (Verdict::Inconclusive, Some(Obstacle::SurvivorsOnly)));
        assert_eq!(of(10, 1.25, [1, 0]), (Verdict::Inconclusive, Some(Obstacle::SurvivorsOnly)));
        // A failure of the other one makes the difference no smaller.
        assert_eq!(of(10, 0.8, [1, 0]), (Verdict::Better, None));
        assert_eq!(of(10, 1.25, [0, 1]), (Verdict::Worse, None));
        assert_eq!(of(10, 0.8, [0, 0]), (Verdict::Better, None));
        // Nothing is said of a difference here.
        assert_eq!(of(10, 0.999, [0, 1]).0, Verdict::Equivalent);
    }

    #[test]
    fn survivors_are_held_to_the_level_that_their_family_leaves() {
        let told = |blocks: usize, ratio: f64, failed: usize, others: usize| {
            // Of so many digits that no step is coarse.
            let value =
                |block: usize| (block * 7 % 5) as f64 + (0.618_033_988_7 * block as f64).fract();
            let values: Vec<f64> = (0..blocks).map(|block| 100.0 + value(block)).collect();
            let of_b: Vec<f64> = values.iter().map(|value| value * ratio + 0.1).collect();
            let mut all = records("a", &values);
            let mut own = records("b", &of_b);
            for record in &mut own[..failed] {
                record.outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
                record.invocations.clear();
            }
            all.extend(own);
            // Of the others nothing is shown: the same values in other blocks.
            let ids: Vec<String> = (1..=others).map(|number| format!("c{number}")).collect();
            for (turn, id) in ids.iter().enumerate() {
                let mut moved = values.clone();
                moved.rotate_left(turn + 1);
                all.extend(records(id, &moved));
            }
            let names: Vec<&str> =
                ["a", "b"].into_iter().chain(ids.iter().map(String::as_str)).collect();
            let plan = plan(&names, makespan(Direction::Lower), blocks as u32);
            let findings = judge(&plan, &all).findings;
            let of_b = findings.iter().find(|one| one.question.subject == "b").unwrap();
            (of_b.verdict, of_b.obstacle)
        };
        // p = 0.012 of two in twenty as the worst; alone, and one of five comparisons.
        assert_eq!(told(20, 0.8, 2, 0), (Verdict::Better, None));
        let withheld = (Verdict::Inconclusive, Some(Obstacle::SurvivorsOnly));
        assert_eq!(told(20, 0.8, 2, 4), withheld);
        // 43/1024 of one in ten: alone, and one of three.
        assert_eq!(told(10, 0.999, 1, 0), (Verdict::Equivalent, None));
        let withheld = (Verdict::Inconclusive, Some(Obstacle::HidingFailures));
        assert_eq!(told(10, 0.999, 1, 2), withheld);
    }

    #[test]
    fn an_equivalence_has_the_interval_that_decided_it_and_nothing_else_has() {
        // Up to 5 % apart, against a margin of 2 %.
        let subjects: Vec<(String, Vec<f64>)> =
            (0..6).map(|n| (format!("s{n}"), around(100.0 + f64::from(n), 1.0))).collect();
        let named: Vec<(&str, Vec<f64>)> =
            subjects.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
        let findings = judged(&named, Direction::Lower).findings;
        let mut equivalent = 0;
        for finding in &findings {
            let effect = finding.effect.as_ref().unwrap();
            assert_eq!(effect.deciding.is_some(), finding.verdict == Verdict::Equivalent);
            let Some(deciding) = effect.deciding else { continue };
            equivalent += 1;
            let shown = finding.shown_interval().unwrap();
            assert_eq!(shown, deciding.interval);
            let inside =
                1.0 / (1.0 + finding.margin) < shown.low && shown.high < 1.0 + finding.margin;
            assert!(inside, "{finding:?}");
            // Holm over five: twice 1 % to twice 5 %.
            assert!((0.02..=0.1).contains(&deciding.alpha), "{}", deciding.alpha);
        }
        assert!(equivalent > 0, "{findings:?}");
    }

    #[test]
    fn failures_have_a_verdict_of_their_own() {
        let verdict = |failed| {
            let count = survivors(20, 1.0, failed).failures.remove(1);
            (count.failure_verdict, count.adjusted_failure)
        };
        assert_eq!(verdict([0, 0]), (Some(Verdict::Inconclusive), Some(1.0)));
        // scipy.stats.fisher_exact([[6, 14], [0, 20]]).
        let (worse, p) = verdict([0, 6]);
        assert_eq!(worse, Some(Verdict::Worse));
        assert!((p.unwrap() - 0.020_196_020).abs() < 1e-6, "{p:?}");
        assert_eq!(verdict([6, 0]).0, Some(Verdict::Better));
        assert_eq!(survivors(20, 1.0, [0, 6]).failures[0].failure_verdict, None, "the reference");
    }

    #[test]
    fn what_tests_of_another_kind_do_not_show_is_never_clear() {
        let of = |last: f64| {
            let subject = vec![74.0, 74.5, 73.8, 74.2, 73.9, last];
            let values = [("a", steady(100.0, 6)), ("b", subject)];
            let finding = judged(&values, Direction::Lower).findings.remove(0);
            let is_skewed = codes(&finding).contains(&CaveatCode::Skewed);
            (finding.verdict, finding.strength, is_skewed)
        };
        assert_eq!(of(74.1), (Verdict::Better, Some(Strength::Clearly), false));
        // scipy.stats: p = 0.005 of the t, 4/64 of the signed ranks.
        assert_eq!(of(101.0), (Verdict::Better, Some(Strength::Detectable), true));
    }

    #[test]
    fn shares_are_compared_by_their_odds_and_none_at_all_is_no_obstacle() {
        let misses = |subject: &str, counts: [u64; 8]| -> Vec<Record> {
            let one = |(block, count): (usize, &u64)| {
                let samples = vec![vec![Sample::proportion("m", *count, 1000)]];
                record(block as u32, subject, "w", samples)
            };
            counts.iter().enumerate().map(one).collect()
        };
        let metrics = vec![metric("m", Direction::Lower, Reduction::Proportion)];
        let mut all = misses("a", [100, 104, 97, 101, 99, 103, 98, 102]);
        all.extend(misses("b", [0, 3, 1, 0, 2, 0, 1, 4]));
        let findings = judge(&plan(&["a", "b"], metrics, 8), &all);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Better);
        assert!(codes(finding).contains(&CaveatCode::OddsRatio));
        assert_eq!(finding.reference_value, Some(0.1005));
        assert_eq!(finding.subject_value, Some(0.001375));
    }

    #[test]
    fn no_difference_seen_is_not_equal() {
        let quiet =
            judged(&[("a", around(100.0, 1.0)), ("b", around(100.1, 1.0))], Direction::Lower);
        assert_eq!(quiet.findings[0].verdict, Verdict::Equivalent);
        let wild: Vec<f64> = NOISE.iter().map(|noise| 100.0 * (1.0 + 0.4 * noise)).collect();
        let noisy = judged(&[("a", around(100.0, 1.0)), ("b", wild)], Direction::Lower);
        assert_eq!(noisy.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&noisy.findings[0]).contains(&CaveatCode::Noisy));
        assert!(noisy.findings[0].planning.as_ref().unwrap().blocks_for_equivalence.unwrap() > 10);
    }

    #[test]
    fn one_wild_block_is_kept_and_makes_the_methods_disagree() {
        let mut subject: Vec<f64> = around(103.0, 0.1);
        subject[9] = 75.0;
        let findings = judged(&[("a", around(100.0, 0.1)), ("b", subject)], Direction::Higher);
        let finding = &findings.findings[0];
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert_eq!(finding.pairs, 10);
        assert!(codes(finding).contains(&CaveatCode::Skewed), "{:?}", finding.caveats);
        assert!(codes(finding).contains(&CaveatCode::Outlier));
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let subjects = [("a", around(100.0, 1.0)), ("b", around(90.0, 1.0))];
        let mut all: Vec<Record> =
            subjects.iter().flat_map(|(name, values)| records(name, values)).collect();
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let forward = judge(&plan, &all);
        all.reverse();
        assert_eq!(judge(&plan, &all), forward);
    }

    #[test]
    fn failures_are_counted_and_never_averaged() {
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let mut all = records("a", &around(100.0, 1.0));
        all.extend(records("b", &around(50.0, 1.0)));
        for record in all.iter_mut().filter(|record| record.subject == "b" && record.block < 3) {
            record.outcome = Outcome::Failed { reason: "exit code 1".to_owned() };
            record.invocations.clear();
        }
        let findings = judge(&plan, &all);
        assert_eq!(findings.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&findings.findings[0]).contains(&CaveatCode::DifferentialFailure));
        let failed = findings.failures.iter().find(|count| count.subject == "b").unwrap();
        assert_eq!((failed.trials, failed.failed), (10, 3));
        assert_eq!(failed.reasons["exit code 1"], 3);
    }

    #[test]
    fn an_invalid_sitting_costs_its_pairs_and_a_repeated_block_gives_one_back() {
        let plan = plan(&["a", "b"], makespan(Direction::Lower), 10);
        let mut all = records("a", &around(100.0, 1.0));
        all.extend(records("b", &around(80.0, 1.0)));
        let invalid = |record: &mut Record| {
            record.outcome =
                Outcome::Invalid { rule: "LEVEL_CHANGED".to_owned(), detail: String::new() };
        };
        all.iter_mut()
            .filter(|record| record.subject == "b" && record.block == 4)
            .for_each(invalid);
        assert_eq!(judge(&plan, &all).findings[0].pairs, 9);
        all.push(record(10, "a", "w", vec![vec![Sample::values("m", vec![100.0])]]));
        all.push(record(10, "b", "w", vec![vec![Sample::values("m", vec![80.0])]]));
        let findings = judge(&plan, &all);
        assert_eq!(findings.findings[0].pairs, 10);
        assert_eq!(findings.failures.iter().map(|count| count.invalid).sum::<u64>(), 1);
    }

    #[test]
    fn a_control_that_differs_caps_its_metric() {
        let values =
            [("a", around(100.0, 1.0)), ("a-again", around(90.0, 1.0)), ("b", around(80.0, 1.0))];
        let findings = judged(&values, Direction::Lower);
        let primary =
            findings.findings.iter().find(|finding| finding.question.subject == "b").unwrap();
        assert_eq!(primary.verdict, Verdict::Inconclusive);
        assert!(codes(primary).contains(&CaveatCode::AaFail));
        assert_eq!(findings.families.values().sum::<usize>(), 2);
    }

    #[test]
    fn a_percentile_without_its_tail_gives_no_verdict_and_names_one_that_would() {
        let metrics = vec![metric("m_p999", Direction::Lower, Reduction::Quantile(0.999))];
        let mut metrics = metrics;
        metrics[0].source = "m".to_owned();
        let plan = plan(&["a", "b"], metrics, 6);
        let histogram = |shift: u64| {
            let mut histogram = Histogram::new();
            (1..=1_000).for_each(|value| histogram.record(value * shift));
            histogram
        };
        let mut all = Vec::new();
        for block in 0..6 {
            for (subject, shift) in [("a", 10), ("b", 20)] {
                all.push(record(
                    block,
                    subject,
                    "w",
                    vec![vec![Sample::histogram("m", histogram(shift))]],
                ));
            }
        }
        let finding = judge(&plan, &all).findings.remove(0);
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(codes(&finding).contains(&CaveatCode::InsufficientTail));
        assert_eq!(finding.reference_value, None, "one event beyond is not shown at all");
        assert_eq!(finding.tail.unwrap().supported, Some(0.99));
    }

    #[test]
    fn fewer_than_five_pairs_and_zero_values_give_no_verdict() {
        let four = judged(
            &[("a", vec![1.0, 1.01, 1.02, 0.99]), ("b", vec![2.0, 2.01, 2.03, 2.0])],
            Direction::Lower,
        );
        assert_eq!(four.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&four.findings[0]).contains(&CaveatCode::FewBlocks));
        let mut zero = around(100.0, 1.0);
        zero[3] = 0.0;
        let findings = judged(&[("a", around(100.0, 1.0)), ("b", zero)], Direction::Lower);
        assert_eq!(findings.findings[0].verdict, Verdict::Inconclusive);
        assert!(codes(&findings.findings[0]).contains(&CaveatCode::ZeroValue));
    }

    #[test]
    fn a_screened_metric_never_gives_a_verdict() {
        let metrics = vec![
            metric("m", Direction::Lower, Reduction::Median),
            metric("n", Direction::Lower, Reduction::Median),
        ];
        let plan = plan(&["a", "b"], metrics, 10);
        let both = |block: usize, subject: &str, value: f64| {
            record(
                block as u32,
                subject,
                "w",
                vec![vec![
                    Sample::values("m", vec![1.0 + NOISE[block]]),
                    Sample::values("n", vec![value + NOISE[block]]),
                ]],
            )
        };
        let all: Vec<Record> = (0..10)
            .flat_map(|block| {
                [both(block, "a", 100.0), both(block, "b", 50.0 + block as f64 * 0.01)]
            })
            .collect();
        let findings = judge(&plan, &all);
        let screen =
            findings.findings.iter().find(|finding| finding.question.metric == "n").unwrap();
        assert_eq!((screen.question.role, screen.verdict), (Role::Screen, Verdict::Inconclusive));
        assert!(screen.effect.as_ref().unwrap().adjusted_difference.unwrap() < 1e-6);
    }

    /// Scenario S1 of docs/method.md#m-scenarios, reduced to sitting values: a boot effect
    /// of 2 %, an interaction of 1 %, and what processes and iterations leave.
    fn quiet_campaign(seed: u64, effect: f64) -> Findings {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let (mut reference, mut subject) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let boot = 0.02 * normal();
            let mut arm = || {
                0.01 * normal()
                    + 0.01 * normal() / 3.0_f64.sqrt()
                    + 0.02 * normal() / 30.0_f64.sqrt()
            };
            reference.push(stats::exp(boot + arm()));
            subject.push(stats::exp(boot + arm() + effect));
        }
        judged(&[("a", reference), ("b", subject)], Direction::Higher)
    }

    #[test]
    fn a_thing_compared_with_itself_seldom_differs_and_a_real_effect_is_found() {
        let share = |effect: f64, is_wanted: fn(Verdict) -> bool| {
            let wanted = (0..400)
                .filter(|seed| is_wanted(quiet_campaign(*seed, effect).findings[0].verdict));
            wanted.count() as f64 / 400.0
        };
        let differs = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
        let wrong = share(0.0, differs);
        assert!(wrong <= 0.07, "{wrong}");
        let found = share(1.03_f64.ln(), |verdict| verdict == Verdict::Better);
        assert!(found >= 0.95, "{found}");
        let falsely_equal = share(1.02_f64.ln(), |verdict| verdict == Verdict::Equivalent);
        assert!(falsely_equal <= 0.09, "{falsely_equal}");
    }
}
