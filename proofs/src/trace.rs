//! A recorded trace: one line of JSON that says what was recorded, then events of 64 bytes
//! as the scheduler wrote them (trace.bpf.h of the crate `schedulers`).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of one event.
pub const EVENT_BYTES: usize = 64;
/// Changes with the header or the events.
pub const FORMAT: u32 = 1;

/// What was recorded, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Which algorithm.
    pub algorithm: String,
    /// The scheduler's parameters as numbers: nanoseconds, counts, 0 or 1. What was left
    /// out (`without`) is not among them: a model knows the whole algorithm only.
    pub parameters: BTreeMap<String, u64>,
    /// The scheduler as it was asked for, for people.
    pub scheduler: String,
    /// CPUs of the guest.
    pub cpus: u16,
    /// Release of the kernel.
    pub kernel: String,
    /// Events that found no room.
    pub lost: u64,
    /// Events that follow.
    pub events: u64,
}

/// What an event is about. The names are those of trace.bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "trace.bpf.h says it, with the meaning of each member")]
pub enum Kind {
    InitTask,
    ExitTask,
    SelectCpu,
    Enqueue,
    Dispatch,
    Running,
    Stopping,
    Quiescent,
    SetWeight,
    SetCpumask,
    Kick,
    Idle,
    Cpu,
    Yield,
    /// One of an algorithm's own, from 64 on.
    Own(u16),
}

const KINDS: [Kind; 14] = [
    Kind::InitTask,
    Kind::ExitTask,
    Kind::SelectCpu,
    Kind::Enqueue,
    Kind::Dispatch,
    Kind::Running,
    Kind::Stopping,
    Kind::Quiescent,
    Kind::SetWeight,
    Kind::SetCpumask,
    Kind::Kick,
    Kind::Idle,
    Kind::Cpu,
    Kind::Yield,
];

/// Flags of an event, as in trace.bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "trace.bpf.h says it")]
pub enum Flag {
    Wakeup = 1 << 0,
    Sync = 1 << 1,
    Fork = 1 << 2,
    Idle = 1 << 3,
    Preempt = 1 << 4,
    Runnable = 1 << 5,
    Kept = 1 << 6,
    Moved = 1 << 7,
    Sticky = 1 << 8,
    Retry = 1 << 9,
    Yielded = 1 << 10,
    Claimed = 1 << 11,
    Online = 1 << 12,
}

/// One operation of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "trace.bpf.h says it, for each kind")]
pub struct Event {
    pub begin_ns: u64,
    pub end_ns: u64,
    pub a: u64,
    pub b: u64,
    pub c: u64,
    pub d: u64,
    pub sequence: u32,
    pub pid: i32,
    pub cpu: u16,
    pub target: i16,
    pub kind: Kind,
    pub flags: u16,
}

/// A whole trace, in the order in which operations ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What was recorded.
    pub header: Header,
    /// By [`Event::end_ns`].
    pub events: Vec<Event>,
}

/// Why a trace proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(pub String);

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "this trace proves nothing: {}", self.0)
    }
}

impl std::error::Error for Unusable {}

impl Event {
    /// Whether it has this flag.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags & flag as u16 != 0
    }

    /// Reads the 64 bytes of one event.
    pub fn decode(bytes: &[u8; EVENT_BYTES]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        // The last sixteen bytes are six smaller numbers.
        let (low, high) = (word(6), word(7));
        let number = (high >> 32) as u16;
        let kind = match number {
            1.. if usize::from(number) <= KINDS.len() => KINDS[usize::from(number) - 1],
            64.. => Kind::Own(number),
            _ => return None,
        };
        Some(Self {
            begin_ns: word(0),
            end_ns: word(1),
            a: word(2),
            b: word(3),
            c: word(4),
            d: word(5),
            sequence: low as u32,
            pid: ((low >> 32) as u32).cast_signed(),
            cpu: high as u16,
            target: ((high >> 16) as u16).cast_signed(),
            kind,
            flags: (high >> 48) as u16,
        })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { begin_ns, end_ns, a, b, c, d, pid, cpu, target, kind, flags, .. } = self;
        write!(
            formatter,
            "{kind:?} on CPU {cpu} from {begin_ns} to {end_ns}: task {pid}, target {target}, \
             a {a}, b {b}, c {c:#x}, d {d}, flags {flags:#x}"
        )
    }
}

impl Trace {
    /// Reads a recorded trace and insists that nothing is missing.
    ///
    /// # Errors
    /// Not a trace, or events were lost.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let fail = |why: String| Unusable(why);
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| fail("it has no first line".to_owned()))?;
        let header: Header = serde_json::from_slice(&bytes[..end])
            .map_err(|error| fail(format!("its first line cannot be read: {error}")))?;
        if header.format != FORMAT {
            return Err(fail(format!("it has format {}, not {FORMAT}", header.format)));
        }
        if header.lost != 0 {
            return Err(fail(format!("{} events were lost", header.lost)));
        }
        let (records, rest) = bytes[end + 1..].as_chunks::<EVENT_BYTES>();
        if records.len() as u64 != header.events || !rest.is_empty() {
            let (seen, told) = (records.len(), header.events);
            return Err(fail(format!("it has {seen} events and {} bytes, not {told}", rest.len())));
        }
        let decode = |(index, record): (usize, &[u8; EVENT_BYTES])| {
            Event::decode(record).ok_or_else(|| fail(format!("event {index} is of no known kind")))
        };
        let events = records.iter().enumerate().map(decode).collect::<Result<Vec<_>, _>>()?;
        Self::new(header, events)
    }

    /// Puts events in order and insists that none is missing.
    ///
    /// # Errors
    /// A gap in the numbers of a CPU, or an operation that ended before it began.
    pub fn new(header: Header, mut events: Vec<Event>) -> Result<Self, Unusable> {
        if let Some(event) = events.iter().find(|event| event.begin_ns > event.end_ns) {
            return Err(Unusable(format!("an operation ended before it began: {event}")));
        }
        let mut numbers: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        for event in &events {
            numbers.entry(event.cpu).or_default().push(event.sequence);
        }
        for (cpu, mut seen) in numbers {
            seen.sort_unstable();
            let gap = seen.windows(2).find(|pair| pair[1] != pair[0].wrapping_add(1));
            if let Some(gap) = gap {
                let (last, next) = (gap[0], gap[1]);
                return Err(Unusable(format!("CPU {cpu} has event {next} after {last}")));
            }
        }
        events.sort_by_key(|event| (event.end_ns, event.cpu, event.sequence));
        Ok(Self { header, events })
    }

    /// A parameter that the model needs.
    ///
    /// # Errors
    /// The trace does not tell it.
    pub fn parameter(&self, name: &str) -> Result<u64, Unusable> {
        let value = self.header.parameters.get(name).copied();
        value.ok_or_else(|| Unusable(format!("it does not tell {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    fn bytes(script: &Script) -> Vec<u8> {
        let trace = script.trace();
        let mut bytes = serde_json::to_vec(&trace.header).unwrap();
        bytes.push(b'\n');
        for event in &trace.events {
            bytes.extend(encode(event));
        }
        bytes
    }

    fn encode(event: &Event) -> Vec<u8> {
        let number = KINDS.iter().position(|kind| *kind == event.kind).unwrap() as u16 + 1;
        let words = [event.begin_ns, event.end_ns, event.a, event.b, event.c, event.d];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(event.sequence.to_le_bytes());
        bytes.extend(event.pid.to_le_bytes());
        bytes.extend(event.cpu.to_le_bytes());
        bytes.extend(event.target.to_le_bytes());
        bytes.extend(number.to_le_bytes());
        bytes.extend(event.flags.to_le_bytes());
        bytes
    }

    #[test]
    fn what_was_written_is_read() {
        let mut script = Script::new("fifo", 2);
        script.event(1, 30, Kind::Quiescent, TASK).d(9);
        script.event(0, 10, Kind::Enqueue, TASK).target(-1).a(5).flags(&[Flag::Wakeup]);
        let bytes = bytes(&script);
        assert_eq!(Trace::read(&bytes).unwrap(), script.trace());
        assert_eq!(script.trace().events[0].target, -1);
    }

    #[test]
    fn a_trace_that_lacks_something_is_refused() {
        let mut script = Script::new("fifo", 1);
        for at in [10, 20, 30] {
            script.event(0, at, Kind::Yield, TASK);
        }
        let whole = bytes(&script);
        let refused = |bytes: &[u8], why: &str| {
            let told = Trace::read(bytes).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        };
        refused(b"", "no first line");
        refused(b"{}\n", "cannot be read");
        refused(&whole[..whole.len() - 1], "not 3");
        let text = String::from_utf8_lossy(&whole).replacen("\"lost\":0", "\"lost\":4", 1);
        refused(text.as_bytes(), "4 events were lost");
        let mut gap = script.trace();
        gap.events.remove(1);
        let told = Trace::new(gap.header, gap.events).unwrap_err().to_string();
        assert!(told.contains("CPU 0 has event 2 after 0"), "{told}");
    }
}
