//! Reading a campaign without owning it.

use crate::agreement::CampaignDocuments;
use crate::chain::{BrokenLink, Chained, LineDigests, Links};
use crate::documents::{
    CampaignState, ENVIRONMENT_FORMAT, EXPERIMENT, EnvironmentDocument, IMPORT, Redaction,
    STATE_FORMATS, StateDocument, fingerprint_digest, hexadecimal, origin_in,
};
use crate::durable::{parse_document, read_document, read_limited_on, too_much};
use crate::held_records::{HeldRecords, are_small};
use crate::plan_parts::plan_of_parts;
use crate::plan_sizes;
use crate::records::{Scan, scan_on};
use contract::{Error, ErrorKind, Result};
use model::{
    Attempt, Binding, Caveat, CaveatCode, DOCUMENT_BYTES, FINDINGS_BEFORE_SEQUENCES,
    FINDINGS_BYTES, FINDINGS_FORMATS, Findings, Fingerprint, LineDigest, PLAN_BYTES, PLAN_FORMATS,
    Plan, ReaderLimit, Record, Records, Resumption,
};
use std::io::{self, Read, SeekFrom};
use std::path::{Path, PathBuf};
use sys::{FileAccess, Files, HostFiles, OpenFile};

/// A longer text of a plan is not held.
const LONG_PLAN: u64 = 256 << 10;

/// Everything a campaign's directory says.
#[derive(Debug, Clone)]
pub struct LoadedCampaign {
    /// The plan, blocks appended by re-runs included.
    pub plan: Plan,
    /// Every complete record, in the order they were appended.
    pub records: Records,
    /// SHA-256 of each record's line, in the same order; none of a campaign that is followed while
    /// it grows, nor once its records, all of which are bound, were held against them.
    pub digests: Vec<LineDigest>,
    /// SHA-256 of the last record's line, of records that this process stored and holds; of others it
    /// is the last of those above.
    pub last_digest: Option<LineDigest>,
    /// Warnings about the campaign's files.
    pub caveats: Vec<Caveat>,
    /// What stands behind the last complete record, in a sentence: the line and where it ends. Of a
    /// campaign that is followed while it grows it is not looked at.
    pub torn: Option<String>,
    /// What of the evidence is not as it was written: no verdict may rest on it.
    pub flaws: Vec<Caveat>,
    /// Where the chain of its records is broken, the first twenty; the flaws say it, too.
    pub broken_links: Vec<BrokenLink>,
    /// What was looked at for that.
    pub binding: Binding,
    /// What nothing binds, in one sentence each: an edit of it would not be seen.
    pub unbound: Vec<String>,
    /// Which attempt it is; absent where nobody counted.
    pub attempt: Option<Attempt>,
    /// Runs that went on with it, in order; none are counted of versions before state's third.
    pub resumptions: Vec<Resumption>,
    /// What was redacted of it, where anything was: then its plan is no longer that of its
    /// experiment. Of a redaction that an earlier version made, nothing more is known.
    pub redaction: Option<Redaction>,
    /// The machine when the campaign began; absent when it ended before its first trial.
    pub environment: Option<Fingerprint>,
    /// Where it lies.
    pub directory: PathBuf,
    /// Name of the file in it that the plan was made from: an experiment, or the mapping of an
    /// import.
    pub origin: &'static str,
    /// Whether it can go on.
    pub state: CampaignState,
    /// Whether it is not to be resumed: every trial ran, or it was ended on purpose.
    pub is_finished: bool,
    /// When it was created, nanoseconds since 1970.
    pub created_unix_ns: u64,
}

/// Reads a campaign. Takes no lock and changes nothing, so a running campaign
/// can be looked at too.
///
/// # Errors
/// When a file is missing, broken, too large or of an unknown version; the
/// error names the file, and the line of a broken record.
pub fn load(directory: &Path) -> Result<LoadedCampaign> {
    load_with(&HostFiles, directory, read_plan_in_parts(directory)?)
}

/// The same of these files.
///
/// # Errors
/// Like [`load`].
pub fn load_on(files: &dyn Files, directory: &Path) -> Result<LoadedCampaign> {
    load_with(files, directory, read_plan_on(files, directory)?)
}

/// A campaign whose plan was read.
fn load_with(files: &dyn Files, directory: &Path, plan: Plan) -> Result<LoadedCampaign> {
    let loaded = load_beside(files, directory, plan)?;
    // Before the records: a campaign that ends meanwhile has all that its state names.
    let state = read_state_on(files, directory)?;
    let Scan { records, digests, torn, .. } = scan_on(files, &directory.join("records.jsonl"))?;
    with_records(files, (loaded, state), records, LineDigests::Read(digests), torn)
}

/// The same of a campaign whose records, all of them, this process has just stored and holds: the
/// documents are read, and the records are not, unless they are smaller when they were read.
///
/// # Errors
/// Like [`load`].
pub fn load_held(directory: &Path, held: HeldRecords) -> Result<LoadedCampaign> {
    if !are_small(&held.records) {
        drop(held);
        sys::return_freed_memory();
        return load(directory);
    }
    let loaded = load_beside(&HostFiles, directory, read_plan_in_parts(directory)?)?;
    let state = read_state_on(&HostFiles, directory)?;
    let HeldRecords { records, last } = held;
    with_records(&HostFiles, (loaded, state), records, LineDigests::Held(last), None)
}

/// A campaign with its records, and with what of both is not as it was written.
fn with_records(
    files: &dyn Files,
    (mut loaded, state): (LoadedCampaign, StateDocument),
    records: Vec<Record>,
    digests: LineDigests,
    torn: Option<Caveat>,
) -> Result<LoadedCampaign> {
    let directory = loaded.directory.clone();
    loaded.records = records.into();
    let torn_line = torn.as_ref().map(|torn| torn.detail.as_str());
    let imported = loaded.plan.imported.as_ref();
    let chained =
        Chained { records: &loaded.records, digests: &digests, torn: torn_line, imported };
    let origin = read_origin(files, &directory, &loaded.plan)?;
    let root = Links::root(&loaded.plan, &state, &origin);
    let environment = loaded.environment.as_ref().map(fingerprint_digest);
    let documents = CampaignDocuments {
        plan: &loaded.plan,
        state: &state,
        records: &loaded.records,
        loose: chained.loose(),
        environment: environment.as_deref(),
        origin: (loaded.origin, hexadecimal(&origin)),
    };
    let told = documents
        .other_fields()
        .into_iter()
        .chain(chained.flaws(&root, &state))
        .chain(documents.contradictions());
    let flaws: Vec<Caveat> =
        told.map(|flaw| Caveat::new(CaveatCode::EvidenceChanged, flaw)).collect();
    let broken_links = chained.broken_links(&root);
    loaded.unbound = documents.unbound();
    // Of one that ended, the records that it lacks are a flaw, and what stands behind all is a caveat.
    if let (Some(torn), None) = (torn_line, &state.head) {
        let count = loaded.records.len();
        loaded.unbound.push(format!("the record after number {count} is torn: {torn}"));
    }
    loaded.torn = torn_line.map(str::to_owned);
    loaded.caveats.extend(torn);
    loaded.binding = match documents.loose {
        0 => Binding::Checked,
        loose => {
            let records = model::counted(loaded.records.len(), "record");
            let detail = format!("{loose} of {records}");
            loaded.caveats.push(Caveat::new(CaveatCode::EvidenceUnbound, detail));
            Binding::Absent
        }
    };
    loaded.flaws = state.flaws.into_iter().chain(flaws).collect();
    loaded.broken_links = broken_links;
    match digests {
        LineDigests::Read(digests) => loaded.digests = digests,
        LineDigests::Held(last) => loaded.last_digest = last,
    }
    Ok(loaded)
}

/// Everything but the records: for readers that follow a growing file ([`crate::ReadPosition`]).
///
/// # Errors
/// Like [`load`].
pub fn load_without_records(directory: &Path) -> Result<LoadedCampaign> {
    load_beside(&HostFiles, directory, read_plan_in_parts(directory)?)
}

/// What lies beside a plan that was read, and no record.
fn load_beside(files: &dyn Files, directory: &Path, plan: Plan) -> Result<LoadedCampaign> {
    let state = read_state_on(files, directory)?;
    let environment = read_environment_on(files, directory)?.map(|document| document.fingerprint);
    Ok(LoadedCampaign {
        origin: origin_in(files, directory, &plan),
        plan,
        records: Records::default(),
        digests: Vec::new(),
        last_digest: None,
        caveats: state.caveats,
        torn: None,
        flaws: Vec::new(),
        broken_links: Vec::new(),
        binding: Binding::NotLookedAt,
        unbound: Vec::new(),
        attempt: state.attempt,
        resumptions: state.resumptions,
        redaction: state.redaction_of.is_some().then(|| state.redaction.unwrap_or_default()),
        environment,
        directory: directory.to_owned(),
        state: state.state,
        is_finished: state.state != CampaignState::Unfinished,
        created_unix_ns: state.created_unix_ns,
    })
}

/// The findings stored last, or `None` of a campaign that was never judged.
///
/// # Errors
/// When the file is broken, too large or of an unknown version.
pub fn load_findings(directory: &Path) -> Result<Option<Findings>> {
    let path = directory.join("findings.json");
    let found: Option<Findings> =
        read_if_present(&HostFiles, &path, &FINDINGS_BYTES, &FINDINGS_FORMATS)?;
    Ok(found.map(|findings| {
        let findings = findings.with_facts_of_caveats();
        if FINDINGS_BEFORE_SEQUENCES.contains(&findings.format.as_str()) {
            return findings.with_sequences();
        }
        findings
    }))
}

/// The name of the plan that was made from a campaign's own copy of its experiment;
/// `None` for any other file.
///
/// # Errors
/// When the plan beside it cannot be read.
pub fn planned_name(experiment: &Path) -> Result<Option<String>> {
    let is_copy = experiment.file_name().is_some_and(|name| name == EXPERIMENT);
    let Some(directory) = experiment.parent().filter(|directory| is_copy && is_campaign(directory))
    else {
        return Ok(None);
    };
    Ok(Some(read_plan(directory)?.name))
}

/// Whether a file says how a campaign of imported numbers was made, and is no experiment.
///
/// # Errors
/// When the plan beside it cannot be read.
pub fn is_origin_of_import(file: &Path) -> Result<bool> {
    // Any other file has nothing to do with a `plan.json` beside it.
    let is_named = file.file_name().is_some_and(|name| name == EXPERIMENT || name == IMPORT);
    let Some(directory) = file.parent().filter(|directory| is_named && is_campaign(directory))
    else {
        return Ok(false);
    };
    let plan = read_plan(directory)?;
    let origin = origin_in(&HostFiles, directory, &plan);
    Ok(plan.imported.is_some() && file.file_name().is_some_and(|name| name == origin))
}

/// Whether a directory holds a campaign: `plan.json` is written last, so one
/// that has it has all the rest.
pub fn is_campaign(directory: &Path) -> bool {
    is_campaign_on(&HostFiles, directory)
}

/// The same of these files.
pub fn is_campaign_on(files: &dyn Files, directory: &Path) -> bool {
    files.is_file(&directory.join("plan.json"))
}

/// The plan, without a value that no plan has: whatever is computed from it may rest on that.
pub fn read_plan(directory: &Path) -> Result<Plan> {
    read_plan_on(&HostFiles, directory)
}

/// The same of these files.
pub fn read_plan_on(files: &dyn Files, directory: &Path) -> Result<Plan> {
    if !is_campaign_on(files, directory) {
        return Err(Error::usage(
            format!("cannot open the campaign {}", directory.display()),
            "there is no plan.json, so it is not a campaign directory",
            "give the directory of a campaign, its name, or `last`",
        ));
    }
    let path = directory.join("plan.json");
    let text = read_limited_on(files, &path, &PLAN_BYTES)?;
    plan_sizes::check(&text).map_err(|over| too_much(&path, over))?;
    let plan: Plan = parse_document(&text, &path.display().to_string(), &PLAN_FORMATS)?;
    without_fault(plan, &path)
}

/// The same as [`read_plan`] without holding a long text, which is read twice, part by part: the text
/// of an import's plan may be as large as its records.
fn read_plan_in_parts(directory: &Path) -> Result<Plan> {
    let path = directory.join("plan.json");
    match plan_in_parts(&path) {
        Some(plan) => without_fault(plan, &path),
        // What is wrong with it is told by its text.
        None => read_plan(directory),
    }
}

/// A plan whose text is long, can be read, is within its limits and has a format that is known.
fn plan_in_parts(path: &Path) -> Option<Plan> {
    let mut file = HostFiles.open(path, FileAccess::Read).ok()?;
    let length = file.length().ok().filter(|length| *length > LONG_PLAN)?;
    PLAN_BYTES.check(length).ok()?;
    if !plan_sizes::is_within(&mut from_begin(&mut *file).ok()?) {
        return None;
    }
    let plan = plan_of_parts(&mut from_begin(&mut *file).ok()?)?;
    PLAN_FORMATS.contains(&plan.format.as_str()).then_some(plan)
}

/// A file from its beginning, no more than a plan may have.
fn from_begin(file: &mut dyn OpenFile) -> io::Result<impl Read> {
    io::Seek::seek(file, SeekFrom::Start(0))?;
    Ok(file.take(PLAN_BYTES.most))
}

/// A plan without a value that no plan has.
fn without_fault(plan: Plan, path: &Path) -> Result<Plan> {
    plan.check_size().map_err(|over| too_much(path, over))?;
    if let Some(fault) = plan.fault() {
        return Err(Error::new(
            ErrorKind::Environment,
            format!("cannot understand {}", path.display()),
            fault,
            "no version writes such a plan: bring it back from a copy of the campaign",
        ));
    }
    Ok(plan)
}

pub fn read_state(directory: &Path) -> Result<StateDocument> {
    read_state_on(&HostFiles, directory)
}

/// The same of these files.
pub fn read_state_on(files: &dyn Files, directory: &Path) -> Result<StateDocument> {
    read_document(files, &directory.join("state.json"), &DOCUMENT_BYTES, &STATE_FORMATS)
}

/// The text that the plan was made from; nothing where it is not there, as in a redaction that
/// could not keep it.
pub fn read_origin(files: &dyn Files, directory: &Path, plan: &Plan) -> Result<Vec<u8>> {
    let path = directory.join(origin_in(files, directory, plan));
    let is_there = files.exists(&path);
    if is_there { read_limited_on(files, &path, &DOCUMENT_BYTES) } else { Ok(Vec::new()) }
}

/// The stored fingerprint; one that does not match its digest was edited, and
/// the records' differences would be differences from something else.
pub fn read_environment(directory: &Path) -> Result<Option<EnvironmentDocument>> {
    read_environment_on(&HostFiles, directory)
}

/// The same of these files.
pub fn read_environment_on(
    files: &dyn Files,
    directory: &Path,
) -> Result<Option<EnvironmentDocument>> {
    let path = directory.join("environment.json");
    let found: Option<EnvironmentDocument> =
        read_if_present(files, &path, &DOCUMENT_BYTES, &[ENVIRONMENT_FORMAT])?;
    if let Some(document) = &found
        && fingerprint_digest(&document.fingerprint) != document.digest
    {
        return Err(Error::new(
            ErrorKind::Environment,
            format!("cannot trust {}", path.display()),
            "the fingerprint does not have the digest stored with it, so it was changed",
            "restore the file from a copy of the campaign",
        ));
    }
    Ok(found)
}

fn read_if_present<T: serde::de::DeserializeOwned>(
    files: &dyn Files,
    path: &Path,
    limit: &'static ReaderLimit,
    known: &[&str],
) -> Result<Option<T>> {
    if !files.exists(path) {
        return Ok(None);
    }
    read_document(files, path, limit, known).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FINDINGS_FORMAT;

    #[test]
    fn an_import_that_keeps_its_mapping_under_the_earlier_name_is_read_and_packed_as_it_was() {
        let directory =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/import-named-experiment");
        let loaded = load(&directory).unwrap();
        assert_eq!((loaded.origin, loaded.records.len()), ("experiment.toml", 12));
        assert!(is_origin_of_import(&directory.join("experiment.toml")).unwrap());
        assert!(!is_origin_of_import(&directory.join("plan.json")).unwrap());
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("bundle");
        let manifest = crate::Manifest::new("0.1.0".to_owned(), "t".to_owned(), None);
        let manifest = crate::pack(&directory, manifest, &file).unwrap();
        assert_eq!(manifest.format, "schedlab.bundle/2", "readers of then read it");
        let unpacked = home.path().join("unpacked");
        std::fs::create_dir(&unpacked).unwrap();
        assert_eq!(crate::unpack(&file, &unpacked).unwrap().problems, [""; 0]);
        assert_eq!(load(&unpacked).unwrap().origin, "experiment.toml");
        let redacted = home.path().join("redacted");
        std::fs::create_dir(&redacted).unwrap();
        crate::redact(&directory, "t", &crate::KnownSecrets::default(), &[], &redacted).unwrap();
        assert!(redacted.join("experiment.toml").is_file());
    }

    #[test]
    fn a_plan_of_more_subjects_than_can_be_compared_is_refused_by_the_name_of_the_limit() {
        let results = tempfile::tempdir().unwrap();
        let mut plan = crate::fixtures::plan("many", "d");
        let campaign = crate::Campaign::create(results.path(), &plan, "", 1, 1).unwrap();
        let one = plan.subjects[0].clone();
        let named = |number: u64| model::Subject { id: number.to_string(), ..one.clone() };
        plan.subjects = (0..=model::PLAN_SUBJECTS.most).map(named).collect();
        // None is made of it, and one that has it is not read.
        let error = crate::Campaign::create(results.path(), &plan, "", 1, 2).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
        assert_eq!(results.path().read_dir().unwrap().count(), 1);
        let text = serde_json::to_vec(&plan).unwrap();
        std::fs::write(campaign.directory().join("plan.json"), text).unwrap();
        let error = load(campaign.directory()).unwrap_err();
        assert!(error.cause.contains("limit PLAN_SUBJECTS"), "{error}");
        assert!(!error.remedy.is_empty(), "{error}");
    }

    #[test]
    fn a_plan_of_longer_names_than_are_drawn_is_refused_by_the_name_of_the_limit() {
        let results = tempfile::tempdir().unwrap();
        let mut plan = crate::fixtures::plan("named", "d");
        let campaign = crate::Campaign::create(results.path(), &plan, "", 1, 1).unwrap();
        let ids = plan.subjects.iter().map(|subject| subject.id.len() as u64);
        let labels = plan.workloads.iter().map(|workload| workload.label.len() as u64);
        let named: u64 = ids.chain(labels).sum();
        let left = usize::try_from(model::PLAN_NAMES.most - named).unwrap();
        let like = plan.subjects[0].clone();
        plan.subjects.push(model::Subject { id: "x".repeat(left), ..like.clone() });
        assert_eq!(plan.check_size(), Ok(()), "as many bytes as there may be");
        plan.subjects.push(model::Subject { id: "y".to_owned(), ..like });
        let text = serde_json::to_vec(&plan).unwrap();
        std::fs::write(campaign.directory().join("plan.json"), text).unwrap();
        let error = load(campaign.directory()).unwrap_err();
        let told =
            "bytes of names of subjects and workloads (limit PLAN_NAMES): 4194305 were found";
        assert!(error.cause.ends_with(told), "{error}");
    }

    #[test]
    fn a_plan_of_more_questions_than_are_judged_is_refused_by_the_name_of_the_limit() {
        let results = tempfile::tempdir().unwrap();
        let mut plan = crate::fixtures::plan("asked", "d");
        let campaign = crate::Campaign::create(results.path(), &plan, "", 1, 1).unwrap();
        let one = plan.subjects[0].clone();
        let named = |number: u64| model::Subject { id: number.to_string(), ..one.clone() };
        let metric = |number: u64| {
            let (unit, direction) = (model::Unit::Count, model::Direction::Lower);
            model::Metric::new(format!("m{number}"), unit, direction, model::Reduction::Mean, "m")
        };
        plan.comparisons = model::Comparisons::Reference;
        plan.subjects = (0..1_000).map(named).collect();
        plan.workloads[0].metrics = (0..100).map(metric).collect();
        assert_eq!(plan.check_size(), Ok(()), "as many as there may be");
        plan.workloads[0].metrics.push(metric(100));
        let text = serde_json::to_vec(&plan).unwrap();
        std::fs::write(campaign.directory().join("plan.json"), text).unwrap();
        let error = load(campaign.directory()).unwrap_err();
        let told = "more than 100000 questions (limit PLAN_QUESTIONS): 101000 were found";
        assert_eq!(error.cause, told);
    }

    #[test]
    fn a_plan_that_is_read_in_parts_is_the_same_and_what_is_wrong_with_it_is_told_by_its_text() {
        let results = tempfile::tempdir().unwrap();
        let mut plan = crate::fixtures::plan("pieces", "d");
        let like = plan.blocks[0].clone();
        plan.blocks = (0..3_000).map(|index| model::Block { index, ..like.clone() }).collect();
        let campaign = crate::Campaign::create(results.path(), &plan, "", 1, 1).unwrap();
        let directory = campaign.directory();
        let path = directory.join("plan.json");
        assert_eq!(plan_in_parts(&path), Some(read_plan(directory).unwrap()));
        assert_eq!(load(directory).unwrap().plan, read_plan(directory).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in [
            ("schedlab.plan/", "schedlab.plan/9"),
            ("\"index\": 2999", "\"index\": -1"),
            ("\"workloads\"", "\"others\""),
        ] {
            assert!(text.contains(from), "{from}");
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert_eq!(plan_in_parts(&path), None, "{to}");
            let told = read_plan(directory).unwrap_err().to_string();
            for other in [load(directory), load_without_records(directory)] {
                assert_eq!(other.unwrap_err().to_string(), told, "{to}");
            }
        }
    }

    #[test]
    fn a_document_that_is_too_long_is_refused_by_the_name_of_its_limit_and_not_read() {
        let results = tempfile::tempdir().unwrap();
        let plan = crate::fixtures::plan("long", "d");
        let mut campaign =
            crate::Campaign::create(results.path(), &plan, "# text\n", 1, 1).unwrap();
        campaign.save_fingerprint(&crate::fixtures::fingerprint("6.12")).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        load(&directory).unwrap();
        let refused = |name: &str, limit: &ReaderLimit| {
            let path = directory.join(name);
            let before = std::fs::read(&path).ok();
            // Sparse: it reads as zeros and takes no room.
            std::fs::File::create(&path).unwrap().set_len(limit.most + 1).unwrap();
            let error = match name {
                "findings.json" => load_findings(&directory).unwrap_err(),
                _ => load(&directory).unwrap_err(),
            };
            if let Some(bytes) = before {
                std::fs::write(&path, bytes).unwrap();
            }
            assert!(error.attempted.contains(name), "{name}: {error}");
            error.cause
        };
        for (name, limit, told) in [
            ("plan.json", &PLAN_BYTES, "more than 67108864 bytes of a plan (limit PLAN_BYTES)"),
            ("state.json", &DOCUMENT_BYTES, "bytes of a document (limit DOCUMENT_BYTES)"),
            ("environment.json", &DOCUMENT_BYTES, "bytes of a document (limit DOCUMENT_BYTES)"),
            ("experiment.toml", &DOCUMENT_BYTES, "bytes of a document (limit DOCUMENT_BYTES)"),
            ("findings.json", &FINDINGS_BYTES, "bytes of findings (limit FINDINGS_BYTES)"),
        ] {
            let cause = refused(name, limit);
            assert!(cause.contains(told), "{name}: {cause}");
            assert!(cause.ends_with(&format!(": {} were found", limit.most + 1)), "{cause}");
        }
        load(&directory).unwrap();
    }

    #[test]
    fn an_import_keeps_its_mapping_in_a_file_of_its_own_and_a_run_its_experiment() {
        let results = tempfile::tempdir().unwrap();
        let imported =
            ::fixtures::imported(model::ImportedDesign::Blocked, model::ImportedOrder::Rows);
        for (imported, origin) in [(Some(imported), "import.toml"), (None, "experiment.toml")] {
            let plan = Plan { imported, ..crate::fixtures::plan(&origin[..6], "digest") };
            let campaign =
                crate::Campaign::create(results.path(), &plan, "# text\n", 1, 1).unwrap();
            let file = campaign.directory().join(origin);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "# text\n");
            assert_eq!(load(campaign.directory()).unwrap().origin, origin);
            assert_eq!(is_origin_of_import(&file).unwrap(), plan.imported.is_some());
        }
    }

    #[test]
    fn a_plan_with_a_value_that_no_plan_has_is_refused_by_every_reader() {
        let results = tempfile::tempdir().unwrap();
        let plan = crate::fixtures::plan("demo", "digest");
        let campaign = crate::Campaign::create(results.path(), &plan, "", 1, 1).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        let faulty = Plan { workloads: Vec::new(), ..plan };
        std::fs::write(directory.join("plan.json"), serde_json::to_vec(&faulty).unwrap()).unwrap();
        let told = [
            load(&directory).map(drop),
            load_without_records(&directory).map(drop),
            crate::Campaign::open(&directory).map(drop),
            planned_name(&directory.join("experiment.toml")).map(drop),
        ];
        for told in told {
            let told = told.unwrap_err().to_string();
            assert!(told.contains("plan.json") && told.contains("workloads is empty"), "{told}");
        }
    }

    #[test]
    fn caveats_of_earlier_findings_tell_what_these_have_no_fields_for() {
        let directory = tempfile::tempdir().unwrap();
        let is_emulated = |format: &str| {
            let text = format!(
                r#"{{"format":"{format}","plan_digest":"d","seed":1,"alpha":0.05,"families":{{}},"findings":[{{"question":{{"workload":"w","metric":"m","unit":"nanoseconds","direction":"lower","subject":"b","reference":"a","role":"primary","family":"declared"}},"verdict":"better","strength":"clearly","reason":null,"margin":0.02,"pairs":0,"reference_value":null,"subject_value":null,"effect":null,"companion":null,"planning":null,"tail":null,"blocks":[],"caveats":[{{"code":"TCG","detail":"TCG"}}]}}],"failures":[],"caveats":[]}}"#
            );
            std::fs::write(directory.path().join("findings.json"), text).unwrap();
            load_findings(directory.path()).unwrap().unwrap().findings[0].is_emulated
        };
        assert!(is_emulated("schedlab.findings/4") && is_emulated("schedlab.findings/5"));
        for format in [FINDINGS_FORMAT, "schedlab.findings/7", "schedlab.findings/6"] {
            assert!(!is_emulated(format), "{format}: the field says it, and no caveat does");
        }
    }

    #[test]
    fn findings_without_the_fact_that_a_campaign_goes_on_tell_it_by_their_caveat() {
        let directory = tempfile::tempdir().unwrap();
        let is_unfinished = |fact: &str, caveats: &str| {
            let text = format!(
                r#"{{"format":"{FINDINGS_FORMAT}","plan_digest":"d","seed":1,"alpha":0.05,{fact}"families":{{}},"findings":[],"failures":[],"caveats":[{caveats}]}}"#
            );
            std::fs::write(directory.path().join("findings.json"), text).unwrap();
            load_findings(directory.path()).unwrap().unwrap().is_unfinished
        };
        let caveat = r#"{"code":"UNFINISHED","detail":"6 trials so far"}"#;
        assert!(is_unfinished("", caveat), "an earlier version wrote no such field");
        assert!(is_unfinished(r#""is_unfinished":true,"#, ""), "and the fact needs no caveat");
        assert!(!is_unfinished("", ""));
    }

    /// What it answers, unless it waits for something.
    fn without_waiting<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(act()));
        receiver.recv_timeout(std::time::Duration::from_secs(30)).unwrap()
    }

    #[test]
    fn a_fifo_in_place_of_any_document_is_refused_by_name_and_nobody_waits_for_it() {
        let home = tempfile::tempdir().unwrap();
        let results = home.path().join("results");
        let plan = crate::fixtures::plan("fifo", "digest");
        let mut campaign = crate::Campaign::create(&results, &plan, "# text\n", 1, 1).unwrap();
        campaign.save_fingerprint(&crate::fixtures::fingerprint("6.12")).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        load(&directory).unwrap();
        for name in ["state.json", "records.jsonl", "environment.json", "experiment.toml"] {
            let (path, aside) = (directory.join(name), home.path().join("aside"));
            std::fs::rename(&path, &aside).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
            let (results, place, bundle) =
                (results.clone(), directory.clone(), home.path().join("bundle"));
            let errors = without_waiting(move || {
                let identity = crate::fixtures::fingerprint("6.12");
                crate::find_unfinished(&results, "digest", &identity).unwrap();
                crate::unknown_keys(&place);
                let manifest = crate::Manifest::new("0.1.0".to_owned(), "t".to_owned(), None);
                // It is left out as what is not there.
                let packed = crate::pack(&place, manifest, &bundle).unwrap();
                assert!(!packed.files.contains_key(name), "{name} was packed");
                [
                    load(&place).unwrap_err(),
                    crate::Campaign::open(&place).unwrap_err(),
                    crate::unpack(&place.join(name), &place).unwrap_err(),
                ]
            });
            for error in errors {
                assert!(error.cause.contains("it is a FIFO, not a file"), "{name}: {error}");
                assert!(!error.remedy.is_empty(), "{name}: {error}");
            }
            std::fs::remove_file(home.path().join("bundle")).unwrap();
            std::fs::rename(&aside, &path).unwrap();
        }
        load(&directory).unwrap();
    }
}
