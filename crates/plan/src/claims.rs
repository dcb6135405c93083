//! `[[claims]]`: what others have published, to be confirmed or refuted.

use crate::document::{Entry, Node, Table, Value};
use crate::problems::Problems;
use crate::settings::TITLE_LIMIT;
use crate::values;
use crate::workloads::Planned;
use model::{Claim, ClaimedEffect, Comparisons};

const KEYS: [&str; 7] = ["says", "source", "workload", "metric", "subject", "reference", "effect"];
/// More than this nobody reads.
const CLAIM_LIMIT: usize = 64;

/// Reads all claims.
pub(crate) fn read(
    table: &Table,
    workloads: &[Planned],
    subject_ids: &[&str],
    comparisons: Comparisons,
    problems: &mut Problems,
) -> Vec<Claim> {
    let Some(entry) = table.get("claims") else { return Vec::new() };
    let Value::List(items) = &entry.node.value else {
        let cause = format!("`claims` is a list of tables, not {}", entry.node.kind());
        problems.report(&entry.place, cause).hint("write [[claims]] with two brackets");
        return Vec::new();
    };
    if items.len() > CLAIM_LIMIT {
        let cause = format!("{} claims; there may be {CLAIM_LIMIT}", items.len());
        problems.report(&entry.place, cause);
        return Vec::new();
    }
    let mut reader = Reader { workloads, subject_ids, comparisons, problems };
    items.iter().filter_map(|item| reader.claim(item)).collect()
}

struct Reader<'a, 'p> {
    workloads: &'a [Planned],
    subject_ids: &'a [&'a str],
    comparisons: Comparisons,
    problems: &'p mut Problems,
}

impl Reader<'_, '_> {
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
        let metric = self.text(table, item, "metric");
        let workload = metric.as_ref().and_then(|metric| self.workload(table, item, metric));
        let subject = self.subject(table, item);
        let reference = self.reference(table);
        let effect = self.effect(table, item);
        let claim = Claim {
            says: says?,
            source,
            workload: workload?,
            metric: metric?,
            subject: subject?,
            reference: reference?,
            effect: effect?,
        };
        self.check_asked(&claim, item);
        Some(claim)
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
    fn line(&mut self, entry: &Entry) -> Option<String> {
        let text = values::text(&entry.node, &entry.key, self.problems)?;
        if text.chars().count() > TITLE_LIMIT || text.chars().any(char::is_control) {
            let cause = format!("`{}` is one line of at most {TITLE_LIMIT} characters", entry.key);
            self.problems.report(&entry.node.place, cause);
            return None;
        }
        Some(text.to_owned())
    }

    /// The workload it names, or the only one that has the metric as a primary one.
    fn workload(&mut self, table: &Table, item: &Node, metric: &str) -> Option<String> {
        let named = match table.get("workload") {
            Some(entry) => Some((values::text(&entry.node, "workload", self.problems)?, entry)),
            None => None,
        };
        let asked: Vec<&str> = self
            .workloads
            .iter()
            .filter(|workload| workload.plan.primary.iter().any(|known| known == metric))
            .map(|workload| workload.plan.label.as_str())
            .collect();
        let metrics = self.workloads.iter().flat_map(|workload| &workload.plan.primary);
        let metrics: Vec<&str> = metrics.map(String::as_str).collect();
        match (named, asked.as_slice()) {
            (Some((label, _)), labels) if labels.contains(&label) => Some(label.to_owned()),
            (None, [only]) => Some((*only).to_owned()),
            (Some((label, entry)), _) => {
                self.problems
                    .report(
                        &entry.node.place,
                        format!("`{metric}` is not a primary metric of a workload `{label}`"),
                    )
                    .near(label, self.workloads.iter().map(|w| w.plan.label.as_str()))
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
            (None, several) => {
                self.problems
                    .report(&item.place, format!("several workloads have `{metric}`"))
                    .hint(format!("say which: workload = \"{}\"", several[0]));
                None
            }
        }
    }

    fn subject(&mut self, table: &Table, item: &Node) -> Option<String> {
        let named = self.text(table, item, "subject")?;
        let place = table.get("subject").map_or(&item.place, |entry| &entry.node.place);
        self.known(&named, place).then_some(named)
    }

    /// What it was compared with; the experiment's reference where not said.
    fn reference(&mut self, table: &Table) -> Option<String> {
        let Some(entry) = table.get("reference") else {
            return self.subject_ids.first().map(|id| (*id).to_owned());
        };
        let named = values::text(&entry.node, "reference", self.problems)?.to_owned();
        self.known(&named, &entry.node.place).then_some(named)
    }

    fn known(&mut self, id: &str, place: &crate::document::Place) -> bool {
        let is_known = self.subject_ids.contains(&id);
        if !is_known {
            self.problems
                .report(place, format!("no subject is called `{id}`"))
                .near(id, self.subject_ids.iter().copied());
        }
        is_known
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

    /// A claim about two subjects that are not compared would stay undecided for ever.
    fn check_asked(&mut self, claim: &Claim, item: &Node) {
        let pair = [claim.subject.as_str(), claim.reference.as_str()];
        if pair[0] == pair[1] {
            self.problems.report(&item.place, "a claim compares two different subjects");
            return;
        }
        let first = self.subject_ids.first().copied().unwrap_or_default();
        if self.comparisons == Comparisons::Reference && !pair.contains(&first) {
            self.problems
                .report(&item.place, format!("{} and {} are not compared", pair[0], pair[1]))
                .hint("write comparisons = \"all\", or claim something about the reference");
        }
    }
}
