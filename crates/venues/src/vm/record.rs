//! What the venue adds to a guest's record, and the record of a trial that no guest could
//! report.

use super::emulator;
use super::guest::Lost;
use super::qemu::Engine;
use contract::{BootSpec, Knob, TrialCatalogue};
use model::{Caveat, CaveatCode, Fingerprint, LevelReading, Outcome, Record, Trial, TrialFact};

/// Rule broken by a guest that does not boot: its subject never was.
pub(crate) const NOT_BOOTED: &str = "NOT_BOOTED";
/// Rule broken by an emulator that ends the guest itself.
const EMULATOR_FAULT: &str = "EMULATOR_FAULT";
/// Rule broken by a lost second guest, or by the load generator on the host: no trial's far
/// side is the subject.
const PEER_LOST: &str = "PEER_LOST";
/// Rule broken by a boot factor that the guest does not have.
const LEVEL_NOT_SET: &str = "LEVEL_NOT_SET";

/// When a trial began, by the host's clocks.
pub(crate) struct Began {
    unix_ns: u64,
    monotonic_ns: u64,
}

impl Began {
    pub(crate) fn now() -> Self {
        Self { unix_ns: sys::unix_ns(), monotonic_ns: sys::monotonic_ns() }
    }
}

/// What a guest that was lost says of its subject: it failed, unless the emulator did.
pub(crate) fn lost(engine: Engine, vcpus: usize, why: &Lost, last_lines: &str) -> Outcome {
    if let Some(line) = emulator::fault(engine, vcpus, last_lines) {
        let detail = format!("the emulator lost the guest, not the subject: {why}: {line}");
        return Outcome::Invalid { rule: EMULATOR_FAULT.to_owned(), detail };
    }
    Outcome::Failed { reason: format!("{why}; the guest's console: {last_lines}") }
}

/// A trial without a guest's own record.
pub(crate) fn without_guest(
    trial: &Trial,
    began: &Began,
    boot_id: &str,
    outcome: Outcome,
) -> Record {
    let mut record = Record::of(trial, outcome);
    set_times(&mut record, began);
    boot_id.clone_into(&mut record.boot_id);
    record
}

/// Puts the host's times into a guest's record: a guest's clock may be behind.
pub(crate) fn set_times(record: &mut Record, began: &Began) {
    record.started_unix_ns = began.unix_ns;
    record.duration_ns = sys::monotonic_ns() - began.monotonic_ns;
}

/// How many processors share how many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub vcpus: usize,
    pub host_cpus: usize,
}

/// Every record of an emulated processor says so, and of one that shares the host's CPUs.
pub(crate) fn stamp(record: &mut Record, engine: Engine, crowd: Crowd, frames_while_running: u64) {
    let detail = match engine {
        Engine::Kvm => None,
        Engine::Tcg => Some("QEMU emulated the processor"),
        Engine::Counting { .. } => {
            Some("QEMU emulated the processor and counted instructions as nanoseconds")
        }
    };
    if let Some(detail) = detail {
        record.note_fact(TrialFact::Emulated, detail);
    }
    if crowd.vcpus > crowd.host_cpus && !matches!(engine, Engine::Counting { .. }) {
        let (processors, cpus) =
            (model::counted(crowd.vcpus, "processor"), model::counted(crowd.host_cpus, "CPU"));
        let detail = format!("{processors} on {cpus}");
        record.caveats.push(Caveat::new(CaveatCode::Overcommit, detail));
    }
    if frames_while_running > 0 {
        let frames = model::counted(frames_while_running, "frame");
        let detail = format!("{frames} came or went while the workload ran");
        record.caveats.push(Caveat::new(CaveatCode::Interference, detail));
    }
}

/// A trial whose far side was lost, however it went on its own side.
pub(crate) fn without_peer(record: &mut Record, why: String) {
    record.outcome = Outcome::Invalid { rule: PEER_LOST.to_owned(), detail: why };
}

/// A trial after which the guest could not say what it is: nothing shows that its subject was.
pub(crate) fn unread(record: &mut Record, lost: &Lost) {
    if record.outcome == Outcome::Completed {
        let detail = format!("the guest cannot be asked what it is: {lost}");
        record.outcome = Outcome::Invalid { rule: LEVEL_NOT_SET.to_owned(), detail };
    }
}

/// Reads the boot factors back from what the guest said of itself before its first trial and
/// after this one; a completed trial whose guest was another is invalid.
pub(crate) fn read_back(
    record: &mut Record,
    catalogue: &TrialCatalogue,
    trial: &Trial,
    spec: &BootSpec,
    [before, after]: [&Fingerprint; 2],
) {
    for (id, wanted) in &trial.subject.levels {
        let Some(Knob::Boot(knob)) = catalogue.factor(id).map(|factor| factor.knob()) else {
            continue;
        };
        let before = knob.read_back(before, spec, wanted);
        let after = knob.read_back(after, spec, wanted);
        let other = [&before, &after].into_iter().find(|found| *found != wanted);
        if let (Some(found), Outcome::Completed) = (other, &record.outcome) {
            let detail = format!("{id} should be {wanted} and is {found}");
            record.outcome = Outcome::Invalid { rule: LEVEL_NOT_SET.to_owned(), detail };
        }
        // Nobody asks a guest while its workload runs.
        record.levels.insert(id.clone(), LevelReading { before, during: Vec::new(), after });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LONGEST_TEXT, inert_text, is_obeyed, legible_lines};
    use wire::{FailureKind, GuestFailure};

    #[test]
    fn what_a_guest_says_when_it_refuses_is_bounded_in_the_record_and_inert_when_shown() {
        let hostile = "evil\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}31m\u{202e}\nFORGED ";
        let refused = Lost::Refused(GuestFailure {
            kind: FailureKind::Environment,
            attempted: hostile.to_owned(),
            cause: hostile.repeat(LONGEST_TEXT),
            remedy: String::new(),
        });
        let outcome = lost(Engine::Kvm, 1, &refused, "it says nothing");
        let Outcome::Failed { reason } = outcome else { panic!() };
        assert!(reason.starts_with("the guest refused: evil"), "{reason:.80}");
        assert!(reason.ends_with(" more characters); the guest's console: it says nothing"));
        assert!(reason.chars().count() < LONGEST_TEXT + 200, "{}", reason.chars().count());
        assert_eq!(reason.lines().count(), 1, "no line of it passes for one of ours");
        // As a terminal shows it, and a report.
        for shown in [legible_lines(&reason), inert_text(&reason)] {
            assert!(shown.contains("evil") && !shown.contains(is_obeyed));
        }
    }

    #[test]
    fn a_guest_that_its_emulator_lost_is_no_failure_of_the_subject() {
        let words = "[   71.4] Oops: int3: 0000 [#1] SMP NOPTI | [   71.5] CPU: 1 UID: 0";
        let ended = Lost::Ended("exit status: 0".to_owned());
        let of = |engine| lost(engine, 2, &ended, words);
        let Outcome::Invalid { rule, detail } = of(Engine::Tcg) else { panic!() };
        assert_eq!(rule, "EMULATOR_FAULT");
        assert!(detail.ends_with(": [   71.4] Oops: int3: 0000 [#1] SMP NOPTI"), "{detail}");
        assert!(matches!(of(Engine::Kvm), Outcome::Failed { .. }));
    }
}
