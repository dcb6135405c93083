//! Figures picked from a program's output. What finds nothing is an error.

use contract::Tables;
use contract::shared_names::{CSV, JSON, REGEX};
use model::{Direction, Metric, Reduction, Unit};
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

/// One metric of the user's: where to find it and what it means.
#[derive(Debug, Clone)]
pub struct Pick {
    id: String,
    finder: Finder,
    is_stderr: bool,
    direction: Direction,
    reduction: Reduction,
    unit: Unit,
    /// What a value is multiplied by to be in `unit`.
    scale: f64,
}

/// The values that the `command` workload would pick from a program's output, in
/// the unit of the metric's declaration.
///
/// # Errors
/// What is wrong with the declaration, or why nothing was found.
pub fn pick(
    id: &str,
    keys: &BTreeMap<String, String>,
    stdout: &str,
    stderr: &str,
) -> Result<Vec<f64>, String> {
    Pick::parse(id, keys)?.values(stdout, stderr)
}

#[derive(Debug, Clone)]
enum Finder {
    Regex(Regex),
    Json(String),
    Csv(String),
}

const KEYS: &[&str] = &[REGEX, JSON, CSV, "direction", "unit", "reduction", "from"];

/// Units as a user writes them.
const UNITS: &[(&str, Unit, f64)] = &[
    ("ns", Unit::Nanoseconds, 1.0),
    ("us", Unit::Nanoseconds, 1e3),
    ("ms", Unit::Nanoseconds, 1e6),
    ("s", Unit::Nanoseconds, 1e9),
    ("per_second", Unit::PerSecond, 1.0),
    ("bytes", Unit::Bytes, 1.0),
    ("count", Unit::Count, 1.0),
    ("fraction", Unit::Fraction, 1.0),
    ("plain", Unit::Plain, 1.0),
];

impl Pick {
    /// Understands one table of `metrics`.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence that names the metric.
    pub fn parse(id: &str, keys: &BTreeMap<String, String>) -> Result<Self, String> {
        let wrong = |what: String| format!("the metric `{id}` {what}");
        let is_snake_case = id.starts_with(|first: char| first.is_ascii_lowercase())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !is_snake_case {
            return Err(wrong("needs a name of lower-case letters, digits and _".to_owned()));
        }
        if let Some(unknown) = keys.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(wrong(format!("has no key `{unknown}`; its keys are {}", KEYS.join(", "))));
        }
        let key = |name: &str| keys.get(name).map(String::as_str);
        let finder = match (key(REGEX), key(JSON), key(CSV)) {
            (Some(pattern), None, None) => Finder::Regex(regex(pattern).map_err(wrong)?),
            (None, Some(pointer), None) if pointer.is_empty() || pointer.starts_with('/') => {
                Finder::Json(pointer.to_owned())
            }
            (None, Some(pointer), None) => {
                return Err(wrong(format!("has `{pointer}`; a JSON pointer begins with /")));
            }
            (None, None, Some(column)) => Finder::Csv(column.to_owned()),
            _ => return Err(wrong("needs exactly one of regex, json and csv".to_owned())),
        };
        let direction = match key("direction") {
            Some("lower") => Direction::Lower,
            Some("higher") => Direction::Higher,
            _ => {
                return Err(wrong(
                    "needs direction = \"lower\" or \"higher\": which is better?".to_owned(),
                ));
            }
        };
        let reduction = match key("reduction") {
            None | Some("median") => Reduction::Median,
            Some("mean") => Reduction::Mean,
            Some(other) => {
                return Err(wrong(format!("has reduction `{other}`; it is median or mean")));
            }
        };
        let is_stderr = match key("from") {
            None | Some("stdout") => false,
            Some("stderr") => true,
            Some(other) => return Err(wrong(format!("is from `{other}`; it is stdout or stderr"))),
        };
        let written = key("unit").unwrap_or("plain");
        let (_, unit, scale) =
            *UNITS.iter().find(|(name, ..)| *name == written).ok_or_else(|| {
                let names: Vec<&str> = UNITS.iter().map(|(name, ..)| *name).collect();
                wrong(format!("has the unit `{written}`; it is one of {}", names.join(", ")))
            })?;
        Ok(Self { id: id.to_owned(), finder, is_stderr, direction, reduction, unit, scale })
    }

    /// The metric's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its declaration.
    pub fn metric(&self) -> Metric {
        let source = match &self.finder {
            Finder::Regex(pattern) => format!("Matches of `{pattern}` in the output"),
            Finder::Json(pointer) => format!("The value at `{pointer}` of the JSON output"),
            Finder::Csv(column) => format!("The column `{column}` of the CSV output"),
        };
        Metric::new(&self.id, self.unit, self.direction, self.reduction, source)
    }

    /// Its values, at least one, each finite and not negative.
    ///
    /// # Errors
    /// Why there is none.
    pub fn values(&self, stdout: &str, stderr: &str) -> Result<Vec<f64>, String> {
        let (name, text) = if self.is_stderr { ("stderr", stderr) } else { ("stdout", stdout) };
        let found = match &self.finder {
            Finder::Regex(pattern) => by_regex(pattern, text),
            Finder::Json(pointer) => by_json(pointer, text),
            Finder::Csv(column) => by_csv(column, text),
        };
        let values = found.map_err(|why| format!("{why} in its {name}"))?;
        let scaled = values.into_iter().map(|value| {
            let scaled = value * self.scale;
            if scaled.is_finite() && scaled >= 0.0 {
                Ok(scaled)
            } else {
                Err(format!("{value} is not a finite number of at least 0"))
            }
        });
        scaled.collect()
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(pattern).multi_line(true).build().map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim().to_owned();
        format!("has a pattern that is none: {reason}")
    })?;
    if regex.captures_len() < 2 {
        return Err("needs a group ( ) in its pattern around the value".to_owned());
    }
    Ok(regex)
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

fn by_regex(pattern: &Regex, text: &str) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for captures in pattern.captures_iter(text) {
        let group = captures.get(1).ok_or("the group of the pattern did not take part")?;
        values.push(number(group.as_str())?);
    }
    if values.is_empty() { Err(format!("nothing matches `{pattern}`")) } else { Ok(values) }
}

/// The first JSON document that begins a line: tools print notes before it.
fn by_json(pointer: &str, text: &str) -> Result<Vec<f64>, String> {
    let begins = |line: &&str| line.starts_with(['{', '[']);
    let start = text
        .lines()
        .find(begins)
        .map(|line| line.as_ptr() as usize - text.as_ptr() as usize)
        .ok_or("there is no line that begins a JSON document")?;
    let mut documents = serde_json::Deserializer::from_slice(&text.as_bytes()[start..])
        .into_iter::<serde_json::Value>();
    let document = documents
        .next()
        .ok_or("there is no JSON document")?
        .map_err(|error| format!("there is broken JSON: {error}"))?;
    let value =
        document.pointer(pointer).ok_or_else(|| format!("there is nothing at `{pointer}`"))?;
    let of = |value: &serde_json::Value| match value {
        serde_json::Value::Number(value) => {
            value.as_f64().ok_or_else(|| format!("`{value}` is not a number"))
        }
        serde_json::Value::String(text) => number(text),
        other => Err(format!("`{other}` is not a number")),
    };
    match value {
        serde_json::Value::Array(values) if values.is_empty() => {
            Err(format!("the array at `{pointer}` is empty"))
        }
        serde_json::Value::Array(values) => values.iter().map(of).collect(),
        value => Ok(vec![of(value)?]),
    }
}

fn by_csv(column: &str, text: &str) -> Result<Vec<f64>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let broken = |error: csv::Error| format!("there is broken CSV: {error}");
    let header = reader.headers().map_err(broken)?;
    let position = header
        .iter()
        .position(|name| name == column)
        .ok_or_else(|| format!("there is no column `{column}`"))?;
    let mut values = Vec::new();
    for row in reader.records() {
        let row = row.map_err(broken)?;
        let field = row.get(position).ok_or_else(|| format!("a row has no `{column}`"))?;
        values.push(number(field)?);
    }
    if values.is_empty() { Err(format!("the column `{column}` has no row")) } else { Ok(values) }
}

/// Every specification that can be meant, and what is wrong with the others.
pub fn picks(metrics: &Tables) -> (Vec<Pick>, Vec<String>) {
    let (mut picks, mut problems) = (Vec::new(), Vec::new());
    for (id, keys) in metrics {
        if crate::program::RUN_METRICS.iter().any(|(built_in, ..)| built_in == id) {
            problems.push(format!("the metric `{id}` exists already: choose another name"));
            continue;
        }
        match Pick::parse(id, keys) {
            Ok(pick) => picks.push(pick),
            Err(problem) => problems.push(problem),
        }
    }
    (picks, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(keys: &[(&str, &str)]) -> Result<Pick, String> {
        let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Pick::parse("figure", &keys.collect())
    }

    fn values(finder: (&str, &str), text: &str) -> Result<Vec<f64>, String> {
        parse(&[finder, ("direction", "lower")]).unwrap().values(text, "")
    }

    #[test]
    fn figures_are_found_in_the_output_of_real_tools() {
        let golden = |name: &str| {
            let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        for (name, finder, expected) in [
            ("hackbench/2.40.txt", ("regex", r"^Time: ([\d.]+)$"), vec![0.46]),
            ("perf_bench/6.1.txt", ("regex", r"([\d.]+) usecs/op"), vec![45.65704]),
            ("sysbench/1.0.20.txt", ("regex", r"thds: \d+ eps: ([\d.]+)"), vec![]),
            ("cyclictest/2.40.json", ("json", "/thread/0/max"), vec![]),
            ("stress-ng/0.15.06.txt", ("regex", r"no such ([\d.]+)"), vec![]),
        ] {
            let found = values(finder, &golden(name));
            if name.starts_with("stress") {
                assert!(found.unwrap_err().contains("nothing matches"), "{name}");
            } else if expected.is_empty() {
                let found = found.unwrap();
                assert!(!found.is_empty() && found.iter().all(|value| *value > 0.0), "{found:?}");
            } else {
                assert_eq!(found, Ok(expected), "{name}");
            }
        }
    }

    #[test]
    fn every_match_is_a_value_and_no_match_is_an_error() {
        let text = "a,b\n1, 2\n3, 4\n";
        assert_eq!(values(("regex", r"^(\d)"), text), Ok(vec![1.0, 3.0]));
        assert_eq!(values(("csv", "b"), text), Ok(vec![2.0, 4.0]));
        let json = "note: {x\n{\"v\": [1, \"2.5\"], \"n\": -1, \"t\": \"x\", \"e\": []} trailing";
        assert_eq!(values(("json", "/v"), json), Ok(vec![1.0, 2.5]));
        assert_eq!(values(("json", "/v/0"), json), Ok(vec![1.0]));
        for (finder, text, why) in [
            (("regex", r"x(\d)"), text, "nothing matches"),
            (("regex", r"(\w),"), text, "`a` is not a number"),
            (("regex", r"(?:(z)|1)"), text, "did not take part"),
            (("csv", "c"), text, "no column `c`"),
            (("csv", "a"), "a,b\n", "has no row"),
            (("csv", "a"), "a,b\n1\n", "broken CSV"),
            (("json", "/w"), json, "nothing at `/w`"),
            (("json", "/n"), json, "-1 is not a finite number of at least 0"),
            (("json", "/t"), json, "`x` is not a number"),
            (("json", "/e"), json, "is empty"),
            (("json", "/v"), "{\"v\": ", "broken JSON"),
            (("json", "/v"), "no document", "no line that begins a JSON"),
            (("regex", "(.+)"), "NaN", "not a finite number"),
            (("regex", "(.+)"), "inf", "not a finite number"),
        ] {
            let error = values(finder, text).unwrap_err();
            assert!(error.contains(why), "{finder:?}: {error}");
        }
    }

    #[test]
    fn units_scale_and_the_other_stream_can_be_read() {
        let pick = parse(&[
            ("regex", r"(\d+)"),
            ("direction", "higher"),
            ("unit", "ms"),
            ("from", "stderr"),
            ("reduction", "mean"),
        ])
        .unwrap();
        assert_eq!(pick.values("1", "2 3"), Ok(vec![2e6, 3e6]));
        let metric = pick.metric();
        assert_eq!((metric.unit, metric.direction), (Unit::Nanoseconds, Direction::Higher));
        assert_eq!(metric.reduction, Reduction::Mean);
    }

    #[test]
    fn a_specification_that_cannot_be_meant_says_why() {
        let lower = ("direction", "lower");
        for (keys, why) in [
            (&[("regex", "(1)")][..], "which is better"),
            (&[lower], "exactly one of"),
            (&[("regex", "(1)"), ("json", "/a"), lower], "exactly one of"),
            (&[("regex", "1"), lower], "needs a group"),
            (&[("regex", "(1"), lower], "pattern that is none"),
            (&[("json", "a"), lower], "begins with /"),
            (&[("csv", "a"), lower, ("unit", "parsec")], "unit `parsec`"),
            (&[("csv", "a"), lower, ("from", "stdin")], "stdout or stderr"),
            (&[("csv", "a"), lower, ("reduction", "max")], "median or mean"),
            (&[("csv", "a"), lower, ("colour", "red")], "no key `colour`"),
        ] {
            let error = parse(keys).unwrap_err();
            assert!(error.contains(why) && error.contains("figure"), "{keys:?}: {error}");
        }
        assert!(Pick::parse("Wall Time", &BTreeMap::new()).is_err());
    }
}
