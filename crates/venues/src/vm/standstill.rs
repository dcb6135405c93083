//! What stood still while a guest ran a trial, as its host sees it: QEMU that was stopped, a guest
//! that QEMU paused or whose clock was halted, and this process itself (docs/method.md#m-suspended). What the guest sees,
//! its own executor tells.

use super::peer::Peer;
use super::qemu::Qemu;
use executor::{Heartbeat, HeartbeatReport, LONGEST_STANDSTILL, LONGEST_STANDSTILL_OF_GUESTS};
use model::{Caveat, CaveatCode, Outcome, Phase, Record};
use wire::WireAnswer;

/// A guest's clock may run slower than its host's by this share: an emulated one is calibrated
/// against an emulated timer, and clock_adjtime(2) slews the host's by 0.05 % at most.
const SLOWEST_SHARE: u64 = 20;

/// What stands still while a trial runs in a guest.
pub(crate) struct GuestStandstill {
    heartbeat: Option<Heartbeat>,
    /// Processes that the trial needs, and what each is.
    processes: Vec<(i32, &'static str)>,
    runs: RunLengths,
    /// Why a run cannot be believed, by the two clocks.
    halted: Option<String>,
}

impl GuestStandstill {
    /// Begins to watch a guest, and the second one where there is one. What was stopped or paused
    /// before does not count.
    pub(crate) fn begin(qemu: &mut Qemu, peer: Option<&mut Peer>) -> Self {
        let mut processes = vec![(qemu.pid(), "QEMU")];
        processes.extend(peer.as_ref().map(|peer| (peer.pid(), "QEMU of the second guest")));
        let sender = qemu.host_load.as_ref();
        processes.extend(sender.map(|sender| (sender.pid(), "the load generator on the host")));
        for (pid, _) in &processes {
            sys::was_stopped(*pid);
        }
        paused(qemu, peer);
        let (heartbeat, runs) = (Heartbeat::start(), RunLengths::default());
        Self { heartbeat, processes, runs, halted: None }
    }

    /// Notes when an answer of the guest arrived.
    pub(crate) fn note(&mut self, answer: &WireAnswer) {
        let is_run = matches!(answer, WireAnswer::Phase { phase: Phase::Running { .. } });
        self.runs.note(is_run, sys::monotonic_ns());
    }

    /// Holds the lengths of runs by the guest's clock against the host's, and adds to the record by
    /// how much these are longer.
    pub(crate) fn compare(&mut self, record: &mut Record, guests_ns: &[u64]) {
        let unseen = unseen(&self.runs.lengths_ns, guests_ns);
        for (invocation, (unseen_ns, _)) in record.invocations.iter_mut().zip(&unseen) {
            if let Some(disturbance) = &mut invocation.disturbance {
                disturbance.unseen_ns = Some(*unseen_ns);
            }
        }
        self.halted =
            unseen.into_iter().find_map(|(unseen_ns, host_ns)| halted(unseen_ns, host_ns));
    }

    /// Ends it: a trial in which something stood still is invalid, also where it failed.
    pub(crate) fn end(mut self, record: &mut Record, qemu: &mut Qemu, peer: Option<&mut Peer>) {
        let seen = self.heartbeat.take().map(Heartbeat::stop).unwrap_or_default();
        let Some(detail) = self.suspension(&seen, paused(qemu, peer)) else { return };
        let code = CaveatCode::Suspended;
        if matches!(record.outcome, Outcome::Completed | Outcome::Failed { .. }) {
            let rule = code.as_str().to_owned();
            record.outcome = Outcome::Invalid { rule, detail: detail.clone() };
        }
        // The guest may have told what it saw of the same.
        match record.caveats.iter_mut().find(|caveat| caveat.code == code) {
            Some(known) => {
                known.detail.push_str("; ");
                known.detail.push_str(&detail);
            }
            None => record.caveats.push(Caveat::new(code, detail)),
        }
    }

    /// While this process stood still nobody held the guest's clock against the host's, so its own
    /// standstill comes first.
    fn suspension(&self, seen: &HeartbeatReport, paused: Option<String>) -> Option<String> {
        let own = seen.suspension("the process that runs the campaign", LONGEST_STANDSTILL);
        let stopped = || {
            let (pid, name) = self.processes.iter().find(|(pid, _)| sys::was_stopped(*pid))?;
            Some(format!("{name} ({pid}) was stopped by a signal"))
        };
        own.or_else(stopped).or(paused).or_else(|| self.halted.clone())
    }
}

/// Which guest was paused since this was asked last, if one was. Both are asked, so that nothing of
/// this trial is told of the next one.
fn paused(qemu: &mut Qemu, peer: Option<&mut Peer>) -> Option<String> {
    let tell = |guest: &str, pid: i32| format!("{guest} was paused by its QEMU ({pid})");
    let first = qemu.control.was_paused().then(|| tell("the guest", qemu.pid()));
    let second =
        peer.and_then(|peer| peer.was_paused().then(|| tell("the second guest", peer.pid())));
    first.or(second)
}

/// Lengths of runs by the host's clock: from the arrival of the phase that tells of one to the next
/// answer.
#[derive(Default)]
struct RunLengths {
    began_ns: Option<u64>,
    lengths_ns: Vec<u64>,
}

impl RunLengths {
    fn note(&mut self, is_run: bool, at_ns: u64) {
        let began_ns = self.began_ns.take();
        self.lengths_ns.extend(began_ns.map(|began_ns| at_ns.saturating_sub(began_ns)));
        self.began_ns = is_run.then_some(at_ns);
    }
}

/// By how much each run was longer for the host, and how long it was for it. Nothing where the guest
/// told of other runs than came: nobody knows which is which.
fn unseen(hosts_ns: &[u64], guests_ns: &[u64]) -> Vec<(u64, u64)> {
    if hosts_ns.len() != guests_ns.len() {
        return Vec::new();
    }
    let pairs = hosts_ns.iter().zip(guests_ns);
    pairs.map(|(host_ns, guest_ns)| (host_ns.saturating_sub(*guest_ns), *host_ns)).collect()
}

/// Why a run that was so much longer for the host cannot be believed, if so.
fn halted(unseen_ns: u64, host_ns: u64) -> Option<String> {
    let longest_ns = LONGEST_STANDSTILL_OF_GUESTS.as_nanos() as u64;
    let is_beyond = unseen_ns > longest_ns.max(host_ns / SLOWEST_SHARE);
    is_beyond.then(|| {
        format!(
            "the guest's clock stood still for {:.1} s of the {:.1} s of a run",
            unseen_ns as f64 / 1e9,
            host_ns as f64 / 1e9
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_run_is_from_its_phase_to_the_next_answer() {
        let mut runs = RunLengths::default();
        for (is_run, at_s) in [(false, 1), (true, 2), (false, 5), (true, 6), (true, 8), (false, 9)]
        {
            runs.note(is_run, at_s * S);
        }
        assert_eq!(runs.lengths_ns, [3 * S, 2 * S, S]);
    }

    #[test]
    fn a_clock_that_was_halted_shows_by_the_hosts() {
        let of = |hosts: &[u64], guests: &[u64]| unseen(hosts, guests);
        assert_eq!(of(&[15 * S, 3 * S], &[3 * S, 3 * S]), [(12 * S, 15 * S), (0, 3 * S)]);
        assert_eq!(of(&[3 * S], &[3 * S + 7]), [(0, 3 * S)], "an answer may be quick");
        assert!(of(&[3 * S, 3 * S], &[3 * S]).is_empty(), "which is which");
        let told = halted(12 * S, 15 * S).unwrap();
        assert_eq!(told, "the guest's clock stood still for 12.0 s of the 15.0 s of a run");
        // As a pause of 12 s in a run of 3 s gives it; answers that are late on a busy host do not.
        for (unseen_ns, host_ns, is_halted) in [
            (5 * S, 8 * S, false),
            (5 * S + 1, 8 * S, true),
            (4 * S, 4 * S, false),
            (12 * S, 240 * S, false),
            (13 * S, 240 * S, true),
            (0, 3_600 * S, false),
        ] {
            assert_eq!(halted(unseen_ns, host_ns).is_some(), is_halted, "{unseen_ns} of {host_ns}");
        }
    }
}
