//! Tidy rows: one for each iteration value, one for each bucket of a histogram.

use super::{Page, Renderer};
use crate::attempt::attempt_fields;
use crate::observed::places_are_known;
use crate::quantities::stored_unit;
use crate::trial_codes::TrialCodes;
use crate::view::Report;
use contract::Description;
use model::{Outcome, Record, Sample, SampleData};
use std::borrow::Cow;
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "csv",
    summary: "tidy rows of raw data: iterations, buckets, numerators and denominators",
    doc: "Columns: block, position, subject, workload, outcome, invocation, source, kind, index, value, \
          count, unit, detail, caveats, attempt, attempt_of_plan. `kind` is `iteration` (value), `bucket` (value is the bucket's highest \
          value, count how many), `numerator` and `denominator` (the unit is their quotient's), \
          `successes` and `attempts`; `failure` is an invocation that failed, `failed` and `invalid` a \
          trial that ended so, each with its reason in `detail`; `none` is a trial without data. \
          Text that a spreadsheet would calculate (it begins with = + - @ or a tab) has an apostrophe \
          before it, which importing takes away again. Of an import without blocks `execution` stands in \
          place of block and position: its number within its subject and the levels that executions fix. \
          `position` is empty where nothing tells the order inside a block. `caveats` holds with blanks between the codes of the trial's caveats, of the findings that its \
          values are part of, and of the campaign: values under `TCG` are those of an emulated processor. \
          `attempt` says which campaign with these subjects and workloads it is on its machine, and \
          `attempt_of_plan` which one of this very plan: the same in each row, `unknown` where nobody counted.",
};

/// Where a trial stands: what blocks have, and what an import without blocks has. An import knows a
/// table of ours by these columns and those of [`HEADER`] (docs/method.md#m-imported-origins).
const IN_BLOCKS: [&str; 2] = ["block", "position"];
const WITHOUT_BLOCKS: [&str; 1] = ["execution"];

const HEADER: [&str; 14] = [
    "subject",
    "workload",
    "outcome",
    "invocation",
    "source",
    "kind",
    "index",
    "value",
    "count",
    "unit",
    "detail",
    "caveats",
    // Behind all that was there before: a reader that takes columns by place finds each where it
    // was.
    "attempt",
    "attempt_of_plan",
];

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn is_for_programs(&self) -> bool {
        true
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut rows = ::csv::Writer::from_writer(output);
        let place = match report.design.is_unblocked() {
            true => &WITHOUT_BLOCKS[..],
            false => &IN_BLOCKS,
        };
        rows.write_record(place.iter().chain(&HEADER))?;
        let codes = TrialCodes::of(report);
        let attempt = attempt_fields(report);
        for record in &report.records {
            Trial::new(report, record, &codes, &attempt).write(&mut rows)?;
        }
        rows.flush()
    }
}

type Rows<'a> = ::csv::Writer<&'a mut dyn Write>;

/// The fields that the rows of one trial share.
struct Trial<'a> {
    report: &'a Report,
    record: &'a Record,
    /// Under [`WITHOUT_BLOCKS`] or [`IN_BLOCKS`].
    place: Vec<String>,
    outcome: &'static str,
    caveats: String,
    /// Which attempt the campaign is, by both counts.
    attempt: &'a [String; 2],
}

/// The fields of one row beside those of its trial; empty where they mean nothing.
#[derive(Default)]
struct Row<'a> {
    invocation: &'a str,
    source: &'a str,
    kind: &'a str,
    index: &'a str,
    value: &'a str,
    count: &'a str,
    unit: &'a str,
    detail: &'a str,
}

impl<'a> Trial<'a> {
    fn new(
        report: &'a Report,
        record: &'a Record,
        codes: &TrialCodes<'a>,
        attempt: &'a [String; 2],
    ) -> Self {
        let outcome = match &record.outcome {
            Outcome::Completed => "completed",
            Outcome::Failed { .. } => "failed",
            Outcome::Invalid { .. } => "invalid",
        };
        let mut place = vec![record.block.to_string()];
        if !report.design.is_unblocked() {
            let position = places_are_known(report).then(|| record.position.to_string());
            place.push(position.unwrap_or_default());
        }
        let caveats = codes.of_trial(record);
        Self { report, record, place, outcome, caveats, attempt }
    }

    fn write(&self, rows: &mut Rows<'_>) -> io::Result<()> {
        let mut is_empty = true;
        for (number, invocation) in self.record.invocations.iter().enumerate() {
            let number = number.to_string();
            for sample in &invocation.samples {
                is_empty = false;
                self.sample(rows, &number, sample)?;
            }
            if let Some(failure) = &invocation.failure {
                is_empty = false;
                let row =
                    Row { invocation: &number, kind: "failure", detail: failure, ..Row::default() };
                self.row(rows, &row)?;
            }
        }
        let (kind, detail) = match &self.record.outcome {
            Outcome::Failed { reason } => ("failed", reason.clone()),
            Outcome::Invalid { rule, detail } => ("invalid", format!("{rule}: {detail}")),
            Outcome::Completed if is_empty => ("none", String::new()),
            Outcome::Completed => return Ok(()),
        };
        self.row(rows, &Row { kind, detail: &detail, ..Row::default() })
    }

    fn sample(&self, rows: &mut Rows<'_>, invocation: &str, sample: &Sample) -> io::Result<()> {
        let source = sample.source.as_str();
        let known = self.report.units.get(&self.record.workload).and_then(|all| all.get(source));
        let unit = known.map_or("", |unit| stored_unit(*unit));
        let mut put = |kind: &str, index: &str, value: &str, count: &str| {
            let row = Row { invocation, source, kind, index, value, count, unit, ..Row::default() };
            self.row(rows, &row)
        };
        match &sample.data {
            SampleData::Values(values) => {
                for (index, value) in values.iter().enumerate() {
                    put("iteration", &index.to_string(), &value.to_string(), "")?;
                }
                Ok(())
            }
            SampleData::Quotient { numerator, denominator } => {
                put("numerator", "", &numerator.to_string(), "")?;
                put("denominator", "", &denominator.to_string(), "")
            }
            SampleData::Histogram(histogram) => {
                for (index, (value, count)) in histogram.buckets().enumerate() {
                    put("bucket", &index.to_string(), &value.to_string(), &count.to_string())?;
                }
                Ok(())
            }
            SampleData::Proportion { successes, attempts } => {
                put("successes", "", &successes.to_string(), "")?;
                put("attempts", "", &attempts.to_string(), "")
            }
        }
    }

    fn row(&self, rows: &mut Rows<'_>, row: &Row<'_>) -> io::Result<()> {
        let (subject, workload) = (inert(&self.record.subject), inert(&self.record.workload));
        let (source, detail) = (inert(row.source), inert(row.detail));
        let [attempt, of_plan] = self.attempt;
        let fields: [&str; HEADER.len()] = [
            &subject,
            &workload,
            self.outcome,
            row.invocation,
            &source,
            row.kind,
            row.index,
            row.value,
            row.count,
            row.unit,
            &detail,
            &self.caveats,
            attempt,
            of_plan,
        ];
        rows.write_record(self.place.iter().map(String::as_str).chain(fields))?;
        Ok(())
    }
}

/// Text that no spreadsheet takes for a formula (OWASP, CSV injection), and of which nothing is
/// obeyed instead of shown. Ends of lines stay: the field is quoted.
fn inert(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        Cow::Owned(format!("'{}", model::inert_lines(text)))
    } else {
        model::inert_lines(text)
    }
}
