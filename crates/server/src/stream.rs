//! Events that the server sends. Who reads slowly gets the latest and misses what was between:
//! nobody can hold the campaign up.

use crate::watch::{Desk, Seat};
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

/// One who watches, and what comes next for them.
struct Watching {
    desk: Arc<Desk>,
    _seat: Seat,
    told: Receiver<Arc<str>>,
    sampled: Receiver<Arc<str>>,
    has_samples: bool,
}

pub(crate) async fn events(State(desk): State<Arc<Desk>>) -> Response {
    let Some(seat) = desk.seat(MOST_WATCHERS) else {
        let told = format!("{MOST_WATCHERS} are watching already.\n");
        return (StatusCode::SERVICE_UNAVAILABLE, told).into_response();
    };
    let (mut told, mut sampled) = (desk.told(), desk.sampled());
    // What is known already is news to who comes.
    told.mark_changed();
    sampled.mark_unchanged();
    let watching = Watching { desk, _seat: seat, told, sampled, has_samples: false };
    Sse::new(news(watching)).keep_alive(KeepAlive::default()).into_response()
}

fn news(watching: Watching) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watching, |mut watching| async move {
        loop {
            if !watching.has_samples {
                watching.has_samples = true;
                let event = Event::default().event("samples").data(watching.desk.samples());
                return Some((Ok(event), watching));
            }
            let (kind, data) = tokio::select! {
                changed = watching.told.changed() => {
                    changed.ok()?;
                    ("snapshot", watching.told.borrow_and_update().clone())
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
