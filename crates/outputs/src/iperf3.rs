//! What the client of iperf3 prints with `--json`.

use crate::format::{Format, Reaction};
use crate::json::{Json, JsonNode};
use crate::trouble::Trouble;
use std::collections::{BTreeMap, BTreeSet};

/// More streams than this no client of iperf3 has (`MAX_STREAMS` of its iperf.h is 128, and
/// `--bidir` doubles them).
const MOST_STREAMS: usize = 256;
/// What iperf3 3.12 gives once for each stream, in one object.
const REPEATED: [&str; 3] = ["sock_bufsize", "sndbuf_actual", "rcvbuf_actual"];
/// What `start` says of sockets beside `test_start` (`iperf_on_test_start` and `iperf_tcp_connect` of
/// iperf3 3.12); `tcp_mss` is what `--set-mss` asked for.
const OF_SOCKETS: [&str; 6] = [
    "tcp_mss_default",
    "tcp_mss",
    "target_bitrate",
    "sock_bufsize",
    "sndbuf_actual",
    "rcvbuf_actual",
];
/// What `end` says of both sides: it is known only then.
const OF_SIDES: [&str; 2] = ["sender_tcp_congestion", "receiver_tcp_congestion"];

/// What one execution of the client measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Iperf3Report {
    /// What iperf3 calls its version (`iperf 3.12`).
    pub version: String,
    /// When it began: seconds since 1970, where the file tells.
    pub began_unix_s: Option<u64>,
    /// From the client to the server, unless only the other way was asked for.
    pub outwards: Option<Flow>,
    /// From the server to the client (`--reverse`, `--bidir`).
    pub inwards: Option<Flow>,
    /// How it was asked to run (`num_streams`, `blksize`, `duration`), and what its sockets had
    /// (`sndbuf_actual`, `sender_tcp_congestion`), as it says itself.
    pub settings: BTreeMap<String, String>,
}

/// All streams of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// What the sender counted.
    pub sent: Total,
    /// What the receiver counted.
    pub received: Total,
    /// What the protocol adds.
    pub protocol: Protocol,
}

/// Bytes of one side, and the time in which it counted them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total {
    /// Of payload.
    pub bytes: u64,
    /// By that side's clock; above zero.
    pub seconds: f64,
}

/// What only this protocol has.
#[derive(Debug, Clone, PartialEq)]
pub enum Protocol {
    /// A stream.
    Tcp {
        /// Segments that the sender sent again; none where its kernel does not tell.
        retransmits: Option<u64>,
    },
    /// Datagrams.
    Udp(Datagrams),
}

/// What the receiver made of datagrams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datagrams {
    /// Up to the last one that came; what the sender sent after it is not among them.
    pub expected: u64,
    /// Of those, the ones that never came.
    pub lost: u64,
    /// That came after a later one.
    pub reordered: u64,
    /// Smoothed change of the transit time (RFC 3550, 6.4.1), in nanoseconds.
    pub jitter_ns: f64,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq)]
pub enum Iperf3Failure {
    /// iperf3 says itself that it failed, and of what.
    Reported(String),
    /// It is not what iperf3 prints, or a number is missing.
    Unreadable(Trouble),
}

impl From<Trouble> for Iperf3Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Unreadable(trouble)
    }
}

/// Settings that are kept, and the longest of them.
const MOST_SETTINGS: usize = 40;
const LONGEST_SETTING: usize = 60;

impl Iperf3Report {
    /// Reads what the client printed.
    ///
    /// # Errors
    /// When iperf3 failed, when this is not its JSON, or when a number is missing, negative or
    /// not finite; with its line or its place.
    pub fn parse(bytes: &[u8]) -> Result<Self, Iperf3Failure> {
        let json = Json::parse_with_repeated(bytes, &REPEATED)?;
        let root = JsonNode::root(&json);
        if let Some(error) = root.optional("error")? {
            return Err(Iperf3Failure::Reported(error.text()?.to_owned()));
        }
        Ok(Self::read(&root)?)
    }

    fn read(root: &JsonNode<'_>) -> Result<Self, Trouble> {
        let start = root.member("start")?;
        let version = start.member("version")?.text()?.to_owned();
        let test = start.member("test_start")?;
        let is_udp = match test.member("protocol")?.text()? {
            "TCP" => false,
            "UDP" => true,
            _ => return Err(test.trouble("is of a protocol that is not understood")),
        };
        let is_reverse = test.optional("reverse")?.map_or(Ok(0), |flag| flag.count())? != 0;
        let end = root.member("end")?;
        let is_both = end.optional("sum_received_bidir_reverse")?.is_some();
        let flow = |suffix: &str, sender: Option<bool>| flow(&end, suffix, is_udp, sender);
        let (outwards, inwards) = match (is_both, is_reverse) {
            (true, _) => (Some(flow("", Some(true))?), Some(flow("_bidir_reverse", Some(false))?)),
            (false, true) => (None, Some(flow("", None)?)),
            (false, false) => (Some(flow("", None)?), None),
        };
        let mut settings = said(&start, |name| OF_SOCKETS.contains(&name))?;
        settings.extend(said(&end, |name| OF_SIDES.contains(&name))?);
        settings.extend(said(&test, |_| true)?);
        let began_unix_s = began_unix_s(&start);
        Ok(Self { version, began_unix_s, outwards, inwards, settings })
    }
}

/// When it began, by what `start` says. What cannot be read as such is no reason to refuse the rest.
fn began_unix_s(start: &JsonNode<'_>) -> Option<u64> {
    let timestamp = start.optional("timestamp").ok().flatten()?;
    timestamp.optional("timesecs").ok().flatten()?.count().ok()
}

/// What is said under names that are asked for; of streams that have different values, each of them.
fn said(
    place: &JsonNode<'_>,
    is_asked: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, Trouble> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let asked = place.members()?.filter(|(name, _)| is_asked(name));
    for (name, value) in asked {
        if values.len() >= MOST_SETTINGS && !values.contains_key(name) {
            continue;
        }
        let number = value.count().map(|count| count.to_string());
        if let Ok(text) = number.or_else(|_| value.text().map(str::to_owned)) {
            values.entry(name).or_default().insert(text);
        }
    }
    let joined = |(name, values): (&str, BTreeSet<String>)| {
        let all = values.into_iter().collect::<Vec<_>>().join(" and ");
        (name.to_owned(), all.chars().take(LONGEST_SETTING).collect())
    };
    Ok(values.into_iter().map(joined).collect())
}

/// Major and minor number of what `iperf3 --version` prints first: `iperf 3.12 (cJSON 1.7.15)`.
pub fn version(answer: &str) -> Option<(u32, u32)> {
    let (major, rest) = answer.trim().strip_prefix("iperf ")?.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// One direction; where both were asked for, its streams are those of which the client is or is
/// not the sender.
fn flow(
    end: &JsonNode<'_>,
    suffix: &str,
    is_udp: bool,
    sender: Option<bool>,
) -> Result<Flow, Trouble> {
    let (sent, received) =
        (end.member(&format!("sum_sent{suffix}"))?, end.member(&format!("sum_received{suffix}"))?);
    let protocol = if is_udp {
        let (expected, lost) =
            (received.member("packets")?.count()?, received.member("lost_packets")?.count()?);
        if lost > expected {
            return Err(received.trouble("has lost more packets than there were"));
        }
        let reordered = reordered(end, sender)?;
        let jitter_ns = received.member("jitter_ms")?.scaled(1e6)?;
        Protocol::Udp(Datagrams { expected, lost, reordered, jitter_ns })
    } else {
        let retransmits = sent.optional("retransmits")?;
        Protocol::Tcp { retransmits: retransmits.map(|place| place.count()).transpose()? }
    };
    Ok(Flow { sent: total(&sent)?, received: total(&received)?, protocol })
}

fn total(place: &JsonNode<'_>) -> Result<Total, Trouble> {
    let (bytes, seconds) = (place.member("bytes")?.count()?, place.member("seconds")?.amount()?);
    if seconds <= 0.0 {
        return Err(place.trouble("took no time"));
    }
    Ok(Total { bytes, seconds })
}

/// Which the sums do not have.
fn reordered(end: &JsonNode<'_>, sender: Option<bool>) -> Result<u64, Trouble> {
    let streams = end.member("streams")?.items()?;
    if streams.len() > MOST_STREAMS {
        let what = format!("has more than {MOST_STREAMS} streams (limit IPERF3_STREAMS)");
        return Err(end.trouble(what));
    }
    let mut sum = 0;
    for stream in streams {
        let stream = stream.member("udp")?;
        if sender.is_none() || sender == Some(stream.member("sender")?.boolean()?) {
            sum += stream.member("out_of_order")?.count()?;
        }
    }
    Ok(sum)
}

/// JSON of iperf3's client.
pub const FORMAT: Format = Format {
    name: "iperf3-json",
    words: &[
        "{\"start\": {\"version\": \"iperf 3.12\", \"test_start\": {",
        "\"protocol\": \"TCP\"",
        "\"protocol\": \"UDP\"",
        "\"reverse\": 1",
        "\"end\": {",
        "\"sum_sent\": {",
        "\"sum_received\": {",
        "\"sum_sent_bidir_reverse\": {",
        "\"sum_received_bidir_reverse\": {",
        "\"bytes\": 4096",
        "\"seconds\": 1.5",
        "\"retransmits\": 3",
        "\"sndbuf_actual\": 16384",
        "\"sender_tcp_congestion\": \"bbr\"",
        "\"packets\": 9",
        "\"lost_packets\": 2",
        "\"jitter_ms\": 0.5",
        "\"streams\": [{\"udp\": {\"out_of_order\": 1, \"sender\": true}}]",
        "\"error\": \"refused\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "-1",
        "1e308",
    ],
    run,
};

/// What is accepted has a rate.
fn run(bytes: &[u8]) -> Reaction {
    let report = Iperf3Report::parse(bytes);
    match &report {
        Ok(report) => {
            assert!(report.outwards.is_some() || report.inwards.is_some(), "no direction");
            for flow in [&report.outwards, &report.inwards].into_iter().flatten() {
                let rate = flow.received.bytes as f64 / flow.received.seconds;
                assert!(flow.received.seconds > 0.0 && !rate.is_nan(), "{flow:?}");
                if let Protocol::Udp(datagrams) = &flow.protocol {
                    assert!(datagrams.lost <= datagrams.expected, "{datagrams:?}");
                    assert!(datagrams.jitter_ns >= 0.0 && datagrams.jitter_ns.is_finite());
                }
            }
        }
        Err(Iperf3Failure::Reported(_)) => {}
        Err(Iperf3Failure::Unreadable(trouble)) => trouble.check(),
    }
    Reaction::of(report.ok().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            &include_bytes!(concat!("../tests/golden/iperf3/", $name, ".json"))[..]
        };
    }

    fn tcp(flow: &Flow) -> (u64, u64, Option<u64>) {
        let Protocol::Tcp { retransmits } = flow.protocol else { panic!("{flow:?}") };
        (flow.sent.bytes, flow.received.bytes, retransmits)
    }

    #[test]
    fn each_direction_has_its_own_numbers() {
        let report = Iperf3Report::parse(golden!("tcp_bidir")).unwrap();
        assert_eq!(report.version, "iperf 3.12");
        let (outwards, inwards) = (report.outwards.unwrap(), report.inwards.unwrap());
        assert_eq!(tcp(&outwards), (854_589_440, 853_278_720, Some(5)));
        assert_eq!(tcp(&inwards), (1_403_781_120, 1_400_242_176, Some(25)));
        assert_eq!(outwards.received.seconds, 1.007_115);
    }

    #[test]
    fn the_other_way_alone_is_told_from_the_usual_one() {
        let report = Iperf3Report::parse(golden!("tcp_reverse_two_streams")).unwrap();
        assert_eq!(report.outwards, None);
        let sums = (1_312_030_720, 1_311_244_288, Some(24));
        assert_eq!(tcp(&report.inwards.unwrap()), sums);
        let report = Iperf3Report::parse(golden!("tcp")).unwrap();
        assert!(report.outwards.is_some() && report.inwards.is_none());
    }

    #[test]
    fn what_sockets_had_is_a_setting_of_all_streams() {
        let settings = |text: &str| Iperf3Report::parse(text.as_bytes()).unwrap().settings;
        let text = String::from_utf8(golden!("tcp_reverse_two_streams").to_vec()).unwrap();
        let told = settings(&text);
        for (name, value) in [
            ("tcp_mss_default", "32768"),
            ("sock_bufsize", "0"),
            ("sndbuf_actual", "16384"),
            ("rcvbuf_actual", "131072"),
            ("sender_tcp_congestion", "bbr"),
            ("receiver_tcp_congestion", "bbr"),
            ("num_streams", "2"),
        ] {
            assert_eq!(told.get(name).map(String::as_str), Some(value), "{name}");
        }
        for name in ["cookie", "system_info", "version"] {
            assert_eq!(told.get(name), None, "{name}");
        }
        // One of two streams has another buffer.
        let (first, second) = text.split_once("\"rcvbuf_actual\":\t131072").unwrap();
        let told = settings(&format!("{first}\"rcvbuf_actual\":\t65536{second}"));
        assert_eq!(told["rcvbuf_actual"], "131072 and 65536");
    }

    #[test]
    fn datagrams_are_lost_and_come_late() {
        let flow = Iperf3Report::parse(golden!("udp_64_bytes")).unwrap().outwards.unwrap();
        let Protocol::Udp(datagrams) = flow.protocol else { panic!("{flow:?}") };
        assert_eq!((datagrams.expected, datagrams.lost), (580_200, 188_821));
        assert_eq!(datagrams.reordered, 0);
        assert!((datagrams.jitter_ns - 812.170_8).abs() < 1e-3, "{datagrams:?}");
        assert_eq!(flow.received.bytes, 64 * (datagrams.expected - datagrams.lost));
    }

    #[test]
    fn datagrams_of_both_directions_are_told_apart() {
        let report = Iperf3Report::parse(golden!("udp_bidir")).unwrap();
        let datagrams = |flow: Option<Flow>| match flow.unwrap().protocol {
            Protocol::Udp(datagrams) => datagrams,
            Protocol::Tcp { .. } => panic!("no datagrams"),
        };
        let (outwards, inwards) = (datagrams(report.outwards), datagrams(report.inwards));
        assert_eq!((outwards.expected, inwards.expected), (31, 31));
        assert!(outwards.jitter_ns > inwards.jitter_ns);
    }

    #[test]
    fn what_iperf3_says_of_its_failure_is_the_failure() {
        let failure = Iperf3Report::parse(golden!("refused")).unwrap_err();
        let said = "unable to connect to server: Connection refused";
        assert_eq!(failure, Iperf3Failure::Reported(said.to_owned()));
    }

    #[test]
    fn what_is_missing_is_named_by_its_path() {
        let whole = String::from_utf8(golden!("tcp").to_vec()).unwrap();
        for (what, instead, cause) in [
            ("\"test_start\"", "\"started\"", "start has no `test_start`"),
            ("\"TCP\"", "\"SCTP\"", "start.test_start is of a protocol that is not understood"),
            ("\"sum_received\"", "\"received\"", "end has no `sum_received`"),
            ("\"bytes\"", "\"octets\"", "end.sum_sent has no `bytes`"),
            ("\"seconds\":\t1.00083,", "\"seconds\":\t0,", "end.sum_sent took no time"),
        ] {
            assert!(whole.contains(what), "{what}");
            let failure = Iperf3Report::parse(whole.replace(what, instead).as_bytes()).unwrap_err();
            let Iperf3Failure::Unreadable(trouble) = failure else { panic!("{failure:?}") };
            assert_eq!(trouble.cause, cause);
        }
        let without = whole.replace("\"retransmits\"", "\"unknown\"");
        let flow = Iperf3Report::parse(without.as_bytes()).unwrap().outwards.unwrap();
        assert_eq!(flow.protocol, Protocol::Tcp { retransmits: None });
    }

    #[test]
    fn versions_are_numbers() {
        assert_eq!(version("iperf 3.12 (cJSON 1.7.15)\nLinux"), Some((3, 12)));
        assert_eq!(version("iperf 3.1b2"), Some((3, 1)));
        assert_eq!(version("iperf version 2.1.9"), None);
    }
}
