//! Results of hyperfine (`--export-json`): each run of a command is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::table::{ImportedRow, ImportedTable};
use contract::Description;
use model::{CaveatCode, Direction, Reduction, Sample, Unit};
use outputs::Trouble;
use outputs::{Json, JsonNode};
use std::collections::BTreeSet;

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "hyperfine",
    summary: "hyperfine --export-json: times of commands, each run a replicate",
    doc: "Each run is a process of its own and counts as a replicate. The subject is the command as hyperfine names \
          it (`-n NAME` gives it another name); `--subject PARAMETER` takes the value of a parameter of \
          `--parameter-scan` or `--parameter-list` instead, and `--subject file` the file, for the same commands \
          measured on two systems: `old=a.json new=b.json`. The other parameters tell workloads apart. The metric \
          `time` is the wall clock of a run. A run that ended with another code than 0 is a failure and its time is \
          not used. hyperfine runs one command after the other, so that drift of the machine looks like a \
          difference between commands (ORDER_CONFOUNDED); mean, median and outliers are computed here anew.",
};

/// What `--subject` says to take the file as the subject.
const FILE: &str = "file";

/// Bytes of a result beside its values of JSON: its own, its place in words, and its name in a set.
const RESULT_BYTES: u64 = 160;
/// Bytes of a parameter of it, in a list that has room for as many more, and of its level.
const PARAMETER_BYTES: u64 = 112;

/// The format.
pub(crate) struct Entry;

/// One command with its runs.
struct Measured<'a> {
    place: JsonNode<'a>,
    command: &'a str,
    parameters: Vec<(&'a str, String)>,
}

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"results\": [",
            "\"command\": \"x\"",
            "\"mean\": 1",
            "\"times\": [1, 2]",
            "\"exit_codes\": [0, 1]",
            "\"parameters\": {\"n\": \"1\"}",
            "subject = \"n\"",
            "subject = \"file\"",
            "{",
            "}",
            "[",
            "]",
            ",",
            "null",
            "-1",
            "1e308",
            "1e-400",
        ]
    }

    fn most_bytes(&self) -> &'static model::ReaderLimit {
        &model::IMPORT_JSON_BYTES
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let json = Json::parse(source.bytes)?;
        let mut held_bytes = json.held_bytes();
        let mut results = Vec::new();
        for place in JsonNode::root(&json).member("results")?.items()? {
            held_bytes = held_bytes.saturating_add(Measured::held_bytes(&place)?);
            table.hold_document(held_bytes)?;
            results.push(Measured::of(place)?);
        }
        let Some(first) = results.first() else {
            return Err(Trouble::new("it has no results", "give a file with results"));
        };
        let dimensions = dimensions(first, mapping)?;
        if mapping.subject.is_none() && !dimensions.is_empty() {
            refuse_commands_of_one_level(&results)?;
        }
        table.declare(&dimensions, &dimensions)?;
        table.metric("time", Unit::Nanoseconds, Direction::Lower, Reduction::Mean)?;
        for result in &results {
            result.append(source, mapping, &dimensions, table)?;
        }
        Ok(())
    }
}

/// What tells workloads apart: every parameter but the subject, and the command
/// where the subject is the file.
fn dimensions<'a>(first: &Measured<'a>, mapping: &Mapping) -> Result<Vec<&'a str>, Trouble> {
    let mut names: Vec<&str> = first.parameters.iter().map(|(name, _)| *name).collect();
    let Some(subject) = mapping.subject.as_deref() else { return Ok(names) };
    if names.contains(&subject) {
        names.retain(|name| *name != subject);
        return Ok(names);
    }
    if subject == FILE {
        names.insert(0, "command");
        return Ok(names);
    }
    let cause = format!("{} has no parameter `{subject}`", first.command);
    let remedy = if names.is_empty() {
        "leave --subject out, or say --subject file".to_owned()
    } else {
        format!("its parameters are {}; `file` takes the file", names.join(", "))
    };
    Err(Trouble::new(cause, remedy))
}

/// Where each command has a combination of parameters of its own, no two commands can
/// be compared: a parameter is the subject.
fn refuse_commands_of_one_level(results: &[Measured<'_>]) -> Result<(), Trouble> {
    let commands: BTreeSet<&str> = results.iter().map(|result| result.command).collect();
    let levels: BTreeSet<_> = results.iter().map(|result| &result.parameters).collect();
    let is_one_to_one = commands.len() == results.len() && levels.len() == results.len();
    if results.len() < 2 || !is_one_to_one {
        return Ok(());
    }
    let names: Vec<&str> = results[0].parameters.iter().map(|(name, _)| *name).collect();
    let cause =
        "each command has levels of its own, so that no two commands have a workload in common";
    let remedy = format!(
        "name the parameter that is compared with --subject; there is {}",
        names.join(", ")
    );
    Err(Trouble::new(cause, remedy))
}

impl<'a> Measured<'a> {
    /// The bytes that a result takes beside its values of JSON, reckoned before it is read.
    fn held_bytes(place: &JsonNode<'_>) -> Result<u64, Trouble> {
        let given = place.optional("parameters")?;
        let given = given.map(|given| given.members().map(|members| members.len())).transpose()?;
        Ok(RESULT_BYTES + PARAMETER_BYTES * given.unwrap_or(0) as u64)
    }

    fn of(place: JsonNode<'a>) -> Result<Self, Trouble> {
        let command = place.member("command")?.text()?;
        let mut parameters = Vec::new();
        if let Some(given) = place.optional("parameters")? {
            for (name, value) in given.members()? {
                parameters.push((name, value.level()?));
            }
        }
        parameters.sort();
        Ok(Self { place, command, parameters })
    }

    fn append(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        dimensions: &[&str],
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let is_file = |name: &str| name == FILE && self.parameter(FILE).is_none();
        let subject = match mapping.subject.as_deref() {
            None => self.command,
            Some(name) if is_file(name) => source.subject,
            Some(name) => self.level(name)?,
        };
        let mut levels = Vec::with_capacity(dimensions.len());
        for name in dimensions {
            let is_command = *name == "command" && self.parameter(name).is_none();
            levels.push(if is_command { self.command } else { self.level(name)? }.to_owned());
        }
        let known = usize::from(mapping.subject.is_some()) + dimensions.len();
        if self.parameters.len() > known {
            return Err(self.place.trouble("has more parameters than the result before it"));
        }
        for run in self.runs(table)? {
            let (samples, failure) = match run {
                Ok(time_ns) => (vec![Sample::values("time", vec![time_ns])], None),
                Err(reason) => (Vec::new(), Some(reason)),
            };
            let row = ImportedRow {
                subject: subject.to_owned(),
                levels: levels.clone(),
                execution: Some(table.next_execution()),
                block: None,
                samples,
                failure,
            };
            table.push(None, row)?;
        }
        Ok(())
    }

    /// Times in nanoseconds, or why a run failed; of a summary its mean.
    fn runs(&self, table: &mut ImportedTable) -> Result<Vec<Result<f64, String>>, Trouble> {
        let items = |name: &str| -> Result<_, Trouble> {
            self.place.optional(name)?.map(|list| list.items()).transpose()
        };
        let (times, codes) = (items("times")?, items("exit_codes")?);
        let timed = times.as_ref().map_or(0, ExactSizeIterator::len);
        let ended = codes.as_ref().map_or(0, ExactSizeIterator::len);
        if ended > 0 && timed > 0 && ended != timed {
            let what = format!("has {timed} times and {ended} exit codes");
            return Err(self.place.trouble(what));
        }
        let codes = codes.into_iter().flatten();
        let failures = codes.map(|code| failure(&code)).collect::<Result<Vec<_>, Trouble>>()?;
        if timed == 0 {
            let mean_ns = self.place.member("mean")?.scaled(1e9)?;
            table.notice(CaveatCode::SummaryOnly, "only a mean of several runs", self.command);
            let failed = failures.into_iter().flatten().next();
            return Ok(vec![failed.map_or(Ok(mean_ns), Err)]);
        }
        let mut failures = failures.into_iter();
        let mut runs = Vec::with_capacity(timed);
        for time in times.into_iter().flatten() {
            let time_ns = time.scaled(1e9)?;
            let failed = failures.next().flatten();
            runs.push(failed.map_or(Ok(time_ns), Err));
        }
        Ok(runs)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| *known == name);
        found.map(|(_, level)| level.as_str())
    }

    fn level(&self, name: &str) -> Result<&str, Trouble> {
        self.parameter(name)
            .ok_or_else(|| self.place.trouble(format_args!("has no parameter `{name}`")))
    }
}

/// Why a run failed; a null stands for a signal.
fn failure(code: &JsonNode<'_>) -> Result<Option<String>, Trouble> {
    if code.is_null() {
        return Ok(Some("ended by a signal".to_owned()));
    }
    let code = code.code()?;
    Ok((code != 0).then(|| format!("ended with code {code}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal};
    use expect_test::{Expect, expect};

    const TWO: &[u8] = include_bytes!("../tests/golden/hyperfine/1.20-two-commands.json");
    const PARAMETERS: &[u8] = include_bytes!("../tests/golden/hyperfine/1.20-parameters.json");
    const FAILURES: &[u8] = include_bytes!("../tests/golden/hyperfine/1.20-failures.json");

    fn by(subject: &str) -> Mapping {
        Mapping { subject: Some(subject.to_owned()), ..Mapping::default() }
    }

    fn check(files: &[(&str, &[u8])], mapping: &Mapping, expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, mapping).unwrap()));
    }

    fn refused(results: &str, mapping: &Mapping) -> String {
        refusal(&ENTRY, format!("{{\"results\": {results}}}").as_bytes(), mapping)
    }

    #[test]
    fn each_run_of_a_command_is_a_replicate() {
        check(
            &[("a", TWO)],
            &Mapping::default(),
            &expect![[r#"
            metric time Nanoseconds Lower Mean 0.02 judged
            sleep 0.002 [] #0 time=3455283.0000000005
            sleep 0.002 [] #1 time=4692589.000000001
            sleep 0.002 [] #2 time=3248015.0000000005
            sleep 0.002 [] #3 time=3216448
            sleep 0.003 [] #4 time=5494385
            sleep 0.003 [] #5 time=4209187.000000001
            sleep 0.003 [] #6 time=7820404.000000001
            sleep 0.003 [] #7 time=4224071
        "#]],
        );
    }

    #[test]
    fn a_parameter_may_be_the_subject_and_the_others_are_dimensions() {
        check(
            &[("a", PARAMETERS)],
            &by("tool"),
            &expect![[r#"
            dimension size fixed
            metric time Nanoseconds Lower Mean 0.02 judged
            sort [100] #0 time=934594.0000000001
            sort [100] #1 time=956767.0000000001
            sort [100] #2 time=795867
            cat [100] #3 time=778621.0000000001
            cat [100] #4 time=740465
            cat [100] #5 time=789718
            sort [1000] #6 time=921735
            sort [1000] #7 time=888885.0000000001
            sort [1000] #8 time=896558.0000000001
            cat [1000] #9 time=761947
            cat [1000] #10 time=772753
            cat [1000] #11 time=768596.0000000001
        "#]],
        );
    }

    #[test]
    fn the_same_commands_of_two_files_are_compared_by_file() {
        let two =
            &br#"{"results": [{"command": "x", "times": [1.5], "parameters": {"n": 4}}]}"#[..];
        check(
            &[("old", two), ("new", two)],
            &by("file"),
            &expect![[r#"
            dimension command fixed
            dimension n fixed
            metric time Nanoseconds Lower Mean 0.02 judged
            old [x, 4] #0 time=1500000000
            new [x, 4] #1 time=1500000000
        "#]],
        );
    }

    #[test]
    fn files_with_the_same_command_are_further_runs_of_it() {
        let one = &br#"{"results": [{"command": "x", "times": [1.5, 2.5]}]}"#[..];
        check(
            &[("monday", one), ("tuesday", one)],
            &Mapping::default(),
            &expect![[r#"
            metric time Nanoseconds Lower Mean 0.02 judged
            x [] #0 time=1500000000
            x [] #1 time=2500000000
            x [] #2 time=1500000000
            x [] #3 time=2500000000
        "#]],
        );
    }

    #[test]
    fn a_run_that_failed_has_no_time() {
        check(
            &[("a", FAILURES)],
            &Mapping::default(),
            &expect![[r#"
            metric time Nanoseconds Lower Mean 0.02 judged
            test $((RANDOM=$$)) -lt 0 [] #0 failed: ended with code 1
            test $((RANDOM=$$)) -lt 0 [] #1 failed: ended with code 1
            test $((RANDOM=$$)) -lt 0 [] #2 failed: ended with code 1
            true [] #3 time=0
            true [] #4 time=0
            true [] #5 time=722061.6199999999
            kill -9 $$ [] #6 failed: ended with code 137
            kill -9 $$ [] #7 failed: ended with code 137
            kill -9 $$ [] #8 failed: ended with code 137
        "#]],
        );
    }

    #[test]
    fn a_mean_alone_is_one_replicate_of_a_summary() {
        let text = br#"{"results": [
            {"command": "x", "mean": 0.25},
            {"command": "y", "mean": 0.5, "times": null},
            {"command": "z", "mean": 0.5, "exit_codes": [0, 3]}
        ]}"#;
        check(
            &[("a", text)],
            &Mapping::default(),
            &expect![[r#"
            metric time Nanoseconds Lower Mean 0.02 judged
            x [] #0 time=250000000
            y [] #1 time=500000000
            z [] #2 failed: ended with code 3
            caveat SUMMARY_ONLY: only a mean of several runs: x, y, z
        "#]],
        );
    }

    #[test]
    fn commands_that_share_no_level_are_refused_with_the_parameter_to_name() {
        let cause = refusal(&ENTRY, PARAMETERS, &by("toll"));
        assert!(cause.contains("no parameter `toll`"), "{cause}");
        let trouble = read(&ENTRY, &[("a", PARAMETERS)], &Mapping::default()).unwrap_err();
        assert!(trouble.remedy.contains("there is size, tool"), "{}", trouble.remedy);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (results, cause) in [
            ("[]", "it has no results"),
            ("{}", "results is no list"),
            ("[{\"times\": [1]}]", "results[0] has no `command`"),
            ("[{\"command\": \"x\"}]", "results[0] has no `mean`"),
            ("[{\"command\": \"x\", \"times\": [1, \"2\"]}]", "results[0].times[1] is no number"),
            ("[{\"command\": \"x\", \"times\": [1, null]}]", "results[0].times[1] is no number"),
            (
                "[{\"command\": \"x\", \"times\": [-1]}]",
                "results[0].times[0] is -1, and cannot be negative",
            ),
            ("[{\"command\": \"x\", \"times\": [1e305]}]", "results[0].times[0] is too large"),
            (
                "[{\"command\": \"x\", \"times\": [1], \"exit_codes\": [0, 0]}]",
                "results[0] has 1 times and 2 exit codes",
            ),
            (
                "[{\"command\": \"x\", \"times\": [1], \"exit_codes\": [0.5]}]",
                "results[0].exit_codes[0] is no whole number",
            ),
            (
                "[{\"command\": \"x\", \"times\": [1], \"times\": [1]}]",
                "line 1: it is not the JSON that was expected: the key \"times\" is given twice",
            ),
        ] {
            assert_eq!(refused(results, &Mapping::default()), cause);
        }
    }

    #[test]
    fn results_with_different_parameters_are_refused() {
        let results = |second: &str| {
            format!(
                r#"[{{"command": "x", "times": [1], "parameters": {{"n": "1"}}}},
                    {{"command": "x", "times": [1], "parameters": {second}}}]"#
            )
        };
        let found = refused(&results("{\"m\": \"1\"}"), &Mapping::default());
        assert_eq!(found, "results[1] has no parameter `n`");
        let found = refused(&results("{\"n\": \"2\", \"m\": \"1\"}"), &Mapping::default());
        assert_eq!(found, "results[1] has more parameters than the result before it");
    }
}
