//! For tests only: saying loudly what does not run on this machine.
//!
//! The test harness captures what tests print, so a skipped test would look like
//! one that passed. These write past the capture.

use std::io::Write;

/// Set to `refused` where every test must run, as in CI.
const SKIPS: &str = "SCHEDLAB_SKIPS";

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

fn tell(word: &str, text: &str) {
    // Nothing is lost when nobody can read it.
    let _ = writeln!(std::io::stderr(), "\n{word}: {text}");
}
