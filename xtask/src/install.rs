//! `cargo xtask install`: the static binary with its man pages, completions, suites, licences and
//! bill of materials, where packagers and shells look for them.

use crate::cargo::{Cargo, succeed};
use crate::elf;
use crate::notices::notices;
use crate::problems::{CommandResult, Problems};
use crate::sbom::{self, sbom};
use artefacts::replace_by;
use cargo_metadata::Message;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where to.
#[derive(clap::Args)]
pub struct Destination {
    /// Directory that bin/ and share/ lie in when the program runs
    #[arg(long, default_value = "/usr/local")]
    prefix: PathBuf,
    /// Directory put before the prefix, for packagers
    #[arg(long, default_value = "")]
    destdir: OsString,
}

const DOCUMENTS: &[&str] = &[
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "LICENSE-GPL-2.0",
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
];

/// Builds and installs.
pub fn install(cargo: &Cargo, destination: &Destination) -> CommandResult {
    let binary = build(cargo, DISTRIBUTED)?;
    let manual = cargo.command(["run", "--quiet", "--locked", "--package", "manual", "--"]);
    place_package(cargo, &binary, manual, destination)
}

/// Installs what tests were built with, below the target directory, and looks whether it answers.
pub fn smoke(cargo: &Cargo) -> CommandResult {
    let destdir = cargo.root().join("target/tests/installed");
    let _ = fs::remove_dir_all(&destdir);
    let prefix = PathBuf::from("/usr");
    let destination = Destination { prefix, destdir: destdir.clone().into() };
    let manual = Command::new(cargo.built("manual"));
    place_package(cargo, &cargo.built("schedlab"), manual, &destination)?;
    let mut installed = Command::new(destdir.join("usr/bin/schedlab"));
    succeed(installed.args(["list", "suites"]).stdin(Stdio::null()))?;
    let bill = destdir.join("usr/share/doc/schedlab").join(sbom::FILE);
    fs::metadata(&bill).map_err(|error| cannot("find", &bill, &error))?;
    fs::remove_dir_all(&destdir).map_err(|error| cannot("remove", &destdir, &error))
}

/// Places a build of the product, with what `manual` writes of it.
fn place_package(
    cargo: &Cargo,
    binary: &Path,
    mut manual: Command,
    destination: &Destination,
) -> CommandResult {
    let is_static = fs::read(binary).ok().and_then(|bytes| elf::is_static(&bytes));
    if is_static != Some(true) {
        return Err(Problems::one(format!(
            "{} is not a static program: RUSTFLAGS or CARGO_BUILD_TARGET in the environment override .cargo/config.toml; unset them",
            binary.display()
        )));
    }
    let share = cargo.root().join("target/share");
    let _ = fs::remove_dir_all(&share);
    succeed(manual.arg("share").arg(&share).current_dir(cargo.root()))?;
    let root = destination.below();
    place(binary, &root.join("bin/schedlab"), 0o755)?;
    let agent = "schedlab-agent";
    place(&binary.with_file_name(agent), &root.join("bin").join(agent), 0o755)?;
    place_all(&share, &root.join("share"))?;
    place_all(&cargo.root().join("suites"), &root.join("share/schedlab/suites"))?;
    let documents = root.join("share/doc/schedlab");
    for name in DOCUMENTS {
        place(&cargo.root().join(name), &documents.join(name), 0o644)?;
    }
    let bill = sbom(cargo)?;
    let broken = sbom::check(&bill).into_iter();
    let broken = broken.map(|what| format!("the bill of materials cannot be used: {what}"));
    Problems::outcome(broken.collect())?;
    for (name, text) in [("THIRD-PARTY", notices(cargo, "schedlab")?), (sbom::FILE, bill)] {
        let path = documents.join(name);
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
    }
    println!("installed below {}", root.display());
    Ok(())
}

impl Destination {
    fn below(&self) -> PathBuf {
        if self.destdir.is_empty() {
            return self.prefix.clone();
        }
        Path::new(&self.destdir).join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix))
    }
}

/// The profile of what is installed.
const DISTRIBUTED: &str = "dist";
/// The profile of what is measured and demonstrated.
pub const RELEASE: &str = "release";

/// Builds the product; cargo says where it lies. The agent lies beside schedlab, where schedlab
/// looks for it.
pub fn build(cargo: &Cargo, profile: &str) -> Result<PathBuf, Problems> {
    let mut command = cargo.command([
        "build",
        "--profile",
        profile,
        "--locked",
        "--package",
        "schedlab",
        "--package",
        "schedlab-agent",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let failed = |why: String| Problems::one(format!("cannot build schedlab: {why}"));
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
    let output = child.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
    let mut binary = None;
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Ok(Message::CompilerArtifact(artifact)) = message
            && artifact.target.name == "schedlab"
        {
            binary = artifact.executable.or(binary);
        }
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    binary
        .filter(|_| status.success())
        .map(PathBuf::from)
        .ok_or_else(|| failed(format!("cargo ended with {status}")))
}

fn place_all(from: &Path, to: &Path) -> CommandResult {
    let entries = fs::read_dir(from).map_err(|error| cannot("list", from, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| cannot("list", from, &error))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            place_all(&path, &target)?;
        } else {
            place(&path, &target, 0o644)?;
        }
    }
    Ok(())
}

/// Copies beside the target and renames, so that a running program is not overwritten, nor what a link
/// leads to.
fn place(from: &Path, to: &Path, mode: u32) -> CommandResult {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
    }
    let mut source = fs::File::open(from).map_err(|error| cannot("copy", from, &error))?;
    let placed = replace_by(to, |file| {
        io::copy(&mut source, file)?;
        file.set_permissions(fs::Permissions::from_mode(mode))
    });
    placed.map_err(|error| cannot("install", to, &error))
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> Problems {
    Problems::one(format!("cannot {action} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destdir_goes_before_the_prefix() {
        let below = |prefix: &str, destdir: &str| {
            Destination { prefix: prefix.into(), destdir: destdir.into() }.below()
        };
        assert_eq!(below("/usr", ""), Path::new("/usr"));
        assert_eq!(below("/usr", "/tmp/package"), Path::new("/tmp/package/usr"));
        assert_eq!(below("opt", "/tmp/package"), Path::new("/tmp/package/opt"));
    }

    #[test]
    fn a_tree_is_installed_with_its_folders_and_modes() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir_all(from.join("man/man1")).unwrap();
        fs::write(from.join("man/man1/a.1"), "page").unwrap();
        let to = folder.path().join("to");
        place_all(&from, &to).unwrap();
        let placed = to.join("man/man1/a.1");
        assert_eq!(fs::read_to_string(&placed).unwrap(), "page");
        assert_eq!(fs::metadata(&placed).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(place_all(&folder.path().join("nowhere"), &to).is_err());
    }
}
