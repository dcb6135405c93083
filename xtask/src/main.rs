//! The project's automation: `cargo xtask COMMAND`.
//!
//! This crate must not know the product: it builds in seconds and can say what
//! is wrong with a workspace that does not compile. Pages that come from the
//! catalogue are made by the crate `manual`, which this one runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "automation talks to a terminal")]

mod bank;
mod cargo;
mod deny;
mod elf;
mod format;
mod install;
mod notices;
mod problems;
mod tidy;
mod ui;
mod validate;

use cargo::Cargo;
use clap::Parser;
use problems::{Outcome, Problems};
use std::process::ExitCode;

/// Makes `prove`, which the tests with schedulers take into guests: no test builds the
/// programs of another package.
const PROVE: [&str; 5] = ["build", "--release", "--locked", "--package", "proofs"];
/// The beginning of a soak: the end-to-end tests, optimised; names of tests follow.
const SOAK: [&str; 7] =
    ["test", "--release", "--locked", "--package", "schedlab", "--test", "end_to_end"];
/// What follows a name to see whether a test has it.
const LISTED: [&str; 2] = ["--", "--list"];
/// What follows the names: one after the other, and what they print.
const SOAK_ENDS: [&str; 4] = ["--no-fail-fast", "--", "--nocapture", "--test-threads=1"];
/// The tests that kill campaigns on this host; `SCHEDLAB_KILLS` says how often.
const KILLS: [&str; 2] =
    ["a_kill_at_a_random_instant_leaves_every_knob", "storage::a_killed_campaign_leaves_no_loop"];
/// The test that runs each of our schedulers, and the variable that says for how many seconds.
const STORMS: (&str, &str) = ("vm::fairness::each_of_ours_survives", "SCHEDLAB_SCHEDULER_SECONDS");
/// The tests with guests that a soak repeats, and the variable that says how often.
const GUEST_SOAKS: [(&str, &str); 3] = [
    ("vm::exec::boots_in_a_row", "SCHEDLAB_BOOTS"),
    ("vm::kills::a_kill_at_a_random_instant", "SCHEDLAB_VM_KILLS"),
    ("vm::kills::kills_of_a_campaign_inside_a_guest", "SCHEDLAB_INNER_KILLS"),
];
/// The test that runs published schedulers in a guest, and the variable that lets it fetch them.
const EXTERNAL: (&str, &str) = ("vm::external::published_schedulers", "SCHEDLAB_EXTERNAL");

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's automation", disable_version_flag = true)]
enum Command {
    /// Everything that CI checks: ui, bank, fmt, clippy, tidy, deny, docs, test, doc
    Validate,
    /// Layers, sizes, names, comments, citations, reasons of dependencies
    Tidy,
    /// Format all code
    Fmt,
    /// Build the page of reports, which the binary embeds (needs node)
    Ui {
        /// Also test it, in Chromium as well
        #[arg(long)]
        test: bool,
    },
    /// Build and test the Java application in apps/bank (needs Maven and a JDK)
    Bank,
    /// Licences and sources of all dependencies
    Deny,
    /// Write the pages and the schema that come from the catalogue
    Docs {
        /// Only say which are stale
        #[arg(long)]
        check: bool,
    },
    /// Read every corpus, then mutate it for some seconds
    Fuzz {
        /// Wall-clock seconds of mutation, shared by all targets
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        /// Seed of the mutations; the same seed tries the same inputs in the same order
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only this target
        #[arg(long)]
        target: Option<String>,
    },
    /// Hold the native workloads against hackbench, perf bench and cyclictest (about ten minutes)
    Fidelity {
        /// Only cells whose name contains this; the table is then not written
        #[arg(long)]
        only: Option<String>,
    },
    /// Measure the quality bars that need a clock (about three minutes)
    Bars,
    /// Kill campaigns at random instants on this host, as root (about three minutes), and run
    /// each of our schedulers under storms in a guest (over an hour)
    Soak {
        /// How many kills
        #[arg(long, default_value_t = 200)]
        kills: u32,
        /// How long each scheduler runs, in seconds
        #[arg(long, default_value_t = 600)]
        seconds: u32,
    },
    /// Boot guests in a row, kill campaigns in guests and inside a guest, as root (about twenty
    /// minutes without KVM)
    VmSoak {
        /// How many boots, of all kernels in turn
        #[arg(long, default_value_t = 100)]
        boots: u32,
        /// How many kills of a campaign in guests, and how many inside a guest
        #[arg(long, default_value_t = 50)]
        kills: u32,
    },
    /// Fetch and build the published schedulers scx_rusty, scx_lavd, scx_bpfland and scx_layered,
    /// and run each in guests as a subject (minutes; the first time half an hour)
    External,
    /// Build the release binary and install it with man pages, completions, suites and licences
    Install(install::Destination),
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprint!("{problems}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Outcome {
    let cargo = Cargo::find()?;
    match command {
        Command::Validate => validate::validate(&cargo),
        Command::Tidy => tidy::tidy(&cargo),
        Command::Fmt => format::format(&cargo, false),
        Command::Bank => bank::test(&cargo),
        Command::Ui { test: false } => ui::build(&cargo),
        Command::Ui { test: true } => ui::test(&cargo),
        Command::Deny => deny::deny(&cargo),
        Command::Docs { check: true } => cargo.run(validate::DOCS_CHECK),
        Command::Docs { check: false } => {
            cargo.run(["run", "--quiet", "--locked", "--package", "manual", "--", "docs"])
        }
        Command::Fuzz { seconds, seed, target } => {
            let mut arguments: Vec<String> =
                ["run", "--quiet", "--locked", "--package", "fuzz", "--"].map(String::from).into();
            arguments.extend([format!("--seconds={seconds}"), format!("--seed={seed}")]);
            arguments.extend(target.map(|target| format!("--target={target}")));
            cargo.run(arguments)
        }
        Command::Fidelity { only } => {
            let binary = install::build(&cargo)?.display().to_string();
            let mut arguments: Vec<String> =
                ["run", "--quiet", "--locked", "--package", "fidelity", "--"]
                    .map(String::from)
                    .into();
            arguments.push(format!("--binary={binary}"));
            arguments.extend(only.map(|only| format!("--only={only}")));
            cargo.run(arguments)
        }
        Command::Bars => {
            let binary = install::build(&cargo)?.display().to_string();
            let mut arguments: Vec<String> =
                ["run", "--quiet", "--locked", "--package", "bars", "--"].map(String::from).into();
            arguments.push(format!("--binary={binary}"));
            cargo.run(arguments)
        }
        Command::Soak { kills, seconds } => {
            let killed = KILLS.map(|test| soak(&cargo, test, "SCHEDLAB_KILLS", kills));
            let killed: Outcome = killed.into_iter().collect();
            let built = cargo.run(PROVE);
            killed.and(built.and_then(|()| soak(&cargo, STORMS.0, STORMS.1, seconds)))
        }
        Command::VmSoak { boots, kills } => {
            let outcomes = GUEST_SOAKS.iter().map(|(test, variable)| {
                let times = if *variable == "SCHEDLAB_BOOTS" { boots } else { kills };
                soak(&cargo, test, variable, times)
            });
            // One that fails does not keep the next from running.
            outcomes.collect::<Vec<_>>().into_iter().collect()
        }
        Command::External => soak(&cargo, EXTERNAL.0, EXTERNAL.1, 1),
        Command::Install(destination) => install::install(&cargo, &destination),
    }
}

/// Repeats a test's step so many times. A soak that skips because nobody is root, or there is
/// no QEMU, has proved nothing; neither has one whose test has another name by now, which
/// succeeds as well.
fn soak(cargo: &Cargo, test: &str, variable: &str, times: u32) -> Outcome {
    let listed = cargo::output(&mut cargo.command(SOAK.iter().chain(&[test]).chain(&LISTED)))?;
    if !has_test(&listed, test) {
        return Err(Problems::one(format!("no end-to-end test has `{test}` in its name")));
    }
    let mut command = cargo.command(SOAK.iter().chain(&[test]).chain(&SOAK_ENDS));
    command.env(variable, times.to_string()).env("SCHEDLAB_SKIPS", "refused");
    cargo::succeed(&mut command)
}

/// Whether a list of tests has one of this name; `NAME: test` is a line of it.
fn has_test(listed: &str, name: &str) -> bool {
    let mut tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    tests.any(|test| test.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_the_test_is_noticed() {
        let listed =
            "vm::kills::a_kill_at_a_random_instant_leaves_nothing: test\n\n1 test, 0 benchmarks\n";
        assert!(has_test(listed, "vm::kills::a_kill_at_a_random_instant"));
        assert!(!has_test(listed, "vm::kills::a_kill_of_the_guest"));
        assert!(!has_test("0 tests, 0 benchmarks\n", "vm::kills"));
    }
}
