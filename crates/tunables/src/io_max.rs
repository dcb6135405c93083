//! I/O limits of the workload's group on the target's device.

use crate::{block_queue, io_group, thread_levels};
use contract::{Description, Error, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::{IoLimits, Level};
use sys::{Controller, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "io_max",
    summary: "I/O limits of a cgroup of the workload's own",
    doc: "Bytes and operations that the workload may read and write in a second on the target's device: \
          `rbps=10MiB`, `wbps=…`, `riops=100`, `wiops=…`, several separated by commas.\n\n\
          `io.max` of the unified hierarchy; `blkio.throttle.*_device` of v1.\n\n\
          What moves with it, and when it lies: requests wait before the elevator sees them, so that a \
          limit hides what the elevator does. Buffered writes are charged to the group on the unified \
          hierarchy only. Large requests are split, and count as several operations.\n\n\
          Sources: Documentation/admin-guide/cgroup-v2.rst, block/blk-throttle.c (6.12).",
};

const SYNTAX: &str = "limits such as rbps=10MiB,wiops=100 (rbps, wbps, riops, wiops)";

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        SYNTAX
    }

    fn examples(&self) -> &'static [&'static str] {
        &["rbps=10M", "rbps=1M,wiops=100"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        parsed(text).map(|limits| Level::canonical(shown(&limits)))
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![Requirement::io_group(), block_queue::is_there()]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

fn parsed(text: &str) -> Result<IoLimits, String> {
    let mut limits = IoLimits::default();
    for part in text.split(',') {
        let (name, value) =
            part.trim().split_once('=').ok_or_else(|| format!("`{text}` is not {SYNTAX}"))?;
        let number = match name.trim() {
            "rbps" | "wbps" => model::parse_size(value).map_err(|error| error.to_string())?,
            "riops" | "wiops" => model::parse_count(value).map_err(|error| error.to_string())?,
            other => return Err(format!("`{other}` is not one of rbps, wbps, riops, wiops")),
        };
        if number == 0 {
            return Err(format!("{name} = 0 would stop everything"));
        }
        let place = match name.trim() {
            "rbps" => &mut limits.read_bytes,
            "wbps" => &mut limits.write_bytes,
            "riops" => &mut limits.reads,
            _ => &mut limits.writes,
        };
        if place.replace(number).is_some() {
            return Err(format!("{name} is named twice"));
        }
    }
    Ok(limits)
}

fn shown(limits: &IoLimits) -> String {
    let size = |name: &str, value: Option<u64>| {
        value.map(|value| format!("{name}={}", model::format_size(value)))
    };
    let count = |name: &str, value: Option<u64>| value.map(|value| format!("{name}={value}"));
    let words = [
        size("rbps", limits.read_bytes),
        size("wbps", limits.write_bytes),
        count("riops", limits.reads),
        count("wiops", limits.writes),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(",")
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let limits = parsed(level.as_str())
            .map_err(|why| Error::usage(format!("cannot use the limits {level}"), why, ""))?;
        launch.io_max = Some(limits);
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        let device = block_queue::device(machine)?;
        let number = sys::device_number(machine, &device).ok_or_else(|| {
            Error::environment("cannot read io_max back", format!("{device} has no number"))
        })?;
        thread_levels::uniform("io_max", threads, wanted, |thread| {
            let Some((controller, group)) = io_group::of_task(machine, thread)? else {
                return Ok(None);
            };
            let limits = match controller {
                Controller::Unified => unified(&machine.read(&group.file("io.max"))?, &number),
                Controller::Legacy => {
                    let read = |name: &str| -> contract::Result<Option<u64>> {
                        let path = group.file(&format!("blkio.throttle.{name}_device"));
                        Ok(legacy(&machine.read(&path)?, &number))
                    };
                    IoLimits {
                        read_bytes: read("read_bps")?,
                        write_bytes: read("write_bps")?,
                        reads: read("read_iops")?,
                        writes: read("write_iops")?,
                    }
                }
            };
            let text = shown(&limits);
            Ok(Some(Level::canonical(if text.is_empty() { "none" } else { &text })))
        })
    }
}

/// The limits of one device in `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn unified(text: &str, number: &str) -> IoLimits {
    let line = text.lines().find_map(|line| line.strip_prefix(number)?.strip_prefix(' '));
    let of = |name: &str| {
        let words = line.unwrap_or_default().split_whitespace();
        let mut values = words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        values.next().and_then(|value| value.parse().ok())
    };
    IoLimits {
        read_bytes: of("rbps"),
        write_bytes: of("wbps"),
        reads: of("riops"),
        writes: of("wiops"),
    }
}

/// The limit of one device in a file of v1: `8:16 2097152`.
fn legacy(text: &str, number: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(number)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_canonical() {
        assert_eq!(Entry.parse("wiops=100, rbps=1024KiB").unwrap().as_str(), "rbps=1M,wiops=100");
        for text in ["", "rbps", "rbps=0", "rbps=1,rbps=2", "bps=1"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_another_device_are_not_ours() {
        let text =
            "8:160 rbps=1 wbps=1 riops=1 wiops=1\n8:16 rbps=2097152 wbps=max riops=max wiops=120\n";
        assert_eq!(shown(&unified(text, "8:16")), "rbps=2M,wiops=120");
        assert_eq!(shown(&unified(text, "8:1")), "");
        assert_eq!(legacy("8:16 42\n", "8:16"), Some(42));
        assert_eq!(legacy("8:160 42\n", "8:16"), None);
    }
}
