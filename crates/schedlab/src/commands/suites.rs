//! The experiments that are ready: in `suites/` here, or installed with the binary.

use contract::{Error, ErrorKind, Result, nearest};
use std::path::{Path, PathBuf};

/// Their files: those here before those that are installed, each in order.
pub(super) fn files() -> Vec<PathBuf> {
    let mut directories = vec![PathBuf::from("suites")];
    if let Ok(binary) = std::env::current_exe()
        && let Some(prefix) = binary.parent().and_then(|directory| directory.parent())
    {
        directories.push(prefix.join("share/schedlab/suites"));
    }
    directories.iter().flat_map(|directory| files_in(directory)).collect()
}

/// The file of the suite of this name, that which is here before one that is installed.
pub(super) fn file_of(name: &str) -> Result<PathBuf> {
    files().into_iter().find(|file| stem(file) == Some(name)).ok_or_else(|| {
        Error::new(
            ErrorKind::Environment,
            format!("cannot find the suite `{name}`"),
            "it lies neither in `suites/` here nor where suites are installed with this binary",
            "run this from the top of the project, or `make install`",
        )
    })
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// What to do where there is no such file: the suite of that name, with or without its place and its
/// ending, or of one like it.
pub(super) fn remedy(missing: &Path) -> String {
    remedy_among(missing, &files())
}

fn remedy_among(missing: &Path, suites: &[PathBuf]) -> String {
    let name = missing.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let of_name = |wanted: &str| suites.iter().find(|suite| stem(suite) == Some(wanted));
    if let Some(suite) = of_name(name) {
        let suite = suite.display();
        return format!("{suite} is the suite of that name; `schedlab list suites` shows all");
    }
    let similar = nearest(name, suites.iter().filter_map(|suite| stem(suite)));
    match similar.and_then(of_name) {
        Some(suite) => {
            format!("did you mean {}? `schedlab list suites` shows all", suite.display())
        }
        None => "see `schedlab list suites` for ready ones".to_owned(),
    }
}

fn stem(suite: &Path) -> Option<&str> {
    suite.file_stem()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_found_by_its_name_with_and_without_its_place_and_ending() {
        let suites =
            ["suites/first-look.toml", "suites/io.toml", "/usr/share/schedlab/suites/io.toml"];
        let suites = suites.map(PathBuf::from);
        let told = |missing: &str| remedy_among(Path::new(missing), &suites);
        for missing in ["first-look", "first-look.toml", "suites/first-look", "other/first-look"] {
            let remedy = told(missing);
            assert!(remedy.starts_with("suites/first-look.toml is the suite"), "{remedy}");
        }
        assert!(told("io").starts_with("suites/io.toml is the suite"), "that which is here");
        assert!(told("suites/first-lok.toml").starts_with("did you mean suites/first-look.toml?"));
        for missing in ["mine.toml", "", "/", ".."] {
            assert_eq!(told(missing), "see `schedlab list suites` for ready ones", "{missing}");
        }
    }
}
