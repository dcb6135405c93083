//! A simulated machine below `sys::Files`: a disk behind a page cache, settings of a kernel, locks,
//! and faults at each operation. A process that ends does so by unwinding from the operation; what
//! runs on the way has no effect any more.

use crate::disk::SimulatedDisk;
use crate::faults::{Fate, Faults, Operation};
use crate::journal_damage::{damaged, place_of_flip, unseen};
use crate::kernel::SimulatedKernel;
use crate::random::Random;
use executor::{JournalEntry, parse_journal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sys::{Files, Machine};

pub(crate) const RUNTIME: &str = "/simulated/run";
pub(crate) const DATA: &str = "/simulated/data";
/// What processes of a session would have in their environment; as long as one that is obeyed.
pub(crate) const SESSION_MARK: &str = "SCHEDLAB_MARK=fault-sim";
const JOURNAL: &str = "journal.jsonl";
const LOCK: &str = "lock";
/// Comes before the number of a setting in its line of the journal.
const SETTING_NUMBER: &str = "\"entry\":\"setting\",\"id\":";
/// Holds a lock that its process inherited.
const GUARDIAN: u64 = 0;
/// The last operations are told.
const MOST_TOLD: usize = 80;

/// What unwinds through a process that ends.
pub(crate) struct Death;

/// Everything of the machine.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) disk: SimulatedDisk,
    pub(crate) kernel: SimulatedKernel,
    pub(crate) random: Random,
    faults: Faults,
    is_dead: bool,
    /// Above 0 nothing goes wrong: somebody looks.
    paused: u32,
    /// Handles that hold the lock of a file, each with whether it holds it alone.
    locks: BTreeMap<usize, BTreeMap<u64, bool>>,
    handles: u64,
    processes: u64,
    /// Operations that failed by a fault.
    pub(crate) failures: u64,
    /// Those of them that wrote a setting of the kernel.
    pub(crate) refused_settings: u64,
    /// What a guardian was sent that watches.
    pipe: Option<File>,
    /// Whether what lies in the runtime directory is gone without power.
    is_runtime_memory: bool,
    /// Bits of the journal were flipped: what it announces may be unknown.
    pub(crate) is_harmed: bool,
    /// A sync that failed lost what it should have stored of the journal: after a cut of power it
    /// has holes.
    pub(crate) has_lost_journal: bool,
    /// Another user could write in directories that are to be private: none is opened.
    pub(crate) is_shared_with_others: bool,
    /// What broke a promise.
    violations: Vec<String>,
    told: Vec<String>,
    is_traced: bool,
}

/// A machine; its copies are the same one.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedMachine(Arc<Mutex<State>>);

impl SimulatedMachine {
    /// One that has just booted; where it is traced, the last operations can be told.
    pub(crate) fn new(seed: u64, is_traced: bool) -> Self {
        let mut random = Random::new(seed);
        let state = State {
            disk: SimulatedDisk::with(&["/simulated", DATA]),
            kernel: SimulatedKernel::booted(&mut random),
            is_runtime_memory: random.one_in(2),
            random,
            faults: Faults::default(),
            is_dead: false,
            paused: 0,
            locks: BTreeMap::new(),
            handles: GUARDIAN,
            processes: 0,
            failures: 0,
            refused_settings: 0,
            pipe: None,
            is_harmed: false,
            has_lost_journal: false,
            is_shared_with_others: false,
            violations: Vec::new(),
            told: Vec::new(),
            is_traced,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// It as the product sees it.
    pub(crate) fn machine(&self) -> Machine {
        Machine::host(RUNTIME).with_files(self.files())
    }

    /// Its files.
    pub(crate) fn files(&self) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    /// All of it. No operation begins while this is held.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process begins, to which this happens.
    pub(crate) fn begin_process(&self, faults: Faults) {
        let mut state = self.state();
        state.faults = faults;
        state.is_dead = false;
        state.processes += 1;
        let start_ticks = state.processes;
        state.kernel.set_process(Some(start_ticks));
        state.tell(|| format!("-- process {start_ticks}"));
    }

    /// The process has ended.
    pub(crate) fn end_process(&self) {
        let mut state = self.state();
        state.faults = Faults::default();
        state.is_dead = false;
        state.kernel.set_process(None);
    }

    /// Does this while nothing goes wrong.
    pub(crate) fn undisturbed<T>(&self, look: impl FnOnce() -> T) -> T {
        self.state().paused += 1;
        let seen = look();
        self.state().paused -= 1;
        seen
    }

    /// Cuts the power and boots again.
    pub(crate) fn lose_power(&self) {
        let mut state = self.state();
        let State { disk, kernel, random, is_runtime_memory, .. } = &mut *state;
        let memory = is_runtime_memory.then_some(Path::new(RUNTIME));
        disk.lose_power(random, memory);
        kernel.reboot(random);
        // Sectors of an append that did not get there, behind a length that did: to be told.
        let has_zeros = state.journal().is_some_and(|file| state.disk.bytes(file).contains(&0));
        state.is_harmed |= has_zeros;
        state.locks.clear();
        state.pipe = None;
        state.tell(|| "-- the power was cut".to_owned());
    }

    /// A guardian starts to watch, and inherits the lock.
    pub(crate) fn start_guardian(&self, pipe: File) {
        self.state().pipe = Some(pipe);
    }

    /// What the guardian that watches was sent, if one does.
    pub(crate) fn pipe(&self) -> Option<File> {
        self.state().pipe.as_ref().and_then(|pipe| pipe.try_clone().ok())
    }

    /// The guardian has ended.
    pub(crate) fn end_guardian(&self) {
        let mut state = self.state();
        state.pipe = None;
        for holders in state.locks.values_mut() {
            holders.remove(&GUARDIAN);
        }
    }

    /// Deletes the journal, cuts it or flips a bit of it, before its last line, which alone a
    /// guardian may not have been told. Whether there was anything.
    pub(crate) fn harm_watched_journal(&self, random: &mut Random) -> bool {
        let mut state = self.state();
        let Some(file) = state.journal() else { return false };
        let text = state.disk.bytes(file).to_owned();
        let lines = text.strip_suffix(b"\n").unwrap_or(&text);
        let last = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if last == 0 {
            return false;
        }
        let (at, bit) = place_of_flip(&text[..last], random);
        let harm = random.below(3);
        match harm {
            // It has a name: it was found by it.
            0 => drop(state.disk.remove(&Path::new(RUNTIME).join(JOURNAL))),
            1 => state.disk.set_length(file, at),
            _ => state.disk.flip(file, at, bit),
        }
        state.is_harmed = true;
        state.tell(|| {
            let what = ["deleted", "cut", "changed in a bit"][harm];
            format!("-- the watched journal is {what} (byte {at}, bit {bit})")
        });
        true
    }

    /// Damages the journal, if there is one, in a way that its reader must tell.
    pub(crate) fn harm_journal(&self, random: &mut Random) {
        let mut state = self.state();
        let Some(file) = state.journal() else { return };
        let text = state.disk.bytes(file).to_owned();
        let Some(found) = damaged(&text, random) else { return };
        state.tell(|| format!("-- damage of the journal: {:?}", found.damage));
        if let Some(why) = unseen(&text, &found) {
            state.blame(format!("{why} ({:?})", found.damage));
        }
        state.disk.exchange(file, found.bytes);
        state.is_harmed = true;
    }

    /// Removes the journal, as a user does who has read what is damaged.
    pub(crate) fn remove_journal(&self) {
        let mut state = self.state();
        // One that is not there is what is wanted.
        let _ = state.disk.remove(&Path::new(RUNTIME).join(JOURNAL));
        state.is_harmed = false;
    }

    /// The same for good: no cut of power brings it back, or what a failed sync lost of it.
    pub(crate) fn forget_journal(&self) {
        self.remove_journal();
        let mut state = self.state();
        // Without the directory there is no journal in it.
        let _ = state.disk.sync_directory(Path::new(RUNTIME));
        state.has_lost_journal = false;
    }

    /// The runtime directory has been there for long, on a disk: a cut of power leaves what was
    /// synced in it.
    pub(crate) fn store_runtime(&self) {
        let mut state = self.state();
        state.is_runtime_memory = false;
        let runtime = Path::new(RUNTIME);
        let made = state.disk.make_directory(runtime);
        let above = runtime.parent().unwrap_or(runtime);
        let stored = made.and_then(|()| state.disk.sync_directory(above));
        assert_eq!(stored, Ok(()), "{RUNTIME} can be made");
    }

    /// Notes a promise that was broken.
    pub(crate) fn blame(&self, violation: impl Into<String>) {
        self.state().blame(violation.into());
    }

    /// Promises that were broken, and the last operations.
    pub(crate) fn verdict(&self) -> (Vec<String>, Vec<String>) {
        let state = self.state();
        (state.violations.clone(), state.told.clone())
    }

    /// An operation: `act` does it, in part where the process ends within it.
    pub(crate) fn perform<T>(
        &self,
        (operation, path): (Operation, &Path),
        act: impl FnOnce(&mut State, bool) -> Result<T, i32>,
    ) -> io::Result<T> {
        let mut state = self.state();
        if state.is_dead {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        let fate = state.fate(operation, path, false);
        let done = match fate {
            Fate::Fails(number) => Err(number),
            Fate::DiesBefore => self.die(state),
            Fate::DiesWithin => {
                // What came of it nobody learns.
                let _ = act(&mut state, true);
                self.die(state)
            }
            Fate::DiesAfter => {
                let _ = act(&mut state, false);
                self.die(state)
            }
            Fate::Done => act(&mut state, false),
        };
        done.map_err(io::Error::from_raw_os_error)
    }

    /// Ends the process here.
    pub(crate) fn die(&self, mut state: MutexGuard<'_, State>) -> ! {
        state.is_dead = true;
        state.tell(|| "-- the process ends".to_owned());
        drop(state);
        resume_unwind(Box::new(Death))
    }

    /// A number that no other open file has.
    pub(crate) fn new_handle(&self) -> u64 {
        let mut state = self.state();
        state.handles += 1;
        state.handles
    }
}

fn is_of_kernel(path: &Path) -> bool {
    path.starts_with("/sys") || path.starts_with("/proc")
}

impl State {
    /// What happens to the next operation.
    pub(crate) fn fate(&mut self, operation: Operation, path: &Path, has_space: bool) -> Fate {
        if self.paused > 0 {
            return Fate::Done;
        }
        let mut fate = self.faults.next(operation, has_space);
        if fate == Fate::Fails(libc::EPERM) && is_of_kernel(path) && operation == Operation::Look {
            // A kernel that does not show a setting, as under lockdown, never does.
            fate = Fate::Fails(libc::EIO);
        }
        let count = self.faults.count();
        let has_failed = matches!(fate, Fate::Fails(_));
        self.failures += u64::from(has_failed);
        self.refused_settings += u64::from(has_failed && operation == Operation::Set);
        self.tell(|| format!("{count} {operation:?} {} {fate:?}", path.display()));
        fate
    }

    fn blame(&mut self, violation: String) {
        self.tell(|| format!("!! {violation}"));
        self.violations.push(violation);
    }

    /// Up to the first promise that was broken.
    fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.is_traced && self.violations.is_empty() {
            self.told.push(line());
            let old = self.told.len().saturating_sub(MOST_TOLD);
            self.told.drain(..old);
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead
    }

    fn journal(&self) -> Option<usize> {
        self.disk.file(&Path::new(RUNTIME).join(JOURNAL))
    }

    /// Takes a file's lock for a handle, unless another has it.
    pub(crate) fn take_lock(&mut self, file: usize, handle: u64, is_exclusive: bool) -> bool {
        let holders = self.locks.entry(file).or_default();
        let mut others = holders.iter().filter(|(holder, _)| **holder != handle);
        let is_free = !others.any(|(_, is_alone)| is_exclusive || *is_alone);
        if is_free {
            holders.insert(handle, is_exclusive);
        }
        is_free
    }

    /// A handle is closed. A guardian that watches keeps the machine's lock.
    pub(crate) fn close(&mut self, file: usize, handle: u64) {
        let is_machines = self.disk.file(&Path::new(RUNTIME).join(LOCK)) == Some(file);
        if let Some(holders) = self.locks.get_mut(&file)
            && let Some(is_exclusive) = holders.remove(&handle)
            && is_machines
            && self.pipe.is_some()
        {
            holders.insert(GUARDIAN, is_exclusive);
        }
    }

    /// Writes a setting of the kernel, which must have been announced in this boot and be on disk
    /// (invariant 1 of ARCHITECTURE.md).
    pub(crate) fn set(&mut self, path: &str, text: &str) -> Result<(), i32> {
        if !self.is_harmed && !self.is_announced(path) {
            self.blame(format!("{path} was written, and the stored journal has it not"));
        }
        if self.has_a_number_twice() {
            self.blame("two settings of the journal have one number".to_owned());
        }
        self.kernel.write(path, text)
    }

    /// Whether two settings of the journal have one number: the later would take the place of the
    /// earlier, which nobody would put back.
    fn has_a_number_twice(&self) -> bool {
        let Some(file) = self.journal() else { return false };
        let text = String::from_utf8_lossy(self.disk.bytes(file));
        let mut numbers = BTreeSet::new();
        if self.is_harmed {
            let mut ids =
                parse_journal(&text).entries.into_iter().filter_map(|entry| match entry {
                    JournalEntry::Setting { id, .. } => Some(id.to_string()),
                    _ => None,
                });
            return !ids.all(|id| numbers.insert(id));
        }
        // The others need not be understood for this.
        let settings = text.lines().filter_map(|line| line.split_once(SETTING_NUMBER));
        let mut ids = settings.filter_map(|(_, rest)| rest.split_once(','));
        !ids.all(|(id, _)| numbers.insert(id.to_owned()))
    }

    fn is_announced(&self, path: &str) -> bool {
        let stored = self.disk.stored_file(&Path::new(RUNTIME).join(JOURNAL));
        let Some(file) = stored else { return false };
        let text = String::from_utf8_lossy(self.disk.stored_bytes(file));
        // The others need not be understood for this.
        let tells = |line: &&str| line.contains(path) || line.contains("\"session\"");
        let lines: String = text.lines().filter(tells).map(|line| format!("{line}\n")).collect();
        let boot = self.kernel.boot_id();
        let mut is_of_boot = false;
        parse_journal(&lines).entries.iter().any(|entry| match entry {
            JournalEntry::Session { boot_id, .. } => {
                is_of_boot = *boot_id == boot;
                false
            }
            JournalEntry::Setting { file, .. } => is_of_boot && file.path == path,
            _ => false,
        })
    }
}
