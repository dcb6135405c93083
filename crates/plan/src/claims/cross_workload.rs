//! `workloads` of a claim: workloads that are compared inside each subject.

use super::Reader;
use contract::document::{Node, Table, TreeEntry, values};
use model::{Claimed, ClaimedMetrics};
use std::collections::BTreeMap;

/// What a claim across workloads speaks of.
pub(super) struct CrossWorkload {
    pub(super) workloads: Vec<String>,
    pub(super) subject: Claimed,
}

impl Reader<'_, '_, '_> {
    /// Each workload is compared with the one before it, inside the subject that the claim
    /// names, or inside each.
    pub(super) fn across(
        &mut self,
        table: &Table,
        item: &Node,
        entry: &TreeEntry,
        metrics: Option<&ClaimedMetrics>,
    ) -> Option<CrossWorkload> {
        for key in ["workload", "reference"] {
            if let Some(other) = table.get(key) {
                self.problems
                    .report(&other.place, format!("`{key}` means nothing beside `workloads`"))
                    .hint("each workload is compared with the one before it, inside each subject");
            }
        }
        let subject = match table.get("subject") {
            Some(named) => self.side(named),
            None => Some(Claimed::Levels(BTreeMap::new())),
        };
        let written = values::texts(&entry.node, "workloads", self.problems)?;
        self.check_count(written.len(), "workloads", entry)?;
        let mut workloads: Vec<String> = Vec::new();
        let mut is_sound = true;
        for (label, node) in &written {
            if workloads.iter().any(|known| known == label) {
                self.problems.report(&node.place, format!("`{label}` stands twice in a claim"));
                is_sound = false;
            } else {
                is_sound &= self.asks(label, node, metrics);
            }
            workloads.push((*label).to_owned());
        }
        if workloads.len() < 2 {
            self.problems
                .report(&entry.node.place, "a claim compares two workloads or more")
                .hint("write workloads = [\"small\", \"large\"]: each against the one before it");
            return None;
        }
        let subject = subject.filter(|_| is_sound)?;
        let runs = |label: &String, one: &&model::Subject| {
            self.asked.workloads.iter().any(|w| w.label == *label && w.runs_for(one))
        };
        let mut meant = self.subjects.iter().filter(|one| !one.is_control && subject.includes(one));
        let is_run = meant.any(|one| {
            let mut pairs = workloads.windows(2);
            pairs.any(|pair| pair.iter().all(|label| runs(label, &one)))
        });
        if !is_run {
            let cause = format!("none of these workloads follow each other for {subject}");
            self.problems.report(&item.place, cause);
            return None;
        }
        Some(CrossWorkload { workloads, subject })
    }

    /// Whether a workload is there and has the metrics as primary ones.
    fn asks(&mut self, label: &str, node: &Node, metrics: Option<&ClaimedMetrics>) -> bool {
        let labels = self.asked.workloads.iter().map(|workload| workload.label.as_str());
        let Some(workload) = self.asked.workloads.iter().find(|one| one.label == label) else {
            self.problems
                .report(&node.place, format!("no workload is called `{label}`"))
                .near(label, labels);
            return false;
        };
        let primary = &workload.primary;
        let ids = metrics.map_or(&[][..], ClaimedMetrics::ids);
        let lacking: Vec<&String> = ids.iter().filter(|id| !primary.contains(id)).collect();
        for id in &lacking {
            self.problems
                .report(
                    &node.place,
                    format!("`{id}` is not a primary metric of the workload `{label}`"),
                )
                .near(id, primary.iter().map(String::as_str))
                .hint(format!("its primary metrics are {}", primary.join(", ")));
        }
        lacking.is_empty()
    }
}
