//! What is checked before a campaign is believed, as its page says it.

use crate::campaigns::{Campaign, Draft, campaign, mixed};
use crate::languages::korean;
use crate::{drawn, has_page, is_for_programs, page, read_as_text, stored};
use model::{
    Binding, Caveat, CaveatCheck, CaveatCode, Disturbance, Finding, ImportFact, ImportedOrder,
    Level, LevelReading, Obstacle, Outcome, Record, Role, Verdict,
};
use report::{ExplainContext, HAS_PAGE, Page, Provenance, RENDERERS, explain, page_json, view};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// Name, state and detail of each check of the page.
fn told(campaign: &Campaign) -> Vec<[String; 3]> {
    let text = page_json(&view(&campaign.inputs())).unwrap();
    let page: serde_json::Value = serde_json::from_str(&text).unwrap();
    let words = |check: &serde_json::Value| {
        ["name", "state", "detail"].map(|key| check[key].as_str().unwrap().to_owned())
    };
    page["checks"].as_array().unwrap().iter().map(words).collect()
}

pub fn detail(campaign: &Campaign, check: &str) -> String {
    let [_, _, detail] = told(campaign).into_iter().find(|[name, ..]| name == check).unwrap();
    detail
}

/// State and detail of the check of the A/A control.
fn control(campaign: &Campaign) -> (String, String) {
    let told = told(campaign).into_iter();
    let [_, state, detail] = told.into_iter().find(|[name, ..]| name == "A/A control").unwrap();
    (state, detail)
}

fn twin(metric: &str) -> Draft {
    Draft::new("cyclic", metric, "baseline-again").role(Role::Control)
}

fn of_twins(findings: Vec<Finding>) -> (String, String) {
    control(&campaign("Is it the same?", findings, Vec::new()))
}

#[test]
fn a_control_passes_only_where_it_was_shown_to_be_alike() {
    let undecided = || twin("latency_p50").effect(5e4, 1.01, 0.96, 1.07);
    let alike = || undecided().decided(Verdict::Equivalent, false).finding();
    let nothing = "neither told apart from its twin nor shown to be like it: 1 comparison";
    let few = |draft: Draft| {
        draft.forbidden(Obstacle::FewPairs, CaveatCode::FewBlocks, "1 complete pair").finding()
    };
    for (finding, state, detail) in [
        (alike(), "passed", "shown to be like its twin: 1 comparison"),
        (undecided().finding(), "not_shown", nothing),
        (few(twin("latency_p50")), "not_shown", nothing),
        (twin("latency_p50").finding(), "not_shown", nothing),
        (undecided().decided(Verdict::Invalid, false).finding(), "not_observed", nothing),
        (
            undecided().decided(Verdict::Worse, true).finding(),
            "failed",
            "told apart from its twin in 1 of 1 comparison",
        ),
    ] {
        assert_eq!(of_twins(vec![finding]), (state.to_owned(), detail.to_owned()));
    }
    let (state, detail) = of_twins(vec![alike(), few(twin("latency_p99"))]);
    assert_eq!(state, "passed");
    let told = "shown to be like its twin in 1 of 2 comparisons, undecided in the others";
    assert_eq!(detail, told);
}

/// States by the names of checks.
fn states(campaign: &Campaign) -> BTreeMap<String, String> {
    told(campaign).into_iter().map(|[name, state, _]| (name, state)).collect()
}

/// Takes out whatever was found that speaks against a check, with the caveats that say it.
fn unopposed(campaign: &mut Campaign) {
    let findings = &mut campaign.findings;
    findings.against.clear();
    findings.caveats.clear();
    for finding in &mut findings.findings {
        finding.against.clear();
        finding.caveats.clear();
    }
}

/// The measured campaign without its caveats, as if the machine had been quiet and no virtual one,
/// and what ran before had been tested.
pub fn quiet() -> Campaign {
    let mut campaign = stored::measured();
    campaign.shares_few_boots = false;
    unopposed(&mut campaign);
    for record in &mut campaign.records {
        record.caveats.clear();
        for invocation in &mut record.invocations {
            invocation.disturbance = Some(Box::new(Disturbance {
                foreign_share: Some(0.002),
                stolen_share: Some(0.0),
                throttles: Some(0),
                ..Default::default()
            }));
        }
    }
    for finding in &mut campaign.findings.findings {
        finding.diagnostics.as_mut().unwrap().p_predecessor = Some(0.5);
    }
    for (fact, value) in [
        ("machine.is_virtual", "false"),
        ("storage.device", "nvme0n1"),
        ("storage.model", "Samsung SSD 980"),
    ] {
        campaign.environment.0.insert(fact.to_owned(), value.to_owned());
    }
    campaign
}

/// What a check rests on is taken away.
pub type Removal = fn(&mut Campaign);

/// Each check with a field that it rests on, and what takes that field away.
pub const FIELDS: [(&str, &str, Removal); 24] = [
    ("trials", "records.levels", |one| one.records[0].levels.clear()),
    ("unchanged evidence", "records.chain", |one| one.binding = Binding::Absent),
    ("same work", "records.invocations.run", |one| one.records[0].invocations[0].run = None),
    ("same work", "records.invocations.run.operations", |one| {
        one.records[0].invocations[0].run.as_mut().unwrap().operations = None;
    }),
    ("same work", "findings.failures", |one| one.findings.failures.clear()),
    ("design", "records.position", |one| {
        one.records.iter_mut().for_each(|record| record.position = 0);
    }),
    ("design", "records.position, the same order in each block", |one| {
        let places = ["plain", "plain-again", "one-cpu"];
        for record in &mut one.records {
            let place = places.iter().position(|subject| *subject == record.subject);
            record.position = place.unwrap() as u32;
        }
    }),
    ("design", "records.outcome", |one| {
        one.records[0].outcome = Outcome::Failed { reason: "exit status 1".to_owned() };
    }),
    ("order and drift", "records.position", |one| {
        one.records.iter_mut().for_each(|record| record.position = 0);
    }),
    ("order and drift", "findings.diagnostics", |one| one.findings.findings[0].diagnostics = None),
    ("order and drift", "findings.diagnostics.p_trend", |one| diagnostics(one).p_trend = None),
    ("order and drift", "findings.diagnostics.p_order", |one| diagnostics(one).p_order = None),
    ("order and drift", "findings.diagnostics.lag_one", |one| diagnostics(one).lag_one = None),
    ("order and drift", "findings.diagnostics.p_predecessor", |one| {
        diagnostics(one).p_predecessor = None;
    }),
    ("order and drift", "records.boot_id", without_boots),
    ("enough data", "records.boot_id", without_boots),
    ("quiet machine", "records.invocations.disturbance", |one| {
        one.records[0].invocations[0].disturbance = None;
    }),
    ("enough data", "records.invocations.samples", |one| {
        let invocations = one.records.iter_mut().flat_map(|record| &mut record.invocations);
        invocations.for_each(|invocation| invocation.samples.clear());
    }),
    ("enough data", "findings.pairs", |one| one.findings.findings[0].pairs = 0),
    ("real processor", "environment[machine.is_virtual]", |one| {
        one.environment.0.remove("machine.is_virtual");
    }),
    ("real device", "environment[storage.device]", |one| {
        one.environment.0.remove("storage.device");
    }),
    ("real device", "environment[storage.model]", |one| {
        one.environment.0.remove("storage.model");
    }),
    ("real device", "environment[machine.is_virtual]", |one| {
        one.environment.0.remove("machine.is_virtual");
    }),
    ("real device", "records.fingerprint_difference[target.device], a disk's", |one| {
        set_target(&mut one.records[0], "dm-0");
    }),
];

fn without_boots(campaign: &mut Campaign) {
    campaign.records.iter_mut().for_each(|record| record.boot_id.clear());
}

/// A trial that wrote to this device.
fn set_target(record: &mut Record, device: &str) {
    record.fingerprint_difference.insert("target.device".to_owned(), device.to_owned());
}

fn diagnostics(campaign: &mut Campaign) -> &mut model::Diagnostics {
    campaign.findings.findings[0].diagnostics.as_mut().unwrap()
}

#[test]
fn each_check_passes_by_fields_without_which_it_was_not_observed() {
    let all = states(&quiet());
    for (check, field, remove) in FIELDS {
        assert_eq!(all[check], "passed", "{check}");
        let mut without = quiet();
        remove(&mut without);
        assert_eq!(states(&without)[check], "not_observed", "{check} without {field}");
    }
    let mut no_throttles = quiet();
    no_throttles.records[0].invocations[0].disturbance.as_mut().unwrap().throttles = None;
    assert_eq!(states(&no_throttles)["quiet machine"], "passed", "what was read is told apart");
}

/// Something about a campaign that speaks against a check.
type Note = fn(&mut Campaign, Caveat);

/// Of the campaign, and of a finding.
const NOTES: [Note; 2] = [
    |campaign, caveat| campaign.findings.note_caveat(caveat),
    |campaign, caveat| campaign.findings.findings[0].note_caveat(caveat),
];

#[test]
fn no_caveat_decides_of_a_check_and_what_was_found_does_without_it() {
    let silent = states(&quiet());
    for code in CaveatCode::ALL {
        let caveat = || Caveat::new(*code, "as the test has it");
        for note in NOTES {
            let mut found = quiet();
            note(&mut found, caveat());
            let all = states(&found);
            let changed: Vec<&String> = all
                .iter()
                .filter(|(name, state)| silent[*name] != **state)
                .map(|one| one.1)
                .collect();
            let by_itself = [CaveatCheck::RealProcessor, CaveatCheck::Elsewhere];
            let is_checked = !by_itself.contains(&code.check());
            assert_eq!(changed, vec!["warned"; usize::from(is_checked)], "{code}");
            found.findings.caveats.clear();
            found.findings.findings[0].caveats.clear();
            assert_eq!(states(&found), all, "without {code}");
        }
        let mut told = quiet();
        told.findings.caveats.push(caveat());
        told.findings.findings[0].caveats.push(caveat());
        assert_eq!(states(&told), silent, "with {code} alone");
    }
}

#[test]
fn no_processor_is_real_where_numbers_are_simulated_or_emulated_whatever_a_caveat_says() {
    let mut emulated = quiet();
    emulated.findings.findings[0].is_emulated = true;
    let of_emulated = ("warned".to_owned(), "TCG".to_owned());
    assert_eq!(check(&emulated, "real processor"), of_emulated);
    let mut simulated = stored::simulated();
    unopposed(&mut simulated);
    let of_simulated = ("warned".to_owned(), "SIMULATED".to_owned());
    assert_eq!(check(&simulated, "real processor"), of_simulated);
}

#[test]
fn dropping_every_caveat_changes_no_check() {
    let mut campaigns = stored::of_each_origin().map(|(_, campaign)| campaign).to_vec();
    campaigns.extend([stored::unfinished(), stored::ended(), stored::two_blocks(), mixed()]);
    let mut warned = 0;
    for mut campaign in campaigns {
        let all = states(&campaign);
        warned += all.values().filter(|state| *state == "warned").count();
        campaign.findings.caveats.clear();
        campaign.findings.findings.iter_mut().for_each(|finding| finding.caveats.clear());
        assert_eq!(states(&campaign), all);
    }
    assert!(warned > 10, "{warned}");
}

#[test]
fn boots_that_records_do_not_name_are_counted_in_no_format() {
    let mut whole = quiet();
    assert!(of(&texts("measured", &whole), "markdown").contains(" over 1 boot on "));
    let mut one = quiet();
    one.records[4].boot_id.clear();
    without_boots(&mut whole);
    for campaign in [whole, one] {
        let told = "the records do not show in how many boots trials ran";
        let unseen = ("not_observed".to_owned(), told.to_owned());
        assert_eq!(check(&campaign, "enough data"), unseen);
        let texts = texts("measured", &campaign);
        let markdown = of(&texts, "markdown");
        assert!(markdown.contains(" over an unknown number of boots on "), "{markdown}");
        let json: serde_json::Value = serde_json::from_str(&of(&texts, "json")).unwrap();
        assert!(json["design"].get("boots").is_none(), "{}", json["design"]);
        for (id, text) in texts.iter().filter(|(id, _)| ["markdown", "pptx"].contains(id)) {
            assert!(!text.contains("1 boot"), "{id}");
        }
    }
}

#[test]
fn a_level_that_is_not_the_subjects_in_any_reading_was_not_in_force() {
    fn other() -> Level {
        Level::canonical("3")
    }

    let of = |change: fn(&mut BTreeMap<String, LevelReading>)| {
        let mut campaign = quiet();
        change(&mut campaign.records[4].levels);
        campaign
    };
    let cases: [fn(&mut BTreeMap<String, LevelReading>); 5] = [
        |levels| levels.get_mut("affinity").unwrap().before = other(),
        |levels| levels.get_mut("affinity").unwrap().during.push(other()),
        |levels| levels.get_mut("affinity").unwrap().after = other(),
        |levels| {
            let all = LevelReading { before: other(), during: vec![other()], after: other() };
            levels.insert("affinity".to_owned(), all);
        },
        |levels| {
            let unset = LevelReading { before: other(), during: Vec::new(), after: other() };
            levels.insert("nice".to_owned(), unset);
        },
    ];
    let told = "the records of 1 of 18 trials show another level than their subject's";
    for (number, change) in cases.into_iter().enumerate() {
        let mut campaign = of(change);
        let failed = ("failed".to_owned(), told.to_owned());
        assert_eq!(check(&campaign, "trials"), failed, "case {number}");
        campaign.findings.failures[0].failed = 1;
        assert_eq!(check(&campaign, "trials"), failed, "case {number}, beside a failed trial");
        for (id, text) in texts("measured", &campaign) {
            assert!(!spaced(&text).contains("was read back in force"), "case {number}: {id}");
        }
    }
    let during = of(|levels| {
        let reading = levels.get_mut("affinity").unwrap();
        reading.during.push(reading.before.clone());
    });
    assert_eq!(check(&during, "trials").0, "passed");
}

#[test]
fn a_machine_is_not_quiet_where_the_records_show_more_than_a_warning_takes() {
    type Change = fn(&mut Disturbance);
    let of = |change: Change| {
        let mut campaign = quiet();
        let invocation = &mut campaign.records[4].invocations[0];
        change(invocation.disturbance.as_mut().unwrap());
        check(&campaign, "quiet machine")
    };
    let cases: [(Change, &str); 4] = [
        (|one| one.stolen_share = Some(0.134), "stolen time in 1 of 18 runs, up to 13.4 % of"),
        (|one| one.foreign_share = Some(0.021), "foreign load in 1 of 18 runs, up to 2.1 % of"),
        (|one| one.throttles = Some(3), "throttling in 1 of 18 runs"),
        (|one| (one.foreign_share, one.throttles) = (None, Some(1)), "throttling in 1 of 18 runs"),
    ];
    for (change, told) in cases {
        let (state, detail) = of(change);
        assert_eq!(state, "warned", "{told}: {detail}");
        assert!(detail.starts_with(told), "{told}: {detail}");
    }
    let at_the_limits = |one: &mut Disturbance| {
        (one.stolen_share, one.foreign_share) = (Some(0.005), Some(0.02));
    };
    assert_eq!(of(at_the_limits).0, "passed");
}

#[test]
fn values_that_stand_twice_are_not_enough_data() {
    for mut campaign in [stored::in_blocks(), stored::in_rows()] {
        assert_eq!(states(&campaign)["enough data"], "passed");
        let told = Caveat::new(CaveatCode::Copied, "block 4 is block 1 once more");
        campaign.findings.caveats.push(told);
        campaign.plan.imported.as_mut().unwrap().facts.establish(ImportFact::CopiedValues);
        assert_eq!(states(&campaign)["enough data"], "warned");
        let copied = "values stand twice (COPIED), and a copy is no replicate";
        assert_eq!(detail(&campaign, "enough data"), copied);
    }
}

#[test]
fn nothing_passes_of_a_campaign_in_which_no_trial_ran() {
    let mut none = quiet();
    none.records.clear();
    none.findings.failures.clear();
    for (check, state) in states(&none) {
        assert_ne!(state, "passed", "{check}");
    }
}

#[test]
fn order_and_drift_are_not_observed_in_fewer_blocks_than_their_tests_need() {
    let campaign = stored::two_blocks();
    let states = states(&campaign);
    let found = (&*states["order and drift"], &*states["design"]);
    assert_eq!(found, ("not_observed", "not_observed"));
    let told = "not tested in so few blocks: 2 blocks, and the tests need 6";
    assert_eq!(detail(&campaign, "order and drift"), told);
    let simulated = stored::simulated();
    assert_eq!(self::states(&simulated)["order and drift"], "not_observed", "six blocks");
    let told = detail(&simulated, "order and drift");
    assert!(told.contains("0 of 1 comparison was tested for what ran before"), "{told}");
    let mut booted = simulated;
    for record in &mut booted.records {
        record.boot_id = format!("{} {}", record.block, record.subject);
    }
    let told = detail(&booted, "order and drift");
    assert!(told.contains("of no sitting what ran before it in the same boot"), "{told}");
}

#[test]
fn what_ran_before_is_said_to_be_untested_for_the_reason_that_applies() {
    let mut booted = quiet();
    diagnostics(&mut booted).p_predecessor = None;
    let mut enough = booted.clone();
    for record in &mut booted.records {
        record.boot_id = format!("{} {}", record.block, record.subject);
    }
    let last = booted.records.len() - 1;
    booted.records[last].boot_id = booted.records[last - 1].boot_id.clone();
    let told = "0 of 1 comparison was tested for what ran before: the test needs 6 blocks whose records \
                show what ran before both subjects, and this comparison has 0 of them";
    let unseen = |told: &str| ("not_observed".to_owned(), told.to_owned());
    assert_eq!(check(&booted, "order and drift"), unseen(told));
    // A sitting before the first one, so that each of the six blocks has enough.
    let mut before = enough.records[0].clone();
    before.block = 99;
    enough.records = [before].into_iter().chain(enough.records.iter().cloned()).collect();
    for (sequence, record) in enough.records.iter_mut().enumerate() {
        record.sequence = sequence as u64;
    }
    let told = "0 of 1 comparison was tested for what ran before: its finding holds no such test, although \
                its records show what ran before both subjects in 6 blocks";
    assert_eq!(check(&enough, "order and drift"), unseen(told));
}

/// Comparisons that are alike, of which so many were tested for what ran before.
fn partly_tested(mut campaign: Campaign, tested: usize, all: usize) -> Campaign {
    let findings = &mut campaign.findings.findings;
    let is_primary = |one: &Finding| one.question.role == Role::Primary;
    let with_test = findings.iter().find(|one| is_primary(one)).unwrap().clone();
    let mut without = with_test.clone();
    without.diagnostics.as_mut().unwrap().p_predecessor = None;
    findings.retain(|one| !is_primary(one));
    findings.extend(vec![with_test; tested]);
    findings.extend(vec![without; all - tested]);
    campaign
}

#[test]
fn comparisons_not_tested_for_what_ran_before_are_told_in_the_singular_and_the_plural() {
    let mut booted = quiet();
    for record in &mut booted.records {
        record.boot_id = format!("{} {}", record.block, record.subject);
    }
    let last = booted.records.len() - 1;
    booted.records[last].boot_id = booted.records[last - 1].boot_id.clone();
    for (tested, begins) in [
        (0, "0 of 4 comparisons were tested for what ran before: "),
        (1, "1 of 4 comparisons was tested for what ran before: "),
        (3, "3 of 4 comparisons were tested for what ran before: "),
    ] {
        let told = detail(&partly_tested(booted.clone(), tested, 4), "order and drift");
        let reason = told.strip_prefix(begins).unwrap_or_else(|| panic!("{begins}: {told}"));
        assert_eq!(
            reason,
            "the test needs 6 blocks whose records show what ran before both subjects, and one that \
             was not tested has 0 of them"
        );
        let in_korean = partly_tested(korean(booted.clone()), tested, 4);
        let texts = drawn(&in_korean, "markdown", page(80));
        assert!(texts.contains(&format!("비교 4건 중 {tested}건에서 앞선 실행")), "{texts}");
    }
}

#[test]
fn beside_not_observed_stands_no_result() {
    let mut foreign = quiet();
    foreign.records.iter_mut().flat_map(|record| &mut record.invocations).for_each(|invocation| {
        invocation.disturbance.as_mut().unwrap().foreign_share = None;
    });
    let mut all = vec![quiet(), foreign];
    for origin in [
        stored::measured,
        stored::emulated,
        stored::simulated,
        stored::unfinished,
        stored::ended,
        stored::two_blocks,
        stored::in_blocks,
        stored::in_rows,
    ] {
        let mut bare = origin();
        unopposed(&mut bare);
        bare.records.iter_mut().for_each(|record| record.caveats.clear());
        all.extend([origin(), bare]);
    }
    for (_, _, remove) in FIELDS {
        let mut without = quiet();
        remove(&mut without);
        all.push(without);
    }
    let results = [
        "no drift",
        "no effect",
        "no subject failed",
        "none of",
        "no foreign load",
        "no stolen time",
        "no throttling",
        "show foreign load",
        "independent",
        "효과 없음",
        "실패한 대상",
        "독립",
    ];
    let both = all.into_iter().flat_map(|campaign| [campaign.clone(), korean(campaign)]);
    let mut seen = 0;
    for campaign in both {
        for [name, state, detail] in told(&campaign) {
            if state != "not_observed" {
                continue;
            }
            seen += 1;
            for result in results {
                assert!(!detail.contains(result), "{name}: {detail}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// State and detail of a check.
fn check(campaign: &Campaign, name: &str) -> (String, String) {
    (states(campaign).remove(name).unwrap(), detail(campaign, name))
}

#[test]
fn blocks_that_are_not_whole_are_counted() {
    let mut campaign = quiet();
    let of_first = campaign.records.iter().filter(|record| record.block == 0);
    let mut seventh: Vec<Record> = of_first.cloned().collect();
    seventh.iter_mut().for_each(|record| record.block = 6);
    seventh.pop();
    campaign.records.extend(seventh);
    let told = "6 of 7 blocks hold a completed trial of every subject";
    assert_eq!(check(&campaign, "design"), ("warned".to_owned(), told.to_owned()));

    let mut few = quiet();
    few.records.retain(|record| record.block != 5);
    let told = "5 of 5 blocks hold a completed trial of every subject; in fewer than 6 no drawn \
                order is told from a fixed one";
    assert_eq!(check(&few, "design"), ("not_observed".to_owned(), told.to_owned()));
    let markdown = drawn(&few, "markdown", page(80));
    assert!(!markdown.contains("randomised blocks"), "{markdown}");
}

/// The same with a second workload, which the plan runs for the reference and its control alone.
fn with_a_workload_of_some_subjects() -> Campaign {
    let mut campaign = quiet();
    let mut second = campaign.plan.workloads[0].clone();
    second.label = "pipe-of-some".to_owned();
    second.subjects = vec!["plain".to_owned()];
    let running = |record: &&Record| record.subject != "one-cpu";
    let mut trials: Vec<Record> = campaign.records.iter().filter(running).cloned().collect();
    trials.iter_mut().for_each(|record| second.label.clone_into(&mut record.workload));
    campaign.plan.workloads.push(second);
    campaign.records.extend(trials);
    campaign
}

#[test]
fn a_block_is_whole_without_subjects_that_a_workload_does_not_run_for() {
    let mut campaign = with_a_workload_of_some_subjects();
    let told = "runs of all subjects in blocks of random order";
    assert_eq!(check(&campaign, "design"), ("passed".to_owned(), told.to_owned()));
    let told = "no drift, no effect of the order or of what ran before and no likeness of \
                neighbouring blocks was found";
    assert_eq!(check(&campaign, "order and drift"), ("passed".to_owned(), told.to_owned()));
    let markdown = drawn(&campaign, "markdown", page(80));
    let markdown = markdown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(markdown.contains("6 randomised blocks of 3 subjects"), "{markdown}");

    let is_lacking = |record: &Record| {
        (record.block, &*record.workload, &*record.subject) == (2, "pipe-of-some", "plain")
    };
    campaign.records.retain(|record| !is_lacking(record));
    let (state, detail) = check(&campaign, "design");
    assert_eq!(state, "not_observed");
    assert!(
        detail.starts_with("5 of 6 blocks hold a completed trial of every subject"),
        "{detail}"
    );
    // The same records of a workload that is asked of all subjects.
    let mut of_all = with_a_workload_of_some_subjects();
    of_all.plan.workloads[1].subjects.clear();
    let (_, detail) = check(&of_all, "design");
    assert!(
        detail.starts_with("0 of 6 blocks hold a completed trial of every subject"),
        "{detail}"
    );
}

#[test]
fn a_virtual_device_is_a_warning_and_one_that_nobody_knows_was_not_observed() {
    let of = |device: &str| {
        let mut campaign = quiet();
        campaign.environment.0.insert("storage.device".to_owned(), device.to_owned());
        check(&campaign, "real device").0
    };
    for device in ["vda", "xvda", "loop0", "ram0", "zram0", "nbd0", "nullb0"] {
        assert_eq!(of(device), "warned", "{device}");
    }
    for device in ["dm-0", "md127", "pmem0"] {
        assert_eq!(of(device), "not_observed", "{device}");
    }
    let mut of_targets = quiet();
    of_targets.records.iter_mut().for_each(|record| set_target(record, "loop3"));
    let (state, detail) = check(&of_targets, "real device");
    assert_eq!(state, "warned", "what trials wrote to counts");
    assert!(detail.starts_with("loop3: a virtual device"), "{detail}");
}

/// Steps that a campaign of ours shows, and no edited one.
const OF_RECORDS: [&str; 10] = [
    "was read back",
    "every run counted its work",
    "both ran, each once",
    "Nothing of it changed between trials.",
    "order drawn anew",
    "in random order",
    "blocks of random order",
    "randomised blocks of",
    "likeness of neighbouring blocks was found",
    "declared before the run",
];

#[test]
fn nothing_passes_and_no_step_is_stated_where_the_evidence_was_edited() {
    let mut campaign = quiet();
    let all: String = texts("measured", &campaign).into_iter().map(|(_, text)| text).collect();
    let is_slide = |step: &&str| ["order drawn anew", "in random order"].contains(step);
    for step in OF_RECORDS.iter().filter(|step| HAS_PAGE || !is_slide(step)) {
        assert!(all.contains(step), "{step}");
    }
    campaign.findings.is_evidence_changed = true;
    let without_caveat = campaign.clone();
    let flaw = Caveat::new(CaveatCode::EvidenceChanged, "the margin is 5 % in place of 2 %");
    campaign.findings.caveats.push(flaw);
    for campaign in [campaign, without_caveat] {
        assert_eq!(states(&campaign)["unchanged evidence"], "failed");
        for (check, state) in states(&campaign) {
            assert_ne!(state, "passed", "{check}");
        }
        for (id, text) in texts("measured", &campaign) {
            let text = spaced(&text);
            for step in OF_RECORDS {
                assert!(!text.contains(step), "{id}: {step}");
            }
        }
    }
}

#[test]
fn what_was_given_when_the_numbers_were_there_is_said_to_be() {
    let caveat = || Caveat::new(CaveatCode::PostHocMargin, "a margin of 5 %");
    let mut told_by_fact = stored::in_blocks();
    let imported = told_by_fact.plan.imported.as_mut().unwrap();
    imported.facts.establish(ImportFact::GivenWithNumbers);
    let mut told_by_both = told_by_fact.clone();
    told_by_both.findings.caveats.push(caveat());
    for campaign in [told_by_fact, told_by_both] {
        let texts = texts("blocks", &campaign);
        let told = "Something of the question was given when the numbers were there \
                    (POST_HOC_MARGIN)";
        assert!(of(&texts, "explain").contains(told), "{}", of(&texts, "explain"));
        for (id, text) in &texts {
            assert!(!spaced(text).contains("declared before the run"), "{id}");
        }
        if HAS_PAGE {
            let slides = of(&texts, "pptx");
            assert!(slides.contains("what is judged was given when the numbers were there"));
        }
    }
    // Nothing is chosen by a caveat.
    for mut campaign in [quiet(), stored::in_blocks()] {
        let before = of(&texts("blocks", &campaign), "explain").to_owned();
        campaign.findings.caveats.push(caveat());
        let after = of(&texts("blocks", &campaign), "explain").to_owned();
        let question = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        assert_eq!(question(&after), question(&before));
    }
}

#[test]
fn blocks_of_a_file_are_those_that_it_names() {
    let texts = texts("blocks", &stored::in_blocks());
    let told = "6 blocks as the file names them have a value of both";
    assert!(of(&texts, "explain").contains(told), "{}", of(&texts, "explain"));
    if HAS_PAGE {
        assert!(of(&texts, "pptx").contains("the block, as the file names it"));
    }
}

#[test]
fn explanations_and_rows_have_every_caveat_that_speaks_against_them() {
    let mut campaign = quiet();
    campaign.shares_few_boots = true;
    let of_campaign = Caveat::new(CaveatCode::SingleBoot, "6 blocks in 1 boot");
    campaign.findings.note_caveat(of_campaign);
    campaign.store_caveats.push(Caveat::new(CaveatCode::TornRecord, "line 9 was dropped"));
    let finding = &mut campaign.findings.findings[0];
    finding.note_caveat(Caveat::new(CaveatCode::Drift, "3 % over the campaign"));
    let question = finding.question.clone();
    let texts = texts("measured", &campaign);
    let explained = of(&texts, "explain");
    for told in [
        "SINGLE_BOOT: All blocks ran in one boot: the finding speaks of this boot. Of the \
         campaign, here with n = 6: 6 blocks in 1 boot.",
        "n = 6: line 9 was dropped.",
        "DRIFT: ",
    ] {
        assert!(explained.contains(told), "{told}: {explained}");
    }
    let csv = of(&texts, "csv");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    for row in rows.records().map(Result::unwrap) {
        let is_own =
            [&question.subject, &question.reference].iter().any(|id| id.as_str() == &row[2]);
        let expected =
            if is_own { "DRIFT SINGLE_BOOT TORN_RECORD" } else { "SINGLE_BOOT TORN_RECORD" };
        assert_eq!(&row[13], expected, "{row:?}");
    }
    let bench = of(&texts, "benchfmt");
    let (_, values) = bench.split_once("campaign-caveats: SINGLE_BOOT TORN_RECORD\n").unwrap();
    assert!(values.contains("# caveats: DRIFT\n") && values.contains("\n# caveats:\n"), "{bench}");
}

/// What no format says but of few boots.
const OF_OTHER_BOOTS: [&str; 2] = ["what another boot would give", "show little of another boot"];

/// In which boot a trial ran.
type Boot = fn(&Record) -> String;

/// What a campaign of these boots, which are few but with the caveat of another thing, says of
/// other ones: the same without that caveat.
fn assert_of_boots(code: CaveatCode, boot: Boot, expected: Option<&str>) {
    let mut campaign = quiet();
    campaign.shares_few_boots = code != CaveatCode::Quick;
    for record in &mut campaign.records {
        record.boot_id = boot(record);
    }
    assert_of_other_boots(&campaign, "", expected);
    campaign.findings.caveats.push(Caveat::new(code, "as the test has it"));
    assert_of_other_boots(&campaign, code.as_str(), expected);
}

/// The same of any campaign: in each format, in what `explain` says, and in the data of the page.
fn assert_of_other_boots(campaign: &Campaign, code: &str, expected: Option<&str>) {
    let mut all = texts("boots", campaign);
    all.push(("page", page_json(&view(&campaign.inputs())).unwrap()));
    // What says how to get the page has no data.
    for (id, text) in all.into_iter().filter(|(id, _)| HAS_PAGE || *id != "html") {
        if is_for_programs(id) {
            assert!(expected.is_none() || text.contains(code), "{id} lacks {code}");
            continue;
        }
        let text = text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let is_said = OF_OTHER_BOOTS.iter().any(|words| text.contains(words));
        assert_eq!(is_said, expected.is_some(), "{id}: {expected:?}");
        assert!(text.contains(expected.unwrap_or_default()), "{id} lacks {expected:?}");
    }
}

#[test]
fn what_few_boots_cannot_show_is_said_in_every_format_where_the_records_name_them() {
    let one = |_: &Record| "one".to_owned();
    let of_subject = |record: &Record| record.subject.clone();
    let of_kind = |record: &Record| (record.subject == "one-cpu").to_string();
    let of_block = |record: &Record| (record.block % 2).to_string();
    let of_both = |record: &Record| format!("{} {}", record.subject, record.block % 2);
    let unknown =
        |record: &Record| if record.block == 1 { String::new() } else { "one".to_owned() };
    let (single, few) = (CaveatCode::SingleBoot, CaveatCode::FewBoots);
    let shared = "All blocks ran in one boot: nothing here shows what another boot would give.";
    let own = "Each subject ran in one boot of its own: nothing here shows what another boot would \
               give.";
    let each = "Each subject ran in one boot: nothing here shows what another boot would give.";
    let all = "All blocks ran in 2 boots; fewer than five show little of another boot.";
    let fewest = "Number of boots of the subject with the fewest: 2; fewer than five show little \
                  of another boot.";
    let cases: [(CaveatCode, Boot, Option<&str>); 7] = [
        (single, one, Some(shared)),
        (few, of_subject, Some(own)),
        (few, of_kind, Some(each)),
        (few, of_block, Some(all)),
        (few, of_both, Some(fewest)),
        (single, unknown, None),
        // Boots that are not few have no such caveat.
        (CaveatCode::Quick, of_block, None),
    ];
    for (code, boot, expected) in cases {
        assert_of_boots(code, boot, expected);
    }
}

#[test]
fn what_few_boots_cannot_show_is_said_of_no_evidence_that_was_edited() {
    let mut campaign = quiet();
    let code = CaveatCode::SingleBoot;
    campaign.shares_few_boots = true;
    campaign.findings.caveats.push(Caveat::new(code, "as the test has it"));
    campaign.findings.is_evidence_changed = true;
    assert_of_other_boots(&campaign, code.as_str(), None);
    let flaw = Caveat::new(CaveatCode::EvidenceChanged, "a record was edited");
    campaign.findings.caveats.push(flaw);
    assert_of_other_boots(&campaign, code.as_str(), None);
}

/// All records are looked through for it, which is not done for each finding.
#[test]
fn what_few_boots_cannot_show_is_explained_of_each_finding_as_it_was_found_once() {
    let campaign = quiet();
    for sentence in [Some("It speaks of one boot."), None] {
        let context = ExplainContext {
            findings: &campaign.findings,
            few_boots: sentence,
            provenance: Provenance::of_plan(&campaign.plan),
            is_given_with_numbers: false,
            binding: campaign.binding,
            store_caveats: &campaign.store_caveats,
            is_absolute: true,
            language: campaign.language,
        };
        for finding in &campaign.findings.findings {
            let text = explain(finding, &context).join("\n");
            assert_eq!(text.contains("It speaks of one boot."), sentence.is_some(), "{text}");
        }
    }
}

#[test]
fn nothing_of_a_machine_passes_where_none_was_observed() {
    for (origin, campaign) in stored::of_each_origin() {
        let states = states(&campaign);
        let of_machine = ["trials", "same work", "quiet machine", "real processor", "real device"];
        let of_order = ["design", "order and drift"];
        let unseen = match origin {
            "measured" | "emulated" => continue,
            "simulated" => of_machine.to_vec(),
            _ => [&of_machine[..], &of_order].concat(),
        };
        for check in unseen {
            assert_ne!(states[check], "passed", "{origin}: {check}: {states:?}");
        }
    }
    let emulated = states(&stored::emulated());
    assert_eq!(emulated["real processor"], "warned", "{emulated:?}");
    assert_eq!(emulated["real device"], "not_observed", "{emulated:?}");
}

#[test]
fn a_column_of_times_shows_the_order_of_an_import_and_never_that_it_was_drawn() {
    let of = |mut campaign: Campaign, order: ImportedOrder, check: &str| -> String {
        campaign.plan.imported.as_mut().unwrap().order = order;
        let mut all = told(&campaign).into_iter();
        let [_, state, detail] = all.find(|[name, ..]| name == check).unwrap();
        assert_eq!(state, "not_observed", "{check}: {detail}");
        detail
    };
    let unseen = "the file does not show when its values were measured";
    for order in [ImportedOrder::Unknown, ImportedOrder::Rows] {
        assert_eq!(of(stored::in_blocks(), order, "order and drift"), unseen);
        assert_eq!(of(stored::in_rows(), order, "order and drift"), unseen);
    }
    let drawn = "the records do not show that the order was drawn";
    for check in ["design", "order and drift"] {
        assert_eq!(of(stored::in_blocks(), ImportedOrder::Column, check), drawn);
    }
    let blocks = "the file does not show that blocks were run";
    assert_eq!(of(stored::in_rows(), ImportedOrder::Column, "order and drift"), blocks);
}

/// Formats of which it is known how they set a check beside its state.
const SET_CHECKS: [&str; 4] = ["terminal", "markdown", "mail", "pull-request"];

#[test]
fn each_check_has_one_state_in_every_format_that_people_read_and_in_json() {
    for (origin, campaign) in stored::of_each_origin() {
        let told = told(&campaign);
        let json: serde_json::Value =
            serde_json::from_str(&drawn(&campaign, "json", page(80))).unwrap();
        let of_json = json["checks"].as_array().unwrap();
        assert_eq!(of_json.len(), told.len(), "{origin}");
        for (check, [name, state, detail]) in of_json.iter().zip(&told) {
            assert_eq!([&check["name"], &check["state"], &check["detail"]], [name, state, detail]);
        }
        let verbose = Page { is_verbose: true, ..page(400) };
        let (text, brief) =
            (drawn(&campaign, "terminal", verbose), drawn(&campaign, "terminal", page(400)));
        let (markdown, mail) =
            (drawn(&campaign, "markdown", page(80)), drawn(&campaign, "mail", page(80)));
        let mail = mail.split_whitespace().collect::<Vec<_>>().join(" ");
        let request = drawn(&campaign, "pull-request", page(80));
        let ids = read_as_text().map(|renderer| renderer.describe().id);
        let others = ids.filter(|id| !SET_CHECKS.contains(id));
        let others: Vec<(&str, String)> =
            others.map(|id| (id, spaced(&drawn(&campaign, id, page(80))))).collect();
        for [name, state, detail] in &told {
            let word = match state.as_str() {
                "warned" => "warning",
                "not_shown" => "not shown",
                "not_observed" => "not observed",
                "not_applicable" => "not asked",
                same => same,
            };
            let place = format!("{origin}: {word}: {name}");
            assert!(text.contains(&format!("  {word}: {name}: {detail}")), "{place}: {text}");
            assert!(markdown.contains(&format!("| {name} | {word} | ")), "{place}: {markdown}");
            let is_in = |text: &str, line: &str| {
                let (_, behind) = text.split_once(line).unwrap_or_default();
                behind.contains(name.as_str())
            };
            assert!(is_in(&brief, &format!("\n  {word}: ")), "{place}: {brief}");
            assert!(is_in(&mail, &format!(" {word}: ")), "{place}: {mail}");
            assert!(is_in(&request, &format!("\n- {word}: ")), "{place}: {request}");
            for (id, other) in &others {
                assert!(other.contains(word) && other.contains(name), "{place}, {id}: {other}");
            }
        }
    }
}

#[test]
fn the_states_of_checks_are_in_korean_too() {
    let campaign = korean(stored::in_rows());
    for format in read_as_text().map(|renderer| renderer.describe().id).chain(["json"]) {
        let text = drawn(&campaign, format, page(80));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let state = if format == "json" { "not_observed" } else { "관찰되지 않음" };
        assert!(text.contains(state) && text.contains("실제 프로세서"), "{format}: {text}");
        assert!(!text.contains("not observed"), "{format}: {text}");
    }
}

/// What only trials that ran can bear, in any format.
const OF_TRIALS: [&str; 14] = [
    "was read back",
    "were read back",
    "no foreign load",
    "ran on the machine itself",
    "known to answer in its place",
    "every run counted its work",
    "as the machine is",
    "it holds for this machine",
    "The machine when the campaign began",
    "changed between trials.",
    "both ran, each once",
    "Environment: kernel",
    "runs of all subjects",
    "every subject ran once",
];
/// What a plan of ours bears too, whose numbers were simulated.
const OF_PLANS: [&str; 8] = [
    "order drawn anew",
    "in random order",
    "blocks of random order",
    "randomised blocks of",
    "likeness of neighbouring blocks was found",
    "declared before the run",
    "The question stands in the plan",
    "give the same order",
];
/// What only a campaign with a control bears.
const OF_CONTROLS: [&str; 2] = ["like its twin", "told apart from its twin"];
/// What no stored campaign bears: those that ran did so on a virtual machine that did other things as
/// well, and no test asked what ran before.
const OF_QUIET_MACHINES: [&str; 4] = [
    "no foreign load",
    "ran on the machine itself",
    "known to answer in its place",
    "likeness of neighbouring blocks was found",
];
/// What three sittings of one block do not bear.
const OF_WHOLE_BLOCKS: [&str; 5] = [
    "changed between trials.",
    "runs of all subjects",
    "every subject ran once",
    "in random order",
    "randomised blocks of",
];

/// What no format may say of the stored campaign of this origin: its records do not show it.
pub fn unobserved(origin: &str) -> Vec<&'static str> {
    match origin {
        "measured" => OF_QUIET_MACHINES.to_vec(),
        "emulated" => [&OF_QUIET_MACHINES[..], &OF_WHOLE_BLOCKS].concat(),
        // The simulator's order is the plan's own.
        "simulated" => [&OF_QUIET_MACHINES[..], &OF_TRIALS, &OF_CONTROLS].concat(),
        _ => [&OF_TRIALS[..], &OF_PLANS, &OF_CONTROLS].concat(),
    }
}

#[test]
fn no_format_states_a_step_that_nobody_observed() {
    for (origin, campaign) in stored::of_each_origin() {
        for (id, text) in texts(origin, &campaign) {
            let text = spaced(&text);
            for step in unobserved(origin) {
                assert!(!text.contains(step), "{origin}, {id}: {step}");
            }
        }
    }
}

/// A text whose sentences are not torn by the ends of lines.
pub fn spaced(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of these formats, of what people read.
pub fn of(texts: &[(&str, String)], wanted: &str) -> String {
    texts.iter().filter(|(id, _)| wanted == *id).map(|(_, text)| text.as_str()).collect()
}

#[test]
fn a_sentence_about_a_step_is_gone_with_the_field_that_it_rests_on() {
    let explained = "The question was declared before the run";
    let randomised = "6 randomised blocks of 3 subjects";
    let unchanged = "Nothing of it changed between trials.";
    let cases: [(&str, &str, Removal); 3] = [
        ("explain", explained, |one| one.binding = Binding::Absent),
        ("markdown", randomised, |one| {
            one.records.iter_mut().for_each(|record| record.position = 0);
        }),
        ("markdown", unchanged, |one| one.records[0].fingerprint.clear()),
    ];
    for (id, sentence, remove) in cases {
        let mut campaign = quiet();
        assert!(of(&texts("measured", &campaign), id).contains(sentence), "{id}: {sentence}");
        remove(&mut campaign);
        assert!(!of(&texts("measured", &campaign), id).contains(sentence), "{id}: {sentence}");
    }
    if !has_page() {
        return;
    }
    let cases: [(&str, Removal); 2] = [
        ("declared before the run", |one| one.binding = Binding::NotLookedAt),
        ("in an order drawn anew", |one| {
            one.records.iter_mut().for_each(|record| record.position = 0);
        }),
    ];
    for (sentence, remove) in cases {
        let mut campaign = quiet();
        assert!(of(&texts("measured", &campaign), "pptx").contains(sentence), "{sentence}");
        remove(&mut campaign);
        assert!(!of(&texts("measured", &campaign), "pptx").contains(sentence), "{sentence}");
    }
}

/// What a campaign says in each format, and what `explain` says of its findings.
pub fn texts(origin: &str, campaign: &Campaign) -> Vec<(&'static str, String)> {
    let report = view(&campaign.inputs());
    let mut texts = Vec::new();
    for renderer in RENDERERS {
        let id = renderer.describe().id;
        if id == "pptx" && !HAS_PAGE {
            continue;
        }
        let mut bytes = Vec::new();
        match renderer.render(&report, &page(100), &mut bytes) {
            Ok(()) => texts.push((id, readable(&bytes))),
            // The one that needs a value for each block has none of rows, nor of a block that
            // is not whole.
            Err(error) => {
                let is_partial = ["rows", "emulated", "ended", "unfinished"].contains(&origin);
                assert!(is_partial && id == "benchfmt", "{error}");
            }
        }
    }
    let few_boots = campaign.few_boots();
    let context = ExplainContext {
        findings: &campaign.findings,
        few_boots: few_boots.as_deref(),
        provenance: Provenance::of_plan(&campaign.plan),
        is_given_with_numbers: campaign.is_given_with_numbers(),
        binding: campaign.binding,
        store_caveats: &campaign.store_caveats,
        is_absolute: true,
        language: campaign.language,
    };
    let paragraphs = campaign.findings.findings.iter().flat_map(|one| explain(one, &context));
    texts.push(("explain", paragraphs.collect::<Vec<_>>().join("\n")));
    texts
}

/// All text of a file, of an archive that of its parts.
pub fn readable(bytes: &[u8]) -> String {
    if !bytes.starts_with(b"PK") {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    for index in 0..archive.len() {
        let mut part = Vec::new();
        archive.by_index(index).unwrap().read_to_end(&mut part).unwrap();
        text.push_str(&String::from_utf8_lossy(&part));
    }
    text
}
