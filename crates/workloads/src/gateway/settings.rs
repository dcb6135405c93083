//! What was declared, as the three processes need it.

use super::clock::Clock;
use super::events::Engine;
use super::frame::LEAST;
use super::poller::Waiting;
use super::queue::{BellKind, Guard};
use super::role::Role;
use model::Parameters;

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

impl Stage {
    /// All, in their order, each with its name.
    pub(super) const ALL: [(Stage, &'static str); 6] = [
        (Stage::ToGateway, "to_gateway"),
        (Stage::Gateway, "gateway"),
        (Stage::Handoff, "handoff"),
        (Stage::Exchange, "exchange"),
        (Stage::HandoffBack, "handoff_back"),
        (Stage::ToClient, "to_client"),
    ];
}

/// All of it.
#[derive(Debug, Clone)]
pub(super) struct Settings {
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
    pub(super) is_poisson: bool,
    pub(super) port: u16,
    pub(super) generator: Role,
    pub(super) gateway: Role,
    pub(super) exchange: Role,
    pub(super) clock: Clock,
    /// Whether the gateway keeps frames to use them again.
    pub(super) has_pool: bool,
    /// Where a delay is put in, and how long it is.
    pub(super) delay: Option<(Stage, u64)>,
    pub(super) seed: u64,
}

impl Settings {
    /// # Errors
    /// What of it cannot be meant, in one sentence.
    pub(super) fn of(parameters: &Parameters, seed: u64) -> Result<Self, String> {
        let number = |name: &str| usize::try_from(parameters.count(name)).unwrap_or(usize::MAX);
        let (per_session, total) =
            (parameters.count("inflight_per_session"), parameters.count("inflight_total"));
        let delay_ns = parameters.duration_ns("delay");
        let delay_in = Stage::ALL.iter().find(|(_, name)| *name == parameters.text("delay_in"));
        Ok(Self {
            workers: number("workers"),
            sessions: number("sessions"),
            inflight: (per_session, if total == 0 { u64::MAX } else { total }),
            route: match parameters.text("route") {
                "one_way" => Route::OneWay,
                "both_ways" => Route::BothWays,
                _ => Route::Local,
            },
            guard: match parameters.text("queue") {
                "spin" => Guard::Spin,
                "lock_free" => Guard::LockFree,
                _ => Guard::Mutex,
            },
            engine: match parameters.text("io") {
                "io_uring" => Engine::Ring,
                _ => Engine::Epoll,
            },
            bell: match parameters.text("wake") {
                "futex" => BellKind::Futex,
                _ => BellKind::Eventfd,
            },
            waiting: match parameters.text("wake") {
                "busy_poll" => Waiting::Poll,
                "spin_then_block" => Waiting::PollThenSleep(parameters.duration_ns("spin")),
                _ => Waiting::Sleep,
            },
            payload: usize::try_from(parameters.size("payload")).unwrap_or(usize::MAX - LEAST),
            requests: parameters.count("requests"),
            warm_up: parameters.count("warm_up"),
            rate: Some(parameters.count("rate")).filter(|rate| *rate > 0),
            is_poisson: parameters.text("arrivals") == "poisson",
            port: u16::try_from(parameters.count("port")).unwrap_or(u16::MAX),
            generator: Role::of("generator", parameters)?,
            gateway: Role::of("gateway", parameters)?,
            exchange: Role::of("exchange", parameters)?,
            // Compared with the kernel's when the run is prepared.
            clock: Clock::Monotonic,
            has_pool: parameters.text("allocator") == "pool",
            delay: delay_in.map(|(stage, _)| (*stage, delay_ns)).filter(|(_, ns)| *ns > 0),
            seed,
        })
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
