//! What a traced scheduler told: events of 64 bytes (trace.bpf.h) and the file that keeps
//! them, from which a model recomputes every decision.
//!
//! A trace is a proof only when nothing is missing: [`Trace::gaps`] says what is.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

/// Bytes of one event.
pub const EVENT_BYTES: usize = 64;

/// First bytes of a trace file; the last digit is the version of the format.
const MAGIC: [u8; 8] = *b"lab-trc1";

/// Longest text in a trace file: a choice or a kernel release is far shorter.
const LONGEST_TEXT: usize = 4096;

/// One operation of a scheduler. What `a` to `d`, `pid` and `target` are depends on the
/// kind; trace.bpf.h says so beside each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEvent {
    /// CLOCK_MONOTONIC when the operation began.
    pub begin_ns: u64,
    /// CLOCK_MONOTONIC when the event was written.
    pub end_ns: u64,
    /// First value.
    pub a: u64,
    /// Second value.
    pub b: u64,
    /// Third value.
    pub c: u64,
    /// Fourth value.
    pub d: u64,
    /// Number of the event on its CPU.
    pub sequence: u32,
    /// Which task.
    pub pid: i32,
    /// Where the operation ran.
    pub cpu: u16,
    /// Which CPU it is about.
    pub target: i16,
    /// What it is.
    pub kind: EventKind,
    /// What else is true of it.
    pub flags: Flags,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal),* $(,)?) => {
        /// What an event tells.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum EventKind { $($(#[$doc])* $name = $number),* }

        impl EventKind {
            fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(EventKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// A task came under the scheduler: `a` static_prio, `c` allowed CPUs.
    InitTask = 1,
    /// A task left.
    ExitTask = 2,
    /// A CPU was chosen for a woken task: `target`, `a` previous CPU, `b` wake_flags, `c` allowed CPUs.
    SelectCpu = 3,
    /// A task is about to be queued: `target` its CPU, `a` clock used, `b` key, `c` allowed CPUs, `d` quota left.
    Enqueue = 4,
    /// A CPU looked for work: `pid` chosen, `a` previous task, `b` clock used, `c` key of the chosen.
    Dispatch = 5,
    /// A task starts to run: `a` clock used, `b` key, `d` quota left.
    Running = 6,
    /// A task stops to run: `a` clock used, `b` key, `c` ran, `d` quota left.
    Stopping = 7,
    /// A task left the run queue: `a` deq_flags (bit 0: to sleep).
    Quiescent = 8,
    /// A nice value was set: `a` static_prio, `b` the one before, `d` key.
    SetWeight = 9,
    /// The allowed CPUs were set: `c`.
    SetCpumask = 10,
    /// A CPU was kicked: `target`, `pid` on whose behalf, `a` its key, `b` key and `c` pid of the running task.
    Kick = 11,
    /// A CPU became idle or busy: `target`.
    Idle = 12,
    /// A CPU came, or went with all queued tasks that no other may run: `target`.
    Cpu = 13,
    /// A task yielded.
    Yield = 14,
    /// A task was given past the queue to the CPU `target`, which is going offline; flag Runnable: which it ran on, and must not leave.
    Rescue = 15,
    /// The running task of `target` was charged in a dispatch: `a` clock used, `b` key, `d` quota left.
    Charge = 16,
    /// cfs, eevdf: a queue changed: `target`, `pid` that joined or left, `a` clock used, `b` version (upper half) and load; cfs `d` min_vruntime; eevdf `c` V, `d` its rest.
    Queue = 80,
    /// cfs, eevdf: a task joined a queue: `target`, `a` from which (-1: none); cfs `b` min_vruntime there, `c` vruntime before, `d` after; eevdf `b` lag, `c` ve, `d` vd.
    Place = 81,
    /// cfs: a tick: `a` clock used, `b` slice, `c` ran in this turn, `d` key of the first.
    Tick = 82,
    /// cfs, eevdf: a CPU pulled a task: `target`, `a` from which, `b` load there, `c` load here, `d` weight.
    Balance = 83,
    /// eevdf: a request ended: `a` clock used, `c` ve and `d` vd of the next.
    Request = 84,
    /// lottery: `target` drew and `pid` won: `a` random number, `b` tickets in the draw, `c` those of the winner, `d` those of the running task, which come first.
    Draw = 96,
    /// mlfq: `pid` was moved to the top (0: all that do not wait): `a` clock used, `b` number of the boost, `c` from which level.
    Boost = 112,
    /// mlfq: `pid` used up its allotment: `a` clock used, `b` used, `c` level before, `d` after.
    Demote = 113,
}

/// Bits of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// The task was woken.
    pub const WAKEUP: Self = Self(1 << 0);
    /// The waker is about to sleep.
    pub const SYNC: Self = Self(1 << 1);
    /// The task is new.
    pub const FORK: Self = Self(1 << 2);
    /// An idle CPU was claimed or kicked; the CPU became idle.
    pub const IDLE: Self = Self(1 << 3);
    /// The kick preempts.
    pub const PREEMPT: Self = Self(1 << 4);
    /// The task can still run.
    pub const RUNNABLE: Self = Self(1 << 5);
    /// The previous task goes on.
    pub const KEPT: Self = Self(1 << 6);
    /// A task was moved from a queue to the CPU.
    pub const MOVED: Self = Self(1 << 7);
    /// The task is sticky.
    pub const STICKY: Self = Self(1 << 8);
    /// The CPU kicks itself because an insertion is under way.
    pub const RETRY: Self = Self(1 << 9);
    /// The task had yielded.
    pub const YIELDED: Self = Self(1 << 10);
    /// select_cpu had claimed an idle CPU for the task.
    pub const CLAIMED: Self = Self(1 << 11);
    /// The CPU came.
    pub const ONLINE: Self = Self(1 << 12);
    /// The task became a member of the queue.
    pub const JOINED: Self = Self(1 << 13);
    /// The task is no member of the queue any more.
    pub const LEFT: Self = Self(1 << 14);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl TraceEvent {
    /// Reads an event as the scheduler wrote it (little-endian, as x86 is).
    ///
    /// # Errors
    /// It has another length, or a kind that this build does not know.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes: &[u8; EVENT_BYTES] = bytes
            .try_into()
            .map_err(|_| Malformed(format!("an event has {} bytes", bytes.len())))?;
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let (halves, _) = bytes.as_chunks::<2>();
        let half = |index: usize| u16::from_le_bytes(halves[index]);
        let quarter = |index: usize| u32::from(half(index)) | u32::from(half(index + 1)) << 16;
        let kind = EventKind::from_number(half(30))
            .ok_or_else(|| Malformed(format!("there is no event of kind {}", half(30))))?;
        Ok(Self {
            begin_ns: word(0),
            end_ns: word(1),
            a: word(2),
            b: word(3),
            c: word(4),
            d: word(5),
            sequence: quarter(24),
            pid: quarter(26).cast_signed(),
            cpu: half(28),
            target: half(29).cast_signed(),
            kind,
            flags: Flags(half(31)),
        })
    }

    /// The same bytes again.
    pub fn encode(&self) -> [u8; EVENT_BYTES] {
        let mut bytes = [0; EVENT_BYTES];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        for word in [self.begin_ns, self.end_ns, self.a, self.b, self.c, self.d] {
            put(&word.to_le_bytes());
        }
        put(&self.sequence.to_le_bytes());
        put(&self.pid.to_le_bytes());
        for half in [self.cpu, self.target.cast_unsigned(), self.kind as u16, self.flags.0] {
            put(&half.to_le_bytes());
        }
        bytes
    }
}

/// A recorded run of one scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The scheduler's canonical text, without `lab:`.
    pub choice: String,
    /// Release of the kernel it ran on.
    pub kernel: String,
    /// How many events found the buffer full.
    pub lost: u64,
    /// Everything else, in the order of the buffer.
    pub events: Vec<TraceEvent>,
}

impl Trace {
    /// Reads a trace file; hostile bytes are refused.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut rest = bytes;
        let mut take = |length: usize| -> Result<&[u8], Malformed> {
            let (taken, after) =
                rest.split_at_checked(length).ok_or(Malformed("it is cut short".to_owned()))?;
            rest = after;
            Ok(taken)
        };
        if take(MAGIC.len())? != MAGIC {
            return Err(Malformed("it is no trace of this version".to_owned()));
        }
        let mut number = [0; 8];
        number.copy_from_slice(take(8)?);
        let lost = u64::from_le_bytes(number);
        let mut text = || -> Result<String, Malformed> {
            let mut length = [0; 4];
            length.copy_from_slice(take(4)?);
            let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
            if length > LONGEST_TEXT {
                return Err(Malformed(format!("a text has {length} bytes")));
            }
            let text = std::str::from_utf8(take(length)?);
            text.map(str::to_owned).map_err(|error| Malformed(error.to_string()))
        };
        let (choice, kernel) = (text()?, text()?);
        number.copy_from_slice(take(8)?);
        let (chunks, remainder) = rest.as_chunks::<EVENT_BYTES>();
        if !remainder.is_empty() || chunks.len() as u64 != u64::from_le_bytes(number) {
            return Err(Malformed("it has another length than it says".to_owned()));
        }
        let events =
            chunks.iter().map(|chunk| TraceEvent::decode(chunk)).collect::<Result<_, _>>()?;
        Ok(Self { choice, kernel, lost, events })
    }

    /// Writes the file that [`Trace::decode`] reads.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        to.write_all(&MAGIC)?;
        to.write_all(&self.lost.to_le_bytes())?;
        for text in [&self.choice, &self.kernel] {
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            to.write_all(&length.to_le_bytes())?;
            to.write_all(text.as_bytes())?;
        }
        to.write_all(&(self.events.len() as u64).to_le_bytes())?;
        for event in &self.events {
            to.write_all(&event.encode())?;
        }
        to.flush()
    }

    /// Why the trace proves nothing, if something is missing: events that were lost, and
    /// numbers that were passed over on a CPU.
    pub fn gaps(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.lost > 0 {
            found.push(format!("{} events found the buffer full", self.lost));
        }
        let mut numbers: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        for event in &self.events {
            numbers.entry(event.cpu).or_default().push(event.sequence);
        }
        for (cpu, mut numbers) in numbers {
            // An interrupt may write the next event before the interrupted one is written.
            numbers.sort_unstable();
            let expected = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let last = numbers.last().copied().unwrap_or_default();
            let is_distinct = numbers.windows(2).all(|pair| pair[0] < pair[1]);
            if !is_distinct || last.wrapping_add(1) != expected {
                found.push(format!("CPU {cpu} has {expected} events numbered up to {last}"));
            }
        }
        found
    }
}

/// Why bytes are no event or no trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot read the trace: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = include_str!("trace.bpf.h");

    fn event(cpu: u16, sequence: u32) -> TraceEvent {
        TraceEvent {
            begin_ns: 1,
            end_ns: 2,
            a: 3,
            b: 4,
            c: 5,
            d: u64::MAX,
            sequence,
            pid: -7,
            cpu,
            target: -1,
            kind: EventKind::Balance,
            flags: Flags(Flags::IDLE.0 | Flags::ONLINE.0),
        }
    }

    /// `NAME = VALUE` of an enum in the header.
    fn declared(prefix: &str) -> Vec<(String, String)> {
        let assignments = HEADER.lines().filter_map(|line| line.split_once(" = "));
        assignments
            .filter(|(name, _)| name.trim().starts_with(prefix))
            .map(|(name, rest)| {
                let value = rest.split(',').next().unwrap_or_default();
                (name.trim().trim_start_matches(prefix).replace('_', ""), value.to_owned())
            })
            .collect()
    }

    #[test]
    fn kinds_and_flags_are_those_of_the_header() {
        let kinds = declared("EVENT_");
        assert_eq!(kinds.len(), 24);
        for (name, number) in kinds {
            let kind = EventKind::from_number(number.parse().unwrap()).unwrap();
            assert_eq!(format!("{kind:?}").to_uppercase(), name);
        }
        let source = include_str!("trace.rs").replace('_', "");
        let flags = declared("FLAG_");
        assert_eq!(flags.len(), 15);
        for (name, value) in flags {
            assert!(source.contains(&format!("const {name}: Self = Self({value});")), "{name}");
        }
    }

    #[test]
    fn a_trace_is_read_as_it_was_written_and_a_cut_is_noticed() {
        let trace = Trace {
            choice: "bfs?rr_interval=6ms".to_owned(),
            kernel: "6.18".to_owned(),
            lost: 0,
            events: vec![event(0, 0), event(1, 0), event(0, 1)],
        };
        let mut bytes = Vec::new();
        trace.write(&mut bytes).unwrap();
        assert_eq!(Trace::decode(&bytes), Ok(trace.clone()));
        assert_eq!(trace.gaps(), Vec::<String>::new());
        for length in 0..bytes.len() {
            assert!(Trace::decode(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_loss_a_gap_and_a_double_keep_a_trace_from_proving_anything() {
        let with = |events| Trace { events, ..Trace::default() };
        assert_eq!(Trace { lost: 3, ..Trace::default() }.gaps().len(), 1);
        assert_eq!(with(vec![event(0, 0), event(0, 2)]).gaps().len(), 1);
        assert_eq!(with(vec![event(0, 1)]).gaps().len(), 1);
        assert_eq!(with(vec![event(0, 0), event(0, 0)]).gaps().len(), 1);
        assert_eq!(with(vec![event(0, 1), event(0, 0)]).gaps(), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Trace::decode(&bytes);
            let _ = TraceEvent::decode(&bytes);
            let mut trace = MAGIC.to_vec();
            trace.extend(&bytes);
            let _ = Trace::decode(&trace);
        }

        #[test]
        fn an_event_keeps_its_bytes(bytes in prop::array::uniform32(any::<[u8; 2]>())) {
            let bytes: Vec<u8> = bytes.concat();
            if let Ok(event) = TraceEvent::decode(&bytes) {
                prop_assert_eq!(event.encode().to_vec(), bytes);
            }
        }
    }
}
