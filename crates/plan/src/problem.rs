//! What is wrong with an experiment, where, and what was probably meant.

use model::on_one_line;
use std::fmt;

/// More problems than this are told by their number.
const MOST_TOLD: usize = 20;

/// One mistake. All mistakes of an experiment are reported together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentProblem {
    /// Line in the file, from 1; 0 where an option of the command line is wrong.
    pub line: usize,
    /// Column in characters, from 1; 0 where the line is 0.
    pub column: usize,
    /// How many characters of the line are meant.
    pub width: usize,
    /// The option that is wrong (`--set blocks=x`), where it is not the file.
    pub given_by: Option<String>,
    /// What is wrong, in one sentence without a full stop.
    pub cause: String,
    /// The valid name that resembles the wrong one.
    pub nearest: Option<String>,
    /// What to do.
    pub hint: Option<String>,
    /// How many mistakes it stands for: 1, or all others where it is the last of very many.
    pub stands_for: usize,
}

impl ExperimentProblem {
    /// The problem with its file, the source line, a caret and the hint.
    /// `text` is the experiment as it was given to [`crate::plan`]. Ends of lines in the name of the
    /// file are written out.
    pub fn render(&self, file: &str, text: &str) -> String {
        let mut rendered = if self.given_by.is_some() {
            format!("{self}\n")
        } else {
            format!("{}:{self}\n", on_one_line(file))
        };
        let source = self.line.checked_sub(1).and_then(|index| text.lines().nth(index));
        if let Some(source) = source {
            let number = self.line.to_string();
            let blank = " ".repeat(number.len());
            let source = shown(source);
            let room = (source.chars().count() + 1).saturating_sub(self.column).max(1);
            let indent = " ".repeat(self.column.saturating_sub(1));
            let carets = "^".repeat(self.width.clamp(1, room));
            rendered += &format!("  {number} | {source}\n  {blank} | {indent}{carets}\n");
        }
        if let Some(hint) = &self.hint {
            rendered += &format!("  {hint}\n");
        }
        rendered
    }
}

/// Problems as [`ExperimentProblem::render`] shows them, one after the other: the first 20, and the
/// number of the others.
pub fn render_problems(problems: &[ExperimentProblem], file: &str, text: &str) -> String {
    let (told, others) = problems.split_at(problems.len().min(MOST_TOLD));
    let mut rendered: String = told.iter().map(|problem| problem.render(file, text)).collect();
    let count: usize = others.iter().map(|problem| problem.stands_for).sum();
    if count > 0 {
        rendered += &format!("{}: {count} more; correct these first\n", on_one_line(file));
    }
    rendered
}

impl fmt::Display for ExperimentProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.given_by {
            Some(option) => write!(formatter, "{option}: {}", self.cause)?,
            None => write!(formatter, "{}:{}: {}", self.line, self.column, self.cause)?,
        }
        if let Some(nearest) = &self.nearest {
            write!(formatter, "; did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

impl std::error::Error for ExperimentProblem {}

/// A source line that cannot disturb a terminal: one column for each character.
fn shown(line: &str) -> String {
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: usize, column: usize, width: usize) -> ExperimentProblem {
        ExperimentProblem {
            line,
            column,
            width,
            given_by: None,
            cause: "unknown key `slcie` in [subjects.fast]".to_owned(),
            nearest: Some("slice".to_owned()),
            hint: None,
            stands_for: 1,
        }
    }

    #[test]
    fn twenty_problems_are_told_and_the_number_of_all_others() {
        let mut problems: Vec<ExperimentProblem> =
            (1..=MOST_TOLD).map(|line| problem(line, 1, 1)).collect();
        assert!(!render_problems(&problems, "a.toml", "").contains("more;"));
        problems.push(problem(21, 1, 1));
        problems.push(ExperimentProblem { stands_for: 5_000, ..problem(22, 1, 1) });
        let told = render_problems(&problems, "a.toml", "");
        assert_eq!(told.lines().count(), MOST_TOLD + 1, "{told}");
        assert!(told.ends_with("\na.toml: 5001 more; correct these first\n"), "{told}");
    }

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let text = "[subjects.fast]\n\tslcie = \"1ms\"\n";
        assert_eq!(
            problem(2, 2, 5).render("a.toml", text),
            "a.toml:2:2: unknown key `slcie` in [subjects.fast]; did you mean `slice`?\n  \
             2 |  slcie = \"1ms\"\n    |  ^^^^^\n"
        );
    }

    #[test]
    fn a_position_beyond_the_text_still_renders() {
        assert!(problem(9, 1, 3).render("a.toml", "x").starts_with("a.toml:9:1"));
        assert!(problem(1, 40, 300).render("a.toml", "x").ends_with("^\n"));
    }
}
