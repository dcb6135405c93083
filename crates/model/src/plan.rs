//! A plan: every trial of a campaign in the order it will run.

use crate::{
    Block, Claim, ClaimShape, Comparisons, FACTS_PLAN_FORMAT, GIVEN_PLAN_FORMAT, Imported,
    LOOK_PLAN_FORMAT, Metric, ORDERED_PLAN_FORMAT, PACED_PLAN_FORMAT, PARTS_PLAN_FORMAT,
    PLAN_FORMAT, Pace, Parameters, REPEATED_PLAN_FORMAT, RESTED_PLAN_FORMAT, RepeatedBlock,
    Sitting, Subject, VENUE_PLAN_FORMAT, VenueSettings, VmSettings, sum_ns,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Everything a campaign will do. Made by the `plan` crate from an experiment;
/// read by everything after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What [`Plan::oldest_format`] says.
    pub format: String,
    /// The file's stem, kebab-case: names the campaign's directory.
    pub name: String,
    /// The question in a person's words.
    pub title: String,
    /// SHA-256 (hex) of all that decides results; a generated seed does not count.
    pub digest: String,
    /// Id of the venue: `host`, `vm`, `sim`; `import` where nothing ran. A reader asks the plan for
    /// facts ([`Plan::is_simulated`], [`Plan::boots_guests`]) and not for this name, which may be one
    /// that it does not know.
    pub venue: String,
    /// Decides every random choice.
    pub seed: u64,
    /// Whether the seed was drawn rather than written in the experiment.
    pub is_seed_generated: bool,
    /// Family-wise error rate, 0.05 unless declared.
    pub alpha: f64,
    /// Whether blocks or durations were cut by `--quick`.
    pub is_quick: bool,
    /// Whether it only says how large the real campaign must be: no verdict and no
    /// history uses it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pilot: bool,
    /// The arms; the first is the reference, an A/A control has `control` set.
    pub subjects: Vec<Subject>,
    /// What runs in every sitting.
    pub workloads: Vec<WorkloadPlan>,
    /// The replicates, in order.
    #[serde(deserialize_with = "crate::block::read_blocks")]
    pub blocks: Vec<Block>,
    /// Block counts at which an adaptive campaign is judged and may stop, ascending,
    /// the last one the most it runs; empty where the number of blocks is fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<u32>,
    /// Time after which an adaptive campaign starts no further block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
    /// When the blocks of a soak campaign begin; absent where each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// How many boots of the machine the blocks are spread over, in parts of equal length; none
    /// where they run in whatever boot there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boots: Option<u32>,
    /// Which subjects are compared with each other.
    #[serde(default, skip_serializing_if = "Comparisons::is_default")]
    pub comparisons: Comparisons,
    /// What the subjects are wanted for: weights over workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub use_cases: Vec<UseCase>,
    /// What others have published about these subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Where the numbers come from, of a campaign that did not run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Ids of the probes attached to every trial.
    pub probes: Vec<String>,
    /// Pause after knobs are set and before the first invocation.
    pub settle_ns: u64,
    /// Rest before each sitting, with every level as it was found, so that what the sitting before
    /// left behind fades.
    #[serde(default, skip_serializing_if = "crate::histogram::is_zero")]
    pub rest_ns: u64,
    /// How long it is expected to take to set a subject's levels for one trial, by its id;
    /// subjects that are set in no time are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub setting_ns: BTreeMap<String, u64>,
    /// Settings of the simulator; present exactly when `venue` is `sim`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<SimSettings>,
    /// Settings of the virtual machines; present exactly when `venue` is `vm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm: Option<VmSettings>,
    /// What it holds of any other venue.
    #[serde(default, skip_serializing_if = "VenueSettings::is_empty")]
    pub venue_settings: VenueSettings,
    /// Words of the command line that changed the experiment (`--set`, `blocks=8`), to repeat it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Decisions the planner took that a reader should know (control dropped, blocks cut).
    #[serde(default)]
    pub notes: Vec<String>,
    /// After how many blocks a look ended the campaign, where that is not the last of `looks`.
    /// Plans before the eleventh format have none: [`Plan::ending_look`] is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_look: Option<u32>,
    /// Blocks that were added to run others again, in the order in which they were added. Plans
    /// before the twelfth format have none: [`Plan::blocks_run_again`] is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated_blocks: Vec<RepeatedBlock>,
}

/// One workload with its parameters and what is asked of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadPlan {
    /// Unique within the plan: the workload's id, or the label given to it.
    pub label: String,
    /// Id of the workload in the catalogue.
    pub uses: String,
    /// Checked, defaults filled in; those of the reference where subjects differ in them.
    pub parameters: Parameters,
    /// How it runs for each subject, by the subject's id; empty where it is the same for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<String, Variant>,
    /// Executions inside one trial; not replicates.
    pub invocations: u32,
    /// Metrics with their margins as declared for this campaign; where subjects differ in
    /// parameters, those of any of them.
    pub metrics: Vec<Metric>,
    /// Ids of the primary metrics: the family that verdicts are about.
    pub primary: Vec<String>,
    /// Ids of quantiles that are taken of all blocks together, with a jackknife
    /// interval (docs/method.md#m-pooled).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<String>,
    /// Load that runs beside it.
    pub background: Option<Background>,
    /// Ids of the subjects it runs for; empty means all.
    pub subjects: Vec<String>,
    /// Expected time of one invocation, preparation included; the longest of its variants.
    pub expected_ns: u64,
    /// An invocation that runs longer is killed and counts as failed.
    pub time_limit_ns: u64,
    /// Whether the load waits for each answer (tails are then conditional).
    pub is_closed_loop: bool,
}

/// A workload as it runs for one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Checked, defaults filled in.
    pub parameters: Parameters,
    /// Ids of the metrics that it has with them.
    pub metrics: BTreeSet<String>,
    /// Expected time of one invocation, preparation included.
    pub expected_ns: u64,
}

impl WorkloadPlan {
    /// Whether this workload runs for that subject; a control follows the reference.
    pub fn runs_for(&self, subject: &Subject) -> bool {
        self.subjects.is_empty() || subject.is_control || self.subjects.contains(&subject.id)
    }

    /// Whether it has that metric where it runs for that subject.
    pub fn measures(&self, metric: &str, subject: &Subject) -> bool {
        let variant = self.variants.get(&subject.id);
        variant.is_none_or(|variant| variant.metrics.contains(metric))
    }

    /// Its parameters where it runs for that subject.
    pub fn parameters_for(&self, subject: &Subject) -> &Parameters {
        self.variants.get(&subject.id).map_or(&self.parameters, |variant| &variant.parameters)
    }

    /// The parameters that it runs with for any subject.
    pub fn all_parameters(&self) -> impl Iterator<Item = &Parameters> {
        let own = self.variants.is_empty().then_some(&self.parameters);
        own.into_iter().chain(self.variants.values().map(|variant| &variant.parameters))
    }

    /// Expected time of all invocations of one trial of the subject with that id.
    pub fn trial_expected_ns(&self, subject: &str) -> u64 {
        let each_ns =
            self.variants.get(subject).map_or(self.expected_ns, |variant| variant.expected_ns);
        each_ns.saturating_mul(u64::from(self.invocations))
    }

    /// As it runs for that subject, and for no other.
    pub fn for_subject(&self, subject: &Subject) -> Self {
        let mut own = self.clone();
        own.variants.clear();
        if let Some(variant) = self.variants.get(&subject.id) {
            own.parameters = variant.parameters.clone();
            own.expected_ns = variant.expected_ns;
            own.metrics.retain(|metric| variant.metrics.contains(&metric.id));
            own.primary.retain(|metric| variant.metrics.contains(metric));
            own.pooled.retain(|metric| variant.metrics.contains(metric));
        }
        own
    }
}

/// CPU hogs that run beside a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// Number of busy loops.
    pub hogs: u32,
    /// Whether they compete as tasks of the workload's session or as a group of their own.
    pub session: BackgroundSession,
    /// Whether hog n is pinned to the nth CPU the workload may use.
    pub is_pinned: bool,
}

/// Which autogroup background load belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundSession {
    /// The workload's own.
    Same,
    /// Its own session, hence its own autogroup.
    Separate,
}

/// What subjects are wanted for: a web server, a batch machine, a desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UseCase {
    /// kebab-case.
    pub id: String,
    /// Its components; the weights add up to 1.
    pub weights: Vec<crate::Weight>,
}

/// What the executor needs to run one workload for one subject in one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Index of the block.
    pub block: u32,
    /// Position of the sitting within its block, from 0.
    pub position: u32,
    /// Which boot of its block it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<u32>,
    /// The arm.
    pub subject: Subject,
    /// The workload.
    pub workload: WorkloadPlan,
    /// Probe ids.
    pub probes: Vec<String>,
    /// Seed of this trial, derived from the plan's; the same for every subject of a block.
    pub seed: u64,
    /// Pause after knobs are set.
    pub settle_ns: u64,
    /// Rest before it, of the first of its sitting.
    #[serde(default, skip_serializing_if = "crate::histogram::is_zero")]
    pub rest_ns: u64,
}

/// Settings of the `sim` venue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimSettings {
    /// `S1` to `S6` of docs/method.md#m-scenarios.
    pub scenario: String,
    /// Probability that an invocation fails, by subject id.
    #[serde(default)]
    pub failure_rate: BTreeMap<String, f64>,
}

/// The beginning of the note that tells people that a look ended an adaptive campaign; the number
/// of blocks follows.
pub const STOPPED_AT_LOOK: &str = "stopped at the look after ";

/// What digests of plans are made of. A later format of plans that adds what this one does not use
/// leaves it, and so the campaigns begun under it, as they are.
const IDENTITY: &str = "schedlab.plan/1";
/// The venue whose plans said by its name alone that nothing is measured.
const SIMULATOR: &str = "sim";

impl Plan {
    /// Whether nothing is measured: its numbers say nothing about any machine.
    pub fn is_simulated(&self) -> bool {
        self.venue == SIMULATOR || self.sim.is_some() || self.venue_settings.is_simulated
    }

    /// Whether trials run in guests, which boot what the boot factors say.
    pub fn boots_guests(&self) -> bool {
        self.vm.is_some() || self.venue_settings.boots_guests
    }

    /// Whether a second guest stands beside each: a workload's far side.
    pub fn has_peer(&self) -> bool {
        self.vm.as_ref().is_some_and(|vm| vm.has_peer)
    }

    /// What each boot of a block takes, nanoseconds; nothing where no guests boot, or the venue has
    /// no estimate of it.
    pub fn boot_expected_ns(&self) -> u64 {
        self.vm.as_ref().map_or(0, VmSettings::boot_expected_ns)
    }

    /// All that decides results, as JSON in a fixed order: what digests of plans are made of. Title,
    /// name and notes are no part of it; neither is the order, which the seed and the number of
    /// blocks decide. `catalogue` stands for what the plan uses of the catalogue, a generated
    /// `seed` may be left out, and `blocks` is the number that was planned.
    ///
    /// A key that an experiment does not use is left out: campaigns begun before there was such a
    /// key keep their digests.
    pub fn decisive(&self, catalogue: &str, seed: Option<u64>, blocks: usize) -> Value {
        let mut decisive = json!({
            "format": IDENTITY,
            "catalogue": catalogue,
            "venue": self.venue,
            "seed": seed,
            "alpha": self.alpha,
            "is_quick": self.is_quick,
            "subjects": self.subjects,
            "workloads": self.workloads,
            "blocks": blocks,
            "probes": self.probes,
            "settle_ns": self.settle_ns,
            "sim": self.sim,
        });
        let given = self.imported.as_ref().map(|imported| &imported.given);
        let given = given.filter(|given| !given.is_empty());
        for (key, is_used, value) in [
            ("looks", !self.looks.is_empty(), json!(self.looks)),
            ("comparisons", !self.comparisons.is_default(), json!(self.comparisons)),
            ("use_cases", !self.use_cases.is_empty(), json!(self.use_cases)),
            ("claims", !self.claims.is_empty(), json!(self.claims)),
            ("vm", self.vm.is_some(), json!(self.vm)),
            ("rest_ns", self.rest_ns > 0, json!(self.rest_ns)),
            ("budget_ns", self.budget_ns.is_some(), json!(self.budget_ns)),
            ("pace", self.pace.is_some(), json!(self.pace)),
            ("boots", self.boots.is_some(), json!(self.boots)),
            ("venue_settings", !self.venue_settings.is_empty(), json!(self.venue_settings)),
            ("given", given.is_some(), json!(given)),
        ] {
            if is_used {
                decisive[key] = value;
            }
        }
        decisive
    }

    /// The oldest format whose readers understand all that it says, so that they read what they
    /// know and refuse the rest.
    pub fn oldest_format(&self) -> &'static str {
        let mut metrics = self.workloads.iter().flat_map(|workload| &workload.metrics);
        let is_shaped = |claim: &Claim| claim.shape != ClaimShape::default();
        if !self.repeated_blocks.is_empty() {
            REPEATED_PLAN_FORMAT
        } else if self.ended_at_look.is_some() {
            LOOK_PLAN_FORMAT
        } else if self.imported.as_ref().is_some_and(|imported| !imported.facts.are_unwritten()) {
            FACTS_PLAN_FORMAT
        } else if self.imported.as_ref().is_some_and(|imported| !imported.given.is_empty()) {
            GIVEN_PLAN_FORMAT
        } else if self.imported.as_ref().is_some_and(|imported| !imported.parts.is_empty()) {
            PARTS_PLAN_FORMAT
        } else if self.imported.as_ref().is_some_and(Imported::has_ordered_blocks) {
            ORDERED_PLAN_FORMAT
        } else if self.rest_ns > 0
            || self.boots.is_some()
            || metrics.any(|metric| metric.follows_latency)
            || self.claims.iter().any(is_shaped)
        {
            RESTED_PLAN_FORMAT
        } else if !self.venue_settings.is_empty() {
            VENUE_PLAN_FORMAT
        } else if self.pace.is_some() {
            PACED_PLAN_FORMAT
        } else {
            PLAN_FORMAT
        }
    }

    /// Gives it these claims, in the oldest format whose readers understand them. Its digest is the
    /// caller's: an import's is made of the mapping that holds them.
    pub fn claim(&mut self, claims: Vec<Claim>) {
        self.claims = claims;
        self.oldest_format().clone_into(&mut self.format);
    }

    /// Notes that a look ended the campaign after so many blocks, where it would have run more.
    pub fn end_at_look(&mut self, blocks: u32) {
        self.ended_at_look = Some(blocks);
        self.oldest_format().clone_into(&mut self.format);
    }

    /// After how many blocks a look ended the campaign, where it would have run more.
    pub fn ending_look(&self) -> Option<u32> {
        self.ended_at_look.or_else(|| self.look_of_earlier_format())
    }

    /// The same of a plan before the eleventh format, which told it by a note alone: the most
    /// blocks of such notes.
    fn look_of_earlier_format(&self) -> Option<u32> {
        let look = |note: &String| {
            let (blocks, _) = note.strip_prefix(STOPPED_AT_LOOK)?.split_once(' ')?;
            blocks.parse::<u32>().ok()
        };
        self.notes.iter().filter_map(look).max()
    }

    /// The reference: the first subject.
    pub fn reference(&self) -> &Subject {
        &self.subjects[0]
    }

    /// A subject by id.
    pub fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// A workload by label.
    pub fn workload(&self, label: &str) -> Option<&WorkloadPlan> {
        self.workloads.iter().find(|workload| workload.label == label)
    }

    /// Number of trials in all blocks.
    pub fn trial_count(&self) -> usize {
        self.blocks
            .iter()
            .flat_map(|block| &block.sittings)
            .map(|sitting| sitting.workloads.len())
            .sum()
    }

    /// Expected time of the whole campaign, by the workloads' own estimates and that of boots,
    /// with the pauses between blocks.
    pub fn expected_ns(&self) -> u64 {
        let Some((last, others)) = self.blocks.split_last() else { return 0 };
        let every_ns = self.pace.map_or(0, |pace| pace.every_ns);
        let paced = |block: &Block| self.block_expected_ns(block).max(every_ns);
        sum_ns(others.iter().map(paced)).saturating_add(self.block_expected_ns(last))
    }

    /// Expected time of one block.
    pub fn block_expected_ns(&self, block: &Block) -> u64 {
        let sitting_ns = |sitting: &Sitting| -> u64 {
            let workloads = sitting.workloads.iter().filter_map(|label| self.workload(label));
            let trial_ns = |workload: &WorkloadPlan| {
                workload.trial_expected_ns(&sitting.subject).saturating_add(self.settle_ns)
            };
            self.rest_ns.saturating_add(sum_ns(workloads.map(trial_ns)))
        };
        let trials_ns = sum_ns(block.sittings.iter().map(sitting_ns));
        let setting_ns = |sitting: &Sitting| {
            let once = self.setting_ns.get(sitting.subject.as_str()).copied().unwrap_or_default();
            once.saturating_mul(sitting.workloads.len() as u64)
        };
        let settings_ns = sum_ns(block.sittings.iter().map(setting_ns));
        let boots_ns = block.boot_count().saturating_mul(self.boot_expected_ns());
        sum_ns([trials_ns, settings_ns, boots_ns])
    }
}
