//! The Go benchmark format (`go test -bench`), which other tools write too:
//! `BenchmarkName/key=value-8 N value unit value unit`.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::metrics::{can_be_negative, metric_id, number, unit};
use crate::table::{ImportedRow, ImportedTable, MOST_DIMENSIONS};
use contract::Description;
use model::{CaveatCode, Direction, ImportFact, Metric, Reduction, Sample, Unit};
use outputs::Trouble;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "benchfmt",
    summary: "the Go benchmark format: the heading of a test binary begins an execution",
    doc: "A replicate is one execution of the test binary: `go test` begins each with the lines `goos: linux` and \
          `pkg: ..`, and ends it with PASS, FAIL or ok, so that outputs may be concatenated; each file begins one too, and \
          so does another value of the line that names the subject. Other lines of configuration after results begin \
          none: they may tell parts of one execution apart, and REPLICATE_LEVEL_UNKNOWN names them. Repeated lines of a benchmark inside an execution (`-count`) share its process; they are \
          averaged inside it and are no replicates. The subject is the file, or with `--subject KEY` the value of a \
          configuration line or of a part `/KEY=value` of the name (`gomaxprocs` is the number at its end). The name \
          and its other parts `/key=value` tell workloads apart and are covered by an execution; a part that a \
          benchmark does not have is `-`. Where a file holds several packages, `pkg` is a dimension that an \
          execution fixes. ns/op, B/op and allocs/op are better where lower, MB/s where higher; of other units a line \
          `Unit compares/op better=lower` or `--better compares/op=lower` says it. ns/op (`time_per_op`) is the headline.",
};

/// What stands for a part of the name that a benchmark does not have.
const ABSENT: &str = "-";
/// The number at the end of a name, by the key that the format gives it.
const PROCESSORS: &str = "gomaxprocs";
/// The package of a test binary.
const PACKAGE: &str = "pkg";
/// The keys of the heading with which a test binary begins.
const HEADING: [&str; 2] = ["goos", PACKAGE];
/// The keys of a heading that tell the machine.
const MACHINE: [&str; 3] = ["goos", "goarch", "cpu"];
/// A comment that schedlab writes: codes of caveats of the findings that the values behind it are part
/// of. No line of configuration has such a key.
const OF_FINDINGS: &str = "# caveats";
/// What schedlab writes codes of caveats behind: of the campaign, of its records where they are bound
/// to nothing, and of the values that follow.
const CAVEATS: [&str; 4] = ["campaign-caveats", "evidence", "caveats", OF_FINDINGS];
/// What schedlab begins a file with: the name of its campaign.
const CAMPAIGN: &str = "campaign";
/// No list of codes that schedlab writes is longer, and no subject has as long a name. Each is compared
/// at every result.
const LONGEST_CODES: usize = 4_000;
/// No name of a machine, a package or a subject is longer. Each is held for every execution, or compared
/// at every result.
const LONGEST_VALUE: usize = 1_000;
/// A name has fewer parts than this, and a line fewer values.
const MOST_PARTS: usize = 100;

/// The format.
pub(crate) struct Entry;

/// A file before its rows are made, for which all keys must be known.
#[derive(Default)]
struct File<'a> {
    configuration: BTreeMap<&'a str, &'a str>,
    execution: usize,
    /// Whether the open execution has a result.
    is_open: bool,
    results: Vec<Measured<'a>>,
    directions: BTreeMap<&'a str, Direction>,
    /// Subjects as results name them, with the codes of caveats beside their values.
    caveats: BTreeSet<(Option<&'a str>, &'a str)>,
    /// The machine of each execution, as its heading has it.
    machines: BTreeMap<usize, Machine<'a>>,
}

/// What a heading says of the machine, by the keys of [`MACHINE`].
type Machine<'a> = [Option<&'a str>; MACHINE.len()];

/// A line of results.
struct Measured<'a> {
    line: u64,
    name: String,
    parts: BTreeMap<&'a str, &'a str>,
    /// The number at the end of the name, while it is not part of it.
    processors: Option<&'a str>,
    package: Option<&'a str>,
    subject: Option<&'a str>,
    execution: usize,
    values: Vec<(&'a str, f64)>,
}

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "Benchmark",
            "BenchmarkX/a=1-8 1 5 ns/op\n",
            "goos: linux\n",
            "pkg: a\n",
            "Unit x better=lower\n",
            " 2 MB/s",
            " 3 B/op",
            "/k=v",
            "-8",
            "--- FAIL: Benchmark",
            "subject = \"k\"",
            "subject = \"gomaxprocs\"",
            "better = {x = \"lower\"}",
            "1e308",
            "NaN",
            "-1",
            "\t",
        ]
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = outputs::line_of(bytes, error.valid_up_to());
            Trouble::at(line, "it is not UTF-8", "give the output of go test -bench")
        })?;
        let mut file = File::default();
        for (line, text) in (1..).zip(text.lines()) {
            file.line(line, text, mapping, table)?;
        }
        if file.results.is_empty() {
            let cause = "it has no line of results";
            return Err(Trouble::new(cause, "give the output of go test -bench"));
        }
        file.append(source, mapping, table)
    }
}

impl<'a> File<'a> {
    fn line(
        &mut self,
        line: u64,
        text: &'a str,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        if let Some(failed) = text.trim_start().strip_prefix("--- FAIL: Benchmark") {
            let name = failed.split_whitespace().next().unwrap_or(failed);
            let name: String = name.chars().take(60).collect();
            table.notice(CaveatCode::AbsentValues, "benchmarks that failed", &name);
        } else if let Some(declared) = text.strip_prefix("Unit ") {
            self.declare_unit(line, declared)?;
        } else if text.starts_with("Benchmark") {
            self.result(line, text, mapping)?;
        } else if is_end(text) {
            self.end_execution();
        } else if let Some(codes) = codes_of_findings(text) {
            self.configuration.insert(OF_FINDINGS, codes);
        } else if let Some((key, value)) = configuration(text) {
            check_value(line, key, value, mapping)?;
            let is_other_subject = mapping.subject.as_deref() == Some(key)
                && self.configuration.get(key) != Some(&value);
            if HEADING.contains(&key) || is_other_subject {
                self.end_execution();
            } else if self.is_open {
                let what = "lines of configuration between results, which begin no execution";
                let key: String = key.chars().take(60).collect();
                table.establish(ImportFact::UnknownReplicates, what, &key);
            }
            if key == CAMPAIGN {
                // The next campaign of a file says itself what is to be said of it.
                for said in CAVEATS {
                    self.configuration.remove(said);
                }
            }
            if value.is_empty() {
                self.configuration.remove(key);
            } else {
                self.configuration.insert(key, value);
            }
        }
        Ok(())
    }

    /// What comes next belongs to another execution.
    fn end_execution(&mut self) {
        if self.is_open {
            self.execution += 1;
            self.is_open = false;
        }
    }

    /// `Unit UNIT key=value …`
    fn declare_unit(&mut self, line: u64, declared: &'a str) -> Result<(), Trouble> {
        let mut words = declared.split_whitespace();
        let Some(unit) = words.next() else { return Ok(()) };
        for word in words {
            let direction = match word.split_once('=') {
                Some(("better", "higher")) => Direction::Higher,
                Some(("better", "lower")) => Direction::Lower,
                Some(("better", _)) => {
                    let cause = format!("`{word}` is neither better=higher nor better=lower");
                    return Err(Trouble::at(line, cause, "correct the line"));
                }
                _ => continue,
            };
            if self.directions.insert(unit, direction).is_some_and(|known| known != direction) {
                let cause = format!("{unit} was declared the other way before");
                return Err(Trouble::at(line, cause, "declare each unit once"));
            }
        }
        Ok(())
    }

    fn result(&mut self, line: u64, text: &'a str, mapping: &Mapping) -> Result<(), Trouble> {
        let mut fields = text.split_whitespace();
        let name = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        // `go test -v` announces a benchmark by its name alone.
        if fields.is_empty() {
            return Ok(());
        }
        let wrong = |cause: String| {
            Trouble::at(
                line,
                cause,
                "a result is `BenchmarkName N value unit …`; remove other lines",
            )
        };
        if fields.len() < 3 || fields.len().is_multiple_of(2) || fields.len() > 2 * MOST_PARTS {
            return Err(wrong(format!("{} fields follow the name", fields.len())));
        }
        if !fields[0].parse::<u64>().is_ok_and(|iterations| iterations > 0) {
            return Err(wrong("the name is not followed by a number of iterations".to_owned()));
        }
        let mut values: Vec<(&str, f64)> = Vec::new();
        for pair in fields[1..].chunks_exact(2) {
            let (value, unit) = (number(pair[0], line, "a value")?, pair[1]);
            if values.iter().any(|(known, _)| *known == unit) {
                return Err(wrong(format!("there are two values of {unit}")));
            }
            values.push((unit, value));
        }
        let name = name.strip_prefix("Benchmark").unwrap_or(name);
        let mut measured = Measured::named(line, name)?;
        measured.package = self.configuration.get(PACKAGE).copied();
        measured.execution = self.execution;
        measured.values = values;
        measured.take_subject(mapping, &self.configuration)?;
        let codes = CAVEATS.into_iter().filter_map(|key| self.configuration.get(key).copied());
        let is_short = measured.subject.is_none_or(|subject| subject.len() <= LONGEST_CODES);
        let codes = codes.filter(|codes| is_short && codes.len() <= LONGEST_CODES);
        self.caveats.extend(codes.map(|codes| (measured.subject, codes)));
        if !self.machines.contains_key(&self.execution) {
            let machine = self.machine(mapping);
            self.machines.insert(self.execution, machine);
        }
        self.results.push(measured);
        self.is_open = true;
        Ok(())
    }

    /// What the heading says of the machine, but for what tells subjects apart.
    fn machine(&self, mapping: &Mapping) -> Machine<'a> {
        let is_subject = |key: &str| mapping.subject.as_deref() == Some(key);
        MACHINE.map(|key| self.configuration.get(key).copied().filter(|_| !is_subject(key)))
    }

    fn append(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let packages: BTreeSet<_> = self.results.iter().map(|result| result.package).collect();
        let has_packages = packages.len() > 1 && mapping.subject.as_deref() != Some(PACKAGE);
        let keys: BTreeSet<&str> =
            self.results.iter().flat_map(|result| result.parts.keys().copied()).collect();
        let mut dimensions: Vec<&str> = Vec::new();
        dimensions.extend(has_packages.then_some(PACKAGE));
        dimensions.push("name");
        for key in keys.into_iter().take(MOST_DIMENSIONS) {
            if dimensions.contains(&key) {
                let cause = format!("a part of a name is called `{key}`, as a dimension is");
                return Err(Trouble::new(cause, "rename the part"));
            }
            dimensions.push(key);
        }
        let fixed: &[&str] = if has_packages { &[PACKAGE] } else { &[] };
        table.declare(&dimensions, fixed)?;
        let mut executions: BTreeMap<usize, String> = BTreeMap::new();
        let mut told: BTreeSet<(&str, usize)> = BTreeSet::new();
        for result in &self.results {
            let next = table.next_execution();
            let subject = result.subject.unwrap_or(source.subject);
            let machine = self.machines.get(&result.execution);
            if let Some(machine) = machine.filter(|_| told.insert((subject, result.execution))) {
                table.settings(subject, &settings(machine));
            }
            let execution = executions.entry(result.execution).or_insert(next).clone();
            let level = |name: &&str| match *name {
                "name" => result.name.clone(),
                PACKAGE if has_packages => result.package.unwrap_or(ABSENT).to_owned(),
                key => result.parts.get(key).copied().unwrap_or(ABSENT).to_owned(),
            };
            let row = ImportedRow {
                subject: subject.to_owned(),
                levels: dimensions.iter().map(level).collect(),
                execution: Some(execution),
                block: None,
                samples: self.samples(result, mapping, table)?,
                failure: None,
            };
            table.push(Some(result.line), row)?;
        }
        for (subject, codes) in &self.caveats {
            let subject = table.shared(subject.unwrap_or(source.subject));
            table.origins.add(codes, &subject);
        }
        Ok(())
    }

    fn samples(
        &self,
        result: &Measured<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<Vec<Sample>, Trouble> {
        let line = result.line;
        let mut samples: Vec<Sample> = Vec::new();
        for (written, value) in &result.values {
            let (metric, scale) = self.metric(line, written, mapping)?;
            if *value < 0.0 && !can_be_negative(metric.unit) {
                let cause = format!("{value} {written} is negative");
                return Err(Trouble::at(line, cause, "correct the line, or remove it"));
            }
            let id =
                table.know(metric).map_err(|trouble| Trouble { line: Some(line), ..trouble })?;
            let value = value * scale;
            if !value.is_finite() {
                let cause = format!("a value of {written} is too large");
                return Err(Trouble::at(line, cause, "correct the line, or remove it"));
            }
            if *written == "ns/op" {
                table.judge(&id);
            }
            samples.push(Sample::values(&id, vec![value]));
        }
        Ok(samples)
    }

    /// The metric of a unit, and by what its values are multiplied.
    fn metric(
        &self,
        line: u64,
        written: &str,
        mapping: &Mapping,
    ) -> Result<(Metric, f64), Trouble> {
        let ours = known(written);
        let said = [
            ours.map(|(_, _, direction, _)| direction),
            self.directions.get(written).copied(),
            mapping.direction_of(written),
        ];
        let mut directions = said.into_iter().flatten();
        let Some(direction) = directions.next() else {
            let cause = format!("nobody said which way {written} is better");
            let remedy = format!("say --better {written}=higher or =lower");
            return Err(Trouble::at(line, cause, remedy));
        };
        if directions.any(|other| other != direction) {
            let cause = format!("of {written} it is said that {direction}, and the contrary");
            return Err(Trouble::at(line, cause, "say it one way, as everybody does"));
        }
        let (name, unit, scale) = match ours {
            Some((name, unit, _, scale)) => (name, unit, scale),
            None => {
                let (unit, scale) = unit(written);
                (written, unit, scale)
            }
        };
        let metric = Metric::new(metric_id(name), unit, direction, Reduction::Mean, written);
        Ok((metric, scale))
    }
}

/// Units that Go itself writes: the metric's name without a unit, and by what values are
/// multiplied to be stored in ours.
fn known(unit: &str) -> Option<(&'static str, Unit, Direction, f64)> {
    match unit {
        "ns/op" => Some(("time_per_op", Unit::Nanoseconds, Direction::Lower, 1.0)),
        "B/op" => Some(("bytes_per_op", Unit::Bytes, Direction::Lower, 1.0)),
        "allocs/op" => Some(("allocs_per_op", Unit::PerOperation, Direction::Lower, 1.0)),
        "MB/s" => Some(("bytes_per_second", Unit::PerSecond, Direction::Higher, 1e6)),
        _ => None,
    }
}

/// What is known of a machine, by its keys.
fn settings(machine: &Machine<'_>) -> BTreeMap<String, String> {
    let known = MACHINE.into_iter().zip(machine);
    known.filter_map(|(key, value)| Some((key.to_owned(), (*value)?.to_owned()))).collect()
}

/// Refuses a value of the configuration that is held or compared again and again and that no tool
/// writes as long. Lines of other keys, as of logs, may have any length.
fn check_value(line: u64, key: &str, value: &str, mapping: &Mapping) -> Result<(), Trouble> {
    let is_repeated =
        MACHINE.contains(&key) || key == PACKAGE || mapping.subject.as_deref() == Some(key);
    if is_repeated && value.len() > LONGEST_VALUE {
        let key: String = key.chars().take(60).collect();
        let cause = format!("its `{key}` has more than {LONGEST_VALUE} bytes");
        return Err(Trouble::at(line, cause, "correct the line, or remove it"));
    }
    Ok(())
}

/// What a test binary, or `go test` for it, ends with.
fn is_end(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("PASS" | "FAIL" | "ok"))
}

/// The codes behind a comment of ours.
fn codes_of_findings(text: &str) -> Option<&str> {
    let codes = text.strip_prefix(OF_FINDINGS)?.strip_prefix(':')?;
    Some(codes.trim())
}

/// `key: value`, where the key begins with a small letter and has no capital.
fn configuration(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_lowercase())
        && !key.contains(|c: char| c.is_uppercase() || c.is_whitespace());
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_apart).then(|| (key, value.trim()))
}

impl<'a> Measured<'a> {
    /// Takes a name apart: `Sort/size=10/quick-8` is `Sort/quick-8` with a size.
    fn named(line: u64, name: &'a str) -> Result<Self, Trouble> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let end = name.rsplit_once('-').filter(|(_, number)| is_number(number));
        let (name, processors) = end.map_or((name, None), |(name, number)| (name, Some(number)));
        let mut parts = BTreeMap::new();
        let mut words = Vec::new();
        let all = name.split('/');
        if all.clone().count() > MOST_PARTS {
            let cause = format!("its name has more than {MOST_PARTS} parts (limit BENCHFMT_PARTS)");
            return Err(Trouble::at(line, cause, "give it a shorter name"));
        }
        for (index, part) in all.enumerate() {
            match part.split_once('=') {
                Some((key, value)) if index > 0 && !key.is_empty() => {
                    if parts.insert(key, value).is_some() {
                        let cause = format!("its name has two parts called `{key}`");
                        return Err(Trouble::at(line, cause, "rename one of them"));
                    }
                }
                _ => words.push(part),
            }
        }
        Ok(Self {
            line,
            name: words.join("/"),
            parts,
            processors,
            package: None,
            subject: None,
            execution: 0,
            values: Vec::new(),
        })
    }

    /// Finds the declared subject, and takes it out of the name.
    fn take_subject(
        &mut self,
        mapping: &Mapping,
        configuration: &BTreeMap<&'a str, &'a str>,
    ) -> Result<(), Trouble> {
        let subject = mapping.subject.as_deref();
        let taken = self.processors.take_if(|_| subject == Some(PROCESSORS));
        if let Some(processors) = self.processors {
            self.name = format!("{}-{processors}", self.name);
        }
        let Some(key) = subject else { return Ok(()) };
        let of_name = self.parts.remove(key).or(taken);
        let of_configuration = configuration.get(key).copied();
        self.subject = match (of_name, of_configuration) {
            (Some(_), Some(_)) => {
                let cause = format!("`{key}` is in its name and in the configuration");
                return Err(Trouble::at(self.line, cause, "name another key as the subject"));
            }
            (Some(level), None) | (None, Some(level)) => Some(level),
            (None, None) => None,
        };
        if self.subject.is_none() {
            let cause = format!("neither its name nor the configuration has `{key}`");
            let remedy = "name a key that every result has with --subject, or leave it out";
            return Err(Trouble::at(self.line, cause, remedy));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MappingDirection as Better;
    use crate::picture::{imported, picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    const TWO: &[u8] = include_bytes!("../tests/golden/benchfmt/go-two-executions.txt");

    fn by(subject: &str) -> Mapping {
        Mapping { subject: Some(subject.to_owned()), ..Mapping::default() }
    }

    fn check(text: &[u8], mapping: &Mapping, expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, &[("a", text)], mapping).unwrap()));
    }

    fn refused(text: &str, mapping: &Mapping) -> String {
        refusal(&ENTRY, text.as_bytes(), mapping)
    }

    #[test]
    fn another_machine_is_named_unless_it_is_the_subject() {
        let text =
            "goos: linux\ngoarch: amd64\npkg: p\ncpu: AMD EPYC\nBenchmarkA 1 5 ns/op\nPASS\n";
        let other = text.replace("amd64", "arm64").replace("AMD EPYC", "Neoverse-N1");
        let files = [("a", text.as_bytes()), ("b", other.as_bytes())];
        assert_eq!(
            settings_that_differ(&ENTRY, &files),
            [
                "by the tool's own words: cpu (a: AMD EPYC; b: Neoverse-N1), goarch (a: amd64; b: arm64)"
            ]
        );
        let same = [("a", text.as_bytes()), ("b", text.as_bytes())];
        assert_eq!(settings_that_differ(&ENTRY, &same), [""; 0]);
        // What tells the subjects apart is what is asked.
        let both = text.to_owned() + &text.replace("AMD EPYC", "Neoverse-N1");
        let mut table = read(&ENTRY, &[("x", both.as_bytes())], &by("cpu")).unwrap();
        table.compare_settings();
        assert!(table.caveats.iter().all(|one| one.code != CaveatCode::SettingsDiffer));
    }

    #[test]
    fn the_heading_of_a_test_binary_begins_an_execution() {
        let mapping = Mapping {
            better: [("compares/op".to_owned(), Better::Lower)].into(),
            ..Mapping::default()
        };
        check(
            TWO,
            &mapping,
            &expect![[r#"
                dimension name covered
                dimension algorithm covered
                dimension size covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                metric bytes_per_second PerSecond Higher Mean 0.02
                metric compares_per_op Plain Lower Mean 0.02
                metric bytes_per_op Bytes Lower Mean 0.02
                metric allocs_per_op PerOperation Lower Mean 0.02
                a [Sort-2, quick, 64] #0 time_per_op=481.3 bytes_per_second=1063849999.9999999 compares_per_op=96 bytes_per_op=2 allocs_per_op=0
                a [Sort-2, quick, 64] #0 time_per_op=291 bytes_per_second=1759540000 compares_per_op=96 bytes_per_op=2 allocs_per_op=0
                a [Sort-2, stable, 64] #0 time_per_op=2652 bytes_per_second=193050000 compares_per_op=96 bytes_per_op=26 allocs_per_op=1
                a [Sort-2, stable, 64] #0 time_per_op=2188 bytes_per_second=233990000 compares_per_op=96 bytes_per_op=26 allocs_per_op=1
                a [Sort-2, quick, 512] #0 time_per_op=4195 bytes_per_second=976500000 compares_per_op=768 bytes_per_op=20 allocs_per_op=0
                a [Sort-2, quick, 512] #0 time_per_op=4557 bytes_per_second=898910000 compares_per_op=768 bytes_per_op=20 allocs_per_op=0
                a [Sort-2, stable, 512] #0 time_per_op=53817 bytes_per_second=76110000 compares_per_op=768 bytes_per_op=44 allocs_per_op=1
                a [Sort-2, stable, 512] #0 time_per_op=62397 bytes_per_second=65640000 compares_per_op=768 bytes_per_op=44 allocs_per_op=1
                a [Empty-2, -, -] #0 time_per_op=2.205
                a [Empty-2, -, -] #0 time_per_op=2.15
                a [Sort-2, quick, 64] #10 time_per_op=276.6 bytes_per_second=1851280000 compares_per_op=96 bytes_per_op=2 allocs_per_op=0
                a [Sort-2, quick, 64] #10 time_per_op=279 bytes_per_second=1835030000 compares_per_op=96 bytes_per_op=2 allocs_per_op=0
                a [Sort-2, stable, 64] #10 time_per_op=1939 bytes_per_second=264050000 compares_per_op=96 bytes_per_op=26 allocs_per_op=1
                a [Sort-2, stable, 64] #10 time_per_op=10549 bytes_per_second=48540000 compares_per_op=96 bytes_per_op=26 allocs_per_op=1
                a [Sort-2, quick, 512] #10 time_per_op=3212 bytes_per_second=1275240000 compares_per_op=768 bytes_per_op=20 allocs_per_op=0
                a [Sort-2, quick, 512] #10 time_per_op=3284 bytes_per_second=1247200000 compares_per_op=768 bytes_per_op=20 allocs_per_op=0
                a [Sort-2, stable, 512] #10 time_per_op=61610 bytes_per_second=66480000.00000001 compares_per_op=768 bytes_per_op=44 allocs_per_op=1
                a [Sort-2, stable, 512] #10 time_per_op=48766 bytes_per_second=83990000 compares_per_op=768 bytes_per_op=44 allocs_per_op=1
                a [Empty-2, -, -] #10 time_per_op=1.255
                a [Empty-2, -, -] #10 time_per_op=1.655
            "#]],
        );
    }

    #[test]
    fn lines_that_repeat_inside_an_execution_begin_none() {
        let text = b"goos: linux\nnote: part-0\nBenchmarkX 1 5 ns/op\nnote: part-1\nBenchmarkX 1 6 ns/op\n\
                     PASS\nok x 1s\nBenchmarkX 1 7 ns/op\ngoos: linux\nBenchmarkX 1 8 ns/op\n";
        check(
            text,
            &Mapping::default(),
            &expect![[r#"
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                a [X] #0 time_per_op=5
                a [X] #0 time_per_op=6
                a [X] #2 time_per_op=7
                a [X] #3 time_per_op=8
                caveat REPLICATE_LEVEL_UNKNOWN: lines of configuration between results, which begin no execution: note
            "#]],
        );
        let of_subject = b"commit: old\nBenchmarkX 1 5 ns/op\ncommit: old\nBenchmarkX 1 6 ns/op\n";
        check(
            of_subject,
            &by("commit"),
            &expect![[r#"
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                old [X] #0 time_per_op=5
                old [X] #0 time_per_op=6
                caveat REPLICATE_LEVEL_UNKNOWN: lines of configuration between results, which begin no execution: commit
            "#]],
        );
    }

    #[test]
    fn machines_that_differ_are_named() {
        let of = |cpu: &str| format!("goos: linux\ncpu: {cpu}\nBenchmarkX 1 5 ns/op\n");
        let (one, other) = (of("EPYC"), of("Xeon"));
        let files = [("a", one.as_bytes()), ("b", other.as_bytes())];
        let plan = imported(&ENTRY, &files, &Mapping::default()).unwrap().plan;
        let caveats = plan.imported.unwrap().caveats;
        let told = "by the tool's own words: cpu (a: EPYC; b: Xeon)";
        assert!(caveats.iter().any(|caveat| caveat.detail == told), "{caveats:?}");
    }

    #[test]
    fn a_part_of_the_name_may_be_the_subject() {
        let text = b"BenchmarkSort/algorithm=quick/n=5-8 1 5 ns/op\n\
                     BenchmarkSort/algorithm=slow/n=5-8 1 6 ns/op\n";
        check(
            text,
            &by("algorithm"),
            &expect![[r#"
                dimension name covered
                dimension n covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                quick [Sort-8, 5] #0 time_per_op=5
                slow [Sort-8, 5] #0 time_per_op=6
            "#]],
        );
    }

    #[test]
    fn the_number_at_the_end_of_the_name_may_be_the_subject() {
        let text = b"BenchmarkSort-2 1 5 ns/op\nBenchmarkSort-4 1 6 ns/op\n";
        check(
            text,
            &by("gomaxprocs"),
            &expect![[r#"
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                2 [Sort] #0 time_per_op=5
                4 [Sort] #0 time_per_op=6
            "#]],
        );
    }

    #[test]
    fn a_configuration_line_may_be_the_subject() {
        let text = b"commit: old\nBenchmarkX 1 5 ns/op\ncommit: new\nBenchmarkX 1 6 ns/op\n\
                     commit: old\nBenchmarkX 1 7 ns/op\n";
        check(
            text,
            &by("commit"),
            &expect![[r#"
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                old [X] #0 time_per_op=5
                new [X] #1 time_per_op=6
                old [X] #2 time_per_op=7
            "#]],
        );
    }

    #[test]
    fn a_package_is_fixed_by_its_execution() {
        let text = b"pkg: a\nBenchmarkX 1 5 ns/op\nok a 1s\npkg: b\nBenchmarkX 1 6 ns/op\n";
        check(
            text,
            &Mapping::default(),
            &expect![[r#"
                dimension pkg fixed
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                a [a, X] #0 time_per_op=5
                a [b, X] #1 time_per_op=6
            "#]],
        );
    }

    #[test]
    fn units_say_which_way_is_better_and_go_s_own_are_known() {
        let text = b"Unit p99-ns better=lower assume=nothing\n\
                     BenchmarkX 1 5 p99-ns 2 MB/s 3 B/op 4 allocs/op\n";
        check(
            text,
            &Mapping::default(),
            &expect![[r#"
                dimension name covered
                metric p99_ns Plain Lower Mean 0.02 judged
                metric bytes_per_second PerSecond Higher Mean 0.02 judged
                metric bytes_per_op Bytes Lower Mean 0.02 judged
                metric allocs_per_op PerOperation Lower Mean 0.02 judged
                a [X] #0 p99_ns=5 bytes_per_second=2000000 bytes_per_op=3 allocs_per_op=4
            "#]],
        );
    }

    /// Codes of an import as a whole, and subjects of which a record is one of an emulated processor.
    fn origins(text: &str, subject: Option<&str>) -> (Vec<CaveatCode>, BTreeSet<String>) {
        let mapping = Mapping { subject: subject.map(str::to_owned), ..Mapping::default() };
        let files = [("x", text.as_bytes()), ("y", b"BenchmarkX 1 5 ns/op\n".as_slice())];
        let files = if subject.is_some() { &files[..1] } else { &files[..] };
        let found = imported(&ENTRY, files, &mapping).unwrap();
        let caveats = found.plan.imported.unwrap().caveats.into_iter().map(|caveat| caveat.code);
        let of_origin = [
            CaveatCode::Simulated,
            CaveatCode::HostCacheSuspected,
            CaveatCode::EvidenceChanged,
            CaveatCode::EvidenceUnbound,
        ];
        let is_emulated = |record: &&model::Record| {
            record.caveats.iter().any(|caveat| caveat.code == CaveatCode::Tcg)
        };
        let emulated = found.records.iter().filter(is_emulated);
        (
            caveats.filter(|code| of_origin.contains(code)).collect(),
            emulated.map(|record| record.subject.clone()).collect(),
        )
    }

    #[test]
    fn what_our_own_lines_say_of_an_origin_is_kept() {
        let x = || BTreeSet::from(["x".to_owned()]);
        let result = "BenchmarkX 1 5 ns/op\n";
        let of = |lines: &str| origins(&format!("{lines}{result}"), None);
        assert_eq!(
            of("campaign-caveats: QUICK SIMULATED\n"),
            (vec![CaveatCode::Simulated], BTreeSet::new())
        );
        assert_eq!(
            of("campaign-caveats: EVIDENCE_CHANGED QUICK\n"),
            (vec![CaveatCode::EvidenceChanged], BTreeSet::new())
        );
        assert_eq!(
            of("evidence: EVIDENCE_UNBOUND\n"),
            (vec![CaveatCode::EvidenceUnbound], BTreeSet::new())
        );
        assert_eq!(of("caveats: TCG\n"), (Vec::new(), x()));
        assert_eq!(
            of("# caveats: HOST_CACHE_SUSPECTED NOISY\n"),
            (vec![CaveatCode::HostCacheSuspected], BTreeSet::new())
        );
        for nothing in [
            "",
            "caveats: TCG\ncaveats:\n",
            "# caveats: TCG\n# caveats:\n",
            "caveats: NO_SUCH \u{1b}[31mTCG tcg\n",
            "# TCG\nnote: SIMULATED\n",
        ] {
            assert_eq!(of(nothing), (Vec::new(), BTreeSet::new()), "{nothing}");
        }
        // A line holds for the values behind it.
        let both = format!("subject: x\ncaveats: TCG\n{result}caveats:\nsubject: y\n{result}");
        assert_eq!(origins(&both, Some("subject")), (Vec::new(), x()));
        // One file behind another, of a campaign that says nothing.
        let both = format!(
            "campaign: one\ncampaign-caveats: SIMULATED\n# caveats: TCG\nsubject: x\n{result}\
             campaign: other\nsubject: y\n{result}"
        );
        assert_eq!(origins(&both, Some("subject")), (vec![CaveatCode::Simulated], x()));
        // What is no list of ours is not compared at every result.
        let long = format!("caveats: TCG {}\n", "X".repeat(LONGEST_CODES));
        assert_eq!(of(&long), (Vec::new(), BTreeSet::new()));
    }

    /// With a look at all keys for each campaign this ends at the time limit.
    #[test]
    fn of_very_many_keys_those_that_a_campaign_ends_are_looked_up() {
        let keys: String = (0..200_000).map(|key| format!("k{key}: x\n")).collect();
        let campaigns = "campaign: x\n".repeat(200_000);
        let text = format!("{keys}caveats: TCG\n{campaigns}BenchmarkX 1 5 ns/op\n");
        assert_eq!(origins(&text, None), (Vec::new(), BTreeSet::new()));
    }

    #[test]
    fn what_is_compared_at_every_result_is_short_and_other_lines_have_any_length() {
        let long = "x".repeat(LONGEST_VALUE + 1);
        let text = |key: &str| format!("goos: linux\n{key}: {long}\nBenchmarkX 1 5 ns/op\n");
        for key in ["cpu", "goos", "goarch", "pkg"] {
            let found = refused(&text(key), &Mapping::default());
            assert_eq!(found, format!("line 2: its `{key}` has more than 1000 bytes"));
        }
        let found = refused(&text("commit"), &by("commit"));
        assert_eq!(found, "line 2: its `commit` has more than 1000 bytes");
        let log = text("log");
        assert!(read(&ENTRY, &[("a", log.as_bytes())], &Mapping::default()).is_ok());
    }

    #[test]
    fn a_benchmark_that_failed_is_named() {
        let text = b"BenchmarkX\nBenchmarkX-2 1 5 ns/op\n--- FAIL: BenchmarkY/n=1\n    y_test.go:1: no\nFAIL\n";
        check(
            text,
            &Mapping::default(),
            &expect![[r#"
                dimension name covered
                metric time_per_op Nanoseconds Lower Mean 0.02 judged
                a [X-2] #0 time_per_op=5
                caveat ABSENT_VALUES: benchmarks that failed: Y/n=1
            "#]],
        );
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let mapping = Mapping::default();
        for (line, cause) in [
            ("BenchmarkX 1 5", "2 fields follow the name"),
            ("BenchmarkX 1 5 ns/op 6", "4 fields follow the name"),
            ("BenchmarkX some text here", "the name is not followed by a number of iterations"),
            ("BenchmarkX 0 5 ns/op", "the name is not followed by a number of iterations"),
            ("BenchmarkX 1 NaN ns/op", "a value is `NaN`, which is no finite number"),
            ("BenchmarkX 1 +Inf ns/op", "a value is `+Inf`, which is no finite number"),
            ("BenchmarkX 1 -5 ns/op", "-5 ns/op is negative"),
            ("BenchmarkX 1 5 ns/op 5 ns/op", "there are two values of ns/op"),
            ("BenchmarkX 1 5 furlongs", "nobody said which way furlongs is better"),
            ("BenchmarkX 1 1e308 MB/s", "a value of MB/s is too large"),
            ("BenchmarkX/a=1/a=2 1 5 ns/op", "its name has two parts called `a`"),
            (
                "Unit furlongs better=more",
                "`better=more` is neither better=higher nor better=lower",
            ),
            ("Unit ns/op better=higher", ""),
        ] {
            let text = format!("goos: linux\n{line}\nBenchmarkX 1 5 ns/op\n");
            let expected = match cause {
                "" => {
                    "line 3: of ns/op it is said that lower is better, and the contrary".to_owned()
                }
                cause => format!("line 2: {cause}"),
            };
            assert_eq!(refused(&text, &mapping), expected);
        }
        assert_eq!(refused("PASS\n", &mapping), "it has no line of results");
        let twice = "Unit x better=lower\nUnit x better=higher\n";
        assert_eq!(refused(twice, &mapping), "line 2: x was declared the other way before");
        let found = refused("BenchmarkX 1 5 ns/op\n", &by("commit"));
        assert_eq!(found, "line 1: neither its name nor the configuration has `commit`");
        let found = refused("a: 1\nBenchmarkX/a=2 1 5 ns/op\n", &by("a"));
        assert_eq!(found, "line 2: `a` is in its name and in the configuration");
        let found = refused("BenchmarkX/name=2 1 5 ns/op\n", &mapping);
        assert_eq!(found, "a part of a name is called `name`, as a dimension is");
    }
}
