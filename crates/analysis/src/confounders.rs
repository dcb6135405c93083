//! What kernels differ in besides themselves: settings that nobody asked about.
//!
//! A comparison of two kernels is one of their defaults too. Whatever the experiment
//! does not set, and what differs between the subjects' machines, is named beside the
//! finding, so that nobody takes a clock source for a scheduler.

use model::{Caveat, CaveatCode, Finding, Findings, Fingerprint, Outcome, Plan, Question, Record};
use std::collections::{BTreeMap, BTreeSet};

/// What tells kernels apart.
const KERNEL: &str = "kernel.release";
/// The factor that names kernels.
const KERNEL_FACTOR: &str = "kernel";
/// Their configurations always differ; the digest only says so.
const CONFIGURATION: &str = "kernel.config_digest";

/// A fact that can make one kernel look better than another.
struct Confounder {
    /// Key of the fingerprint.
    key: &'static str,
    /// What people call it.
    name: &'static str,
    /// The factor that sets it; it is no confounder where the experiment uses that.
    factor: &'static str,
}

const fn confounder(key: &'static str, name: &'static str, factor: &'static str) -> Confounder {
    Confounder { key, name, factor }
}

/// In the order they are told.
static CONFOUNDERS: [Confounder; 8] = [
    confounder("clock.source", "clock source", ""),
    confounder("knob.autogroup", "autogroup", "autogroup"),
    confounder("knob.preempt", "preemption", "preempt"),
    confounder("kernel.preempt_model", "built-in preemption", "preempt"),
    confounder("kernel.hz", "HZ", ""),
    confounder("kernel.tick", "tick", ""),
    confounder("kernel.mitigations", "mitigations", ""),
    confounder("kernel.rt_runtime_us", "real-time runtime (us)", ""),
];

/// The values that a subject's machines had, by key.
type Facts<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Names the confounders of every finding that compares different kernels.
/// `environment` is the fingerprint that the records hold their differences from.
pub fn name_confounders(
    findings: &mut Findings,
    plan: &Plan,
    records: &[Record],
    environment: &Fingerprint,
) {
    let facts: BTreeMap<&str, Facts<'_>> = plan
        .subjects
        .iter()
        .map(|subject| (subject.id.as_str(), facts_of(&subject.id, records, environment)))
        .collect();
    let of_cases = findings.use_cases.iter_mut().flat_map(|case| case.comparisons.iter_mut());
    for finding in findings.findings.iter_mut().chain(of_cases) {
        if let Some(detail) = differing(finding, plan, &facts) {
            finding.note_caveat(Caveat::new(CaveatCode::DefaultsDiffer, detail));
            finding.caveats.sort();
        }
    }
}

/// A key that a record does not hold as a difference has the campaign's value.
fn facts_of<'a>(subject: &str, records: &'a [Record], environment: &'a Fingerprint) -> Facts<'a> {
    let keys = CONFOUNDERS.iter().map(|confounder| confounder.key).chain([KERNEL, CONFIGURATION]);
    // What a trial that did not complete ran in is not known for sure, and no number rests on it.
    let is_own =
        |record: &&Record| record.subject == subject && record.outcome == Outcome::Completed;
    let own: Vec<&Record> = records.iter().filter(is_own).collect();
    let values = |key: &str| -> BTreeSet<&'a str> {
        let value = |record: &&'a Record| {
            let seen = record.fingerprint_difference.get(key).or_else(|| environment.0.get(key));
            seen.map_or("absent", String::as_str)
        };
        own.iter().map(value).collect()
    };
    keys.map(|key| (key, values(key))).collect()
}

fn differing(finding: &Finding, plan: &Plan, facts: &BTreeMap<&str, Facts<'_>>) -> Option<String> {
    let question = &finding.question;
    let of = |id: &String| facts.get(id.as_str());
    let (subject, reference) = (of(&question.subject)?, of(&question.reference)?);
    let is_told = |key: &str| {
        let (own, other) = (&subject[key], &reference[key]);
        !own.is_empty() && !other.is_empty() && own != other
    };
    let level =
        |id: &String| plan.subject(id).and_then(|subject| subject.levels.get(KERNEL_FACTOR));
    // Two builds of one release are two kernels.
    if !is_told(KERNEL) && level(&question.subject) == level(&question.reference) {
        return None;
    }
    let mut differences: Vec<String> = CONFOUNDERS
        .iter()
        .filter(|confounder| !is_asked(plan, question, confounder) && is_told(confounder.key))
        .map(|confounder| {
            let Confounder { key, name, .. } = confounder;
            format!("{name} {} against {}", listed(&subject[key]), listed(&reference[key]))
        })
        .collect();
    if is_told(CONFIGURATION) {
        differences.push("their configurations differ".to_owned());
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// Whether the experiment sets it for both: then it is the question, or equal.
fn is_asked(plan: &Plan, question: &Question, confounder: &Confounder) -> bool {
    [&question.subject, &question.reference].into_iter().all(|id| {
        plan.subject(id).is_some_and(|subject| subject.levels.contains_key(confounder.factor))
    })
}

fn listed(values: &BTreeSet<&str>) -> String {
    values.iter().copied().collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{metric, plan, records};
    use crate::judge;
    use model::{Direction, Level, Reduction};

    fn environment() -> Fingerprint {
        let facts = [
            ("kernel.release", "6.12.117"),
            ("clock.source", "tsc"),
            ("knob.autogroup", "on"),
            ("knob.preempt", "voluntary"),
            ("kernel.hz", "250"),
            ("kernel.config_digest", "aa"),
        ];
        Fingerprint(facts.map(|(key, value)| (key.to_owned(), value.to_owned())).into())
    }

    /// Subject `b` ran on a kernel that differs in this.
    fn detail(plan: &Plan, differences: &[(&str, &str)]) -> Option<String> {
        let values = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0];
        let mut all = records("a", &values);
        all.extend(records("a-again", &values));
        let mut other = records("b", &values);
        for record in &mut other {
            record.fingerprint_difference = differences
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect();
        }
        all.extend(other);
        let mut findings = judge(plan, &all);
        name_confounders(&mut findings, plan, &all, &environment());
        let caveat = |subject: &str| {
            let own = findings.findings.iter().find(|f| f.question.subject == subject).unwrap();
            let mut named = own.caveats.iter().filter(|c| c.code == CaveatCode::DefaultsDiffer);
            let first = named.next().map(|caveat| caveat.detail.clone());
            assert_eq!(named.next(), None, "one for each finding");
            first
        };
        assert_eq!(caveat("a-again"), None, "the control has the reference's kernel");
        caveat("b")
    }

    fn two_kernels() -> Plan {
        let metrics = vec![metric("m", Direction::Lower, Reduction::Median)];
        plan(&["a", "a-again", "b"], metrics, 6)
    }

    #[test]
    fn what_kernels_differ_in_is_named_once_for_each_finding() {
        let older = [
            ("kernel.release", "6.1.176"),
            ("clock.source", "hpet"),
            ("knob.autogroup", "off"),
            ("knob.preempt", "absent"),
            ("kernel.config_digest", "bb"),
            ("kernel.command_line", "quiet"),
        ];
        let expected = "clock source hpet against tsc; autogroup off against on; preemption absent \
                        against voluntary; their configurations differ";
        assert_eq!(detail(&two_kernels(), &older).as_deref(), Some(expected));
    }

    #[test]
    fn settings_that_the_experiment_sets_are_no_confounders() {
        let older = [("kernel.release", "6.1.176"), ("knob.autogroup", "off")];
        let mut plan = two_kernels();
        assert!(detail(&plan, &older).is_some());
        let set = |plan: &mut Plan, subject: usize| {
            let levels = &mut plan.subjects[subject].levels;
            levels.insert("autogroup".to_owned(), Level::canonical("on"));
        };
        set(&mut plan, 2);
        let one_sided = detail(&plan, &older);
        assert!(one_sided.is_some(), "the reference has its kernel's default");
        set(&mut plan, 0);
        assert_eq!(detail(&plan, &older), None);
    }

    #[test]
    fn one_kernel_and_equal_defaults_are_not_worth_a_word() {
        assert_eq!(detail(&two_kernels(), &[("clock.source", "hpet")]), None);
        assert_eq!(detail(&two_kernels(), &[("kernel.release", "6.1.176")]), None);
    }

    #[test]
    fn two_builds_of_one_release_are_two_kernels() {
        let mut plan = two_kernels();
        for (subject, kernel) in [(0, "build:quick"), (2, "build:slow")] {
            let levels = &mut plan.subjects[subject].levels;
            levels.insert("kernel".to_owned(), Level::canonical(kernel));
        }
        let found = detail(&plan, &[("kernel.hz", "1000")]);
        assert_eq!(found.as_deref(), Some("HZ 1000 against 250"));
    }

    #[test]
    fn an_experiment_that_equalises_hears_of_what_still_differs() {
        let mut plan = two_kernels();
        plan.vm = Some(model::VmSettings { is_equalised: true, ..model::VmSettings::default() });
        let detail = detail(&plan, &[("kernel.release", "6.1.176"), ("kernel.hz", "1000")]);
        assert_eq!(detail.as_deref(), Some("HZ 1000 against 250"));
    }
}
