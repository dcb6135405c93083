//! The course of a run as the threads of one side know it: not yet begun, under way, about to
//! end, or over before its time and why.

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Shared by the threads of one side.
#[derive(Debug, Default)]
pub(super) struct Course {
    state: Mutex<State>,
    changed: Condvar,
    is_finishing: AtomicBool,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    began_ns: Option<u64>,
    /// Datagrams that the other side has sent, by connection, once it has said so.
    sent: Vec<u64>,
    /// The first failure.
    failure: Option<String>,
    /// What threads may be waiting for. They own it: a connection ends when its thread does.
    streams: Vec<Weak<TcpStream>>,
}

impl Course {
    /// Has this connection shut down when the run is over, so that nobody waits for it.
    pub(super) fn watch(&self, stream: TcpStream) -> Arc<TcpStream> {
        let stream = Arc::new(stream);
        self.state().streams.push(Arc::downgrade(&stream));
        stream
    }

    /// It began at this moment.
    pub(super) fn begin(&self, now_ns: u64) {
        self.state().began_ns = Some(now_ns);
        self.changed.notify_all();
    }

    /// Waits for the beginning; none where the run is over before.
    pub(super) fn wait_for_begin(&self) -> Option<u64> {
        let mut state = self.state();
        while state.began_ns.is_none() && !self.is_over() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.is_over() { None } else { state.began_ns }
    }

    /// The other side has sent everything: so many datagrams.
    pub(super) fn finish(&self, sent: Vec<u64>) {
        self.state().sent = sent;
        self.is_finishing.store(true, Ordering::SeqCst);
    }

    /// What the other side has sent, once it has sent everything.
    #[inline]
    pub(super) fn finishing(&self) -> Option<Vec<u64>> {
        self.is_finishing.load(Ordering::Relaxed).then(|| self.state().sent.clone())
    }

    /// Ends it before its time. The first reason stays.
    pub(super) fn fail(&self, why: impl Into<String>) {
        let mut state = self.state();
        state.failure.get_or_insert_with(|| why.into());
        self.is_over.store(true, Ordering::SeqCst);
        for stream in state.streams.iter().filter_map(Weak::upgrade) {
            // One that is closed already needs no shutting down.
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Whether it ended before its time.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Why it ended before its time.
    pub(super) fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
