//! A load that is sent from one process and told to another: from the host of a guest to the guest.

use super::HttpLoad;
use super::tally::Fates;
use contract::{Error, Load, Measurement, Result};
use model::Sample;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that is told of it.
#[derive(Debug, Serialize, Deserialize)]
struct HostLoadResult {
    samples: Vec<Sample>,
    operations: Option<u64>,
    unaccounted: Option<String>,
    fates: BTreeMap<String, Fates>,
}

impl HttpLoad {
    /// Sends it, and tells what became of it.
    ///
    /// # Errors
    /// As of any load.
    pub(crate) fn send_from_host(mut self) -> Result<String> {
        let Measurement { samples, operations } = self.run()?;
        let sent = HostLoadResult {
            samples,
            operations,
            unaccounted: self.unaccounted,
            fates: self.fates,
        };
        serde_json::to_string(&sent)
            .map_err(|error| Error::environment("cannot tell what was measured", error))
    }

    /// Takes for its own what was sent elsewhere.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn receive(&mut self, message: &str) -> Result<Measurement> {
        let HostLoadResult { samples, operations, unaccounted, fates } =
            serde_json::from_slice(message.as_bytes())
                .map_err(|error| Error::environment("cannot read what was measured", error))?;
        self.unaccounted = unaccounted;
        for (kind, more) in &fates {
            *self.fates.entry(kind.clone()).or_default() += more;
        }
        Ok(Measurement { samples, operations })
    }
}
