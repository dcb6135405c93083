//! Our own schedulers: textbook algorithms in BPF, each with parameters and a page.
//!
//! To add one: `own/NAME.bpf.c`, `own/NAME.md`, `own/NAME.rs` with its [`ALGORITHM`], and a
//! line in the list below.
//!
//! [`ALGORITHM`]: Algorithm

mod choice;
mod page;
mod required_kfuncs;
mod running;
mod serve;
mod statistics;
pub mod trace;

pub use choice::Choice;
pub(crate) use required_kfuncs::can_load;
pub use running::{Exit, Options, Running};
pub use serve::{keep, serve};
#[cfg(feature = "fixtures")]
pub use stall::stall;
pub use statistics::SchedulerStatistics;

use contract::Parameter;

/// One of our schedulers.
#[derive(Debug)]
pub struct Algorithm {
    /// Name after `lab:`, and of the operations in the kernel.
    pub id: &'static str,
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: formulas, sources, what it is good and bad at, invariants. The table of
    /// parameters is not in it: [`Self::page`] has that.
    pub doc: &'static str,
    /// What can be set. Each is a constant of the BPF object: a duration `x` is the 64-bit
    /// `x_ns`, a count the 64-bit `x`, a choice the number of the word in 32 bits, a flag a
    /// byte.
    pub parameters: &'static [Parameter],
    /// The BPF object; empty in a build without BPF.
    object: &'static [u8],
}

/// The object that build.rs made of `own/NAME.bpf.c`.
macro_rules! object {
    ($name:literal) => {{
        #[cfg(feature = "bpf")]
        let bytes: &'static [u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"));
        #[cfg(not(feature = "bpf"))]
        let bytes: &'static [u8] = &[];
        bytes
    }};
}

macro_rules! algorithms {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// All of ours, in the order in which they are listed.
        pub static ALGORITHMS: &[&Algorithm] = &[$(&$name::ALGORITHM),*];
    };
}

#[cfg(feature = "fixtures")]
mod stall;

algorithms! {
    bfs,
    fifo,
    rr,
    cfs,
    eevdf,
    lottery,
    mlfq,
}

impl Algorithm {
    /// The algorithm of this id.
    pub fn find(id: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().copied().find(|algorithm| algorithm.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_page_that_names_its_parameters() {
        for algorithm in ALGORITHMS {
            let id = algorithm.id;
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase()), "{id}: ops.name");
            assert!(!algorithm.summary.ends_with('.') && !algorithm.summary.is_empty());
            let page = algorithm.page();
            for heading in ["## Algorithm", "## Parameters\n\n", "## Good at", "## Bad at"] {
                assert!(page.contains(heading), "{id}: no {heading}");
            }
            for heading in ["## Invariants", "## Differences", "## Sources"] {
                assert!(page.contains(heading), "{id}: no {heading}");
            }
            for parameter in algorithm.parameters {
                let name = parameter.name;
                let rows = page.lines().filter(|line| line.starts_with(&format!("| `{name}` |")));
                assert_eq!(rows.count(), 1, "{id}: {name}");
                let default = parameter.default.unwrap_or_else(|| panic!("{id}: {name}"));
                assert!(parameter.parse(default).is_ok(), "{id}: {name}={default}");
            }
            assert_eq!(Algorithm::find(id).map(|found| found.id), Some(id));
        }
    }
}
