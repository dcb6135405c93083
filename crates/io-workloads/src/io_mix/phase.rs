//! What all threads of the mixture see: whether they warm up, are measured or have to stop.

use std::sync::atomic::{AtomicU8, Ordering};

const WARMING: u8 = 0;
pub(super) const MEASURING: u8 = 1;
pub(super) const STOPPING: u8 = 2;

/// What all threads see.
pub(super) struct Shared {
    phase: AtomicU8,
}

impl Shared {
    /// Before the window.
    pub(super) fn new() -> Self {
        Self { phase: AtomicU8::new(WARMING) }
    }

    #[inline]
    pub(super) fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    pub(super) fn enter(&self, phase: u8) {
        self.phase.store(phase, Ordering::SeqCst);
    }
}
