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
use std::sync::{Arc, Mutex};

const JSON: &str = "application/json";

/// What handlers share.
#[derive(Clone)]
struct HandlerState {
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    /// One at a time reads a whole campaign.
    reading: Arc<Mutex<listing::ListingCache>>,
}

pub(crate) fn router(
    live_state: Arc<LiveState>,
    documents: Arc<dyn Documents>,
    guard: Arc<guard::Guard>,
) -> Router {
    let room =
        HandlerState { live_state: Arc::clone(&live_state), documents, reading: Arc::default() };
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
    answer(room, |room, known| known.json(&room.live_state)).await
}

async fn history(State(room): State<HandlerState>) -> Response {
    answer(room, |room, _| room.documents.history(room.live_state.results())).await
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
    let results = room.live_state.results().to_owned();
    let found = store::all(&results).unwrap_or_default();
    let Some(found) = found.into_iter().find(|found| found.name() == name) else {
        return (StatusCode::NOT_FOUND, "There is no such campaign.\n").into_response();
    };
    answer(room, move |room, _| {
        let state = &room.live_state;
        let mut follower = Follower::open(&found.directory, state.machine(), state.loader())?;
        follower.judge();
        match follower.findings() {
            Some(findings) => room.documents.page(follower.loaded(), findings),
            None => Ok("null".to_owned()),
        }
    })
    .await
}

/// Does what takes its time beside the thread that serves everybody.
async fn answer(
    room: HandlerState,
    work: impl FnOnce(&HandlerState, &mut listing::ListingCache) -> Result<String> + Send + 'static,
) -> Response {
    let worked = tokio::task::spawn_blocking(move || {
        let reading = Arc::clone(&room.reading);
        let mut known = reading.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&room, &mut known)
    });
    match worked.await {
        Ok(Ok(json)) => ([(header::CONTENT_TYPE, JSON)], json).into_response(),
        Ok(Err(error)) => {
            let why = format!("{}\n", model::inert(&error.one_line()));
            (StatusCode::INTERNAL_SERVER_ERROR, why).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
