//! Calibration: simulated campaigns with a known truth through the real planner,
//! simulator and judge, counted against the targets of docs/method.md#m-targets.
//!
//! This crate must not know how a verdict comes about: it counts verdicts and
//! p-values as a user would see them, and does to the same records what people do
//! without a design.

mod alarms;
mod answers;
mod campaigns;
mod caveats;
mod cell;
mod clearly;
mod draws;
mod equivalence;
mod false_positives;
mod import_coverage;
mod imported_tables;
mod imports;
mod mixed_kinds;
mod multiplicity;
mod naive;
mod noise;
mod order;
mod power;
mod quantities;
mod rate;
mod reported;
mod stopping;
mod synthetic;
mod table;
mod table_alarms;

pub use cell::CalibrationCell;
pub use rate::Rate;
pub use table::{Calibration, CalibrationRow, Limit, text};

use contract::{Catalogue, Interrupt};

/// Repetitions of each cell of a full calibration (docs/method.md#m-targets).
pub const FULL: u32 = 20_000;
/// Repetitions of each cell of a quick one.
pub const QUICK: u32 = 150;

/// How the cells of a calibration are counted.
#[derive(Clone, Copy)]
pub struct CalibrationRequest<'a> {
    /// Workloads to simulate.
    pub catalogue: Catalogue,
    /// Simulated campaigns in each cell.
    pub repetitions: u32,
    /// Threads that simulate; the counts do not depend on it.
    pub threads: usize,
    /// Once it is asked for, no further campaign begins.
    pub interrupt: &'a Interrupt,
}

/// Every cell with a row whose name contains this, in the order of the table; nothing runs yet.
pub fn cells(only: &str) -> Vec<CalibrationCell> {
    let mut cells = Vec::new();
    for of_target in [
        false_positives::cells,
        naive::cells,
        power::cells,
        equivalence::cells,
        stopping::cells,
        multiplicity::cells,
        order::cells,
        caveats::cells,
        alarms::false_alarms,
        alarms::hits,
        table_alarms::cells,
        mixed_kinds::cells,
        noise::cells,
        quantities::cells,
        clearly::cells,
        answers::cells,
        imports::cells,
        import_coverage::cells,
    ] {
        cells.extend(of_target());
    }
    cells.retain(|cell| cell.names().any(|name| name.contains(only)));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CaveatCode;
    use std::collections::BTreeSet;

    /// The names of the rows of all cells that have one which contains this.
    fn names(only: &str) -> Vec<String> {
        let cells = cells(only);
        cells.iter().flat_map(|cell| cell.names().map(str::to_owned)).collect()
    }

    #[test]
    fn no_two_rows_have_the_same_name() {
        let mut known = BTreeSet::new();
        for name in names("") {
            assert!(known.insert(name.clone()), "two rows are called {name:?}");
        }
    }

    #[test]
    fn only_cells_with_a_row_of_that_name_are_chosen() {
        let inside = names("truth inside the 95 % interval, S1");
        assert_eq!(inside[0], "false positives, S1, 10 blocks");
        assert_eq!(inside.len(), 3, "{inside:?}");
        assert_eq!(names("no such row"), [""; 0]);
    }

    #[test]
    fn each_caveat_of_a_test_has_a_case_without_its_fault_and_one_with_it() {
        let statistical = CaveatCode::ALL.iter().filter(|code| code.is_statistical());
        let statistical: BTreeSet<&str> = statistical.map(|code| code.as_str()).collect();
        let places = "crates/calibrate/src/alarms.rs, of imports table_alarms.rs";
        let alarms = names("false alarm ");
        let heads = alarms.iter().filter_map(|name| name.strip_prefix("false alarm "));
        let codes: BTreeSet<&str> =
            heads.filter_map(|head| Some(head.split_once(", ")?.0)).collect();
        assert_eq!(codes, statistical, "without their fault: {places}");
        let hits = names(" told of");
        let codes: BTreeSet<&str> =
            hits.iter().filter_map(|name| Some(name.split_once(" told of")?.0)).collect();
        assert_eq!(codes, statistical, "with their fault: {places}");
    }
}
