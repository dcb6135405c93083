//! `fuzz --seconds N --seed S [TARGET..]`: reads every corpus and mutates it, or lets a program do
//! so that counts the code which an input reaches.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use clap::Parser;
use fuzz::{Assignment, FuzzRun, FuzzTarget, GuidedRun};
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
    /// Only these targets
    targets: Vec<String>,
    /// The program of `fuzz/coverage`: it guides inputs by the code that they reach
    #[arg(long, value_name = "PROGRAM", requires = "finds")]
    guided: Option<PathBuf>,
    /// Where inputs are kept that reach more than the corpus does
    #[arg(long, value_name = "DIRECTORY", requires = "guided")]
    finds: Option<PathBuf>,
    /// End each target after so many guided inputs
    #[arg(long, value_name = "COUNT", requires = "guided")]
    inputs: Option<u64>,
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
    let outcome = match (&arguments.worker, &arguments.guided) {
        (Some(name), _) => serve(name, &arguments),
        (None, Some(program)) => guide(program, &arguments),
        (None, None) => supervise(&arguments),
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

/// Those that were asked for, or all.
fn wanted(names: &[String]) -> Result<Vec<&'static FuzzTarget>, String> {
    if names.is_empty() {
        return Ok(fuzz::TARGETS.iter().collect());
    }
    names.iter().map(|name| fuzz::known(name)).collect()
}

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts")
}

fn serve(name: &str, arguments: &Arguments) -> Result<String, String> {
    let (tried, accepted) = fuzz::work(&Assignment {
        target: fuzz::known(name)?,
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
        targets: wanted(&arguments.targets)?,
        program,
        artifacts: artifacts(),
    })
}

fn guide(program: &Path, arguments: &Arguments) -> Result<String, String> {
    fuzz::guide(&GuidedRun {
        seconds: arguments.seconds,
        seed: arguments.seed,
        most_inputs: arguments.inputs,
        targets: wanted(&arguments.targets)?,
        program: program.to_owned(),
        finds: arguments.finds.clone().ok_or("--guided needs --finds")?,
        artifacts: artifacts(),
    })
}
