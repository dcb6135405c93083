//! Switches of the scheduler's code paths.

use crate::kernel_file;
use contract::{Description, Error, Factor, Knob, Requirement, Setting, SystemKnob, UndoCheck};
use model::Level;
use std::collections::BTreeMap;
use sys::{ControlFile, Machine};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "sched_features",
    summary: "switches of the scheduler's code paths, such as NO_RUN_TO_PARITY",
    doc: "Each feature is a branch in kernel/sched that can be switched: `RUN_TO_PARITY` lets a task \
          keep the CPU until its slice or lag is used up, `PLACE_LAG` keeps a task's lag over a sleep, \
          `DELAY_DEQUEUE` lets sleepers with negative lag burn it off, `WAKEUP_PREEMPTION` lets wakers \
          preempt. A level is the list of switches to set; those not named stay as they are.\n\n\
          debugfs `sched/features` since 5.13, `sched_features` before. The names change with every \
          kernel; one that this kernel lacks is refused before anything is written.\n\n\
          What moves with it, and when it lies: a feature may act through another (PREEMPT_SHORT needs \
          RUN_TO_PARITY to matter; HRTICK needs a high-resolution timer). Kernels built without \
          CONFIG_JUMP_LABEL show features they cannot switch cheaply. Defaults differ between kernels \
          (RT_PUSH_IPI, SIS_PROP against SIS_UTIL): name what you rely on.\n\n\
          Sources: kernel/sched/features.h and sched_feat_set in kernel/sched/debug.c (6.12).",
};

static FILES: &[&str] = &["/sys/kernel/debug/sched/features", "/sys/kernel/debug/sched_features"];

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "feature names separated by commas, NO_ before those to switch off"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["NO_RUN_TO_PARITY", "NO_WAKEUP_PREEMPTION,NEXT_BUDDY"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let mut flags = BTreeMap::new();
        for word in text.split(',').map(str::trim) {
            let name = plain_name(word);
            let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            if !is_name {
                return Err(format!("`{word}` is not a feature's name, such as NO_RUN_TO_PARITY"));
            }
            if flags.insert(name, word).is_some() {
                return Err(format!("{name} is named twice"));
            }
        }
        Ok(Level::canonical(flags.into_values().collect::<Vec<_>>().join(",")))
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let names: Vec<String> = words(level).map(|word| plain_name(word).to_owned()).collect();
        let known = Requirement::check(
            format!("the scheduler features {}", names.join(", ")),
            move |machine| {
                // A file that cannot be read is reported by the other need.
                let Ok(path) = kernel_file::locate(machine, FILES) else { return Ok(()) };
                let Ok(text) = machine.read(path) else { return Ok(()) };
                let has =
                    |name: &String| text.split_whitespace().any(|word| plain_name(word) == name);
                let unknown: Vec<&str> =
                    names.iter().filter(|name| !has(name)).map(String::as_str).collect();
                if unknown.is_empty() {
                    return Ok(());
                }
                Err((
                    format!("{path} does not list {}", unknown.join(", ")),
                    format!(
                        "choose another kernel (in a virtual machine), or among {}",
                        text.trim()
                    ),
                ))
            },
        );
        vec![kernel_file::writable(FILES, ""), known]
    }

    fn owners(&self) -> &'static [&'static str] {
        crate::FAIR_OWNERS
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(self)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

impl SystemKnob for Entry {
    fn writes(&self) -> Vec<String> {
        FILES.iter().map(|file| (*file).to_owned()).collect()
    }

    fn settings(&self, machine: &Machine, level: &Level) -> contract::Result<Vec<Setting>> {
        let path = kernel_file::locate(machine, FILES)?;
        let setting = |word: &str| Setting {
            file: ControlFile::flag(path, plain_name(word)),
            value: word.to_owned(),
        };
        Ok(words(level).map(setting).collect())
    }

    fn read_back(&self, machine: &Machine, wanted: &Level) -> contract::Result<Level> {
        let path = kernel_file::locate(machine, FILES)?;
        let mut now = Vec::new();
        for word in words(wanted) {
            now.push(ControlFile::flag(path, plain_name(word)).read(machine)?);
        }
        Ok(Level::canonical(now.join(",")))
    }

    fn current(&self, machine: &Machine) -> contract::Result<Level> {
        let path = kernel_file::locate(machine, FILES)?;
        let text = machine.read(path)?;
        let all: Vec<&str> = text.split_whitespace().collect();
        if all.is_empty() {
            return Err(Error::environment(
                format!("cannot understand {path}"),
                "it lists no feature",
            ));
        }
        Ok(Level::canonical(all.join(",")))
    }
}

fn words(level: &Level) -> impl Iterator<Item = &str> {
    level.as_str().split(',')
}

fn plain_name(word: &str) -> &str {
    word.strip_prefix("NO_").unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn each_kernel_has_its_own_file_and_only_the_named_features_move() {
        for (series, file) in [
            ("5.10", "/sys/kernel/debug/sched_features"),
            ("6.1", "/sys/kernel/debug/sched/features"),
            ("6.6", "/sys/kernel/debug/sched/features"),
            ("6.12", "/sys/kernel/debug/sched/features"),
            ("6.18", "/sys/kernel/debug/sched/features"),
        ] {
            let machine = Layout::kernel(series).machine();
            layouts::round_trip(&Entry, &machine, "NO_WAKEUP_PREEMPTION,NEXT_BUDDY");
            let before = layouts::system(&Entry).current(&machine).unwrap();
            assert_eq!(layouts::set(&Entry, &machine, "NO_WAKEUP_PREEMPTION"), [file], "{series}");
            let after = layouts::system(&Entry).current(&machine).unwrap();
            let expected = before.as_str().replace("WAKEUP_PREEMPTION", "NO_WAKEUP_PREEMPTION");
            assert_eq!(after.as_str(), expected, "{series}");
        }
    }

    #[test]
    fn a_feature_of_another_kernel_is_refused_with_the_list_of_this_one() {
        let machine = Layout::kernel("6.1").machine();
        let (why, remedy) = layouts::missing(&Entry, &machine, "NO_RUN_TO_PARITY").unwrap();
        assert!(why.contains("RUN_TO_PARITY"), "{why}");
        assert!(remedy.contains("GENTLE_FAIR_SLEEPERS"), "{remedy}");
    }

    #[test]
    fn the_order_of_names_does_not_make_another_level_and_contradictions_are_refused() {
        assert_eq!(Entry.parse("B,NO_A").unwrap(), Entry.parse("NO_A, B").unwrap());
        for text in ["A,NO_A", "A,A", "a", "A,,B", "NO_"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }
}
