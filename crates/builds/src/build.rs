//! A kernel from source: a small configuration of fragments, everything built in.

use crate::fragment::{Wish, disobeyed, merged, text_of, wishes};
use artefacts::commit_entry::put;
use artefacts::lock::CacheLock;
use artefacts::programs::{Programs, command, last_lines, output_of};
use artefacts::{Error, ErrorKind, Result, digest};
use kernels::cache_entry::{
    CONFIG, FORMAT, IMAGE, Stored, directory_name, read_stored, write_stored,
};
use kernels::is_build_name;
use kernels::release_of_image;

use kernels::{FetchProgress, Kernel, Kernels};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Programs a build needs, and the Debian package of each.
const NEEDED: &[(&str, &str)] = &[
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
];
/// Below it kernels that one builds lack usable BTF of kfuncs (measured).
const LEAST_PAHOLE: (u32, u32) = (1, 26);
/// End of a log that is read for the reason of a failure.
const LOG_TAIL: u64 = 64 << 10;
/// Said of a kernel that root builds: unlike schedulers and services, kernels have no build user.
const AS_ROOT: &str = "is built as root: there is no build user for kernels, so the Makefiles, scripts \
                       and tools of its tree run with root's rights; build a tree of somebody you do \
                       not trust as another user";

/// What to build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// It will be called `build:NAME`.
    pub name: String,
    /// Where the source is.
    pub source: KernelSource,
    /// Fragments beside the base: `sched-ext`, `schedstats`, or files.
    pub fragments: Vec<String>,
    /// Jobs at once.
    pub jobs: usize,
}

/// Where the source of a kernel is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelSource {
    /// A source tree of this machine. It is not written to.
    Directory(PathBuf),
    /// Debian's patched source of a series, `linux-source-6.12`.
    Debian(u32, u32),
}

/// Builds a kernel and puts it into the cache.
///
/// # Errors
/// When a program is missing, a fragment's line takes no effect, or the build fails.
pub fn build(
    kernels: &Kernels,
    build: &Build,
    progress: &mut dyn FnMut(FetchProgress),
) -> Result<Kernel> {
    Builder { kernels }.build(build, progress)
}

/// Builds for one cache.
struct Builder<'k> {
    kernels: &'k Kernels,
}

impl Builder<'_> {
    fn build(&self, build: &Build, progress: &mut dyn FnMut(FetchProgress)) -> Result<Kernel> {
        let name = format!("build:{}", build.name);
        let attempted = format!("cannot build {name}");
        if !is_build_name(&build.name) {
            let cause = "a build's name is letters, digits, `.`, `_` and `-`";
            return Err(Error::usage(attempted, cause, ""));
        }
        let mut wanted = Vec::new();
        for fragment in std::iter::once("base").chain(build.fragments.iter().map(String::as_str)) {
            let read = wishes(&text_of(fragment)?);
            wanted.extend(
                read.map_err(|cause| Error::usage(&attempted, format!("{fragment}, {cause}"), ""))?,
            );
        }
        check_programs(self.kernels.programs(), &wanted, &attempted)?;
        let lock = CacheLock::acquire(self.kernels.cache(), &mut |note| {
            progress(FetchProgress::Note(note))
        })?;
        self.kernels.sweep(&lock)?;
        let target = self.kernels.directory().join(directory_name(&name));
        if read_stored(&target).is_some() {
            let remedy = format!("schedlab kernels remove {name}, or choose another name");
            return Err(Error::usage(attempted, "there is one of that name", remedy));
        }
        if geteuid().is_root() {
            progress(FetchProgress::Note(format!("{name} {AS_ROOT}")));
        }
        let draft = self.kernels.incoming(&name);
        let outcome = self.build_in(&draft, build, &wanted, progress);
        let outcome = outcome.and_then(|()| put(&draft, &target, &lock));
        if let Err(error) = outcome {
            // The error that matters is the first one; a later build sweeps again.
            let _ = fs::remove_dir_all(&draft);
            return Err(error);
        }
        read_stored(&target).ok_or_else(|| Error::environment(attempted, "it cannot be read back"))
    }

    fn build_in(
        &self,
        draft: &Path,
        build: &Build,
        wanted: &[Wish],
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<()> {
        let name = format!("build:{}", build.name);
        let work = draft.join("work");
        fs::create_dir_all(&work).map_err(|error| Error::file("make", &work, error))?;
        let (tree, origin) = self.source(&build.source, draft, progress)?;
        let make =
            Make { programs: self.kernels.programs(), tree: &tree, work: &work, name: &name };
        let fragments = work.join("fragments.config");
        fs::write(&fragments, merged(wanted))
            .map_err(|error| Error::file("write", &fragments, error))?;
        let mut setting = format!("KCONFIG_ALLCONFIG={}", fragments.display());
        make.run(&[std::mem::take(&mut setting), "allnoconfig".to_owned()], progress)?;
        let config = work.join(".config");
        let text =
            fs::read_to_string(&config).map_err(|error| Error::file("read", &config, error))?;
        let broken = disobeyed(wanted, &text);
        if !broken.is_empty() {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("cannot configure {name}"),
                format!("this source does not obey {}", broken.join(", ")),
                "it lacks these options or what they depend on: choose another version or other fragments",
            ));
        }
        make.run(&[format!("-j{}", build.jobs.max(1)), "bzImage".to_owned()], progress)?;
        let image = work.join("arch/x86/boot/bzImage");
        let release = release_of_image(&image)?;
        let copy = |from: &Path, to: &str| {
            let to = draft.join(to);
            fs::copy(from, &to).map(drop).map_err(|error| Error::file("copy", from, error))
        };
        copy(&image, IMAGE)?;
        copy(&config, CONFIG)?;
        let mut rest = vec![work];
        rest.extend(Some(draft.join("source")).filter(|path| path.exists()));
        for path in rest {
            fs::remove_dir_all(&path).map_err(|error| Error::file("remove", &path, error))?;
        }
        let version = release.parse().map_err(|error| {
            Error::environment(format!("cannot name the release of {name}"), error)
        })?;
        write_stored(
            draft,
            &Stored {
                format: FORMAT.to_owned(),
                name,
                version,
                release,
                digest: digest::of_file(&draft.join(IMAGE))?.0,
                modules_digest: None,
                packages: Vec::new(),
                origin: Some(origin),
            },
        )
    }

    /// The source tree, and what it is called.
    fn source(
        &self,
        source: &KernelSource,
        draft: &Path,
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<(PathBuf, String)> {
        match source {
            KernelSource::Directory(tree) => {
                if !tree.join("Kconfig").is_file() || !tree.join("arch/x86").is_dir() {
                    return Err(Error::usage(
                        format!("cannot build {}", tree.display()),
                        "it is no source tree of Linux (no Kconfig, no arch/x86)",
                        "name an unpacked tree, or debian:6.12 for Debian's",
                    ));
                }
                let tree =
                    fs::canonicalize(tree).map_err(|error| Error::file("find", tree, error))?;
                let origin = self.describe(&tree);
                Ok((tree, origin))
            }
            KernelSource::Debian(major, minor) => {
                self.debian_source(&format!("linux-source-{major}.{minor}"), draft, progress)
            }
        }
    }

    /// What git calls a tree, or only its path.
    fn describe(&self, tree: &Path) -> String {
        let described = self.kernels.programs().find("git").and_then(|git| {
            let mut git = command(&git);
            git.arg("-C").arg(tree).args(["describe", "--always", "--dirty", "--tags"]);
            output_of(&mut git, "cannot describe the source").ok()
        });
        let described = described.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        let path = tree.display();
        described.map_or_else(|| path.to_string(), |described| format!("{path} at {described}"))
    }

    fn debian_source(
        &self,
        package: &str,
        draft: &Path,
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<(PathBuf, String)> {
        let attempted = format!("cannot fetch {package}");
        progress(FetchProgress::Note(format!("downloading {package}")));
        let into = draft.join("source");
        fs::create_dir_all(&into).map_err(|error| Error::file("make", &into, error))?;
        self.kernels.download_package(package, &into, &attempted)?;
        let found = fs::read_dir(&into).into_iter().flatten().flatten().next();
        let Some(file) = found.map(|entry| entry.path()) else {
            return Err(Error::environment(attempted, "it did not arrive"));
        };
        let (sha256, _) = digest::of_file(&file)?;
        let label = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let unpacker =
            self.kernels.programs().need("dpkg-deb", &attempted, "name a source tree instead")?;
        let tar = self.kernels.programs().need("tar", &attempted, "apt-get install tar")?;
        self.kernels.programs().need("xz", &attempted, "apt-get install xz-utils")?;
        progress(FetchProgress::Note(format!("unpacking {package}")));
        output_of(command(&unpacker).arg("-x").arg(&file).arg(&into), &attempted)?;
        fs::remove_file(&file).map_err(|error| Error::file("remove", &file, error))?;
        let archive = into.join("usr/src").join(format!("{package}.tar.xz"));
        output_of(command(&tar).arg("-xf").arg(&archive).arg("-C").arg(&into), &attempted)?;
        fs::remove_file(&archive).map_err(|error| Error::file("remove", &archive, error))?;
        Ok((into.join(package), format!("{label} sha256:{sha256}")))
    }
}

/// Everything that is missing, at once.
fn check_programs(programs: &Programs, wanted: &[Wish], attempted: &str) -> Result<()> {
    let mut packages: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, _)| programs.find(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    if !merged(wanted).contains("CONFIG_DEBUG_INFO_BTF=y\n") {
        return missing(&packages, attempted);
    }
    match pahole_version(programs) {
        None => packages.push("dwarves"),
        Some(found) if found < LEAST_PAHOLE => {
            return Err(Error::unsupported(
                attempted,
                format!(
                    "pahole {}.{} is too old: kernels built with it lack usable BTF of kfuncs",
                    found.0, found.1
                ),
                "install dwarves 1.26 or later (Debian 13 has it), or leave out the fragment sched-ext",
            ));
        }
        Some(_) => {}
    }
    missing(&packages, attempted)
}

fn missing(packages: &[&str], attempted: &str) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(
        attempted,
        "programs that a kernel is built with are missing",
        format!("apt-get install {} libelf-dev", packages.join(" ")),
    ))
}

/// `v1.27` as numbers.
fn pahole_version(programs: &Programs) -> Option<(u32, u32)> {
    let mut pahole = command(&programs.find("pahole")?);
    let told = output_of(pahole.arg("--version"), "cannot ask pahole").ok()?;
    version_of(&String::from_utf8_lossy(&told))
}

fn version_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().strip_prefix('v')?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Runs make in a work directory outside of the tree.
struct Make<'a> {
    programs: &'a Programs,
    tree: &'a Path,
    work: &'a Path,
    name: &'a str,
}

impl Make<'_> {
    fn run(&self, arguments: &[String], progress: &mut dyn FnMut(FetchProgress)) -> Result<()> {
        let attempted = format!("cannot build {}", self.name);
        let make = self.programs.need("make", &attempted, "apt-get install make")?;
        let log_path = self.work.join("build.log");
        let fail = |error: std::io::Error| Error::file("write", &log_path, error);
        let log = File::create(&log_path).map_err(fail)?;
        let errors = log.try_clone().map_err(fail)?;
        let mut child = self
            .command(&make)
            .args(arguments)
            .stdout(Stdio::from(log))
            .stderr(Stdio::from(errors))
            .spawn()
            .map_err(|error| Error::environment(&attempted, format!("cannot run make: {error}")))?;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(Duration::from_millis(200)),
                Err(error) => return Err(Error::environment(attempted, error)),
            }
            let step = tail(&log_path).lines().last().unwrap_or_default().trim().to_owned();
            progress(FetchProgress::Building { kernel: self.name.to_owned(), step });
        };
        if status.success() {
            return Ok(());
        }
        let told = tail(&log_path);
        let reason = told.lines().find(|line| line.contains("error:") || line.contains("***"));
        let cause = reason.map_or_else(|| last_lines(&told), |line| line.trim().to_owned());
        let remedy = if told.contains("libelf") || told.contains("gelf.h") {
            "apt-get install libelf-dev"
        } else if told.contains("mrproper") {
            "the tree was built in before: run make mrproper in it, or name a clean one"
        } else {
            ""
        };
        Err(Error::new(ErrorKind::Environment, attempted, format!("make: {cause}"), remedy))
    }

    /// The same source and configuration give the same bytes: neither user nor time is in them.
    fn command(&self, make: &Path) -> Command {
        let mut command = command(make);
        command
            .arg("-C")
            .arg(self.tree)
            .arg(format!("O={}", self.work.display()))
            .arg("ARCH=x86_64")
            .env("KBUILD_BUILD_USER", "schedlab")
            .env("KBUILD_BUILD_HOST", "schedlab")
            .env("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC");
        command
    }
}

/// The end of a log.
fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LOG_TAIL)))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn every_missing_program_is_named_at_once() {
        let cache = tempfile::tempdir().unwrap();
        let kernels = Kernels::open(cache.path().to_owned(), "/none");
        let wanted = Build {
            name: "mine".to_owned(),
            source: KernelSource::Directory(PathBuf::from("/none")),
            fragments: vec!["sched-ext".to_owned()],
            jobs: 1,
        };
        let error = build(&kernels, &wanted, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        for package in ["flex", "bison", "bc", "dwarves", "libelf-dev"] {
            assert!(error.remedy.contains(package), "{error}");
        }
    }

    #[test]
    fn root_is_told_that_the_makefiles_of_a_kernel_run_as_root_before_any_does() {
        let (cache, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // What is needed is found, and nothing of it is started: the tree is none.
        for (program, _) in NEEDED {
            let program = tools.path().join(program);
            fs::write(&program, "").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let kernels = Kernels::open(cache.path().to_owned(), &tools.path().display().to_string());
        let wanted = Build {
            name: "mine".to_owned(),
            source: KernelSource::Directory(PathBuf::from("/none")),
            fragments: Vec::new(),
            jobs: 1,
        };
        let mut notes = Vec::new();
        let error = build(&kernels, &wanted, &mut |progress| {
            if let FetchProgress::Note(note) = progress {
                notes.push(note);
            }
        })
        .unwrap_err();
        assert!(error.cause.contains("no source tree"), "{error}");
        let is_told = notes.iter().any(|note| note.starts_with("build:mine is built as root: "));
        assert_eq!(is_told, geteuid().is_root(), "{notes:?}");
    }

    #[test]
    fn versions_of_pahole_compare_by_number() {
        assert_eq!(version_of("v1.24\n"), Some((1, 24)));
        assert!(version_of("v1.24").unwrap() < LEAST_PAHOLE);
        assert!(version_of("v1.100").unwrap() > LEAST_PAHOLE);
        assert_eq!(version_of("rubbish"), None);
    }
}
