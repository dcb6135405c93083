//! What was declared, as the three processes need it.

use super::clock::Clock;
use super::events::Engine;
use super::frame::LEAST;
use super::poller::Waiting;
use super::queue::{BellKind, Guard};
use super::role::Role;
use contract::{Key, Problem, WordChoice};
use model::Parameters;
use workload_parts::nanoseconds::MS;

contract::keys! {
    pub(super) PARAMETERS;
    WORKERS: u64 = count("workers", 1, 64, "1", "Workers of the gateway"),
    SESSIONS: u64 = count("sessions", 1, 4096, "10", "Connections of the generator"),
    INFLIGHT_PER_SESSION: u64 = count(
        "inflight_per_session",
        1,
        1024,
        "1",
        "Requests under way in each session",
    ),
    INFLIGHT_TOTAL: u64 = count(
        "inflight_total",
        0,
        1 << 20,
        "1",
        "Requests under way in all; 0: no limit but the sessions'",
    ),
    ROUTE: Route = choice("route", "local", "Whether another worker is asked"),
    QUEUE: Guard = choice("queue", "mutex", "What guards the queues of workers"),
    WAKE: WakeChoice = choice("wake", "eventfd", "How a worker waits, and learns of its queue"),
    IO: Engine = choice("io", "epoll", "How a worker waits for its connections"),
    ALLOCATOR: FrameMemory = choice(
        "allocator",
        "system",
        "Where the gateway has the memory of frames",
    ),
    CLOCK: ClockChoice = choice("clock", "monotonic", "What moments are taken with"),
    SPIN: u64 = duration("spin", 1_000, 100 * MS, "20us", "How long spin_then_block stays awake"),
    PAYLOAD: u64 = size(
        "payload",
        0,
        64 << 10,
        "64",
        "Bytes of a frame beside its header and stamps",
    ),
    REQUESTS: u64 = count("requests", 10, 100_000_000, "50_000", "Requests that are measured"),
    WARM_UP: u64 = count("warm_up", 0, 100_000_000, "2_000", "Requests before them"),
    RATE: u64 = count("rate", 0, 10_000_000, "0", "Requests per second; 0: each waits for a reply"),
    ARRIVALS: RequestGaps = choice("arrivals", "constant", "Gaps between requests of a rate"),
    PORT: u64 = count(
        "port",
        0,
        65_535,
        "0",
        "Port of the gateway on this machine; 0: one that is free",
    ),
    GENERATOR_CPUS: str = text(
        "generator_cpus",
        "",
        "CPUs of the generator, the first of which it is pinned to",
    ),
    GATEWAY_CPUS: str = text(
        "gateway_cpus",
        "",
        "CPUs of the gateway: its nth worker is pinned to the nth",
    ),
    EXCHANGE_CPUS: str = text(
        "exchange_cpus",
        "",
        "CPUs of the exchange, the first of which it is pinned to",
    ),
    GENERATOR_POLICY: str = text(
        "generator_policy",
        "",
        "Policy of the generator, as the factor policy spells it: fifo:10",
    ),
    GATEWAY_POLICY: str = text("gateway_policy", "", "Policy of the gateway's workers"),
    EXCHANGE_POLICY: str = text("exchange_policy", "", "Policy of the exchange"),
    DELAY_IN: Stage = choice("delay_in", "exchange", "The stage that `delay` makes longer"),
    DELAY: u64 = duration(
        "delay",
        0,
        10 * MS,
        "0us",
        "A delay for one stage, by staying busy: does it show there?",
    ),
}

/// Bytes of a pool.
const MOST_OF_POOL: usize = 64 << 20;

/// Which way a request goes through the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The worker that has the client asks the exchange itself.
    Local,
    /// Another worker asks, and replies to the client itself.
    OneWay,
    /// Another worker asks, and hands the answer back to the one that has the client.
    BothWays,
}

impl WordChoice for Route {
    const WORDS: &'static [(&'static str, Self)] =
        &[("local", Self::Local), ("one_way", Self::OneWay), ("both_ways", Self::BothWays)];
}

impl Route {
    /// Whether a request goes through this stage.
    pub(super) fn passes(self, stage: Stage) -> bool {
        match stage {
            Stage::Handoff => self != Self::Local,
            Stage::HandoffBack => self == Self::BothWays,
            _ => true,
        }
    }
}

/// A place at which a delay can be put in, to see whether it is found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// From the generator's write to the worker that finds it.
    ToGateway,
    /// The gateway's own work, and the wait for it.
    Gateway,
    /// From one worker's queue to another worker.
    Handoff,
    /// From the gateway's write to the answer it has read.
    Exchange,
    /// From the other worker back to the one that has the client.
    HandoffBack,
    /// From the gateway's write to the generator that has read it.
    ToClient,
}

impl WordChoice for Stage {
    /// All, in their order.
    const WORDS: &'static [(&'static str, Self)] = &[
        ("to_gateway", Self::ToGateway),
        ("gateway", Self::Gateway),
        ("handoff", Self::Handoff),
        ("exchange", Self::Exchange),
        ("handoff_back", Self::HandoffBack),
        ("to_client", Self::ToClient),
    ];
}

/// How a worker waits, and learns of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeChoice {
    Eventfd,
    Futex,
    BusyPoll,
    SpinThenBlock,
}

impl WordChoice for WakeChoice {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("eventfd", Self::Eventfd),
        ("futex", Self::Futex),
        ("busy_poll", Self::BusyPoll),
        ("spin_then_block", Self::SpinThenBlock),
    ];
}

/// Where the gateway has the memory of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameMemory {
    /// It asks for each.
    System,
    /// It keeps them to use them again.
    Pool,
}

impl WordChoice for FrameMemory {
    const WORDS: &'static [(&'static str, Self)] =
        &[("system", Self::System), ("pool", Self::Pool)];
}

/// What moments are taken with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClockChoice {
    /// CLOCK_MONOTONIC.
    Monotonic,
    /// The time stamp counter.
    Tsc,
}

impl WordChoice for ClockChoice {
    const WORDS: &'static [(&'static str, Self)] =
        &[("monotonic", Self::Monotonic), ("tsc", Self::Tsc)];
}

/// Gaps between requests of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestGaps {
    /// All the same.
    Constant,
    /// Those of a Poisson process.
    Poisson,
}

impl WordChoice for RequestGaps {
    const WORDS: &'static [(&'static str, Self)] =
        &[("constant", Self::Constant), ("poisson", Self::Poisson)];
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct GatewaySettings {
    pub(super) workers: usize,
    pub(super) sessions: usize,
    /// Requests that may be under way, of one session and in all.
    pub(super) inflight: (u64, u64),
    pub(super) route: Route,
    pub(super) guard: Guard,
    pub(super) waiting: Waiting,
    pub(super) engine: Engine,
    pub(super) bell: BellKind,
    pub(super) payload: usize,
    pub(super) requests: u64,
    pub(super) warm_up: u64,
    /// Requests per second; none: each waits for a reply.
    pub(super) rate: Option<u64>,
    pub(super) gaps: RequestGaps,
    pub(super) port: u16,
    pub(super) generator: Role,
    pub(super) gateway: Role,
    pub(super) exchange: Role,
    /// What moments are taken with; the cycle counter is compared with the kernel's clock when the
    /// run is prepared.
    pub(super) clock: Clock,
    /// What was declared of it.
    pub(super) declared_clock: ClockChoice,
    pub(super) memory: FrameMemory,
    /// Where a delay is put in, and how long it is.
    pub(super) delay: Option<(Stage, u64)>,
    pub(super) seed: u64,
}

impl GatewaySettings {
    /// # Errors
    /// All that cannot be meant.
    pub(super) fn of(parameters: &Parameters) -> Result<Self, Vec<Problem>> {
        let mut roles = Vec::new();
        let mut role = |cpus, policy| {
            let role = Role::of(parameters, cpus, policy);
            role.unwrap_or_else(|why| {
                roles.extend(why);
                Role::default()
            })
        };
        let generator = role(&GENERATOR_CPUS, &GENERATOR_POLICY);
        let gateway = role(&GATEWAY_CPUS, &GATEWAY_POLICY);
        let exchange = role(&EXCHANGE_CPUS, &EXCHANGE_POLICY);
        let number = |key: &Key<u64>| usize::try_from(key.of(parameters)).unwrap_or(usize::MAX);
        let (per_session, total) =
            (INFLIGHT_PER_SESSION.of(parameters), INFLIGHT_TOTAL.of(parameters));
        let delay_ns = DELAY.of(parameters);
        let (bell, waiting) = wake(parameters);
        let settings = Self {
            workers: number(&WORKERS),
            sessions: number(&SESSIONS),
            inflight: (per_session, if total == 0 { u64::MAX } else { total }),
            route: ROUTE.of(parameters),
            guard: QUEUE.of(parameters),
            engine: IO.of(parameters),
            bell,
            waiting,
            payload: usize::try_from(PAYLOAD.of(parameters)).unwrap_or(usize::MAX - LEAST),
            requests: REQUESTS.of(parameters),
            warm_up: WARM_UP.of(parameters),
            rate: Some(RATE.of(parameters)).filter(|rate| *rate > 0),
            gaps: ARRIVALS.of(parameters),
            port: u16::try_from(PORT.of(parameters)).unwrap_or(u16::MAX),
            generator,
            gateway,
            exchange,
            clock: Clock::Monotonic,
            declared_clock: CLOCK.of(parameters),
            memory: ALLOCATOR.of(parameters),
            delay: (delay_ns > 0).then(|| (DELAY_IN.of(parameters), delay_ns)),
            // The trial's, when the run is prepared.
            seed: 0,
        };
        let mut problems = settings.conflicts();
        problems.extend(roles);
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Combinations that cannot be meant, in the words that were declared.
    fn conflicts(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let route = self.route.word();
        if self.route != Route::Local && self.workers < 2 {
            found.push(format!("route = {route:?} needs two workers or more"));
        }
        if let Some((stage, _)) = self.delay.filter(|(stage, _)| !self.route.passes(*stage)) {
            let name = stage.word();
            found.push(format!("no request of route = {route:?} goes through {name}"));
        }
        if self.bell == BellKind::Futex && self.engine == Engine::Epoll {
            found.push(
                "wake = \"futex\" needs io = \"io_uring\": epoll cannot wait for a futex"
                    .to_owned(),
            );
        }
        found.into_iter().map(Problem::from).collect()
    }

    /// Most requests that can be under way at once.
    pub(super) fn most_under_way(&self) -> u64 {
        if self.rate.is_some() {
            return self.requests + self.warm_up;
        }
        self.inflight.0.saturating_mul(self.sessions as u64).min(self.inflight.1)
    }

    /// Frames for which the pool has memory: for all under way, and two for each worker; but no
    /// more than it may touch before a run.
    pub(super) fn pool_frames(&self) -> usize {
        let under_way = usize::try_from(self.most_under_way()).unwrap_or(usize::MAX);
        let wanted = under_way.saturating_add(2 * self.workers);
        wanted.min(MOST_OF_POOL / (LEAST + self.payload))
    }

    /// Whether a frame can find the pool empty.
    pub(super) fn may_miss(&self) -> bool {
        self.rate.is_some() || (self.pool_frames() as u64) < self.most_under_way()
    }

    /// Stays busy where a delay was declared for this stage.
    #[inline]
    pub(super) fn delay_in(&self, stage: Stage) {
        if let Some((_, delay_ns)) = self.delay.filter(|(declared, _)| *declared == stage) {
            let until_ns = self.clock.now_ns() + delay_ns;
            while self.clock.now_ns() < until_ns {
                std::hint::spin_loop();
            }
        }
    }
}

/// What wakes a worker, and what it does while there is nothing to do.
fn wake(parameters: &Parameters) -> (BellKind, Waiting) {
    match WAKE.of(parameters) {
        WakeChoice::Eventfd => (BellKind::Eventfd, Waiting::Sleep),
        WakeChoice::Futex => (BellKind::Futex, Waiting::Sleep),
        WakeChoice::BusyPoll => (BellKind::Eventfd, Waiting::Poll),
        WakeChoice::SpinThenBlock => {
            (BellKind::Eventfd, Waiting::PollThenSleep(SPIN.of(parameters)))
        }
    }
}
