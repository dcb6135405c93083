//! What can be asked. No path of a request reaches the file system: a campaign's name must be
//! one of those that were listed.

use crate::live_feed::LiveState;
use crate::{Documents, guard, listing, metrics, stream};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use contract::Result;
use live::Follower;
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore};

const JSON: &str = "application/json";
/// Requests that read campaigns: one is worked on, and the others wait for it. Two for each client that
/// may watch.
const MOST_READING: usize = 32;
/// Seconds after which one more may ask again.
const RETRY_AFTER: &str = "2";
/// For one more.
const BUSY: &str =
    "As many requests as this dashboard takes at once are waiting: ask again later.\n";

/// What handlers share.
#[derive(Clone)]
struct HandlerState {
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    /// For requests that read campaigns, those that wait for their turn included.
    places: Arc<Semaphore>,
    /// One at a time reads a whole campaign.
    reading: Arc<Mutex<listing::ListingCache>>,
}

pub(crate) fn router(
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    guard: Arc<guard::Guard>,
) -> Router {
    let room = HandlerState {
        live_state: Arc::clone(&live_state),
        documents,
        places: Arc::new(Semaphore::new(MOST_READING)),
        reading: Arc::default(),
    };
    Router::new()
        .route("/", get(page))
        .route("/api/v1/campaigns", get(campaigns))
        .route("/api/v1/campaigns/{name}", get(campaign))
        .route("/api/v1/history", get(history))
        .route("/metrics", get(scrape))
        .with_state(room)
        .route("/api/v1/events", get(stream::events).with_state(live_state))
        .route("/login", get(guard::login).with_state(Arc::clone(&guard)))
        .layer(middleware::from_fn_with_state(guard, guard::check))
}

async fn page(State(room): State<HandlerState>) -> Response {
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (html, web::live_page(room.documents.words().as_deref())).into_response()
}

async fn campaigns(State(room): State<HandlerState>) -> Response {
    answer(room, |room, known| known.json(&room.live_state).map(Some)).await
}

async fn history(State(room): State<HandlerState>) -> Response {
    answer(room, |room, _| room.documents.history(room.live_state.results()).map(Some)).await
}

async fn scrape(State(room): State<HandlerState>) -> Response {
    room.live_state.note_wish();
    match metrics::text(&room.live_state) {
        Ok(text) => ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn campaign(
    State(room): State<HandlerState>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    room.live_state.note_wish();
    if let Some(page) = room.live_state.page().filter(|page| page.name == name) {
        let tag = format!("\"{}\"", page.revision);
        let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
        if is_known {
            return StatusCode::NOT_MODIFIED.into_response();
        }
        let json = String::from(&*page.json);
        return ([(header::CONTENT_TYPE, JSON), (header::ETAG, &tag)], json).into_response();
    }
    answer(room, move |room, _| {
        let state = &room.live_state;
        let found = store::all(state.results()).unwrap_or_default();
        let Some(found) = found.into_iter().find(|found| found.name() == name) else {
            return Ok(None);
        };
        let mut follower = Follower::open(&found.directory, state.machine(), state.loader())?;
        follower.judge();
        match follower.findings() {
            Some(findings) => room.documents.page(follower.loaded(), findings).map(Some),
            None => Ok(Some("null".to_owned())),
        }
    })
    .await
}

/// Does what takes its time beside the thread that serves everybody, one request after the other;
/// nothing was found where nothing comes of it. A request waits for its turn without a thread, and is
/// never begun where its client leaves meanwhile. One that has begun keeps its place to its end, whether
/// its client waits or not: clients that ask and leave at once cannot have more than so many worked on.
async fn answer(
    room: HandlerState,
    work: impl FnOnce(&HandlerState, &mut listing::ListingCache) -> Result<Option<String>>
    + Send
    + 'static,
) -> Response {
    let Ok(place) = Arc::clone(&room.places).try_acquire_owned() else {
        let retry = [(header::RETRY_AFTER, RETRY_AFTER)];
        return (StatusCode::SERVICE_UNAVAILABLE, retry, BUSY).into_response();
    };
    let mut known = Arc::clone(&room.reading).lock_owned().await;
    let worked = tokio::task::spawn_blocking(move || {
        let worked = work(&room, &mut known);
        drop((known, place));
        worked
    });
    match worked.await {
        Ok(Ok(Some(json))) => ([(header::CONTENT_TYPE, JSON)], json).into_response(),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "There is no such campaign.\n").into_response(),
        Ok(Err(error)) => {
            let why = format!("{}\n", model::inert(&error.one_line()));
            (StatusCode::INTERNAL_SERVER_ERROR, why).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dashboard, Shown, Token};
    use axum::body::{Body, to_bytes};
    use axum::extract::Request;
    use contract::Error;
    use hyper::service::Service;
    use live::CampaignLoader;
    use model::Findings;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;
    use store::LoadedCampaign;
    use sys::Machine;
    use tokio::task::JoinHandle;

    /// A test that fails has an end all the same.
    const LONGEST: Duration = Duration::from_secs(60);

    /// Documents whose history is written once its sender has gone.
    struct SlowHistory {
        begun: AtomicUsize,
        held: std::sync::Mutex<Receiver<()>>,
    }

    impl Documents for SlowHistory {
        fn page(&self, _loaded: &LoadedCampaign, _findings: &Findings) -> Result<String> {
            Ok("{}".to_owned())
        }

        fn history(&self, _results: &std::path::Path) -> Result<String> {
            self.begun.fetch_add(1, Ordering::Relaxed);
            let _ = self.held.lock().unwrap().recv_timeout(LONGEST);
            Ok("{}".to_owned())
        }
    }

    type Asked = JoinHandle<std::result::Result<Response, std::convert::Infallible>>;

    /// A dashboard whose histories wait, and what they wait for.
    struct Bench {
        dashboard: Dashboard,
        token: Token,
        documents: Arc<SlowHistory>,
    }

    impl Bench {
        fn new() -> (Self, Sender<()>) {
            let (release, held) = channel();
            let held = std::sync::Mutex::new(held);
            let documents = Arc::new(SlowHistory { begun: AtomicUsize::new(0), held });
            let token = Token::draw().unwrap();
            let no_campaign = |_: &std::path::Path| Err(Error::environment("load", "none here"));
            let shown = Shown {
                results: "/nonexistent".into(),
                machine: Machine::host("/nonexistent"),
                loader: CampaignLoader::new(no_campaign),
                hosts: Vec::new(),
                token: token.clone(),
                documents: Arc::<SlowHistory>::clone(&documents),
                on_watchers: Box::new(|_| ()),
            };
            (Self { dashboard: Dashboard::new(shown, 80), token, documents }, release)
        }

        /// Asks for the history.
        fn ask(&self) -> Asked {
            let request = Request::builder()
                .uri("/api/v1/history")
                .header(header::HOST, "localhost")
                .header(header::AUTHORIZATION, format!("Bearer {}", self.token.text()))
                .body(Body::empty())
                .unwrap();
            tokio::spawn(self.dashboard.service().call(request))
        }

        /// Takes all places, and asks once more than may be waited for.
        async fn fill(&self) -> Vec<Asked> {
            // One thread serves them in this order: each has its place before the next one asks.
            let waiting = (0..MOST_READING).map(|_| self.ask()).collect();
            let refused = self.ask().await.unwrap().unwrap();
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(refused.headers()[header::RETRY_AFTER], RETRY_AFTER);
            let told = to_bytes(refused.into_body(), 1 << 10).await.unwrap();
            assert_eq!(told, BUSY.as_bytes());
            waiting
        }
    }

    async fn status(asked: Asked) -> StatusCode {
        asked.await.unwrap().unwrap().status()
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test);
    }

    #[test]
    fn more_requests_than_may_wait_are_told_to_ask_again_and_the_others_are_answered() {
        let (bench, release) = Bench::new();
        run(async {
            let waiting = bench.fill().await;
            drop(release);
            for one in waiting {
                assert_eq!(status(one).await, StatusCode::OK);
            }
            assert_eq!(bench.documents.begun.load(Ordering::Relaxed), MOST_READING);
            assert_eq!(status(bench.ask()).await, StatusCode::OK);
        });
    }

    #[test]
    fn a_request_whose_client_leaves_before_its_turn_leaves_its_place_and_is_never_begun() {
        let (bench, release) = Bench::new();
        run(async {
            let mut waiting = bench.fill().await;
            for one in waiting.drain(1..) {
                one.abort();
                assert!(one.await.unwrap_err().is_cancelled());
            }
            let next = bench.ask();
            drop(release);
            assert_eq!(status(next).await, StatusCode::OK);
            for one in waiting {
                assert_eq!(status(one).await, StatusCode::OK);
            }
            assert_eq!(bench.documents.begun.load(Ordering::Relaxed), 2);
        });
    }

    #[test]
    fn the_threat_model_has_the_limit_of_requests_that_read_campaigns() {
        const PAGE: &str = include_str!("../../../docs/threat-model.md");
        let told = format!("{MOST_READING} requests that read campaigns");
        assert!(PAGE.contains(&told), "{told}");
    }
}
