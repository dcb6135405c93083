//! The wish to stop, set by a signal handler and read where stopping is safe.

use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Shared between the signal handler and the runner of trials.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Asks to stop because of this signal; the first one stays.
    pub fn request(&self, signal: i32) {
        let _ = self.0.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The signal, once there was one.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Gives up once there was one, in what can be gone on with.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] with the signal.
    pub fn check(&self) -> Result<()> {
        match self.signal() {
            None => Ok(()),
            Some(signal) => Err(Error::new(
                ErrorKind::Interrupted,
                "stopped",
                format!("signal {signal}"),
                "the same command goes on from here",
            )),
        }
    }
}
