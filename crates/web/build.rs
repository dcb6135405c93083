//! Embeds `web/dist/index.html` where somebody has built it (`cargo xtask ui`), else a page that
//! says how. Neither node nor a network is asked for here.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Set where a page without its script must not leave the house: releases and CI.
const REQUIRED: &str = "SCHEDLAB_REQUIRE_UI";

fn main() {
    let bundle = Path::new("../../web/dist/index.html");
    println!("cargo::rerun-if-changed={}", bundle.display());
    println!("cargo::rerun-if-env-changed={REQUIRED}");
    println!("cargo::rustc-check-cfg=cfg(has_bundle)");
    let output = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let page = match fs::read_to_string(bundle) {
        Ok(page) => {
            println!("cargo::rustc-cfg=has_bundle");
            page
        }
        Err(error) => {
            let missing = format!("{}: {error}; build it: cargo xtask ui", bundle.display());
            if env::var_os(REQUIRED).is_some() {
                println!("cargo::error={missing}");
                return;
            }
            println!("cargo::warning=the page of reports is not embedded: {missing}");
            include_str!("src/fallback.html").to_owned()
        }
    };
    if let Err(error) = fs::write(output.join("page.html"), page) {
        println!("cargo::error=cannot write the page: {error}");
    }
}
