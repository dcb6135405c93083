//! How campaigns that are followed are loaded: as `judge` loads them.

use super::evidence;
use crate::cli::Common;
use live::CampaignLoader;
use std::path::PathBuf;
use store::Attempts;

/// What loads a campaign with all that speaks against its evidence, whatever directory and user this
/// process works in afterwards.
pub(super) fn loader(common: &Common, attempts: Option<Attempts>) -> CampaignLoader {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let common = Common { cache: common.cache.as_ref().map(absolute), ..common.clone() };
    CampaignLoader::new(move |directory| {
        evidence::load_knowing(&common, attempts.as_ref(), directory)
    })
}
