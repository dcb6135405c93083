//! What a trial left behind: a line of `records.jsonl`.

use crate::{
    Attempt, Caveat, DecidingFact, DecidingFacts, Few, Level, LineDigest, RECORD_FORMAT, Sample,
    Trial, TrialFact,
};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One trial as it happened.
///
/// What records of an import say alike they hold once, for there are hundreds of thousands of them:
/// what is said of a trial besides its place and its measurements is read, and written, as if it were
/// a field of the record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "StoredRecord")]
pub struct Record {
    /// Position in the campaign as actually run, from 0.
    pub sequence: u64,
    /// Index of the block.
    pub block: u32,
    /// Position of the sitting within its block as run, from 0.
    pub position: u32,
    /// What else is said of the trial.
    pub circumstances: Arc<Circumstances>,
    /// Each execution of the workload.
    pub invocations: Few<Invocation>,
    /// What binds it to its plan and to the record before it; absent until it is stored, and of
    /// records before the third format. Elsewhere, since an import is judged without.
    pub chain: Option<Box<Chain>>,
}

/// What a record says of its trial besides its place and its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Circumstances {
    /// [`crate::RECORD_FORMAT`].
    pub format: String,
    /// Subject id.
    pub subject: String,
    /// Workload label.
    pub workload: String,
    /// Start, nanoseconds since 1970 (civil time, for people).
    pub started_unix_ns: u64,
    /// Length of the whole trial.
    pub duration_ns: u64,
    /// Boot in which it ran.
    pub boot_id: String,
    /// Seed of the trial.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// What was read back of every level, by factor id.
    pub levels: BTreeMap<String, LevelReading>,
    /// Digest of the campaign's fingerprint.
    pub fingerprint: String,
    /// What differed from that fingerprint before or after this trial, and what held levels
    /// turned out to be (`scheduler.ops`).
    pub fingerprint_difference: BTreeMap<String, String>,
    /// Warnings.
    pub caveats: Vec<Caveat>,
    /// What it met that decides something; caveats say it as well.
    pub facts: DecidingFacts<TrialFact>,
}

impl Circumstances {
    /// Notes a fact, and the caveat that says it: `detail`.
    pub fn note_fact(&mut self, fact: TrialFact, detail: impl Into<String>) {
        self.caveats.push(Caveat::new(fact.caveat_code(), detail));
        self.facts.establish(fact);
    }

    /// Notes a caveat, and the fact that it says, where it says one.
    pub fn note_caveat(&mut self, caveat: Caveat) {
        if let Some(fact) = TrialFact::said_by(&caveat) {
            self.facts.establish(fact);
        }
        self.caveats.push(caveat);
    }

    /// What says a fact that it met: its own caveat, or one of these words where it has none. None
    /// of what it did not meet, whatever its caveats say.
    pub fn caveat_of(&self, fact: TrialFact, otherwise: &str) -> Option<Caveat> {
        let code = fact.caveat_code();
        self.facts.contain(&fact).then(|| {
            let own = self.caveats.iter().find(|caveat| caveat.code == code);
            own.cloned().unwrap_or_else(|| Caveat::new(code, otherwise))
        })
    }

    /// Those of a completed trial of which nothing else is known.
    pub fn of(subject: &str, workload: &str) -> Self {
        Self {
            format: RECORD_FORMAT.to_owned(),
            subject: subject.to_owned(),
            workload: workload.to_owned(),
            started_unix_ns: 0,
            duration_ns: 0,
            boot_id: String::new(),
            seed: 0,
            outcome: Outcome::Completed,
            levels: BTreeMap::new(),
            fingerprint: String::new(),
            fingerprint_difference: BTreeMap::new(),
            caveats: Vec::new(),
            facts: DecidingFacts::default(),
        }
    }
}

impl Deref for Record {
    type Target = Circumstances;

    fn deref(&self) -> &Circumstances {
        &self.circumstances
    }
}

/// What is changed of one record stays as it was in others.
impl DerefMut for Record {
    fn deref_mut(&mut self) -> &mut Circumstances {
        Arc::make_mut(&mut self.circumstances)
    }
}

/// A record as it is stored.
#[derive(Deserialize)]
struct StoredRecord {
    format: String,
    sequence: u64,
    block: u32,
    position: u32,
    subject: String,
    workload: String,
    started_unix_ns: u64,
    duration_ns: u64,
    boot_id: String,
    seed: u64,
    outcome: Outcome,
    invocations: Few<Invocation>,
    levels: BTreeMap<String, LevelReading>,
    fingerprint: String,
    #[serde(default)]
    fingerprint_difference: BTreeMap<String, String>,
    #[serde(default)]
    caveats: Vec<Caveat>,
    /// Absent of records that an earlier version wrote.
    #[serde(default)]
    facts: Vec<TrialFact>,
    #[serde(default)]
    chain: Option<Box<Chain>>,
}

impl From<StoredRecord> for Record {
    fn from(stored: StoredRecord) -> Self {
        Self {
            sequence: stored.sequence,
            block: stored.block,
            position: stored.position,
            circumstances: Arc::new(Circumstances {
                format: stored.format,
                subject: stored.subject,
                workload: stored.workload,
                started_unix_ns: stored.started_unix_ns,
                duration_ns: stored.duration_ns,
                boot_id: stored.boot_id,
                seed: stored.seed,
                outcome: stored.outcome,
                levels: stored.levels,
                fingerprint: stored.fingerprint,
                fingerprint_difference: stored.fingerprint_difference,
                facts: DecidingFacts::stored(stored.facts, &stored.caveats),
                caveats: stored.caveats,
            }),
            invocations: stored.invocations,
            chain: stored.chain,
        }
    }
}

/// Fields in the order of every version before.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_fields(self, !self.facts.are_unwritten(), serializer)
    }
}

/// A record as reports have it: with the caveats that say what its trial met, and without the facts,
/// from which findings follow.
#[derive(Debug, Clone, Copy)]
pub struct RecordWithoutFacts<'r>(pub &'r Record);

impl Serialize for RecordWithoutFacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_fields(self.0, false, serializer)
    }
}

fn serialize_fields<S: Serializer>(
    of: &Record,
    has_facts: bool,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut record = serializer.serialize_struct("Record", 18)?;
    record.serialize_field("format", &of.format)?;
    record.serialize_field("sequence", &of.sequence)?;
    record.serialize_field("block", &of.block)?;
    record.serialize_field("position", &of.position)?;
    record.serialize_field("subject", &of.subject)?;
    record.serialize_field("workload", &of.workload)?;
    record.serialize_field("started_unix_ns", &of.started_unix_ns)?;
    record.serialize_field("duration_ns", &of.duration_ns)?;
    record.serialize_field("boot_id", &of.boot_id)?;
    record.serialize_field("seed", &of.seed)?;
    record.serialize_field("outcome", &of.outcome)?;
    record.serialize_field("invocations", &of.invocations)?;
    record.serialize_field("levels", &of.levels)?;
    record.serialize_field("fingerprint", &of.fingerprint)?;
    if !of.fingerprint_difference.is_empty() {
        record.serialize_field("fingerprint_difference", &of.fingerprint_difference)?;
    }
    if !of.caveats.is_empty() {
        record.serialize_field("caveats", &of.caveats)?;
    }
    if has_facts {
        record.serialize_field("facts", &of.facts)?;
    }
    if let Some(chain) = &of.chain {
        record.serialize_field("chain", chain)?;
    }
    record.end()
}

/// What binds a record to its plan and to the record before it (docs/method.md#m-evidence).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "StoredChain")]
pub struct Chain {
    /// SHA-256 (hex) of the line of the record before it, without the line feed; of the first
    /// record, of the text that the plan was made from, or, of a redaction, that of the last record
    /// that it was made from.
    pub previous: LineDigest,
    /// What else it names; the same in most records of a campaign, which hold it once.
    pub anchor: Arc<ChainAnchor>,
}

/// What a record names besides the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainAnchor {
    /// SHA-256 (hex) of [`crate::Plan::decisive`] of the plan that it was made by.
    pub plan: String,
    /// What else the campaign said when it began; of its first record, and absent of those that an
    /// earlier version wrote.
    pub beginning: Option<CampaignBeginning>,
    /// What a run found that went on with the campaign; of the first record that it stored.
    pub resumption: Option<Resumption>,
}

impl Deref for Chain {
    type Target = ChainAnchor;

    fn deref(&self) -> &ChainAnchor {
        &self.anchor
    }
}

/// What is changed of one link stays as it was in others.
impl DerefMut for Chain {
    fn deref_mut(&mut self) -> &mut ChainAnchor {
        Arc::make_mut(&mut self.anchor)
    }
}

/// A link as it is stored.
#[derive(Deserialize)]
struct StoredChain {
    plan: String,
    previous: LineDigest,
    #[serde(default)]
    beginning: Option<CampaignBeginning>,
    #[serde(default)]
    resumption: Option<Resumption>,
}

impl From<StoredChain> for Chain {
    fn from(stored: StoredChain) -> Self {
        let StoredChain { plan, previous, beginning, resumption } = stored;
        Self { previous, anchor: Arc::new(ChainAnchor { plan, beginning, resumption }) }
    }
}

/// Fields in the order of every version before.
impl Serialize for Chain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut chain = serializer.serialize_struct("Chain", 4)?;
        chain.serialize_field("plan", &self.plan)?;
        chain.serialize_field("previous", &self.previous)?;
        if let Some(beginning) = &self.beginning {
            chain.serialize_field("beginning", beginning)?;
        }
        if let Some(resumption) = &self.resumption {
            chain.serialize_field("resumption", resumption)?;
        }
        chain.end()
    }
}

/// What a run found that went on with a campaign (docs/method.md#m-evidence).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// Boot of the machine that it ran on; empty where nobody knows, or where it was redacted.
    pub boot_id: String,
    /// When it went on, nanoseconds since 1970.
    pub unix_ns: u64,
    /// Records that were there.
    pub records: u64,
    /// SHA-256 (hex) of the last one's line; empty where there was none, or where it was redacted.
    pub digest: String,
    /// How many records the machine knew of, where those that were there are not these and more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
}

/// What a campaign said when its first record was stored, besides what decides results in its plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignBeginning {
    /// Blocks that were planned; those that run again come later.
    pub blocks: u64,
    /// Notes of the plan; those of what happened meanwhile come later.
    pub notes: u64,
    /// Records that there are in all, of numbers that were imported at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Which attempt it is; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// SHA-256 (hex) of the plan's name, title, options, and of these blocks and notes.
    pub plan: String,
    /// SHA-256 (hex) of when it was created, and of what it is a redaction of.
    pub state: String,
    /// Whether its end will be bound, by whichever version ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binds_end: bool,
    /// What its plan said of reference, subjects, workloads, metrics, margins, options and the like, so
    /// that one which is changed later is named with its former value: JSON in hexadecimal digits, in
    /// which no search for a name finds it. Absent of records that an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<String>,
}

/// Whether the binding of records to their plan and to each other was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// It was checked.
    Checked,
    /// There is none, or not of all: records before the third format have none, and nothing can be
    /// said of them.
    Absent,
    /// Nobody looked: records are read while they are written.
    #[default]
    NotLookedAt,
}

impl Record {
    /// What is known of a trial before anything was measured; times, boot and place in the
    /// campaign are added by its runner.
    pub fn of(trial: &Trial, outcome: Outcome) -> Self {
        let seed = trial.seed;
        let named = Circumstances::of(&trial.subject.id, &trial.workload.label);
        let said = Circumstances { seed, outcome, ..named };
        Self { block: trial.block, position: trial.position, ..Self::from(said) }
    }
}

/// A record that says this and has measured nothing.
impl From<Circumstances> for Record {
    fn from(circumstances: Circumstances) -> Self {
        Self {
            sequence: 0,
            block: 0,
            position: 0,
            circumstances: Arc::new(circumstances),
            invocations: Few::default(),
            chain: None,
        }
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// Every invocation completed and the subject was active throughout.
    Completed,
    /// The workload failed: a result that counts against the subject.
    Failed {
        /// What happened.
        reason: String,
    },
    /// A pre-declared validity rule was broken; the block runs again.
    Invalid {
        /// Which rule.
        rule: String,
        /// What was seen.
        detail: String,
    },
}

/// One execution of the workload inside a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// What the workload and the probes measured; empty where it failed.
    pub samples: Few<Sample>,
    /// The timed window.
    pub run: Option<Box<RunReport>>,
    /// Why it failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Box<str>>,
    /// What else the machine did meanwhile; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Box<Disturbance>>,
}

/// A share of the CPUs' time above this was stolen noticeably (docs/method.md#m-warnings).
pub const NOTICEABLE_STEAL: f64 = 0.005;
/// A share of the CPUs' time above this was noticeably used by others.
pub const NOTICEABLE_LOAD: f64 = 0.02;

/// What else a machine did during an invocation. What could not be read is absent, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Share of the CPUs' time that other programs and the kernel's own work used; absent also
    /// where the window was too short for the clock ticks that it is counted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// Share of the CPUs' time that a hypervisor took away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_share: Option<f64>,
    /// How often a CPU was throttled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttles: Option<u64>,
    /// Longest time for which the executor's heartbeat neither ran nor waited for a CPU when it should
    /// have (docs/method.md#m-suspended); absent also of records before the fifth format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_still_ns: Option<u64>,
    /// Longest time for which that heartbeat waited for a CPU between two beats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starved_ns: Option<u64>,
    /// How long the machine was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_ns: Option<u64>,
    /// By how much longer the run took by the clock of a guest's host than by the guest's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen_ns: Option<u64>,
}

impl Disturbance {
    /// The share of the CPUs' time that was stolen, where it is so much that it is a warning.
    pub fn noticeable_steal(&self) -> Option<f64> {
        self.stolen_share.filter(|share| *share > NOTICEABLE_STEAL)
    }

    /// The share of the CPUs' time that others used, where it is so much that it is a warning.
    pub fn noticeable_load(&self) -> Option<f64> {
        self.foreign_share.filter(|share| *share > NOTICEABLE_LOAD)
    }

    /// How often a CPU was throttled, where it was.
    pub fn noticeable_throttles(&self) -> Option<u64> {
        self.throttles.filter(|events| *events > 0)
    }
}

/// The timed window of one invocation as the workload's process saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Length of the window.
    pub wall_ns: u64,
    /// Operations done in it (messages, requests, cycles), where the workload counts them.
    pub operations: Option<u64>,
    /// Resources used by the workload's process and the children it waited for.
    pub usage: Usage,
}

/// Difference of getrusage(2) over a window: self plus waited-for children.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// User CPU time.
    pub user_ns: u64,
    /// System CPU time.
    pub system_ns: u64,
    /// Largest resident set of one process so far.
    pub max_rss_bytes: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
}

/// What was read back of one level. Each must equal the subject's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReading {
    /// Before the run, after setting.
    pub before: Level,
    /// Distinct readings during the run, after 0.1 s and then each second; empty for
    /// a shorter run, whose program is read once more at its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<Level>,
    /// After the run, before restoring.
    pub after: Level,
}

/// The machine as it was: flat keys (`kernel.release`, `cpu.online`, `knob.base_slice`) to text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Fingerprint(pub BTreeMap<String, String>);

impl Fingerprint {
    /// Keys whose value in `other` is not this one's; a key `other` lacks maps to `absent`.
    pub fn difference(&self, other: &Fingerprint) -> BTreeMap<String, String> {
        let mut difference: BTreeMap<String, String> = other
            .0
            .iter()
            .filter(|(key, value)| self.0.get(*key) != Some(value))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for key in self.0.keys().filter(|key| !other.0.contains_key(*key)) {
            difference.insert(key.clone(), "absent".to_owned());
        }
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RECORD_FORMATS;

    /// As the fourth format has it.
    const EARLIER: &str = r#"{"foreign_share":0.002,"stolen_share":0.0,"throttles":0}"#;

    #[test]
    fn what_stood_still_is_read_again_and_absent_of_earlier_records() {
        let earlier: Disturbance = serde_json::from_str(EARLIER).unwrap();
        assert_eq!((earlier.stood_still_ns, earlier.starved_ns), (None, None));
        assert_eq!((earlier.suspended_ns, earlier.unseen_ns), (None, None));
        assert_eq!(serde_json::to_string(&earlier).unwrap(), EARLIER, "as it was stored");
        let seen = Disturbance {
            stood_still_ns: Some(11_900_000_000),
            starved_ns: Some(3_000_000),
            suspended_ns: Some(0),
            unseen_ns: Some(u64::MAX),
            ..earlier
        };
        let text = serde_json::to_string(&seen).unwrap();
        assert!(text.contains(r#""stood_still_ns":11900000000,"starved_ns":3000000"#), "{text}");
        assert_eq!(serde_json::from_str::<Disturbance>(&text).unwrap(), seen);
        assert_eq!(RECORD_FORMAT, "schedlab.record/5");
        assert!(RECORD_FORMATS.contains(&"schedlab.record/4"));
    }
}
