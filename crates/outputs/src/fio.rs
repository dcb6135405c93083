//! What fio prints with `--output-format=json` or `json+`.

mod option_values;

use crate::format::{Format, Reaction};
use crate::json::{Json, JsonNode};
use crate::percentile::Percentile;
use crate::trouble::Trouble;
use model::Histogram;
use std::collections::BTreeMap;

/// Percentiles that are read where fio printed percentiles.
pub const PERCENTILES: [Percentile; 4] =
    [Percentile::whole(50), Percentile::whole(90), Percentile::whole(99), Percentile::P999];

/// More jobs than this in one file are hostile; a distribution takes a quarter of a megabyte.
const MOST_JOBS: usize = 500;
/// More I/Os than this take years; below it sums of counts do not overflow.
const MOST_EVENTS: u64 = 1 << 53;

/// Which way bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoDirection {
    /// From the device.
    Read,
    /// To the device.
    Write,
    /// Blocks were given up.
    Trim,
}

impl IoDirection {
    /// In fio's order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// As fio calls it: `read`, `write` or `trim`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// What one execution of fio measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FioReport {
    /// What fio calls its version (`fio-3.33`), where the file tells.
    pub version: Option<String>,
    /// When fio wrote it: milliseconds since 1970, where the file tells.
    pub written_unix_ms: Option<u64>,
    /// Jobs by name and direction, in the order of the file; never none.
    pub streams: Vec<FioStream>,
    /// Names of jobs that did no I/O, one for each entry.
    pub idle: Vec<String>,
    /// Whether some job waited for its queue: it has no `rate_process`.
    pub is_closed_loop: bool,
    /// Options of its jobs, by job and option (`job bs`), but for names of files; equal sizes and
    /// times in one spelling. Devices that a job names are its `devices`.
    pub settings: BTreeMap<String, String>,
}

/// All entries of one name, group and direction: they ran at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct FioStream {
    /// The job's name.
    pub job: String,
    /// Its reporting group; groups may have run one after the other.
    pub group: u64,
    /// Which way.
    pub direction: IoDirection,
    /// What it did, or the error code that fio reported.
    pub outcome: Result<Traffic, i64>,
}

/// What a stream did.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// I/Os that were completed; at least one.
    pub completed: u64,
    /// I/Os in a second, over time.
    pub rate: f64,
    /// Bytes in a second, over time.
    pub bandwidth: f64,
    /// How long I/Os took.
    pub latency: FioLatency,
}

/// What is known about a latency.
#[derive(Debug, Clone, PartialEq)]
pub enum FioLatency {
    /// Nothing.
    Absent,
    /// Every I/O, in nanoseconds (`json+`).
    Distribution {
        /// `clat` (completion), or `lat` (with submission).
        name: &'static str,
        /// The bins.
        histogram: Histogram,
    },
    /// Percentiles only, in nanoseconds.
    Printed {
        /// `clat` (completion), or `lat` (with submission).
        name: &'static str,
        /// I/Os they were taken from.
        count: u64,
        /// Those of [`PERCENTILES`] that were printed.
        values: Vec<(Percentile, f64)>,
    },
    /// Percentiles of several entries, which cannot be combined.
    Uncombinable,
}

/// Options that name something, and change no work; what of `filename` is a device is told apart.
const NO_SETTINGS: [&str; 7] =
    ["name", "filename", "directory", "description", "output", "opendir", "filename_format"];
/// Settings that are kept, and the longest of them.
const MOST_SETTINGS: usize = 1_000;
const LONGEST_SETTING: usize = 60;
/// More options for all jobs than these nobody gives; each is asked again for every job.
const MOST_GLOBAL_OPTIONS: usize = 1_000;
/// Characters of a job's name before its settings; a longer one is no name of a level.
const LONGEST_JOB: usize = 200;
/// Longest text of devices: names by id end with what tells two of one make apart.
const LONGEST_DEVICES: usize = 400;
/// What is said of a job that names no device.
const NO_DEVICE: &str = "none named";

impl FioReport {
    /// Reads what fio printed; lines of notes may come before it.
    ///
    /// # Errors
    /// When it is not fio's JSON, a number is missing, negative or not finite, or no job
    /// did any I/O; with its line or its place.
    pub fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        let json = Json::parse(without_notes(bytes))?;
        let root = JsonNode::root(&json);
        let jobs = root.member("jobs")?.items()?;
        if jobs.len() > MOST_JOBS {
            let cause = format!("more than {MOST_JOBS} jobs (limit FIO_JOBS)");
            return Err(Trouble::new(cause, "let fio report groups (group_reporting)"));
        }
        let jobs: Vec<JsonNode<'_>> = jobs.collect();
        let version = root.optional("fio version")?.map(|place| place.text().map(str::to_owned));
        let mut report = Self {
            version: version.transpose()?,
            written_unix_ms: written_unix_ms(&root),
            streams: Vec::new(),
            idle: Vec::new(),
            is_closed_loop: false,
            settings: BTreeMap::new(),
        };
        let global = global_options(&root)?;
        for entries in gathered(global.as_ref(), &jobs, &mut report)? {
            report.streams.push(entries.stream()?);
        }
        if report.streams.is_empty() {
            return Err(Trouble::new("no job in it did any I/O", "give a file with results"));
        }
        Ok(report)
    }
}

/// The options of all jobs, which are looked for once: a file may have millions of members.
fn global_options<'a>(root: &JsonNode<'a>) -> Result<Option<JsonNode<'a>>, Trouble> {
    let Some(global) = root.optional("global options")? else { return Ok(None) };
    if global.members()?.len() > MOST_GLOBAL_OPTIONS {
        let cause = format!("more than {MOST_GLOBAL_OPTIONS} global options (limit FIO_OPTIONS)");
        return Err(Trouble::new(cause, "give the file as fio wrote it"));
    }
    Ok(Some(global))
}

/// When fio wrote this, to the millisecond or, where it does not tell that, to the second. What cannot
/// be read as such is no reason to refuse the rates.
fn written_unix_ms(root: &JsonNode<'_>) -> Option<u64> {
    let count = |name: &str| root.optional(name).ok().flatten()?.count().ok();
    count("timestamp_ms").or_else(|| count("timestamp")?.checked_mul(1_000))
}

/// Major and minor number of what `fio --version` prints: `fio-3.33`, `fio-3.36-12-g1234`.
pub fn version(answer: &str) -> Option<(u32, u32)> {
    let digits = answer.trim().strip_prefix("fio-")?;
    let (major, rest) = digits.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The entries of one stream.
struct Entries<'a> {
    job: &'a str,
    group: u64,
    direction: IoDirection,
    /// Their parts for this direction; more than one where `numjobs` were not grouped.
    parts: Vec<JsonNode<'a>>,
    error: Option<i64>,
}

/// Skips the lines that fio writes before its JSON.
fn without_notes(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while rest.starts_with(b"fio:") || rest.starts_with(b"note:") {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    rest
}

/// Entries by name and direction, in the order of the file.
fn gathered<'a>(
    global: Option<&JsonNode<'a>>,
    jobs: &[JsonNode<'a>],
    report: &mut FioReport,
) -> Result<Vec<Entries<'a>>, Trouble> {
    let mut streams: Vec<Entries<'_>> = Vec::new();
    let mut groups: Vec<(&str, u64)> = Vec::new();
    for job in jobs {
        let name = job.member("jobname")?.text()?;
        let group = job.optional("groupid")?.map_or(Ok(0), |group| group.count())?;
        match groups.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known != group => {
                let what = format!("is called {name} like a job of another group");
                return Err(job.trouble(what));
            }
            Some(_) => {}
            None => groups.push((name, group)),
        }
        let error = job.optional("error")?.map_or(Ok(0), |error| error.code())?;
        let error = (error != 0).then_some(error);
        let directions = active(global, job, error.is_some())?;
        if directions.is_empty() {
            report.idle.push(name.to_owned());
        }
        settings(global, job, name, &mut report.settings)?;
        report.is_closed_loop |= option(global, job, "rate_process")?.is_none();
        for (direction, part) in directions {
            let known = streams
                .iter_mut()
                .find(|stream| (stream.job, stream.direction) == (name, direction));
            match known {
                Some(stream) => {
                    stream.parts.push(part);
                    stream.error = stream.error.or(error);
                }
                None => {
                    streams.push(Entries { job: name, group, direction, parts: vec![part], error })
                }
            }
        }
    }
    Ok(streams)
}

/// The directions in which a job did any I/O; of one that failed before it did, those
/// it was asked for.
fn active<'a>(
    global: Option<&JsonNode<'a>>,
    job: &JsonNode<'a>,
    is_failed: bool,
) -> Result<Vec<(IoDirection, JsonNode<'a>)>, Trouble> {
    let mut active = Vec::new();
    for direction in IoDirection::ALL {
        if let Some(part) = job.optional(direction.name())?
            && part.member("total_ios")?.count()? > 0
        {
            active.push((direction, part));
        }
    }
    if active.is_empty() && is_failed {
        // `read` is what fio does where nothing is said.
        let asked = option(global, job, "rw")?.map_or(Ok("read"), |asked| asked.text())?;
        let is_mixed = asked.contains("rw") || asked.contains("readwrite");
        let is_asked = |direction: &IoDirection| {
            asked.contains(direction.name()) || (is_mixed && *direction != IoDirection::Trim)
        };
        active.extend(
            IoDirection::ALL.into_iter().filter(is_asked).map(|direction| (direction, job.clone())),
        );
    }
    Ok(active)
}

/// Every option of a job, and of all jobs, but for those that name files, and the devices it names.
fn settings(
    global: Option<&JsonNode<'_>>,
    job: &JsonNode<'_>,
    name: &str,
    settings: &mut BTreeMap<String, String>,
) -> Result<(), Trouble> {
    let base = option(global, job, "kb_base")?.and_then(|base| base.text().ok()?.parse().ok());
    let base = base.unwrap_or(option_values::KB_BASE);
    let name = shortened(name, LONGEST_JOB);
    let own = job.optional("job options")?;
    let mut has_options = false;
    // A job's own option counts before that of all jobs.
    for options in global.into_iter().chain(&own) {
        has_options = true;
        for (option, value) in options.members()? {
            let is_name = NO_SETTINGS.contains(&option) || option.ends_with("_log");
            if is_name || settings.len() >= MOST_SETTINGS {
                continue;
            }
            let Ok(value) = value.text() else { continue };
            let value = option_values::canonical(option, value, base);
            let option = shortened(option, LONGEST_SETTING);
            settings.insert(format!("{name} {option}"), shortened(&value, LONGEST_SETTING));
        }
    }
    if has_options && settings.len() < MOST_SETTINGS {
        settings.insert(format!("{name} devices"), devices(global, job)?);
    }
    Ok(())
}

/// The beginning of a text: what stands once in a file may be held for each job.
fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// What a job is to open, where a device is among it: another device is other work, and another
/// file need not be.
fn devices(global: Option<&JsonNode<'_>>, job: &JsonNode<'_>) -> Result<String, Trouble> {
    let names = option(global, job, "filename")?.and_then(|names| names.text().ok());
    let Some(names) = names.filter(|names| names.split(':').any(is_device)) else {
        return Ok(NO_DEVICE.to_owned());
    };
    Ok(shortened(names, LONGEST_DEVICES))
}

/// Whether a name is one of devices; below `/dev/shm` lie files of tmpfs.
fn is_device(name: &str) -> bool {
    let name = name.trim_start();
    name.starts_with("/dev/") && !name.starts_with("/dev/shm/")
}

/// An option of a job, or of all jobs.
fn option<'a>(
    global: Option<&JsonNode<'a>>,
    job: &JsonNode<'a>,
    name: &str,
) -> Result<Option<JsonNode<'a>>, Trouble> {
    let own = job.optional("job options")?;
    for options in own.iter().chain(global) {
        if let Some(found) = options.optional(name)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Entries<'_> {
    fn stream(&self) -> Result<FioStream, Trouble> {
        let outcome = match self.error {
            Some(error) => Err(error),
            None => Ok(self.traffic()?),
        };
        let (group, direction) = (self.group, self.direction);
        Ok(FioStream { job: self.job.to_owned(), group, direction, outcome })
    }

    fn traffic(&self) -> Result<Traffic, Trouble> {
        let (mut completed, mut rate, mut bandwidth) = (0_u64, 0.0, 0.0);
        for part in &self.parts {
            completed = completed.saturating_add(part.member("total_ios")?.count()?);
            rate += part.member("iops")?.amount()?;
            bandwidth += match part.optional("bw_bytes")? {
                Some(bytes) => bytes.amount()?,
                None => part.member("bw")?.scaled(1024.0)?,
            };
        }
        for (name, value) in [("iops", rate), ("bandwidth", bandwidth)] {
            if !value.is_finite() {
                return Err(self.parts[0].trouble(format_args!("has too large a sum of {name}")));
            }
        }
        Ok(Traffic { completed, rate, bandwidth, latency: self.latency()? })
    }

    fn latency(&self) -> Result<FioLatency, Trouble> {
        let mut name = None;
        let mut known = FioLatency::Absent;
        for part in &self.parts {
            let Some((found, place)) = latency_of(part)? else { continue };
            if *name.get_or_insert(found) != found {
                return Err(place.trouble("is another latency than that of the entry before"));
            }
            known = match (known, FioLatency::of(found, &place)?) {
                (FioLatency::Absent, latency) => latency,
                (
                    FioLatency::Distribution { name, mut histogram },
                    FioLatency::Distribution { histogram: other, .. },
                ) => {
                    histogram.merge(&other);
                    histogram.shrink();
                    FioLatency::Distribution { name, histogram }
                }
                _ => return Ok(FioLatency::Uncombinable),
            };
        }
        Ok(known)
    }
}

/// Completion latency, or total latency where its percentiles were asked for.
fn latency_of<'a>(part: &JsonNode<'a>) -> Result<Option<(&'static str, JsonNode<'a>)>, Trouble> {
    for (name, key) in [("clat", "clat_ns"), ("lat", "lat_ns")] {
        if let Some(place) = part.optional(key)?
            && (place.optional("percentile")?.is_some() || place.optional("bins")?.is_some())
        {
            return Ok(Some((name, place)));
        }
    }
    if part.optional("clat")?.is_some() {
        return Err(part.trouble("has `clat` in microseconds, as fio 2 wrote it"));
    }
    Ok(None)
}

impl FioLatency {
    fn of(name: &'static str, place: &JsonNode<'_>) -> Result<Self, Trouble> {
        if let Some(bins) = place.optional("bins")? {
            return Ok(Self::Distribution { name, histogram: distribution(&bins)? });
        }
        let count = place.member("N")?.count()?;
        let mut values = Vec::new();
        for (key, value) in place.member("percentile")?.members()? {
            let percentile = Percentile::parse(key);
            let Some(percentile) = percentile.filter(|known| PERCENTILES.contains(known)) else {
                continue;
            };
            if values.iter().any(|(known, _)| *known == percentile) {
                return Err(value.trouble("is a percentile that is given twice"));
            }
            values.push((percentile, value.amount()?));
        }
        Ok(Self::Printed { name, count, values })
    }
}

fn distribution(bins: &JsonNode<'_>) -> Result<Histogram, Trouble> {
    let mut histogram = Histogram::new();
    let mut events = 0_u64;
    for (key, place) in bins.members()? {
        let value = key.parse::<u64>().map_err(|_| place.trouble("has no nanoseconds as key"))?;
        let count = place.count()?;
        events += count;
        if events > MOST_EVENTS {
            return Err(place.trouble("makes more I/Os than can be"));
        }
        histogram.record_many(value, count);
    }
    // A file has one for each direction of hundreds of jobs.
    histogram.shrink();
    Ok(histogram)
}

/// fio's JSON, with and without its text around it.
pub(crate) const FORMAT: Format = Format {
    name: "fio-json",
    words: &[
        "\"jobs\": [",
        "{\"jobname\": \"a\"",
        "\"groupid\": 1",
        "\"error\": 5",
        "\"read\": {",
        "\"write\": {",
        "\"total_ios\": 9",
        "\"iops\": 1",
        "\"bw\": 1",
        "\"bw_bytes\": 1",
        "\"clat_ns\": {",
        "\"lat_ns\": {",
        "\"bins\": {\"5\": 500}",
        "\"percentile\": {\"99.000000\": 5}",
        "\"N\": 5000",
        "\"job options\": {\"rw\": \"randrw\"}",
        "\"rate_process\"",
        "fio: \n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "\n----\n",
        "-1",
        "1e308",
    ],
    run,
};

/// What is accepted has jobs, whose rates are numbers.
fn run(bytes: &[u8]) -> Reaction {
    let report = FioReport::parse(bytes);
    match &report {
        Ok(report) => {
            assert!(!report.streams.is_empty(), "no job did anything");
            let traffic = report.streams.iter().filter_map(|stream| stream.outcome.as_ref().ok());
            for traffic in traffic {
                assert!(traffic.rate.is_finite() && traffic.bandwidth.is_finite(), "{traffic:?}");
            }
        }
        Err(trouble) => trouble.check(),
    }
    Reaction::of(report.ok().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(jobs: &str) -> String {
        let trouble = FioReport::parse(format!("{{\"jobs\": {jobs}}}").as_bytes()).unwrap_err();
        assert!(!trouble.remedy.is_empty());
        trouble.cause
    }

    fn job(latency: &str) -> String {
        format!(
            r#"[{{"jobname": "a", "read": {{"total_ios": 9, "iops": 2.5, "bw": 4, {latency}}}}}]"#
        )
    }

    #[test]
    fn the_time_of_a_file_is_told_to_the_millisecond_or_the_second_or_not_at_all() {
        let time = |fields: &str| {
            let text = format!(r#"{{{fields} "jobs": {}}}"#, job("\"lat_ns\": {}"));
            FioReport::parse(text.as_bytes()).unwrap().written_unix_ms
        };
        assert_eq!(
            time(r#""timestamp": 1795207921, "timestamp_ms": 1795207921751,"#),
            Some(1_795_207_921_751)
        );
        assert_eq!(time(r#""timestamp": 1795207921,"#), Some(1_795_207_921_000));
        assert_eq!(time(r#""timestamp": "noon","#), None);
        assert_eq!(time(""), None);
    }

    #[test]
    fn a_stream_says_what_it_did_and_how_long_it_took() {
        let text = r#"note: queue depth will be capped
{"fio version": "fio-3.33", "jobs": [
 {"jobname": "a", "groupid": 2, "write": {"total_ios": 3, "iops": 2.5, "bw_bytes": 4096,
  "clat_ns": {"bins": {"500": 2, "900": 1}}}},
 {"jobname": "b", "error": 5, "job options": {"rw": "randrw"}},
 {"jobname": "c", "read": {"total_ios": 0}}]}"#;
        let report = FioReport::parse(text.as_bytes()).unwrap();
        assert_eq!(report.version.as_deref(), Some("fio-3.33"));
        assert_eq!(report.idle, ["c"]);
        assert!(report.is_closed_loop);
        let failed: Vec<_> = report.streams[1..]
            .iter()
            .map(|stream| (stream.direction, stream.outcome.clone().unwrap_err()))
            .collect();
        assert_eq!(failed, [(IoDirection::Read, 5), (IoDirection::Write, 5)]);
        let FioStream { job, group, direction, outcome } = &report.streams[0];
        assert_eq!((job.as_str(), *group, *direction), ("a", 2, IoDirection::Write));
        let traffic = outcome.as_ref().unwrap();
        assert_eq!((traffic.completed, traffic.rate, traffic.bandwidth), (3, 2.5, 4096.0));
        let FioLatency::Distribution { name, histogram } = &traffic.latency else {
            panic!("no bins: {traffic:?}")
        };
        assert_eq!((*name, histogram.count()), ("clat", 3));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (jobs, expected) in [
            ("[]", "no job in it did any I/O"),
            ("{}", "jobs is no list"),
            ("[{}]", "jobs[0] has no `jobname`"),
            ("[{\"jobname\": \"a\", \"read\": {}}]", "jobs[0].read has no `total_ios`"),
            (
                "[{\"jobname\": \"a\"}, {\"jobname\": \"a\", \"groupid\": 1}]",
                "jobs[1] is called a like a job of another group",
            ),
            (
                "[{\"jobname\": \"a\", \"read\": {\"total_ios\": 1, \"iops\": -1}}]",
                "jobs[0].read.iops is -1, and cannot be negative",
            ),
        ] {
            assert_eq!(cause(jobs), expected);
        }
        for (latency, expected) in [
            (r#""clat": {"mean": 3}"#, " has `clat` in microseconds, as fio 2 wrote it"),
            (r#""clat_ns": {"bins": {"x": 1}}"#, ".clat_ns.bins.x has no nanoseconds as key"),
            (r#""clat_ns": {"bins": {"1": -1}}"#, ".clat_ns.bins.1 is no count"),
            (r#""clat_ns": {"bins": {"1": 9e99}}"#, ".clat_ns.bins.1 is no count"),
            (
                r#""clat_ns": {"bins": {"1": 9007199254740992, "2": 1}}"#,
                ".clat_ns.bins.2 makes more I/Os than can be",
            ),
            (r#""clat_ns": {"percentile": {}}"#, ".clat_ns has no `N`"),
            (
                r#""clat_ns": {"N": 99, "percentile": {"50.0": "x"}}"#,
                ".clat_ns.percentile.50.0 is no number",
            ),
            (
                r#""clat_ns": {"N": 99, "percentile": {"50.0": 1, "50": 1}}"#,
                ".clat_ns.percentile.50 is a percentile that is given twice",
            ),
        ] {
            assert_eq!(cause(&job(latency)), format!("jobs[0].read{expected}"));
        }
    }

    #[test]
    fn a_version_is_read_or_none() {
        for (answer, expected) in [
            ("fio-3.33\n", Some((3, 33))),
            ("fio-3.36-12-gdeadbe", Some((3, 36))),
            ("fio-2.2.10", Some((2, 2))),
            ("fio 3.33", None),
            ("fio-x.1", None),
            ("", None),
        ] {
            assert_eq!(version(answer), expected, "{answer}");
        }
    }

    #[test]
    fn more_jobs_than_anybody_runs_are_refused() {
        let jobs = vec![r#"{"jobname": "a"}"#; MOST_JOBS + 1].join(",");
        assert_eq!(cause(&format!("[{jobs}]")), "more than 500 jobs (limit FIO_JOBS)");
    }

    #[test]
    fn more_options_for_all_jobs_than_anybody_gives_are_refused_and_long_names_are_held_short() {
        let with = |options: usize, name: &str| {
            let of_all: Vec<String> =
                (0..options).map(|number| format!("\"o{number}\": \"1\"")).collect();
            let job = job(r#""clat_ns": {}"#).replace("\"a\"", &format!("\"{name}\""));
            let text = format!(r#"{{"global options": {{{}}}, "jobs": {job}}}"#, of_all.join(","));
            FioReport::parse(text.as_bytes()).map_err(|trouble| trouble.cause)
        };
        assert_eq!(with(1_000, "a").unwrap().settings.len(), MOST_SETTINGS);
        let told = "more than 1000 global options (limit FIO_OPTIONS)";
        assert_eq!(with(1_001, "a"), Err(told.to_owned()));
        let long = "x".repeat(5_000);
        let settings = with(3, &long).unwrap().settings;
        assert!(settings.keys().all(|key| key.len() < 300), "{settings:?}");
    }
}
