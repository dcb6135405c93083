//! `schedlab compare`: two campaigns side by side.

use super::reports::{judged, view};
use crate::cli::compare::Compare;
use crate::cli::{Common, Presentation};
use crate::exit::ExitCode;
use crate::output::{legible, page, print_bytes};
use contract::{Error, Result};
use report::Report;

pub(super) fn run(common: &Common, arguments: &Compare) -> Result<ExitCode> {
    let language = legible(arguments.presentation.language);
    let presentation = Presentation { language, ..arguments.presentation };
    let one = read(common, presentation, &arguments.one)?;
    let other = read(common, presentation, &arguments.other)?;
    let mut bytes = Vec::new();
    report::compare(&one, &other)
        .draw(&page(common.verbose), &mut bytes)
        .map_err(|error| Error::environment("cannot draw the campaigns", error))?;
    print_bytes(&bytes)?;
    Ok(ExitCode::Done)
}

fn read(common: &Common, presentation: Presentation, campaign: &str) -> Result<Report> {
    let (loaded, findings) = judged(common, campaign)?;
    Ok(view(&loaded, &loaded.directory, &findings, presentation))
}
