//! Signals that ask for an end.

use crate::temporary::leave_signals_to_caller;
use contract::{Error, Interrupt, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::time::{Duration, Instant};

/// A signal that comes so soon after the first is the same wish, sent to the
/// process and to its group.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Signals become a wish; a later one of any kind ends the program at once, and
/// the guardian puts things back.
pub(super) fn hear_signals() -> Result<Interrupt> {
    let interrupt = Interrupt::default();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Error::environment("cannot listen for signals", error))?;
    let heard = interrupt.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                    // The default action ends the process; the guardian does the rest.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
                heard.request(signal);
            }
        })
        .map_err(|error| Error::environment("cannot start the signal thread", error))?;
    // Not before they are heard here: one that came in between would be nobody's.
    leave_signals_to_caller();
    Ok(interrupt)
}
