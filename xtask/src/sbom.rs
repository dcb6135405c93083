//! The bill of materials of what is installed: everything that the programs link or carry, as
//! CycloneDX 1.6 in JSON. The same sources on the same machine give the same bytes, so it has
//! neither a time nor a serial number.

mod components;
mod shape;

pub use shape::check;

use crate::cargo::Cargo;
use crate::problems::Problems;
use components::Component;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The name that readers of such files look for.
pub const FILE: &str = "schedlab.cdx.json";
/// What is installed: the program, and the one that goes into guests.
const PROGRAMS: [&str; 2] = ["schedlab", "schedlab-agent"];

/// The bill of materials.
///
/// # Errors
/// When cargo does not say what is linked, or a lock file cannot be read.
pub fn sbom(cargo: &Cargo) -> Result<String, Problems> {
    let metadata = cargo.metadata()?;
    let mut linked = BTreeSet::new();
    for program in PROGRAMS {
        linked.extend(cargo.compiled(&["--package", program, "--edges", "normal"])?);
    }
    let crates = components::crates(cargo.root(), &metadata, &linked)?;
    let mut others = components::modules_of_page(cargo.root())?;
    others.extend(components::libraries());
    let ours = metadata.packages.iter().find(|package| package.name == PROGRAMS[0]);
    let ours = ours.ok_or_else(|| Problems::one("there is no package schedlab"))?;
    let own = Component::own(ours);
    let mut edges = components::edges(&metadata, &linked, &own.reference);
    // What is no crate is linked into the program or embedded in it.
    let direct = edges.entry(own.reference.clone()).or_default();
    direct.extend(others.iter().map(|other| other.reference.clone()));
    let mut all: BTreeMap<String, Component> = BTreeMap::new();
    for component in crates.into_iter().chain(others) {
        all.insert(component.reference.clone(), component);
    }
    let document = document(&own, all.values(), &edges);
    let text = serde_json::to_string_pretty(&document)
        .map_err(|error| Problems::one(format!("cannot write {FILE}: {error}")))?;
    Ok(format!("{text}\n"))
}

fn document<'a>(
    own: &Component,
    components: impl Iterator<Item = &'a Component>,
    edges: &BTreeMap<String, BTreeSet<String>>,
) -> Value {
    let components: Vec<Value> = components.map(Component::as_json).collect();
    let dependencies: Vec<Value> =
        edges.iter().map(|(from, to)| json!({ "ref": from, "dependsOn": to })).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": shape::VERSION,
        "version": 1,
        "metadata": { "component": own.as_json() },
        "components": components,
        "dependencies": dependencies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component of the bill by its purl.
    fn component<'a>(bill: &'a Value, purl: &str) -> Option<&'a Value> {
        let all = bill["components"].as_array().unwrap();
        all.iter().find(|one| one["purl"].as_str().unwrap().starts_with(purl))
    }

    #[test]
    fn everything_that_is_linked_is_in_the_bill_with_version_licence_and_digest() {
        let cargo = Cargo::find().unwrap();
        let text = sbom(&cargo).unwrap();
        assert_eq!(check(&text), Vec::<String>::new());
        assert_eq!(sbom(&cargo).unwrap(), text, "the same sources give the same bytes");
        let bill: Value = serde_json::from_str(&text).unwrap();
        let lock = std::fs::read_to_string(cargo.root().join("Cargo.lock")).unwrap();
        let serde = component(&bill, "pkg:cargo/serde@").expect("serde is linked");
        assert_eq!(serde["licenses"][0]["expression"], "MIT OR Apache-2.0");
        let digest = serde["hashes"][0]["content"].as_str().unwrap();
        assert!(lock.contains(&format!("checksum = \"{digest}\"")), "{digest}");
        // A version with a `+` is written so that a purl stays one.
        assert!(component(&bill, "pkg:cargo/libbpf-sys@1.7.0%2Bv1.7.0").is_some());
        assert!(component(&bill, "pkg:cargo/spdx@").is_none(), "only xtask uses spdx");
        let preact = component(&bill, "pkg:npm/preact@").expect("the page is embedded");
        assert_eq!(preact["hashes"][0]["alg"], "SHA-512");
        assert!(component(&bill, "pkg:npm/%40observablehq/plot@").is_some());
        assert!(component(&bill, "pkg:npm/vite@").is_none(), "vite only builds the page");
        assert!(component(&bill, "pkg:deb/debian/libelf-dev").is_some(), "libelf.a is linked");
        let own = bill["metadata"]["component"]["bom-ref"].as_str().unwrap();
        let edges = bill["dependencies"].as_array().unwrap();
        let of_ours = edges.iter().find(|edge| edge["ref"] == own).unwrap();
        let direct = of_ours["dependsOn"].as_array().unwrap();
        assert!(direct.contains(&serde["bom-ref"]) && direct.contains(&preact["bom-ref"]));
    }
}
