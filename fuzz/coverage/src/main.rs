//! One program for every target of the fuzzer. libFuzzer has its `main`: it keeps inputs that reach
//! code which no other input has reached, and makes new ones of them.
//!
//! The list of targets stays in the crate `fuzz`; a variable names the one that a process serves.
//! `fuzz --guided` starts one process for each.

#![no_main]
#![allow(clippy::print_stderr, clippy::exit, reason = "this is a program without a main")]

use fuzz::FuzzTarget;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

static TARGET: OnceLock<&'static FuzzTarget> = OnceLock::new();

/// Before the first input.
fn begin() {
    match fuzz::begin_guided() {
        Ok(target) => {
            TARGET.get_or_init(|| target);
        }
        Err(problem) => {
            eprintln!("{problem}");
            std::process::exit(2);
        }
    }
}

fuzz_target!(init: begin(), |bytes| {
    if let Some(target) = TARGET.get() {
        // An input that is refused reaches code, too.
        target.run(bytes);
    }
});
