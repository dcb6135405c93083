//! `schedlab plan`: what would happen, before anything happens.

use super::pilot;
use super::plan_description::describe;
use super::planning::read;
use crate::cli::{Common, PlanArguments};
use crate::exit::ExitCode;
use crate::output::{print, print_data};
use contract::{Error, Result};

pub(super) fn run(common: &Common, arguments: &PlanArguments) -> Result<ExitCode> {
    let Some(planned) = read(common, &arguments.experiment)? else { return Ok(ExitCode::Usage) };
    if arguments.pilot {
        return pilot::run(common, arguments, &planned);
    }
    if arguments.json {
        let text = store::plan_text(&planned.plan)
            .map_err(|error| Error::environment("cannot encode the plan", error))?;
        print_data(&text)?;
    } else {
        print(&describe(common, &planned.plan)?)?;
    }
    Ok(ExitCode::Done)
}
