//! `schedlab restore`: put back whatever an interrupted run left.

use super::host;
use crate::cli::{Common, Restore};
use crate::environment::unseen_journal;
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::Result;
use venues::Host;

pub(super) fn run(common: &Common, arguments: &Restore) -> Result<ExitCode> {
    let host = host(common)?;
    if arguments.check {
        return check(&host);
    }
    if !host.has_journal() {
        print("nothing to put back\n")?;
        return Ok(ExitCode::Done);
    }
    let report = host.restore()?;
    if let Some(why) = &report.unwritten {
        tell(&format!("warning: the journal could not be brought up to date: {why}"));
    }
    for why in &report.warnings {
        tell(&format!("warning: {why}; everything else was done"));
    }
    if report.is_empty() && report.removed.is_empty() {
        print("nothing to put back\n")?;
    }
    let mut text = String::new();
    for line in &report.restored {
        text.push_str(&format!("put back {line}\n"));
    }
    for pid in &report.ended {
        text.push_str(&format!("ended process {pid}\n"));
    }
    for path in &report.removed {
        let path = path.display().to_string().replace('\n', "\\n");
        text.push_str(&format!("removed {path}\n"));
    }
    for line in &report.left_alone {
        text.push_str(&format!("left alone, somebody else changed it: {line}\n"));
    }
    print(&text)?;
    Ok(if report.is_complete() { ExitCode::Done } else { ExitCode::RestoreIncomplete })
}

fn check(host: &Host) -> Result<ExitCode> {
    let pending = host.pending()?;
    if let Some(campaign) = host.running() {
        let lines: Vec<String> = pending.iter().map(|line| format!("in use: {line}\n")).collect();
        print(&format!(
            "a campaign runs now ({campaign}) and puts back what it uses\n{}",
            lines.concat()
        ))?;
        return Ok(ExitCode::Done);
    }
    if pending.is_empty() {
        print("nothing to put back\n")?;
        if let Some(journal) = unseen_journal() {
            print(&format!(
                "{journal} is root's, if there is one, and was not looked at: ask as root\n"
            ))?;
        }
        return Ok(ExitCode::Done);
    }
    let lines: Vec<String> = pending.iter().map(|line| format!("to put back: {line}\n")).collect();
    print(&lines.concat())?;
    Ok(ExitCode::RestoreIncomplete)
}
