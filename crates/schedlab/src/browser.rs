//! A browser of this machine, as the printer of pages that it is: nothing else asks for one.

use crate::surroundings::search_path;
use contract::{Description, Error, Interrupt, Result};
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

/// The browser, where there is one.
pub(crate) fn find() -> Option<PathBuf> {
    let path = search_path();
    let folders = || path.split(':').filter(|folder| folder.starts_with('/'));
    let files =
        NAMES.iter().flat_map(|name| folders().map(move |folder| Path::new(folder).join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// A page as PDF. A signal ends the browser, then this process.
pub(crate) fn printed(page: &[u8], interrupt: &Interrupt) -> Result<Vec<u8>> {
    let browser = find().ok_or_else(|| {
        Error::unsupported("cannot print the report", "no Chromium is installed here", REMEDY)
    })?;
    let failed = |error: std::io::Error| Error::environment("cannot print the report", error);
    let folder = tempfile::Builder::new().prefix("schedlab-print-").tempdir().map_err(failed)?;
    let (html, pdf) = (folder.path().join("report.html"), folder.path().join("report.pdf"));
    std::fs::write(&html, page).map_err(failed)?;
    let mut command = command(&browser, folder.path(), &html, &pdf);
    let mut child = command.spawn().map_err(|error| {
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
    if let Some(signal) = interrupt.signal() {
        drop(folder);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        interrupt.check()?;
    }
    let bytes = std::fs::read(&pdf).unwrap_or_default();
    if bytes.starts_with(b"%PDF-") {
        return Ok(bytes);
    }
    let why = match outcome {
        Some(status) => format!("{} wrote no PDF and ended with {status}", browser.display()),
        None => format!("{} was not done after {} s", browser.display(), PATIENCE.as_secs()),
    };
    Err(Error::new(
        contract::ErrorKind::Environment,
        "cannot print the report",
        why,
        "open report.html in a browser and print it there",
    ))
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
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Of its own, so that all of it ends when we say so.
        .process_group(0);
    command
}
