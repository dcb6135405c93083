//! Levels of `target`: `loop:2G:/data`, `null:1G:1ms`.

use model::{format_duration, format_size, parse_duration, parse_size};
use std::fmt;
use std::path::PathBuf;

/// A target as its level names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetLevel {
    /// New files in a directory; in the campaign's scratch directory where none is named.
    File(Option<PathBuf>),
    /// A loop device over a file in a directory.
    Loop(u64, Option<PathBuf>),
    /// A null block device that keeps what is written, its time for each request, and how many
    /// requests it takes at once.
    Null(u64, u64, u32),
    /// A simulated SCSI disk in memory, and its time for each command.
    Scsi(u64, u64),
    /// A whole device of the machine's.
    Device(PathBuf),
}

/// How levels are written.
pub(crate) const SYNTAX: &str = "file[:/DIRECTORY], loop:SIZE[:/DIRECTORY], null:SIZE[:TIME[:DEPTH]], \
                                 scsi:SIZE[:TIME] or device:/dev/NAME";

/// Smallest and largest device that we make.
const SIZE: std::ops::RangeInclusive<u64> = (1 << 20)..=(1 << 44);
/// Requests that a null device takes at once where nobody says.
const DEPTH: u32 = 64;
/// More than any device has.
const MOST_DEPTH: u32 = 1024;
/// Longest time for a request; beyond it the kernel gives up on it (30 s).
const LONGEST_NS: u64 = 1_000_000_000;

impl TargetLevel {
    /// # Errors
    /// Why the text is no level, in one sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        match (kind, rest) {
            ("file", None) => Ok(Self::File(None)),
            ("file", Some(path)) => absolute(path).map(|path| Self::File(Some(path))),
            ("device", Some(path)) => absolute(path).map(Self::Device),
            ("loop", Some(rest)) => {
                let (bytes, path) = sized(rest)?;
                Ok(Self::Loop(bytes, path.map(absolute).transpose()?))
            }
            ("null", Some(rest)) => {
                let (bytes, rest) = sized(rest)?;
                let (time, depth) = match rest.and_then(|rest| rest.split_once(':')) {
                    Some((time, depth)) => (Some(time), Some(depth)),
                    None => (rest, None),
                };
                Ok(Self::Null(bytes, time_of(time)?, depth_of(depth)?))
            }
            ("scsi", Some(rest)) => {
                let (bytes, time) = sized(rest)?;
                Ok(Self::Scsi(bytes, time_of(time)?))
            }
            ("device" | "loop" | "null" | "scsi", None) => {
                Err(format!("`{kind}` needs more: {SYNTAX}"))
            }
            _ => Err(format!("`{kind}` is not one of file, loop, null, scsi, device")),
        }
    }
}

/// A size and what follows it.
fn sized(text: &str) -> Result<(u64, Option<&str>), String> {
    let (size, rest) = match text.split_once(':') {
        Some((size, rest)) => (size, Some(rest)),
        None => (text, None),
    };
    let bytes = parse_size(size).map_err(|error| error.to_string())?;
    if !SIZE.contains(&bytes) || bytes % (1 << 20) != 0 {
        return Err(format!(
            "{size} is not a whole number of mebibytes from {} to {}",
            format_size(*SIZE.start()),
            format_size(*SIZE.end())
        ));
    }
    Ok((bytes, rest))
}

fn time_of(text: Option<&str>) -> Result<u64, String> {
    let ns = text.map_or(Ok(0), |text| parse_duration(text).map_err(|error| error.to_string()))?;
    if ns > LONGEST_NS {
        return Err(format!("{} is longer than 1s", format_duration(ns)));
    }
    Ok(ns)
}

fn depth_of(text: Option<&str>) -> Result<u32, String> {
    let Some(text) = text else { return Ok(DEPTH) };
    let depth: Option<u32> = text.parse().ok().filter(|depth| (1..=MOST_DEPTH).contains(depth));
    depth.ok_or_else(|| format!("{text} is not a number of requests from 1 to {MOST_DEPTH}"))
}

fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_plain = !text.chars().any(char::is_control)
        && path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    if path.is_absolute() && is_plain {
        return Ok(path);
    }
    Err(format!("`{text}` is not an absolute path"))
}

impl fmt::Display for TargetLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timed = |name: &str, bytes: u64, ns: u64| {
            let time = if ns > 0 { format!(":{}", format_duration(ns)) } else { String::new() };
            format!("{name}:{}{time}", format_size(bytes))
        };
        let text = match self {
            Self::File(None) => "file".to_owned(),
            Self::File(Some(path)) => format!("file:{}", path.display()),
            Self::Loop(bytes, None) => timed("loop", *bytes, 0),
            Self::Loop(bytes, Some(path)) => {
                format!("{}:{}", timed("loop", *bytes, 0), path.display())
            }
            Self::Null(bytes, ns, DEPTH) => timed("null", *bytes, *ns),
            Self::Null(bytes, ns, depth) => {
                format!("null:{}:{}:{depth}", format_size(*bytes), format_duration(*ns))
            }
            Self::Scsi(bytes, ns) => timed("scsi", *bytes, *ns),
            Self::Device(path) => format!("device:{}", path.display()),
        };
        formatter.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_canonical_and_parse_to_themselves() {
        for (text, canonical) in [
            ("file", "file"),
            ("file:/data", "file:/data"),
            (" loop:2G ", "loop:2G"),
            ("loop:64M:/data/x", "loop:64M:/data/x"),
            ("null:1GiB", "null:1G"),
            ("null:1024M:1000us", "null:1G:1ms"),
            ("null:1G:1ms:64", "null:1G:1ms"),
            ("null:1G:1ms:1", "null:1G:1ms:1"),
            ("scsi:256M:0ms", "scsi:256M"),
            ("device:/dev/sdb", "device:/dev/sdb"),
        ] {
            let target = TargetLevel::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(target.to_string(), canonical);
            assert_eq!(TargetLevel::parse(canonical).as_ref(), Ok(&target));
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in [
            "",
            "loop",
            "loop:",
            "loop:0",
            "loop:1",
            "loop:1G:data",
            "null:1GiB:2s",
            "null:1GiB:x",
            "device:sdb",
            "device:/dev/../etc",
            "file:",
            "file:x",
            "scsi:512KiB",
            "tape:1GiB",
            "loop:99999999TiB",
            "null:1G:1ms:0",
            "null:1G:1ms:x",
            "device:/dev/s\nb",
        ] {
            assert!(TargetLevel::parse(text).is_err(), "{text}");
        }
    }
}
