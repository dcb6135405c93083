//! `cargo xtask validate`: everything that CI checks, one step after the other;
//! a failing step does not keep the next from running.

use crate::cargo::{Cargo, succeed};
use crate::problems::{Outcome, Problems};
use crate::{bank, deny, format, tidy, ui};
use std::time::Instant;

/// Fails when a generated page differs from what the catalogue gives.
pub const DOCS_CHECK: [&str; 7] =
    ["run", "--quiet", "--locked", "--package", "manual", "--", "check"];

type Step = (&'static str, fn(&Cargo) -> Outcome);

const STEPS: &[Step] = &[
    ("ui", ui::test),
    ("bank", bank::test),
    ("fmt", |cargo| format::format(cargo, true)),
    ("tidy", tidy::tidy),
    ("deny", deny::deny),
    ("clippy", |cargo| {
        cargo.run([
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])
    }),
    ("docs", |cargo| cargo.run(DOCS_CHECK)),
    ("test", |cargo| cargo.run(["test", "--quiet", "--workspace", "--locked"])),
    ("doc", |cargo| {
        let mut command = cargo.command(["doc", "--quiet", "--workspace", "--no-deps", "--locked"]);
        succeed(command.env("RUSTDOCFLAGS", "-D warnings"))
    }),
];

/// Runs all steps and reports all failures at the end.
pub fn validate(cargo: &Cargo) -> Outcome {
    let mut failures = Vec::new();
    for (name, step) in STEPS {
        eprintln!("validate: {name}");
        let start = Instant::now();
        let outcome = step(cargo);
        let word = if outcome.is_ok() { "passed" } else { "FAILED" };
        eprintln!("validate: {name} {word} after {:.1} s", start.elapsed().as_secs_f64());
        if let Err(problems) = outcome {
            failures.push(format!("{name}:\n{problems}"));
        }
    }
    Problems::outcome(failures)
}
