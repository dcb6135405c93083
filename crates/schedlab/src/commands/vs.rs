//! `schedlab vs`: an experiment in one line.

use super::planning::make;
use super::run::execute;
use crate::cli::{Common, Vs};
use crate::exit::ExitCode;
use crate::output::tell_lines;
use contract::Result;

/// What problems of the line are said to be in.
const SHOWN_AS: &str = "schedlab vs";

pub(super) fn run(common: &Common, arguments: &Vs) -> Result<ExitCode> {
    let line = plan::OneLine {
        subjects: &arguments.subjects,
        command: &arguments.run,
        metrics: &arguments.metrics,
        primary: &arguments.primary,
        load: arguments.load.as_deref(),
        blocks: arguments.blocks,
        invocations: arguments.invocations,
        margin: arguments.margin.as_deref(),
        venue: arguments.options.venue.as_deref(),
        time_limit: arguments.time_limit.as_deref(),
    };
    let text = match plan::one_line(&crate::catalogue(), &line) {
        Ok(text) => text,
        Err(problems) => {
            tell_lines(plan::render_problems(&problems, SHOWN_AS, "").trim_end());
            return Ok(ExitCode::Usage);
        }
    };
    match make(common, &text, "vs", SHOWN_AS, &arguments.options)? {
        Some(planned) => execute(common, &planned, &arguments.execution),
        None => Ok(ExitCode::Usage),
    }
}
