//! The project's automation: `cargo xtask COMMAND`.
//!
//! This crate must not know the product: it builds in seconds and can say what
//! is wrong with a workspace that does not compile. Pages that come from the
//! catalogue are made by the crate `manual`, which this one runs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "automation talks to a terminal")]

mod bank;
mod calibration;
mod cargo;
mod coverage;
mod deny;
mod docs;
mod elf;
mod format;
mod harness;
mod install;
mod kernels;
mod mutants;
mod nightly;
mod notices;
mod parallel;
mod problems;
mod rustdoc;
mod sbom;
mod soaks;
mod step_group;
mod step_stamp;
mod steps;
mod suite;
mod tidy;
mod twice;
mod ui;

use cargo::Cargo;
use clap::Parser;
use harness::Scale;
use problems::CommandResult;
use soaks::{GuestAmount, HostAmount};
use std::process::ExitCode;
use suite::{Tier, Wish};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's automation", disable_version_flag = true)]
enum Command {
    /// Format, tidy, clippy, and what needs no privilege, no guest and no other program: two minutes
    Quick,
    /// Everything that is checked before a change is taken; with names, only the tests whose names
    /// contain one of them, whatever their tier
    #[command(visible_alias = "validate")]
    Test(TestChoice),
    /// All of that, every proof anew, and everything that takes hours
    Nightly {
        /// Only the smoke run of each step that only a night has the time for, as tests are built
        #[arg(long)]
        smoke: bool,
    },
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
    Bank {
        /// Write its lock file anew instead, after a dependency was changed
        #[arg(long)]
        lock: bool,
        /// Only show that this still runs, from what was fetched before
        #[arg(long, requires = "lock")]
        smoke: bool,
    },
    /// The page and the bank, as `test` runs them beside the compiler
    #[command(hide = true)]
    PageAndBank {
        /// Repeat what rests on the same as before, too
        #[arg(long)]
        anew: bool,
        /// End once the standard input ends, with all that was started
        #[arg(long)]
        watch_input: bool,
    },
    /// Licences and sources of all dependencies, their build scripts, digests of modules of the page
    Deny,
    /// Write the pages and the schema that come from the catalogue, and the front end's types
    Docs {
        /// Only say which are stale, with the programs that tests were built with
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
        /// Guide inputs by the code that they reach: builds libFuzzer and what it drives (minutes)
        #[arg(long)]
        coverage: bool,
        /// Only these targets
        targets: Vec<String>,
        /// Only show that it still runs, with the programs that tests were built with
        #[arg(long)]
        smoke: bool,
    },
    /// Hold the native workloads against hackbench, perf bench, cyclictest and fio (about twenty minutes)
    Fidelity {
        /// Only cells whose name contains this; the table is then not written
        #[arg(long)]
        only: Option<String>,
        /// Only show that it still runs, with the programs that tests were built with
        #[arg(long)]
        smoke: bool,
    },
    /// Count the full calibration of our own statistics, and write docs/calibration.md where its table
    /// is another (most of an hour; after an interruption the same build goes on)
    Calibrate {
        /// Only show that it still runs, with the programs that tests were built with
        #[arg(long)]
        smoke: bool,
    },
    /// Measure the quality bars that need a clock (about three minutes)
    Bars {
        /// Only measures whose word contains this
        #[arg(long)]
        only: Option<String>,
        /// Only show that it still runs, with the programs that tests were built with
        #[arg(long)]
        smoke: bool,
    },
    /// Kill campaigns at random instants on this host, what puts back too, and restores, as root
    /// (about forty minutes), and run each of our schedulers under storms in a guest (over an hour)
    Soak(HostAmount),
    /// Kill campaigns in guests, their QEMU, and campaigns inside a guest, fill disks up while guests
    /// boot, and boot guests in a row, as root (about an hour without KVM)
    VmSoak(GuestAmount),
    /// Fetch and build the published schedulers scx_rusty, scx_lavd, scx_bpfland and scx_layered,
    /// and run each in guests as a subject (minutes; the first time half an hour)
    External {
        /// Only say what would be fetched, with the programs that tests were built with
        #[arg(long)]
        smoke: bool,
    },
    /// Break what must survive a crash a line at a time, and look whether the simulator of faults
    /// notices (needs cargo-mutants; hours)
    Mutants {
        /// Only one of N parts, K from 0
        #[arg(long, value_name = "K/N")]
        shard: Option<mutants::Shard>,
        /// Only look whether the configuration names what is there
        #[arg(long)]
        smoke: bool,
    },
    /// Two complete runs of the tests at once, from two clones
    Twice {
        /// Only show that it still runs: one test, twice at once in this clone
        #[arg(long)]
        smoke: bool,
    },
    /// Build the binary with link-time optimisation and install it with man pages, completions,
    /// suites, licences and its bill of materials
    Install(install::Destination),
}

#[derive(clap::Args)]
struct TestChoice {
    /// Parts of names
    names: Vec<String>,
    /// Only list them
    #[arg(long)]
    list: bool,
    /// Repeat what passed before with the same inputs; proofs of a night only by their names
    #[arg(long)]
    anew: bool,
}

fn main() -> ExitCode {
    if let Some(code) = rustdoc::stand_in() {
        return code;
    }
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprint!("{problems}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> CommandResult {
    let cargo = Cargo::find()?;
    match command {
        Command::Quick => steps::quick(&cargo),
        Command::Test(choice) => test(&cargo, choice),
        Command::Nightly { smoke: true } => steps::smoke(&cargo.linting()),
        Command::Nightly { smoke: false } => steps::run(&cargo, Tier::Nightly),
        Command::Tidy => tidy::tidy(&cargo),
        Command::Fmt => format::format(&cargo, false),
        Command::Bank { lock: true, smoke } => bank::lock(&cargo, Scale::of(smoke)),
        Command::Bank { lock: false, .. } => bank::test(&cargo),
        Command::PageAndBank { anew, watch_input } => {
            steps::page_and_bank(&cargo, anew, watch_input)
        }
        Command::Ui { test: false } => ui::build(&cargo),
        Command::Ui { test: true } => ui::test(&cargo),
        Command::Deny => deny::deny(&cargo),
        Command::Docs { check: true } => docs::check(&cargo),
        Command::Docs { check: false } => docs::write(&cargo),
        Command::Fuzz { seconds, seed, coverage, targets, smoke } => {
            let fuzz = if coverage { coverage::fuzz } else { harness::fuzz };
            fuzz(&cargo, Scale::of(smoke), seconds, seed, &targets)
        }
        Command::Fidelity { only, smoke } => {
            harness::fidelity(&cargo, Scale::of(smoke), only.as_deref())
        }
        Command::Calibrate { smoke } => calibration::calibrate(&cargo, Scale::of(smoke)),
        Command::Bars { only, smoke } => harness::bars(&cargo, Scale::of(smoke), only.as_deref()),
        Command::Soak(amount) => soaks::soak(&cargo, amount),
        Command::VmSoak(amount) => soaks::vm_soak(&cargo, amount),
        Command::External { smoke } => soaks::external(&cargo, Scale::of(smoke)),
        Command::Mutants { shard, smoke } => mutants::mutants(&cargo, Scale::of(smoke), shard),
        Command::Twice { smoke } => twice::twice(&cargo, Scale::of(smoke)),
        Command::Install(destination) => install::install(&cargo, &destination),
    }
}

fn test(cargo: &Cargo, TestChoice { names, list, anew }: TestChoice) -> CommandResult {
    if names.is_empty() && !list && !anew {
        suite::advise(cargo)?;
        return steps::run(cargo, Tier::Test);
    }
    let wish = Wish { names, is_list: list, is_anew: anew, ..Wish::of(Tier::Test) };
    suite::test(cargo, &wish)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Commands that are no step of `test` and have no smoke run there, and why none breaks unseen.
    const WITHOUT_A_STEP: &[(&str, &str)] = &[
        ("quick", "has some of the steps and tests that `test` has, by the same functions"),
        ("test", "is what runs the others"),
        ("nightly", "`nightly --smoke` is a step of `test`, by the same function"),
        ("page-and-bank", "`test` starts it beside the compiler"),
    ];

    /// Those of these commands that nothing in `make test` runs.
    fn unseen<'n>(names: &[&'n str]) -> Vec<&'n str> {
        let steps = steps::commands();
        let has_reason = |name: &str| WITHOUT_A_STEP.iter().any(|(command, _)| *command == name);
        let is_unseen = |name: &&str| !steps.contains(name) && !has_reason(name);
        names.iter().copied().filter(is_unseen).collect()
    }

    #[test]
    fn each_command_is_run_by_make_test_or_says_why_not() {
        let program = Command::command();
        let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(unseen(&names), [""; 0]);
        let steps = steps::commands();
        for (command, reason) in WITHOUT_A_STEP {
            assert!(names.contains(command) && !reason.is_empty(), "{command}");
            assert!(!steps.contains(command), "{command} is a step, and needs no reason");
        }
    }

    #[test]
    fn a_command_that_nothing_runs_is_told() {
        assert_eq!(unseen(&["bars", "quick", "vm-soak", "new"]), ["new"]);
    }
}
