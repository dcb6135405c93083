//! Other people's numbers: files of other tools become plans and records.
//!
//! This crate must not know how numbers are judged or stored. It believes nothing:
//! a file is hostile until parsed, and an error names its line. What a format does
//! not say (which values are independent, in which order they were measured, which
//! way is better) is declared by the user or becomes a caveat, never a guess.

mod asked_order;
mod assemble;
mod benchfmt;
mod clean_cells;
mod column_names;
mod column_text;
mod counted_shares;
mod digits;
mod duplicates;
mod executions;
mod failed_rows;
mod fio;
mod gatling;
mod google_benchmark;
mod hyperfine;
mod import_notices;
mod importer;
mod iozone;
mod iperf3;
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
mod perf_stat;
#[cfg(test)]
mod picture;
mod post_hoc;
mod registry;
mod repeated;
mod row_order;
mod run_numbers;
mod run_order;
mod scaled_runs;
mod schbench;
mod shared_levels;
mod shown;
mod sockperf;
mod started;
mod subject_columns;
mod table;
mod table_row;
mod tidy;
mod time_order;
mod tool_settings;
mod unnamed;
mod unnamed_kinds;
mod wrk;

pub use assemble::{Assembled, ImportSettings, import};
pub use executions::ExecutionLevels;
pub use importer::{ImportFile, Importer};
pub use mapping::{Mapping, MappingDirection, ValueColumn};
pub use outputs::Trouble;
pub use registry::IMPORTERS;
pub use table::{ImportedRow, ImportedTable};
pub use table_row::TableRow;
