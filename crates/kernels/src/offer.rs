//! What the archive offers: kernels, each with the packages it comes in.

use crate::control::{Stanza, stanzas};
use crate::debian_version::{compare_versions, upstream};
use crate::kernel::trouble;
use crate::{Package, SchedulerClass};
use model::KernelVersion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The flavour that is fetched: small, and everything a guest needs.
const FLAVOUR: &str = "-cloud-amd64";
/// An image package below this holds nothing itself: it only names others (Debian
/// from 6.19 on; they have 1 to 3 kB).
const META_PACKAGE: u64 = 64 << 10;

/// A kernel that the archive has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Pinned: `debian:6.12.117-1~deb12u1`.
    pub name: String,
    /// What `uname -r` will say.
    pub release: String,
    /// Upstream's version.
    pub version: KernelVersion,
    /// The version of its packages.
    pub package_version: String,
    /// What schedules ordinary tasks, as far as it is known before the kernel is here.
    pub class: SchedulerClass,
    /// What is downloaded.
    pub packages: Vec<Package>,
    /// Packages it needs that the archive no longer has; it cannot be fetched then.
    pub missing: Vec<String>,
    /// What is known to be wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Whether it is in the cache.
    #[serde(default)]
    pub is_cached: bool,
}

impl Offer {
    /// Bytes to download.
    pub fn download_bytes(&self) -> u64 {
        self.packages.iter().map(|package| package.size).sum()
    }

    /// `major.minor`.
    pub fn series(&self) -> (u32, u32) {
        (self.version.major, self.version.minor)
    }

    /// Whether everything that belongs to it can be downloaded.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

/// A package of the index that belongs to some kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Indexed {
    pub(crate) package: Package,
    /// Packages of exactly this version that it depends on.
    pub(crate) depends: Vec<String>,
}

/// Whether a stanza that begins with this line is worth keeping.
pub(crate) fn is_of_a_kernel(first_line: &[u8]) -> bool {
    let Some(name) = first_line.strip_prefix(b"Package: linux-") else { return false };
    let is_part = [&b"image-"[..], b"binary-", b"modules-", b"base-"]
        .iter()
        .any(|part| name.starts_with(part));
    is_part && name.windows(FLAVOUR.len()).any(|window| window == FLAVOUR.as_bytes())
}

/// The packages of kernels in an index. Total: what lacks a field is left out.
pub(crate) fn indexed(index: &str, suite: &str) -> Vec<Indexed> {
    stanzas(index).iter().filter_map(|stanza| of_stanza(stanza, suite)).collect()
}

fn of_stanza(stanza: &Stanza, suite: &str) -> Option<Indexed> {
    let name = stanza.get("Package")?;
    let is_wanted = is_of_a_kernel(format!("Package: {name}").as_bytes())
        && stanza.get("Architecture") == Some("amd64");
    let version = stanza.get("Version")?;
    let sha256 = stanza.get("SHA256")?;
    let is_plain = |text: &str| {
        text.len() <= 200 && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+~-:".contains(c))
    };
    let is_digest = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_wanted || !is_plain(name) || !is_plain(version) || version.is_empty() || !is_digest {
        return None;
    }
    let exactly = format!("(= {version})");
    let depends = stanza.get("Depends").unwrap_or_default().split(',').map(str::trim);
    let depends = depends.filter_map(|entry| entry.strip_suffix(exactly.as_str()));
    Some(Indexed {
        package: Package {
            name: name.to_owned(),
            version: version.to_owned(),
            sha256: sha256.to_ascii_lowercase(),
            size: stanza.get("Size")?.parse().ok()?,
            installed_size: stanza
                .get("Installed-Size")
                .and_then(|kib| kib.parse::<u64>().ok())
                .map_or(0, |kib| kib.saturating_mul(1024)),
            suite: suite.to_owned(),
        },
        depends: depends.map(|name| name.trim().to_owned()).collect(),
    })
}

/// The kernels of one index, oldest first.
pub fn offers_of(index: &str, suite: &str) -> Vec<Offer> {
    assemble(&indexed(index, suite))
}

/// Puts packages together to kernels, oldest first; one that several suites have
/// comes from the first of them.
pub(crate) fn assemble(all: &[Indexed]) -> Vec<Offer> {
    let mut by_name: BTreeMap<(&str, &str), &Indexed> = BTreeMap::new();
    for one in all {
        by_name.entry((&one.package.name, &one.package.version)).or_insert(one);
    }
    let mut offers: Vec<Offer> = Vec::new();
    for one in by_name.values() {
        if let Some(offer) = assemble_one(one, &by_name) {
            offers.push(offer);
        }
    }
    offers.sort_by(|a, b| {
        a.series().cmp(&b.series()).then_with(|| {
            // The signed one first where both are there.
            compare_versions(&a.package_version, &b.package_version)
                .then_with(|| a.packages.len().cmp(&b.packages.len()))
        })
    });
    offers.dedup_by(|later, first| later.name == first.name);
    offers
}

fn assemble_one(image: &Indexed, all: &BTreeMap<(&str, &str), &Indexed>) -> Option<Offer> {
    let version = image.package.version.as_str();
    let name = image.package.name.strip_prefix("linux-image-")?;
    let (release, is_unsigned) = match name.strip_suffix("-unsigned") {
        Some(release) => (release, true),
        None => (name, false),
    };
    let is_release = release.ends_with(FLAVOUR) && release.matches('.').count() >= 2;
    let number = upstream(version).parse::<KernelVersion>().ok()?;
    if !is_release {
        return None;
    }
    let signed = format!("linux-image-{release}");
    if is_unsigned && all.contains_key(&(signed.as_str(), version)) {
        return None;
    }
    let (packages, missing) = parts(image, release, all);
    let mut class = SchedulerClass::of_debian(number);
    let trouble = trouble(number, version);
    if trouble.is_some() {
        class = class.min(SchedulerClass::Eevdf);
    }
    Some(Offer {
        name: format!("debian:{version}"),
        release: release.to_owned(),
        version: number,
        package_version: version.to_owned(),
        class,
        packages,
        missing,
        trouble,
        is_cached: false,
    })
}

/// The packages to download for an image package, and those that are gone.
fn parts(
    image: &Indexed,
    release: &str,
    all: &BTreeMap<(&str, &str), &Indexed>,
) -> (Vec<Package>, Vec<String>) {
    if image.package.size >= META_PACKAGE {
        return (vec![image.package.clone()], Vec::new());
    }
    let (mut packages, mut missing) = (Vec::new(), Vec::new());
    for part in ["linux-base-", "linux-binary-", "linux-modules-"] {
        let name = format!("{part}{release}");
        if !image.depends.contains(&name) {
            continue;
        }
        match all.get(&(name.as_str(), image.package.version.as_str())) {
            Some(found) => packages.push(found.package.clone()),
            None => missing.push(name),
        }
    }
    if packages.is_empty() && missing.is_empty() {
        missing.push(format!("linux-binary-{release}"));
    }
    (packages, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = include_str!("../tests/golden/packages.txt");

    fn offer(name: &str) -> Offer {
        let all = offers_of(INDEX, "suite");
        let found = all.iter().find(|offer| offer.name == name);
        found.unwrap_or_else(|| panic!("{name} among {all:#?}")).clone()
    }

    fn names(offer: &Offer) -> Vec<&str> {
        offer.packages.iter().map(|package| package.name.as_str()).collect()
    }

    #[test]
    fn an_image_with_content_is_all_there_is_to_fetch() {
        let offer = offer("debian:6.12.117-1~deb12u1");
        assert_eq!(names(&offer), ["linux-image-6.12.117+deb12-cloud-amd64"]);
        assert_eq!(offer.release, "6.12.117+deb12-cloud-amd64");
        assert_eq!(offer.class, SchedulerClass::Eevdf);
        assert_eq!(offer.download_bytes(), 34_307_256);
        assert!(offer.is_complete());
    }

    #[test]
    fn the_signed_image_is_preferred_and_the_unsigned_one_taken_where_it_is_alone() {
        assert_eq!(names(&offer("debian:6.1.192-2")), ["linux-image-6.1.0-56-cloud-amd64"]);
        let lone = offer("debian:5.10.251-5");
        assert_eq!(names(&lone), ["linux-image-5.10.0-43-cloud-amd64-unsigned"]);
        assert_eq!(lone.release, "5.10.0-43-cloud-amd64");
        assert_eq!(lone.version, "5.10.251".parse().unwrap());
    }

    #[test]
    fn a_meta_package_leads_to_its_parts() {
        let offer = offer("debian:7.2.13-1");
        assert_eq!(
            names(&offer),
            [
                "linux-base-7.2.13+deb14-cloud-amd64",
                "linux-binary-7.2.13+deb14-cloud-amd64",
                "linux-modules-7.2.13+deb14-cloud-amd64"
            ]
        );
        assert_eq!(offer.class, SchedulerClass::EevdfScx);
    }

    #[test]
    fn a_kernel_whose_modules_are_gone_is_told_to_be_incomplete() {
        let offer = offer("debian:7.0.13-1~bpo13+1");
        assert!(!offer.is_complete());
        assert!(offer.missing.iter().any(|name| name.starts_with("linux-modules-")));
    }

    #[test]
    fn meta_packages_of_a_whole_series_and_debug_symbols_are_no_kernels() {
        let all = offers_of(INDEX, "suite");
        assert!(all.iter().all(|offer| !offer.release.contains("dbg")), "{all:#?}");
        assert!(all.windows(2).all(|pair| pair[0].name != pair[1].name));
        assert!(all.windows(2).all(|pair| pair[0].series() <= pair[1].series()));
    }
}
