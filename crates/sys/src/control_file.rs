//! Kernel files that hold a setting, in the forms the kernel gives them.

use crate::{Machine, MachineError};
use serde::{Deserialize, Serialize};
use std::io;

/// How a file shows its setting and takes a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileForm {
    /// The text is the value.
    Plain,
    /// All choices on one line, brackets around the current one
    /// (`always [madvise] never`); parentheses in sched/preempt.
    Bracketed,
    /// Words, each as `NAME` or `NO_NAME`; one is switched by writing it
    /// (kernel/sched/debug.c, sched_feat_write).
    Flag,
}

/// One setting in one file. For [`FileForm::Flag`] the value is `NAME` or `NO_NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFile {
    /// Absolute kernel path, without the machine's root.
    pub path: String,
    /// How it reads and writes.
    pub form: FileForm,
    /// Which word, where the form is `Flag`; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flag: String,
}

impl ControlFile {
    /// A file whose text is the value.
    pub fn plain(path: impl Into<String>) -> Self {
        Self { path: path.into(), form: FileForm::Plain, flag: String::new() }
    }

    /// A file that lists its choices with brackets around the current one.
    pub fn bracketed(path: impl Into<String>) -> Self {
        Self { path: path.into(), form: FileForm::Bracketed, flag: String::new() }
    }

    /// One word of a file of flags, named without `NO_`.
    pub fn flag(path: impl Into<String>, name: impl Into<String>) -> Self {
        Self { path: path.into(), form: FileForm::Flag, flag: name.into() }
    }

    /// The current value.
    ///
    /// # Errors
    /// When the file cannot be read, or does not have its form.
    pub fn read(&self, machine: &Machine) -> Result<String, MachineError> {
        let text = machine.read(&self.path)?;
        self.value_in(&text).ok_or_else(|| MachineError {
            action: "understand",
            path: machine.path(&self.path),
            source: io::Error::new(
                io::ErrorKind::InvalidData,
                format!("`{}` does not show {}", text.trim(), self.expectation()),
            ),
        })
    }

    /// Writes a value. The caller reads it back.
    ///
    /// # Errors
    /// When the kernel refuses the file or the value.
    pub fn write(&self, machine: &Machine, value: &str) -> Result<(), MachineError> {
        machine.write(&self.path, value)
    }

    /// The current value in the file's text, where the text has the file's form.
    pub fn value_in(&self, text: &str) -> Option<String> {
        match self.form {
            FileForm::Plain => Some(text.trim().to_owned()),
            FileForm::Bracketed => text
                .split_whitespace()
                .find_map(|word| {
                    let inside = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    inside
                        .or_else(|| word.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')))
                })
                .map(str::to_owned),
            FileForm::Flag => text
                .split_whitespace()
                .find(|word| word.strip_prefix("NO_").unwrap_or(word) == self.flag)
                .map(str::to_owned),
        }
    }

    fn expectation(&self) -> String {
        match self.form {
            FileForm::Plain => "a value".to_owned(),
            FileForm::Bracketed => "a choice in brackets".to_owned(),
            FileForm::Flag => format!("the flag {}", self.flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_shows_its_current_value() {
        let bracketed = ControlFile::bracketed("/x");
        assert_eq!(bracketed.value_in("always [madvise] never\n").as_deref(), Some("madvise"));
        assert_eq!(bracketed.value_in("none voluntary (full) lazy\n").as_deref(), Some("full"));
        assert_eq!(bracketed.value_in("none\n"), None);
        let flag = ControlFile::flag("/x", "RUN_TO_PARITY");
        assert_eq!(
            flag.value_in("PLACE_LAG NO_RUN_TO_PARITY\n").as_deref(),
            Some("NO_RUN_TO_PARITY")
        );
        assert_eq!(flag.value_in("PLACE_LAG\n"), None);
        assert_eq!(ControlFile::plain("/x").value_in(" 700000\n").as_deref(), Some("700000"));
    }
}
