//! `schedlab vm exec`: a program in a guest behaves as one on this machine.

use super::{Guests, KERNELS, find_program, has_guests, kill, times, wait_until};
use crate::bench::errors;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Asks a guest about everything at once: a boot takes seconds.
const QUESTIONS: &str = r#"
nproc
cat /proc/cmdline
cat "$0"
hostname --version
ls /usr/bin/hostname
echo "input: $(cat)"
echo "complaint" >&2
exit 3
"#;

#[test]
fn a_guest_has_what_was_asked_for_and_its_streams_and_status_come_through() {
    if !has_guests() {
        return;
    }
    if find_program("mksquashfs").is_none() {
        testing::skip("an image of packages needs mksquashfs: apt-get install squashfs-tools");
        return;
    }
    let guests = Guests::new();
    let file = guests.bench.path().join("a file").display().to_string();
    std::fs::write(&file, "of this machine\n").unwrap();
    let mut child = guests
        .command(&["vm", "exec", "debian:6.12", "--vcpus", "4", "--file", &file])
        .args(["--tools", "hostname", "--cmdline", &format!("{} nosmt", guests.word)])
        .args(["--", "sh", "-c", QUESTIONS, &file])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"two\nlines\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(3), "{text}\n{told}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "4");
    assert!(lines[1].contains(&guests.word) && lines[1].contains("nosmt"), "{text}");
    assert_eq!(lines[2], "of this machine");
    assert!(text.contains("/usr/bin/hostname"), "the package's program is there: {text}");
    assert!(text.ends_with("input: two\nlines\n"), "{text}");
    assert!(told.contains("complaint") && !text.contains("complaint"), "{told}");
    guests.assert_nothing_is_left("after a program in a guest");
}

/// What a guest says of each file: its digest, its path, and who may do what with it.
const INVENTORY: &str = r#"
cd "$0" && sha256sum directory/*.jar directory/deep/er/* large/* small/*
stat -Lc '%a %n' large/program small/program small/text
large/program && small/program
"#;

#[test]
fn directories_and_large_files_are_in_a_guest_as_they_are_here() {
    if !has_guests() {
        return;
    }
    if find_program("mksquashfs").is_none() {
        testing::skip("a disk of files needs mksquashfs: apt-get install squashfs-tools");
        return;
    }
    let guests = Guests::new();
    let root = guests.bench.path().join("taken along");
    let put = |name: &str, bytes: &[u8], mode: u32| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    // A directory and a file of more than 32 MiB come on a disk, small ones in memory.
    put("directory/a.jar", &[1; 70_000], 0o644);
    put("directory/deep/er/b.jar", b"PK", 0o600);
    let script = b"#!/bin/sh\necho started $0\n";
    let mut padded = script.to_vec();
    padded.extend(b"exit 0\n");
    padded.resize(33 << 20, b'#');
    let files = [
        "/usr/bin/sha256sum".to_owned(),
        "/usr/bin/stat".to_owned(),
        root.join("directory").display().to_string(),
        put("large/program", &padded, 0o755),
        put("small/program", script, 0o755),
        put("small/text", b"text\n", 0o640),
    ];
    let mut command = guests.command(&["vm", "exec", "debian:6.12", "--vcpus", "1"]);
    command.args(["--cmdline", &guests.word]);
    command.args(files.iter().flat_map(|file| ["--file", file]));
    command.args(["--", "sh", "-c", INVENTORY]).arg(&root);
    let there = command.stdin(Stdio::null()).output().unwrap();
    let here = Command::new("sh").args(["-c", INVENTORY]).arg(&root).output().unwrap();
    let text = String::from_utf8_lossy(&here.stdout).into_owned();
    assert_eq!(text.lines().count(), 5 + 3 + 2, "{text}");
    assert!(text.ends_with("started small/program\n"), "{text}");
    assert_eq!(String::from_utf8_lossy(&there.stdout), text, "{}", errors(&there));
    guests.assert_nothing_is_left("after files in a guest");
}

/// A soak boots a hundred times (`cargo xtask vm-soak`).
#[test]
fn boots_in_a_row_of_all_kernels_answer_and_leave_nothing() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let mut times_ms: BTreeMap<&str, Vec<u128>> = BTreeMap::new();
    let mut retries = 0;
    for boot in 0..times("SCHEDLAB_BOOTS", 4) {
        let kernel = KERNELS[boot as usize % KERNELS.len()];
        let begin = Instant::now();
        let words = ["vm", "exec", kernel, "--cmdline", &guests.word, "--", "uname", "-r"];
        let (text, told) = guests.expect(0, &words);
        let series = kernel.trim_start_matches("debian:");
        assert!(text.starts_with(&format!("{series}.")) && text.lines().count() == 1, "{text}");
        times_ms.entry(kernel).or_default().push(begin.elapsed().as_millis());
        retries += told.matches("trying again").count();
        assert_eq!(guests.machines(), Vec::<i32>::new(), "boot {boot}");
    }
    for (kernel, times_ms) in &mut times_ms {
        times_ms.sort_unstable();
        let [count, middle] = [times_ms.len(), times_ms.len() / 2];
        let (least, median, most) = (times_ms[0], times_ms[middle], times_ms[count - 1]);
        println!("{kernel}: {count} boots; ms: least {least}, median {median}, most {most}");
    }
    println!("{retries} boots were tried again");
    guests.assert_nothing_is_left("after boots in a row");
}

#[test]
fn a_signal_is_128_and_its_number_and_what_is_not_there_125_with_a_way_on() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    // 128 and the signal's number, as of a shell.
    let exec = ["vm", "exec", "debian:6.1", "--vcpus", "1", "--"];
    guests.expect(143, &[&exec[..], &["sh", "-c", "kill -TERM $$"]].concat());
    let (_, told) = guests.expect(125, &[&exec[..], &["/no/such/program"]].concat());
    assert!(told.contains("/no/such/program") && told.contains("--file"), "{told}");
    let (_, told) = guests.expect(125, &["vm", "exec", "debian:3.2", "--", "true"]);
    assert!(told.contains("schedlab kernels fetch debian:3.2"), "{told}");
    let (_, told) =
        guests.expect(125, &["vm", "exec", "debian:6.12", "--file", "/no/file", "--", "true"]);
    assert!(told.contains("/no/file"), "{told}");
    guests.assert_nothing_is_left("after refusals");
}

#[test]
fn an_interrupt_ends_the_program_and_its_guest_and_so_does_a_kill_of_schedlab() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    // The program's own answer to the signal; nobody is left to tell a status after a kill.
    for (signal, status) in [(Signal::INT, Some(9)), (Signal::KILL, None)] {
        let log = std::fs::File::create(guests.bench.path().join("output")).unwrap();
        let mut child = guests
            .command(&["vm", "exec", "debian:6.12", "--vcpus", "1", "--cmdline", &guests.word])
            .args(["--", "sh", "-c", "trap 'echo heard; exit 9' INT; echo ready; sleep 600 & wait"])
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = || std::fs::read_to_string(guests.bench.path().join("output")).unwrap();
        wait_until("the program runs", || output().contains("ready"));
        assert_eq!(guests.machines().len(), 1);
        kill(child.id().cast_signed(), signal);
        assert_eq!(child.wait().unwrap().code(), status);
        assert_eq!(output().contains("heard"), status.is_some());
        guests.assert_nothing_is_left("after a signal");
    }
}
