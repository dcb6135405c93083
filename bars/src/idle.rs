//! CPU time of the harness while a workload runs.

use crate::Bar;
use crate::binary::Binary;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Two trials in which nothing of ours should run.
const EXPERIMENT: &str = "title = \"idle\"\nvenue = \"host\"\nblocks = 1\ncontrol = false\n\
    [subjects.a]\n[subjects.b]\nnice = \"0\"\n\
    [[workloads]]\nuse = \"command\"\nrun = [\"/bin/sleep\", \"12\"]\ninvocations = 1\n";
/// From here on the first trial's workload sleeps.
const BEFORE: Duration = Duration::from_secs(2);
const WINDOW: Duration = Duration::from_secs(9);
const SMOKE_WINDOW: Duration = Duration::from_millis(300);
/// Share of one CPU.
const LARGEST_SHARE: f64 = 0.005;

pub fn bar(binary: &Binary) -> Result<Bar, String> {
    let file = binary.experiment("idle", EXPERIMENT)?.display().to_string();
    let mut command = binary.command(&["run", "--fresh", &file]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let share = share_of(&child, binary.amount(WINDOW, SMOKE_WINDOW));
    end(&mut child)?;
    let share = share?;
    Ok(Bar {
        name: "CPU of the harness while a workload sleeps",
        measured: format!("{:.3} %", 100.0 * share),
        limit: format!("{} %", 100.0 * LARGEST_SHARE),
        holds: share < LARGEST_SHARE,
    })
}

fn share_of(child: &Child, window: Duration) -> Result<f64, String> {
    std::thread::sleep(BEFORE);
    let (start_ns, before_ns) = (sys::monotonic_ns(), cpu_time_ns(child.id())?);
    std::thread::sleep(window);
    let spent_ns = cpu_time_ns(child.id())?.saturating_sub(before_ns);
    Ok(spent_ns as f64 / (sys::monotonic_ns() - start_ns) as f64)
}

/// Of all threads of the process, to the nanosecond (proc_pid_schedstat(5)).
pub fn cpu_time_ns(pid: u32) -> Result<u64, String> {
    let directory = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(&directory)
        .map_err(|error| format!("cannot read {directory}: {error}"))?;
    let mut sum_ns = 0;
    for task in tasks.flatten() {
        let path = task.path().join("schedstat");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let stat = sys::TaskSchedstat::parse(&text)
            .ok_or_else(|| format!("cannot understand {}: {text}", path.display()))?;
        sum_ns += stat.run_ns;
    }
    Ok(sum_ns)
}

/// Ends the campaign as a user would; everything is put back.
pub fn end(child: &mut Child) -> Result<(), String> {
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .map_err(|error| error.to_string())?;
    child.wait().map(drop).map_err(|error| error.to_string())
}
