//! The campaigns that a machine began: a file that only grows, a line for each of them
//! (docs/method.md#m-attempts).

use crate::compact_json::compact_text;
use crate::documents::{Head, hexadecimal};
use crate::durable::{make_directories, read_limited_on, replace_on};
use crate::known_records::KnownRecords;
use crate::load::read_state_on;
use crate::lookup::{CampaignEntry, all_on};
use contract::shared_names::{COMMAND_LINE, SERVICE_COMMAND_LINE};
use model::{
    Attempt, DOCUMENT_BYTES, Level, ParameterValue, Parameters, Plan, Subject, WorkloadPlan,
    fault_of_line,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use sys::{FileAccess, Files, HostFiles, OpenFile};

/// The folder beside it: how many records each campaign has, a file for each of them.
const COUNTS: &str = "campaigns";
/// The file's name.
const FILE: &str = "attempts.jsonl";
/// What is locked while it is read and written. The file itself can be read, and so locked, by
/// everybody.
const LOCK: &str = "attempts.lock";
/// What helps where a directory is refused.
const REMEDY: &str = "take from others the right to write there (chmod go-w), or let the state of a \
    user lie elsewhere (XDG_STATE_HOME)";
/// How long a campaign waits for another that is being counted, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks at whether it still is.
const PAUSE: Duration = Duration::from_millis(20);
/// A hundred thousand campaigns. A longer file is not ours.
const LARGEST: u64 = 64 << 20;
/// Version of a line. Lines of the first name none: the oldest know a question by one digest, later
/// ones by the whole levels of each subject.
const FORMAT: &str = "schedlab.attempt/2";
/// Letters that are kept of a digest: 64 bits tell all that one machine ever compares apart.
const DIGITS: usize = 16;
/// Parameters by which a workload that runs any program is told which one.
const PROGRAMS: [&str; 2] = [COMMAND_LINE, SERVICE_COMMAND_LINE];

impl fmt::Display for Attempts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file.display())
    }
}

/// What is kept of a campaign.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// [`FORMAT`]; absent of lines that an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
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
    /// levels, those of their names. Lines without `compared` are known by them, and earlier versions
    /// know this line by them.
    subjects: Vec<String>,
    /// Ids of its workloads in the catalogue; of an import that of its format.
    workloads: BTreeSet<String>,
    /// Digests of the files of an import.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    files: BTreeSet<String>,
    /// The same in parts that can be told apart; absent of lines that an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compared: Option<Compared>,
}

/// What two campaigns have in common where they compare the same, whatever else their plans say.
#[derive(Debug, Serialize, Deserialize)]
struct Compared {
    /// A digest of each level of each subject but the control; of an import, of its name. Levels
    /// that are defaults of their factors stand here too, and are left out whenever two lines are
    /// compared, so that a line of a version that knew no defaults is matched as one of today is.
    subjects: Vec<BTreeSet<String>>,
    /// The same, where a subject is given a parameter of a workload, with the value of that parameter
    /// for every subject, its workload's own where it is not given one. Empty where none is given one,
    /// and in lines of earlier versions, which are matched by what stands above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    effective: Vec<BTreeSet<String>>,
    /// A digest of each kind of workload: its id, and the program where any can be run.
    workloads: BTreeSet<String>,
}

/// What one of two subjects has that the other lacks, in an order that does not depend on theirs.
type Pair<'l> = [BTreeSet<&'l str>; 2];

/// Digests of pairs, ascending. A thousand subjects differ by half a million pairs, which would
/// take hundreds of megabytes; two of so many digests of 64 bits are equal by chance once in a
/// million campaigns.
#[derive(Debug, Default)]
struct PairDigests(Vec<u64>);

impl PairDigests {
    fn of(compared: &Compared) -> Self {
        let mut digests: Vec<u64> = compared.pairs().map(|pair| digest(&pair)).collect();
        digests.sort_unstable();
        Self(digests)
    }
}

/// The digest of a pair, which is only compared with others of the same process.
fn digest(pair: &Pair<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    pair.hash(&mut hasher);
    hasher.finish()
}

impl Compared {
    fn of(plan: &Plan) -> Self {
        let of_subject = |subject: &Subject| -> BTreeSet<String> {
            if plan.imported.is_some() {
                return BTreeSet::from([short_digest(&subject.id)]);
            }
            subject.levels.iter().map(|(id, level)| level_digest(id, level)).collect()
        };
        let subjects: Vec<&Subject> =
            plan.subjects.iter().filter(|subject| !subject.is_control).collect();
        Self {
            effective: effective(plan, &subjects),
            subjects: subjects.into_iter().map(of_subject).collect(),
            workloads: plan.workloads.iter().flat_map(kinds).collect(),
        }
    }

    /// Leaves these levels out: its subjects have them without being told.
    fn leave_out(&mut self, defaults: &BTreeSet<String>) {
        for subject in self.subjects.iter_mut().chain(&mut self.effective) {
            subject.retain(|level| !defaults.contains(level));
        }
    }

    /// How each two of its subjects differ. A level that both have is no part of it, so that giving
    /// one to all subjects makes no other pair. A subject that is alone differs from none, and is
    /// known by all of its levels: twice, as no two subjects can differ.
    fn pairs(&self) -> impl Iterator<Item = Pair<'_>> {
        let alone = match self.subjects.as_slice() {
            [only] => Some([texts(only.iter()), texts(only.iter())]),
            _ => None,
        };
        differences(&self.subjects).chain(differences(&self.effective)).chain(alone)
    }

    /// Whether another, which differs by these pairs, has one of its pairs and one of its workloads.
    fn is_related(&self, other: &Self, pairs: &PairDigests) -> bool {
        !self.workloads.is_disjoint(&other.workloads)
            && self.pairs().any(|pair| pairs.0.binary_search(&digest(&pair)).is_ok())
    }
}

/// The digest of a factor or parameter with its level.
fn level_digest(id: &str, level: &Level) -> String {
    short_digest(&compact_text(&(id, level)))
}

/// How each two of these differ.
fn differences(subjects: &[BTreeSet<String>]) -> impl Iterator<Item = Pair<'_>> {
    subjects.iter().enumerate().flat_map(move |(at, one)| {
        subjects[..at].iter().map(move |other| {
            let mut pair = [texts(one.difference(other)), texts(other.difference(one))];
            pair.sort();
            pair
        })
    })
}

/// Digests of what each of several subjects runs with, where one of them is given a parameter: its
/// levels, and the value of each such parameter, which it is given or has of the workload itself.
fn effective(plan: &Plan, subjects: &[&Subject]) -> Vec<BTreeSet<String>> {
    let is_parameter = |id: &&String| id.contains('.');
    let given =
        texts(subjects.iter().flat_map(|subject| subject.levels.keys().filter(is_parameter)));
    if given.is_empty() || subjects.len() < 2 {
        return Vec::new();
    }
    let of_subject = |subject: &&Subject| {
        let missing = given.iter().filter(|id| !subject.levels.contains_key(**id));
        let own: Vec<(&str, Level)> =
            missing.filter_map(|id| Some((*id, own_value(plan, subject, id)?))).collect();
        let own = own.iter().map(|(id, level)| level_digest(id, level));
        subject.levels.iter().map(|(id, level)| level_digest(id, level)).chain(own).collect()
    };
    subjects.iter().map(of_subject).collect()
}

/// The value of a parameter that a subject is not given; none where its workloads differ in it.
fn own_value(plan: &Plan, subject: &Subject, id: &str) -> Option<Level> {
    let (uses, name) = id.split_once('.')?;
    let runs = |workload: &&WorkloadPlan| workload.uses == uses && workload.runs_for(subject);
    let value = |workload: &WorkloadPlan| {
        workload.parameters_for(subject).0.get(name).and_then(ParameterValue::word)
    };
    let mut values = plan.workloads.iter().filter(runs).map(value);
    let first = values.next()??;
    values.all(|other| other.as_ref() == Some(&first)).then(|| Level::canonical(first))
}

fn texts<'l>(all: impl Iterator<Item = &'l String>) -> BTreeSet<&'l str> {
    all.map(String::as_str).collect()
}

/// What kinds of workload it is: one, unless its subjects run different programs.
fn kinds(workload: &WorkloadPlan) -> Vec<String> {
    let kind = |parameters| match program(parameters) {
        Some(program) => short_digest(&format!("{} {program}", workload.uses)),
        None => short_digest(&workload.uses),
    };
    workload.all_parameters().map(kind).collect()
}

/// The name of the program that such a workload runs. `env`, its options and variables before it
/// make it no other program.
fn program(parameters: &Parameters) -> Option<&str> {
    let words = PROGRAMS.iter().find_map(|name| match parameters.0.get(*name) {
        Some(ParameterValue::Words(words)) => Some(words),
        _ => None,
    })?;
    let names = words.iter().filter(|word| !word.contains('=') && !word.starts_with('-'));
    let mut names = names.map(|word| word.rsplit('/').next().unwrap_or(word));
    names.find(|name| *name != "env")
}

/// The beginning of a digest, which keeps lines short.
fn short_digest(text: &str) -> String {
    let mut digest = hexadecimal(text.as_bytes());
    digest.truncate(DIGITS);
    digest
}

impl Asked {
    fn of(plan: &Plan) -> Self {
        let subjects = plan.subjects.iter().filter(|subject| !subject.is_control);
        let told = subjects.map(|subject| match plan.imported {
            Some(_) => subject.id.clone(),
            None => compact_text(&subject.levels),
        });
        let mut subjects: Vec<String> = told.map(|text| hexadecimal(text.as_bytes())).collect();
        subjects.sort();
        Self {
            venue: plan.venue.clone(),
            subjects,
            workloads: plan.workloads.iter().map(|workload| workload.uses.clone()).collect(),
            files: BTreeSet::new(),
            compared: Some(Compared::of(plan)),
        }
    }

    /// Whether another, whose subjects differ by these pairs, compares two subjects that differ as
    /// two of its own by one of its workloads, or has one of its files.
    fn is_related(&self, other: &Self, pairs: &PairDigests) -> bool {
        if !self.files.is_disjoint(&other.files) {
            return true;
        }
        self.venue == other.venue
            && match (&self.compared, &other.compared) {
                (Some(own), Some(compared)) => own.is_related(compared, pairs),
                _ => self.has_equal_subjects(other),
            }
    }

    /// Whether another has two subjects with all of the levels of two of its own, defaults too, and
    /// one of its workloads: all that lines of an earlier version know.
    fn has_equal_subjects(&self, other: &Self) -> bool {
        let mut left: Vec<&String> = other.subjects.iter().collect();
        let mut shared = 0;
        for subject in &self.subjects {
            if let Some(at) = left.iter().position(|other| *other == subject) {
                left.swap_remove(at);
                shared += 1;
            }
        }
        shared >= self.subjects.len().clamp(1, 2) && !self.workloads.is_disjoint(&other.workloads)
    }
}

impl Entry {
    /// The same without these levels, which change nothing. Lines without `compared` know no single
    /// level and stay as they are.
    fn without(mut self, defaults: &BTreeSet<String>) -> Self {
        if let Some(compared) = self.asked.as_mut().and_then(|asked| asked.compared.as_mut()) {
            compared.leave_out(defaults);
        }
        self
    }

    /// How each two of its subjects differ.
    fn pairs(&self) -> PairDigests {
        let compared = self.asked.as_ref().and_then(|asked| asked.compared.as_ref());
        compared.map(PairDigests::of).unwrap_or_default()
    }

    /// Whether a campaign whose subjects differ by these pairs is another attempt at what this one
    /// asks.
    fn is_related(&self, other: &Self, pairs: &PairDigests) -> bool {
        self.plan == other.plan
            || match (&self.asked, &other.asked) {
                (Some(own), Some(asked)) => own.is_related(asked, pairs),
                _ => self.question == other.question,
            }
    }
}

/// Where campaigns are counted.
#[derive(Debug, Clone)]
pub struct Attempts {
    file: PathBuf,
    files: Arc<dyn Files>,
    /// Digests of levels that change nothing.
    defaults: BTreeSet<String>,
}

impl Attempts {
    /// Those of a machine or a user, in this directory.
    pub fn of(directory: &Path) -> Self {
        Self::on(Arc::new(HostFiles), directory)
    }

    /// The same on these files.
    pub fn on(files: Arc<dyn Files>, directory: &Path) -> Self {
        Self { file: directory.join(FILE), files, defaults: BTreeSet::new() }
    }

    /// The same, where these levels by factor are what a subject has that is not given one: a
    /// subject with one of them is counted as the same without it, in lines that are there already
    /// too. Lines that know a subject by one digest of all its levels are matched by all of them.
    #[must_use]
    pub fn with_defaults(self, levels: BTreeMap<String, Level>) -> Self {
        let defaults = levels.iter().map(|(id, level)| level_digest(id, level)).collect();
        Self { defaults, ..self }
    }

    /// Counts a campaign that begins in the directory of all campaigns, and says which one it is.
    ///
    /// # Errors
    /// When the file cannot be read or written, holds what no campaign wrote, or lacks a campaign
    /// that was counted and lies there, or another user can write in its directory: then nobody
    /// knows.
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
        let error = self.files.names(&self.file.with_file_name(COUNTS)).err()?;
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
    /// When it cannot be written, or another user can write in its directory.
    pub(crate) fn keep(&self, created_unix_ns: u64, head: &Head) -> contract::Result<()> {
        let (folder, name) = self.count_of(created_unix_ns);
        self.refuse_foreign().map_err(|error| {
            contract::Error::environment(format!("cannot write in {}", folder.display()), error)
        })?;
        if self.known(created_unix_ns).is_some_and(|known| known.records >= head.records) {
            return Ok(());
        }
        if !self.files.exists(&folder) {
            make_directories(&*self.files, &folder)?;
        }
        let text = serde_json::to_vec(head).map_err(|error| {
            contract::Error::environment("cannot write how many records there are", error)
        })?;
        replace_on(&*self.files, &folder, &name, &text)
    }

    /// Refuses to write where another user could lead it elsewhere, or choose what is counted.
    fn refuse_foreign(&self) -> io::Result<()> {
        let Some(directory) = self.file.parent() else { return Ok(()) };
        self.files.check_private(directory).map_err(|error| match sys::is_untrusted(&error) {
            true => io::Error::new(error.kind(), format!("{error}; {REMEDY}")),
            false => error,
        })
    }

    /// Where the count of a campaign lies. Its directory may have another name since.
    fn count_of(&self, created_unix_ns: u64) -> (PathBuf, String) {
        (self.file.with_file_name(COUNTS), format!("{created_unix_ns}.json"))
    }

    /// The lock under which campaigns are counted, held for as long as the file is open.
    fn locked(&self) -> io::Result<Box<dyn OpenFile>> {
        let path = self.file.with_file_name(LOCK);
        let file = self.files.open(&path, FileAccess::Lock)?;
        let deadline = Instant::now() + PATIENCE;
        while !file.try_lock()? {
            if Instant::now() >= deadline {
                let seconds = PATIENCE.as_secs();
                let why = format!("another process has held {} for {seconds} s", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(file)
    }

    /// Waits until the names of a new file and of its directory are stored.
    fn sync_names(&self) -> io::Result<()> {
        let above = self.file.ancestors().skip(1).take(2);
        for directory in above.filter(|above| !above.as_os_str().is_empty()) {
            match self.files.sync_directory(directory) {
                // Somebody else made what lies there, and this user cannot open it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    fn count_asked(
        &self,
        plan: &Plan,
        asked: Asked,
        (results, campaign): (&Path, &str),
        unix_ns: u64,
    ) -> io::Result<Attempt> {
        self.refuse_foreign()?;
        if let Some(directory) = self.file.parent() {
            self.files.make_directories(directory)?;
        }
        // Two campaigns that begin at once are two.
        let _lock = self.locked()?;
        // Of the counts of records, which are written after every trial.
        self.files.sweep_drafts(&self.file.with_file_name(COUNTS));
        // No other name of a file: the user who put it there would choose what is counted in.
        let mut file = self.files.open(&self.file, FileAccess::Append)?;
        if file.links()? > 1 {
            let why = "the file has another name, too: look who made it, and remove it";
            return Err(io::Error::other(why));
        }
        let entry = Entry {
            format: Some(FORMAT.to_owned()),
            unix_ns,
            plan: plan.digest.clone(),
            question: question(plan),
            campaign: campaign.to_owned(),
            asked: Some(asked),
        };
        let line = serde_json::to_string(&entry)? + "\n";
        let entry = entry.without(&self.defaults);
        let read = entries(&mut *file)?.into_iter();
        let known: Vec<Entry> = read.map(|known| known.without(&self.defaults)).collect();
        let length = file.length()?;
        if length == 0 {
            self.sync_names()?;
        }
        if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.sync_data()) {
            // Half a line would end all counting, also after a cut of power.
            let _ = file.set_length(length).and_then(|()| file.sync_data());
            return Err(error);
        }
        if let Some(lost) = self.lost(&known, results, campaign, file.owner()?) {
            let why = format!(
                "it does not know {lost}, which was counted and lies in {}: it was lost, or that \
                 was counted elsewhere",
                results.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        let pairs = entry.pairs();
        let count = |is_same: &dyn Fn(&Entry) -> bool| {
            1 + known.iter().filter(|known| is_same(known)).count() as u64
        };
        Ok(Attempt {
            of_plan: count(&|known| known.plan == entry.plan),
            of_question: count(&|known| known.is_related(&entry, &pairs)),
            since_unix_ns: known.first().map_or(unix_ns, |first| first.unix_ns),
        })
    }

    /// A counted campaign of the same user that these entries lack, other than the one that begins.
    fn lost(&self, known: &[Entry], results: &Path, begins: &str, user: u32) -> Option<String> {
        let files = &*self.files;
        let names: BTreeSet<&str> = known.iter().map(|entry| entry.campaign.as_str()).collect();
        let mut times: Vec<u64> = known.iter().map(|entry| entry.unix_ns).collect();
        times.sort_unstable();
        let is_lost = |campaign: &CampaignEntry| {
            let (name, directory) = (campaign.name(), &campaign.directory);
            // A directory may have another name since.
            let is_known = names.contains(name.as_str())
                || times.binary_search(&campaign.created_unix_ns).is_ok();
            let is_own = || files.owner(directory).is_ok_and(|owner| owner == user);
            let was_counted =
                || read_state_on(files, directory).is_ok_and(|state| state.attempt.is_some());
            name != begins && !is_known && is_own() && was_counted()
        };
        let all = all_on(files, results).unwrap_or_default();
        all.iter().find(|campaign| is_lost(campaign)).map(CampaignEntry::name)
    }
}

fn entries(file: &mut dyn OpenFile) -> io::Result<Vec<Entry>> {
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        let why = format!("it is longer than {LARGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let broken = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let parse = |(at, line): (usize, &str)| {
        let number = at + 1;
        if line.trim().is_empty() {
            return Err(broken(format!("line {number} is empty; remove it")));
        }
        let entry: Entry = serde_json::from_slice(line.as_bytes()).map_err(|error| {
            let fault = fault_of_line(&error);
            broken(format!("line {number} is none of ours ({fault}); remove it"))
        })?;
        match entry.format.as_deref() {
            None | Some(FORMAT) => Ok(entry),
            // What it counts as is not known here, and a guess would be a wrong number.
            Some(later) => Err(broken(format!(
                "line {number} is {later}, which a later version wrote; count with that one"
            ))),
        }
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
    hexadecimal(compact_text(&(&plan.venue, subjects, workloads)).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;
    use crate::fixtures::plan;
    use ::fixtures::{imported, subject, workload};
    use model::{ImportedDesign, ImportedOrder, Variant};
    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::mpsc::channel;
    use std::time::SystemTime;

    fn counted(attempts: &Attempts, plan: &Plan, results: &Path, number: u64) -> Attempt {
        attempts.count(plan, (results, &format!("demo-{number}")), number).unwrap()
    }

    #[test]
    fn nothing_is_counted_through_a_link_or_in_a_file_that_has_another_name() {
        let home = tempfile::tempdir().unwrap();
        let (state, other) = (home.path().join("state"), home.path().join("other"));
        let attempts = Attempts::of(&state);
        fs::create_dir(&state).unwrap();
        fs::write(&other, "as it was").unwrap();
        let refused = |words: &str| {
            let counted = attempts.count(&plan("demo", "one"), (home.path(), "demo-1"), 1);
            assert!(counted.unwrap_err().to_string().contains(words));
            fs::remove_file(state.join(FILE)).unwrap();
        };
        for elsewhere in [other.clone(), home.path().join("absent")] {
            std::os::unix::fs::symlink(elsewhere, state.join(FILE)).unwrap();
            refused("a link has that name");
        }
        fs::hard_link(&other, state.join(FILE)).unwrap();
        refused("the file has another name");
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert!(!home.path().join("absent").exists());
        counted(&attempts, &plan("demo", "one"), home.path(), 1);
    }

    #[test]
    fn what_a_killed_process_left_of_a_count_goes_when_the_next_campaign_is_counted() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(&home.path().join("state"));
        let head = Head { records: 1, digest: "d".to_owned(), end: None };
        attempts.keep(1, &head).unwrap();
        let (folder, name) = attempts.count_of(1);
        let left = folder.join(sys::draft_name(name.as_ref(), 7));
        let file = File::create(&left).unwrap();
        file.set_modified(SystemTime::now() - 2 * sys::GRACE_PERIOD).unwrap();
        counted(&attempts, &plan("demo", "one"), home.path(), 1);
        assert!(!left.exists());
        assert_eq!(attempts.known(1), Some(head));
    }

    #[test]
    fn nothing_is_counted_where_another_user_may_write_and_nothing_is_changed_there() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        fs::create_dir(&state).unwrap();
        let set_mode = |mode| {
            fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
        };
        let head = Head { records: 1, digest: "d".to_owned(), end: None };
        set_mode(0o777);
        for directory in [state.clone(), state.join("deeper")] {
            let attempts = Attempts::of(&directory);
            let counted = attempts.count(&plan("demo", "one"), (home.path(), "demo-1"), 1);
            assert!(sys::is_untrusted(&counted.unwrap_err()), "{attempts}");
            let kept = attempts.keep(1, &head).unwrap_err();
            assert!(kept.cause.contains("others may write there"), "{kept}");
        }
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o7777, 0o777);
        set_mode(0o755);
        let attempts = Attempts::of(&state);
        assert_eq!(counted(&attempts, &plan("demo", "one"), home.path(), 2).of_plan, 1);
        attempts.keep(1, &head).unwrap();
        assert!(attempts.known(1).is_some());
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o7777, 0o755);
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

    /// Two subjects that differ in one level.
    fn compared() -> Plan {
        let mut plan = plan("demo", "0");
        plan.subjects = vec![subject("a", &[]), subject("b", &[("base_slice", "1ms")])];
        plan.workloads = vec![workload("w", Vec::new())];
        plan
    }

    #[test]
    fn twenty_six_variants_that_change_no_difference_are_twenty_six_attempts() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let shared = |plan: &mut Plan, factor: &str, level: &str| {
            for subject in &mut plan.subjects {
                subject.levels.insert(factor.to_owned(), Level::canonical(level));
            }
        };
        let change = |plan: &mut Plan, number: u64| match number % 13 {
            0 => {}
            1 => shared(plan, "nice", "0"),
            2 => shared(plan, "kernel", &format!("6.{number}")),
            3 => shared(plan, "w.groups", &number.to_string()),
            4 => plan.name = format!("renamed-{number}"),
            5 => plan.title = format!("another title {number}"),
            6 => plan.seed = number,
            7 => plan.venue_settings.values = [("boots".to_owned(), number.to_string())].into(),
            8 => plan.blocks.truncate(1),
            9 => plan.alpha = 0.01,
            10 => {
                plan.is_quick = true;
                plan.options = vec!["--quick".to_owned(), "--set".to_owned()];
            }
            11 => {
                plan.subjects.reverse();
                plan.subjects[0].id = format!("other-{number}");
                // The third differs from the others in what these share.
                plan.subjects.push(subject("c", &[("nice", "7")]));
                for one in &mut plan.subjects[..2] {
                    one.levels.insert("nice".to_owned(), Level::canonical("3"));
                }
            }
            _ => {
                plan.workloads[0].label = format!("mine-{number}");
                plan.workloads[0].invocations = 9;
                let parameter = ("groups".to_owned(), ParameterValue::Count(number));
                plan.workloads[0].parameters = Parameters([parameter].into());
            }
        };
        for number in 1..=26 {
            let mut plan = compared();
            plan.digest = number.to_string();
            change(&mut plan, number);
            let attempt = counted(&attempts, &plan, home.path(), number);
            assert_eq!((attempt.of_plan, attempt.of_question), (1, number), "{number}");
        }
        let mut again = compared();
        again.digest = "26".to_owned();
        let attempt = counted(&attempts, &again, home.path(), 27);
        assert_eq!((attempt.of_plan, attempt.of_question), (2, 27));
    }

    /// Counts plans under names of their own, and says which attempts at the question they are.
    fn questions(attempts: &Attempts, home: &Path, plans: &[Plan]) -> Vec<u64> {
        let question = |(at, plan): (usize, &Plan)| {
            let number = at as u64 + 1;
            let plan = Plan { digest: format!("plan-{number}"), ..plan.clone() };
            counted(attempts, &plan, home, number).of_question
        };
        plans.iter().enumerate().map(question).collect()
    }

    /// What a factor has where nobody sets it.
    fn knowing_nice(home: &Path) -> Attempts {
        Attempts::of(home).with_defaults([("nice".to_owned(), Level::canonical("0"))].into())
    }

    #[test]
    fn a_default_level_of_one_subject_makes_no_other_question() {
        let first = compared();
        let with = |at: usize, factor: &str, level: &str| {
            let mut plan = first.clone();
            plan.subjects[at].levels.insert(factor.to_owned(), Level::canonical(level));
            plan
        };
        let mut renamed = with(1, "nice", "0");
        renamed.subjects.reverse();
        renamed.subjects[0].id = "other".to_owned();
        let plans = [
            first.clone(),
            with(0, "nice", "0"),
            renamed,
            first.clone(),
            // What is no default is a part of the difference.
            with(1, "nice", "5"),
            with(1, "thp", "madvise"),
        ];
        let home = tempfile::tempdir().unwrap();
        let counted = questions(&knowing_nice(home.path()), home.path(), &plans);
        assert_eq!(counted, [1, 2, 3, 4, 1, 1]);
    }

    #[test]
    fn lines_with_default_levels_match_though_their_writer_knew_no_defaults() {
        let home = tempfile::tempdir().unwrap();
        let first = compared();
        let mut told = first.clone();
        told.subjects[1].levels.insert("nice".to_owned(), Level::canonical("0"));
        let unknowing = Attempts::of(home.path());
        assert_eq!(questions(&unknowing, home.path(), &[first.clone(), told]), [1, 1]);
        let later = Plan { digest: "later".to_owned(), ..first };
        assert_eq!(counted(&knowing_nice(home.path()), &later, home.path(), 9).of_question, 3);
    }

    #[test]
    fn a_parameter_that_a_subject_has_anyway_makes_no_other_question() {
        let home = tempfile::tempdir().unwrap();
        // The workload's own number of groups, and what each of two subjects is given.
        let with = |own: u64, given: [Option<u64>; 2]| {
            let mut plan = compared();
            let workload = &mut plan.workloads[0];
            let id = format!("{}.groups", workload.uses);
            for (subject, given) in plan.subjects.iter_mut().zip(given) {
                let value = ParameterValue::Count(given.unwrap_or(own));
                let parameters = Parameters([("groups".to_owned(), value)].into());
                let variant = Variant { metrics: BTreeSet::new(), expected_ns: 1, parameters };
                workload.variants.insert(subject.id.clone(), variant);
                if let Some(given) = given {
                    subject.levels.insert(id.clone(), Level::canonical(given.to_string()));
                }
            }
            plan
        };
        let plans = [
            with(4, [None, Some(9)]),
            with(4, [Some(4), Some(9)]),
            with(9, [Some(4), None]),
            with(4, [None, Some(8)]),
            with(4, [Some(4), None]),
            with(4, [None, None]),
        ];
        let counted = questions(&Attempts::of(home.path()), home.path(), &plans);
        // The fifth was given what the third was, and differs in no parameter, as the last one.
        assert_eq!(counted, [1, 2, 3, 1, 2, 2]);
    }

    #[test]
    fn another_difference_program_or_venue_is_no_attempt_at_the_same() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let mut number = 0;
        let mut count = |plan: &Plan| {
            number += 1;
            let plan = Plan { digest: number.to_string(), ..plan.clone() };
            counted(&attempts, &plan, home.path(), number).of_question
        };
        let first = compared();
        assert_eq!((count(&first), count(&first)), (1, 2));
        // A level of one subject alone is a part of the difference.
        let mut further = first.clone();
        further.subjects[1].levels.insert("nice".to_owned(), Level::canonical("5"));
        assert_eq!(count(&further), 1);
        let mut alone = first.clone();
        alone.subjects.truncate(1);
        assert_eq!(count(&alone), 1);
        assert_eq!(count(&Plan { venue: "vm".to_owned(), ..first.clone() }), 1);
        let mut run = |words: &[&str]| {
            let mut plan = first.clone();
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let parameter = ("run".to_owned(), ParameterValue::Words(words));
            plan.workloads[0].uses = "command".to_owned();
            plan.workloads[0].parameters = Parameters([parameter].into());
            count(&plan)
        };
        assert_eq!(run(&["make", "-j4"]), 1);
        assert_eq!(run(&["sort", "file"]), 1);
        assert_eq!(run(&["/usr/bin/make", "-j8"]), 2);
        assert_eq!(run(&["env", "-i", "A=1", "make"]), 3);
    }

    #[test]
    fn lines_that_know_whole_levels_count_where_two_subjects_have_all_of_them_in_common() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let first = compared();
        let mut entry = serde_json::json!({
            "unix_ns": 4, "plan": "x", "question": "", "campaign": "demo-4",
            "asked": Asked::of(&first),
        });
        let asked = entry["asked"].as_object_mut().unwrap();
        assert!(asked.remove("compared").is_some());
        fs::write(home.path().join(FILE), format!("{entry}\n")).unwrap();
        assert_eq!(counted(&attempts, &first, home.path(), 5).of_question, 2);
        let mut shared = Plan { digest: "shared".to_owned(), ..first };
        for one in &mut shared.subjects {
            one.levels.insert("nice".to_owned(), Level::canonical("0"));
        }
        // The old line knows the whole levels, and the new one what they differ in.
        assert_eq!(counted(&attempts, &shared, home.path(), 6).of_question, 2);
        let written = fs::read_to_string(home.path().join(FILE)).unwrap();
        let formats: Vec<bool> = written.lines().map(|line| line.contains(FORMAT)).collect();
        assert_eq!(formats, [false, true, true]);
    }

    #[test]
    fn a_line_of_a_later_version_counts_nothing_and_is_named() {
        let home = tempfile::tempdir().unwrap();
        let line = serde_json::json!({
            "format": "schedlab.attempt/99",
            "unix_ns": 4, "plan": "x", "question": "", "campaign": "demo-4",
        });
        fs::write(home.path().join(FILE), format!("{line}\n")).unwrap();
        let begins = (home.path(), "demo-5");
        let why = Attempts::of(home.path()).count(&compared(), begins, 5).unwrap_err().to_string();
        assert!(why.contains("line 1 is schedlab.attempt/99"), "{why}");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_by_its_number_in_the_file() {
        let home = tempfile::tempdir().unwrap();
        let line = serde_json::json!({
            "unix_ns": 4, "plan": "x", "question": "", "campaign": "demo-4",
        });
        for (second, words) in [
            ("", "line 2 is empty; remove it"),
            (" \t", "line 2 is empty; remove it"),
            ("{\"ha", "line 2 is none of ours (it ends after 4 bytes, inside a string); remove it"),
            ("hello", "line 2 is none of ours (expected value at byte 1); remove it"),
        ] {
            fs::write(home.path().join(FILE), format!("{line}\n{second}\n")).unwrap();
            let begins = (home.path(), "demo-5");
            let counted = Attempts::of(home.path()).count(&compared(), begins, 5);
            let why = counted.unwrap_err().to_string();
            assert!(why.contains(words), "{words}: {why}");
        }
    }

    #[test]
    fn an_import_with_another_margin_cut_or_name_is_another_attempt_at_it() {
        let home = tempfile::tempdir().unwrap();
        let attempts = Attempts::of(home.path());
        let import = |digest: &str, ids: &[&str]| Plan {
            venue: "import".to_owned(),
            subjects: ::fixtures::subjects(ids),
            workloads: vec![WorkloadPlan { uses: "csv".to_owned(), ..workload("all", Vec::new()) }],
            imported: Some(imported(ImportedDesign::Blocked, ImportedOrder::Rows)),
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

    /// What counting a campaign answers; it must answer within seconds.
    fn counted_soon(directory: &Path) -> io::Result<Attempt> {
        let (sender, receiver) = channel();
        let directory = directory.to_owned();
        std::thread::spawn(move || {
            let attempts = Attempts::of(&directory);
            sender.send(attempts.count(&plan("demo", "one"), (&directory, "demo-1"), 5))
        });
        receiver.recv_timeout(PATIENCE + Duration::from_secs(20)).unwrap()
    }

    #[test]
    fn who_can_only_read_the_count_does_not_stop_it() {
        let home = tempfile::tempdir().unwrap();
        counted_soon(home.path()).unwrap();
        let held = File::open(home.path().join(FILE)).unwrap();
        held.lock().unwrap();
        assert_eq!(counted_soon(home.path()).unwrap().of_plan, 2);
        let mode = home.path().join(LOCK).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "nobody else can hold what is waited for");
    }

    #[test]
    fn a_count_that_another_process_holds_is_given_up_with_the_reason() {
        let home = tempfile::tempdir().unwrap();
        let held = HostFiles.open(&home.path().join(LOCK), FileAccess::Lock).unwrap();
        assert!(held.try_lock().unwrap());
        let error = counted_soon(home.path()).unwrap_err();
        assert!(error.to_string().contains("another process has held"), "{error}");
        drop(held);
        assert_eq!(counted_soon(home.path()).unwrap().of_plan, 1);
    }
}
