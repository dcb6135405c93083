//! Embeds `web/dist/index.html` where somebody has built it (`cargo xtask ui`), else a page that
//! says how. Neither node nor a network is asked for here.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Set where a missing or stale page must not leave the house: releases and CI.
const REQUIRED: &str = "SCHEDLAB_REQUIRE_UI";
const WEB: &str = "../../web";
/// Digits of a digest that tell two pages apart.
const SHORT: usize = 12;
const REMEDY: &str = "build it: cargo xtask ui";
/// What the page is made from: web/sources.ts names the same.
const SOURCES: [&str; 7] = [
    "index.html",
    "package-lock.json",
    "package.json",
    "sources.ts",
    "src",
    "tsconfig.json",
    "vite.config.ts",
];

fn main() {
    let web = Path::new(WEB);
    let bundle = web.join("dist/index.html");
    println!("cargo::rerun-if-changed={}", bundle.display());
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    println!("cargo::rerun-if-env-changed={REQUIRED}");
    println!("cargo::rustc-check-cfg=cfg(has_bundle)");
    let is_required = env::var_os(REQUIRED).is_some();
    let complain = |problem: String| {
        let kind = if is_required { "error" } else { "warning" };
        println!("cargo::{kind}={problem}; {REMEDY}");
    };
    let mut sources = "none".to_owned();
    let page = match fs::read_to_string(&bundle) {
        Ok(page) => {
            println!("cargo::rustc-cfg=has_bundle");
            match digest(web) {
                Ok(digest) if page.contains(&digest) => sources = digest[..SHORT].to_owned(),
                Ok(_) => complain(format!("{} is not of these sources", bundle.display())),
                Err(error) => complain(format!("cannot read the sources of the page: {error}")),
            }
            page
        }
        Err(error) => {
            complain(format!("reports have no figures: {}: {error}", bundle.display()));
            include_str!("src/fallback.html").to_owned()
        }
    };
    println!("cargo::rustc-env=PAGE_SOURCES={sources}");
    let output = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    if let Err(error) = fs::write(output.join("page.html"), page) {
        println!("cargo::error=cannot write the page: {error}");
    }
}

/// SHA-256 over path, length and content of every source, sorted by path.
fn digest(web: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        gather(web, Path::new(source), &mut files)?;
    }
    // By the whole text, as the other side does; paths alone compare part by part.
    files.sort_by_key(|file| file.display().to_string());
    let mut hash = Sha256::new();
    for file in files {
        let content = fs::read(web.join(&file))?;
        hash.update(format!("{}\0{}\0", file.display(), content.len()));
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn gather(web: &Path, source: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let path = web.join(source);
    if !path.is_dir() {
        files.push(source.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        gather(web, &source.join(entry?.file_name()), files)?;
    }
    Ok(())
}
