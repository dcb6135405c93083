//! What is known at this moment, and the thread that finds it out. It works only while
//! somebody looks.

use crate::Documents;
use contract::{Error, Interrupt, Result};
use live::{CampaignLoader, CampaignPoller, Follower, LiveCampaign, MachineSample};
use model::{NOTICEABLE_LOAD, NOTICEABLE_STEAL};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::{Machine, unix_ns};
use tokio::sync::watch;

/// How often files and the machine are looked at.
const LOOKED_EVERY: Duration = Duration::from_millis(250);
/// How often clients are sent the campaign.
const SENT_EVERY: Duration = Duration::from_secs(1);
/// Work goes on so long after the last request of clients that do not stay connected.
const WANTED_FOR: Duration = Duration::from_secs(60);
/// A process that still runs so long behind the wish to stop is not ending.
const LONGEST_END: Duration = Duration::from_secs(2);
/// Samples kept: two and a half minutes.
const MOST_SAMPLES: usize = 600;

/// What is known at this moment.
pub(crate) struct LiveState {
    results: PathBuf,
    machine: Machine,
    loader: CampaignLoader,
    on_watchers: Box<dyn Fn(usize) + Send + Sync>,
    watchers: AtomicUsize,
    wanted: Mutex<Instant>,
    snapshot: Mutex<Option<LiveCampaign>>,
    page: Mutex<Option<CampaignPage>>,
    samples: Mutex<VecDeque<MachineSample>>,
    snapshot_events: watch::Sender<Arc<str>>,
    sampled: watch::Sender<Arc<str>>,
}

/// What the page of a campaign is given.
#[derive(Clone)]
pub(crate) struct CampaignPage {
    pub(crate) name: String,
    pub(crate) revision: usize,
    pub(crate) json: Arc<str>,
}

/// What an event `snapshot` holds.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Snapshot"))]
struct SnapshotMessage<'s> {
    format: &'static str,
    at_ms: u64,
    campaign: Option<&'s LiveCampaign>,
    watchers: usize,
}

/// What an event `samples` holds, the first one of a connection. An event `sample` holds one.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct Samples<'s> {
    limits: SampleLimits,
    /// The oldest first.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<MachineSample>"))]
    samples: &'s VecDeque<MachineSample>,
}

/// Shares of the CPUs' time above which a trial gets a caveat.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct SampleLimits {
    /// Taken by a hypervisor.
    steal: f64,
    /// Used by what is not the campaign's.
    foreign: f64,
}

/// Those of every sample.
const SAMPLE_LIMITS: SampleLimits =
    SampleLimits { steal: NOTICEABLE_STEAL, foreign: NOTICEABLE_LOAD };

/// Shows the types of events to what declares them for the front end.
#[cfg(feature = "typescript")]
pub(crate) fn visit_events(visitor: &mut impl ts_rs::TypeVisitor) {
    visitor.visit::<SnapshotMessage<'static>>();
    visitor.visit::<Samples<'static>>();
}

/// What nobody can have left half done: each is replaced whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ms() -> u64 {
    unix_ns() / 1_000_000
}

impl LiveState {
    pub(crate) fn open(
        results: PathBuf,
        machine: Machine,
        loader: CampaignLoader,
        on_watchers: Box<dyn Fn(usize) + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Self {
            results,
            machine,
            loader,
            on_watchers,
            watchers: AtomicUsize::new(0),
            wanted: Mutex::new(Instant::now()),
            snapshot: Mutex::new(None),
            page: Mutex::new(None),
            samples: Mutex::new(VecDeque::new()),
            snapshot_events: watch::Sender::new(Arc::from("")),
            sampled: watch::Sender::new(Arc::from("")),
        })
    }

    pub(crate) fn results(&self) -> &Path {
        &self.results
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(crate) fn loader(&self) -> &CampaignLoader {
        &self.loader
    }

    /// Somebody asked.
    pub(crate) fn note_wish(&self) {
        *lock(&self.wanted) = Instant::now();
    }

    fn is_wanted(&self) -> bool {
        self.watchers() > 0 || lock(&self.wanted).elapsed() < WANTED_FOR
    }

    pub(crate) fn watchers(&self) -> usize {
        self.watchers.load(Ordering::Relaxed)
    }

    /// A client is counted as long as this is kept; `None` where there are too many.
    pub(crate) fn subscribe(self: &Arc<Self>, most: usize) -> Option<Subscription> {
        let taken = self.watchers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
            (count < most).then_some(count + 1)
        });
        let count = taken.ok()? + 1;
        (self.on_watchers)(count);
        Some(Subscription(Arc::clone(self)))
    }

    pub(crate) fn snapshot(&self) -> Option<LiveCampaign> {
        lock(&self.snapshot).clone()
    }

    pub(crate) fn page(&self) -> Option<CampaignPage> {
        lock(&self.page).clone()
    }

    pub(crate) fn last_sample(&self) -> Option<MachineSample> {
        lock(&self.samples).back().cloned()
    }

    /// All samples so far, as an event `samples` holds them.
    pub(crate) fn samples(&self) -> String {
        let samples = lock(&self.samples);
        serde_json::to_string(&Samples { limits: SAMPLE_LIMITS, samples: &samples })
            .unwrap_or_default()
    }

    /// Follows what events `snapshot` hold.
    pub(crate) fn snapshot_events(&self) -> watch::Receiver<Arc<str>> {
        self.snapshot_events.subscribe()
    }

    /// Follows what events `sample` hold.
    pub(crate) fn sampled(&self) -> watch::Receiver<Arc<str>> {
        self.sampled.subscribe()
    }

    fn tell(&self, snapshot: Option<LiveCampaign>) {
        let message = SnapshotMessage {
            format: "schedlab.live/2",
            at_ms: now_ms(),
            campaign: snapshot.as_ref(),
            watchers: self.watchers(),
        };
        let json = serde_json::to_string(&message);
        // Kept before it is sent: a client that asks after an event gets what the event said.
        *lock(&self.snapshot) = snapshot;
        if let Ok(json) = json {
            // Titles and names come from files.
            self.snapshot_events.send_replace(Arc::from(model::inert_json(&json)));
        }
    }

    fn note_sample(&self, sample: MachineSample) {
        let json = serde_json::to_string(&sample);
        {
            let mut samples = lock(&self.samples);
            samples.push_back(sample);
            let surplus = samples.len().saturating_sub(MOST_SAMPLES);
            samples.drain(..surplus);
        }
        if let Ok(json) = json {
            self.sampled.send_replace(Arc::from(json));
        }
    }
}

/// A client of the event stream, counted as long as this lives.
pub(crate) struct Subscription(Arc<LiveState>);

impl Drop for Subscription {
    fn drop(&mut self) {
        let count = self.0.watchers.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        self.0.note_wish();
        (self.0.on_watchers)(count);
    }
}

/// Starts the thread that finds out, until the wish to stop.
pub(crate) fn follow(
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    interrupt: &Interrupt,
) -> Result<JoinHandle<()>> {
    let interrupt = interrupt.clone();
    let (results, machine) = (live_state.results.clone(), live_state.machine.clone());
    let poller = CampaignPoller::new(results, machine, live_state.loader.clone());
    let mut watch =
        PollLoop { live_state, documents, poller, sent_at: None, watchers: 0, is_behind: false };
    std::thread::Builder::new()
        .name("follow".to_owned())
        .spawn(move || {
            while interrupt.signal().is_none() {
                if watch.live_state.is_wanted() {
                    watch.look();
                }
                std::thread::sleep(LOOKED_EVERY);
            }
            if watch.live_state.watchers() > 0 {
                watch.look_last();
            }
        })
        .map_err(|error| Error::environment("cannot start the dashboard", error))
}

struct PollLoop {
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    poller: CampaignPoller,
    /// When a snapshot was last sent.
    sent_at: Option<Instant>,
    /// How many clients there were then.
    watchers: usize,
    /// Whether there was news since.
    is_behind: bool,
}

impl PollLoop {
    fn look(&mut self) {
        let seen = self.poller.look(now_ms());
        let was_loaded = seen.is_judged || self.sent_at.is_none();
        if seen.is_judged {
            self.write_page();
        }
        if let Some(sample) = seen.sample {
            self.live_state.note_sample(sample);
        }
        let is_news = seen.is_news
            || seen.is_judged
            || self.sent_at.is_none()
            || self.live_state.watchers() != self.watchers;
        let is_due = self.sent_at.is_none_or(|sent_at| sent_at.elapsed() >= SENT_EVERY);
        if is_due && (is_news || self.is_behind || self.poller.is_running()) {
            self.tell();
        } else {
            self.is_behind |= is_news;
        }
        if was_loaded {
            // Loading and judging is most of the program, and following is little of it. Where this
            // cannot be done more memory is taken, and nothing is lost.
            let _ = sys::return_program_text();
        }
    }

    fn tell(&mut self) {
        self.live_state.tell(self.poller.follower().map(Follower::snapshot));
        (self.sent_at, self.watchers) = (Some(Instant::now()), self.live_state.watchers());
        self.is_behind = false;
    }

    fn write_page(&mut self) {
        let began = sys::cpu_time();
        if let Some(follower) = self.poller.follower()
            && let Some(findings) = follower.findings()
            && let Ok(json) = self.documents.page(follower.loaded(), findings)
        {
            let page = CampaignPage {
                name: follower.name(),
                revision: follower.revision(),
                json: json.into(),
            };
            *lock(&self.live_state.page) = Some(page);
        }
        self.poller.rest_after(sys::cpu_time().saturating_sub(began));
    }

    /// How it ended. A process that was killed takes a moment to be gone.
    fn look_last(&mut self) {
        let began = Instant::now();
        loop {
            self.look();
            if !self.poller.is_running() || began.elapsed() > LONGEST_END {
                break;
            }
            std::thread::sleep(LOOKED_EVERY);
        }
        if self.poller.judge() {
            self.write_page();
        }
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Disturbance;

    #[test]
    fn samples_come_with_the_limits_above_which_a_trial_gets_a_caveat() {
        let samples = VecDeque::new();
        let told = serde_json::to_value(Samples { limits: SAMPLE_LIMITS, samples: &samples });
        let told = told.unwrap();
        let limit = |key: &str| told["limits"][key].as_f64().unwrap();
        let noticed = |above: f64| {
            let (steal, foreign) = (limit("steal") + above, limit("foreign") + above);
            let disturbance = Disturbance {
                stolen_share: Some(steal),
                foreign_share: Some(foreign),
                ..Disturbance::default()
            };
            (disturbance.noticeable_steal(), disturbance.noticeable_load())
        };
        assert_eq!(noticed(0.0), (None, None));
        let (steal, foreign) = noticed(1e-9);
        assert!(steal.is_some() && foreign.is_some());
    }

    fn live_state() -> Arc<LiveState> {
        let loader =
            CampaignLoader::new(|_| Err(Error::environment("load", "no campaign in this test")));
        let machine = Machine::host("/nonexistent");
        LiveState::open(PathBuf::from("/nonexistent"), machine, loader, Box::new(|_| ()))
    }

    fn sample() -> MachineSample {
        MachineSample {
            at_ms: 1,
            cpus: Vec::new(),
            steal: 0.0,
            foreign: None,
            throttled: None,
            pressure: None,
        }
    }

    /// A client that asks `/metrics` after an event must get what the event said: while what is
    /// known cannot be written, no event may come.
    #[test]
    fn no_event_comes_before_what_it_tells_is_known() {
        let live_state = live_state();
        let (snapshots, samples) = (live_state.snapshot_events(), live_state.sampled());
        let held = (lock(&live_state.snapshot), lock(&live_state.samples));
        std::thread::scope(|scope| {
            scope.spawn(|| live_state.tell(None));
            scope.spawn(|| live_state.note_sample(sample()));
            std::thread::sleep(Duration::from_millis(100));
            let came = (snapshots.has_changed().unwrap(), samples.has_changed().unwrap());
            drop(held);
            assert_eq!(came, (false, false));
        });
        assert!(snapshots.has_changed().unwrap() && samples.has_changed().unwrap());
        assert_eq!(live_state.last_sample(), Some(sample()));
    }
}
