//! `prove`: runs inside a guest, puts a scheduler in charge, loads it, and prints what was
//! seen as JSON. Whether that is what the scheduler promises, tests decide.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for tests")]

mod charge;
mod shares;
mod spinners;
mod storm;
mod waits;

use clap::{Parser, Subcommand};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Parser)]
#[command(name = "prove", version, about = "Loads for schedulers, to be run in a guest")]
struct Options {
    /// The scheduler: `fair`, or one that this machine's agent has (`lab:bfs`)
    scheduler: String,
    #[command(subcommand)]
    load: Load,
}

#[derive(Subcommand)]
enum Load {
    /// How busy loops of nice -5 to 5 share one CPU
    Shares {
        /// CPU time to share, in seconds
        #[arg(long, default_value = "20")]
        seconds: u64,
    },
    /// How long each of many busy loops has to wait at most
    Waits {
        #[arg(long, default_value = "200")]
        tasks: usize,
        #[arg(long, default_value = "30")]
        seconds: u64,
    },
    /// Tasks that begin and end all the time, while a CPU comes and goes
    Storm {
        #[arg(long, default_value = "15")]
        seconds: u64,
    },
    /// Nothing but time, with tasks of every kind
    Mixed {
        #[arg(long, default_value = "30")]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("prove: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Value, String> {
    let mut charge = charge::Charge::take(&options.scheduler)?;
    let seen = match options.load {
        Load::Shares { seconds } => shares::measure(Duration::from_secs(seconds)),
        Load::Waits { tasks, seconds } => waits::measure(tasks, Duration::from_secs(seconds)),
        Load::Storm { seconds } => storm::brew(Duration::from_secs(seconds)),
        Load::Mixed { seconds } => storm::mix(Duration::from_secs(seconds)),
    };
    let stayed = charge.check();
    let charge = charge.leave()?;
    stayed?;
    Ok(serde_json::json!({ "scheduler": options.scheduler, "charge": charge, "seen": seen? }))
}
