//! How many of what: `1 block`, `3 blocks`.

use phrases::{Language, counted, say};

pub(crate) fn blocks(count: usize, language: Language) -> String {
    counted!(language, count, "1 block", "{count} blocks")
}

/// How many blocks are whole: `0 of 1 block holds …`, `1 of 6 blocks holds …`, `5 of 6 blocks hold …`.
pub(crate) fn whole_blocks((seen, all): (usize, usize), language: Language) -> String {
    match (seen, all) {
        (seen, 1) => {
            say!(language, "{seen} of 1 block holds a completed trial of every subject", seen)
        }
        (1, all) => {
            say!(language, "1 of {all} blocks holds a completed trial of every subject", all)
        }
        (seen, all) => {
            say!(
                language,
                "{seen} of {all} blocks hold a completed trial of every subject",
                seen,
                all
            )
        }
    }
}

pub(crate) fn comparisons(count: usize, language: Language) -> String {
    counted!(language, count, "1 comparison", "{count} comparisons")
}

/// Pairs of blocks.
pub(crate) fn pairs(count: usize, language: Language) -> String {
    counted!(language, count, "1 pair", "{count} pairs")
}

pub(crate) fn records(count: usize, language: Language) -> String {
    counted!(language, count, "1 record", "{count} records")
}

pub(crate) fn replicates(count: usize, language: Language) -> String {
    counted!(language, count, "1 replicate", "{count} replicates")
}

pub(crate) fn runs(count: usize, language: Language) -> String {
    counted!(language, count, "1 run", "{count} runs")
}

pub(crate) fn subjects(count: usize, language: Language) -> String {
    counted!(language, count, "1 subject", "{count} subjects")
}

pub(crate) fn trials(count: u64, language: Language) -> String {
    counted!(language, count, "1 trial", "{count} trials")
}

pub(crate) fn workloads(count: usize, language: Language) -> String {
    counted!(language, count, "1 workload", "{count} workloads")
}
