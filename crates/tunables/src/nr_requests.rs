//! How many requests may wait in a device's queue.

use crate::block_queue::{self, QueueNumber};
use contract::{Description, Factor, Knob, KnownLimit, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "nr_requests",
    summary: "how many requests of a kind may wait in the device's queue",
    doc: "Requests that the block layer keeps for a device, reads and writes each; beyond it a process that \
          wants to do I/O waits. A long queue gives the elevator more to choose from, and lets a \
          writer put more before a reader.\n\n\
          `queue/nr_requests` of the target's device.\n\n\
          What moves with it, and when it lies: changing the elevator sets it anew, so it is set after \
          that; with `none` it cannot exceed the depth of the hardware, and the kernel refuses. \
          A load that never has so many requests does not see it.\n\n\
          Sources: Documentation/ABI/stable/sysfs-block, blk_mq_update_nr_requests in block/blk-mq.c (6.12).",
};

/// BLKDEV_MIN_RQ (include/linux/blkdev.h), and more than any device takes.
const LIMITS: std::ops::RangeInclusive<u64> = 4..=65_536;

static FILE: QueueNumber =
    QueueNumber { name: "nr_requests", to_file: number, to_level: |number| number.to_string() };

fn number(text: &str) -> Result<u64, String> {
    let number = model::parse_count(text).map_err(|error| error.to_string())?;
    if LIMITS.contains(&number) {
        return Ok(number);
    }
    Err(format!("{number} is outside {} to {}", LIMITS.start(), LIMITS.end()))
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a whole number from 4 to 65536"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["64", "256"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        number(text).map(|number| Level::canonical(number.to_string()))
    }

    /// After the elevator, which resets it.
    fn order(&self) -> u8 {
        70
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![block_queue::writable("nr_requests")]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    /// queue_requests_store raises a smaller number without telling (block/blk-sysfs.c, 6.12).
    fn undo_check(&self) -> UndoCheck {
        UndoCheck::KnownLimit(KnownLimit {
            takes: "a number from 4 up (BLKDEV_MIN_RQ)",
            why_not_written: "a smaller one would be raised by writing it, and stay raised",
            is_taken: |present| {
                present.parse::<u64>().is_ok_and(|number| number >= *LIMITS.start())
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn it_is_set_after_the_elevator_and_put_back() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sdb/queue/nr_requests", "64")
            .on_disk("sdb")
            .machine();
        layouts::round_trip(&Entry, &machine, "256");
        assert!(Entry.order() > crate::elevator::Entry.order());
        assert!(Entry.parse("3").is_err());
    }

    #[test]
    fn a_number_that_the_kernel_would_raise_is_not_left() {
        let is_refused = |present: &str| Entry.undo_check().refusal(present).is_some();
        assert_eq!(["1", "3", "4", "64"].map(is_refused), [true, true, false, false]);
    }
}
