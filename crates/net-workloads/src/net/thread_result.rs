//! What one thread of the near side did, and all of them together.

use super::control::{FarReport, Received, Sent};
use model::Histogram;
use serde::{Deserialize, Serialize};

/// Of one thread.
#[derive(Debug)]
pub(super) struct ThreadResult {
    /// Handshakes or round trips.
    pub(super) times: Histogram,
    /// Of an open loop: how much later than due operations began.
    pub(super) lateness: Histogram,
    /// Handshakes that needed more than one attempt.
    pub(super) retries: u64,
    /// Operations, those before the measured time included.
    pub(super) made: u64,
    /// Operations of the measured time.
    pub(super) measured: u64,
    /// From the first measured operation to the end of the last.
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
    pub(super) sent: Option<Sent>,
    pub(super) received: Option<Received>,
}

impl ThreadResult {
    /// Of a thread that has done nothing.
    pub(super) fn none() -> Self {
        Self {
            times: Histogram::new(),
            lateness: Histogram::new(),
            retries: 0,
            made: 0,
            measured: 0,
            began_ns: u64::MAX,
            ended_ns: 0,
            sent: None,
            received: None,
        }
    }

    /// A measured operation took place from here to there.
    #[inline]
    pub(super) fn note(&mut self, began_ns: u64, ended_ns: u64) {
        self.measured += 1;
        self.began_ns = self.began_ns.min(began_ns);
        self.ended_ns = self.ended_ns.max(ended_ns);
    }

    pub(super) fn merge(&mut self, other: &ThreadResult) {
        self.times.merge(&other.times);
        self.lateness.merge(&other.lateness);
        self.retries += other.retries;
        self.made += other.made;
        self.measured += other.measured;
        self.began_ns = self.began_ns.min(other.began_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns);
    }
}

/// What the near side tells the process that has started it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NearReport {
    times: String,
    lateness: String,
    pub(super) retries: u64,
    pub(super) made: u64,
    pub(super) measured: u64,
    pub(super) span_ns: u64,
    /// The whole run from its start to the last reply.
    pub(super) wall_ns: u64,
    pub(super) sent: Vec<Sent>,
    pub(super) received: Vec<Received>,
    /// What the far side counted.
    pub(super) report: FarReport,
}

impl NearReport {
    pub(super) fn of(parts: &[ThreadResult], wall_ns: u64, report: FarReport) -> Self {
        let mut all = ThreadResult::none();
        parts.iter().for_each(|part| all.merge(part));
        Self {
            times: all.times.encode(),
            lateness: all.lateness.encode(),
            retries: all.retries,
            made: all.made,
            measured: all.measured,
            span_ns: all.ended_ns.saturating_sub(all.began_ns),
            wall_ns,
            sent: parts.iter().filter_map(|part| part.sent).collect(),
            received: parts.iter().filter_map(|part| part.received).collect(),
            report,
        }
    }

    /// # Errors
    /// When it cannot be read.
    pub(super) fn times(&self) -> Result<Histogram, model::HistogramError> {
        Histogram::decode(&self.times)
    }

    /// # Errors
    /// When it cannot be read.
    pub(super) fn lateness(&self) -> Result<Histogram, model::HistogramError> {
        Histogram::decode(&self.lateness)
    }
}
