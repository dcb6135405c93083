//! `cargo xtask test` and `cargo xtask nightly`: set-up, cheap refusals, then everything else; and
//! `cargo xtask quick`, which has the cheapest of these steps.
//!
//! A refusal (format, tidy, licences, clippy, documentation, stale pages) ends it before anything
//! long begins.
//! The page and the bank are tested beside the compiler. What is fetched or installed is timed
//! apart: it is paid once on a machine.

use crate::cargo::{Cargo, succeed_without_input};
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use crate::step_group::{StepGroup, end_with_input};
use crate::step_stamp::{StepInputs, StepStamp};
use crate::suite::{self, Tier, Wish};
use crate::{bank, deny, docs, format, install, kernels, nightly, rustdoc, tidy, ui};
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

type Step = (&'static str, fn(&Cargo) -> CommandResult);

/// What is fetched or installed.
const SET_UP: &[Step] = &[
    ("crates", |cargo| cargo.run(["fetch", "--locked"])),
    ("crates of guided fuzzing", |cargo| cargo.coverage().run(["fetch", "--locked"])),
    ("modules of the page", ui::fetch),
    ("what the bank is built of", bank::fetch),
];

const FMT: Step = ("fmt", |cargo| format::format(cargo, true));
const TIDY: Step = ("tidy", tidy::tidy);

/// What is refused in seconds, all at once.
const REFUSALS: &[Step] = &[FMT, TIDY, ("deny", deny::deny)];
/// Those of them that need no network.
const QUICK_REFUSALS: &[Step] = &[FMT, TIDY];

/// The pages that are written, which the programs that were built are asked for.
const DOCS: Step = ("docs", docs::check);

/// Smoke runs of commands that are no step of a night.
const SMOKE_RUNS: &[Step] = &[
    ("install, smoke run", install::smoke),
    ("lock file of the bank, smoke run", |cargo| bank::lock(cargo, Scale::Smoke)),
];

/// What is tested beside the compiler, each by a command of its own, and not again while all that
/// it rests on is the same.
const PAGE_AND_BANK: &[(&str, &[&str], StepInputs)] = &[
    (
        "page tests",
        &["ui", "--test"],
        StepInputs {
            files: &["web", "crates/phrases/languages", "crates/report/tests/golden"],
            programs: &[
                &["node", "--version"],
                &["chromium-headless-shell", "--version"],
                &["chromium", "--version"],
            ],
        },
    ),
    (
        "bank",
        &["bank"],
        StepInputs {
            files: &["apps/bank"],
            programs: &[&["java", "-version"], &["mvn", "-version"]],
        },
    ),
];

/// The smoke run of what a night has the time for, with the programs that tests were built with.
pub fn smoke(cargo: &Cargo) -> CommandResult {
    let smoke_of = |step: &nightly::NightlyStep| {
        println!("test: {}, smoke run", step.name);
        let start = Instant::now();
        let outcome = (step.run)(cargo, Scale::Smoke);
        println!("test: {}, smoke run: {:.1} s", step.name, start.elapsed().as_secs_f64());
        outcome.map_err(|problems| Problems::one(format!("{}:\n{problems}", step.name)))
    };
    let all = |has_tests: bool| {
        let steps = nightly::STEPS.iter().filter(|step| step.has_tests == has_tests);
        Problems::of_all(steps.map(smoke_of).collect::<Vec<_>>())
    };
    // Most of them wait more than they compute.
    std::thread::scope(|scope| {
        let others = scope.spawn(|| all(false));
        let tests = all(true);
        let panicked = |_| Err(Problems::one("a smoke run panicked".to_owned()));
        Problems::of_all([tests, others.join().unwrap_or_else(panicked)])
    })
}

/// Runs all of it and reports what failed.
pub fn run(cargo: &Cargo, tier: Tier) -> CommandResult {
    let mut log = Log::default();
    let linting = cargo.linting();
    let set_up = log.all(cargo, SET_UP);
    let fetched = log.total();
    set_up?;
    let page_and_bank = ParallelSteps::start(cargo, tier == Tier::Nightly)?;
    let refused = log.at_once(cargo, REFUSALS);
    let refused = refused.and_then(|()| log.step("page", || ui::build(cargo)));
    if refused.is_err() {
        // Nothing long begins after a refusal.
        drop(page_and_bank);
        log.print(fetched);
        return refused;
    }
    let built = log.step("clippy and build", || suite::build(&linting));
    let document = || once(cargo, tier, "doc", || rustdoc::document(&linting));
    let described = built.and_then(|()| log.step("doc", document));
    // The programs that write the pages are built above.
    let described = described.and_then(|()| log.step(DOCS.0, || DOCS.1(cargo)));
    if described.is_err() {
        drop(page_and_bank);
        log.print(fetched);
        return described;
    }
    let begin = log.total();
    let kernels = log.step("kernels of guests", || kernels::fetch(cargo));
    let fetched = fetched + (log.total() - begin);
    let tested_beside = page_and_bank.end(&mut log);
    let tests = log.step("tests", || suite::test(&linting, &Wish::of(tier)));
    let smoke = log.step("night, smoke run", || smoke(&linting));
    let others = log.all(cargo, SMOKE_RUNS);
    let mut outcomes = vec![kernels, tested_beside, tests, smoke, others];
    if tier == Tier::Nightly {
        let steps = nightly::STEPS.iter();
        outcomes.extend(steps.map(|step| log.step(step.name, || (step.run)(cargo, Scale::Whole))));
    }
    log.print(fetched);
    Problems::of_all(outcomes)
}

/// The commands that `run` has as a step, or as the smoke run of one: by the first word of its name,
/// or as they are started beside the compiler.
#[cfg(test)]
pub fn commands() -> std::collections::BTreeSet<&'static str> {
    let named = REFUSALS.iter().chain([&DOCS]).chain(SMOKE_RUNS).map(|(name, _)| *name);
    let of_night = nightly::STEPS.iter().map(|step| step.name);
    let own = named.chain(of_night).filter_map(|name| name.split([',', ' ']).next());
    own.chain(PAGE_AND_BANK.iter().map(|(_, words, _)| words[0])).collect()
}

/// The cheapest refusals and the quick tests, linted as they are built, so that what `run` built is
/// not built again; then what the changed files need beside them.
pub fn quick(cargo: &Cargo) -> CommandResult {
    let mut log = Log::default();
    let linting = cargo.linting();
    let refused = log.at_once(cargo, QUICK_REFUSALS);
    let built = refused.and_then(|()| log.step("clippy and build", || suite::build(&linting)));
    let test = || suite::test(&linting, &Wish::of(Tier::Quick));
    let tested = built.and_then(|()| log.step("tests", test));
    log.print(Duration::ZERO);
    suite::advise(cargo)?;
    tested
}

/// Does what rests on the project's files alone, unless it was done with the same ones and the same
/// compiler; a night does it anew.
fn once(
    cargo: &Cargo,
    tier: Tier,
    name: &str,
    step: impl FnOnce() -> CommandResult,
) -> CommandResult {
    let stamp = StepStamp::of_project(cargo.root(), name, &[&["rustc", "--version"]]).ok();
    if tier != Tier::Nightly && stamp.as_ref().is_some_and(StepStamp::is_fresh) {
        println!("test: {name} not repeated: no file of the project is another");
        return Ok(());
    }
    step()?;
    if let Some(stamp) = stamp {
        stamp.leave();
    }
    Ok(())
}

/// What was done, and how long it took.
#[derive(Default)]
struct Log {
    steps: Vec<(String, Duration, bool)>,
    /// What of these times passed while another step ran, too.
    overlap: Duration,
}

impl Log {
    /// Runs one step and says how it ended.
    fn step(&mut self, name: &str, step: impl FnOnce() -> CommandResult) -> CommandResult {
        println!("test: {name}");
        let start = Instant::now();
        let outcome = step();
        self.note(name, start.elapsed(), outcome.is_ok());
        named(name, outcome)
    }

    fn note(&mut self, name: &str, length: Duration, is_ok: bool) {
        let word = if is_ok { "passed" } else { "FAILED" };
        println!("test: {name} {word} after {:.1} s", length.as_secs_f64());
        self.steps.push((name.to_owned(), length, is_ok));
    }

    /// Runs all, also after one that failed.
    fn all(&mut self, cargo: &Cargo, steps: &[Step]) -> CommandResult {
        let outcomes: Vec<CommandResult> =
            steps.iter().map(|(name, step)| self.step(name, || step(cargo))).collect();
        Problems::of_all(outcomes)
    }

    /// Runs all beside each other, and says in their order how each ended and how long it took.
    fn at_once(&mut self, cargo: &Cargo, steps: &[Step]) -> CommandResult {
        let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
        println!("test: {}", names.join(", "));
        let start = Instant::now();
        let timed = |step: fn(&Cargo) -> CommandResult| {
            let outcome = step(cargo);
            (outcome, start.elapsed())
        };
        let ended: Vec<(CommandResult, Duration)> = std::thread::scope(|scope| {
            let start_one = |(_, step): &Step| {
                let step = *step;
                scope.spawn(move || timed(step))
            };
            let running: Vec<_> = steps.iter().map(start_one).collect();
            let panicked = |_| (Err(Problems::one("a step panicked")), start.elapsed());
            running.into_iter().map(|one| one.join().unwrap_or_else(panicked)).collect()
        });
        let lengths: Duration = ended.iter().map(|(_, length)| *length).sum();
        self.overlap += lengths.saturating_sub(start.elapsed());
        let mut outcomes = Vec::new();
        for (name, (outcome, length)) in names.into_iter().zip(ended) {
            self.note(name, length, outcome.is_ok());
            outcomes.push(named(name, outcome));
        }
        Problems::of_all(outcomes)
    }

    fn total(&self) -> Duration {
        let lengths: Duration = self.steps.iter().map(|(_, length, _)| *length).sum();
        lengths.saturating_sub(self.overlap)
    }

    fn print(&self, fetched: Duration) {
        println!("test: step                              seconds");
        for (name, length, is_ok) in &self.steps {
            let word = if *is_ok { "" } else { "  FAILED" };
            println!("test: {name:<32} {:8.1}{word}", length.as_secs_f64());
        }
        let total = self.total();
        println!(
            "test: {:.0} s, and {:.0} s of fetching and installing",
            total.saturating_sub(fetched).as_secs_f64(),
            fetched.as_secs_f64()
        );
    }
}

/// The outcome of a step; its problems are told below its name.
fn named(name: &str, outcome: CommandResult) -> CommandResult {
    outcome.map_err(|problems| Problems::one(format!("{name}:\n{problems}")))
}

/// Commands of ours that run one after the other beside the compiler, and what they say. Dropped
/// after a refusal, they end with all that they started.
struct ParallelSteps {
    group: StepGroup,
    log: PathBuf,
    start: Instant,
}

impl ParallelSteps {
    /// `is_anew` repeats what rests on the same as before, too.
    fn start(cargo: &Cargo, is_anew: bool) -> Result<Self, Problems> {
        let failed = |error: std::io::Error| Problems::one(format!("cannot start a step: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let directory = cargo.root().join("target/tests");
        std::fs::create_dir_all(&directory).map_err(failed)?;
        let log = directory.join("parallel.log");
        let output = File::create(&log).map_err(failed)?;
        let errors = output.try_clone().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["page-and-bank", "--watch-input"]).args(is_anew.then_some("--anew"));
        command.current_dir(cargo.root()).stdout(output).stderr(errors);
        let group = StepGroup::start(&mut command).map_err(failed)?;
        Ok(Self { group, log, start: Instant::now() })
    }

    /// Waits for the end, and shows what was said.
    fn end(mut self, log: &mut Log) -> CommandResult {
        let waited = Instant::now();
        let status = self.group.wait();
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        print!("{text}");
        let is_ok = status.as_ref().is_ok_and(|status| status.success());
        println!(
            "test: page and bank ended {:.0} s after they began, beside the compiler",
            self.start.elapsed().as_secs_f64()
        );
        log.note("waiting for page and bank", waited.elapsed(), is_ok);
        if is_ok {
            return Ok(());
        }
        Err(Problems::one(format!("the page or the bank failed: {}", self.log.display())))
    }
}

/// The commands of [`PAGE_AND_BANK`], one after the other; each is run although one before it failed.
///
/// `is_anew` repeats what rests on the same as before, too. `watches_input` says that a
/// [`StepGroup`] started this process.
pub fn page_and_bank(cargo: &Cargo, is_anew: bool, watches_input: bool) -> CommandResult {
    if watches_input {
        end_with_input()
            .map_err(|error| Problems::one(format!("cannot watch the standard input: {error}")))?;
    }
    let mut log = Log::default();
    let program = std::env::current_exe().map_err(|error| Problems::one(error.to_string()))?;
    let run = |words: &[&str]| {
        succeed_without_input(Command::new(&program).args(words).current_dir(cargo.root()))
    };
    let mut stamped = |(name, words, inputs): &(&str, &[&str], StepInputs)| {
        let stamp = StepStamp::of(cargo.root(), name, inputs)
            .map_err(|error| Problems::one(format!("cannot read what {name} needs: {error}")))?;
        if stamp.is_fresh() && !is_anew {
            println!("test: {name} not repeated: it passed with the same files and programs");
            return Ok(());
        }
        log.step(name, || run(words)).inspect(|()| stamp.leave())
    };
    Problems::of_all(PAGE_AND_BANK.iter().map(&mut stamped).collect::<Vec<CommandResult>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_at_once_are_told_in_their_order_and_counted_once() {
        let cargo = Cargo::find().unwrap();
        let fail = |_: &Cargo| -> CommandResult {
            std::thread::sleep(Duration::from_millis(50));
            Err(Problems::one("as asked"))
        };
        let mut log = Log::default();
        let start = Instant::now();
        let told = log.at_once(&cargo, &[("one", fail), ("other", fail)]);
        let expected = "one:\nas asked\n\nother:\nas asked\n\n";
        assert_eq!(told.unwrap_err().to_string(), expected);
        assert_eq!(log.steps.len(), 2);
        assert!(log.total() <= start.elapsed());
    }
}
