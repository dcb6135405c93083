//! A scheduler in charge: brought there, watched, and taken out again.

use contract::{Error, Held, HolderProcess, Lost, NotHeld, Program, Result, Supervisor};
use std::ffi::OsString;
use std::time::{Duration, Instant};
use sys::{KernelLog, Machine, SchedExt};

/// Rule broken by a scheduler that left before its trial was over.
const EJECTED: &str = "EJECTED";
/// Rule broken by one that came into charge although the kernel's own should have been.
const SCHEDULER_CHANGED: &str = "SCHEDULER_CHANGED";
/// How long the kernel may take to say why it threw a scheduler out.
const REASON_PATIENCE: Duration = Duration::from_secs(1);
/// How long a scheduler may take to leave when it is asked to, and again when it is killed.
const LEAVE_PATIENCE: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(10);
/// What the kernel's own messages about schedulers begin with (kernel/sched/ext.c, 6.12).
const PREFIX: &str = "sched_ext: ";
/// More messages than these tell nothing new.
const MESSAGES: usize = 4;
/// How long a scheduler may take to be in charge: a second on a processor, up to a minute where it is
/// emulated and its host is busy (measured). One that ends is noticed at once.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is started, and what it is expected to be.
pub(crate) struct Start {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<OsString>,
    /// What the kernel will call it, where that is known: so, or so and `_` with a version behind.
    pub(crate) ops: Option<String>,
}

/// A loaded scheduler and the process that keeps it loaded.
pub(crate) struct InCharge {
    machine: Machine,
    process: Box<dyn HolderProcess>,
    log: Option<KernelLog>,
    reading: SchedExt,
    facts: Vec<(String, String)>,
}

impl InCharge {
    /// Starts the scheduler and waits until every task of the fair class is its.
    pub(crate) fn acquire(
        machine: &Machine,
        start: &Start,
        supervisor: &mut dyn Supervisor,
    ) -> Result<Self, NotHeld> {
        let before = SchedExt::read(machine);
        if let Some(ops) = &before.ops {
            return Err(NotHeld::Refused(format!("the scheduler {ops} is loaded already")));
        }
        let log = KernelLog::from_now(machine).ok();
        let began = Instant::now();
        let process = supervisor.start(&start.program, &start.arguments)?;
        let mut scheduler = Self {
            machine: machine.clone(),
            process,
            log,
            reading: SchedExt::default(),
            facts: Vec::new(),
        };
        // The kernel counts a load after it says `enabled` (scx_enable, 6.18): before that the
        // next reading would be another one.
        let is_counted = || match (before.loads, SchedExt::read(machine).loads) {
            (Some(before), Some(now)) => now > before,
            _ => true,
        };
        while !(SchedExt::is_in_charge(machine) && is_counted()) {
            if let Some(how) = scheduler.process.ended() {
                let why = scheduler.process.last_lines();
                return Err(NotHeld::Refused(with_log_lines(
                    &format!("its program ended with {how}"),
                    &why,
                )));
            }
            if began.elapsed() > PATIENCE {
                let patience = model::format_duration(PATIENCE.as_nanos() as u64);
                let is_partial = machine
                    .read("/sys/kernel/sched_ext/state")
                    .is_ok_and(|state| state.trim() == "enabled");
                let why = if is_partial {
                    "it takes only tasks of the policy SCHED_EXT, and workloads have another"
                } else {
                    "it did not come into charge"
                };
                let words = scheduler.process.last_lines();
                return Err(NotHeld::Refused(with_log_lines(
                    &format!("{why} within {patience}"),
                    &words,
                )));
            }
            supervisor.pause()?;
        }
        let took = began.elapsed();
        tracing::debug!(before = %before, ?took, "a scheduler came into charge");
        // What is said of its coming is no reason of its leaving.
        scheduler.log.as_mut().map(KernelLog::messages);
        scheduler.reading = SchedExt::read(machine);
        let ops = scheduler.reading.ops.clone().unwrap_or_default();
        if start.ops.as_ref().is_some_and(|expected| !is_named(&ops, expected)) {
            return Err(NotHeld::Refused(format!("another scheduler is in charge: {ops}")));
        }
        scheduler.facts =
            vec![("ops".to_owned(), ops), ("load_ms".to_owned(), took.as_millis().to_string())];
        Ok(scheduler)
    }

    /// More that is known of it, for the record.
    pub(crate) fn note(&mut self, key: &str, value: String) {
        self.facts.push((key.to_owned(), value));
    }

    /// What the kernel said of its end, and failing that what it said itself.
    fn last_reasons(&mut self) -> String {
        let deadline = Instant::now() + REASON_PATIENCE;
        let mut messages = Vec::new();
        let is_told = |messages: &[String]| messages.iter().any(|text| text.contains("disabled ("));
        // The reason is named first, what led to it follows at once.
        let mut is_last = false;
        while let Some(log) = &mut self.log
            && !is_last
            && Instant::now() < deadline
        {
            is_last = is_told(&messages);
            std::thread::sleep(INTERVAL);
            messages.extend(log.messages());
        }
        let reasons = scheduler_messages(&messages);
        if reasons.is_empty() { self.process.last_lines() } else { reasons }
    }
}

/// The published ones name themselves with version and target:
/// `bpfland_1.1.4_x86_64_unknown_linux_gnu`.
fn is_named(ops: &str, expected: &str) -> bool {
    ops.strip_prefix(expected).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Waits until no scheduler is loaded; whether that came.
fn left(machine: &Machine, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while SchedExt::read(machine).ops.is_some() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    true
}

/// The kernel's messages about schedulers, as one text.
fn scheduler_messages(messages: &[String]) -> String {
    let about = messages.iter().filter_map(|text| text.strip_prefix(PREFIX));
    about.take(MESSAGES).collect::<Vec<_>>().join("; ")
}

impl Held for InCharge {
    fn check(&mut self) -> Result<(), Lost> {
        let now = SchedExt::read(&self.machine);
        let is_same = now == self.reading && SchedExt::is_in_charge(&self.machine);
        let ended = self.process.ended();
        if is_same && ended.is_none() {
            return Ok(());
        }
        let reasons = self.last_reasons();
        let ended = ended.or_else(|| self.process.ended());
        let program =
            ended.map_or_else(String::new, |how| format!("; its program ended with {how}"));
        let was = &self.reading;
        let detail = format!("it was {was}, now there is {now}{program}: {reasons}");
        Err(Lost { rule: EJECTED, detail })
    }

    fn group(&self) -> Option<i32> {
        Some(self.process.group())
    }

    fn facts(&self) -> Vec<(String, String)> {
        self.facts.clone()
    }

    fn release(mut self: Box<Self>) -> Result<()> {
        tracing::debug!(reading = %self.reading, ended = ?self.process.ended(), "gives a scheduler up");
        self.process.terminate();
        let deadline = Instant::now() + LEAVE_PATIENCE;
        let is_gone = left(&self.machine, LEAVE_PATIENCE);
        // The kernel lets go of it before its program is done with tidying up.
        while is_gone && self.process.ended().is_none() && Instant::now() < deadline {
            std::thread::sleep(INTERVAL);
        }
        let Self { machine, process, reading, .. } = *self;
        // With its last descriptor the kernel lets go of it, whatever its program thinks.
        drop(process);
        if is_gone || left(&machine, LEAVE_PATIENCE) {
            return Ok(());
        }
        Err(Error::environment(
            "cannot put the kernel's own scheduler back in charge",
            format!("{reading} stays although its program was killed"),
        ))
    }
}

/// The kernel's own classes in charge: nothing to do but to watch.
pub(crate) struct Fair {
    machine: Machine,
    reading: SchedExt,
}

impl Fair {
    /// They are where no scheduler is loaded.
    pub(crate) fn acquire(machine: &Machine) -> Result<Self, NotHeld> {
        let reading = SchedExt::read(machine);
        match &reading.ops {
            None => Ok(Self { machine: machine.clone(), reading }),
            Some(ops) => Err(NotHeld::Refused(format!("the scheduler {ops} is loaded"))),
        }
    }
}

impl Held for Fair {
    fn check(&mut self) -> Result<(), Lost> {
        let now = SchedExt::read(&self.machine);
        if now == self.reading {
            return Ok(());
        }
        let detail = format!("there was {}, now there is {now}", self.reading);
        Err(Lost { rule: SCHEDULER_CHANGED, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn release(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A sentence, and the last lines of a program's log where there are any.
fn with_log_lines(sentence: &str, words: &str) -> String {
    match words.trim() {
        "" => sentence.to_owned(),
        words => format!("{sentence}: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_known_by_its_name_with_or_without_a_version() {
        for (ops, expected, is_so) in [
            ("bfs", "bfs", true),
            ("bpfland_1.1.4_x86_64_unknown_linux_gnu", "bpfland", true),
            ("rustland_1.1.4_x86_64_unknown_linux_gnu", "rusty", false),
            ("bfs2", "bfs", false),
            ("", "bfs", false),
        ] {
            assert_eq!(is_named(ops, expected), is_so, "{ops} for {expected}");
        }
    }
}
