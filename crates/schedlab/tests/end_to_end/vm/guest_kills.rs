//! Kills of campaigns in guests and of their QEMU, and disks that fill up while a guest boots: nothing
//! is left, and no record is lost. `cargo xtask vm-soak` does as many as it is asked for.

use super::faults::Mounted;
use super::{Guests, has_guests, kill, wait_until};
use crate::bench::{errors, is_own_fault};
use crate::kill_series::{KeptRecords, KillSeries, record_count};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A boot and two trials for each block.
const KEYS: &str = "blocks = 20\nvcpus = 1\nkernel = \"debian:6.12\"";
const SUBJECTS: &str = r#"
[subjects.plain]
[subjects.nicer]
nice = "5"
[[workloads]]
use = "command"
run = ["/bin/sleep", "0.1"]
"#;
/// Preflight, a boot, trials and the end of the boot fall into so much time.
const LONGEST_DELAY: Duration = Duration::from_secs(14);
/// An emulated guest boots, runs and ends in about so much time.
const LIFE: Duration = Duration::from_secs(8);
/// An emulated guest boots in about so much time.
const BOOT: Duration = Duration::from_secs(6);
/// Room for what a campaign reserves for its next record, and for the logs of some boots.
const SIZE: &str = "size=24m";
/// Disks that one campaign meets: the logs of many boots would fill them by themselves.
const DISKS_OF_A_CAMPAIGN: u64 = 4;

/// Nothing runs, nothing lies about, nothing is to be put back, and no record is gone.
fn check(guests: &Guests, kept: &mut KeptRecords, series: &mut KillSeries, when: &str) {
    let mut left = guests.left_over();
    left.extend(guests.bench.left());
    let lost = kept.lost(&guests.bench.results());
    series.check(when, &left, &lost);
}

fn start(guests: &Guests, file: &str) -> Child {
    let mut command = guests.command(&["run", file]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits until it is so, or the run has ended; how it ended.
fn wait_or_end(
    child: &mut Child,
    what: &str,
    mut is_so: impl FnMut() -> bool,
) -> Option<ExitStatus> {
    let mut status = None;
    wait_until(what, || {
        status = child.try_wait().unwrap();
        status.is_some() || is_so()
    });
    status
}

/// A run that ended by itself did not break.
fn assert_ended(status: ExitStatus) {
    assert!(status.code().is_some() && !is_own_fault(status), "{status}");
}

#[test]
fn kills_of_a_campaign_that_goes_on_leave_nothing_and_lose_no_record() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let (file, results) = (guests.experiment(KEYS, SUBJECTS), guests.bench.results());
    let mut kept = KeptRecords::default();
    let mut series = KillSeries::new("kills of a campaign in guests", ("SCHEDLAB_GUEST_KILLS", 2));
    while series.wants_more() {
        let before = record_count(&results);
        let mut child = start(&guests, &file);
        // What comes before a boot or a record takes as long as the computer is busy: by turns a kill
        // waits for nothing, for a machine and for another record.
        let (ended, longest) = match series.count() % 3 {
            0 => (None, LONGEST_DELAY),
            1 => {
                let has_machine = || !guests.machines().is_empty();
                (wait_or_end(&mut child, "a machine", has_machine), LONGEST_DELAY)
            }
            _ => {
                let has_record = || record_count(&results) > before;
                (wait_or_end(&mut child, "a record", has_record), LIFE)
            }
        };
        let delay = series.instant(longest);
        if ended.is_none() {
            sleep(delay);
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.signal() == Some(9) {
            series.note_kill();
            check(&guests, &mut kept, &mut series, &format!("killed after {delay:?}"));
        } else {
            assert_ended(status);
            check(&guests, &mut kept, &mut series, "at the end of a campaign");
            kept.forget(&results);
        }
    }
}

#[test]
fn kills_of_qemu_leave_nothing_and_lose_no_record() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let (file, results) = (guests.experiment(KEYS, SUBJECTS), guests.bench.results());
    let mut kept = KeptRecords::default();
    let mut series = KillSeries::new("kills of QEMU", ("SCHEDLAB_QEMU_KILLS", 2));
    while series.wants_more() {
        let mut child = start(&guests, &file);
        let status = loop {
            let has_machine = || !guests.machines().is_empty();
            if let Some(status) = wait_or_end(&mut child, "a machine", has_machine) {
                break status;
            }
            let Some(machine) = guests.machines().first().copied() else { continue };
            if !series.wants_more() {
                kill(child.id().cast_signed(), Signal::INT);
                break child.wait().unwrap();
            }
            sleep(series.instant(LIFE));
            let pid = Pid::from_raw(machine).unwrap();
            if guests.machines().contains(&machine) && kill_process(pid, Signal::KILL).is_ok() {
                series.note_kill();
            }
            wait_until("the machine's end", || !guests.machines().contains(&machine));
        };
        assert_ended(status);
        check(&guests, &mut kept, &mut series, "after kills of QEMU");
        // The next one goes on where the venue was lost; one that ended is not resumed.
        if matches!(status.code(), Some(0 | 6)) {
            kept.forget(&results);
        }
    }
}

/// Takes all space below a directory until the run ends, and gives it back.
fn fill_until_the_end(results: &Path, child: &mut Child) {
    let filler = results.join("filler");
    let mut filling = File::create(&filler).unwrap();
    while child.try_wait().unwrap().is_none() {
        while filling.write_all(&[0; 4096]).is_ok() {}
        sleep(Duration::from_millis(5));
    }
    drop(filling);
    fs::remove_file(filler).unwrap();
}

#[test]
fn disks_that_fill_up_in_a_boot_leave_nothing_and_lose_no_record() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let results = guests.bench.results();
    let Some(_mounted) = Mounted::at(&results, SIZE) else {
        testing::skip("a small disk of one's own needs the right to mount");
        return;
    };
    let file = guests.experiment(KEYS, SUBJECTS);
    let mut kept = KeptRecords::default();
    let kind = "disks that fill up in a boot";
    let mut series = KillSeries::new(kind, ("SCHEDLAB_FULL_DISKS", 2));
    while series.wants_more() {
        if series.count().is_multiple_of(DISKS_OF_A_CAMPAIGN) {
            kept.forget(&results);
        }
        let before = record_count(&results);
        let mut command = guests.command(&["run", &file]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // By turns in the first boot, and in one after another record: then the campaign had gone on.
        let is_later = series.count() % 2 == 1;
        let is_due =
            || !guests.machines().is_empty() && (!is_later || record_count(&results) > before);
        let ended = wait_or_end(&mut child, "a boot", is_due);
        assert_eq!(ended, None, "the run ended before its disk was full");
        sleep(series.instant(BOOT));
        fill_until_the_end(&results, &mut child);
        let output = child.wait_with_output().unwrap();
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("No space left"), "{told}");
        series.note_kill();
        check(&guests, &mut kept, &mut series, "after a full disk");
    }
    // There is space again: the campaign goes on, and stops where it is asked to.
    let before = record_count(&results);
    let mut child = start(&guests, &file);
    let has_record = || record_count(&results) > before;
    assert_eq!(wait_or_end(&mut child, "a record", has_record), None);
    kill(child.id().cast_signed(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    check(&guests, &mut kept, &mut series, "after the last full disk");
}
