//! The bank's books: looked into around a run, and held against what was asked.

use crate::application::Inspection;
use crate::http::{Fates, fetch};
use contract::{Error, Result};
use model::Sample;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const CREATED: u16 = 201;
const OK: u16 = 200;
/// How long events may take to come to rest after a load, in seconds: what waits in a queue goes
/// at hundreds per second.
const DRAINED_WITHIN_S: u64 = 60;
/// How long what an earlier trial asked may go on, and how long nothing must move until it is at
/// rest.
const RESTS_WITHIN: Duration = Duration::from_secs(60);
const STILL_FOR: Duration = Duration::from_millis(250);

/// An audit, as the service answers it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Audit {
    accounts: u64,
    transfers: u64,
    replays: u64,
    broken: Vec<String>,
}

/// What the service tells of its process.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Process {
    uptime_ms: u64,
    gc_pauses: Pauses,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Pauses {
    total_ms: u64,
    recent: Vec<Pause>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Pause {
    uptime_ms: u64,
    duration_ms: u64,
}

/// The books of a bank that serves there.
pub(super) struct Books {
    address: SocketAddr,
    /// Accounts that it was seeded with.
    seeded: u64,
    before: Option<Process>,
}

impl Books {
    pub(super) fn at(address: SocketAddr, seeded: u64) -> Self {
        Self { address, seeded, before: None }
    }

    fn ask<T: for<'d> Deserialize<'d>>(&self, path: &str) -> Result<T> {
        let failed =
            |why: String| Error::environment(format!("cannot ask the bank for {path}"), why);
        let body = fetch(self.address, path).map_err(failed)?;
        serde_json::from_slice(&body).map_err(|error| failed(error.to_string()))
    }
}

impl Inspection for Books {
    fn rest(&mut self) -> Result<()> {
        let began = Instant::now();
        let mut before: Audit = self.ask("/admin/books")?;
        loop {
            std::thread::sleep(STILL_FOR);
            let now: Audit = self.ask("/admin/books")?;
            let is_still = |a: &Audit, b: &Audit| {
                (a.accounts, a.transfers, a.replays) == (b.accounts, b.transfers, b.replays)
            };
            if is_still(&before, &now) {
                return Ok(());
            }
            if began.elapsed() > RESTS_WITHIN {
                let cause = format!("requests of an earlier load went on for {RESTS_WITHIN:?}");
                return Err(Error::environment("the bank does not come to rest", cause));
            }
            before = now;
        }
    }

    fn before(&mut self) -> Result<()> {
        self.before = Some(self.ask("/admin/process")?);
        Ok(())
    }

    fn after(&mut self) -> Result<Vec<Sample>> {
        let after: Process = self.ask("/admin/process")?;
        Ok(self.before.take().map(|before| pauses(&before, &after)).unwrap_or_default())
    }

    fn verify(&mut self, fates: &BTreeMap<String, Fates>) -> Result<(), String> {
        let audit: Audit = self
            .ask(&format!("/admin/books?drained={DRAINED_WITHIN_S}"))
            .map_err(|error| error.one_line())?;
        let mut broken = audit.broken.clone();
        broken.extend(disagreements(&audit, self.seeded, fates));
        if broken.is_empty() {
            return Ok(());
        }
        Err(format!("the bank's books are wrong: {}", broken.join("; ")))
    }
}

/// Where the books differ from the generator's counts. Of a request without an answer nobody knows
/// whether it was carried out.
fn disagreements(audit: &Audit, seeded: u64, fates: &BTreeMap<String, Fates>) -> Vec<String> {
    let none = Fates::default();
    let of = |kind: &str| fates.get(kind).unwrap_or(&none);
    let (transfer, again, create) = (of("transfer"), of("again"), of("create"));
    let rows = [
        (
            "transfers",
            audit.transfers,
            transfer.with(CREATED) + again.with(CREATED),
            transfer.lost + again.lost,
        ),
        ("replays", audit.replays, again.with(OK), again.lost),
        ("accounts", audit.accounts, seeded + create.with(CREATED), create.lost),
    ];
    let differs = |(name, written, accepted, lost): (&str, u64, u64, u64)| {
        let is_right = (accepted..=accepted + lost).contains(&written);
        let unknown =
            if lost > 0 { format!(" and {lost} without an answer") } else { String::new() };
        (!is_right).then(|| format!("{name}: {written} in the books, {accepted} accepted{unknown}"))
    };
    rows.into_iter().filter_map(differs).collect()
}

/// The pauses in between. The longest is sought among those that the service has kept; where it
/// paused and none of them is there, nobody knows it.
fn pauses(before: &Process, after: &Process) -> Vec<Sample> {
    let paused_ms = after.gc_pauses.total_ms.saturating_sub(before.gc_pauses.total_ms);
    let passed_ms = after.uptime_ms.saturating_sub(before.uptime_ms);
    let recent = after.gc_pauses.recent.iter().filter(|pause| pause.uptime_ms >= before.uptime_ms);
    let longest_ms = recent.map(|pause| pause.duration_ms).max();
    let longest_ms = longest_ms.or((paused_ms == 0).then_some(0));
    let share = Sample::quotient("gc_paused", paused_ms as f64, passed_ms.max(1) as f64);
    let longest = longest_ms.map(|ms| Sample::values("gc_pause_max", vec![ms as f64 * 1e6]));
    [share].into_iter().chain(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SampleData;

    fn audit(accounts: u64, transfers: u64, replays: u64) -> Audit {
        Audit { accounts, transfers, replays, broken: Vec::new() }
    }

    /// A kind, how many answers of which status, how many lost.
    type Row<'r> = (&'r str, &'r [(u16, u64)], u64);

    fn fates(rows: &[Row<'_>]) -> BTreeMap<String, Fates> {
        let fate = |(kind, answered, lost): &Row<'_>| {
            let answered = answered.iter().copied().collect();
            ((*kind).to_owned(), Fates { answered, lost: *lost })
        };
        rows.iter().map(fate).collect()
    }

    #[test]
    fn every_accepted_request_is_in_the_books_exactly_once() {
        let asked = fates(&[
            ("transfer", &[(201, 50), (422, 3)], 0),
            ("again", &[(201, 4), (200, 9)], 0),
            ("create", &[(201, 10)], 0),
        ]);
        assert_eq!(disagreements(&audit(110, 54, 9), 100, &asked), Vec::<String>::new());
        for (wrong, expected) in [
            (audit(110, 53, 9), "transfers: 53 in the books, 54 accepted"),
            (audit(110, 55, 9), "transfers: 55 in the books, 54 accepted"),
            (audit(110, 54, 8), "replays: 8 in the books, 9 accepted"),
            (audit(111, 54, 9), "accounts: 111 in the books, 110 accepted"),
        ] {
            assert_eq!(disagreements(&wrong, 100, &asked), [expected]);
        }
    }

    #[test]
    fn a_request_without_an_answer_may_or_may_not_be_in_the_books() {
        let asked = fates(&[("transfer", &[(201, 50)], 2)]);
        for transfers in 50..=52 {
            assert!(disagreements(&audit(100, transfers, 0), 100, &asked).is_empty());
        }
        let told = disagreements(&audit(100, 53, 0), 100, &asked);
        assert_eq!(told, ["transfers: 53 in the books, 50 accepted and 2 without an answer"]);
    }

    #[test]
    fn pauses_are_those_since_the_load_began() {
        let process = |uptime_ms, total_ms, recent: &[(u64, u64)]| Process {
            uptime_ms,
            gc_pauses: Pauses {
                total_ms,
                recent: recent
                    .iter()
                    .map(|(uptime_ms, duration_ms)| Pause {
                        uptime_ms: *uptime_ms,
                        duration_ms: *duration_ms,
                    })
                    .collect(),
            },
        };
        let before = process(1000, 90, &[(900, 90)]);
        let samples = pauses(&before, &process(3000, 115, &[(900, 90), (1500, 20), (2000, 5)]));
        assert_eq!(samples[0], Sample::quotient("gc_paused", 25.0, 2000.0));
        assert!(matches!(&samples[1].data, SampleData::Values(values) if **values == [20e6]));
        let quiet = pauses(&before, &process(3000, 90, &[(900, 90)]));
        assert!(matches!(&quiet[1].data, SampleData::Values(values) if **values == [0.0]));
        let unknown = pauses(&before, &process(3000, 100, &[(900, 100)]));
        assert_eq!(unknown.len(), 1, "a pause that is not known is no pause of zero");
    }
}
