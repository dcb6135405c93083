//! `manual docs`, `manual check`, `manual share DIR`: everything that is written
//! from the catalogue, the command line and the types instead of by hand.
//!
//! This program must not know any entry of the catalogue; a page follows from
//! what each says of itself.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

mod catalogue_page;
mod caveats_table;
mod exit_codes_page;
mod front_end_types;
mod generated;
mod schedulers_page;
mod share;
mod undo_table;

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "manual", about = "What is written from the catalogue and the types")]
enum Action {
    /// Write the pages and the schema below docs/, and the types of web/
    Docs,
    /// Name the files that are stale
    Check,
    /// Write man pages and completions below a directory, as in PREFIX/share
    Share {
        /// The directory
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(&Action::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(action: &Action) -> Result<(), String> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match action {
        Action::Docs => generated::write(&project).and_then(|()| generated::write_parts(&project)),
        Action::Check => {
            let stale = [generated::check(&project), generated::check_parts(&project)];
            let all: Vec<String> = stale.into_iter().filter_map(Result::err).collect();
            if all.is_empty() { Ok(()) } else { Err(all.join("\n")) }
        }
        Action::Share { directory } => {
            share::write(directory).map_err(|error| format!("cannot write man pages: {error}"))
        }
    }
}
