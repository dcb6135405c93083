//! A kernel from source: a small configuration of fragments, everything built in.

use crate::fragment::{Wish, disobeyed, merged, text_of, wishes};
use artefacts::commit_entry::put;
use artefacts::lock::CacheLock;
use artefacts::programs::{Programs, command, last_lines, output_of};
use artefacts::{Error, ErrorKind, Result, digest, remove_tree};
use build_user::{BuildUser, BuildVariables, Views, take_file};
use kernels::cache_entry::{
    CONFIG, FORMAT, IMAGE, Stored, directory_name, read_stored, write_stored,
};
use kernels::is_build_name;
use kernels::release_of_image;

use kernels::{FetchProgress, Kernel, Kernels};
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
/// Said of a kernel that root builds, with why there is no build user.
const AS_ROOT: &str = "is built as root, with the Makefiles, scripts and tools of its tree: build a tree \
                       of somebody you do not trust as another user";
/// What make leaves below its work directory.
const BUILT_IMAGE: &str = "arch/x86/boot/bzImage";
const BUILT_CONFIG: &str = ".config";
/// Everybody reads what is taken over.
const TAKEN_MODE: u32 = 0o644;
/// The fragments, below a directory that only they are in.
const FRAGMENTS: &str = "fragments.config";
/// git reads no tree of another user unless it is told to, and a kernel's release has what git says. The
/// build user runs whatever the tree's configuration names; it runs the tree's Makefiles, too.
const GIT_READS_ANY_TREE: [(&str, &str); 3] = [
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.directory"),
    ("GIT_CONFIG_VALUE_0", "*"),
];

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

/// Builds a kernel and puts it into the cache. Where root builds, a build user does, who gets these
/// variables (`build_user::BuildUser`); where there is none, that is told with the reason.
///
/// # Errors
/// When a program is missing, a fragment's line takes no effect, or the build fails.
pub fn build(
    kernels: &Kernels,
    build: &Build,
    variables: &BuildVariables,
    progress: &mut dyn FnMut(FetchProgress),
) -> Result<Kernel> {
    Builder { kernels, variables }.build(build, progress)
}

/// Builds for one cache.
struct Builder<'k> {
    kernels: &'k Kernels,
    variables: &'k BuildVariables,
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
        let found = BuildUser::find(self.kernels.programs(), self.variables);
        let user = found.unwrap_or_else(|why| {
            progress(FetchProgress::Note(format!("{name} {AS_ROOT} ({why})")));
            None
        });
        let draft = self.kernels.incoming(&name);
        let outcome = self.build_in(&draft, build, (&wanted, user.as_ref()), progress);
        let outcome = outcome.and_then(|()| put(&draft, &target, &lock));
        if let Err(error) = outcome {
            // The error that matters is the first one; a later build sweeps again.
            let _ = remove_tree(&draft);
            return Err(error);
        }
        read_stored(&target).ok_or_else(|| Error::environment(attempted, "it cannot be read back"))
    }

    fn build_in(
        &self,
        draft: &Path,
        build: &Build,
        (wanted, user): (&[Wish], Option<&BuildUser>),
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<()> {
        let name = format!("build:{}", build.name);
        let [work, given, log] = ["work", "given", "build.log"].map(|name| draft.join(name));
        for directory in [&work, &given] {
            fs::create_dir_all(directory).map_err(|error| Error::file("make", directory, error))?;
        }
        let fragments = given.join(FRAGMENTS);
        fs::write(&fragments, merged(wanted))
            .map_err(|error| Error::file("write", &fragments, error))?;
        let (tree, origin) = self.source(&build.source, draft, progress)?;
        let place = BuildPlace::of(user, [&tree, &work, &given])
            .map_err(|error| Error::file("build in", &work, error))?;
        let origin = origin.unwrap_or_else(|| self.describe(&tree, &place));
        let make =
            Make { programs: self.kernels.programs(), place: &place, log: &log, name: &name };
        let setting = format!("KCONFIG_ALLCONFIG={}", place.given.join(FRAGMENTS).display());
        make.run(&[setting, "allnoconfig".to_owned()], progress)?;
        let take = |made: &str, to: &Path| take_file(&work, Path::new(made), to, TAKEN_MODE);
        let (image, config) = (draft.join(IMAGE), draft.join(CONFIG));
        take(BUILT_CONFIG, &config)?;
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
        take(BUILT_IMAGE, &image)?;
        take(BUILT_CONFIG, &config)?;
        let mut rest = vec![work, given];
        rest.extend(Some(draft.join("source")).filter(|path| path.exists()));
        for path in rest {
            remove_tree(&path).map_err(|error| Error::file("remove", &path, error))?;
        }
        fs::remove_file(&log).map_err(|error| Error::file("remove", &log, error))?;
        self.describe_in(draft, name, origin)
    }

    /// Writes the page of a kernel whose image lies in the draft.
    fn describe_in(&self, draft: &Path, name: String, origin: String) -> Result<()> {
        let image = draft.join(IMAGE);
        let release = release_of_image(&image)?;
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
                digest: digest::of_file(&image)?.0,
                modules_digest: None,
                packages: Vec::new(),
                origin: Some(origin),
            },
        )
    }

    /// The source tree, and what it is called where git is not asked.
    fn source(
        &self,
        source: &KernelSource,
        draft: &Path,
        progress: &mut dyn FnMut(FetchProgress),
    ) -> Result<(PathBuf, Option<String>)> {
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
                Ok((tree, None))
            }
            KernelSource::Debian(major, minor) => {
                let package = format!("linux-source-{major}.{minor}");
                let (tree, origin) = self.debian_source(&package, draft, progress)?;
                Ok((tree, Some(origin)))
            }
        }
    }

    /// What git calls a tree, or only its path. It runs programs that the tree's configuration names.
    fn describe(&self, tree: &Path, place: &BuildPlace) -> String {
        let described = self.kernels.programs().find("git").and_then(|git| {
            let mut git = place.command(&git).ok()?;
            git.arg("-C").arg(&place.tree).args(["describe", "--always", "--dirty", "--tags"]);
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

/// Where programs of the tree run: the caller's own directories, or those that a build user sees in
/// place of them.
struct BuildPlace {
    tree: PathBuf,
    /// What make writes into, outside of the tree.
    work: PathBuf,
    given: PathBuf,
    views: Option<Views>,
}

impl BuildPlace {
    /// Nothing but the work directory becomes a build user's.
    fn of(user: Option<&BuildUser>, [tree, work, given]: [&Path; 3]) -> std::io::Result<Self> {
        let Some(user) = user else {
            let [tree, work, given] = [tree, work, given].map(Path::to_owned);
            return Ok(Self { tree, work, given, views: None });
        };
        user.give(work)?;
        let mut views = Views::new(user)?;
        let tree = views.show("tree", tree)?;
        let work = views.show("work", work)?;
        let given = views.show("given", given)?;
        Ok(Self { tree, work, given, views: Some(views) })
    }

    fn command(&self, program: &Path) -> std::io::Result<Command> {
        let Some(views) = &self.views else { return Ok(command(program)) };
        let mut command = views.command(program, &self.work)?;
        command.envs(GIT_READS_ANY_TREE);
        Ok(command)
    }
}

/// Runs make in a work directory outside of the tree. What it says goes into the log, which is the
/// caller's.
struct Make<'a> {
    programs: &'a Programs,
    place: &'a BuildPlace,
    log: &'a Path,
    name: &'a str,
}

impl Make<'_> {
    fn run(&self, arguments: &[String], progress: &mut dyn FnMut(FetchProgress)) -> Result<()> {
        let attempted = format!("cannot build {}", self.name);
        let make = self.programs.need("make", &attempted, "apt-get install make")?;
        let fail = |error: std::io::Error| Error::file("write", self.log, error);
        let log = File::create(self.log).map_err(fail)?;
        let errors = log.try_clone().map_err(fail)?;
        let lost = |error: std::io::Error| {
            Error::environment(&attempted, format!("cannot run make: {error}"))
        };
        let mut command = self.command(&make).map_err(lost)?;
        command.args(arguments).stdout(Stdio::from(log)).stderr(Stdio::from(errors));
        let mut child = command.spawn().map_err(lost)?;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(Duration::from_millis(200)),
                Err(error) => return Err(Error::environment(attempted, error)),
            }
            let step = tail(self.log).lines().last().unwrap_or_default().trim().to_owned();
            progress(FetchProgress::Building { kernel: self.name.to_owned(), step });
        };
        if status.success() {
            return Ok(());
        }
        let told = tail(self.log);
        let reason = told.lines().find(|line| line.contains("error:") || line.contains("***"));
        let cause = reason.map_or_else(|| last_lines(&told), |line| line.trim().to_owned());
        let remedy = if told.contains("libelf") || told.contains("gelf.h") {
            "apt-get install libelf-dev"
        } else if told.contains("mrproper") {
            "the tree was built in before: run make mrproper in it, or name a clean one"
        } else if told.contains("Permission denied") && self.place.views.is_some() {
            "a user without privileges builds it, who has to be able to read it: chmod -R a+rX the tree"
        } else {
            ""
        };
        Err(Error::new(ErrorKind::Environment, attempted, format!("make: {cause}"), remedy))
    }

    /// The same source and configuration give the same bytes: neither user nor time is in them.
    fn command(&self, make: &Path) -> std::io::Result<Command> {
        let mut command = self.place.command(make)?;
        command
            .arg("-C")
            .arg(&self.place.tree)
            .arg(format!("O={}", self.place.work.display()))
            .arg("ARCH=x86_64")
            .env("KBUILD_BUILD_USER", "schedlab")
            .env("KBUILD_BUILD_HOST", "schedlab")
            .env("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC");
        Ok(command)
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
    use rustix::process::geteuid;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

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
        let none = BuildVariables::default();
        let error = build(&kernels, &wanted, &none, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        for package in ["flex", "bison", "bc", "dwarves", "libelf-dev"] {
            assert!(error.remedy.contains(package), "{error}");
        }
    }

    /// A directory that everybody reads, with a program of each name that is needed; make is a script.
    fn tools(make: &str) -> tempfile::TempDir {
        let tools = tempfile::tempdir().unwrap();
        let open = || fs::Permissions::from_mode(0o755);
        fs::set_permissions(tools.path(), open()).unwrap();
        for (program, _) in NEEDED {
            let path = tools.path().join(program);
            fs::write(&path, if *program == "make" { make } else { "" }).unwrap();
            fs::set_permissions(&path, open()).unwrap();
        }
        tools
    }

    /// Obeys every line, and copies the image of the tree; says who it is.
    const MAKE: &str = r##"#!/bin/sh
set -e
tree=$2 work=${3#O=}
case $5 in
KCONFIG_ALLCONFIG=*)
    { cat "${5#KCONFIG_ALLCONFIG=}"; echo "# made by $(id -u)"; } > "$work/.config" ;;
*)
    mkdir -p "$work/arch/x86/boot"
    if test -e "$tree/hostile"; then
        ln -s /etc/shadow "$work/arch/x86/boot/bzImage"
    else
        cp "$tree/image" "$work/arch/x86/boot/bzImage"
    fi ;;
esac
"##;

    #[test]
    fn a_build_user_runs_the_makefiles_of_a_kernel_and_the_caller_takes_it_over() {
        const SYSTEM: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
        let none = BuildVariables::default();
        let Ok(Some(_)) = BuildUser::find(&Programs::new(SYSTEM), &none) else {
            testing::skip("builds have a user of their own where root has privileges to give up");
            return;
        };
        // The cache is closed to others, a tree of sources is not.
        let (cache, tree, tools) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tools(MAKE));
        fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(tree.path().join("arch/x86")).unwrap();
        fs::write(tree.path().join("Kconfig"), "").unwrap();
        // A boot header whose release stands at 0x200 and 0x100 (Documentation/arch/x86/boot.rst).
        let mut image = vec![0; 0x400];
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&[0x00, 0x01]);
        image[0x300..0x30f].copy_from_slice(b"6.12.0-schedlab");
        fs::write(tree.path().join("image"), &image).unwrap();
        let path = format!("{}:{SYSTEM}", tools.path().display());
        let kernels = Kernels::open(cache.path().to_owned(), &path);
        let of = |name: &str| Build {
            name: name.to_owned(),
            source: KernelSource::Directory(tree.path().to_owned()),
            fragments: Vec::new(),
            jobs: 1,
        };
        let mut notes = Vec::new();
        let built = build(&kernels, &of("mine"), &none, &mut |progress| {
            if let FetchProgress::Note(note) = progress {
                notes.push(note);
            }
        });
        assert_eq!(built.unwrap().release, "6.12.0-schedlab");
        assert_eq!(notes.iter().find(|note| note.contains("as root")), None);
        let stored = kernels.directory().join(directory_name("build:mine"));
        let config = fs::read_to_string(stored.join(CONFIG)).unwrap();
        assert!(config.contains("# made by ") && !config.contains("# made by 0\n"), "{config}");
        assert_eq!(fs::read(stored.join(IMAGE)).unwrap(), image);
        assert_eq!(fs::metadata(stored.join(IMAGE)).unwrap().uid(), 0);
        for left in ["work", "given", "build.log"] {
            assert!(!stored.join(left).exists(), "{left}");
        }
        // A link in place of the image leads root nowhere.
        fs::write(tree.path().join("hostile"), "").unwrap();
        let error = build(&kernels, &of("other"), &none, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("take over"), "{error}");
        assert!(!kernels.directory().join(directory_name("build:other")).exists());
    }

    #[test]
    fn root_is_told_that_the_makefiles_of_a_kernel_run_as_root_before_any_does() {
        let (cache, tools) = (tempfile::tempdir().unwrap(), tools(""));
        // What is needed is found, and nothing of it is started: the tree is none. What a build user
        // needs is not.
        let kernels = Kernels::open(cache.path().to_owned(), &tools.path().display().to_string());
        let wanted = Build {
            name: "mine".to_owned(),
            source: KernelSource::Directory(PathBuf::from("/none")),
            fragments: Vec::new(),
            jobs: 1,
        };
        let mut notes = Vec::new();
        let error = build(&kernels, &wanted, &BuildVariables::default(), &mut |progress| {
            if let FetchProgress::Note(note) = progress {
                notes.push(note);
            }
        })
        .unwrap_err();
        assert!(error.cause.contains("no source tree"), "{error}");
        let is_told = notes.iter().any(|note| note.starts_with("build:mine is built as root, "));
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
