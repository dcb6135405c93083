//! A kernel's command line: words that decide how fast it is stay, all others go.

use super::kind::SecretKind;
use super::replacer::Replacer;

/// Parameters that a reader of results needs and that name nobody
/// (Documentation/admin-guide/kernel-parameters.txt).
const KEPT: &[&str] = &[
    "amd_pstate",
    "audit",
    "cgroup_disable",
    "cgroup_no_v1",
    "clocksource",
    "console",
    "default_hugepagesz",
    "deferred_init",
    "elevator",
    "hpet",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "initcall_blacklist",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "l1tf",
    "maxcpus",
    "mce",
    "mds",
    "mem",
    "mitigations",
    "nmi_watchdog",
    "no_timer_check",
    "noautogroup",
    "nohlt",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nomodule",
    "nopti",
    "norandmaps",
    "noreplace-smp",
    "nosmt",
    "nosoftlockup",
    "nospectre_v1",
    "nospectre_v2",
    "notsc",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "panic",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "psi",
    "pti",
    "quiet",
    "random.trust_cpu",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "reboot",
    "retbleed",
    "ro",
    "rw",
    "schedstats",
    "scsi_mod.use_blk_mq",
    "skew_tick",
    "slab_nomerge",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_v2",
    "splash",
    "srbds",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "tsx",
    "tsx_async_abort",
    "workqueue.power_efficient",
];
/// Modules all of whose parameters are about speed.
const KEPT_MODULES: &[&str] = &[
    "cpufreq",
    "cpuidle",
    "cpuidle_haltpoll",
    "cryptomgr",
    "haltpoll",
    "kvm",
    "kvm_amd",
    "kvm_intel",
    "nvme",
    "page_reporting",
    "rcupdate",
    "rcutree",
    "sched",
];

/// The line with a placeholder for each other word, and for all that is handed to the first
/// process.
pub(super) fn redacted(line: &str, replacer: &mut Replacer) -> String {
    let mut is_of_kernel = true;
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| {
            let key = word.split('=').next().unwrap_or(word);
            let module = key.split_once('.').map(|(module, _)| module);
            is_of_kernel &= word != "--";
            if word == "--" {
                return word.to_owned();
            }
            let is_kept = KEPT.contains(&key) || module.is_some_and(|m| KEPT_MODULES.contains(&m));
            if is_kept && is_of_kernel {
                replacer.text(word)
            } else {
                replacer.placeholder(SecretKind::KernelWord, word)
            }
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_speed_stays_and_all_else_goes() {
        let mut replacer = Replacer::default();
        let line = "root=UUID=3b2e8e6c-3212-4450-8a1c-d3e9522baded ro mitigations=off \
                    acme.license=X1 isolcpus=2-3 rcutree.kthread_prio=2 -- --token quiet";
        assert_eq!(
            redacted(line, &mut replacer),
            "redacted-kernel-word-1 ro mitigations=off redacted-kernel-word-2 isolcpus=2-3 \
             rcutree.kthread_prio=2 -- redacted-kernel-word-3 redacted-kernel-word-4"
        );
    }
}
