//! Utilisation clamps of the workload's tasks.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "uclamp",
    summary: "lower and upper clamp of the utilisation the scheduler sees",
    doc: "Tells the scheduler to treat the task's utilisation as at least MIN and at most MAX of 1024: \
          schedutil then asks for a higher or lower frequency, and placement on asymmetric CPUs \
          prefers bigger or smaller cores.\n\n\
          sched_setattr(2) with SCHED_FLAG_UTIL_CLAMP since 5.3, on kernels with CONFIG_UCLAMP_TASK; \
          others answer EOPNOTSUPP.\n\n\
          What moves with it, and when it lies: without the schedutil governor and without asymmetric \
          CPUs nothing reads the value. The system-wide limits `sched_util_clamp_min` and `_max` bound \
          what is effective, while the attribute reads back as requested. A queue uses the maximum over \
          its runnable tasks, so a neighbour may hide it. Deadline tasks are not clamped.\n\n\
          Sources: Documentation/scheduler/sched-util-clamp.rst, kernel/sched/core.c (6.12).",
};

/// SCHED_CAPACITY_SCALE (include/linux/sched.h).
const HIGHEST: u32 = 1024;

fn clamps(text: &str) -> Result<(u32, u32), String> {
    let bad = || format!("`{text}` is not MIN/MAX with 0 <= MIN <= MAX <= 1024, such as 512/1024");
    let (low, high) = text.trim().split_once('/').ok_or_else(bad)?;
    let low: u32 = low.trim().parse().map_err(|_| bad())?;
    let high: u32 = high.trim().parse().map_err(|_| bad())?;
    // A maximum of zero reads back like no clamp at all.
    if low <= high && (1..=HIGHEST).contains(&high) { Ok((low, high)) } else { Err(bad()) }
}

fn level_of(clamp: Option<(u32, u32)>) -> Level {
    Level::canonical(clamp.map_or("none".to_owned(), |(low, high)| format!("{low}/{high}")))
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "MIN/MAX between 0 and 1024, such as 512/1024"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["512/1024", "0/256"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        clamps(text).map(|clamp| level_of(Some(clamp)))
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(clamp) = clamps(level.as_str()) else { return Vec::new() };
        vec![Requirement::check(format!("the utilisation clamp {level}"), move |_machine| {
            match thread_levels::try_attributes(|attributes| attributes.clamp = Some(clamp)) {
                Ok(now) if now.clamp == Some(clamp) => Ok(()),
                Ok(now) => {
                    Err((format!("the kernel made it {}", level_of(now.clamp)), String::new()))
                }
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Err((
                    format!("sched_setattr: {error} (CONFIG_UCLAMP_TASK is not set)"),
                    "choose a kernel built with CONFIG_UCLAMP_TASK=y (in a virtual machine)"
                        .to_owned(),
                )),
                Err(error) => Err((
                    format!("sched_setattr: {error}"),
                    thread_levels::remedy(&error).to_owned(),
                )),
            }
        })]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let policy = others.get("policy")?.as_str();
        policy.starts_with("deadline:").then(|| "deadline tasks are not clamped".to_owned())
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
        let clamp = clamps(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the clamp {level}"), error, "")
        })?;
        launch.clamp = Some(clamp);
        Ok(())
    }

    fn read_back(
        &self,
        _machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::attributes_read_back("uclamp", threads, wanted, |now| level_of(now.clamp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        crate::layouts::launch_round_trip(&Entry, "128/512");
    }

    #[test]
    fn a_kernel_without_clamps_is_told_from_a_missing_privilege() {
        let level = Entry.parse("0/512").unwrap();
        match Entry.requires(&level)[0].met(&Machine::host("/nonexistent")) {
            Ok(()) => testing::unsupported("a kernel without utilisation clamps"),
            Err(missing) => assert!(missing.remedy.contains("CONFIG_UCLAMP_TASK"), "{missing:?}"),
        }
    }

    #[test]
    fn clamps_are_ordered_and_bounded() {
        for text in ["512", "512/256", "0/1025", "-1/5", "0/0", "a/b"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }
}
