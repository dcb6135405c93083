//! Outcomes and sentences of claims, from records.

use crate::fixtures::{in_blocks, metric, plan, records, steady};
use model::{
    Claim, ClaimFinding, ClaimOutcome, ClaimedEffect, Direction, ImportedOrder, Plan, Reduction,
    Unit,
};

const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

/// Subject `b` has `percent` more of `m`, of which more is better.
fn outcome(percent: f64, spread: f64, effect: ClaimedEffect, is_turned: bool) -> ClaimOutcome {
    let mut rate = metric("m", Direction::Higher, Reduction::Median);
    rate.unit = Unit::PerSecond;
    let ids = if is_turned { ("a", "b") } else { ("b", "a") };
    let claim = fixtures::claim(ids.0, ids.1, effect);
    let plan = Plan { claims: vec![claim], ..plan(&["a", "b"], vec![rate], 8) };
    let values = |scale: f64, turn: usize| -> Vec<f64> {
        (0..8).map(|block| scale * (1.0 + spread * NOISE[(block + turn) % 8])).collect()
    };
    let mut all = records("a", &values(100.0, 0));
    all.extend(records("b", &values(100.0 + percent, 3)));
    let found = judge_campaign(&plan, &all);
    assert!(found.reason.contains('%'), "{}", found.reason);
    found.outcome
}

#[test]
fn claims_of_a_size_need_their_direction_and_their_size() {
    let claimed = |percent: f64| ClaimedEffect::Change(percent / 100.0);
    for (percent, spread, effect, expected) in [
        (45.0, 0.01, claimed(45.0), ClaimOutcome::Confirmed),
        (5.0, 0.01, claimed(45.0), ClaimOutcome::RefutedInSize),
        (-45.0, 0.01, claimed(45.0), ClaimOutcome::Refuted),
        (0.0, 0.002, claimed(45.0), ClaimOutcome::Refuted),
        (20.0, 0.5, claimed(45.0), ClaimOutcome::Undecided),
        (0.0, 0.002, claimed(0.1), ClaimOutcome::Immaterial),
        (0.0, 0.002, claimed(1.5), ClaimOutcome::RefutedAndImmaterial),
        (2.6, 0.002, claimed(1.5), ClaimOutcome::RefutedInSize),
        (-2.6, 0.002, claimed(1.5), ClaimOutcome::Refuted),
        (20.0, 0.01, ClaimedEffect::Better, ClaimOutcome::Confirmed),
        (20.0, 0.01, ClaimedEffect::Worse, ClaimOutcome::Refuted),
        (20.0, 0.01, ClaimedEffect::Same, ClaimOutcome::Refuted),
        (0.0, 0.002, ClaimedEffect::Same, ClaimOutcome::Confirmed),
        (0.0, 0.002, ClaimedEffect::Better, ClaimOutcome::Refuted),
        (3.0, 0.5, ClaimedEffect::Better, ClaimOutcome::Undecided),
    ] {
        assert_eq!(outcome(percent, spread, effect, false), expected, "{percent} {effect:?}");
    }
}

/// What subjects take of which `a` takes 100: by these log differences, a constant and so many
/// times the noise.
fn of_differences(
    others: &[(&str, f64, f64)],
    claims: &[(&str, ClaimedEffect)],
) -> Vec<ClaimFinding> {
    let ids: Vec<&str> = ["a"].into_iter().chain(others.iter().map(|(id, ..)| *id)).collect();
    let mut plan = plan(&ids, vec![metric("m", Direction::Lower, Reduction::Median)], 8);
    let claim = |(subject, effect): &(&str, ClaimedEffect)| Claim {
        workload: Some("w".to_owned()),
        subject: (*subject).into(),
        reference: "a".into(),
        effect: *effect,
        ..sooner()
    };
    plan.claims = claims.iter().map(claim).collect();
    let mut all = records("a", &steady(100.0, 8));
    for (id, constant, times) in others {
        let value = |noise: f64| 100.0 * (constant + times * noise).exp();
        all.extend(records(id, &NOISE.map(value)));
    }
    crate::judge(&plan, &all).claims
}

/// A mean of 0.00195 with a standard error of 0.00845: scipy.stats.t of 7 degrees.
#[test]
fn an_equivalence_is_told_with_the_interval_that_showed_it() {
    let sized = |percent: f64| ("b", ClaimedEffect::Change(percent / 100.0));
    let claims = [("b", ClaimedEffect::Same), sized(2.1), sized(-99.0)];
    let found = of_differences(&[("b", 0.0, 0.052)], &claims);
    let told: Vec<(ClaimOutcome, &str)> =
        found.iter().map(|one| (one.outcome, one.reason.as_str())).collect();
    let shown = "no difference beyond the margin is shown by -1.4 % to +1.8 % (90 %)";
    let of_all = "measured +0.2 % of the value, -1.8 % to +2.2 % (95 %) with all claims in mind";
    let grounds = "b against a on w m, in all 8 blocks";
    let of_direction = "measured +0.2 % of the value, -1.4 % to +1.8 % (90 %)";
    assert_eq!(
        told,
        [
            (
                ClaimOutcome::Confirmed,
                &*format!("{of_direction} with all claims in mind; {grounds}")
            ),
            (
                ClaimOutcome::Undecided,
                &*format!("{of_all}, which does not exclude +2.1 %; {shown}; {grounds}")
            ),
            (
                ClaimOutcome::Refuted,
                &*format!("{of_all}, which excludes -99.0 %; {shown}; {grounds}")
            ),
        ]
    );
}

/// As in a table beside it: what takes a quarter of the time is no -76 % of one sentence and +318 % of
/// another.
#[test]
fn a_change_of_more_than_two_fold_is_told_as_a_factor_with_its_interval_and_the_claimed_size() {
    let sized = |percent: f64| ("b", ClaimedEffect::Change(percent / 100.0));
    let claims = [("b", ClaimedEffect::Worse), sized(320.0), sized(20.0)];
    let found = of_differences(&[("b", 1.428, 0.05)], &claims);
    let outcomes: Vec<ClaimOutcome> = found.iter().map(|one| one.outcome).collect();
    let expected = [ClaimOutcome::Confirmed, ClaimOutcome::Confirmed, ClaimOutcome::RefutedInSize];
    assert_eq!(outcomes, expected, "{found:?}");
    for (finding, told) in
        found.iter().zip(["", "which has 4.20 times", "which excludes 1.20 times"])
    {
        let reason = &finding.reason;
        assert!(reason.starts_with("measured 4.18 times of the value, "), "{reason}");
        assert!(reason.contains(told), "{reason}");
        // Levels alone are percentages.
        assert_eq!(reason.matches(" %").count(), reason.matches(" %)").count(), "{reason}");
        assert!(!reason.contains('+'), "{reason}");
    }
}

/// The interval of both comparisons holds no difference, that of Holm's second step does not.
#[test]
fn a_difference_is_told_with_the_interval_that_showed_it() {
    let claims = [("b", ClaimedEffect::Better), ("c", ClaimedEffect::Worse)];
    let others = [("b", -0.3, 0.01), ("c", 0.0192, 0.05)];
    let found = of_differences(&others, &claims);
    assert_eq!(found[0].outcome, ClaimOutcome::Confirmed, "{}", found[0].reason);
    assert_eq!(found[1].outcome, ClaimOutcome::Confirmed, "{}", found[1].reason);
    let told = "measured +2.1 % of the value, +0.2 % to +4.1 % (95 %) with all claims in mind; \
                c against a on w m, in all 8 blocks";
    assert_eq!(found[1].reason, told);
}

/// Two of eight blocks have nothing of `b`, and what was imported was there before the claim.
#[test]
fn a_claim_is_told_with_the_blocks_it_rests_on_and_whether_the_data_were_there_before() {
    let mut plan = plan(&["a", "b"], vec![metric("m", Direction::Lower, Reduction::Median)], 8);
    let subject = "b".into();
    plan.claims =
        vec![Claim { workload: Some("w".to_owned()), subject, reference: "a".into(), ..sooner() }];
    let mut all = records("a", &steady(100.0, 8));
    all.extend(records("b", &NOISE.map(|noise| 80.0 + noise)));
    all.retain(|record| record.subject == "a" || record.block < 6);
    let planned = judge_campaign(&plan, &all);
    assert_eq!(planned.outcome, ClaimOutcome::Confirmed, "{}", planned.reason);
    assert!(planned.reason.ends_with("; b against a on w m, in 6 of 8 blocks"), "{planned:?}");
    plan.imported = Some(in_blocks(ImportedOrder::Unknown));
    let imported = judge_campaign(&plan, &all);
    let told = format!(
        "{}; runs that are absent may be those that failed (ABSENT_VALUES); the order of the subjects \
         may be the difference (ORDER_CONFOUNDED); the claim was given at import, when the data were \
         there",
        planned.reason
    );
    assert_eq!(imported.reason, told);
}

/// Of several comparisons the one is named, with its interval, that the outcome hangs on.
#[test]
fn a_claim_over_groups_names_the_comparison_that_decided_it() {
    for (percents, named) in [
        ([20.0, -30.0, -40.0], "; refuted by bfs-1 against cfs-1 on w m, in all 8 blocks: "),
        ([-40.0, -30.0, -20.0], "; least in bfs-4 against cfs-4 on w m, in all 8 blocks: "),
    ] {
        let found = over_groups(percents, [0.004; 3], sooner());
        let (_, decisive) = found.reason.split_once(named).unwrap();
        assert!(decisive.starts_with("measured "), "{}", found.reason);
        assert!(decisive.ends_with(" %) with all claims in mind"), "{}", found.reason);
    }
    let loud = over_groups([-20.0, 5.0, -20.0], [0.004, 0.6, 0.004], sooner());
    let named = "; open in bfs-2 against cfs-2 on w m, in all 8 blocks: ";
    assert!(loud.reason.contains(named), "{}", loud.reason);
}

/// The scheduler `none` of block devices, and the workload of an import that names none.
#[test]
fn a_name_that_is_a_word_of_the_sentence_is_quoted() {
    let metric = metric("m", Direction::Lower, Reduction::Median);
    let workloads = vec![fixtures::workload("all", vec![metric])];
    let mut plan = fixtures::plan(fixtures::subjects(&["none", "bfq"]), workloads, 8);
    let workload = Some("all".to_owned());
    plan.claims =
        vec![Claim { workload, subject: "none".into(), reference: "bfq".into(), ..sooner() }];
    let mut all = records("none", &steady(80.0, 8));
    all.extend(records("bfq", &NOISE.map(|noise| 100.0 + noise)));
    for record in &mut all {
        "all".clone_into(&mut record.workload);
    }
    let reason = judge_campaign(&plan, &all).reason;
    assert!(reason.ends_with("; `none` against bfq on `all` m, in all 8 blocks"), "{reason}");
}

#[test]
fn a_claim_the_other_way_round_is_turned() {
    let back = ClaimedEffect::Change(1.0 / 1.45 - 1.0);
    assert_eq!(outcome(45.0, 0.01, back, true), ClaimOutcome::Confirmed);
    assert_eq!(outcome(45.0, 0.01, ClaimedEffect::Better, true), ClaimOutcome::Refuted);
}

/// Two schedulers on one, two and four processors; `bfs` takes this many percent more
/// of `m`, of which less is better.
fn over_groups(percents: [f64; 3], noises: [f64; 3], claim: Claim) -> ClaimFinding {
    let ids = ["cfs-1", "cfs-2", "cfs-4", "bfs-1", "bfs-2", "bfs-4"];
    let time = metric("m", Direction::Lower, Reduction::Median);
    let mut plan = Plan { claims: vec![claim], ..plan(&ids, vec![time], 8) };
    plan.comparisons = model::Comparisons::Within("vcpus".to_owned());
    let mut all = Vec::new();
    for (index, subject) in plan.subjects.iter_mut().enumerate() {
        let (scheduler, cpus) = subject.id.split_once('-').unwrap();
        for (factor, level) in [("scheduler", scheduler), ("vcpus", cpus)] {
            subject.levels.insert(factor.to_owned(), model::Level::canonical(level));
        }
        let more = if scheduler == "bfs" { percents[index % 3] } else { 0.0 };
        let centre = (100.0 + more) / f64::from(cpus.parse::<u8>().unwrap());
        let values: Vec<f64> = (0..8)
            .map(|block| centre * (1.0 + noises[index % 3] * NOISE[(block + 3 * index) % 8]))
            .collect();
        all.extend(records(&subject.id, &values));
    }
    judge_campaign(&plan, &all)
}

fn judge_campaign(plan: &Plan, records: &[model::Record]) -> ClaimFinding {
    crate::judge(plan, records).claims.remove(0)
}

fn levels(factor: &str, level: &str) -> model::Claimed {
    let level = model::Level::canonical(level);
    model::Claimed::Levels([(factor.to_owned(), level)].into())
}

fn sooner() -> Claim {
    Claim {
        workload: None,
        subject: levels("scheduler", "bfs"),
        reference: levels("scheduler", "cfs"),
        ..fixtures::claim("", "", ClaimedEffect::Better)
    }
}

#[test]
fn a_claim_over_groups_is_confirmed_by_all_and_refuted_by_one() {
    let quiet = [0.004; 3];
    let loud = [0.004, 0.6, 0.004];
    for (percents, noises, outcome, reason) in [
        (
            [-20.0, -30.0, -40.0],
            quiet,
            ClaimOutcome::Confirmed,
            "confirmed in all 3 comparisons; measured -40.0 % to -20.0 % of the value",
        ),
        (
            [20.0, -30.0, -40.0],
            quiet,
            ClaimOutcome::Refuted,
            "confirmed in 2 of 3 comparisons (vcpus 2, 4), refuted in 1 (vcpus 1); measured",
        ),
        (
            [20.0, 5.0, 40.0],
            loud,
            ClaimOutcome::Refuted,
            "refuted in 2 of 3 comparisons (vcpus 1, 4), open in 1 (vcpus 2); measured",
        ),
        (
            [-20.0, 5.0, -20.0],
            loud,
            ClaimOutcome::Undecided,
            "confirmed in 2 of 3 comparisons (vcpus 1, 4), open in 1 (vcpus 2); measured",
        ),
    ] {
        let found = over_groups(percents, noises, sooner());
        assert_eq!(found.outcome, outcome, "{}", found.reason);
        assert!(found.reason.starts_with(reason), "{}", found.reason);
        let tally = found.tally.unwrap();
        assert_eq!(tally.confirmed + tally.refuted + tally.undecided, 3);
    }
}

#[test]
fn a_claim_over_groups_may_be_turned_narrowed_and_not_asked() {
    let percents = [-20.0, -30.0, 40.0];
    let back = Claim {
        subject: levels("scheduler", "cfs"),
        reference: levels("scheduler", "bfs"),
        effect: ClaimedEffect::Worse,
        ..sooner()
    };
    let found = over_groups(percents, [0.004; 3], back);
    assert!(found.reason.starts_with("confirmed in 2 of 3"), "{}", found.reason);
    let mut narrow = sooner();
    narrow.subject = model::Claimed::Levels(
        [("scheduler", "bfs"), ("vcpus", "2")]
            .map(|(factor, level)| (factor.to_owned(), model::Level::canonical(level)))
            .into(),
    );
    let found = over_groups(percents, [0.004; 3], narrow);
    assert_eq!((found.outcome, found.tally), (ClaimOutcome::Confirmed, None));
    assert!(found.reason.starts_with("measured -30.0 % of the value"), "{}", found.reason);
    let absent = Claim { reference: levels("scheduler", "fair"), ..sooner() };
    let found = over_groups(percents, [0.004; 3], absent);
    assert_eq!(found.reason, "the question was not asked");
}

#[test]
fn a_claim_of_several_metrics_is_about_each_of_them_and_says_which_differ() {
    let rates = ["m", "n"].map(|id| metric(id, Direction::Higher, Reduction::Median));
    let mut plan = plan(&["a", "b"], rates.into(), 8);
    plan.workloads[0].primary.push("n".to_owned());
    let metrics = vec!["m".to_owned(), "n".to_owned()];
    plan.claims = vec![Claim {
        says: "b is best everywhere".to_owned(),
        subject: "b".into(),
        reference: "a".into(),
        metric: model::ClaimedMetrics::Several(metrics),
        ..sooner()
    }];
    let records_of = |of_n: f64| {
        let mut all = Vec::new();
        for (turn, (id, factor)) in [("a", [1.0, 1.0]), ("b", [1.3, of_n])].into_iter().enumerate()
        {
            for block in 0..8 {
                let sample = |metric: &str, factor: f64| {
                    let noise = 0.005 * NOISE[(block as usize + 3 * turn) % 8];
                    model::Sample::values(metric, vec![100.0 * factor * (1.0 + noise)])
                };
                let samples = vec![sample("m", factor[0]), sample("n", factor[1])];
                all.push(crate::fixtures::record(block, id, "w", vec![samples]));
            }
        }
        all
    };
    let found = judge_campaign(&plan, &records_of(1.2));
    assert!(found.reason.starts_with("confirmed in all 2 comparisons"), "{}", found.reason);
    let found = judge_campaign(&plan, &records_of(0.8));
    let told = "confirmed in 1 of 2 comparisons (w m), refuted in 1 (w n)";
    assert!(found.reason.starts_with(told), "{}", found.reason);
    assert_eq!(found.outcome, ClaimOutcome::Refuted);
}

/// A size that one comparison has and another excludes, whose direction holds in both.
#[test]
fn a_size_is_refuted_by_the_group_that_excludes_it() {
    let sized = Claim { effect: ClaimedEffect::Change(-0.3), ..sooner() };
    for (percents, outcome, reason) in [
        (
            [-30.0, -30.0, -60.0],
            ClaimOutcome::RefutedInSize,
            "confirmed in 2 of 3 comparisons (vcpus 1, 2), refuted in size in 1 (vcpus 4)",
        ),
        (
            [-30.0, 30.0, -60.0],
            ClaimOutcome::Refuted,
            "confirmed in 1 of 3 comparisons (vcpus 1), refuted in size in 1 (vcpus 4), \
             refuted in 1 (vcpus 2)",
        ),
    ] {
        let found = over_groups(percents, [0.004; 3], sized.clone());
        assert_eq!(found.outcome, outcome, "{}", found.reason);
        assert!(found.reason.starts_with(reason), "{}", found.reason);
    }
}
