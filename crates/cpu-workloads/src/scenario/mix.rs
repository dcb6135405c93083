//! What the tasks of each mix do.

use super::{BLOCK, DURATION, FOOTPRINT, FRAME_INTERVAL, MIX, OPERATIONS, TASKS};
use contract::{Error, Result, WordChoice};
use model::{Histogram, Parameters};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use workload_parts::crew::Member;
use workload_parts::futex::Post;
use workload_parts::instant::sleep_until;
use workload_parts::work::Matrices;

/// Blocks of a task's file, written in turn.
const FILE_BLOCKS: u64 = 64;

/// Which mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MixKind {
    CpuBound,
    IoBound,
    Mixed,
    HighContextSwitch,
    Streaming,
}

impl WordChoice for MixKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("cpu_bound", Self::CpuBound),
        ("io_bound", Self::IoBound),
        ("mixed", Self::Mixed),
        ("high_context_switch", Self::HighContextSwitch),
        ("streaming", Self::Streaming),
    ];
}

/// The declared mix.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    pub(super) kind: MixKind,
    /// None: one for each CPU.
    pub(super) tasks: Option<usize>,
    pub(super) duration_ns: u64,
    pub(super) operations: u64,
    pub(super) footprint_bytes: u64,
    pub(super) block_bytes: usize,
    pub(super) frame_interval_ns: u64,
}

impl Mix {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let tasks = match TASKS.of(parameters) {
            0 => None,
            tasks => usize::try_from(tasks).ok(),
        };
        Self {
            kind: MIX.of(parameters),
            tasks,
            duration_ns: DURATION.of(parameters),
            operations: OPERATIONS.of(parameters),
            footprint_bytes: FOOTPRINT.of(parameters),
            block_bytes: usize::try_from(BLOCK.of(parameters)).unwrap_or(usize::MAX),
            frame_interval_ns: FRAME_INTERVAL.of(parameters),
        }
    }

    /// Its tasks where it may use so many CPUs. The files they make are added to `files`.
    pub(super) fn members(
        &self,
        cpus: usize,
        scratch: &Path,
        is_stopped: &Arc<AtomicBool>,
        files: &mut Vec<PathBuf>,
    ) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        let mut add = |act| {
            tasks.push(Task {
                act,
                is_stopped: Arc::clone(is_stopped),
                latency: Histogram::new(),
                io_ns: 0,
                missed: 0,
            });
        };
        let operations = self.operations;
        for index in 0..self.tasks.unwrap_or(cpus) {
            let matrices = || Matrices::new(self.footprint_bytes);
            let mut disk = || {
                let path = scratch.join(format!("scenario-{index}"));
                files.push(path.clone());
                Disk::create(&path, self.block_bytes)
            };
            match self.kind {
                MixKind::CpuBound => add(Act::Compute { matrices: matrices(), operations }),
                MixKind::IoBound => add(Act::Write(disk()?)),
                MixKind::Mixed => {
                    add(Act::Both { matrices: matrices(), operations, disk: disk()? })
                }
                MixKind::HighContextSwitch => {
                    let (own, other) = (Arc::<Post>::default(), Arc::<Post>::default());
                    let partner = (Arc::clone(&other), Arc::clone(&own));
                    add(Act::Turn { own, other, begins: true });
                    add(Act::Turn { own: partner.0, other: partner.1, begins: false });
                }
                MixKind::Streaming => add(Act::Frames {
                    matrices: matrices(),
                    operations,
                    interval_ns: self.frame_interval_ns,
                    frames: self.duration_ns / self.frame_interval_ns,
                }),
            }
        }
        Ok(tasks)
    }
}

/// One task and what it measured.
pub(super) struct Task {
    act: Act,
    is_stopped: Arc<AtomicBool>,
    pub(super) latency: Histogram,
    /// Time spent in writes.
    pub(super) io_ns: u64,
    /// Frames that ended after the next was due.
    pub(super) missed: u64,
}

enum Act {
    Compute { matrices: Matrices, operations: u64 },
    Write(Disk),
    Both { matrices: Matrices, operations: u64, disk: Disk },
    Turn { own: Arc<Post>, other: Arc<Post>, begins: bool },
    Frames { matrices: Matrices, operations: u64, interval_ns: u64, frames: u64 },
}

impl Member for Task {
    fn run(&mut self) -> Result<(), String> {
        let Self { act, is_stopped, latency, io_ns, missed } = self;
        let is_stopped = || is_stopped.load(Ordering::Relaxed);
        let broken = |error: io::Error| format!("cannot write to its file: {error}");
        match act {
            Act::Compute { matrices, operations } => {
                while !is_stopped() {
                    timed(latency, || matrices.multiply_times(*operations));
                }
            }
            Act::Write(disk) => {
                while !is_stopped() {
                    let start_ns = sys::monotonic_ns();
                    disk.write().map_err(broken)?;
                    let write_ns = sys::monotonic_ns() - start_ns;
                    latency.record(write_ns);
                    *io_ns += write_ns;
                }
            }
            Act::Both { matrices, operations, disk } => {
                while !is_stopped() {
                    let start_ns = sys::monotonic_ns();
                    matrices.multiply_times(*operations);
                    let write_ns = sys::monotonic_ns();
                    disk.write().map_err(broken)?;
                    let end_ns = sys::monotonic_ns();
                    latency.record(end_ns - start_ns);
                    *io_ns += end_ns - write_ns;
                }
            }
            Act::Turn { own, other, begins } => {
                take_turns(own, other, *begins, latency, is_stopped)
            }
            Act::Frames { matrices, operations, interval_ns, frames } => {
                let mut due_ns = sys::monotonic_ns();
                for _ in 0..*frames {
                    if is_stopped() {
                        break;
                    }
                    due_ns += *interval_ns;
                    sleep_until(due_ns);
                    matrices.multiply_times(*operations);
                    let frame_ns = sys::monotonic_ns() - due_ns;
                    latency.record(frame_ns);
                    *missed += u64::from(frame_ns > *interval_ns);
                }
            }
        }
        Ok(())
    }
}

#[inline]
fn timed(latency: &mut Histogram, act: impl FnOnce()) {
    let start_ns = sys::monotonic_ns();
    act();
    latency.record(sys::monotonic_ns() - start_ns);
}

/// Each side wakes the other and waits for it. The side that sees the stop posts once
/// more, so that its partner sees it too.
fn take_turns(
    own: &Post,
    other: &Post,
    begins: bool,
    latency: &mut Histogram,
    is_stopped: impl Fn() -> bool,
) {
    while !is_stopped() {
        if begins {
            timed(latency, || {
                other.post();
                own.wait();
            });
        } else {
            own.wait();
            other.post();
        }
    }
    other.post();
}

/// A file whose writes return once they are on the disk.
struct Disk {
    file: File,
    block: Vec<u8>,
    position: u64,
}

impl Disk {
    fn create(path: &Path, block_bytes: usize) -> Result<Self> {
        let fail = |error: io::Error| {
            let attempted = format!("cannot make the file {}", path.display());
            Error::environment(attempted, error)
        };
        let block = vec![0x5a; block_bytes];
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(libc::O_DSYNC)
            .open(path)
            .map_err(fail)?;
        // Blocks that exist: no write of the run has to allocate them.
        file.set_len(FILE_BLOCKS * block_bytes as u64).map_err(fail)?;
        for block_number in 0..FILE_BLOCKS {
            file.write_all_at(&block, block_number * block_bytes as u64).map_err(fail)?;
        }
        Ok(Self { file, block, position: 0 })
    }

    #[inline]
    fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.block, self.position * self.block.len() as u64)?;
        self.position = (self.position + 1) % FILE_BLOCKS;
        Ok(())
    }
}
