//! Other people's numbers: files of other tools become plans and records.
//!
//! This crate must not know how numbers are judged or stored. It believes nothing:
//! a file is hostile until parsed, and an error names its line. What a format does
//! not say (which values are independent, in which order they were measured, which
//! way is better) is declared by the user or becomes a caveat, never a guess.

mod asked_order;
mod assemble;
mod clean_cells;
mod column_names;
mod column_text;
mod counted_shares;
mod digits;
mod duplicates;
mod executions;
mod failed_rows;
mod import_notices;
mod importer;
mod last_digits;
mod level_places;
mod mapping;
mod measured_rows;
mod metrics;
mod mixing;
mod near_copies;
mod origins;
mod own_table;
mod percentile;
#[cfg(test)]
mod picture;
mod post_hoc;
mod repeated;
mod row_order;
mod run_numbers;
mod run_order;
mod scaled_runs;
mod shared_levels;
mod shown;
mod started;
mod subject_columns;
mod subject_places;
mod table;
mod table_row;
mod time_order;
mod tool_settings;
mod unnamed;
mod unnamed_kinds;

pub use assemble::{Assembled, ImportSettings, import};
pub use executions::ExecutionLevels;
pub use importer::{ImportFile, Importer};
pub use mapping::{Mapping, MappingDirection, ValueColumn};
pub use outputs::Trouble;
pub use table::{ImportedRow, ImportedTable};
pub use table_row::TableRow;

/// Declares the formats' modules and lists what reads each format.
macro_rules! importers {
    ($($module:ident: $($entry:ident),+;)*) => {
        $(mod $module;)*

        /// Every format; each is a target of the fuzzer.
        pub static IMPORTERS: &[&dyn Importer] = &[$($(&$module::$entry,)+)*];
    };
}

importers! {
    tidy: CSV, TSV;
    benchfmt: ENTRY;
    fio: ENTRY;
    gatling: ENTRY;
    google_benchmark: ENTRY;
    hyperfine: ENTRY;
    iozone: ENTRY;
    iperf3: ENTRY;
    perf_stat: ENTRY;
    schbench: ENTRY;
    sockperf: ENTRY;
    wrk: ENTRY;
}
