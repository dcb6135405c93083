//! How published schedulers are named: `scx_rusty`, or `scx_rusty@1.1.4`.

use artefacts::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Longer than any name or version of the family; a name becomes a file's.
const LONGEST: usize = 64;

/// A published scheduler, in its newest version or in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedulerName {
    /// The crate and its program: `scx_rusty`.
    pub name: String,
    /// Exactly this version.
    pub version: Option<String>,
}

impl FromStr for SchedulerName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let refuse = |cause: &str| {
            Error::usage(
                format!("cannot read the scheduler `{text}`"),
                cause,
                "write scx_rusty, or scx_rusty@1.1.4; see `schedlab schedulers list`",
            )
        };
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let own = name.strip_prefix("scx_").unwrap_or_default();
        if own.is_empty() || name.len() > LONGEST || !name.bytes().all(is_plain) {
            return Err(refuse(if name.starts_with("lab:") {
                "it is one of ours, built in: there is nothing to fetch or to remove"
            } else {
                "a published scheduler is called scx_ and letters, digits or `_`; one of ours lab:NAME"
            }));
        }
        if version.is_some_and(|version| !is_version(version)) {
            return Err(refuse("a version is three numbers, as 1.1.4"));
        }
        Ok(Self { name: name.to_owned(), version: version.map(str::to_owned) })
    }
}

impl fmt::Display for SchedulerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(formatter, "{}@{version}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

/// Whether a text is a version as the registry knows them: `1.1.4`, `2.0.0-rc.1`.
pub(crate) fn is_version(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
    text.len() <= LONGEST && text.bytes().all(is_plain) && numbers(text).is_some()
}

/// Which of two versions is newer. What is said behind the three numbers comes before the
/// version itself, as in semantic versioning.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let rest = |text: &str| text.find('-').map(|start| text[start..].to_owned());
    numbers(a).cmp(&numbers(b)).then_with(|| match (rest(a), rest(b)) {
        (None, None) => a.cmp(b),
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => a.cmp(&b),
    })
}

fn numbers(text: &str) -> Option<[u64; 3]> {
    let core = text.split(['-', '+']).next()?;
    let mut parts = core.split('.').map(str::parse);
    let three = [parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?];
    parts.next().is_none().then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_as_they_were_written() {
        for text in ["scx_rusty", "scx_p2dq@1.1.4", "scx_x@2.0.0-rc.1"] {
            assert_eq!(text.parse::<SchedulerName>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_could_be_a_path_or_an_option_is_no_name() {
        let wrong = [
            "",
            "scx_",
            "rusty",
            "scx_../x",
            "scx_a/b",
            "--root",
            "scx_A",
            "scx_a b",
            "scx_a@",
            "scx_a@1",
            "scx_a@1.1",
            "scx_a@1.1.1.1",
            "scx_a@=1.1.1",
            "scx_a@1.1.1/..",
            "scx_a@-1.1.1",
            "scx_a\n",
        ];
        for text in wrong {
            assert!(text.parse::<SchedulerName>().is_err(), "{text}");
        }
        assert!(format!("scx_{}", "a".repeat(LONGEST)).parse::<SchedulerName>().is_err());
    }

    #[test]
    fn versions_compare_by_number_and_candidates_come_first() {
        let sorted = ["1.0.9", "1.0.10", "1.2.0-rc.1", "1.2.0", "10.0.0"];
        for pair in sorted.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
    }
}
