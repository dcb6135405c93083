//! Factors of a test, each of which notes what it was asked: numbers in files of a simulated
//! kernel, levels that are held, and one that a process is started with. And an executor for trials
//! of them, with a guardian that reads what it is sent.

use crate::faults::Faults;
use crate::machine::{DATA, SimulatedMachine};
use contract::{
    Description, Error, ErrorKind, Factor, Held, HeldKnob, Interrupt, Knob, LaunchKnob, LaunchSpec,
    Lost, NotHeld, Requirement, Result, Setting, Supervisor, SystemKnob, TrialCatalogue, UndoCheck,
};
use executor::{Executor, ExecutorSettings, Guardian, LONGEST_STANDSTILL, Lock, StartGuardian};
use model::{Level, StorageTarget, Trial};
use rustix::fs::{OFlags, fcntl_setfl};
use std::fs::File;
use std::io::{PipeReader, Read, pipe};
use std::mem::take;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sys::{ControlFile, Machine};

/// What factors were asked, in that order; its copies are the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<Vec<String>>>);

impl Questions {
    fn note(&self, question: String) {
        self.list().push(question);
    }

    /// All so far, which are forgotten.
    pub(crate) fn take(&self) -> Vec<String> {
        take(&mut *self.list())
    }

    fn list(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A factor of a test.
pub(crate) struct TestFactor {
    pub(crate) description: &'static Description,
    pub(crate) order: u8,
    pub(crate) undo: UndoCheck,
    pub(crate) moves: Vec<String>,
    pub(crate) knob: TestKnob,
}

/// What applies its level.
pub(crate) enum TestKnob {
    File(FileKnob),
    Held(HeldNumber),
    Launched(LaunchNumber),
}

/// A number in a file.
#[derive(Default)]
pub(crate) struct FileKnob {
    pub(crate) path: &'static str,
    /// Why it does not tell its file.
    pub(crate) untold: Option<ErrorKind>,
    /// What it reads back, whatever the file holds.
    pub(crate) read_back: Option<&'static str>,
}

/// A level that nothing has to hold; it is noted what a file holds when it comes and goes.
pub(crate) struct HeldNumber {
    id: &'static str,
    watched: ControlFile,
    /// Where the trial's files lie with it.
    target: Option<StorageTarget>,
    questions: Questions,
}

/// A level that a process is started with.
pub(crate) struct LaunchNumber {
    id: &'static str,
    questions: Questions,
}

impl TestFactor {
    fn of(id: &'static str, knob: TestKnob) -> Self {
        let description =
            Box::leak(Box::new(Description { id, summary: "a number", doc: "A number." }));
        let (order, undo) = (50, UndoCheck::EndsByItself);
        Self { description, order, undo, moves: Vec::new(), knob }
    }

    /// A number in this file, which may be written back before it is changed.
    pub(crate) fn in_file(id: &'static str, path: &'static str) -> Self {
        let knob = FileKnob { path, ..FileKnob::default() };
        Self { undo: UndoCheck::DryWriteBack, ..Self::of(id, TestKnob::File(knob)) }
    }

    /// A level that is held, of this order.
    pub(crate) fn held(
        id: &'static str,
        order: u8,
        (watched, questions): (&'static str, &Questions),
        target: Option<StorageTarget>,
    ) -> Self {
        let (watched, questions) = (ControlFile::plain(watched), questions.clone());
        let knob = HeldNumber { id, watched, target, questions };
        Self { order, ..Self::of(id, TestKnob::Held(knob)) }
    }

    /// A level that a process is started with.
    pub(crate) fn launched(id: &'static str, questions: &Questions) -> Self {
        let knob = LaunchNumber { id, questions: questions.clone() };
        Self::of(id, TestKnob::Launched(knob))
    }

    /// It as a catalogue has it.
    pub(crate) fn listed(self) -> &'static dyn Factor {
        Box::leak(Box::new(self))
    }
}

impl Factor for TestFactor {
    fn describe(&self) -> &'static Description {
        self.description
    }

    fn syntax(&self) -> &'static str {
        "a number"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["1"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        Ok(Level::canonical(text))
    }

    fn order(&self) -> u8 {
        self.order
    }

    fn requires(&self, _: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn moves(&self, _: &Machine) -> Vec<String> {
        self.moves.clone()
    }

    fn knob(&self) -> Knob<'_> {
        match &self.knob {
            TestKnob::File(knob) => Knob::System(knob),
            TestKnob::Held(knob) => Knob::Held(knob),
            TestKnob::Launched(knob) => Knob::Launch(knob),
        }
    }

    fn undo_check(&self) -> UndoCheck {
        self.undo
    }
}

impl SystemKnob for FileKnob {
    fn writes(&self) -> Vec<String> {
        vec![self.path.to_owned()]
    }

    fn settings(&self, _: &Machine, level: &Level) -> Result<Vec<Setting>> {
        match self.untold {
            Some(kind) => Err(Error::new(kind, "cannot tell the file", "it is a test", "")),
            None => {
                let file = ControlFile::plain(self.path);
                Ok(vec![Setting { file, value: level.as_str().to_owned() }])
            }
        }
    }

    fn read_back(&self, machine: &Machine, _: &Level) -> Result<Level> {
        self.read_back.map_or_else(|| self.current(machine), |other| Ok(Level::canonical(other)))
    }

    fn current(&self, machine: &Machine) -> Result<Level> {
        Ok(Level::canonical(ControlFile::plain(self.path).read(machine)?))
    }
}

impl HeldKnob for HeldNumber {
    fn acquire(
        &self,
        machine: &Machine,
        level: &Level,
        _: &mut dyn Supervisor,
    ) -> Result<Box<dyn Held>, NotHeld> {
        let now = self.watched.read(machine).map_err(Error::from)?;
        self.questions.note(format!("{} = {level} is held, the file is {now}", self.id));
        Ok(Box::new(NumberInForce {
            id: self.id,
            watched: self.watched.clone(),
            target: self.target.clone(),
            questions: self.questions.clone(),
            machine: machine.clone(),
        }))
    }
}

/// A level that is held.
struct NumberInForce {
    id: &'static str,
    watched: ControlFile,
    target: Option<StorageTarget>,
    questions: Questions,
    machine: Machine,
}

impl Held for NumberInForce {
    fn check(&mut self) -> Result<(), Lost> {
        Ok(())
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn target(&self) -> Option<StorageTarget> {
        self.target.clone()
    }

    fn release(self: Box<Self>) -> Result<()> {
        let now = self.watched.read(&self.machine)?;
        self.questions.note(format!("{} is given up, the file is {now}", self.id));
        Ok(())
    }
}

impl LaunchKnob for LaunchNumber {
    fn contribute(&self, _: &Machine, level: &Level, _: &mut LaunchSpec) -> Result<()> {
        self.questions.note(format!("a process is started with {} = {level}", self.id));
        Ok(())
    }

    fn read_back(&self, _: &Machine, threads: &[i32], wanted: &Level) -> Result<Level> {
        self.questions.note(format!("{} is read of {} threads", self.id, threads.len()));
        Ok(wanted.clone())
    }
}

/// Starts guardians that read what they were sent when they are dismissed.
#[derive(Default)]
struct ReadingGuardians {
    /// The end of the last one's pipe that is read.
    reader: Mutex<Option<PipeReader>>,
}

impl StartGuardian for ReadingGuardians {
    fn start(&self, _: &ExecutorSettings, _: &Lock) -> Result<(Box<dyn Guardian>, File)> {
        let failed = |error| Error::environment("cannot start the guardian", error);
        let (reader, writer) = pipe().map_err(failed)?;
        // Nobody waits for the end of a pipe that nobody closes: reading it fails.
        fcntl_setfl(&reader, OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        let own = reader.try_clone().map_err(failed)?;
        *self.reader.lock().unwrap() = Some(reader);
        Ok((Box::new(ReadingGuardian(own)), File::from(OwnedFd::from(writer))))
    }
}

/// A guardian that watches.
struct ReadingGuardian(PipeReader);

impl Guardian for ReadingGuardian {
    fn is_alive(&mut self) -> bool {
        true
    }

    fn dismiss(self: Box<Self>) -> Result<()> {
        let Self(mut reader) = *self;
        let read = reader.read_to_end(&mut Vec::new());
        read.map(drop).map_err(|error| Error::environment("a guardian is not told the end", error))
    }
}

/// Where trials have their logs and files.
pub(crate) fn directory() -> PathBuf {
    Path::new(DATA).join("trials")
}

/// An executor for trials of these factors, and the end of its guardian's pipe that is read.
pub(crate) fn opened(
    machine: &SimulatedMachine,
    factors: &[&'static dyn Factor],
) -> (Executor, PipeReader) {
    let mut state = machine.state();
    if state.disk.node(&directory()).is_none() {
        state.disk.make_directory(&directory()).unwrap();
        state.disk.sync_directory(Path::new(DATA)).unwrap();
    }
    drop(state);
    machine.begin_process(Faults::default());
    let settings = ExecutorSettings {
        machine: machine.machine(),
        catalogue: TrialCatalogue {
            workloads: &[],
            factors: Vec::leak(factors.to_vec()),
            probes: &[],
        },
        executable: PathBuf::from("/nonexistent"),
        machine_arguments: Vec::new(),
        logs: directory().join("logs"),
        scratch: directory().join("scratch"),
        purpose: "a test".to_owned(),
        longest_standstill: LONGEST_STANDSTILL,
    };
    let guardians = Arc::new(ReadingGuardians::default());
    let start: Arc<dyn StartGuardian> = Arc::<ReadingGuardians>::clone(&guardians);
    let executor = Executor::open_with(settings, &Interrupt::default(), start).unwrap();
    let reader = guardians.reader.lock().unwrap().take().unwrap();
    (executor, reader)
}

/// A trial of a subject with these levels, of so many invocations.
pub(crate) fn trial(levels: &[(&str, &str)], invocations: u32) -> Trial {
    let workloads = vec![fixtures::workload("nothing", Vec::new())];
    let planned = fixtures::plan(vec![fixtures::subject("set", levels)], workloads, 1);
    let mut trial = plan::trials(&planned, &planned.blocks[0]).remove(0);
    trial.workload.invocations = invocations;
    trial
}
