//! A trial that repeats itself: a guest whose instructions are counted gets its orders in a
//! file, writes its answers to a serial port and switches itself off. Nothing of the host's
//! reaches it meanwhile, so the same plan gives the same bytes.

use super::boot::{BootMode, Booter, facts, interrupted};
use super::guest::Lost;
use super::memfd::new_memfd;
use super::qemu::Qemu;
use contract::{BootSpec, Error, Result};
use model::{Fingerprint, Record, Trial};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;
use wire::{Decoder, WireAnswer, WireRequest};

/// How often the process is looked at.
const INTERVAL: Duration = Duration::from_millis(20);
/// Emulated and counted, a second of the guest's may take so many of the host's CPU time: the
/// budget is in CPU time, because on a busy host wall time says nothing.
const SLOWDOWN: u64 = 30;

/// What a replayed trial left.
pub(crate) struct Replayed {
    pub record: Record,
    pub frames_while_running: u64,
    pub guest: Fingerprint,
    pub logs: Vec<(String, Vec<u8>)>,
}

/// Runs a trial in a machine of its own.
///
/// # Errors
/// When no machine can be started, or a signal came; the inner error is the guest's.
pub(crate) fn replay(
    booter: &mut Booter,
    trial: &Trial,
    spec: &BootSpec,
) -> Result<Result<Replayed, String>> {
    let answers = new_memfd("schedlab-answers", 0)?;
    let orders = [
        WireRequest::Open { purpose: "a replay".to_owned() },
        WireRequest::Fingerprint,
        WireRequest::Run { trial: Box::new(trial.clone()) },
        WireRequest::PowerOff,
    ];
    let orders = serde_json::to_vec(&orders)
        .map_err(|error| Error::environment("cannot encode a guest's orders", error))?;
    let (qemu, console) = booter.start(spec, BootMode::Orders { orders, answers: &answers })?;
    let budget_ns = budget_ns(booter, trial);
    if let Err(lost) = wait(qemu, booter, budget_ns) {
        return match lost {
            Lost::Interrupted(signal) => Err(interrupted(signal)),
            lost => Ok(Err(format!("{lost}; its console: {}", console.last_lines()))),
        };
    }
    let only_host_knows =
        facts(&booter.image(&spec.kernel)?.kernel.clone(), &booter.command_line(spec));
    Ok(read(&answers, console.last_lines()).map(|mut replayed| {
        replayed.guest.0.extend(only_host_knows);
        replayed
    }))
}

fn budget_ns(booter: &Booter, trial: &Trial) -> u64 {
    let trial_ns = trial.workload.expected_ns * u64::from(trial.workload.invocations);
    booter.settings.boot_timeout_ns + trial_ns.saturating_mul(SLOWDOWN)
}

/// Waits for the machine to switch itself off within its CPU time.
fn wait(mut qemu: Qemu, booter: &Booter, budget_ns: u64) -> std::result::Result<(), Lost> {
    loop {
        if let Some(status) = qemu.ended() {
            return if status.success() { Ok(()) } else { Err(Lost::Ended(status.to_string())) };
        }
        if let Some(signal) = booter.interrupt.signal() {
            return Err(Lost::Interrupted(signal));
        }
        let spent_ns = booter.host.host.machine.process_stat(qemu.pid()).map_or(0, |stat| {
            stat.user_ticks.saturating_add(stat.system_ticks).saturating_mul(sys::clock_tick_ns())
        });
        if spent_ns > budget_ns {
            return Err(Lost::Exhausted(Duration::from_nanos(budget_ns)));
        }
        std::thread::sleep(INTERVAL);
    }
}

fn read(answers: &File, last_lines: String) -> std::result::Result<Replayed, String> {
    let path = format!("/proc/self/fd/{}", answers.as_raw_fd());
    let bytes = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let mut decoder = Decoder::new();
    decoder.push(&bytes);
    let (mut record, mut guest, mut logs) = (None, None, Vec::new());
    loop {
        match decoder.take::<WireAnswer>() {
            Ok(Some(WireAnswer::Record { record: came, frames_while_running, .. })) => {
                record = Some((*came, frames_while_running));
            }
            Ok(Some(WireAnswer::Fingerprint { fingerprint })) => guest = Some(fingerprint),
            Ok(Some(WireAnswer::Log { name, text })) => logs.push((name, text.0)),
            Ok(Some(WireAnswer::Failed { failure })) => return Err(failure.to_string()),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(corrupt) => return Err(format!("its answers are corrupted: {corrupt}")),
        }
    }
    match (record, guest) {
        (Some((record, frames_while_running)), Some(guest)) => {
            Ok(Replayed { record, frames_while_running, guest, logs })
        }
        _ => Err(format!("it ended without a record; its console: {last_lines}")),
    }
}
