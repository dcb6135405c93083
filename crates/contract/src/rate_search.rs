//! How a workload is told to search the highest rate that it sustains, and what it then tells.

use crate::{Key, Parameter};

/// The parameters and metrics of such a search, and of a load below the rate that was found, as
/// plain data: a command that searches knows nothing else of a workload.
#[derive(Debug)]
pub struct RateSearch {
    /// What is done, and the word for a search.
    pub test: (Parameter, &'static str),
    /// What the 99th percentile of latency may be at a rate that is sustained.
    pub target: Key<u64>,
    /// How long each rate of a search is tried, and a load at given rates measured.
    pub duration: Key<u64>,
    /// Factor of all rates.
    pub scale: Key<f64>,
    /// What sends the requests, and the word for the workload itself: of another the rates are its
    /// own affair. None where nothing else can be named.
    pub sender: Option<(Parameter, &'static str)>,
    /// The metric of the highest rate, which is the source of its values, too.
    pub rate: &'static str,
    /// The same of that rate as a factor of the declared ones.
    pub factor: &'static str,
    /// The metric of right answers in a second, which means something where queues grow, too.
    pub answers: &'static str,
}
