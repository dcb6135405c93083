//! `schedlab new`: a commented experiment.

use crate::cli::New;
use crate::exit::ExitCode;
use crate::output::{print_data, tell};
use contract::{Error, ErrorKind, Result};
use std::fs::OpenOptions;
use std::io::Write;

pub(super) fn run(arguments: &New) -> Result<ExitCode> {
    let text = plan::template(&crate::catalogue());
    let Some(file) = &arguments.file else {
        print_data(&text)?;
        return Ok(ExitCode::Done);
    };
    let attempted = format!("cannot write {}", file.display());
    // create_new: an experiment that exists is somebody's work.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut created| created.write_all(text.as_bytes()))
        .map_err(|error| {
            Error::new(ErrorKind::Environment, attempted, error, "choose another name")
        })?;
    tell(&format!("wrote {0}; next: schedlab plan {0}", file.display()));
    Ok(ExitCode::Done)
}
