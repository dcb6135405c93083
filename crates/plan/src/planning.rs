//! From a read experiment to a plan: the control arm, `--quick`, the budget, the order.

use crate::claims::Asked;
use crate::document;
use crate::levels::{Levels, Resolve, as_written};
use crate::limits::LEAST_BLOCKS;
use crate::problem::ExperimentProblem;
use crate::problems::into_sorted;
use crate::settings::{self, Control, ExperimentSettings, LARGEST_SEED};
use crate::subjects::{self, Arm};
use crate::workloads::{self, Planned};
use crate::{boots, claims, digest, order, overrides, pace, quick, use_cases, within_factor};
use contract::document::{ExperimentProblems, SourceLocation};
use contract::shared_names::LENGTH;
use contract::{Catalogue, ParameterKind, Workload};
use model::{
    Block, PLAN_FORMAT, Pace, ParameterValue, Parameters, Plan, Subject, VenueSettings,
    WorkloadPlan, format_duration,
};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of `--quick` (docs/method.md#m-defaults).
const QUICK_BLOCKS: u32 = 6;
/// Ten times what the analysis is measured with; a bound on the plan's size.
const TRIAL_LIMIT: u64 = 100_000;
/// A year: an estimate beyond it is a slip.
const LONGEST_NS: u128 = 365 * 86_400 * 1_000_000_000;

/// An experiment and how it should be planned.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The experiment's text.
    pub text: &'a str,
    /// The file's stem: names the campaign.
    pub name: &'a str,
    /// `--set key=value`, in order; dotted keys.
    pub overrides: &'a [(String, String)],
    /// `--venue`.
    pub venue: Option<&'a str>,
    /// `--budget`.
    pub budget_ns: Option<u64>,
    /// `--quick`.
    pub is_quick: bool,
    /// Used where the experiment has no seed; as many bits of it as `seed = …` may have.
    pub drawn_seed: u64,
    /// What a text stands for as a level of a factor (`debian:eevdf` as a kernel).
    pub resolve: &'a Resolve<'a>,
}

impl Default for PlanRequest<'_> {
    fn default() -> Self {
        Self {
            text: "",
            name: "",
            overrides: &[],
            venue: None,
            budget_ns: None,
            is_quick: false,
            drawn_seed: 0,
            resolve: &as_written,
        }
    }
}

/// Makes the plan.
///
/// # Errors
/// Every problem of the experiment, those of options first, then by line.
pub fn plan(
    catalogue: &Catalogue,
    default_probes: &[&str],
    request: &PlanRequest<'_>,
) -> Result<Plan, Vec<ExperimentProblem>> {
    let mut problems = ExperimentProblems::default();
    let planned = try_plan(catalogue, default_probes, request, &mut problems);
    match planned {
        Some(plan) if problems.is_empty() => Ok(plan),
        _ => Err(into_sorted(problems, request.text)),
    }
}

fn try_plan(
    catalogue: &Catalogue,
    default_probes: &[&str],
    request: &PlanRequest<'_>,
    problems: &mut ExperimentProblems,
) -> Option<Plan> {
    let mut table = document::read(request.text, problems)?;
    overrides::apply(&mut table, request.overrides, catalogue, problems);
    let shrunk = quick::shrink(&mut table, request.is_quick, catalogue, problems);
    let settings = settings::read(&table, catalogue, default_probes, request.venue, problems)?;
    let mut levels = Levels::new(request.resolve);
    let before = problems.len();
    let mut arms = subjects::read(&table, catalogue, settings.venue.entry, &mut levels, problems)?;
    if problems.len() == before {
        within_factor::check(&table, &settings.comparisons, &arms, problems);
    }
    let ids: Vec<&str> = arms.iter().map(|arm| arm.id.as_str()).collect();
    let mut workloads = workloads::read(&table, catalogue, &settings, &arms, problems);
    within_factor::complete(&mut workloads, &settings.comparisons, &arms);
    let control = arms.first().map(|arm| subjects::control_id(&arm.id)).unwrap_or_default();
    let with_control: Vec<&str> = ids.iter().copied().chain([control.as_str()]).collect();
    settings.venue.check(&with_control, problems);
    let mut use_cases = use_cases::read(&table, &workloads, problems);
    let subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
    let plans: Vec<&WorkloadPlan> = workloads.iter().map(|workload| &workload.plan).collect();
    let asked = Asked {
        subjects: &subjects,
        workloads: &plans,
        margins: &BTreeSet::new(),
        comparisons: &settings.comparisons,
    };
    let claims = workloads::are_all_read(&table, &workloads)
        .then(|| claims::read(&table, catalogue, &asked, &mut levels, problems));
    let quick = quick::read(&table, &arms, &workloads, &settings.comparisons, problems);
    check_together(&settings, &arms, &workloads, problems);
    if !problems.is_empty() {
        return None;
    }
    let budget = request
        .budget_ns
        .map(|budget_ns| {
            (budget_ns, SourceLocation::Option(format!("--budget {}", format_duration(budget_ns))))
        })
        .or_else(|| {
            let entry = table.get("budget")?;
            Some((settings.budget_ns?, entry.place.clone()))
        });
    let mut notes = levels.into_notes();
    notes.extend(shrunk);
    if request.is_quick {
        notes.extend(quick.narrow(
            &mut arms,
            &mut workloads,
            &mut use_cases,
            &settings.comparisons,
        ));
    }
    let mut draft = draft(request, settings, &arms, workloads);
    draft.plan.setting_ns = setting_ns(&draft.plan.subjects, catalogue);
    draft.plan.notes = notes;
    draft.plan.use_cases = use_cases;
    draft.plan.claims = claims.unwrap_or_default();
    if request.is_quick {
        draft.make_quick(quick.blocks.unwrap_or(QUICK_BLOCKS));
    }
    draft.fit(budget, catalogue, problems)?;
    Some(draft.finish(catalogue))
}

/// What only all parts together show.
fn check_together(
    settings: &ExperimentSettings,
    arms: &[Arm],
    workloads: &[Planned],
    problems: &mut ExperimentProblems,
) {
    if let ([only], Control::Off) = (arms, settings.control) {
        problems
            .report(&only.place, "one subject and no control: there is nothing to compare")
            .hint("add a second subject, or remove `control = false` for an A/A campaign");
    }
    if !problems.is_empty() {
        return;
    }
    for arm in arms {
        let subject = arm.subject();
        if workloads.iter().all(|workload| !workload.plan.runs_for(&subject)) {
            problems
                .report(&arm.place, format!("no workload runs for `{}`", arm.id))
                .hint("name it in a workload's `subjects`, or remove it");
        }
    }
    let trials = arms.len() as u64 * workloads.len() as u64 * u64::from(settings.blocks);
    if trials > TRIAL_LIMIT {
        let place =
            arms.first().map_or(SourceLocation::Span { start: 0, end: 0 }, |arm| arm.place.clone());
        let cause = format!("up to {trials} trials; the limit EXPERIMENT_TRIALS is {TRIAL_LIMIT}");
        problems.report(&place, cause).hint("use fewer blocks, subjects or workloads");
    }
    let longest = workloads
        .iter()
        .map(|w| u128::from(w.plan.expected_ns) * u128::from(w.plan.invocations))
        .sum::<u128>();
    if longest * arms.len() as u128 * u128::from(settings.blocks) > LONGEST_NS {
        let place =
            arms.first().map_or(SourceLocation::Span { start: 0, end: 0 }, |arm| arm.place.clone());
        problems.report(&place, "the campaign would take more than a year");
    }
}

/// A plan whose blocks are not laid out yet.
struct Draft {
    plan: Plan,
    block_count: u32,
    looks: Vec<u32>,
    is_control_kept: bool,
    entries: Vec<Planned>,
}

/// How long it takes to set each subject for a trial, of those where it takes time.
fn setting_ns(subjects: &[Subject], catalogue: &Catalogue) -> BTreeMap<String, u64> {
    let of = |subject: &Subject| -> u64 {
        let levels = subject.levels.iter();
        let known = levels.filter_map(|(id, level)| Some((catalogue.factor(id)?, level)));
        known.map(|(factor, level)| factor.setting_ns(level)).sum()
    };
    let all = subjects.iter().map(|subject| (subject.id.clone(), of(subject)));
    all.filter(|(_, ns)| *ns > 0).collect()
}

fn draft(
    request: &PlanRequest<'_>,
    settings: ExperimentSettings,
    arms: &[Arm],
    mut workloads: Vec<Planned>,
) -> Draft {
    let mut subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
    for workload in &mut workloads {
        workload.plan.variants.retain(|id, _| arms.iter().any(|arm| arm.id == *id));
    }
    if settings.control != Control::Off {
        let reference = subjects[0].clone();
        let id = subjects::control_id(&reference.id);
        for workload in &mut workloads {
            let own = workload.plan.variants.get(&reference.id).cloned();
            workload.plan.variants.extend(own.map(|own| (id.clone(), own)));
        }
        subjects.insert(1, Subject { id, is_control: true, ..reference });
    }
    let mut plan = Plan {
        format: PLAN_FORMAT.to_owned(),
        name: request.name.to_owned(),
        title: settings.title.unwrap_or_else(|| request.name.to_owned()),
        digest: String::new(),
        venue: String::new(),
        seed: settings.seed.unwrap_or(request.drawn_seed & LARGEST_SEED),
        is_seed_generated: settings.seed.is_none(),
        alpha: settings.alpha,
        is_quick: request.is_quick,
        is_pilot: false,
        subjects,
        workloads: Vec::new(),
        blocks: Vec::new(),
        looks: Vec::new(),
        budget_ns: None,
        pace: settings.pace,
        boots: settings.boots,
        comparisons: settings.comparisons,
        use_cases: Vec::new(),
        claims: Vec::new(),
        imported: None,
        probes: settings.probes,
        settle_ns: settings.settle_ns,
        rest_ns: settings.rest_ns,
        setting_ns: BTreeMap::new(),
        sim: None,
        vm: None,
        venue_settings: VenueSettings::default(),
        options: Vec::new(),
        notes: Vec::new(),
        ended_at_look: None,
        repeated_blocks: Vec::new(),
    };
    settings.venue.write(&mut plan, workloads.iter().any(|one| one.needs_peer));
    Draft {
        plan,
        block_count: settings.blocks,
        looks: settings.looks,
        // An A/A campaign of one subject consists of its control.
        is_control_kept: settings.control == Control::On || arms.len() == 1,
        entries: workloads,
    }
}

impl Draft {
    /// Fewer blocks, one invocation, half the declared durations.
    fn make_quick(&mut self, blocks: u32) {
        if self.block_count > blocks {
            let note = format!("--quick: {blocks} blocks instead of {}", self.block_count);
            self.plan.notes.push(note);
            self.block_count = blocks;
        }
        if let Some(pace) = &mut self.plan.pace {
            let every = Pace::words(pace.every_ns);
            let note = format!(
                "--quick: blocks follow each other without a pause, and not every {every}: what \
                 takes hours to show cannot show"
            );
            self.plan.notes.push(note);
            pace.every_ns = 0;
        }
        if let Some(boots) = self.plan.boots.take() {
            self.plan.notes.push(format!("--quick: one boot instead of {boots}"));
        }
        let mut halved = Vec::new();
        for planned in &mut self.entries {
            planned.plan.invocations = 1;
            if halve_duration(planned) {
                halved.push(planned.plan.label.clone());
            }
        }
        self.plan.notes.push("--quick: one invocation in each trial".to_owned());
        if !halved.is_empty() {
            self.plan.notes.push(format!("--quick: half the duration of {}", halved.join(", ")));
        }
    }

    fn block_ns(&self, subjects: &[Subject], catalogue: &Catalogue) -> u64 {
        let sitting_ns = |subject: &Subject| -> u64 {
            let set_ns = self.plan.setting_ns.get(&subject.id).copied().unwrap_or_default();
            let running = self.entries.iter().filter(|planned| planned.plan.runs_for(subject));
            let trial_ns = |planned: &Planned| {
                planned.plan.trial_expected_ns(&subject.id) + self.plan.settle_ns
            };
            self.plan.rest_ns + running.map(|planned| trial_ns(planned) + set_ns).sum::<u64>()
        };
        let trials_ns: u64 = subjects.iter().map(sitting_ns).sum();
        if !self.plan.boots_guests() {
            return trials_ns;
        }
        let boots: BTreeSet<usize> =
            boots::boots(catalogue, subjects, &self.plan.comparisons).into_values().collect();
        trials_ns + boots.len() as u64 * self.plan.boot_expected_ns()
    }

    /// Makes the campaign fit its budget: blocks go down to five, then the
    /// control goes, then it is a problem.
    fn fit(
        &mut self,
        budget: Option<(u64, SourceLocation)>,
        catalogue: &Catalogue,
        problems: &mut ExperimentProblems,
    ) -> Option<()> {
        let Some((budget_ns, place)) = budget else { return Some(()) };
        let least = self.block_count.min(LEAST_BLOCKS);
        // Where the next block waits, a shorter one saves no time.
        let shortest_ns = self.plan.pace.map_or(0, |pace| pace.every_ns).max(1);
        let mut block_ns = self.block_ns(&self.plan.subjects, catalogue).max(shortest_ns);
        let without: Vec<Subject> =
            self.plan.subjects.iter().filter(|subject| !subject.is_control).cloned().collect();
        let is_control_droppable =
            !self.is_control_kept && without.len() < self.plan.subjects.len();
        if budget_ns / block_ns < u64::from(least) && is_control_droppable {
            block_ns = self.block_ns(&without, catalogue).max(shortest_ns);
            self.plan.subjects = without;
            self.plan.notes.push("the A/A control was dropped to fit the budget".to_owned());
        }
        let affordable = u32::try_from(budget_ns / block_ns).unwrap_or(u32::MAX);
        if !self.looks.is_empty() && affordable >= least {
            // It stops at the look that answers everything, or when the time is used up.
            self.plan.budget_ns = Some(budget_ns);
            return Some(());
        }
        if affordable < least {
            let needed = format_duration(
                (block_ns * u64::from(least)).div_ceil(1_000_000_000) * 1_000_000_000,
            );
            let shorter = match self.plan.pace {
                Some(pace) if pace.every_ns >= block_ns => "give a shorter `every`",
                _ => "shorten or remove workloads",
            };
            problems
                .report(&place, format!("even {least} blocks need {needed}"))
                .hint(format!("give at least {needed}, or {shorter}"));
            return None;
        }
        if affordable < self.block_count {
            let note = format!(
                "{affordable} blocks instead of {} to fit the budget of {}",
                self.block_count,
                format_duration(budget_ns)
            );
            self.plan.notes.push(note);
            self.block_count = affordable;
        }
        Some(())
    }

    fn finish(self, catalogue: &Catalogue) -> Plan {
        // The simulator takes no time, whatever it simulates.
        let is_simulated = self.plan.is_simulated();
        let block_ns = if is_simulated { 0 } else { self.block_ns(&self.plan.subjects, catalogue) };
        let Draft { mut plan, block_count, looks, entries, .. } = self;
        plan.looks = fitting(&looks, block_count);
        plan.workloads = entries.into_iter().map(|planned| planned.plan).collect();
        if block_count < LEAST_BLOCKS {
            let note = format!(
                "{block_count} block{}: a verdict needs at least {LEAST_BLOCKS}, so none will be given",
                if block_count == 1 { "" } else { "s" }
            );
            plan.notes.push(note);
        }
        if let Some(pace) = plan.pace.filter(|pace| pace.every_ns > 0) {
            plan.notes.push(pace::note(pace, block_count, block_ns));
        }
        if let Some(boots) = &mut plan.boots {
            *boots = block_count.min(*boots);
            plan.notes.push(format!(
                "its blocks are spread over {boots} boots: after each part, boot the machine and give the same command"
            ));
        }
        plan.notes.extend(entangled(catalogue, &plan.subjects));
        for workload in &plan.workloads {
            if workload.time_limit_ns < workload.expected_ns {
                plan.notes.push(format!(
                    "{}: the time limit of {} is below the expected {}",
                    workload.label,
                    format_duration(workload.time_limit_ns),
                    format_duration(workload.expected_ns)
                ));
            }
        }
        plan.blocks = laid_out(&plan, block_count, catalogue);
        plan.digest = digest::digest(&plan, catalogue);
        plan.oldest_format().clone_into(&mut plan.format);
        plan
    }
}

fn laid_out(plan: &Plan, block_count: u32, catalogue: &Catalogue) -> Vec<Block> {
    let (subjects, workloads) = (&plan.subjects, &plan.workloads);
    if !plan.boots_guests() {
        return order::blocks(plan.seed, block_count, subjects, workloads);
    }
    let boots = boots::boots(catalogue, subjects, &plan.comparisons);
    order::booted_blocks(plan.seed, block_count, subjects, workloads, &boots)
}

/// The looks of a campaign of at most so many blocks; one look is a fixed design.
fn fitting(looks: &[u32], block_count: u32) -> Vec<u32> {
    let mut fitting: Vec<u32> =
        looks.iter().copied().filter(|look| *look < block_count).chain([block_count]).collect();
    if looks.is_empty() || fitting.len() == 1 {
        fitting.clear();
    }
    fitting
}

/// What levels bring along that not every subject has: a difference may be its doing.
fn entangled(catalogue: &Catalogue, subjects: &[Subject]) -> Vec<String> {
    let mut by_text: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
    for subject in subjects {
        for (id, level) in &subject.levels {
            let text = catalogue.factor(id).and_then(|factor| factor.brings_along(level));
            if let Some(text) = text {
                by_text.entry(text).or_default().push(&subject.id);
            }
        }
    }
    by_text
        .into_iter()
        .filter(|(_, having)| having.len() < subjects.len())
        .map(|(text, having)| format!("{}: {text}", having.join(", ")))
        .collect()
}

/// Halves the parameter [`LENGTH`], where the workload has one and still accepts
/// the combination; for all subjects or for none.
fn halve_duration(planned: &mut Planned) -> bool {
    let half = halved(planned.entry, &planned.plan.parameters);
    let Some((parameters, expected_ns)) = half else { return false };
    let variants = planned.plan.variants.values();
    let halves: Option<Vec<(Parameters, u64)>> =
        variants.map(|variant| halved(planned.entry, &variant.parameters)).collect();
    let Some(halves) = halves else { return false };
    planned.plan.expected_ns = expected_ns;
    planned.plan.parameters = parameters;
    for (variant, (parameters, expected_ns)) in planned.plan.variants.values_mut().zip(halves) {
        variant.expected_ns = expected_ns;
        variant.parameters = parameters;
        planned.plan.expected_ns = planned.plan.expected_ns.max(variant.expected_ns);
    }
    if let Some(patience_ns) = planned.patience_ns {
        let expected_ns = planned.plan.expected_ns;
        planned.plan.time_limit_ns = workloads::default_time_limit(expected_ns, patience_ns);
    }
    true
}

/// The parameters with half the duration, and how long the workload takes then.
fn halved(workload: &dyn Workload, parameters: &Parameters) -> Option<(Parameters, u64)> {
    let declared = workload.parameters().iter().find(|known| known.name == LENGTH)?;
    let ParameterKind::Duration { min, .. } = declared.kind else { return None };
    let mut parameters = parameters.clone();
    let Some(ParameterValue::Duration(duration_ns)) = parameters.0.get_mut(LENGTH) else {
        return None;
    };
    let halved_ns = (*duration_ns / 2).max(min);
    if halved_ns == *duration_ns {
        return None;
    }
    *duration_ns = halved_ns;
    let configured = workload.configure(&parameters).ok()?;
    Some((parameters, configured.facts().expected_ns))
}
