//! The factor `cmdline`: words added to the kernel's command line.

use contract::{BootKnob, BootSpec, Description, Factor, Knob, Requirement, Result};
use model::{Fingerprint, Level};

/// The factor.
pub struct CommandLine;

static DESCRIPTION: Description = Description {
    id: "cmdline",
    summary: "words added to the guest kernel's command line",
    doc: "For what can only be chosen at boot: `isolcpus=1 nohz_full=1 rcu_nocbs=1`, \
          `mitigations=off`, `preempt=full`, `threadirqs`. The words follow those that every \
          guest gets (its console, what emulation needs); where a word is given twice the \
          kernel takes the last.\n\n\
          What moves with it, and when it lies: a word the kernel does not know is taken in \
          silence and handed to the first process; read the guest's log in logs/ when a word \
          seems to do nothing. What is read back is the command line, not its effect.\n\n\
          Source: Documentation/admin-guide/kernel-parameters.txt (6.12).",
};

/// COMMAND_LINE_SIZE is 2048 on x86 (arch/x86/include/asm/setup.h, 6.12).
const LONGEST: usize = 1024;
/// Words that would take the guest's console or first process away.
const OURS: [&str; 6] = ["console", "init", "rdinit", "panic", "root", "initrd"];

impl Factor for CommandLine {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "words of a kernel command line"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["mitigations=off", "isolcpus=1 nohz_full=1"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err("there is no word".to_owned());
        }
        if text.len() > LONGEST || !text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            return Err(format!("it is at most {LONGEST} printable ASCII characters"));
        }
        let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        match words.iter().find(|word| OURS.contains(&name(word).as_str())) {
            Some(word) => Err(format!("`{}` is schedlab's own to choose", name(word))),
            None => Ok(Level::canonical(words.join(" "))),
        }
    }

    fn order(&self) -> u8 {
        1
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Boot(self)
    }
}

impl BootKnob for CommandLine {
    fn contribute(&self, level: &Level, boot: &mut BootSpec) -> Result<()> {
        boot.command_line.extend(level.as_str().split(' ').map(str::to_owned));
        Ok(())
    }

    fn read_back(&self, guest: &Fingerprint, _boot: &BootSpec, wanted: &Level) -> Level {
        let line = guest.0.get("kernel.command_line").map(String::as_str).unwrap_or_default();
        let has_all = wanted
            .as_str()
            .split(' ')
            .all(|word| line.split_whitespace().any(|found| found == word));
        if has_all { wanted.clone() } else { Level::canonical(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_would_take_the_guest_away_are_refused() {
        let parse = |text| CommandLine.parse(text).map(|level| level.to_string());
        assert_eq!(parse("  mitigations=off   nosmt "), Ok("mitigations=off nosmt".to_owned()));
        assert_eq!(
            parse("quiet init=/bin/sh"),
            Err("`init` is schedlab's own to choose".to_owned())
        );
        assert!(parse("  ").is_err());
        assert!(parse("ä").is_err());
    }

    #[test]
    fn a_word_that_is_not_on_the_guests_command_line_reads_back_otherwise() {
        let wanted = Level::canonical("mitigations=off");
        let guest =
            |line: &str| Fingerprint([("kernel.command_line".to_owned(), line.to_owned())].into());
        let read = |line: &str| CommandLine.read_back(&guest(line), &BootSpec::default(), &wanted);
        assert_eq!(read("quiet mitigations=off panic=-1"), wanted);
        assert_eq!(read("quiet").as_str(), "quiet");
    }
}
