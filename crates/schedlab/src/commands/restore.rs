//! `schedlab restore`: put back whatever an interrupted run left.

use super::hosts_of_user;
use crate::cli::{Common, Restore};
use crate::environment::unseen_journal;
use crate::exit::ExitCode;
use crate::output::{print, tell, tell_lines};
use contract::Result;
use executor::RestoreReport;
use model::on_one_line;
use venues::Host;

pub(super) fn run(common: &Common, arguments: &Restore) -> Result<ExitCode> {
    let hosts = hosts_of_user(common)?;
    if arguments.check {
        return check(&hosts);
    }
    let mut is_clean = true;
    let outcome = under_each(&hosts, |host| {
        if !host.has_journal() {
            return Ok(ExitCode::Done);
        }
        let report = host.restore()?;
        is_clean &= report.is_empty() && report.removed.is_empty();
        let code = if report.is_complete() { ExitCode::Done } else { ExitCode::RestoreIncomplete };
        unless_untold(code, tell_report(&report))
    })?;
    if is_clean {
        print("nothing to put back\n")?;
    }
    Ok(outcome)
}

/// Does this under each runtime directory: what one of them refuses stops none of the others. The
/// highest exit code counts, and every other error is told.
fn under_each(hosts: &[Host], mut deed: impl FnMut(&Host) -> Result<ExitCode>) -> Result<ExitCode> {
    let rank = |outcome: &Result<ExitCode>| match outcome {
        Ok(code) => code.number(),
        Err(error) => ExitCode::from(error).number(),
    };
    let mut worst = Ok(ExitCode::Done);
    for host in hosts {
        let mut other = deed(host);
        if rank(&other) > rank(&worst) {
            std::mem::swap(&mut other, &mut worst);
        }
        if let Err(error) = other {
            tell_lines(&format!("schedlab: {error}"));
        }
    }
    worst
}

/// This exit code, or why it could not be told what it is about. That something is left wins over
/// that; the error is told.
fn unless_untold(code: ExitCode, told: Result<()>) -> Result<ExitCode> {
    match told {
        Err(error) if code == ExitCode::RestoreIncomplete => {
            tell_lines(&format!("schedlab: {error}"));
            Ok(code)
        }
        told => told.map(|()| code),
    }
}

fn tell_report(report: &RestoreReport) -> Result<()> {
    if let Some(why) = &report.unwritten {
        tell(&format!("warning: the journal could not be brought up to date: {why}"));
    }
    for why in &report.warnings {
        tell(&format!("warning: {why}; everything else was done"));
    }
    let mut text = String::new();
    for line in &report.restored {
        text.push_str(&format!("put back {line}\n"));
    }
    for pid in &report.ended {
        text.push_str(&format!("ended process {pid}\n"));
    }
    for path in &report.removed {
        let path = on_one_line(&path.display().to_string());
        text.push_str(&format!("removed {path}\n"));
    }
    for line in &report.left_alone {
        text.push_str(&format!("left alone, somebody else changed it: {line}\n"));
    }
    print(&text)
}

fn check(hosts: &[Host]) -> Result<ExitCode> {
    let mut is_clean = true;
    let outcome = under_each(hosts, |host| {
        let pending = host.pending()?;
        if let Some(why) = host.unseen_environments() {
            tell(&format!("warning: {why}"));
        }
        if let Some(campaign) = host.running() {
            is_clean = false;
            let lines: Vec<String> =
                pending.iter().map(|line| format!("in use: {line}\n")).collect();
            print(&format!(
                "a campaign runs now ({}) and puts back what it uses\n{}",
                on_one_line(&campaign),
                lines.concat()
            ))?;
            return Ok(ExitCode::Done);
        }
        if pending.is_empty() {
            return Ok(ExitCode::Done);
        }
        is_clean = false;
        let lines: Vec<String> =
            pending.iter().map(|line| format!("to put back: {line}\n")).collect();
        unless_untold(ExitCode::RestoreIncomplete, print(&lines.concat()))
    })?;
    if is_clean {
        print("nothing to put back\n")?;
        if let Some(journal) = unseen_journal() {
            print(&format!(
                "{journal} is root's, if there is one, and was not looked at: ask as root\n"
            ))?;
        }
    }
    Ok(outcome)
}
