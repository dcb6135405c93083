//! The scheduling policy of the workload's tasks.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use std::io;
use sys::{Machine, Policy, SchedulingAttributes};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "policy",
    summary: "the scheduling policy of the workload's tasks",
    doc: "`other` is the fair class, `batch` the same without preempting on wake-up, `idle` the fair \
          class at weight 3; `fifo:N` and `rr:N` are real-time and run before every fair task; \
          `deadline:BUDGET/DEADLINE/PERIOD` reserves a budget in each period.\n\n\
          Set by sched_setattr(2) before the workload prepares, inherited by everything it starts; \
          deadline tasks cannot fork, so each task takes that policy on itself.\n\n\
          What moves with it, and when it lies: real-time and deadline tasks have no timer slack, so \
          part of a gain over `other` in timed wake-ups is the 50 us of slack, not the scheduler. \
          RT throttling (sched_rt_runtime_us, 95 % by default, replaced by a fair server from 6.12) \
          stops a real-time hog for 50 ms of each second. A real-time workload that spins starves the \
          harness and the background load. In a v1 cpu cgroup whose cpu.rt_runtime_us is 0, as in \
          every new one, the kernel answers EPERM even to root. Under sched_ext the policies other, \
          batch and idle all go to the BPF scheduler unless it switched only SCHED_EXT tasks.\n\n\
          Sources: sched(7), sched_setattr(2), kernel/sched/syscalls.c (6.12), \
          Documentation/scheduler/sched-deadline.rst.",
};

/// A level of this factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    policy: Policy,
    priority: u32,
    deadline_ns: [u64; 3],
}

impl Choice {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, rest) =
            text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let plain = |policy| Choice { policy, priority: 0, deadline_ns: [0; 3] };
        match (name, rest) {
            ("other", None) => Ok(plain(Policy::Other)),
            ("batch", None) => Ok(plain(Policy::Batch)),
            ("idle", None) => Ok(plain(Policy::Idle)),
            ("fifo", Some(rest)) => Ok(Choice { priority: priority(rest)?, ..plain(Policy::Fifo) }),
            ("rr", Some(rest)) => {
                Ok(Choice { priority: priority(rest)?, ..plain(Policy::RoundRobin) })
            }
            ("deadline", Some(rest)) => {
                Ok(Choice { deadline_ns: reservation(rest)?, ..plain(Policy::Deadline) })
            }
            ("fifo" | "rr", None) => Err(format!("`{name}` needs a priority, such as {name}:10")),
            ("deadline", None) => {
                Err("`deadline` needs a reservation, such as deadline:2ms/10ms/10ms".to_owned())
            }
            _ => Err(format!(
                "`{text}` is not one of other, batch, idle, fifo:N, rr:N, deadline:R/D/P"
            )),
        }
    }

    fn of(attributes: &SchedulingAttributes) -> Self {
        let is_deadline = attributes.policy == Policy::Deadline;
        let reservation = [attributes.runtime_ns, attributes.deadline_ns, attributes.period_ns];
        Self {
            policy: attributes.policy,
            priority: attributes.priority,
            deadline_ns: if is_deadline { reservation } else { [0; 3] },
        }
    }

    fn level(&self) -> Level {
        let name = self.policy.name();
        Level::canonical(match self.policy {
            Policy::Other | Policy::Batch | Policy::Idle | Policy::Ext => name.to_owned(),
            Policy::Fifo | Policy::RoundRobin => format!("{name}:{}", self.priority),
            Policy::Deadline => {
                let text = self.deadline_ns.map(model::format_duration);
                format!("{name}:{}", text.join("/"))
            }
        })
    }

    fn is_real_time(&self) -> bool {
        matches!(self.policy, Policy::Fifo | Policy::RoundRobin | Policy::Deadline)
    }
}

fn priority(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(priority @ 1..=99) => Ok(priority),
        _ => Err(format!("`{text}` is not a priority from 1 to 99")),
    }
}

fn reservation(text: &str) -> Result<[u64; 3], String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [budget, deadline, period] = parts[..] else {
        return Err(format!("`{text}` is not budget/deadline/period, such as 2ms/10ms/10ms"));
    };
    let parse = |text| model::parse_duration(text).map_err(|error| error.to_string());
    let times = [parse(budget)?, parse(deadline)?, parse(period)?];
    // The kernel ignores bits below 1 << DL_SCALE (kernel/sched/deadline.c, __checkparam_dl).
    if times[0] < 1024 {
        return Err("the budget is at least 1024ns".to_owned());
    }
    if times[0] > times[1] || times[1] > times[2] {
        return Err("budget, deadline and period must not decrease".to_owned());
    }
    Ok(times)
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "other, batch, idle, fifo:N, rr:N or deadline:BUDGET/DEADLINE/PERIOD"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["batch", "fifo:10", "deadline:2ms/10ms/10ms"]
    }

    fn default_level(&self) -> Option<&'static str> {
        Some("other")
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        Choice::parse(text).map(|choice| choice.level())
    }

    fn brings_along(&self, level: &Level) -> Option<&'static str> {
        let choice = Choice::parse(level.as_str()).ok()?;
        choice.is_real_time().then_some(
            "timers of real-time tasks have no slack, those of others fire up to timer_slack (50us by default) late",
        )
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(choice) = Choice::parse(level.as_str()) else { return Vec::new() };
        vec![Requirement::check(format!("the policy {level}"), move |machine| {
            let tried = thread_levels::try_attributes(|attributes| take_on(attributes, &choice));
            match tried {
                Ok(now) if Choice::of(&now) == choice => Ok(()),
                Ok(now) => Err((
                    format!("the kernel made it {}", Choice::of(&now).level()),
                    "choose another level".to_owned(),
                )),
                Err(error) => {
                    Err((format!("sched_setattr: {error}"), remedy(machine, &choice, &error)))
                }
            }
        })]
    }

    fn conflict(&self, level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let choice = Choice::parse(level.as_str()).ok()?;
        let has = |name: &&str| others.contains_key(*name);
        if choice.policy == Policy::Deadline && has(&"affinity") {
            return Some("a deadline task must be allowed on every CPU (admission control), so affinity is refused".to_owned());
        }
        if choice.is_real_time() {
            let fair_only = ["nice", "slice", "timer_slack", "cpu_max", "cpu_weight"];
            return fair_only
                .iter()
                .find(|name| has(name))
                .map(|name| format!("{name} has no effect under policy {level}"));
        }
        None
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

fn take_on(attributes: &mut SchedulingAttributes, choice: &Choice) {
    attributes.policy = choice.policy;
    attributes.priority = choice.priority;
    if choice.policy == Policy::Deadline {
        [attributes.runtime_ns, attributes.deadline_ns, attributes.period_ns] = choice.deadline_ns;
    }
}

fn remedy(machine: &Machine, choice: &Choice, error: &io::Error) -> String {
    if error.raw_os_error() == Some(libc::EPERM) && choice.is_real_time() {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        if let Ok(Some((sys::Controller::Legacy, group))) =
            crate::task_group::cpu_group(machine, own)
        {
            let file = group.file("cpu.rt_runtime_us");
            if machine.read(&file).is_ok_and(|text| text.trim() == "0") {
                return format!(
                    "{file} is 0: start from a cpu cgroup with real-time budget, such as the root one"
                );
            }
        }
        if choice.policy == Policy::Deadline && machine.is_root() {
            return "a deadline task must be allowed on every CPU: start without an affinity or cpuset".to_owned();
        }
        return "run as root or with CAP_SYS_NICE, raise RLIMIT_RTPRIO (ulimit -r), or use a virtual machine".to_owned();
    }
    thread_levels::remedy(error).to_owned()
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let choice = Choice::parse(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the policy {level}"), error, "")
        })?;
        launch.policy = Some(choice.policy);
        launch.priority = choice.priority;
        launch.deadline_ns = (choice.policy == Policy::Deadline).then_some(choice.deadline_ns);
        Ok(())
    }

    fn read_back(
        &self,
        _machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::attributes_read_back("policy", threads, wanted, |now| {
            Choice::of(now).level()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_canonical_and_nonsense_is_refused() {
        for (text, canonical) in [
            ("other", "other"),
            (" fifo:10", "fifo:10"),
            ("rr:99", "rr:99"),
            ("deadline:2000us/10ms/0.01s", "deadline:2ms/10ms/10ms"),
        ] {
            assert_eq!(Entry.parse(text).unwrap().as_str(), canonical);
        }
        for text in [
            "fifo",
            "fifo:0",
            "fifo:100",
            "rr:-1",
            "batch:1",
            "ext",
            "deadline:10ms/2ms/10ms",
            "deadline:2ms/3ms",
            "deadline:1us/2us/3us",
        ] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for text in ["other", "batch", "idle", "fifo:7", "rr:3", "deadline:1ms/100ms/100ms"] {
            crate::layouts::launch_round_trip(&Entry, text);
        }
    }

    #[test]
    fn what_a_real_time_policy_makes_pointless_is_a_conflict() {
        let with = |name: &str| [(name.to_owned(), Level::canonical("1"))].into();
        for (policy, other, is_conflict) in [
            ("fifo:1", "nice", true),
            ("rr:1", "slice", true),
            ("fifo:1", "cpu_max", true),
            ("fifo:1", "affinity", false),
            ("deadline:1ms/2ms/2ms", "affinity", true),
            ("batch", "nice", false),
        ] {
            let conflict = Entry.conflict(&Entry.parse(policy).unwrap(), &with(other));
            assert_eq!(conflict.is_some(), is_conflict, "{policy} with {other}: {conflict:?}");
        }
    }
}
