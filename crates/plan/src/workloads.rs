//! `[[workloads]]`: what runs, with which parameters, and what is asked of it.

mod parameters;

use crate::margins::{self, Margins};
use crate::names::is_label;
use crate::overrides::label_of;
use crate::settings::{self, ExperimentSettings};
use crate::subjects::Arm;
use contract::document::{ExperimentProblems, Node, SourceLocation, Table, Value, values};
use contract::{Catalogue, Cost, Neighbour, Refusal, Workload};
use model::{Background, BackgroundSession, Metric, Reduction, Unit, Variant, WorkloadPlan};
use parameters::{Configuration, Configurations};
use std::collections::BTreeMap;

/// Keys of a workload that are not its own parameters.
pub(crate) const KEYS: [&str; 9] = [
    "use",
    "label",
    "invocations",
    "primary",
    "pooled",
    "load",
    "subjects",
    "time_limit",
    "margin",
];
const LOAD_KEYS: [&str; 3] = ["cpu", "session", "pinned"];
/// More than a report can show; bounds the work of judging.
const WORKLOAD_LIMIT: usize = 256;
/// Far above any number of CPUs worth loading; bounds what is started.
const HOG_LIMIT: u64 = 1_024;
const SECOND_NS: u64 = 1_000_000_000;
/// An invocation may take ten times its estimate, and a program whose length
/// nobody knows five minutes, before it counts as hung.
const TIME_LIMIT_FACTOR: u64 = 10;
const SHORTEST_TIME_LIMIT_NS: u64 = 300 * SECOND_NS;

/// A workload as planned and where it was written.
pub(crate) struct Planned {
    /// The workload.
    pub(crate) plan: WorkloadPlan,
    /// Its entry in the catalogue.
    pub(crate) entry: &'static dyn Workload,
    /// How much longer it may take than usual; none where a time limit was declared.
    pub(crate) patience_ns: Option<u64>,
    /// Whether its far side is a second guest.
    pub(crate) needs_peer: bool,
}

/// Reads all workloads.
pub(crate) fn read(
    table: &Table,
    catalogue: &Catalogue,
    settings: &ExperimentSettings,
    arms: &[Arm],
    problems: &mut ExperimentProblems,
) -> Vec<Planned> {
    let top = SourceLocation::Span { start: 0, end: 0 };
    let Some(entry) = table.get("workloads") else {
        problems.report(&top, "nothing runs").hint(
            "add at least one [[workloads]] with a `use`; `schedlab list workloads` shows all",
        );
        return Vec::new();
    };
    let Value::List(items) = &entry.node.value else {
        let cause = format!("`workloads` is a list of tables, not {}", entry.node.kind());
        problems.report(&entry.place, cause).hint("write [[workloads]] with two brackets");
        return Vec::new();
    };
    if items.is_empty() || items.len() > WORKLOAD_LIMIT {
        let cause = format!(
            "{} workloads; there must be 1 to {WORKLOAD_LIMIT} (limit EXPERIMENT_WORKLOADS)",
            items.len()
        );
        problems.report(&entry.place, cause);
        return Vec::new();
    }
    check_labels(items, problems);
    let before = problems.len();
    let mut reader = Reader { catalogue, settings, arms, problems };
    let mut metrics = Vec::new();
    let planned: Vec<Planned> = items
        .iter()
        .filter_map(|item| {
            let workload = reader.workload(item)?;
            metrics.extend(workload.plan.metrics.iter().map(|metric| metric.id.clone()));
            Some(workload)
        })
        .collect();
    // A workload that could not be read may own the metric.
    if planned.len() == items.len() {
        check_used(arms, &planned, problems);
        settings.margins.check_names(&metrics, "any workload of this experiment", problems);
    }
    if problems.len() == before && planned.iter().all(|workload| workload.plan.primary.is_empty()) {
        problems
            .report(&entry.place, "no workload has a primary metric, so nothing would be judged")
            .hint("remove `primary = []` from at least one workload");
    }
    let probes = probe_metrics(catalogue, settings);
    planned.into_iter().map(|workload| with_probe_metrics(workload, &probes)).collect()
}

/// Whether every workload that is written could be read. Where one could not, it may be what a
/// name or a metric elsewhere means, and its own problem is reported: nothing follows from it.
pub(crate) fn are_all_read(table: &Table, planned: &[Planned]) -> bool {
    let written = match table.get("workloads").map(|entry| &entry.node.value) {
        Some(Value::List(items)) => items.len(),
        _ => 0,
    };
    written > 0 && planned.len() == written
}

fn check_labels(items: &[Node], problems: &mut ExperimentProblems) {
    let mut labels: Vec<String> = Vec::new();
    for item in items {
        let Value::Table(table) = &item.value else { continue };
        let Some(label) = label_of(table) else { continue };
        if labels.contains(&label) {
            let entry = table.get("label").or_else(|| table.get("use"));
            let place = entry.map_or(&item.place, |entry| &entry.place);
            problems
                .report(place, format!("two workloads are called `{label}`"))
                .hint("give one of them another `label`");
        }
        labels.push(label);
    }
}

/// How a workload runs for each subject, where subjects differ in its parameters.
fn variants(all: &Configurations) -> BTreeMap<String, Variant> {
    let variant = |one: &Configuration| Variant {
        metrics: one.metrics.iter().map(|metric| metric.id.clone()).collect(),
        expected_ns: one.facts.expected_ns,
        parameters: one.parameters.clone(),
    };
    all.of_subjects().map(|(id, one)| (id.clone(), variant(one))).collect()
}

/// A parameter of a workload that does not run would be told of and do nothing.
fn check_used(arms: &[Arm], planned: &[Planned], problems: &mut ExperimentProblems) {
    for arm in arms {
        for (workload, written) in arm.parameters() {
            let runs = |one: &&Planned| {
                one.plan.uses == workload
                    && (one.plan.subjects.is_empty() || one.plan.subjects.contains(&arm.id))
            };
            if planned.iter().find(runs).is_none() {
                let cause = format!("no workload that runs for `{}` uses `{workload}`", arm.id);
                problems.report(&written.place, cause);
            }
        }
    }
}

fn probe_metrics(catalogue: &Catalogue, settings: &ExperimentSettings) -> Vec<Metric> {
    settings
        .probes
        .iter()
        .filter_map(|id| catalogue.probe(id))
        .flat_map(|probe| probe.metrics())
        .collect()
}

/// A metric that the workload reports itself is not asked of a probe again.
fn with_probe_metrics(mut workload: Planned, probes: &[Metric]) -> Planned {
    for metric in probes {
        if workload.plan.metrics.iter().all(|own| own.id != metric.id) {
            workload.plan.metrics.push(metric.clone());
            for variant in workload.plan.variants.values_mut() {
                variant.metrics.insert(metric.id.clone());
            }
        }
    }
    workload
}

struct Reader<'a, 'p> {
    catalogue: &'a Catalogue,
    settings: &'a ExperimentSettings,
    arms: &'a [Arm],
    problems: &'p mut ExperimentProblems,
}

impl Reader<'_, '_> {
    fn workload(&mut self, item: &Node) -> Option<Planned> {
        let Value::Table(table) = &item.value else {
            let cause = format!("a workload is a table, not {}", item.kind());
            self.problems.report(&item.place, cause);
            return None;
        };
        let label = label_of(table);
        if let Some(entry) = table.get("label")
            && let Some(label) = values::text(&entry.node, "label", self.problems)
            && !is_label(label)
        {
            self.problems
                .report(&entry.node.place, format!("the label {label:?} is not a name"))
                .hint("use lower-case letters, digits and single dashes or underscores");
        }
        let invocations =
            table.get("invocations").and_then(|e| settings::invocations(&e.node, self.problems));
        let background = table.get("load").and_then(|entry| self.background(&entry.node));
        let subjects = table.get("subjects").map(|entry| self.subjects(&entry.node));
        let time_limit_ns = table.get("time_limit").and_then(|entry| {
            let limits = SECOND_NS..=86_400 * SECOND_NS;
            values::duration(&entry.node, "time_limit", limits, self.problems)
        });
        let margins = table.get("margin").map(|entry| Margins::read(&entry.node, self.problems));
        let (entry, place) = self.entry(table, item)?;
        let all = parameters::read(table, entry, &place, self.arms, self.problems)?;
        let needs_peer = all.each().any(|one| one.facts.needs_peer);
        let is_loaded_from_host = all.each().any(|one| one.is_loaded_from_host);
        for (neighbour, is_needed) in
            [(Neighbour::SecondGuest, needs_peer), (Neighbour::HostLoad, is_loaded_from_host)]
        {
            let refusal = is_needed.then(|| self.settings.venue.refuses(neighbour)).flatten();
            if let Some(Refusal { cause, hint }) = refusal {
                let cause = format!("`{}`: {cause}", entry.describe().id);
                self.problems.report(&place, cause).hint(hint);
            }
        }
        let metrics = self.metrics(entry, &all, &margins.unwrap_or_default(), &label);
        let variants = variants(&all);
        let primary = self.primary(table, &metrics, entry, &variants);
        let pooled = self.pooled(table, &metrics);
        let facts = || all.each().map(|one| &one.facts);
        let is_closed_loop = facts().any(|one| one.is_closed_loop);
        let expected_ns = facts().map(|one| one.expected_ns).max().unwrap_or_default();
        let patience_ns = facts().map(|one| one.patience_ns).max().unwrap_or_default();
        Some(Planned {
            plan: WorkloadPlan {
                label: label?,
                uses: entry.describe().id.to_owned(),
                invocations: invocations.unwrap_or(self.settings.invocations),
                primary,
                pooled,
                background,
                subjects: subjects.unwrap_or_default(),
                expected_ns,
                time_limit_ns: time_limit_ns
                    .unwrap_or_else(|| default_time_limit(expected_ns, patience_ns)),
                is_closed_loop,
                metrics,
                parameters: all.first.parameters,
                variants,
            },
            entry,
            patience_ns: time_limit_ns.is_none().then_some(patience_ns),
            needs_peer,
        })
    }

    fn entry(
        &mut self,
        table: &Table,
        item: &Node,
    ) -> Option<(&'static dyn Workload, SourceLocation)> {
        let ids = self.catalogue.workloads.iter().map(|workload| workload.describe().id);
        let Some(entry) = table.get("use") else {
            self.problems
                .report(&item.place, "a workload needs `use`, the name of what runs")
                .hint("`schedlab list workloads` shows all");
            return None;
        };
        let id = values::text(&entry.node, "use", self.problems)?;
        let workload = self.catalogue.workload(id);
        if workload.is_none() {
            self.problems
                .report(&entry.node.place, format!("unknown workload `{id}`"))
                .near(id, ids)
                .hint("`schedlab list workloads` shows all");
        }
        Some((workload?, entry.place.clone()))
    }

    fn metrics(
        &mut self,
        workload: &'static dyn Workload,
        all: &Configurations,
        own: &Margins,
        label: &Option<String>,
    ) -> Vec<Metric> {
        let mut each: Vec<&Vec<Metric>> = all.each().map(|one| &one.metrics).collect();
        // In the order of the subject that has most of them; others leave some out.
        each.sort_by_key(|own| std::cmp::Reverse(own.len()));
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in each.into_iter().flatten() {
            if metrics.iter().all(|known| known.id != metric.id) {
                metrics.push(metric.clone());
            }
        }
        for metric in &mut metrics {
            margins::apply(metric, own, &self.settings.margins, self.problems);
        }
        let ids: Vec<String> = metrics.iter().map(|metric| metric.id.clone()).collect();
        let whose = format!("`{}`", label.as_deref().unwrap_or(workload.describe().id));
        own.check_names(&ids, &whose, self.problems);
        metrics
    }

    fn primary(
        &mut self,
        table: &Table,
        metrics: &[Metric],
        workload: &'static dyn Workload,
        variants: &BTreeMap<String, Variant>,
    ) -> Vec<String> {
        let Some(entry) = table.get("primary") else {
            let first = metrics.first();
            if let (Some(metric), Some(place)) = (first, table.get("use").map(|e| &e.place)) {
                self.check_observers(metric, place);
            }
            return first.map(|metric| metric.id.clone()).into_iter().collect();
        };
        let mut primary: Vec<String> = Vec::new();
        let named = values::texts(&entry.node, "primary", self.problems).unwrap_or_default();
        for (id, node) in named {
            let Some(metric) = metrics.iter().find(|metric| metric.id == id) else {
                self.unknown_metric(id, node, metrics, workload);
                continue;
            };
            if primary.iter().any(|known| known == id) {
                self.problems.report(&node.place, format!("`{id}` is primary twice"));
                continue;
            }
            if let Some((subject, _)) = variants.iter().find(|(_, one)| !one.metrics.contains(id)) {
                let cause = format!("`{id}` is not measured for the subject `{subject}`");
                self.problems
                    .report(&node.place, cause)
                    .hint("a primary metric is one that every subject has");
                continue;
            }
            self.check_observers(metric, &node.place);
            primary.push(id.to_owned());
        }
        primary
    }

    /// Quantiles that are taken of all blocks together.
    fn pooled(&mut self, table: &Table, metrics: &[Metric]) -> Vec<String> {
        let Some(entry) = table.get("pooled") else { return Vec::new() };
        let named = values::texts(&entry.node, "pooled", self.problems).unwrap_or_default();
        let is_quantile = |metric: &&Metric| matches!(metric.reduction, Reduction::Quantile(_));
        let quantiles: Vec<&str> =
            metrics.iter().filter(is_quantile).map(|metric| metric.id.as_str()).collect();
        let mut pooled = Vec::new();
        for (id, node) in named {
            if quantiles.contains(&id) {
                pooled.push(id.to_owned());
            } else {
                self.problems
                    .report(&node.place, format!("`{id}` is no percentile of this workload"))
                    .near(id, quantiles.iter().copied())
                    .hint("only percentiles of a histogram can be taken of all blocks together");
            }
        }
        pooled
    }

    fn unknown_metric(
        &mut self,
        id: &str,
        node: &Node,
        metrics: &[Metric],
        workload: &'static dyn Workload,
    ) {
        let known = metrics.iter().map(|metric| metric.id.as_str());
        let owner = self
            .catalogue
            .probes
            .iter()
            .find(|probe| probe.metrics().iter().any(|metric| metric.id == id));
        if let Some(probe) = owner {
            let cause =
                format!("`{id}` is a metric of the probe `{}`: never primary", probe.describe().id);
            self.problems.report(&node.place, cause).hint(
                "a primary metric is one of the workload's own; probes are shown as a screen",
            );
        } else {
            let names: Vec<&str> = known.clone().collect();
            self.problems
                .report(&node.place, format!("`{}` has no metric `{id}`", workload.describe().id))
                .near(id, known)
                .hint(format!("its metrics are {}", names.join(", ")));
        }
    }

    /// A probe on every event forbids latency questions (docs/method.md#m-obstacles).
    fn check_observers(&mut self, metric: &Metric, place: &SourceLocation) {
        let is_latency =
            metric.unit == Unit::Nanoseconds && matches!(metric.reduction, Reduction::Quantile(_));
        let watcher = self
            .settings
            .probes
            .iter()
            .filter_map(|id| self.catalogue.probe(id))
            .find(|probe| probe.cost() == Cost::PerEvent);
        if let (true, Some(probe)) = (is_latency, watcher) {
            let cause = format!(
                "`{}` is a latency, and the probe `{}` acts on every event: it would change the answer",
                metric.id,
                probe.describe().id
            );
            self.problems
                .report(place, cause)
                .hint("remove the probe, or choose a primary metric that is not a latency");
        }
    }

    fn subjects(&mut self, node: &Node) -> Vec<String> {
        let named = values::texts(node, "subjects", self.problems).unwrap_or_default();
        if matches!(&node.value, Value::List(items) if items.is_empty()) {
            self.problems.report(&node.place, "`subjects` is empty: the workload would never run");
        }
        let known: Vec<&str> = self.arms.iter().map(|arm| arm.id.as_str()).collect();
        let mut wanted: Vec<&str> = Vec::new();
        for (id, node) in named {
            if known.contains(&id) {
                wanted.push(id);
            } else {
                self.problems
                    .report(&node.place, format!("no subject is called `{id}`"))
                    .near(id, known.iter().copied());
            }
        }
        // Without the reference there would be nothing to compare with.
        let reference = known.first().copied();
        let is_wanted = |id: &str| wanted.contains(&id) || Some(id) == reference;
        known.iter().filter(|id| is_wanted(id)).map(|id| (*id).to_owned()).collect()
    }

    fn background(&mut self, node: &Node) -> Option<Background> {
        let wrong = "a load is \"cpu:N\" or { cpu = N, session = \"same\", pinned = true }";
        match &node.value {
            Value::Text(text) => {
                let hogs = text.strip_prefix("cpu:").and_then(|count| count.parse::<u64>().ok());
                let Some(hogs) = hogs.filter(|hogs| (1..=HOG_LIMIT).contains(hogs)) else {
                    let cause = format!("`{text}` is not a load");
                    self.problems.report(&node.place, cause).hint(wrong);
                    return None;
                };
                Some(background(hogs))
            }
            Value::Table(table) => self.background_table(table, node, wrong),
            _ => {
                let cause = format!("`load` takes a text or a table, not {}", node.kind());
                self.problems.report(&node.place, cause).hint(wrong);
                None
            }
        }
    }

    fn background_table(&mut self, table: &Table, node: &Node, wrong: &str) -> Option<Background> {
        for entry in &table.entries {
            if !LOAD_KEYS.contains(&entry.key.as_str()) {
                self.problems
                    .report(&entry.place, format!("unknown key `{}` in `load`", entry.key))
                    .near(&entry.key, LOAD_KEYS);
            }
        }
        let Some(cpu) = table.get("cpu") else {
            self.problems.report(&node.place, "`load` needs `cpu`").hint(wrong);
            return None;
        };
        let hogs = values::count(&cpu.node, "cpu", 1..=HOG_LIMIT, self.problems);
        let mut load = background(hogs.unwrap_or(1));
        if let Some(entry) = table.get("session")
            && let Some(session) = values::text(&entry.node, "session", self.problems)
        {
            match session {
                "same" => load.session = BackgroundSession::Same,
                "separate" => load.session = BackgroundSession::Separate,
                other => {
                    self.problems
                        .report(&entry.node.place, format!("unknown session `{other}`"))
                        .near(other, ["same", "separate"])
                        .hint("a session is \"same\" or \"separate\"");
                }
            }
        }
        if let Some(entry) = table.get("pinned") {
            load.is_pinned = values::flag(&entry.node, "pinned", self.problems).unwrap_or(true);
        }
        hogs.map(|_| load)
    }
}

/// Hogs in the workload's own session, one pinned to each CPU: the usual "one
/// hog per core", in which autogroup does not decide the shares.
fn background(hogs: u64) -> Background {
    let hogs = u32::try_from(hogs).unwrap_or(u32::MAX);
    Background { hogs, session: BackgroundSession::Same, is_pinned: true }
}

/// The time limit of a workload that declares none.
pub(crate) fn default_time_limit(expected_ns: u64, patience_ns: u64) -> u64 {
    let usual_ns = expected_ns.saturating_mul(TIME_LIMIT_FACTOR).max(SHORTEST_TIME_LIMIT_NS);
    usual_ns.saturating_add(patience_ns)
}
