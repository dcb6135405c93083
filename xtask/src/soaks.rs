//! Long runs: tests that are repeated more often than `make test` has the time for. Each names its
//! tests and the variable that says how often; a name that no test has is refused.

mod rows;

use crate::cargo::{Cargo, succeed};
use crate::harness::Scale;
use crate::problems::{CommandResult, Problems};
use crate::suite::{self, Tier, Wish};
use rows::RowFile;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// How much of each on this host.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct HostAmount {
    /// How many kills of a campaign that turns real knobs; a fifth of them for each of two further
    /// tests, of every writable knob and of loop devices
    #[arg(long, default_value_t = HostAmount::NIGHT.kills)]
    pub kills: u32,
    /// How many second kills, of the guardian or of a restore, after one of the campaign
    #[arg(long, default_value_t = HostAmount::NIGHT.double_kills)]
    pub double_kills: u32,
    /// How many restores that are cut off
    #[arg(long, default_value_t = HostAmount::NIGHT.cut_restores)]
    pub cut_restores: u32,
    /// How long each scheduler of ours runs under storms, in seconds; 0 for none
    #[arg(long, default_value_t = HostAmount::NIGHT.seconds)]
    pub seconds: u32,
    /// Seed of the instants; the same seed draws the same ones. Without it, one of the clock
    #[arg(long)]
    pub seed: Option<u64>,
    /// Only show that it still runs: looks for every test and its variable, and runs one of them
    /// once, as tests are built
    #[arg(long)]
    pub smoke: bool,
}

impl HostAmount {
    /// What a night has the time for.
    pub const NIGHT: Self = Self {
        kills: 1_000,
        double_kills: 200,
        cut_restores: 200,
        seconds: 600,
        seed: None,
        smoke: false,
    };
    /// What a smoke run does: the shortest series, which writes a row.
    const SMOKE: Self =
        Self { kills: 0, double_kills: 0, cut_restores: 1, seconds: 0, seed: None, smoke: true };
    /// That of a night, or of a smoke run.
    pub fn of_night(scale: Scale) -> Self {
        Self { smoke: scale == Scale::Smoke, ..Self::NIGHT }
    }
}

/// How much of each in guests.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct GuestAmount {
    /// How many kills of a campaign in guests; half of them for a campaign inside a guest
    #[arg(long, default_value_t = GuestAmount::NIGHT.kills)]
    pub kills: u32,
    /// How many kills of QEMU
    #[arg(long, default_value_t = GuestAmount::NIGHT.qemu_kills)]
    pub qemu_kills: u32,
    /// How many disks that fill up while a guest boots
    #[arg(long, default_value_t = GuestAmount::NIGHT.full_disks)]
    pub full_disks: u32,
    /// How many boots of guests, of all kernels in turn
    #[arg(long, default_value_t = GuestAmount::NIGHT.boots)]
    pub boots: u32,
    /// Seed of the instants; the same seed draws the same ones. Without it, one of the clock
    #[arg(long)]
    pub seed: Option<u64>,
    /// Only show that it still runs: looks for every test and its variable, and runs one of them
    /// once, as tests are built
    #[arg(long)]
    pub smoke: bool,
}

impl GuestAmount {
    /// What a night has the time for.
    pub const NIGHT: Self =
        Self { kills: 100, qemu_kills: 50, full_disks: 20, boots: 100, seed: None, smoke: false };
    /// What a smoke run does: one boot, because a series takes minutes where guests are emulated.
    const SMOKE: Self =
        Self { kills: 0, qemu_kills: 0, full_disks: 0, boots: 1, seed: None, smoke: true };
    /// That of a night, or of a smoke run.
    pub fn of_night(scale: Scale) -> Self {
        Self { smoke: scale == Scale::Smoke, ..Self::NIGHT }
    }
}

/// Tests that a soak repeats.
struct Soak<A> {
    /// Parts of their names.
    tests: &'static [&'static str],
    /// The variable that says how often, or how long.
    variable: &'static str,
    /// Of the amounts, the one that is meant.
    times: fn(A) -> u32,
    /// Whether they tell their progress, and write a row of the table each.
    has_rows: bool,
}

impl<A> Soak<A> {
    /// A test that is repeated.
    const fn of(
        tests: &'static [&'static str],
        variable: &'static str,
        times: fn(A) -> u32,
    ) -> Self {
        Self { tests, variable, times, has_rows: false }
    }

    /// A series of kills, which writes a row.
    const fn series(
        tests: &'static [&'static str],
        variable: &'static str,
        times: fn(A) -> u32,
    ) -> Self {
        Self { tests, variable, times, has_rows: true }
    }
}

/// Kills on this host, and storms of tasks under each of our schedulers.
const HOST: &[Soak<HostAmount>] = &[
    Soak::series(
        &["kill_soak::random_kills_on_real_knobs"],
        "SCHEDLAB_RANDOM_KILLS",
        |amount: HostAmount| amount.kills,
    ),
    Soak::series(
        &["kill_soak::a_second_kill_of_guardian"],
        "SCHEDLAB_DOUBLE_KILLS",
        |amount: HostAmount| amount.double_kills,
    ),
    Soak::series(
        &["kill_soak::restores_that_are_cut_off"],
        "SCHEDLAB_CUT_RESTORES",
        |amount: HostAmount| amount.cut_restores,
    ),
    Soak::of(
        &["a_kill_at_a_random_instant_leaves_every_knob", "a_killed_campaign_leaves_no_loop"],
        "SCHEDLAB_KILLS",
        |amount: HostAmount| amount.kills.div_ceil(5),
    ),
    Soak::of(&["vm::fairness::storms::"], "SCHEDLAB_SCHEDULER_SECONDS", |amount: HostAmount| {
        amount.seconds
    }),
];
/// Boots, kills of campaigns in guests and of QEMU, full disks, and kills inside a guest.
const GUESTS: &[Soak<GuestAmount>] = &[
    Soak::series(
        &["vm::guest_kills::kills_of_a_campaign"],
        "SCHEDLAB_GUEST_KILLS",
        |amount: GuestAmount| amount.kills,
    ),
    Soak::series(
        &["vm::guest_kills::kills_of_qemu"],
        "SCHEDLAB_QEMU_KILLS",
        |amount: GuestAmount| amount.qemu_kills,
    ),
    Soak::series(
        &["vm::guest_kills::disks_that_fill_up"],
        "SCHEDLAB_FULL_DISKS",
        |amount: GuestAmount| amount.full_disks,
    ),
    Soak::of(&["vm::exec::boots_in_a_row"], "SCHEDLAB_BOOTS", |amount: GuestAmount| amount.boots),
    Soak::of(
        &["vm::kills::kills_of_a_campaign_inside_a_guest"],
        "SCHEDLAB_INNER_KILLS",
        |amount: GuestAmount| amount.kills.div_ceil(2),
    ),
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

/// Kills campaigns at random instants on this host, what puts back too, and restores; and keeps each
/// of our schedulers busy.
pub fn soak(cargo: &Cargo, amount: HostAmount) -> CommandResult {
    if amount.smoke {
        return smoke(cargo, HOST, HostAmount::SMOKE, amount.seed);
    }
    repeat(cargo, HOST, amount, amount.seed, Scale::Whole)
}

/// Kills campaigns in guests, their QEMU, and campaigns inside a guest, fills disks up while guests
/// boot, and boots guests in a row.
pub fn vm_soak(cargo: &Cargo, amount: GuestAmount) -> CommandResult {
    if amount.smoke {
        return smoke(cargo, GUESTS, GuestAmount::SMOKE, amount.seed);
    }
    repeat(cargo, GUESTS, amount, amount.seed, Scale::Whole)
}

/// Fetches and builds the published schedulers, and runs each in a guest; a smoke run only says
/// what would be fetched.
pub fn external(cargo: &Cargo, scale: Scale) -> CommandResult {
    if scale == Scale::Smoke {
        let mut schedlab = Command::new(cargo.built("schedlab"));
        return succeed(schedlab.args(["schedulers", "fetch", "--dry-run"]).args(PUBLISHED));
    }
    tests(cargo, EXTERNAL.0, (EXTERNAL.1, 1), Scale::Whole, None).map(|_| ())
}

/// Goes through schedules of faults on a simulated machine.
pub fn faults(cargo: &Cargo, scale: Scale) -> CommandResult {
    let schedules = if scale == Scale::Smoke { SMOKE_SCHEDULES } else { SCHEDULES };
    tests(cargo, FAULTS.0, (FAULTS.1, schedules), scale, None).map(|_| ())
}

/// Each test of the soaks is looked for by its name, and its variable in the sources of tests: all
/// of them ran among all tests, as often as they say themselves. One is run as a soak runs it, with
/// its seed, its row and the table.
fn smoke<A: Copy>(cargo: &Cargo, soaks: &[Soak<A>], amount: A, seed: Option<u64>) -> CommandResult {
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
    let ran = repeat(cargo, soaks, amount, seed, Scale::Smoke);
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

/// One that fails does not keep the next from running; one of amount 0 is told and not run. One that
/// skips, which only a smoke run lets it do, writes no row.
fn repeat<A: Copy>(
    cargo: &Cargo,
    soaks: &[Soak<A>],
    amount: A,
    seed: Option<u64>,
    scale: Scale,
) -> CommandResult {
    let seed = seed.unwrap_or_else(seed_of_clock);
    println!("soak: seed {seed}; --seed {seed} draws the same instants again");
    let rows = RowFile::begin(cargo.root())?;
    let mut outcomes = Vec::new();
    let mut series = 0;
    for soak in soaks {
        let times = (soak.times)(amount);
        if times == 0 {
            println!("soak: not run, for 0 of it were asked for: {}", soak.tests.join(", "));
            continue;
        }
        let told = soak.has_rows.then_some(SeriesWish { rows: rows.path(), seed });
        for name in soak.tests {
            let ran = tests(cargo, name, (soak.variable, times), scale, told);
            let has_skipped = ran.as_ref().is_ok_and(|skipped| !skipped.is_empty());
            series += usize::from(soak.has_rows && !has_skipped);
            outcomes.push(ran.map(|_| ()));
        }
    }
    outcomes.push(rows.print(seed, series));
    Problems::of_all(outcomes)
}

/// Another one each second. Where the clock is wrong, any is as good.
fn seed_of_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}

/// What the test of a series is told: where its row goes, and the seed of its instants.
#[derive(Clone, Copy)]
struct SeriesWish<'r> {
    rows: &'r Path,
    seed: u64,
}

/// A soak that skips because nobody is root, or there is no QEMU, has proved nothing; neither has
/// one whose test has another name by now: nextest fails where no test is selected, and each name
/// is asked for by itself. Returns those that skipped, which a smoke run lets them.
fn tests(
    cargo: &Cargo,
    name: &str,
    (variable, times): (&str, u32),
    scale: Scale,
    series: Option<SeriesWish<'_>>,
) -> Result<Vec<String>, Problems> {
    let mut wish = Wish::of(Tier::Nightly);
    wish.names = vec![name.to_owned()];
    wish.is_release = scale == Scale::Whole;
    // A smoke run is short, and what is shown tells no skips afterwards.
    wish.is_shown = scale == Scale::Whole && series.is_some();
    wish.variables = vec![(variable.to_owned(), times.to_string())];
    if scale == Scale::Whole {
        wish.variables.push(("SCHEDLAB_SKIPS".to_owned(), "refused".to_owned()));
    }
    if let Some(SeriesWish { rows, seed }) = series {
        wish.variables.push(("SCHEDLAB_SOAK_ROWS".to_owned(), rows.display().to_string()));
        wish.variables.push(("SCHEDLAB_SOAK_SEED".to_owned(), seed.to_string()));
    }
    suite::run(cargo, &wish)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each soak of an amount runs, of those that run, and whether it writes a row.
    fn run_by<A: Copy>(soaks: &[Soak<A>], amount: A) -> Vec<(u32, bool)> {
        let soaks = soaks.iter().map(|soak| ((soak.times)(amount), soak.has_rows));
        soaks.filter(|(times, _)| *times > 0).collect()
    }

    #[test]
    fn a_smoke_run_has_one_test_once_and_on_this_host_it_writes_a_row() {
        assert_eq!(run_by(HOST, HostAmount::SMOKE), [(1, true)]);
        assert_eq!(run_by(GUESTS, GuestAmount::SMOKE), [(1, false)]);
    }

    #[test]
    fn a_night_runs_all() {
        assert_eq!(run_by(HOST, HostAmount::NIGHT).len(), HOST.len());
        assert_eq!(run_by(GUESTS, GuestAmount::NIGHT).len(), GUESTS.len());
    }
}
