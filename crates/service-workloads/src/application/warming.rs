//! Warming an application up before it is measured.

use super::Started;
use super::steady::is_steady;
use super::usage::Usage;
use crate::http::HttpLoad;
use contract::{Error, ErrorKind, Result};
use std::time::Duration;
use sys::Machine;

/// Time over which it is seen whether an application that nobody asks rests.
const GLANCE: Duration = Duration::from_millis(500);
/// Share of a CPU below which it does.
const RESTING: f64 = 0.1;
/// Windows that it is given for that, because some always do something.
const REST_WINDOWS: u64 = 4;

/// Loads an application, window by window, until its answers take the same time; how long that
/// took. Between windows it may finish what the load made it begin: a virtual machine that
/// compiles what is often used has minutes of that in its queue, and answers alike meanwhile.
///
/// # Errors
/// That they never do within the time, or that it has ended.
pub(super) fn warm_up(
    machine: &Machine,
    started: &mut Started,
    load: &mut HttpLoad,
    (within_ns, window_ns): (u64, u64),
) -> Result<u64> {
    let unsteady = |cause: String, remedy: &str| {
        let attempted = "the service did not become steady";
        Error::new(ErrorKind::Environment, attempted, cause, remedy)
    };
    let began_ns = sys::monotonic_ns();
    let mut windows_ns = Vec::new();
    loop {
        let window = load.window_ns(window_ns)?;
        let window =
            window.ok_or_else(|| unsteady("nothing was answered while it warmed up".into(), ""));
        // One that has ended is why nothing was answered.
        started.early_death().map_or(Ok(()), Err)?;
        windows_ns.push(window?);
        wait_for_rest(machine, started, REST_WINDOWS * window_ns)?;
        let took_ns = sys::monotonic_ns() - began_ns;
        if is_steady(&windows_ns) {
            return Ok(took_ns);
        }
        if took_ns + window_ns > within_ns {
            let told: Vec<String> =
                windows_ns.iter().map(|window_ns| model::format_duration(*window_ns)).collect();
            let each = model::format_duration(window_ns);
            let cause = format!("the median answer of each {each} took {}", told.join(", "));
            return Err(unsteady(cause, "give it longer (steady_within), or a longer window"));
        }
    }
}

/// Waits until an application that nobody asks uses next to no CPU time, or for so long.
fn wait_for_rest(machine: &Machine, started: &mut Started, most_ns: u64) -> Result<()> {
    let began_ns = sys::monotonic_ns();
    let used_ns = |started: &Started| -> u64 {
        let used = started.pids().into_iter().filter_map(|(_, pid)| Usage::of(machine, pid));
        used.map(|usage| usage.cpu_ns).sum()
    };
    let mut before = used_ns(started);
    while sys::monotonic_ns() - began_ns < most_ns {
        std::thread::sleep(GLANCE);
        started.early_death().map_or(Ok(()), Err)?;
        let now = used_ns(started);
        if (now.saturating_sub(before) as f64) < RESTING * GLANCE.as_nanos() as f64 {
            break;
        }
        before = now;
    }
    Ok(())
}
