//! A fault of schedlab's own code, told as any other failure is, by a command, a role and the agent.
//! Destructors of what holds the machine run, and the guardian puts back what is left when this
//! process is gone.

use crate::standard_error::tell;
use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

/// The exit status of it.
pub const OWN_FAULT: u8 = 9;

/// Where the last panic was: its hook knows, and what catches it does not.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Does the work of a process. A panic in it, or in a thread that it waits for, ends in a message and an
/// exit status of its own.
pub(crate) fn told(with_backtrace: bool, work: impl FnOnce() -> u8) -> u8 {
    let usual = take_hook();
    let own = std::process::id();
    set_hook(Box::new(move |panic| {
        note_place(panic, own);
        if with_backtrace {
            usual(panic);
        }
    }));
    caught(work).unwrap_or_else(|why| {
        tell(&why);
        OWN_FAULT
    })
}

/// Notes it, and tells of it where nobody else may: in a thread that nobody waits for, and in a process
/// that a workload forked from this one.
fn note_place(panic: &PanicHookInfo<'_>, own: u32) {
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    let is_own = std::process::id() == own;
    if !is_own || std::thread::current().name() != Some("main") {
        let said = panic.payload_as_str().unwrap_or("it says nothing more");
        let part = if is_own { "thread" } else { "process" };
        tell(&format!("schedlab: a {part} of schedlab itself failed{place}: {said}"));
    }
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
}

/// The result of the work, or what is to be said of its panic.
fn caught(work: impl FnOnce() -> u8) -> Result<u8, String> {
    // Nothing of what the work held is used again.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        format!(
            "schedlab: this is a fault of schedlab itself{place}: {}\n  it is the guardian's to put \
             back what a run had changed; `schedlab restore --check` says whether anything is left. \
             Report it with the command and, where you may, its input",
            message(&*payload)
        )
    })
}

/// What a panic says of itself.
fn message(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it says nothing more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message_and_no_panic_nothing() {
        assert_eq!(caught(|| 2), Ok(2));
        for why in [
            caught(|| panic!("index {} is out of bounds", 7)).unwrap_err(),
            caught(|| {
                let thread: std::thread::JoinHandle<()> =
                    std::thread::spawn(|| panic!("index 7 is out of bounds"));
                std::panic::resume_unwind(thread.join().unwrap_err())
            })
            .unwrap_err(),
        ] {
            assert!(why.contains("a fault of schedlab itself"), "{why}");
            assert!(why.contains("index 7 is out of bounds"), "{why}");
            assert!(why.contains("schedlab restore --check"), "{why}");
        }
    }
}
