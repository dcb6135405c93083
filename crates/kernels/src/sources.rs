//! The machine's own apt sources: which mirror it uses for Debian.

use crate::control::stanzas;
use std::fs;
use std::path::{Path, PathBuf};

/// An entry of the sources that serves Debian's own archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// Where it is.
    pub uri: String,
    /// The suite that is asked of it.
    pub suite: String,
    /// The keyring it is verified with, where the entry names a file.
    pub keyring: Option<PathBuf>,
}

impl Mirror {
    /// Whether it serves security updates, which have an archive of their own.
    pub fn is_security(&self) -> bool {
        self.suite.ends_with("-security") || self.suite.ends_with("/updates")
    }
}

/// Names that Debian's releases go by; a foreign archive calls its suites otherwise,
/// or is signed with its own key.
const RELEASES: &[&str] = &[
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "stable",
    "oldstable",
    "oldoldstable",
    "testing",
    "unstable",
];

/// The entries for Debian's archive in one file of sources, in its order.
/// Total: an entry that makes no sense is left out.
pub fn mirrors(text: &str, is_deb822: bool) -> Vec<Mirror> {
    let all = if is_deb822 { of_deb822(text) } else { of_list(text) };
    all.into_iter().filter(is_debian).collect()
}

/// The entries of all files below `/etc/apt`, in apt's order.
pub(crate) fn mirrors_of_machine(etc_apt: &Path) -> Vec<Mirror> {
    let mut files = vec![etc_apt.join("sources.list")];
    let parts = fs::read_dir(etc_apt.join("sources.list.d")).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = parts.map(|part| part.path()).collect();
    parts.sort();
    files.extend(parts);
    let mut all = Vec::new();
    for file in files {
        let is_deb822 = match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => false,
            Some("sources") => true,
            _ => continue,
        };
        if let Ok(text) = fs::read_to_string(&file) {
            all.extend(mirrors(&text, is_deb822));
        }
    }
    all
}

fn of_deb822(text: &str) -> Vec<Mirror> {
    let mut all = Vec::new();
    for stanza in stanzas(text) {
        let is_enabled = !matches!(stanza.get("Enabled"), Some("no" | "false" | "0" | "off"));
        let is_binary = stanza.words("Types").contains(&"deb");
        if !is_enabled || !is_binary || !stanza.words("Components").contains(&"main") {
            continue;
        }
        // An embedded key begins with its armour; the distribution's keyring stands in for it.
        let keyring = stanza
            .words("Signed-By")
            .first()
            .filter(|word| word.starts_with('/'))
            .map(PathBuf::from);
        for uri in stanza.words("URIs") {
            for suite in stanza.words("Suites") {
                let (uri, suite) = (uri.to_owned(), suite.to_owned());
                all.push(Mirror { uri, suite, keyring: keyring.clone() });
            }
        }
    }
    all
}

fn of_list(text: &str) -> Vec<Mirror> {
    text.lines().filter_map(of_line).collect()
}

/// `deb [signed-by=/x arch=amd64] URI SUITE COMPONENT…`
fn of_line(line: &str) -> Option<Mirror> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    if !words.any(|component| component == "main") {
        return None;
    }
    let keyring = options
        .split_whitespace()
        .find_map(|option| option.strip_prefix("signed-by="))
        .and_then(|value| value.split(',').find(|word| word.starts_with('/')))
        .map(PathBuf::from);
    Some(Mirror { uri: uri.to_owned(), suite: suite.to_owned(), keyring })
}

fn is_debian(mirror: &Mirror) -> bool {
    let release = mirror.suite.split(['-', '/']).next().unwrap_or_default();
    let tail = &mirror.suite[release.len()..];
    let is_of_debian = RELEASES.contains(&release)
        && ["", "-updates", "-security", "-backports", "/updates"].contains(&tail);
    let is_signed_by_debian = mirror
        .keyring
        .as_ref()
        .is_none_or(|keyring| keyring.to_string_lossy().contains("debian-archive"));
    let is_plain = mirror.uri.contains(":/")
        && !mirror.uri.starts_with("cdrom:")
        && mirror.uri.chars().all(|c| c.is_ascii_graphic());
    is_of_debian && is_signed_by_debian && is_plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_sources_name_the_same_mirrors() {
        let deb822 = "Types: deb deb-src\n# a snapshot\nURIs: http://deb.debian.org/debian\n\
            Suites: bookworm bookworm-updates\nComponents: main\n\
            Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n\
            Types: deb\nURIs: http://deb.debian.org/debian-security\nSuites: bookworm-security\n\
            Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n";
        let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
        let list = format!(
            "deb-src http://x/debian bookworm main\n\
             deb [signed-by={key} arch=amd64] http://deb.debian.org/debian bookworm main contrib # x\n\
             deb\t[ signed-by={key} ] http://deb.debian.org/debian bookworm-updates main\n\
             deb [signed-by={key}] http://deb.debian.org/debian-security bookworm-security main\n"
        );
        let all = mirrors(deb822, true);
        assert_eq!(all, mirrors(&list, false));
        assert_eq!(all.iter().filter(|mirror| mirror.is_security()).count(), 1);
        assert_eq!(all[0].uri, "http://deb.debian.org/debian");
    }

    #[test]
    fn foreign_archives_and_disabled_entries_are_no_mirrors() {
        for (text, is_deb822) in [
            ("deb https://packages.example.org/apt cloud-sdk-bookworm main", false),
            (
                "deb [signed-by=/usr/share/keyrings/their.gpg] https://x.org/debian bookworm main",
                false,
            ),
            ("deb http://archive.ubuntu.com/ubuntu noble main", false),
            ("deb cdrom:[Debian]/ bookworm main", false),
            ("deb https://download.docker.com/linux/debian bookworm stable", false),
            ("Enabled: no\nTypes: deb\nURIs: http://d/debian\nSuites: sid\nComponents: main", true),
        ] {
            assert_eq!(mirrors(text, is_deb822), [], "{text}");
        }
    }
}
