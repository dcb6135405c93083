//! A workload's operations ask for no memory of their own: the time that takes would be measured
//! with them.

use super::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

/// The system's allocator, which counts while a counter is set.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// In memory that forked children share, so that theirs are counted, too.
static COUNTER: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

fn count() {
    // SAFETY: null, or a counter in a mapping that is never given back.
    if let Some(counter) = unsafe { COUNTER.load(Relaxed).as_ref() } {
        counter.fetch_add(1, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// What says how long a workload runs, with a short and a long level; the first that it has.
const LENGTHS: [(&str, &str, &str); 4] = [
    ("loops", "100", "4000"),
    ("requests", "100", "4000"),
    ("duration", "300ms", "1500ms"),
    ("size", "256k", "16M"),
];

/// What operations are made of, where a workload has it: little, so that there are many, and not
/// the system's allocator, where that is what is measured.
const LITTLE: [(&str, &str); 6] = [
    ("min_sleep", "200us"),
    ("max_sleep", "400us"),
    ("operations", "1"),
    ("footprint", "4k"),
    ("work", "4k"),
    ("allocator", "pool"),
];

/// Rooms whose workloads only start programs of others, or need a service that runs already.
const OTHERS: [&str; 8] =
    ["http", "service", "bank", "fio", "iozone", "iperf3", "sockperf", "command"];

/// Operations beyond those of a short run, for each allocation beyond its own.
const LEAST_OPERATIONS: u64 = 20;

pub fn none_for_an_operation() {
    let counter = shared_counter();
    for entry in assembly::catalogue().workloads {
        let id = entry.describe().id;
        if OTHERS.contains(&id) {
            continue;
        }
        let declared = |name: &str| entry.parameters().iter().any(|one| one.name == name);
        let (length, short, long) = *LENGTHS
            .iter()
            .find(|(name, ..)| declared(name))
            .unwrap_or_else(|| panic!("{id}: say in LENGTHS what makes it run longer"));
        let [(few, at_first), (many, in_all)] = [short, long].map(|level| {
            let little = LITTLE.into_iter().filter(|(name, level)| takes(*entry, name, level));
            let brief = entry.brief().iter().copied();
            // What comes later replaces what came before.
            let settings: BTreeMap<_, _> = brief.chain(little).chain([(length, level)]).collect();
            let settings: Vec<_> = settings.into_iter().collect();
            let place = TestMachine::new();
            // Before its tasks are forked, which count by their own copies of this place.
            COUNTER.store(std::ptr::from_ref(counter).cast_mut(), Relaxed);
            let mut load = place.prepare(id, &parameters(id, &settings)).unwrap();
            counter.store(0, Relaxed);
            let measurement = load.run().unwrap();
            COUNTER.store(std::ptr::null_mut(), Relaxed);
            (measurement.operations.unwrap(), counter.load(Relaxed))
        });
        let operations = many.saturating_sub(few);
        let allocations = in_all.saturating_sub(at_first);
        assert!(
            operations > 2 * LEAST_OPERATIONS,
            "{id}: {many} operations are not many more than {few}"
        );
        assert!(
            allocations * LEAST_OPERATIONS < operations,
            "{id}: {allocations} more allocations for {operations} more operations"
        );
    }
}

/// Whether a workload has a parameter of that name and kind: numbers or words.
fn takes(entry: &dyn Workload, name: &str, level: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let is_it = |one: &&Parameter| one.name == name;
    let default = entry.parameters().iter().find(is_it).and_then(|one| one.default);
    default.is_some_and(|default| is_number(default) == is_number(level))
}

fn shared_counter() -> &'static AtomicU64 {
    // SAFETY: a new private place of the kernel's choice; it is never given back.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size_of::<AtomicU64>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(place, libc::MAP_FAILED);
    // SAFETY: mapped above, of zeros, aligned to a page, and as large as a counter.
    unsafe { &*place.cast::<AtomicU64>() }
}
