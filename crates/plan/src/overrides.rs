//! `--set key=value`: writes into the tree what could have been written in the file.

use crate::document::option_value;
use crate::venue;
use contract::Catalogue;
use contract::document::{ExperimentProblems, Node, SourceLocation, Table, TreeEntry, Value};

/// Tables that an option may create where the file has none, beside those of venues.
const CREATED: [&str; 3] = ["margin", "quick", "factors"];

/// Applies the options in order; the last one wins.
pub(crate) fn apply(
    table: &mut Table,
    overrides: &[(String, String)],
    catalogue: &Catalogue,
    problems: &mut ExperimentProblems,
) {
    for (path, value) in overrides {
        let place = SourceLocation::Option(format!("--set {path}={value}"));
        let node = option_value(value, &place);
        let steps: Vec<&str> = path.split('.').collect();
        if steps.iter().any(|step| step.trim().is_empty()) {
            problems
                .report(&place, format!("`{path}` is not a key"))
                .hint("write --set KEY=VALUE, for example --set workloads.wakeup.duration=1s");
            continue;
        }
        match steps.as_slice() {
            ["workloads", label, rest @ ..] => {
                set_workload(table, label, rest, node, &place, problems);
            }
            ["subjects", subject, rest @ ..] => {
                set_subject(table, subject, rest, node, &place, problems);
            }
            steps => {
                if let [first, _, ..] = steps
                    && venue::tables(catalogue).any(|known| known == *first)
                {
                    create(table, first, &place);
                }
                set(table, steps, node, &place, problems);
            }
        }
    }
}

/// A workload is named by its label.
fn set_workload(
    table: &mut Table,
    label: &str,
    rest: &[&str],
    node: Node,
    place: &SourceLocation,
    problems: &mut ExperimentProblems,
) {
    let list = table.get_mut("workloads").and_then(|entry| match &mut entry.node.value {
        Value::List(items) => Some(items),
        _ => None,
    });
    let mut workloads: Vec<(String, &mut Table)> = Vec::new();
    for item in list.into_iter().flatten() {
        if let Value::Table(workload) = &mut item.value {
            let name = label_of(workload);
            workloads.extend(name.map(|name| (name, workload)));
        }
    }
    let position = workloads.iter().position(|(name, _)| name == label);
    match position {
        Some(index) if !rest.is_empty() => {
            set(workloads[index].1, rest, node, place, problems);
        }
        Some(_) => {
            problems
                .report(place, format!("`workloads.{label}` needs the key to set"))
                .hint(format!("for example --set workloads.{label}.invocations=1"));
        }
        None => {
            problems
                .report(place, format!("no workload is called `{label}`"))
                .near(label, workloads.iter().map(|(name, _)| name.as_str()));
        }
    }
}

/// The name of a workload in the experiment: its label, else what it uses.
pub(crate) fn label_of(workload: &Table) -> Option<String> {
    let entry = workload.get("label").or_else(|| workload.get("use"))?;
    match &entry.node.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// A subject must exist: a slip in its name would otherwise add an arm.
fn set_subject(
    table: &mut Table,
    subject: &str,
    rest: &[&str],
    node: Node,
    place: &SourceLocation,
    problems: &mut ExperimentProblems,
) {
    let Some(TreeEntry { node: Node { value: Value::Table(subjects), .. }, .. }) =
        table.get_mut("subjects")
    else {
        problems.report(place, "the experiment has no [subjects]");
        return;
    };
    if rest.is_empty() || subjects.get(subject).is_none() {
        let known: Vec<String> = subjects.entries.iter().map(|entry| entry.key.clone()).collect();
        let cause = if rest.is_empty() {
            format!("`subjects.{subject}` needs the factor to set")
        } else {
            format!("no subject is called `{subject}`")
        };
        problems.report(place, cause).near(subject, known.iter().map(String::as_str));
        return;
    }
    let steps: Vec<&str> = [subject].iter().chain(rest).copied().collect();
    set(subjects, &steps, node, place, problems);
}

/// An empty table, where there is nothing of that name.
fn create(table: &mut Table, name: &str, place: &SourceLocation) {
    if table.get(name).is_none() {
        let node = Node { place: place.clone(), value: Value::Table(Table::default()) };
        table.entries.push(TreeEntry { key: name.to_owned(), place: place.clone(), node });
    }
}

/// Sets a value, going down through tables.
fn set(
    table: &mut Table,
    steps: &[&str],
    node: Node,
    place: &SourceLocation,
    problems: &mut ExperimentProblems,
) {
    let [step, rest @ ..] = steps else { return };
    if rest.is_empty() {
        match table.get_mut(step) {
            Some(entry) => {
                entry.node = node;
                entry.place = place.clone();
            }
            None => table.entries.push(TreeEntry {
                key: (*step).to_owned(),
                place: place.clone(),
                node,
            }),
        }
        return;
    }
    if CREATED.contains(step) {
        create(table, step, place);
    }
    let known: Vec<String> = table.entries.iter().map(|entry| entry.key.clone()).collect();
    let Some(entry) = table.get_mut(step) else {
        let cause = format!("there is no table `{step}` to set `{}` in", rest.join("."));
        problems.report(place, cause).near(step, known.iter().map(String::as_str));
        return;
    };
    if *step == "margin" {
        widen_margin(&mut entry.node);
    }
    if let Value::Table(inner) = &mut entry.node.value {
        set(inner, rest, node, place, problems);
    } else {
        let cause = format!("`{step}` is {}, so it has no `{}`", entry.node.kind(), rest.join("."));
        problems.report(place, cause);
    }
}

/// `margin = "5%"` is short for `margin = { default = "5%" }`.
fn widen_margin(node: &mut Node) {
    if let Value::Text(_) = node.value {
        let default =
            TreeEntry { key: "default".to_owned(), place: node.place.clone(), node: node.clone() };
        node.value = Value::Table(Table { entries: vec![default] });
    }
}
