//! `comparisons = "within FACTOR"`: what only the subjects together show, and what
//! workloads of some subjects need besides.

use crate::subjects::Arm;
use crate::workloads::Planned;
use contract::document::{ExperimentProblems, Table};
use model::{Comparisons, Group, Subject, groups};

/// Whether the subjects can be compared like that.
pub(crate) fn check(
    table: &Table,
    comparisons: &Comparisons,
    arms: &[Arm],
    problems: &mut ExperimentProblems,
) {
    let (Comparisons::Within(factor), Some(entry)) = (comparisons, table.get("comparisons")) else {
        return;
    };
    let place = &entry.node.place;
    let subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
    let groups = groups(&subjects, factor);
    if groups.iter().all(|group| group.level.is_none()) {
        problems
            .report(place, format!("no subject sets `{factor}`"))
            .hint("cross it in [factors], or set it in each subject");
        return;
    }
    for (subject, arm) in subjects.iter().zip(arms) {
        if !subject.levels.contains_key(factor) {
            problems
                .report(&arm.place, format!("`{}` has no level of `{factor}`", arm.id))
                .hint(format!("subjects are compared within `{factor}`, so each must set it"));
        }
    }
    if let [Group { level: Some(level), .. }] = groups.as_slice() {
        problems
            .report(place, format!("every subject has {factor} = {level}"))
            .hint("with one level there are no groups: write comparisons = \"reference\"");
        return;
    }
    let reference = subjects.first().map_or("", |subject| subject.id.as_str());
    for group in groups.iter().filter(|group| group.level.is_some()) {
        let name = named(group, factor);
        match (group.reference, group.others.as_slice()) {
            (Some(only), []) => {
                problems
                    .report(place, format!("`{}` is the only subject with {name}", only.id))
                    .hint("there is nothing to compare it with: add a subject, or leave it out");
            }
            (None, _) => {
                let levels =
                    subjects.first().map_or(String::new(), |first| elsewhere(first, factor));
                problems
                    .report(
                        place,
                        format!(
                            "no subject with {name} is otherwise like the reference `{reference}`"
                        ),
                    )
                    .hint(format!(
                        "add one with {levels}: the others of {name} are compared with it"
                    ));
            }
            _ => {}
        }
    }
}

/// `vcpus = 2`.
pub(crate) fn named(group: &Group<'_>, factor: &str) -> String {
    group.level.map_or_else(|| format!("no {factor}"), |level| format!("{factor} = {level}"))
}

/// The levels of all other factors.
fn elsewhere(subject: &Subject, factor: &str) -> String {
    let levels: Vec<String> = subject
        .levels_but(factor)
        .into_iter()
        .map(|(id, level)| format!("{id} = {level}"))
        .collect();
    if levels.is_empty() { "no other level".to_owned() } else { levels.join(", ") }
}

/// A workload that runs for some subjects runs for what those are compared with, too.
pub(crate) fn complete(workloads: &mut [Planned], comparisons: &Comparisons, arms: &[Arm]) {
    if !matches!(comparisons, Comparisons::Within(_)) {
        return;
    }
    let subjects: Vec<Subject> = arms.iter().map(Arm::subject).collect();
    let pairs = comparisons.pairs(&subjects);
    for workload in workloads {
        let only = &mut workload.plan.subjects;
        let is_needed = |id: &str| {
            only.iter().any(|known| known == id)
                || pairs
                    .iter()
                    .any(|(reference, other)| reference.id == id && only.contains(&other.id))
        };
        if !only.is_empty() {
            *only =
                arms.iter().filter(|arm| is_needed(&arm.id)).map(|arm| arm.id.clone()).collect();
        }
    }
}
