//! Every scheduler that can be named, of whatever source: what listings and pages are made from.

use schedulers::{PUBLISHED, Published};

/// Where a scheduler comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// Others publish it on the Rust registry.
    Registry(&'static Published),
}

impl Origin {
    /// In a table's words.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Registry(_) => "registry",
        }
    }
}

/// One scheduler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownScheduler {
    /// What it is called in an experiment.
    pub id: &'static str,
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: what kind of scheduler it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// All of them, in the order in which they are listed.
pub(crate) fn known_schedulers() -> Vec<KnownScheduler> {
    let of_registry = PUBLISHED.iter().map(|published| KnownScheduler {
        id: published.name,
        summary: published.summary,
        doc: published.doc,
        origin: Origin::Registry(published),
    });
    of_registry.collect()
}
