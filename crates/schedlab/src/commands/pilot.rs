//! `schedlab plan --pilot`: a small campaign that says how large the real one must be.

use super::planning::{Planned, make_named, name_of};
use super::run::record;
use crate::cli::{Common, Execution, PlanArguments, PlanOptions, Presentation};
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use contract::{Error, Result};
use model::{PilotFinding, Plan};
use std::fmt::Write;

/// A pilot is 3 blocks of 3 invocations (docs/method.md#m-defaults).
const BLOCKS: &str = "3";
const INVOCATIONS: &str = "3";

pub(super) fn run(
    common: &Common,
    arguments: &PlanArguments,
    planned: &Planned,
) -> Result<ExitCode> {
    let Some(pilot) = small(common, arguments, planned)? else { return Ok(ExitCode::Usage) };
    let execution = Execution {
        fresh: false,
        dry_run: false,
        live: false,
        live_port: 0,
        presentation: Presentation::default(),
    };
    let directory = match record(common, &pilot, &execution)? {
        Ok(directory) => directory,
        Err(code) => return Ok(code),
    };
    let loaded = store::load(&directory)?;
    let findings = analysis::pilot(&planned.plan, &loaded.plan, &loaded.records);
    if arguments.json {
        let text = serde_json::to_string_pretty(&findings)
            .map_err(|error| Error::environment("cannot encode the pilot", error))?;
        print_data(&format!("{text}\n"))?;
    } else {
        print(&text(&planned.plan, &findings))?;
        tell(&format!("the pilot's records are in {}; no verdict uses them", directory.display()));
    }
    Ok(ExitCode::Done)
}

/// The same experiment with few blocks and its own name, without the control arm.
fn small(common: &Common, arguments: &PlanArguments, planned: &Planned) -> Result<Option<Planned>> {
    let experiment = &arguments.experiment;
    let mut set = experiment.options.set.clone();
    set.extend([format!("blocks={BLOCKS}"), format!("invocations={INVOCATIONS}")]);
    if planned.plan.boots.is_some() {
        set.push("boots=1".to_owned());
    }
    for workload in &planned.plan.workloads {
        set.push(format!("workloads.{}.invocations={INVOCATIONS}", workload.label));
    }
    let subjects = planned.plan.subjects.iter().filter(|subject| !subject.is_control).count();
    if subjects > 1 {
        set.push("control=false".to_owned());
    }
    let options =
        PlanOptions { set, venue: experiment.options.venue.clone(), ..PlanOptions::default() };
    let name = format!("{}-pilot", name_of(&experiment.file)?);
    let mut pilot = make_named(common, &experiment.file, &name, &options)?;
    if let Some(pilot) = &mut pilot {
        pilot.plan.is_pilot = true;
    }
    Ok(pilot)
}

fn text(planned: &Plan, findings: &[PilotFinding]) -> String {
    let percent = |value: f64| format!("{} %", model::percent(value, 2));
    let optional = |value: Option<f64>| value.map_or("not seen".to_owned(), percent);
    let blocks = |count: Option<u32>| {
        count.map_or("more than 10 000 blocks".to_owned(), |count| model::counted(count, "block"))
    };
    let most = planned.looks.last().copied().unwrap_or(planned.blocks.len() as u32);
    let mut text = String::new();
    // Writing to a string cannot fail.
    for finding in findings {
        let _ = writeln!(
            text,
            "{} {}: {} against {}, {} of a pilot",
            finding.workload,
            finding.metric,
            finding.subject,
            finding.reference,
            model::counted(finding.pairs, "pair")
        );
        if finding.pairs < 2 {
            let _ = writeln!(text, "  too few complete pairs to say anything\n");
            continue;
        }
        let _ = writeln!(
            text,
            "  variation of iterations {}, of invocations {}, of subject and block {}{}",
            optional(finding.iteration_sd),
            optional(finding.invocation_sd),
            percent(finding.block_sd),
            if finding.clamped.is_empty() {
                String::new()
            } else {
                format!(" (none of its own was seen for {})", finding.clamped.join(" and "))
            }
        );
        let _ = writeln!(
            text,
            "  differences of blocks would vary by {}: {}",
            percent(finding.expected_sd),
            finding.detectable.map_or(
                format!("what {most} blocks find cannot be told"),
                |smallest| format!(
                    "{most} blocks find effects {} with 80 % power",
                    report::effects_found(smallest, report::Language::default())
                )
            )
        );
        let _ = writeln!(
            text,
            "  a difference of the margin ({}) takes {}, showing that there is none {}",
            percent(finding.margin),
            blocks(finding.blocks_for_difference),
            blocks(finding.blocks_for_equivalence)
        );
        if let Some(invocations) = finding.invocations {
            let _ = writeln!(text, "  cheapest number of invocations in a trial: {invocations}");
        }
        text.push('\n');
    }
    text.push_str(
        "A standard deviation from three blocks is itself uncertain by a factor of two or more: plan generously.\n",
    );
    text
}
