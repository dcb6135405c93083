//! Modules that the page is made with, and node itself, are those of lock files: each has a digest,
//! and nothing of it runs while it is installed.

use crate::problems::Problems;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The lock files: of the page, and of the node that `setup` installs where there is none.
pub const PAGE_LOCK: &str = "web/package-lock.json";
const LOCKS: [&str; 2] = [PAGE_LOCK, "web/toolchain/package-lock.json"];
/// What calls npm.
const CALLERS: [&str; 2] = ["setup", "web/build.mjs"];
/// How npm is told to install, in each of them.
const INSTALLS: [&str; 4] = ["npm ci", "npm install", "npm(\"ci\"", "npm(\"install\""];
/// What keeps it from running what it installs.
const NO_SCRIPTS: &str = "--ignore-scripts";

/// Everything that is not pinned, or would run.
///
/// # Errors
/// When one of the files cannot be read.
pub fn check(root: &Path) -> Result<Vec<String>, Problems> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name))
            .map_err(|error| Problems::one(format!("cannot read {name}: {error}")))
    };
    let mut found = Vec::new();
    for name in LOCKS {
        let lock: Value = serde_json::from_str(&read(name)?)
            .map_err(|error| Problems::one(format!("cannot understand {name}: {error}")))?;
        found.extend(unpinned(&lock).into_iter().map(|what| format!("{name}: {what}")));
    }
    for name in CALLERS {
        found.extend(running(&read(name)?).into_iter().map(|line| {
            format!("{name}:{line}: npm runs scripts of what it installs: add {NO_SCRIPTS}")
        }));
    }
    Ok(found)
}

/// Packages of a lock file that have no digest, or ask to run something once they are installed.
fn unpinned(lock: &Value) -> Vec<String> {
    let Some(packages) = lock["packages"].as_object() else {
        return vec!["has no `packages`; npm 7 or later writes them".to_owned()];
    };
    let mut found = Vec::new();
    // The first one is the project itself.
    for (path, package) in packages.iter().filter(|(path, _)| !path.is_empty()) {
        // What lies within the archive of another package has that one's digest.
        let is_pinned = package["inBundle"] == true
            || package["integrity"].as_str().is_some_and(|digest| digest.starts_with("sha512-"));
        if !is_pinned {
            found.push(format!("{path} has no SHA-512 digest: write the lock file anew with npm"));
        }
        if package["hasInstallScript"] == true {
            found.push(format!(
                "{path} runs a script when it is installed, which {NO_SCRIPTS} leaves out: see \
                 that it works without, or choose another"
            ));
        }
    }
    found
}

/// Lines, from 1, in which npm is called so that it runs scripts.
fn running(text: &str) -> Vec<usize> {
    let is_comment = |line: &str| line.trim_start().starts_with(['#', '/']);
    let installs =
        |line: &str| !is_comment(line) && INSTALLS.iter().any(|words| line.contains(words));
    let lines = text.lines().enumerate();
    let running = lines.filter(|(_, line)| installs(line) && !line.contains(NO_SCRIPTS));
    running.map(|(number, _)| number + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_lock_file_names_without_a_digest_is_found() {
        let of = |package: Value| unpinned(&json!({ "packages": { "": {}, "a": package } })).len();
        assert_eq!(of(json!({ "version": "1.0.0", "integrity": "sha512-AAAA" })), 0);
        assert_eq!(of(json!({ "version": "1.0.0", "inBundle": true })), 0);
        assert_eq!(of(json!({ "version": "1.0.0" })), 1);
        assert_eq!(of(json!({ "integrity": "sha1-AAAA" })), 1);
        assert_eq!(of(json!({ "integrity": "sha512-AAAA", "hasInstallScript": true })), 1);
        assert_eq!(unpinned(&json!({})).len(), 1);
    }

    #[test]
    fn npm_is_never_called_so_that_it_runs_what_it_installs() {
        assert_eq!(running("true\nnpm ci --no-audit\nnpm ci --ignore-scripts\n"), [2]);
        assert_eq!(running("npm(\"ci\", \"--no-fund\");"), [1]);
        assert_eq!(running("# its npm installs a newer one\n"), [0; 0]);
        assert_eq!(running("npm(\"run\", \"build\");"), [0; 0]);
    }
}
