//! How a whole campaign is read with what speaks against its evidence: by what binds its records, by
//! the experiment beside it, and by what a machine remembers of it. Where that is remembered, only the
//! program knows that uses this crate.

use contract::Result;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use store::LoadedCampaign;

type Load = dyn Fn(&Path) -> Result<LoadedCampaign> + Send + Sync;

/// Loads campaigns, as the commands that judge them do.
#[derive(Clone)]
pub struct CampaignLoader(Arc<Load>);

impl CampaignLoader {
    /// One that reads a campaign's directory in this way.
    pub fn new(load: impl Fn(&Path) -> Result<LoadedCampaign> + Send + Sync + 'static) -> Self {
        Self(Arc::new(load))
    }

    /// Loads the campaign in a directory.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(&self, directory: &Path) -> Result<LoadedCampaign> {
        (self.0)(directory)
    }
}

impl fmt::Debug for CampaignLoader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CampaignLoader")
    }
}
