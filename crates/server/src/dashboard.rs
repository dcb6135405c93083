//! The dashboard apart from its connections: what a request is answered with.

use crate::guard::Guard;
use crate::live_feed::LiveState;
use crate::routes;
use crate::{Documents, Token};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use contract::{Error, Result};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use live::CampaignLoader;
use std::path::PathBuf;
use std::sync::Arc;
use sys::Machine;

/// Bytes of an answer that [`Dashboard::answer`] keeps.
const MOST_BYTES: usize = 64 << 20;

/// What is shown, and to which clients.
pub struct Shown {
    /// Directory of campaigns.
    pub results: PathBuf,
    /// The machine that is shown.
    pub machine: Machine,
    /// What says what speaks against the evidence of a campaign.
    pub loader: CampaignLoader,
    /// Names beside those of this machine's loopback that requests may be meant for.
    pub hosts: Vec<String>,
    /// What a client must have.
    pub token: Token,
    /// What is written elsewhere.
    pub documents: Arc<dyn Documents>,
    /// Told whenever somebody begins or ends to watch: how many do.
    pub on_watchers: Box<dyn Fn(usize) + Send + Sync>,
}

/// A dashboard.
#[derive(Clone)]
pub struct Dashboard {
    pub(crate) live_state: Arc<LiveState>,
    router: Router,
}

/// What a request was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; empty of a stream that has no end.
    pub body: Vec<u8>,
}

impl Dashboard {
    /// The dashboard that clients reach at a port.
    pub fn new(shown: Shown, port: u16) -> Self {
        let guard = Guard::new(shown.token, shown.hosts, port);
        let live_state =
            LiveState::open(shown.results, shown.machine, shown.loader, shown.on_watchers);
        let router = routes::router(Arc::clone(&live_state), shown.documents, guard);
        Self { live_state, router }
    }

    /// What answers the requests of a connection.
    pub(crate) fn service(&self) -> TowerToHyperService<Router> {
        TowerToHyperService::new(self.router.clone())
    }

    /// Answers one request without a connection; `None` of one that is not HTTP. Nobody waits
    /// for a stream of events: its head is all of it.
    ///
    /// # Errors
    /// When nothing can be answered.
    pub fn answer(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &[u8])],
    ) -> Result<Option<HttpAnswer>> {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let Ok(request) = request.body(Body::empty()) else { return Ok(None) };
        let failed = |error: std::io::Error| Error::environment("cannot answer a request", error);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        runtime.block_on(async {
            let response = match self.service().call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let (head, body) = response.into_parts();
            let headers: Vec<(String, Vec<u8>)> = head
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                .collect();
            let is_endless = |(name, value): &(String, Vec<u8>)| {
                name == "content-type" && value.starts_with(b"text/event-stream")
            };
            let body = if headers.iter().any(is_endless) {
                Vec::new()
            } else {
                let whole = to_bytes(body, MOST_BYTES).await;
                whole.map_err(|error| failed(std::io::Error::other(error)))?.to_vec()
            };
            Ok(Some(HttpAnswer { status: head.status.as_u16(), headers, body }))
        })
    }
}
