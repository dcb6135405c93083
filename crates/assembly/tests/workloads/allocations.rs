//! A workload's operations ask for no memory of their own: the time that takes would be measured
//! with them.

use super::*;
use contract::ParameterKind;
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

/// Operations beyond those of a short run, for each allocation beyond its own.
const LEAST_OPERATIONS: u64 = 20;

pub fn none_for_an_operation() {
    let counter = shared_counter();
    for entry in assembly::catalogue().workloads {
        let id = entry.describe().id;
        if is_of_others(id) {
            continue;
        }
        let (length, levels) =
            length_of(*entry).unwrap_or_else(|| panic!("{id}: `brief` begins with no amount"));
        let [(few, at_first), (many, in_all)] = levels.map(|level| {
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
            "{id}: with more of {length}, {many} operations are not many more than {few}"
        );
        assert!(
            allocations * LEAST_OPERATIONS < operations,
            "{id}: {allocations} more allocations for {operations} more operations"
        );
    }
}

pub fn what_is_run_and_how_long_follows_from_the_catalogue() {
    for (id, name, levels) in [
        ("pipe", "loops", ["100", "4000"]),
        ("wakeup", "duration", ["300ms", "1500ms"]),
        ("io", "size", ["256k", "16M"]),
    ] {
        assert_eq!(length_of(workload(id)), Some((name, levels)), "{id}");
        assert!(!is_of_others(id), "{id}");
    }
    // Words to run are no amount.
    assert_eq!(length_of(workload("command")), None);
    for id in ["command", "fio", "http"] {
        assert!(is_of_others(id), "{id}");
    }
}

/// Whether a workload is in a room whose workloads only start programs of others, or need a service
/// that runs already.
fn is_of_others(id: &str) -> bool {
    let rooms = [service_workloads::ENTRIES, tool_workloads::ENTRIES];
    rooms.iter().any(|room| room.iter().any(|entry| entry.describe().id == id))
}

/// What says how much a workload does, the first value of its brief run, with a short and a long
/// level.
fn length_of(entry: &dyn Workload) -> Option<(&'static str, [&'static str; 2])> {
    let (name, _) = *entry.brief().first()?;
    let declared = entry.parameters().iter().find(|one| one.name == name)?;
    let levels = match declared.kind {
        ParameterKind::Count { .. } => ["100", "4000"],
        ParameterKind::Duration { .. } => ["300ms", "1500ms"],
        ParameterKind::Size { .. } => ["256k", "16M"],
        _ => return None,
    };
    Some((name, levels))
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
