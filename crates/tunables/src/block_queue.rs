//! Files of the queue of the device that trials' I/O goes to: `/sys/block/DEVICE/queue`.

use contract::{Error, Requirement, Result, Setting, SystemKnob};
use model::Level;
use sys::{ControlFile, Machine};

/// The name of that device.
///
/// # Errors
/// When nobody knows where I/O goes, or it goes to no block device.
pub(crate) fn device(machine: &Machine) -> Result<String> {
    let attempted = "cannot find the device that trials' I/O goes to";
    let Some(target) = machine.target() else {
        let remedy = "name where files and devices of workloads lie: target = \"loop:1G\"";
        return Err(Error::unsupported(attempted, "no target is known", remedy));
    };
    target.device.clone().ok_or_else(|| {
        Error::unsupported(
            attempted,
            format!("{} lies on no block device", target.path),
            "name another target: target = \"loop:1G:/DIRECTORY\" or \"file:/DIRECTORY\" on a disk",
        )
    })
}

/// A file of its queue.
///
/// # Errors
/// As [`device`].
pub(crate) fn file(machine: &Machine, name: &str) -> Result<String> {
    Ok(format!("/sys/block/{}/queue/{name}", device(machine)?))
}

/// The file of that name of whatever device's queue, for [`SystemKnob::writes`].
pub(crate) fn file_of_any(name: &str) -> String {
    format!("/sys/block/*/queue/{name}")
}

/// A file of the queue can be written, as far as the device is known before it is made: one
/// that the trial will make is looked at in its place, if there is any.
pub(crate) fn writable(name: &'static str) -> Requirement {
    Requirement::check(format!("write queue/{name} of the device"), move |machine| {
        let devices = candidates(machine).map_err(|error| (error.cause, error.remedy))?;
        let Some(device) = devices.first() else { return Ok(()) };
        let path = format!("/sys/block/{device}/queue/{name}");
        let plain = Requirement::writable(vec![path]);
        plain.met(machine).map_err(|missing| (missing.why, missing.remedy))
    })
}

/// The workload's I/O goes to a block device.
pub(crate) fn is_there() -> Requirement {
    Requirement::check("a block device that trials' I/O goes to", |machine| {
        candidates(machine).map(|_| ()).map_err(|error| (error.cause, error.remedy))
    })
}

/// The device, or where it will be made by a trial, all that are there.
///
/// # Errors
/// When I/O goes to no block device.
pub(crate) fn candidates(machine: &Machine) -> Result<Vec<String>> {
    let is_made_later = machine.target().is_none_or(|target| target.path.is_empty());
    if is_made_later && machine.target().is_none_or(|target| target.device.is_none()) {
        let names = machine.list("/sys/block")?;
        let has_queue =
            |name: &String| machine.exists(&format!("/sys/block/{name}/queue/scheduler"));
        return Ok(names.into_iter().filter(has_queue).collect());
    }
    Ok(vec![device(machine)?])
}

/// A number in one file of the queue.
pub(crate) struct QueueNumber {
    /// The file.
    pub(crate) name: &'static str,
    /// A level's number for the file, and back.
    pub(crate) to_file: fn(&str) -> Result<u64, String>,
    /// What a number of the file is as a level.
    pub(crate) to_level: fn(u64) -> String,
}

impl SystemKnob for QueueNumber {
    fn writes(&self) -> Vec<String> {
        vec![file_of_any(self.name)]
    }

    fn settings(&self, machine: &Machine, level: &Level) -> Result<Vec<Setting>> {
        let number = (self.to_file)(level.as_str())
            .map_err(|why| Error::usage(format!("cannot use the level {level}"), why, ""))?;
        let file = ControlFile::plain(file(machine, self.name)?);
        Ok(vec![Setting { file, value: number.to_string() }])
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> Result<Level> {
        self.current(machine)
    }

    fn current(&self, machine: &Machine) -> Result<Level> {
        let path = file(machine, self.name)?;
        let text = ControlFile::plain(path.clone()).read(machine)?;
        let number = text.parse::<u64>().map_err(|_| {
            let cause = format!("`{text}` is not a whole number");
            Error::environment(format!("cannot understand {path}"), cause)
        })?;
        Ok(Level::canonical((self.to_level)(number)))
    }
}
