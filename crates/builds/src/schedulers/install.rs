//! A scheduler from the registry: built aside, tried, and put into the cache in one step.

use super::toolchain::Toolchain;
use super::{
    BIN, FORMAT, INCOMING, STORED, Scheduler, SchedulerOffer, SchedulerProgress, Schedulers,
    Stored, cargo_output,
};
use artefacts::lock::CacheLock;
use artefacts::programs::{command, last_lines, output_of};
use artefacts::{Error, ErrorKind, Result, digest, remove_tree};
use build_user::{BuildUser, Views, take_file};
use guest_images::linkage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CapabilitiesSecureBits, set_capabilities_secure_bits};
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Below the place of all schedulers: what builds of earlier versions shared, each able to change what
/// the next was made of.
const SHARED: &str = "build-user";
/// Below a draft: where cargo installs to.
const ROOT: &str = "root";
/// Below a draft: what cargo has of a build user's own, its home and what it builds in.
const WORK: &str = "work";
/// Below a draft: the program that a build user left, where that user can only read it.
const TAKEN: &str = "taken";
/// Below a draft: where a build user puts the program without its symbols.
const STRIPPED: &str = "stripped";
/// Named, so that flags for static programs do not reach what cargo runs on this machine.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// A first build fills 945 MB of the build directory, all fourteen in one 3.5 GB (measured); the home
/// of a build user's cargo comes on top.
const LEAST_FREE: u64 = 2 << 30;
/// Telling its version takes a program some milliseconds.
const TRIAL: Duration = Duration::from_secs(20);
/// What was killed may write for an instant: one second of tries to remove it.
const REMOVALS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);
/// What of the caller's environment would change a build: it must not depend on the caller. A build
/// user has none of it.
const NOT_INHERITED: [&str; 32] = [
    "BPF_BASE_CFLAGS",
    "BPF_CFLAGS",
    "BPF_EXTRA_CFLAGS_POST_INCL",
    "BPF_EXTRA_CFLAGS_PRE_INCL",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_INSTALL_ROOT",
    "CARGO_MAKEFLAGS",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS",
    "CARGO_PROFILE_RELEASE_DEBUG",
    "CARGO_PROFILE_RELEASE_LTO",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL",
    "CARGO_PROFILE_RELEASE_PANIC",
    "CARGO_PROFILE_RELEASE_STRIP",
    "CARGO_TARGET_DIR",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
    "CARGO_TERM_QUIET",
    "CARGO_TERM_VERBOSE",
    "CFLAGS",
    "LDFLAGS",
    "LIBSECCOMP_LIB_PATH",
    "MAKEFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "SCX_ALLOW_OLD_CLANG",
];

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linking {
    Static,
    Dynamic,
}

/// Why a build gave no program that can be used.
enum Failure {
    /// Another way of linking may do.
    Linking(Error),
    Other(Error),
}

impl Failure {
    fn into_error(self) -> Error {
        match self {
            Self::Linking(error) | Self::Other(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Builds one version and puts it into the cache, unless it is there.
pub(super) fn install(
    schedulers: &Schedulers,
    offer: &SchedulerOffer,
    is_to_stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(SchedulerProgress),
) -> Result<Scheduler> {
    let id = offer.exact().to_string();
    let attempted = format!("cannot build {id}");
    let lock = schedulers.lock(&mut |note| progress(SchedulerProgress::Note(note)))?;
    sweep(schedulers, &lock)?;
    if let Ok(scheduler) = schedulers.resolve(&offer.exact()) {
        progress(SchedulerProgress::Cached { scheduler: id });
        return Ok(scheduler);
    }
    let toolchain = super::toolchain::find(schedulers, &attempted)?;
    let rust_version = offer.rust_version.as_deref();
    toolchain.check(&schedulers.programs, &offer.name, rust_version, &attempted)?;
    let user = BuildUser::find(&schedulers.programs, &schedulers.variables).unwrap_or_else(|why| {
        let what = "is built as root, with what all its crates run while they are built";
        progress(SchedulerProgress::Note(format!("{id} {what}: {why}")));
        None
    });
    check_space(&schedulers.place, user.is_some(), LEAST_FREE, &attempted)?;
    let draft = schedulers.place.join(format!("{INCOMING}{id}"));
    let log = schedulers.log_of(&id);
    for directory in [Some(draft.as_path()), log.parent()].into_iter().flatten() {
        fs::create_dir_all(directory).map_err(|error| Error::file("make", directory, error))?;
    }
    let job = Job {
        schedulers,
        offer,
        toolchain: &toolchain,
        draft: &draft,
        log: &log,
        id: &id,
        user: user.as_ref(),
        is_to_stop,
    };
    let outcome = job.build(progress).and_then(|page| job.put(page, &lock));
    if outcome.is_err() {
        // The error that matters is the first one; a later fetch sweeps again.
        let _ = remove(&draft);
    }
    let scheduler = outcome?;
    progress(SchedulerProgress::Fetched { scheduler: id });
    Ok(scheduler)
}

/// Removes what interrupted builds and earlier versions left, while the cache is locked.
fn sweep(schedulers: &Schedulers, _: &CacheLock) -> Result<()> {
    // Nothing reads it: that of another user, who cannot be helped here, does no harm.
    let _ = remove_tree(&schedulers.place.join(SHARED));
    for directory in [schedulers.place.clone(), schedulers.place.join(BIN)] {
        artefacts::commit_entry::sweep(&directory, INCOMING)?;
    }
    Ok(())
}

/// Removes a directory, where it is there.
fn remove(directory: &Path) -> Result<()> {
    let mut tries = 0;
    loop {
        match remove_tree(directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < REMOVALS => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            removed => return removed.map_err(|error| Error::file("remove", directory, error)),
        }
    }
}

fn check_space(place: &Path, is_by_user: bool, needed: u64, attempted: &str) -> Result<()> {
    let Ok(space) = rustix::fs::statvfs(place) else { return Ok(()) };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    // What the caller built before is used again: a second scheduler needs little. A build user
    // begins with nothing.
    if free >= needed || (!is_by_user && place.join("target").is_dir()) {
        return Ok(());
    }
    let cause = format!(
        "a build from nothing needs {} MB, and {} has {} MB free",
        needed / 1_000_000,
        place.display(),
        free / 1_000_000
    );
    Err(Error::new(
        ErrorKind::Environment,
        attempted,
        cause,
        "make room, or choose a cache elsewhere with --cache DIR",
    ))
}

/// One build of one version.
struct Job<'a> {
    schedulers: &'a Schedulers,
    offer: &'a SchedulerOffer,
    toolchain: &'a Toolchain,
    draft: &'a Path,
    log: &'a Path,
    id: &'a str,
    /// Who builds instead of root.
    user: Option<&'a BuildUser>,
    is_to_stop: &'a dyn Fn() -> bool,
}

impl Job<'_> {
    fn attempted(&self) -> String {
        format!("cannot build {}", self.id)
    }

    /// Builds, static first, and gives the page of what lies in the draft.
    fn build(&self, progress: &mut dyn FnMut(SchedulerProgress)) -> Result<Scheduler> {
        let start = Instant::now();
        let is_static = match &self.toolchain.not_static {
            Some(why) => {
                progress(SchedulerProgress::Note(self.dynamic_note(why)));
                false
            }
            None => match self.attempt(Linking::Static, progress) {
                Ok(()) => true,
                Err(Failure::Linking(error)) => {
                    progress(SchedulerProgress::Note(self.dynamic_note(&error.cause)));
                    false
                }
                Err(Failure::Other(error)) => return Err(error),
            },
        };
        if !is_static {
            self.attempt(Linking::Dynamic, progress).map_err(Failure::into_error)?;
        }
        let program = self.program();
        if let Some(strip) = self.schedulers.programs.find("strip") {
            self.strip(&strip)?;
            try_out(&program, self.user)
                .map_err(|cause| Error::environment(self.attempted(), cause))?;
        }
        Ok(Scheduler {
            name: self.offer.name.clone(),
            version: self.offer.version.clone(),
            digest: digest::of_file(&program)?.0,
            license: self.offer.license.clone(),
            is_static,
            built_with: vec![
                self.toolchain.cargo_version.clone(),
                self.toolchain.rustc_version.clone(),
                self.toolchain.clang_version.clone(),
            ],
            build_seconds: start.elapsed().as_secs(),
            program,
        })
    }

    fn dynamic_note(&self, why: &str) -> String {
        format!("{} is linked with this machine's libraries, which guests get too: {why}", self.id)
    }

    /// Where the program is: as cargo put it there, or taken over from a build user.
    fn program(&self) -> PathBuf {
        match self.user {
            Some(_) => self.draft.join(TAKEN).join(&self.offer.name),
            None => self.draft.join(ROOT).join("bin").join(&self.offer.name),
        }
    }

    /// Takes the program over from a build user, to where that user sees it and cannot change it.
    fn take(&self, user_has: &Path, inside: &Path) -> Result<()> {
        let taken = self.draft.join(TAKEN);
        // Whatever the umask is.
        let open = || fs::set_permissions(&taken, Permissions::from_mode(0o755));
        let made = fs::create_dir_all(&taken).and_then(|()| open());
        made.map_err(|error| Error::file("make", &taken, error))?;
        take_file(user_has, inside, &self.program(), 0o755)
    }

    /// Takes the symbols out of the program. It is made of what nobody here has read, so a build user
    /// does that, too, and leaves another file.
    fn strip(&self, strip: &Path) -> Result<()> {
        let program = self.program();
        let Some(user) = self.user else {
            return output_of(command(strip).arg(&program), &self.attempted()).map(drop);
        };
        let fail = |error: std::io::Error| Error::file("strip", &program, error);
        let name = Path::new(&self.offer.name);
        let stripped = self.draft.join(STRIPPED);
        user.give(&stripped).map_err(fail)?;
        let mut views = Views::new(user).map_err(fail)?;
        let tools = views.show("tools", strip.parent().unwrap_or(strip)).map_err(fail)?;
        let from = views.show("program", &self.draft.join(TAKEN)).map_err(fail)?;
        let to = views.show("stripped", &stripped).map_err(fail)?;
        let tool = tools.join(strip.file_name().unwrap_or_default());
        let mut run = views.command(&tool, Path::new("/")).map_err(fail)?;
        let output =
            run.arg("-o").arg(to.join(name)).arg(from.join(name)).output().map_err(fail)?;
        if !output.status.success() {
            let cause = last_lines(&String::from_utf8_lossy(&output.stderr));
            return Err(Error::environment(self.attempted(), format!("strip: {cause}")));
        }
        self.take(&stripped, name)
    }

    /// Builds once, and tries what came out.
    fn attempt(
        &self,
        linking: Linking,
        progress: &mut dyn FnMut(SchedulerProgress),
    ) -> Result<(), Failure> {
        let fail = |error: std::io::Error| Error::file("write", self.log, error);
        let mut log = File::create(self.log).map_err(fail)?;
        // What the user sees is there until cargo has ended.
        let (mut cargo, _views) = self.cargo(linking)?;
        let mut child = cargo.stderr(Stdio::piped()).spawn().map_err(|error| {
            Error::environment(self.attempted(), format!("cannot run cargo: {error}"))
        })?;
        let told = child.stderr.take();
        let followed = told.map_or(Ok(()), |told| {
            let told = Stoppable { from: told, is_to_stop: self.is_to_stop };
            cargo_output::follow(told, &mut log, &mut |step| {
                progress(SchedulerProgress::Building {
                    scheduler: self.id.to_owned(),
                    done: step.done,
                    total: step.total,
                    what: step.what,
                });
            })
        });
        if (self.is_to_stop)() {
            // What cargo started writes only to the build directory, which holds no result.
            let signal = if self.user.is_some() { Signal::KILL } else { Signal::TERM };
            let _ = kill_process_group(Pid::from_child(&child), signal);
            let _ = child.wait();
            return Err(Error::environment(self.attempted(), "it was interrupted").into());
        }
        let status = child.wait().map_err(|error| Error::environment(self.attempted(), error))?;
        followed.map_err(fail)?;
        if !status.success() {
            return Err(self.failed(linking));
        }
        if self.user.is_some() {
            let inside = Path::new("bin").join(&self.offer.name);
            self.take(&self.draft.join(ROOT), &inside)?;
        }
        let is_static = try_out(&self.program(), self.user)
            .map_err(|cause| Failure::Linking(Error::environment(self.attempted(), cause)))?;
        if linking == Linking::Static && !is_static {
            let cause = "cargo linked it with shared libraries all the same";
            return Err(Failure::Linking(Error::environment(self.attempted(), cause)));
        }
        Ok(())
    }

    /// Why cargo failed, from its log.
    fn failed(&self, linking: Linking) -> Failure {
        let told = fs::read_to_string(self.log).unwrap_or_default();
        let remedy = format!("all that cargo said is in {}", self.log.display());
        let line = told.lines().find(|line| line.trim_start().starts_with("error"));
        let cause = line.map_or_else(|| last_lines(&told), |line| line.trim().to_owned());
        let cause = format!("cargo: {cause}");
        let error = Error::new(ErrorKind::Environment, self.attempted(), cause, remedy);
        let is_linking = ["linking with", "could not find native static library"]
            .iter()
            .any(|words| told.contains(words));
        if linking == Linking::Static && is_linking {
            Failure::Linking(error)
        } else {
            Failure::Other(error)
        }
    }

    /// cargo, the directory that it installs to and the one that it builds in: the caller's, or what
    /// the build user has instead, as that user sees it.
    fn places(&self, target: &str) -> Result<(Command, PathBuf, PathBuf, Option<Views>)> {
        let root = self.draft.join(ROOT);
        let Some(user) = self.user else {
            let target = self.schedulers.place.join(target);
            let mut cargo = command(&self.toolchain.cargo);
            // No project's configuration lies above it.
            cargo.current_dir("/");
            return Ok((cargo, root, target, None));
        };
        let fail = |error: std::io::Error| Error::file("build in", self.draft, error);
        let work = self.draft.join(WORK);
        for directory in [&root, &work] {
            // Another attempt ran what is not trusted: it may have left anything.
            remove(directory)?;
            user.give(directory).map_err(fail)?;
        }
        let mut views = Views::new(user).map_err(fail)?;
        let root = views.show("root", &root).map_err(fail)?;
        let work = views.show("work", &work).map_err(fail)?;
        let (home, inside) = &self.toolchain.home;
        let bin = views.show("toolchain", home).map_err(fail)?.join(inside);
        let mut cargo = views.command(&bin.join("cargo"), Path::new("/")).map_err(fail)?;
        let path = format!("{}:{}", bin.display(), self.schedulers.programs.search_path());
        cargo.env("PATH", path).env("CARGO_HOME", work.join("cargo"));
        Ok((cargo, root, work.join(target), Some(views)))
    }

    /// `cargo install`, whose outcome depends on the machine and not on the caller.
    fn cargo(&self, linking: Linking) -> Result<(Command, Option<Views>)> {
        let (flag, target, seccomp) = match linking {
            Linking::Static => ("+crt-static", "target", "static"),
            // A directory of its own: build scripts do not notice that the other was static.
            Linking::Dynamic => ("-crt-static", "target-dynamic", "dylib"),
        };
        let (mut cargo, root, target, views) = self.places(target)?;
        cargo
            .args(["install", "--locked", "--force", "--no-track", "--target", TARGET, "--root"])
            .arg(root)
            .arg("--target-dir")
            .arg(target)
            .args(["--version", &format!("={}", self.offer.version)])
            .args(["--bin", &self.offer.name, &self.offer.name])
            // Of its own, so that all of it ends when we say so.
            .process_group(0)
            .stdout(Stdio::null());
        if self.user.is_none() {
            for name in NOT_INHERITED {
                cargo.env_remove(name);
            }
        }
        cargo
            .env("RUSTFLAGS", format!("-C target-feature={flag}"))
            .env("BPF_CLANG", &self.toolchain.clang)
            .env("LIBSECCOMP_LIB_TYPE", seccomp)
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "100");
        if let Some(directory) = self.toolchain.seccomp.as_deref().and_then(Path::parent) {
            cargo.env("LIBSECCOMP_LIB_PATH", directory);
        }
        Ok((cargo, views))
    }

    /// Gives the draft its names: the page, then the program, from when on it counts.
    fn put(&self, page: Scheduler, lock: &CacheLock) -> Result<Scheduler> {
        let program = self.schedulers.program_of(self.id);
        let target = self.schedulers.page_of(self.id);
        let fail = |path: &Path, error| Error::file("put into the cache", path, error);
        let bin = program.parent().unwrap_or(&program);
        fs::create_dir_all(bin).map_err(|error| fail(bin, error))?;
        let waiting = bin.join(format!("{INCOMING}{}", self.id));
        fs::rename(&page.program, &waiting).map_err(|error| fail(&program, error))?;
        let stored = Stored { format: FORMAT.to_owned(), scheduler: page };
        let mut text = serde_json::to_vec_pretty(&stored)
            .map_err(|error| fail(&target, std::io::Error::from(error)))?;
        text.push(b'\n');
        let own = self.draft.join(STORED);
        fs::write(&own, text).map_err(|error| fail(&own, error))?;
        for name in [ROOT, WORK, TAKEN, STRIPPED] {
            remove(&self.draft.join(name))?;
        }
        let file = File::open(&waiting).and_then(|file| file.sync_all());
        file.map_err(|error| fail(&program, error))?;
        artefacts::commit_entry::put(self.draft, &target, lock)?;
        fs::rename(&waiting, &program).map_err(|error| fail(&program, error))?;
        File::open(bin).and_then(|bin| bin.sync_all()).map_err(|error| fail(bin, error))?;
        self.schedulers
            .read(self.id)
            .ok_or_else(|| Error::environment(self.attempted(), "it cannot be read back"))
    }
}

/// What cargo says, as long as somebody wants to hear it.
struct Stoppable<'a> {
    from: ChildStderr,
    is_to_stop: &'a dyn Fn() -> bool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let pause = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if (self.is_to_stop)() {
                return Err(std::io::ErrorKind::ConnectionAborted.into());
            }
            match poll(&mut [PollFd::new(&self.from, PollFlags::IN)], Some(&pause)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.from.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether a program can be used, and whether it is static. It runs as the build user, or at least
/// without the capabilities of root: some schedulers know no `--version`, and take over the machine
/// at once.
fn try_out(program: &Path, user: Option<&BuildUser>) -> Result<bool, String> {
    let bytes = fs::read(program).map_err(|error| {
        format!("cargo gave no program that can be read: {}: {error}", program.display())
    })?;
    let found = linkage(&bytes)?;
    let is_static = found.interpreter.is_none();
    if is_static && !found.needed.is_empty() {
        return Err(format!("it is static, and wants {} all the same", found.needed.join(", ")));
    }
    // What the user sees is there until the trial has ended.
    let (mut trial, _views) = match user {
        Some(user) => trial_of(user, program).map_err(|error| format!("cannot try it: {error}"))?,
        None => (trial_without_capabilities(program), None),
    };
    trial.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    // Where the privileges cannot be dropped, the program is not tried.
    let Ok(mut child) = trial.spawn() else { return Ok(is_static) };
    let signal_of = |status: ExitStatus| match user {
        Some(_) => Views::signal_of(status),
        None => status.signal(),
    };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => match signal_of(status) {
                Some(signal) => {
                    return Err(format!("it ends by signal {signal} when it is started"));
                }
                None => return Ok(is_static),
            },
            Ok(None) if start.elapsed() < TRIAL => std::thread::sleep(Duration::from_millis(10)),
            // It runs: that is all that was asked.
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(is_static);
            }
        }
    }
}

/// A program, started by a build user who sees its directory.
fn trial_of(user: &BuildUser, program: &Path) -> std::io::Result<(Command, Option<Views>)> {
    let mut views = Views::new(user)?;
    let at = views.show("program", program.parent().unwrap_or(program))?;
    let trial = views.command(&at.join(program.file_name().unwrap_or_default()), Path::new("/"))?;
    Ok((trial, Some(views)))
}

/// A program that gets none of root's capabilities, where root starts it.
fn trial_without_capabilities(program: &Path) -> Command {
    let mut trial = command(program);
    // SAFETY: prctl(2) is async-signal-safe, and nothing else happens between fork and exec.
    unsafe {
        trial.pre_exec(|| {
            if rustix::process::geteuid().is_root() {
                set_capabilities_secure_bits(
                    CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED,
                )?;
            }
            Ok(())
        });
    }
    trial
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchedulerName;
    use artefacts::files_below;
    use artefacts::programs::Programs;
    use build_user::BuildVariables;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// Ends at once: `exit(0)`.
    const ENDS: &[u8] = &[0xb8, 0x3c, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];
    /// Dies of an illegal instruction.
    const DIES: &[u8] = &[0x0f, 0x0b];
    /// Dies of an illegal instruction as UID 0, else ends: `if (getuid() == 0) ud2; exit(0)`.
    const DIES_AS_ROOT: &[u8] = &[
        0xb8, 102, 0, 0, 0, 0x0f, 0x05, 0x85, 0xc0, 0x74, 9, 0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f,
        0x05, 0x0f, 0x0b,
    ];

    #[test]
    fn a_build_from_nothing_needs_room_and_one_that_goes_on_does_not() {
        let home = tempfile::tempdir().unwrap();
        let check =
            |is_by_user, needed| check_space(home.path(), is_by_user, needed, "cannot build");
        check(true, 1).unwrap();
        let error = check(false, u64::MAX).unwrap_err();
        assert!(error.cause.starts_with("a build from nothing needs 18446744073709 MB"), "{error}");
        assert!(error.remedy.contains("--cache DIR"), "{error}");
        fs::create_dir(home.path().join("target")).unwrap();
        check(false, u64::MAX).unwrap();
        check(true, u64::MAX).unwrap_err();
    }

    /// The smallest static program that runs this code.
    fn program(code: &[u8]) -> Vec<u8> {
        let size = 120 + code.len() as u64;
        let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        let half = |bytes: &mut Vec<u8>, value: u16| bytes.extend(value.to_le_bytes());
        let long = |bytes: &mut Vec<u8>, value: u64| bytes.extend(value.to_le_bytes());
        for value in [2, 62, 1, 0] {
            half(&mut bytes, value);
        }
        for value in [0x40_0078, 64, 0] {
            long(&mut bytes, value);
        }
        for value in [0, 0, 64, 56, 1, 0, 0, 0] {
            half(&mut bytes, value);
        }
        for value in [1, 0, 5, 0] {
            half(&mut bytes, value);
        }
        for value in [0, 0x40_0000, 0x40_0000, size, size, 0x1000] {
            long(&mut bytes, value);
        }
        bytes.extend(code);
        bytes
    }

    /// A toolchain that gives what a test puts beside it, and an empty cache.
    struct Bench {
        directory: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-toolchain/program");
            for name in ["cargo", "rustc", "clang-19", "cc", "make", "pkg-config"] {
                symlink(&fake, directory.path().join(name)).unwrap();
            }
            let bench = Self { directory };
            bench.put("cargo.version", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)");
            bench.put("rustc.version", "rustc 1.95.0 (59807616e 2026-04-14)");
            bench.put("clang-19.version", "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x");
            bench.put("info", include_str!("../../tests/golden/cargo-info/1.95-newest.txt"));
            bench.put("complaint", "error: linking with `cc` failed: exit status: 1\n");
            for name in ["libelf.a", "libz.a", "libc.a", "libseccomp.a"] {
                bench.put(name, "");
            }
            bench
        }

        fn put(&self, name: &str, text: impl AsRef<[u8]>) {
            fs::write(self.directory.path().join(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
        }

        fn take_away(&self, name: &str) {
            fs::remove_file(self.directory.path().join(name)).unwrap();
        }

        fn schedulers(&self) -> Schedulers {
            let path = self.directory.path().display().to_string();
            Schedulers::open(&self.directory.path().join("cache"), &path, None)
        }

        /// Schedulers that a build user builds; says so where there is none.
        fn of_build_user(&self) -> Option<Schedulers> {
            let system = "/usr/sbin:/usr/bin:/sbin:/bin";
            let found = BuildUser::find(&Programs::new(system), &BuildVariables::default());
            if !matches!(found, Ok(Some(_))) {
                testing::skip(
                    "builds have a user of their own where root has privileges to give up",
                );
                return None;
            }
            // Copies: what a link leads to may be closed to that user.
            let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-toolchain/program");
            for name in ["cargo", "strip"] {
                let _ = fs::remove_file(self.directory.path().join(name));
                fs::copy(&fake, self.directory.path().join(name)).unwrap();
            }
            let open = Permissions::from_mode(0o755);
            fs::set_permissions(self.directory.path(), open).unwrap();
            let path = format!("{}:{system}", self.directory.path().display());
            Some(Schedulers::open(&self.directory.path().join("cache"), &path, None))
        }

        fn fetch(&self, name: &str) -> (Result<Scheduler>, Vec<SchedulerProgress>) {
            let mut told = Vec::new();
            let name: SchedulerName = name.parse().unwrap();
            let fetched =
                self.schedulers().fetch(&name, &|| false, &mut |progress| told.push(progress));
            (fetched, told)
        }

        fn installs(&self) -> usize {
            self.read("installs").lines().count()
        }

        /// Nothing but the lock, the logs and build directories.
        fn is_clean(&self) -> bool {
            let place = self.directory.path().join("cache/schedulers");
            let names = fs::read_dir(place).unwrap().flatten().map(|entry| entry.file_name());
            let known = ["writer.lock", "logs", "bin"];
            names.into_iter().all(|name| known.iter().any(|known| name == *known))
        }
    }

    #[test]
    fn a_static_program_is_built_once_recorded_found_and_removed() {
        let bench = Bench::new();
        bench.put("static", program(ENDS));
        let (fetched, told) = bench.fetch("scx_rusty");
        let scheduler = fetched.unwrap();
        assert_eq!(scheduler.id(), "scx_rusty@1.1.4");
        assert!(scheduler.is_static && scheduler.license == "GPL-2.0-only", "{scheduler:?}");
        assert_eq!(scheduler.built_with.len(), 3);
        assert!(scheduler.program.ends_with("cache/schedulers/bin/scx_rusty@1.1.4"));
        let is_counted = |progress: &SchedulerProgress| {
            matches!(progress, SchedulerProgress::Building { done: 1, total: 2, .. })
        };
        assert!(told.iter().any(is_counted), "{told:?}");
        let words = bench.read("installs");
        assert!(words.contains("--locked") && words.contains("--version =1.1.4"), "{words}");
        let environment = bench.read("environment");
        assert!(environment.contains("RUSTFLAGS=-C target-feature=+crt-static"), "{environment}");
        assert!(environment.contains("LIBSECCOMP_LIB_TYPE=static"), "{environment}");
        assert!(!environment.contains("CARGO_MAKEFLAGS="), "{environment}");
        // Again, by name or version: nothing is built.
        for name in ["scx_rusty", "scx_rusty@1.1.4"] {
            assert_eq!(bench.fetch(name).0.unwrap(), scheduler);
        }
        assert_eq!(bench.installs(), 1);
        let schedulers = bench.schedulers();
        assert_eq!(schedulers.cached().unwrap(), std::slice::from_ref(&scheduler));
        assert_eq!(schedulers.resolve(&"scx_rusty".parse().unwrap()).unwrap(), scheduler);
        fs::write(&scheduler.program, "other").unwrap();
        let error = schedulers.resolve(&"scx_rusty".parse().unwrap()).unwrap_err();
        assert!(error.cause.contains("SHA-256"), "{error}");
        assert!(schedulers.remove(&"scx_rusty".parse().unwrap()).is_err());
        schedulers.remove(&"scx_rusty@1.1.4".parse().unwrap()).unwrap();
        assert_eq!(schedulers.cached().unwrap(), []);
        assert!(bench.is_clean());
    }

    #[test]
    fn where_root_builds_a_user_without_privileges_does_and_leaves_a_program_of_roots() {
        let bench = Bench::new();
        let Some(schedulers) = bench.of_build_user() else { return };
        bench.put("static", program(DIES_AS_ROOT));
        let name: SchedulerName = "scx_rusty".parse().unwrap();
        let scheduler = schedulers.fetch(&name, &|| false, &mut |_| {}).unwrap();
        assert_eq!(fs::metadata(&scheduler.program).unwrap().uid(), 0);
        assert_eq!(fs::metadata(&scheduler.program).unwrap().mode() & 0o777, 0o755);
        assert_eq!(schedulers.resolve(&name).unwrap(), scheduler);
        let log = bench.read("cache/schedulers/logs/scx_rusty@1.1.4.log");
        assert!(log.contains("as UID ") && !log.contains("as UID 0\n"), "{log}");
        assert_eq!(bench.installs(), 0, "what is not given cannot be written");
        // Behind the program strip wrote its UID.
        let bytes = fs::read(&scheduler.program).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let (_, by) = text.rsplit_once("stripped by UID ").unwrap();
        assert_ne!(by, "0\n");
    }

    #[test]
    fn a_program_that_dies_in_the_build_users_trial_is_none() {
        let bench = Bench::new();
        let Some(schedulers) = bench.of_build_user() else { return };
        bench.put("static", program(DIES));
        bench.put("dynamic", fs::read("/bin/true").unwrap());
        let mut notes = Vec::new();
        let fetched = schedulers.fetch(&"scx_rusty".parse().unwrap(), &|| false, &mut |progress| {
            if let SchedulerProgress::Note(note) = progress {
                notes.push(note);
            }
        });
        assert!(!fetched.unwrap().is_static);
        assert!(notes.iter().any(|note| note.contains("it ends by signal 4")), "{notes:?}");
    }

    #[test]
    fn a_build_user_leaves_neither_processes_nor_anything_that_the_next_build_reads() {
        let bench = Bench::new();
        let Some(schedulers) = bench.of_build_user() else { return };
        let place = bench.directory.path().join("cache/schedulers");
        // As earlier versions kept it, from one build to the next.
        fs::create_dir_all(place.join("build-user/cargo")).unwrap();
        bench.put("static", program(ENDS));
        // A command line that no other process has.
        let marker = format!("{}", 100_000_000 + 100 * std::process::id() + 50);
        bench.put("hostile", &marker);
        let name: SchedulerName = "scx_rusty@1.1.4".parse().unwrap();
        for _ in 0..2 {
            let scheduler = schedulers.fetch(&name, &|| false, &mut |_| {}).unwrap();
            let log = bench.read("cache/schedulers/logs/scx_rusty@1.1.4.log");
            assert!(log.contains("Left a process and a mark"), "{log}");
            assert!(!log.contains("Found a mark"), "{log}");
            let processes = fs::read_dir("/proc").unwrap().flatten();
            let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
            let is_running = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(&marker);
            assert_eq!(lines.filter(is_running).count(), 0, "the process outlives the build");
            let pages = files_below(&place.join(scheduler.id())).unwrap();
            assert!(pages.into_iter().eq([PathBuf::from(STORED)]));
            assert!(!place.join("build-user").exists());
            schedulers.remove(&name).unwrap();
        }
        assert!(bench.is_clean());
    }

    #[test]
    fn what_cannot_be_static_is_linked_with_libraries_and_that_is_told() {
        let bench = Bench::new();
        bench.put("dynamic", fs::read("/bin/true").unwrap());
        // Cargo cannot link it; it links, and dies at once; there is no static library.
        for case in ["complaint", "death", "library"] {
            match case {
                "death" => bench.put("static", program(DIES)),
                "library" => bench.take_away("libelf.a"),
                _ => {}
            }
            bench.put("libelf.so", "");
            let (fetched, told) = bench.fetch("scx_rusty");
            assert!(!fetched.unwrap().is_static, "{case}");
            let is_told = |progress: &SchedulerProgress| matches!(progress, SchedulerProgress::Note(text) if text.contains("libraries"));
            assert!(told.iter().any(is_told), "{case}: {told:?}");
            let environment = bench.read("environment");
            assert!(environment.contains("target-feature=-crt-static"), "{environment}");
            bench.schedulers().remove(&"scx_rusty@1.1.4".parse().unwrap()).unwrap();
        }
    }

    #[test]
    fn a_build_that_fails_leaves_its_log_and_nothing_else() {
        let bench = Bench::new();
        bench.put("complaint", "error[E0308]: mismatched types\n");
        let error = bench.fetch("scx_rusty").0.unwrap_err();
        assert!(error.cause.contains("E0308") && error.remedy.contains("scx_rusty@1.1.4.log"));
        let log = error.remedy.rsplit(' ').next().unwrap();
        assert!(fs::read_to_string(log).unwrap().contains("Compiling scx_rusty"), "{log}");
        assert_eq!(bench.installs(), 1, "another way of linking would not help");
        assert!(bench.is_clean());
        // What another build left half made does not count, and is swept by the next.
        let place = bench.directory.path().join("cache/schedulers");
        fs::create_dir_all(place.join(".incoming-scx_rusty@1.1.3/root/bin")).unwrap();
        fs::create_dir_all(place.join("bin")).unwrap();
        fs::write(place.join("bin/.incoming-scx_rusty@1.1.3"), "").unwrap();
        assert_eq!(bench.schedulers().cached().unwrap(), []);
        bench.put("static", program(ENDS));
        bench.fetch("scx_rusty").0.unwrap();
        assert!(!place.join(".incoming-scx_rusty@1.1.3").exists());
        assert_eq!(fs::read_dir(place.join("bin")).unwrap().count(), 1);
    }

    #[test]
    fn a_build_that_is_to_stop_ends_and_leaves_nothing() {
        let bench = Bench::new();
        // Cargo would wait for this one's writer for ever.
        let fifo = bench.directory.path().join("static");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let is_building = std::cell::Cell::new(false);
        let name: SchedulerName = "scx_rusty".parse().unwrap();
        let fetched = bench.schedulers().fetch(&name, &|| is_building.get(), &mut |progress| {
            is_building
                .set(is_building.get() || matches!(progress, SchedulerProgress::Building { .. }));
        });
        assert!(fetched.unwrap_err().cause.contains("interrupted"));
        assert!(bench.is_clean());
    }

    #[test]
    fn a_page_without_a_program_and_a_program_without_a_page_are_no_scheduler() {
        let bench = Bench::new();
        bench.put("static", program(ENDS));
        let scheduler = bench.fetch("scx_rusty").0.unwrap();
        fs::remove_file(&scheduler.program).unwrap();
        fs::write(scheduler.program.with_file_name("scx_lavd@1.1.4"), program(ENDS)).unwrap();
        assert_eq!(bench.schedulers().cached().unwrap(), []);
        let error = bench.schedulers().find(&"scx_lavd".parse().unwrap()).unwrap_err();
        assert_eq!(error.remedy, "schedlab schedulers fetch scx_lavd");
        // Another fetch makes it whole.
        bench.fetch("scx_rusty").0.unwrap();
        assert_eq!(bench.installs(), 2);
    }

    #[test]
    fn without_the_registry_what_is_cached_serves() {
        let bench = Bench::new();
        bench.put("static", program(ENDS));
        bench.fetch("scx_rusty").0.unwrap();
        bench.take_away("info");
        let (fetched, told) = bench.fetch("scx_rusty");
        assert_eq!(fetched.unwrap().version, "1.1.4");
        assert!(matches!(told.last(), Some(SchedulerProgress::Cached { .. })), "{told:?}");
        let error = bench.fetch("scx_rusty@9.9.9").0.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
    }

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let bench = Bench::new();
        for name in ["clang-19", "make", "libelf.a", "libz.a"] {
            bench.take_away(name);
        }
        let error = bench.fetch("scx_rusty").0.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(error.remedy, "apt-get install make clang-19 libelf-dev zlib1g-dev");
        assert_eq!(bench.installs(), 0);
    }

    #[test]
    fn what_is_too_old_is_refused_with_what_to_do() {
        for (file, text, word) in [
            ("cargo.version", "cargo 1.65.0", "cargo 1.65"),
            ("rustc.version", "rustc 1.90.0", "Rust 1.91"),
            ("clang-19.version", "clang version 17.0.6", "clang 18"),
        ] {
            let bench = Bench::new();
            bench.put(file, text);
            let error = bench.fetch("scx_rusty").0.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains(word) && !error.remedy.is_empty(), "{error}");
        }
    }

    #[test]
    fn libseccomp_is_asked_for_only_where_it_is_used() {
        let bench = Bench::new();
        bench.take_away("libseccomp.a");
        bench.put("static", program(ENDS));
        bench.fetch("scx_rusty").0.unwrap();
        let info = bench.read("info").replace("scx_rusty", "scx_rustland");
        bench.put("info", info);
        let error = bench.fetch("scx_rustland").0.unwrap_err();
        assert_eq!(error.remedy, "apt-get install libseccomp-dev");
    }
}
