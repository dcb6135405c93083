//! The directories of a campaign that a run writes into by names.

use contract::{Error, ErrorKind, Result};
use std::path::Path;
use sys::{Files, HostFiles};

/// What runs write into; `scratch` is there only while one runs.
const DIRECTORIES: [&str; 3] = ["logs", "traces", "scratch"];

const REMEDY: &str = "look who made it; run the campaign as that user, take the right to write there \
                      from others (chmod go-w), or begin a new one with --fresh";

/// Refuses to go on with a campaign of which another user could lead writes elsewhere: whose
/// directory, or one in it, belongs to another user, can be written by others, or is a link.
///
/// # Errors
/// When there is such a one; it is named.
pub fn check_own_directories(campaign: &Path) -> Result<()> {
    for name in DIRECTORIES {
        HostFiles.check_own_directory(&campaign.join(name)).map_err(|error| {
            Error::new(
                ErrorKind::Environment,
                format!("cannot go on with the campaign {}", campaign.display()),
                error,
                REMEDY,
            )
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_in_place_of_any_directory_that_a_run_writes_into_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let campaign = home.path().join("campaign");
        HostFiles.make_directory(&campaign).unwrap();
        check_own_directories(&campaign).unwrap();
        for name in DIRECTORIES {
            let path = campaign.join(name);
            symlink(home.path(), &path).unwrap();
            let error = check_own_directories(&campaign).unwrap_err();
            assert!(error.cause.contains(&format!("{name}: a link has that name")), "{error}");
            fs::remove_file(&path).unwrap();
            HostFiles.make_directory(&path).unwrap();
            check_own_directories(&campaign).unwrap();
        }
    }
}
