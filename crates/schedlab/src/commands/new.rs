//! `schedlab new`: a commented experiment.

use crate::cli::New;
use crate::exit::ExitCode;
use crate::output::{print_data, tell};
use contract::{Error, Result};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

pub(super) fn run(arguments: &New) -> Result<ExitCode> {
    let text = plan::template(&crate::catalogue());
    let Some(file) = &arguments.file else {
        print_data(&text)?;
        return Ok(ExitCode::Done);
    };
    // create_new: an experiment that exists is somebody's work.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut created| created.write_all(text.as_bytes()))
        .map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::usage(
                format!("cannot write {}", file.display()),
                "it exists already",
                "choose another name",
            ),
            _ => store::failed("write", file, &error),
        })?;
    tell(&format!("wrote {0}; next: schedlab plan {0}", file.display()));
    Ok(ExitCode::Done)
}
