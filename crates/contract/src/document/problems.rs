//! Collects problems while an experiment is read, so that none hides another.

use super::tree::SourceLocation;

/// Problems found so far, by place in the text or on the command line.
#[derive(Debug, Default)]
pub struct ExperimentProblems {
    found: Vec<UnplacedProblem>,
}

/// One problem whose place is not yet a line.
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
}

impl UnplacedProblem {
    /// Suggests the candidate that resembles `name`, if one does.
    pub fn near<'c>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> &mut Self {
        self.nearest = crate::nearest(name, candidates).map(str::to_owned);
        self
    }

    /// Says what to do.
    pub fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
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
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of them, in the order in which they were found.
    pub fn into_found(self) -> Vec<UnplacedProblem> {
        self.found
    }
}
