//! The factor `target`: where the files and devices of I/O trials lie, made for a trial
//! and given back after it.
//!
//! This crate must not know workloads, elevators or campaigns. It promises to touch nothing
//! but what it made itself or what its owner gave up by name: a new directory, a loop
//! device over an unlinked file, a null or simulated disk of a guest's kernel, or a raw device
//! that was allowed and that nobody uses. What would outlive a kill is made in guests only.

mod directory;
mod every_target;
mod level;
mod loop_device;
mod null_block;
mod queue;
mod raw_device;
mod scsi_debug;
mod signature;
mod target;

pub use target::Entry;

/// Held by tests that start processes or claim devices: for an instant a process that is being
/// started has everything open that its parent has, claims and half-written programs too.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
