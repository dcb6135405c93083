//! A browser of this machine, as the printer of pages that it is: nothing else asks for one.
//!
//! The page may be that of a stranger's bundle. So the browser always keeps its own sandbox, and
//! never has root's rights: root starts it as nobody, in a directory of nobody's that is gone
//! afterwards, and believes nothing that lies there.

use crate::environment::{NOBODY, search_path};
use crate::temporary::{TemporaryDirectory, end_by, remedy, remove_in_use};
use contract::{Description, Error, ErrorKind, Interrupt, Result};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The format that needs one.
pub(crate) static PDF: Description = Description {
    id: "pdf",
    summary: "the page, printed by an installed Chromium",
    doc: "What the page shows, on A4, tagged for screen readers. It needs Chromium or Chrome, which \
          reads one file and reaches nothing. The file names the hour at which it was printed, so it \
          is the one format whose bytes differ from run to run.",
};

/// What would install one.
pub(crate) const REMEDY: &str = "install it: apt-get install --no-install-recommends chromium";

/// By the names that distributions and Google give it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Measured: 1.3 s for a campaign of nine comparisons; the largest page has to load, too.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);
/// A PDF of the largest page is below 30 MB.
const LARGEST_PDF: u64 = 256 << 20;
/// What a browser says on its standard error, of which this much is looked through.
const LONGEST_COMPLAINT: u64 = 64 << 10;

/// The browser, where there is one.
pub(crate) fn find() -> Option<PathBuf> {
    let path = search_path();
    let folders = || path.split(':').filter(|folder| folder.starts_with('/'));
    let files =
        NAMES.iter().flat_map(|name| folders().map(move |folder| Path::new(folder).join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// A page as PDF. A signal ends the browser, then this process; nothing of it is left.
pub(crate) fn printed(page: &[u8], interrupt: &Interrupt) -> Result<Vec<u8>> {
    let browser = find().ok_or_else(|| {
        Error::unsupported("cannot print the report", "no Chromium is installed here", REMEDY)
    })?;
    let bytes = printed_by(&browser, page, &std::env::temp_dir(), interrupt);
    if let Some(signal) = interrupt.signal() {
        end_by(signal);
    }
    bytes
}

fn printed_by(
    browser: &Path,
    page: &[u8],
    temporary: &Path,
    interrupt: &Interrupt,
) -> Result<Vec<u8>> {
    let folder = TemporaryDirectory::within(temporary, "print")
        .map_err(|error| unwritable(temporary, error))?;
    let bytes = printed_in(folder.path(), browser, page, interrupt);
    // What was killed may go on writing for an instant.
    remove_in_use(folder.path());
    bytes
}

fn printed_in(
    folder: &Path,
    browser: &Path,
    page: &[u8],
    interrupt: &Interrupt,
) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Error::environment("cannot print the report", error);
    let (html, pdf) = (folder.join("report.html"), folder.join("report.pdf"));
    std::fs::write(&html, page).map_err(|error| unwritable(&html, error))?;
    let mut said = tempfile::tempfile_in(folder).map_err(|error| unwritable(folder, error))?;
    let mut command = command(browser, folder, &html, &pdf);
    command.stderr(said.try_clone().map_err(failed)?);
    if geteuid().is_root() {
        // The directory last: nobody may change what is in it from then on.
        for path in [&*html, folder] {
            chown(path, Some(NOBODY), Some(NOBODY)).map_err(|error| unwritable(path, error))?;
        }
        as_nobody(&mut command, folder);
    }
    let mut child = command.spawn().map_err(|error| not_started(browser, folder, error))?;
    let group = Pid::from_child(&child);
    let end = Instant::now() + PATIENCE;
    let outcome = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if Instant::now() > end || interrupt.signal().is_some() => break None,
            None => std::thread::sleep(PAUSE),
        }
    };
    // Its helpers may outlive it.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    interrupt.check()?;
    let bytes = read_regular(&pdf).unwrap_or_default();
    if bytes.starts_with(b"%PDF-") {
        return Ok(bytes);
    }
    if complains_of_sandbox(&mut said) {
        return Err(Error::unsupported(
            "cannot print the report",
            format!(
                "{} has no sandbox here, and a page is not drawn without one",
                browser.display()
            ),
            "allow user namespaces to unprivileged users, or open report.html in a browser and print \
             it there",
        ));
    }
    let why = match outcome {
        Some(status) => format!("{} wrote no PDF and ended with {status}", browser.display()),
        None => format!("{} was not done after {} s", browser.display(), PATIENCE.as_secs()),
    };
    Err(Error::new(
        ErrorKind::Environment,
        "cannot print the report",
        why,
        "open report.html in a browser and print it there",
    ))
}

/// Why a browser could not be started.
fn not_started(browser: &Path, folder: &Path, error: std::io::Error) -> Error {
    let remedy = if geteuid().is_root() {
        format!(
            "it is run as nobody: let others enter the directories above {} and start the browser, \
             or print as another user than root",
            folder.display()
        )
    } else {
        REMEDY.to_owned()
    };
    let attempted = format!("cannot start {}", browser.display());
    Error::new(ErrorKind::Environment, attempted, error, remedy)
}

/// Takes root's rights from what is started, and all that is root's of its surroundings.
fn as_nobody(command: &mut Command, home: &Path) {
    // With the UID the standard library drops root's groups, too.
    command.gid(NOBODY).uid(NOBODY);
    command.env_clear().env("PATH", search_path());
    for name in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(name, home);
    }
    for name in ["LANG", "LC_ALL", "LC_CTYPE", "TZ"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// What is in a file of a directory in which others may put anything: a link leads nowhere, and
/// what is no file is not waited for.
fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags as i32).open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.take(LARGEST_PDF).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether a browser ended because it could not confine itself.
fn complains_of_sandbox(said: &mut File) -> bool {
    let mut text = Vec::new();
    let is_read = said
        .seek(SeekFrom::Start(0))
        .and_then(|_| said.take(LONGEST_COMPLAINT).read_to_end(&mut text))
        .is_ok();
    is_read && String::from_utf8_lossy(&text).to_lowercase().contains("no usable sandbox")
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    let cause = format!("{}: {error}", path.display());
    Error::new(ErrorKind::Environment, "cannot print the report", cause, remedy(&error))
}

fn command(browser: &Path, folder: &Path, html: &Path, pdf: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--disable-gpu",
        "--disable-extensions",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
        "--no-first-run",
        // A page reaches nothing by its own policy; neither does what prints it.
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--no-pdf-header-footer",
        "--export-tagged-pdf",
        "--generate-pdf-document-outline",
        // About as wide as the paper, so that figures are drawn in the size they are read in.
        "--window-size=820,1160",
        "--virtual-time-budget=20000",
    ]);
    command
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", html.display()))
        .current_dir(folder)
        // What it leaves when it is killed (org.chromium.Chromium.*) goes with the folder.
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // Of its own, so that all of it ends when we say so.
        .process_group(0);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::Gid;
    use std::os::unix::fs::PermissionsExt;

    /// A directory that nobody may enter, too.
    fn entered_by_all() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path(), mode).unwrap();
        home
    }

    /// A browser that does this, in a directory of its own.
    fn browser(does: &str) -> (tempfile::TempDir, PathBuf) {
        let home = entered_by_all();
        let file = home.path().join("chromium");
        std::fs::write(&file, format!("#!/bin/sh\nset -e\n{does}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        (home, file)
    }

    fn left(directory: &Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn nothing_of_the_browser_is_left_whatever_ends_it() {
        let leaves = "mktemp -d \"$TMPDIR/org.chromium.Chromium.XXXXXX\" > made";
        let prints = "printf %%PDF-1.4 > report.pdf";
        let temporary = entered_by_all();
        let print = |does: &str, interrupt: &Interrupt| {
            let (_home, browser) = browser(&format!("{leaves}; {does}"));
            printed_by(&browser, b"a page", temporary.path(), interrupt)
        };
        assert_eq!(print(prints, &Interrupt::default()).unwrap(), b"%PDF-1.4");
        assert_eq!(left(temporary.path()), 0, "of one that printed");
        assert!(print("exit 3", &Interrupt::default()).is_err());
        assert_eq!(left(temporary.path()), 0, "of one that failed");
        let interrupt = Interrupt::default();
        std::thread::scope(|scope| {
            let printing = scope.spawn(|| print("sleep 60", &interrupt));
            while !std::fs::read_dir(temporary.path())
                .unwrap()
                .any(|folder| folder.unwrap().path().join("made").exists())
            {
                std::thread::sleep(PAUSE);
            }
            interrupt.request(15);
            assert_eq!(printing.join().unwrap().unwrap_err().kind, ErrorKind::Interrupted);
        });
        assert_eq!(left(temporary.path()), 0, "of one that was ended");
    }

    #[test]
    fn a_page_is_never_drawn_with_roots_rights_or_without_a_sandbox() {
        let temporary = entered_by_all();
        let does = "printf '%%PDF-%s %s %s' \"$(id -u)\" \"$HOME\" \"$*\" > report.pdf";
        let (_home, browser) = browser(does);
        let bytes =
            printed_by(&browser, b"a page", temporary.path(), &Interrupt::default()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("sandbox"), "{text}");
        if geteuid().is_root() {
            let own =
                format!("%PDF-{NOBODY} {}/schedlab-temporary-print-", temporary.path().display());
            assert!(text.starts_with(&own), "{text}");
        }
    }

    #[test]
    fn a_browser_that_root_starts_has_neither_roots_environment_nor_roots_groups() {
        /// What it is given, and what sh(1) adds.
        const NAMES: [&str; 14] = [
            "PATH",
            "HOME",
            "TMPDIR",
            "XDG_CONFIG_HOME",
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "TZ",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
        ];
        if !geteuid().is_root() {
            testing::skip("only root starts it as another user");
            return;
        }
        // The harness of tests has some that would leak.
        let is_foreign = |name: &str| !NAMES.contains(&name);
        assert!(std::env::vars_os().any(|(name, _)| is_foreign(&name.to_string_lossy())));
        let temporary = entered_by_all();
        let (_home, browser) = browser("{ printf '%%PDF-'; id -G; env; } > report.pdf");
        let bytes = std::thread::scope(|scope| {
            let printing = scope.spawn(|| {
                // Of this thread alone, as the processes that it starts have them.
                rustix::thread::set_thread_groups(&[Gid::from_raw(20_001)]).unwrap();
                printed_by(&browser, b"a page", temporary.path(), &Interrupt::default())
            });
            printing.join().unwrap().unwrap()
        });
        let text = String::from_utf8(bytes).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(format!("%PDF-{NOBODY}").as_str()), "{text}");
        let leaked: Vec<&str> =
            lines.filter(|line| line.split_once('=').is_none_or(|it| is_foreign(it.0))).collect();
        assert!(leaked.is_empty(), "{leaked:?}");
    }

    #[test]
    fn a_browser_without_a_sandbox_and_one_that_puts_something_else_in_place_are_refused() {
        let temporary = entered_by_all();
        let refusal = |does: &str| {
            let (_home, browser) = browser(does);
            printed_by(&browser, b"a page", temporary.path(), &Interrupt::default()).unwrap_err()
        };
        let error = refusal("echo 'FATAL: No usable sandbox! Update your kernel' >&2; exit 1");
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        assert!(error.remedy.contains("user namespaces"), "{error}");
        let pdf = temporary.path().join("other.pdf");
        std::fs::write(&pdf, "%PDF-1.4").unwrap();
        refusal(&format!("ln -s {} report.pdf", pdf.display()));
        refusal("mkfifo report.pdf");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named_with_a_remedy() {
        let (home, browser) = browser("true");
        let absent = home.path().join("absent");
        let error = printed_by(&browser, b"", &absent, &Interrupt::default()).unwrap_err();
        assert!(error.cause.contains(absent.to_str().unwrap()), "{error}");
        assert!(error.remedy.contains("TMPDIR"), "{error}");
    }
}
