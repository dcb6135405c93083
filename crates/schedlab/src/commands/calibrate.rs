//! `schedlab calibrate`: are our own statistics right?

use crate::cli::Calibrate;
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use calibrate::{CalibrationRequest, FULL, QUICK};
use contract::{Error, Result};

pub(super) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    let usual = if arguments.quick { QUICK } else { FULL };
    let only = arguments.only.clone().unwrap_or_default();
    let request = CalibrationRequest {
        catalogue: crate::catalogue(),
        repetitions: arguments.repetitions.unwrap_or(usual),
        is_quick: arguments.quick,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        only: &only,
    };
    let mut problem = None;
    if !arguments.json {
        let kind = if arguments.quick { "quick" } else { "full" };
        print(&format!(
            "{kind} calibration, {} simulated campaigns in each row; [99 % interval of the count]\n",
            request.repetitions
        ))?;
    }
    let table = calibrate::calibrate(&request, &mut |row| {
        if !arguments.json {
            problem = problem.take().or(print(&format!("{}\n", calibrate::text(row))).err());
        }
    })?;
    problem.map_or(Ok(()), Err)?;
    if table.rows.is_empty() {
        return Err(Error::usage(
            "cannot calibrate",
            format!("no row's name contains `{only}`"),
            "`schedlab calibrate --quick` shows all names",
        ));
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&table)
            .map_err(|error| Error::environment("cannot encode the result", error))?;
        print_data(&format!("{text}\n"))?;
    }
    if table.holds() {
        return Ok(ExitCode::Done);
    }
    tell("a target is missed: verdicts cannot be trusted as promised");
    Ok(ExitCode::Failure)
}
