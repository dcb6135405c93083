//! Busy loops, one thread each.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks whether to begin, and whether all have begun.
const INTERVAL: Duration = Duration::from_millis(20);

/// A loop that runs until it is told to end.
pub(crate) struct Spinner<T> {
    thread: JoinHandle<T>,
}

impl<T> Spinner<T> {
    /// CPU time so far (pthread_getcpuclockid(3)).
    pub(crate) fn cpu_time(&self) -> Result<Duration, String> {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the thread was not joined, so its handle is valid; both pointers are to locals.
        let failed = unsafe {
            libc::pthread_getcpuclockid(self.thread.as_pthread_t(), &raw mut clock) != 0
                || libc::clock_gettime(clock, &raw mut time) != 0
        };
        if failed {
            return Err("cannot read the CPU time of a thread".to_owned());
        }
        let (seconds, nanoseconds) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
        Ok(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
    }
}

/// Several loops and the word to end.
pub(crate) struct Spinners<T> {
    pub(crate) all: Vec<Spinner<T>>,
    end: Arc<AtomicBool>,
}

impl<T: Send + 'static> Spinners<T> {
    /// Starts a loop for each nice value; all run when this returns. `turn` is called again
    /// and again until the end, and `result` after it.
    ///
    /// No loop begins before the last thread was made, and none needs a lock to begin: a task that
    /// is handed a lock waits behind all that run already, and the next behind one more.
    pub(crate) fn start<S: Default + 'static>(
        nices: &[i32],
        turn: impl Fn(&mut S) + Clone + Send + 'static,
        result: impl Fn(S) -> T + Clone + Send + 'static,
    ) -> Result<Self, String> {
        let end = Arc::new(AtomicBool::new(false));
        let running = Arc::new(AtomicUsize::new(0));
        let begin = Arc::new(AtomicBool::new(false));
        let (started, hears) = channel();
        let mut all = Vec::new();
        for nice in nices.iter().copied() {
            let (end, turn, result) = (Arc::clone(&end), turn.clone(), result.clone());
            let (running, begin) = (Arc::clone(&running), Arc::clone(&begin));
            let started: Sender<Result<(), String>> = started.clone();
            let work = move || {
                // A receiver that is gone has given up already.
                let _ = started.send(set_nice(nice));
                while !begin.load(Ordering::Relaxed) {
                    std::thread::sleep(INTERVAL);
                }
                let mut state = S::default();
                running.fetch_add(1, Ordering::Relaxed);
                while !end.load(Ordering::Relaxed) {
                    turn(&mut state);
                }
                result(state)
            };
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            let thread = thread.spawn(work).map_err(|error| format!("no thread: {error}"))?;
            all.push(Spinner { thread });
        }
        for _ in nices {
            hears.recv().map_err(|_| "a loop did not start".to_owned())??;
        }
        begin.store(true, Ordering::Relaxed);
        while running.load(Ordering::Relaxed) < nices.len() {
            std::thread::sleep(INTERVAL);
        }
        Ok(Self { all, end })
    }

    /// Ends them; what each has to tell, in the order they were started.
    pub(crate) fn end(self) -> Result<Vec<T>, String> {
        self.end.store(true, Ordering::Relaxed);
        let ended = self.all.into_iter().map(|spinner| spinner.thread.join());
        ended.map(|result| result.map_err(|_| "a loop panicked".to_owned())).collect()
    }
}

/// Nice value of the calling thread: Linux keeps one for each (setpriority(2)).
fn set_nice(nice: i32) -> Result<(), String> {
    rustix::process::setpriority_process(None, nice)
        .map_err(|error| format!("cannot be nice {nice}: {error}"))
}
