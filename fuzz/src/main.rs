//! `fuzz --seconds N --seed S`: reads every corpus and mutates it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use clap::Parser;
use fuzz::{Assignment, FuzzRun, FuzzTarget};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Parser)]
#[command(about = "Reads every corpus and mutates it")]
struct Arguments {
    /// Wall-clock seconds for all targets together
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Decides every input
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this target
    #[arg(long)]
    target: Option<String>,
    /// Be the worker for this target
    #[arg(long, hide = true, requires = "input")]
    worker: Option<String>,
    /// A worker's share
    #[arg(long, hide = true, default_value_t = 0)]
    milliseconds: u64,
    /// Where a worker writes its input
    #[arg(long, hide = true, requires = "worker")]
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.worker {
        Some(name) => serve(name, &arguments),
        None => supervise(&arguments),
    };
    match outcome {
        Ok(report) => {
            println!("{}", report.trim_end());
            ExitCode::SUCCESS
        }
        Err(failures) => {
            eprintln!("{}", failures.trim_end());
            ExitCode::FAILURE
        }
    }
}

fn known(name: &str) -> Result<&'static FuzzTarget, String> {
    fuzz::target(name).ok_or_else(|| {
        let names: Vec<_> = fuzz::TARGETS.iter().map(|target| target.name.as_str()).collect();
        format!("there is no target `{name}`; choose one of {}", names.join(", "))
    })
}

fn serve(name: &str, arguments: &Arguments) -> Result<String, String> {
    let (tried, accepted) = fuzz::work(&Assignment {
        target: known(name)?,
        seed: arguments.seed,
        duration: Duration::from_millis(arguments.milliseconds),
        input_path: arguments.input.clone().ok_or("a worker needs --input")?,
    })?;
    Ok(format!("{tried} inputs, {accepted} accepted"))
}

fn supervise(arguments: &Arguments) -> Result<String, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    fuzz::fuzz(&FuzzRun {
        seconds: arguments.seconds,
        seed: arguments.seed,
        only: arguments.target.as_deref().map(known).transpose()?,
        program,
        artifacts: Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts"),
    })
}
