//! Finding campaigns: by name for people, by plan for a resume.

use crate::load::{is_campaign, is_campaign_on, read_environment, read_plan, read_state_on};
use crate::{CampaignState, durable::failed};
use contract::{Error, Result};
use model::{Fingerprint, Plan};
use std::io;
use std::path::{Path, PathBuf};
use sys::{FileAccess, Files, HostFiles};

/// What is locked while a campaign is open. Its other files can be read, and so locked, by everybody.
pub(crate) const LOCK: &str = "writer.lock";

/// The newest campaign that the same command would go on with, and why a newer
/// candidate was not taken, in words for the user.
///
/// # Errors
/// When the results directory cannot be listed.
pub fn find_unfinished(
    results: &Path,
    digest: &str,
    identity: &Fingerprint,
) -> Result<(Option<PathBuf>, Option<String>)> {
    let mut why = None;
    for campaign in all(results)? {
        match obstacle(&campaign, digest, identity) {
            None => return Ok((Some(campaign.directory), why)),
            Some(reason) => {
                why = why.or(reason.map(|reason| format!("{}: {reason}", campaign.name())));
            }
        }
    }
    Ok((None, why))
}

/// The directory of a campaign: a path, a directory name, a unique beginning of
/// one, or `last`.
///
/// # Errors
/// When there is no such campaign, or several.
pub fn resolve(results: &Path, name: &str) -> Result<PathBuf> {
    let path = Path::new(name);
    if is_campaign(path) {
        return Ok(path.to_owned());
    }
    if path.is_dir() {
        // Names what is missing there.
        read_plan(path)?;
    }
    let found = all(results)?;
    let names: Vec<String> = found.iter().map(CampaignEntry::name).collect();
    // A pilot has no verdict to come back to; by its name it can still be opened.
    let is_pilot =
        |found: &&CampaignEntry| read_plan(&found.directory).is_ok_and(|plan| plan.is_pilot);
    if name == "last"
        && let Some(newest) = found.iter().find(|found| !is_pilot(found))
    {
        return Ok(newest.directory.clone());
    }
    if names.iter().any(|known| known == name) {
        return Ok(results.join(name));
    }
    let is_match = |known: &&String| !name.is_empty() && known.starts_with(name);
    let matches: Vec<&String> = names.iter().filter(is_match).collect();
    let attempted = format!("cannot find the campaign `{name}`");
    match matches.as_slice() {
        [only] => Ok(results.join(only)),
        [] if names.is_empty() => Err(Error::usage(
            attempted,
            format!("there is no campaign in {}", results.display()),
            "run an experiment first, or give the path of a campaign directory",
        )),
        [] => Err(Error::usage(
            attempted,
            format!("no campaign in {} begins like that", results.display()),
            format!("the newest are: {}", some(names.iter())),
        )),
        several => Err(Error::usage(
            attempted,
            format!("{} campaigns begin like that", several.len()),
            format!("say which: {}", some(several.iter().copied())),
        )),
    }
}

/// The directories of all campaigns that have ended, the oldest first.
///
/// # Errors
/// When the results directory cannot be listed.
pub fn finished(results: &Path) -> Result<Vec<PathBuf>> {
    let mut found = all(results)?;
    let has_ended = |state| matches!(state, CampaignState::Finished | CampaignState::StoppedEarly);
    found.retain(|campaign| campaign.state.is_some_and(has_ended));
    Ok(found.into_iter().rev().map(|campaign| campaign.directory).collect())
}

/// Campaigns below `results`, the newest first; none where it does not exist.
/// One whose state cannot be read sorts last: it can still be named.
///
/// # Errors
/// When it cannot be listed.
pub fn all(results: &Path) -> Result<Vec<CampaignEntry>> {
    all_on(&HostFiles, results)
}

/// The same of these files.
pub(crate) fn all_on(files: &dyn Files, results: &Path) -> Result<Vec<CampaignEntry>> {
    let names = match files.names(results) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("list", results, &error)),
    };
    let mut found = Vec::new();
    for name in names {
        let directory = results.join(name);
        if !is_campaign_on(files, &directory) {
            continue;
        }
        let state = read_state_on(files, &directory).ok();
        found.push(CampaignEntry {
            created_unix_ns: state.as_ref().map_or(0, |state| state.created_unix_ns),
            state: state.map(|state| state.state),
            directory,
        });
    }
    found.sort_by(|a, b| (b.created_unix_ns, &b.directory).cmp(&(a.created_unix_ns, &a.directory)));
    Ok(found)
}

/// A campaign as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignEntry {
    /// Where it lies.
    pub directory: PathBuf,
    /// When it was created, nanoseconds since 1970; 0 where nobody knows.
    pub created_unix_ns: u64,
    /// Whether it can go on; absent where its state cannot be read.
    pub state: Option<CampaignState>,
}

impl CampaignEntry {
    /// Its directory's name.
    pub fn name(&self) -> String {
        self.directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// Why a campaign is not the one to go on with: `None` when it is, `Some(None)`
/// when it is not even a candidate, so that nobody needs to hear of it.
fn obstacle(
    campaign: &CampaignEntry,
    digest: &str,
    identity: &Fingerprint,
) -> Option<Option<String>> {
    let Some(state) = campaign.state else {
        return Some(Some("its state cannot be read".to_owned()));
    };
    let plan: Plan = match read_plan(&campaign.directory) {
        Ok(plan) => plan,
        Err(error) => return Some(Some(format!("its plan cannot be read ({})", error.cause))),
    };
    let is_same = plan.digest == digest;
    match (state, is_same) {
        (CampaignState::Unfinished, true) => {}
        (CampaignState::Unfinished, false) => {
            return Some(Some(
                "it is unfinished, but belongs to another experiment or another version of this one"
                    .to_owned(),
            ));
        }
        (CampaignState::Finished, true) => return Some(Some("it is finished".to_owned())),
        (CampaignState::StoppedEarly, true) => {
            return Some(Some("it was ended early on purpose".to_owned()));
        }
        (_, false) => return Some(None),
    }
    match read_environment(&campaign.directory) {
        Err(error) => {
            return Some(Some(format!("its fingerprint cannot be read ({})", error.cause)));
        }
        Ok(Some(environment)) => {
            if let Some(change) = changed(&environment.fingerprint, identity) {
                return Some(Some(change));
            }
        }
        // It ended before its first trial: no number of it is from any kernel.
        Ok(None) => {}
    }
    is_in_use(&campaign.directory).then(|| Some("another process is running it".to_owned()))
}

/// What of `identity` the campaign's own fingerprint has otherwise, in words. What
/// the fingerprint does not hold was not known then.
fn changed(began: &Fingerprint, identity: &Fingerprint) -> Option<String> {
    let (key, then, now) = identity.0.iter().find_map(|(key, now)| {
        let then = began.0.get(key).filter(|then| *then != now)?;
        Some((key, then, now))
    })?;
    Some(match key.strip_prefix("program.") {
        Some(path) => format!("{path} has changed since"),
        None => format!("its {key} was {then}, and now it is {now}"),
    })
}

/// Whether a process has it open that may write there; what anybody else locks tells nothing.
fn is_in_use(directory: &Path) -> bool {
    let path = directory.join(LOCK);
    // To look makes no file.
    HostFiles.exists(&path)
        && HostFiles
            .open(&path, FileAccess::Lock)
            .is_ok_and(|file| matches!(file.try_lock(), Ok(false)))
}

/// The first few names, for an error message.
fn some<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    let shown = names[..names.len().min(5)].join(", ");
    if names.len() > 5 { format!("{shown} and {} more", names.len() - 5) } else { shown }
}
