//! The page of one of ours: what was written about it, and the table of its parameters.

use super::Algorithm;
use contract::{Parameter, ParameterKind};

/// The table stands below it, before what is explained of single parameters.
const HEADING: &str = "## Parameters\n";

impl Algorithm {
    /// The page, as Markdown.
    pub fn page(&self) -> String {
        let heading = format!("{HEADING}\n{}", table(self.parameters));
        self.doc.trim().replacen(HEADING, &heading, 1)
    }
}

fn table(parameters: &[Parameter]) -> String {
    let mut text = String::from("| parameter | default | values | meaning |\n|---|---|---|---|\n");
    for parameter in parameters {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            parameter.name,
            parameter.default.unwrap_or("none"),
            values(&parameter.kind),
            parameter.summary
        ));
    }
    text
}

fn values(kind: &ParameterKind) -> String {
    match *kind {
        ParameterKind::Duration { min, max } => {
            format!("{} to {}", model::format_duration(min), model::format_duration(max))
        }
        ParameterKind::Count { min: 0, max: u64::MAX } => "any".to_owned(),
        ParameterKind::Count { min, max } => format!("{min} to {max}"),
        ParameterKind::Choice(words) => words.join(", "),
        ParameterKind::Flag => "true, false".to_owned(),
        ParameterKind::Size { min, max } => {
            format!("{} to {}", model::format_size(min), model::format_size(max))
        }
        ParameterKind::Number { min, max } => format!("{min} to {max}"),
        ParameterKind::Text | ParameterKind::Words | ParameterKind::Table => "text".to_owned(),
    }
}
