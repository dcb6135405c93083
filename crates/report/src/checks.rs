//! Whether a campaign may be believed: what was checked, and how it came out.
//!
//! A check passes only where the records show that it was made ([`crate::observed`]); else it was
//! *not observed*, which is neither good nor bad: beside it stands why, and no result.

mod predecessors;
mod quiet_machine;
mod state;

use crate::counts;
use crate::devices::{DeviceNature, cached_by, devices, is_nameless};
use crate::observed::{
    LEAST_ORDERS, LEAST_TESTED, Provenance, fact, has_sensitivity, has_varied_order,
    least_replicates, levels_read, most_blocks, order_tested, other_levels, places, tells_order,
    whole_blocks, work_counted,
};
use crate::view::Report;
use model::{Binding, CaveatCheck, CaveatCode, ImportFact, LEAST_REPLICATES, Role, Verdict};
use phrases::{counted, noted, say};
pub use state::{Check, CheckState};
use state::{NO_TRIAL, NOTHING_RAN, not_observed, passed};

/// Said of the one comparison that no test of its order was made of.
const ONE_NOT_TESTED: &str =
    noted!("0 of 1 comparison was tested for drift, order and likeness of neighbours");

/// A check with the caveats that say what speaks against it; they decide nothing of it.
#[derive(Debug)]
pub(crate) struct CheckWithCaveats {
    pub check: Check,
    /// Codes of caveats.
    pub caveats: Vec<&'static str>,
}

/// What a check says where nothing that was found speaks against it.
type Silence = fn(&Report) -> (CheckState, String);

/// Checks that what was found may speak against ([`opposing`]), their names, and what silence
/// means.
const BY_FINDINGS: &[(CaveatCheck, &str, Silence)] = &[
    (CaveatCheck::SameWork, noted!("same work"), same_work),
    (CaveatCheck::Design, noted!("design"), design),
    (CaveatCheck::OrderAndDrift, noted!("order and drift"), order_and_drift),
    (CaveatCheck::QuietMachine, noted!("quiet machine"), quiet_machine::state),
    (CaveatCheck::EnoughData, noted!("enough data"), enough_data),
    (CaveatCheck::RobustVerdicts, noted!("robust verdicts"), robust_verdicts),
    (CaveatCheck::RealProcessor, noted!("real processor"), real_processor),
    (CaveatCheck::RealDevice, noted!("real device"), real_device),
];

/// Every check, in the order in which a sceptic asks.
pub(crate) fn checks(report: &Report) -> Vec<Check> {
    checks_with_caveats(report).into_iter().map(|one| one.check).collect()
}

/// The same with the caveats that speak against each.
pub(crate) fn checks_with_caveats(report: &Report) -> Vec<CheckWithCaveats> {
    let language = report.language;
    let alone = |check: Check| CheckWithCaveats { check, caveats: Vec::new() };
    let mut checks = vec![alone(control(report)), alone(trials(report)), evidence(report)];
    checks.extend(BY_FINDINGS.iter().map(|(check, name, silence)| {
        let (is_opposed, told) = opposing(report, *check);
        let (state, detail) = match (is_opposed, told.as_slice()) {
            (false, _) => silence(report),
            (true, []) => {
                let untold = noted!("something that was found speaks against it");
                (CheckState::Warned, language.word(untold).to_owned())
            }
            (true, told) => (CheckState::Warned, told.join(", ")),
        };
        let check = Check { name: language.word(name).to_owned(), state, detail };
        CheckWithCaveats { check, caveats: told }
    }));
    for one in &mut checks {
        withhold(report, &mut one.check);
    }
    checks
}

/// Whether something that was found speaks against a check, and the codes that say what.
fn opposing(report: &Report, check: CaveatCheck) -> (bool, Vec<&'static str>) {
    if check == CaveatCheck::RealProcessor {
        let codes = unreal_processors(report);
        return (!codes.is_empty(), codes);
    }
    let codes = CaveatCode::ALL.iter().filter(|code| code.check() == check);
    let told = codes
        .map(|code| code.as_str())
        .filter(|code| report.caveats.iter().any(|caveat| caveat.code == *code))
        .collect();
    (report.speaks_against(check), told)
}

/// What shows that no real processor was measured, by its code: `is_simulated`, and
/// `findings.findings.is_emulated` of a comparison that verdicts are about.
fn unreal_processors(report: &Report) -> Vec<&'static str> {
    let mut judged =
        report.findings.findings.iter().filter(|one| one.question.role != Role::Screen);
    let is_emulated = judged.any(|finding| finding.is_emulated);
    let facts = [(report.is_simulated, CaveatCode::Simulated), (is_emulated, CaveatCode::Tcg)];
    facts.iter().filter(|(is_so, _)| *is_so).map(|(_, code)| code.as_str()).collect()
}

/// Nothing passes by evidence that is not as it was written.
fn withhold(report: &Report, check: &mut Check) {
    if check.state == CheckState::Passed && report.is_evidence_changed() {
        check.state = CheckState::NotObserved;
        check.detail = report.language.word("the evidence is not as it was written").to_owned();
    }
}

fn same_work(report: &Report) -> (CheckState, String) {
    match Provenance::of(report) {
        Provenance::Simulated => return not_observed(report, NOTHING_RAN),
        Provenance::ImportedBlocks | Provenance::ImportedRows => {
            let nothing = noted!("the file does not show whether every subject did the same work");
            return not_observed(report, nothing);
        }
        Provenance::Ran if report.findings.failures.is_empty() => {
            return not_observed(report, NO_TRIAL);
        }
        Provenance::Ran => {}
    }
    let counted = work_counted(report);
    if counted.is_all() {
        return passed(
            report,
            noted!(
                "no subject failed more often; every run counted its work, and no latency rests on \
                 less of it"
            ),
        );
    }
    let (seen, runs) = (counted.seen, counts::runs(counted.of, report.language));
    let detail = if counted.is_about_one() {
        say!(report.language, "{seen} of {runs} counted its work", seen, runs)
    } else {
        say!(report.language, "{seen} of {runs} counted their work", seen, runs)
    };
    (CheckState::NotObserved, detail)
}

fn design(report: &Report) -> (CheckState, String) {
    if report.records.is_empty() {
        return not_observed(report, NO_TRIAL);
    }
    match Provenance::of(report) {
        Provenance::ImportedRows => not_observed(report, NO_BLOCKS),
        Provenance::ImportedBlocks if tells_order(report) => not_observed(report, NOT_DRAWN),
        Provenance::ImportedBlocks => not_observed(
            report,
            noted!("the file has blocks, and does not show in which order their runs were made"),
        ),
        Provenance::Ran | Provenance::Simulated => order_of_blocks(report),
    }
}

/// Whether the blocks of records of ours have orders that were drawn, and all their trials.
fn order_of_blocks(report: &Report) -> (CheckState, String) {
    let language = report.language;
    let (places, whole) = (places(report), whole_blocks(report));
    if !places.is_all() {
        let detail = match (places.seen, places.of) {
            (seen, 1) => say!(
                language,
                "the records of {seen} of 1 block show the place of each subject",
                seen
            ),
            (seen, all) => say!(
                language,
                "the records of {seen} of {all} blocks show the place of each subject",
                seen,
                all
            ),
        };
        return (CheckState::NotObserved, detail);
    }
    let counts = counts::whole_blocks((whole.seen, whole.of), language);
    if whole.seen < LEAST_ORDERS {
        let detail = say!(
            language,
            "{counts}; in fewer than {least} no drawn order is told from a fixed one",
            counts,
            least = LEAST_ORDERS
        );
        return (CheckState::NotObserved, detail);
    }
    if !has_varied_order(report) {
        return not_observed(report, noted!("every block has the same order"));
    }
    if !whole.is_all() {
        return (CheckState::Warned, counts);
    }
    passed(
        report,
        match Provenance::of(report) {
            Provenance::Simulated => {
                noted!("every subject was simulated in each block, in random order")
            }
            _ => noted!("runs of all subjects in blocks of random order"),
        },
    )
}

fn order_and_drift(report: &Report) -> (CheckState, String) {
    if report.records.is_empty() {
        return not_observed(report, NO_TRIAL);
    }
    match Provenance::of(report) {
        Provenance::ImportedBlocks | Provenance::ImportedRows if !tells_order(report) => {
            let nothing = noted!("the file does not show when its values were measured");
            return not_observed(report, nothing);
        }
        Provenance::ImportedRows => return not_observed(report, NO_BLOCKS),
        Provenance::ImportedBlocks | Provenance::Ran | Provenance::Simulated => {}
    }
    let language = report.language;
    let (tested, blocks) = (order_tested(report), most_blocks(report));
    let detail = if blocks < LEAST_TESTED {
        say!(
            language,
            "not tested in so few blocks: {blocks}, and the tests need {least}",
            blocks = counted!(language, blocks, "1 block", "{count} blocks"),
            least = LEAST_TESTED
        )
    } else if !tested.is_all() {
        match tested.of {
            1 => language.word(ONE_NOT_TESTED).to_owned(),
            all if tested.seen == 1 => say!(
                language,
                "1 of {all} comparisons was tested for drift, order and likeness of neighbours",
                all
            ),
            all => say!(
                language,
                "{seen} of {all} comparisons were tested for drift, order and likeness of neighbours",
                seen = tested.seen,
                all
            ),
        }
    } else if !has_varied_order(report) {
        return not_observed(report, NOT_DRAWN);
    } else {
        return predecessors::state(report);
    };
    (CheckState::NotObserved, detail)
}

fn enough_data(report: &Report) -> (CheckState, String) {
    if report.records.is_empty() {
        return not_observed(report, NO_TRIAL);
    }
    let imported = report.design.imported.as_ref();
    if imported.is_some_and(|from| from.facts.contain(&ImportFact::CopiedValues)) {
        let copied = noted!("values stand twice (COPIED), and a copy is no replicate");
        return (CheckState::Warned, report.language.word(copied).to_owned());
    }
    let language = report.language;
    match least_replicates(report) {
        None => not_observed(report, noted!("nothing was compared")),
        Some(count) if count < LEAST_REPLICATES => {
            let detail = say!(
                language,
                "a comparison has {replicates} in the records, and a verdict needs {least}",
                replicates = counts::replicates(count, language),
                least = LEAST_REPLICATES
            );
            (CheckState::NotObserved, detail)
        }
        Some(_) if Provenance::of(report) == Provenance::Ran && report.design.boots.is_none() => {
            not_observed(report, noted!("the records do not show in how many boots trials ran"))
        }
        Some(count) => {
            let detail = say!(
                language,
                "{count} replicates or more of each comparison, and no caveat asks for more",
                count
            );
            (CheckState::Passed, detail)
        }
    }
}

fn robust_verdicts(report: &Report) -> (CheckState, String) {
    if has_sensitivity(report) {
        return passed(report, noted!("no verdict hangs on one block or one method"));
    }
    not_observed(
        report,
        noted!("not every verdict was tried without one block and by another method"),
    )
}

/// `environment`: what executed a guest (`vm.engine`), else whether the machine itself is virtual
/// (`machine.is_virtual`).
fn real_processor(report: &Report) -> (CheckState, String) {
    match Provenance::of(report) {
        Provenance::Simulated => return not_observed(report, NOTHING_RAN),
        Provenance::ImportedBlocks | Provenance::ImportedRows => {
            return not_observed(report, NO_MACHINE);
        }
        Provenance::Ran if report.records.is_empty() => return not_observed(report, NO_TRIAL),
        Provenance::Ran => {}
    }
    match (fact(report, "vm.engine"), fact(report, "machine.is_virtual")) {
        (Some("kvm"), _) => {
            passed(report, noted!("guests ran on the processors of their host (KVM)"))
        }
        (Some(engine), _) => (CheckState::Warned, engine.to_owned()),
        (None, Some("false")) => passed(report, noted!("trials ran on the machine itself")),
        (None, Some(_)) => not_observed(
            report,
            noted!(
                "trials ran on a virtual machine; the records do not show what executes its \
                 processors"
            ),
        ),
        (None, None) => {
            not_observed(report, noted!("the records do not show what executed the trials"))
        }
    }
}

/// The devices that trials may have written to ([`devices`]), and what is known to answer in their
/// place ([`cached_by`]).
fn real_device(report: &Report) -> (CheckState, String) {
    match Provenance::of(report) {
        Provenance::Simulated => return not_observed(report, NOTHING_RAN),
        Provenance::ImportedBlocks | Provenance::ImportedRows => {
            return not_observed(report, NO_MACHINE);
        }
        Provenance::Ran if report.records.is_empty() => return not_observed(report, NO_TRIAL),
        Provenance::Ran => {}
    }
    let language = report.language;
    let devices = devices(report);
    let of = |wanted: DeviceNature| {
        let chosen = devices.iter().filter(|(_, nature)| *nature == wanted);
        chosen.map(|(name, _)| name.as_str()).collect::<Vec<&str>>()
    };
    let (made_up, unknown) = (of(DeviceNature::Virtual), of(DeviceNature::Unknown));
    if !made_up.is_empty() {
        let detail = say!(
            language,
            "{devices}: a virtual device, and what is below it was measured with it",
            devices = made_up.join(", ")
        );
        return (CheckState::Warned, detail);
    }
    if let Some(why) = cached_by(report) {
        return (CheckState::NotObserved, why.to_owned());
    }
    let is_named = unknown.iter().all(|name| !is_nameless(name));
    if devices.is_empty() || !is_named {
        return not_observed(report, noted!("no storage device was recorded"));
    }
    if !unknown.is_empty() {
        let detail = say!(
            language,
            "{devices}: the records do not show that it is a real device",
            devices = unknown.join(", ")
        );
        return (CheckState::NotObserved, detail);
    }
    let detail = say!(
        language,
        "{devices}: a disk of a machine that is no virtual one, and no memory of a host is known to \
         answer in its place",
        devices = of(DeviceNature::Real).join(", ")
    );
    (CheckState::Passed, detail)
}

const NO_BLOCKS: &str = noted!("the file does not show that blocks were run");
const NOT_DRAWN: &str = noted!("the records do not show that the order was drawn");
const NO_MACHINE: &str = noted!("the file does not show what was measured on");

/// The A/A control must not be told apart from its twin, and that is shown only where it was shown
/// to be alike.
fn control(report: &Report) -> Check {
    let findings = report.findings.findings.iter();
    let controls: Vec<Verdict> = findings
        .filter(|finding| finding.question.role == Role::Control)
        .map(|finding| finding.verdict)
        .collect();
    let count = |wanted: &[Verdict]| controls.iter().filter(|one| wanted.contains(one)).count();
    let differ = count(&[Verdict::Better, Verdict::Worse]);
    let alike = count(&[Verdict::Equivalent]);
    let undecided = count(&[Verdict::Inconclusive]);
    let language = report.language;
    let comparisons = |count: usize| counts::comparisons(count, language);
    let (state, detail) = match (controls.len(), differ, alike) {
        (0, ..) => {
            (CheckState::NotApplicable, language.word("the campaign has no control").to_owned())
        }
        (all, 1.., _) => (
            CheckState::Failed,
            say!(
                language,
                "told apart from its twin in {differ} of {comparisons}",
                differ,
                comparisons = counts::comparisons(all, language)
            ),
        ),
        (all, 0, 0) => (
            if undecided > 0 { CheckState::NotShown } else { CheckState::NotObserved },
            say!(
                language,
                "neither told apart from its twin nor shown to be like it: {comparisons}",
                comparisons = comparisons(all)
            ),
        ),
        (all, 0, alike) if alike < all => (
            CheckState::Passed,
            say!(
                language,
                "shown to be like its twin in {alike} of {comparisons}, undecided in the others",
                alike,
                comparisons = comparisons(all)
            ),
        ),
        (all, ..) => (
            CheckState::Passed,
            say!(
                language,
                "shown to be like its twin: {comparisons}",
                comparisons = comparisons(all)
            ),
        ),
    };
    Check { name: language.word("A/A control").to_owned(), state, detail }
}

/// Trials that failed or broke a rule: the level was not in force, a scheduler left.
pub(crate) fn trials(report: &Report) -> Check {
    let language = report.language;
    let counts = &report.findings.failures;
    let (failed, invalid): (u64, u64) = counts
        .iter()
        .fold((0, 0), |(failed, invalid), count| (failed + count.failed, invalid + count.invalid));
    let all: u64 = counts.iter().map(|count| count.trials).sum();
    let other = other_levels(report);
    let (state, detail) = if all == 0 {
        (CheckState::NotApplicable, language.word("no trial ran").to_owned())
    } else if other.seen > 0 {
        let detail = match (other.seen, other.of) {
            (seen, 1) => say!(
                language,
                "the records of {seen} of 1 trial show another level than its subject's",
                seen
            ),
            (seen, all) => say!(
                language,
                "the records of {seen} of {all} trials show another level than their subject's",
                seen,
                all
            ),
        };
        (CheckState::Failed, detail)
    } else if failed + invalid == 0 {
        in_force(report)
    } else {
        (
            CheckState::Warned,
            say!(
                language,
                "{failed} of {trials} failed and {invalid} broke a rule",
                failed,
                trials = counts::trials(all, language),
                invalid
            ),
        )
    };
    let mut check = Check { name: language.word("trials").to_owned(), state, detail };
    withhold(report, &mut check);
    check
}

/// Whether plan and records are as they were written (`binding`, `findings.is_evidence_changed`).
fn evidence(report: &Report) -> CheckWithCaveats {
    let language = report.language;
    let code = CaveatCode::EvidenceChanged;
    let (state, detail, caveats) = if report.is_evidence_changed() {
        (CheckState::Failed, code.as_str().to_owned(), vec![code.as_str()])
    } else {
        let (state, words) = match report.binding {
            Binding::Checked if report.records.is_empty() => (CheckState::NotObserved, NO_TRIAL),
            Binding::Checked => (
                CheckState::Passed,
                noted!("each record is bound to the plan and to the record before it"),
            ),
            Binding::Absent => (
                CheckState::NotObserved,
                noted!("the records are not bound, as in campaigns of an earlier version"),
            ),
            Binding::NotLookedAt => (
                CheckState::NotObserved,
                noted!("not checked: the campaign goes on, or its files could not be read whole"),
            ),
        };
        (state, language.word(words).to_owned(), Vec::new())
    };
    let check = Check { name: language.word("unchanged evidence").to_owned(), state, detail };
    CheckWithCaveats { check, caveats }
}

/// Whether what was compared was in force, where no trial failed or broke a rule.
fn in_force(report: &Report) -> (CheckState, String) {
    let language = report.language;
    match Provenance::of(report) {
        Provenance::Simulated => return not_observed(report, NOTHING_RAN),
        Provenance::ImportedBlocks | Provenance::ImportedRows => {
            let nothing = noted!("the file does not show that what it compares was in force");
            return not_observed(report, nothing);
        }
        Provenance::Ran => {}
    }
    if report.subjects.iter().all(|subject| subject.levels.is_empty()) {
        let nothing = noted!("no trial failed or broke a rule, and no subject sets a level");
        return passed(report, nothing);
    }
    let read = levels_read(report);
    if read.is_all() {
        let detail = counted!(
            language,
            read.of,
            "every level was read back in force in 1 trial",
            "every level was read back in force in all {count} trials"
        );
        return (CheckState::Passed, detail);
    }
    let detail = match (read.seen, read.of) {
        (seen, 1) => {
            say!(language, "the records of {seen} of 1 trial show every level read back", seen)
        }
        (seen, all) => say!(
            language,
            "the records of {seen} of {all} trials show every level read back",
            seen,
            all
        ),
    };
    (CheckState::NotObserved, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_caveat_is_left_out_of_what_is_checked() {
        let is_checked = |code: &&CaveatCode| {
            BY_FINDINGS.iter().any(|(check, ..)| *check == code.check())
                || code.check() == CaveatCheck::Elsewhere
        };
        assert!(CaveatCode::ALL.iter().all(|code| is_checked(&code)));
    }
}
