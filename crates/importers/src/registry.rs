//! The formats: one file each, one line here.

use crate::importer::Importer;

/// Every format.
pub static IMPORTERS: &[&dyn Importer] = &[
    &crate::tidy::CSV,
    &crate::tidy::TSV,
    &crate::benchfmt::ENTRY,
    &crate::fio::ENTRY,
    &crate::gatling::ENTRY,
    &crate::google_benchmark::ENTRY,
    &crate::hyperfine::ENTRY,
    &crate::iozone::ENTRY,
    &crate::iperf3::ENTRY,
    &crate::perf_stat::ENTRY,
    &crate::schbench::ENTRY,
    &crate::sockperf::ENTRY,
    &crate::wrk::ENTRY,
];
