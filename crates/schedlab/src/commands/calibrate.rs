//! `schedlab calibrate`: are our own statistics right?

use super::kernels::ProgressLine;
use crate::cli::Calibrate;
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use calibrate::{
    Calibration, CalibrationCell, CalibrationRequest, CalibrationRow, FULL, QUICK, cells,
};
use contract::{Error, Interrupt, Result};

pub(super) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    let usual = if arguments.quick { QUICK } else { FULL };
    let only = arguments.only.as_deref().unwrap_or_default();
    let cells = cells(only);
    if cells.is_empty() {
        return Err(Error::usage(
            "cannot calibrate",
            format!("no row's name contains `{only}`"),
            "`schedlab calibrate --quick` shows all names",
        ));
    }
    let interrupt = Interrupt::default();
    let request = CalibrationRequest {
        catalogue: crate::catalogue(),
        repetitions: arguments.repetitions.unwrap_or(usual),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        interrupt: &interrupt,
    };
    if !arguments.json {
        let kind = if arguments.quick { "quick" } else { "full" };
        print(&format!(
            "{kind} calibration, {} simulated campaigns in each row; [99 % interval of the count]\n",
            request.repetitions
        ))?;
    }
    let rows = count(&cells, &request, &mut |row| {
        if arguments.json { Ok(()) } else { print(&format!("{}\n", calibrate::text(row))) }
    })?;
    let table = Calibration { repetitions: request.repetitions, is_quick: arguments.quick, rows };
    conclude(&table, arguments.json)
}

/// The rows of these cells; `on_row` hears of each as it is counted. A terminal of standard error shows
/// meanwhile how many there are.
fn count(
    cells: &[CalibrationCell],
    request: &CalibrationRequest<'_>,
    on_row: &mut dyn FnMut(&CalibrationRow) -> Result<()>,
) -> Result<Vec<CalibrationRow>> {
    let total: usize = cells.iter().map(|cell| cell.names().count()).sum();
    let mut line = ProgressLine::new();
    let mut rows = Vec::new();
    for cell in cells {
        let next = cell.names().next().unwrap_or_default();
        line.draw(&format!("{} of {total} rows counted  {next}", rows.len()));
        let counts = cell.count(request);
        line.clear();
        for row in cell.rows(&counts?) {
            on_row(&row)?;
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Says whether every target holds, and writes the table where it is to be JSON.
fn conclude(table: &Calibration, is_json: bool) -> Result<ExitCode> {
    if is_json {
        let text = serde_json::to_string_pretty(table)
            .map_err(|error| Error::environment("cannot encode the result", error))?;
        print_data(&format!("{text}\n"))?;
    }
    if table.holds() {
        return Ok(ExitCode::Done);
    }
    tell("a target is missed: verdicts cannot be trusted as promised");
    Ok(ExitCode::Failure)
}
