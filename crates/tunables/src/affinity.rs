//! The CPUs the workload may use.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::{CpuList, Level};
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "affinity",
    summary: "the CPUs the workload may run on",
    doc: "sched_setaffinity(2) before the workload prepares; everything it starts inherits it. One CPU \
          turns cross-CPU wake-ups into local switches; a subset keeps tasks near their caches and \
          away from others.\n\n\
          What moves with it, and when it lies: placement is the largest single effect on ping-pong \
          workloads (a wake-up of a halted other CPU costs ten times a local switch in a guest), so \
          compare schedulers with placement fixed. A workload that sets its own affinity overrides \
          this; it is read back during the run. Kernel threads and interrupts that work for it are not \
          bound. Pinned hogs and a pinned workload on the same CPU compete however idle the others are.\n\n\
          Sources: sched_setaffinity(2), kernel/sched/syscalls.c (6.12), cpuset(7).",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a list of CPUs such as 0-1"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["0", "0-1"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let cpus: CpuList = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Level::canonical(cpus.to_string()))
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(wanted) = level.as_str().parse::<CpuList>() else { return Vec::new() };
        vec![Requirement::check(format!("run on CPUs {level}"), move |machine| {
            check(machine, &wanted)
        })]
    }

    fn conflict(&self, level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let policy = others.get("policy")?.as_str();
        policy.starts_with("deadline:").then(|| {
            format!("a deadline task must be allowed on every CPU (admission control), so affinity {level} is refused")
        })
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

fn check(machine: &Machine, wanted: &CpuList) -> Result<(), (String, String)> {
    let online = machine.online_cpus().map_err(|error| (error.to_string(), String::new()))?;
    if !wanted.is_subset(&online) {
        return Err((
            format!("CPUs online are {online}"),
            "name only CPUs that are online".to_owned(),
        ));
    }
    let tried = thread_levels::in_throwaway_thread(|| {
        sys::set_affinity(0, wanted)?;
        sys::affinity(0)
    });
    match tried {
        Ok(allowed) if allowed == *wanted => Ok(()),
        Ok(allowed) => Err((
            format!("this process's cpuset leaves {allowed}"),
            "widen the cpuset or container, or name only these CPUs".to_owned(),
        )),
        Err(error) => Err((
            format!("sched_setaffinity: {error}"),
            "widen the cpuset or container, or name other CPUs".to_owned(),
        )),
    }
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let cpus = level.as_str().parse().map_err(|error| {
            contract::Error::usage(format!("cannot use the affinity {level}"), error, "")
        })?;
        launch.affinity = Some(cpus);
        Ok(())
    }

    fn read_back(
        &self,
        _machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("affinity", threads, wanted, |thread| {
            let allowed = thread_levels::alive("affinity", thread, sys::affinity(thread))?;
            Ok(allowed.map(|cpus| Level::canonical(cpus.to_string())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for cpu in sys::affinity(0).unwrap().iter().take(2) {
            crate::layouts::launch_round_trip(&Entry, &cpu.to_string());
        }
    }

    #[test]
    fn a_cpu_that_is_not_online_is_refused_with_those_that_are() {
        let machine = Machine::host("/nonexistent");
        let needs = Entry.requires(&Entry.parse("8191").unwrap());
        let missing = needs[0].met(&machine).unwrap_err();
        assert!(missing.why.contains(&machine.online_cpus().unwrap().to_string()), "{missing}");
    }

    #[test]
    fn deadline_tasks_take_no_affinity() {
        let others = [("policy".to_owned(), Level::canonical("deadline:1ms/2ms/2ms"))].into();
        assert!(Entry.conflict(&Level::canonical("0"), &others).is_some());
    }
}
