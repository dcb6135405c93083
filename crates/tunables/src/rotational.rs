//! Whether the kernel takes a device for a spinning disk.

use crate::block_queue::{self, QueueNumber};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "rotational",
    summary: "whether the kernel takes the device for a spinning disk",
    doc: "`yes` or `no`. bfq idles for the next request of a process on a spinning disk and not on one \
          that has queues and no heads; file systems spread their blocks otherwise; write-back throttling \
          aims at 75 ms instead of 2 ms.\n\n\
          `queue/rotational` of the target's device. It is what drivers report, and virtual disks often \
          report it wrongly.\n\n\
          What moves with it, and when it lies: it changes the kernel's belief and not the disk. \
          bfq reads it when it is chosen and when its devices change, a file system when it is mounted: \
          what was there before keeps its belief.\n\n\
          Sources: Documentation/ABI/stable/sysfs-block, bfq_bfqq_may_idle and bfq_init_queue in \
          block/bfq-iosched.c, block/blk-wbt.c (6.12).",
};

static FILE: QueueNumber = QueueNumber {
    name: "rotational",
    to_file: flag,
    to_level: |number| if number == 0 { "no".to_owned() } else { "yes".to_owned() },
};

fn flag(text: &str) -> Result<u64, String> {
    match text.trim() {
        "yes" => Ok(1),
        "no" => Ok(0),
        other => Err(format!("`{other}` is not yes or no")),
    }
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "yes or no"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["yes", "no"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        flag(text).map(|_| Level::canonical(text.trim()))
    }

    /// Before the elevator, which looks at it when it is chosen.
    fn order(&self) -> u8 {
        58
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![block_queue::writable("rotational")]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn it_is_set_before_the_elevator_and_put_back() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sdb/queue/rotational", "1")
            .on_disk("sdb")
            .machine();
        layouts::round_trip(&Entry, &machine, "no");
        assert!(Entry.order() < crate::elevator::Entry.order());
        assert!(Entry.parse("1").is_err());
    }
}
