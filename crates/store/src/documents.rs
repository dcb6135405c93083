//! The small documents of a campaign: its state and its fingerprint.

use crate::json_digest::digest_of_json;
use model::{Attempt, Caveat, CaveatCode, Fingerprint, Plan, Resumption};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use sys::Files;

/// A campaign's own copy of its experiment. Imports that were made before they had a file of
/// their own have their mapping in it.
pub(crate) const EXPERIMENT: &str = "experiment.toml";
/// The mapping that an import was made with: it repeats the import, and is no experiment.
pub(crate) const IMPORT: &str = "import.toml";
/// Version of `state.json`.
pub const STATE_FORMAT: &str = "schedlab.state/3";
/// That of a redaction, which binds what it left of the text that the plan was made from.
pub const REDACTED_STATE_FORMAT: &str = "schedlab.state/4";
/// Versions of it that are read: the second does not bind the end, nor does it count the runs that
/// went on; the first names neither the last record nor the attempt. Redactions of earlier versions
/// are of the third.
pub const STATE_FORMATS: [&str; 4] =
    [STATE_FORMAT, REDACTED_STATE_FORMAT, OPEN_ENDED_STATE, UNBOUND_STATE];
/// That of a version which bound records, and not the end.
pub(crate) const OPEN_ENDED_STATE: &str = "schedlab.state/2";
/// That of a version which bound no records.
pub const UNBOUND_STATE: &str = "schedlab.state/1";
/// Version of `environment.json`.
pub const ENVIRONMENT_FORMAT: &str = "schedlab.environment/1";

/// Whether a campaign can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CampaignState {
    /// Trials are missing; the same command resumes it.
    Unfinished,
    /// Every planned trial has its record.
    Finished,
    /// It was ended on purpose before its last block; it is not resumed.
    StoppedEarly,
}

/// `state.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateDocument {
    /// [`StateDocument::oldest_format`].
    pub format: String,
    /// When the campaign was created; orders campaigns by age.
    pub created_unix_ns: u64,
    /// Whether it can go on.
    pub state: CampaignState,
    /// Warnings about the campaign's files.
    pub caveats: Vec<Caveat>,
    /// The last record of a campaign that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// Which attempt it is; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// Runs that went on with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumptions: Vec<Resumption>,
    /// Digest of the last record of the campaign that this is a redaction of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction_of: Option<String>,
    /// Where that campaign was a redaction: the digests of the last records of those before it, in the
    /// order of the redactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted_before: Vec<String>,
    /// What was replaced; absent of redactions that an earlier version made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<Redaction>,
    /// Digest of what a redaction left of the text that the plan was made from, which is that of an
    /// empty one where it left nothing; absent of redactions that an earlier version made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted_origin: Option<String>,
    /// What of that campaign's evidence was not as it was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<Caveat>,
}

impl StateDocument {
    /// The oldest format whose readers understand all that it says.
    pub(crate) fn oldest_format(&self) -> &'static str {
        if self.redacted_origin.is_some() { REDACTED_STATE_FORMAT } else { STATE_FORMAT }
    }
}

/// What a redaction did; a manifest has it, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redaction {
    /// How many different ones of each kind were replaced.
    pub replaced: BTreeMap<String, u64>,
    /// What is not in the bundle because nobody can vouch for it.
    pub left_out: Vec<String>,
}

impl Redaction {
    /// What is said of one that has no placeholder.
    pub const NOTHING: &str = "nothing was found to replace";

    /// `placeholders stand for command lines (2), host names (1); left out: logs, traces`.
    pub fn words(&self) -> String {
        let kinds: Vec<String> =
            self.replaced.iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
        let replaced = if kinds.is_empty() {
            Self::NOTHING.to_owned()
        } else {
            format!("placeholders stand for {}", kinds.join(", "))
        };
        format!("{replaced}; left out: {}", self.left_out.join(", "))
    }

    /// This one of what was redacted before.
    #[must_use]
    pub(crate) fn after(mut self, before: &Redaction) -> Self {
        for (kind, count) in &before.replaced {
            *self.replaced.entry(kind.clone()).or_default() += count;
        }
        for name in &before.left_out {
            if !self.left_out.contains(name) {
                self.left_out.push(name.clone());
            }
        }
        self
    }
}

/// The last record of a campaign that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How many records there are.
    pub records: u64,
    /// SHA-256 (hex) of the last one's line, without the line feed; empty where there is none.
    pub digest: String,
    /// What binds the end ([`digest_of_end`]); absent of campaigns that an earlier version ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// SHA-256 (hex) of all that a campaign says when it ends: its last record, how and why it ended, the
/// runs that went on with it, and what was added to its plan meanwhile. A torn end that is found
/// later changes none of it.
pub(crate) fn digest_of_end(plan: &Plan, state: &StateDocument, head: &Head) -> String {
    let is_reason = |caveat: &&Caveat| caveat.code != CaveatCode::TornRecord;
    let reasons: Vec<&Caveat> = state.caveats.iter().filter(is_reason).collect();
    let said = (
        head.records,
        &head.digest,
        state.state,
        &reasons,
        &state.resumptions,
        &plan.blocks,
        &plan.notes,
    );
    // What no look ended, and of which no block ran again, has the digest that earlier versions
    // gave it.
    match (plan.ended_at_look, plan.repeated_blocks.as_slice()) {
        (None, []) => digest_of_json(&said),
        (Some(blocks), []) => digest_of_json(&(said, blocks)),
        (look, repeated) => digest_of_json(&(said, look, repeated)),
    }
}

/// `environment.json`: the fingerprint that records refer to by digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentDocument {
    /// [`ENVIRONMENT_FORMAT`].
    pub format: String,
    /// [`fingerprint_digest`] of the fingerprint.
    pub digest: String,
    /// The machine when the campaign began.
    pub fingerprint: Fingerprint,
}

/// The name of the file that a new campaign of this plan is given to say what it was made from.
pub(crate) fn origin_of(plan: &Plan) -> &'static str {
    if plan.imported.is_some() { IMPORT } else { EXPERIMENT }
}

/// The name of that file in a directory that holds a campaign of this plan.
pub(crate) fn origin_in(files: &dyn Files, directory: &Path, plan: &Plan) -> &'static str {
    let is_there = |name: &str| files.is_file(&directory.join(name));
    let is_earlier = !is_there(IMPORT) && is_there(EXPERIMENT);
    if is_earlier { EXPERIMENT } else { origin_of(plan) }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 (hex) of a fingerprint. Each key and value goes in with its length,
/// so no two fingerprints share the bytes that are hashed.
pub fn fingerprint_digest(fingerprint: &Fingerprint) -> String {
    let mut hash = Sha256::new();
    for text in fingerprint.0.iter().flat_map(|(key, value)| [key, value]) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_that_differ_in_one_place_have_different_digests() {
        let fingerprint = |pairs: &[(&str, &str)]| {
            Fingerprint(pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
        };
        let digests = [
            fingerprint(&[]),
            fingerprint(&[("a", "b")]),
            fingerprint(&[("ab", "")]),
            fingerprint(&[("", "ab")]),
            fingerprint(&[("a", "b"), ("c", "d")]),
        ]
        .map(|fingerprint| fingerprint_digest(&fingerprint));
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digest.len(), 64);
            assert!(!digests[..index].contains(digest), "{digest} occurs twice");
        }
    }
}
