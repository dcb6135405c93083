//! `schedlab bundle` and `schedlab verify`: a campaign as one file, and whether one says what its
//! records give.

use super::evidence::{self, Examined};
use super::reports::{document, judged};
use super::secrets;
use super::signatures::{self, Signature};
use super::unpacked_bundle::{opened, redaction_sentence, temporary};
use crate::cli::{Bundle, Common, Verify};
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::{Error, ErrorKind, Result};
use model::{Binding, Findings};
use serde_json::Value;
use std::path::{Path, PathBuf};
use store::{CampaignState, LoadedCampaign, Manifest, Redaction};

/// Ending of a bundle's file name.
const ENDING: &str = "schedlab.tar.gz";
/// What of a campaign is packed as it is; the rest is made anew.
const AS_THEY_ARE: [&str; 4] = ["plan.json", "records.jsonl", "environment.json", "state.json"];
/// What no campaign can be without.
const NEEDED: [&str; 3] = ["plan.json", "records.jsonl", "state.json"];
/// Said of records of an earlier version.
const UNBOUND: &str =
    "an earlier version wrote the records, and bound them neither to the plan nor to each other";
/// Differences told one by one.
const TOLD_AT_MOST: usize = 20;

/// Packs a campaign with findings and reports made anew by this version.
pub(super) fn bundle(common: &Common, arguments: &Bundle) -> Result<ExitCode> {
    if Path::new(&arguments.campaign.campaign).is_file() {
        return Err(Error::usage(
            format!("cannot bundle {}", arguments.campaign.campaign),
            "it is a file, not a campaign's directory",
            "copy it as it is, if it is a bundle",
        ));
    }
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    if loaded.state == CampaignState::Unfinished {
        return Err(Error::usage(
            format!("cannot bundle {}", loaded.directory.display()),
            "it is not finished, so it has no verdict yet",
            "let the same command go on with it, or end it for good: schedlab judge --end",
        ));
    }
    let source = std::path::absolute(&loaded.directory)
        .map_err(|error| Error::environment("cannot find the campaign", error))?;
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let staging = temporary()?;
    let staged = if arguments.redact {
        redacted(common, arguments, &source, &name, staging.path())?
    } else {
        copied(&source, loaded.origin, staging.path())?;
        Staged { name, loaded, findings, redaction: None }
    };
    let Staged { name, mut loaded, findings, redaction } = staged;
    let file =
        arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.{ENDING}")));
    // Reports name the campaign's directory; in a bundle it has none but its name.
    loaded.directory = PathBuf::from(&name);
    for (document, bytes) in made(&loaded, &findings)? {
        let to = staging.path().join(document);
        std::fs::write(&to, bytes).map_err(|error| cannot("write", &to, error))?;
    }
    let manifest = Manifest::new(version(), name, redaction);
    let manifest = store::pack(staging.path(), manifest, &file)?;
    tell(&format!("wrote {}: {} files", file.display(), manifest.files.len()));
    if let Some(redaction) = &manifest.redaction {
        tell(&format!("{}; read its report before you publish it", redaction_sentence(redaction)));
    }
    if let Some(key) = &arguments.sign {
        tell(&format!("wrote {}", signatures::sign(&file, key)?.display()));
    }
    tell(&format!("whoever has it can say: schedlab verify {}", file.display()));
    Ok(ExitCode::Done)
}

/// What a bundle is made from.
struct Staged {
    name: String,
    loaded: LoadedCampaign,
    findings: Findings,
    redaction: Option<Redaction>,
}

/// Copies what is packed as it is, and what the plan was made from.
fn copied(source: &Path, origin: &str, staging: &Path) -> Result<()> {
    for document in AS_THEY_ARE.into_iter().chain([origin]) {
        let from = source.join(document);
        let Ok(found) = from.symlink_metadata() else { continue };
        if !found.is_file() {
            // A link could name any file that its reader may read.
            return Err(cannot("pack", &from, std::io::Error::other("it is no regular file")));
        }
        let to = staging.join(document);
        let action = format!("copy {} to", from.display());
        std::fs::copy(&from, &to).map_err(|error| cannot(&action, &to, error))?;
    }
    Ok(())
}

/// The campaign without what identifies machine, people and programs, judged as it then is.
fn redacted(
    common: &Common,
    arguments: &Bundle,
    source: &Path,
    name: &str,
    staging: &Path,
) -> Result<Staged> {
    let known = secrets::known(common, &arguments.words)?;
    let (name, redaction) = store::redact(source, name, &known, staging)?;
    let loaded = evidence::load(common, staging)?;
    let findings = lab::judge_records(&loaded);
    Ok(Staged { name, loaded, findings, redaction: Some(redaction) })
}

/// What draws reports: this version with its page.
fn version() -> String {
    format!("{}, page {}", env!("CARGO_PKG_VERSION"), report::PAGE_SOURCES)
}

/// What follows from plan and records, by the name of its file.
fn made(loaded: &LoadedCampaign, findings: &Findings) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let mut text = serde_json::to_vec_pretty(findings)
        .map_err(|error| Error::environment("cannot write findings", error))?;
    text.push(b'\n');
    let mut made = vec![("findings.json", text)];
    made.push(("report.md", document(loaded, findings, "markdown")?));
    if report::HAS_PAGE {
        made.push(("report.html", document(loaded, findings, "html")?));
    }
    if report::has_grid(&loaded.plan) {
        made.push(("report.xlsx", document(loaded, findings, "xlsx")?));
    }
    Ok(made)
}

/// Judges the records of a bundle anew and draws its reports anew, and says what differs.
pub(super) fn verify(common: &Common, arguments: &Verify) -> Result<ExitCode> {
    let file = &arguments.bundle;
    let home = temporary()?;
    let unpacked = store::unpack(file, home.path())?;
    let mut problems = unpacked.problems;
    if let Some(redaction) = &unpacked.manifest.redaction {
        print(&format!("{}: {}\n", file.display(), redaction_sentence(redaction)))?;
    }
    let version = &unpacked.manifest.schedlab;
    let is_same_version = *version == self::version();
    let mut checked = vec![format!("{} digests", unpacked.manifest.files.len())];
    let mut unchecked = Vec::new();
    problems.extend(note_signature(arguments, &mut checked, &mut unchecked)?);
    match opened(common, home.path(), &unpacked.manifest) {
        Ok(Examined { loaded, not_replanned }) => {
            problems.extend(loaded.flaws.iter().map(|flaw| flaw.detail.clone()));
            note_evidence(&loaded, not_replanned, &mut checked, &mut unchecked);
            let findings = lab::judge_records(&loaded);
            for (name, bytes) in made(&loaded, &findings)? {
                let packed = std::fs::read(home.path().join(name));
                if name == "findings.json" {
                    let Ok(packed) = packed else {
                        problems.push(format!("{name} is missing, so there is nothing to verify"));
                        continue;
                    };
                    checked.push(format!(
                        "{} findings from {} records",
                        findings.findings.len(),
                        loaded.records.len()
                    ));
                    problems.extend(differing(&packed, &bytes));
                    continue;
                }
                let Ok(packed) = packed else {
                    // Another version may have packed other documents.
                    if is_same_version {
                        problems.push(format!("{name} is missing, and bundles of it have it"));
                    }
                    continue;
                };
                if !is_same_version {
                    tell(&format!("{name} is not compared: it was drawn by schedlab {version}"));
                } else if packed == bytes {
                    checked.push(name.to_owned());
                } else {
                    problems.push(format!("{name} is not what the records give"));
                }
            }
        }
        Err(error) => problems.extend(without_campaign(home.path(), &error)),
    }
    let problems = once(&problems);
    if problems.is_empty() {
        print(&format!("{}: verified ({})\n", file.display(), checked.join(", ")))?;
        for unchecked in &unchecked {
            print(&format!("not checked: {unchecked}\n"))?;
        }
        return Ok(ExitCode::Done);
    }
    for problem in problems.iter().take(TOLD_AT_MOST) {
        print(&format!("differs: {problem}\n"))?;
    }
    if problems.len() > TOLD_AT_MOST {
        print(&format!("and {} more\n", problems.len() - TOLD_AT_MOST))?;
    }
    print(&format!("{}: NOT what its records give\n", file.display()))?;
    Ok(ExitCode::Failure)
}

/// Whether the signature beside a bundle is what it should be; what is wrong with it, otherwise.
fn note_signature(
    arguments: &Verify,
    checked: &mut Vec<String>,
    unchecked: &mut Vec<String>,
) -> Result<Option<String>> {
    match signatures::check(&arguments.bundle, arguments.signed_by.as_deref())? {
        Signature::Absent => {}
        Signature::Expected(key) => checked.push(format!("signature of {key}")),
        Signature::OfSomeKey(key) => unchecked.push(format!(
            "who signed it: {key} did, and --signed-by PUBLIC_KEY says whose that is"
        )),
        Signature::Bad(why) => return Ok(Some(format!("signature: {why}"))),
        Signature::NotChecked(why) => unchecked.push(format!("signature: {why}")),
    }
    Ok(None)
}

/// What of the evidence was looked at, and what could not be.
fn note_evidence(
    loaded: &LoadedCampaign,
    not_replanned: Option<String>,
    checked: &mut Vec<String>,
    unchecked: &mut Vec<String>,
) {
    match loaded.binding {
        Binding::Checked => checked.push(format!("chain of {} records", loaded.records.len())),
        Binding::Absent | Binding::NotLookedAt => unchecked.push(UNBOUND.to_owned()),
    }
    match not_replanned {
        Some(why) => unchecked.push(format!("not re-planned: {why}")),
        None => checked.push(format!("plan of {}", loaded.origin)),
    }
}

/// Why a bundle holds no campaign.
fn without_campaign(directory: &Path, error: &Error) -> Vec<String> {
    let absent = NEEDED.iter().filter(|name| !directory.join(name).exists());
    let told: Vec<String> =
        absent.map(|name| format!("{name} is missing, so nothing can be judged anew")).collect();
    if told.is_empty() { vec![error.one_line()] } else { told }
}

/// What was found twice is told once, with the more words.
fn once(problems: &[String]) -> Vec<&String> {
    let is_told = |problem: &&String| {
        let more = format!("{problem}, ");
        !problems.iter().any(|other| other.starts_with(&more))
    };
    problems.iter().filter(is_told).collect()
}

/// Every place where two findings differ, with both values.
fn differing(packed: &[u8], computed: &[u8]) -> Vec<String> {
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes);
    match (parse(packed), parse(computed)) {
        (Ok(packed), Ok(computed)) => {
            let mut found = Vec::new();
            compare("", &packed, &computed, &mut found);
            found
        }
        (Err(error), _) | (_, Err(error)) => vec![format!("findings.json: {error}")],
    }
}

fn compare(place: &str, packed: &Value, computed: &Value, found: &mut Vec<String>) {
    match (packed, computed) {
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                let other = other.get(key).unwrap_or(&Value::Null);
                compare(&format!("{place}/{key}"), value, other, found);
            }
            for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
                compare(&format!("{place}/{key}"), &Value::Null, value, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (value, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{place}/{index}"), value, other, found);
            }
        }
        _ if packed == computed => {}
        _ => found.push(format!(
            "findings.json {place} is {}, and the records give {}",
            short(packed),
            short(computed)
        )),
    }
}

/// A value in one line.
fn short(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn cannot(action: &str, path: &Path, error: std::io::Error) -> Error {
    let attempted = format!("cannot {action} {}", path.display());
    let remedy = "set TMPDIR to a directory with room that you may write";
    Error::new(ErrorKind::Environment, attempted, error, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named_with_its_place_and_both_values() {
        let packed = br#"{"a": [1, {"b": 2.5, "gone": 1}], "same": "x", "list": [1]}"#;
        let computed = br#"{"a": [1, {"b": 2.25, "new": true}], "same": "x", "list": [1, 2]}"#;
        assert_eq!(
            differing(packed, computed),
            [
                "findings.json /a/1/b is 2.5, and the records give 2.25",
                "findings.json /a/1/gone is 1, and the records give null",
                "findings.json /a/1/new is null, and the records give true",
                "findings.json /list is [1], and the records give [1,2]",
            ]
        );
        assert_eq!(differing(packed, packed), [""; 0]);
        assert_eq!(differing(b"{", computed).len(), 1);
    }
}
