//! `[[workloads]]`: what runs, with which parameters, and what is asked of it.

use crate::document::{Entry, Node, Place, Table, Value};
use crate::margins::{self, Margins};
use crate::names::is_label;
use crate::overrides::label_of;
use crate::problems::Problems;
use crate::settings::{self, Settings};
use crate::values;
use contract::{Catalogue, Cost, Parameter, ParameterKind, Workload};
use model::{
    Background, Metric, ParameterValue, Parameters, Reduction, Session, Unit, WorkloadPlan,
};
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
    /// Whether the time limit was declared.
    pub(crate) has_time_limit: bool,
}

/// Reads all workloads.
pub(crate) fn read(
    table: &Table,
    catalogue: &Catalogue,
    settings: &Settings,
    subject_ids: &[&str],
    problems: &mut Problems,
) -> Vec<Planned> {
    let top = Place::Span { start: 0, end: 0 };
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
        let cause = format!("{} workloads; there must be 1 to {WORKLOAD_LIMIT}", items.len());
        problems.report(&entry.place, cause);
        return Vec::new();
    }
    check_labels(items, problems);
    let before = problems.len();
    let mut reader = Reader { catalogue, settings, subject_ids, problems };
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

fn check_labels(items: &[Node], problems: &mut Problems) {
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

fn probe_metrics(catalogue: &Catalogue, settings: &Settings) -> Vec<Metric> {
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
        }
    }
    workload
}

struct Reader<'a, 'p> {
    catalogue: &'a Catalogue,
    settings: &'a Settings,
    subject_ids: &'a [&'a str],
    problems: &'p mut Problems,
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
        let parameters = self.parameters(table, entry, &place)?;
        let metrics = self.metrics(entry, &parameters, &margins.unwrap_or_default(), &label);
        let primary = self.primary(table, &metrics, entry);
        let pooled = self.pooled(table, &metrics);
        let expected_ns = entry.expected_ns(&parameters);
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
                time_limit_ns: time_limit_ns.unwrap_or_else(|| default_time_limit(expected_ns)),
                is_closed_loop: entry.is_closed_loop(&parameters),
                metrics,
                parameters,
            },
            entry,
            has_time_limit: time_limit_ns.is_some(),
        })
    }

    fn entry(&mut self, table: &Table, item: &Node) -> Option<(&'static dyn Workload, Place)> {
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

    /// All parameters, defaults filled in. The default stands in for a wrong
    /// value, so that the rest of the workload is checked all the same; `None`
    /// where nothing can stand in, or where the metrics depend on the value.
    fn parameters(
        &mut self,
        table: &Table,
        workload: &'static dyn Workload,
        place: &Place,
    ) -> Option<Parameters> {
        let id = workload.describe().id;
        let declared = workload.parameters();
        let before = self.problems.len();
        for entry in table.entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
            if declared.iter().all(|parameter| parameter.name != entry.key) {
                let names = declared.iter().map(|parameter| parameter.name).chain(KEYS);
                self.problems
                    .report(&entry.place, format!("`{id}` has no parameter `{}`", entry.key))
                    .near(&entry.key, names);
            }
        }
        let mut parameters = BTreeMap::new();
        for parameter in declared {
            let written = table.get(parameter.name);
            let value = written.and_then(|entry| parse(parameter, entry, self.problems));
            let is_table = matches!(parameter.kind, ParameterKind::Table);
            let stand_in = parameter.default.filter(|_| written.is_none() || !is_table);
            if written.is_none() && stand_in.is_none() {
                let cause = format!("`{id}` needs the parameter `{}`", parameter.name);
                self.problems
                    .report(place, cause)
                    .hint(format!("{}: {}", parameter.name, parameter.summary));
            }
            let value = value.or_else(|| parameter.parse(stand_in?).ok());
            parameters.extend(value.map(|value| (parameter.name.to_owned(), value)));
        }
        if parameters.len() < declared.len() {
            return None;
        }
        let parameters = Parameters(parameters);
        if self.problems.len() == before {
            for cause in workload.conflicts(&parameters) {
                self.problems.report(place, format!("`{id}`: {cause}"));
            }
            // What a workload refuses it need not be able to describe.
            if self.problems.len() > before {
                return None;
            }
        }
        Some(parameters)
    }

    fn metrics(
        &mut self,
        workload: &'static dyn Workload,
        parameters: &Parameters,
        own: &Margins,
        label: &Option<String>,
    ) -> Vec<Metric> {
        let mut metrics = workload.metrics(parameters);
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

    /// A probe on every event forbids latency questions (DESIGN section 3, promise 5).
    fn check_observers(&mut self, metric: &Metric, place: &Place) {
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
        let mut wanted: Vec<&str> = Vec::new();
        for (id, node) in named {
            if self.subject_ids.contains(&id) {
                wanted.push(id);
            } else {
                self.problems
                    .report(&node.place, format!("no subject is called `{id}`"))
                    .near(id, self.subject_ids.iter().copied());
            }
        }
        // Without the reference there would be nothing to compare with.
        let reference = self.subject_ids.first().copied();
        let is_wanted = |id: &str| wanted.contains(&id) || Some(id) == reference;
        self.subject_ids.iter().filter(|id| is_wanted(id)).map(|id| (*id).to_owned()).collect()
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
                "same" => load.session = Session::Same,
                "separate" => load.session = Session::Separate,
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
    Background { hogs, session: Session::Same, is_pinned: true }
}

/// The time limit of a workload that declares none.
pub(crate) fn default_time_limit(expected_ns: u64) -> u64 {
    expected_ns.saturating_mul(TIME_LIMIT_FACTOR).max(SHORTEST_TIME_LIMIT_NS)
}

fn parse(parameter: &Parameter, entry: &Entry, problems: &mut Problems) -> Option<ParameterValue> {
    let node = &entry.node;
    let parsed = match (&parameter.kind, &node.value) {
        (ParameterKind::Words, Value::List(_)) => {
            let words = values::texts(node, parameter.name, problems)?;
            if words.is_empty() {
                Err("there is no word".to_owned())
            } else {
                let words = words.iter().map(|(word, _)| (*word).to_owned()).collect();
                Ok(ParameterValue::Words(words))
            }
        }
        (ParameterKind::Table, Value::Table(table)) => {
            return parse_table(parameter.name, table, problems);
        }
        (ParameterKind::Flag, Value::Flag(_))
        | (ParameterKind::Count { .. } | ParameterKind::Size { .. }, Value::Integer(_))
        | (ParameterKind::Number { .. }, Value::Integer(_) | Value::Float(_))
        | (
            ParameterKind::Count { .. }
            | ParameterKind::Duration { .. }
            | ParameterKind::Size { .. }
            | ParameterKind::Choice(_)
            | ParameterKind::Text
            | ParameterKind::Words,
            Value::Text(_),
        ) => parameter.parse(&node.scalar().unwrap_or_default()),
        (ParameterKind::Duration { .. }, Value::Integer(_) | Value::Float(_)) => {
            Err("a duration needs its unit, such as `100ms`".to_owned())
        }
        (kind, _) => Err(format!("expected {}, not {}", expected(kind), node.kind())),
    };
    match parsed {
        Ok(value) => Some(value),
        Err(cause) => {
            let found = problems.report(&node.place, format!("`{}`: {cause}", parameter.name));
            if let (ParameterKind::Choice(choices), Value::Text(text)) =
                (parameter.kind, &node.value)
            {
                found.near(text, choices.iter().copied());
            }
            None
        }
    }
}

fn parse_table(name: &str, table: &Table, problems: &mut Problems) -> Option<ParameterValue> {
    let before = problems.len();
    let mut rows = BTreeMap::new();
    for entry in &table.entries {
        let what = format!("each entry of `{name}`");
        let Some(row) = values::table(&entry.node, &what, problems) else { continue };
        let mut cells = BTreeMap::new();
        for cell in &row.entries {
            match cell.node.scalar() {
                Some(text) => {
                    cells.insert(cell.key.clone(), text);
                }
                None => {
                    let cause = format!("`{}` takes one value, not {}", cell.key, cell.node.kind());
                    problems.report(&cell.node.place, cause);
                }
            }
        }
        rows.insert(entry.key.clone(), cells);
    }
    (problems.len() == before).then_some(ParameterValue::Table(rows))
}

fn expected(kind: &ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Count { .. } => "a whole number",
        ParameterKind::Duration { .. } => "a duration such as \"5s\"",
        ParameterKind::Size { .. } => "a size such as \"64k\"",
        ParameterKind::Number { .. } => "a number",
        ParameterKind::Choice(_) | ParameterKind::Text => "a text",
        ParameterKind::Flag => "true or false",
        ParameterKind::Words => "a text or a list of texts",
        ParameterKind::Table => "a table",
    }
}
