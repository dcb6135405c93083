//! The I/O weight of the workload's group against others.

use crate::{io_group, thread_levels};
use contract::{Description, Error, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "io_weight",
    summary: "I/O weight of a cgroup of the workload's own",
    doc: "The workload runs in a cgroup of this weight: where several groups want the device, bfq divides \
          its time in proportion to their weights. 100 is the default.\n\n\
          `io.bfq.weight` of the unified hierarchy; `blkio.bfq.weight` of v1.\n\n\
          What moves with it, and when it lies: only bfq looks at it, and without another group that wants \
          the device at the same time it does nothing; under any other elevator all weights are alike. \
          `io.weight` belongs to another controller (iocost), which has to be switched on for a device \
          and is left alone. A device that serves its whole queue at once has nothing to divide.\n\n\
          Sources: Documentation/block/bfq-iosched.rst, bfq_io_set_weight_legacy in block/bfq-cgroup.c \
          (6.12).",
};

/// BFQ_MIN_WEIGHT and BFQ_MAX_WEIGHT (block/bfq-iosched.h).
const LOWEST: u64 = 1;
const HIGHEST: u64 = 1000;

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a whole number from 1 to 1000; 100 is the default"
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

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![Requirement::io_group()]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let elevator = others.get("elevator")?.as_str();
        (elevator != "bfq")
            .then(|| format!("only bfq looks at weights, and the elevator is {elevator}"))
    }

    fn modules(&self, _level: &Level) -> Vec<String> {
        vec!["?bfq".to_owned()]
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
        let weight = model::parse_count(level.as_str())
            .map_err(|error| Error::usage(format!("cannot use the weight {level}"), error, ""))?;
        launch.io_weight = Some(weight);
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("io_weight", threads, wanted, |thread| {
            let Some((controller, group)) = io_group::of_task(machine, thread)? else {
                return Ok(None);
            };
            let weight = group.bfq_weight(machine, controller)?.ok_or_else(|| {
                Error::environment(
                    format!("cannot understand the weight of {}", group.path),
                    "it is no number",
                )
            })?;
            Ok(Some(Level::canonical(weight.to_string())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Layout;

    #[test]
    fn the_weight_of_a_tasks_group_is_read_in_both_hierarchies() {
        let wanted = Level::canonical("none of these");
        let unified = Layout::new("6.12.0")
            .file("/sys/fs/cgroup/cgroup.controllers", "cpu io")
            .file("/proc/5/cgroup", "0::/a")
            .file("/sys/fs/cgroup/a/io.bfq.weight", "default 300\n8:0 10")
            .machine();
        assert_eq!(Entry.read_back(&unified, &[5], &wanted).unwrap().as_str(), "300");
        let legacy = Layout::new("6.12.0")
            .file("/sys/fs/cgroup/blkio/blkio.reset_stats", "")
            .file("/proc/5/cgroup", "1:blkio:/a")
            .file("/sys/fs/cgroup/blkio/a/blkio.bfq.weight", "700")
            .machine();
        assert_eq!(Entry.read_back(&legacy, &[5], &wanted).unwrap().as_str(), "700");
    }
}
