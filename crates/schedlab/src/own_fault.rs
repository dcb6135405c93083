//! A fault of schedlab's own code, told as any other failure is. Destructors of what holds the
//! machine run, and the guardian puts back what is left when this process is gone.

use crate::exit::ExitCode;
use crate::output::tell;
use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

/// Where the last panic was: its hook knows, and what catches it does not.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Does the work of a command. A panic in it, or in a thread that it waits for, ends in a message
/// and an exit code of its own.
pub(crate) fn told(work: impl FnOnce() -> ExitCode) -> ExitCode {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        note_place(panic);
        // What a developer asked for.
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            usual(panic);
        }
    }));
    caught(work).unwrap_or_else(|why| {
        tell(&why);
        ExitCode::OwnFault
    })
}

fn note_place(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    if std::thread::current().name() != Some("main") {
        // Nobody may wait for this thread.
        let said = panic.payload_as_str().unwrap_or("it says nothing more");
        tell(&format!("schedlab: a thread of schedlab itself failed{place}: {said}"));
    }
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
}

/// The result of the work, or what is to be said of its panic.
fn caught(work: impl FnOnce() -> ExitCode) -> Result<ExitCode, String> {
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
        assert_eq!(caught(|| ExitCode::Usage), Ok(ExitCode::Usage));
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
        assert_eq!(ExitCode::OwnFault.number(), 9);
    }
}
