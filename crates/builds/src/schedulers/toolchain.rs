//! What a published scheduler is built with, and what of it this machine lacks.

use super::Schedulers;
use artefacts::programs::{Programs, command, output_of};
use artefacts::{Error, Result};
use std::path::{Path, PathBuf};

/// What to do about a Rust that is too old.
const NEWER_RUST: &str =
    "rustup update stable; or put the directory of a newer cargo first on PATH";
/// `cargo info` exists from this version on.
const LEAST_CARGO: (u32, u32) = (1, 82);
/// What the family asks for where a crate does not say it (1.1.4 of all that say it).
const LEAST_RUST: (u32, u32) = (1, 91);
/// Before it clang does not know the BPF instructions of `-mcpu=v4`; scx_cargo 1.1.4 refuses.
const LEAST_CLANG: (u32, u32) = (18, 0);
/// The newest clang that is looked for under a name with its version.
const NEWEST_CLANG: u32 = 23;
/// The clang that the fourteen were tried with.
const TRIED_CLANG: u32 = 19;
/// Schedulers that decide in user space use libseccomp (seccomp-sys 0.1.3).
const WITH_SECCOMP: [&str; 2] = ["scx_rustland", "scx_rlfifo"];

/// Something that is missing, and the package of Debian that brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What: a program or a library.
    pub what: String,
    /// The package.
    pub package: String,
}

/// What a build is done with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// What cargo says of itself.
    pub cargo_version: String,
    /// What rustc says of itself.
    pub rustc_version: String,
    /// What clang says of itself.
    pub clang_version: String,
    /// Why nothing can be linked statically, where that is so.
    pub not_static: Option<String>,
    pub(super) cargo: PathBuf,
    /// The directory of the toolchain itself, and where cargo and rustc lie in it: what rustup puts
    /// on PATH only chooses one.
    pub(super) home: (PathBuf, PathBuf),
    pub(super) clang: PathBuf,
    /// Where libseccomp.a lies.
    pub(super) seccomp: Option<PathBuf>,
}

/// Finds everything that any scheduler is built with.
///
/// # Errors
/// Everything that is missing, at once; a Rust that is too old.
pub(super) fn find(schedulers: &Schedulers, attempted: &str) -> Result<Toolchain> {
    let programs = &schedulers.programs;
    let mut lacks = Vec::new();
    for (program, package) in [("make", "make"), ("pkg-config", "pkg-config"), ("cc", "gcc")] {
        if programs.find(program).is_none() {
            lacks.push(Lack { what: program.to_owned(), package: package.to_owned() });
        }
    }
    let clang = clang(schedulers);
    if clang.is_none() {
        let chosen = schedulers.clang.as_ref().filter(|name| !name.is_empty());
        let named = chosen.map(|name| format!(" (BPF_CLANG is {name})"));
        let what = format!("clang {} or later{}", LEAST_CLANG.0, named.unwrap_or_default());
        lacks.push(Lack { what, package: format!("clang-{TRIED_CLANG}") });
    }
    let mut shared_only = Vec::new();
    for (library, package) in [("libelf", "libelf-dev"), ("libz", "zlib1g-dev")] {
        if library_file(programs, &format!("{library}.a")).is_some() {
            continue;
        }
        if library_file(programs, &format!("{library}.so")).is_some() {
            shared_only.push(format!("{library}.a"));
        } else if programs.find("cc").is_some() {
            lacks.push(Lack { what: library.to_owned(), package: package.to_owned() });
        } else {
            // Nobody can be asked where libraries are; the command may name one too many.
            lacks.push(Lack {
                what: format!("{library} (unknown without cc)"),
                package: package.to_owned(),
            });
        }
    }
    let (Some((clang, clang_version)), true) = (clang, lacks.is_empty()) else {
        return Err(missing(&lacks, attempted));
    };
    let cargo = cargo(schedulers, attempted)?;
    let rustc = programs.need("rustc", attempted, NEWER_RUST)?;
    let version = |program: &Path| {
        let told = output_of(command(program).arg("--version"), attempted)?;
        Ok(String::from_utf8_lossy(&told).trim().to_owned())
    };
    if library_file(programs, "libc.a").is_none() {
        shared_only.push("libc.a".to_owned());
    }
    Ok(Toolchain {
        cargo_version: version(&cargo)?,
        rustc_version: version(&rustc)?,
        clang_version,
        not_static: (!shared_only.is_empty())
            .then(|| format!("this machine has no {}", shared_only.join(", "))),
        seccomp: library_file(programs, "libseccomp.a"),
        home: home(&cargo, &rustc),
        cargo,
        clang,
    })
}

/// The cargo of the search path, which must know the command.
pub(super) fn cargo(schedulers: &Schedulers, attempted: &str) -> Result<PathBuf> {
    let remedy = "install Rust (rustup.rs), or put the directory of its cargo on PATH";
    let cargo = schedulers.programs.need("cargo", attempted, remedy)?;
    let told = output_of(command(&cargo).arg("--version"), attempted)?;
    let version = String::from_utf8_lossy(&told).trim().to_owned();
    if major_minor(&version).is_none_or(|found| found < LEAST_CARGO) {
        return Err(Error::unsupported(
            attempted,
            format!(
                "{} is {version}, and schedulers need {}.{} or later",
                cargo.display(),
                LEAST_CARGO.0,
                LEAST_CARGO.1
            ),
            NEWER_RUST,
        ));
    }
    Ok(cargo)
}

/// As rustc says, where cargo is there, too; else where the cargo of the search path is.
fn home(cargo: &Path, rustc: &Path) -> (PathBuf, PathBuf) {
    let told = output_of(command(rustc).args(["--print", "sysroot"]), "cannot ask rustc");
    let sysroot = told.map(|told| PathBuf::from(String::from_utf8_lossy(&told).trim()));
    match sysroot {
        Ok(sysroot) if sysroot.is_absolute() && sysroot.join("bin/cargo").is_file() => {
            (sysroot, PathBuf::from("bin"))
        }
        _ => (cargo.parent().unwrap_or(cargo).to_owned(), PathBuf::new()),
    }
}

impl Toolchain {
    /// Insists on what one scheduler needs beside the rest.
    pub(super) fn check(
        &self,
        programs: &Programs,
        name: &str,
        rust_version: Option<&str>,
        attempted: &str,
    ) -> Result<()> {
        let wanted = rust_version.and_then(|text| major_minor(&format!("rust {text}")));
        let wanted = wanted.unwrap_or(LEAST_RUST);
        for found in [&self.cargo_version, &self.rustc_version] {
            if major_minor(found).is_none_or(|version| version < wanted) {
                return Err(Error::unsupported(
                    attempted,
                    format!(
                        "it needs Rust {}.{} or later, and here is {found}",
                        wanted.0, wanted.1
                    ),
                    NEWER_RUST,
                ));
            }
        }
        let is_there = self.seccomp.is_some() || library_file(programs, "libseccomp.so").is_some();
        if WITH_SECCOMP.contains(&name) && !is_there {
            let lack = Lack { what: "libseccomp".to_owned(), package: "libseccomp-dev".to_owned() };
            return Err(missing(&[lack], attempted));
        }
        Ok(())
    }

    /// The schedulers that cannot be built for want of libseccomp.
    pub fn without_seccomp(&self) -> &'static [&'static str] {
        if self.seccomp.is_some() { &[] } else { &WITH_SECCOMP }
    }
}

fn missing(lacks: &[Lack], attempted: &str) -> Error {
    let what: Vec<&str> = lacks.iter().map(|lack| lack.what.as_str()).collect();
    let packages: Vec<&str> = lacks.iter().map(|lack| lack.package.as_str()).collect();
    Error::unsupported(
        attempted,
        format!("what schedulers are built with is missing: {}", what.join(", ")),
        format!("apt-get install {}", packages.join(" ")),
    )
}

/// The clang that was chosen, else the one that was tried, else the newest that is here.
fn clang(schedulers: &Schedulers) -> Option<(PathBuf, String)> {
    let versions = (LEAST_CLANG.0..=NEWEST_CLANG).rev().map(|version| format!("clang-{version}"));
    let chosen = schedulers.clang.clone().filter(|name| !name.is_empty());
    let names: Vec<String> = match chosen {
        Some(name) => vec![name],
        None => [format!("clang-{TRIED_CLANG}"), "clang".to_owned()]
            .into_iter()
            .chain(versions)
            .collect(),
    };
    names.iter().find_map(|name| {
        let path = match name.contains('/') {
            true => PathBuf::from(name),
            false => schedulers.programs.find(name)?,
        };
        let told = output_of(command(&path).arg("--version"), "cannot ask clang").ok()?;
        let first = String::from_utf8_lossy(&told).lines().next()?.trim().to_owned();
        (major_minor(&first)? >= LEAST_CLANG).then_some((path, first))
    })
}

/// A library's file, where the C compiler finds it.
fn library_file(programs: &Programs, name: &str) -> Option<PathBuf> {
    let mut compiler = command(&programs.find("cc")?);
    let told = output_of(compiler.arg(format!("-print-file-name={name}")), "cannot ask cc").ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&told).trim());
    // What it does not find it prints as it was asked.
    (path.is_absolute() && path.is_file()).then_some(path)
}

/// The first version in a program's words: `Debian clang version 19.1.7 (3~deb12u1)`.
fn major_minor(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.split(['.', '-', '+']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let cases = [
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", Some((1, 95))),
            ("rustc 1.100.0-nightly (59807616e 2026-04-14)", Some((1, 100))),
            ("Debian clang version 19.1.7 (3~deb12u1)", Some((19, 1))),
            ("Ubuntu clang version 18.1.3", Some((18, 1))),
            ("rubbish", None),
        ];
        for (text, expected) in cases {
            assert_eq!(major_minor(text), expected, "{text}");
        }
    }
}
