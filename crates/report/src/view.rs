//! The view model: everything a renderer may show.

use crate::answer::{AnswerStyle, answer};
use crate::breakdown::{Breakdown, breakdowns};
use crate::caveats::{CaveatView, explained};
use crate::ejections::{Ejections, ejections};
use crate::grid::{Grid, grids};
use crate::inputs::Inputs;
use crate::ladder::{Ladder, ladders};
use crate::quantities::duration;
use model::{
    Attempt, Binding, CaveatCheck, CaveatCode, Direction, Findings, Fingerprint, Imported,
    ImportedDesign, Level, Plan, REPORT_FORMAT, Record, Records, TREND_REPORT_FORMAT, TrialValues,
    Unit,
};
use phrases::{Language, counted, say};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A report: versioned, complete, the same for every renderer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`model::REPORT_FORMAT`], or with trends [`model::TREND_REPORT_FORMAT`].
    pub format: String,
    /// The language of generated sentences.
    #[serde(default, skip_serializing_if = "is_english")]
    pub language: Language,
    /// Name of the campaign's directory.
    pub campaign: String,
    /// The question.
    pub title: String,
    /// The answer, one plain sentence; others on what it may tell besides the subjects, and of a
    /// soak campaign on how it went.
    pub answer: String,
    /// Which attempt it is; absent where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// How the question was put.
    pub design: Design,
    /// The arms, the reference first.
    pub subjects: Vec<SubjectView>,
    /// Ids of the subjects of each workload that does not run for all of them, by its label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload_subjects: BTreeMap<String, BTreeSet<String>>,
    /// Every finding.
    pub findings: Findings,
    /// Where subjects are compared within a factor: ratios along it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<Ladder>,
    /// Where workloads and metrics span a table: values and effects by row and column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grids: Vec<Grid>,
    /// Where metrics add up to another: where a round trip's time goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakdowns: Vec<Breakdown>,
    /// Subjects whose scheduler left before a trial was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ejections: Vec<Ejections>,
    /// Every caveat with its meaning and where it applies.
    pub caveats: Vec<CaveatView>,
    /// The machine when the campaign began.
    pub environment: Fingerprint,
    /// What differed from it, by key, then by subject: the values seen.
    pub differences: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Decisions the planner took.
    pub notes: Vec<String>,
    /// The commands that repeat the campaign.
    pub reproduce: Vec<String>,
    /// By which its plan is told from any other.
    #[serde(default)]
    pub plan_digest: String,
    /// The unit of each source's values, by workload.
    pub units: BTreeMap<String, BTreeMap<String, Unit>>,
    /// Whether people are not shown absolute values of emulated processors; data formats
    /// hold them all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_absolute: bool,
    /// Whether its numbers were simulated, here or by others, and say nothing about a machine: its
    /// plan says so ([`Plan::has_simulated_numbers`]). Absent in reports of earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// One number for each completed trial and metric.
    #[serde(default, skip_serializing_if = "TrialValues::is_empty")]
    pub values: TrialValues,
    /// The raw records.
    #[serde(serialize_with = "without_facts")]
    pub records: Records,
    /// Whether their binding to the plan and to each other was checked.
    #[serde(default)]
    pub binding: Binding,
    /// Runs that went on with it; its head says so in words.
    #[serde(skip)]
    pub resumptions: u64,
    /// Whether its blocks share boots of which there are few. Formats have it in words.
    #[serde(skip)]
    pub shares_few_boots: bool,
    /// Checks that warnings of the store speak against, as that of a torn record. Formats have
    /// these warnings among the caveats.
    #[serde(skip)]
    pub against_by_store: BTreeSet<CaveatCheck>,
    /// What its words mean, for readers who do not know them. The catalogue's, and not the
    /// campaign's: no format stores it.
    #[serde(skip)]
    pub meanings: Meanings,
}

impl Report {
    /// Whether plan, experiment or records are not as they were written, so that no step which they
    /// show was observed.
    pub(crate) fn is_evidence_changed(&self) -> bool {
        self.findings.is_evidence_changed
    }

    /// Whether something speaks against that check, as it was found
    /// (`findings.against`, `findings.findings.against`) or as the store warns.
    pub(crate) fn speaks_against(&self, check: CaveatCheck) -> bool {
        self.findings.speak_against(check) || self.against_by_store.contains(&check)
    }

    /// Whether that workload runs for that subject.
    pub(crate) fn runs_for(&self, workload: &str, subject: &str) -> bool {
        self.workload_subjects.get(workload).is_none_or(|own| own.contains(subject))
    }

    /// The code that a record has which is bound to nothing.
    pub(crate) fn code_of_unbound(&self, record: &Record) -> Option<&'static str> {
        let is_unbound = self.binding == Binding::Absent && record.chain.is_none();
        is_unbound.then(|| CaveatCode::EvidenceUnbound.as_str())
    }
}

/// What the words of a report mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meanings {
    /// Of factors, by id.
    pub factors: BTreeMap<String, String>,
    /// Of the metrics that verdicts are about, by workload in the plan's order.
    pub metrics: Vec<MetricMeaning>,
}

/// One metric that verdicts are about.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricMeaning {
    /// Label of its workload.
    pub workload: String,
    /// Its id.
    pub id: String,
    /// Which way is better.
    pub direction: Direction,
    /// The difference that would matter, as a fraction.
    pub margin: f64,
    /// What it means, in a sentence.
    pub meaning: String,
}

/// How the question was put.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Design {
    /// Where trials ran.
    pub venue: String,
    /// The kernel's release.
    pub kernel: String,
    /// CPUs online.
    pub cpus: String,
    /// Blocks of which a trial was recorded; absent where none were run, or the file of an import
    /// does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub blocks: Option<usize>,
    /// Blocks planned, re-runs included, where that is another number: of an adaptive campaign the
    /// most that it may run. Absent where such a one ended at a look by its rule, and of an import,
    /// which planned none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub planned_blocks: Option<usize>,
    /// Arms, the control included.
    pub subjects: usize,
    /// Labels of the workloads.
    pub workloads: Vec<String>,
    /// Trials recorded.
    pub trials: usize,
    /// Distinct boots; absent where a record does not name its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub boots: Option<usize>,
    /// Sum of the trials' lengths; absent of an import, which tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub duration_ns: Option<u64>,
    /// Seed of the order; absent of an import, which has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub seed: Option<u64>,
    /// Level of the family.
    pub alpha: f64,
    /// How many comparisons each family corrects together.
    pub families: BTreeMap<String, usize>,
    /// Where the numbers come from, of a campaign that did not run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub imported: Option<Imported>,
    /// Whether it was cut short by `--quick`.
    pub is_quick: bool,
}

impl Design {
    /// Whether replicates of a subject have nothing to do with those of another.
    pub fn is_unblocked(&self) -> bool {
        is_unblocked(self.imported.as_ref())
    }

    /// How many blocks have a record, and of how many planned ones where that is another number:
    /// `6`, `14 of 400 planned`, `not observed`.
    pub fn block_count(&self, language: Language) -> String {
        let Some(count) = self.blocks else { return language.word("not observed").to_owned() };
        match self.planned_blocks {
            None => count.to_string(),
            Some(planned) => say!(language, "{count} of {planned} planned", count, planned),
        }
    }

    /// [`Self::block_count`] with its noun: `1 block`, `14 of 400 planned blocks`.
    pub fn block_words(&self, language: Language) -> String {
        match (self.blocks, self.planned_blocks) {
            (None, _) => language.word("blocks not observed").to_owned(),
            (Some(count), None) => counted!(language, count, "1 block", "{count} blocks"),
            (Some(_), Some(_)) => {
                say!(language, "{count} blocks", count = self.block_count(language))
            }
        }
    }

    /// How many boots the records name: `6`, `not observed`.
    pub fn boot_count(&self, language: Language) -> String {
        let unseen = || language.word("not observed").to_owned();
        self.boots.map_or_else(unseen, |count| count.to_string())
    }

    /// How many boots, with the noun.
    pub(crate) fn boot_words(&self, language: Language) -> String {
        match self.boots {
            Some(count) => counted!(language, count, "1 boot", "{count} boots"),
            None => language.word("an unknown number of boots").to_owned(),
        }
    }

    /// How long trials took together: `6 min 30 s`, `not observed`.
    pub(crate) fn duration_words(&self, language: Language) -> String {
        let unseen = || language.word("not observed").to_owned();
        self.duration_ns.map_or_else(unseen, |length_ns| duration(length_ns, language))
    }

    /// The seed: `42`, `not observed`.
    pub fn seed_words(&self, language: Language) -> String {
        let unseen = || language.word("not observed").to_owned();
        self.seed.map_or_else(unseen, |seed| seed.to_string())
    }

    /// The families with their sizes: `declared: 4 comparisons`.
    pub fn family_words(&self, language: Language) -> String {
        let word = |count: usize| counted!(language, count, "1 comparison", "{count} comparisons");
        match self.families.iter().collect::<Vec<_>>().as_slice() {
            [] => word(0),
            [(_, count)] => word(**count),
            several => {
                let of_kind = |(name, count): &(&String, &usize)| {
                    let comparisons = word(**count);
                    say!(language, "{comparisons} of {kind}", comparisons, kind = name)
                };
                let named: Vec<String> = several.iter().map(of_kind).collect();
                let listed = named.join(", ");
                say!(language, "{listed}, each kind on its own", listed)
            }
        }
    }
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SubjectView {
    /// Its name.
    pub id: String,
    /// Its levels.
    pub levels: BTreeMap<String, Level>,
    /// Whether it is the reference.
    pub is_reference: bool,
    /// Whether it is the A/A control.
    pub is_control: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_english(language: &Language) -> bool {
    language.is_english()
}

/// The records without the facts that findings follow from.
fn without_facts<S: Serializer>(records: &Records, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(records.iter().map(model::RecordWithoutFacts))
}

/// Where imported numbers come from. What decides of it is written by the caveats that say it.
fn imported(plan: &Plan) -> Option<Imported> {
    let mut imported = plan.imported.clone()?;
    imported.facts.leave_to_caveats();
    Some(imported)
}

/// Makes the view model.
pub fn view(inputs: &Inputs<'_>) -> Report {
    let plan = inputs.plan;
    let is_emulated = inputs.findings.findings.iter().any(|finding| finding.is_emulated);
    let hides_absolute = is_emulated && !inputs.is_absolute;
    let unknown = inputs.language.word("unknown");
    let fact =
        |key: &str| inputs.environment.0.get(key).cloned().unwrap_or_else(|| unknown.to_owned());
    let has_trends = !inputs.findings.trends.is_empty();
    Report {
        format: if has_trends { TREND_REPORT_FORMAT } else { REPORT_FORMAT }.to_owned(),
        language: inputs.language,
        campaign: inputs.campaign.to_owned(),
        title: plan.title.clone(),
        answer: answer(
            inputs.findings,
            AnswerStyle {
                hides_absolute,
                is_imported: plan.imported.is_some(),
                language: inputs.language,
            },
        ),
        design: Design {
            venue: plan.venue.clone(),
            kernel: kernels(plan).unwrap_or_else(|| fact("kernel.release")),
            cpus: fact("cpu.online"),
            blocks: (!is_unblocked(plan.imported.as_ref()))
                .then(|| recorded_blocks(inputs.records)),
            planned_blocks: planned_blocks(inputs),
            subjects: plan.subjects.len(),
            workloads: plan.workloads.iter().map(|workload| workload.label.clone()).collect(),
            trials: inputs.records.len(),
            boots: recorded_boots(inputs.records),
            duration_ns: plan
                .imported
                .is_none()
                .then(|| model::sum_ns(inputs.records.iter().map(|record| record.duration_ns))),
            seed: plan.imported.is_none().then_some(plan.seed),
            // One of a fixed number of blocks that was ended on purpose was judged at less.
            alpha: if plan.looks.is_empty() { inputs.findings.alpha } else { plan.alpha },
            families: inputs.findings.families.clone(),
            imported: imported(plan),
            is_quick: plan.is_quick,
        },
        subjects: subjects(plan),
        workload_subjects: workload_subjects(plan),
        findings: inputs.findings.clone(),
        ladders: ladders(plan, inputs.findings),
        grids: grids(inputs),
        breakdowns: breakdowns(inputs, hides_absolute),
        ejections: ejections(plan, &inputs.findings.failures),
        caveats: explained(inputs.findings, inputs.store_caveats, inputs.language),
        environment: inputs.environment.clone(),
        differences: differences(inputs.records),
        notes: plan.notes.clone(),
        reproduce: reproduce(inputs),
        plan_digest: plan.digest.clone(),
        units: units(plan),
        hides_absolute,
        is_simulated: plan.has_simulated_numbers(),
        values: inputs.values.clone(),
        records: inputs.records.clone(),
        binding: inputs.binding,
        attempt: inputs.attempt,
        resumptions: inputs.resumptions,
        shares_few_boots: inputs.shares_few_boots,
        against_by_store: CaveatCheck::of(inputs.store_caveats),
        meanings: meanings(inputs),
    }
}

fn meanings(inputs: &Inputs<'_>) -> Meanings {
    Meanings {
        factors: inputs.factors.clone(),
        metrics: inputs.plan.workloads.iter().flat_map(primary_metrics).collect(),
    }
}

fn primary_metrics(workload: &model::WorkloadPlan) -> Vec<MetricMeaning> {
    let is_primary = |metric: &&model::Metric| workload.primary.contains(&metric.id);
    let meaning = |metric: &model::Metric| MetricMeaning {
        workload: workload.label.clone(),
        id: metric.id.clone(),
        direction: metric.direction,
        margin: metric.margin,
        meaning: metric.summary.clone(),
    };
    workload.metrics.iter().filter(is_primary).map(meaning).collect()
}

/// The kernels that a campaign boots, in the plan's order.
fn kernels(plan: &Plan) -> Option<String> {
    if !plan.boots_guests() {
        return None;
    }
    let mut kernels: Vec<&str> = Vec::new();
    for level in plan.subjects.iter().filter_map(|subject| subject.levels.get("kernel")) {
        if !kernels.contains(&level.as_str()) {
            kernels.push(level.as_str());
        }
    }
    (!kernels.is_empty()).then(|| kernels.join(", "))
}

fn is_unblocked(imported: Option<&Imported>) -> bool {
    let design = imported.map(|imported| &imported.design);
    matches!(design, Some(ImportedDesign::Unblocked { .. }))
}

/// Distinct boots, where each record names its own (`records.boot_id`).
fn recorded_boots(records: &[Record]) -> Option<usize> {
    // Those of one boot follow each other; there are hundreds of thousands.
    let of_boots = records.chunk_by(|one, other| {
        Arc::ptr_eq(&one.circumstances, &other.circumstances) || one.boot_id == other.boot_id
    });
    let boots: BTreeSet<&str> = of_boots.map(|of_boot| of_boot[0].boot_id.as_str()).collect();
    (!boots.contains("")).then_some(boots.len())
}

/// Blocks of which there is a record.
fn recorded_blocks(records: &[Record]) -> usize {
    let of_blocks = records.chunk_by(|one, other| one.block == other.block);
    of_blocks.map(|of_block| of_block[0].block).collect::<BTreeSet<u32>>().len()
}

/// How many blocks were planned, where so many were not recorded: an adaptive campaign may end at a
/// look by its rule, and of an import nobody planned them.
fn planned_blocks(inputs: &Inputs<'_>) -> Option<usize> {
    let plan = inputs.plan;
    if plan.imported.is_some() {
        return None;
    }
    let (planned, recorded) = (plan.blocks.len(), recorded_blocks(inputs.records));
    (planned != recorded && !ends_at_look(inputs, recorded)).then_some(planned)
}

/// Whether an adaptive campaign of so many recorded blocks ended at a look by its rule. It is neither
/// unfinished (`findings.is_unfinished`) nor was it ended before (its state), and the look is that
/// which its plan names. A block that ran again may be recorded beyond it.
fn ends_at_look(inputs: &Inputs<'_>, recorded: usize) -> bool {
    let look = inputs.plan.ending_look().map_or(recorded, |look| look as usize);
    look <= recorded
        && inputs.plan.looks.iter().any(|planned| *planned as usize == look)
        && !inputs.findings.is_unfinished
        && !inputs.is_stopped_early
}

fn subjects(plan: &Plan) -> Vec<SubjectView> {
    let reference = &plan.reference().id;
    plan.subjects
        .iter()
        .map(|subject| SubjectView {
            id: subject.id.clone(),
            levels: subject.levels.clone(),
            is_reference: subject.id == *reference,
            is_control: subject.is_control,
        })
        .collect()
}

/// A workload that is not named in it runs for every subject.
fn workload_subjects(plan: &Plan) -> BTreeMap<String, BTreeSet<String>> {
    let own = |workload: &model::WorkloadPlan| {
        let running = plan.subjects.iter().filter(|subject| workload.runs_for(subject));
        let ids: BTreeSet<String> = running.map(|subject| subject.id.clone()).collect();
        (ids.len() < plan.subjects.len()).then(|| (workload.label.clone(), ids))
    };
    plan.workloads.iter().filter_map(own).collect()
}

fn units(plan: &Plan) -> BTreeMap<String, BTreeMap<String, Unit>> {
    let of_sources = |workload: &model::WorkloadPlan| {
        workload.metrics.iter().map(|metric| (metric.source.clone(), metric.unit)).collect()
    };
    plan.workloads.iter().map(|workload| (workload.label.clone(), of_sources(workload))).collect()
}

fn differences(records: &[Record]) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let mut differences: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for record in records {
        for (key, value) in &record.fingerprint_difference {
            let of_key = differences.entry(key.clone()).or_default();
            of_key.entry(record.subject.clone()).or_default().insert(value.clone());
        }
    }
    differences
}

fn reproduce(inputs: &Inputs<'_>) -> Vec<String> {
    let plan = inputs.plan;
    let options: String = plan.options.iter().map(|word| format!(" {}", quoted(word))).collect();
    let origin = quoted(&format!("{}/{}", inputs.directory, inputs.origin));
    let again = match &plan.imported {
        Some(imported) => {
            let format = quoted(&imported.format);
            format!("schedlab import {format}{options} --mapping {origin}")
        }
        None => format!("schedlab run {origin} --fresh{}{options}", unrecorded(plan)),
    };
    vec![again, format!("schedlab judge {}", quoted(inputs.directory))]
}

/// The venue and the seed as options, where the plan does not record them as such: they may have
/// been drawn, or be those of the experiment.
fn unrecorded(plan: &Plan) -> String {
    let has = |key: &str| {
        let mut options = plan.options.iter();
        options.any(|option| option.split('=').next().is_some_and(|word| word.trim() == key))
    };
    let venue =
        if has("--venue") { String::new() } else { format!(" --venue {}", quoted(&plan.venue)) };
    let seed = if has("seed") { String::new() } else { format!(" --set seed={}", plan.seed) };
    venue + &seed
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/+%".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
