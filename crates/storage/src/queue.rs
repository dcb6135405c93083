//! The queue of a device that has just appeared.

use std::time::{Duration, Instant};
use sys::{ControlFile, Machine};

/// How long the kernel may take to finish adding a disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until the kernel lets the elevator be changed: while a disk is being added it
/// answers ENOENT (QUEUE_FLAG_NO_ELV_SWITCH, elv_iosched_store in block/elevator.c, 6.16).
/// Asking for the elevator that is there changes nothing.
pub(crate) fn settle(machine: &Machine, device: &str) {
    let file = ControlFile::bracketed(format!("/sys/block/{device}/queue/scheduler"));
    let deadline = Instant::now() + PATIENCE;
    let is_refused = || {
        let written = file.read(machine).and_then(|current| file.write(machine, &current));
        written.is_err_and(|error| error.is_absent())
    };
    // One that stays refused is reported where an elevator is set.
    while is_refused() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}
