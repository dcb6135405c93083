//! The program that fuzzing is guided in has a lock file of its own. What it shares with the
//! product has the same versions there: other code than the product's need not be fuzzed.

use super::build_scripts::{Release, release};
use cargo_metadata::Metadata;
use std::collections::{BTreeMap, BTreeSet};

/// How the lock file becomes the product's again, with what it has beside that.
const REMEDY: &str = "`cp Cargo.lock fuzz/coverage/`, then `cargo metadata --format-version 1 \
                      --manifest-path fuzz/coverage/Cargo.toml`, which adds what it has alone";

/// Packages of the guided program that the product has in other versions alone.
pub fn check(product: &Metadata, guided: &Metadata) -> Vec<String> {
    let releases = |metadata: &Metadata| metadata.packages.iter().map(release).collect::<Vec<_>>();
    differences(releases(product), releases(guided))
}

fn differences(product: Vec<Release>, guided: Vec<Release>) -> Vec<String> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version) in product {
        versions.entry(name).or_default().insert(version);
    }
    let differs = |(name, version): Release| {
        let known = versions.get(&name).filter(|known| !known.contains(&version))?;
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let known = known.join(", ");
        Some(format!(
            "{name}: fuzz/coverage/Cargo.lock has {version}, the product {known}: {REMEDY}"
        ))
    };
    guided.into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(of: &[(&str, &str)]) -> Vec<Release> {
        of.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
    }

    #[test]
    fn what_is_fuzzed_has_the_versions_of_the_product() {
        let product = releases(&[("csv", "1.4.0"), ("syn", "2.0.1"), ("syn", "3.0.9")]);
        let same = releases(&[("csv", "1.4.0"), ("syn", "3.0.9"), ("libfuzzer-sys", "0.4.12")]);
        assert_eq!(differences(product.clone(), same), Vec::<String>::new());
        let found = differences(product, releases(&[("csv", "1.4.1"), ("syn", "1.0.0")]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("csv: fuzz/coverage/Cargo.lock has 1.4.1, the product 1.4.0"));
        assert!(found[1].contains("the product 2.0.1, 3.0.9: "), "{found:?}");
    }
}
