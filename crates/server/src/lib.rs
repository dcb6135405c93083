//! The dashboard and the metrics of campaigns, over HTTP.
//!
//! This crate must not know how a campaign runs or what a report looks like: it reads the
//! directories of campaigns as [`live`] does, and is handed what writes a page
//! ([`Documents`]). It promises to change nothing, to answer only clients with the token, on
//! this machine unless its user says otherwise, to work only while somebody looks, and to hold
//! little for a client that neither sends nor reads.

mod connection;
mod dashboard;
mod guard;
mod listing;
mod live_feed;
mod metrics;
mod routes;
mod stream;

pub use dashboard::{Dashboard, HttpAnswer, Shown};
pub use guard::Token;

use connection::{Connections, bound};
use contract::{Error, Interrupt, Result};
use model::Findings;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::LoadedCampaign;

/// How often the wish to stop is looked at.
const STOP_CHECKED_EVERY: Duration = Duration::from_millis(100);

/// What is written about campaigns elsewhere and only sent from here.
pub trait Documents: Send + Sync {
    /// What a report's page is given.
    ///
    /// # Errors
    /// When it cannot be written.
    fn page(&self, loaded: &LoadedCampaign, findings: &Findings) -> Result<String>;

    /// The series over all finished campaigns of a directory, `schedlab.history/2`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn history(&self, results: &Path) -> Result<String>;

    /// What the page says in place of its English: JSON with `language` and `words`.
    fn words(&self) -> Option<String> {
        None
    }
}

/// What to serve, and where.
pub struct ServerSettings {
    /// What is shown, and to which clients.
    pub shown: Shown,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The wish to stop.
    pub interrupt: Interrupt,
    /// How long clients are shown how a campaign ended, once the wish to stop is there.
    pub lingers: Duration,
}

/// Serves until the wish to stop. `on_ready` is told where.
///
/// # Errors
/// When it cannot listen there.
pub fn serve(
    settings: ServerSettings,
    on_ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::environment("cannot start the dashboard", error))?;
    runtime.block_on(listen(settings, on_ready))
}

async fn listen(
    settings: ServerSettings,
    on_ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let attempted = || format!("cannot listen on {}", settings.listen);
    let listener = bound(settings.listen).map_err(|error| {
        Error::new(
            contract::ErrorKind::Environment,
            attempted(),
            error.to_string(),
            "choose another port: --port 0 takes a free one",
        )
    })?;
    let address = listener.local_addr().map_err(|error| Error::environment(attempted(), error))?;
    let interrupt = settings.interrupt.clone();
    let lingers = settings.lingers;
    let documents = Arc::clone(&settings.shown.documents);
    let dashboard = Dashboard::new(settings.shown, address.port());
    let live_state = Arc::clone(&dashboard.live_state);
    let follower = live_feed::follow(Arc::clone(&live_state), documents, &interrupt)?;
    on_ready(address)?;
    let connections = Connections::new();
    let mut ends_at = None;
    loop {
        // The last news come from the follower; then clients may ask for the page.
        if follower.is_finished() {
            let lingers = if live_state.watchers() > 0 { lingers } else { Duration::ZERO };
            let ends_at = *ends_at.get_or_insert_with(|| Instant::now() + lingers);
            if Instant::now() >= ends_at || live_state.watchers() == 0 {
                return Ok(());
            }
        }
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = tokio::time::sleep(STOP_CHECKED_EVERY) => continue,
        };
        // Out of descriptors, or a client that is gone already: others may have more luck.
        let Ok((socket, _)) = accepted else {
            tokio::time::sleep(STOP_CHECKED_EVERY).await;
            continue;
        };
        connections.serve(socket, &dashboard);
    }
}

/// Shows the types of what a server tells to what declares them for the front end.
#[cfg(feature = "typescript")]
pub fn visit_protocol(visitor: &mut impl ts_rs::TypeVisitor) {
    live_feed::visit_events(visitor);
    listing::visit_listing(visitor);
}
