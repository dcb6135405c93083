//! How far the page cache reads ahead.

use crate::block_queue::{self, QueueNumber};
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "read_ahead",
    summary: "how far buffered sequential reads read ahead on the device",
    doc: "The most that the page cache reads before it is asked for, once it sees that a file is read in \
          order; `0` reads nothing ahead.\n\n\
          `queue/read_ahead_kb` of the target's device, in whole KiB.\n\n\
          What moves with it, and when it lies: direct I/O does not see it, and files that were opened \
          before it changed keep theirs (file_ra_state). More of it makes one stream faster and may make \
          many streams slower, because each then holds the device longer.\n\n\
          Sources: Documentation/ABI/stable/sysfs-block, mm/readahead.c (6.12).",
};

const KIB: u64 = 1024;
/// More than any file needs; the kernel takes an unsigned long.
const MOST: u64 = 1 << 30;

static FILE: QueueNumber = QueueNumber {
    name: "read_ahead_kb",
    to_file: |text| bytes(text).map(|bytes| bytes / KIB),
    to_level: |kib| model::format_size(kib * KIB),
};

fn bytes(text: &str) -> Result<u64, String> {
    let bytes = model::parse_size(text).map_err(|error| error.to_string())?;
    if bytes <= MOST && bytes % KIB == 0 {
        return Ok(bytes);
    }
    Err(format!("{text} is not a whole number of KiB up to {}", model::format_size(MOST)))
}

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a size in whole KiB up to 1GiB, such as 128KiB; 0 is none"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["0", "128KiB", "4MiB"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        bytes(text).map(|bytes| Level::canonical(model::format_size(bytes)))
    }

    fn order(&self) -> u8 {
        70
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![block_queue::writable("read_ahead_kb")]
    }

    fn owners(&self) -> &'static [&'static str] {
        &["tuned"]
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
    fn sizes_become_whole_kibibytes_and_are_put_back() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sdb/queue/read_ahead_kb", "128")
            .on_disk("sdb")
            .machine();
        for level in ["0", "4MiB", "64KiB"] {
            layouts::round_trip(&Entry, &machine, level);
        }
        assert!(Entry.parse("100").is_err() && Entry.parse("2GiB").is_err());
    }
}
