//! What lies on a device, as libblkid sees it: what mkfs and wipefs ask.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use sys::Machine;

/// Exit codes of blkid(8). It answers the first, too, where it could not read the device.
const NOTHING_FOUND: i32 = 2;
const CONTRADICTION: i32 = 8;
/// Signatures lie within the first and the last mebibyte (libblkid 2.38: ZFS labels, of 256
/// KiB, are the farthest).
const EDGE: u64 = 1 << 20;

/// Why what lies on a device may be needed, and what to do. A guest of ours has no blkid, and
/// nothing that anybody needs.
pub(crate) fn refusal(
    machine: &Machine,
    device: impl AsFd,
    path: &Path,
) -> Option<(String, String)> {
    if machine.is_throw_away() {
        return None;
    }
    let show = path.display();
    let unknown = |error: &dyn std::fmt::Display| {
        let remedy = format!(
            "see what blkid --probe {show} says, choose another device, or target = \"loop:SIZE\""
        );
        Some((format!("cannot tell what lies on {show}: {error}"), remedy))
    };
    let Some(program) = machine.program("blkid") else {
        let why = format!("cannot tell what lies on {show}: blkid is not on PATH");
        return Some((why, "install it: apt-get install util-linux".to_owned()));
    };
    if let Err(error) = read_edges(device) {
        return unknown(&format!("it cannot be read: {error}"));
    }
    let output = Command::new(program)
        .args(["--probe", "--output", "export"])
        .arg(path)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return unknown(&format!("blkid: {error}")),
    };
    let is_silent = output.stdout.is_empty() && output.stderr.is_empty();
    let found = match output.status.code() {
        Some(NOTHING_FOUND) if is_silent => return None,
        Some(0) => format!("a signature: {}", kinds(&String::from_utf8_lossy(&output.stdout))),
        Some(CONTRADICTION) => "signatures that contradict each other".to_owned(),
        _ => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let words = words.lines().next().unwrap_or("it says nothing").to_owned();
            return unknown(&format!("blkid: {}: {words}", output.status));
        }
    };
    let remedy = format!("if nothing on it is needed, remove it: wipefs --all {show}");
    Some((format!("{show} carries {found}"), remedy))
}

/// Kinds of file systems and partition tables that blkid names.
fn kinds(text: &str) -> String {
    let kinds = text
        .lines()
        .filter_map(|line| line.strip_prefix("TYPE=").or_else(|| line.strip_prefix("PTTYPE=")));
    let kinds: Vec<&str> = kinds.collect();
    if kinds.is_empty() { "of a kind without a name".to_owned() } else { kinds.join(", ") }
}

/// Reads where signatures are.
fn read_edges(device: impl AsFd) -> rustix::io::Result<()> {
    let bytes = rustix::fs::seek(&device, rustix::fs::SeekFrom::End(0))?;
    let mut buffer = vec![0; 1 << 16];
    for begin in [0, bytes.saturating_sub(EDGE)] {
        let end = begin.saturating_add(EDGE).min(bytes);
        let mut position = begin;
        while position < end {
            match rustix::io::pread(&device, &mut buffer, position)? {
                0 => return Err(rustix::io::Errno::IO),
                count => position += count as u64,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a blkid that does this makes of a device.
    fn with(script: &str) -> Option<(String, String)> {
        let _alone = crate::alone();
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("blkid");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let device = tempfile::tempfile().unwrap();
        device.set_len(3 << 20).unwrap();
        let path = place.path().display().to_string();
        let machine = Machine::host("/nonexistent").with_search_path(path);
        refusal(&machine, &device, Path::new("/dev/sdx"))
    }

    #[test]
    fn only_the_silent_answer_that_nothing_was_found_lets_a_device_pass() {
        assert_eq!(with("exit 2"), None);
        for (script, cause, remedy) in [
            ("echo TYPE=ext4; exit 0", "/dev/sdx carries a signature: ext4", "wipefs"),
            ("echo PTTYPE=gpt; exit 0", "carries a signature: gpt", "wipefs"),
            ("echo TYPE=xfs; echo PTTYPE=dos; exit 0", "xfs, dos", "wipefs"),
            ("exit 0", "of a kind without a name", "wipefs"),
            ("exit 8", "contradict", "wipefs"),
            ("exit 4", "cannot tell what lies on /dev/sdx: blkid: exit status: 4", "--probe"),
            ("exit 1", "cannot tell", "--probe"),
            ("exit 127", "cannot tell", "--probe"),
            ("echo TYPE=ext4; exit 2", "cannot tell", "--probe"),
            ("echo Input/output error >&2; exit 2", "Input/output error", "--probe"),
            ("kill -9 $$", "signal: 9", "--probe"),
        ] {
            let (why, what) = with(script).unwrap_or_else(|| panic!("`{script}` lets it pass"));
            assert!(why.contains(cause), "{script}: {why}");
            assert!(what.contains(remedy), "{script}: {what}");
        }
    }

    #[test]
    fn where_nobody_can_be_asked_a_device_is_refused_but_in_a_guest() {
        let device = tempfile::tempfile().unwrap();
        let place = tempfile::tempdir().unwrap();
        let path = place.path().display().to_string();
        let machine = Machine::host("/nonexistent").with_search_path(path);
        let (why, remedy) = refusal(&machine, &device, Path::new("/dev/sdx")).unwrap();
        assert!(why.contains("not on PATH") && remedy.contains("util-linux"), "{why}; {remedy}");
        assert_eq!(refusal(&machine.thrown_away(), &device, Path::new("/dev/sdx")), None);
    }

    #[test]
    fn what_cannot_be_read_may_carry_anything() {
        let machine = Machine::host("/nonexistent").with_search_path("/usr/sbin:/sbin");
        if machine.program("blkid").is_none() {
            return testing::skip("there is no blkid");
        }
        let (_reader, writer) = std::io::pipe().unwrap();
        let (why, _) = refusal(&machine, &writer, Path::new("/dev/sdx")).unwrap();
        assert!(why.contains("cannot be read"), "{why}");
    }
}
