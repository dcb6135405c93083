//! The machine as it is, as flat text: what a record must differ from to matter.

use contract::{Knob, Result, TrialCatalogue};
use model::{Fingerprint, KernelVersion, Level};
use std::collections::BTreeSet;
use sys::Machine;

/// Whether the kernel places stack, libraries and heap anew for each process
/// (Documentation/admin-guide/sysctl/kernel.rst): 0 is not at all.
pub(crate) const RANDOMISED_LAYOUT: &str = "/proc/sys/kernel/randomize_va_space";

/// What of a block device decides how fast it is (Documentation/ABI/stable/sysfs-block).
const QUEUE: [(&str, &str); 6] = [
    ("storage.model", "device/model"),
    ("storage.logical_block", "queue/logical_block_size"),
    ("storage.physical_block", "queue/physical_block_size"),
    ("storage.write_cache", "queue/write_cache"),
    ("storage.discard", "queue/discard_max_bytes"),
    ("storage.largest_request_kb", "queue/max_sectors_kb"),
];

/// EEVDF replaced CFS's pick in 6.6 (kernel/sched/fair.c).
const EEVDF_SINCE: KernelVersion = KernelVersion::series(6, 6);

/// Reads everything that may explain a difference. What cannot be read is left
/// out, except the kernel's release.
///
/// # Errors
/// When the kernel's release cannot be read.
pub fn fingerprint(machine: &Machine, catalogue: &TrialCatalogue) -> Result<Fingerprint> {
    let mut fingerprint = Fingerprint::default();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) =
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        {
            fingerprint.0.insert(key.to_owned(), value);
        }
    };
    let version = machine.kernel_version()?;
    put("kernel.release", Some(machine.kernel_release()?));
    put("kernel.scheduler", Some(if version >= EEVDF_SINCE { "EEVDF" } else { "CFS" }.to_owned()));
    put("boot.id", Some(machine.boot_id()?));
    for (key, path) in [
        ("kernel.build", "/proc/sys/kernel/version"),
        ("kernel.command_line", "/proc/cmdline"),
        ("kernel.sched_ext", "/sys/kernel/sched_ext/state"),
        ("kernel.sched_ext_ops", "/sys/kernel/sched_ext/root/ops"),
        ("kernel.randomize_va_space", RANDOMISED_LAYOUT),
        ("kernel.rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us"),
        ("cpu.online", "/sys/devices/system/cpu/online"),
        ("cpu.present", "/sys/devices/system/cpu/present"),
        ("cpu.isolated", "/sys/devices/system/cpu/isolated"),
        ("cpu.nohz_full", "/sys/devices/system/cpu/nohz_full"),
        ("cpu.idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver"),
        ("cpu.frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
        ("clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ("machine.vendor", "/sys/class/dmi/id/sys_vendor"),
        ("machine.product", "/sys/class/dmi/id/product_name"),
        ("process.autogroup_nice", "/proc/self/autogroup"),
    ] {
        let text = machine.read(path).ok();
        let is_autogroup = key == "process.autogroup_nice";
        let autogroup_nice =
            |text: String| sys::nice_of_autogroup(&text).map(|nice| nice.to_string());
        put(key, if is_autogroup { text.and_then(autogroup_nice) } else { text });
    }
    put("cpu.model", cpuinfo_field(machine, "model name"));
    put(
        "machine.is_virtual",
        cpuinfo_field(machine, "flags").map(|flags| is_virtual(&flags).to_string()),
    );
    let topology = topology(machine);
    put("cpu.packages", topology.map(|(packages, _)| packages.to_string()));
    put("cpu.cores", topology.map(|(_, cores)| cores.to_string()));
    put("memory.nodes", machine.read("/sys/devices/system/node/online").ok());
    put("memory.total", memory_total(machine));
    if let Some(target) = machine.target() {
        put("storage.device", target.device.clone());
        put("storage.cached_by", target.cached_by.clone());
        for (key, file) in QUEUE {
            let of = |device: &String| machine.read(&format!("/sys/block/{device}/{file}")).ok();
            put(key, target.device.as_ref().and_then(of));
        }
    }
    for (key, value) in inherited() {
        put(key, value);
    }
    for factor in catalogue.factors {
        if let Knob::System(knob) = factor.knob() {
            let current = knob.current(machine).ok().map(|level: Level| level.to_string());
            put(&format!("knob.{}", factor.describe().id), current);
        }
    }
    Ok(fingerprint)
}

/// Packages and cores of the CPUs online (Documentation/ABI/stable/sysfs-devices-system-cpu).
fn topology(machine: &Machine) -> Option<(usize, usize)> {
    let mut cores = BTreeSet::new();
    for cpu in machine.online_cpus().ok()?.iter() {
        let of = |name: &str| {
            machine.read(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}")).ok()
        };
        cores.insert((of("physical_package_id")?, of("core_id")?));
    }
    let packages: BTreeSet<&String> = cores.iter().map(|(package, _)| package).collect();
    Some((packages.len(), cores.len()))
}

/// What a workload inherits of us where its subject says nothing.
fn inherited() -> [(&'static str, Option<String>); 4] {
    let attributes = sys::scheduling_attributes(0).ok();
    [
        ("process.policy", attributes.map(|attributes| attributes.policy.name().to_owned())),
        ("process.nice", attributes.map(|attributes| attributes.nice.to_string())),
        ("process.allowed_cpus", sys::affinity(0).ok().map(|cpus| cpus.to_string())),
        ("process.timer_slack_ns", sys::timer_slack().ok().map(|slack| slack.to_string())),
    ]
}

fn cpuinfo_field(machine: &Machine, name: &str) -> Option<String> {
    let text = machine.read("/proc/cpuinfo").ok()?;
    let line =
        text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn is_virtual(flags: &str) -> bool {
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

fn memory_total(machine: &Machine) -> Option<String> {
    let text = machine.read("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    Some(line.trim_start_matches("MemTotal:").trim().to_owned())
}
