//! Why parameters cannot be meant.

use std::fmt;

/// One reason, in one sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(String);

impl Problem {
    /// All of them in one text, as the cause of an error.
    pub fn joined(problems: &[Problem]) -> String {
        problems.iter().map(|problem| problem.0.as_str()).collect::<Vec<_>>().join("; ")
    }
}

impl From<String> for Problem {
    fn from(sentence: String) -> Self {
        Self(sentence)
    }
}

impl From<&str> for Problem {
    fn from(sentence: &str) -> Self {
        Self(sentence.to_owned())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn no_problem_hides_another() {
        let problems =
            [Problem::from("a is shorter than b"), Problem::from("c is none".to_owned())];
        assert_eq!(Problem::joined(&problems), "a is shorter than b; c is none");
        assert_eq!(Problem::joined(&[]), "");
    }
}
