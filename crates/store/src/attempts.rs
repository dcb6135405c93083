//! The campaigns that a machine began: a file that only grows, a line for each of them
//! (docs/method.md#m-attempts).

use crate::documents::{Head, hexadecimal};
use crate::durable::{make_directories, read_limited_on, replace_on};
use crate::known_records::KnownRecords;
use crate::load::{read_state, read_state_on};
use crate::lookup::{CampaignEntry, all};
use model::{Attempt, DOCUMENT_BYTES, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::{Files, HostFiles};

/// The folder beside it: how many records each campaign has, a file for each of them.
const COUNTS: &str = "campaigns";
/// The file's name.
const FILE: &str = "attempts.jsonl";
/// A quarter of a million campaigns. A longer file is not ours.
const LARGEST: u64 = 64 << 20;

impl fmt::Display for Attempts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file.display())
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
    /// What it asks, by parts; absent of lines that an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
}

/// What a campaign compares on what, whatever it calls that.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    venue: String,
    /// Digests of the levels of each subject but the control, in order; of an import, which knows no
    /// levels, those of their names.
    subjects: Vec<String>,
    /// Ids of its workloads in the catalogue; of an import that of its format.
    workloads: BTreeSet<String>,
    /// Digests of the files of an import.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    files: BTreeSet<String>,
}

impl Asked {
    fn of(plan: &Plan) -> Self {
        let subjects = plan.subjects.iter().filter(|subject| !subject.is_control);
        let told = subjects.map(|subject| match plan.imported {
            Some(_) => subject.id.clone(),
            None => serde_json::json!(subject.levels).to_string(),
        });
        let mut subjects: Vec<String> = told.map(|text| hexadecimal(text.as_bytes())).collect();
        subjects.sort();
        Self {
            venue: plan.venue.clone(),
            subjects,
            workloads: plan.workloads.iter().map(|workload| workload.uses.clone()).collect(),
            files: BTreeSet::new(),
        }
    }

    /// Whether another has two of its subjects and one of its workloads, or one of its files.
    fn is_related(&self, other: &Self) -> bool {
        if !self.files.is_disjoint(&other.files) {
            return true;
        }
        let mut left: Vec<&String> = other.subjects.iter().collect();
        let mut shared = 0;
        for subject in &self.subjects {
            if let Some(at) = left.iter().position(|other| *other == subject) {
                left.swap_remove(at);
                shared += 1;
            }
        }
        self.venue == other.venue
            && shared >= self.subjects.len().clamp(1, 2)
            && !self.workloads.is_disjoint(&other.workloads)
    }
}

impl Entry {
    fn is_related(&self, other: &Self) -> bool {
        match (&self.asked, &other.asked) {
            (Some(own), Some(asked)) => own.is_related(asked),
            _ => self.question == other.question,
        }
    }
}

/// Where campaigns are counted.
#[derive(Debug, Clone)]
pub struct Attempts {
    file: PathBuf,
    files: Arc<dyn Files>,
}

impl Attempts {
    /// Those of a machine or a user, in this directory.
    pub fn of(directory: &Path) -> Self {
        Self::on(Arc::new(HostFiles), directory)
    }

    /// The same on these files.
    pub fn on(files: Arc<dyn Files>, directory: &Path) -> Self {
        Self { file: directory.join(FILE), files }
    }

    /// Counts a campaign that begins in the directory of all campaigns, and says which one it is.
    ///
    /// # Errors
    /// When the file cannot be read or written, holds what no campaign wrote, or lacks a campaign
    /// that was counted and lies there: then nobody knows.
    pub fn count(&self, plan: &Plan, begins: (&Path, &str), unix_ns: u64) -> io::Result<Attempt> {
        self.count_asked(plan, Asked::of(plan), begins, unix_ns)
    }

    /// The same of an import of files that hold these bytes.
    ///
    /// # Errors
    /// Those of [`Attempts::count`].
    pub fn count_import(
        &self,
        plan: &Plan,
        files: &[&[u8]],
        begins: (&Path, &str),
        unix_ns: u64,
    ) -> io::Result<Attempt> {
        let files = files.iter().map(|bytes| hexadecimal(bytes)).collect();
        self.count_asked(plan, Asked { files, ..Asked::of(plan) }, begins, unix_ns)
    }

    /// What the machine knows of the records of a campaign that lies in this directory, and ran or
    /// was imported here; `None` where it knows of none.
    pub fn known_records(&self, directory: &Path) -> Option<KnownRecords> {
        let state = read_state_on(&*self.files, directory).ok()?;
        self.known(state.created_unix_ns).map(KnownRecords::new)
    }

    /// Why this user cannot read what the machine knows of its campaigns, where there is something.
    pub fn unreadable(&self) -> Option<io::Error> {
        let error = fs::read_dir(self.file.with_file_name(COUNTS)).err()?;
        (error.kind() == io::ErrorKind::PermissionDenied).then_some(error)
    }

    /// The last record that the machine knows of a campaign that was created then.
    pub(crate) fn known(&self, created_unix_ns: u64) -> Option<Head> {
        let (folder, name) = self.count_of(created_unix_ns);
        let text = read_limited_on(&*self.files, &folder.join(name), &DOCUMENT_BYTES).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Remembers the last record of a campaign that was created then, unless as many are known.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep(&self, created_unix_ns: u64, head: &Head) -> contract::Result<()> {
        if self.known(created_unix_ns).is_some_and(|known| known.records >= head.records) {
            return Ok(());
        }
        let (folder, name) = self.count_of(created_unix_ns);
        if !self.files.exists(&folder) {
            make_directories(&*self.files, &folder)?;
        }
        let text = serde_json::to_vec(head).map_err(|error| {
            contract::Error::environment("cannot write how many records there are", error)
        })?;
        replace_on(&*self.files, &folder, &name, &text)
    }

    /// Where the count of a campaign lies. Its directory may have another name since.
    fn count_of(&self, created_unix_ns: u64) -> (PathBuf, String) {
        (self.file.with_file_name(COUNTS), format!("{created_unix_ns}.json"))
    }

    fn count_asked(
        &self,
        plan: &Plan,
        asked: Asked,
        (results, campaign): (&Path, &str),
        unix_ns: u64,
    ) -> io::Result<Attempt> {
        if let Some(directory) = self.file.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.file)?;
        // Two campaigns that begin at once are two.
        file.lock()?;
        let entry = Entry {
            unix_ns,
            plan: plan.digest.clone(),
            question: question(plan),
            campaign: campaign.to_owned(),
            asked: Some(asked),
        };
        let known = entries(&file)?;
        let line = serde_json::to_string(&entry)? + "\n";
        let length = file.metadata()?.len();
        if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.sync_data()) {
            // Half a line would end all counting.
            let _ = file.set_len(length);
            return Err(error);
        }
        if let Some(lost) = lost(&known, results, campaign, file.metadata()?.uid()) {
            let why = format!(
                "it does not know {lost}, which was counted and lies in {}: it was lost, or that \
                 was counted elsewhere",
                results.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        let count = |is_same: &dyn Fn(&Entry) -> bool| {
            1 + known.iter().filter(|known| is_same(known)).count() as u64
        };
        Ok(Attempt {
            of_plan: count(&|known| known.plan == entry.plan),
            of_question: count(&|known| known.is_related(&entry)),
            since_unix_ns: known.first().map_or(unix_ns, |first| first.unix_ns),
        })
    }
}

/// A counted campaign of the same user that these entries lack, other than the one that begins.
fn lost(known: &[Entry], results: &Path, begins: &str, user: u32) -> Option<String> {
    let names: BTreeSet<&str> = known.iter().map(|entry| entry.campaign.as_str()).collect();
    let times: BTreeSet<u64> = known.iter().map(|entry| entry.unix_ns).collect();
    let is_lost = |campaign: &CampaignEntry| {
        let name = campaign.name();
        // A directory may have another name since.
        let is_known = names.contains(name.as_str()) || times.contains(&campaign.created_unix_ns);
        let is_own = || fs::metadata(&campaign.directory).is_ok_and(|of| of.uid() == user);
        let was_counted =
            || read_state(&campaign.directory).is_ok_and(|state| state.attempt.is_some());
        name != begins && !is_known && is_own() && was_counted()
    };
    let all = all(results).unwrap_or_default();
    all.iter().find(|campaign| is_lost(campaign)).map(CampaignEntry::name)
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

/// The digest of what is compared on what, with its names and in its order, by which earlier versions
/// knew an equal question. Blocks, seed, margins and metrics are no part of it.
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
    hexadecimal(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;
    use crate::fixtures::plan;
    use ::fixtures::{subject, workload};
    use model::{Imported, ImportedDesign, ImportedOrder, WorkloadPlan};

    fn counted(attempts: &Attempts, plan: &Plan, results: &Path, number: u64) -> Attempt {
        attempts.count(plan, (results, &format!("demo-{number}")), number).unwrap()
    }

    #[test]
    fn attempts_are_counted_by_plan_and_by_question_since_the_first() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(&home.path().join("deep/state"));
        let mut first = plan("demo", "one");
        first.subjects = vec![subject("a", &[]), subject("b", &[("base_slice", "1ms")])];
        first.workloads = vec![workload("w", Vec::new())];
        let count = |plan: &Plan, number| counted(&attempts, plan, home.path(), number);
        let attempt = |of_plan, of_question| Attempt { of_plan, of_question, since_unix_ns: 5 };
        assert_eq!(count(&first, 5), attempt(1, 1));
        assert_eq!(count(&first, 6), attempt(2, 2));
        // More blocks are another plan of the same question.
        let longer = Plan { digest: "two".to_owned(), ..first.clone() };
        assert_eq!(count(&longer, 7), attempt(1, 3));
        // Neither names nor order make another question, nor what is asked besides.
        let mut renamed = longer.clone();
        renamed.digest = "three".to_owned();
        renamed.subjects.reverse();
        renamed.subjects[0].id = "other".to_owned();
        renamed.subjects.push(subject("c", &[("base_slice", "9ms")]));
        renamed.workloads[0].label = "x".to_owned();
        renamed.workloads[0].expected_ns = 9;
        renamed.workloads.insert(0, workload("more", Vec::new()));
        assert_eq!(count(&renamed, 8), attempt(1, 4));
        // A level or a workload of its own does.
        let mut other = longer.clone();
        other.digest = "four".to_owned();
        other.subjects[1] = subject("b", &[("base_slice", "2ms")]);
        assert_eq!(count(&other, 9), attempt(1, 1));
        let workloads = vec![workload("v", Vec::new())];
        let other = Plan { digest: "five".to_owned(), workloads, ..longer };
        assert_eq!(count(&other, 10), attempt(1, 1));
    }

    #[test]
    fn an_import_with_another_margin_cut_or_name_is_another_attempt_at_it() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let import = |digest: &str, ids: &[&str]| Plan {
            venue: "import".to_owned(),
            subjects: ::fixtures::subjects(ids),
            workloads: vec![WorkloadPlan { uses: "csv".to_owned(), ..workload("all", Vec::new()) }],
            imported: Some(Imported {
                format: "csv".to_owned(),
                file: "table.csv".to_owned(),
                digest: String::new(),
                design: ImportedDesign::Blocked,
                order: ImportedOrder::Rows,
                caveats: Vec::new(),
                parts: Vec::new(),
                copied: Vec::new(),
            }),
            ..plan("table", digest)
        };
        let mut number = 0;
        let mut count = |plan: &Plan, files: &[&[u8]]| {
            number += 1;
            let name = format!("table-{number}");
            let begins = (home.path(), name.as_str());
            let counted = attempts.count_import(plan, files, begins, number).unwrap();
            (counted.of_plan, counted.of_question)
        };
        let table: &[u8] = b"old,1\nnew,2\n";
        let two = ["old", "new"];
        assert_eq!(count(&import("a", &two), &[table]), (1, 1));
        assert_eq!(count(&import("a", &two), &[table]), (2, 2), "the same again");
        assert_eq!(count(&import("another margin", &two), &[table]), (1, 3));
        assert_eq!(count(&import("a cut", &two), &[b"old,1\n"]), (1, 4));
        let third = ["new", "third", "old"];
        assert_eq!(count(&import("a third subject", &third), &[b"third,3\n"]), (1, 5));
        // The file itself is known under whatever names: three times it was imported.
        assert_eq!(count(&import("renamed", &["x", "y"]), &[b"more", table]), (1, 4));
        assert_eq!(count(&import("others", &["p", "q"]), &[b"p,1\nq,2\n"]), (1, 1));
        let mut other = import("another format", &two);
        other.workloads[0].uses = "fio".to_owned();
        assert_eq!(count(&other, &[b"{}"]), (1, 1));
        // What was run here is none of it, though its subjects have no levels either.
        let ran = Plan { imported: None, venue: "host".to_owned(), ..import("run", &two) };
        let counted = attempts.count(&ran, (home.path(), "ran"), 99).unwrap();
        assert_eq!((counted.of_plan, counted.of_question), (1, 1));
    }

    #[test]
    fn lines_of_an_earlier_version_count_where_all_is_equal() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let plan = plan("demo", "one");
        let line = serde_json::json!({
            "unix_ns": 4, "plan": "other", "question": question(&plan), "campaign": "demo-4"
        });
        fs::write(home.path().join(FILE), format!("{line}\n")).unwrap();
        let attempt = counted(&attempts, &plan, home.path(), 5);
        assert_eq!(attempt, Attempt { of_plan: 1, of_question: 2, since_unix_ns: 4 });
    }

    #[test]
    fn a_file_that_was_lost_beside_counted_campaigns_counts_nothing() {
        const SECOND: u64 = 1_000_000_000;
        let home = tempfile::tempdir().unwrap();
        let results = home.path().join("results");
        let attempts = Attempts::of(&home.path().join("state"));
        let plan = plan("demo", "one");
        let begin = |unix_ns| {
            let mut campaign = Campaign::create(&results, &plan, "", unix_ns, 1).unwrap();
            let name = campaign.directory().file_name().unwrap().to_string_lossy().into_owned();
            let counted = attempts.count(&plan, (&results, &name), unix_ns);
            if let Ok(attempt) = &counted {
                campaign.note_attempt(*attempt).unwrap();
            }
            counted.map(|attempt| attempt.of_plan)
        };
        assert_eq!((begin(SECOND).unwrap(), begin(2 * SECOND).unwrap()), (1, 2));
        fs::remove_dir_all(home.path().join("state")).unwrap();
        for later in 3..5 {
            let why = begin(later * SECOND).unwrap_err().to_string();
            assert!(why.contains("which was counted and lies in"), "{why}");
        }
        // Where nothing lies beside it, nobody can know that it was lost.
        fs::remove_dir_all(&results).unwrap();
        assert_eq!(begin(6 * SECOND).unwrap(), 3);
    }

    #[test]
    fn a_file_that_no_campaign_wrote_counts_nothing() {
        let home = tempfile::tempdir().unwrap();
        let begins = (home.path(), "demo-1");
        let attempts = Attempts::of(home.path());
        fs::write(home.path().join(FILE), "{\"unix_ns\":").unwrap();
        assert!(attempts.count(&plan("demo", "one"), begins, 5).is_err());
        let blocked = Attempts::of(&home.path().join(FILE));
        assert!(blocked.count(&plan("demo", "one"), begins, 5).is_err());
    }
}
