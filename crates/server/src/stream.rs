//! Events that the server sends. A slow client gets the latest and misses what was between:
//! no client can hold the campaign up.

use crate::live_feed::{LiveState, Subscription};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch::Receiver;

/// More would be a workload of their own.
const MOST_WATCHERS: usize = 16;

/// A client of the event stream, and what it is sent next.
struct Subscriber {
    live_state: Arc<LiveState>,
    _subscription: Subscription,
    snapshot_events: Receiver<Arc<str>>,
    sampled: Receiver<Arc<str>>,
    has_samples: bool,
}

pub(crate) async fn events(State(live_state): State<Arc<LiveState>>) -> Response {
    let Some(subscription) = live_state.subscribe(MOST_WATCHERS) else {
        let reason = format!("{MOST_WATCHERS} are watching already.\n");
        return (StatusCode::SERVICE_UNAVAILABLE, reason).into_response();
    };
    let (mut snapshot_events, mut sampled) = (live_state.snapshot_events(), live_state.sampled());
    // What is known already is news to a new client.
    snapshot_events.mark_changed();
    sampled.mark_unchanged();
    let watching = Subscriber {
        live_state,
        _subscription: subscription,
        snapshot_events,
        sampled,
        has_samples: false,
    };
    Sse::new(news(watching)).keep_alive(KeepAlive::default()).into_response()
}

fn news(watching: Subscriber) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watching, |mut watching| async move {
        loop {
            if !watching.has_samples {
                watching.has_samples = true;
                let event = Event::default().event("samples").data(watching.live_state.samples());
                return Some((Ok(event), watching));
            }
            let (kind, data) = tokio::select! {
                changed = watching.snapshot_events.changed() => {
                    changed.ok()?;
                    ("snapshot", watching.snapshot_events.borrow_and_update().clone())
                }
                changed = watching.sampled.changed() => {
                    changed.ok()?;
                    ("sample", watching.sampled.borrow_and_update().clone())
                }
            };
            // Nothing is known in the first moment.
            if !data.is_empty() {
                return Some((Ok(Event::default().event(kind).data(&*data)), watching));
            }
        }
    })
}
