//! `cargo xtask deny`: licences and sources of everything that is compiled in, and what of other
//! people's runs while it is built or installed.

mod build_scripts;
mod lock_drift;
mod npm;

pub use npm::PAGE_LOCK;

use crate::cargo::Cargo;
use crate::problems::{CommandResult, Problems};
use cargo_metadata::{Metadata, Package};
use serde::Deserialize;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};

const POLICY: &str = "dependency-policy.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    licences: Vec<String>,
    licences_not_shipped: Vec<String>,
}

/// Fails on a dependency whose licence or source is not allowed, on a build script that nobody has
/// read, on other versions where fuzzing is guided, and on modules of the page that are not pinned
/// by their digests; warns of packages that are compiled in two incompatible versions.
pub fn deny(cargo: &Cargo) -> CommandResult {
    let text = std::fs::read_to_string(cargo.root().join(POLICY))
        .map_err(|error| Problems::one(format!("cannot read {POLICY}: {error}")))?;
    let policy: Policy = toml::from_str(&text)
        .map_err(|error| Problems::one(format!("cannot understand {POLICY}: {error}")))?;
    let metadata = cargo.metadata()?;
    let compiled = cargo.compiled(&["--workspace", "--edges", "all"])?;
    let dependencies = foreign(&metadata, &compiled);
    for line in duplicates(&dependencies) {
        eprintln!("deny: warning: {line}");
    }
    let guided = cargo.coverage().metadata()?;
    let beside = only_guided(cargo, &metadata, &guided)?;
    let all: Vec<&Package> = dependencies.iter().chain(&beside).copied().collect();
    let mut found = build_scripts::check(cargo.root(), &[&metadata, &guided], &all)?;
    found.extend(lock_drift::check(&metadata, &guided));
    found.extend(npm::check(cargo.root())?);
    found.extend(refused(&dependencies, &policy.licences));
    found.extend(refused(&beside, &[policy.licences, policy.licences_not_shipped].concat()));
    Problems::outcome(found)
}

/// What guided fuzzing alone is built of: it is never installed.
fn only_guided<'a>(
    cargo: &Cargo,
    metadata: &Metadata,
    guided: &'a Metadata,
) -> Result<Vec<&'a Package>, Problems> {
    let compiled = cargo.coverage().compiled(&["--workspace", "--edges", "all"])?;
    let is_known = |package: &&Package| {
        let mut known = metadata.packages.iter();
        known.any(|one| one.name == package.name && one.version == package.version)
    };
    Ok(foreign(guided, &compiled).into_iter().filter(|package| !is_known(package)).collect())
}

/// Packages that come from elsewhere, or under another licence than these.
fn refused(packages: &[&Package], licences: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        if !package.source.as_ref().is_some_and(|source| source.is_crates_io()) {
            found.push(format!("{name}: comes from elsewhere than crates.io"));
        }
        if let Err(why) = check_licence(package.license.as_deref(), licences) {
            found.push(format!("{name}: {why}"));
        }
    }
    found
}

/// The packages among `chosen` that are not ours.
pub fn foreign<'a>(
    metadata: &'a Metadata,
    chosen: &BTreeSet<(String, String)>,
) -> Vec<&'a Package> {
    metadata
        .packages
        .iter()
        .filter(|package| !metadata.workspace_members.contains(&package.id))
        .filter(|package| chosen.contains(&(package.name.to_string(), package.version.to_string())))
        .collect()
}

fn check_licence(licence: Option<&str>, allowed: &[String]) -> Result<(), String> {
    let licence = licence.ok_or("declares no licence expression")?;
    // Older manifests write `MIT/Apache-2.0`; the lax mode reads the slash as OR.
    let expression = Expression::parse_mode(licence, ParseMode::LAX)
        .map_err(|error| format!("`{licence}` is not an SPDX expression: {}", error.reason))?;
    if expression.evaluate(|required| allowed.contains(&required.to_string())) {
        Ok(())
    } else {
        Err(format!("`{licence}` needs a licence that {POLICY} does not allow"))
    }
}

fn duplicates(packages: &[&Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        versions.entry(package.name.as_str()).or_default().insert(package.version.to_string());
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| {
            let versions: Vec<_> = versions.into_iter().collect();
            format!("{name} is compiled {} times: {}", versions.len(), versions.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_counts_when_it_is_usable_under_the_allowed_ones_alone() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(String::from);
        for (licence, is_allowed) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("MIT OR LGPL-2.1-or-later", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("MIT AND LGPL-2.1-or-later", false),
            ("GPL-3.0-only", false),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("as you like", false),
        ] {
            assert_eq!(check_licence(Some(licence), &allowed).is_ok(), is_allowed, "{licence}");
        }
        assert!(check_licence(None, &allowed).is_err());
    }
}
