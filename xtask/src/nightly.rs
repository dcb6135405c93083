//! What only a night has the time for. Each step has a smoke run of seconds, which `make test` has:
//! a step that nothing runs by day breaks unseen.

use crate::cargo::{Cargo, succeed};
use crate::harness::{self, Scale};
use crate::problems::{CommandResult, Problems};
use crate::{calibration, coverage, mutants, rustdoc, soaks, twice};
use std::collections::BTreeSet;

/// One of them.
pub struct NightlyStep {
    /// As it is listed.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&Cargo, Scale) -> CommandResult,
    /// Whether it runs tests: one such at a time, for each leaves its report in one place.
    pub has_tests: bool,
}

impl NightlyStep {
    const fn of_tests(name: &'static str, run: fn(&Cargo, Scale) -> CommandResult) -> Self {
        Self { name, run, has_tests: true }
    }

    const fn of(name: &'static str, run: fn(&Cargo, Scale) -> CommandResult) -> Self {
        Self { name, run, has_tests: false }
    }
}

/// All of them, in order.
pub const STEPS: &[NightlyStep] = &[
    NightlyStep::of("features", features),
    NightlyStep::of("doc of programs", rustdoc::document_all),
    NightlyStep::of("fuzz", |cargo, scale| harness::fuzz(cargo, scale, FUZZ_SECONDS, 1, &[])),
    NightlyStep::of("fuzz, guided", |cargo, scale| {
        coverage::fuzz(cargo, scale, GUIDED_SECONDS, 1, &[])
    }),
    NightlyStep::of_tests("faults", soaks::faults),
    NightlyStep::of("mutants", mutants::of_night),
    NightlyStep::of_tests("soak", |cargo, scale| {
        soaks::soak(cargo, soaks::HostAmount::of_night(scale))
    }),
    NightlyStep::of_tests("vm-soak", |cargo, scale| {
        soaks::vm_soak(cargo, soaks::GuestAmount::of_night(scale))
    }),
    NightlyStep::of_tests("external", soaks::external),
    NightlyStep::of("calibrate", calibration::calibrate),
    NightlyStep::of("bars", |cargo, scale| harness::bars(cargo, scale, None)),
    NightlyStep::of("fidelity", |cargo, scale| harness::fidelity(cargo, scale, None)),
    NightlyStep::of_tests("twice", twice::twice),
];

/// Of mutation, in a night.
const FUZZ_SECONDS: u64 = 600;
/// Of guided inputs: about a minute for each target on two processors. They begin with what earlier
/// nights found.
const GUIDED_SECONDS: u64 = 1_800;
/// The optional features of the product.
const FEATURES: [&str; 4] = ["bpf", "pictures", "top", "server"];

/// All of these at once, and what `manual` alone asks for.
const NO_DEVELOPERS: [&str; 2] = ["default", "typescript"];

/// What a developer may build: each optional feature alone, and none. A smoke run looks whether
/// these are all that there are.
fn features(cargo: &Cargo, scale: Scale) -> CommandResult {
    if scale == Scale::Smoke {
        return all_features_are_named(cargo);
    }
    let check = |features: &&str| {
        let mut command = cargo.command(["clippy", "--quiet", "--locked", "--package", "schedlab"]);
        command.args(["--no-default-features", "--features", features, "--", "-D", "warnings"]);
        succeed(&mut command)
    };
    Problems::of_all([""].iter().chain(&FEATURES).map(check))
}

fn all_features_are_named(cargo: &Cargo) -> CommandResult {
    let metadata = cargo.metadata()?;
    let product = metadata.packages.iter().find(|package| package.name == "schedlab");
    let product = product.ok_or_else(|| Problems::one("there is no package schedlab"))?;
    let declared: BTreeSet<&str> = product.features.keys().map(String::as_str).collect();
    let mut named = BTreeSet::from(FEATURES);
    named.extend(NO_DEVELOPERS);
    if declared == named {
        return Ok(());
    }
    Err(Problems::one(format!("schedlab has the features {declared:?}, and {named:?} are tested")))
}
