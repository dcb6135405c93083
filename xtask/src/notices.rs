//! The notices of everything linked into the binary; their licences ask that
//! they travel with it.

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// Name, version, licence and licence texts of everything `root` links.
pub fn notices(metadata: &Metadata, root: &str) -> std::io::Result<String> {
    let mut packages = linked(metadata, root);
    packages.sort_by_key(|package| (&package.name, &package.version));
    let mut text = String::from("schedlab is built with these packages.\n");
    for package in packages {
        let licence = package.license.as_deref().unwrap_or("no licence expression");
        let _ = writeln!(text, "\n\n{} {} ({licence})\n", package.name, package.version);
        for notice in texts(package)? {
            text.push_str(&notice);
        }
    }
    Ok(text)
}

/// The packages of others that are reached from `root` without passing through
/// what only builds or tests.
fn linked<'a>(metadata: &'a Metadata, root: &str) -> Vec<&'a Package> {
    let mut open: Vec<&PackageId> = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| package.name.as_str() == root)
        .map(|package| &package.id)
        .collect();
    let mut reached: BTreeSet<&PackageId> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id) {
            continue;
        }
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        for node in nodes.filter(|node| node.id == *id) {
            let is_linked =
                |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
            let edges = node.deps.iter().filter(|edge| edge.dep_kinds.iter().any(is_linked));
            open.extend(edges.map(|edge| &edge.pkg));
        }
    }
    let is_foreign = |package: &&Package| !metadata.workspace_members.contains(&package.id);
    let packages = metadata.packages.iter().filter(|package| reached.contains(&package.id));
    packages.filter(is_foreign).collect()
}

fn texts(package: &Package) -> std::io::Result<Vec<String>> {
    let Some(folder) = package.manifest_path.parent() else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_notice = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|stem| name.starts_with(stem));
        if is_notice && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Cargo;

    #[test]
    fn notices_name_what_is_linked_and_not_what_only_tests_use() {
        let metadata = Cargo::find().unwrap().metadata().unwrap();
        let notices = notices(&metadata, "model").unwrap();
        assert!(notices.contains("\nhdrhistogram 7."), "model links hdrhistogram");
        assert!(notices.contains("Permission is hereby granted"));
        assert!(!notices.contains("\nspdx 0."), "only xtask uses spdx");
    }
}
