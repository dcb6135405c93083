//! The arms: named subjects, levels common to all, and full crossing.

use crate::levels::{Levels, Written};
use crate::names::{NAME_LIMIT, is_kebab, name_of_levels};
use crate::settable::Settable;
use crate::{settable, settings};
use contract::document::{
    ExperimentProblems, Node, SourceLocation, Table, TreeEntry, Value, values,
};
use contract::{Catalogue, RequiredFactor, VenueEntry};
use model::{Level, Subject};
use std::collections::{BTreeMap, BTreeSet};

/// More arms than a table shows and a person compares.
const SUBJECT_LIMIT: usize = 64;

/// One arm and where it was named.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    /// Its id.
    pub(crate) id: String,
    /// Where it comes from.
    pub(crate) place: SourceLocation,
    levels: BTreeMap<String, Written>,
    /// Whether every level could be read; otherwise it resembles others by mistake.
    is_whole: bool,
}

impl Arm {
    /// Its level of that, as it was written.
    pub(crate) fn level(&self, id: &str) -> Option<&Written> {
        self.levels.get(id)
    }

    /// The parameters that it sets itself, each with the workload it is of.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, &Written)> {
        self.levels.iter().filter_map(|(id, written)| Some((id.split_once('.')?.0, written)))
    }

    /// The arm as a subject of the plan.
    pub(crate) fn subject(&self) -> Subject {
        let levels = self
            .levels
            .iter()
            .map(|(factor, written)| (factor.clone(), written.level.clone()))
            .collect();
        Subject { id: self.id.clone(), levels, is_control: false }
    }
}

/// The id of the A/A control beside this reference.
pub(crate) fn control_id(reference: &str) -> String {
    format!("{reference}-again")
}

/// Reads all arms, the reference first. Where there are both `[subjects]` and
/// `[factors]`, every subject runs at every combination of the factors. Nothing where there are too
/// many, which is reported: every workload would be read for each of them.
pub(crate) fn read(
    table: &Table,
    catalogue: &Catalogue,
    venue: &dyn VenueEntry,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Option<Vec<Arm>> {
    let common = common_levels(table, catalogue, reader, problems);
    let named = table.get("subjects").map(|entry| named_arms(entry, catalogue, reader, problems));
    let crossed = table.get("factors").map(|entry| {
        let elsewhere = Elsewhere { common: &common, named: subject_levels(table, catalogue) };
        crossing(entry, catalogue, &elsewhere, reader, problems)
    });
    let mut arms = match (named, crossed) {
        // So many would be multiplied; that they are too many is told of them alone.
        (Some(named), Some(_)) if named.len() > SUBJECT_LIMIT => named,
        (Some(named), Some(crossed)) => product(&named, &crossed),
        (Some(arms), None) | (None, Some(arms)) => arms,
        (None, None) => {
            problems
                .report(&SourceLocation::Span { start: 0, end: 0 }, "nothing is compared")
                .hint(
                    "name the arms: [subjects.baseline] and [subjects.other], or cross [factors]",
                );
            Vec::new()
        }
    };
    for arm in &mut arms {
        for (factor, written) in &common {
            arm.levels.entry(factor.clone()).or_insert_with(|| written.clone());
        }
    }
    if table.get("factors").is_some() {
        check_names(&arms, problems);
    }
    check_arms(&arms, catalogue, venue, problems);
    for required in venue.facts().required {
        // A level that could not be read is a problem of its own.
        let is_misread = table.get(required.id).is_some() && !common.contains_key(required.id);
        if !is_misread && catalogue.factor(required.id).is_some() {
            check_required(required, &arms, problems);
        }
    }
    (arms.len() <= SUBJECT_LIMIT).then_some(arms)
}

/// A factor without which the venue has no machine.
fn check_required(required: &RequiredFactor, arms: &[Arm], problems: &mut ExperimentProblems) {
    let lacks = |arm: &&Arm| arm.is_whole && !arm.levels.contains_key(required.id);
    let lacking: Vec<&Arm> = arms.iter().filter(lacks).collect();
    let Some(first) = lacking.first() else { return };
    let ids: Vec<String> = lacking.iter().map(|arm| format!("`{}`", arm.id)).collect();
    problems
        .report(&first.place, format!("{} {}", required.cause, ids.join(", ")))
        .hint(required.hint);
}

/// Names made from levels must fit and differ; names that people wrote do already.
fn check_names(arms: &[Arm], problems: &mut ExperimentProblems) {
    let mut earlier = BTreeSet::new();
    for arm in arms {
        let is_new = earlier.insert(arm.id.as_str());
        let cause = if arm.id.len() > NAME_LIMIT {
            format!("the combination's name `{}` is too long", arm.id)
        } else if !is_new {
            format!("two combinations would be called `{}`", arm.id)
        } else {
            continue;
        };
        problems.report(&arm.place, cause).hint("name the subjects yourself in [subjects]");
    }
}

/// Factor keys at the top of the file.
fn common_levels(
    table: &Table,
    catalogue: &Catalogue,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> BTreeMap<String, Written> {
    let mut common = BTreeMap::new();
    for entry in table.entries.iter().filter(|entry| !settings::is_key(&entry.key, catalogue)) {
        if let Some(factor) = catalogue.factor(&entry.key)
            && let Some(written) =
                reader.one(Settable::Factor(factor), &entry.node, &entry.place, problems)
        {
            common.insert(entry.key.clone(), written);
        }
    }
    common
}

fn named_arms(
    entry: &TreeEntry,
    catalogue: &Catalogue,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Vec<Arm> {
    let Some(table) = values::table(&entry.node, "`subjects`", problems) else {
        return Vec::new();
    };
    if table.entries.is_empty() {
        problems.report(&entry.place, "[subjects] names no subject");
    }
    table.entries.iter().map(|entry| named_arm(entry, catalogue, reader, problems)).collect()
}

fn named_arm(
    entry: &TreeEntry,
    catalogue: &Catalogue,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Arm {
    let id = entry.key.clone();
    if !is_kebab(&id) {
        let cause = format!("the subject name {id:?} is not kebab-case");
        problems.report(&entry.place, cause).hint(format!(
            "use lower-case letters, digits and single dashes, at most {NAME_LIMIT}"
        ));
    }
    let before = problems.len();
    let mut levels = BTreeMap::new();
    let what = format!("a subject such as `{id}`");
    let table = values::table(&entry.node, &what, problems);
    // Each of its keys may be wrong, and quotes the name.
    let place = format!("[subjects.{}]", id.chars().take(NAME_LIMIT).collect::<String>());
    for level in table.map(|table| settable::entries(table, catalogue)).unwrap_or_default() {
        let Some(settable) = known(&level, &place, catalogue, problems) else { continue };
        if let Some(written) = reader.one(settable, &level.node, &level.place, problems) {
            levels.insert(level.key, written);
        }
    }
    Arm { id, place: entry.place.clone(), levels, is_whole: problems.len() == before }
}

fn known(
    entry: &TreeEntry,
    section: &str,
    catalogue: &Catalogue,
    problems: &mut ExperimentProblems,
) -> Option<Settable> {
    let settable = Settable::named(&entry.key, catalogue);
    if settable.is_none() {
        let found =
            problems.report(&entry.place, format!("unknown key `{}` in {section}", entry.key));
        if settings::is_key(&entry.key, catalogue) {
            found.hint("this key belongs at the top of the file, above the first [table]");
        } else {
            let known = settable::near(entry, catalogue);
            found
                .near(&entry.key, known.iter().map(String::as_str))
                .hint(settable::hint(&entry.key));
        }
    }
    settable
}

/// Levels that are set outside `[factors]`.
struct Elsewhere<'a> {
    common: &'a BTreeMap<String, Written>,
    /// Factor id to the subject that sets it.
    named: BTreeMap<String, String>,
}

impl Elsewhere<'_> {
    fn place_of(&self, factor: &str) -> Option<String> {
        if self.common.contains_key(factor) {
            return Some("for all subjects at the top".to_owned());
        }
        self.named.get(factor).map(|subject| format!("in [subjects.{subject}]"))
    }
}

/// Every factor that some named subject sets, and where.
fn subject_levels(table: &Table, catalogue: &Catalogue) -> BTreeMap<String, String> {
    let subjects = table.get("subjects").map(|entry| &entry.node.value);
    let mut levels = BTreeMap::new();
    if let Some(Value::Table(subjects)) = subjects {
        for subject in &subjects.entries {
            if let Value::Table(own) = &subject.node.value {
                for entry in settable::entries(own, catalogue) {
                    levels.insert(entry.key, subject.key.clone());
                }
            }
        }
    }
    levels
}

/// All combinations of the listed levels; the first is the reference.
fn crossing(
    entry: &TreeEntry,
    catalogue: &Catalogue,
    elsewhere: &Elsewhere<'_>,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Vec<Arm> {
    let Some(table) = values::table(&entry.node, "`factors`", problems) else {
        return Vec::new();
    };
    if table.entries.is_empty() {
        problems.report(&entry.place, "[factors] names no factor");
    }
    let mut arms = vec![Arm {
        id: String::new(),
        place: entry.place.clone(),
        levels: BTreeMap::new(),
        is_whole: true,
    }];
    let mut order: Vec<&str> = Vec::new();
    let entries = settable::entries(table, catalogue);
    for entry in &entries {
        let Some(settable) = known(entry, "[factors]", catalogue, problems) else { continue };
        if let Some(elsewhere) = elsewhere.place_of(&entry.key) {
            problems
                .report(
                    &entry.place,
                    format!("`{}` is crossed here and set {elsewhere}", entry.key),
                )
                .hint("a factor is either crossed or set");
        }
        let levels = crossed_levels(entry, settable, reader, problems);
        if arms.len() * levels.len() > SUBJECT_LIMIT {
            let cause =
                format!("more than {SUBJECT_LIMIT} combinations (limit EXPERIMENT_SUBJECTS)");
            problems.report(&entry.place, cause);
            continue;
        }
        arms = combine(&arms, &entry.key, &levels);
        order.push(&entry.key);
    }
    for arm in &mut arms {
        let levels = order.iter().filter_map(|factor| {
            arm.levels.get(*factor).map(|written| (*factor, written.level.as_str()))
        });
        arm.id = name_of_levels(levels);
        // The last factor's level is the most telling place of a combination.
        if let Some(written) = order.last().and_then(|factor| arm.levels.get(*factor)) {
            arm.place = written.place.clone();
        }
    }
    arms
}

fn crossed_levels(
    entry: &TreeEntry,
    settable: Settable,
    reader: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Vec<Written> {
    let nodes: Vec<&Node> = match &entry.node.value {
        Value::List(items) => items.iter().collect(),
        _ => vec![&entry.node],
    };
    if nodes.is_empty() {
        problems.report(&entry.node.place, format!("`{}` has no level to cross", entry.key));
    }
    let mut levels: Vec<Written> = Vec::new();
    let mut listed = BTreeSet::new();
    for node in nodes {
        for written in reader.all(settable, node, problems) {
            if listed.insert(written.level.clone()) {
                levels.push(written);
            } else {
                let cause =
                    format!("the level `{}` of `{}` is listed twice", written.level, entry.key);
                problems.report(&node.place, cause);
            }
        }
    }
    levels
}

fn combine(arms: &[Arm], factor: &str, levels: &[Written]) -> Vec<Arm> {
    if levels.is_empty() {
        return arms.to_vec();
    }
    let mut combined = Vec::with_capacity(arms.len() * levels.len());
    for arm in arms {
        for level in levels {
            let mut arm = arm.clone();
            arm.levels.insert(factor.to_owned(), level.clone());
            combined.push(arm);
        }
    }
    combined
}

fn product(named: &[Arm], crossed: &[Arm]) -> Vec<Arm> {
    let mut arms = Vec::with_capacity(named.len() * crossed.len());
    for subject in named {
        for combination in crossed {
            let mut arm = subject.clone();
            arm.id = format!("{}--{}", subject.id, combination.id);
            arm.levels.extend(combination.levels.clone());
            arms.push(arm);
        }
    }
    arms
}

/// What is wrong with the arms together.
fn check_arms(
    arms: &[Arm],
    catalogue: &Catalogue,
    venue: &dyn VenueEntry,
    problems: &mut ExperimentProblems,
) {
    if let Some(arm) = arms.get(SUBJECT_LIMIT) {
        let cause =
            format!("{} subjects; the limit EXPERIMENT_SUBJECTS is {SUBJECT_LIMIT}", arms.len());
        problems.report(&arm.place, cause);
        return;
    }
    for (index, arm) in arms.iter().enumerate() {
        let earlier = &arms[..index];
        let levels = arm.subject().levels;
        if let Some(twin) = earlier
            .iter()
            .find(|twin| arm.is_whole && twin.is_whole && twin.subject().levels == levels)
        {
            problems
                .report(&arm.place, format!("`{}` has the same levels as `{}`", arm.id, twin.id))
                .hint("the A/A control is added by itself; `control = true` insists on it");
        }
        if let Some(first) = arms.first()
            && index > 0
            && arm.id == control_id(&first.id)
        {
            problems
                .report(&arm.place, format!("the name `{}` belongs to the A/A control", arm.id))
                .hint("choose another name");
        }
        check_conflicts(arm, &levels, catalogue, venue, problems);
    }
}

fn check_conflicts(
    arm: &Arm,
    levels: &BTreeMap<String, Level>,
    catalogue: &Catalogue,
    venue: &dyn VenueEntry,
    problems: &mut ExperimentProblems,
) {
    for (id, written) in &arm.levels {
        let Some(factor) = catalogue.factor(id) else { continue };
        let mut others = levels.clone();
        others.remove(id);
        if let Some(cause) = factor.conflict(&written.level, &others) {
            problems.report(&written.place, format!("subject `{}`: {cause}", arm.id));
        }
        if let Err(refusal) = venue.accepts(factor) {
            problems.report(&written.place, refusal.cause).hint(refusal.hint);
        }
    }
}
