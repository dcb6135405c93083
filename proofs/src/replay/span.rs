//! Spans of time that are certain, and which of them cover an operation.

use crate::trace::OrderedEvent;

/// No CPU in particular: the end of the trace.
pub(super) const NOWHERE: u16 = u16::MAX;

/// By how much the clocks of two CPUs may disagree. Events are stamped with
/// `ktime_get_mono_fast_ns`, which may step back when the timekeeper is updated between two
/// readings (kernel/time/timekeeping.c: by the delta times the change of the slope), and
/// counters of CPUs are synchronised to much less than this.
const SLACK_NS: u64 = 1_000;

/// Something lasted at least from one event to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// It lasted from here on.
    pub from: u64,
    /// By whose clock.
    pub from_cpu: u16,
    /// And until here.
    pub until: u64,
    /// By whose clock.
    pub until_cpu: u16,
}

/// A task waited in a queue.
#[derive(Debug, Clone)]
pub struct Spell {
    /// The task.
    pub pid: i32,
    /// Number of the event that put it there.
    pub enqueue: usize,
    /// CPUs it was allowed on all the time.
    pub allowed: u64,
    /// The dispatch that ended it.
    pub taken_by: Option<usize>,
    /// When it surely waited.
    pub span: Span,
}

/// A CPU ran a task, and no dispatch came in between.
#[derive(Debug, Clone)]
pub struct Run {
    /// The task.
    pub pid: i32,
    /// The CPU.
    pub cpu: u16,
    /// Number of the event it began with: a start, or a dispatch that kept the task.
    pub begin: usize,
    /// When it surely ran.
    pub span: Span,
}

/// A CPU was idle, and nobody had claimed it.
#[derive(Debug, Clone)]
pub struct Idle {
    /// The CPU.
    pub cpu: u16,
    /// When the kernel marked it as idle at the earliest, which is before it says so.
    pub(super) marked_ns: u64,
    /// When it surely was.
    pub span: Span,
}

impl Idle {
    /// Whether a claim by this CPU at this time surely came before.
    pub(super) fn is_marked_after(&self, cpu: u16, at: u64) -> bool {
        let slack = if self.span.from_cpu == cpu { 0 } else { SLACK_NS };
        self.marked_ns > at.saturating_add(slack)
    }
}

impl Span {
    /// Whether it lasted through all of an operation of this CPU.
    pub fn covers(&self, cpu: u16, begin: u64, end: u64) -> bool {
        let slack = |other: u16| if other == cpu { 0 } else { SLACK_NS };
        self.from.saturating_add(slack(self.from_cpu)) <= begin
            && end.saturating_add(slack(self.until_cpu)) <= self.until
    }

    /// Whether it had surely begun by then.
    pub fn began_before(&self, cpu: u16, at: u64) -> bool {
        let slack = if self.from_cpu == cpu { 0 } else { SLACK_NS };
        self.from.saturating_add(slack) <= at
    }

    /// It ended with this operation: at its begin, as far as is certain.
    pub(super) fn close(&mut self, event: &OrderedEvent) {
        (self.until, self.until_cpu) = (event.begin_ns, event.cpu);
    }

    /// It is not certain when it ended.
    pub(super) fn void(&mut self) {
        self.until = 0;
    }
}

/// Something that lasted.
pub trait Lasting {
    /// When.
    fn span(&self) -> &Span;
}

impl Lasting for Spell {
    fn span(&self) -> &Span {
        &self.span
    }
}

impl Lasting for Run {
    fn span(&self) -> &Span {
        &self.span
    }
}

impl Lasting for Idle {
    fn span(&self) -> &Span {
        &self.span
    }
}

/// Which spans cover an operation, for operations in the order in which they end.
#[derive(Debug)]
pub struct Timeline<'s, T> {
    spans: &'s [T],
    /// By begin, without those that are not certain at any time.
    order: Vec<usize>,
    next: usize,
    live: Vec<usize>,
}

impl<'s, T: Lasting> Timeline<'s, T> {
    /// Before the first operation.
    pub fn new(spans: &'s [T]) -> Self {
        let is_sure = |index: &usize| spans[*index].span().from < spans[*index].span().until;
        let mut order: Vec<usize> = (0..spans.len()).filter(is_sure).collect();
        order.sort_by_key(|index| spans[*index].span().from);
        Self { spans, order, next: 0, live: Vec::new() }
    }

    /// Goes on to an operation that ended then.
    pub fn advance(&mut self, end_ns: u64) {
        let spans = self.spans;
        while let Some(index) = self.order.get(self.next) {
            if spans[*index].span().from > end_ns {
                break;
            }
            self.live.push(*index);
            self.next += 1;
        }
        self.live.retain(|index| spans[*index].span().until >= end_ns);
    }

    /// The spans that cover this time, by number, for an operation of this CPU. It must not
    /// end before the operation that was advanced to.
    pub fn throughout(
        &self,
        cpu: u16,
        (begin, end): (u64, u64),
    ) -> impl Iterator<Item = (usize, &'s T)> {
        let spans = self.spans;
        let numbered = self.live.iter().map(move |index| (*index, &spans[*index]));
        numbered.filter(move |(_, item)| item.span().covers(cpu, begin, end))
    }
}
