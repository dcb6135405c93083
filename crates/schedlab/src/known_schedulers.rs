//! Every scheduler that can be named, of whatever source: what listings and pages are made from.

use schedulers::own::{ALGORITHMS, Algorithm};
use schedulers::{PUBLISHED, Published};

/// Where a scheduler comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The kernel has it.
    Kernel,
    /// We have it, in this binary.
    Ours(&'static Algorithm),
    /// Others publish it on the Rust registry.
    Registry(&'static Published),
}

impl Origin {
    /// In a table's words.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Ours(_) => "built in",
            Self::Registry(_) => "registry",
        }
    }
}

/// One scheduler.
#[derive(Debug, Clone)]
pub(crate) struct KnownScheduler {
    /// What it is called in an experiment.
    pub id: String,
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: what kind of scheduler it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// All of them, in the order in which they are listed.
pub(crate) fn known_schedulers() -> Vec<KnownScheduler> {
    let fair = KnownScheduler {
        id: "fair".to_owned(),
        summary: "The kernel's own: EEVDF from 6.6, CFS before",
        doc: "What the kernel has where no sched_ext scheduler is in charge.",
        origin: Origin::Kernel,
    };
    let ours = ALGORITHMS.iter().map(|algorithm| KnownScheduler {
        id: format!("lab:{}", algorithm.id),
        summary: algorithm.summary,
        doc: algorithm.doc,
        origin: Origin::Ours(algorithm),
    });
    let of_registry = PUBLISHED.iter().map(|published| KnownScheduler {
        id: published.name.to_owned(),
        summary: published.summary,
        doc: published.doc,
        origin: Origin::Registry(published),
    });
    [fair].into_iter().chain(ours).chain(of_registry).collect()
}
