//! Settings of the elevator itself.

use crate::block_queue;
use contract::{
    Description, Error, Factor, Knob, ON_TOP, Requirement, Setting, SystemKnob, UndoCheck,
};
use model::Level;
use std::collections::BTreeMap;
use sys::{ControlFile, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "elevator_param",
    summary: "settings of the elevator: read_expire, slice_idle, read_lat_nsec, …",
    doc: "Whatever the elevator in force shows in `queue/iosched` of the target's device, as \
          `NAME=VALUE`, several separated by commas, in the files' own units: `front_merges`, \
          `read_expire`, `write_expire` (ms), `writes_starved`, `fifo_batch` of mq-deadline; `low_latency`, \
          `slice_idle` (ms), `max_budget`, `strict_guarantees`, `timeout_sync` of bfq; `read_lat_nsec`, \
          `write_lat_nsec` of kyber.\n\n\
          The files belong to the elevator, so it is set first, and they are gone with it.\n\n\
          What moves with it, and when it lies: some are two views of one setting (`slice_idle` and \
          `slice_idle_us` of bfq). Values are rounded and clamped by the kernel; what reads back \
          otherwise makes the trial invalid. An expiry acts only where requests wait that long.\n\n\
          Sources: Documentation/block/deadline-iosched.rst, bfq-iosched.rst, kyber-iosched.rst (6.12).",
};

/// More settings than any elevator has.
const MOST: usize = 32;

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "NAME=VALUE, several separated by commas, such as slice_idle=0,low_latency=0"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["read_expire=100", "low_latency=0,slice_idle=0"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let settings = parsed(text)?;
        let words = settings.iter().map(|(name, value)| format!("{name}={value}"));
        Ok(Level::canonical(words.collect::<Vec<_>>().join(",")))
    }

    fn order(&self) -> u8 {
        ON_TOP
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![block_queue::writable("scheduler")]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let elevator = others.get("elevator")?.as_str();
        ["none", "noop"].contains(&elevator).then(|| format!("{elevator} has no settings"))
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(self)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

/// Names and values, sorted.
fn parsed(text: &str) -> Result<BTreeMap<String, String>, String> {
    let is_word = |text: &str| {
        !text.is_empty()
            && text.len() <= 32
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let mut settings = BTreeMap::new();
    for part in text.split(',') {
        let (name, value) = part
            .trim()
            .split_once('=')
            .ok_or_else(|| format!("`{}` is not NAME=VALUE", part.trim()))?;
        let (name, value) = (name.trim(), value.trim());
        if !is_word(name) || !is_word(value) {
            return Err(format!("`{}` is not NAME=VALUE of plain words", part.trim()));
        }
        if settings.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(format!("{name} is named twice"));
        }
    }
    if settings.len() > MOST { Err(format!("more than {MOST} settings")) } else { Ok(settings) }
}

/// The file of one setting.
fn file(machine: &Machine, name: &str) -> contract::Result<ControlFile> {
    let directory = block_queue::file(machine, "iosched")?;
    let path = format!("{directory}/{name}");
    if machine.exists(&path) {
        return Ok(ControlFile::plain(path));
    }
    let known = machine.list(&directory)?;
    let remedy = match known.as_slice() {
        [] => "choose an elevator that has settings: mq-deadline, bfq or kyber".to_owned(),
        known => format!("it has {}", known.join(", ")),
    };
    Err(Error::unsupported(
        format!("cannot find the elevator's setting {name}"),
        format!("there is no {path}"),
        remedy,
    ))
}

fn settings_of(level: &Level) -> contract::Result<BTreeMap<String, String>> {
    parsed(level.as_str()).map_err(|why| Error::usage(format!("cannot use {level}"), why, ""))
}

impl SystemKnob for Entry {
    fn writes(&self) -> Vec<String> {
        vec![block_queue::file_of_any("iosched/*")]
    }

    fn settings(&self, machine: &Machine, level: &Level) -> contract::Result<Vec<Setting>> {
        let settings = settings_of(level)?.into_iter();
        settings.map(|(name, value)| Ok(Setting { file: file(machine, &name)?, value })).collect()
    }

    fn read_back(&self, machine: &Machine, wanted: &Level) -> contract::Result<Level> {
        let mut words = Vec::new();
        for name in settings_of(wanted)?.keys() {
            words.push(format!("{name}={}", file(machine, name)?.read(machine)?));
        }
        Ok(Level::canonical(words.join(",")))
    }

    fn current(&self, machine: &Machine) -> contract::Result<Level> {
        let directory = block_queue::file(machine, "iosched")?;
        let mut words = Vec::new();
        for name in machine.list(&directory)? {
            // Some only report.
            if let Ok(value) = ControlFile::plain(format!("{directory}/{name}")).read(machine) {
                words.push(format!("{name}={value}"));
            }
        }
        Ok(Level::canonical(words.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    const IOSCHED: &str = "/sys/block/sdb/queue/iosched";

    #[test]
    fn settings_are_set_read_back_and_put_back_in_the_elevators_own_files() {
        let machine = Layout::new("6.12.0")
            .file("/sys/block/sdb/queue/scheduler", "[bfq]")
            .file(&format!("{IOSCHED}/slice_idle"), "8")
            .file(&format!("{IOSCHED}/low_latency"), "1")
            .on_disk("sdb")
            .machine();
        layouts::round_trip(&Entry, &machine, "slice_idle=0,low_latency=0");
        let level = Entry.parse("read_expire=5").unwrap();
        let error = Entry.settings(&machine, &level).unwrap_err();
        assert!(error.remedy.contains("low_latency, slice_idle"), "{error}");
    }

    #[test]
    fn names_are_sorted_and_nothing_leaves_the_directory() {
        assert_eq!(Entry.parse("b=1, a=2").unwrap().as_str(), "a=2,b=1");
        for text in ["a", "a=", "=1", "a=1,a=2", "../x=1", "a=1/2", "a=1,"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
        let none = [("elevator".to_owned(), Level::canonical("none"))].into();
        assert!(Entry.conflict(&Level::canonical("a=1"), &none).is_some());
    }
}
