//! Collects problems while an experiment is read, so that none hides another.

use super::tree::SourceLocation;
use model::on_one_line;

/// More problems than this are counted and not kept: nobody reads them, and a megabyte of text has a
/// quarter of a million.
const MOST_KEPT: usize = 1_000;

/// Problems found so far, by place in the text or on the command line.
#[derive(Debug, Default)]
pub struct ExperimentProblems {
    found: Vec<UnplacedProblem>,
    /// Where the first is that was not kept, and how many were not.
    others: Option<(SourceLocation, usize)>,
    /// The last that was not kept, to which a caller may add a hint.
    last_other: Option<UnplacedProblem>,
}

/// One problem whose place is not yet a line. Ends of lines in what it quotes are written out.
#[derive(Debug)]
pub struct UnplacedProblem {
    /// Where it was written.
    pub place: SourceLocation,
    /// What is wrong, in one sentence without a full stop.
    pub cause: String,
    /// The valid name that resembles the wrong one.
    pub nearest: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Whether nothing else is said of its line.
    pub owns_line: bool,
    is_kept: bool,
}

impl UnplacedProblem {
    /// Suggests the candidate that resembles `name`, if one does. Of a problem that is only counted
    /// no candidate is looked at.
    pub fn near<'c>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> &mut Self {
        if self.is_kept {
            self.nearest = crate::nearest(name, candidates).map(on_one_line);
        }
        self
    }

    /// Says what to do.
    pub fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        let hint: String = hint.into();
        self.hint = Some(on_one_line(&hint));
        self
    }

    /// Silences whatever else would be said of its line: what could not be read
    /// there has no other meaning.
    pub fn own_line(&mut self) -> &mut Self {
        self.owns_line = true;
        self
    }
}

impl ExperimentProblems {
    /// Notes a problem; the answer takes a suggestion and a hint.
    pub fn report(
        &mut self,
        place: &SourceLocation,
        cause: impl Into<String>,
    ) -> &mut UnplacedProblem {
        let is_kept = self.found.len() < MOST_KEPT;
        let cause: String = cause.into();
        let problem = UnplacedProblem {
            place: place.clone(),
            cause: on_one_line(&cause),
            nearest: None,
            hint: None,
            owns_line: false,
            is_kept,
        };
        if is_kept {
            self.found.push(problem);
            let last = self.found.len() - 1;
            &mut self.found[last]
        } else {
            self.others.get_or_insert_with(|| (place.clone(), 0)).1 += 1;
            self.last_other.insert(problem)
        }
    }

    /// How many were found.
    pub fn len(&self) -> usize {
        self.found.len() + self.others.as_ref().map_or(0, |(_, count)| *count)
    }

    /// Where the first problem is that was found behind the last one that is kept, and how many
    /// those are.
    pub fn others(&self) -> Option<(&SourceLocation, usize)> {
        self.others.as_ref().map(|(place, count)| (place, *count))
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All that are kept, in the order in which they were found.
    pub fn into_found(self) -> Vec<UnplacedProblem> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_that_a_problem_quotes_makes_a_line_of_its_own() {
        let mut problems = ExperimentProblems::default();
        let option = SourceLocation::Option("--set a".to_owned());
        let found = problems.report(&option, "unknown key `a\nFORGED`");
        found.near("fast\nFORGED", ["faster\nFORGED"]).hint("write `a\nFORGED`");
        let found = problems.into_found();
        assert_eq!(found[0].cause, "unknown key `a\\nFORGED`");
        assert_eq!(found[0].nearest.as_deref(), Some("faster\\nFORGED"));
        assert_eq!(found[0].hint.as_deref(), Some("write `a\\nFORGED`"));
    }

    #[test]
    fn of_very_many_problems_a_thousand_are_kept_and_the_others_counted() {
        let mut problems = ExperimentProblems::default();
        let place = |start: usize| SourceLocation::Span { start, end: start + 1 };
        for start in 0..MOST_KEPT + 7 {
            problems.report(&place(start), "unknown").near("blok", ["blocks"]).hint("look again");
        }
        assert_eq!(problems.len(), MOST_KEPT + 7, "readers compare how many there were");
        assert_eq!(problems.others(), Some((&place(MOST_KEPT), 7)));
        let found = problems.into_found();
        assert_eq!(found.len(), MOST_KEPT);
        assert!(found.iter().all(|one| one.nearest.as_deref() == Some("blocks")));
        let mut few = ExperimentProblems::default();
        few.report(&place(1), "unknown");
        assert_eq!((few.len(), few.others()), (1, None));
    }
}
