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
mod clearly;
mod draws;
mod equivalence;
mod false_positives;
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

pub use table::{Calibration, CalibrationRow, Limit, text};

use contract::{Catalogue, Result};

/// Repetitions of each cell of a full calibration (docs/method.md#m-targets).
pub const FULL: u32 = 20_000;
/// Repetitions of each cell of a quick one.
pub const QUICK: u32 = 150;

/// What to calibrate.
#[derive(Clone, Copy)]
pub struct CalibrationRequest<'a> {
    /// Workloads to simulate.
    pub catalogue: Catalogue,
    /// Simulated campaigns in each cell.
    pub repetitions: u32,
    /// Whether it is a quick one: the table says so.
    pub is_quick: bool,
    /// Threads that simulate; the counts do not depend on it.
    pub threads: usize,
    /// Only rows whose name contains this; all when empty.
    pub only: &'a str,
}

/// Runs every cell. `on_row` hears of each row as it is done.
///
/// # Errors
/// When the planner refuses one of the calibration's own experiments.
pub fn calibrate(
    request: &CalibrationRequest<'_>,
    on_row: &mut dyn FnMut(&CalibrationRow),
) -> Result<Calibration> {
    let mut rows = Vec::new();
    for target in [
        false_positives::rows,
        naive::rows,
        power::rows,
        equivalence::rows,
        stopping::rows,
        multiplicity::rows,
        order::rows,
        caveats::rows,
        alarms::false_alarms,
        alarms::hits,
        table_alarms::rows,
        mixed_kinds::rows,
        noise::rows,
        quantities::rows,
        clearly::rows,
        answers::rows,
        imports::rows,
    ] {
        for row in target(request)? {
            on_row(&row);
            rows.push(row);
        }
    }
    Ok(Calibration { repetitions: request.repetitions, is_quick: request.is_quick, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::TrialCatalogue;
    use model::CaveatCode;
    use std::collections::BTreeSet;

    /// The names of rows that contain this. No campaign runs.
    fn names(only: &str) -> Vec<String> {
        let trials = TrialCatalogue { workloads: &[], factors: &[], probes: &[] };
        let request = CalibrationRequest {
            catalogue: Catalogue { trials, venues: &[] },
            repetitions: 0,
            is_quick: true,
            threads: 1,
            only,
        };
        let rows = calibrate(&request, &mut |_| ()).unwrap().rows;
        rows.into_iter().map(|row| row.name).collect()
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
