//! Write-back throttling.

use crate::block_queue::{self, QueueNumber};
use contract::{Description, Factor, Knob, KnownLimit, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "wbt",
    summary: "the read latency that write-back throttling aims at",
    doc: "Background writes are slowed down until reads take no longer than this; `0` switches it \
          off. The kernel's own aim is 2 ms, 75 ms on a spinning disk.\n\n\
          `queue/wbt_lat_usec` of the target's device, in microseconds.\n\n\
          What moves with it, and when it lies: bfq switches it off when it is chosen, so it is set after \
          the elevator; on a kernel without it, or a device whose driver does without, the file cannot \
          be read. It acts on buffered writes only, and only where reads are measured as too slow.\n\n\
          Sources: Documentation/ABI/stable/sysfs-block, block/blk-wbt.c (6.12).",
};

/// A second; beyond it there is no throttling to speak of.
const LONGEST_NS: u64 = 1_000_000_000;

static FILE: QueueNumber = QueueNumber {
    name: "wbt_lat_usec",
    to_file: |text| nanoseconds(text).map(|ns| ns / 1_000),
    to_level: |us| level(us * 1_000),
};

fn nanoseconds(text: &str) -> Result<u64, String> {
    if text.trim() == "0" {
        return Ok(0);
    }
    let ns = model::parse_duration(text).map_err(|error| error.to_string())?;
    if ns <= LONGEST_NS && ns % 1_000 == 0 {
        return Ok(ns);
    }
    Err(format!("{text} is not a whole number of microseconds up to 1s"))
}

fn level(ns: u64) -> String {
    if ns == 0 { "0".to_owned() } else { model::format_duration(ns) }
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration up to 1s, such as 2ms; 0 switches it off"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["2ms", "0"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        nanoseconds(text).map(|ns| Level::canonical(level(ns)))
    }

    /// After the elevator, of which bfq switches it off.
    fn order(&self) -> u8 {
        70
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![block_queue::writable("wbt_lat_usec")]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    /// wbt_set_min_lat notes that the number was chosen by hand (block/blk-wbt.c, 6.12).
    fn undo_check(&self) -> UndoCheck {
        UndoCheck::KnownLimit(KnownLimit {
            takes: "a number of microseconds",
            why_not_written: "writing what the kernel chose makes it a choice by hand, which no longer follows the elevator",
            is_taken: |present| present.parse::<u64>().is_ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn durations_become_microseconds_and_are_put_back() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sdb/queue/wbt_lat_usec", "2000")
            .on_disk("sdb")
            .machine();
        for level in ["0", "75ms"] {
            layouts::round_trip(&Entry, &machine, level);
        }
        assert!(Entry.parse("100ns").is_err());
    }
}
