//! The one catalogue, from all rooms.

use contract::{Catalogue, Factor, TrialCatalogue, Workload};
use std::sync::OnceLock;

/// Everything that can be named in an experiment.
#[must_use]
pub fn catalogue() -> Catalogue {
    Catalogue { trials: trial_catalogue(), venues: venues::ENTRIES }
}

/// What a trial is made of: all but venues. A process that runs one needs no way to open another
/// venue, and the program that goes into guests stays without QEMU and archives.
#[must_use]
pub fn trial_catalogue() -> TrialCatalogue {
    static FACTORS: OnceLock<Vec<&'static dyn Factor>> = OnceLock::new();
    let factors = FACTORS.get_or_init(|| {
        let simulated: &'static dyn Factor = &venues::SimEffect;
        let held: [&'static dyn Factor; 2] = [&storage::Entry, &schedulers::Entry];
        let boot: [&'static dyn Factor; 3] =
            [&venues::KernelFactor, &venues::CommandLine, &venues::Vcpus];
        let tunables = tunables::ENTRIES.iter().copied();
        tunables.chain(held).chain(boot).chain([simulated]).collect()
    });
    TrialCatalogue { workloads: workloads(), factors, probes: probes::ENTRIES }
}

/// Every workload, in the order of the catalogue's page.
fn workloads() -> &'static [&'static dyn Workload] {
    static WORKLOADS: OnceLock<Vec<&'static dyn Workload>> = OnceLock::new();
    WORKLOADS.get_or_init(|| {
        let rooms = [
            cpu_workloads::ENTRIES,
            net_workloads::ENTRIES,
            service_workloads::ENTRIES,
            io_workloads::ENTRIES,
            tool_workloads::ENTRIES,
        ];
        rooms.concat()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Knob, is_file_of};
    use executor::{JournalEntry, PermittedChanges};
    use std::path::PathBuf;
    use sys::ControlFile;

    /// What each pattern of files begins with: settings of the scheduler, of huge pages, of queues
    /// of block devices and of CPUs.
    const SETTINGS: [&str; 6] = [
        "/proc/sys/kernel/sched_",
        "/sys/kernel/debug/sched/",
        "/sys/kernel/debug/sched_",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/block/*/queue/",
        "/sys/devices/system/cpu/",
    ];
    /// Files that factors write, one for each pattern at least.
    const WRITTEN: [&str; 29] = [
        "/proc/sys/kernel/sched_autogroup_enabled",
        "/proc/sys/kernel/sched_latency_ns",
        "/proc/sys/kernel/sched_migration_cost_ns",
        "/proc/sys/kernel/sched_min_granularity_ns",
        "/proc/sys/kernel/sched_nr_migrate",
        "/proc/sys/kernel/sched_wakeup_granularity_ns",
        "/sys/kernel/debug/sched_features",
        "/sys/kernel/debug/sched_preempt",
        "/sys/kernel/debug/sched/base_slice_ns",
        "/sys/kernel/debug/sched/features",
        "/sys/kernel/debug/sched/latency_ns",
        "/sys/kernel/debug/sched/migration_cost_ns",
        "/sys/kernel/debug/sched/min_granularity_ns",
        "/sys/kernel/debug/sched/nr_migrate",
        "/sys/kernel/debug/sched/preempt",
        "/sys/kernel/debug/sched/wakeup_granularity_ns",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/block/sda/queue/scheduler",
        "/sys/block/sda/queue/iosched/slice_idle",
        "/sys/block/sda/queue/nr_requests",
        "/sys/block/nvme0n1/queue/read_ahead_kb",
        "/sys/block/sda/queue/rotational",
        "/sys/block/sda/queue/wbt_lat_usec",
        "/sys/block/loop0/queue/scheduler",
        "/sys/devices/system/cpu/cpu0/online",
        "/sys/devices/system/cpu/cpu127/online",
        "/sys/devices/system/cpu/smt/control",
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "/sys/devices/system/cpu/cpufreq/policy64/scaling_governor",
    ];
    /// Files by which root's programs, other users or the machine could be taken over or lost, and
    /// paths that lead to others than they name.
    const FORBIDDEN: [&str; 44] = [
        "/etc/shadow",
        "/etc/ld.so.preload",
        "/etc/cron.d/job",
        concat!("/ro", "ot/.ssh/authorized_keys"),
        "/proc/self/mem",
        "/proc/1/oom_score_adj",
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/core_pipe_limit",
        "/proc/sys/kernel/hotplug",
        "/proc/sys/kernel/kptr_restrict",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/kernel/modules_disabled",
        "/proc/sys/kernel/randomize_va_space",
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/proc/sys/kernel/sched_latency_ns/../core_pattern",
        "/proc/sys/kernel/yama/ptrace_scope",
        "/proc/sys/fs/binfmt_misc/register",
        "/proc/sys/fs/protected_symlinks",
        "/proc/sys/vm/overcommit_memory",
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/release_agent",
        "/sys/fs/cgroup/memory/release_agent",
        "/sys/kernel/uevent_helper",
        "/sys/kernel/debug/tracing/kprobe_events",
        "/sys/kernel/debug/sched/../../uevent_helper",
        "/sys/kernel/mm/transparent_hugepage/defrag",
        "/sys/kernel/mm/transparent_hugepage/../../uevent_helper",
        "/sys/module/kernel/parameters/panic",
        "/sys/power/state",
        "/sys/block/../queue/scheduler",
        "/sys/block/./queue/scheduler",
        "/sys/block//queue/scheduler",
        "/sys/block/sda/device/delete",
        "/sys/block/sda/queue/iosched/",
        "/sys/block/sda/queue/iosched/..",
        "/sys/block/sda/queue/iosched/../../uevent",
        "/sys/block/sda/queue/scheduler/",
        "/sys/block/sda/uevent",
        "/sys/devices/system/cpu/../online",
        "/sys/devices/system/cpu/cpu0/microcode/reload",
        "/sys/devices/system/cpu/cpufreq/policy0/../scaling_governor",
        "//sys/devices/system/cpu/smt/control",
        "sys/devices/system/cpu/smt/control",
    ];

    fn refusal_of_file(path: &str) -> Option<String> {
        let permitted = PermittedChanges::of(&trial_catalogue());
        permitted.refusal(&JournalEntry::Setting {
            id: 0,
            factor: "test".to_owned(),
            order: 50,
            file: ControlFile::plain(path),
            old: "0".to_owned(),
            new: "1".to_owned(),
            is_of_made: false,
        })
    }

    #[test]
    fn no_factor_lets_a_journal_write_what_is_no_setting_of_a_scheduler_a_queue_or_a_cpu() {
        for path in WRITTEN {
            assert_eq!(refusal_of_file(path), None, "{path}");
        }
        for path in FORBIDDEN {
            assert!(refusal_of_file(path).is_some(), "{path}");
        }
        for factor in trial_catalogue().factors {
            let Knob::System(knob) = factor.knob() else { continue };
            let id = factor.describe().id;
            for pattern in knob.writes() {
                let is_setting = SETTINGS.iter().any(|begin| pattern.starts_with(begin));
                assert!(is_setting, "{id} writes {pattern}");
                let is_named = WRITTEN.iter().any(|path| is_file_of(&pattern, path));
                assert!(is_named, "{id} writes {pattern}, of which no file is looked at here");
            }
        }
    }

    #[test]
    fn no_factor_lets_a_journal_remove_what_is_no_directory_of_a_target_or_a_campaign() {
        let permitted = PermittedChanges::of(&trial_catalogue());
        let refusal =
            |path: &str| permitted.refusal(&JournalEntry::Directory { path: PathBuf::from(path) });
        for path in ["/data/schedlab-12-345", "/here/results/one/scratch"] {
            assert_eq!(refusal(path), None, "{path}");
        }
        for path in [
            "/",
            "/root",
            concat!("/ro", "ot/.ssh"),
            "/etc/schedlab-12-345",
            "/data/schedlab-",
            "/data/schedlab-backup",
            "/data/schedlab-12-345/..",
            "/var/lib/schedlab",
        ] {
            assert!(refusal(path).is_some(), "{path}");
        }
    }
}
