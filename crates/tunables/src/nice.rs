//! The nice value of the workload's tasks.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "nice",
    summary: "the nice value of the workload's tasks",
    doc: "Each step changes a task's weight by a factor of about 1.25, hence its share of a contended \
          CPU by about 10 %; -20 weighs 88761, 0 weighs 1024, 19 weighs 15. Set by sched_setattr(2) and \
          inherited.\n\n\
          What moves with it, and when it lies: it acts inside a task group only. With autogroup, tasks \
          of another session are another group, and only the nice value of `/proc/PID/autogroup` \
          divides time between the two: measure with background load of the same session, or expect \
          no effect. Under EEVDF the weight also scales the virtual deadline, so a nicer task waits \
          longer, but its slice in real time stays the same. Alone on a CPU it does nothing.\n\n\
          Sources: sched_prio_to_weight in kernel/sched/core.c (6.12), sched(7), setpriority(2).",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a whole number from -20 to 19"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["5", "-10"]
    }

    fn default_level(&self) -> Option<&'static str> {
        Some("0")
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        match text.trim().parse::<i32>() {
            Ok(nice @ -20..=19) => Ok(Level::canonical(nice.to_string())),
            _ => Err(format!("`{text}` is not a whole number from -20 to 19")),
        }
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(nice) = level.as_str().parse::<i32>() else { return Vec::new() };
        vec![Requirement::check(format!("the nice value {level}"), move |_machine| {
            match thread_levels::try_attributes(|attributes| attributes.nice = nice) {
                Ok(now) if now.nice == nice => Ok(()),
                Ok(now) => Err((format!("the kernel made it {}", now.nice), String::new())),
                Err(error) => Err((
                    format!("sched_setattr: {error}"),
                    "run as root or with CAP_SYS_NICE, raise RLIMIT_NICE (ulimit -e), or use a virtual machine".to_owned(),
                )),
            }
        })]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let policy = others.get("policy")?.as_str();
        let is_fair = ["other", "batch"].contains(&policy);
        (!is_fair).then(|| format!("nice has no effect under policy {policy}"))
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let nice = level.as_str().parse().map_err(|error| {
            contract::Error::usage(format!("cannot use the nice value {level}"), error, "")
        })?;
        launch.nice = Some(nice);
        Ok(())
    }

    fn read_back(
        &self,
        _machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::attributes_read_back("nice", threads, wanted, |now| {
            Level::canonical(now.nice.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for text in ["5", "19", "-5"] {
            crate::layouts::launch_round_trip(&Entry, text);
        }
    }

    #[test]
    fn it_belongs_to_the_fair_policies_that_use_its_weight() {
        for (policy, is_conflict) in
            [("fifo:1", true), ("idle", true), ("batch", false), ("other", false)]
        {
            let others = [("policy".to_owned(), Level::canonical(policy))].into();
            assert_eq!(
                Entry.conflict(&Level::canonical("5"), &others).is_some(),
                is_conflict,
                "{policy}"
            );
        }
        assert!(Entry.parse("20").is_err() && Entry.parse("-21").is_err());
    }
}
