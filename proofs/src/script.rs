//! Traces written by hand, for the tests of models.

use crate::trace::{Flag, Header, OrderedEvent, OrderedEventKind, OrderedTrace};
use crate::verdict::Rejection;
use std::collections::BTreeMap;

/// The task that most scripts are about.
pub const TASK: i32 = 100;

/// How long an operation takes.
const OPERATION_NS: u64 = 100;

/// A trace that grows.
pub struct Script {
    header: Header,
    events: Vec<OrderedEvent>,
    numbers: BTreeMap<u16, u32>,
}

/// The event that was added last.
pub struct Added<'s>(&'s mut OrderedEvent);

impl Script {
    pub fn new(algorithm: &str, cpus: u16) -> Self {
        let header = Header { algorithm: algorithm.to_owned(), parameters: BTreeMap::new(), cpus };
        Self { header, events: Vec::new(), numbers: BTreeMap::new() }
    }

    pub fn parameter(mut self, name: &str, value: u64) -> Self {
        self.header.parameters.insert(name.to_owned(), value);
        self
    }

    /// An operation on a CPU that begins then.
    pub fn event(
        &mut self,
        cpu: u16,
        begin_ns: u64,
        kind: OrderedEventKind,
        pid: i32,
    ) -> Added<'_> {
        let number = self.numbers.entry(cpu).or_default();
        let sequence = *number;
        *number += 1;
        self.events.push(OrderedEvent {
            begin_ns,
            end_ns: begin_ns + OPERATION_NS,
            a: 0,
            b: 0,
            c: 0,
            d: 0,
            sequence,
            pid,
            cpu,
            target: i16::try_from(cpu).unwrap(),
            kind,
            flags: 0,
        });
        Added(self.events.last_mut().unwrap())
    }

    /// A dispatch with the clock read at its begin.
    pub fn dispatch(
        &mut self,
        cpu: u16,
        begin_ns: u64,
        chosen: i32,
        previous: i32,
        flags: &[Flag],
    ) -> Added<'_> {
        let previous = u64::try_from(previous).unwrap();
        self.event(cpu, begin_ns, OrderedEventKind::Dispatch, chosen)
            .a(previous)
            .b(begin_ns)
            .flags(flags)
    }

    pub fn end_of(&self, index: usize) -> u64 {
        self.events[index].end_ns
    }

    pub fn trace(&self) -> OrderedTrace {
        OrderedTrace::new(self.header.clone(), self.events.clone()).unwrap()
    }
}

impl Added<'_> {
    /// It began earlier than its place in the script says.
    pub fn begin(self, begin_ns: u64) -> Self {
        self.0.begin_ns = begin_ns;
        self
    }

    pub fn target(self, cpu: i16) -> Self {
        self.0.target = cpu;
        self
    }

    pub fn a(self, value: u64) -> Self {
        self.0.a = value;
        self
    }

    pub fn b(self, value: u64) -> Self {
        self.0.b = value;
        self
    }

    pub fn c(self, value: u64) -> Self {
        self.0.c = value;
        self
    }

    pub fn d(self, value: u64) -> Self {
        self.0.d = value;
        self
    }

    pub fn flags(self, flags: &[Flag]) -> Self {
        self.0.flags = flags.iter().fold(0, |bits, flag| bits | *flag as u16);
        self
    }
}

/// Steps in the life of a task, on CPUs 0 and 1.
impl Script {
    pub fn init(&mut self, at: u64, pid: i32, static_prio: u64) {
        self.event(0, at, OrderedEventKind::InitTask, pid).a(static_prio).c(3);
    }

    pub fn enqueue(
        &mut self,
        (cpu, at): (u16, u64),
        pid: i32,
        (key, left): (u64, u64),
        flags: &[Flag],
    ) -> Added<'_> {
        self.event(cpu, at, OrderedEventKind::Enqueue, pid).a(at).b(key).c(3).d(left).flags(flags)
    }

    pub fn start(&mut self, (cpu, at): (u16, u64), pid: i32, (key, left): (u64, u64)) {
        self.event(cpu, at, OrderedEventKind::Running, pid).a(at).b(key).d(left);
    }

    pub fn charge(&mut self, (cpu, at): (u16, u64), pid: i32, (key, left): (u64, u64)) {
        self.event(cpu, at, OrderedEventKind::Charge, pid).a(at).b(key).d(left);
    }

    pub fn stop(&mut self, (cpu, at): (u16, u64), pid: i32, (key, left): (u64, u64)) {
        let stopped = self.event(cpu, at, OrderedEventKind::Stopping, pid).a(at).b(key).d(left);
        stopped.flags(&[Flag::Runnable]);
    }

    /// The rule that its model says is broken; none where all that could be checked is right.
    pub fn broken_rule(&self) -> Option<&'static str> {
        match crate::models::replay(&self.trace()) {
            Ok(_) | Err(Rejection::Vacuous(_)) => None,
            Err(Rejection::Violation(violation)) => Some(violation.rule),
            Err(other) => panic!("{other}"),
        }
    }
}
