//! The campaigns that a machine began: a file that only grows, a line for each of them
//! (docs/method.md#m-attempts).

use model::{Attempt, Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file's name.
const FILE: &str = "attempts.jsonl";
/// A quarter of a million campaigns. A longer file is not ours.
const LARGEST: u64 = 64 << 20;

impl fmt::Display for Attempts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.display())
    }
}

/// What is kept of a campaign.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// When it began, nanoseconds since 1970.
    unix_ns: u64,
    /// Digest of its plan.
    plan: String,
    /// Digest of its subjects and workloads.
    question: String,
    /// Name of its directory.
    campaign: String,
}

/// Where campaigns are counted.
#[derive(Debug, Clone)]
pub struct Attempts(PathBuf);

impl Attempts {
    /// Those of a machine or a user, in this directory.
    pub fn of(directory: &Path) -> Self {
        Self(directory.join(FILE))
    }

    /// Counts a campaign that begins, and says which one it is.
    ///
    /// # Errors
    /// When the file cannot be read or written, or holds what no campaign wrote: then nobody knows.
    pub fn count(&self, plan: &Plan, campaign: &str, unix_ns: u64) -> io::Result<Attempt> {
        if let Some(directory) = self.0.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.0)?;
        // Two campaigns that begin at once are two.
        file.lock()?;
        let entry = Entry {
            unix_ns,
            plan: plan.digest.clone(),
            question: question(plan),
            campaign: campaign.to_owned(),
        };
        let known = entries(&file)?;
        let line = serde_json::to_string(&entry)? + "\n";
        let length = file.metadata()?.len();
        if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.sync_data()) {
            // Half a line would end all counting.
            let _ = file.set_len(length);
            return Err(error);
        }
        let count = |is_same: &dyn Fn(&Entry) -> bool| {
            1 + known.iter().filter(|known| is_same(known)).count() as u64
        };
        Ok(Attempt {
            of_plan: count(&|known| known.plan == entry.plan),
            of_question: count(&|known| known.question == entry.question),
            since_unix_ns: known.first().map_or(unix_ns, |first| first.unix_ns),
        })
    }
}

fn entries(file: &File) -> io::Result<Vec<Entry>> {
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        let why = format!("it is longer than {LARGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let parse = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let why = format!("line {} is none of ours ({error}); remove it", at + 1);
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    };
    text.lines().enumerate().map(parse).collect()
}

/// The digest of what is compared on what: subjects with their levels, and workloads with their
/// parameters. Blocks, seed, margins and metrics are no part of it.
fn question(plan: &Plan) -> String {
    let subjects: Vec<_> = plan
        .subjects
        .iter()
        .filter(|subject| !subject.is_control)
        .map(|subject| (&subject.id, &subject.levels))
        .collect();
    let workloads: Vec<_> = plan
        .workloads
        .iter()
        .map(|workload| (&workload.label, &workload.uses, &workload.parameters))
        .collect();
    let text = serde_json::json!([plan.venue, subjects, workloads]).to_string();
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::plan;

    #[test]
    fn attempts_are_counted_by_plan_and_by_question_since_the_first() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(&home.path().join("deep/state"));
        let first = plan("demo", "one");
        let attempt = |of_plan, of_question| Attempt { of_plan, of_question, since_unix_ns: 5 };
        assert_eq!(attempts.count(&first, "demo-1", 5).unwrap(), attempt(1, 1));
        assert_eq!(attempts.count(&first, "demo-2", 6).unwrap(), attempt(2, 2));
        // More blocks are another plan of the same question.
        let longer = Plan { digest: "two".to_owned(), ..first.clone() };
        assert_eq!(attempts.count(&longer, "demo-3", 7).unwrap(), attempt(1, 3));
        let mut other = longer;
        other.subjects[0].id = "other".to_owned();
        assert_eq!(attempts.count(&other, "demo-4", 8).unwrap(), attempt(2, 1));
    }

    #[test]
    fn a_file_that_no_campaign_wrote_counts_nothing() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        fs::write(home.path().join(FILE), "{\"unix_ns\":").unwrap();
        assert!(attempts.count(&plan("demo", "one"), "demo-1", 5).is_err());
        let blocked = Attempts::of(&home.path().join(FILE));
        assert!(blocked.count(&plan("demo", "one"), "demo-1", 5).is_err());
    }
}
