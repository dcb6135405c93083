//! What stood still while an invocation ran: the executor itself, by its heartbeat; children of ours,
//! by what the kernel tells their parent; other processes of the trial, by looking at them
//! (docs/method.md#m-suspended).
//!
//! The load process has no heartbeat of its own: it has one thread, so that workloads may fork, and
//! what wakes in it would be measured.

use crate::heartbeat::{Heartbeat, HeartbeatReport, is_longer, seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use sys::ProcessStat;

/// As many processes are looked at each time, so that looking stays cheap.
pub(crate) const LOOKED_AT: usize = 64;

/// What stands still while an invocation runs.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    heartbeat: Option<Heartbeat>,
    stopped: StoppedProcesses,
}

impl Standstill {
    /// Begins to watch. These children live already: what happened to them before does not count.
    pub(crate) fn begin(children: &BTreeSet<i32>) -> Self {
        for child in children {
            sys::was_stopped(*child);
        }
        Self { heartbeat: Heartbeat::start(), stopped: StoppedProcesses::default() }
    }

    /// Looks at processes of the trial.
    pub(crate) fn look(&mut self, at_ns: u64, processes: impl Iterator<Item = ProcessStat>) {
        self.stopped.look(at_ns, processes);
    }

    /// Ends it, while the load process and the other children still live: what the heartbeat saw, and
    /// why the invocation cannot be believed, if so.
    pub(crate) fn end(
        &mut self,
        load: i32,
        children: &BTreeSet<i32>,
        longest: Duration,
    ) -> (HeartbeatReport, Option<String>) {
        let report = self.heartbeat.take().map(Heartbeat::stop).unwrap_or_default();
        let own = || report.suspension("the executor", longest);
        let of_load = || {
            sys::was_stopped(load)
                .then(|| format!("the load process ({load}) was stopped by a signal"))
        };
        let of_other = || {
            let stopped = children.iter().find(|child| sys::was_stopped(**child))?;
            Some(format!("a process beside the workload ({stopped}) was stopped by a signal"))
        };
        let suspension = own().or_else(of_load).or_else(of_other);
        (report, suspension.or_else(|| self.stopped.suspension(longest)))
    }
}

/// Processes that were found stopped, and for how long.
#[derive(Debug, Default)]
struct StoppedProcesses {
    /// Those of the last look: since when, and the CPU time that they had then.
    since: BTreeMap<i32, (u64, u64)>,
    /// The one that stood longest: its name and for how long.
    longest: Option<(String, u64)>,
}

impl StoppedProcesses {
    /// A process stands as long as each look finds it stopped (`T` of proc_pid_stat(5)) with the same
    /// CPU time: one that is stopped and continued again and again runs in between.
    fn look(&mut self, at_ns: u64, processes: impl Iterator<Item = ProcessStat>) {
        let mut stopped = BTreeMap::new();
        for stat in processes.filter(|stat| stat.state == 'T') {
            let ticks = stat.user_ticks.saturating_add(stat.system_ticks);
            let known = self.since.get(&stat.pid).filter(|(_, before)| *before == ticks);
            let since_ns = known.map_or(at_ns, |(since_ns, _)| *since_ns);
            let length_ns = at_ns.saturating_sub(since_ns);
            if self.longest.as_ref().is_none_or(|(_, longest_ns)| length_ns > *longest_ns) {
                self.longest = Some((format!("{} ({})", stat.comm, stat.pid), length_ns));
            }
            stopped.insert(stat.pid, (since_ns, ticks));
        }
        self.since = stopped;
    }

    fn suspension(&self, longest: Duration) -> Option<String> {
        let (name, length_ns) =
            self.longest.as_ref().filter(|(_, length_ns)| is_longer(*length_ns, longest))?;
        // Whatever started it chose the name: behind the colon a redaction takes it out.
        let stopped = format!("stopped for {} at least", seconds(*length_ns));
        Some(format!("a process of the trial was {stopped}: {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::LONGEST_STANDSTILL;

    const S: u64 = 1_000_000_000;

    fn process(pid: i32, state: char, user_ticks: u64) -> ProcessStat {
        ProcessStat {
            pid,
            comm: "worker".to_owned(),
            state,
            parent: 1,
            group: pid,
            user_ticks,
            system_ticks: 0,
            waited_for_ticks: 0,
            start_ticks: 1,
            processor: 0,
        }
    }

    /// Looks once a second at a process in these states, with this CPU time.
    fn suspension(looks: &[(char, u64)]) -> Option<String> {
        let mut stopped = StoppedProcesses::default();
        for (at_s, (state, ticks)) in looks.iter().enumerate() {
            let others = [process(8, 'S', 0), process(9, 'R', at_s as u64)];
            let all = others.into_iter().chain([process(7, *state, *ticks)]);
            stopped.look(at_s as u64 * S, all);
        }
        stopped.suspension(LONGEST_STANDSTILL)
    }

    #[test]
    fn a_process_that_each_look_finds_stopped_stands_still() {
        assert_eq!(suspension(&[('R', 1), ('S', 2), ('S', 2), ('S', 2), ('R', 9)]), None);
        let stands = [('R', 1), ('T', 2), ('T', 2), ('T', 2), ('T', 2), ('R', 3)];
        assert_eq!(
            suspension(&stands).unwrap(),
            "a process of the trial was stopped for 3.0 s at least: worker (7)"
        );
        assert_eq!(suspension(&stands[..4]), None, "two seconds are not longer than two");
        assert_eq!(suspension(&[('T', 2), ('R', 2), ('T', 2), ('T', 2)]), None, "it went on");
        let by_turns = [('T', 2), ('T', 50), ('T', 99), ('T', 150), ('T', 201)];
        assert_eq!(suspension(&by_turns), None, "it ran in between");
        let traced = [('t', 2), ('t', 2), ('t', 2), ('t', 2), ('t', 2)];
        assert_eq!(suspension(&traced), None, "its tracer is part of the workload");
    }
}
