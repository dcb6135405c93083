//! Collects problems while an experiment is read, so that none hides another.

use crate::document::SourceLocation;
use crate::problem::ExperimentProblem;

/// Problems found so far, by place in the text or on the command line.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<UnplacedProblem>,
}

/// One problem whose place is not yet a line.
#[derive(Debug)]
pub(crate) struct UnplacedProblem {
    place: SourceLocation,
    cause: String,
    nearest: Option<String>,
    hint: Option<String>,
    owns_line: bool,
}

impl UnplacedProblem {
    /// Suggests the candidate that resembles `name`, if one does.
    pub(crate) fn near<'c>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> &mut Self {
        self.nearest = contract::nearest(name, candidates).map(str::to_owned);
        self
    }

    /// Says what to do.
    pub(crate) fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }
}

impl UnplacedProblem {
    /// Silences whatever else would be said of its line: what could not be read
    /// there has no other meaning.
    pub(crate) fn own_line(&mut self) -> &mut Self {
        self.owns_line = true;
        self
    }
}

impl Problems {
    /// Notes a problem; the answer takes a suggestion and a hint.
    pub(crate) fn report(
        &mut self,
        place: &SourceLocation,
        cause: impl Into<String>,
    ) -> &mut UnplacedProblem {
        self.found.push(UnplacedProblem {
            place: place.clone(),
            cause: cause.into(),
            nearest: None,
            hint: None,
            owns_line: false,
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// How many were found.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether none was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Options first, then by line; the same thing is said once.
    pub(crate) fn into_sorted(self, text: &str) -> Vec<ExperimentProblem> {
        let owners: Vec<(usize, usize)> = self
            .found
            .iter()
            .filter(|found| found.owns_line)
            .filter_map(|found| found.place.start().map(|start| position(text, start)))
            .collect();
        let is_silenced = |found: &UnplacedProblem, problem: &ExperimentProblem| {
            !found.owns_line && owners.iter().any(|(line, _)| *line == problem.line)
        };
        let mut problems: Vec<ExperimentProblem> = self
            .found
            .into_iter()
            .filter_map(|found| {
                let problem = found.located(text);
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
}

impl UnplacedProblem {
    fn located(&self, text: &str) -> ExperimentProblem {
        let (line, column, width, given_by) = match &self.place {
            SourceLocation::Option(option) => (0, 0, 0, Some(option.clone())),
            &SourceLocation::Span { start, end } => {
                let (line, column) = position(text, start);
                let meant = text.get(start..end).unwrap_or_default();
                let width = meant.lines().next().unwrap_or_default().chars().count();
                (line, column, width.max(1), None)
            }
        };
        let UnplacedProblem { cause, nearest, hint, .. } = self;
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
