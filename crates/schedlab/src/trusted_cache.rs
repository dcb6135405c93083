//! Whether root may obey a cache: it runs programs of it, and apt by a configuration that lies there.
//! The digests that a cache is held against lie in it, too.

use crate::environment::{cache_directory, invoking_user};
use contract::{Error, ErrorKind, Result};
use rustix::process::geteuid;
use std::io;
use std::path::{Path, PathBuf};
use sys::check_trusted;

/// What of a cache root obeys, or writes by these names.
const OBEYED: [&str; 9] = [
    "archive",
    "archive/apt.conf",
    "archive/kernels.json",
    "archive/lists",
    "archive/status",
    "kernels",
    "schedulers",
    "snapshots",
    "tools",
];
/// Directories that root obeys all entries of.
const OBEYED_WITH_ENTRIES: [&str; 3] = ["archive/empty.d", "archive/sources.d", "schedulers/bin"];

/// The cache, to execute something of it or to write into it. Root refuses one that other users can
/// change; other users know best whom they share theirs with.
///
/// # Errors
/// When there is none, or root would obey another user by it.
pub(crate) fn trusted_cache(chosen: Option<&Path>) -> Result<PathBuf> {
    let cache = cache_directory(chosen)?;
    if geteuid().is_root() {
        check(&cache, invoking_user()).map_err(|error| {
            Error::new(
                ErrorKind::Environment,
                format!("cannot use the cache {}", cache.display()),
                error,
                format!(
                    "root runs programs of it, so nobody else may write there or above: name another \
                     one with --cache or SCHEDLAB_CACHE; or, of what lies in the cache itself, `chmod \
                     -R go-w {0}` takes that from others, and `chown -R root {0}` gives it to root",
                    cache.display()
                ),
            )
        })?;
    }
    Ok(cache)
}

fn check(cache: &Path, user: Option<u32>) -> io::Result<()> {
    check_trusted(cache, user)?;
    for name in OBEYED.into_iter().chain(OBEYED_WITH_ENTRIES) {
        check_trusted(&cache.join(name), user)?;
    }
    for name in OBEYED_WITH_ENTRIES {
        for entry in cache.join(name).read_dir().into_iter().flatten().flatten() {
            check_trusted(&entry.path(), user)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_cache_is_refused_for_whatever_is_executed_or_configures_and_others_may_write() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path().join("cache");
        check(&cache, None).unwrap();
        let set_mode = |name: &str, mode| {
            fs::set_permissions(cache.join(name), Permissions::from_mode(mode)).unwrap();
        };
        for name in [""].into_iter().chain(OBEYED).chain(OBEYED_WITH_ENTRIES) {
            // Whether it is a file does not matter.
            fs::create_dir_all(cache.join(name)).unwrap();
            set_mode(name, 0o755);
        }
        let entries = ["archive/sources.d/debian.sources", "schedulers/bin/scx_rusty@1.1.4"];
        for name in entries {
            fs::write(cache.join(name), "").unwrap();
            set_mode(name, 0o755);
        }
        check(&cache, None).unwrap();
        for name in [""].into_iter().chain(OBEYED).chain(OBEYED_WITH_ENTRIES).chain(entries) {
            for (mode, is_trusted) in [(0o777, false), (0o757, false), (0o755, true)] {
                set_mode(name, mode);
                assert_eq!(check(&cache, None).is_ok(), is_trusted, "{name:?} {mode:o}");
            }
        }
    }
}
