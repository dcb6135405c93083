//! Where the kernel lets a waking task preempt kernel code.

use crate::choice_file::ChoiceFile;
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use sys::FileForm;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "preempt",
    summary: "where the kernel lets a waking task preempt kernel code",
    doc: "`none` preempts at voluntary points only, `voluntary` adds might_sleep() points, \
          `full` preempts anywhere but in critical sections, `lazy` (6.13) preempts \
          real-time wake-ups at once and fair ones at the tick.\n\n\
          debugfs `sched/preempt` since 5.13 (`sched_preempt` in 5.12), with \
          CONFIG_PREEMPT_DYNAMIC; kernels before can only choose at build time. The \
          choices offered differ: 7.x has full and lazy only.\n\n\
          What moves with it, and when it lies: it changes where kernel code may be \
          preempted, so workloads that live in user space barely react. Static calls are \
          patched while it is written, which stops all CPUs for a moment. Between kernels \
          `full` is the only model they share.\n\n\
          Sources: sched_dynamic_update in kernel/sched/core.c (6.12, 6.13); \
          Documentation/admin-guide/kernel-parameters.txt (preempt=).",
};

static FILE: ChoiceFile = ChoiceFile {
    files: &["/sys/kernel/debug/sched/preempt", "/sys/kernel/debug/sched_preempt"],
    form: FileForm::Bracketed,
    words: &[("none", "none"), ("voluntary", "voluntary"), ("full", "full"), ("lazy", "lazy")],
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "none, voluntary, full or lazy"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["full", "none"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        FILE.parse(text)
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        FILE.requires(level)
    }

    fn owners(&self) -> &'static [&'static str] {
        &["tuned"]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::System(&FILE)
    }

    fn undo_check(&self) -> UndoCheck {
        UndoCheck::DryWriteBack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::{self, Layout};

    #[test]
    fn the_choices_of_each_kernel_are_taken_and_put_back() {
        for (series, choices) in [
            ("6.1", vec!["none", "full", "voluntary"]),
            ("6.12", vec!["none", "full"]),
            ("6.18", vec!["lazy", "none"]),
        ] {
            let machine = Layout::kernel(series).machine();
            for level in choices {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }

    #[test]
    fn a_choice_the_kernel_does_not_offer_is_refused_before_it_is_written() {
        let machine = Layout::kernel("6.1").machine();
        let (why, _) = layouts::missing(&Entry, &machine, "lazy").unwrap();
        assert!(why.contains("none [voluntary] full"), "{why}");
        assert_eq!(layouts::missing(&Entry, &machine, "full"), None);
    }

    #[test]
    fn a_kernel_built_with_one_model_cannot() {
        let machine = Layout::kernel("5.10").machine();
        assert!(layouts::missing(&Entry, &machine, "full").is_some());
    }
}
