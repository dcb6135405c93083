//! How the machine fares while a campaign runs, from files that anybody may read.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use sys::{CpuTime, Machine, Pressure, Process, ProcessStat, monotonic_ns, waited_ns_by_cpu};

/// The processes of the campaign are looked up this often: it means a look at every process.
const LOOKED_UP_EVERY_NS: u64 = 1_000_000_000;

/// The machine over the time since the sample before.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MachineSample {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Each CPU that is online.
    pub cpus: Vec<CpuSample>,
    /// Share of all CPUs' time that a hypervisor took.
    pub steal: f64,
    /// Share of all CPUs' time used by what is not the campaign's: other programs, interrupts
    /// and the kernel's own work. Absent where no campaign runs.
    pub foreign: Option<f64>,
    /// Throttling events since the first sample; absent where the machine does not tell.
    pub throttled: Option<u64>,
    /// Share of the time in which some task waited for a CPU; absent without PSI.
    pub pressure: Option<f64>,
}

/// One CPU over that time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CpuSample {
    /// Its number.
    pub cpu: usize,
    /// Share of its time in which it worked.
    pub busy: f64,
    /// Mean number of tasks that waited to run on it; absent on kernels without schedstats.
    pub waiting: Option<f64>,
}

/// What the kernel has counted until now.
#[derive(Debug, Clone, Default)]
struct Counters {
    at_ns: u64,
    all: CpuTime,
    each: BTreeMap<usize, CpuTime>,
    waited_ns: BTreeMap<usize, u64>,
    pressure_us: Option<u64>,
}

/// What the campaign's processes used, at times a second apart.
#[derive(Debug, Clone, Copy)]
struct Own {
    at_ns: u64,
    ticks: u64,
    busy: u64,
    total: u64,
}

/// Takes samples.
#[derive(Debug)]
pub struct Sampler {
    machine: Machine,
    before: Option<Counters>,
    throttled_before: Option<u64>,
    own: Option<(Process, Own)>,
    foreign: Option<f64>,
}

impl Sampler {
    /// A sampler of this machine.
    pub fn new(machine: Machine) -> Self {
        let throttled_before = machine.throttle_count();
        Self { machine, before: None, throttled_before, own: None, foreign: None }
    }

    /// The machine since the last call; `None` the first time, or where the kernel does not
    /// tell CPU times. `campaign` is the process that runs one.
    pub fn sample(&mut self, campaign: Option<Process>, at_ms: u64) -> Option<MachineSample> {
        let now = self.counters()?;
        self.note_own(campaign, &now);
        let before = self.before.replace(now.clone())?;
        let spent = now.all.since(&before.all);
        let elapsed_ns = now.at_ns.saturating_sub(before.at_ns);
        if spent.total() == 0 || elapsed_ns == 0 {
            return None;
        }
        let pressure = now.pressure_us.zip(before.pressure_us);
        Some(MachineSample {
            at_ms,
            cpus: cpus(&before, &now, elapsed_ns),
            steal: share(spent.steal, spent.total()),
            foreign: self.foreign,
            throttled: self
                .machine
                .throttle_count()
                .zip(self.throttled_before)
                .map(|(now, first)| now.saturating_sub(first)),
            pressure: pressure.map(|(now, before)| {
                share(now.saturating_sub(before).saturating_mul(1_000), elapsed_ns).min(1.0)
            }),
        })
    }

    fn counters(&self) -> Option<Counters> {
        let text = self.machine.read("/proc/stat").ok()?;
        let waited = self.machine.read("/proc/schedstat").ok();
        let pressure = self.machine.read("/proc/pressure/cpu").ok();
        Some(Counters {
            at_ns: monotonic_ns(),
            all: CpuTime::parse(&text)?,
            each: CpuTime::parse_each(&text)?.into_iter().collect(),
            waited_ns: waited
                .and_then(|text| waited_ns_by_cpu(&text))
                .unwrap_or_default()
                .into_iter()
                .collect(),
            pressure_us: pressure.and_then(|text| Pressure::parse(&text)).map(|one| one.some_us),
        })
    }

    /// Once a second: how much of what CPUs did was the campaign's.
    fn note_own(&mut self, campaign: Option<Process>, now: &Counters) {
        let Some(process) = campaign else {
            (self.own, self.foreign) = (None, None);
            return;
        };
        let earlier = self.own.filter(|(before, _)| *before == process).map(|(_, own)| own);
        if earlier.is_some_and(|own| now.at_ns.saturating_sub(own.at_ns) < LOOKED_UP_EVERY_NS) {
            return;
        }
        let Some(ticks) = ticks_of_tree(&self.machine, process) else {
            (self.own, self.foreign) = (None, None);
            return;
        };
        let own = Own { at_ns: now.at_ns, ticks, busy: now.all.busy(), total: now.all.total() };
        self.foreign = earlier.and_then(|before| {
            let total = own.total.checked_sub(before.total).filter(|total| *total > 0)?;
            let busy = own.busy.saturating_sub(before.busy);
            Some(share(busy.saturating_sub(ticks.saturating_sub(before.ticks)), total))
        });
        self.own = Some((process, own));
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn cpus(before: &Counters, now: &Counters, elapsed_ns: u64) -> Vec<CpuSample> {
    let of_one = |(cpu, time): (&usize, &CpuTime)| {
        let spent = time.since(before.each.get(cpu)?);
        // A CPU that did not count a tick was not online all the time.
        let busy = (spent.total() > 0).then(|| share(spent.busy(), spent.total()))?;
        let waited = now.waited_ns.get(cpu).zip(before.waited_ns.get(cpu));
        let waiting = waited.map(|(now, before)| share(now.saturating_sub(*before), elapsed_ns));
        Some(CpuSample { cpu: *cpu, busy, waiting })
    };
    now.each.iter().filter_map(of_one).collect()
}

/// Clock ticks that a process, its descendants, and those of them that were waited for have
/// used; `None` where it is gone. A process that outlived its parent is no longer found.
fn ticks_of_tree(machine: &Machine, root: Process) -> Option<u64> {
    let stats: Vec<ProcessStat> = machine
        .process_ids()
        .ok()?
        .into_iter()
        .filter_map(|pid| machine.process_stat(pid).ok())
        .collect();
    stats.iter().find(|stat| stat.pid == root.pid && stat.start_ticks == root.start_ticks)?;
    let mut tree = BTreeSet::from([root.pid]);
    loop {
        let is_new = |stat: &&ProcessStat| tree.contains(&stat.parent) && !tree.contains(&stat.pid);
        let children: Vec<i32> = stats.iter().filter(is_new).map(|stat| stat.pid).collect();
        if children.is_empty() {
            break;
        }
        tree.extend(children);
    }
    let own = stats.iter().filter(|stat| tree.contains(&stat.pid));
    Some(own.map(|stat| stat.user_ticks + stat.system_ticks + stat.waited_for_ticks).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn stat(root: &Path, cpus: [[u64; 3]; 2]) {
        let line = |name: &str, [user, idle, steal]: [u64; 3]| {
            format!("{name} {user} 0 0 {idle} 0 0 0 {steal} 0 0\n")
        };
        let all = [0, 1, 2].map(|at| cpus[0][at] + cpus[1][at]);
        let text = [line("cpu", all), line("cpu0", cpus[0]), line("cpu1", cpus[1])].concat();
        write(root, "proc/stat", &text);
    }

    #[test]
    fn a_sample_tells_what_happened_since_the_one_before() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        stat(root, [[0, 0, 0], [0, 0, 0]]);
        write(root, "proc/pressure/cpu", "some avg10=0 avg60=0 avg300=0 total=0\n");
        let machine = Machine::fake(root, root.join("run")).unwrap();
        let mut sampler = Sampler::new(machine);
        assert_eq!(sampler.sample(None, 1), None, "nothing to compare with");
        stat(root, [[30, 70, 0], [90, 5, 5]]);
        sleep(Duration::from_millis(2));
        let sample = sampler.sample(None, 2).unwrap();
        let busy: Vec<f64> = sample.cpus.iter().map(|cpu| cpu.busy).collect();
        assert_eq!(busy, [0.3, 0.9]);
        assert!((sample.steal - 5.0 / 200.0).abs() < 1e-12);
        assert_eq!(sample.pressure, Some(0.0));
        assert_eq!((sample.foreign, sample.throttled), (None, None));
        assert!(sample.cpus.iter().all(|cpu| cpu.waiting.is_none()), "no schedstat");
    }

    #[test]
    fn waiting_tasks_are_the_growth_of_their_waiting_by_the_time() {
        let before = Counters { waited_ns: [(0, 5)].into(), ..Counters::default() };
        let ticks = CpuTime { user: 4, ..CpuTime::default() };
        let each = BTreeMap::from([(0, ticks)]);
        let earlier = Counters { each: [(0, CpuTime::default())].into(), ..before };
        let now = Counters { waited_ns: [(0, 3_000_005)].into(), each, ..Counters::default() };
        let found = cpus(&earlier, &now, 2_000_000);
        assert_eq!(found, [CpuSample { cpu: 0, busy: 1.0, waiting: Some(1.5) }]);
    }

    #[test]
    fn a_tree_holds_the_time_of_its_children() {
        let machine = Machine::host("/nonexistent");
        let stat = machine.process_stat(i32::try_from(std::process::id()).unwrap()).unwrap();
        let own = Process { pid: stat.pid, start_ticks: stat.start_ticks };
        let before = ticks_of_tree(&machine, own).unwrap();
        let burnt = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])
            .status()
            .unwrap();
        assert!(burnt.success());
        assert!(ticks_of_tree(&machine, own).unwrap() > before);
        let other = Process { start_ticks: own.start_ticks + 1, ..own };
        assert_eq!(ticks_of_tree(&machine, other), None, "another process of that number");
    }
}
