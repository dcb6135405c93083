//! `schedlab bundle` and `schedlab verify`: a campaign as one file, and whether one says what its
//! records give.

use super::evidence::{self, Examined};
use super::findings_differences::{FINDINGS, IS_OTHER, other_findings};
use super::manifest_fields::{self, FieldOutcome, redaction_sentence};
use super::reports::{document, judged};
use super::secrets;
use super::signatures::{self, Signature};
use super::unpacked_bundle::{opened, temporary};
use crate::cli::{Bundle, Common, Verify};
use crate::exit::ExitCode;
use crate::output::{print_data, print_line, tell};
use contract::{Error, ErrorKind, Result};
use model::{Binding, Caveat, Findings};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use store::{CampaignState, LoadedCampaign, Manifest, OpenBundle, Redaction};
use sys::open_regular;

/// Ending of a bundle's file name.
const ENDING: &str = "schedlab.tar.gz";
/// What of a campaign is packed as it is; the rest is made anew.
const AS_THEY_ARE: [&str; 4] = ["plan.json", "records.jsonl", "environment.json", "state.json"];
/// What no campaign can be without.
const NEEDED: [&str; 3] = ["plan.json", "records.jsonl", "state.json"];
/// The page, which a program may be built without.
const PAGE: &str = "report.html";
/// Differences told one by one.
const TOLD_AT_MOST: usize = 20;
/// Bytes of a packed document that are held while it is compared.
const PIECE: usize = 1 << 16;

/// Packs a campaign with findings and reports made anew by this version.
pub(super) fn bundle(common: &Common, arguments: &Bundle) -> Result<ExitCode> {
    if Path::new(&arguments.campaign.campaign).is_file() {
        return Err(Error::usage(
            format!("cannot bundle {}", arguments.campaign.campaign),
            "it is a file, not a campaign's directory",
            "copy it as it is, if it is a bundle",
        ));
    }
    arguments.sign.as_deref().map_or(Ok(()), signatures::check_key)?;
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
        let flaws = loaded.flaws.clone();
        // What is left when it is redacted is loaded and judged anew.
        drop((loaded, findings));
        sys::return_freed_memory();
        redacted(common, arguments, &flaws, (&source, &name), staging.path())?
    } else {
        copied(&source, loaded.origin, staging.path())?;
        // One that was redacted and unpacked is redacted still.
        let redaction = loaded.redaction.clone();
        Staged { name, loaded, findings, redaction }
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
    let mut signature = None;
    let manifest = store::pack_sealed(staging.path(), manifest, &file, |whole| {
        let sign = |key| signatures::of(whole, &file, key);
        signature = arguments.sign.as_deref().map(sign).transpose()?;
        Ok(())
    })?;
    tell(&format!("wrote {}: {}", file.display(), model::counted(manifest.files.len(), "file")));
    if let Some(redaction) = &manifest.redaction {
        tell(&format!("{}; read its report before you publish it", redaction_sentence(redaction)));
    }
    if let Some(signature) = signature {
        tell(&format!("wrote {}", signatures::put(&file, &signature)?.display()));
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
        let copy = || -> std::io::Result<u64> {
            std::io::copy(&mut open_regular(&from)?, &mut File::create(&to)?)
        };
        copy().map_err(|error| cannot(&action, &to, error))?;
    }
    Ok(())
}

/// The campaign without what identifies machine, people and programs, judged as it then is.
fn redacted(
    common: &Common,
    arguments: &Bundle,
    flaws: &[Caveat],
    (source, name): (&Path, &str),
    staging: &Path,
) -> Result<Staged> {
    let known = secrets::known(common, &arguments.words)?;
    let (name, redaction) = store::redact(source, name, &known, flaws, staging)?;
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
    let text = store::findings_text(findings)
        .map_err(|error| Error::environment("cannot write findings", error))?;
    let mut made = vec![(FINDINGS, text)];
    made.push(("report.md", document(loaded, findings, "markdown")?));
    if report::HAS_PAGE {
        made.push((PAGE, document(loaded, findings, "html")?));
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
    let mut bundle = OpenBundle::open(file)?;
    let unpacked = bundle.unpack(home.path())?;
    let manifest = unpacked.manifest;
    let mut seen = Verification {
        problems: unpacked.problems,
        checked: vec![model::counted(manifest.files.len(), "digest")],
        packed_by: manifest.schedlab.clone(),
        ..Verification::default()
    };
    seen.note_signature(&mut bundle, arguments)?;
    seen.problems.extend(store::unknown_keys(home.path()));
    match opened(common, home.path(), &manifest) {
        Ok(Examined { loaded, not_replanned }) => {
            let redaction = manifest_fields::redaction_of(&manifest, &loaded);
            seen.redaction = redaction.as_ref().map(redaction_sentence);
            seen.note_evidence(&loaded, not_replanned);
            seen.compare(&loaded, &manifest, home.path())?;
            seen.note_manifest(&loaded, &manifest);
        }
        Err(error) => seen.problems.extend(without_campaign(home.path(), &error)),
    }
    // Where this process is being ended it waits here: files that went with their directory are no
    // difference of the bundle.
    drop(home);
    if arguments.json { seen.tell_json(file) } else { seen.tell(file) }
}

/// What came of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum VerificationOutcome {
    /// Something is not what the records give.
    Differs,
    /// Nothing binds records.
    NotBound,
    /// All agrees but what another version drew, which was compared with nothing.
    VerifiedExcept,
    Verified,
}

impl VerificationOutcome {
    /// What is not compared is neither shown to be so nor to be otherwise.
    fn exit_code(self) -> ExitCode {
        match self {
            Self::Differs | Self::NotBound => ExitCode::Failure,
            Self::VerifiedExcept => ExitCode::Inconclusive,
            Self::Verified => ExitCode::Done,
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct VerificationDocument<'v> {
    format: &'static str,
    bundle: String,
    outcome: VerificationOutcome,
    /// The version that packed it, by the word of its manifest alone.
    packed_by: &'v str,
    program: String,
    compared: &'v [String],
    /// What was compared with nothing, so that nothing is verified of it.
    not_compared: &'v [String],
    not_checked: &'v [String],
    differs: Vec<&'v String>,
    redaction: Option<&'v str>,
    resumed: Option<&'v str>,
}

/// What of a bundle was looked at, and what came of it.
#[derive(Default)]
struct Verification {
    problems: Vec<String>,
    checked: Vec<String>,
    /// What could not be looked at, in one sentence each.
    unchecked: Vec<String>,
    /// Reports that were compared with nothing: of them nothing is verified.
    undrawn: Vec<String>,
    /// How many records are bound to nothing, where any are: nobody can verify these.
    loose: Option<String>,
    /// How often the campaign was resumed and what ran again, where it was.
    resumed: Option<String>,
    /// What was redacted, where anything was.
    redaction: Option<String>,
    /// The version that packed the bundle, by its manifest.
    packed_by: String,
}

impl Verification {
    /// Whether the signature beside a bundle is what it should be.
    fn note_signature(&mut self, bundle: &mut OpenBundle, arguments: &Verify) -> Result<()> {
        match signatures::check(bundle, arguments.signed_by.as_deref())? {
            Signature::Absent => {}
            Signature::Expected(key) => self.checked.push(format!("signature of {key}")),
            Signature::OfSomeKey(key) => self.unchecked.push(format!(
                "who signed it: {key} did, and --signed-by PUBLIC_KEY says whose that is"
            )),
            Signature::Bad(why) => self.problems.push(format!("signature: {why}")),
            Signature::NotChecked(why) => self.unchecked.push(format!("signature: {why}")),
        }
        Ok(())
    }

    /// What of the evidence was looked at, and what could not be.
    fn note_evidence(&mut self, loaded: &LoadedCampaign, not_replanned: Option<String>) {
        self.problems.extend(loaded.flaws.iter().map(|flaw| flaw.detail.clone()));
        // Where the end is lacking, a flaw says it of the record that is torn.
        if let Some(torn) = &loaded.torn
            && !self.problems.iter().any(|problem| problem.contains(torn.as_str()))
        {
            self.problems.push(format!("records.jsonl does not end with a whole record: {torn}"));
        }
        self.resumed = lab::resumed(loaded);
        let count = loaded.records.len();
        if loaded.binding == Binding::Checked {
            self.checked.push(format!("chain of {}", model::counted(count, "record")));
        } else {
            let loose = loaded.records.iter().filter(|record| record.chain.is_none()).count();
            let records = model::counted(count, "record");
            self.loose = Some(format!("nothing binds {loose} of {records}"));
        }
        self.unchecked.extend_from_slice(&loaded.unbound);
        match not_replanned {
            Some(why) => self.unchecked.push(format!("not re-planned: {why}")),
            None => self.checked.push(format!("plan of {}", loaded.origin)),
        }
    }

    /// Holds the manifest against what was unpacked, after the reports were compared.
    fn note_manifest(&mut self, loaded: &LoadedCampaign, manifest: &Manifest) {
        let mut campaign = manifest_fields::campaign(manifest, loaded);
        if let FieldOutcome::NotChecked(why) = &campaign
            && self.problems.iter().any(|problem| problem.ends_with(IS_OTHER))
        {
            campaign = FieldOutcome::Differs(why.clone());
        }
        let redaction = manifest_fields::redaction(manifest, loaded);
        for outcome in [campaign, redaction, manifest_fields::format(manifest, &version())] {
            match outcome {
                FieldOutcome::Agrees => {}
                FieldOutcome::Differs(problem) => self.problems.push(problem),
                FieldOutcome::NotChecked(why) => self.unchecked.push(why),
            }
        }
        // Where a report was not compared, that names the version already.
        if manifest.schedlab != version() && self.undrawn.is_empty() {
            self.undrawn.push("the version in manifest.json".to_owned());
            self.unchecked.push(format!(
                "manifest.json: schedlab is {}, and this is {}: whether that version judges and \
                 draws the same",
                manifest.schedlab,
                version()
            ));
        }
    }

    /// Makes again what follows from plan and records, and compares it with what was packed.
    fn compare(&mut self, loaded: &LoadedCampaign, manifest: &Manifest, home: &Path) -> Result<()> {
        let findings = lab::judge_records(loaded);
        let made = made(loaded, &findings)?;
        for (name, bytes) in &made {
            let same = holds(&home.join(name), bytes).ok();
            if *name != FINDINGS {
                self.compare_report(name, same, manifest);
                continue;
            }
            let Some(is_same) = same else {
                self.problems.push(format!("{name} is missing, so there is nothing to verify"));
                continue;
            };
            self.checked.push(format!(
                "{} from {}",
                model::counted(findings.findings.len(), "finding"),
                model::counted(loaded.records.len(), "record")
            ));
            if !is_same {
                let told = other_findings(&home.join(name), bytes);
                // Another version may write the same findings otherwise.
                if told.is_empty() && manifest.schedlab == version() {
                    self.problems.push(format!(
                        "{name} has the values that the records give, and is not written as this \
                         version writes it"
                    ));
                }
                self.problems.extend(told);
            }
        }
        for name in manifest.files.keys().filter(|name| name.starts_with("report.")) {
            if !made.iter().any(|(known, _)| known == name) {
                self.note_other_report(name, manifest);
            }
        }
        Ok(())
    }

    /// A report that is not drawn here: where this program has no page, that is no fault of it.
    fn note_other_report(&mut self, name: &str, manifest: &Manifest) {
        if name == PAGE && !report::HAS_PAGE {
            self.undrawn.push(name.to_owned());
            self.unchecked.push(format!(
                "{name} was made by version {}: not compared, because this program was built \
                 without a page",
                manifest.schedlab
            ));
        } else {
            self.problems.push(format!("{name} was added: no version draws it of such a campaign"));
        }
    }

    /// Notes whether a report that is there is what this version draws. Another version draws
    /// otherwise, and that it was another is the word of the manifest alone.
    fn compare_report(&mut self, name: &str, same: Option<bool>, manifest: &Manifest) {
        let is_same_version = manifest.schedlab == version();
        match same {
            Some(true) => self.checked.push(name.to_owned()),
            Some(false) if is_same_version => {
                self.problems.push(format!("{name} {IS_OTHER}"));
            }
            Some(false) => {
                self.undrawn.push(name.to_owned());
                self.unchecked.push(format!(
                    "{name} was made by version {}, as the manifest has it: not compared, because \
                     version {} draws it otherwise",
                    manifest.schedlab,
                    version()
                ));
            }
            None if is_same_version => {
                self.problems.push(format!("{name} is missing, and bundles of it have it"));
            }
            // Another version may have packed other documents.
            None => {
                self.undrawn.push(name.to_owned());
                self.unchecked.push(format!(
                    "{name} is not there: version {}, as the manifest has it, may have packed none, \
                     and version {} packs one",
                    manifest.schedlab,
                    version()
                ));
            }
        }
    }

    fn outcome(&self) -> VerificationOutcome {
        if !self.problems.is_empty() {
            VerificationOutcome::Differs
        } else if self.loose.is_some() {
            VerificationOutcome::NotBound
        } else if !self.undrawn.is_empty() {
            VerificationOutcome::VerifiedExcept
        } else {
            VerificationOutcome::Verified
        }
    }

    /// Prints all of it for programs.
    fn tell_json(&self, file: &Path) -> Result<ExitCode> {
        let mut not_checked = self.unchecked.clone();
        not_checked.extend(self.loose.clone());
        let document = VerificationDocument {
            format: "schedlab.verification/1",
            bundle: file.display().to_string(),
            outcome: self.outcome(),
            packed_by: &self.packed_by,
            program: version(),
            compared: &self.checked,
            not_compared: &self.undrawn,
            not_checked: &not_checked,
            differs: once(&self.problems),
            redaction: self.redaction.as_deref(),
            resumed: self.resumed.as_deref(),
        };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| Error::environment("cannot encode what was verified", error))?;
        print_data(&format!("{text}\n"))?;
        Ok(self.outcome().exit_code())
    }

    /// The words for what agrees, all of it or but for something.
    fn agreement(&self) -> String {
        let (checked, undrawn) = (self.checked.join(", "), self.undrawn.join(", "));
        if let Some(loose) = &self.loose {
            return format!("NOT bound: {loose} (compared: {checked})");
        }
        if undrawn.is_empty() {
            return format!("verified ({checked})");
        }
        let version = version();
        let why = if self.packed_by == version {
            String::new()
        } else {
            format!(" made by version {}, and this program is {version}:", self.packed_by)
        };
        format!("verified, except {undrawn}:{why} NOT compared (compared: {checked})")
    }

    /// Prints what came of it.
    fn tell(&self, file: &Path) -> Result<ExitCode> {
        for told in self.redaction.iter().chain(&self.resumed) {
            print_line(&format!("{}: {told}", file.display()))?;
        }
        let code = self.outcome().exit_code();
        let problems = once(&self.problems);
        if problems.is_empty() {
            print_line(&format!("{}: {}", file.display(), self.agreement()))?;
            for unchecked in &self.unchecked {
                print_line(&format!("not checked: {unchecked}"))?;
            }
            return Ok(code);
        }
        for problem in problems.iter().take(TOLD_AT_MOST) {
            print_line(&format!("differs: {problem}"))?;
        }
        if problems.len() > TOLD_AT_MOST {
            print_line(&format!("and {} more", problems.len() - TOLD_AT_MOST))?;
        }
        print_line(&format!("{}: NOT what its records give", file.display()))?;
        Ok(code)
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
    let sorted: BTreeSet<&str> = problems.iter().map(String::as_str).collect();
    let is_told = |problem: &&String| {
        let more = format!("{problem}, ");
        // Those that begin so stand in a row.
        let from = (Bound::Included(more.as_str()), Bound::Unbounded);
        sorted.range::<str, _>(from).next().is_none_or(|other| !other.starts_with(&more))
    };
    problems.iter().filter(is_told).collect()
}

/// Whether a file holds these bytes. It is read piece by piece: it may be of any size.
fn holds(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let mut file = open_regular(path)?;
    let (mut rest, mut piece) = (bytes, vec![0; PIECE]);
    loop {
        let count = file.read(&mut piece)?;
        match rest.split_at_checked(count) {
            _ if count == 0 => return Ok(rest.is_empty()),
            Some((same, behind)) if *same == piece[..count] => rest = behind,
            _ => return Ok(false),
        }
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
    fn what_was_found_twice_is_told_once_of_hundreds_of_thousands_too() {
        let shorter = "plan.json: the seed is 2";
        let told = |problems: &[&str]| -> Vec<String> {
            let problems: Vec<String> = problems.iter().map(|one| (*one).to_owned()).collect();
            once(&problems).into_iter().cloned().collect()
        };
        let longer = format!("{shorter}, and the experiment gives 1");
        assert_eq!(told(&[shorter, "other", &longer]), ["other", longer.as_str()]);
        let unlike = format!("{shorter}0, and the experiment gives 1");
        assert_eq!(told(&[shorter, &unlike]), [shorter, unlike.as_str()]);
        // Looked for in a list of as many, each would be compared with each.
        let many: Vec<String> = (0..300_000).map(|number| format!("flaw {number}")).collect();
        assert_eq!(once(&many).len(), many.len());
    }

    #[test]
    fn a_file_holds_what_is_compared_or_it_is_another() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("report.md");
        assert!(holds(&file, b"").is_err(), "it is not there");
        let long = vec![b'x'; 3 * PIECE + 5];
        std::fs::write(&file, &long).unwrap();
        assert!(holds(&file, &long).unwrap());
        assert!(!holds(&file, &long[1..]).unwrap() && !holds(&file, b"").unwrap());
        let longer = [&long[..], b"y"].concat();
        assert!(!holds(&file, &longer).unwrap());
        std::fs::write(&file, &longer).unwrap();
        assert!(!holds(&file, &long).unwrap() && holds(&file, &longer).unwrap());
    }
}
