//! `schedlab vs`: an experiment in one line, for any command.
//!
//! The line becomes the text of an ordinary experiment, so that everything
//! after it is checked, stored and explained as if it had been a file.

use crate::names::name_of_levels;
use crate::problem::ExperimentProblem;
use crate::toml_text::{key, list, quoted};
use contract::Catalogue;
use std::fmt::Write;

/// What was written on the line.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneLine<'a> {
    /// `policy=batch,nice=5`; `baseline` or nothing is the machine as it is.
    /// The first is the reference.
    pub subjects: &'a [String],
    /// The program and its arguments.
    pub command: &'a [String],
    /// `NAME=regex:PATTERN:lower`, `NAME=json:/pointer:higher`, `NAME=csv:column:lower`.
    pub metrics: &'a [String],
    /// Primary metrics; the command's default where empty.
    pub primary: &'a [String],
    /// Number of blocks.
    pub blocks: Option<u32>,
    /// Margin of every metric: `5%`.
    pub margin: Option<&'a str>,
    /// Invocations in each trial.
    pub invocations: Option<u32>,
    /// Background load: `cpu:2`.
    pub load: Option<&'a str>,
    /// Venue.
    pub venue: Option<&'a str>,
    /// Longest time of one invocation: `30s`.
    pub time_limit: Option<&'a str>,
}

/// The experiment's text.
///
/// # Errors
/// What cannot be read, each with the argument it is in.
pub fn one_line(
    catalogue: &Catalogue,
    line: &OneLine<'_>,
) -> Result<String, Vec<ExperimentProblem>> {
    let mut problems = Vec::new();
    let arms: Vec<Arm> =
        line.subjects.iter().filter_map(|text| arm(catalogue, text, &mut problems)).collect();
    if line.subjects.len() < 2 {
        let cause = format!("{} subject to compare; at least two are needed", line.subjects.len());
        problems.push(problem("SUBJECT..", cause, "for example: schedlab vs baseline 'slice=3ms'"));
    }
    for (index, arm) in arms.iter().enumerate() {
        if arms[..index].iter().any(|earlier| earlier.id == arm.id) {
            let cause = format!("the subject `{}` is there twice", arm.id);
            let hint =
                "leave one out: an A/A control, a second copy of the reference, is added by itself";
            problems.push(problem("SUBJECT..", cause, hint));
        }
    }
    if line.command.is_empty() {
        let hint = "write the program after --, for example -- ./prog args";
        problems.push(problem("--", "there is no program to run".to_owned(), hint));
    }
    let metrics: Vec<String> =
        line.metrics.iter().filter_map(|text| metric(text, &mut problems)).collect();
    if problems.is_empty() { Ok(text(line, &arms, &metrics)) } else { Err(problems) }
}

struct Arm {
    id: String,
    levels: Vec<(String, String)>,
}

fn text(line: &OneLine<'_>, arms: &[Arm], metrics: &[String]) -> String {
    let shown: Vec<&str> = line
        .subjects
        .iter()
        .map(|subject| if subject.trim().is_empty() { "baseline" } else { subject.trim() })
        .collect();
    let mut title = format!("{}: {}", shown.join(" against "), line.command.join(" "));
    title.retain(|character| !character.is_control());
    if title.chars().count() > crate::settings::TITLE_LIMIT {
        title = title.chars().take(crate::settings::TITLE_LIMIT - 1).chain(['…']).collect();
    }
    let mut text = format!("title = {}\n", quoted(&title));
    let mut assign = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text += &format!("{name} = {value}\n");
        }
    };
    assign("venue", line.venue.map(quoted));
    assign("blocks", line.blocks.map(|count| count.to_string()));
    assign("margin", line.margin.map(quoted));
    for arm in arms {
        text += &format!("\n[subjects.{}]\n", key(&arm.id));
        for (factor, level) in &arm.levels {
            text += &format!("{} = {}\n", key(factor), quoted(level));
        }
    }
    text += &format!("\n[[workloads]]\nuse = \"command\"\nrun = {}\n", list(line.command));
    let mut assign = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text += &format!("{name} = {value}\n");
        }
    };
    assign("invocations", line.invocations.map(|count| count.to_string()));
    assign("load", line.load.map(quoted));
    assign("time_limit", line.time_limit.map(quoted));
    assign("primary", (!line.primary.is_empty()).then(|| list(line.primary)));
    for metric in metrics {
        text += metric;
    }
    text
}

/// `policy=batch,nice=5`. A comma inside a level (`affinity=0,2`) is followed by
/// no `=`, so the pieces are joined again.
fn arm(catalogue: &Catalogue, text: &str, problems: &mut Vec<ExperimentProblem>) -> Option<Arm> {
    let text = text.trim();
    if text.is_empty() || text == "baseline" {
        return Some(Arm { id: "baseline".to_owned(), levels: Vec::new() });
    }
    let mut levels: Vec<(String, String)> = Vec::new();
    for piece in text.split(',') {
        match (piece.split_once('='), levels.last_mut()) {
            (Some((factor, level)), _) if !factor.trim().is_empty() => {
                levels.push((factor.trim().to_owned(), level.trim().to_owned()));
            }
            (None, Some((_, level))) => {
                let _ = write!(level, ",{piece}");
            }
            _ => {
                let cause = format!("`{piece}` is not FACTOR=LEVEL");
                problems.push(problem(
                    text,
                    cause,
                    "write for example 'policy=batch,nice=5', or baseline for the machine as it is",
                ));
                return None;
            }
        }
    }
    for (index, (factor, _)) in levels.iter().enumerate() {
        if levels[..index].iter().any(|(earlier, _)| earlier == factor) {
            problems.push(problem(text, format!("`{factor}` is set twice"), ""));
            return None;
        }
    }
    let canonical: Vec<(String, String)> = levels
        .iter()
        .map(|(factor, level)| {
            let parsed = catalogue.factor(factor).and_then(|known| known.parse(level).ok());
            let level = parsed.map_or_else(|| level.clone(), |level| level.as_str().to_owned());
            (factor.clone(), level)
        })
        .collect();
    let id = name_of_levels(canonical.iter().map(|(f, l)| (f.as_str(), l.as_str())));
    Some(Arm { id, levels })
}

/// One line of the command's `metrics` table.
fn metric(text: &str, problems: &mut Vec<ExperimentProblem>) -> Option<String> {
    let option = format!("--metric {text}");
    let hint = "write NAME=regex:PATTERN, NAME=json:/POINTER or NAME=csv:COLUMN, \
                each followed by :lower or :higher";
    let Some((name, place)) = text.split_once('=') else {
        problems.push(problem(&option, "there is no NAME=".to_owned(), hint));
        return None;
    };
    let direction = ["lower", "higher"].into_iter().find_map(|direction| {
        let rest = place.strip_suffix(direction)?.strip_suffix(':')?;
        Some((rest, direction))
    });
    let Some((place, direction)) = direction else {
        let cause = format!("whether a lower or a higher `{name}` is better is not said");
        problems.push(problem(&option, cause, hint));
        return None;
    };
    let found = ["regex", "json", "csv"].into_iter().find_map(|kind| {
        let rest = place.strip_prefix(kind)?.strip_prefix(':')?;
        (!rest.is_empty()).then_some((kind, rest))
    });
    let Some((kind, place)) = found else {
        problems.push(problem(&option, "where to find the value is not said".to_owned(), hint));
        return None;
    };
    Some(format!(
        "metrics.{} = {{ {kind} = {}, direction = \"{direction}\" }}\n",
        key(name.trim()),
        quoted(place)
    ))
}

fn problem(argument: &str, cause: String, hint: &str) -> ExperimentProblem {
    ExperimentProblem {
        line: 0,
        column: 0,
        width: 0,
        given_by: Some(argument.to_owned()),
        cause,
        nearest: None,
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
        stands_for: 1,
    }
}
