//! All campaigns of a directory, `schedlab.campaigns/2`. What a campaign's files said is kept
//! as long as they do not change.

use crate::live_feed::LiveState;
use contract::{Error, Result};
use live::{CampaignLoader, RunState};
use model::{Findings, NumberOrigin, Role, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::{CampaignEntry, CampaignState};
use sys::Machine;

/// What decides whether a campaign is read again.
const FILES: [&str; 7] = [
    "records.jsonl",
    "state.json",
    "findings.json",
    "plan.json",
    "experiment.toml",
    "import.toml",
    "environment.json",
];

/// What is known of campaigns.
#[derive(Default)]
pub(crate) struct ListingCache(BTreeMap<PathBuf, (Vec<Option<Mark>>, Row)>);

/// Length and time of a file.
type Mark = (u64, SystemTime);

/// A campaign of the listing.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ListedCampaign"))]
struct Row {
    name: String,
    title: String,
    venue: String,
    /// Where its numbers come from.
    origin: NumberOrigin,
    kernel: Option<String>,
    begun_ms: u64,
    state: RunState,
    trials_done: usize,
    trials_total: usize,
    is_quick: bool,
    /// Absent where nothing was judged yet.
    verdicts: Option<BTreeMap<Verdict, usize>>,
}

/// All campaigns, the newest first.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "CampaignList"))]
struct Listing {
    format: &'static str,
    campaigns: Vec<Row>,
    problems: Vec<String>,
}

/// Shows the types of the listing to what declares them for the front end.
#[cfg(feature = "typescript")]
pub(crate) fn visit_listing(visitor: &mut impl ts_rs::TypeVisitor) {
    visitor.visit::<Listing>();
}

impl ListingCache {
    /// The listing, the newest campaign first.
    pub(crate) fn json(&mut self, live_state: &LiveState) -> Result<String> {
        let (machine, loader) = (live_state.machine(), live_state.loader());
        let found = store::all(live_state.results())?;
        let mut listing =
            Listing { format: "schedlab.campaigns/2", campaigns: Vec::new(), problems: Vec::new() };
        let mut kept = BTreeMap::new();
        for one in found {
            let marks = FILES.iter().map(|name| mark(&one.directory.join(name))).collect();
            let earlier = self.0.remove(&one.directory).filter(|(before, _)| *before == marks);
            let row = match (earlier, one.state) {
                (Some((_, row)), Some(recorded)) => {
                    Ok(Row { state: state(recorded, &one, machine), ..row })
                }
                _ => row(&one, machine, loader),
            };
            match row {
                Ok(row) => {
                    listing.campaigns.push(row.clone());
                    kept.insert(one.directory, (marks, row));
                }
                Err(error) => {
                    let name = one.name();
                    listing.problems.push(format!("{name} is left out: {}", error.one_line()));
                }
            }
        }
        self.0 = kept;
        // Titles and names come from files.
        serde_json::to_string(&listing)
            .map(|json| model::inert_json(&json))
            .map_err(|error| Error::environment("cannot list campaigns", error))
    }
}

fn mark(path: &Path) -> Option<Mark> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn state(recorded: CampaignState, found: &CampaignEntry, machine: &Machine) -> RunState {
    RunState::of(recorded, || live::is_running(&found.directory, machine))
}

fn row(found: &CampaignEntry, machine: &Machine, loader: &CampaignLoader) -> Result<Row> {
    let loaded = store::load_without_records(&found.directory)?;
    let findings = store::load_findings(&found.directory)?.filter(|_| loaded.is_finished);
    let trials_done = count_records(&found.directory)?;
    let of_records = findings.as_ref().filter(|_| trials_done > 0);
    let origin = NumberOrigin::of(&loaded.plan, of_records);
    let verdicts = findings.and_then(|findings| {
        // What was judged may have been edited since, or cannot be read any more.
        let whole = loader.load(&found.directory).ok()?;
        Some(counts(&findings, !whole.flaws.is_empty()))
    });
    let plan = &loaded.plan;
    Ok(Row {
        name: found.name(),
        title: plan.title.clone(),
        venue: plan.venue.clone(),
        origin,
        kernel: loaded
            .environment
            .as_ref()
            .and_then(|environment| environment.0.get("kernel.release").cloned()),
        begun_ms: loaded.created_unix_ns / 1_000_000,
        state: state(loaded.state, found, machine),
        trials_done,
        trials_total: plan.trial_count(),
        is_quick: plan.is_quick,
        verdicts,
    })
}

/// Verdicts on primary metrics. Changed evidence leaves none.
fn counts(findings: &Findings, is_changed: bool) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings.findings.iter().filter(|one| one.question.role == Role::Primary) {
        let verdict = match finding.verdict {
            Verdict::Better | Verdict::Worse | Verdict::Equivalent if is_changed => {
                Verdict::Inconclusive
            }
            verdict => verdict,
        };
        *counts.entry(verdict).or_insert(0) += 1;
    }
    counts
}

/// Complete records, without reading what is in them.
fn count_records(directory: &Path) -> Result<usize> {
    use std::io::{BufReader, Read};
    let path = directory.join("records.jsonl");
    let counted = sys::open_regular(&path).and_then(|file| {
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let (mut buffer, mut count) = (vec![0; 1 << 16], 0);
        loop {
            let length = reader.read(&mut buffer)?;
            if length == 0 {
                return Ok(count);
            }
            count += buffer[..length].iter().filter(|byte| **byte == b'\n').count();
        }
    });
    counted.map_err(|error| Error::environment(format!("cannot read {}", path.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Plan, VmSettings};
    use store::Campaign;

    #[test]
    fn of_guests_that_were_interrupted_nobody_knows_whether_their_processor_is_a_real_one() {
        let workloads = vec![fixtures::workload("w", Vec::new())];
        let host = fixtures::plan(fixtures::subjects(&["a"]), workloads, 1);
        let guest = Plan { vm: Some(VmSettings::default()), ..host.clone() };
        for (plan, origin) in [(guest, NumberOrigin::Unknown), (host, NumberOrigin::Measured)] {
            let results = tempfile::tempdir().unwrap();
            let campaign = Campaign::create(results.path(), &plan, "", 1, 0xbeef).unwrap();
            let found = store::all(results.path()).unwrap();
            assert_eq!(found[0].directory, campaign.directory());
            let loader = CampaignLoader::new(store::load_without_records);
            let told = row(&found[0], &Machine::host("/nonexistent"), &loader).unwrap();
            assert_eq!((told.origin, told.state), (origin, RunState::Interrupted));
        }
    }
}
