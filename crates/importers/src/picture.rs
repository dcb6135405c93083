//! What an importer makes of files, drawn compactly for tests.

use crate::{Importer, Mapping, Source, Table, Trouble};
use model::SampleData;
use std::fmt::Write;

/// Reads files of `(subject, bytes)` into one table; an execution counts those of its subject.
pub(crate) fn read(
    importer: &dyn Importer,
    files: &[(&str, &[u8])],
    mapping: &Mapping,
) -> Result<Table, Trouble> {
    let mut table = Table::default();
    for (index, (subject, bytes)) in files.iter().enumerate() {
        let execution = 1 + files[..index].iter().filter(|(earlier, _)| earlier == subject).count();
        importer.read(&Source { subject, execution, bytes }, mapping, &mut table)?;
    }
    Ok(table)
}

/// Why files are refused: `line: cause`.
pub(crate) fn refusal(importer: &dyn Importer, bytes: &[u8], mapping: &Mapping) -> String {
    let trouble = read(importer, &[("a", bytes)], mapping).unwrap_err();
    assert!(!trouble.remedy.is_empty(), "{trouble}");
    trouble.to_string()
}

/// Dimensions, metrics, rows and caveats, a line each.
pub(crate) fn picture(table: &Table) -> String {
    let mut text = String::new();
    for name in &table.dimensions {
        let kind = if table.fixed.contains(name) { "fixed" } else { "covered" };
        let _ = writeln!(text, "dimension {name} {kind}");
    }
    for metric in &table.metrics {
        let is_judged = table.primary.is_empty() || table.primary.contains(&metric.id);
        let _ = writeln!(
            text,
            "metric {} {:?} {:?} {:?} {}{}",
            metric.id,
            metric.unit,
            metric.direction,
            metric.reduction,
            metric.margin,
            if is_judged { " judged" } else { "" }
        );
    }
    if table.is_closed_loop {
        let _ = writeln!(text, "closed loop");
    }
    for row in &table.rows {
        let execution = row.execution.as_deref().unwrap_or("?");
        let _ = write!(text, "{} [{}] #{execution}", row.subject, row.levels.join(", "));
        for sample in &row.samples {
            let _ = match &sample.data {
                SampleData::Values(values) if values.len() == 1 => {
                    write!(text, " {}={}", sample.source, values[0])
                }
                SampleData::Values(values) => write!(text, " {}={values:?}", sample.source),
                SampleData::Histogram(histogram) => write!(
                    text,
                    " {}=n{} p50:{:?} p99:{:?}",
                    sample.source,
                    histogram.count(),
                    histogram.quantile(0.5).unwrap_or(0),
                    histogram.quantile(0.99).unwrap_or(0)
                ),
                other => write!(text, " {}={other:?}", sample.source),
            };
        }
        if let Some(failure) = &row.failure {
            let _ = write!(text, " failed: {failure}");
        }
        text.push('\n');
    }
    for caveat in &table.caveats {
        let _ = writeln!(text, "caveat {}: {}", caveat.code, caveat.detail);
    }
    text
}
