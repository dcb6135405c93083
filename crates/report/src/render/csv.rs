//! Tidy rows: one for each iteration value, one for each bucket of a histogram.

use super::{Page, Renderer};
use crate::view::Report;
use contract::Description;
use model::{Outcome, Record, Sample, SampleData};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "csv",
    summary: "tidy rows of raw data: iterations, buckets, numerators and denominators",
    doc: "Columns: block, position, subject, workload, outcome, invocation, source, kind, index, value, \
          count. `kind` is `iteration` (value), `bucket` (value is the bucket's highest value, count how \
          many), `numerator` and `denominator`, `successes` and `attempts`; a trial without samples has one \
          row of kind `none`. Times are nanoseconds.",
};

const HEADER: [&str; 11] = [
    "block",
    "position",
    "subject",
    "workload",
    "outcome",
    "invocation",
    "source",
    "kind",
    "index",
    "value",
    "count",
];

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let mut writer = ::csv::Writer::from_writer(output);
        writer.write_record(HEADER)?;
        for record in &report.records {
            write_record(&mut writer, record)?;
        }
        writer.flush()
    }
}

type Rows<'a> = ::csv::Writer<&'a mut dyn Write>;

fn write_record(writer: &mut Rows<'_>, record: &Record) -> io::Result<()> {
    let mut is_empty = true;
    for (number, invocation) in record.invocations.iter().enumerate() {
        for sample in &invocation.samples {
            is_empty = false;
            write_sample(writer, record, number, sample)?;
        }
    }
    if is_empty { row(writer, record, "", "", "none", "", "", "") } else { Ok(()) }
}

fn write_sample(
    writer: &mut Rows<'_>,
    record: &Record,
    number: usize,
    sample: &Sample,
) -> io::Result<()> {
    let number = number.to_string();
    let source = sample.source.as_str();
    let mut put = |kind: &str, index: &str, value: &str, count: &str| {
        row(writer, record, &number, source, kind, index, value, count)
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

#[expect(clippy::too_many_arguments, reason = "a row has as many fields as the table has columns")]
fn row(
    writer: &mut Rows<'_>,
    record: &Record,
    invocation: &str,
    source: &str,
    kind: &str,
    index: &str,
    value: &str,
    count: &str,
) -> io::Result<()> {
    let outcome = match &record.outcome {
        Outcome::Completed => "completed",
        Outcome::Failed { .. } => "failed",
        Outcome::Invalid { .. } => "invalid",
    };
    let block = record.block.to_string();
    let position = record.position.to_string();
    writer.write_record([
        block.as_str(),
        &position,
        &record.subject,
        &record.workload,
        outcome,
        invocation,
        source,
        kind,
        index,
        value,
        count,
    ])?;
    Ok(())
}
