//! The notices of everything linked into the binary; their licences ask that
//! they travel with it.

use crate::deny::dependencies;
use cargo_metadata::{Metadata, Package};
use std::fmt::Write;
use std::fs;

/// Name, version, licence and licence texts of every dependency.
pub fn notices(metadata: &Metadata) -> std::io::Result<String> {
    let mut packages = dependencies(metadata);
    packages.sort_by_key(|package| (&package.name, &package.version));
    let mut text = String::from("schedlab is built with these packages.\n");
    for package in packages {
        let licence = package.license.as_deref().unwrap_or("no licence expression");
        let _ = writeln!(text, "\n\n{} {} ({licence})\n", package.name, package.version);
        for notice in texts(package)? {
            text.push_str(&notice);
        }
    }
    Ok(text)
}

fn texts(package: &Package) -> std::io::Result<Vec<String>> {
    let Some(folder) = package.manifest_path.parent() else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_notice = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|stem| name.starts_with(stem));
        if is_notice && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())).collect()
}
