//! The weight of the workload's group against others.

use crate::{task_group, thread_levels};
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::{Controller, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "cpu_weight",
    summary: "CPU weight of a cgroup of the workload's own",
    doc: "The workload runs in a cgroup of this weight: on a contended CPU its share is its weight over \
          the sum of its siblings' weights. 100 is the default.\n\n\
          `cpu.weight` of the unified hierarchy; `cpu.shares` of v1, where 1024 stands for 100 \
          (weight x 1024 / 100, rounded down).\n\n\
          What moves with it, and when it lies: it divides time between *siblings* of the same parent \
          only, and on each CPU by the group's load there, so a group with few runnable threads gets \
          less than its weight over the whole machine. Background load in another autogroup or slice \
          competes at another level. Being in any cpu cgroup takes the workload out of its autogroup. \
          Without contention it does nothing.\n\n\
          Sources: Documentation/admin-guide/cgroup-v2.rst, calc_group_shares in kernel/sched/fair.c, \
          cpu_weight_write_u64 in kernel/sched/core.c (6.12).",
};

/// CGROUP_WEIGHT_DFL (include/linux/cgroup.h).
pub(crate) const DEFAULT: u64 = 100;
/// CGROUP_WEIGHT_MIN and CGROUP_WEIGHT_MAX.
const LOWEST: u64 = 1;
const HIGHEST: u64 = 10_000;

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a whole number from 1 to 10000; 100 is the default"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["100", "1000"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let weight = model::parse_count(text).map_err(|error| error.to_string())?;
        if (LOWEST..=HIGHEST).contains(&weight) {
            return Ok(Level::canonical(weight.to_string()));
        }
        Err(format!("{weight} is outside {LOWEST} to {HIGHEST}"))
    }

    /// After `cpu_max`, whose `max` asks for the default weight.
    fn order(&self) -> u8 {
        51
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![Requirement::cpu_group()]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        task_group::conflict_with_policy("cpu_weight", others)
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

fn shares(weight: u64) -> u64 {
    weight * 1024 / 100
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let weight = model::parse_count(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the weight {level}"), error, "")
        })?;
        launch.cpu_weight = Some(weight);
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("cpu_weight", threads, wanted, |thread| {
            let Some((controller, group)) = task_group::cpu_group(machine, thread)? else {
                return Ok(None);
            };
            let path = group.file(match controller {
                Controller::Unified => "cpu.weight",
                Controller::Legacy => "cpu.shares",
            });
            let text = machine.read(&path)?;
            let value: u64 = text.trim().parse().map_err(|_| {
                contract::Error::environment(
                    format!("cannot understand {path}"),
                    format!("`{}` is not a number", text.trim()),
                )
            })?;
            Ok(Some(match controller {
                Controller::Unified => Level::canonical(value.to_string()),
                Controller::Legacy => weight_of_shares(value),
            }))
        })
    }
}

/// Different weights have different shares, because a step is 10.24 of them.
fn weight_of_shares(value: u64) -> Level {
    let weight = (value * 100).div_ceil(1024);
    Level::canonical(if shares(weight) == value {
        weight.to_string()
    } else {
        format!("{value} shares")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Layout;

    #[test]
    fn every_weight_survives_its_translation_to_shares() {
        for weight in LOWEST..=HIGHEST {
            assert_eq!(weight_of_shares(shares(weight)).as_str(), weight.to_string());
        }
        assert_eq!(weight_of_shares(2).as_str(), "2 shares");
    }

    #[test]
    fn the_weight_of_a_tasks_group_is_read_in_both_hierarchies() {
        let wanted = Level::canonical("none of these");
        let unified = Layout::new("6.12.0")
            .file("/sys/fs/cgroup/cgroup.controllers", "cpu")
            .file("/proc/5/cgroup", "0::/a")
            .file("/sys/fs/cgroup/a/cpu.weight", "300")
            .machine();
        assert_eq!(Entry.read_back(&unified, &[5], &wanted).unwrap().as_str(), "300");
        let legacy = Layout::new("6.12.0")
            .file("/sys/fs/cgroup/cpu/cpu.shares", "1024")
            .file("/proc/5/cgroup", "1:cpu:/a")
            .file("/sys/fs/cgroup/cpu/a/cpu.shares", "3072")
            .machine();
        assert_eq!(Entry.read_back(&legacy, &[5], &wanted).unwrap().as_str(), "300");
    }
}
