//! The Go benchmark format, so that benchstat and its kin can read a campaign.

use super::inert::write_inert;
use super::{Page, Renderer};
use crate::attempt::attempt_fields;
use crate::trial_codes::of_campaign;
use crate::view::Report;
use contract::Description;
use model::{Binding, CaveatCode, Direction, Question, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "benchfmt",
    summary: "one line for each block, subject and metric, as benchstat reads it",
    doc: "`benchstat -col subject -ignore block report.bench` compares the subjects. Each value is what \
          a block and subject reduce to: benchstat takes them for independent, knows nothing of blocks \
          and corrects for no family, so its answer is weaker than the verdict's. Only values of \
          compared pairs are written; behind a line `caveats: TCG`, those of an emulated processor. \
          `campaign-caveats` has the codes of the campaign's caveats, and a line `# caveats:`, which \
          benchstat passes over, those of the findings that the values behind it are part of. \
          `schedlab-attempt` says which campaign with these subjects and workloads it is on its \
          machine, `schedlab-attempt-of-plan` which one of this very plan; `unknown` where nobody \
          counted. To put two campaigns into one table, ignore them as you do `campaign`.",
};

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "bench"
    }

    fn is_for_programs(&self) -> bool {
        true
    }

    fn render(&self, report: &Report, _page: &Page, output: &mut dyn Write) -> io::Result<()> {
        if report.design.is_unblocked() {
            let cause = "numbers without blocks have no value for each block and subject; the format csv has their rows";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, cause));
        }
        let mut drawn = Vec::new();
        draw(report, &mut drawn)?;
        write_inert(&drawn, output)
    }
}

fn draw(report: &Report, output: &mut dyn Write) -> io::Result<()> {
    let values = values(report);
    writeln!(output, "campaign: {}", line(&report.campaign))?;
    writeln!(output, "venue: {}", line(&report.design.venue))?;
    writeln!(output, "kernel: {}", line(&report.design.kernel))?;
    let [attempt, of_plan] = attempt_fields(report);
    writeln!(output, "schedlab-attempt: {attempt}\nschedlab-attempt-of-plan: {of_plan}")?;
    if report.binding == Binding::Absent {
        writeln!(output, "evidence: {}", CaveatCode::EvidenceUnbound)?;
    }
    let of_campaign = of_campaign(report);
    if !of_campaign.is_empty() {
        writeln!(output, "campaign-caveats: {}", listed(&of_campaign))?;
    }
    let mut units = BTreeMap::new();
    for (key, of_key) in &values {
        units.insert(unit(&key.metric, of_key.unit), of_key.direction);
    }
    for (unit, direction) in units {
        let better = match direction {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
        };
        writeln!(output, "Unit {unit} better={better}")?;
    }
    let mut current = None;
    let mut is_emulated = false;
    let mut codes = &BTreeSet::new();
    for (key, of_key) in &values {
        if of_key.is_emulated != is_emulated {
            is_emulated = of_key.is_emulated;
            // A key without a value is one that no longer holds.
            let code = if is_emulated { " TCG" } else { "" };
            writeln!(output, "caveats:{code}")?;
        }
        if current != Some((key.subject.as_str(), key.block)) {
            writeln!(output, "subject: {}\nblock: {}", line(&key.subject), key.block + 1)?;
            current = Some((&key.subject, key.block));
        }
        if of_key.codes != *codes {
            codes = &of_key.codes;
            // A line of configuration would keep what differs in it from being compared.
            let line = format!("# caveats: {}", listed(codes));
            writeln!(output, "{}", line.trim_end())?;
        }
        writeln!(
            output,
            "Benchmark{}/metric={} 1 {} {}",
            capitalised(&key.workload),
            name(&key.metric),
            of_key.value,
            unit(&key.metric, of_key.unit)
        )?;
    }
    Ok(())
}

/// Where a value belongs; the order of writing.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    subject: String,
    block: u32,
    workload: String,
    metric: String,
}

struct Value<'r> {
    value: f64,
    unit: Unit,
    direction: Direction,
    is_emulated: bool,
    /// Of the findings that hold it.
    codes: BTreeSet<&'r str>,
}

/// Codes with blanks between.
fn listed(codes: &BTreeSet<&str>) -> String {
    codes.iter().copied().collect::<Vec<_>>().join(" ")
}

/// Each value once, though several comparisons hold it.
fn values(report: &Report) -> BTreeMap<Key, Value<'_>> {
    let mut values: BTreeMap<Key, Value<'_>> = BTreeMap::new();
    for finding in &report.findings.findings {
        let question: &Question = &finding.question;
        for block in &finding.blocks {
            for (subject, value) in
                [(&question.reference, block.reference), (&question.subject, block.subject)]
            {
                let key = Key {
                    subject: subject.clone(),
                    block: block.block,
                    workload: question.workload.clone(),
                    metric: question.metric.clone(),
                };
                let is_emulated = finding.is_emulated;
                let (unit, direction) = (question.unit, question.direction);
                let known = values.remove(&key).map(|one| one.codes).unwrap_or_default();
                let own = finding.caveats.iter().map(|caveat| caveat.code.as_str());
                let codes = known.into_iter().chain(own).collect();
                values.insert(key, Value { value, unit, direction, is_emulated, codes });
            }
        }
    }
    values
}

/// Times are known to every reader; other values have their metric's name for a unit,
/// since one unit has one direction there.
fn unit(metric: &str, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => "ns/op".to_owned(),
        // What is behind a blank would be a unit of its own, and behind an end of a line a line.
        _ => metric.replace(char::is_whitespace, "_"),
    }
}

/// A name without blanks: they end it.
fn name(text: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c == '/' { '_' } else { c };
    text.chars().map(plain).collect()
}

/// The same with a capital, as the name of a benchmark begins.
fn capitalised(text: &str) -> String {
    let mut name = name(text);
    if let Some(first) = name.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// A value of a configuration line.
fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
