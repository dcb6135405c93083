//! An open campaign: the one process that may append to it.

use crate::attempts::Attempts;
use crate::chain::{Links, line_digest};
use crate::documents::{
    CampaignState, ENVIRONMENT_FORMAT, EnvironmentDocument, Head, STATE_FORMAT, StateDocument,
    digest_of_end, fingerprint_digest, origin_of,
};
use crate::durable::{failed, make_directories, replace_on, sync_directory};
use crate::held_records::StoredRecords;
use crate::json_file::replace_json;
use crate::load::{read_environment_on, read_origin, read_plan_on, read_state_on};
use crate::lookup::LOCK;
use crate::record_lines::{WrittenRecords, encode, write_bound};
use crate::records::scan_digests;
use crate::resumptions::resumption;
use contract::{Error, ErrorKind, Result};
use model::{
    Attempt, Caveat, CaveatCode, Chain, Fingerprint, LineDigest, Plan, Record, Resumption,
};
use rustix::io::Errno;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::{FileAccess, Files, HostFiles, OpenFile};

/// An open campaign directory. The lock is the kernel's: it ends with the process, however that ends.
#[derive(Debug)]
pub struct Campaign {
    files: Arc<dyn Files>,
    _lock: Box<dyn OpenFile>,
    directory: PathBuf,
    plan: Arc<Plan>,
    state: StateDocument,
    environment: Option<EnvironmentDocument>,
    records: Box<dyn OpenFile>,
    /// Length of the acknowledged records; nothing follows them between calls.
    length: u64,
    count: u64,
    /// What the next record is bound to.
    links: Links,
    /// Whether none of its records is one that an earlier version wrote, or another follows these.
    is_bound: bool,
    /// Digest of the last record; none before the first.
    last: Option<LineDigest>,
    /// Digests of the records that were there, of a campaign that was opened and not gone on with.
    found: Option<Vec<LineDigest>>,
    /// What the next record says of the run that stores it.
    resumption: Option<Resumption>,
    /// Set when a failed append could not be undone: what follows the
    /// acknowledged records is unknown, so nothing may be appended any more.
    is_broken: bool,
}

/// What the name of a campaign's directory begins with when it is made: the plan's name, and when
/// that was (UTC).
///
/// # Errors
/// When no calendar has that time.
pub fn directory_stem(plan: &str, unix_ns: u64) -> Result<String> {
    let moment = jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_err(|error| Error::environment(format!("cannot name a campaign of {plan}"), error))?;
    Ok(format!("{plan}-{}", moment.strftime("%Y%m%d-%H%M%S")))
}

impl Campaign {
    /// Makes `results/<name>-<yyyymmdd-hhmmss>-<id4>/` (UTC) and locks it.
    /// `origin` is the text that the plan was made from: an experiment, which is kept as
    /// `experiment.toml`, or the mapping of an import, kept as `import.toml`.
    /// `plan.json` comes last: a directory without it is not a campaign.
    ///
    /// # Errors
    /// When the directory exists already or cannot be written.
    pub fn create(
        results: &Path,
        plan: &Plan,
        origin: &str,
        unix_ns: u64,
        unique: u16,
    ) -> Result<Campaign> {
        let plan = Cow::Borrowed(plan);
        Self::create_on(Arc::new(HostFiles), results, plan, origin, (unix_ns, unique))
    }

    /// The same of a plan that nobody needs beside the campaign: it is not held twice.
    ///
    /// # Errors
    /// Like [`Campaign::create`].
    pub fn create_with(
        results: &Path,
        plan: Plan,
        origin: &str,
        moment: (u64, u16),
    ) -> Result<Campaign> {
        Self::create_on(Arc::new(HostFiles), results, Cow::Owned(plan), origin, moment)
    }

    /// The same on these files.
    ///
    /// # Errors
    /// Like [`Campaign::create`].
    pub fn create_on(
        files: Arc<dyn Files>,
        results: &Path,
        plan: Cow<'_, Plan>,
        origin: &str,
        (unix_ns, unique): (u64, u16),
    ) -> Result<Campaign> {
        // What no reader takes is refused before anything runs.
        plan.check_size().map_err(|over| {
            let what = format!("cannot run {}: its plan could not be read again", plan.name);
            Error::new(ErrorKind::Usage, what, over, over.limit.remedy)
        })?;
        let stem = directory_stem(&plan.name, unix_ns)?;
        let directory = results.join(format!("{stem}-{unique:04x}"));
        make_directories(&*files, results)?;
        // Whatever lies there already is somebody else's.
        files.make_directory(&directory).map_err(|error| failed("create", &directory, &error))?;
        let created = Self::create_in(&files, results, &directory, plan, (origin, unix_ns));
        if created.is_err() {
            // Half a directory is no campaign; the error tells what went wrong.
            let _ = files.remove_tree(&directory);
        }
        created
    }

    fn create_in(
        files: &Arc<dyn Files>,
        results: &Path,
        directory: &Path,
        plan: Cow<'_, Plan>,
        (origin, unix_ns): (&str, u64),
    ) -> Result<Campaign> {
        for new in [directory.join("traces"), directory.join("logs")] {
            files.make_directory(&new).map_err(|error| failed("create", &new, &error))?;
        }
        let records = open_records(&**files, directory)?;
        let lock = take_lock(&**files, directory)?;
        let state = StateDocument {
            format: STATE_FORMAT.to_owned(),
            created_unix_ns: unix_ns,
            state: CampaignState::Unfinished,
            caveats: Vec::new(),
            head: None,
            attempt: None,
            resumptions: Vec::new(),
            redaction_of: None,
            redacted_before: Vec::new(),
            redaction: None,
            redacted_origin: None,
            flaws: Vec::new(),
        };
        replace_on(&**files, directory, origin_of(&plan), origin.as_bytes())?;
        replace_json(&**files, directory, "state.json", &state)?;
        replace_json(&**files, directory, "plan.json", &*plan)?;
        sync_directory(&**files, results)?;
        let links = Links::root(&plan, &state, origin.as_bytes());
        Ok(Campaign {
            files: files.clone(),
            _lock: lock,
            directory: directory.to_owned(),
            plan: Arc::new(plan.into_owned()),
            links,
            last: None,
            found: None,
            resumption: None,
            is_bound: true,
            state,
            environment: None,
            records,
            length: 0,
            count: 0,
            is_broken: false,
        })
    }

    /// Opens a campaign to go on with it. What a crash left after the last
    /// complete record is cut off, and the campaign keeps the caveat.
    ///
    /// # Errors
    /// When another process has it open, or [`crate::load`] would fail.
    pub fn open(directory: &Path) -> Result<Campaign> {
        Self::open_on(Arc::new(HostFiles), directory)
    }

    /// The same on these files.
    ///
    /// # Errors
    /// Like [`Campaign::open`].
    pub fn open_on(files: Arc<dyn Files>, directory: &Path) -> Result<Campaign> {
        let plan = read_plan_on(&*files, directory)?;
        let mut records = open_records(&*files, directory)?;
        let lock = take_lock(&*files, directory)?;
        files.sweep_drafts(directory);
        let path = directory.join("records.jsonl");
        let scanned = scan_digests(&mut *records, &path)?;
        let state = read_state_on(&*files, directory)?;
        let origin = read_origin(&*files, directory, &plan)?;
        let environment = read_environment_on(&*files, directory)?;
        let mut links = Links::root(&plan, &state, &origin);
        let last = scanned.digests.last().cloned();
        if let Some(last) = &last {
            links.follow(last);
        }
        let mut campaign = Campaign {
            files,
            _lock: lock,
            directory: directory.to_owned(),
            plan: Arc::new(plan),
            links,
            last,
            count: scanned.digests.len() as u64,
            found: Some(scanned.digests),
            resumption: None,
            is_bound: scanned.is_bound,
            state,
            environment,
            records,
            length: scanned.complete_bytes,
            is_broken: false,
        };
        if let Some(caveat) = scanned.torn {
            // The caveat first: a crash between the two cuts again, and says so again.
            campaign.add_caveat(caveat)?;
        }
        let stored = campaign.store_again(scanned.last_bytes);
        stored.map_err(|error| failed("store what was appended to", &path, &error))?;
        Ok(campaign)
    }

    /// Makes sure that what is counted from here on is on disk, and nothing behind it. A process
    /// that was killed may have written the last record and not synced it. Where a sync failed, the
    /// kernel shows a record that it takes for stored and never stores (Rebello et al. 2020), so it
    /// is written once more over itself: whatever of this reaches the disk is what should be there.
    fn store_again(&mut self, last: u64) -> std::io::Result<()> {
        if last > 0 {
            let path = self.directory.join("records.jsonl");
            let at = SeekFrom::Start(self.length.saturating_sub(last));
            let mut line = Vec::new();
            let records = &mut self.records;
            records.seek(at)?;
            records.take(last).read_to_end(&mut line)?;
            // What is open appends whatever is written to it, so it is opened by its name again.
            let mut over = self.files.open(&path, FileAccess::Overwrite)?;
            if over.identity()? != self.records.identity()? {
                return Err(std::io::Error::other(
                    "another file has that name since it was opened: look who put it there",
                ));
            }
            over.seek(at)?;
            over.write_all(&line)?;
        }
        self.cut()
    }

    /// Removes a campaign that has no record.
    ///
    /// # Errors
    /// When it has one, or cannot be removed.
    pub fn discard(self) -> Result<()> {
        if self.count > 0 {
            return Err(Error::environment(
                format!("cannot discard {}", self.directory.display()),
                format!("it holds {}", model::counted(self.count, "record")),
            ));
        }
        self.files
            .remove_tree(&self.directory)
            .map_err(|error| failed("remove the empty campaign", &self.directory, &error))?;
        if let Some(results) = self.directory.parent() {
            // It goes too where this was its only campaign.
            let _ = self.files.remove_directory(results);
        }
        Ok(())
    }

    /// Where the campaign lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The plan, blocks appended by re-runs included.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The same for a caller that needs it while records are stored.
    pub fn shared_plan(&self) -> Arc<Plan> {
        self.plan.clone()
    }

    /// Where the output of external programs is kept.
    pub fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    /// Where traces are kept.
    pub fn traces(&self) -> PathBuf {
        self.directory.join("traces")
    }

    /// Number of records on disk; the next record's sequence.
    pub fn record_count(&self) -> u64 {
        self.count
    }

    /// Whether the campaign can go on.
    pub fn state(&self) -> CampaignState {
        self.state.state
    }

    /// Appends a record, which is bound to the one before it, and returns when it is on disk. A
    /// failed append leaves the file as it was before.
    ///
    /// # Errors
    /// When the record cannot be stored: no space, or a value that is no number.
    pub fn append(&mut self, record: &mut Record) -> Result<()> {
        let path = self.directory.join("records.jsonl");
        if self.is_broken {
            return Err(Error::new(
                ErrorKind::Environment,
                format!("cannot append to {}", path.display()),
                "an earlier append failed and could not be undone",
                "give the same command again: the campaign resumes after its last complete record",
            ));
        }
        let chain = match self.count {
            0 => self.links.first(&self.plan, &self.state, None),
            _ => self.links.next(),
        };
        record.chain = Some(Box::new(match &self.resumption {
            None => chain,
            Some(resumption) => {
                let mut resumed: Chain = chain;
                resumed.resumption = Some(resumption.clone());
                resumed
            }
        }));
        let line = encode(record)?;
        let written = self.records.write_all(&line).and_then(|()| self.records.sync_data());
        let written = written.map_err(|error| failed("append a record to", &path, &error));
        let stored = written.and_then(|()| match self.length {
            0 => sync_directory(&*self.files, &self.directory),
            _ => Ok(()),
        });
        if let Err(error) = stored {
            self.is_broken = self.cut().is_err();
            return Err(error);
        }
        self.resumption = None;
        self.length += line.len() as u64;
        self.count += 1;
        self.is_bound = true;
        let digest = line_digest(&line);
        self.links.follow(&digest);
        self.last = Some(digest);
        Ok(())
    }

    /// Appends records that exist already, all or none of them: they cost nothing to
    /// bring about again, so one sync at the end is enough. They are only read, and may be judged
    /// meanwhile.
    ///
    /// # Errors
    /// Like [`Campaign::append`].
    pub fn append_all(&mut self, records: &[Record]) -> Result<StoredRecords> {
        let (links, last) = (self.links.clone(), self.last.clone());
        let first = match self.count {
            0 => self.links.first(&self.plan, &self.state, Some(records.len() as u64)),
            _ => self.links.next(),
        };
        let stored = self.write_out(records, &first).and_then(|written| {
            sync_directory(&*self.files, &self.directory)?;
            Ok(written)
        });
        match stored {
            Ok(WrittenRecords { length, last: written }) => {
                self.length += length;
                self.count += records.len() as u64;
                self.is_bound = true;
                self.last = written.clone().or(last);
                Ok(StoredRecords { first: (!records.is_empty()).then_some(first), last: written })
            }
            Err(error) => {
                (self.links, self.last) = (links, last);
                self.is_broken = self.cut().is_err();
                Err(error)
            }
        }
    }

    /// Binds records and writes them out piece by piece, so that their text is never held whole.
    fn write_out(&mut self, records: &[Record], first: &Chain) -> Result<WrittenRecords> {
        let path = self.directory.join("records.jsonl");
        let fail = |error: std::io::Error| failed("append records to", &path, &error);
        let file = &mut self.records;
        let written = write_bound(records, first, &mut self.links, |lines| {
            file.write_all(lines).map_err(fail)
        })?;
        self.records.sync_data().map_err(fail)?;
        Ok(written)
    }

    /// Makes sure that the next record of up to `bytes` will find space, before
    /// the trial that makes it runs.
    ///
    /// # Errors
    /// When there is no space.
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        let path = self.directory.join("records.jsonl");
        let full = |error: std::io::Error| {
            let action = format!("reserve {bytes} bytes for the next record in");
            failed(&action, &path, &error)
        };
        let Err(error) = self.records.reserve(self.length, bytes.max(1)) else { return Ok(()) };
        match Errno::from_io_error(&error) {
            // Not every file system can reserve (NFS before 4.2, FAT): there the
            // free space is all that can be known.
            Some(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                if self.records.free_bytes().map_err(full)? < bytes {
                    return Err(full(Errno::NOSPC.into()));
                }
                Ok(())
            }
            _ => Err(full(error)),
        }
    }

    /// Stores the fingerprint of the campaign and gives its digest. The first
    /// one stays: after a resume, records hold their difference from it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_fingerprint(&mut self, fingerprint: &Fingerprint) -> Result<String> {
        if let Some(environment) = &self.environment {
            return Ok(environment.digest.clone());
        }
        let environment = EnvironmentDocument {
            format: ENVIRONMENT_FORMAT.to_owned(),
            digest: fingerprint_digest(fingerprint),
            fingerprint: fingerprint.clone(),
        };
        replace_json(&*self.files, &self.directory, "environment.json", &environment)?;
        let digest = environment.digest.clone();
        self.environment = Some(environment);
        Ok(digest)
    }

    /// What a record keeps of a fingerprint: its difference from the campaign's.
    /// All of it where the campaign has none yet.
    pub fn fingerprint_difference(&self, now: &Fingerprint) -> BTreeMap<String, String> {
        match &self.environment {
            Some(environment) => environment.fingerprint.difference(now),
            None => now.0.clone(),
        }
    }

    /// Stores the plan after blocks were appended to it.
    ///
    /// # Errors
    /// When it cannot be written, or is another experiment's plan.
    pub fn save_plan(&mut self, plan: &Plan) -> Result<()> {
        assert_eq!(plan.digest, self.plan.digest, "a campaign keeps the plan it began with");
        replace_json(&*self.files, &self.directory, "plan.json", plan)?;
        self.plan = Arc::new(plan.clone());
        Ok(())
    }

    /// Keeps a warning about the campaign as a whole; the same warning once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_caveat(&mut self, caveat: Caveat) -> Result<()> {
        if self.state.caveats.contains(&caveat) {
            return Ok(());
        }
        self.state.caveats.push(caveat);
        self.save_state()
    }

    /// Stores which attempt it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_attempt(&mut self, attempt: Attempt) -> Result<()> {
        self.state.attempt = Some(attempt);
        self.save_state()
    }

    /// Counts a run that goes on with a campaign which was opened, in the state and with the next
    /// record, and says how many records the machine knew of where those that are there are not
    /// these and more. A campaign that this process created is not gone on with.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn resume(
        &mut self,
        boot_id: &str,
        unix_ns: u64,
        attempts: Option<&Attempts>,
    ) -> Result<Option<u64>> {
        let Some(found) = self.found.take() else { return Ok(None) };
        let known = attempts.and_then(|attempts| attempts.known(self.state.created_unix_ns));
        let resumption = resumption((boot_id, unix_ns), &found, known);
        let known = resumption.known;
        self.state.resumptions.push(resumption.clone());
        self.resumption = Some(resumption);
        self.save_state()?;
        Ok(known)
    }

    /// Lets the machine remember how many records there are and which is the last.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_count(&self, attempts: &Attempts) -> Result<()> {
        let head = Head { records: self.count, digest: self.last_digest(), end: None };
        attempts.keep(self.state.created_unix_ns, &head)
    }

    /// Marks that every planned trial has its record; gives reserved space back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_finished(&mut self) -> Result<()> {
        self.end(CampaignState::Finished)
    }

    /// Marks that the campaign was ended on purpose before its last block. An
    /// interrupted campaign is not marked: the same command resumes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_stopped_early(&mut self, why: &str) -> Result<()> {
        self.add_caveat(Caveat::new(CaveatCode::StoppedEarly, why))?;
        self.end(CampaignState::StoppedEarly)
    }

    fn end(&mut self, state: CampaignState) -> Result<()> {
        let path = self.directory.join("records.jsonl");
        self.cut().map_err(|error| failed("give the reserved space back of", &path, &error))?;
        self.state.state = state;
        // A campaign ends once: one that names its end already was made to look unfinished. Records
        // that are not bound are no better for an end that is.
        if self.state.head.is_none() && self.is_bound {
            let mut head = Head { records: self.count, digest: self.last_digest(), end: None };
            head.end = Some(digest_of_end(&self.plan, &self.state, &head));
            self.state.head = Some(head);
        }
        self.save_state()
    }

    /// The digest of the last record as text; empty before the first.
    fn last_digest(&self) -> String {
        self.last.as_ref().map(LineDigest::to_string).unwrap_or_default()
    }

    /// Cuts the file to the acknowledged records. Space reserved beyond them is
    /// freed too, even where the length does not change.
    fn cut(&mut self) -> std::io::Result<()> {
        self.records.set_length(self.length)?;
        self.records.sync_all()
    }

    fn save_state(&mut self) -> Result<()> {
        // The format of a campaign of an earlier version tells that its records are not bound.
        if self.is_bound {
            self.state.oldest_format().clone_into(&mut self.state.format);
        }
        replace_json(&*self.files, &self.directory, "state.json", &self.state)
    }
}

/// Opens `records.jsonl` for appending.
fn open_records(files: &dyn Files, directory: &Path) -> Result<Box<dyn OpenFile>> {
    let path = directory.join("records.jsonl");
    files.open(&path, FileAccess::Append).map_err(|error| failed("open", &path, &error))
}

/// Takes the lock of a campaign, which is held for as long as the file is open.
pub(crate) fn take_lock(files: &dyn Files, directory: &Path) -> Result<Box<dyn OpenFile>> {
    let path = directory.join(LOCK);
    let file =
        files.open(&path, FileAccess::Lock).map_err(|error| failed("open", &path, &error))?;
    match file.try_lock() {
        Ok(true) => Ok(file),
        Ok(false) => Err(Error::new(
            ErrorKind::Environment,
            format!("cannot open the campaign {}", directory.display()),
            "another process is running it",
            "wait for it to end, or start a campaign of its own with --fresh",
        )),
        Err(error) => Err(failed("lock", &path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{fingerprint, plan, record};
    use crate::records::scan_on;
    use crate::{find_unfinished, load, resolve};
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    const NOW: u64 = 1_795_000_000_000_000_000;

    fn create(results: &Path) -> Campaign {
        Campaign::create(results, &plan("demo", "digest"), "title = 1\n", NOW, 0xbeef).unwrap()
    }

    #[test]
    fn of_records_that_cannot_all_be_appended_none_is_left() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = Campaign::create(results.path(), &plan("all", "d"), "", 1, 1).unwrap();
        let path = campaign.directory().join("records.jsonl");
        // The first is more than one piece, so it is written before the last is looked at.
        let long: Vec<f64> = (0..300_000).map(f64::from).collect();
        let mut records = vec![record(0, long), record(1, vec![1.0]), record(2, vec![f64::NAN])];
        assert!(campaign.append_all(&records).is_err());
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        records[2] = record(2, vec![2.0]);
        let stored = campaign.append_all(&records).unwrap();
        let found = scan_on(&HostFiles, &path).unwrap();
        let unbound = |record: &Record| Record { chain: None, ..record.clone() };
        assert!(found.records.iter().map(unbound).eq(records));
        assert_eq!(found.digests.last(), stored.last.as_ref());
        assert_eq!(found.complete_bytes, fs::metadata(&path).unwrap().len());
    }

    #[test]
    fn what_a_killed_process_left_of_a_document_goes_when_the_campaign_is_opened() {
        let results = tempfile::tempdir().unwrap();
        let directory = create(results.path()).directory().to_owned();
        let left = ["state.json", "report.md"].map(|name| {
            let path = directory.join(sys::draft_name(name.as_ref(), 7));
            fs::write(&path, "{\"half").unwrap();
            path
        });
        let other = directory.join(".state.json.partial");
        fs::create_dir(&other).unwrap();
        drop(Campaign::open(&directory).unwrap());
        assert!(left.iter().all(|path| path.exists()), "its process may be about to lock it");
        for path in &left {
            let long_ago = SystemTime::now() - 2 * sys::GRACE_PERIOD;
            fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
        drop(Campaign::open(&directory).unwrap());
        assert!(left.iter().all(|path| !path.exists()));
        assert!(other.exists(), "it is none of ours");
    }

    #[test]
    fn what_took_the_place_of_the_records_is_named_and_not_written_over() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let path = campaign.directory().join("records.jsonl");
        let line = fs::read(&path).unwrap();
        campaign.store_again(line.len() as u64).unwrap();
        assert_eq!(fs::read(&path).unwrap(), line);
        // It is as long, and of another inode: that of the records is still open.
        let other = vec![b'x'; line.len()];
        fs::remove_file(&path).unwrap();
        fs::write(&path, &other).unwrap();
        let error = campaign.store_again(line.len() as u64).unwrap_err();
        assert!(error.to_string().contains("another file has that name"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), other);
    }

    #[test]
    fn what_was_appended_is_loaded_and_a_second_process_is_refused() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        let name = campaign.directory().file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("demo-2026") && name.ends_with("-beef"), "{name}");
        for sequence in 0..3 {
            campaign.reserve(1 << 20).unwrap();
            campaign.append(&mut record(sequence, vec![1.0, 2.5])).unwrap();
        }
        let loaded = load(campaign.directory()).unwrap();
        let unbound = |record: &Record| Record { chain: None, ..record.clone() };
        assert!(loaded.records.iter().map(unbound).eq((0..3).map(|n| record(n, vec![1.0, 2.5]))));
        assert!(loaded.flaws.is_empty() && loaded.binding == model::Binding::Checked);
        assert!(!loaded.is_finished);
        assert!(Campaign::open(campaign.directory()).is_err(), "it is locked");
        campaign.mark_finished().unwrap();
        assert!(load(campaign.directory()).unwrap().is_finished);
    }

    #[test]
    fn who_can_only_read_a_campaign_neither_closes_it_nor_passes_for_its_run() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        campaign.save_fingerprint(&fingerprint("6.12")).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        let mut held = Vec::new();
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            let metadata = entry.metadata().unwrap();
            // All that anybody else may open, for reading alone.
            if metadata.is_dir() || metadata.permissions().mode() & 0o044 != 0 {
                let file = fs::File::open(entry.path()).unwrap();
                file.lock().unwrap();
                held.push(file);
            }
        }
        let find = || find_unfinished(results.path(), "digest", &fingerprint("6.12")).unwrap();
        assert_eq!(find(), (Some(directory.clone()), None));
        let open = Campaign::open(&directory).unwrap();
        let (found, why) = find();
        assert_eq!(found, None);
        assert!(why.unwrap().contains("another process is running it"));
        drop(open);
        assert_eq!(find(), (Some(directory), None));
    }

    #[test]
    fn any_torn_end_costs_the_torn_record_only_and_is_said() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        for sequence in 0..2 {
            campaign.append(&mut record(sequence, vec![1.0])).unwrap();
        }
        let directory = campaign.directory().to_owned();
        drop(campaign);
        let path = directory.join("records.jsonl");
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            let is_torn = length > 0 && whole[length - 1] != b'\n';
            let loaded = load(&directory).unwrap();
            assert_eq!(loaded.records.len(), complete, "{length}");
            assert_eq!(!loaded.caveats.is_empty(), is_torn, "{length}");
        }
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let mut campaign = Campaign::open(&directory).unwrap();
        campaign.append(&mut record(1, vec![9.0])).unwrap();
        let loaded = load(&directory).unwrap();
        assert_eq!(loaded.records[1].invocations, record(1, vec![9.0]).invocations);
        assert_eq!(loaded.flaws, []);
        assert_eq!(loaded.caveats[0].code, CaveatCode::TornRecord, "a resume keeps the warning");
    }

    #[test]
    fn a_damaged_line_inside_is_an_error_that_names_it() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let path = campaign.directory().join("records.jsonl");
        let line = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{line}{{oops\n{line}")).unwrap();
        let error = load(campaign.directory()).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
        fs::write(&path, line.replace("schedlab.record/5", "schedlab.record/9")).unwrap();
        let error = load(campaign.directory()).unwrap_err().to_string();
        assert!(error.contains("schedlab.record/9"), "{error}");
    }

    #[test]
    fn the_newest_unfinished_campaign_of_the_same_plan_and_kernel_goes_on() {
        let results = tempfile::tempdir().unwrap();
        let find = |digest: &str, kernel: &str| {
            find_unfinished(results.path(), digest, &fingerprint(kernel)).unwrap()
        };
        assert_eq!(find("digest", "6.12"), (None, None));
        let mut campaign = create(results.path());
        let with_program = |digest: &str| {
            let mut with_program = fingerprint("6.12");
            with_program.0.insert("program./bin/bench".to_owned(), digest.to_owned());
            with_program
        };
        campaign.save_fingerprint(&with_program("as it was")).unwrap();
        let directory = campaign.directory().to_owned();
        assert!(find("digest", "6.12").1.unwrap().contains("another process"));
        drop(campaign);
        assert_eq!(find("digest", "6.12").0.as_ref(), Some(&directory));
        assert!(find("digest", "6.18").1.unwrap().contains("6.12"));
        assert!(find("other", "6.12").0.is_none());
        let find_with = |digest: &str| {
            find_unfinished(results.path(), "digest", &with_program(digest)).unwrap()
        };
        assert_eq!(find_with("as it was").0.as_ref(), Some(&directory));
        let (found, why) = find_with("built anew");
        assert_eq!(found, None);
        assert!(why.unwrap().contains("/bin/bench has changed"));
        Campaign::open(&directory).unwrap().mark_finished().unwrap();
        assert!(find("digest", "6.12").1.unwrap().contains("finished"));
        assert_eq!(resolve(results.path(), "last").unwrap(), directory);
        assert_eq!(resolve(results.path(), "demo").unwrap(), directory);
        assert!(resolve(results.path(), "demon").is_err());
        // Of a name that is no text of Unicode nothing is dropped either.
        let strange = results.path().join(std::ffi::OsStr::from_bytes(b"demo-\xff"));
        fs::rename(&directory, &strange).unwrap();
        let found = crate::all(results.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].directory, strange);
    }

    /// The directory that the child process of the test below works in.
    const FULL_DISK: &str = "SCHEDLAB_TEST_FULL_DISK";

    /// A limit on file sizes stands for a full disk: writes fail halfway with an
    /// error. It belongs to a process, hence the child.
    #[test]
    fn a_full_disk_loses_no_record_and_the_campaign_goes_on_afterwards() {
        if let Some(directory) = std::env::var_os(FULL_DISK) {
            return fill(Path::new(&directory));
        }
        let results = tempfile::tempdir().unwrap();
        let directory = create(results.path()).directory().to_owned();
        // Its output goes through pipes: the limit holds for files it inherits too.
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 48; exec \"$@\"", "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--test-threads=1"])
            .arg("campaign::tests::a_full_disk_loses_no_record_and_the_campaign_goes_on_afterwards")
            .env(FULL_DISK, &directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

        let stored = load(&directory).unwrap();
        let acknowledged: usize =
            fs::read_to_string(directory.join("acknowledged")).unwrap().parse().unwrap();
        assert!(acknowledged > 0);
        assert_eq!(stored.records.len(), acknowledged);
        assert_eq!(stored.caveats, [], "a failed append is undone");
        let mut campaign = Campaign::open(&directory).unwrap();
        campaign.append(&mut record(acknowledged as u64, vec![1.0])).unwrap();
        assert_eq!(load(&directory).unwrap().records.len(), acknowledged + 1);
    }

    fn fill(directory: &Path) {
        let mut campaign = Campaign::open(directory).unwrap();
        let mut acknowledged: u64 = 0;
        let error = loop {
            assert!(acknowledged < 100, "the limit was never reached");
            match campaign.append(&mut record(acknowledged, vec![0.123_456_789; 300])) {
                Ok(()) => acknowledged += 1,
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("resumes"), "{error}");
        // A later record that would fit is not glued to the torn one.
        assert!(campaign.append(&mut record(acknowledged, vec![0.5; 3000])).is_err());
        fs::write(directory.join("acknowledged"), acknowledged.to_string()).unwrap();
    }

    #[test]
    fn space_that_is_not_there_is_refused_before_the_trial() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        let error = campaign.reserve(1 << 60).unwrap_err().to_string();
        assert!(error.contains("reserve"), "{error}");
        campaign.reserve(4096).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        assert_eq!(load(campaign.directory()).unwrap().records.len(), 1);
    }

    #[test]
    fn a_value_that_could_not_be_read_again_is_refused_and_nothing_else_is_lost() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        for value in [f64::NAN, f64::INFINITY] {
            let error = campaign.append(&mut record(0, vec![1.0, value])).unwrap_err().to_string();
            assert!(error.contains("not a number"), "{error}");
        }
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        assert_eq!(load(campaign.directory()).unwrap().records.len(), 1);
    }

    #[test]
    fn an_edited_fingerprint_is_noticed_and_the_first_one_stays() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign = create(results.path());
        let digest = campaign.save_fingerprint(&fingerprint("6.12")).unwrap();
        assert_eq!(campaign.save_fingerprint(&fingerprint("6.18")).unwrap(), digest);
        assert_eq!(campaign.fingerprint_difference(&fingerprint("6.12")), BTreeMap::new());
        assert_eq!(campaign.fingerprint_difference(&fingerprint("6.18")).len(), 1);
        let path = campaign.directory().join("environment.json");
        let text = fs::read_to_string(&path).unwrap().replace("6.12", "6.13");
        fs::write(&path, text).unwrap();
        assert!(load(campaign.directory()).unwrap_err().to_string().contains("digest"));
    }
}
