//! Campaigns made up to hold each kind of verdict; no machine was measured.

use fixtures::subject;
use model::{
    Attempt, Binding, BlockEffect, Caveat, CaveatCode, DecidingInterval, Direction, Effect,
    FailureCount, Finding, Findings, Fingerprint, Histogram, Interval, Invocation, Level, Metric,
    Obstacle, Outcome, Plan, Planning, Record, Records, Reduction, Role, Sample, Strength, Unit,
    Verdict, WorkloadPlan,
};
use report::{Inputs, Language, few_boots_of};
use std::collections::BTreeMap;

/// Everything that a report is made from.
#[derive(Clone)]
pub struct Campaign {
    pub plan: Plan,
    pub records: Records,
    pub values: model::TrialValues,
    pub findings: Findings,
    pub language: Language,
    pub environment: Fingerprint,
    pub store_caveats: Vec<Caveat>,
    pub is_stopped_early: bool,
    pub shares_few_boots: bool,
    pub binding: Binding,
    pub factors: BTreeMap<String, String>,
}

impl Campaign {
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs {
            plan: &self.plan,
            records: &self.records,
            values: &self.values,
            findings: &self.findings,
            environment: &self.environment,
            campaign: "first-look-20261121-020000-beef",
            attempt: Some(Attempt {
                of_plan: 2,
                of_question: 5,
                since_unix_ns: 1_795_000_000_000_000_000,
            }),
            resumptions: 0,
            directory: "results/first-look-20261121-020000-beef",
            origin: "experiment.toml",
            store_caveats: &self.store_caveats,
            is_stopped_early: self.is_stopped_early,
            shares_few_boots: self.shares_few_boots,
            binding: self.binding,
            factors: &self.factors,
            is_absolute: false,
            language: self.language,
        }
    }

    /// What `explain` is given of what came with the numbers.
    pub fn is_given_with_numbers(&self) -> bool {
        self.plan.imported.as_ref().is_some_and(model::Imported::is_given_with_numbers)
    }

    /// What `explain` is given of its boots.
    pub fn few_boots(&self) -> Option<String> {
        self.shares_few_boots
            .then(|| few_boots_of(&self.findings, &self.records, self.language))
            .flatten()
    }
}

/// Better, worse, equivalent, inconclusive and invalid; a failing subject; a control.
pub fn mixed() -> Campaign {
    let fifo = Draft::new("cyclic", "latency_p50", "fifo").decided(Verdict::Better, true);
    let batch = Draft::new("cyclic", "latency_p50", "batch").decided(Verdict::Worse, false);
    let same = Draft::new("wakeup", "request_latency_p99", "fifo");
    let storm = Draft::new("messaging", "messages_per_second", "batch");
    let findings = vec![
        fifo.effect(52_300.0, 2.63, 2.40, 2.88).margin(0.10).finding(),
        batch.effect(52_300.0, 0.93, 0.89, 0.98).margin(0.10).finding(),
        same.decided(Verdict::Equivalent, false)
            .effect(4_210_000.0, 1.004, 0.93, 1.06)
            .shown_by(0.98, 1.03, 0.1)
            .reason("A difference was detected, but it lies inside the margin.")
            .finding(),
        storm
            .rate()
            .decided(Verdict::Inconclusive, false)
            .effect(421_337.0, 1.03, 0.95, 1.12)
            .reason("The interval reaches from worse to better; about 14 blocks would tell.")
            .caveat(CaveatCode::Noisy, "sd 6.1 % against a margin of 5 %")
            .caveat(CaveatCode::Fragile, "without block 3 it would be better")
            .finding(),
        Draft::new("messaging", "messages_per_second", "rt-throttled")
            .rate()
            .decided(Verdict::Invalid, false)
            .reason("Every sitting broke the rule subject_active: policy read back other.")
            .finding(),
        Draft::new("cyclic", "latency_p50", "baseline-again")
            .role(Role::Control)
            .decided(Verdict::Equivalent, false)
            .effect(52_300.0, 1.001, 0.97, 1.033)
            .margin(0.10)
            .finding(),
        Draft::new("cyclic", "latency_p999", "fifo")
            .role(Role::Screen)
            .effect(310_000.0, 4.2, 2.2, 8.1)
            .finding(),
        Draft::new("cyclic", "voluntary_switches_per_operation", "batch")
            .role(Role::Screen)
            .effect(1.5, 1.01, 0.9, 1.2)
            .finding(),
    ];
    let failures = vec![FailureCount {
        subject: "rt-throttled".to_owned(),
        workload: "messaging".to_owned(),
        trials: 8,
        failed: 2,
        invalid: 6,
        p_failure: Some(0.0007),
        adjusted_failure: Some(0.0014),
        failure_verdict: Some(Verdict::Worse),
        p_invalid: Some(0.0003),
        reasons: BTreeMap::from([
            ("exit status 1: cannot fork | out of memory".to_owned(), 1),
            ("ran longer than its limit of 30 s".to_owned(), 1),
        ]),
        rules: BTreeMap::new(),
    }];
    let mut campaign = campaign("Does a real-time policy shorten wake-ups?", findings, failures);
    campaign.findings.note_caveat(Caveat::new(CaveatCode::SingleBoot, "6 blocks in 1 boot"));
    campaign.shares_few_boots = true;
    campaign.store_caveats =
        vec![Caveat::new(CaveatCode::TornRecord, "line 9 of records.jsonl was dropped")];
    campaign.records = records().into();
    campaign.plan.notes = vec!["seed drawn: 42".to_owned()];
    campaign
}

/// [`mixed`] with ranks, a use case and a claim, as an emulated processor would have it.
pub fn emulated() -> Campaign {
    let mut campaign = mixed();
    campaign.plan.venue = "vm".to_owned();
    campaign.plan.vm = Some(model::VmSettings::default());
    for (subject, kernel) in campaign.plan.subjects.iter_mut().zip(["6.1.176", "6.12.117"]) {
        subject.levels.insert("kernel".to_owned(), Level::canonical(format!("debian:{kernel}")));
    }
    let findings = &mut campaign.findings;
    let claim = model::Claim {
        says: "FIFO wakes up faster".to_owned(),
        workload: Some("cyclic".to_owned()),
        metric: "latency_p50".into(),
        ..fixtures::claim("fifo", "baseline", model::ClaimedEffect::Better)
    };
    let reason = "measured -62.0 % of the value";
    findings.claims = vec![model::ClaimFinding {
        is_emulated: true,
        ..fixtures::claim_finding(claim, model::ClaimOutcome::Confirmed, reason)
    }];
    let ranking = model::Ranking {
        is_emulated: true,
        ..fixtures::ranking("cyclic", "latency_p50", &[("fifo", 1, 1), ("baseline", 2, 3)])
    };
    findings.rankings = vec![ranking.clone()];
    let mut comparison = findings.findings[0].clone();
    comparison.question.workload = "audio".to_owned();
    findings.use_cases = vec![model::UseCaseFinding {
        weights: vec![fixtures::weight("cyclic", "latency_p50", 1.0)],
        comparisons: vec![comparison],
        worst: vec![None],
        ranking,
        co_best: vec!["fifo".to_owned()],
        ..fixtures::use_case_finding("audio")
    }];
    let cases = findings.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
    for finding in findings.findings.iter_mut().chain(cases) {
        finding.note_caveat(Caveat::new(CaveatCode::Tcg, "in 12 trials; first: QEMU's TCG"));
        finding.is_emulated = true;
        finding.blocks.push(BlockEffect {
            block: 0,
            reference: 52_300.0,
            subject: 19_900.0,
            log_difference: 0.966,
        });
    }
    for record in &mut campaign.records {
        record.caveats.push(Caveat::new(CaveatCode::Tcg, "QEMU's TCG"));
    }
    campaign
}

/// One question, no verdict, quick mode.
pub fn undecided() -> Campaign {
    let finding = Draft::new("command", "wall", "slice-500us")
        .decided(Verdict::Inconclusive, false)
        .effect(1.84e9, 1.012, 0.94, 1.09)
        .reason("Fewer than five complete blocks.")
        .forbidden(Obstacle::FewPairs, CaveatCode::FewBlocks, "3 complete blocks of 5")
        .finding();
    let mut campaign = campaign("slice=500us for ./service-bench", vec![finding], Vec::new());
    campaign.plan.is_quick = true;
    campaign
}

/// Names too long, effects of a hundred times, unbounded and tiny ones, no pairs.
pub fn hostile() -> Campaign {
    let long = "a-subject-with-a-name-that-nobody-should-give-to-a-subject";
    let findings = vec![
        Draft::new("cyclic", "latency_p50", long)
            .decided(Verdict::Better, true)
            .effect(5.2e9, 103.0, 88.0, 121.0)
            .finding(),
        Draft::new("cyclic", "latency_p50", "slow")
            .decided(Verdict::Worse, true)
            .effect(5.2e9, 0.0031, 0.0, 0.9)
            .finding(),
        Draft::new("cyclic", "latency_p50", "wild")
            .decided(Verdict::Inconclusive, false)
            .effect(5.2e9, 1.2, 0.0, f64::INFINITY)
            .finding(),
        Draft::new(
            "command",
            "score|of_the_users_own_program_with_a_very_long_metric_name",
            "tiny",
        )
        .plain()
        .decided(Verdict::Equivalent, false)
        .effect(1.3e-7, 1.000_001, 0.999_999, 1.000_003)
        .finding(),
        Draft::new("command", "exit_free", "absent")
            .decided(Verdict::Inconclusive, false)
            .reason("No complete pair of blocks.")
            .finding(),
    ];
    let title = "A question with 한글 and a | in it, longer than any line of a terminal may be, \
                 so that it has to be wrapped somewhere";
    campaign(title, findings, Vec::new())
}

pub fn campaign(title: &str, findings: Vec<Finding>, failures: Vec<FailureCount>) -> Campaign {
    Campaign {
        plan: plan(title),
        records: Records::default(),
        values: model::TrialValues::default(),
        language: Language::default(),
        findings: Findings {
            plan_digest: "0f3a".to_owned(),
            seed: 42,
            failures,
            ..fixtures::findings(findings)
        },
        environment: Fingerprint(BTreeMap::from([
            ("cpu.model".to_owned(), "Imaginary CPU | 2 cores".to_owned()),
            ("cpu.online".to_owned(), "0-1".to_owned()),
            ("kernel.release".to_owned(), "6.12.3-amd64".to_owned()),
        ])),
        store_caveats: Vec::new(),
        is_stopped_early: false,
        shares_few_boots: false,
        binding: Binding::Checked,
        factors: BTreeMap::from([(
            "policy".to_owned(),
            "The scheduling policy. Who may wait for whom.".to_owned(),
        )]),
    }
}

fn plan(title: &str) -> Plan {
    let metric = Metric::new(
        "messages_per_second",
        Unit::PerSecond,
        Direction::Higher,
        Reduction::Quotient,
        "Messages delivered each second",
    );
    let mut metrics = Metric::latency_quantiles("latency", "Wake-up latency");
    metrics.push(metric);
    let workload = |label: &str| WorkloadPlan {
        invocations: 3,
        expected_ns: 2_000_000_000,
        time_limit_ns: 30_000_000_000,
        ..fixtures::workload(label, metrics.clone())
    };
    let subjects = vec![
        subject("baseline", &[("policy", "other")]),
        subject("fifo", &[("policy", "fifo:1")]),
        subject("batch", &[("policy", "batch")]),
        subject("baseline-again", &[("policy", "other")]),
    ];
    Plan {
        name: "first-look".to_owned(),
        title: title.to_owned(),
        digest: "0f3a".to_owned(),
        seed: 42,
        ..fixtures::plan(subjects, vec![workload("cyclic"), workload("messaging")], 6)
    }
}

fn records() -> Vec<Record> {
    let mut latency = Histogram::new();
    latency.record_many(50_000, 900);
    latency.record_many(310_000, 3);
    let samples = vec![
        Sample::histogram("latency", latency),
        Sample::values("wall", vec![1.25e9, 1.5e9]),
        Sample::quotient("messages_per_second", 1_000_000.0, 2.5),
        Sample::proportion("frames_in_time", 59, 60),
    ];
    let run = |samples: Vec<Sample>, failure: Option<&str>| Invocation {
        samples: samples.into(),
        run: None,
        failure: failure.map(Into::into),
        disturbance: None,
    };
    let record = |sequence: u64, subject: &str, outcome, invocations: Vec<Invocation>| {
        let mut record = fixtures::record(subject, "messaging");
        (record.sequence, record.position) = (sequence, sequence as u32);
        record.started_unix_ns = 1_795_000_000_000_000_000 + sequence * 7_000_000_000;
        record.duration_ns = 6_500_000_000;
        "b".clone_into(&mut record.boot_id);
        record.seed = 7;
        record.outcome = outcome;
        record.invocations = invocations.into();
        "f".clone_into(&mut record.fingerprint);
        record
    };
    let mut drifted = record(0, "baseline", Outcome::Completed, vec![run(samples.clone(), None)]);
    drifted.fingerprint_difference.insert("load.1m".to_owned(), "0.52".to_owned());
    let failure = "exit status 1: cannot fork | out of memory";
    let failed = Outcome::Failed { reason: failure.to_owned() };
    let invalid = Outcome::Invalid {
        rule: "subject_active".to_owned(),
        detail: "policy read back other".to_owned(),
    };
    vec![
        drifted,
        record(
            1,
            "rt-throttled",
            failed,
            vec![run(vec![Sample::values("wall", vec![1.75e9])], None), run(vec![], Some(failure))],
        ),
        record(2, "rt-throttled", invalid, Vec::new()),
    ]
}

/// A finding of each verdict and strength, lower and higher being better.
pub fn every_verdict() -> (Vec<Finding>, Findings) {
    let kinds = [
        (Verdict::Better, true, 1.3, 1.2, 1.4),
        (Verdict::Better, false, 1.06, 1.01, 1.11),
        (Verdict::Worse, true, 0.7, 0.65, 0.75),
        (Verdict::Worse, false, 0.96, 0.92, 0.99),
        (Verdict::Equivalent, false, 1.003, 0.99, 1.016),
        (Verdict::Inconclusive, false, 1.02, 0.9, 1.15),
        (Verdict::Invalid, false, 1.0, 0.9, 1.1),
    ];
    let mut findings = Vec::new();
    for is_rate in [false, true] {
        for (verdict, is_clear, ratio, low, high) in kinds {
            let draft = Draft::new("wakeup", "latency_p99", "fifo");
            let draft = if is_rate { draft.rate() } else { draft };
            findings.push(
                draft.decided(verdict, is_clear).effect(52_300.0, ratio, low, high).finding(),
            );
        }
    }
    let all = campaign("every verdict", findings.clone(), Vec::new()).findings;
    (findings, all)
}

/// A finding in the making.
pub struct Draft(Finding);

impl Draft {
    pub fn new(workload: &str, metric: &str, subject: &str) -> Self {
        Self(fixtures::finding(fixtures::question(workload, metric, subject, "baseline")))
    }

    pub fn against(mut self, reference: &str) -> Self {
        self.0.question.reference = reference.to_owned();
        self
    }

    pub fn role(mut self, role: Role) -> Self {
        self.0.question.role = role;
        self
    }

    fn rate(mut self) -> Self {
        self.0.question.unit = Unit::PerSecond;
        self.0.question.direction = Direction::Higher;
        self
    }

    pub fn throughput(self) -> Self {
        let mut rate = self.rate();
        rate.0.question.unit = Unit::BytesPerSecond;
        rate
    }

    fn plain(mut self) -> Self {
        self.0.question.unit = Unit::Plain;
        self
    }

    pub fn decided(mut self, verdict: Verdict, is_clear: bool) -> Self {
        self.0.verdict = verdict;
        if matches!(verdict, Verdict::Better | Verdict::Worse) {
            self.0.strength = Some(if is_clear { Strength::Clearly } else { Strength::Detectable });
        }
        self
    }

    pub fn margin(mut self, margin: f64) -> Self {
        self.0.margin = margin;
        self
    }

    pub fn reason(mut self, reason: &str) -> Self {
        self.0.reason = Some(reason.to_owned());
        self
    }

    pub fn caveat(mut self, code: CaveatCode, detail: &str) -> Self {
        self.0.note_caveat(Caveat::new(code, detail));
        self
    }

    /// What forbids a verdict, with the caveat that tells it.
    pub fn forbidden(mut self, obstacle: Obstacle, code: CaveatCode, detail: &str) -> Self {
        self.0.obstacle = Some(obstacle);
        self.caveat(code, detail)
    }

    /// The interval that decided an equivalence, at 1 - alpha.
    pub fn shown_by(mut self, low: f64, high: f64, alpha: f64) -> Self {
        let interval = Interval { low, high };
        self.0.effect.as_mut().unwrap().deciding = Some(DecidingInterval { interval, alpha });
        self
    }

    /// Replicates that do not vary: no test, and ends of an interval that are the estimate.
    pub fn unvarying(mut self) -> Self {
        let effect = self.0.effect.as_mut().unwrap();
        effect.interval = Interval { low: effect.ratio, high: effect.ratio };
        effect.family_interval = effect.interval;
        (effect.log_sd, effect.standard_error) = (0.0, 0.0);
        (effect.p_difference, effect.p_equivalence) = (None, None);
        (effect.adjusted_difference, effect.adjusted_equivalence) = (None, None);
        self.caveat(CaveatCode::Degenerate, "every block gave the same difference")
    }

    pub fn effect(mut self, reference: f64, ratio: f64, low: f64, high: f64) -> Self {
        let raw_ratio = match self.0.question.direction {
            Direction::Higher => ratio,
            Direction::Lower => 1.0 / ratio,
        };
        self.0.pairs = 6;
        self.0.reference_value = Some(reference);
        self.0.subject_value = Some(reference * raw_ratio);
        self.0.effect = Some(Effect {
            log_mean: ratio.ln(),
            log_sd: 0.05,
            standard_error: 0.02,
            degrees: 5.0,
            skew: 0.0,
            ratio,
            raw_ratio,
            interval: Interval { low, high },
            family_interval: Interval { low: low * 0.97, high: high * 1.03 },
            p_difference: Some(0.000_02),
            p_equivalence: Some(0.4),
            adjusted_difference: Some(0.000_08),
            adjusted_equivalence: Some(0.8),
            deciding: None,
            is_sequence: false,
        });
        self.0.planning = Some(Planning {
            detectable: 0.061,
            blocks_for_difference: Some(14),
            blocks_for_equivalence: Some(18),
        });
        self.0.blocks = (0..6)
            .map(|block| BlockEffect {
                block,
                reference: reference * (1.0 + 0.01 * f64::from(block)),
                subject: reference * raw_ratio,
                log_difference: ratio.ln(),
            })
            .collect();
        self
    }

    pub fn finding(self) -> Finding {
        self.0
    }
}
