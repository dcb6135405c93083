//! A campaign without what identifies its machine, its people and their programs.
//!
//! What was redacted is redacted again like any other: placeholders stay, new ones have other numbers,
//! and the last record of each campaign before is named.
//!
//! Plan, records, environment, state and experiment are rewritten before anything is judged or
//! digested, so findings, reports and digests of the result follow from what is left, and a
//! redacted bundle verifies like any other. Text that nobody can vouch for is left out.

mod documents;
mod experiment;
mod kernel_line;
mod kind;
mod patterns;
mod replacer;

pub use kind::SecretKind;

use crate::chain::{Links, line_digest};
use crate::compact_json;
use crate::documents::{
    ENVIRONMENT_FORMAT, EnvironmentDocument, Head, Redaction, StateDocument, digest_of_end,
    fingerprint_digest, hexadecimal,
};
use crate::durable::{failed, read_limited};
use crate::import_head::import_head_of;
use crate::json_file::pretty_text;
use crate::load::LoadedCampaign;
use crate::records::scan_digests_on;
use contract::shared_names::COMMAND_LINES;
use contract::{Error, Result};
use model::{Block, Caveat, Fingerprint, Plan, Record, SharedName, SharedSittings};
use replacer::Replacer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use sys::HostFiles;

const RECORDS: &str = "records.jsonl";
/// What was attempted where it fails.
const ATTEMPTED: &str = "cannot redact the campaign";
/// Names that say nothing about whose machine it is.
const NOBODYS: [&str; 16] = [
    "root",
    "localhost",
    "localhost.localdomain",
    "(none)",
    "debian",
    "ubuntu",
    "fedora",
    "admin",
    "user",
    "nobody",
    "vagrant",
    "ec2-user",
    "runner",
    "localdomain",
    "local",
    "home",
];
/// Shorter words of command lines are in every text.
const SHORTEST_NAME: usize = 2;

/// What is known besides the campaign.
#[derive(Debug, Default)]
pub struct KnownSecrets {
    /// Secrets of this machine, and those that the user named.
    pub secrets: Vec<(SecretKind, String)>,
    /// Words of ours in lower case: in a command line they give nothing away.
    pub ordinary: BTreeSet<String>,
}

/// Writes the documents of the campaign in `source` to `target`, redacted, and gives its name
/// without secrets. Whatever else was found wrong with it goes with it as `flaws`.
///
/// # Errors
/// When a document cannot be read or written, or would not be one of ours afterwards.
pub fn redact(
    source: &Path,
    name: &str,
    known: &KnownSecrets,
    flaws: &[Caveat],
    target: &Path,
) -> Result<(String, Redaction)> {
    let mut loaded = crate::load(source)?;
    let blocks = std::mem::take(&mut loaded.plan.blocks);
    let origin = loaded.origin;
    let experiment = text_of(&source.join(origin));
    let mut replacer = Replacer::default();
    let mut state = crate::load::read_state(source)?;
    replacer.note_former(name);
    let told = state.caveats.iter().chain(&state.flaws).chain(flaws);
    told.for_each(|caveat| replacer.note_former(&caveat.detail));
    learn(&mut replacer, known, (&loaded, &blocks), experiment.as_deref())?;
    let name = replacer.text(name);
    let mut plan = redacted_plan(&loaded.plan, blocks, &mut replacer)?;
    // A redaction is no way to be rid of what was changed before it.
    let is_new = |flaw: &&Caveat| !loaded.flaws.contains(flaw);
    state.flaws = flaws.iter().filter(is_new).chain(&loaded.flaws).cloned().collect();
    for caveat in state.caveats.iter_mut().chain(&mut state.flaws) {
        caveat.detail = documents::detail_of(caveat, &mut replacer);
    }
    clear_resumptions(&mut state);
    let environment = redacted_environment(loaded.environment.as_ref(), &mut replacer)?;
    let before = loaded.environment.as_ref().map(fingerprint_digest);
    let digests = (before.as_deref(), environment.as_ref());
    // Twice, and never held: the plan, to which the first is bound, tells how many were replaced.
    for record in &loaded.records {
        redacted_record(record, digests, &mut replacer)?;
    }
    let head = experiment.as_deref().and_then(import_head_of).unwrap_or_default();
    let text = experiment.as_deref().and_then(|text| experiment::redacted(text, &mut replacer));
    let text = text.map(|text| format!("{head}{text}"));
    let lost = if text.is_some() { format!("comments of {origin}") } else { origin.to_owned() };
    let redaction = Redaction {
        replaced: replacer
            .counts()
            .iter()
            .map(|(kind, count)| (kind.plural().to_owned(), *count))
            .collect(),
        left_out: vec![lost, "logs".to_owned(), "traces".to_owned()],
    };
    plan.notes.push(format!("redacted: {}", redaction.words()));
    plan.digest = digest(&plan)?;
    // What was redacted before is redacted still.
    let redaction = state.redaction.iter().fold(redaction, Redaction::after);
    state.redaction = Some(redaction.clone());
    state.redacted_origin = Some(hexadecimal(text.as_deref().unwrap_or_default().as_bytes()));
    let records = loaded.records.iter();
    let records = records.map(|record| redacted_record(record, digests, &mut replacer));
    rebound(&plan, &mut state, records, &last_digest(source)?, target)?;
    write(target, "plan.json", &pretty(&plan)?)?;
    write(target, "state.json", &pretty(&state)?)?;
    if let Some(environment) = &environment {
        write(target, "environment.json", &pretty(environment)?)?;
    }
    if let Some(text) = text {
        write(target, origin, text.as_bytes())?;
    }
    Ok((name, redaction))
}

/// Boots and digests of runs that went on identify; what a count of the machine said is a flaw.
fn clear_resumptions(state: &mut StateDocument) {
    for resumption in &mut state.resumptions {
        resumption.boot_id.clear();
        resumption.digest.clear();
        resumption.known = None;
    }
}

/// The text of a campaign's own copy of what it was made from.
fn text_of(path: &Path) -> Option<String> {
    read_limited(path, &model::DOCUMENT_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// A plan without secrets, with these blocks. Of two million sittings values of JSON would be many times
/// as large, and they say nothing but names.
fn redacted_plan(plan: &Plan, blocks: Vec<Block>, replacer: &mut Replacer) -> Result<Plan> {
    let mut value = value_of(plan)?;
    documents::redact("", &mut value, replacer);
    redact_options(&mut value, replacer);
    let mut redacted: Plan = document(&value)?;
    distinct(plan, &redacted)?;
    redacted.blocks = blocks;
    let mut shared = SharedSittings::default();
    for block in &mut redacted.blocks {
        for sitting in &mut block.sittings {
            sitting.subject = replacer.text(&sitting.subject).into();
            sitting.workloads =
                sitting.workloads.iter().map(|label| replacer.text(label)).collect();
        }
        shared.share(block);
    }
    Ok(redacted)
}

fn redacted_environment(
    environment: Option<&Fingerprint>,
    replacer: &mut Replacer,
) -> Result<Option<EnvironmentDocument>> {
    let Some(environment) = environment else { return Ok(None) };
    let mut value = value_of(environment)?;
    documents::redact("fingerprint", &mut value, replacer);
    let fingerprint: Fingerprint = document(&value)?;
    Ok(Some(EnvironmentDocument {
        format: ENVIRONMENT_FORMAT.to_owned(),
        digest: fingerprint_digest(&fingerprint),
        fingerprint,
    }))
}

/// A record without secrets, which refers to the fingerprint without secrets.
fn redacted_record(
    record: &Record,
    (before, after): (Option<&str>, Option<&EnvironmentDocument>),
    replacer: &mut Replacer,
) -> Result<Record> {
    // What binds it is ours: it identifies nothing, and is made anew.
    let mut value = value_of(&Record { chain: None, ..record.clone() })?;
    documents::redact("", &mut value, replacer);
    let mut redacted: Record = document(&value)?;
    redacted.chain.clone_from(&record.chain);
    redacted.fingerprint = match after {
        // A machine that was lost could not say what it was.
        _ if record.fingerprint.is_empty() => String::new(),
        Some(document) if Some(&*record.fingerprint) == before => document.digest.clone(),
        _ => replacer.placeholder(SecretKind::Identifier, &record.fingerprint),
    };
    Ok(redacted)
}

/// Everything that is secret is known before anything is replaced, so that no document shows
/// what a later one gives away.
fn learn(
    replacer: &mut Replacer,
    known: &KnownSecrets,
    (loaded, blocks): (&LoadedCampaign, &[Block]),
    experiment: Option<&str>,
) -> Result<()> {
    for (kind, secret) in &known.secrets {
        let lower = secret.trim().to_lowercase();
        let is_asked_for = *kind == SecretKind::Word;
        let is_name = lower.chars().count() >= SHORTEST_NAME && !NOBODYS.contains(&&*lower);
        if is_asked_for || is_name {
            replacer.add(*kind, secret);
        }
    }
    let is_ordinary = |word: &str| {
        let lower = word.to_lowercase();
        known.ordinary.contains(&lower) || NOBODYS.contains(&lower.as_str())
    };
    documents::learn(&value_of(&loaded.plan)?, replacer, &is_ordinary);
    let sittings = || blocks.iter().flat_map(|block| &block.sittings);
    let mut named: BTreeSet<&str> = sittings().map(|sitting| sitting.subject.as_str()).collect();
    named.extend(sittings().flat_map(|sitting| &sitting.workloads).map(SharedName::as_str));
    for name in named {
        documents::learn(&Value::String(name.to_owned()), replacer, &is_ordinary);
    }
    if let Some(environment) = &loaded.environment {
        documents::learn(&value_of(environment)?, replacer, &is_ordinary);
    }
    for record in &loaded.records {
        let mut record = record.clone();
        for invocation in &mut record.invocations {
            invocation.samples.clear();
        }
        documents::learn(&value_of(&record)?, replacer, &is_ordinary);
    }
    if let Some(text) = experiment {
        replacer.note_former(text);
        experiment::learn(text, replacer, &is_ordinary);
    }
    Ok(())
}

/// What only a plan has: words of the command line that ran it, and a digest of an imported file,
/// by which it could be found.
fn redact_options(plan: &mut Value, replacer: &mut Replacer) {
    if let Some(Value::Array(options)) = plan.get_mut("options") {
        for option in options {
            let Value::String(text) = option else { continue };
            if let Some((key, line)) = text.split_once('=')
                && key.rsplit('.').next().is_some_and(|name| COMMAND_LINES.contains(&name))
            {
                *text = format!("{key}={}", documents::command(line, replacer));
            }
        }
    }
    if let Some(Value::String(digest)) = plan.pointer_mut("/imported/digest") {
        *digest = replacer.placeholder(SecretKind::Identifier, digest);
    }
}

/// A digest of what is left: that of the campaign would confirm a guess of what is missing.
fn digest(plan: &Plan) -> Result<String> {
    let bare = Plan { digest: String::new(), ..plan.clone() };
    let text = serde_json::to_vec(&bare).map_err(|error| unreadable(&error))?;
    Ok(Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Two subjects or workloads of one name would be one in every finding.
fn distinct(before: &Plan, after: &Plan) -> Result<()> {
    let names = |plan: &Plan| {
        let subjects: BTreeSet<String> = plan.subjects.iter().map(|one| one.id.clone()).collect();
        let labels: BTreeSet<String> = plan.workloads.iter().map(|one| one.label.clone()).collect();
        (subjects.len(), labels.len())
    };
    if names(before) == names(after) {
        return Ok(());
    }
    Err(Error::usage(
        ATTEMPTED,
        "two subjects or workloads would have the same name without the secrets in theirs",
        "give a bundle without --redact to whoever may know them",
    ))
}

fn value_of<T: Serialize>(document: &T) -> Result<Value> {
    compact_json::value_of(document).map_err(|error| unreadable(&error))
}

/// The document of a value, by way of its text as well.
fn document<T: DeserializeOwned>(value: &Value) -> Result<T> {
    serde_json::from_slice(value.to_string().as_bytes()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::environment(ATTEMPTED, error)
}

fn pretty<T: Serialize>(document: &T) -> Result<Vec<u8>> {
    pretty_text(document).map_err(|error| Error::environment(ATTEMPTED, error))
}

/// The digest of the last record of the campaign that is redacted; empty where it has none.
fn last_digest(source: &Path) -> Result<String> {
    let path = source.join(RECORDS);
    let last = scan_digests_on(&HostFiles, &path)?.digests.pop();
    Ok(last.map(|digest| digest.to_string()).unwrap_or_default())
}

/// Writes the lines of redacted records: a chain of their own that begins with the end of the former.
fn rebound(
    plan: &Plan,
    state: &mut StateDocument,
    records: impl ExactSizeIterator<Item = Result<Record>>,
    last: &str,
    target: &Path,
) -> Result<()> {
    state.oldest_format().clone_into(&mut state.format);
    // Of a redaction of a redaction, each campaign before is named.
    state.redacted_before.extend(state.redaction_of.replace(last.to_owned()));
    let mut links = Links::root(plan, state, b"");
    let path = target.join(RECORDS);
    let cannot_write = |error: std::io::Error| failed("write", &path, &error);
    let mut lines = BufWriter::new(File::create_new(&path).map_err(cannot_write)?);
    let mut digest = String::new();
    let count = records.len() as u64;
    for (at, record) in records.enumerate() {
        let mut record = record?;
        // Records of an earlier version have nothing to be bound with, and stay what they are.
        record.chain = match record.chain {
            Some(_) if at == 0 => Some(Box::new(links.first(plan, state, Some(count)))),
            Some(_) => Some(Box::new(links.next())),
            None => None,
        };
        let line = serde_json::to_vec(&record).map_err(|error| unreadable(&error))?;
        let linked = line_digest(&line);
        links.follow(&linked);
        digest = linked.to_string();
        lines.write_all(&line).and_then(|()| lines.write_all(b"\n")).map_err(cannot_write)?;
    }
    lines.flush().map_err(cannot_write)?;
    if state.head.take().is_some() {
        let mut head = Head { records: count, digest, end: None };
        head.end = Some(digest_of_end(plan, state, &head));
        state.head = Some(head);
    }
    Ok(())
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = directory.join(name);
    let mut file = File::create_new(&path).map_err(|error| failed("write", &path, &error))?;
    file.write_all(bytes).map_err(|error| failed("write", &path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::{Campaign, Manifest, pack, unpack};
    use model::{CaveatCode, Level, LevelReading, Outcome, ParameterValue, WorkloadPlan};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::fs;

    /// A campaign with one secret at each place that takes text of users, programs or machines.
    fn campaign(home: &Path, user: &str, host: &str, command: &str) -> std::path::PathBuf {
        let everything = format!("{user} on {host} ran {command} in /var/home/{user}/{command}");
        let mut plan = fixtures::plan("first", "0f3a");
        plan.title.clone_from(&everything);
        plan.notes.push(everything.clone());
        plan.options = vec![format!("workloads.x.run={command} --for {user}")];
        plan.subjects[0].id = format!("tuned-by-{user}");
        let levels = &mut plan.subjects[0].levels;
        levels.insert("scheduler".to_owned(), Level::canonical(format!("/opt/{command}/scx")));
        plan.workloads.push(workload(user, host, command));
        let campaign = Campaign::create(home, &plan, &experiment(user, host, command), 7, 1);
        let mut campaign = campaign.unwrap();
        let mut fingerprint = fixtures::fingerprint("6.12.1");
        let facts = [
            ("boot.id".to_owned(), "3b2e8e6c-3212-4450-8a1c-d3e9522baded".to_owned()),
            ("kernel.command_line".to_owned(), format!("quiet acme.host={host} ip=10.1.2.3")),
            (format!("program./opt/{command}/scx"), "00".repeat(32)),
        ];
        fingerprint.0.extend(facts);
        let digest = campaign.save_fingerprint(&fingerprint).unwrap();
        for sequence in 0..4 {
            let mut record = fixtures::record(sequence, vec![1.5]);
            record.subject.clone_from(&plan.subjects[0].id);
            record.fingerprint.clone_from(&digest);
            record.boot_id = "3b2e8e6c-3212-4450-8a1c-d3e9522baded".to_owned();
            record.caveats.push(Caveat::new(CaveatCode::Interference, everything.clone()));
            record.fingerprint_difference.insert("load".to_owned(), everything.clone());
            let reason = format!("exit status 1: {everything} with key-{command}-77");
            record.invocations[0].failure = Some(reason.as_str().into());
            let detail = format!("{command}[1234] stalled");
            record.outcome = match sequence {
                0 => Outcome::Failed { reason },
                1 => Outcome::Invalid { rule: "ejected".to_owned(), detail },
                _ => Outcome::Completed,
            };
            let level = Level::canonical(format!("/opt/{command}/scx"));
            let reading = LevelReading { before: level.clone(), during: vec![], after: level };
            record.levels.insert("scheduler".to_owned(), reading);
            campaign.append(&mut record).unwrap();
        }
        campaign.mark_stopped_early(&everything).unwrap();
        campaign.directory().to_owned()
    }

    fn workload(user: &str, host: &str, command: &str) -> WorkloadPlan {
        let words = [command, "--key=77", user, host].map(str::to_owned).into();
        let pick = [("regex".to_owned(), format!("{command}: (.*)"))].into();
        let parameters = [
            ("run".to_owned(), ParameterValue::Words(words)),
            ("directory".to_owned(), ParameterValue::Text(format!("/srv/{user}"))),
            ("metrics".to_owned(), ParameterValue::Table([("rate".to_owned(), pick)].into())),
        ];
        WorkloadPlan {
            uses: "command".to_owned(),
            parameters: model::Parameters(parameters.into()),
            ..::fixtures::workload(&format!("for-{user}"), Vec::new())
        }
    }

    fn experiment(user: &str, host: &str, command: &str) -> String {
        format!(
            "# {user} owns {host}\ntitle = \"{command} of {user}\"\n[subjects.tuned-by-{user}]\n\
             [[workloads]]\nuse = \"command\"\nrun = \"{command} --key=77 {user} {host}\"\n"
        )
    }

    fn known(user: &str, host: &str) -> KnownSecrets {
        let secrets =
            vec![(SecretKind::User, user.to_owned()), (SecretKind::Host, host.to_owned())];
        KnownSecrets { secrets, ordinary: BTreeSet::new() }
    }

    /// Everything in a redacted bundle of that campaign, as text.
    fn published(user: &str, host: &str, command: &str) -> BTreeMap<String, String> {
        let home = tempfile::tempdir().unwrap();
        let directory = campaign(&home.path().join("results"), user, host, command);
        let [staging, out] = ["staging", "out"].map(|name| home.path().join(name));
        fs::create_dir(&staging).unwrap();
        fs::create_dir(&out).unwrap();
        let (campaign, redaction) =
            redact(&directory, &format!("first-{user}"), &known(user, host), &[], &staging)
                .unwrap();
        let manifest = Manifest::new("0.1.0".to_owned(), campaign, Some(redaction));
        let file = home.path().join("bundle");
        let manifest = pack(&staging, manifest, &file).unwrap();
        let unpacked = unpack(&file, &out).unwrap();
        assert_eq!(unpacked.problems, [""; 0]);
        assert_eq!(unpacked.manifest, manifest);
        let loaded = crate::load(&out).unwrap();
        assert_eq!(loaded.records.len(), 4);
        let digest = fingerprint_digest(loaded.environment.as_ref().unwrap());
        assert!(loaded.records.iter().all(|record| record.fingerprint == digest));
        assert!(loaded.records.iter().all(|one| one.subject == loaded.plan.subjects[0].id));
        let mut texts = BTreeMap::new();
        for name in manifest.files.keys() {
            texts.insert(name.clone(), fs::read_to_string(out.join(name)).unwrap());
        }
        texts.insert("manifest".to_owned(), serde_json::to_string(&manifest).unwrap());
        texts
    }

    #[test]
    fn placeholders_are_the_same_everywhere_and_say_what_they_stand_for() {
        let texts = published("alice", "buildbox", "acmebench");
        assert_eq!(texts.len(), 6, "{:?}", texts.keys());
        let plan = &texts["plan.json"];
        assert!(plan.contains("tuned-by-redacted-user-1"), "{plan}");
        assert!(plan.contains("redacted: placeholders stand for"), "{plan}");
        let experiment = &texts["experiment.toml"];
        assert!(experiment.contains("[subjects.tuned-by-redacted-user-1]"), "{experiment}");
        assert!(experiment.contains("run = \"redacted-command-"), "{experiment}");
        let records = &texts["records.jsonl"];
        assert!(records.contains("exit status 1: redacted-output-1"), "{records}");
        let environment = &texts["environment.json"];
        assert!(environment.contains("quiet redacted-kernel-word-1"), "{environment}");
        assert!(texts["manifest"].contains(r#""user names":1"#), "{}", texts["manifest"]);
        assert_eq!(texts, published("alice", "buildbox", "acmebench"), "the same bytes");
        for (name, text) in &texts {
            assert!(!text.contains("3b2e8e6c-") && !text.contains("10.1.2.3"), "{name}: {text}");
        }
    }

    #[test]
    fn names_in_blocks_are_replaced_as_those_of_subjects_and_workloads() {
        let workloads = ["for-alice"].into_iter().collect();
        let sitting = model::Sitting { subject: "tuned-by-alice".into(), workloads, boot: None };
        let blocks = vec![Block { index: 0, sittings: vec![sitting] }];
        let mut replacer = Replacer::default();
        replacer.add(SecretKind::User, "alice");
        let plan = fixtures::plan("first", "0f3a");
        let redacted = redacted_plan(&plan, blocks, &mut replacer).unwrap();
        let sitting = &redacted.blocks[0].sittings[0];
        assert_eq!(sitting.subject, "tuned-by-redacted-user-1");
        assert_eq!(*sitting.workloads, ["for-redacted-user-1"]);
    }

    #[test]
    fn a_redaction_is_redacted_again_without_another_change_and_names_each_campaign_before() {
        let home = tempfile::tempdir().unwrap();
        let first = campaign(&home.path().join("results"), "alice", "buildbox", "acmebench");
        let again = |source: &Path, secrets: Vec<(SecretKind, String)>, name: &str| {
            let target = home.path().join(name);
            fs::create_dir(&target).unwrap();
            let known = KnownSecrets { secrets, ordinary: BTreeSet::new() };
            let (_, redaction) = redact(source, "first", &known, &[], &target).unwrap();
            let state = crate::load::read_state(&target).unwrap();
            assert_eq!(state.redaction_of, Some(last_digest(source).unwrap()));
            (target, redaction, state.redacted_before)
        };
        let once = again(&first, known("alice", "buildbox").secrets, "once");
        let twice = again(&once.0, Vec::new(), "twice");
        let of_first = last_digest(&first).unwrap();
        assert_eq!(once.2, [""; 0]);
        assert_eq!(twice.2, std::slice::from_ref(&of_first));
        assert_eq!(twice.1, once.1, "nothing more was replaced, and nothing is counted twice");
        for name in ["environment.json", "experiment.toml"] {
            let read = |directory: &Path| fs::read_to_string(directory.join(name)).unwrap();
            assert_eq!(read(&twice.0), read(&once.0), "{name}");
        }
        let [before, after] = [&once.0, &twice.0].map(|directory| crate::load(directory).unwrap());
        let bare = |loaded: &LoadedCampaign| -> Vec<Record> {
            let unbound = |record: &Record| Record { chain: None, ..record.clone() };
            loaded.records.iter().map(unbound).collect()
        };
        assert_eq!(bare(&after), bare(&before));
        assert_eq!((&after.flaws, after.redaction.as_ref()), (&before.flaws, Some(&once.1)));
        let word = (SecretKind::Word, "tuned".to_owned());
        let thrice = again(&twice.0, vec![word], "thrice");
        assert_eq!(thrice.2, [of_first, last_digest(&once.0).unwrap()]);
        let loaded = crate::load(&thrice.0).unwrap();
        assert_eq!(loaded.plan.subjects[0].id, "redacted-word-1-by-redacted-user-1");
        assert_eq!(loaded.flaws, before.flaws);
        let state = thrice.0.join("state.json");
        let text = fs::read_to_string(&state).unwrap();
        fs::write(&state, text.replace("redacted_before", "nothing_before")).unwrap();
        assert!(crate::load(&thrice.0).unwrap().flaws.len() > before.flaws.len());
    }

    #[test]
    fn what_a_redaction_left_of_the_experiment_is_bound_by_its_first_record() {
        let home = tempfile::tempdir().unwrap();
        let source = campaign(&home.path().join("results"), "alice", "buildbox", "acmebench");
        let target = home.path().join("redacted");
        fs::create_dir(&target).unwrap();
        redact(&source, "first", &known("alice", "buildbox"), &[], &target).unwrap();
        let told = |words: &str| {
            let loaded = crate::load(&target).unwrap();
            loaded.flaws.iter().filter(|flaw| flaw.detail.contains(words)).count()
        };
        let is_other = "experiment.toml is not what the redaction left: its digest is ";
        assert_eq!(told(is_other), 0);
        let path = target.join("experiment.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("alpha = 0.2\n{text}")).unwrap();
        assert_eq!(told(is_other), 1);
        fs::remove_file(&path).unwrap();
        assert_eq!(told(is_other), 1);
        fs::write(&path, text).unwrap();
        assert_eq!(told(is_other), 0);
        let is_unbound = "what the redaction left of experiment.toml is not bound";
        let unbound = || {
            let loaded = crate::load(&target).unwrap();
            loaded.unbound.iter().filter(|told| told.contains(is_unbound)).count()
        };
        assert_eq!(unbound(), 0);
        let state = target.join("state.json");
        let mut document: Value =
            serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
        assert_eq!(document["format"], "schedlab.state/4");
        document.as_object_mut().unwrap().remove("redacted_origin").unwrap();
        document["format"] = "schedlab.state/3".into();
        fs::write(&state, document.to_string()).unwrap();
        assert_eq!(told("what it says of a redaction, is not what the first record names"), 1);
        assert_eq!(unbound(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn no_secret_is_left_in_any_file_whatever_it_is(
            // Letters that no word of ours has in this order, and so many that no encoded
            // histogram has them by chance.
            user in "[qxz][a-z0-9]{4,9}[qxz]",
            host in "[QXZ][a-z0-9]{4,8}[qxz](\\.[qxz]{4})?",
            command in "[qxz][a-z0-9_]{4,8}[qxz](-[qxz]{3})?",
        ) {
            for (name, text) in published(&user, &host, &command) {
                let text = text.to_lowercase();
                for secret in [&user, &host, &command].map(|secret| secret.to_lowercase()) {
                    // Digests are random letters and digits.
                    let is_digest = |c: char| c.is_ascii_hexdigit();
                    prop_assert!(
                        !text.contains(&secret) || secret.chars().all(is_digest),
                        "{secret} in {name}: {text}"
                    );
                }
            }
        }
    }
}
