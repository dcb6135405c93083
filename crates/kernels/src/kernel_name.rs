//! How a person names a kernel.

use crate::SchedulerClass;
use artefacts::{Error, Result};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A kernel, or several, as written in an experiment or on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KernelName {
    /// Kernels of Debian: `debian:6.12`, `debian:6.1..6.18`, `debian:scx`.
    Debian(Selection),
    /// An image of this machine: `path:IMAGE[,modules=DIR][,config=FILE]`.
    Path {
        /// The bootable image.
        image: PathBuf,
        /// The directory that holds `kernel/` and `modules.builtin`.
        modules: Option<PathBuf>,
        /// The configuration it was built with.
        config: Option<PathBuf>,
    },
    /// The kernel this machine runs.
    Host,
    /// One that was built here, by its name.
    Build(String),
}

/// Which kernels of Debian.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// The newest of a series: `6.12`.
    Series(u32, u32),
    /// One version: of the package (`6.12.117-1~deb12u1`), of the release without
    /// its flavour (`6.12.117+deb12`), of the whole release, or of upstream (`6.12.117`).
    Version(String),
    /// The newest of each series between two, both included: `6.1..6.18`.
    Range((u32, u32), (u32, u32)),
    /// The newest of each series whose fair scheduler is of this class.
    Class(SchedulerClass),
}

impl KernelName {
    /// Whether it may stand for more than one kernel.
    pub fn is_plural(&self) -> bool {
        matches!(self, KernelName::Debian(Selection::Range(..) | Selection::Class(_)))
    }
}

impl Selection {
    /// Whether a kernel of these versions is meant; a class is not asked here.
    pub(crate) fn fits(&self, series: (u32, u32), version: &str, release: &str) -> bool {
        match self {
            Selection::Series(major, minor) => series == (*major, *minor),
            Selection::Range(first, last) => (*first..=*last).contains(&series),
            Selection::Class(_) => true,
            Selection::Version(text) => {
                let short = release.strip_suffix("-amd64").unwrap_or(release);
                let short = short.strip_suffix("-cloud").unwrap_or(short);
                text == version
                    || text == release
                    || text == short
                    || text == crate::debian_version::upstream(version)
            }
        }
    }
}

const REMEDY: &str = "write debian:6.12, debian:6.1..6.18, debian:cfs, debian:eevdf, debian:scx, \
                      an exact debian:VERSION, path:IMAGE[,modules=DIR][,config=FILE], host, or build:NAME";

impl FromStr for KernelName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse =
            |cause: &str| Error::usage(format!("cannot read the kernel `{text}`"), cause, REMEDY);
        if text == "host" {
            return Ok(KernelName::Host);
        }
        if let Some((first, last)) = text.split_once("..").filter(|_| !text.contains(':')) {
            return range(first, last).map(KernelName::Debian).map_err(refuse);
        }
        match text.split_once(':') {
            Some(("debian", rest)) => selection(rest).map(KernelName::Debian).map_err(refuse),
            Some(("path", rest)) => path(rest).map_err(refuse),
            Some(("build", name)) => {
                if is_build_name(name) {
                    Ok(KernelName::Build(name.to_owned()))
                } else {
                    Err(refuse("a build's name is letters, digits, `.`, `_` and `-`"))
                }
            }
            _ if series(text).is_some() => Err(Error::usage(
                format!("cannot read the kernel `{text}`"),
                "it does not say where the kernel comes from",
                format!("write debian:{text}"),
            )),
            _ => Err(refuse("it begins with none of debian:, path:, build:, and is not `host`")),
        }
    }
}

/// Whether a text may name a build: it becomes a directory's name.
pub fn is_build_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn selection(text: &str) -> Result<Selection, &'static str> {
    if let Some((first, last)) = text.split_once("..") {
        return range(first, last);
    }
    if let Some(class) = SchedulerClass::by_word(text) {
        return Ok(Selection::Class(class));
    }
    if let Some((major, minor)) = series(text) {
        return Ok(Selection::Series(major, minor));
    }
    let is_version = text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+~-".contains(c));
    if is_version {
        Ok(Selection::Version(text.to_owned()))
    } else {
        Err("what follows `debian:` is no series, version, range or class")
    }
}

fn range(first: &str, last: &str) -> Result<Selection, &'static str> {
    let (Some(first), Some(last)) = (series(first), series(last)) else {
        return Err("a range goes from one series to another, as in 6.1..6.18");
    };
    if first > last {
        return Err("the range runs backwards");
    }
    Ok(Selection::Range(first, last))
}

/// `6.12`, and nothing else.
fn series(text: &str) -> Option<(u32, u32)> {
    let number = |part: &str| {
        let is_plain = !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'));
        if is_plain { part.parse().ok() } else { None }
    };
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

fn path(text: &str) -> Result<KernelName, &'static str> {
    let mut parts = text.split(',');
    let image = parts.next().unwrap_or_default();
    if image.is_empty() {
        return Err("`path:` is followed by the image's path");
    }
    let (mut modules, mut config) = (None, None);
    for part in parts {
        let place = match part.split_once('=') {
            Some(("modules", value)) if !value.is_empty() => (&mut modules, value),
            Some(("config", value)) if !value.is_empty() => (&mut config, value),
            _ => return Err("after the image come only `,modules=DIR` and `,config=FILE`"),
        };
        if place.0.replace(PathBuf::from(place.1)).is_some() {
            return Err("the same thing is said twice");
        }
    }
    Ok(KernelName::Path { image: PathBuf::from(image), modules, config })
}

impl fmt::Display for KernelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelName::Debian(selection) => write!(formatter, "debian:{selection}"),
            KernelName::Path { image, modules, config } => {
                write!(formatter, "path:{}", image.display())?;
                if let Some(modules) = modules {
                    write!(formatter, ",modules={}", modules.display())?;
                }
                if let Some(config) = config {
                    write!(formatter, ",config={}", config.display())?;
                }
                Ok(())
            }
            KernelName::Host => formatter.write_str("host"),
            KernelName::Build(name) => write!(formatter, "build:{name}"),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::Series(major, minor) => write!(formatter, "{major}.{minor}"),
            Selection::Version(text) => formatter.write_str(text),
            Selection::Range(first, last) => {
                write!(formatter, "{}.{}..{}.{}", first.0, first.1, last.0, last.1)
            }
            Selection::Class(class) => formatter.write_str(class.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back_as_it_was_written() {
        for text in [
            "debian:6.12",
            "debian:6.12.117",
            "debian:6.12.117-1~deb12u1",
            "debian:6.12.117+deb12",
            "debian:6.1..6.18",
            "debian:cfs",
            "debian:eevdf",
            "debian:scx",
            "path:/boot/vmlinuz",
            "path:/boot/vmlinuz,modules=/lib/modules/6,config=/boot/config",
            "host",
            "build:mine-1.2",
        ] {
            let name: KernelName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
        }
        assert_eq!("6.1..6.18".parse::<KernelName>().unwrap().to_string(), "debian:6.1..6.18");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_way_on() {
        for text in [
            "",
            "6",
            "debian:",
            "debian:7",
            "debian:6.18..6.1",
            "debian:../x",
            "path:",
            "build:",
            "build:../x",
            "build:.x",
            "path:a,b=c",
            "path:a,modules=x,modules=y",
            "linux",
            "a..b",
            "debian:6.1..6.12.3",
        ] {
            let error = text.parse::<KernelName>().unwrap_err();
            assert_eq!(error.kind, artefacts::ErrorKind::Usage);
            assert!(!error.remedy.is_empty());
        }
        let error = "6.12".parse::<KernelName>().unwrap_err();
        assert_eq!(error.remedy, "write debian:6.12");
    }

    #[test]
    fn a_version_is_that_of_the_package_the_release_or_upstream() {
        let fits = |text: &str| {
            Selection::Version(text.to_owned()).fits(
                (6, 12),
                "6.12.117-1~deb12u1",
                "6.12.117+deb12-cloud-amd64",
            )
        };
        assert!(fits("6.12.117"));
        assert!(fits("6.12.117+deb12"));
        assert!(fits("6.12.117-1~deb12u1"));
        assert!(fits("6.12.117+deb12-cloud-amd64"));
        assert!(!fits("6.12.11"));
    }
}
