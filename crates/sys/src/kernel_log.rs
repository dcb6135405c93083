//! What the kernel says from now on (/dev/kmsg, Documentation/ABI/testing/dev-kmsg).

use crate::{Machine, MachineError};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// The longest record that the kernel hands out (PRINTKRB_RECORD_MAX and its extension,
/// kernel/printk/internal.h, 6.12).
const LONGEST: usize = 8192;

/// The kernel's log from a moment on.
#[derive(Debug)]
pub struct KernelLog {
    file: File,
}

impl KernelLog {
    /// The log from now on.
    ///
    /// # Errors
    /// When it cannot be read: without root where `kernel.dmesg_restrict` is set, or on a
    /// machine of files.
    pub fn from_now(machine: &Machine) -> Result<Self, MachineError> {
        let path = machine.path("/dev/kmsg");
        let open = || {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let opened = open();
        opened.map(|file| Self { file }).map_err(|source| MachineError {
            action: "read",
            path,
            source,
        })
    }

    /// The messages since the last call, without their level and time.
    pub fn messages(&mut self) -> Vec<String> {
        let mut messages = Vec::new();
        let mut record = [0; LONGEST];
        loop {
            match self.file.read(&mut record) {
                Ok(0) => return messages,
                Ok(length) => messages.extend(message(&record[..length])),
                // Overwritten before it was read: the next read goes on behind the gap.
                Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return messages,
            }
        }
    }
}

/// The text of a record: `LEVEL,NUMBER,TIME,FLAGS;TEXT`, then lines of further facts.
fn message(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let (_, text) = text.split_once(';')?;
    Some(text.lines().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_its_text_without_prefix_and_dictionary() {
        let record =
            b"4,1204,93284,-;sched_ext: BPF scheduler \"bfs\" disabled (a; b)\n SUBSYSTEM=x\n";
        assert_eq!(
            message(record).as_deref(),
            Some("sched_ext: BPF scheduler \"bfs\" disabled (a; b)")
        );
        assert_eq!(message(b"no prefix"), None);
    }
}
