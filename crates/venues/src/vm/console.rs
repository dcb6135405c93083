//! What a guest printed: a log that is kept, and its last lines for a failure.

use super::memfd::new_memfd;
use contract::{Error, Result, is_log_line};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Lines of a console that a failure quotes.
const QUOTED_LINES: usize = 12;
/// As much of the console's end as is looked at.
const TAIL_BYTES: u64 = 16 << 10;
/// A quoted line is cut here.
const LINE_LIMIT: usize = 160;

/// How lines of the kernel's begin to tell why something ended (kernel/panic.c, mm/oom_kill.c,
/// lib/bug.c, 6.12).
const CAUSES: [&str; 5] = ["Kernel panic", "Out of memory:", "BUG:", "Oops:", "int3:"];

/// The console of one machine and what QEMU itself complained of, in files of the campaign
/// or in memory.
pub(crate) struct Console {
    printed: Log,
    qemu: Log,
}

struct Log {
    file: File,
    begins_at: u64,
}

impl Console {
    /// Goes on at the end of two log files.
    ///
    /// # Errors
    /// When they cannot be opened, and where a link has the name of one.
    pub(crate) fn in_files(console: &Path, qemu: &Path) -> Result<Self> {
        let log = |path| Log::opened(path, sys::append_to(path));
        Ok(Self { printed: log(console)?, qemu: log(qemu)? })
    }

    /// Goes on at the end of a file that a user names, which may be a link of theirs or a device.
    ///
    /// # Errors
    /// When it cannot be opened, and where a link of another user leads to it.
    pub(crate) fn in_file(path: &Path) -> Result<Self> {
        let open = || File::options().create(true).read(true).append(true).open(path);
        let log = || Log::opened(path, sys::through_own_links(path, None).and_then(|_| open()));
        Ok(Self { printed: log()?, qemu: log()? })
    }

    /// Kept as long as it is of use.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn in_memory() -> Result<Self> {
        let log = |name| Ok::<_, Error>(Log { file: new_memfd(name, 0)?, begins_at: 0 });
        Ok(Self { printed: log("schedlab-console")?, qemu: log("schedlab-qemu-log")? })
    }

    /// The file, for QEMU.
    pub(crate) fn file(&self) -> &File {
        &self.printed.file
    }

    /// Where QEMU complains.
    pub(crate) fn qemu_log(&self) -> &File {
        &self.qemu.file
    }

    /// Whether the guest printed anything, or at least QEMU did not complain.
    pub(crate) fn has_begun(&self) -> bool {
        !self.printed.tail().is_empty() || self.qemu.tail().is_empty()
    }

    /// The last lines, on one line; QEMU's own where the guest printed nothing, and words that
    /// say so where neither did.
    pub(crate) fn last_lines(&self) -> String {
        let words = last_lines(&self.printed.tail());
        let words = if words.is_empty() { last_lines(&self.qemu.tail()) } else { words };
        if words.is_empty() { "it says nothing".to_owned() } else { words }
    }
}

impl Console {
    /// What the kernel complained of since it was asked last: a kill for want of memory, a bug.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let text = self.printed.tail();
        self.printed.begins_at = self.printed.file.metadata().map_or(0, |metadata| metadata.len());
        text.lines().any(is_cause).then(|| last_lines(&text))
    }
}

/// Whether a line of the kernel's tells of something that may end a workload.
fn is_cause(line: &str) -> bool {
    CAUSES.iter().any(|sign| line.contains(sign))
}

impl Log {
    fn opened(path: &Path, file: std::io::Result<File>) -> Result<Self> {
        let begun = file.and_then(|file| {
            let begins_at = file.metadata()?.len();
            Ok(Self { file, begins_at })
        });
        begun.map_err(|error| Error::environment(format!("cannot open {}", path.display()), error))
    }

    /// The end of what was written since it was opened.
    fn tail(&self) -> String {
        let end = self.file.metadata().map_or(0, |metadata| metadata.len());
        let start = self.begins_at.max(end.saturating_sub(TAIL_BYTES));
        let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
        match self.file.read_exact_at(&mut bytes, start) {
            Ok(()) => without_log(&String::from_utf8_lossy(&bytes)),
            Err(_) => String::new(),
        }
    }
}

/// What was printed, but for lines of our own log: a reason that they quote is no complaint of the
/// kernel's.
fn without_log(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_log_line(&plain(line))).collect()
}

/// The telling lines of a console's end: from a panic or a kill on where there was one, the
/// last ones otherwise.
fn last_lines(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    let from = lines
        .iter()
        .position(|line| is_cause(line))
        .unwrap_or(lines.len().saturating_sub(QUOTED_LINES));
    lines.iter().skip(from).take(QUOTED_LINES).cloned().collect::<Vec<_>>().join(" | ")
}

/// A line without escape sequences and control characters, and not too long.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A control sequence ends with a letter (ECMA-48).
            let _ = characters.find(char::is_ascii_alphabetic);
        } else if !character.is_control() {
            plain.push(character);
        }
    }
    plain.trim().chars().take(LINE_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_quoted_from_where_it_began() {
        let text = "[    1.0] all is well\n\u{1b}[31m[    2.0] Kernel panic - not syncing: sysrq\u{1b}[0m\r\n[    2.1] CPU: 0\n";
        assert_eq!(
            last_lines(text),
            "[    2.0] Kernel panic - not syncing: sysrq | [    2.1] CPU: 0"
        );
        let many: String = (0..50).map(|number| format!("line {number}\n")).collect();
        assert!(last_lines(&many).starts_with("line 38 | "));
        assert_eq!(last_lines(""), "");
    }

    #[test]
    fn no_control_of_a_guest_is_quoted_and_no_line_of_it_is_endless() {
        let text = format!("evil\u{1b}[2J\u{9b}31m\u{7}\u{7f}{}\r\n", "x".repeat(9000));
        let words = last_lines(&text.repeat(20));
        assert!(words.starts_with("evil31mxx"), "{words:?}");
        assert!(!words.chars().any(char::is_control), "{words:?}");
        let lines: Vec<&str> = words.split(" | ").collect();
        assert_eq!(lines.len(), QUOTED_LINES);
        assert!(lines.iter().all(|line| line.chars().count() == LINE_LIMIT), "{words:?}");
    }

    #[test]
    fn a_log_that_went_on_quotes_its_own_part_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.log");
        std::fs::write(&path, "of an earlier boot\n").unwrap();
        let log = directory.path().join("qemu.log");
        let console = Console::in_files(&path, &log).unwrap();
        assert_eq!(console.last_lines(), "it says nothing");
        std::io::Write::write_all(&mut console.qemu_log(), b"qemu: no such option\n").unwrap();
        assert_eq!(console.last_lines(), "qemu: no such option");
        std::io::Write::write_all(&mut console.file(), b"of this boot\n").unwrap();
        assert_eq!(console.last_lines(), "of this boot");
    }

    #[test]
    fn a_log_that_a_user_names_is_not_written_through_the_link_of_another_user() {
        if !rustix::process::geteuid().is_root() {
            testing::skip("only root makes links of other users");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("log"), directory.path().join("link"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Console::in_file(&link).is_ok() && path.exists());
        std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
        let error = Console::in_file(&link).err().unwrap();
        assert!(error.cause.contains("another user"), "{error}");
    }

    #[test]
    fn what_our_own_log_quotes_is_no_complaint_of_the_kernels() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("qemu.log");
        let mut console = Console::in_files(&directory.path().join("console.log"), &log).unwrap();
        let print = |console: &Console, text: &str| {
            std::io::Write::write_all(&mut console.file(), text.as_bytes()).unwrap();
        };
        let quoted =
            format!("{}DEBUG executor: ended=Failed(\"BUG: here\")\r\n", contract::LOG_PREFIX);
        print(&console, &quoted);
        assert_eq!(console.complaint(), None);
        print(&console, &format!("[    3.0] BUG: unable to handle\n{quoted}"));
        assert_eq!(console.complaint().as_deref(), Some("[    3.0] BUG: unable to handle"));
    }
}
