//! What a trial left in its log files, for the host.

use executor::GUARDIAN_LOG;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Longer logs lose their beginning.
const LONGEST_LOG: u64 = 64 << 10;
/// More files than any trial leaves.
const LOG_LIMIT: usize = 256;

/// Takes the logs that are not empty out of their directory, in order of name.
pub(crate) fn take(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    let mut logs = Vec::new();
    for name in names.into_iter().take(LOG_LIMIT) {
        let path = directory.join(&name);
        // The guardian holds its own open for the whole session.
        let is_guardians = name == GUARDIAN_LOG;
        if let Ok(text) = tail(&path)
            && !text.is_empty()
            && !is_guardians
        {
            logs.push((name.to_string_lossy().into_owned(), text));
        }
        if !is_guardians {
            // One that stays is sent again, no more; directories are not sent.
            let _ = fs::remove_file(&path).or_else(|_| sys::remove_tree(&path));
        }
    }
    logs
}

fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LOG)))?;
    let mut text = Vec::new();
    file.take(LONGEST_LOG).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_logs_lose_their_beginning_and_empty_ones_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let long = vec![b'x'; usize::try_from(LONGEST_LOG).unwrap() + 10];
        fs::write(directory.path().join("b.log"), &long).unwrap();
        fs::write(directory.path().join("a.log"), "text").unwrap();
        fs::write(directory.path().join("empty.log"), "").unwrap();
        fs::create_dir_all(directory.path().join("report/js")).unwrap();
        fs::write(directory.path().join(GUARDIAN_LOG), "open").unwrap();
        let logs = take(directory.path());
        let names: Vec<&str> = logs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.log", "b.log"]);
        assert_eq!(logs[1].1.len() as u64, LONGEST_LOG);
        assert_eq!(take(directory.path()).len(), 0, "taken once");
        assert!(directory.path().join(GUARDIAN_LOG).exists());
        assert!(!directory.path().join("report").exists(), "it would fill the guest's memory");
    }
}
