//! What machines are made of here: the host, the agent, the cache and kernels.

use crate::HostSettings;
use crate::errors::artefact_error;
use contract::{Result, VenueContext};
use guest_images::ToolsImage;
use kernels::Kernels;
use std::path::PathBuf;
use std::rc::Rc;

/// What the venue is told about its surroundings.
#[derive(Clone)]
pub struct VmHost {
    /// The machine that QEMU runs on, and everything that can be named.
    pub host: HostSettings,
    /// The binary that goes into guests.
    pub agent: PathBuf,
    /// Where what was fetched or made is kept.
    pub cache: PathBuf,
    /// Where kernels come from.
    pub kernels: Rc<Kernels>,
    /// Version of this binary; the agent must be of the same.
    pub version: &'static str,
    /// What agents log on their consoles, in the words of `contract::LOG_VARIABLE`.
    pub log: Option<String>,
}

impl VmHost {
    /// What the command line knows of it.
    ///
    /// # Errors
    /// When there is no runtime directory, or no cache.
    pub fn of(context: &dyn VenueContext) -> Result<Self> {
        let machine = context.machine()?;
        let cache = context.cache()?;
        Ok(Self {
            agent: context.agent(),
            kernels: Rc::new(Kernels::open(cache.clone(), &context.search_path())),
            cache,
            version: context.version(),
            log: context.log_filter(),
            host: HostSettings::of(context, machine),
        })
    }
}

/// The image of these packages of Debian; none of no package.
pub(super) fn tools_image(host: &VmHost, packages: &[String]) -> Result<Option<ToolsImage>> {
    if packages.is_empty() {
        return Ok(None);
    }
    let search_path = host.host.machine.search_path();
    guest_images::tools_image(packages, &host.cache, search_path).map(Some).map_err(artefact_error)
}
