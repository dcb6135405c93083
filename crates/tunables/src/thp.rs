//! When anonymous memory gets transparent huge pages.

use crate::choice_file::ChoiceFile;
use contract::{Description, Factor, Knob, Requirement, UndoCheck};
use model::Level;
use sys::FileForm;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "thp",
    summary: "when anonymous memory gets transparent huge pages",
    doc: "`always` backs every large enough anonymous mapping with 2 MiB pages, `madvise` \
          only those that ask for it, `never` none. Huge pages save TLB misses and page \
          faults; clearing and compacting them costs latency.\n\n\
          `/sys/kernel/mm/transparent_hugepage/enabled`. It decides at fault time: memory \
          mapped before keeps its pages until khugepaged passes by.\n\n\
          What moves with it, and when it lies: khugepaged works in the background for \
          seconds after a change, so settle. `shmem_enabled` and `defrag` are separate. On \
          fragmented memory `always` may get few huge pages: compare page faults per \
          operation to see whether it acted. Since 6.8 each size has its own \
          `hugepages-*/enabled`; those that say `inherit` follow this file.\n\n\
          Sources: Documentation/admin-guide/mm/transhuge.rst (6.12).",
};

static FILE: ChoiceFile = ChoiceFile {
    files: &["/sys/kernel/mm/transparent_hugepage/enabled"],
    form: FileForm::Bracketed,
    words: &[("always", "always"), ("madvise", "madvise"), ("never", "never")],
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "always, madvise or never"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["always", "never"]
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
    fn every_kernel_takes_it_and_it_is_put_back() {
        for series in ["5.10", "6.1", "6.6", "6.12", "6.18"] {
            let machine = Layout::kernel(series).machine();
            for level in ["always", "never", "madvise"] {
                layouts::round_trip(&Entry, &machine, level);
            }
        }
    }
}
