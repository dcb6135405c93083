//! The campaign in an unpacked bundle.

use super::evidence::{self, Examined, examine};
use crate::cli::Common;
use crate::temporary::{TemporaryDirectory, remedy};
use contract::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use store::Manifest;

/// The campaign of an unpacked bundle, under the name that it had. Errors name its files as the
/// bundle does: where they lie meanwhile is nobody's business.
pub(super) fn opened(common: &Common, directory: &Path, manifest: &Manifest) -> Result<Examined> {
    let place = format!("{}/", directory.display());
    let by_name = |text: String| text.replace(&place, "");
    let loaded = lab::load(directory).map_err(|error| Error {
        attempted: by_name(error.attempted),
        cause: by_name(error.cause),
        ..error
    })?;
    // A bundle may come back to the machine that its campaign ran on.
    let known = evidence::known(common, directory);
    let mut examined = examine(common, directory, loaded, known.as_ref());
    examined.loaded.directory = PathBuf::from(&manifest.campaign);
    Ok(examined)
}

/// A directory to unpack into, gone with the value.
pub(super) fn temporary() -> Result<TemporaryDirectory> {
    TemporaryDirectory::within(&std::env::temp_dir(), "bundle").map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            "cannot make a temporary directory",
            &error,
            remedy(&error),
        )
    })
}
