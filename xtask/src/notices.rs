//! The notices of everything linked into the binary; their licences ask that
//! they travel with it.

use crate::cargo::Cargo;
use crate::deny::foreign;
use crate::problems::Problems;
use cargo_metadata::Package;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Name, version, licence and licence texts of everything `root` links.
pub fn notices(cargo: &Cargo, root: &str) -> Result<String, Problems> {
    let metadata = cargo.metadata()?;
    let linked = cargo.compiled(&["--package", root, "--edges", "normal"])?;
    let mut packages = foreign(&metadata, &linked);
    packages.sort_by_key(|package| (&package.name, &package.version));
    let mut text = String::from("schedlab is built with these packages.\n");
    for package in packages {
        let licence = package.license.as_deref().unwrap_or("no licence expression");
        let _ = writeln!(text, "\n\n{} {} ({licence})\n", package.name, package.version);
        let notices = texts(package).map_err(|error| {
            Problems::one(format!("cannot read the licence of {}: {error}", package.name))
        })?;
        for notice in notices {
            text.push_str(&notice);
        }
    }
    Ok(text)
}

/// Licences lie beside what they are about: of C sources and fonts within a package, too.
const DEEPEST: usize = 4;

fn texts(package: &Package) -> std::io::Result<Vec<String>> {
    let Some(folder) = package.manifest_path.parent() else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    gather(folder.as_std_path(), DEEPEST, &mut paths)?;
    paths.sort();
    let mut texts = Vec::new();
    for path in &paths {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn gather(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_notice = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|stem| name.starts_with(stem));
        if path.is_dir() && depth > 0 {
            gather(&path, depth - 1, paths)?;
        } else if is_notice && path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_name_what_is_linked_and_not_what_only_tests_use() {
        let notices = notices(&Cargo::find().unwrap(), "model").unwrap();
        assert!(notices.contains("\nhdrhistogram 7."), "model links hdrhistogram");
        assert!(notices.contains("Permission is hereby granted"));
        assert!(!notices.contains("\nspdx 0."), "only xtask uses spdx");
    }

    #[test]
    fn notices_of_a_font_and_of_c_sources_within_packages_are_found() {
        let notices = notices(&Cargo::find().unwrap(), "figures").unwrap();
        assert!(notices.contains("Bitstream Vera"), "the font's licence");
        assert!(notices.contains("Fabrice Bellard"), "the engine's licence");
    }
}
