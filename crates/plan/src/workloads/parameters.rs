//! Parameters of a workload: those of its table, and those that subjects have otherwise.

use crate::settable;
use crate::subjects::Arm;
use contract::document::{ExperimentProblems, SourceLocation, Table, TreeEntry, Value, values};
use contract::{Parameter, ParameterKind, Workload, WorkloadFacts};
use model::{Metric, ParameterValue, Parameters};
use std::collections::BTreeMap;

/// Values by name, of which some may be missing yet.
type Values = BTreeMap<String, ParameterValue>;

/// A workload with its parameters, defaults filled in, and what is known of it then.
pub(super) struct Configuration {
    pub(super) parameters: Parameters,
    pub(super) metrics: Vec<Metric>,
    pub(super) facts: WorkloadFacts,
    /// Whether load comes from the host of a guest.
    pub(super) is_loaded_from_host: bool,
}

/// All configurations that a workload runs in.
pub(super) struct Configurations {
    /// The one that all subjects share, or that of the reference.
    pub(super) first: Configuration,
    /// Of the reference, where subjects differ; then `others` are those of the other subjects.
    reference: Option<String>,
    others: Vec<(String, Configuration)>,
}

impl Configurations {
    /// Each of them.
    pub(super) fn each(&self) -> impl Iterator<Item = &Configuration> {
        std::iter::once(&self.first).chain(self.others.iter().map(|(_, own)| own))
    }

    /// By subject, the reference first; nothing where subjects do not differ.
    pub(super) fn of_subjects(&self) -> impl Iterator<Item = (&String, &Configuration)> {
        let reference = self.reference.iter().map(|id| (id, &self.first));
        reference.chain(self.others.iter().map(|(id, own)| (id, own)))
    }
}

/// Reads them for all arms. `None` where nothing can stand in for a wrong or
/// missing one, or where a workload refuses what it was given.
pub(super) fn read(
    table: &Table,
    workload: &'static dyn Workload,
    place: &SourceLocation,
    arms: &[Arm],
    problems: &mut ExperimentProblems,
) -> Option<Configurations> {
    let before = problems.len();
    let shared = shared(table, workload, problems);
    let mut reader = Reader { table, workload, is_sound: problems.len() == before, problems };
    let of_arms: Vec<(&Arm, Values)> = arms.iter().map(|arm| (arm, own(workload, arm))).collect();
    if of_arms.iter().all(|(_, own)| own.is_empty()) {
        let first = reader.whole(shared, place)?;
        return Some(Configurations { first, reference: None, others: Vec::new() });
    }
    let mut of_subjects: Vec<(String, Configuration)> = Vec::new();
    for (arm, own) in of_arms {
        let place = if own.is_empty() { place } else { &arm.place };
        let mut all = shared.clone();
        all.extend(own);
        of_subjects.extend(reader.whole(all, place).map(|whole| (arm.id.clone(), whole)));
    }
    if of_subjects.is_empty() || of_subjects.len() < arms.len() {
        return None;
    }
    let (reference, first) = of_subjects.remove(0);
    Some(Configurations { first, reference: Some(reference), others: of_subjects })
}

/// What an arm sets itself.
fn own(workload: &dyn Workload, arm: &Arm) -> Values {
    let id = workload.describe().id;
    let value = |declared: &Parameter| {
        let written = arm.level(&settable::key(id, declared.name))?;
        Some((declared.name.to_owned(), declared.parse(written.level.as_str()).ok()?))
    };
    workload.parameters().iter().filter_map(value).collect()
}

/// What the workload's table and defaults say. A default stands in for a wrong value, so that
/// the rest of the workload is checked all the same.
fn shared(table: &Table, workload: &dyn Workload, problems: &mut ExperimentProblems) -> Values {
    let id = workload.describe().id;
    let declared = workload.parameters();
    for entry in table.entries.iter().filter(|entry| !super::KEYS.contains(&entry.key.as_str())) {
        if declared.iter().all(|parameter| parameter.name != entry.key) {
            let names = declared.iter().map(|parameter| parameter.name).chain(super::KEYS);
            problems
                .report(&entry.place, format!("`{id}` has no parameter `{}`", entry.key))
                .near(&entry.key, names);
        }
    }
    let mut parameters = Values::new();
    for parameter in declared {
        let written = table.get(parameter.name);
        let value = written.and_then(|entry| parse(parameter, entry, problems));
        let is_table = matches!(parameter.kind, ParameterKind::Table);
        let stand_in = parameter.default.filter(|_| written.is_none() || !is_table);
        let value = value.or_else(|| parameter.parse(stand_in?).ok());
        parameters.extend(value.map(|value| (parameter.name.to_owned(), value)));
    }
    parameters
}

struct Reader<'a, 'p> {
    table: &'a Table,
    workload: &'static dyn Workload,
    /// Whether nothing stands in for what was written.
    is_sound: bool,
    problems: &'p mut ExperimentProblems,
}

impl Reader<'_, '_> {
    /// Configures the workload. Reports parameters that are missing, or that contradict each other.
    fn whole(&mut self, values: Values, place: &SourceLocation) -> Option<Configuration> {
        let id = self.workload.describe().id;
        let mut is_whole = true;
        for parameter in self.workload.parameters() {
            if values.contains_key(parameter.name) {
                continue;
            }
            is_whole = false;
            // Of one that was written it has been told that it is wrong.
            if self.table.get(parameter.name).is_none() {
                self.problems
                    .report(place, format!("`{id}` needs the parameter `{}`", parameter.name))
                    .hint(format!("{}: {}", parameter.name, parameter.summary));
            }
        }
        if !is_whole {
            return None;
        }
        let parameters = Parameters(values);
        match self.workload.configure(&parameters) {
            Ok(configured) => {
                let service = configured.service().map(|service| service.facts());
                Some(Configuration {
                    metrics: configured.metrics(),
                    facts: configured.facts(),
                    is_loaded_from_host: service.is_some_and(|own| own.host_load_port.is_some()),
                    parameters,
                })
            }
            Err(wrong) => {
                // Of what stands in for something else nobody need know.
                for cause in wrong.iter().filter(|_| self.is_sound) {
                    self.problems.report(place, format!("`{id}`: {cause}"));
                }
                None
            }
        }
    }
}

fn parse(
    parameter: &Parameter,
    entry: &TreeEntry,
    problems: &mut ExperimentProblems,
) -> Option<ParameterValue> {
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

fn parse_table(
    name: &str,
    table: &Table,
    problems: &mut ExperimentProblems,
) -> Option<ParameterValue> {
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
