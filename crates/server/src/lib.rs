//! The dashboard and the metrics of campaigns, over HTTP.
//!
//! This crate must not know how a campaign runs or what a report looks like: it reads the
//! directories of campaigns as [`live`] does, and is handed what writes a page
//! ([`Documents`]). It promises to change nothing, to answer those alone who have the token, on
//! this machine unless its user says otherwise, and to work only while somebody looks.

mod guard;
mod listing;
mod metrics;
mod routes;
mod stream;
mod watch;

pub use guard::Token;

use contract::{Error, Interrupt, Result};
use guard::Guard;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use model::Findings;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Loaded;
use sys::Machine;
use tokio::net::TcpListener;
use watch::Desk;

/// A request whose head takes longer to come is dropped.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the wish to stop is looked at.
const STOP_CHECKED_EVERY: Duration = Duration::from_millis(100);

/// What is written about campaigns elsewhere and only sent from here.
pub trait Documents: Send + Sync {
    /// What a report's page is given.
    ///
    /// # Errors
    /// When it cannot be written.
    fn page(&self, loaded: &Loaded, findings: &Findings) -> Result<String>;

    /// The series over all finished campaigns of a directory, `schedlab.history/1`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn history(&self, results: &Path) -> Result<String>;
}

/// What to serve, and to whom.
pub struct Settings {
    /// Directory of campaigns.
    pub results: PathBuf,
    /// The machine that is shown.
    pub machine: Machine,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Names beside those of this machine's loopback that requests may be meant for.
    pub hosts: Vec<String>,
    /// What whoever asks must have.
    pub token: Token,
    /// What is written elsewhere.
    pub documents: Arc<dyn Documents>,
    /// The wish to stop.
    pub interrupt: Interrupt,
    /// How long whoever watches is shown how a campaign ended, once the wish to stop is there.
    pub lingers: Duration,
    /// Told whenever somebody begins or ends to watch: how many do.
    pub on_watchers: Box<dyn Fn(usize) + Send + Sync>,
}

/// Serves until the wish to stop. `on_ready` is told where.
///
/// # Errors
/// When it cannot listen there.
pub fn serve(settings: Settings, on_ready: impl FnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::environment("cannot start the dashboard", error))?;
    runtime.block_on(listen(settings, on_ready))
}

async fn listen(settings: Settings, on_ready: impl FnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    let attempted = || format!("cannot listen on {}", settings.listen);
    let listener = TcpListener::bind(settings.listen).await.map_err(|error| {
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
    let guard = Guard::new(settings.token, settings.hosts, address.port());
    let desk = Desk::open(settings.results, settings.machine, settings.on_watchers);
    let follower = watch::follow(Arc::clone(&desk), Arc::clone(&settings.documents), &interrupt)?;
    let router = routes::router(Arc::clone(&desk), settings.documents, guard);
    on_ready(address)?;
    let mut ends_at = None;
    loop {
        // The last news come from the follower; then those who watch may ask for the page.
        if follower.is_finished() {
            let lingers = if desk.watchers() > 0 { lingers } else { Duration::ZERO };
            let ends_at = *ends_at.get_or_insert_with(|| Instant::now() + lingers);
            if Instant::now() >= ends_at || desk.watchers() == 0 {
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
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(socket), service);
            // A client that went away has nobody to be told of it.
            let _ = served.await;
        });
    }
}
