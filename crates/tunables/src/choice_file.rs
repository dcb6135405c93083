//! One of several words in a file.

use crate::kernel_file;
use contract::{Error, Requirement, Result, Setting, SystemKnob};
use model::Level;
use sys::{ControlFile, FileForm, Machine};

/// A word in the first of these files that exists.
pub(crate) struct ChoiceFile {
    /// Newest name first.
    pub(crate) files: &'static [&'static str],
    /// Whether the file brackets the current choice.
    pub(crate) form: FileForm,
    /// Each level and what the file holds for it.
    pub(crate) words: &'static [(&'static str, &'static str)],
}

impl ChoiceFile {
    pub(crate) fn parse(&self, text: &str) -> Result<Level, String> {
        let text = text.trim();
        match self.words.iter().find(|(level, _)| *level == text) {
            Some((level, _)) => Ok(Level::canonical(*level)),
            None => {
                let levels: Vec<&str> = self.words.iter().map(|(level, _)| *level).collect();
                Err(format!("`{text}` is not one of {}", levels.join(", ")))
            }
        }
    }

    /// The file can be written, and offers the level where it lists its choices.
    pub(crate) fn requires(&self, level: &Level) -> Vec<Requirement> {
        let writable = kernel_file::writable(self.files, "");
        let Ok(value) = self.value(level) else { return vec![writable] };
        if self.form != FileForm::Bracketed {
            return vec![writable];
        }
        let files = self.files;
        let offered =
            Requirement::check(format!("the choice {level} in {}", files[0]), move |machine| {
                // A file that cannot be read is reported by the other need.
                let Ok(path) = kernel_file::locate(machine, files) else { return Ok(()) };
                let Ok(text) = machine.read(path) else { return Ok(()) };
                let is_offered = text
                    .split_whitespace()
                    .any(|word| word.trim_matches(['[', ']', '(', ')']) == value);
                if is_offered {
                    return Ok(());
                }
                Err((
                    format!("{path} offers {}", text.trim()),
                    "use one of these, or choose another kernel (in a virtual machine)".to_owned(),
                ))
            });
        vec![writable, offered]
    }

    fn value(&self, level: &Level) -> Result<&'static str> {
        self.words
            .iter()
            .find(|(word, _)| *word == level.as_str())
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                Error::usage(
                    format!("cannot use the level {level}"),
                    "it is not one of the choices",
                    "",
                )
            })
    }

    fn control_file(&self, machine: &Machine) -> Result<ControlFile> {
        let path = kernel_file::locate(machine, self.files)?.to_owned();
        Ok(ControlFile { path, form: self.form, flag: String::new() })
    }
}

impl SystemKnob for ChoiceFile {
    fn writes(&self) -> Vec<String> {
        self.files.iter().map(|file| (*file).to_owned()).collect()
    }

    fn settings(&self, machine: &Machine, level: &Level) -> Result<Vec<Setting>> {
        Ok(vec![Setting {
            file: self.control_file(machine)?,
            value: self.value(level)?.to_owned(),
        }])
    }

    fn read_back(&self, machine: &Machine, _wanted: &Level) -> Result<Level> {
        self.current(machine)
    }

    /// A value without a level of its own is shown as the kernel wrote it.
    fn current(&self, machine: &Machine) -> Result<Level> {
        let value = self.control_file(machine)?.read(machine)?;
        let level = self.words.iter().find(|(_, word)| *word == value).map(|(level, _)| *level);
        Ok(Level::canonical(level.unwrap_or(&value)))
    }
}
