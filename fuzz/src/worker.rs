//! One process that mutates for one target. Panics, stack overflows, endless
//! loops and huge allocations all end this process only; the input is on disk
//! by then.

use crate::{Corpus, FuzzTarget, Mutator, Reaction, corpus_folder};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Of processor time: no parser of ours takes a hundredth of this for 64 KiB.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// So many times as long for one that waits, or that others keep from a processor.
const MOST_WAITS: u32 = 12;
/// Far above what 64 KiB of input should need.
const MEMORY_LIMIT_BYTES: u64 = 2 << 30;
/// Less than a thread usually has, so that deep recursion shows early.
const STACK_BYTES: usize = 1 << 20;

/// What a worker does.
#[derive(Clone)]
pub struct Assignment {
    /// The target that it fuzzes.
    pub target: &'static FuzzTarget,
    /// Decides every input.
    pub seed: u64,
    /// For how long.
    pub duration: Duration,
    /// Where the current input is written before it is tried.
    pub input_path: PathBuf,
}

/// Tries inputs until the time is over; the result is how many were tried and
/// accepted.
///
/// # Errors
/// What broke: a surprise in the corpus, a panic, or I/O around it.
pub fn work(assignment: &Assignment) -> Result<(u64, u64), String> {
    let limit = Some(MEMORY_LIMIT_BYTES);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit })
        .map_err(|error| format!("cannot limit memory: {error}"))?;
    let corpus = Corpus::read(&corpus_folder(assignment.target))
        .map_err(|error| format!("cannot read the corpus: {error}"))?;
    let surprises = corpus.surprises(assignment.target);
    if !surprises.is_empty() {
        return Err(surprises.join("\n"));
    }
    let inputs = corpus.0.into_iter().map(|(_, input)| input).collect();
    let mutator = Mutator::new(assignment.seed, &assignment.target.words, inputs);
    let assignment = assignment.clone();
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || mutate(&assignment, mutator))
        .map_err(|error| format!("cannot start a thread: {error}"))?
        .join()
        .map_err(|_| "the worker itself panicked".to_owned())?
}

fn mutate(assignment: &Assignment, mut mutator: Mutator) -> Result<(u64, u64), String> {
    let failed = |error: io::Error| format!("cannot write the input: {error}");
    let mut current = CurrentInput::create(&assignment.input_path).map_err(failed)?;
    let tried = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&tried));
    let mut accepted = 0;
    let end = Instant::now() + assignment.duration;
    while Instant::now() < end {
        let input = mutator.next_input();
        current.store(&input).map_err(failed)?;
        tried.fetch_add(1, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| assignment.target.run(&input))) {
            Ok(Reaction::Accepted) => {
                accepted += 1;
                mutator.keep(input);
            }
            Ok(Reaction::Refused) => {}
            Err(_) => return Err("it panicked".to_owned()),
        }
    }
    current.remove().map_err(failed)?;
    Ok((tried.load(Ordering::Relaxed), accepted))
}

/// Ends the process when one input takes longer than the limit, of processor time where other
/// processes have the processors; watches as long as the worker holds its counter.
fn watch(tried: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut last = u64::MAX;
        let (mut used, mut waits) = (Duration::ZERO, 0);
        while Arc::strong_count(&tried) > 1 {
            let count = tried.load(Ordering::Relaxed);
            if count != last {
                (last, used, waits) = (count, sys::cpu_time(), 0);
            } else if waits == MOST_WAITS || sys::cpu_time().saturating_sub(used) >= TIME_LIMIT {
                std::process::abort();
            }
            waits += 1;
            thread::sleep(TIME_LIMIT);
        }
    });
}

/// The input being tried, on disk so that it outlives the process.
struct CurrentInput {
    path: PathBuf,
    file: File,
}

impl CurrentInput {
    fn create(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Self { path: path.to_owned(), file: File::create(path)? })
    }

    fn store(&mut self, input: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(input)?;
        self.file.set_len(input.len() as u64)
    }

    fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(
        run: fn(&[u8]) -> Reaction,
        duration: Duration,
        input_path: PathBuf,
    ) -> Assignment {
        let target: &'static FuzzTarget =
            Box::leak(Box::new(FuzzTarget::of_function("cpu-list", &["-"], run)));
        Assignment { target, seed: 3, duration, input_path }
    }

    fn mutator() -> Mutator {
        Mutator::new(3, &["-"], vec![b"0-3".to_vec()])
    }

    #[test]
    fn the_input_that_broke_a_parser_stays_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/input");
        let run: fn(&[u8]) -> Reaction = |input| {
            assert!(input.len() < 12, "too long for this parser");
            Reaction::Accepted
        };
        // It ends with the first that breaks it.
        let duration = Duration::from_secs(600);
        let outcome = mutate(&assignment(run, duration, path.clone()), mutator());
        assert_eq!(outcome, Err("it panicked".to_owned()));
        assert!(fs::read(&path).unwrap().len() >= 12);
    }

    #[test]
    fn an_unbroken_parser_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        let run: fn(&[u8]) -> Reaction =
            |input| if input.len() % 2 == 0 { Reaction::Accepted } else { Reaction::Refused };
        // One that had no processor for so long tried nothing.
        let both = (0..100).any(|_| {
            let assignment = assignment(run, Duration::from_millis(50), path.clone());
            let (tried, accepted) = mutate(&assignment, mutator()).unwrap();
            tried > accepted && accepted > 0
        });
        assert!(both, "none was accepted, or none refused");
        assert!(!path.exists());
    }
}
