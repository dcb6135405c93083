//! Two complete runs of the tests at once on this machine, from two clones: neither sees the other.
//!
//! Both are built before either begins, so that tests meet tests and not a compiler; their pages as
//! well, without which tests of figures skip.

use crate::cargo::{Cargo, succeed};
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use crate::suite::{self, Tier, Wish};
use crate::ui;
use std::process::Command;
use std::time::Instant;

/// The other clone, below the workspace.
const SECOND: &str = "target/tests/second";
/// What a smoke run runs on both sides: a test that takes no time.
const SMOKE: &str = "tests::an_ignored_test_is_told_unless_others_start_it";

/// Begin and end of a run, in seconds since both were built, and how it ended.
struct Run {
    begin: f64,
    end: f64,
    outcome: CommandResult,
}

/// A smoke run clones, and runs one test twice at once in this workspace: a second build of all
/// tests takes minutes.
pub fn twice(cargo: &Cargo, scale: Scale) -> CommandResult {
    let directory = cargo.root().join(SECOND);
    let _ = std::fs::remove_dir_all(&directory);
    let mut clone = Command::new("git");
    succeed(clone.args(["clone", "--quiet", "."]).arg(&directory).current_dir(cargo.root()))?;
    let first = cargo.linting();
    let (second, wishes) = match scale {
        Scale::Whole => (first.in_workspace(&directory), [whole(), whole()]),
        // Each profile has a report of its own.
        Scale::Smoke => (first.clone(), [one(Tier::Quick), one(Tier::Test)]),
    };
    let prepared = match scale {
        Scale::Whole => [&first, &second]
            .into_iter()
            .try_for_each(|workspace| ui::fetch(workspace).and_then(|()| ui::build(workspace))),
        Scale::Smoke => Ok(()),
    };
    let outcome = prepared.and_then(|()| both([&first, &second], &wishes));
    let _ = std::fs::remove_dir_all(&directory);
    outcome
}

/// All tests of `make test`, also those that passed before.
fn whole() -> Wish {
    Wish { is_anew: true, ..Wish::of(Tier::Test) }
}

fn one(tier: Tier) -> Wish {
    Wish { names: vec![SMOKE.to_owned()], ..Wish::of(tier) }
}

/// Runs both at once, and says how long both ran.
fn both(workspaces: [&Cargo; 2], wishes: &[Wish; 2]) -> CommandResult {
    for workspace in workspaces {
        suite::build(workspace)?;
    }
    let start = Instant::now();
    let run = |workspace: &Cargo, wish: &Wish| {
        let begin = start.elapsed().as_secs_f64();
        let outcome = suite::test(workspace, wish);
        Run { begin, end: start.elapsed().as_secs_f64(), outcome }
    };
    let [here, there] = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(workspaces[1], &wishes[1]));
        let here = run(workspaces[0], &wishes[0]);
        let panicked = |_| Run {
            begin: 0.0,
            end: 0.0,
            outcome: Err(Problems::one("the second run panicked".to_owned())),
        };
        [here, other.join().unwrap_or_else(panicked)]
    });
    let together = together(&here, &there);
    println!(
        "twice: the runs took {:.0} and {:.0} s, {together:.0} s of it at the same time",
        here.end - here.begin,
        there.end - there.begin
    );
    let have_met = if together > 0.0 {
        Ok(())
    } else {
        Err(Problems::one("the two runs did not meet".to_owned()))
    };
    Problems::of_all([here.outcome, there.outcome, have_met])
}

/// Seconds in which both ran.
fn together(one: &Run, other: &Run) -> f64 {
    (one.end.min(other.end) - one.begin.max(other.begin)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_together_between_the_later_begin_and_the_earlier_end() {
        let run = |begin, end| Run { begin, end, outcome: Ok(()) };
        assert_eq!(together(&run(0.0, 10.0), &run(4.0, 12.0)), 6.0);
        assert_eq!(together(&run(0.0, 3.0), &run(4.0, 12.0)), 0.0);
    }
}
