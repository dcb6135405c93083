//! The I/O elevator of the device that trials' I/O goes to.

use crate::block_queue;
use contract::{
    Description, Factor, Knob, KnownLimit, Requirement, Setting, SystemKnob, UndoCheck,
};
use model::Level;
use sys::{ControlFile, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "elevator",
    summary: "the I/O scheduler of the device below the target",
    doc: "The order in which requests go to a device. Today's kernels have `none` (as they come), \
          `mq-deadline` (by place, with an expiry that no request outlives), `bfq` (budgets in \
          proportion to weights, with a preference for what is interactive) and `kyber` (limits queue \
          depths until latencies meet their goals). Kernels up to 4.20 have `noop`, `deadline` and \
          `cfq`, which are other programs under like names. Any name that the kernel lists can be set.\n\n\
          `queue/scheduler` of the target's device; the choice in brackets is read back. A module that \
          is not loaded is loaded by the kernel.\n\n\
          What moves with it, and when it lies: changing it sets `nr_requests` and the elevator's own \
          settings to their defaults, and bfq switches write-back throttling (`wbt`) off; all of them are \
          put back. An elevator can only reorder what waits: one stream at queue depth 1 never has two \
          requests to choose from, so that all elevators are alike but for their own cost, whatever one run \
          of each seems to show. On a loop device the elevator of the disk below acts too.\n\n\
          Sources: Documentation/block/switching-sched.rst, block/mq-deadline.c, block/bfq-iosched.c, \
          block/kyber-iosched.c, block/elevator.c (6.12).",
};

/// ELV_NAME_MAX (block/elevator.h).
const LONGEST: usize = 16;
/// Elevators of the kernel tree and the file names of their modules.
const MODULES: [(&str, &str); 3] =
    [("bfq", "bfq"), ("kyber", "kyber-iosched"), ("mq-deadline", "mq-deadline")];
/// What kernels called a like elevator before and after blk-mq took over.
const ALIKE: [(&str, &str); 3] = [("noop", "none"), ("deadline", "mq-deadline"), ("cfq", "bfq")];

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "none, mq-deadline, bfq, kyber, or as the kernel lists it"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["none", "mq-deadline", "bfq", "kyber", "noop", "deadline", "cfq"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let text = text.trim();
        let is_name = text.len() < LONGEST
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b));
        if is_name {
            return Ok(Level::canonical(text));
        }
        Err(format!(
            "`{text}` is not the name of an elevator, such as none, mq-deadline, bfq or kyber"
        ))
    }

    /// Before the settings that it puts to their defaults.
    fn order(&self) -> u8 {
        60
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let level = level.clone();
        let offered = Requirement::check(format!("the elevator {level}"), move |machine| {
            offered(machine, level.as_str())
        });
        vec![block_queue::writable("scheduler"), offered]
    }

    /// What the kernel sets anew for another elevator, and what belonged to the one before.
    fn moves(&self, machine: &Machine) -> Vec<String> {
        let Ok(queue) = block_queue::file(machine, "") else { return Vec::new() };
        let queue = queue.trim_end_matches('/');
        let own = machine.list(&format!("{queue}/iosched")).unwrap_or_default();
        let own = own.into_iter().map(|name| format!("{queue}/iosched/{name}"));
        let general = ["nr_requests", "wbt_lat_usec"].map(|name| format!("{queue}/{name}"));
        general.into_iter().chain(own).collect()
    }

    fn modules(&self, level: &Level) -> Vec<String> {
        let module = MODULES.iter().find(|(name, _)| *name == level.as_str());
        module.map(|(_, module)| format!("?{}", module.replace('-', "_"))).into_iter().collect()
    }

    fn brings_along(&self, level: &Level) -> Option<&'static str> {
        (level.as_str() == "bfq").then_some("bfq switches write-back throttling (wbt) off")
    }

    fn owners(&self) -> &'static [&'static str] {
        &["tuned"]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(self)
    }

    /// elv_iosched_store copies what is written into a buffer of ELV_NAME_MAX bytes, its end
    /// included (block/elevator.c, 6.12): a longer name is cut, and not found.
    fn undo_check(&self) -> UndoCheck {
        UndoCheck::KnownLimit(KnownLimit {
            takes: "a name of at most 15 bytes (ELV_NAME_MAX)",
            why_not_written: "writing one may load a module and drain the queue of a device in use",
            is_taken: |present| present.len() < LONGEST,
        })
    }
}

impl SystemKnob for Entry {
    fn writes(&self) -> Vec<String> {
        vec![block_queue::file_of_any("scheduler")]
    }

    fn settings(&self, machine: &Machine, level: &Level) -> contract::Result<Vec<Setting>> {
        let file = ControlFile::bracketed(block_queue::file(machine, "scheduler")?);
        Ok(vec![Setting { file, value: level.as_str().to_owned() }])
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> contract::Result<Level> {
        self.current(machine)
    }

    fn current(&self, machine: &Machine) -> contract::Result<Level> {
        let file = ControlFile::bracketed(block_queue::file(machine, "scheduler")?);
        Ok(Level::canonical(file.read(machine)?))
    }
}

/// The device lists it, or has its module.
fn offered(machine: &Machine, elevator: &str) -> Result<(), (String, String)> {
    let devices = block_queue::candidates(machine).map_err(|error| (error.cause, error.remedy))?;
    let mut listed = Vec::new();
    for device in &devices {
        let path = format!("/sys/block/{device}/queue/scheduler");
        let text = machine.read(&path).map_err(|error| (error.to_string(), String::new()))?;
        let names = text.split_whitespace().map(|name| name.trim_matches(['[', ']']).to_owned());
        listed.extend(names);
    }
    listed.sort_unstable();
    listed.dedup();
    // Where no device is there to ask yet, setting it tells.
    let is_offered = listed.iter().any(|name| name == elevator) || devices.is_empty();
    if is_offered || has_module(machine, elevator) {
        return Ok(());
    }
    let alike = ALIKE.iter().find_map(|(old, new)| match elevator {
        it if it == *old => Some(*new),
        it if it == *new => Some(*old),
        _ => None,
    });
    let alike = alike.filter(|name| listed.iter().any(|known| known == name));
    let nearest = || contract::nearest(elevator, listed.iter().map(String::as_str));
    let remedy = match (alike, nearest()) {
        (Some(name), _) => format!("this kernel has {name}, which is like it and not the same"),
        (None, Some(name)) => format!("did you mean {name}?"),
        (None, None) => "choose among these, or another kernel".to_owned(),
    };
    Err((format!("the kernel offers {}", listed.join(", ")), remedy))
}

/// Whether the running kernel has a module of it, which setting it will load.
fn has_module(machine: &Machine, elevator: &str) -> bool {
    let Some((_, module)) = MODULES.iter().find(|(name, _)| *name == elevator) else {
        return false;
    };
    let Ok(release) = machine.kernel_release() else { return false };
    let listing = machine.read(&format!("/lib/modules/{release}/modules.dep")).unwrap_or_default();
    listing.lines().any(|line| line.contains(&format!("/{module}.ko")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, FakeMachine, Layout};
    use model::{StorageKind, StorageTarget};

    const QUEUE: &str = "/sys/block/sdb/queue";

    fn machine(release: &str, offered: &str, names: &[&str]) -> FakeMachine {
        Layout::new(release)
            .file(&format!("{QUEUE}/scheduler"), offered)
            .choices(&format!("{QUEUE}/scheduler"), names)
            .file(&format!("{QUEUE}/nr_requests"), "64")
            .file(&format!("{QUEUE}/iosched/read_expire"), "100")
            .on_disk("sdb")
            .machine()
    }

    #[test]
    fn todays_elevators_and_those_of_old_kernels_are_set_read_back_and_put_back() {
        let today = ["none", "mq-deadline", "kyber", "bfq"];
        let old = ["noop", "deadline", "cfq"];
        for level in today {
            layouts::round_trip(
                &Entry,
                &machine("6.12.0", "none [mq-deadline] kyber bfq", &today),
                level,
            );
        }
        for level in old {
            layouts::round_trip(&Entry, &machine("4.15.0", "noop deadline [cfq]", &old), level);
        }
    }

    #[test]
    fn an_elevator_that_the_kernel_lacks_is_refused_with_the_one_that_is_like_it() {
        let machine = machine("6.12.0", "none [mq-deadline]", &["none", "mq-deadline"]);
        let (why, remedy) = layouts::missing(&Entry, &machine, "deadline").unwrap();
        assert!(why.contains("mq-deadline, none"), "{why}");
        assert!(remedy.contains("mq-deadline"), "{remedy}");
        let (_, remedy) = layouts::missing(&Entry, &machine, "mq-dedline").unwrap();
        assert!(remedy.contains("did you mean mq-deadline"), "{remedy}");
    }

    #[test]
    fn a_module_that_is_not_loaded_counts_as_offered() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sda/queue/scheduler", "[none]")
            .file("/lib/modules/6.12.0/modules.dep", "kernel/block/bfq.ko.xz:")
            .machine();
        assert_eq!(layouts::missing(&Entry, &machine, "bfq"), None);
        assert!(layouts::missing(&Entry, &machine, "kyber").is_some());
    }

    #[test]
    fn what_the_kernel_resets_with_the_elevator_is_put_back_too() {
        let machine = machine("6.12.0", "none [mq-deadline]", &["none", "mq-deadline"]);
        let moved = Entry.moves(&machine);
        for name in ["nr_requests", "wbt_lat_usec", "iosched/read_expire"] {
            assert!(moved.contains(&format!("{QUEUE}/{name}")), "{moved:?}");
        }
    }

    #[test]
    fn a_name_that_the_kernel_would_cut_is_not_left() {
        let refusal = |name: &str| Entry.undo_check().refusal(name);
        assert_eq!(refusal("fifteen-letters"), None);
        assert!(refusal("sixteen-letters2").unwrap().contains("15 bytes"));
    }

    #[test]
    fn files_that_lie_on_no_device_have_no_elevator() {
        let machine = Layout::new("6.12.0")
            .target(StorageTarget {
                kind: StorageKind::Directory,
                path: "/dev/shm".to_owned(),
                device: None,
                size_bytes: 0,
                is_made: false,
                cached_by: None,
                identity: None,
            })
            .machine();
        let (why, remedy) = layouts::missing(&Entry, &machine, "none").unwrap();
        assert!(why.contains("no block device"), "{why}");
        assert!(remedy.contains("loop"), "{remedy}");
    }
}
