//! What a bill of materials lists: crates, modules of the page, and libraries of the machine.

use crate::deny::{PAGE_LOCK, foreign};
use crate::problems::Problems;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

const CARGO_LOCK: &str = "Cargo.lock";
/// Packages of Debian whose static libraries every build links (`setup`).
const LIBRARIES: [&str; 3] = ["libc6-dev", "libelf-dev", "zlib1g-dev"];

/// One of them.
#[derive(Debug)]
pub struct Component {
    /// Its purl, by which edges name it.
    pub reference: String,
    kind: &'static str,
    name: String,
    version: Option<String>,
    licence: Option<String>,
    /// Algorithm and digest in hexadecimal, of the archive that it comes in.
    digest: Option<(&'static str, String)>,
}

impl Component {
    /// What is installed.
    pub fn own(package: &Package) -> Self {
        Self { kind: "application", ..Self::of_crate(package, None) }
    }

    fn of_crate(package: &Package, checksum: Option<&str>) -> Self {
        Self {
            reference: purl_of(package),
            kind: "library",
            name: package.name.to_string(),
            version: Some(package.version.to_string()),
            // Older manifests write `MIT/Apache-2.0`.
            licence: package.license.as_deref().map(|licence| licence.replace('/', " OR ")),
            digest: checksum.map(|digest| ("SHA-256", digest.to_owned())),
        }
    }

    /// As CycloneDX has it.
    pub fn as_json(&self) -> Value {
        let mut json = json!({
            "type": self.kind,
            "bom-ref": self.reference,
            "name": self.name,
            "purl": self.reference,
        });
        if let Some(version) = &self.version {
            json["version"] = json!(version);
        }
        if let Some(licence) = &self.licence {
            json["licenses"] = json!([{ "expression": licence }]);
        }
        if let Some((algorithm, digest)) = &self.digest {
            json["hashes"] = json!([{ "alg": algorithm, "content": digest }]);
        }
        json
    }
}

#[derive(Deserialize)]
struct CargoLock {
    package: Vec<LockedCrate>,
}

#[derive(Deserialize)]
struct LockedCrate {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates of others that are linked, with their digests.
///
/// # Errors
/// When the lock file cannot be read.
pub fn crates(
    root: &Path,
    metadata: &Metadata,
    linked: &BTreeSet<(String, String)>,
) -> Result<Vec<Component>, Problems> {
    let lock: CargoLock = toml::from_str(&read(root, CARGO_LOCK)?)
        .map_err(|error| Problems::one(format!("cannot understand {CARGO_LOCK}: {error}")))?;
    let checksum = |package: &Package| {
        let version = package.version.to_string();
        let is_it = |one: &&LockedCrate| package.name == one.name && one.version == version;
        lock.package.iter().find(is_it).and_then(|one| one.checksum.as_deref())
    };
    let crates = foreign(metadata, linked).into_iter();
    Ok(crates.map(|package| Component::of_crate(package, checksum(package))).collect())
}

/// The modules that the page is made of, which the program embeds.
///
/// # Errors
/// When the lock file cannot be read.
pub fn modules_of_page(root: &Path) -> Result<Vec<Component>, Problems> {
    let lock: Value = serde_json::from_str(&read(root, PAGE_LOCK)?)
        .map_err(|error| Problems::one(format!("cannot understand {PAGE_LOCK}: {error}")))?;
    let packages = lock["packages"].as_object();
    let packages = packages.into_iter().flatten();
    // What only builds or tests the page is marked so.
    let embedded = packages.filter(|(path, package)| !path.is_empty() && package["dev"] != true);
    let modules = embedded.map(|(path, package)| {
        let name = path.rsplit("node_modules/").next().unwrap_or(path);
        let version = package["version"].as_str().unwrap_or_default();
        Component {
            reference: format!("pkg:npm/{}@{}", escaped(name), escaped(version)),
            kind: "library",
            name: name.to_owned(),
            version: Some(version.to_owned()),
            licence: package["license"].as_str().map(str::to_owned),
            digest: package["integrity"].as_str().and_then(sha512),
        }
    });
    Ok(modules.collect())
}

/// The static libraries of this machine, in the versions that its package manager knows.
pub fn libraries() -> Vec<Component> {
    let libraries = LIBRARIES.into_iter().map(|name| {
        let version = installed_version(name);
        let suffix = version.as_deref().map(|version| format!("@{}", escaped(version)));
        Component {
            reference: format!("pkg:deb/debian/{name}{}", suffix.unwrap_or_default()),
            kind: "library",
            name: name.to_owned(),
            version,
            licence: None,
            digest: None,
        }
    });
    libraries.collect()
}

/// What dpkg says; nothing where there is no dpkg, or no such package.
fn installed_version(package: &str) -> Option<String> {
    let mut command = Command::new("dpkg-query");
    command.args(["--show", "--showformat", "${Version}", package]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

/// What each linked crate is linked with. Crates of ours are one, and called `own`.
pub fn edges(
    metadata: &Metadata,
    linked: &BTreeSet<(String, String)>,
    own: &str,
) -> BTreeMap<String, BTreeSet<String>> {
    let is_linked = |package: &&Package| {
        linked.contains(&(package.name.to_string(), package.version.to_string()))
    };
    let reference = |package: &Package| {
        let is_ours = metadata.workspace_members.contains(&package.id);
        if is_ours { own.to_owned() } else { purl_of(package) }
    };
    let references: BTreeMap<&PackageId, String> = metadata
        .packages
        .iter()
        .filter(is_linked)
        .map(|package| (&package.id, reference(package)))
        .collect();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
        let Some(from) = references.get(&node.id) else { continue };
        let is_normal = |dependency: &&cargo_metadata::NodeDep| {
            dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
        };
        let to = node.deps.iter().filter(is_normal);
        let to = to.filter_map(|dependency| references.get(&dependency.pkg)).cloned();
        edges.entry(from.clone()).or_default().extend(to.filter(|to| to != from));
    }
    edges
}

fn purl_of(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, escaped(&package.version.to_string()))
}

/// As a part of a purl is written: all but letters, digits, `.`, `-`, `_`, `~` and `/` in percent.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_~/".contains(&byte);
    let each = text.bytes().map(|byte| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    each.collect()
}

/// npm's `sha512-BASE64` as algorithm and hexadecimal digits.
fn sha512(integrity: &str) -> Option<(&'static str, String)> {
    let bytes = STANDARD.decode(integrity.strip_prefix("sha512-")?).ok()?;
    Some(("SHA-512", bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
}

fn read(root: &Path, name: &str) -> Result<String, Problems> {
    std::fs::read_to_string(root.join(name))
        .map_err(|error| Problems::one(format!("cannot read {name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_become_parts_of_a_purl() {
        for (text, part) in [
            ("@scope/name", "%40scope/name"),
            ("1.7.0+v1.7.0", "1.7.0%2Bv1.7.0"),
            ("a_b-1", "a_b-1"),
        ] {
            assert_eq!(escaped(text), part);
        }
    }

    #[test]
    fn a_digest_of_npm_is_written_in_hexadecimal() {
        let (algorithm, digits) = sha512("sha512-AAH/").unwrap();
        assert_eq!((algorithm, digits.as_str()), ("SHA-512", "0001ff"));
        assert!(sha512("sha1-AAH/").is_none() && sha512("sha512-*").is_none());
    }
}
