//! The custom slice of the workload's fair tasks.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "slice",
    summary: "the custom EEVDF slice of the workload's tasks (since 6.12)",
    doc: "A fair task may ask for slices of its own length: sched_runtime of sched_setattr(2) under \
          SCHED_OTHER or SCHED_BATCH, since 6.12. A shorter slice means an earlier virtual deadline, so \
          the task is picked sooner and may preempt a longer one that is running (PREEMPT_SHORT); its \
          share of the CPU stays the same.\n\n\
          The kernel clamps silently to 0.1..100 ms (__setparam_fair), so levels outside are refused \
          here. Kernels before 6.12 ignore it silently: the level is read back.\n\n\
          What moves with it, and when it lies: a default task *reports* the base slice, so a tool that \
          reads attributes and writes them back pins a custom slice without a word; only runtime 0 \
          gives the default back. A pinned slice does not follow `base_slice` or hotplug. Tasks that \
          mostly sleep are picked on wake-up anyway and show no effect; it needs tasks that use the CPU \
          beside several others. Slices below a tick need HRTICK to end early. Children inherit it.\n\n\
          Sources: __setparam_fair in kernel/sched/syscalls.c and set_protect_slice in \
          kernel/sched/fair.c (6.12 to 6.18); commit 857b158dc5e8.",
};

/// Bounds of __setparam_fair (kernel/sched/syscalls.c, 6.12).
const LOWEST_NS: u64 = 100_000;
const HIGHEST_NS: u64 = 100_000_000;

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration from 0.1ms to 100ms, such as 0.5ms"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["0.5ms", "10ms"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let slice_ns = model::parse_duration(text).map_err(|error| error.to_string())?;
        if (LOWEST_NS..=HIGHEST_NS).contains(&slice_ns) {
            return Ok(level_of(slice_ns));
        }
        Err(format!(
            "{} is outside 100us to 100ms, and the kernel would clamp it silently",
            level_of(slice_ns)
        ))
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(slice_ns) = model::parse_duration(level.as_str()) else { return Vec::new() };
        vec![Requirement::check(
            format!("a custom slice of {level} (kernel 6.12 or later)"),
            move |machine| {
                let later = "choose kernel 6.12 or later (in a virtual machine)".to_owned();
                let tried = thread_levels::try_attributes(|attributes| {
                    attributes.policy = sys::Policy::Other;
                    attributes.priority = 0;
                    attributes.runtime_ns = slice_ns;
                });
                match tried {
                    Ok(now) if now.runtime_ns == slice_ns => Ok(()),
                    Ok(now) => {
                        let release = machine.kernel_release().unwrap_or_default();
                        Err((
                            format!(
                                "kernel {release} ignored it: the slice reads {}",
                                level_of(now.runtime_ns)
                            ),
                            later,
                        ))
                    }
                    Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                        Err((format!("sched_setattr: {error}"), later))
                    }
                    Err(error) => Err((
                        format!("sched_setattr: {error}"),
                        thread_levels::remedy(&error).to_owned(),
                    )),
                }
            },
        )]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let policy = others.get("policy")?.as_str();
        let is_fair = ["other", "batch"].contains(&policy);
        (!is_fair)
            .then(|| format!("a custom slice belongs to policy other or batch, not to {policy}"))
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
        let slice_ns = model::parse_duration(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the slice {level}"), error, "")
        })?;
        launch.slice_ns = Some(slice_ns);
        Ok(())
    }

    fn read_back(
        &self,
        _machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::attributes_read_back("slice", threads, wanted, |now| {
            level_of(now.runtime_ns)
        })
    }
}

fn level_of(slice_ns: u64) -> Level {
    Level::canonical(model::format_duration(slice_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for text in ["0.1ms", "0.5ms", "100ms"] {
            crate::layouts::launch_round_trip(&Entry, text);
        }
    }

    #[test]
    fn what_the_kernel_would_clamp_is_refused() {
        for text in ["99us", "101ms", "0"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_belongs_to_other_and_batch() {
        for (policy, is_conflict) in
            [("idle", true), ("deadline:1ms/2ms/2ms", true), ("batch", false)]
        {
            let others = [("policy".to_owned(), Level::canonical(policy))].into();
            assert_eq!(
                Entry.conflict(&Level::canonical("1ms"), &others).is_some(),
                is_conflict,
                "{policy}"
            );
        }
    }
}
