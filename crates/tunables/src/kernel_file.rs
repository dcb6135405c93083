//! Which of several files this kernel has: names moved between versions, and
//! distributions backport, so the file decides and never the version number.

use contract::{Error, Requirement, Result};
use sys::{Machine, MachineError};

/// The first of `files` that can be read.
pub(crate) fn locate(machine: &Machine, files: &[&'static str]) -> Result<&'static str> {
    let mut telling: Option<MachineError> = None;
    for file in files {
        match machine.read(file) {
            Ok(_) => return Ok(file),
            Err(error) => {
                let tells_more = telling.as_ref().is_none_or(MachineError::is_absent);
                if tells_more {
                    telling = Some(error);
                }
            }
        }
    }
    Err(telling.map_or_else(
        || Error::environment("cannot find a kernel file", "none was named"),
        Error::from,
    ))
}

/// One of `files` can be written; `absent` is the remedy where this kernel has
/// the directory of scheduler settings but none of these files.
pub(crate) fn writable(files: &'static [&'static str], absent: &'static str) -> Requirement {
    let plain = Requirement::writable(files.iter().map(|file| (*file).to_owned()).collect());
    let what = plain.what().to_owned();
    Requirement::check(what, move |machine| {
        plain.met(machine).map_err(|missing| {
            let has_settings = machine.exists("/sys/kernel/debug/sched")
                || machine.exists("/proc/sys/kernel/sched_latency_ns");
            let has_file = files.iter().any(|file| machine.exists(file));
            let is_replaceable = has_settings && !has_file && !absent.is_empty();
            (missing.why, if is_replaceable { absent.to_owned() } else { missing.remedy })
        })
    })
}
