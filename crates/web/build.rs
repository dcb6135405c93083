//! Embeds `web/dist/index.html` and `web/dist-headless/figures.js` where somebody has built them
//! (`cargo xtask ui`), else a page that says how. Neither node nor a network is asked for here.

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
const SOURCES: [&str; 8] = [
    "index.html",
    "package-lock.json",
    "package.json",
    "sources.ts",
    "src",
    "tsconfig.json",
    "vite.config.ts",
    "vite.headless.config.ts",
];

/// What is embedded.
struct Bundle {
    /// Below `web/`.
    path: &'static str,
    /// Below the directory that cargo gives to build scripts.
    embedded: &'static str,
    /// Told to the compiler where it was built.
    flag: &'static str,
    /// What stands in its place where it was not.
    fallback: &'static str,
    /// What it means that it was not.
    lack: &'static str,
}

const BUNDLES: [Bundle; 2] = [
    Bundle {
        path: "dist/index.html",
        embedded: "page.html",
        flag: "has_bundle",
        fallback: include_str!("src/fallback.html"),
        lack: "reports have no figures",
    },
    Bundle {
        path: "dist-headless/figures.js",
        embedded: "figures.js",
        flag: "has_figures",
        fallback: "",
        lack: "there are no figures outside the page, and no slides",
    },
];

fn main() {
    let web = Path::new(WEB);
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    println!("cargo::rerun-if-env-changed={REQUIRED}");
    let is_required = env::var_os(REQUIRED).is_some();
    let complain = |problem: String| {
        let kind = if is_required { "error" } else { "warning" };
        println!("cargo::{kind}={problem}; {REMEDY}");
    };
    let digest = digest(web);
    if let Err(error) = &digest {
        complain(format!("cannot read the sources of the page: {error}"));
    }
    let mut sources = "none".to_owned();
    let output = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    for bundle in BUNDLES {
        let path = web.join(bundle.path);
        println!("cargo::rerun-if-changed={}", path.display());
        println!("cargo::rustc-check-cfg=cfg({})", bundle.flag);
        let text = match fs::read_to_string(&path) {
            Ok(text) => {
                println!("cargo::rustc-cfg={}", bundle.flag);
                match &digest {
                    Ok(digest) if text.contains(digest) => sources = digest[..SHORT].to_owned(),
                    _ => complain(format!("{} is not of these sources", path.display())),
                }
                text
            }
            Err(error) => {
                complain(format!("{}: {}: {error}", bundle.lack, path.display()));
                bundle.fallback.to_owned()
            }
        };
        if let Err(error) = fs::write(output.join(bundle.embedded), text) {
            println!("cargo::error=cannot write {}: {error}", bundle.embedded);
        }
    }
    println!("cargo::rustc-env=PAGE_SOURCES={sources}");
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
