//! For tests only: what a test did not do, what it shares the machine with, and what need not be
//! shown again.
//!
//! The test harness captures what tests print, so a skipped test would look like
//! one that passed. These write past the capture; `cargo xtask test` reads the words.

mod lock;
mod stamp;

pub use lock::{KNOBS, LOOP_DEVICES, MACHINE, TestLock, lock, share, try_lock};
pub use stamp::{Stamp, stamp};

use std::io::Write;

/// Set to `refused` where every test must run, as in CI.
const SKIPS: &str = "SCHEDLAB_SKIPS";
/// Which try this is, as nextest tells it.
const ATTEMPT: &str = "NEXTEST_ATTEMPT";
/// Where tests tell that the emulator failed them.
const FAULTS: &str = "SCHEDLAB_FAULTS";

/// Tells that a test cannot run here: it lacks a privilege or a tool.
///
/// # Panics
/// Where `SCHEDLAB_SKIPS=refused`: the test fails instead.
pub fn skip(why: &str) {
    assert!(std::env::var_os(SKIPS).is_none_or(|text| text != "refused"), "skipped: {why}");
    tell("SKIPPED", why);
}

/// Tells what this kernel or machine does not have, so that a test covers less.
pub fn unsupported(what: &str) {
    tell("UNSUPPORTED HERE", what);
}

/// Ends a test whose guest the emulator lost: nextest runs it again, and it alone.
///
/// # Panics
/// Always.
pub fn emulator_fault(why: &str) -> ! {
    tell("EMULATOR FAULT", why.lines().next().unwrap_or_default());
    if let Some(path) = fault() {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, why);
    }
    panic!("the emulator lost the guest: {why}");
}

/// Begins a test that is tried again where the emulator failed it. Its repetition for any other
/// reason fails at once: what fails once and passes then has failed.
///
/// # Panics
/// Where this is a repetition and the emulator did not fail the try before it.
pub fn begin() {
    let attempt = std::env::var(ATTEMPT).ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    if attempt > 1_u32 {
        let is_excused = fault().is_some_and(|path| std::fs::remove_file(path).is_ok());
        assert!(is_excused, "not repeated: it was not the emulator that failed it");
    }
}

/// Where this test tells its repetition that the emulator failed it.
fn fault() -> Option<std::path::PathBuf> {
    let directory = std::env::var_os(FAULTS)?;
    let name = std::env::args().skip_while(|word| word != "--exact").nth(1);
    let name = name.or_else(|| std::env::args().nth(1))?;
    Some(std::path::Path::new(&directory).join(name.replace("::", ".")))
}

/// A number that the environment gives a test: how many times, or which seed.
///
/// # Panics
/// Where it is set and no number: a test that ran another amount than was asked for would lie.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

fn tell(word: &str, text: &str) {
    // Nothing is lost when nobody can read it.
    let _ = writeln!(std::io::stderr(), "\n{word}: {text}");
}
