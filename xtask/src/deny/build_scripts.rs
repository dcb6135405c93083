//! Build scripts of dependencies run with the rights of the user who builds: each was read, and
//! stands in a list with its version and with what it does.

use crate::problems::Problems;
use cargo_metadata::{Metadata, Package, Target};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The list.
const LIST: &str = "build-scripts.toml";

/// The list of those that were read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditedScripts {
    #[serde(rename = "script")]
    scripts: Vec<AuditedScript>,
}

/// One that was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditedScript {
    #[serde(rename = "crate")]
    name: String,
    version: String,
    does: String,
}

/// Name and version of a crate.
pub(super) type Release = (String, String);

/// Build scripts among `compiled` that nobody has read, and lines of the list whose crate is in
/// none of the `workspaces`.
///
/// # Errors
/// When the list cannot be read.
pub fn check(
    root: &Path,
    workspaces: &[&Metadata],
    compiled: &[&Package],
) -> Result<Vec<String>, Problems> {
    let cannot = |action: &str, error: &dyn std::fmt::Display| {
        Problems::one(format!("cannot {action} {LIST}: {error}"))
    };
    let text = std::fs::read_to_string(root.join(LIST)).map_err(|error| cannot("read", &error))?;
    let list: AuditedScripts =
        toml::from_str(&text).map_err(|error| cannot("understand", &error))?;
    let run = compiled.iter().filter(|package| package.targets.iter().any(Target::is_custom_build));
    let run: BTreeSet<Release> = run.map(|package| release(package)).collect();
    let locked = workspaces.iter().flat_map(|workspace| &workspace.packages);
    let locked: BTreeSet<Release> = locked.map(release).collect();
    Ok(differences(&list, &run, &locked))
}

pub(super) fn release(package: &Package) -> Release {
    (package.name.to_string(), package.version.to_string())
}

fn differences(
    list: &AuditedScripts,
    run: &BTreeSet<Release>,
    locked: &BTreeSet<Release>,
) -> Vec<String> {
    let listed: BTreeSet<Release> =
        list.scripts.iter().map(|script| (script.name.clone(), script.version.clone())).collect();
    let unread = run.difference(&listed).map(|(name, version)| {
        format!(
            "{name} {version}: has a build script that nobody has read; `cargo info {name}@{version}` \
             fetches it below the registry of cargo: read its build.rs, then list it with what it \
             does in {LIST}"
        )
    });
    let gone = listed.difference(locked).map(|(name, version)| {
        format!("{LIST}: {name} {version} is no dependency any more: take the line out")
    });
    let silent = list.scripts.iter().filter(|script| script.does.trim().is_empty());
    let silent = silent.map(|script| {
        format!("{LIST}: {} {}: say what its build script does", script.name, script.version)
    });
    unread.chain(gone).chain(silent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(of: &[(&str, &str)]) -> BTreeSet<Release> {
        of.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
    }

    fn found(list: &str, run: &[(&str, &str)], locked: &[(&str, &str)]) -> Vec<String> {
        differences(&toml::from_str(list).unwrap(), &releases(run), &releases(locked))
    }

    const LIBC: &str = "[[script]]\ncrate = \"libc\"\nversion = \"0.2.1\"\ndoes = \"asks rustc\"\n";

    #[test]
    fn a_script_that_was_read_passes_in_that_version_alone() {
        let (old, new) = (("libc", "0.2.1"), ("libc", "0.2.2"));
        assert_eq!(found(LIBC, &[old], &[old]), Vec::<String>::new());
        // Of a crate that this platform does not compile, too.
        assert_eq!(found(LIBC, &[], &[old]), Vec::<String>::new());
        let problems = found(LIBC, &[new], &[new]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("libc 0.2.2: has a build script that nobody has read"));
        assert!(problems[1].contains("libc 0.2.1 is no dependency any more"));
    }

    #[test]
    fn a_line_says_what_its_script_does() {
        let silent = LIBC.replace("asks rustc", " ");
        let problems = found(&silent, &[], &[("libc", "0.2.1")]);
        assert!(problems[0].contains("say what its build script does"), "{problems:?}");
        assert!(toml::from_str::<AuditedScripts>("[[script]]\ncrate = \"libc\"\n").is_err());
    }
}
