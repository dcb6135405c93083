//! Levels of the factor: which scheduler, which version, with what arguments.

use crate::own::{ALGORITHMS, Choice};
use crate::published::{PREFIX, PUBLISHED};
use contract::{join_words, nearest, split_words};
use model::Level;
use std::path::PathBuf;

/// The kernel's own classes.
const FAIR: &str = "fair";
/// Before the name of one of ours.
const OWN: &str = "lab:";

/// A scheduler to be put in charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scheduler {
    /// The kernel's own.
    Fair,
    /// One of ours, with its parameters.
    Own(Choice),
    /// A program found by its name, of one version where one is named.
    Named { name: String, version: Option<String>, arguments: Vec<String> },
    /// A program file.
    File { path: PathBuf, arguments: Vec<String> },
}

impl Scheduler {
    /// Reads a level.
    ///
    /// # Errors
    /// Why it is none, in one sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == FAIR {
            return Ok(Self::Fair);
        }
        if let Some(own) = text.strip_prefix(OWN) {
            let told = |error: contract::Error| match error.remedy.as_str() {
                "" => error.cause,
                remedy => format!("{}; {remedy}", error.cause),
            };
            return Choice::parse(own).map(Self::Own).map_err(told);
        }
        let mut words = split_words(text)?.into_iter();
        let first = words.next().unwrap_or_default();
        let arguments: Vec<String> = words.collect();
        if first.starts_with('/') {
            return Ok(Self::File { path: PathBuf::from(first), arguments });
        }
        if first.contains('/') {
            return Err(format!(
                "`{first}` is a path that depends on where one is; write it whole"
            ));
        }
        let (name, version) = match first.split_once('@') {
            None => (first.as_str(), None),
            Some((name, version)) => (name, Some(version)),
        };
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(PREFIX) || name == PREFIX || !name.chars().all(is_word) {
            let meant =
                meant(name).map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            return Err(format!(
                "`{name}` is no scheduler: write fair, scx_NAME, lab:NAME or the path of a program{meant}"
            ));
        }
        let is_version = |v: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
            v.starts_with(|c: char| c.is_ascii_digit()) && v.chars().all(plain)
        };
        if let Some(version) = version.filter(|version| !is_version(version)) {
            return Err(format!("`{version}` is no version, such as 1.1.4"));
        }
        let (name, version) = (name.to_owned(), version.map(str::to_owned));
        Ok(Self::Named { name, version, arguments })
    }

    /// The one text that stands for it.
    pub(crate) fn level(&self) -> Level {
        let with = |program: &str, arguments: &[String]| {
            let words = [program].into_iter().chain(arguments.iter().map(String::as_str));
            join_words(words)
        };
        Level::canonical(match self {
            Self::Fair => FAIR.to_owned(),
            Self::Own(choice) => format!("{OWN}{choice}"),
            Self::Named { arguments, .. } => with(&self.program().unwrap_or_default(), arguments),
            Self::File { path, arguments } => with(&path.to_string_lossy(), arguments),
        })
    }

    /// Under what name its program is looked for, where it is looked for.
    pub(crate) fn program(&self) -> Option<String> {
        match self {
            Self::Named { name, version: None, .. } => Some(name.clone()),
            Self::Named { name, version: Some(version), .. } => Some(format!("{name}@{version}")),
            _ => None,
        }
    }
}

/// The scheduler whose name a wrong one resembles; `bfs` is one of ours.
pub fn meant(name: &str) -> Option<String> {
    let name = name.split_once('?').map_or(name, |(name, _)| name);
    let ours = ALGORITHMS.iter().map(|algorithm| format!("{OWN}{}", algorithm.id));
    let published = PUBLISHED.iter().map(|known| known.name.to_owned());
    let all: Vec<String> = ours.chain(published).chain([FAIR.to_owned()]).collect();
    let is_bare = |known: &&String| known.strip_prefix(OWN) == Some(name);
    let bare = all.iter().find(is_bare).map(String::as_str);
    bare.or_else(|| nearest(name, all.iter().map(String::as_str))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_one_form_and_arguments_keep_their_words() {
        for (text, level) in [
            (" fair ", "fair"),
            ("lab:fifo", "lab:fifo"),
            ("scx_rusty  --slice-us 20000", "scx_rusty --slice-us 20000"),
            ("scx_rusty@1.1.4 --greedy-threshold=0", "scx_rusty@1.1.4 --greedy-threshold=0"),
            ("scx_layered '[{\"name\": 1}]'", "scx_layered '[{\"name\": 1}]'"),
            ("/opt/my-scheduler -v \"a b\"", "/opt/my-scheduler -v 'a b'"),
        ] {
            let level_of = |text: &str| Scheduler::parse(text).unwrap().level().to_string();
            assert_eq!(level_of(text), level);
            assert_eq!(level_of(level), level, "the canonical form stands for itself");
        }
    }

    #[test]
    fn what_is_no_scheduler_says_why() {
        for (text, why) in [
            ("rusty", "`rusty` is no scheduler"),
            ("rusty", "did you mean `scx_rusty`?"),
            ("bfs", "did you mean `lab:bfs`?"),
            ("bfs?rr_interval=10ms", "did you mean `lab:bfs`?"),
            ("fiar", "did you mean `fair`?"),
            ("scx_", "`scx_` is no scheduler"),
            ("scx_Rusty", "`scx_Rusty` is no scheduler"),
            ("./scx_mine", "write it whole"),
            ("scx_rusty@new", "`new` is no version"),
            ("scx_rusty 'open", "a quote is not closed"),
            ("", "there is no word"),
            ("lab:nothing", "there is no algorithm `nothing`"),
            ("lab:fifo?run_limits=1s", "did you mean `run_limit`?"),
        ] {
            let error = Scheduler::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
