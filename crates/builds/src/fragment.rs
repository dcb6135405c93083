//! Pieces of a kernel's configuration, and whether a configuration obeys them.

use artefacts::{Error, Result};
use std::fs;
use std::path::Path;

/// Marks an option that only some versions have.
const OPTIONAL: &str = "where it exists";

const OWN: &[(&str, &str)] = &[
    ("base", include_str!("../fragments/base.config")),
    ("sched-ext", include_str!("../fragments/sched-ext.config")),
    ("schedstats", include_str!("../fragments/schedstats.config")),
];

/// One line of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    /// `CONFIG_HZ_250`.
    key: String,
    /// What it is set to; nothing where it must not be set.
    value: Option<String>,
    is_optional: bool,
}

impl Wish {
    /// As a configuration has it.
    fn line(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.key),
            None => format!("# {} is not set", self.key),
        }
    }
}

/// The text of a fragment: one of ours by name, or a file.
pub(crate) fn text_of(fragment: &str) -> Result<String> {
    if let Some((_, text)) = OWN.iter().find(|(name, _)| *name == fragment) {
        return Ok((*text).to_owned());
    }
    let path = Path::new(fragment);
    fs::read_to_string(path).map_err(|error| {
        let names: Vec<&str> = OWN.iter().map(|(name, _)| *name).collect();
        Error::usage(
            format!("cannot read the fragment {fragment}"),
            error,
            format!("name a file of configuration lines, or one of {}", names.join(", ")),
        )
    })
}

/// Reads a fragment. Lines that are neither settings nor comments are told.
pub(crate) fn wishes(text: &str) -> Result<Vec<Wish>, String> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let bare = line.strip_prefix("# ").and_then(|rest| rest.strip_suffix(" is not set"));
        if let Some(key) = bare.filter(|key| is_key(key)) {
            all.push(Wish { key: key.to_owned(), value: None, is_optional: false });
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (setting, remark) = line.split_once(" #").unwrap_or((line, ""));
        let (key, value) = setting.trim().split_once('=').unwrap_or((setting, ""));
        if !is_key(key) || value.is_empty() {
            return Err(format!("line {}: `{line}` is no setting", number + 1));
        }
        let (key, value) = (key.to_owned(), Some(value.to_owned()).filter(|value| value != "n"));
        all.push(Wish { key, value, is_optional: remark.contains(OPTIONAL) });
    }
    Ok(all)
}

fn is_key(key: &str) -> bool {
    key.strip_prefix("CONFIG_").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The wishes as a configuration; of a key that is named twice the last one counts.
pub(crate) fn merged(wishes: &[Wish]) -> String {
    let last =
        |index: usize, wish: &Wish| !wishes[index + 1..].iter().any(|later| later.key == wish.key);
    let kept = wishes.iter().enumerate().filter(|(index, wish)| last(*index, wish));
    kept.map(|(_, wish)| wish.line() + "\n").collect()
}

/// The lines that a configuration does not obey.
pub(crate) fn disobeyed(wishes: &[Wish], config: &str) -> Vec<String> {
    let is_last =
        |index: usize, wish: &Wish| !wishes[index + 1..].iter().any(|later| later.key == wish.key);
    let is_obeyed = |wish: &Wish| {
        let prefix = format!("{}=", wish.key);
        let found = config.lines().find_map(|line| line.strip_prefix(&prefix));
        found == wish.value.as_deref()
    };
    let broken = wishes
        .iter()
        .enumerate()
        .filter(|(index, wish)| is_last(*index, wish) && !wish.is_optional && !is_obeyed(wish));
    broken.map(|(_, wish)| wish.line()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_fragments_are_settings_throughout() {
        for (name, text) in OWN {
            assert!(!wishes(text).unwrap().is_empty(), "{name}");
        }
    }

    #[test]
    fn the_last_word_counts_and_what_did_not_take_effect_is_told() {
        let all = wishes(
            "CONFIG_A=y\n# CONFIG_B is not set\n# remark\nCONFIG_A=n\nCONFIG_C=\"x\"\n\
             CONFIG_D=y # where it exists\nCONFIG_E=250\n",
        )
        .unwrap();
        assert_eq!(
            merged(&all),
            "# CONFIG_B is not set\n# CONFIG_A is not set\nCONFIG_C=\"x\"\nCONFIG_D=y\nCONFIG_E=250\n"
        );
        let config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x\"\nCONFIG_E=100\n";
        assert_eq!(disobeyed(&all, config), ["# CONFIG_A is not set", "CONFIG_E=250"]);
        assert!(wishes("CONFIG_=y").is_err());
        assert!(wishes("rubbish").is_err());
    }
}
