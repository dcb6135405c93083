//! Tests only: a device that lies. Between writing and reading, the descriptor
//! that an engine works on is led to another file, which holds what was written
//! but for one sector.

use super::checks;
use super::operation::Operation;
use super::phases::Phases;
use super::settings::{Drops, EngineKind, IoSettings};
use super::worker::{Shared, Step, Worker};
use contract::LaunchSpec;
use model::Histogram;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use workload_parts::crew::Member;
use workload_parts::storage::buffer::Buffer;
use workload_parts::storage::data_location::DataLocation;
use workload_parts::storage::pattern::Pattern;

const RECORD: u64 = 8192;
const SIZE: u64 = 32 * RECORD;
const SEED: u64 = 7;
/// Bytes of a sector in words.
const SECTOR: usize = 64;

const ENGINES: [(EngineKind, u32, bool); 5] = [
    (EngineKind::Psync, 1, true),
    (EngineKind::Psync, 1, false),
    (EngineKind::IoUring, 1, true),
    (EngineKind::IoUring, 8, true),
    (EngineKind::Mmap, 1, false),
];

/// The sector at an offset of the file, as it is or as it must not be.
type Sector = fn(u64) -> Vec<u64>;

/// A sector of the file as it was written for this offset by this operation.
fn written(offset: u64, generation: u8) -> Vec<u64> {
    let pattern = Pattern::new(SEED, 0);
    let mut words = vec![0; (RECORD / 8) as usize];
    pattern.fill(&mut words);
    let record = offset / RECORD * RECORD;
    pattern.stamp(&mut words, record, generation);
    let first = ((offset - record) / 8) as usize;
    words[first..first + SECTOR].to_vec()
}

fn settings((engine, queue_depth, is_direct): (EngineKind, u32, bool)) -> IoSettings {
    IoSettings {
        operations: vec![Operation::Write, Operation::Rewrite, Operation::RandomRead],
        record: RECORD,
        size: SIZE,
        threads: 1,
        engine,
        queue_depth,
        batch: queue_depth.div_ceil(3),
        is_direct,
        is_synced: true,
        is_verified: true,
        is_stonewalled: true,
        drops: Drops::No,
    }
}

fn worker(settings: &Arc<IoSettings>, place: &Arc<DataLocation>) -> Worker {
    let shared = Arc::new(Shared {
        phases: Phases::new(1),
        stop: AtomicBool::new(false),
        resident: AtomicU64::new(0),
        latencies: Mutex::new(vec![Histogram::new(); settings.operations.len()]),
    });
    let mut worker = Worker::new(0, settings, &shared, place, SEED).unwrap();
    worker.prepare().unwrap();
    worker
}

fn take(worker: &mut Worker, steps: &[Step]) {
    for step in steps {
        worker.take(*step).unwrap();
        worker.reset_stop();
    }
}

/// What the run says when the sector at `bad` is another one; `None` is an honest device.
fn faults_and_outcome(
    directory: &Path,
    engine: (EngineKind, u32, bool),
    lie: Option<(u64, Sector)>,
) -> (u64, Result<(), String>) {
    let launch = LaunchSpec { scratch: directory.to_owned(), ..LaunchSpec::default() };
    let settings = Arc::new(settings(engine));
    let place = Arc::new(DataLocation::open(&launch, 1, SIZE).unwrap());
    let mut worker = worker(&settings, &place);
    let write = [Step::Ready(0), Step::Operate(0), Step::Settle(0)];
    take(&mut worker, &write);
    take(&mut worker, &[Step::Ready(1), Step::Operate(1), Step::Settle(1)]);
    let other = place.region(0, SIZE, RECORD, settings.is_direct).unwrap();
    let mut content = Buffer::new(SIZE as usize, 0).unwrap();
    for (place, words) in (0..).step_by(512).zip(content.words_mut().chunks_exact_mut(SECTOR)) {
        let sector = match lie {
            Some((bad, sector)) if bad == place => sector(place),
            _ => written(place, 2),
        };
        words.copy_from_slice(&sector);
    }
    rustix::io::pwrite(&other.file, content.bytes_mut(), 0).unwrap();
    // SAFETY: both descriptors are open; the worker goes on with its number, and another file.
    let same = unsafe { libc::dup2(other.file.as_raw_fd(), worker.region.file.as_raw_fd()) };
    assert_eq!(same, worker.region.file.as_raw_fd());
    take(&mut worker, &[Step::Ready(2), Step::Operate(2)]);
    worker.take(Step::Settle(2)).unwrap();
    (worker.faults.faults, checks::data(&settings, &[worker]))
}

const STALE: Sector = |offset| written(offset, 1);
const SHIFTED: Sector = |offset| written(offset + RECORD, 2);
const LOST: Sector = |_| vec![0; SECTOR];

#[test]
fn an_honest_device_is_believed_by_every_engine() {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    for engine in ENGINES {
        assert_eq!(faults_and_outcome(directory.path(), engine, None), (0, Ok(())), "{engine:?}");
    }
}

#[test]
fn every_engine_finds_stale_shifted_and_lost_blocks() {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    for engine in ENGINES {
        for (lie, name) in [(STALE, "stale"), (SHIFTED, "shifted"), (LOST, "all zero")] {
            // In front of a record it is seen twice: in the timed loop, and when all is compared.
            for (offset, times) in [(5 * RECORD, 2), (5 * RECORD + 1536, 1), (SIZE - 512, 1)] {
                let (faults, outcome) =
                    faults_and_outcome(directory.path(), engine, Some((offset, lie)));
                let reason = outcome.unwrap_err();
                let place = format!("offset {offset}: the sector is {name}");
                assert!(reason.contains(&place), "{engine:?}: {reason}");
                assert_eq!(faults, times, "{engine:?} {name} at {offset}");
            }
        }
    }
}
