//! Runs in a guest: loads one of our schedulers and keeps tasks busy under it.

use clap::{Args, Parser, Subcommand};
use contract::Error;
use proofs::crowd::Mix;
use proofs::survival::{SurvivalRun, survive};
use proofs::trace::OrderedTrace;
use proofs::{models, recording, shares, waits};
use schedulers::own::trace::Trace;
use schedulers::own::{Choice, Options, Running, keep, serve, stall};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use sys::Machine;

/// Runs in a guest: loads one of our schedulers and keeps tasks busy under it
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Load a scheduler, keep tasks busy, unload it; fails where the kernel ended it
    Load(Load),
    /// How busy loops of nice -5 to 5 share one CPU, as JSON
    Shares {
        /// The scheduler, or `fair`
        scheduler: String,
        /// CPU time to share, in seconds
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// How long each of many busy loops has to wait at most, as JSON
    Waits {
        /// The scheduler, or `fair`
        scheduler: String,
        /// How many
        #[arg(long, default_value_t = 200)]
        tasks: usize,
        /// How long, in seconds
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// Load a scheduler with tracing, keep tasks of every kind busy, and write what it told
    Trace(Record),
    /// The same of several schedulers in turn, to standard output: before each trace its length, in
    /// eight bytes from the lowest on
    Traces {
        /// How long each, in seconds
        seconds: u64,
        /// The schedulers
        #[arg(required = true)]
        schedulers: Vec<String>,
    },
    /// Replay a trace through the model of its algorithm
    Replay {
        /// As `trace` wrote it
        trace: PathBuf,
    },
    /// Keep a scheduler in charge until standard input ends
    Serve {
        /// The scheduler: lab:bfs?rr_interval=6ms; `stall` breaks after four seconds
        scheduler: String,
    },
}

#[derive(Args)]
struct Load {
    /// The scheduler: lab:bfs?rr_interval=6ms
    scheduler: String,
    /// How long, in seconds
    seconds: u64,
    #[command(flatten)]
    tasks: Tasks,
    /// Take CPU 1 away and give it back all the time
    #[arg(long)]
    hotplug: bool,
}

#[derive(Args)]
struct Record {
    /// The scheduler: lab:bfs?rr_interval=6ms
    scheduler: String,
    /// How long, in seconds
    seconds: u64,
    /// The file, or - for standard output
    #[arg(default_value = "-")]
    file: PathBuf,
}

#[derive(Args)]
struct Tasks {
    /// Tasks that never block
    #[arg(long, default_value_t = 3)]
    spinners: usize,
    /// Tasks that sleep some milliseconds between bits of work
    #[arg(long, default_value_t = 4)]
    sleepers: usize,
    /// Pairs of tasks that talk over pipes
    #[arg(long, default_value_t = 2)]
    pairs: usize,
    /// Tasks that start a thread each millisecond
    #[arg(long, default_value_t = 1)]
    spawners: usize,
    /// Spread the nice values of the spinners from -5 to 5
    #[arg(long)]
    nice: bool,
}

impl Tasks {
    fn mix(&self) -> Mix {
        Mix {
            spinners: self.spinners,
            sleepers: self.sleepers,
            pairs: self.pairs,
            spawners: self.spawners,
            is_nice_spread: self.nice,
        }
    }
}

/// So much of a trace is written at once: standard output alone would write line by line, and a
/// trace has a byte that ends one in every few events.
const AT_ONCE_BYTES: usize = 64 << 10;

fn main() -> ExitCode {
    bpf::print_to(|text| tell(io::stderr(), text));
    let outcome = match Cli::parse().command {
        Command::Load(load) => run_load(&load),
        Command::Shares { scheduler, seconds } => {
            under(&scheduler, || shares::measure(Duration::from_secs(seconds)))
        }
        Command::Waits { scheduler, tasks, seconds } => {
            under(&scheduler, || waits::measure(tasks, Duration::from_secs(seconds)))
        }
        Command::Serve { scheduler } if scheduler == "stall" => keep(&stall()),
        Command::Trace(record) => run_trace(&record),
        Command::Traces { seconds, schedulers } => run_traces(seconds, &schedulers),
        Command::Replay { trace } => run_replay(&trace),
        Command::Serve { scheduler } => {
            return ExitCode::from(u8::try_from(serve(&scheduler)).unwrap_or(1));
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(io::stderr(), &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn choice(text: &str) -> Result<Choice, Error> {
    Choice::parse(text.strip_prefix("lab:").unwrap_or(text))
}

fn run_load(load: &Load) -> Result<(), Error> {
    let choice = choice(&load.scheduler)?;
    let trial = SurvivalRun {
        duration: Duration::from_secs(load.seconds),
        mix: load.tasks.mix(),
        is_hotplugged: load.hotplug,
    };
    let report = survive(&Machine::host("/run"), &choice, trial)?;
    let mut text = format!(
        "lab:{choice}\nenabled_after {:.3} s\ngone_after {:.3} s\nhotplugs {}\n",
        report.enabled_after.as_secs_f64(),
        report.gone_after.as_secs_f64(),
        report.hotplugs
    );
    for (kind, steps) in report.fewest_steps {
        text.push_str(&format!("fewest_steps_of_a_{kind} {steps}\n"));
    }
    for (name, count) in report.statistics.all() {
        text.push_str(&format!("{name} {count}\n"));
    }
    tell(io::stdout(), text.trim_end());
    Ok(())
}

fn run_replay(path: &Path) -> Result<(), Error> {
    let attempted = format!("cannot accept {}", path.display());
    let bytes = std::fs::read(path).map_err(|error| Error::environment(&attempted, error))?;
    let trace =
        OrderedTrace::read(&bytes).map_err(|error| Error::environment(&attempted, error))?;
    let summary =
        models::replay(&trace).map_err(|rejection| Error::environment(&attempted, rejection))?;
    tell(io::stdout(), summary.to_string().trim_end());
    Ok(())
}

/// Measures with a scheduler in charge, and prints what was seen if it stayed.
fn under(text: &str, measure: impl FnOnce() -> Result<Value, String>) -> Result<(), Error> {
    let machine = Machine::host("/run");
    let fail = |cause: String| Error::environment(format!("cannot measure {text}"), cause);
    let running = match text {
        "fair" => None,
        own => Some(Running::start(&machine, &choice(own)?, &Options::default())?),
    };
    let seen = measure().map_err(fail)?;
    if let Some(exit) = running.as_ref().and_then(Running::exit) {
        return Err(fail(exit.to_string()));
    }
    tell(io::stdout(), &seen.to_string());
    Ok(())
}

fn recorded(scheduler: &str, seconds: u64) -> Result<Trace, Error> {
    recording::record(&Machine::host("/run"), &choice(scheduler)?, Duration::from_secs(seconds))
}

fn run_traces(seconds: u64, schedulers: &[String]) -> Result<(), Error> {
    for scheduler in schedulers {
        let trace = recorded(scheduler, seconds)?;
        write_with_length(&trace).map_err(|error| {
            Error::environment(format!("cannot write the trace of {scheduler}"), error)
        })?;
    }
    Ok(())
}

fn write_with_length(trace: &Trace) -> io::Result<()> {
    let mut length = Length(0);
    trace.write(&mut length)?;
    let mut output = BufWriter::with_capacity(AT_ONCE_BYTES, io::stdout().lock());
    output.write_all(&length.0.to_le_bytes())?;
    trace.write(&mut output)
}

/// Counts what is written: a second copy of a trace may not fit into a guest.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run_trace(record: &Record) -> Result<(), Error> {
    let trace = recorded(&record.scheduler, record.seconds)?;
    let path = &record.file;
    let written = if path.as_os_str() == "-" {
        trace.write(BufWriter::with_capacity(AT_ONCE_BYTES, io::stdout().lock()))
    } else {
        File::create(path).and_then(|file| trace.write(BufWriter::new(file)))
    };
    written.map_err(|error| {
        Error::environment(format!("cannot write the trace to {}", path.display()), error)
    })
}

fn tell(mut to: impl Write, text: &str) {
    // Where nobody reads, the exit status still tells.
    let _ = writeln!(to, "{text}");
}
