//! `schedlab run`: a campaign to its verdict.

use super::build::build;
use super::plan_description::describe;
use super::planning::{Planned, read};
use super::signals::hear_signals;
use super::{evidence, hosts_of_user, machine, refuse_foreign_runtime, reports, venue};
use crate::cli::{Common, Execution, Presentation, Run};
use crate::dashboard::DashboardProcess;
use crate::environment::random_u64;
use crate::exit::ExitCode;
use crate::output::{print, tell};
use crate::progress::ProgressLine;
use contract::{ErrorKind, Footprint, Result, Venue};
use live::EventLog;
use model::{Findings, Outcome, Plan, Record, Subject, TrialValues, WorkloadPlan};
use signal_hook::consts::SIGINT;
use std::path::{Path, PathBuf};
use store::LoadedCampaign;

pub(super) fn run(common: &Common, arguments: &Run) -> Result<ExitCode> {
    let Some(planned) = read(common, &arguments.experiment)? else { return Ok(ExitCode::Usage) };
    execute(common, &planned, &arguments.execution)
}

/// Runs a planned experiment and shows its verdict.
pub(super) fn execute(
    common: &Common,
    planned: &Planned,
    execution: &Execution,
) -> Result<ExitCode> {
    if execution.dry_run {
        print(&describe(common, &planned.plan)?)?;
        return Ok(ExitCode::Done);
    }
    match record(common, planned, execution)? {
        Ok(directory) => conclude(common, &directory, execution.presentation),
        Err(code) => Ok(code),
    }
}

/// Runs a planned experiment up to its last record: its directory, or the exit code of
/// a run that a signal ended.
pub(super) fn record(
    common: &Common,
    planned: &Planned,
    execution: &Execution,
) -> Result<std::result::Result<PathBuf, ExitCode>> {
    settle_runtime_directories(common, &planned.plan)?;
    let interrupt = hear_signals()?;
    match build(common, &planned.plan, &interrupt) {
        Err(error) if error.kind == ErrorKind::Interrupted => {
            let signal = interrupt.signal().unwrap_or(SIGINT);
            tell(&format!(
                "stopped by signal {signal} before the first trial; nothing was changed"
            ));
            return Ok(Err(ExitCode::Signal(signal)));
        }
        built => built?,
    }
    let venue = venue(common, &planned.plan)?;
    let dashboard = match execution.live {
        true => Some(DashboardProcess::start(
            common,
            execution.live_port,
            execution.presentation.language,
        )?),
        false => None,
    };
    let mut line = ProgressLine::new(common.verbose);
    let mut log = EventLog::new(&machine(common)?);
    let ended = lab::run(
        &lab::Order {
            results: &common.results,
            plan: &planned.plan,
            experiment: &planned.text,
            venue: venue.as_ref(),
            interrupt: &interrupt,
            is_fresh: execution.fresh,
            unix_ns: sys::unix_ns(),
            unique: (random_u64()? & 0xffff) as u16,
            attempts: evidence::attempts(common),
            watched: &|| dashboard.as_ref().and_then(DashboardProcess::watched),
        },
        &mut |event| {
            line.note(&event);
            log.note(&event, sys::unix_ns() / 1_000_000);
        },
    );
    drop(line);
    drop(dashboard);
    let ended = match (ended, interrupt.signal()) {
        (Err(error), Some(signal)) if error.kind == ErrorKind::Interrupted => {
            tell(&format!(
                "stopped by signal {signal} before the first trial; nothing was changed"
            ));
            return Ok(Err(ExitCode::Signal(signal)));
        }
        (ended, _) => ended?,
    };
    if let Some(code) = unfinished(&ended, &planned.plan) {
        return Ok(Err(code));
    }
    Ok(Ok(ended.directory))
}

/// Puts back what is left under other runtime directories of this user, as `restore` does; that of the
/// run is its venue's. A venue that takes no lock of the machine refuses a foreign one instead, which
/// the others do when they take the lock.
fn settle_runtime_directories(common: &Common, plan: &Plan) -> Result<()> {
    if crate::catalogue().venue_of(plan)?.facts().footprint == Footprint::Nothing {
        return refuse_foreign_runtime(common);
    }
    for host in hosts_of_user(common)?.iter().skip(1) {
        for line in host.recover()? {
            tell(&format!("put back what an earlier run left: {line}"));
        }
    }
    Ok(())
}

/// Says why a campaign is not at its end, where it is not.
fn unfinished(ended: &lab::Ended, plan: &Plan) -> Option<ExitCode> {
    let directory = ended.directory.display();
    if let Some(signal) = ended.signal {
        tell(&format!(
            "stopped by signal {signal}; everything was put back. The same command goes on with {directory}"
        ));
        return Some(ExitCode::Signal(signal));
    }
    let boots = ended.awaits_boot?;
    let ran = counted_boots(boots, plan.boots.unwrap_or(boots));
    tell(&format!(
        "{ran}; everything was put back. Boot the machine, then the same command goes on with {directory}"
    ));
    Some(ExitCode::AwaitsBoot)
}

/// How many of a campaign's boots have run their blocks.
fn counted_boots(ran: u32, of: u32) -> String {
    match ran {
        1 => format!("the blocks of the first of {of} boots ran"),
        _ => format!("the blocks of {ran} of {of} boots ran"),
    }
}

/// Judges, writes the report, shows it.
pub(super) fn conclude(
    common: &Common,
    directory: &Path,
    presentation: Presentation,
) -> Result<ExitCode> {
    let loaded = evidence::load(common, directory)?;
    let (findings, values) = reports::with_values(&loaded, || lab::judge(&loaded))?;
    deliver(common, &loaded, (&findings, values), presentation)
}

/// Writes the reports of a campaign that was judged, shows its verdict, and says where to read on.
pub(super) fn deliver(
    common: &Common,
    loaded: &LoadedCampaign,
    judged: (&Findings, TrialValues),
    presentation: Presentation,
) -> Result<ExitCode> {
    let path = reports::deliver(common, loaded, judged, presentation)?;
    print(&format!("\nreport: {}\n", path.display()))?;
    Ok(exit_code(&loaded.plan, &loaded.records))
}

/// 6 when a subject has no completed trial of a workload that was to run for it.
fn exit_code(plan: &Plan, records: &[Record]) -> ExitCode {
    let has_valid = |subject: &Subject, workload: &WorkloadPlan| {
        records.iter().any(|record| {
            record.subject == subject.id
                && record.workload == workload.label
                && record.outcome == Outcome::Completed
        })
    };
    if plan.imported.is_some() {
        // What is missing was missing before; each finding says so.
        return ExitCode::Done;
    }
    let mut lost = Vec::new();
    for subject in &plan.subjects {
        let workloads: Vec<&WorkloadPlan> =
            plan.workloads.iter().filter(|workload| workload.runs_for(subject)).collect();
        let without: Vec<&str> = workloads
            .iter()
            .filter(|workload| !has_valid(subject, workload))
            .map(|workload| workload.label.as_str())
            .collect();
        if without.len() == workloads.len() {
            lost.push(subject.id.clone());
        } else if !without.is_empty() {
            lost.push(format!("{} on {}", subject.id, without.join(" and ")));
        }
    }
    if lost.is_empty() {
        return ExitCode::Done;
    }
    tell(&format!("no valid block for: {}", lost.join(", ")));
    ExitCode::NoValidBlock
}
