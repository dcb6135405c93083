//! A browser of this machine, as the printer of pages that it is: nothing else asks for one.

use crate::environment::search_path;
use contract::{Description, Error, ErrorKind, Interrupt, Result};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
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
/// One second of them.
const MOST_REMOVALS: u32 = 50;

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
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    bytes
}

fn printed_by(
    browser: &Path,
    page: &[u8],
    temporary: &Path,
    interrupt: &Interrupt,
) -> Result<Vec<u8>> {
    let folder = tempfile::Builder::new()
        .prefix("schedlab-print-")
        .tempdir_in(temporary)
        .map_err(|error| unwritable(temporary, error))?;
    let bytes = printed_in(folder.path(), browser, page, interrupt);
    removed(folder);
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
    let mut child = command(browser, folder, &html, &pdf).spawn().map_err(|error| {
        Error::environment(format!("cannot start {}", browser.display()), error)
    })?;
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
    let bytes = std::fs::read(&pdf).unwrap_or_default();
    if bytes.starts_with(b"%PDF-") {
        return Ok(bytes);
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

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::new(
        ErrorKind::Environment,
        "cannot print the report",
        format!("{}: {error}", path.display()),
        "make room there, or set TMPDIR to a directory with room that you may write",
    )
}

/// What was killed may go on writing for an instant: a folder that is not empty is tried again.
fn removed(folder: tempfile::TempDir) {
    let path = folder.keep();
    for _ in 0..MOST_REMOVALS {
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(PAUSE);
            }
            _ => break,
        }
    }
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
    if geteuid().is_root() {
        // It refuses to run as root otherwise; the page is our own.
        command.arg("--no-sandbox");
    }
    command
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", html.display()))
        .current_dir(folder)
        // What it leaves when it is killed (org.chromium.Chromium.*) goes with the folder.
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Of its own, so that all of it ends when we say so.
        .process_group(0);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A browser that does this, in a directory of its own.
    fn browser(does: &str) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
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
        let temporary = tempfile::tempdir().unwrap();
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
    fn a_directory_that_cannot_be_written_is_named_with_a_remedy() {
        let (home, browser) = browser("true");
        let absent = home.path().join("absent");
        let error = printed_by(&browser, b"", &absent, &Interrupt::default()).unwrap_err();
        assert!(error.cause.contains(absent.to_str().unwrap()), "{error}");
        assert!(error.remedy.contains("TMPDIR"), "{error}");
    }
}
