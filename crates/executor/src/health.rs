//! What else the machine did during an invocation: steal, throttling, other
//! programs. Thresholds are those of STATISTICS 2.13.

use model::{Caveat, CaveatCode, CpuList, RunReport};
use sys::Machine;

/// Steal above this share of the CPUs' time is a caveat.
const STEAL_SHARE: f64 = 0.005;
/// Foreign CPU use above this share of the CPUs' time is a caveat.
const FOREIGN_SHARE: f64 = 0.02;
/// User, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)).
const MODES: usize = 8;

/// Counters before an invocation.
pub(crate) struct Health {
    ticks: Option<[u64; MODES]>,
    throttles: Option<u64>,
    hog_ticks: u64,
}

impl Health {
    /// Reads the counters; a file that is not there is simply not judged.
    pub(crate) fn read(machine: &Machine, hogs: Option<i32>) -> Self {
        Self {
            ticks: machine.read("/proc/stat").ok().and_then(|text| cpu_ticks(&text)),
            throttles: throttle_count(machine),
            hog_ticks: hogs
                .and_then(|pid| machine.process_stat(pid).ok())
                .map_or(0, |stat| stat.user_ticks + stat.system_ticks),
        }
    }

    /// What happened since `self`, as caveats.
    pub(crate) fn caveats(&self, now: &Health, run: &RunReport, cpus: &CpuList) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if let (Some(before), Some(after)) = (&self.ticks, &now.ticks) {
            let spent: Vec<f64> =
                before.iter().zip(after).map(|(b, a)| a.saturating_sub(*b) as f64).collect();
            let total: f64 = spent.iter().sum();
            if total > 0.0 {
                let steal = spent[7] / total;
                if steal > STEAL_SHARE {
                    caveats.push(Caveat::new(
                        CaveatCode::Steal,
                        format!("{:.1} % of CPU time was stolen", steal * 100.0),
                    ));
                }
                let busy = total - spent[3] - spent[4] - spent[7];
                let per_second = rustix::param::clock_ticks_per_second() as f64;
                let own = (run.usage.user_ns + run.usage.system_ns) as f64 / 1e9 * per_second;
                let hogs = now.hog_ticks.saturating_sub(self.hog_ticks) as f64;
                let foreign = (busy - own - hogs) / total;
                if foreign > FOREIGN_SHARE && total > cpus.len() as f64 * per_second / 4.0 {
                    caveats.push(Caveat::new(
                        CaveatCode::Interference,
                        format!(
                            "other programs and the kernel's own work used {:.1} % of CPU time",
                            foreign * 100.0
                        ),
                    ));
                }
            }
        }
        if let (Some(before), Some(after)) = (self.throttles, now.throttles)
            && after > before
        {
            caveats.push(Caveat::new(
                CaveatCode::Throttle,
                format!("{} throttling events", after - before),
            ));
        }
        caveats
    }
}

/// The aggregate line of /proc/stat.
fn cpu_ticks(text: &str) -> Option<[u64; MODES]> {
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    let mut ticks = [0; MODES];
    let mut fields = line.split_whitespace().skip(1);
    for slot in &mut ticks {
        *slot = fields.next()?.parse().ok()?;
    }
    Some(ticks)
}

/// Sum over CPUs of core_throttle_count (arch/x86/kernel/cpu/mce/therm_throt.c, 6.12).
fn throttle_count(machine: &Machine) -> Option<u64> {
    let mut sum = None;
    for cpu in machine.present_cpus().ok()?.iter() {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count");
        if let Some(count) =
            machine.read(&path).ok().and_then(|text| text.trim().parse::<u64>().ok())
        {
            *sum.get_or_insert(0) += count;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(ticks: [u64; MODES], throttles: Option<u64>, hog_ticks: u64) -> Health {
        Health { ticks: Some(ticks), throttles, hog_ticks }
    }

    #[test]
    fn steal_throttling_and_foreign_work_are_told_apart_from_our_own() {
        let cpus: CpuList = "0-1".parse().unwrap();
        let before = health([0; MODES], Some(1), 0);
        let run = RunReport {
            usage: model::Usage { user_ns: 1_000_000_000, ..Default::default() },
            ..Default::default()
        };
        let codes = |now: &Health| -> Vec<CaveatCode> {
            before.caveats(now, &run, &cpus).into_iter().map(|caveat| caveat.code).collect()
        };
        assert_eq!(codes(&health([100, 0, 0, 100, 0, 0, 0, 0], Some(1), 0)), []);
        assert_eq!(codes(&health([200, 0, 0, 0, 0, 0, 0, 0], Some(1), 100)), []);
        assert_eq!(
            codes(&health([200, 0, 0, 0, 0, 0, 0, 0], Some(1), 0)),
            [CaveatCode::Interference]
        );
        assert_eq!(
            codes(&health([100, 0, 0, 98, 0, 0, 0, 2], Some(3), 0)),
            [CaveatCode::Steal, CaveatCode::Throttle]
        );
    }

    #[test]
    fn a_short_line_is_not_read_as_zero() {
        assert_eq!(cpu_ticks("cpu 1 2 3\n"), None);
        assert!(cpu_ticks("cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1\n").is_some());
    }
}
