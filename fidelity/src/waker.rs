//! A thread that wakes every 10 ms on the CPU that is measured, as fio's first thread does beside
//! its jobs: it keeps the CPU from stopping its tick whenever it is idle, which costs the task that
//! wakes up next some 4 us (measured in a virtual machine with the haltpoll governor). Beside
//! both sides it is no difference between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(10);

/// The thread; it ends when dropped.
pub struct Waker {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Waker {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no such CPU.
    pub fn start(cpu: &str) -> Result<Self, String> {
        let cpus = cpu.parse().map_err(|error| format!("cannot understand CPU {cpu}: {error}"))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let (sender, placed) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let is_placed = sys::set_affinity(0, &cpus);
            let is_there = is_placed.is_ok();
            let _ = sender.send(is_placed);
            while is_there && !seen.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
            }
        });
        let waker = Self { is_over, thread: Some(thread) };
        match placed.recv() {
            Ok(Ok(())) => Ok(waker),
            Ok(Err(error)) => Err(format!("cannot stay on CPU {cpu}: {error}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
