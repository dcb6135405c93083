//! Where in the text problems lie: lines and columns of what was found while it was read.

use crate::line_index::{Cursor, LineIndex};
use crate::problem::ExperimentProblem;
use contract::document::{ExperimentProblems, SourceLocation, UnplacedProblem};
use model::{LONGEST_LINE, on_one_line};
use std::collections::BTreeSet;

/// Options first, then by line; the same thing is said once. Where there are more than are kept,
/// the last one stands for all others.
pub(crate) fn into_sorted(problems: ExperimentProblems, text: &str) -> Vec<ExperimentProblem> {
    let lines = LineIndex::of(text);
    let others = problems.others().map(|(place, count)| others(place, count, &lines));
    let mut found = problems.into_found();
    found.sort_by_key(|found| found.place.start());
    let line_of = |found: &UnplacedProblem| found.place.start().map(|start| lines.number(start));
    let owned: BTreeSet<usize> =
        found.iter().filter(|found| found.owns_line).filter_map(line_of).collect();
    let is_silenced = |found: &UnplacedProblem| {
        !found.owns_line && line_of(found).is_some_and(|line| owned.contains(&line))
    };
    let mut cursor = Cursor::at_the_begin(&lines);
    let mut said_before = BTreeSet::new();
    let told = found
        .iter()
        .filter(|found| !is_silenced(found) && said_before.insert(said(found)))
        .map(|found| located(found, text, &mut cursor));
    told.chain(others).collect()
}

/// Where a problem begins, and all that is said of it.
fn said(found: &UnplacedProblem) -> (Option<usize>, [Option<&str>; 4]) {
    let UnplacedProblem { place, cause, nearest, hint, .. } = found;
    let option = match place {
        SourceLocation::Option(option) => Some(option.as_str()),
        SourceLocation::Span { .. } => None,
    };
    (place.start(), [option, Some(cause.as_str()), nearest.as_deref(), hint.as_deref()])
}

/// What stands for problems that are only counted.
fn others(place: &SourceLocation, count: usize, lines: &LineIndex<'_>) -> ExperimentProblem {
    let (line, column) =
        place.start().map_or((0, 0), |start| Cursor::at_the_begin(lines).go_to(start));
    ExperimentProblem {
        line,
        column,
        width: usize::from(line > 0),
        given_by: match place {
            SourceLocation::Option(option) => Some(on_one_line(option)),
            SourceLocation::Span { .. } => None,
        },
        cause: format!("{count} problems from here on are not told"),
        nearest: None,
        hint: None,
        stands_for: count,
    }
}

fn located(found: &UnplacedProblem, text: &str, cursor: &mut Cursor<'_, '_>) -> ExperimentProblem {
    let (line, column, width, given_by) = match &found.place {
        SourceLocation::Option(option) => (0, 0, 0, Some(on_one_line(option))),
        &SourceLocation::Span { start, end } => {
            let (line, column) = cursor.go_to(start);
            let meant = text.get(start..end).unwrap_or_default().chars();
            let is_in_line = |letter: &char| !matches!(letter, '\n' | '\r');
            let width = meant.take(LONGEST_LINE).take_while(is_in_line).count();
            (line, column, width.max(1), None)
        }
    };
    let UnplacedProblem { cause, nearest, hint, .. } = found;
    ExperimentProblem {
        line,
        column,
        width,
        given_by,
        cause: cause.clone(),
        nearest: nearest.clone(),
        hint: hint.clone(),
        stands_for: 1,
    }
}
