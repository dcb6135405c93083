//! Where in the text problems lie: lines and columns of what was found while it was read.

use crate::problem::ExperimentProblem;
use contract::document::{ExperimentProblems, SourceLocation, UnplacedProblem};

/// Options first, then by line; the same thing is said once.
pub(crate) fn into_sorted(problems: ExperimentProblems, text: &str) -> Vec<ExperimentProblem> {
    let found = problems.into_found();
    let owners: Vec<(usize, usize)> = found
        .iter()
        .filter(|found| found.owns_line)
        .filter_map(|found| found.place.start().map(|start| position(text, start)))
        .collect();
    let is_silenced = |found: &UnplacedProblem, problem: &ExperimentProblem| {
        !found.owns_line && owners.iter().any(|(line, _)| *line == problem.line)
    };
    let mut problems: Vec<ExperimentProblem> = found
        .into_iter()
        .filter_map(|found| {
            let problem = located(&found, text);
            (!is_silenced(&found, &problem)).then_some(problem)
        })
        .collect();
    problems.sort_by_key(|problem| (problem.line, problem.column));
    let mut distinct: Vec<ExperimentProblem> = Vec::with_capacity(problems.len());
    for problem in problems {
        if !distinct.contains(&problem) {
            distinct.push(problem);
        }
    }
    distinct
}

fn located(found: &UnplacedProblem, text: &str) -> ExperimentProblem {
    let (line, column, width, given_by) = match &found.place {
        SourceLocation::Option(option) => (0, 0, 0, Some(option.clone())),
        &SourceLocation::Span { start, end } => {
            let (line, column) = position(text, start);
            let meant = text.get(start..end).unwrap_or_default();
            let width = meant.lines().next().unwrap_or_default().chars().count();
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
    }
}

/// Line and column, both from 1, of a byte offset; the end of the text for any
/// offset beyond it.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
