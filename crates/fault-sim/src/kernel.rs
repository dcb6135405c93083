//! Settings of a kernel, as its files show and take them: choices in brackets, numbers that are
//! clamped, and slices that hotplug rescales (update_sysctl in kernel/sched/fair.c, 6.12).

use crate::extra_files::ExtraFiles;
use crate::random::Random;
use libc::{EBUSY, EINVAL, ENOENT};
use std::collections::BTreeMap;

pub(crate) const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
pub(crate) const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";
pub(crate) const BASE_SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
pub(crate) const MIGRATION_COST: &str = "/sys/kernel/debug/sched/migration_cost_ns";
pub(crate) const CPU1: &str = "/sys/devices/system/cpu/cpu1/online";
const ONLINE: &str = "/sys/devices/system/cpu/online";
const PRESENT: &str = "/sys/devices/system/cpu/present";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// All that can be written.
pub(crate) const KNOBS: [&str; 5] = [THP, AUTOGROUP, BASE_SLICE, MIGRATION_COST, CPU1];
const DEFAULT_COST: &str = "500000";
const CHOICES: [&str; 3] = ["always", "madvise", "never"];

/// What a kernel computes anew when a setting is written, beside the slice when a CPU comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coupling {
    /// Nothing.
    None,
    /// The cost of migration when the slice is written: with hotplug a chain of three.
    CostAfterSlice,
    /// The slice when the cost of migration is written, which is set after it.
    SliceAfterCost,
}

/// Values of knobs, by path.
pub(crate) type Knobs = BTreeMap<&'static str, String>;

/// A running kernel.
#[derive(Debug)]
pub(crate) struct SimulatedKernel {
    knobs: Knobs,
    boot: u64,
    /// A larger cost of migration is silently made this.
    highest_cost_ns: u64,
    coupling: Coupling,
    /// A setting that is not taken for now, whatever is written.
    refused: Option<&'static str>,
    /// When the process that runs began, in clock ticks since boot; none where none runs.
    process: Option<u64>,
    /// What a test put there.
    extra: ExtraFiles,
}

impl SimulatedKernel {
    /// One that has just booted.
    pub(crate) fn booted(random: &mut Random) -> Self {
        let highest_cost_ns = if random.one_in(4) { 1_000_000 } else { u64::from(u32::MAX) };
        let is_coupled = random.one_in(8);
        let coupling = if is_coupled { Coupling::SliceAfterCost } else { Coupling::None };
        let mut kernel = Self {
            knobs: defaults(),
            boot: 0,
            highest_cost_ns,
            coupling,
            refused: None,
            process: None,
            extra: ExtraFiles::default(),
        };
        kernel.reboot(random);
        kernel
    }

    /// Boots again: every setting is the default, or what its owner has set at boot, and no process
    /// runs.
    pub(crate) fn reboot(&mut self, random: &mut Random) {
        self.boot += 1;
        self.knobs = defaults();
        self.process = None;
        for (path, value) in [(CPU1, "0"), (BASE_SLICE, "3000000"), (THP, "always")] {
            // What hotplug announces as moved is ours whatever moves it. Without hotplug nobody
            // announces what this kernel moves.
            let is_kept = path == CPU1 && self.coupling == Coupling::SliceAfterCost;
            if random.one_in(3) && !is_kept {
                // None of these is refused.
                let _ = self.write(path, value);
            }
        }
    }

    /// What a user does who was told that not everything is back: of a kernel that moves what nobody
    /// announces without hotplug, the CPU comes online, as after a boot.
    pub(crate) fn repair(&mut self) {
        if self.coupling == Coupling::SliceAfterCost {
            // It is not refused: nothing else stands in its way.
            let _ = self.write(CPU1, "1");
        }
    }

    /// What all knobs hold.
    pub(crate) fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    /// What it computes anew.
    pub(crate) fn coupling(&self) -> Coupling {
        self.coupling
    }

    /// Makes it a kernel that computes this anew.
    pub(crate) fn couple(&mut self, coupling: Coupling) {
        self.coupling = coupling;
    }

    /// From now on this setting is not taken, and every other one.
    pub(crate) fn refuse(&mut self, refused: Option<&'static str>) {
        self.refused = refused;
    }

    /// Whether a setting is not taken for now.
    pub(crate) fn is_refusing(&self) -> bool {
        self.refused.is_some()
    }

    /// The id of this boot.
    pub(crate) fn boot_id(&self) -> String {
        format!("boot-{}", self.boot)
    }

    /// The files that a test puts there.
    pub(crate) fn extra(&mut self) -> &mut ExtraFiles {
        &mut self.extra
    }

    /// A process begins, or the one that runs ends.
    pub(crate) fn set_process(&mut self, start_ticks: Option<u64>) {
        self.process = start_ticks;
    }

    /// A file's text.
    pub(crate) fn read(&self, path: &str) -> Result<String, i32> {
        let value = |path: &str| self.knobs.get(path).cloned().ok_or(ENOENT);
        let text = match path {
            THP => {
                let now = value(THP)?;
                let shown = |choice: &&str| {
                    if **choice == *now { format!("[{choice}]") } else { (*choice).to_owned() }
                };
                CHOICES.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            ONLINE if value(CPU1)? == "0" => "0".to_owned(),
            ONLINE | PRESENT => "0-1".to_owned(),
            BOOT_ID => self.boot_id(),
            _ if path == stat_path() => self.process.map(stat).ok_or(ENOENT)?,
            path => self.extra.text(path).unwrap_or_else(|| value(path))?,
        };
        Ok(text + "\n")
    }

    /// Whether a file or a directory has that name.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.extra.has(path) || self.read(path).is_ok()
    }

    /// Writes a setting.
    pub(crate) fn write(&mut self, path: &str, text: &str) -> Result<(), i32> {
        if self.extra.write(path, text.trim()) {
            return Ok(());
        }
        let knob = *KNOBS.iter().find(|knob| **knob == path).ok_or(ENOENT)?;
        if self.refused == Some(knob) {
            return Err(EBUSY);
        }
        let number = || text.trim().parse::<u64>().map_err(|_| EINVAL);
        let value = match knob {
            THP if CHOICES.contains(&text.trim()) => text.trim().to_owned(),
            AUTOGROUP | CPU1 if number()? <= 1 => number()?.to_string(),
            BASE_SLICE => number()?.clamp(100_000, 1_000_000_000).to_string(),
            MIGRATION_COST => number()?.min(self.highest_cost_ns).to_string(),
            _ => return Err(EINVAL),
        };
        if knob == CPU1 && self.knobs.get(CPU1) != Some(&value) {
            self.knobs.insert(BASE_SLICE, slice_for(&value));
        }
        self.knobs.insert(knob, value);
        match (self.coupling, knob) {
            (Coupling::CostAfterSlice, BASE_SLICE) => {
                self.knobs.insert(MIGRATION_COST, DEFAULT_COST.to_owned());
            }
            (Coupling::SliceAfterCost, MIGRATION_COST) => {
                let online = self.knobs.get(CPU1).map_or("1", String::as_str);
                let slice = slice_for(online);
                self.knobs.insert(BASE_SLICE, slice);
            }
            _ => {}
        }
        Ok(())
    }

    /// Names in a directory: of processes alone.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, i32> {
        match path {
            "/proc" => {
                let own = self.process.map(|_| std::process::id().to_string());
                Ok(own.into_iter().chain(self.extra.process_names()).collect())
            }
            _ => Err(ENOENT),
        }
    }
}

fn defaults() -> Knobs {
    let values = ["madvise", "1", "2800000", DEFAULT_COST, "1"];
    KNOBS.into_iter().zip(values.map(str::to_owned)).collect()
}

/// The default of the slice with CPU 1 online, or without.
fn slice_for(online: &str) -> String {
    if online == "1" { "2800000" } else { "1400000" }.to_owned()
}

fn stat_path() -> String {
    format!("/proc/{}/stat", std::process::id())
}

/// A line of /proc/PID/stat (proc_pid_stat(5)) of a process that began then.
fn stat(start_ticks: u64) -> String {
    let pid = std::process::id();
    format!(
        "{pid} (schedlab) S 1 {pid} {pid} 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 1 0 {start_ticks} \
         1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hotplug_rescales_the_slice_and_choices_are_shown_in_brackets() {
        let mut kernel = SimulatedKernel::booted(&mut Random::new(1));
        // Its owner may have set others at boot.
        kernel.write(CPU1, "1").unwrap();
        kernel.write(THP, "madvise").unwrap();
        kernel.write(BASE_SLICE, "4000000").unwrap();
        kernel.write(CPU1, "0").unwrap();
        assert_eq!(kernel.read(BASE_SLICE).unwrap(), "1400000\n");
        assert_eq!(kernel.read(ONLINE).unwrap(), "0\n");
        assert_eq!(kernel.read(THP).unwrap(), "always [madvise] never\n");
        assert_eq!(kernel.write(THP, "sometimes"), Err(EINVAL));
        assert_eq!(kernel.read("/sys/kernel/sched_ext/state"), Err(ENOENT));
        let boot = kernel.boot_id();
        kernel.reboot(&mut Random::new(1));
        assert_eq!(kernel.knobs()[MIGRATION_COST], defaults()[MIGRATION_COST]);
        assert_ne!(kernel.boot_id(), boot);
    }

    #[test]
    fn a_kernel_may_move_one_setting_with_another_and_refuse_one() {
        let mut kernel = SimulatedKernel::booted(&mut Random::new(1));
        let moved = |kernel: &mut SimulatedKernel, coupling| {
            kernel.couple(coupling);
            kernel.write(MIGRATION_COST, "700000").unwrap();
            kernel.write(CPU1, "1").unwrap();
            kernel.write(BASE_SLICE, "4000000").unwrap();
            let cost = kernel.knobs()[MIGRATION_COST].clone();
            kernel.write(MIGRATION_COST, "800000").unwrap();
            (cost, kernel.knobs()[BASE_SLICE].clone())
        };
        let texts = |cost: &str, slice: &str| (cost.to_owned(), slice.to_owned());
        assert_eq!(moved(&mut kernel, Coupling::None), texts("700000", "4000000"));
        assert_eq!(moved(&mut kernel, Coupling::CostAfterSlice), texts("500000", "4000000"));
        assert_eq!(moved(&mut kernel, Coupling::SliceAfterCost), texts("700000", "2800000"));
        kernel.refuse(Some(THP));
        assert_eq!(kernel.write(THP, "never"), Err(EBUSY));
        kernel.write(AUTOGROUP, "0").unwrap();
        kernel.refuse(None);
        kernel.write(THP, "never").unwrap();
    }

    #[test]
    fn a_process_is_there_while_it_runs() {
        let mut kernel = SimulatedKernel::booted(&mut Random::new(1));
        assert_eq!(kernel.read(&stat_path()), Err(ENOENT));
        kernel.set_process(Some(77));
        let line = kernel.read(&stat_path()).unwrap();
        assert_eq!(line.split(' ').nth(21), Some("77"));
    }
}
