//! The hidden process role that keeps one of our schedulers in charge.

use super::{Choice, Options, Running};
use contract::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::Machine;

/// How often the exit record is looked at. Rarely, for each look is a wake-up beside the
/// workload; the executor notices an ejection by itself, signals and the end of input at once.
const LOOK_EVERY_NS: i64 = 500_000_000;

/// Keeps a scheduler in charge until SIGTERM, SIGINT or the end of standard input, which
/// comes when the parent dies. Returns the exit status: 0 after a clean end, 1 where it
/// could not be loaded or the kernel ended it; why is then on standard error.
pub fn serve(text: &str) -> i32 {
    bpf::print_to(tell);
    let name = text.strip_prefix("lab:").unwrap_or(text);
    match Choice::parse(name).and_then(|choice| keep(&choice)) {
        Ok(()) => 0,
        Err(error) => {
            tell(&error.to_string());
            1
        }
    }
}

/// Keeps it in charge until a signal, the end of standard input, or the kernel ends it.
///
/// # Errors
/// When it could not be loaded, or the kernel ended it.
pub fn keep(choice: &Choice) -> Result<(), Error> {
    let attempted = format!("cannot keep the scheduler lab:{choice} in charge");
    let environment = |error: io::Error| Error::environment(attempted.as_str(), error);
    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&is_asked)).map_err(environment)?;
    }
    let machine = Machine::host("/run");
    let mut running = Running::start(&machine, choice, &Options::default())?;
    tracing::debug!(scheduler = %choice, "loaded and attached");
    while !is_asked.load(Ordering::Relaxed) && running.exit().is_none() {
        if input_ended().map_err(environment)? {
            break;
        }
    }
    match running.exit().or_else(|| running.stop()) {
        Some(exit) if !exit.is_clean() => Err(Error::environment(attempted.as_str(), exit)),
        _ => Ok(()),
    }
}

/// Waits a little; whether standard input has come to its end meanwhile.
fn input_ended() -> io::Result<bool> {
    let input = io::stdin();
    let mut descriptors = [PollFd::new(&input, PollFlags::IN)];
    let at_most = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS };
    match poll(&mut descriptors, Some(&at_most)) {
        Ok(0) => return Ok(false),
        Err(rustix::io::Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    match rustix::io::read(&input, &mut [0; 256]) {
        Ok(0) => Ok(true),
        // Nobody sends anything; what comes is passed over.
        Ok(_) | Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(false),
        Err(rustix::io::Errno::IO | rustix::io::Errno::BADF) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn tell(text: &str) {
    // Nothing is lost when nobody can read it: the exit status says as much.
    let _ = writeln!(io::stderr(), "{}", model::legible_lines(text));
}
