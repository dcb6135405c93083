//! `docs/catalog.md`: every workload, factor, probe and format in its own words.

use contract::{Catalogue, Cost, Description, Factor, Knob, ParameterKind, Probe, Workload};
use model::{Metric, Reduction, Unit, format_duration, format_size};
use std::fmt::Write;

/// The page.
pub fn page(catalogue: &Catalogue) -> String {
    let mut page = String::from(
        "# Catalogue\n\nWritten by `cargo xtask docs` from what each entry says of itself; do not edit.\n",
    );
    page.push_str("\n## Workloads\n");
    for workload in catalogue.workloads {
        section(&mut page, workload.describe(), &about_workload(*workload));
    }
    page.push_str("\n## Factors\n");
    for factor in catalogue.factors {
        section(&mut page, factor.describe(), &about_factor(*factor));
    }
    page.push_str("\n## Probes\n");
    for probe in catalogue.probes {
        section(&mut page, probe.describe(), &about_probe(*probe));
    }
    page.push_str("\n## Imports\n");
    for importer in importers::IMPORTERS {
        section(&mut page, importer.describe(), "");
    }
    page.push_str("\n## Report formats\n");
    for format in schedlab::report_formats() {
        section(&mut page, format, "");
    }
    page
}

fn section(page: &mut String, description: &Description, about: &str) {
    let _ = write!(
        page,
        "\n### `{}`\n\n{}.\n\n{}{}",
        description.id,
        description.summary,
        if about.is_empty() { String::new() } else { format!("{}\n\n", about.trim_end()) },
        deeper_headings(description.doc.trim())
    );
    page.push('\n');
}

/// Headings inside an entry's text lie below the entry's own.
fn deeper_headings(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with('#') { format!("###{line}") } else { line.to_owned() })
        .collect();
    lines.join("\n")
}

fn about_workload(workload: &dyn Workload) -> String {
    let mut about = String::new();
    if !workload.parameters().is_empty() {
        about.push_str("| parameter | value | default | |\n|---|---|---|---|\n");
    }
    for parameter in workload.parameters() {
        let default = parameter.default.map_or("required".to_owned(), |default| {
            if default.is_empty() { "none".to_owned() } else { format!("`{default}`") }
        });
        let _ = writeln!(
            about,
            "| `{}` | {} | {default} | {} |",
            parameter.name,
            cell(&values(&parameter.kind)),
            cell(parameter.summary)
        );
    }
    about.push('\n');
    about.push_str(&metric_table(&workload.usual_metrics()));
    about
}

fn values(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Count { min, max: u64::MAX } => format!("a count from {min}"),
        ParameterKind::Count { min, max } => format!("a count, {min} to {max}"),
        ParameterKind::Duration { min, max } => {
            format!("a duration, {} to {}", format_duration(*min), format_duration(*max))
        }
        ParameterKind::Size { min, max } => {
            format!("a size, {} to {}", format_size(*min), format_size(*max))
        }
        ParameterKind::Number { min, max } => format!("a number, {min} to {max}"),
        ParameterKind::Choice(choices) => {
            choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
        }
        ParameterKind::Text => "text".to_owned(),
        ParameterKind::Flag => "`true` or `false`".to_owned(),
        ParameterKind::Words => "a command: a list, or one text split as a shell does".to_owned(),
        ParameterKind::Table => "tables by name".to_owned(),
    }
}

fn metric_table(metrics: &[Metric]) -> String {
    let mut table = String::from(
        "| metric | unit | better | reduced by | margin | |\n|---|---|---|---|---|---|\n",
    );
    for metric in metrics {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} | {} % | {} |",
            metric.id,
            unit(metric.unit),
            metric.direction.to_string().trim_end_matches(" is better"),
            reduction(metric.reduction),
            metric.margin * 100.0,
            cell(&metric.summary)
        );
    }
    table
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "time",
        Unit::PerSecond => "per second",
        Unit::PerOperation => "per operation",
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes per second",
        Unit::Fraction => "fraction",
        Unit::Joules => "joules",
        Unit::Plain => "as the program says",
    }
}

fn reduction(reduction: Reduction) -> String {
    match reduction {
        Reduction::Median => "median".to_owned(),
        Reduction::Mean => "mean".to_owned(),
        Reduction::Quotient => "sum over sum".to_owned(),
        Reduction::Quantile(quantile) => format!("quantile {quantile} of the merged histogram"),
        Reduction::Proportion => "successes over attempts".to_owned(),
    }
}

fn about_factor(factor: &dyn Factor) -> String {
    let examples: Vec<String> =
        factor.examples().iter().map(|example| format!("`{example}`")).collect();
    let applied_by = match factor.knob() {
        Knob::System(_) => "the executor, in files of the kernel; journalled and put back",
        Knob::Held(_) => "a process that the executor starts for each trial and ends after it",
        Knob::Launch(_) => "the workload's own process, before it prepares; ends with it",
        Knob::Boot(_) => "the venue `vm`, when it boots a machine",
        Knob::Simulated => "the simulator only",
    };
    format!(
        "- level: {}, such as {}\n- applied by: {applied_by}\n",
        factor.syntax(),
        examples.join(", ")
    )
}

fn about_probe(probe: &dyn Probe) -> String {
    let cost = match probe.cost() {
        Cost::BeforeAfter => "reads before and after the run".to_owned(),
        Cost::Periodic { hertz } => format!("wakes {hertz} times a second during the run"),
        Cost::PerEvent => "acts on every event: never answers a latency question".to_owned(),
    };
    format!("- cost: {cost}\n\n{}", metric_table(&probe.metrics()))
}

/// Text inside a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_section_and_a_text() {
        let catalogue = schedlab::catalogue();
        let page = page(&catalogue);
        let descriptions = (catalogue.workloads.iter().map(|entry| entry.describe()))
            .chain(catalogue.factors.iter().map(|entry| entry.describe()))
            .chain(catalogue.probes.iter().map(|entry| entry.describe()));
        let mut sections = 0;
        for description in descriptions {
            assert!(page.contains(&format!("\n### `{}`\n", description.id)), "{}", description.id);
            assert!(description.doc.trim().len() > 40, "{} explains nothing", description.id);
            sections += 1;
        }
        assert!(sections > 10, "{sections} entries");
    }

    #[test]
    fn a_cell_stays_one_cell() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
        assert_eq!(deeper_headings("# A\ntext"), "#### A\ntext");
    }
}
