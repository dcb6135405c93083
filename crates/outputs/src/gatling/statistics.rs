//! The summary of a run: `stats.json` with each request, or `global_stats.json` of all together.

use super::{MOST_NAMES, one_line};
use crate::json::{Json, JsonNode};
use crate::percentile::Percentile;
use crate::trouble::Trouble;

/// What `percentiles1` to `percentiles4` are where `gatling.conf` says nothing else; a summary
/// does not tell.
pub const PERCENTILES: [Percentile; 4] =
    [Percentile::whole(50), Percentile::whole(75), Percentile::whole(95), Percentile::whole(99)];

/// A summary.
#[derive(Debug, Clone, PartialEq)]
pub struct GatlingSummary {
    /// All requests together.
    pub all: RequestStatistics,
    /// Each name of requests with its groups, in the order of the file; none in
    /// `global_stats.json`.
    pub kinds: Vec<RequestStatistics>,
}

/// What became of requests of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestStatistics {
    /// With its groups: `cart / list`.
    pub name: String,
    /// Those with a right answer; none where none had one.
    pub ok: Option<ResponseTimes>,
    /// Those that failed; none where none did.
    pub failed: Option<ResponseTimes>,
}

/// Times of requests, in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResponseTimes {
    /// Requests; at least one.
    pub count: u64,
    /// The shortest.
    pub min_ms: u64,
    /// The longest.
    pub max_ms: u64,
    /// Their mean.
    pub mean_ms: u64,
    /// Their standard deviation.
    pub deviation_ms: u64,
    /// See [`PERCENTILES`].
    pub percentiles_ms: [u64; 4],
    /// In a second, over the whole run; above zero.
    pub rate: f64,
}

impl GatlingSummary {
    /// Reads a summary.
    ///
    /// # Errors
    /// When it is not Gatling's JSON, or a number is missing, not a whole one, or contradicts
    /// another; with its line or its place.
    pub fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        let json = Json::parse(bytes)?;
        let root = JsonNode::root(&json);
        // `global_stats.json` is what `stats.json` has under `stats`.
        let Some(stats) = root.optional("stats")? else {
            return Ok(Self { all: RequestStatistics::of(&root)?, kinds: Vec::new() });
        };
        let mut kinds = Vec::new();
        gather(&root, &mut kinds)?;
        Ok(Self { all: RequestStatistics::of(&stats)?, kinds })
    }
}

/// The requests of a group, with those of groups in it. They nest no deeper than the JSON may.
fn gather(group: &JsonNode<'_>, kinds: &mut Vec<RequestStatistics>) -> Result<(), Trouble> {
    let Some(contents) = group.optional("contents")? else { return Ok(()) };
    for (_, place) in contents.members()? {
        match place.member("type")?.text()? {
            "GROUP" => gather(&place, kinds)?,
            "REQUEST" => {
                let name = one_line(place.member("path")?.text()?);
                if kinds.iter().any(|known| known.name == name) {
                    return Err(place.trouble("has the path of a request before it"));
                }
                let stats = RequestStatistics::of(&place.member("stats")?)?;
                kinds.push(RequestStatistics { name, ..stats });
            }
            _ => return Err(place.trouble("is neither a group nor a request")),
        }
        if kinds.len() > MOST_NAMES {
            let cause = format!("more than {MOST_NAMES} names of requests (limit GATLING_NAMES)");
            return Err(Trouble::new(cause, "give requests of one kind one name, without ids"));
        }
    }
    Ok(())
}

impl RequestStatistics {
    fn of(stats: &JsonNode<'_>) -> Result<Self, Trouble> {
        let counts = stats.member("numberOfRequests")?;
        let count = |which: &str| counts.member(which)?.count();
        let (ok, failed) = (count("ok")?, count("ko")?);
        if ok + failed != count("total")? {
            return Err(counts.trouble("has another total than the sum of ok and ko"));
        }
        let name = one_line(stats.member("name")?.text()?);
        let (ok, failed) =
            (ResponseTimes::of(stats, "ok", ok)?, ResponseTimes::of(stats, "ko", failed)?);
        Ok(Self { name, ok, failed })
    }
}

impl ResponseTimes {
    /// Of nothing Gatling writes zeros, which are none.
    fn of(stats: &JsonNode<'_>, which: &str, count: u64) -> Result<Option<Self>, Trouble> {
        if count == 0 {
            return Ok(None);
        }
        let place = |name: &str| stats.member(name)?.member(which);
        let time = |name: &str| place(name)?.count();
        let figures = Self {
            count,
            min_ms: time("minResponseTime")?,
            max_ms: time("maxResponseTime")?,
            mean_ms: time("meanResponseTime")?,
            deviation_ms: time("standardDeviation")?,
            percentiles_ms: [
                time("percentiles1")?,
                time("percentiles2")?,
                time("percentiles3")?,
                time("percentiles4")?,
            ],
            rate: place("meanNumberOfRequestsPerSecond")?.amount()?,
        };
        if !(figures.min_ms..=figures.max_ms).contains(&figures.mean_ms) {
            let what = format!("of {which} has a mean beyond its shortest or longest time");
            return Err(stats.trouble(what));
        }
        if figures.rate == 0.0 {
            return Err(
                stats.trouble(format_args!("of {which} has requests, and none in a second"))
            );
        }
        Ok(Some(figures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            &include_bytes!(concat!("../../tests/golden/gatling/", $name, ".json"))[..]
        };
    }

    #[test]
    fn a_summary_tells_right_answers_from_failures() {
        let summary = GatlingSummary::parse(golden!("ko-3.10.3.stats")).unwrap();
        assert_eq!(summary.all.name, "All Requests");
        let names: Vec<&str> = summary.kinds.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["create", "balance", "transfer", "history"]);
        let figures = ResponseTimes {
            count: 79,
            min_ms: 4955,
            max_ms: 8105,
            mean_ms: 6448,
            deviation_ms: 694,
            percentiles_ms: [6563, 6909, 7547, 7901],
            rate: 2.925_925_925_925_926,
        };
        assert_eq!(summary.kinds[0].ok, Some(figures));
        assert_eq!(summary.kinds[0].failed.unwrap().count, 85);
        let global = GatlingSummary::parse(golden!("ko-3.10.3.global_stats")).unwrap();
        assert_eq!((global.all, global.kinds), (summary.all, Vec::new()));
    }

    #[test]
    fn requests_in_groups_have_their_names_and_zeros_of_nothing_are_none() {
        let summary = GatlingSummary::parse(golden!("small-3.10.3.stats")).unwrap();
        let count = |figures: Option<ResponseTimes>| figures.map_or(0, |figures| figures.count);
        let kinds = summary.kinds.iter();
        let kinds: Vec<_> =
            kinds.map(|kind| (kind.name.as_str(), count(kind.ok), count(kind.failed))).collect();
        assert_eq!(
            kinds,
            [
                ("shop  small / cart / Überweisung 5 €", 12, 0),
                ("shop  small / list", 12, 0),
                ("GET /missing/{id}", 0, 12),
                ("drop", 0, 12),
                ("slow one", 12, 0),
            ]
        );
        assert_eq!(summary.kinds[2].ok, None);
        let global = GatlingSummary::parse(golden!("small-3.10.3.global_stats")).unwrap();
        assert_eq!(global.all, summary.all);
    }

    /// The log and the summary of the same run.
    #[test]
    fn a_summary_counts_as_the_log_does() {
        let bytes = &include_bytes!("../../tests/golden/gatling/small-3.10.3.log")[..];
        let log = crate::gatling::Log::parse(bytes).unwrap();
        let summary = GatlingSummary::parse(golden!("small-3.10.3.stats")).unwrap();
        for kind in log.kinds(0..u64::MAX) {
            let stated = summary.kinds.iter().find(|stated| *stated.name == *kind.name).unwrap();
            let Some(ok) = stated.ok else {
                assert_eq!(kind.failed(), stated.failed.unwrap().count);
                continue;
            };
            assert_eq!(kind.latency.count(), ok.count);
            let max_ms = kind.latency.max().unwrap() as f64 / 1e6;
            assert!((max_ms - ok.max_ms as f64).abs() < 1.0, "{max_ms} {ok:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        let whole = String::from_utf8(golden!("ko-3.10.3.stats").to_vec()).unwrap();
        for (what, instead, cause) in [
            (
                "\"total\": 2952",
                "\"total\": 2951",
                "stats.numberOfRequests has another total than the sum of ok and ko",
            ),
            ("\"ok\": 275", "\"ok\": \"275\"", "stats.numberOfRequests.ok is no count"),
            ("\"minResponseTime\"", "\"min\"", "stats has no `minResponseTime`"),
            (
                "\"ok\": 6448",
                "\"ok\": 9448",
                "contents.req_create--1352294148.stats of ok has a mean beyond its shortest or longest time",
            ),
            (
                "\"REQUEST\"",
                "\"PAUSE\"",
                "contents.req_create--1352294148 is neither a group nor a request",
            ),
            (
                "\"path\": \"balance\"",
                "\"path\": \"create\"",
                "contents.req_balance--339185956 has the path of a request before it",
            ),
            (
                "\"ok\": 2.9",
                "\"ok\": -2.9",
                "contents.req_create--1352294148.stats.meanNumberOfRequestsPerSecond.ok is -2.925925925925926, and cannot be negative",
            ),
        ] {
            assert!(whole.contains(what), "{what}");
            let changed = whole.replacen(what, instead, 1);
            assert_eq!(GatlingSummary::parse(changed.as_bytes()).unwrap_err().cause, cause);
        }
        let cause = GatlingSummary::parse(b"{}").unwrap_err().cause;
        assert_eq!(cause, "the file has no `numberOfRequests`");
    }
}
