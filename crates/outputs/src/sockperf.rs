//! What the client of sockperf prints, and the log of every message that it writes.
//!
//! sockperf 3.7 ends with 0 whatever happened, so that only its words tell a failure.

use crate::format::{Format, Reaction};
use crate::trouble::Trouble;
use model::Histogram;

/// More messages than this are no log of a run that ends.
const MOST_ROWS: u64 = 1 << 32;
/// How the heading above the rows of a log begins; `rtt(usec)` or `latency(usec)` follows.
const HEADING: &str = "packet, txTime(sec), rxTime(sec), ";

/// What one execution of the client says of its messages. Those of its first 400 ms and of its
/// last 50 ms are left out, by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct SockperfReport {
    /// What sockperf calls its version (`3.7-no.git`).
    pub version: String,
    /// Time that is counted.
    pub seconds: f64,
    /// Messages that were sent in it.
    pub sent: u64,
    /// Replies that came in it.
    pub received: u64,
    /// Replies that never came.
    pub dropped: u64,
    /// That came twice.
    pub duplicated: u64,
    /// That came after a later one.
    pub reordered: u64,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq)]
pub enum SockperfFailure {
    /// sockperf says itself that it failed, and of what.
    Reported(String),
    /// It is not what sockperf prints, or a number is missing.
    Unreadable(Trouble),
}

impl SockperfReport {
    /// Reads what the client printed.
    ///
    /// # Errors
    /// When sockperf failed, when this is not its text, or when a number is missing.
    pub fn parse(text: &str) -> Result<Self, SockperfFailure> {
        let text = without_colours(text);
        let unreadable = |cause: String| {
            SockperfFailure::Unreadable(Trouble::new(
                cause,
                "give what the client of sockperf 3 prints",
            ))
        };
        let mut lines = text.lines();
        let complaint = text.lines().find_map(|line| {
            let (_, said) = line.split_once("ERROR: ")?;
            Some(said.trim().to_owned())
        });
        let nothing = ["No messages were received", "No valid observations found"];
        let complaint = complaint.or_else(|| {
            let line = lines.find(|line| nothing.iter().any(|words| line.contains(words)))?;
            Some(line.trim_start_matches("sockperf: ").trim().to_owned())
        });
        if let Some(said) = complaint {
            return Err(SockperfFailure::Reported(said));
        }
        let number = |line: &str, name: &str| {
            number_after(&text, line, name)
                .ok_or_else(|| unreadable(format!("no `{name}` after `{line}`")))
        };
        let count = |line: &str, name: &str| {
            let text = number(line, name)?;
            text.parse().map_err(|_| unreadable(format!("`{name}{text}` is no count")))
        };
        let (valid, messages) = ("[Valid Duration]", "# dropped messages");
        let seconds = number(valid, "RunTime=")?;
        let seconds: f64 = seconds
            .parse()
            .ok()
            .filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0)
            .ok_or_else(|| unreadable(format!("`RunTime={seconds}` is no time")))?;
        let version = text.split_once("version #").map(|(_, rest)| rest);
        let version = version.and_then(|rest| rest.split_whitespace().next());
        Ok(Self {
            version: version.ok_or_else(|| unreadable("no version".to_owned()))?.to_owned(),
            seconds,
            sent: count(valid, "SentMessages=")?,
            received: count(valid, "ReceivedMessages=")?,
            dropped: count(messages, "dropped messages = ")?,
            duplicated: count(messages, "duplicated messages = ")?,
            reordered: count(messages, "out-of-order messages = ")?,
        })
    }
}

/// Major and minor number of what `sockperf --version` prints: `sockperf, version 3.7-no.git`.
pub fn version(answer: &str) -> Option<(u32, u32)> {
    let (_, rest) = answer.split_once("version ")?;
    let (major, rest) = rest.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Nanoseconds from each message's sending to its reply, of what sockperf wrote with
/// `--full-log`: from its two moments, which have all nine digits.
///
/// # Errors
/// When there is no table of messages in it, or a row is none; with its line.
pub fn round_trips(log: &str) -> Result<Histogram, Trouble> {
    let remedy = "give the file that sockperf wrote with --full-log";
    let mut lines = log.lines().zip(1_u64..);
    if !lines.any(|(line, _)| line.starts_with(HEADING)) {
        return Err(Trouble::new("no heading of a table of messages", remedy));
    }
    let mut histogram = Histogram::new();
    for (line, number) in lines {
        if line.starts_with('-') {
            histogram.shrink();
            return Ok(histogram);
        }
        let wrong = || Trouble::at(number, "is no message and its two moments", remedy);
        let mut columns = line.split(", ");
        let (_, sent, received) = (columns.next(), columns.next(), columns.next());
        let moment = |text: Option<&str>| text.and_then(nanoseconds).ok_or_else(wrong);
        let (sent_ns, received_ns) = (moment(sent)?, moment(received)?);
        let took_ns = received_ns.checked_sub(sent_ns).ok_or_else(|| {
            Trouble::at(number, "says that a reply came before its message", remedy)
        })?;
        histogram.record(took_ns);
        if histogram.count() > MOST_ROWS {
            return Err(Trouble::at(number, "is one message too many", "use a shorter run"));
        }
    }
    Err(Trouble::new("the table of messages has no end: the log is cut short", remedy))
}

/// `2.499678749` in nanoseconds.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.trim().split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() != 9 {
        return None;
    }
    let (whole, fraction): (u64, u64) = (whole.parse().ok()?, fraction.parse().ok()?);
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// What stands after `name` in the first line that has `line` in it.
fn number_after<'t>(text: &'t str, line: &str, name: &str) -> Option<&'t str> {
    let found = text.lines().find(|candidate| candidate.contains(line))?;
    let (_, rest) = found.split_once(name)?;
    rest.split([';', ' ']).next()
}

/// The text without the escape sequences of a terminal (`ESC [ … m`).
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

/// The log of every message that sockperf writes, and what it prints beside it.
pub const FORMAT: Format = Format {
    name: "sockperf-log",
    words: &[
        "packet, txTime(sec), rxTime(sec), rtt(usec)\n",
        "0, 2.499678749, 2.499734474, 55.725\n",
        "------------------------------\n",
        "version #3.7-no.git ",
        "sockperf: [Valid Duration] RunTime=0.400 sec; SentMessages=401; ReceivedMessages=5\n",
        "sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n",
        "\u{1b}[2;35m",
        "\u{1b}[0m",
        "18446744073709551615",
        "-1",
        "nan",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reaction::Refused };
    match SockperfReport::parse(text) {
        Ok(report) => assert!(report.seconds > 0.0 && report.seconds.is_finite()),
        Err(SockperfFailure::Reported(_)) => {}
        Err(SockperfFailure::Unreadable(trouble)) => trouble.check(),
    }
    let trips = round_trips(text);
    if let Err(trouble) = &trips {
        trouble.check();
    }
    Reaction::of(trips.ok().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!("../tests/golden/sockperf/", $name))
        };
    }

    #[test]
    fn a_run_says_what_came_back() {
        let expected = SockperfReport {
            version: "3.7-no.git".to_owned(),
            seconds: 0.57,
            sent: 59_458,
            received: 59_458,
            dropped: 0,
            duplicated: 0,
            reordered: 0,
        };
        assert_eq!(SockperfReport::parse(golden!("ping_pong.txt")), Ok(expected));
        let report = SockperfReport::parse(golden!("under_load.txt")).unwrap();
        assert_eq!((report.sent, report.received), (401, 5));
    }

    #[test]
    fn its_words_are_the_only_sign_of_its_failure() {
        for (text, said) in [
            (golden!("refused.txt"), "Can`t connect socket (errno=111 Connection refused)"),
            (
                golden!("no_server_udp.txt"),
                "No messages were received from the server. Is the server down?",
            ),
            (
                golden!("nothing_valid.txt"),
                "No valid observations found. Try tune parameters: --time/--mps/--reply-every",
            ),
        ] {
            assert_eq!(
                SockperfReport::parse(text),
                Err(SockperfFailure::Reported(said.to_owned()))
            );
        }
    }

    #[test]
    fn a_number_that_is_missing_is_named() {
        let whole = golden!("under_load.txt");
        for (what, instead, cause) in [
            ("[Valid Duration]", "[Total]", "no `RunTime=` after `[Valid Duration]`"),
            ("RunTime=0.400", "RunTime=0.000", "`RunTime=0.000` is no time"),
            ("ReceivedMessages=5", "ReceivedMessages=-5", "`ReceivedMessages=-5` is no count"),
            ("dropped", "lost", "no `dropped messages = ` after `# dropped messages`"),
            ("version #", "", "no version"),
        ] {
            let failure = SockperfReport::parse(&whole.replace(what, instead)).unwrap_err();
            let SockperfFailure::Unreadable(trouble) = failure else { panic!("{failure:?}") };
            assert_eq!(trouble.cause, cause);
        }
    }

    #[test]
    fn a_log_has_every_message() {
        let trips = round_trips(golden!("under_load.csv")).unwrap();
        assert_eq!(trips.count(), 5);
        let longest = trips.max().unwrap() as f64;
        assert!((longest / 55_725.0 - 1.0).abs() < 0.01, "{longest}");
    }

    #[test]
    fn a_log_that_is_cut_short_or_no_log_is_refused() {
        let whole = golden!("under_load.csv");
        let cause = |text: &str| round_trips(text).unwrap_err().to_string();
        assert_eq!(cause(golden!("nothing_valid.csv")), "no heading of a table of messages");
        let (rows, _) = whole.rsplit_once("\n---").unwrap();
        assert!(cause(rows).contains("cut short"));
        let swapped = whole.replace("2.499734474", "2.499578749");
        assert!(cause(&swapped).ends_with("a reply came before its message"));
        for wrong in ["2.4997344", "-2.499734474", "2,499734474", "nan", "99999999999999.499734474"]
        {
            let told = cause(&whole.replace("2.499734474", wrong));
            assert!(told.starts_with("line 22: ") || told.contains("no message"), "{told}");
        }
    }

    #[test]
    fn versions_are_numbers() {
        assert_eq!(version("sockperf, version 3.7-no.git\n   compiled"), Some((3, 7)));
        assert_eq!(version("sockperf"), None);
    }
}
