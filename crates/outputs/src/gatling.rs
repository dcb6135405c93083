//! What Gatling keeps of a run: the log of every request (`simulation.log`), which is text up to
//! 3.12 and binary from 3.13 on, and the summary that versions up to 3.10 at least made of it
//! (`stats.json`, `global_stats.json`).
//!
//! A log has no end mark. One that was cut inside a record is refused; one that was cut between
//! two mostly shows users who began and never ended.

mod binary;
mod statistics;
mod text;

use crate::format::{Format, Reaction};
use crate::json::block_bytes;
use crate::trouble::Trouble;
use model::{Histogram, IMPORT_HELD};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

pub use statistics::{GatlingSummary, PERCENTILES, RequestStatistics, ResponseTimes};

/// Names like these many come from identifiers in them, and a distribution of each would take a
/// quarter of a megabyte.
const MOST_NAMES: usize = 500;
/// Nobody reads a longer one, and one that is written once may be referred to for ever.
const LONGEST_NAME: usize = 1_000;
/// Versions whose logs are text: 3.9.5, 3.10.3 and 3.12.0 write each record by the same code.
const TEXT: Range<(u32, u32)> = (3, 9)..(3, 13);
/// Versions whose logs are binary: 3.13.0, 3.13.5, 3.14.3 and 3.15.1 write each record by the same
/// code, but for assertions, which are passed over.
const BINARY: Range<(u32, u32)> = (3, 13)..(3, 16);
const REMEDY: &str = "give the simulation.log of a whole run of Gatling 3.9 to 3.15";
/// What stands for the message of a failure that has none.
const SILENT: &str = "no message";
const NS_PER_MS: u64 = 1_000_000;
/// What a request takes, with its place among those of its name.
const REQUEST_BYTES: u64 = (size_of::<LoggedRequest>() + size_of::<&LoggedRequest>()) as u64;
const ERROR_BYTES: u64 = size_of::<LoggedError>() as u64;
/// What a text takes beside its letters: first its place among those that may be referred to, then its
/// places in the order of messages and in the counts of failures.
const TEXT_BYTES: u64 = 136;
/// What counts how often a text is shared, before its letters.
const SHARED_BYTES: usize = 16;
/// What the distribution of a name takes at most.
const NAME_BYTES: u64 = 256 << 10;

/// A run, request by request. Times are milliseconds since the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Gatling's version (`3.15.1`).
    pub version: String,
    /// The simulation's class (`sim.BankSim`).
    pub simulation: String,
    /// What the user called the run; empty where nothing was said.
    pub description: String,
    /// When the run began: milliseconds since 1970, by the generator's clock.
    pub started_unix_ms: u64,
    /// In the order in which they ended, roughly.
    pub requests: Vec<LoggedRequest>,
    /// What users failed at without a request: one that could not be made is in no count.
    pub errors: Vec<LoggedError>,
    /// Users who began.
    pub users_began: u64,
    /// Of those, the ones who ended; where some did not, requests under way are in no log.
    pub users_ended: u64,
}

/// One request that was answered, or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// With the groups it is in: `cart / list`. A comma in the name of a group is a space.
    pub name: Arc<str>,
    /// When it began.
    pub start_ms: u64,
    /// When its answer was there; never before it began.
    pub end_ms: u64,
    /// Why it failed, where it did.
    pub failure: Option<Arc<str>>,
}

/// Something that went wrong outside requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedError {
    /// When.
    pub at_ms: u64,
    /// What, in Gatling's words.
    pub message: Arc<str>,
}

/// The requests of one name that began within a window.
#[derive(Debug, Clone)]
pub struct RequestGroup {
    /// With its groups.
    pub name: Arc<str>,
    /// Nanoseconds from the beginning to the answer of those that did not fail, in steps of a
    /// millisecond: 0 is less than one.
    pub latency: Histogram,
    /// How many failed, by message.
    pub failures: BTreeMap<Arc<str>, u64>,
    /// Right answers that came within the window, whenever they were asked for.
    pub answers: u64,
}

impl Log {
    /// Reads a log, whichever of the two formats it has.
    ///
    /// # Errors
    /// When it is cut short, of a version or with a record that is not understood, or when a
    /// number in it cannot be; with the line, or the byte from 0.
    pub fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        Self::parsed(bytes, None)
    }

    /// The same of a log that somebody else may have written, read while so many bytes are held beside
    /// it: a request of 22 bytes takes 56 beside its text, and a text without a letter 216.
    ///
    /// # Errors
    /// As [`Self::parse`], and when all of it is more than an import may hold (`IMPORT_HELD`).
    pub fn parse_beside(bytes: &[u8], held_bytes: u64) -> Result<Self, Trouble> {
        Self::parsed(bytes, Some(held_bytes.saturating_add(bytes.len() as u64)))
    }

    fn parsed(bytes: &[u8], beside_bytes: Option<u64>) -> Result<Self, Trouble> {
        match bytes.first() {
            None => Err(Trouble::new("it is empty", REMEDY)),
            Some(&binary::RUN) => binary::parse(bytes, beside_bytes),
            Some(_) => text::parse(bytes, beside_bytes),
        }
    }

    /// Refuses more than may be held: what was read so far, its names, so many bytes of other texts,
    /// and what is beside it. Where that is not told, nobody asks.
    fn check_held(
        &self,
        names: &Names,
        text_bytes: u64,
        beside_bytes: Option<u64>,
    ) -> Result<(), Trouble> {
        let Some(beside_bytes) = beside_bytes else { return Ok(()) };
        let counts = [
            (self.requests.len(), REQUEST_BYTES),
            (self.errors.len(), ERROR_BYTES),
            (names.0.known.len(), NAME_BYTES),
        ];
        let counted: u64 = counts.into_iter().map(|(count, bytes)| count as u64 * bytes).sum();
        let held = counted + names.0.held_bytes + text_bytes;
        let checked = IMPORT_HELD.check(beside_bytes.saturating_add(held));
        checked.map_err(|over| Trouble::new(over.to_string(), over.limit.remedy))
    }

    /// Every name of the log in the order of appearance, with those of its requests that began
    /// within `window_ms`: how late they were answered does not matter.
    pub fn kinds(&self, window_ms: Range<u64>) -> Vec<RequestGroup> {
        let mut kinds: Vec<(&Arc<str>, Vec<&LoggedRequest>)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for request in &self.requests {
            let place = *places.entry(&request.name).or_insert_with(|| {
                kinds.push((&request.name, Vec::new()));
                kinds.len() - 1
            });
            kinds[place].1.push(request);
        }
        let messages = Messages::of(&self.requests);
        // One after the other, of which each has room for what may come while it is counted.
        let counted = kinds.into_iter().map(|(name, requests)| {
            let mut kind = RequestGroup::none(name.clone());
            let failures = requests.into_iter().filter_map(|one| kind.count(one, &window_ms));
            kind.failures = messages.counted(failures);
            kind.latency.shrink();
            kind
        });
        counted.collect()
    }

    /// From the first beginning of a request to the end of the last, in milliseconds; none
    /// without a request.
    pub fn span_ms(&self) -> Option<Range<u64>> {
        let first = self.requests.iter().map(|request| request.start_ms).min()?;
        let last = self.requests.iter().map(|request| request.end_ms).max()?;
        Some(first..last)
    }
}

impl RequestGroup {
    fn none(name: Arc<str>) -> Self {
        Self { name, latency: Histogram::new(), failures: BTreeMap::new(), answers: 0 }
    }

    /// Counts a request; the message of one that failed within the window is for others to count.
    fn count<'l>(
        &mut self,
        request: &'l LoggedRequest,
        window_ms: &Range<u64>,
    ) -> Option<&'l Arc<str>> {
        let has_begun = window_ms.contains(&request.start_ms);
        match &request.failure {
            None => {
                self.answers += u64::from(window_ms.contains(&request.end_ms));
                if has_begun {
                    let took_ms = request.end_ms - request.start_ms;
                    self.latency.record(took_ms.saturating_mul(NS_PER_MS));
                }
                None
            }
            Some(message) => has_begun.then_some(message),
        }
    }

    /// How many failed, for whatever reason.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }
}

/// The messages of failures. Thousands of requests refer to one of 64 KiB: each message is compared with
/// others once, and known by its address then.
struct Messages<'l> {
    /// Different ones, in order.
    sorted: Vec<&'l Arc<str>>,
    /// The place among these of each address.
    places: HashMap<usize, usize>,
}

impl<'l> Messages<'l> {
    fn of(requests: &'l [LoggedRequest]) -> Self {
        let all = requests.iter().filter_map(|request| request.failure.as_ref());
        let by_address: HashMap<usize, &Arc<str>> =
            all.map(|message| (address(message), message)).collect();
        let mut messages: Vec<&Arc<str>> = by_address.into_values().collect();
        messages.sort();
        let mut this = Self { sorted: Vec::new(), places: HashMap::new() };
        for message in messages {
            if this.sorted.last() != Some(&message) {
                this.sorted.push(message);
            }
            this.places.insert(address(message), this.sorted.len() - 1);
        }
        this
    }

    /// How often each of these came.
    fn counted<'m>(&self, messages: impl Iterator<Item = &'m Arc<str>>) -> BTreeMap<Arc<str>, u64> {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for message in messages {
            *counts.entry(self.places[&address(message)]).or_default() += 1;
        }
        counts.into_iter().map(|(place, count)| (self.sorted[place].clone(), count)).collect()
    }
}

/// Where a message is held.
fn address(message: &Arc<str>) -> usize {
    Arc::as_ptr(message).addr()
}

impl LoggedRequest {
    /// A request whose times fit each other; what is wrong with them.
    fn new(
        name: Arc<str>,
        (start_ms, end_ms): (u64, u64),
        failure: Option<Arc<str>>,
    ) -> Result<Self, String> {
        if end_ms < start_ms {
            return Err(format!("ends at {end_ms} ms and began at {start_ms} ms of the run"));
        }
        Ok(Self { name, start_ms, end_ms, failure })
    }
}

/// Texts that came before: thousands of requests share one, and none may be copied for each.
#[derive(Default)]
struct Texts {
    known: BTreeSet<Arc<str>>,
    /// Reckoned for them.
    held_bytes: u64,
}

impl Texts {
    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let shared: Arc<str> = one_line(text).into();
        self.held_bytes += TEXT_BYTES + shared_bytes(&shared);
        self.known.insert(shared.clone());
        shared
    }
}

/// What the letters of a text take.
fn shared_bytes(text: &str) -> u64 {
    block_bytes(SHARED_BYTES + text.len())
}

/// Names of requests with the groups they are in.
#[derive(Default)]
struct Names(Texts);

impl Names {
    /// The name of a request in groups, from the outermost one; why there is none. A comma of a
    /// group is a space, as it is in a log of text, so that names are the same in both.
    fn of(&mut self, groups: &[impl AsRef<str>], name: &str) -> Result<Arc<str>, String> {
        let length = groups.iter().fold(name.len(), |sum, group| sum + group.as_ref().len());
        if length > LONGEST_NAME {
            return Err(format!("has a name of {length} bytes"));
        }
        let mut path = String::new();
        for group in groups {
            path.push_str(&group.as_ref().replace(',', " "));
            path.push_str(" / ");
        }
        path.push_str(name);
        let name = self.0.shared(&path);
        if self.0.known.len() > MOST_NAMES {
            let cause =
                format!("has a name of its own, as {MOST_NAMES} before it (limit GATLING_NAMES)");
            return Err(format!("{cause}: give requests of one kind one name, without ids"));
        }
        Ok(name)
    }
}

/// Refuses versions that nobody compared with what is read here.
fn understood(version: &str, known: &Range<(u32, u32)>) -> Result<(), String> {
    let mut parts = version.split('.').map(str::parse);
    let number = parts.next().and_then(Result::ok).zip(parts.next().and_then(Result::ok));
    if number.is_some_and(|number| known.contains(&number)) {
        return Ok(());
    }
    let (from, to) = (known.start, (known.end.0, known.end.1 - 1));
    Err(format!(
        "it is of Gatling {}, whose log is not understood; {}.{} to {}.{} are",
        shown(version),
        from.0,
        from.1,
        to.0,
        to.1
    ))
}

/// One line, as Gatling's own reader makes one.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The message of a failure; Gatling pads them, and writes a space for none.
fn message(text: &str) -> &str {
    let trimmed = text.trim();
    if trimmed.is_empty() { SILENT } else { trimmed }
}

/// The beginning of something, for an error.
fn shown(text: &str) -> String {
    one_line(text).chars().take(40).collect()
}

/// Gatling's log, binary or text.
pub(crate) const FORMAT: Format = Format {
    name: "gatling-log",
    words: &[
        "RUN\tsim.Sim\tsim\t1795554545129\t \t3.10.3\n",
        "USER\ta\tSTART\t1795554545129\n",
        "USER\ta\tEND\t1795554545139\n",
        "REQUEST\t\tlist\t1795554545129\t1795554545139\tOK\t \n",
        "REQUEST\tcart,pay\tlist\t1795554545129\t1795554545139\tKO\tgone\n",
        "GROUP\tcart\t1795554545129\t1795554545139\t5\tOK\n",
        "ERROR\tgone\t1795554545129\n",
        "ASSERTION\tAAEC\n",
        "\0\0\0\0\x063.15.1\0",
        "\0\0\0\x063.13.0",
        "\x01\0\0\0\0\0\0\0\x01\0\0\0\x04list\0\0\0\0\x05\0\0\0\x09\x01\0\0\0\x02\0\0\0\0",
        "\x02\0\0\0\0\x01\0\0\0\x05",
        "\x03\0\0\0\0",
        "\x04\0\0\0\x01\0\0\0\x04gone\0\0\0\0\x05",
        "\x7f",
        "\0\0\0\x01",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let log = Log::parse(bytes);
    match &log {
        Ok(log) => log.check(),
        Err(trouble) => trouble.check(),
    }
    Reaction::of(log.ok().as_ref())
}

impl Log {
    /// What is accepted has requests that end after they begin, and each is in one kind.
    fn check(&self) {
        assert!(self.users_ended <= self.users_began, "{} ended", self.users_ended);
        for request in &self.requests {
            assert!(request.start_ms <= request.end_ms, "{request:?}");
            assert!(!request.name.contains(char::is_control), "{request:?}");
        }
        let count = |window_ms| {
            let kinds = self.kinds(window_ms).into_iter();
            kinds.map(|kind| kind.latency.count() + kind.failed()).sum::<u64>()
        };
        let all = self.requests.len() as u64;
        assert_eq!(count(0..u64::MAX), all, "a request is in no kind, or in two");
        if let Some(span_ms) = self.span_ms() {
            let middle_ms = span_ms.start + (span_ms.end - span_ms.start) / 2;
            assert_eq!(count(0..middle_ms) + count(middle_ms..u64::MAX), all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            include_bytes!(concat!("../tests/golden/gatling/", $name))
        };
    }

    const BINARY_LOG: &[u8] = golden!("small-3.15.1.log");
    const TEXT_LOG: &[u8] = golden!("small-3.10.3.log");

    /// Name, beginning, end and failure of some requests.
    fn rows(requests: &[LoggedRequest]) -> Vec<(&str, u64, u64, Option<&str>)> {
        let all = requests.iter();
        all.map(|r| (&*r.name, r.start_ms, r.end_ms, r.failure.as_deref())).collect()
    }

    fn names(log: &Log) -> Vec<(String, u64, u64)> {
        let kinds = log.kinds(0..u64::MAX).into_iter();
        kinds.map(|kind| (kind.name.to_string(), kind.latency.count(), kind.failed())).collect()
    }

    fn cause(bytes: &[u8]) -> String {
        let trouble = Log::parse(bytes).unwrap_err();
        assert!(!trouble.remedy.is_empty());
        trouble.to_string()
    }

    #[test]
    fn a_binary_log_has_every_request_with_its_groups_and_failures() {
        let log = Log::parse(BINARY_LOG).unwrap();
        assert_eq!((log.version.as_str(), log.simulation.as_str()), ("3.15.1", "sim.SmallSim"));
        assert_eq!(log.description, "a small run");
        assert_eq!(log.started_unix_ms, 1_795_554_482_710);
        assert_eq!((log.requests.len(), log.errors.len()), (60, 12));
        assert_eq!((log.users_began, log.users_ended), (12, 12));
        assert_eq!(
            rows(&log.requests[57..]),
            [
                ("GET /missing/{id}", 2228, 2273, Some("status.find.is(200), found 404")),
                ("drop", 2275, 2282, Some("i.g.h.c.i.PrematureCloseException: Premature close")),
                ("slow one", 2282, 2404, None),
            ]
        );
        let error = &log.errors[0];
        assert_eq!(&*error.message, "never: No attribute named 'undefined' is defined");
        assert_eq!(error.at_ms, 823);
        let all = [
            ("shop  small / list", 12, 0),
            ("shop  small / cart / Überweisung 5 €", 12, 0),
            ("GET /missing/{id}", 0, 12),
            ("drop", 0, 12),
            ("slow one", 12, 0),
        ];
        assert_eq!(names(&log), all.map(|(name, ok, ko)| (name.to_owned(), ok, ko)));
    }

    #[test]
    fn a_text_log_has_the_same_in_other_words() {
        let log = Log::parse(TEXT_LOG).unwrap();
        assert_eq!((log.version.as_str(), log.simulation.as_str()), ("3.10.3", "sim.SmallSim"));
        assert_eq!(log.description, "a small run");
        assert_eq!((log.requests.len(), log.errors.len()), (60, 12));
        assert_eq!((log.users_began, log.users_ended), (12, 12));
        let all = [
            ("shop  small / list", 12, 0),
            ("shop  small / cart / Überweisung 5 €", 12, 0),
            ("GET /missing/{id}", 0, 12),
            ("drop", 0, 12),
            ("slow one", 12, 0),
        ];
        assert_eq!(names(&log), all.map(|(name, ok, ko)| (name.to_owned(), ok, ko)));
        let missing = log.requests.iter().find(|request| request.failure.is_some()).unwrap();
        let message = "status.find.is(200), but actually found 404";
        assert_eq!(missing.failure.as_deref(), Some(message));
    }

    #[test]
    fn more_than_an_import_may_hold_of_a_log_is_refused_by_the_name_of_the_limit() {
        for bytes in [BINARY_LOG, TEXT_LOG] {
            let log = Log::parse(bytes).unwrap();
            let names = log.kinds(0..u64::MAX);
            let counted = log.requests.len() as u64 * REQUEST_BYTES
                + log.errors.len() as u64 * ERROR_BYTES
                + names.len() as u64 * NAME_BYTES;
            let room = IMPORT_HELD.most - bytes.len() as u64 - counted;
            // Its texts have no room yet.
            let trouble = Log::parse_beside(bytes, room).unwrap_err();
            assert!(trouble.cause.contains("limit IMPORT_HELD"), "{trouble}");
            assert!(!trouble.remedy.is_empty());
            assert_eq!(Log::parse_beside(bytes, room - (16 << 10)), Ok(log));
            assert!(Log::parse_beside(bytes, u64::MAX).is_err());
        }
    }

    #[test]
    fn what_is_reckoned_for_the_requests_of_a_log_is_what_they_take() {
        let mut log = "RUN\tS\ts\t5\t \t3.10.3\n".to_owned();
        log.push_str(&"REQUEST\t\tget\t5\t6\tOK\t \n".repeat(100));
        let of_name = NAME_BYTES + TEXT_BYTES + shared_bytes("get");
        let held = log.len() as u64 + 100 * REQUEST_BYTES + of_name;
        let room = IMPORT_HELD.most - held;
        assert!(Log::parse_beside(log.as_bytes(), room).is_ok());
        assert!(Log::parse_beside(log.as_bytes(), room + 1).is_err());
    }

    /// Compared for each request, these would be terabytes.
    #[test]
    fn long_messages_that_begin_alike_are_compared_once_and_not_for_each_request() {
        let prefix = "x".repeat(65_000);
        // Each text twice, as a log may write it.
        let messages: Vec<Arc<str>> =
            (0..80).map(|number| format!("{prefix}{:02}", number / 2).into()).collect();
        let name: Arc<str> = "r".into();
        let request = |at: usize| LoggedRequest {
            name: name.clone(),
            start_ms: 0,
            end_ms: 1,
            failure: Some(messages[at % messages.len()].clone()),
        };
        let log = Log {
            version: String::new(),
            simulation: String::new(),
            description: String::new(),
            started_unix_ms: 0,
            requests: (0..4_000_000).map(request).collect(),
            errors: Vec::new(),
            users_began: 0,
            users_ended: 0,
        };
        let kinds = log.kinds(0..u64::MAX);
        let [kind] = &kinds[..] else { panic!("{} kinds", kinds.len()) };
        let ends = kind.failures.iter().map(|(message, count)| (&message[65_000..], *count));
        let expected: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
        assert!(ends.eq(expected.iter().map(|end| (end.as_str(), 100_000))));
    }

    /// What `decode_simlog.py` and Gatling's own report say of the same file.
    #[test]
    fn latencies_are_those_that_gatling_reports() {
        let log = Log::parse(golden!("head-3.15.1.log")).unwrap();
        assert_eq!(log.requests.len(), 1545);
        assert_eq!(log.users_began + log.users_ended, 3134);
        let kinds = log.kinds(0..u64::MAX);
        let [balance, create, history, transfer] = &kinds[..] else { panic!("{kinds:?}") };
        for (kind, name, count, expected_ms) in [
            (balance, "balance", 861, [85, 317, 499, 730]),
            (create, "create", 86, [118, 320, 612, 612]),
            (history, "history", 172, [109, 294, 717, 720]),
            (transfer, "transfer", 426, [195, 577, 1418, 1916]),
        ] {
            assert_eq!((&*kind.name, kind.latency.count(), kind.failed()), (name, count, 0));
            for (quantile, expected_ms) in [0.5, 0.95, 0.99, 1.0].into_iter().zip(expected_ms) {
                let found_ms = kind.latency.quantile(quantile).unwrap() as f64 / 1e6;
                let ratio = found_ms / f64::from(expected_ms);
                assert!((1.0..1.001).contains(&ratio), "{name} {quantile}: {found_ms}");
            }
        }
    }

    #[test]
    fn a_window_counts_requests_that_begin_in_it_and_answers_that_come_in_it() {
        let request = |name: &str, start_ms, end_ms, failure: Option<&str>| LoggedRequest {
            name: name.into(),
            start_ms,
            end_ms,
            failure: failure.map(Into::into),
        };
        let log = Log {
            requests: vec![
                request("a", 5, 12, None),
                request("a", 10, 10, None),
                request("a", 12, 90, None),
                request("b", 19, 25, Some("x")),
                request("b", 20, 21, Some("x")),
                request("a", 20, 22, None),
            ],
            ..Log::parse(BINARY_LOG).unwrap()
        };
        let kinds = log.kinds(10..20);
        let [a, b] = &kinds[..] else { panic!("{kinds:?}") };
        assert_eq!((a.latency.count(), a.latency.quantile(0.5), a.failed()), (2, Some(0), 0));
        assert_eq!(a.latency.max().unwrap() / NS_PER_MS, 78);
        assert_eq!((a.answers, b.answers), (2, 0));
        assert_eq!((b.latency.count(), &b.failures), (0, &BTreeMap::from([("x".into(), 1)])));
        assert_eq!(log.span_ms(), Some(5..90));
    }

    #[test]
    fn windows_that_follow_each_other_count_each_request_once() {
        for bytes in [BINARY_LOG, TEXT_LOG, golden!("head-3.15.1.log")] {
            let log = Log::parse(bytes).unwrap();
            let bounds = [0, 1, 700, 1000, 1001, 5000, u64::MAX];
            let count = |window_ms: Range<u64>| {
                let kinds = log.kinds(window_ms).into_iter();
                kinds.fold((0, 0), |(begun, answers), kind| {
                    (begun + kind.latency.count() + kind.failed(), answers + kind.answers)
                })
            };
            let parts = bounds.windows(2).map(|ends| count(ends[0]..ends[1]));
            let sum = parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            assert_eq!(sum, count(0..u64::MAX));
            assert_eq!(sum.0, log.requests.len() as u64);
        }
    }

    #[test]
    fn a_log_without_requests_is_one() {
        let log = Log::parse(golden!("head-3.10.3.log")).unwrap();
        assert_eq!((log.requests.len(), log.users_began, log.users_ended), (0, 397, 0));
        assert_eq!((log.description.as_str(), log.span_ms()), ("", None));
    }

    #[test]
    fn a_log_that_is_cut_inside_a_record_is_refused() {
        for bytes in [BINARY_LOG, TEXT_LOG] {
            let logs = (0..bytes.len()).filter_map(|end| Log::parse(&bytes[..end]).ok());
            let logs: Vec<Log> = logs.collect();
            // After the record of the run and each of 119 of the 120 after it.
            assert_eq!(logs.len(), 120);
            let is_open = |log: &&Log| log.users_ended < log.users_began;
            assert!(logs.iter().filter(is_open).count() > 100);
            assert!(logs.is_sorted_by_key(|log| log.requests.len() + log.errors.len()));
        }
        let told =
            "byte 2742: the log is cut short: a user's moment has 4 bytes, of which 3 are left";
        assert_eq!(cause(&BINARY_LOG[..2745]), told);
        assert_eq!(cause(&TEXT_LOG[..7819]), "line 122: has no end: the log is cut short");
    }

    #[test]
    fn a_tab_that_gatling_did_not_escape_is_found() {
        let told = cause(golden!("tab-in-a-name-3.10.3.log"));
        let why = "a tab in a name, which Gatling does not escape?";
        assert_eq!(told, format!("line 24: is a record REQUEST of 8 columns instead of 7; {why}"));
    }

    #[test]
    fn what_a_text_log_cannot_say_is_named_with_its_line() {
        let whole = std::str::from_utf8(TEXT_LOG).unwrap();
        for (what, instead, expected) in [
            (
                "\t3.10.3",
                "\t3.8.4",
                "line 2: it is of Gatling 3.8.4, whose log is not understood; 3.9 to 3.12 are",
            ),
            (
                "\t3.10.3",
                "\t3",
                "line 2: it is of Gatling 3, whose log is not understood; 3.9 to 3.12 are",
            ),
            ("RUN\t", "ASSERTION\tx\nRUN\t\t", "line 3: is a record RUN of 7 columns instead of 6"),
            ("RUN\t", "JUMP\t", "line 2: is a record `JUMP`, which is not understood"),
            ("RUN\t", "ERROR\tx\t5\nRUN\t", "line 2: is ERROR before the record of a run"),
            (
                "REQUEST\tshop",
                "REQUEST\tx\nREQUEST\tshop",
                "line 5: is a record REQUEST of 2 columns instead of 7",
            ),
            ("46548\tOK", "46548\tok", "line 5: `ok` is neither OK nor KO"),
            (
                "1795554546521\t",
                "1795554546599\t",
                "line 5: is a request that ends at 1419 ms and began at 1470 ms of the run",
            ),
            ("1795554546521\t", "1\t", "line 5: 1 is before the run began, at 1795554545129"),
            ("1795554546521\t", "-1\t", "line 5: `-1` is no moment"),
            (
                "1795554546521\t",
                "99999999999999999999\t",
                "line 5: `99999999999999999999` is no moment",
            ),
            ("START\t", "LEFT\t", "line 3: `LEFT` is no event of a user"),
            ("\t37\tOK", "\t3.7\tOK", "line 8: `3.7` is no time"),
        ] {
            assert!(whole.contains(what), "{what}");
            assert_eq!(cause(whole.replacen(what, instead, 1).as_bytes()), expected);
        }
        let ended = whole.replace("START", "END");
        assert_eq!(cause(ended.as_bytes()), "24 users ended, and 0 began");
        assert_eq!(cause(b""), "it is empty");
        assert_eq!(cause(b"ASSERTION\tx\n"), "it has no record of a run");
        assert_eq!(cause(b"a\n\xff\n"), "line 2: is no text");
        let two = [TEXT_LOG, TEXT_LOG].concat();
        assert!(cause(&two).ends_with("is the record of a second run"));
    }

    #[test]
    fn what_a_binary_log_cannot_say_is_named_with_its_byte() {
        for (place, byte, expected) in [
            (8, b'6', "it is of Gatling 3.16.1, whose log is not understood; 3.13 to 3.15 are"),
            (11, 1, "byte 11: the version is written in a way, 1, that is not understood"),
            (1, 0x80, "byte 1: the version has -2147483642 bytes"),
            (
                2,
                1,
                "byte 5: the log is cut short: the version has 65542 bytes, of which 2741 are left",
            ),
            (13, 1, "byte 16: the simulation has 65548 bytes: nobody writes so long a text"),
            (28, 2, "byte 28: the simulation is written in a way, 2, that is not understood"),
            (0xe5, 0xd8, "byte 228: a request's name is no UTF-16"),
            (29, 0x80, "byte 29: -9223370241300293098 is no moment of a beginning"),
            (0x61, 7, "byte 97: a record of type 7 is not understood"),
            (0x65, 1, "byte 98: a user is of scenario 1, and there are 1"),
            (0x66, 2, "byte 102: a user's event is 2, neither 0 nor 1"),
            (0x67, 0xff, "byte 103: a user's moment is -16776862 ms after the run began"),
            (0x78, 1, "byte 118: there are 257 groups in each other (limit GATLING_GROUPS)"),
            (0x7d, 2, "byte 122: a group's name is text 2, and the next is 1"),
            (0x7a, 0xff, "byte 122: a group's name is text -16777215, and the next is 1"),
        ] {
            let mut bytes = BINARY_LOG.to_vec();
            bytes[place] = byte;
            let told = cause(&bytes);
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn names_that_carry_ids_are_too_many() {
        let mut log = "RUN\tS\ts\t5\t \t3.10.3\n".to_owned();
        for id in 0..=MOST_NAMES {
            log.push_str(&format!("REQUEST\t\tget {id}\t5\t6\tOK\t \n"));
        }
        let told = cause(log.as_bytes());
        assert!(told.starts_with("line 502: is a request that has a name of its own"), "{told}");
        assert!(Log::parse(log.rsplit_once("REQUEST").unwrap().0.as_bytes()).is_ok());
        let long = log.replace("get 0", &"x".repeat(LONGEST_NAME + 1));
        assert_eq!(cause(long.as_bytes()), "line 2: is a request that has a name of 1001 bytes");
    }
}
