//! A recorded trace as models read it: events in the order in which operations ended, and
//! the parameters of the scheduler.

use model::ParameterValue::{Count, Duration, Flag as Switch, Size};
use schedulers::own::trace::EVENT_BYTES;
use schedulers::own::{Choice, trace as recorded};
use std::collections::BTreeMap;
use std::fmt;

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Which algorithm.
    pub algorithm: String,
    /// The scheduler's parameters as numbers: nanoseconds, counts, 0 or 1. What was left
    /// out (`without`) is not among them: a model knows the whole algorithm only.
    pub parameters: BTreeMap<String, u64>,
    /// CPUs that told anything.
    pub cpus: u16,
}

/// What an event is about. The names are those of trace.bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "trace.bpf.h says it, with the meaning of each member")]
pub enum OrderedEventKind {
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
    Rescue,
    Charge,
    /// One of an algorithm's own, from 80 on.
    Own(u16),
}

const KINDS: [OrderedEventKind; 16] = [
    OrderedEventKind::InitTask,
    OrderedEventKind::ExitTask,
    OrderedEventKind::SelectCpu,
    OrderedEventKind::Enqueue,
    OrderedEventKind::Dispatch,
    OrderedEventKind::Running,
    OrderedEventKind::Stopping,
    OrderedEventKind::Quiescent,
    OrderedEventKind::SetWeight,
    OrderedEventKind::SetCpumask,
    OrderedEventKind::Kick,
    OrderedEventKind::Idle,
    OrderedEventKind::Cpu,
    OrderedEventKind::Yield,
    OrderedEventKind::Rescue,
    OrderedEventKind::Charge,
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
    Joined = 1 << 13,
    Left = 1 << 14,
}

/// One operation of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "trace.bpf.h says it, for each kind")]
pub struct OrderedEvent {
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
    pub kind: OrderedEventKind,
    pub flags: u16,
}

/// A whole trace, in the order in which operations ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedTrace {
    /// What was recorded.
    pub header: Header,
    /// By [`OrderedEvent::end_ns`].
    pub events: Vec<OrderedEvent>,
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

impl OrderedEvent {
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
            64.. => OrderedEventKind::Own(number),
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

impl fmt::Display for OrderedEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { begin_ns, end_ns, a, b, c, d, pid, cpu, target, kind, flags, .. } = self;
        write!(
            formatter,
            "{kind:?} on CPU {cpu} from {begin_ns} to {end_ns}: task {pid}, target {target}, \
             a {a}, b {b}, c {c:#x}, d {d}, flags {flags:#x}"
        )
    }
}

impl OrderedTrace {
    /// Reads a recorded trace and insists that nothing is missing.
    ///
    /// # Errors
    /// Not a trace, or events were lost.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let fail = |why: &dyn fmt::Display| Unusable(why.to_string());
        let read = recorded::Trace::decode(bytes).map_err(|malformed| fail(&malformed))?;
        if let Some(gap) = read.gaps().first() {
            return Err(fail(gap));
        }
        let choice = Choice::parse(&read.choice).map_err(|error| fail(&error))?;
        let events: Option<Vec<_>> =
            read.events.iter().map(|event| OrderedEvent::decode(&event.encode())).collect();
        let events = events.ok_or_else(|| fail(&"it has an event of no known kind"))?;
        let header = Header {
            algorithm: choice.algorithm().id.to_owned(),
            parameters: numbers(&choice),
            cpus: events.iter().map(|event| event.cpu + 1).max().unwrap_or(0),
        };
        Self::new(header, events)
    }

    /// Puts events in order and insists that none is missing.
    ///
    /// # Errors
    /// A gap in the numbers of a CPU, or an operation that ended before it began.
    pub fn new(header: Header, mut events: Vec<OrderedEvent>) -> Result<Self, Unusable> {
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

/// The numbers among a scheduler's parameters.
fn numbers(choice: &Choice) -> BTreeMap<String, u64> {
    let declared = choice.algorithm().parameters.iter();
    declared
        .filter_map(|parameter| match choice.value(parameter.name)? {
            Count(value) | Duration(value) | Size(value) => Some((parameter.name, value)),
            Switch(value) => Some((parameter.name, u64::from(value))),
            _ => None,
        })
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, TASK};

    #[test]
    fn an_event_is_read_from_its_bytes() {
        let words = [10_u64, 20, 1, 2, 3, 4];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(7_u32.to_le_bytes());
        bytes.extend((-1_i32).to_le_bytes());
        for half in [1_u16, 0xffff, 4, 1 << 11 | 1] {
            bytes.extend(half.to_le_bytes());
        }
        let event = OrderedEvent::decode(bytes.as_slice().try_into().unwrap()).unwrap();
        assert_eq!((event.begin_ns, event.end_ns, event.d), (10, 20, 4));
        assert_eq!((event.sequence, event.pid, event.cpu, event.target), (7, -1, 1, -1));
        assert_eq!(event.kind, OrderedEventKind::Enqueue);
        assert!(event.has(Flag::Wakeup) && event.has(Flag::Claimed) && !event.has(Flag::Sync));
    }

    #[test]
    fn what_was_recorded_is_read_with_its_parameters_and_without_what_was_left_out() {
        let mut trace =
            recorded::Trace { choice: "bfs?without=sticky".to_owned(), ..Default::default() };
        let read = |trace: &recorded::Trace| {
            let mut bytes = Vec::new();
            trace.write(&mut bytes).unwrap();
            OrderedTrace::read(&bytes)
        };
        let header = read(&trace).unwrap().header;
        assert_eq!(header.algorithm, "bfs");
        assert_eq!(header.parameters, BTreeMap::from([("rr_interval".to_owned(), 6_000_000)]));
        trace.lost = 4;
        assert!(read(&trace).unwrap_err().to_string().contains("4 events"));
        assert!(OrderedTrace::read(b"none").is_err());
    }

    #[test]
    fn a_gap_is_refused() {
        let mut script = Script::new("fifo", 1);
        for at in [10, 20, 30] {
            script.event(0, at, OrderedEventKind::Yield, TASK);
        }
        let mut gap = script.trace();
        gap.events.remove(1);
        let told = OrderedTrace::new(gap.header, gap.events).unwrap_err().to_string();
        assert!(told.contains("CPU 0 has event 2 after 0"), "{told}");
    }
}
