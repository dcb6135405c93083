//! SIGKILL at random instants: of a campaign in guests, and of a campaign on the host inside
//! a guest whose kernel has every knob.

use super::{Guests, has_guests, kill, times, wait_until};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

/// A soak kills more often (`cargo xtask vm-soak`), campaigns in guests by `guest_kills`.
const KILLS: u32 = 5;
/// Preflight, boot, trials and the end of a boot fall into so much time.
const LONGEST_DELAY_MS: f64 = 14_000.0;

const SUBJECTS: &str = r#"
kernel = "debian:6.12"
[subjects.plain]
[subjects.short]
base_slice = "1ms"
[[workloads]]
use = "command"
run = ["/bin/sleep", "0.1"]
"#;

/// Golden-ratio spread: a fixed sequence of instants, so that a failure repeats.
fn instant(kill: u32) -> f64 {
    (f64::from(kill + 1) * 0.618_034).fract()
}

#[test]
fn a_kill_at_a_random_instant_leaves_no_machine_and_no_file() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let (head, rest) = SUBJECTS.split_once("[subjects.plain]").unwrap();
    let file =
        guests.experiment(&format!("blocks = 20\n{head}"), &format!("[subjects.plain]{rest}"));
    let (mut with_machine, mut with_record) = (0, 0);
    for number in 0..KILLS {
        let delay_ms = instant(number) * LONGEST_DELAY_MS;
        let mut command = guests.command(&["run", "--fresh", &file]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // What comes before a boot takes as long as the computer is busy: every second delay
        // begins with the machine, so that some kills fall into one everywhere.
        if number % 2 == 1 {
            wait_until("a machine", || !guests.machines().is_empty());
        }
        std::thread::sleep(Duration::from_micros((delay_ms * 1000.0) as u64));
        with_machine += u32::from(!guests.machines().is_empty());
        kill(child.id().cast_signed(), rustix::process::Signal::KILL);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "kill {number} came after the end: {status}");
        with_record += u32::from(guests.record_count() > 0);
        guests.assert_nothing_is_left(&format!("after kill {number} at {delay_ms:.0} ms"));
        if let Ok(results) = std::fs::read_dir(guests.bench.results()) {
            results.for_each(|entry| std::fs::remove_dir_all(entry.unwrap().path()).unwrap());
        }
    }
    println!("{KILLS} kills: {with_machine} with a machine, {with_record} with a record");
    assert!(with_machine > 0, "no kill fell into the life of a machine");
}

/// Kills campaigns at instants that are its arguments, and looks for leftovers each time.
const SCRIPT: &str = r#"
here=$1; shift
schedlab="$here/schedlab --runtime-dir /run/bench --results /tmp/results"
values() {
    cat /sys/kernel/debug/sched/base_slice_ns /sys/kernel/debug/sched/migration_cost_ns \
        /sys/kernel/debug/sched/nr_migrate /proc/sys/kernel/sched_autogroup_enabled \
        /sys/kernel/mm/transparent_hugepage/enabled /sys/devices/system/cpu/online
}
before=$(values)
changed=0
number=0
for delay; do
    number=$((number + 1))
    $schedlab run --fresh $here/inner.toml >/tmp/output 2>&1 &
    pid=$!
    # How long it takes to the first change depends on the computer: every second kill waits for one.
    if [ $((number % 2)) -eq 0 ]; then
        while [ "$(values)" = "$before" ] && kill -0 $pid; do sleep 0.02; done
        seen=yes
    else
        sleep $delay
        seen=no
    fi
    kill -9 $pid 2>/dev/null || { echo "it ended before $delay"; cat /tmp/output; exit 1; }
    wait $pid
    # What was changed before a kill may be put back by the time that it is read again.
    [ $seen = no ] && [ "$(values)" = "$before" ] || changed=$((changed + 1))
    # The guardian holds the lock while it restores.
    tries=0
    until $schedlab restore --check >/tmp/check 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt 1000 ]; then echo "not clean after $delay"; cat /tmp/check; exit 1; fi
        sleep 0.1
    done
    if [ "$(values)" != "$before" ]; then echo "changed after $delay: $(values)"; exit 1; fi
    if grep -l SCHEDLAB_MARK= /proc/[0-9]*/environ 2>/dev/null; then
        echo "processes are left after $delay"; exit 1
    fi
    rm -rf /tmp/results
done
echo "$# kills, $changed seen with a knob changed"
"#;

/// Every kind of file but those that make the kernel patch its own code (`preempt`,
/// `sched_features`): a guest with two emulated processors died once after two minutes of such
/// changes ("Oops: int3", 6.18 under QEMU 7.2), which would be blamed on a kill.
const INNER: &str = r#"
title = "inside"
venue = "host"
blocks = 50
control = false
settle = "0s"
probes = []
[subjects.one]
base_slice = "1ms"
migration_cost = "100us"
nr_migrate = 8
autogroup = "off"
thp = "never"
online_cpus = "0"
[subjects.two]
base_slice = "3ms"
thp = "always"
[[workloads]]
use = "command"
run = ["/bin/sleep", "0.05"]
invocations = 1
"#;

#[test]
fn kills_of_a_campaign_inside_a_guest_leave_every_knob_and_no_process() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let file = |name: &str, text: &[u8]| {
        let path = guests.bench.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    // What debuggers need would fill the guest's memory.
    let binary = std::fs::read(env!("CARGO_BIN_EXE_schedlab")).unwrap();
    let binary = file("schedlab", &guest_images::loadable_part(&binary).unwrap());
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let files = [binary, file("inner.toml", INNER.as_bytes()), "/bin/sleep".to_owned()];
    let kills = times("SCHEDLAB_INNER_KILLS", KILLS);
    let mut command = guests.command(&["vm", "exec", "debian:6.18", "--memory", "768MiB"]);
    command.args(["--cmdline", &guests.word, "--boot-timeout", super::BOOT_TIMEOUT]);
    command.args(files.iter().flat_map(|file| ["--file", file]));
    command.args(["--", "sh", "-c", SCRIPT, "kills"]).arg(guests.bench.path());
    // An emulated machine needs seconds for what takes this one a tenth of one.
    command.args((0..kills).map(|number| format!("{:.2}", 0.2 + instant(number) * 4.0)));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}\n{}", crate::bench::errors(&output));
    println!("inside debian:6.18: {text}");
    assert!(text.contains(&format!("{kills} kills")), "{text}");
    assert!(!text.contains(" 0 seen"), "no kill fell into a trial: {text}");
    guests.assert_nothing_is_left("after kills inside a guest");
}
