//! Everything that is wrong, reported together.

use std::fmt;

/// What a command found wrong; never empty.
#[derive(Debug)]
pub struct Problems(Vec<String>);

/// How a command ends.
pub type CommandResult = Result<(), Problems>;

impl Problems {
    /// One problem.
    pub fn one(problem: impl fmt::Display) -> Self {
        Self(vec![problem.to_string()])
    }

    /// All that several commands found.
    pub fn of_all(outcomes: impl IntoIterator<Item = CommandResult>) -> CommandResult {
        let found =
            outcomes.into_iter().filter_map(CommandResult::err).flat_map(|problems| problems.0);
        Self::outcome(found.collect())
    }

    /// Success where nothing was found.
    pub fn outcome(found: Vec<String>) -> CommandResult {
        if found.is_empty() { Ok(()) } else { Err(Self(found)) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            writeln!(formatter, "{problem}")?;
        }
        Ok(())
    }
}
