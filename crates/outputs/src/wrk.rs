//! What wrk 4.1 prints, with `--latency` or without.
//!
//! Its latencies are not those that it measured alone: wrk adds latencies that its own pauses
//! hid, as it supposes, and leaves out answers that came after the timeout. An answer with a
//! status of 400 or more is one like any other.

use crate::format::{Format, Reaction};
use crate::percentile::Percentile;
use crate::trouble::Trouble;

/// Those that `--latency` prints.
pub const PERCENTILES: [Percentile; 4] =
    [Percentile::whole(50), Percentile::whole(75), Percentile::whole(90), Percentile::whole(99)];

const NS_PER_US: u64 = 1_000;
/// Units of times, in nanoseconds.
const TIMES: [(&str, u64); 5] = [
    ("us", NS_PER_US),
    ("ms", 1_000 * NS_PER_US),
    ("s", 1_000_000 * NS_PER_US),
    ("m", 60_000_000 * NS_PER_US),
    ("h", 3_600_000_000 * NS_PER_US),
];
/// Units of sizes, before the B.
const SIZES: [(&str, f64); 6] = [
    ("", 1.0),
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("T", 1_099_511_627_776.0),
    ("P", 1_125_899_906_842_624.0),
];
/// Every number but a count has so many digits after its point.
const DIGITS: usize = 2;
/// Counts beyond this are not exact as floating-point numbers, and nobody counts so far.
const LARGEST_COUNT: u64 = 1 << 53;
/// How what it says of a run begins.
const BEGINS: &str = "Running ";
/// How what it says begins where it did not run.
const COMPLAINTS: [&str; 4] =
    ["unable to ", "invalid URL: ", "number of connections must be ", "Usage: wrk "];
const REMEDY: &str = "give all that wrk 4.1 printed";

/// What one execution says.
#[derive(Debug, Clone, PartialEq)]
pub struct WrkReport {
    /// What was asked for.
    pub url: String,
    /// For how long, as wrk writes it (`10s`).
    pub duration: String,
    /// Threads of the generator.
    pub threads: u64,
    /// Connections of all threads.
    pub connections: u64,
    /// Answers, also wrong and late ones.
    pub answers: u64,
    /// Measured time; above zero.
    pub seconds: f64,
    /// Answers in a second.
    pub rate: f64,
    /// Bytes that were read in a second.
    pub transfer: f64,
    /// Answers with a status of 400 or more.
    pub wrong: u64,
    /// What went wrong with connections.
    pub errors: Errors,
    /// None where no answer came in time.
    pub latency: Option<WrkLatency>,
}

/// What went wrong with connections, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// That were not made.
    pub connect: u64,
    /// That broke before an answer was whole.
    pub read: u64,
    /// That broke before a request was sent.
    pub write: u64,
    /// Answers that came after the timeout.
    pub timeout: u64,
}

/// Latencies, with what wrk added and without what it left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrkLatency {
    /// Their mean.
    pub mean: Time,
    /// Their standard deviation.
    pub deviation: Time,
    /// The longest.
    pub max: Time,
    /// See [`PERCENTILES`]; none without `--latency`.
    pub percentiles: Option<[Time; 4]>,
}

/// A time as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Nanoseconds.
    pub ns: u64,
    /// What its last digit counts.
    pub step_ns: u64,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq)]
pub enum WrkFailure {
    /// wrk says itself that it did not run, and why.
    Reported(String),
    /// It is not what wrk prints, or a number is missing.
    Unreadable(Trouble),
}

impl From<Trouble> for WrkFailure {
    fn from(trouble: Trouble) -> Self {
        Self::Unreadable(trouble)
    }
}

impl WrkReport {
    /// Reads what wrk printed. What a script of the user's prints before and after is passed
    /// over.
    ///
    /// # Errors
    /// When wrk did not run, when this is not its text, or when a number is missing or
    /// contradicts another; with its line.
    pub fn parse(text: &str) -> Result<Self, WrkFailure> {
        let Some((from, before)) = line_at(text, BEGINS) else {
            let complains = |line: &&str| COMPLAINTS.iter().any(|words| line.starts_with(words));
            let complaint = text.lines().find(complains);
            return Err(match complaint {
                Some(said) => WrkFailure::Reported(said.trim().to_owned()),
                None => Trouble::new("no line of a run that began", REMEDY).into(),
            });
        };
        let run = &text[from..];
        let Some((last, within)) = line_at(run, "Transfer/sec:") else {
            let cause = "no `Transfer/sec:` at its end: it is cut short";
            return Err(Trouble::new(cause, REMEDY).into());
        };
        let end = run[last..].find('\n').map_or(run.len(), |length| last + length + 1);
        let (run, after) = run.split_at(end);
        if let Some((_, more)) = line_at(after, BEGINS) {
            let number = before + within + more + 2;
            return Err(Trouble::at(number, "is of a second run", "give each its file").into());
        }
        Ok(Self::read(&Lines { text: run, first: before + 1 })?)
    }

    fn read(lines: &Lines<'_>) -> Result<Self, Trouble> {
        let (duration, url) = lines.one(" test @ ", |before, url| {
            let duration = before.trim().strip_prefix("Running ")?;
            Some((duration.to_owned(), url.to_owned()))
        })?;
        let (threads, connections) = lines.one(" threads and ", |threads, rest| {
            Some((count(threads.trim())?, count(rest.strip_suffix(" connections")?)?))
        })?;
        let (answers, time) = lines.one(" requests in ", |answers, rest| {
            let (time, read) = rest.split_once(", ")?;
            size(read.strip_suffix(" read")?)?;
            Some((count(answers.trim())?, Time::parse(time)?))
        })?;
        let rate = lines.one("Requests/sec:", |_, rate| hundredths(rate.trim()))? as f64 / 100.0;
        let transfer = lines.one("Transfer/sec:", |_, rate| size(rate.trim()))?;
        let errors = lines.maybe("Socket errors: ", |_, errors| Errors::parse(errors))?;
        let errors = errors.unwrap_or_default();
        let wrong =
            lines.maybe("Non-2xx or 3xx responses: ", |_, wrong| count(wrong))?.unwrap_or(0);
        if wrong > answers || errors.timeout > answers {
            let cause = format!("of {answers} answers {wrong} are wrong, {} late", errors.timeout);
            return Err(Trouble::new(cause, REMEDY));
        }
        let seconds = seconds(answers, time, rate).ok_or_else(|| {
            let cause = format!("{answers} requests in {} ns are not {rate} in a second", time.ns);
            Trouble::new(cause, REMEDY)
        })?;
        let latency = WrkLatency::read(lines)?;
        Ok(Self {
            url,
            duration,
            threads,
            connections,
            answers,
            seconds,
            rate,
            transfer,
            wrong,
            errors,
            latency,
        })
    }

    /// Answers that came in time and had a status below 400; at least so many, because one may
    /// have been both late and wrong.
    pub fn right(&self) -> u64 {
        self.answers.saturating_sub(self.wrong).saturating_sub(self.errors.timeout)
    }

    /// Answers, and what connections broke before or instead of.
    pub fn asked(&self) -> u64 {
        let Errors { connect, read, write, .. } = self.errors;
        [connect, read, write].iter().fold(self.answers, |sum, count| sum.saturating_add(*count))
    }
}

/// The time in which there were so many, from the number that says it best: time has at most
/// three digits where it matters. None where the two contradict each other.
fn seconds(answers: u64, time: Time, rate: f64) -> Option<f64> {
    let (printed, half_step) = (time.ns as f64 / 1e9, time.step_ns as f64 / 2e9);
    if printed <= 0.0 {
        return None;
    }
    let (answers, half_hundredth) = (answers as f64, 0.005);
    // Rounded both, and a little for how floating-point numbers are.
    let doubt = rate * half_step + (printed + half_step) * half_hundredth;
    if (answers - rate * printed).abs() > doubt * 1.01 {
        return None;
    }
    let is_rate_better = rate * half_step > half_hundredth * printed;
    Some(if is_rate_better { answers / rate } else { printed })
}

impl WrkLatency {
    /// None where wrk recorded none, for which it prints zeros.
    fn read(lines: &Lines<'_>) -> Result<Option<Self>, Trouble> {
        let [mean, deviation, max] = lines.one("    Latency ", |_, rest| {
            let mut columns = rest.split_whitespace().map(Time::parse);
            Some([columns.next()??, columns.next()??, columns.next()??])
        })?;
        let percentiles = lines.percentiles()?;
        let times = percentiles.iter().flatten().chain([&max]).map(|time| time.ns);
        if !times.is_sorted() || mean.ns > max.ns {
            return Err(Trouble::new("its latencies do not ascend to the longest one", REMEDY));
        }
        Ok((max.ns > 0).then_some(Self { mean, deviation, max, percentiles }))
    }
}

impl Errors {
    fn parse(text: &str) -> Option<Self> {
        let mut counts = text.split(", ").zip(["connect ", "read ", "write ", "timeout "]);
        let mut next = || {
            let (part, name) = counts.next()?;
            count(part.strip_prefix(name)?)
        };
        let (connect, read, write, timeout) = (next()?, next()?, next()?, next()?);
        Some(Self { connect, read, write, timeout })
    }
}

impl Time {
    /// `45.00us`, `1.34s`.
    fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &text[digits.len()..];
        let (_, unit_ns) = TIMES.iter().find(|(name, _)| *name == unit)?;
        let step_ns = unit_ns / 100;
        Some(Self { ns: hundredths(digits)?.checked_mul(step_ns)?, step_ns })
    }
}

/// `69576.77` as 6957677.
fn hundredths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.')?;
    if fraction.len() != DIGITS {
        return None;
    }
    count(&format!("{whole}{fraction}")).filter(|_| !whole.is_empty())
}

fn count(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|count| is_plain && *count <= LARGEST_COUNT)
}

/// `4.25MB` in bytes.
fn size(text: &str) -> Option<f64> {
    let text = text.strip_suffix('B')?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit) = SIZES.iter().find(|(name, _)| *name == &text[digits.len()..])?;
    Some(hundredths(digits)? as f64 / 100.0 * unit)
}

/// Where the first line with this beginning begins, and how many lines are before it.
fn line_at(text: &str, beginning: &str) -> Option<(usize, u64)> {
    let mut at = 0;
    for (before, line) in (0..).zip(text.split_inclusive('\n')) {
        if line.starts_with(beginning) {
            return Some((at, before));
        }
        at += line.len();
    }
    None
}

/// The lines of one run. They are not held: a file may be nothing but ends of lines.
struct Lines<'t> {
    text: &'t str,
    /// The number of the first.
    first: u64,
}

impl<'t> Lines<'t> {
    /// All of them with their numbers.
    fn all(&self) -> impl Iterator<Item = (u64, &'t str)> + use<'t> {
        (self.first..).zip(self.text.lines())
    }

    /// The first line that has `mark` in it, as what is read from before and after it.
    fn maybe<T>(
        &self,
        mark: &str,
        read: impl Fn(&'t str, &'t str) -> Option<T>,
    ) -> Result<Option<T>, Trouble> {
        let split = self.all().find_map(|(number, line)| Some((number, line.split_once(mark)?)));
        let Some((number, (before, after))) = split else { return Ok(None) };
        let wrong =
            || Trouble::at(number, format!("`{}` without what belongs to it", mark.trim()), REMEDY);
        read(before, after).ok_or_else(wrong).map(Some)
    }

    /// The same of a line that must be there.
    fn one<T>(
        &self,
        mark: &str,
        read: impl Fn(&'t str, &'t str) -> Option<T>,
    ) -> Result<T, Trouble> {
        let missing = || Trouble::new(format!("no line with `{}`", mark.trim()), REMEDY);
        self.maybe(mark, read)?.ok_or_else(missing)
    }

    /// What `--latency` adds.
    fn percentiles(&self) -> Result<Option<[Time; 4]>, Trouble> {
        let heading = "  Latency Distribution";
        let mut lines = self.all().skip_while(|(_, line)| !line.starts_with(heading));
        let Some((number, line)) = lines.next() else { return Ok(None) };
        if line.trim_end() != heading {
            let cause = "is of wrk2 or another kin of wrk, whose latencies mean something else";
            return Err(Trouble::at(number, cause, REMEDY));
        }
        let mut times = [Time { ns: 0, step_ns: 0 }; 4];
        for (time, percentile) in times.iter_mut().zip(&PERCENTILES) {
            let row = lines.next().and_then(|(_, row)| {
                let (percent, time) = row.trim().split_once('%')?;
                (Percentile::parse(percent)? == *percentile).then(|| Time::parse(time.trim()))?
            });
            let missing = || {
                let cause = format!("`Latency Distribution` without {}", percentile.name());
                Trouble::at(number, cause, REMEDY)
            };
            *time = row.ok_or_else(missing)?;
        }
        Ok(Some(times))
    }
}

/// What wrk prints.
pub(crate) const FORMAT: Format = Format {
    name: "wrk-text",
    words: &[
        "Running 1s test @ http://127.0.0.1:8099/\n",
        "  1 threads and 10 connections\n",
        "    Latency   157.35us  521.87us   6.28ms   95.22%\n",
        "  Latency Distribution\n",
        "     50%   45.00us\n",
        "     99%    3.10ms\n",
        "  140014 requests in 1.10s, 8.55MB read\n",
        "  Socket errors: connect 0, read 1, write 0, timeout 2\n",
        "  Non-2xx or 3xx responses: 3\n",
        "Requests/sec: 127283.37\n",
        "Transfer/sec:      7.77MB\n",
        "unable to connect to 127.0.0.1:8096 Connection refused\n",
        "0.00us",
        "1.02m",
        "-nan%",
        "99999999.99h",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reaction::Refused };
    let report = WrkReport::parse(text);
    match &report {
        Ok(report) => report.check(),
        Err(WrkFailure::Reported(said)) => assert!(!said.is_empty()),
        Err(WrkFailure::Unreadable(trouble)) => trouble.check(),
    }
    Reaction::of(report.ok().as_ref())
}

impl WrkReport {
    /// What is accepted took time, and its percentiles ascend.
    fn check(&self) {
        assert!(self.seconds > 0.0 && self.seconds.is_finite(), "{self:?}");
        assert!(self.rate.is_finite() && self.transfer.is_finite(), "{self:?}");
        assert!(self.right() <= self.answers && self.answers <= self.asked(), "{self:?}");
        if let Some(latency) = self.latency {
            assert!(latency.max.ns > 0, "zeros of nothing: {latency:?}");
            let times = latency.percentiles.into_iter().flatten().chain([latency.max]);
            assert!(times.map(|time| time.ns).is_sorted(), "{latency:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!("../tests/golden/wrk/", $name, ".txt"))
        };
    }

    fn ns(times: Option<[Time; 4]>) -> Option<[u64; 4]> {
        times.map(|times| times.map(|time| time.ns))
    }

    fn unreadable(text: &str) -> String {
        match WrkReport::parse(text).unwrap_err() {
            WrkFailure::Unreadable(trouble) => {
                assert!(!trouble.remedy.is_empty());
                trouble.to_string()
            }
            WrkFailure::Reported(said) => panic!("wrk said {said}"),
        }
    }

    #[test]
    fn a_run_says_how_many_were_answered_and_how_fast() {
        let report = WrkReport::parse(golden!("t1_c10__idle")).unwrap();
        assert_eq!(report.url, "http://127.0.0.1:8099/");
        assert_eq!((report.threads, report.connections), (1, 10));
        assert_eq!((report.answers, report.rate), (140_014, 127_283.37));
        assert!((report.seconds - 1.100_018).abs() < 1e-6, "{}", report.seconds);
        assert_eq!(report.transfer, 7.77 * 1_048_576.0);
        assert_eq!((report.wrong, report.errors), (0, Errors::default()));
        let latency = report.latency.unwrap();
        assert_eq!(latency.mean, Time { ns: 157_350, step_ns: 10 });
        assert_eq!(latency.max, Time { ns: 6_280_000, step_ns: 10_000 });
        assert_eq!(ns(latency.percentiles), Some([45_000, 62_000, 102_000, 3_100_000]));
    }

    #[test]
    fn times_come_in_microseconds_milliseconds_seconds_and_minutes() {
        let percentiles = |text| ns(WrkReport::parse(text).unwrap().latency.unwrap().percentiles);
        assert_eq!(
            percentiles(golden!("t2_c50")),
            Some([254_000, 1_500_000, 3_000_000, 51_510_000])
        );
        assert_eq!(
            percentiles(golden!("t1_c10__load")),
            Some([63_000, 1_380_000, 3_290_000, 6_760_000])
        );
        assert_eq!(percentiles(golden!("slow_seconds")), Some([1_340_000_000; 4]));
        let minute = WrkReport::parse(golden!("minute")).unwrap();
        assert!((minute.seconds - 61.0).abs() < 0.1, "{}", minute.seconds);
        assert_eq!(Time::parse("1.02m"), Some(Time { ns: 61_200_000_000, step_ns: 600_000_000 }));
    }

    #[test]
    fn without_latency_there_is_a_mean_and_no_percentile() {
        let report = WrkReport::parse(golden!("nolat_t1_c1")).unwrap();
        let latency = report.latency.unwrap();
        assert_eq!((latency.mean.ns, latency.percentiles), (508_780, None));
        assert_eq!((report.answers, report.right()), (69_603, 69_603));
    }

    #[test]
    fn wrong_and_late_answers_are_answers_and_not_right() {
        let report = WrkReport::parse(golden!("non2xx")).unwrap();
        assert_eq!((report.answers, report.wrong, report.right()), (48, 48, 0));
        assert!(report.latency.is_some(), "wrk times wrong answers too");
        let report = WrkReport::parse(golden!("timeout")).unwrap();
        assert_eq!(report.errors, Errors { timeout: 4, ..Errors::default() });
        assert_eq!((report.answers, report.right(), report.asked()), (4, 0, 4));
        let report = WrkReport::parse(golden!("drop")).unwrap();
        assert_eq!(report.errors, Errors { read: 1479, ..Errors::default() });
        assert_eq!((report.answers, report.asked()), (0, 1479));
    }

    #[test]
    fn the_zeros_of_nothing_are_no_latencies() {
        for text in [golden!("timeout"), golden!("drop")] {
            assert!(text.contains("99%    0.00us"));
            assert_eq!(WrkReport::parse(text).unwrap().latency, None);
        }
    }

    #[test]
    fn what_wrk_says_of_its_failure_is_the_failure() {
        for (text, said) in [
            (golden!("refused"), "unable to connect to 127.0.0.1:8096 Connection refused"),
            (golden!("badurl"), "invalid URL: foo"),
        ] {
            assert_eq!(WrkReport::parse(text), Err(WrkFailure::Reported(said.to_owned())));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let whole = golden!("t1_c10__idle");
        for (what, instead, cause) in [
            ("Running", "Ran", "no line of a run that began"),
            ("Transfer/sec:", "Transferred", "no `Transfer/sec:` at its end: it is cut short"),
            ("Requests/sec:", "Rate:", "no line with `Requests/sec:`"),
            ("140014 requests", "-1 requests", "line 11: `requests in` without what belongs to it"),
            ("127283.37", "127283", "line 12: `Requests/sec:` without what belongs to it"),
            (
                "127283.37",
                "117283.37",
                "140014 requests in 1100000000 ns are not 117283.37 in a second",
            ),
            ("157.35us", "157.35ns", "line 4: `Latency` without what belongs to it"),
            ("75%", "70%", "line 6: `Latency Distribution` without p75"),
            ("62.00us", "-nan", "line 6: `Latency Distribution` without p75"),
            ("62.00us", "162.00us", "its latencies do not ascend to the longest one"),
            ("6.28ms", "3.09ms", "its latencies do not ascend to the longest one"),
            (
                "Distribution",
                "Distribution (HdrHistogram - Recorded Latency)",
                "line 6: is of wrk2 or another kin of wrk, whose latencies mean something else",
            ),
        ] {
            assert!(whole.contains(what), "{what}");
            assert_eq!(unreadable(&whole.replace(what, instead)), cause);
        }
        let two = format!("{whole}{whole}");
        assert_eq!(unreadable(&two), "line 14: is of a second run");
        let more = golden!("timeout").replace("timeout 4", "timeout 5");
        assert_eq!(unreadable(&more), "of 4 answers 0 are wrong, 5 late");
    }

    #[test]
    fn a_report_that_is_cut_anywhere_is_refused() {
        for text in [golden!("t2_c50"), golden!("nolat_t1_c1"), golden!("timeout")] {
            for end in 0..text.len() - 1 {
                assert!(WrkReport::parse(&text[..end]).is_err(), "{}", &text[..end]);
            }
        }
    }

    #[test]
    fn what_a_script_prints_around_a_run_is_passed_over() {
        let whole = golden!("nolat_t1_c1");
        let around = format!("unable to find nothing\n{whole}Requests/sec: 5.00\n");
        assert_eq!(WrkReport::parse(&around), WrkReport::parse(whole));
    }
}
