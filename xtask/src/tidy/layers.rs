//! Edges between our crates, as cargo sees them.

use super::house::{Room, refusal, room};
use cargo_metadata::{DependencyKind, Metadata, Package};

/// Compares every crate of the workspace with the table.
pub fn check(metadata: &Metadata) -> Vec<String> {
    let ours = metadata.workspace_packages();
    let mut found = Vec::new();
    for package in &ours {
        match room(&package.name) {
            Some(place) => found.extend(check_package(package, place)),
            None => found.push(format!(
                "{}: has no place in the house; decide on one in xtask/src/tidy/house.rs",
                package.name
            )),
        }
    }
    found
}

fn check_package(package: &Package, place: &Room) -> Vec<String> {
    let mut found = Vec::new();
    let declared = package.metadata["schedlab"]["layer"].as_u64();
    if declared != Some(place.layer) {
        found.push(format!(
            "{}: package.metadata.schedlab.layer is {}, the house says {}",
            package.name,
            declared.map_or("missing".to_owned(), |layer| layer.to_string()),
            place.layer
        ));
    }
    // Only our own crates are path dependencies.
    for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
        let is_for_tests = dependency.kind == DependencyKind::Development;
        if let Some(target) = room(&dependency.name) {
            found.extend(refusal(place, target, is_for_tests));
        }
    }
    found
}
