//! One request at a time, each waited for: before a load and after it.

use super::connection::{Connection, Progress, in_words};
use super::scenario::{RequestKind, Scenario};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use sys::monotonic_ns;
use workload_parts::instant::timespec;
use workload_parts::nanoseconds::S;

/// As much of a wrong answer as an error quotes.
const QUOTED: usize = 300;
const READ_BYTES: usize = 16 << 10;
/// How long an answer to what is fetched may take: the service may wait a minute until it is at
/// rest, and go over all its data.
const FETCHED_WITHIN_NS: u64 = 120 * S;
/// How long an answer to the question whether it is ready may take.
const READY_WITHIN_NS: u64 = 2 * S;

/// Asks each of these kinds once, in order, and waits so long for each answer at most. The
/// first request has this number.
///
/// # Errors
/// The first one that gets no right answer, and what it got.
pub(super) fn ask(
    to: SocketAddr,
    scenario: &Scenario,
    kinds: &[RequestKind],
    (run, seed): (u64, u64),
    first: u64,
    within_ns: u64,
) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = scenario.values.drawn();
    for (number, kind) in (first..).zip(kinds) {
        let mut connection = Connection::begin(to).map_err(|error| in_words(&error))?;
        scenario.values.draw(kind.used(), &mut random, (run, number), &mut drawn);
        kind.render(to, &drawn, &mut Vec::new(), connection.room());
        exchange(&mut connection, kind, monotonic_ns() + within_ns)
            .map_err(|why| format!("`{}`: {why}", kind.name))?;
    }
    Ok(())
}

/// Whether the service answers a GET of this path with 200.
///
/// # Errors
/// What it does instead, in words.
pub(crate) fn answers(to: SocketAddr, path: &str) -> Result<(), String> {
    get(to, path, READY_WITHIN_NS).map(drop)
}

/// What a service answers a GET of this path with; it may have to go over all its data.
///
/// # Errors
/// That its status is not 200, or what it does instead of answering.
pub(crate) fn fetch(to: SocketAddr, path: &str) -> Result<Vec<u8>, String> {
    get(to, path, FETCHED_WITHIN_NS)
}

/// What a GET of this path is answered with, which must have the status 200.
///
/// # Errors
/// What it got instead.
fn get(to: SocketAddr, path: &str, within_ns: u64) -> Result<Vec<u8>, String> {
    let kind = RequestKind::get("get", path)?;
    let mut connection = Connection::begin(to).map_err(|error| in_words(&error))?;
    kind.render(to, &Scenario::default().values.drawn(), &mut Vec::new(), connection.room());
    exchange(&mut connection, &kind, monotonic_ns() + within_ns)?;
    Ok(connection.body().to_vec())
}

/// Sends the request and reads its answer until then.
fn exchange(connection: &mut Connection, kind: &RequestKind, until_ns: u64) -> Result<(), String> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let is_connected = connection.is_connected().map_err(|error| in_words(&error))?;
        connection.send().map_err(|error| in_words(&error))?;
        let progress =
            if is_connected { connection.receive(false, &mut buffer) } else { Progress::Waits };
        match progress {
            Progress::Answered(response) => {
                let body = connection.body();
                return kind.check(response.status, body).map_err(|why| {
                    let said = String::from_utf8_lossy(body);
                    let said: String = said.trim().chars().take(QUOTED).collect();
                    if said.is_empty() { why } else { format!("{why}: {said}") }
                });
            }
            Progress::Broken(why) => return Err(why),
            Progress::Waits => {}
        }
        let left_ns = until_ns.saturating_sub(monotonic_ns());
        if left_ns == 0 {
            return Err("no answer in time".to_owned());
        }
        let wants =
            if connection.is_sent() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        match poll(&mut [PollFd::new(connection, wants)], Some(&timespec(left_ns))) {
            Ok(0) => return Err("no answer in time".to_owned()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).to_string()),
        }
    }
}
