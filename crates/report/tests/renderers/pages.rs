//! Reports drawn as a person would see them, against stored pages.
//! `UPDATE_EXPECT=1 cargo test -p report` writes them anew.

use expect_test::expect_file;
use fixtures::{invocation, subject, workload};
use model::{
    Caveat, CaveatCheck, CaveatCode, Companion, Direction, Effect, FailureCount, Finding, Findings,
    Fingerprint, Interval, Outcome, Plan, Planning, Question, Record, Role, Sample, Strength,
    TrialValues, Unit, Verdict,
};
use report::{Inputs, Language, Page, RENDERERS, view};
use std::collections::{BTreeMap, BTreeSet};

fn question(
    workload: &str,
    metric: &str,
    subject: &str,
    unit: Unit,
    direction: Direction,
    role: Role,
) -> Question {
    Question { unit, direction, role, ..fixtures::question(workload, metric, subject, "other") }
}

fn finding(
    question: Question,
    verdict: Verdict,
    strength: Option<Strength>,
    log: [f64; 3],
    values: [f64; 2],
) -> Finding {
    let [mean, low, high] = log;
    let raw = question.direction.sign() * mean;
    Finding {
        verdict,
        strength,
        reason: (verdict == Verdict::Inconclusive)
            .then(|| "neither a difference nor equivalence was shown".to_owned()),
        pairs: 6,
        reference_value: Some(values[0]),
        subject_value: Some(values[1]),
        effect: Some(Effect {
            log_mean: mean,
            log_sd: 0.05,
            standard_error: 0.02,
            degrees: 5.0,
            skew: 0.0,
            ratio: mean.exp(),
            raw_ratio: raw.exp(),
            interval: Interval { low: low.exp(), high: high.exp() },
            family_interval: Interval {
                low: (2.0 * low - mean).exp(),
                high: (2.0 * high - mean).exp(),
            },
            p_difference: Some(0.01),
            p_equivalence: Some(0.5),
            adjusted_difference: Some(0.0004),
            adjusted_equivalence: Some(0.9),
            deciding: None,
            is_sequence: false,
        }),
        companion: Some(Companion {
            pseudo_median_ratio: mean.exp(),
            interval: Interval { low: 0.0, high: f64::INFINITY },
            p_signed_rank: 0.03,
            p_sign_flip: None,
        }),
        planning: Some(Planning {
            detectable: 0.07,
            blocks_for_difference: Some(14),
            blocks_for_equivalence: None,
        }),
        ..fixtures::finding(question)
    }
}

fn primary_findings() -> Vec<Finding> {
    use {Direction::*, Role::*, Unit::*, Verdict::*};
    let latency =
        |subject: &str, role| question("cyclic", "latency_p50", subject, Nanoseconds, Lower, role);
    let rate = |subject: &str, role| {
        question("wakeup", "requests_per_second", subject, PerSecond, Higher, role)
    };
    let mut lost = finding(latency("lost", Primary), Invalid, None, [0.0; 3], [1.0, 1.0]);
    lost.effect = None;
    lost.planning = None;
    lost.subject_value = None;
    lost.pairs = 0;
    lost.reason = Some("6 blocks broke a validity rule and none is left".to_owned());
    let mut noisy =
        finding(rate("batch", Primary), Inconclusive, None, [0.02, -0.05, 0.09], [571.0, 582.0]);
    noisy.note_caveat(Caveat::new(CaveatCode::Noisy, "differences between blocks vary by 5.0 %"));
    let clearly = Some(Strength::Clearly);
    let detectable = Some(Strength::Detectable);
    let faults =
        question("cyclic", "minor_faults_per_operation", "fifo", PerOperation, Lower, Screen);
    vec![
        finding(latency("fifo", Primary), Better, clearly, [1.25, 1.2, 1.3], [95_234.0, 27_300.0]),
        finding(latency("wild", Primary), Better, detectable, [4.6, 0.04, 9.2], [95_234.0, 952.0]),
        lost,
        noisy,
        finding(rate("one-cpu", Primary), Worse, clearly, [-0.4, -0.45, -0.35], [571.0, 383.0]),
        finding(
            latency("other-again", Control),
            Equivalent,
            None,
            [0.002, -0.01, 0.014],
            [95_234.0, 95_000.0],
        ),
        finding(
            rate("other-again", Control),
            Equivalent,
            None,
            [-0.001, -0.02, 0.018],
            [571.0, 570.4],
        ),
        finding(faults, Inconclusive, None, [0.1, 0.0, 0.2], [0.002, 0.0018]),
    ]
}

fn findings() -> Findings {
    Findings {
        plan_digest: "0123456789abcdef".to_owned(),
        seed: 42,
        failures: vec![FailureCount {
            subject: "lost".to_owned(),
            workload: "cyclic".to_owned(),
            trials: 6,
            failed: 0,
            invalid: 6,
            p_failure: None,
            adjusted_failure: None,
            failure_verdict: None,
            p_invalid: None,
            reasons: BTreeMap::from([(
                "LEVEL_CHANGED: policy should be fifo:1 and is other".to_owned(),
                6,
            )]),
            rules: BTreeMap::new(),
        }],
        against: BTreeSet::from([CaveatCheck::EnoughData]),
        caveats: vec![Caveat::new(CaveatCode::SingleBoot, "all blocks ran in one boot")],
        ..fixtures::findings(primary_findings())
    }
}

fn plan() -> Plan {
    let subjects = vec![
        subject("other", &[("policy", "other")]),
        subject("other-again", &[("policy", "other")]),
        subject("fifo", &[("policy", "fifo:1")]),
    ];
    let workloads = ["cyclic", "wakeup"].map(|label| workload(label, Vec::new())).into();
    Plan {
        name: "golden".to_owned(),
        title: "What do policy and placement change?".to_owned(),
        digest: "0123456789abcdef".to_owned(),
        seed: 42,
        is_quick: true,
        options: vec!["--set".to_owned(), "blocks=6".to_owned()],
        notes: vec!["the control was kept".to_owned()],
        ..fixtures::plan(subjects, workloads, 0)
    }
}

fn records() -> Vec<Record> {
    let mut histogram = model::Histogram::new();
    histogram.record_many(1_000, 3);
    let record = |outcome: Outcome, samples: Vec<Sample>| {
        let mut record = fixtures::record("fifo", "cyclic");
        record.position = 1;
        record.duration_ns = 2_000_000_000;
        "b".clone_into(&mut record.boot_id);
        record.outcome = outcome;
        record.invocations = vec![invocation(samples)].into();
        record.fingerprint_difference.insert("knob.thp".to_owned(), "never".to_owned());
        record
    };
    vec![
        record(
            Outcome::Completed,
            vec![
                Sample::values("m, with comma", vec![1.5, 2.0]),
                Sample::quotient("rate", 10.0, 4.0),
                Sample::histogram("latency", histogram),
                Sample::proportion("ok", 9, 10),
            ],
        ),
        record(Outcome::Failed { reason: "exit code 3".to_owned() }, Vec::new()),
    ]
}

fn drawn(format: &str, page: Page) -> String {
    let (plan, records, findings) = (plan(), model::Records::from(records()), findings());
    let environment = Fingerprint(BTreeMap::from([
        ("kernel.release".to_owned(), "6.12.48".to_owned()),
        ("cpu.online".to_owned(), "0-1".to_owned()),
        ("odd|key".to_owned(), "a|b".to_owned()),
    ]));
    let report = view(&Inputs {
        plan: &plan,
        records: &records,
        values: &TrialValues::default(),
        findings: &findings,
        environment: &environment,
        campaign: "golden-20260101-000000-beef",
        directory: "results/golden-20260101-000000-beef",
        origin: "experiment.toml",
        store_caveats: &[],
        is_stopped_early: false,
        shares_few_boots: true,
        binding: model::Binding::Checked,
        attempt: None,
        resumptions: 0,
        factors: &BTreeMap::new(),
        is_absolute: false,
        language: Language::default(),
    });
    let renderer = RENDERERS.iter().find(|renderer| renderer.describe().id == format).unwrap();
    let mut bytes = Vec::new();
    renderer.render(&report, &page, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

const PLAIN: Page = Page {
    width: 120,
    is_colour: false,
    is_unicode: true,
    is_verbose: false,
    has_plots: false,
    fonts: &[],
};

#[test]
fn a_terminal_of_any_width_is_filled_and_not_overrun() {
    for width in [60, 80, 120] {
        let text = drawn("terminal", Page { width, ..PLAIN });
        let longest = text.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
        assert!(longest <= width, "{longest} columns on a page of {width}");
        expect_file![format!("../golden/terminal-{width}.txt")].assert_eq(&text);
    }
}

#[test]
fn ascii_and_verbose_pages_show_the_same_verdicts() {
    let text = drawn("terminal", Page { is_unicode: false, is_verbose: true, ..PLAIN });
    assert!(text.is_ascii(), "{text}");
    expect_file!["../golden/terminal-ascii-verbose.txt"].assert_eq(&text);
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let coloured = drawn("terminal", Page { is_colour: true, ..PLAIN });
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\x1b') {
        stripped.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = &rest[rest.find('m').unwrap() + 1..];
    }
    stripped.push_str(rest);
    assert_eq!(stripped, drawn("terminal", PLAIN));
}

#[test]
fn markdown_and_csv_are_complete() {
    expect_file!["../golden/report.md"].assert_eq(&drawn("markdown", PLAIN));
    expect_file!["../golden/report.csv"].assert_eq(&drawn("csv", PLAIN));
}

#[test]
fn the_json_is_the_whole_view_and_comes_back() {
    let text = drawn("json", PLAIN);
    let report: report::Report = serde_json::from_str(&text).unwrap();
    assert_eq!(report.format, "schedlab.report/18");
    let mut whole: serde_json::Value = serde_json::from_str(&text).unwrap();
    let checks = whole.as_object_mut().unwrap().remove("checks").unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap(), whole, "beside the checks it is the view");
    let states = ["passed", "warned", "not_observed", "not_asked"];
    let is_told = |check: &serde_json::Value| states.iter().any(|state| check["state"] == *state);
    assert!(checks.as_array().is_some_and(|all| all.len() > 8 && all.iter().all(is_told)));
}
