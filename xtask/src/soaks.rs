//! Long runs: tests that are repeated more often than `make test` has the time for. Each names its
//! tests and the variable that says how often; a name that no test has is refused.

use crate::cargo::{Cargo, succeed};
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use crate::suite::{self, Tier, Wish};
use std::path::Path;
use std::process::Command;

/// How much of each.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Amount {
    /// How many kills of a campaign
    #[arg(long, default_value_t = Amount::NIGHT.kills)]
    pub kills: u32,
    /// How many boots of guests, of all kernels in turn
    #[arg(long, default_value_t = Amount::NIGHT.boots)]
    pub boots: u32,
    /// How long each scheduler of ours runs under storms, in seconds
    #[arg(long, default_value_t = Amount::NIGHT.seconds)]
    pub seconds: u32,
    /// Only show that it still runs: looks for every test and its variable, and runs the shortest, as
    /// tests are built
    #[arg(long)]
    pub smoke: bool,
}

impl Amount {
    /// What a night has the time for.
    pub const NIGHT: Self = Self { kills: 200, boots: 100, seconds: 600, smoke: false };
    /// That of a night, or of a smoke run.
    pub fn of_night(scale: Scale) -> Self {
        Self { smoke: scale == Scale::Smoke, ..Self::NIGHT }
    }

    /// A kill in a guest costs a boot.
    fn guest_kills(self) -> u32 {
        self.kills.div_ceil(4)
    }
}

/// Tests that a soak repeats.
struct Soak {
    /// Parts of their names.
    tests: &'static [&'static str],
    /// The variable that says how often, or how long.
    variable: &'static str,
    /// Of the amounts, the one that is meant.
    times: fn(Amount) -> u32,
}

/// What a smoke run repeats, and how often: a single kill may miss every trial.
const HOST_SMOKE: Smoke = ("a_killed_campaign_leaves_no_loop", "SCHEDLAB_KILLS", 8);
const GUESTS_SMOKE: Smoke = ("vm::exec::boots_in_a_row", "SCHEDLAB_BOOTS", 1);
/// A test, its variable and the value of that.
type Smoke = (&'static str, &'static str, u32);

/// Kills on this host, and storms of tasks under each of our schedulers.
const HOST: &[Soak] = &[
    Soak {
        tests: &[
            "a_kill_at_a_random_instant_leaves_every_knob",
            "a_killed_campaign_leaves_no_loop",
        ],
        variable: "SCHEDLAB_KILLS",
        times: |amount| amount.kills,
    },
    Soak {
        tests: &["vm::fairness::storms::"],
        variable: "SCHEDLAB_SCHEDULER_SECONDS",
        times: |amount| amount.seconds,
    },
];
/// Boots, kills of campaigns in guests, and kills inside a guest.
const GUESTS: &[Soak] = &[
    Soak {
        tests: &["vm::exec::boots_in_a_row"],
        variable: "SCHEDLAB_BOOTS",
        times: |amount| amount.boots,
    },
    Soak {
        tests: &["vm::kills::a_kill_at_a_random_instant"],
        variable: "SCHEDLAB_VM_KILLS",
        times: Amount::guest_kills,
    },
    Soak {
        tests: &["vm::kills::kills_of_a_campaign_inside_a_guest"],
        variable: "SCHEDLAB_INNER_KILLS",
        times: Amount::guest_kills,
    },
];
/// The test that goes through schedules of faults, and the variable that says how many; of a night,
/// and of a smoke run.
const FAULTS: (&str, &str) = ("no_schedule_of_faults_loses", "SCHEDLAB_FAULT_SCHEDULES");
const SCHEDULES: u32 = 3_000_000;
const SMOKE_SCHEDULES: u32 = 200;
/// The test that runs published schedulers in a guest, and the variable that lets it fetch them.
const EXTERNAL: (&str, &str) = ("vm::external::published_schedulers", "SCHEDLAB_EXTERNAL");
/// What `external` fetches and builds.
const PUBLISHED: [&str; 4] = ["scx_bpfland", "scx_rusty", "scx_lavd", "scx_layered"];

/// Kills campaigns at random instants on this host, and keeps each of our schedulers busy.
pub fn soak(cargo: &Cargo, amount: Amount) -> CommandResult {
    if amount.smoke { smoke(cargo, HOST, HOST_SMOKE) } else { repeat(cargo, HOST, amount) }
}

/// Boots guests in a row, and kills campaigns in guests and inside a guest.
pub fn vm_soak(cargo: &Cargo, amount: Amount) -> CommandResult {
    if amount.smoke { smoke(cargo, GUESTS, GUESTS_SMOKE) } else { repeat(cargo, GUESTS, amount) }
}

/// Fetches and builds the published schedulers, and runs each in a guest; a smoke run only says
/// what would be fetched.
pub fn external(cargo: &Cargo, scale: Scale) -> CommandResult {
    if scale == Scale::Smoke {
        let mut schedlab = Command::new(cargo.built("schedlab"));
        return succeed(schedlab.args(["schedulers", "fetch", "--dry-run"]).args(PUBLISHED));
    }
    tests(cargo, EXTERNAL.0, (EXTERNAL.1, 1), Scale::Whole)
}

/// Goes through schedules of faults on a simulated machine.
pub fn faults(cargo: &Cargo, scale: Scale) -> CommandResult {
    let schedules = if scale == Scale::Smoke { SMOKE_SCHEDULES } else { SCHEDULES };
    tests(cargo, FAULTS.0, (FAULTS.1, schedules), scale)
}

/// Each test of the soaks is looked for by its name, and its variable in the sources of tests: all
/// of them ran among all tests, as often as they say themselves. One is run by the way that soaks
/// go.
fn smoke(cargo: &Cargo, soaks: &[Soak], (test, variable, times): Smoke) -> CommandResult {
    let all = suite::list(cargo, &[])?;
    let sources = sources(&cargo.root().join("crates/schedlab/tests"))?;
    let mut absent = Vec::new();
    for soak in soaks {
        let names = soak.tests.iter().filter(|name| !all.contains(**name));
        absent.extend(names.map(|name| format!("no test is called {name}")));
        if !sources.contains(&format!("\"{}\"", soak.variable)) {
            absent.push(format!("no test reads {}", soak.variable));
        }
    }
    let ran = tests(cargo, test, (variable, times), Scale::Smoke);
    Problems::of_all([Problems::outcome(absent), ran])
}

/// The text of every source below a directory.
fn sources(directory: &Path) -> Result<String, Problems> {
    let failed = |error: std::io::Error| {
        Problems::one(format!("cannot read {}: {error}", directory.display()))
    };
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            text += &sources(&path)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            text += &std::fs::read_to_string(&path).map_err(failed)?;
        }
    }
    Ok(text)
}

/// One that fails does not keep the next from running.
fn repeat(cargo: &Cargo, soaks: &[Soak], amount: Amount) -> CommandResult {
    let mut outcomes = Vec::new();
    for soak in soaks {
        let variable = (soak.variable, (soak.times)(amount));
        outcomes.extend(soak.tests.iter().map(|name| tests(cargo, name, variable, Scale::Whole)));
    }
    Problems::of_all(outcomes)
}

/// A soak that skips because nobody is root, or there is no QEMU, has proved nothing; neither has
/// one whose test has another name by now: nextest fails where no test is selected, and each name
/// is asked for by itself.
fn tests(cargo: &Cargo, name: &str, (variable, times): (&str, u32), scale: Scale) -> CommandResult {
    let mut wish = Wish::of(Tier::Nightly);
    wish.names = vec![name.to_owned()];
    wish.is_release = scale == Scale::Whole;
    wish.variables = vec![(variable.to_owned(), times.to_string())];
    if scale == Scale::Whole {
        wish.variables.push(("SCHEDLAB_SKIPS".to_owned(), "refused".to_owned()));
    }
    suite::test(cargo, &wish)
}
