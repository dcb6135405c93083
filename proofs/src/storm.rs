//! Tasks that come and go, and CPUs that do.

use crate::spinners::Spinners;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CPU: &str = "/sys/devices/system/cpu/cpu1/online";
/// How long the CPU is there, and how long it is not.
const PHASE: Duration = Duration::from_millis(300);
const BREEDERS: usize = 4;

/// Four breeders of short-lived processes and threads, two busy loops, and CPU 1 that goes
/// and comes where there is one.
pub fn brew(length: Duration) -> Result<Value, String> {
    let loops = Spinners::start(&[0, 5], |count: &mut u64| *count += 1, |count| count)?;
    let (is_over, born) = (AtomicBool::new(false), AtomicU64::new(0));
    let has_second = std::path::Path::new(CPU).exists();
    let mut switches = 0_u64;
    let bred = std::thread::scope(|scope| {
        let breeders: Vec<_> =
            (0..BREEDERS).map(|_| scope.spawn(|| breed(&is_over, &born))).collect();
        let began = Instant::now();
        let mut outcome = Ok(());
        while began.elapsed() < length && outcome.is_ok() {
            std::thread::sleep(PHASE);
            if has_second {
                switches += 1;
                let state = if switches.is_multiple_of(2) { "1" } else { "0" };
                outcome = std::fs::write(CPU, state)
                    .map_err(|error| format!("cannot write {state} to {CPU}: {error}"));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        let ends = breeders.into_iter().map(|breeder| breeder.join());
        let ends: Result<Vec<()>, String> =
            ends.map(|end| end.map_err(|_| "a breeder panicked".to_owned())?).collect();
        outcome.and(ends.map(drop))
    });
    if has_second {
        std::fs::write(CPU, "1").map_err(|error| format!("cannot bring CPU 1 back: {error}"))?;
    }
    let counts = loops.end()?;
    bred?;
    Ok(json!({ "born": born.into_inner(), "cpu_switches": switches, "turns": counts }))
}

/// A process and a thread, one after the other, each of which ends at once.
fn breed(is_over: &AtomicBool, born: &AtomicU64) -> Result<(), String> {
    while !is_over.load(Ordering::Relaxed) {
        let mut command = Command::new("/proc/self/exe");
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map_err(|error| format!("no process: {error}"))?;
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(std::thread::yield_now);
        let thread = thread.map_err(|error| format!("no thread: {error}"))?;
        thread.join().map_err(|_| "a thread panicked".to_owned())?;
        born.fetch_add(2, Ordering::Relaxed);
    }
    Ok(())
}

/// Busy loops of several nice values, sleepers, and pairs that wake each other.
pub fn mix(length: Duration) -> Result<Value, String> {
    let loops = Spinners::start(&[-3, 0, 4], |count: &mut u64| *count += 1, |count| count)?;
    let sleep = |naps: &mut u64| {
        std::thread::sleep(Duration::from_millis(3));
        *naps += 1;
    };
    let sleepers = Spinners::start(&[0, 0], sleep, |naps: u64| naps)?;
    let wakes = ping_pong(length)?;
    let (turns, naps) = (loops.end()?, sleepers.end()?);
    Ok(json!({ "turns": turns, "naps": naps, "wakes": wakes }))
}

/// Two threads that pass a byte to and fro; how often.
fn ping_pong(length: Duration) -> Result<u64, String> {
    use std::io::{Read, Write};
    let pair = std::os::unix::net::UnixStream::pair();
    let (mut near, mut far) = pair.map_err(|error| format!("no socket: {error}"))?;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    let began = Instant::now();
    let mut passes = 0;
    let mut byte = [7];
    while began.elapsed() < length {
        let pass = near.write_all(&byte).and_then(|()| near.read_exact(&mut byte));
        pass.map_err(|error| format!("the byte was lost: {error}"))?;
        passes += 1;
    }
    drop(near);
    echo.join().map_err(|_| "a thread panicked".to_owned())?;
    Ok(passes)
}
