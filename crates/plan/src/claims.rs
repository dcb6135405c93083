//! `[[claims]]`: what others have published, to be confirmed or refuted.

mod cross_workload;
mod shape;

use crate::levels::Levels;
use crate::settable;
use crate::settable::Settable;
use crate::settings::TITLE_LIMIT;
use contract::Catalogue;
use contract::document::{ExperimentProblems, Node, Table, TreeEntry, Value, values};
use cross_workload::CrossWorkload;
use model::{
    Claim, Claimed, ClaimedEffect, ClaimedMetrics, Comparisons, Level, Subject, WorkloadPlan,
};
use std::collections::{BTreeMap, BTreeSet};

const KEYS: [&str; 12] = [
    "says",
    "source",
    "workload",
    "workloads",
    "metric",
    "subject",
    "reference",
    "where",
    "effect",
    "order",
    "over",
    "turns",
];
/// More than this nobody reads.
const CLAIM_LIMIT: usize = 64;
/// Metrics or workloads that one claim names: more than an import has of the former.
const NAMED_LIMIT: usize = 1_000;

/// What the experiment asks: a claim about anything else would stay open for ever.
pub(crate) struct Asked<'a> {
    pub(crate) subjects: &'a [Subject],
    pub(crate) workloads: &'a [&'a WorkloadPlan],
    /// What else is judged: margins of imported numbers, by their labels.
    pub(crate) margins: &'a BTreeSet<String>,
    pub(crate) comparisons: &'a Comparisons,
}

/// Reads all claims.
pub(crate) fn read(
    table: &Table,
    catalogue: &Catalogue,
    asked: &Asked<'_>,
    levels: &mut Levels<'_>,
    problems: &mut ExperimentProblems,
) -> Vec<Claim> {
    let Some(entry) = table.get("claims") else { return Vec::new() };
    let Value::List(items) = &entry.node.value else {
        let cause = format!("`claims` is a list of tables, not {}", entry.node.kind());
        problems.report(&entry.place, cause).hint("write [[claims]] with two brackets");
        return Vec::new();
    };
    if items.len() > CLAIM_LIMIT {
        let cause = format!("{} claims; the limit EXPERIMENT_CLAIMS is {CLAIM_LIMIT}", items.len());
        problems.report(&entry.place, cause);
        return Vec::new();
    }
    let mut reader = Reader { catalogue, asked, subjects: asked.subjects, levels, problems };
    items.iter().filter_map(|item| reader.claim(item)).collect()
}

struct Reader<'a, 'l, 'p> {
    catalogue: &'a Catalogue,
    asked: &'a Asked<'a>,
    subjects: &'a [Subject],
    levels: &'p mut Levels<'l>,
    problems: &'p mut ExperimentProblems,
}

impl Reader<'_, '_, '_> {
    fn claim(&mut self, item: &Node) -> Option<Claim> {
        let table = values::table(item, "a claim", self.problems)?;
        for entry in &table.entries {
            if !KEYS.contains(&entry.key.as_str()) {
                self.problems
                    .report(&entry.place, format!("unknown key `{}` in a claim", entry.key))
                    .near(&entry.key, KEYS);
            }
        }
        let says = self.words(table, item, "says");
        let source = table.get("source").and_then(|entry| self.line(entry));
        let metric = self.metrics(table, item);
        let effect = self.effect(table, item);
        let shape = self.shape(table, item)?;
        if let Some(entry) = table.get("workloads") {
            let across = self.across(table, item, entry, metric.as_ref());
            let CrossWorkload { workloads, subject } = across?;
            return Some(Claim {
                says: says?,
                source,
                workload: None,
                workloads,
                metric: metric?,
                reference: subject.clone(),
                subject,
                effect: effect?,
                shape,
            });
        }
        let workload = metric.as_ref().and_then(|metric| self.workload(table, item, metric));
        let (mut subject, mut reference) = match shape.order.as_slice() {
            [first, .., last] => (Some(first.as_str().into()), Some(last.as_str().into())),
            _ => {
                let subject = self.subject(table, item);
                let reference = self.reference(table, item, subject.as_ref());
                (subject, reference)
            }
        };
        if let Some(entry) = table.get("where") {
            (subject, reference) = self.inside([subject?, reference?], entry)?;
        }
        let claim = Claim {
            says: says?,
            source,
            workload: workload?,
            workloads: Vec::new(),
            metric: metric?,
            subject: subject?,
            reference: reference?,
            effect: effect?,
            shape,
        };
        self.check_asked(&claim, item);
        self.check_turns(&claim, table);
        Some(claim)
    }

    /// The metric, or several of them.
    fn metrics(&mut self, table: &Table, item: &Node) -> Option<ClaimedMetrics> {
        let Some(entry) = table.get("metric") else {
            self.problems.report(&item.place, "a claim needs `metric`");
            return None;
        };
        let written = values::texts(&entry.node, "metric", self.problems)?;
        self.check_count(written.len(), "metrics", entry)?;
        let mut ids: Vec<String> = Vec::new();
        for (id, node) in written {
            if ids.iter().any(|known| known == id) {
                self.problems.report(&node.place, format!("`{id}` stands twice in a claim"));
            } else {
                ids.push(id.to_owned());
            }
        }
        match ids.len() {
            0 => {
                self.problems.report(&entry.node.place, "a claim needs a metric");
                None
            }
            1 => ids.pop().map(ClaimedMetrics::One),
            _ => Some(ClaimedMetrics::Several(ids)),
        }
    }

    /// Whether a claim names so many: each is looked for among all others.
    fn check_count(&mut self, count: usize, what: &str, entry: &TreeEntry) -> Option<()> {
        if count > NAMED_LIMIT {
            let cause =
                format!("{count} {what} in a claim; the limit CLAIM_NAMES is {NAMED_LIMIT}");
            self.problems.report(&entry.node.place, cause);
            return None;
        }
        Some(())
    }

    /// The text of a key that must be there.
    fn text(&mut self, table: &Table, item: &Node, key: &str) -> Option<String> {
        let Some(entry) = table.get(key) else {
            self.problems.report(&item.place, format!("a claim needs `{key}`"));
            return None;
        };
        values::text(&entry.node, key, self.problems).map(str::to_owned)
    }

    fn words(&mut self, table: &Table, item: &Node, key: &str) -> Option<String> {
        match table.get(key) {
            Some(entry) => self.line(entry),
            None => self.text(table, item, key),
        }
    }

    /// One line that a report can quote.
    fn line(&mut self, entry: &TreeEntry) -> Option<String> {
        let text = values::text(&entry.node, &entry.key, self.problems)?;
        if text.chars().count() > TITLE_LIMIT || text.chars().any(char::is_control) {
            let cause = format!("`{}` is one line of at most {TITLE_LIMIT} characters", entry.key);
            self.problems.report(&entry.node.place, cause);
            return None;
        }
        Some(text.to_owned())
    }

    /// The workload that has the metrics; nothing where several have one of them, and all
    /// are meant.
    #[expect(clippy::option_option, reason = "a problem, or every workload")]
    fn workload(
        &mut self,
        table: &Table,
        item: &Node,
        metrics: &ClaimedMetrics,
    ) -> Option<Option<String>> {
        let of_each: Vec<Option<Option<String>>> =
            metrics.ids().iter().map(|metric| self.workload_of(table, item, metric)).collect();
        let mut found = of_each.into_iter().collect::<Option<Vec<Option<String>>>>()?;
        found.dedup();
        // Metrics of different workloads mean each in its own.
        Some(if found.len() == 1 { found.pop().flatten() } else { None })
    }

    /// The workload it names, or the only one that has the metric as a primary one; nothing
    /// where several have it, and all of them are meant.
    #[expect(clippy::option_option, reason = "a problem, or every workload")]
    fn workload_of(&mut self, table: &Table, item: &Node, metric: &str) -> Option<Option<String>> {
        let named = match table.get("workload") {
            Some(entry) => Some((values::text(&entry.node, "workload", self.problems)?, entry)),
            None => None,
        };
        let asked: Vec<&str> = self
            .asked
            .workloads
            .iter()
            .filter(|workload| workload.primary.iter().any(|known| known == metric))
            .map(|workload| workload.label.as_str())
            .collect();
        let metrics = self.asked.workloads.iter().flat_map(|workload| &workload.primary);
        let metrics: Vec<&str> = metrics.map(String::as_str).collect();
        match (named, asked.as_slice()) {
            (Some((label, _)), [_, ..])
                if asked.contains(&label) || self.asked.margins.contains(label) =>
            {
                Some(Some(label.to_owned()))
            }
            (None, [only]) => Some(Some((*only).to_owned())),
            (Some((label, entry)), _) => {
                self.problems
                    .report(
                        &entry.node.place,
                        format!("`{metric}` is not a primary metric of a workload `{label}`"),
                    )
                    .near(
                        label,
                        self.asked
                            .workloads
                            .iter()
                            .map(|workload| workload.label.as_str())
                            .chain(self.asked.margins.iter().map(String::as_str)),
                    )
                    .hint(format!("primary metrics are {}", metrics.join(", ")));
                None
            }
            (None, []) => {
                let place = table.get("metric").map_or(&item.place, |entry| &entry.node.place);
                self.problems
                    .report(
                        place,
                        format!("`{metric}` is not a primary metric, so nothing judges it"),
                    )
                    .near(metric, metrics.iter().copied())
                    .hint(format!("primary metrics are {}", metrics.join(", ")));
                None
            }
            (None, _) => Some(None),
        }
    }

    fn subject(&mut self, table: &Table, item: &Node) -> Option<Claimed> {
        let Some(entry) = table.get("subject") else {
            self.problems.report(&item.place, "a claim needs `subject`");
            return None;
        };
        self.side(entry)
    }

    /// What it was compared with. Where that is not said, it is what the subject is compared
    /// with here: the reference, that of its level, or the reference's own levels.
    fn reference(
        &mut self,
        table: &Table,
        item: &Node,
        subject: Option<&Claimed>,
    ) -> Option<Claimed> {
        if let Some(entry) = table.get("reference") {
            return self.side(entry);
        }
        let reference = self.subjects.first()?;
        match subject {
            Some(Claimed::Levels(levels)) => {
                let own: BTreeMap<String, Level> = levels
                    .keys()
                    .filter_map(|id| Some((id.clone(), reference.levels.get(id)?.clone())))
                    .collect();
                if own.len() < levels.len() {
                    self.problems
                        .report(&item.place, "a claim about levels needs `reference` here")
                        .hint(format!("the reference `{}` does not set all of them", reference.id));
                    return None;
                }
                Some(Claimed::Levels(own))
            }
            Some(Claimed::Subject(id)) => {
                let pairs = self.asked.comparisons.pairs(self.subjects);
                let found = pairs.iter().find(|(_, other)| other.id == *id);
                Some(Claimed::Subject(found.map_or(reference, |(first, _)| first).id.clone()))
            }
            None => Some(Claimed::Subject(reference.id.clone())),
        }
    }

    /// Both sides of a claim in the cell that `where` names: both have its levels.
    fn inside(
        &mut self,
        sides: [Claimed; 2],
        entry: &TreeEntry,
    ) -> Option<(Option<Claimed>, Option<Claimed>)> {
        let table = values::table(&entry.node, "`where` of a claim", self.problems)?;
        let cell = self.levels(table, entry)?;
        let mut placed = Vec::new();
        for side in sides {
            let Claimed::Levels(mut levels) = side else {
                let cause = format!("`where` says nothing of a subject that is named: {side}");
                self.problems
                    .report(&entry.place, cause)
                    .hint("name both sides by levels, or name the subjects that have them");
                return None;
            };
            for (factor, level) in &cell {
                if let Some(own) = levels.insert(factor.clone(), level.clone())
                    && own != *level
                {
                    let cause =
                        format!("`where` has {factor} = {level}, and a side of the claim {own}");
                    self.problems.report(&entry.place, cause);
                    return None;
                }
            }
            placed.push(Claimed::Levels(levels));
        }
        let reference = placed.pop();
        Some((placed.pop(), reference))
    }

    /// A subject's name, or levels of factors.
    fn side(&mut self, entry: &TreeEntry) -> Option<Claimed> {
        if let Value::Table(levels) = &entry.node.value {
            return self.levels(levels, entry).map(Claimed::Levels);
        }
        let named = values::text(&entry.node, &entry.key, self.problems)?;
        let ids = self.subjects.iter().map(|subject| subject.id.as_str());
        if !ids.clone().any(|id| id == named) {
            self.problems
                .report(&entry.node.place, format!("no subject is called `{named}`"))
                .near(named, ids);
            return None;
        }
        Some(Claimed::Subject(named.to_owned()))
    }

    /// Levels in their one spelling, each of which some subject has.
    fn levels(&mut self, table: &Table, side: &TreeEntry) -> Option<BTreeMap<String, Level>> {
        if table.entries.is_empty() {
            self.problems
                .report(&side.node.place, format!("`{}` names no level", side.key))
                .hint("write a subject's name, or levels: { scheduler = \"lab:bfs\" }");
            return None;
        }
        let entries = settable::entries(table, self.catalogue);
        let mut levels = BTreeMap::new();
        for entry in &entries {
            let Some(settable) = Settable::named(&entry.key, self.catalogue) else {
                let known = settable::near(entry, self.catalogue);
                self.problems
                    .report(&entry.place, format!("unknown factor `{}` in a claim", entry.key))
                    .near(&entry.key, known.iter().map(String::as_str))
                    .hint(settable::hint(&entry.key));
                continue;
            };
            let read = self.levels.one(settable, &entry.node, &entry.node.place, self.problems);
            let Some(level) = read.map(|written| written.level) else { continue };
            let mut had: Vec<&str> = Vec::new();
            for known in self.subjects.iter().filter_map(|one| one.levels.get(&entry.key)) {
                if !had.contains(&known.as_str()) {
                    had.push(known.as_str());
                }
            }
            if had.contains(&level.as_str()) {
                levels.insert(entry.key.clone(), level);
                continue;
            }
            let id = &entry.key;
            let hint = if had.is_empty() {
                format!("no subject sets `{id}`")
            } else {
                format!("levels of `{id}` here are {}", had.join(", "))
            };
            self.problems
                .report(&entry.node.place, format!("no subject has {id} = {level}"))
                .near(level.as_str(), had.iter().copied())
                .hint(hint);
        }
        (levels.len() == entries.len()).then_some(levels)
    }

    fn effect(&mut self, table: &Table, item: &Node) -> Option<ClaimedEffect> {
        let written = self.text(table, item, "effect")?;
        let place = table.get("effect").map_or(&item.place, |entry| &entry.node.place);
        let effect = match written.as_str() {
            "better" => Some(ClaimedEffect::Better),
            "worse" => Some(ClaimedEffect::Worse),
            "same" => Some(ClaimedEffect::Same),
            percent => model::parse_percent(percent)
                .ok()
                .filter(|fraction| *fraction > -1.0)
                .map(ClaimedEffect::Change),
        };
        if effect.is_none() {
            self.problems.report(place, format!("`{written}` is not an effect")).hint(
                "write better, worse, same, or the change of the value itself: \"+45%\", \"-20%\"",
            );
        }
        effect
    }

    /// A claim about what nobody runs would stay undecided for ever.
    fn check_asked(&mut self, claim: &Claim, item: &Node) {
        if claim.subject == claim.reference {
            self.problems.report(&item.place, "a claim compares two different subjects");
            return;
        }
        let runs = |subject: &Subject, reference: &Subject| {
            self.asked.workloads.iter().any(|workload| {
                workload.primary.iter().any(|id| claim.metric.includes(id))
                    && claim.workload.as_ref().is_none_or(|label| *label == workload.label)
                    && workload.runs_for(subject)
                    && workload.runs_for(reference)
            })
        };
        // Margins of imported numbers run nowhere, and are asked of all.
        let is_margin =
            claim.workload.as_ref().is_some_and(|label| self.asked.margins.contains(label));
        let is_meant = |(reference, subject): &(&Subject, &Subject)| {
            claim.speaks_of(subject, reference) || claim.speaks_of(reference, subject)
        };
        let pairs = Comparisons::All.pairs(self.subjects);
        let meant: Vec<&(&Subject, &Subject)> =
            pairs.iter().filter(|pair| is_meant(pair)).collect();
        if meant.is_empty() {
            let cause =
                format!("no two subjects here are {} and {}", claim.subject, claim.reference);
            self.problems.report(&item.place, cause).hint(
                "a claim compares two subjects that differ in nothing but the factors it names, and \
                 a control is none of them",
            );
        } else if !is_margin && !meant.iter().any(|(reference, subject)| runs(subject, reference)) {
            let cause = format!("no workload asks `{}` of {}", claim.metric, claim.subject);
            self.problems.report(&item.place, cause);
        }
    }
}
