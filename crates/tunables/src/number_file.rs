//! A number in one of several files: the shape of most scheduler settings.

use crate::kernel_file;
use contract::{Error, Requirement, Result, Setting, SystemKnob};
use model::Level;
use sys::{ControlFile, Machine};

/// What the number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberUnit {
    /// Nanoseconds; levels are durations.
    Nanoseconds,
    /// Things; levels are whole numbers.
    Count,
}

/// A number in the first of these files that exists.
pub(crate) struct NumberFile {
    /// Newest name first.
    pub(crate) files: &'static [&'static str],
    /// What it counts.
    pub(crate) unit: NumberUnit,
    /// Lowest level.
    pub(crate) lowest: u64,
    /// Highest level.
    pub(crate) highest: u64,
    /// What to do where the kernel has none of the files.
    pub(crate) absent: &'static str,
}

impl NumberFile {
    pub(crate) fn parse(&self, text: &str) -> Result<Level, String> {
        let number = match self.unit {
            NumberUnit::Nanoseconds => model::parse_duration(text),
            NumberUnit::Count => model::parse_count(text),
        }
        .map_err(|error| error.to_string())?;
        if (self.lowest..=self.highest).contains(&number) {
            return Ok(self.level(number));
        }
        Err(format!(
            "{} is outside {} to {}",
            self.level(number),
            self.level(self.lowest),
            self.level(self.highest)
        ))
    }

    pub(crate) fn requires(&self) -> Vec<Requirement> {
        vec![kernel_file::writable(self.files, self.absent)]
    }

    fn level(&self, number: u64) -> Level {
        Level::canonical(match self.unit {
            NumberUnit::Nanoseconds => model::format_duration(number),
            NumberUnit::Count => number.to_string(),
        })
    }

    fn number(&self, level: &Level) -> Result<u64> {
        let number = match self.unit {
            NumberUnit::Nanoseconds => model::parse_duration(level.as_str()),
            NumberUnit::Count => model::parse_count(level.as_str()),
        };
        number.map_err(|error| Error::usage(format!("cannot use the level {level}"), error, ""))
    }
}

impl SystemKnob for NumberFile {
    fn writes(&self) -> Vec<String> {
        self.files.iter().map(|file| (*file).to_owned()).collect()
    }

    fn settings(&self, machine: &Machine, level: &Level) -> Result<Vec<Setting>> {
        let file = ControlFile::plain(kernel_file::locate(machine, self.files)?);
        Ok(vec![Setting { file, value: self.number(level)?.to_string() }])
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> Result<Level> {
        self.current(machine)
    }

    fn current(&self, machine: &Machine) -> Result<Level> {
        let path = kernel_file::locate(machine, self.files)?;
        let text = ControlFile::plain(path).read(machine)?;
        let number = text.parse::<u64>().map_err(|_| {
            Error::environment(
                format!("cannot understand {path}"),
                format!("`{text}` is not a whole number"),
            )
        })?;
        Ok(self.level(number))
    }
}
