//! `[quick]`: the part of an experiment that `--quick` keeps.
//!
//! Fewer blocks and shorter trials alone leave a large experiment large. Which part of
//! it is worth a quick look is a judgement of its author, written down before the run.

use crate::limits::{BLOCK_LIMIT, LEAST_BLOCKS};
use crate::subjects::Arm;
use crate::within_factor;
use crate::workloads::{self, Planned};
use contract::document::{ExperimentProblems, Node, Table, TreeEntry, Value, values};
use contract::{Catalogue, Parameter};
use model::{Comparisons, Subject, UseCase, groups};
use std::collections::BTreeSet;

/// Keys of `[quick]`.
const KEYS: [&str; 4] = ["subjects", "workloads", "blocks", "parameters"];

/// What `--quick` keeps; everything where nothing is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quick {
    subjects: Option<BTreeSet<String>>,
    workloads: Option<BTreeSet<String>>,
    /// Number of blocks instead of the usual one.
    pub(crate) blocks: Option<u32>,
}

/// Reads the table, whether `--quick` was asked for or not: a mistake in it is one now.
pub(crate) fn read(
    table: &Table,
    arms: &[Arm],
    workloads: &[Planned],
    comparisons: &Comparisons,
    problems: &mut ExperimentProblems,
) -> Quick {
    let mut quick = Quick::default();
    let Some(entry) = table.get("quick") else { return quick };
    let are_all_read = workloads::are_all_read(table, workloads);
    let Some(table) = values::table(&entry.node, "`quick`", problems) else { return quick };
    let subjects: Vec<&str> = arms.iter().map(|arm| arm.id.as_str()).collect();
    let known = if are_all_read { workloads } else { &[] };
    let labels: Vec<&str> = known.iter().map(|w| w.plan.label.as_str()).collect();
    let before = problems.len();
    for entry in &table.entries {
        match entry.key.as_str() {
            "subjects" => quick.subjects = names(entry, "subject", &subjects, problems),
            "workloads" => quick.workloads = names(entry, "workload", &labels, problems),
            "blocks" => {
                let limits = u64::from(LEAST_BLOCKS)..=BLOCK_LIMIT;
                quick.blocks = values::count(&entry.node, "blocks", limits, problems)
                    .and_then(|blocks| u32::try_from(blocks).ok());
            }
            // Read by `shrink`, before the workloads are.
            "parameters" => {}
            other => {
                problems
                    .report(&entry.place, format!("unknown key `{other}` in [quick]"))
                    .near(other, KEYS)
                    .hint(format!("[quick] takes {}", KEYS.join(", ")));
            }
        }
    }
    if are_all_read && problems.len() == before {
        quick.check(entry, arms, workloads, problems);
    }
    if let (Comparisons::Within(factor), true) = (comparisons, problems.len() == before) {
        quick.check_groups(entry, arms, factor, problems);
    }
    quick
}

/// Writes the parameters of `[quick]` into every workload that has them, where `--quick` was
/// asked for; tells which. A mistake in them is one in any case.
pub(crate) fn shrink(
    table: &mut Table,
    is_quick: bool,
    catalogue: &Catalogue,
    problems: &mut ExperimentProblems,
) -> Vec<String> {
    let quick = table.get("quick").and_then(|entry| as_table(&entry.node)?.get("parameters"));
    let Some(quick) = quick.cloned() else { return Vec::new() };
    let Some(wanted) = values::table(&quick.node, "`parameters`", problems).cloned() else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for parameter in wanted.entries {
        let before = problems.len();
        let mut known = BTreeSet::new();
        let mut is_found = false;
        for workload in workload_tables(table) {
            let Some(declared) = declared(workload, catalogue) else { continue };
            known.extend(declared.iter().map(|declared| declared.name));
            let Some(declared) = declared.iter().find(|it| it.name == parameter.key) else {
                continue;
            };
            is_found = true;
            if problems.len() == before {
                check(declared, &parameter, problems);
            }
            if is_quick {
                workload.entries.retain(|entry| entry.key != parameter.key);
                workload.entries.push(parameter.clone());
            }
        }
        if !is_found {
            problems
                .report(
                    &parameter.place,
                    format!("no workload has a parameter `{}`", parameter.key),
                )
                .near(&parameter.key, known);
        } else if is_quick {
            let value = parameter.node.scalar().unwrap_or_default();
            notes.push(format!("--quick: {} = {value}", parameter.key));
        }
    }
    notes
}

fn as_table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn workload_tables(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let list = table.get_mut("workloads").and_then(|entry| match &mut entry.node.value {
        Value::List(items) => Some(items),
        _ => None,
    });
    list.into_iter().flatten().filter_map(|item| match &mut item.value {
        Value::Table(workload) => Some(workload),
        _ => None,
    })
}

/// The parameters of what a workload uses.
fn declared(workload: &Table, catalogue: &Catalogue) -> Option<&'static [Parameter]> {
    let Value::Text(uses) = &workload.get("use")?.node.value else { return None };
    Some(catalogue.workload(uses)?.parameters())
}

fn check(declared: &Parameter, entry: &TreeEntry, problems: &mut ExperimentProblems) {
    let text = entry.node.scalar();
    let parsed = text.ok_or("expected one value".to_owned()).and_then(|text| declared.parse(&text));
    if let Err(why) = parsed {
        problems.report(&entry.node.place, format!("`{}`: {why}", entry.key));
    }
}

/// Names of a list that must exist.
fn names(
    entry: &TreeEntry,
    what: &str,
    known: &[&str],
    problems: &mut ExperimentProblems,
) -> Option<BTreeSet<String>> {
    let written = values::texts(&entry.node, &entry.key, problems)?;
    if written.is_empty() {
        problems.report(&entry.node.place, format!("`{}` names no {what}", entry.key));
    }
    // Where none is known, that is a problem of its own.
    for (name, node) in written.iter().filter(|_| !known.is_empty()) {
        if !known.contains(name) {
            problems
                .report(&node.place, format!("no {what} is called `{name}`"))
                .near(name, known.iter().copied());
        }
    }
    Some(written.into_iter().map(|(name, _)| name.to_owned()).collect())
}

impl Quick {
    /// What remains must still be an experiment.
    fn check(
        &self,
        entry: &TreeEntry,
        arms: &[Arm],
        workloads: &[Planned],
        problems: &mut ExperimentProblems,
    ) {
        let Some((reference, others)) = arms.split_first() else { return };
        if !self.keeps_subject(&reference.id) {
            problems
                .report(
                    &entry.place,
                    format!("[quick] leaves out the reference `{}`", reference.id),
                )
                .hint("name it in `subjects`: everything is compared with it");
            return;
        }
        let kept: Vec<&Arm> = others.iter().filter(|arm| self.keeps_subject(&arm.id)).collect();
        if kept.is_empty() && !others.is_empty() {
            problems
                .report(&entry.place, "[quick] leaves nothing to compare with the reference")
                .hint("name at least one more subject");
        }
        for arm in kept {
            let subject = arm.subject();
            let mut running = workloads.iter().filter(|workload| self.keeps_workload(workload));
            if !running.any(|workload| workload.plan.runs_for(&subject)) {
                problems
                    .report(&entry.place, format!("[quick] leaves no workload for `{}`", arm.id))
                    .hint("name one of its workloads, or leave the subject out");
            }
        }
    }

    /// Each level that remains must still compare something.
    fn check_groups(
        &self,
        entry: &TreeEntry,
        arms: &[Arm],
        factor: &str,
        problems: &mut ExperimentProblems,
    ) {
        let subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
        for group in groups(&subjects, factor) {
            let Some(reference) = group.reference else { continue };
            let is_compared = group.others.iter().any(|other| self.keeps_subject(&other.id));
            let name = within_factor::named(&group, factor);
            match (self.keeps_subject(&reference.id), is_compared) {
                (false, true) => {
                    problems
                        .report(
                            &entry.place,
                            format!(
                                "[quick] leaves out `{}`, the reference of {name}",
                                reference.id
                            ),
                        )
                        .hint(
                            "name it in `subjects`: the others of its level are compared with it",
                        );
                }
                (true, false) => {
                    problems
                        .report(
                            &entry.place,
                            format!("[quick] leaves nothing to compare with `{}`", reference.id),
                        )
                        .hint(format!("name another subject of {name}, or leave this one out"));
                }
                _ => {}
            }
        }
    }

    fn keeps_subject(&self, id: &str) -> bool {
        self.subjects.as_ref().is_none_or(|kept| kept.contains(id))
    }

    fn keeps_workload(&self, workload: &Planned) -> bool {
        self.workloads.as_ref().is_none_or(|kept| kept.contains(&workload.plan.label))
    }

    /// Leaves the kept part, and tells what went.
    pub(crate) fn narrow(
        &self,
        arms: &mut Vec<Arm>,
        workloads: &mut Vec<Planned>,
        use_cases: &mut Vec<UseCase>,
        comparisons: &Comparisons,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let (subject_count, workload_count) = (arms.len(), workloads.len());
        arms.retain(|arm| self.keeps_subject(&arm.id));
        if arms.len() < subject_count {
            let ids: Vec<&str> = arms.iter().map(|arm| arm.id.as_str()).collect();
            notes.push(note_of_kept(&ids, subject_count, "subjects"));
        }
        let subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
        let pairs = comparisons.pairs(&subjects);
        workloads.retain_mut(|workload| {
            let only = &mut workload.plan.subjects;
            let is_for_all = only.is_empty();
            only.retain(|id| arms.iter().any(|arm| arm.id == *id));
            // One that is left with references alone compares nothing.
            let is_compared = |pair: &(&Subject, &Subject)| {
                only.contains(&pair.0.id) && only.contains(&pair.1.id)
            };
            let is_asked = is_for_all || pairs.iter().any(is_compared);
            is_asked && self.keeps_workload(workload)
        });
        if workloads.len() < workload_count {
            let labels: Vec<&str> = workloads.iter().map(|w| w.plan.label.as_str()).collect();
            notes.push(note_of_kept(&labels, workload_count, "workloads"));
        }
        use_cases.retain(|use_case| {
            let is_whole = use_case.weights.iter().all(|weight| {
                workloads.iter().any(|workload| workload.plan.label == weight.workload)
            });
            if !is_whole {
                let id = &use_case.id;
                notes.push(format!(
                    "--quick: without the use case {id}, whose workloads do not all run"
                ));
            }
            is_whole
        });
        notes
    }
}

fn note_of_kept(kept: &[&str], count: usize, what: &str) -> String {
    format!("--quick: {} of {count} {what}: {}", kept.len(), kept.join(", "))
}
