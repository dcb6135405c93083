//! A frame that is changed on its way: QEMU runs behind a stand-in that flips one bit.

use super::{Guests, QEMU, find_program, has_guests, of};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The words of QEMU's command line, for the stand-in.
const WORDS: &str = "BENCH_QEMU_WORDS";
/// The real QEMU.
const PROGRAM: &str = "BENCH_QEMU_PROGRAM";
/// A file that is there once a bit was flipped.
const FLIPPED: &str = "BENCH_FLIPPED";
/// Between words: no argument has it.
const SEPARATOR: char = '\u{1f}';
/// The beginning of the frame that is spoilt.
const VICTIM: &[u8] = b"\"answer\":\"record\"";

const SUBJECTS: &str = r#"
[subjects.plain]
[subjects.nicer]
nice = "5"
[[workloads]]
use = "command"
run = ["/bin/sleep", "0.1"]
"#;

#[test]
fn a_corrupted_frame_is_a_failed_trial_and_the_next_one_has_a_fresh_guest() {
    if !has_guests() {
        return;
    }
    let programs = tempfile::tempdir().unwrap();
    let flipped = programs.path().join("flipped");
    install_stand_in(programs.path(), &flipped);
    let guests = Guests::new().with_programs(programs.path());
    let file = guests.experiment("blocks = 2\nvcpus = 1\nkernel = \"debian:6.1\"", SUBJECTS);
    // Each subject has a valid block: the failure is counted, and it is no refusal.
    let (shown, told) = guests.expect(0, &["run", &file]);
    assert!(flipped.exists(), "nothing was corrupted");
    let records = guests.records();
    assert_eq!(records.len(), 4, "{told}");
    assert_eq!(records[0]["outcome"]["kind"], "failed", "{}", records[0]);
    let reason = records[0]["outcome"]["reason"].as_str().unwrap();
    assert!(reason.contains("corrupted frame") && reason.contains("checksum"), "{reason}");
    for record in of(&records, "", "").into_iter().skip(1) {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
    }
    assert_ne!(
        records[0]["boot_id"], records[1]["boot_id"],
        "a guest that lied is not asked again"
    );
    assert!(shown.contains("failed"), "{shown}");
    guests.assert_nothing_is_left("after a corrupted frame");
}

/// Puts a program of QEMU's name into a directory that becomes the stand-in.
fn install_stand_in(directory: &Path, flipped: &Path) {
    let script = format!(
        "#!/bin/sh\nIFS=$(printf '\\037')\nexport {WORDS}=\"$*\" {PROGRAM}='{}' {FLIPPED}='{}'\n\
         exec '{}' --exact vm::corruption::stand_in_for_qemu --ignored --nocapture\n",
        find_program(QEMU).unwrap().display(),
        flipped.display(),
        std::env::current_exe().unwrap().display(),
    );
    let path = directory.join(QEMU);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[ignore = "a role of the test above: it stands between schedlab and QEMU"]
fn stand_in_for_qemu() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let mut words: Vec<String> = words.split(SEPARATOR).map(str::to_owned).collect();
    let channel = words.iter_mut().find(|word| word.starts_with("socket,id=channel,fd=")).unwrap();
    let (option, number) = channel.rsplit_once('=').unwrap();
    // SAFETY: schedlab passed this descriptor, and nobody else in this process has it.
    let mut host = unsafe { UnixStream::from_raw_fd(number.parse().unwrap()) };
    let (mut guest, theirs) = UnixStream::pair().unwrap();
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).unwrap();
    *channel = format!("{option}={}", theirs.as_raw_fd());
    let mut command = Command::new(std::env::var_os(PROGRAM).unwrap());
    command.args(&words).stdin(Stdio::null());
    // SAFETY: prctl(2) is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            let signal = Some(rustix::process::Signal::KILL);
            Ok(rustix::process::set_parent_process_death_signal(signal)?)
        });
    }
    let mut qemu = command.spawn().unwrap();
    drop(theirs);
    let (mut requests, mut into_guest) = (host.try_clone().unwrap(), guest.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut requests, &mut into_guest));
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = guest.read(&mut bytes) {
        flip_once(&mut bytes[..count]);
        if host.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    qemu.wait().unwrap();
}

/// Flips a bit of the first record that passes, of all the machines of a test.
fn flip_once(bytes: &mut [u8]) {
    let Some(start) = bytes.windows(VICTIM.len()).position(|window| window == VICTIM) else {
        return;
    };
    let flipped = std::env::var_os(FLIPPED).unwrap();
    if std::fs::File::create_new(flipped).is_ok() {
        bytes[start + VICTIM.len() + 1] ^= 0x20;
    }
}
