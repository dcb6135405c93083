//! `schedlab calibrate`: are our own statistics right?

use super::checkpoint::{Checkpoint, CheckpointHead};
use super::kernels::ProgressLine;
use super::signals::hear_signals;
use crate::cli::calibrate::Calibrate;
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use calibrate::{
    Calibration, CalibrationCell, CalibrationRequest, CalibrationRow, FULL, QUICK, Rate,
};
use contract::{Error, ErrorKind, Interrupt, Result};
use std::path::Path;

pub(super) fn run(arguments: &Calibrate) -> Result<ExitCode> {
    let usual = if arguments.quick { QUICK } else { FULL };
    let repetitions = arguments.repetitions.unwrap_or(usual);
    let only = arguments.only.as_deref().unwrap_or_default();
    let cells = calibrate::cells(only);
    if cells.is_empty() {
        return Err(Error::usage(
            "cannot calibrate",
            format!("no row's name contains `{only}`"),
            "`schedlab calibrate --quick` shows all names",
        ));
    }
    // Without a checkpoint a signal ends the process at once: there is nothing to go on from.
    let (mut checkpoint, interrupt) = match &arguments.checkpoint {
        Some(path) => {
            // Before the file is made: once it is there, an interruption ends in order.
            let interrupt = hear_signals()?;
            (Some(open(path, &CheckpointHead::of(repetitions, only)?, &cells)?), interrupt)
        }
        None => (None, Interrupt::default()),
    };
    let request = CalibrationRequest {
        catalogue: crate::catalogue(),
        repetitions,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        interrupt: &interrupt,
    };
    if !arguments.json {
        let kind = if arguments.quick { "quick" } else { "full" };
        print(&format!(
            "{kind} calibration, {repetitions} simulated campaigns in each row; [99 % interval of the count]\n"
        ))?;
    }
    let counted = count(&cells, &request, &mut checkpoint, &mut |row| {
        if arguments.json { Ok(()) } else { print(&format!("{}\n", calibrate::text(row))) }
    });
    let rows = match (counted, interrupt.signal(), &checkpoint) {
        (Err(error), Some(signal), Some(kept)) if error.kind == ErrorKind::Interrupted => {
            let so_far = kept.so_far();
            tell(&format!(
                "stopped by signal {signal}; {so_far}. The same command goes on from there"
            ));
            return Ok(ExitCode::Signal(signal));
        }
        (counted, ..) => counted?,
    };
    conclude(&Calibration { repetitions, is_quick: arguments.quick, rows }, arguments.json)
}

/// Opens a checkpoint, and tells what is not counted again.
fn open(path: &Path, head: &CheckpointHead, cells: &[CalibrationCell]) -> Result<Checkpoint> {
    let checkpoint = Checkpoint::open(path, head, cells)?;
    if checkpoint.rows() > 0 {
        tell(&format!("{}, and are not counted again", checkpoint.so_far()));
    }
    Ok(checkpoint)
}

/// The rows of these cells; `on_row` hears of each as it is counted, or taken from the checkpoint.
/// A terminal of standard error shows meanwhile how many there are.
fn count(
    cells: &[CalibrationCell],
    request: &CalibrationRequest<'_>,
    checkpoint: &mut Option<Checkpoint>,
    on_row: &mut dyn FnMut(&CalibrationRow) -> Result<()>,
) -> Result<Vec<CalibrationRow>> {
    let total: usize = cells.iter().map(|cell| cell.names().count()).sum();
    let mut line = ProgressLine::new();
    let mut rows = Vec::new();
    for cell in cells {
        let kept = checkpoint.as_ref().and_then(|checkpoint| checkpoint.counts_of(cell));
        let counts = match kept.map(<[Rate]>::to_vec) {
            Some(counts) => counts,
            None => {
                let next = cell.names().next().unwrap_or_default();
                line.draw(&format!("{} of {total} rows counted  {next}", rows.len()));
                let counted = cell.count(request);
                line.clear();
                let counts = counted?;
                if let Some(checkpoint) = checkpoint.as_mut() {
                    checkpoint.keep(cell, &counts)?;
                }
                counts
            }
        };
        for row in cell.rows(&counts) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of 1, 1, 3 and 1 rows.
    const ONLY: &str = "false positives, S1";

    /// What is printed of cells of so many campaigns, and whether it was stopped, which is asked
    /// for after so many lines.
    fn printed(
        checkpoint: &mut Option<Checkpoint>,
        repetitions: u32,
        lines: usize,
    ) -> (String, bool) {
        let interrupt = Interrupt::default();
        let catalogue = crate::catalogue();
        let request =
            CalibrationRequest { catalogue, repetitions, threads: 2, interrupt: &interrupt };
        let mut text = String::new();
        let ended = count(&calibrate::cells(ONLY), &request, checkpoint, &mut |row| {
            text.push_str(&format!("{}\n", calibrate::text(row)));
            if text.lines().count() == lines {
                interrupt.request(2);
            }
            Ok(())
        });
        let is_stopped = match ended {
            Ok(_) => false,
            Err(error) if error.kind == ErrorKind::Interrupted => true,
            Err(error) => panic!("{error}"),
        };
        (text, is_stopped)
    }

    #[test]
    fn a_calibration_that_is_stopped_anywhere_and_goes_on_prints_the_same_table() {
        let home = tempfile::tempdir().unwrap();
        let head = CheckpointHead::of(3, ONLY).unwrap();
        let (whole, _) = printed(&mut None, 3, usize::MAX);
        assert_eq!(whole.lines().count(), 6, "{whole}");
        for lines in 1..=5 {
            let path = home.path().join(lines.to_string());
            let open = || Some(open(&path, &head, &calibrate::cells(ONLY)).unwrap());
            let (part, is_stopped) = printed(&mut open(), 3, lines);
            assert!(is_stopped && whole.starts_with(&part), "{part}");
            assert!((lines..6).contains(&part.lines().count()), "{part}");
            let so_far = open().unwrap().so_far();
            let expected = format!("{} of 6 rows are in ", part.lines().count());
            assert!(so_far.starts_with(&expected), "{so_far}");
            assert_eq!(printed(&mut open(), 3, usize::MAX), (whole.clone(), false));
            // Of a file that has all, too.
            assert_eq!(printed(&mut open(), 3, usize::MAX), (whole.clone(), false));
        }
    }

    /// Counts of other campaigns are told apart: two in each cell, and then three.
    #[test]
    fn what_a_checkpoint_has_is_not_counted_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let head = CheckpointHead::of(3, ONLY).unwrap();
        let open = || Some(open(&path, &head, &calibrate::cells(ONLY)).unwrap());
        let (of_two, _) = printed(&mut open(), 2, 2);
        assert_eq!(of_two.lines().count(), 2, "{of_two}");
        let (mixed, _) = printed(&mut open(), 3, usize::MAX);
        let (of_three, _) = printed(&mut None, 3, usize::MAX);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
        assert_ne!(lines(&of_three)[..2], lines(&of_two)[..]);
        assert_eq!(lines(&mixed)[..2], lines(&of_two)[..]);
        assert_eq!(lines(&mixed)[2..], lines(&of_three)[2..]);
    }
}
