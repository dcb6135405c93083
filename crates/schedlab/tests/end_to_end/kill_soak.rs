//! Kills of a campaign that turns real knobs, of what puts them back too, and restores that are cut
//! off. The campaign goes on after each: nothing is left, and no record is lost. `make test` does two
//! of each kind, and `cargo xtask soak` hundreds.

use crate::bench::{Bench, errors, is_own_fault, wait_until};
use crate::kill_series::{KeptRecords, KillSeries};
use model::Level;
use rustix::process::{Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use sys::Machine;

/// What is turned, and the levels of two subjects. A machine lacks some of them.
const KNOBS: [(&str, [&str; 2]); 5] = [
    ("autogroup", ["off", "on"]),
    ("thp", ["never", "always"]),
    ("online_cpus", ["0", "0-1"]),
    ("elevator", ["none", "mq-deadline"]),
    ("cpu_max", ["50ms/100ms", "max"]),
];
/// What comes before the first change and several trials fall into so much time.
const LONGEST_DELAY: Duration = Duration::from_millis(700);
/// A guardian puts all of them back in about so much time.
const GUARDIAN_DELAY: Duration = Duration::from_millis(60);
/// No restore is taken to be shorter.
const SHORTEST_RESTORE: Duration = Duration::from_millis(40);

/// What this machine lets be turned of [`KNOBS`].
struct TurnedKnobs {
    /// The levels of each subject, as an experiment names them: two with `autogroup`, two with `cpu_max`,
    /// in whose group it would have no effect.
    subjects: [String; 4],
    /// Files that hold a level or change with one.
    files: Vec<String>,
    /// What is not turned, and why.
    absent: Vec<String>,
}

impl TurnedKnobs {
    fn of(bench: &Bench) -> Self {
        let machine = Machine::host(bench.path().join("run"));
        // Queues: of the disk that the campaign's own files lie on.
        let target = sys::directory_target(&machine, bench.path());
        let machine = machine.with_target(target);
        let mut knobs = Self {
            subjects: std::array::from_fn(|_| String::new()),
            files: Vec::new(),
            absent: Vec::new(),
        };
        for (factor, levels) in KNOBS {
            match usable(&machine, factor, levels) {
                Ok((levels, files)) => {
                    knobs.files.extend(files);
                    for (place, subject) in knobs.subjects.iter_mut().enumerate() {
                        let is_apart =
                            [("autogroup", 1), ("cpu_max", 0)].contains(&(factor, place / 2));
                        if let (false, Some(level)) = (is_apart, levels.get(place % 2)) {
                            *subject += &format!("{factor} = \"{level}\"\n");
                        }
                    }
                }
                Err(why) => knobs.absent.push(format!("{factor}: {why}")),
            }
        }
        knobs.files.sort_unstable();
        knobs.files.dedup();
        knobs
    }

    /// The text of every file; a file may be there for some levels only.
    fn values(&self) -> Vec<String> {
        let read = |path: &String| {
            let text = std::fs::read_to_string(path);
            format!("{path}: {}", text.as_deref().unwrap_or("absent").trim())
        };
        self.files.iter().map(read).collect()
    }

    fn experiment(&self) -> String {
        let subjects: String = [1, 2, 3, 4]
            .iter()
            .zip(&self.subjects)
            .map(|(number, levels)| format!("[subjects.s{number}]\n{levels}"))
            .collect();
        format!(
            "title = \"kills\"\nvenue = \"host\"\nblocks = 60\ncontrol = false\nsettle = \"0s\"\n\
             probes = []\n{subjects}[[workloads]]\nuse = \"command\"\n\
             run = [\"/bin/sh\", \"-c\", \"sleep 0.05 & sleep 0.05; wait\"]\ninvocations = 1\n"
        )
    }
}

/// The levels that a factor can be set to here, and the files that this changes.
type UsableLevels = (Vec<Level>, Vec<String>);

/// The levels among these that can be set here; or why setting them would change nothing.
fn usable(machine: &Machine, id: &str, texts: [&str; 2]) -> Result<UsableLevels, String> {
    let factors = schedlab::catalogue().factors;
    let factor = factors.iter().find(|factor| factor.describe().id == id).unwrap();
    let (mut levels, mut why) = (Vec::new(), String::new());
    for text in texts {
        let level = factor.parse(text).unwrap();
        match factor.requires(&level).iter().find_map(|need| need.met(machine).err()) {
            Some(missing) => why = missing.to_string(),
            None => levels.push(level),
        }
    }
    if levels.is_empty() {
        return Err(why);
    }
    let contract::Knob::System(knob) = factor.knob() else { return Ok((levels, Vec::new())) };
    let present = knob.current(machine).map_err(|error| format!("{error:?}"))?;
    if levels.iter().all(|level| *level == present) {
        return Err(format!("it is {present}, and there is no other level here. {why}"));
    }
    let settings = levels.iter().flat_map(|level| knob.settings(machine, level).unwrap());
    let files: Vec<String> =
        settings.map(|setting| setting.file.path).chain(factor.moves(machine)).collect();
    Ok((levels, files))
}

/// Kills it. How it had ended by itself, where it had.
fn kill(child: &mut Child) -> Option<ExitStatus> {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    (status.signal() != Some(9)).then_some(status)
}

/// A campaign that is killed again and again, and goes on each time.
struct KilledCampaign {
    bench: Bench,
    knobs: TurnedKnobs,
    before: Vec<String>,
    file: String,
    kept: KeptRecords,
    /// The longest restore so far.
    restore: Duration,
}

impl KilledCampaign {
    /// The campaign, and a series of kills of it; none where nothing can be turned.
    fn begin(kind: &'static str, amount: (&str, u64)) -> Option<(Self, KillSeries)> {
        if !rustix::process::geteuid().is_root() {
            testing::skip("knobs of the machine need root");
            return None;
        }
        let bench = Bench::alone();
        let knobs = TurnedKnobs::of(&bench);
        let before = knobs.values();
        // A series that was not begun writes no row.
        if before.is_empty() {
            let absent = knobs.absent.join("; ");
            testing::skip(&format!("no knob of the machine can be turned here: {absent}"));
            return None;
        }
        let mut series = KillSeries::new(kind, amount);
        knobs.absent.iter().for_each(|what| series.note_absent(what.clone()));
        let file = bench.experiment("kills", &knobs.experiment());
        let kept = KeptRecords::default();
        Some((Self { bench, knobs, before, file, kept, restore: SHORTEST_RESTORE }, series))
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.bench.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn is_changed(&self) -> bool {
        self.knobs.values() != self.before
    }

    /// A run of the campaign that has just changed something; none where the campaign came to its
    /// end first, after which the next one begins.
    fn changed_run(&mut self, series: &mut KillSeries) -> Option<Child> {
        let mut child = self.start(&["run", &self.file]);
        let mut status = None;
        wait_until("a change", || {
            status = child.try_wait().unwrap();
            status.is_some() || self.is_changed()
        });
        let Some(status) = status else { return Some(child) };
        self.begin_anew(series, status);
        None
    }

    /// A campaign that came to its end is looked at, and makes room for the next.
    fn begin_anew(&mut self, series: &mut KillSeries, status: ExitStatus) {
        // What cannot be planned ends with 2.
        let is_planned = status.code().is_some_and(|code| code != 2);
        assert!(is_planned && !is_own_fault(status), "{status}");
        self.bench.wait_for_guardian();
        self.check(series, "at the end of a campaign");
        self.kept.forget(&self.bench.results());
    }

    fn kill_guardian(&self) -> bool {
        let guardian = self.bench.guardian();
        guardian.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
    }

    /// Starts a restore and kills it at an instant of its life; whether it was cut off.
    fn cut_restore(&self, series: &mut KillSeries) -> bool {
        let mut child = self.start(&["restore"]);
        sleep(series.instant(self.restore));
        let Some(status) = kill(&mut child) else { return true };
        assert_eq!(status.code(), Some(0), "a restore that was not cut off");
        false
    }

    /// A restore that nothing cuts off.
    fn restore(&mut self) {
        let start = Instant::now();
        let output = self.bench.run(&["restore"]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        self.restore = self.restore.max(start.elapsed());
    }

    /// Every knob is as it was, no process and no group is there, nothing is to be put back, and no
    /// record is gone.
    fn check(&mut self, series: &mut KillSeries, when: &str) {
        let mut left = self.bench.left();
        let now = self.knobs.values();
        let changed = now.iter().zip(&self.before).filter(|(now, before)| now != before);
        left.extend(changed.map(|(now, before)| format!("{now}; it was {before}")));
        let output = self.bench.run(&["restore", "--check"]);
        if output.status.code() != Some(0) {
            left.push(String::from_utf8_lossy(&output.stdout).into_owned() + &errors(&output));
        }
        let lost = self.kept.lost(&self.bench.results());
        series.check(when, &left, &lost);
    }
}

#[test]
fn random_kills_on_real_knobs_leave_nothing_and_lose_no_record() {
    let amount = ("SCHEDLAB_RANDOM_KILLS", 2);
    let Some((mut campaign, mut series)) = KilledCampaign::begin("random kills", amount) else {
        return;
    };
    let mut with_change = 0;
    while series.wants_more() {
        // How long it takes to the first change depends on the computer: every second kill waits for
        // one.
        let waits = series.count() % 2 == 1;
        let child = match waits {
            true => campaign.changed_run(&mut series),
            false => Some(campaign.start(&["run", &campaign.file])),
        };
        let Some(mut child) = child else { continue };
        let delay = series.instant(LONGEST_DELAY);
        sleep(delay);
        let is_changed = campaign.is_changed();
        if let Some(status) = kill(&mut child) {
            campaign.begin_anew(&mut series, status);
            continue;
        }
        series.note_kill();
        with_change += u64::from(waits || is_changed);
        campaign.bench.wait_for_guardian();
        campaign.check(&mut series, &format!("killed after {delay:?}"));
    }
    eprintln!("soak: random kills: {with_change} of {} after a change", series.count());
    assert!(with_change > 0 || series.count() < 2, "no kill came after a change");
}

#[test]
fn a_second_kill_of_guardian_or_restore_leaves_nothing_and_loses_no_record() {
    let amount = ("SCHEDLAB_DOUBLE_KILLS", 2);
    let Some((mut campaign, mut series)) = KilledCampaign::begin("double kills", amount) else {
        return;
    };
    while series.wants_more() {
        let Some(mut child) = campaign.changed_run(&mut series) else { continue };
        if let Some(status) = kill(&mut child) {
            campaign.begin_anew(&mut series, status);
            continue;
        }
        // By turns the guardian is cut off, and a restore after a guardian that did little.
        let has_hit = if series.count().is_multiple_of(2) {
            sleep(series.instant(GUARDIAN_DELAY));
            campaign.kill_guardian()
        } else {
            campaign.kill_guardian() && {
                campaign.bench.wait_for_guardian();
                campaign.cut_restore(&mut series)
            }
        };
        campaign.bench.wait_for_guardian();
        campaign.restore();
        if has_hit {
            series.note_kill();
        }
        campaign.check(&mut series, "after a second kill");
    }
}

#[test]
fn restores_that_are_cut_off_until_one_ends_leave_nothing_and_lose_no_record() {
    let amount = ("SCHEDLAB_CUT_RESTORES", 2);
    let Some((mut campaign, mut series)) = KilledCampaign::begin("cut-off restores", amount) else {
        return;
    };
    while series.wants_more() {
        let Some(mut child) = campaign.changed_run(&mut series) else { continue };
        // The guardian first: nobody is left to restore anything.
        campaign.kill_guardian();
        if let Some(status) = kill(&mut child) {
            campaign.restore();
            campaign.begin_anew(&mut series, status);
            continue;
        }
        // A run that finds its guardian gone starts another.
        campaign.kill_guardian();
        campaign.bench.wait_for_guardian();
        while series.wants_more() && campaign.cut_restore(&mut series) {
            series.note_kill();
        }
        campaign.restore();
        campaign.check(&mut series, "after restores that were cut off");
    }
}
