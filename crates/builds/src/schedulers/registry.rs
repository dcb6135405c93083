//! What the registry offers, asked through cargo.

use super::Schedulers;
use crate::scheduler_name::{SchedulerName, is_version};
use artefacts::programs::{command, output_of};
use artefacts::{Error, ErrorKind, Result};
use serde::Serialize;
use std::path::Path;

/// A scheduler that the registry has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchedulerOffer {
    /// Its name.
    pub name: String,
    /// The version that was asked for, or the newest.
    pub version: String,
    /// What its authors say of it, in one line.
    pub summary: String,
    /// The licence that it declares.
    pub license: String,
    /// The Rust that it needs, where it says so.
    pub rust_version: Option<String>,
    /// It is in the cache.
    pub is_cached: bool,
}

impl SchedulerOffer {
    /// The offer with its version, as it is cached.
    pub fn exact(&self) -> SchedulerName {
        SchedulerName { name: self.name.clone(), version: Some(self.version.clone()) }
    }
}

/// Asks the registry. The directory must hold no project: cargo would describe its own crates.
pub(super) fn ask(
    schedulers: &Schedulers,
    name: &SchedulerName,
    directory: &Path,
) -> Result<SchedulerOffer> {
    let attempted = format!("cannot ask the registry for {name}");
    let cargo = schedulers.cargo(&attempted)?;
    let told = output_of(
        command(&cargo)
            .args(["info", "--color", "never", "--quiet"])
            .arg(name.to_string())
            .current_dir(directory),
        &attempted,
    )
    .map_err(|error| {
        let (kind, remedy) = if error.cause.contains("could not find") {
            let remedy = "see `schedlab schedulers list --offered`, or leave the version out";
            (ErrorKind::Unsupported, remedy)
        } else {
            (ErrorKind::Environment, "what is cached serves without the registry")
        };
        Error { kind, remedy: remedy.to_owned(), ..error }
    })?;
    let text = String::from_utf8_lossy(&told);
    parse(&text)
        .filter(|offer| offer.name == name.name)
        .ok_or_else(|| Error::environment(attempted, "what `cargo info` said is not understood"))
}

/// Reads what `cargo info` prints: the name, what it is, then a key on each line.
fn parse(text: &str) -> Option<SchedulerOffer> {
    let mut lines = text.lines();
    // Behind the name stand keywords.
    let name = lines.next()?.split_whitespace().next()?.to_owned();
    let mut offer = SchedulerOffer {
        name,
        version: String::new(),
        summary: String::new(),
        license: "not declared".to_owned(),
        rust_version: None,
        is_cached: false,
    };
    for line in lines {
        match line.split_once(": ") {
            // `1.1.3 (latest 1.1.4)`
            Some(("version", value)) => {
                offer.version = value.split_whitespace().next()?.to_owned();
            }
            Some(("license", value)) if value != "unknown" => offer.license = value.to_owned(),
            Some(("rust-version", value)) if value != "unknown" => {
                offer.rust_version = Some(value.to_owned());
            }
            _ if offer.version.is_empty() => {
                let space = if offer.summary.is_empty() { "" } else { " " };
                offer.summary.push_str(&format!("{space}{}", line.trim()));
            }
            _ => {}
        }
    }
    is_version(&offer.version).then_some(offer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_of_the_newest_version_is_read() {
        let offer = parse(include_str!("../../tests/golden/cargo-info/1.95-newest.txt")).unwrap();
        assert_eq!((offer.name.as_str(), offer.version.as_str()), ("scx_rusty", "1.1.4"));
        assert_eq!(offer.license, "GPL-2.0-only");
        assert_eq!(offer.rust_version.as_deref(), Some("1.91"));
        assert!(offer.summary.starts_with("A multi-domain, BPF"), "{}", offer.summary);
        assert_eq!(offer.exact().to_string(), "scx_rusty@1.1.4");
    }

    #[test]
    fn what_cargo_says_of_an_older_version_is_read() {
        let offer = parse(include_str!("../../tests/golden/cargo-info/1.95-older.txt")).unwrap();
        assert_eq!(offer.version, "1.1.3");
        assert_eq!(offer.rust_version, None);
    }

    #[test]
    fn other_words_are_no_offer() {
        for text in ["", "scx_rusty", "scx_rusty\nversion: ../../x\n", "error: none\n"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
