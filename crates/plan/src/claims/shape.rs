//! How a claim puts several comparisons together: `order`, `over`, `turns`.

use super::Reader;
use crate::settable::Settable;
use contract::document::{Node, Table, TreeEntry, Value, values};
use model::{Claim, ClaimShape, Claimed, ClaimedOver, ClaimedTurn};

/// The key of a turn between workloads.
const WORKLOAD: &str = "workload";
const OVER: [&str; 3] = ["every", "most", "overall"];
/// Keys that name the sides of a claim, which `order` does.
const SIDES: [&str; 3] = ["subject", "reference", "where"];

impl Reader<'_, '_, '_> {
    /// Nothing where something is wrong with it, which is reported.
    pub(super) fn shape(&mut self, table: &Table, item: &Node) -> Option<ClaimShape> {
        let order = match table.get("order") {
            Some(entry) => self.order(table, entry)?,
            None => Vec::new(),
        };
        let over = match table.get("over") {
            Some(entry) => self.over(entry)?,
            None => ClaimedOver::Every,
        };
        let turns = match table.get("turns") {
            Some(entry) => Some(self.turns(entry)?),
            None => None,
        };
        let is_across = table.get("workloads").is_some();
        let is_combined = turns.is_some() || over == ClaimedOver::Overall;
        let cause = match (is_combined, is_across, order.is_empty()) {
            (true, true, _) => {
                "`workloads` are compared one with the next: `turns` and `overall` say nothing of them"
            }
            (_, true, false) => "`workloads` and `order` are two claims",
            (true, _, false) => {
                "an `order` holds step by step: `turns` and `overall` say nothing of it"
            }
            _ if turns.is_some() && over != ClaimedOver::Every => {
                "a turn is one number for each metric: `over` says nothing of it"
            }
            _ => return Some(ClaimShape { order, over, turns }),
        };
        self.problems.report(&item.place, cause).hint("write a claim for each");
        None
    }

    /// Subjects of which each is compared with the next.
    fn order(&mut self, table: &Table, entry: &TreeEntry) -> Option<Vec<String>> {
        let written = values::texts(&entry.node, "order", self.problems)?;
        let mut order: Vec<String> = Vec::new();
        for (id, node) in written {
            let ids =
                || self.subjects.iter().filter(|one| !one.is_control).map(|one| one.id.as_str());
            if !ids().any(|known| known == id) {
                let known: Vec<&str> = ids().collect();
                self.problems
                    .report(&node.place, format!("no subject is called `{id}`"))
                    .near(id, known);
                return None;
            }
            if order.iter().any(|known| known == id) {
                self.problems.report(&node.place, format!("`{id}` stands twice in an order"));
                return None;
            }
            order.push(id.to_owned());
        }
        if order.len() < 2 {
            self.problems
                .report(&entry.node.place, "an order has two subjects at least")
                .hint("order = [\"best\", \"next\", \"last\"]");
            return None;
        }
        if let Some(side) = SIDES.iter().find_map(|key| table.get(key)) {
            let cause = format!("`{}` stands beside `order`, which names the subjects", side.key);
            self.problems.report(&side.place, cause);
            return None;
        }
        Some(order)
    }

    fn over(&mut self, entry: &TreeEntry) -> Option<ClaimedOver> {
        let written = values::text(&entry.node, "over", self.problems)?;
        match written {
            "every" => Some(ClaimedOver::Every),
            "most" => Some(ClaimedOver::Most),
            "overall" => Some(ClaimedOver::Overall),
            other => {
                self.problems
                    .report(&entry.node.place, format!("`{other}` is nothing that a claim holds over"))
                    .near(other, OVER)
                    .hint("every comparison (where nothing is said), most of them, or their mean: overall");
                None
            }
        }
    }

    /// `{ FACTOR = [FROM, TO] }` or `{ workload = [FROM, TO] }`.
    fn turns(&mut self, entry: &TreeEntry) -> Option<ClaimedTurn> {
        let table = values::table(&entry.node, "`turns` of a claim", self.problems)?;
        let hint = "turns = { vcpus = [1, 4] }, or { workload = [\"one\", \"many\"] }";
        let [one] = table.entries.as_slice() else {
            let cause = format!("`turns` names one factor, not {}", table.entries.len());
            self.problems.report(&entry.node.place, cause).hint(hint);
            return None;
        };
        let nodes = match &one.node.value {
            Value::List(nodes) if nodes.len() == 2 => nodes,
            _ => {
                let cause = format!("`{}` turns between two levels", one.key);
                self.problems.report(&one.node.place, cause).hint(hint);
                return None;
            }
        };
        let mut levels = Vec::new();
        for node in nodes {
            levels.push(self.place(one, node)?);
        }
        let levels: [String; 2] = levels.try_into().ok()?;
        if levels[0] == levels[1] {
            self.problems.report(&one.node.place, "nothing turns between a level and itself");
            return None;
        }
        Some(ClaimedTurn { of: one.key.clone(), levels })
    }

    /// A level in its one spelling, or the label of a workload.
    fn place(&mut self, entry: &TreeEntry, node: &Node) -> Option<String> {
        if entry.key == WORKLOAD {
            let label = values::text(node, WORKLOAD, self.problems)?;
            let labels: Vec<&str> =
                self.asked.workloads.iter().map(|workload| workload.label.as_str()).collect();
            if labels.contains(&label) {
                return Some(label.to_owned());
            }
            self.problems
                .report(&node.place, format!("no workload is called `{label}`"))
                .near(label, labels);
            return None;
        }
        let Some(settable) = Settable::named(&entry.key, self.catalogue) else {
            let known: Vec<String> =
                self.subjects.iter().flat_map(|subject| subject.levels.keys().cloned()).collect();
            self.problems
                .report(&entry.place, format!("unknown factor `{}` in a claim", entry.key))
                .near(&entry.key, known.iter().map(String::as_str));
            return None;
        };
        let level = self.levels.one(settable, node, &node.place, self.problems)?.level;
        let has = |subject: &model::Subject| subject.levels.get(&entry.key) == Some(&level);
        if !self.subjects.iter().any(has) {
            let cause = format!("no subject has {} = {level}", entry.key);
            self.problems.report(&node.place, cause);
            return None;
        }
        Some(level.as_str().to_owned())
    }

    /// A turn between places at one of which nobody compares the sides would stay open for ever.
    pub(super) fn check_turns(&mut self, claim: &Claim, table: &Table) {
        let (Some(turn), Some(entry)) = (&claim.shape.turns, table.get("turns")) else { return };
        if turn.of == WORKLOAD {
            if claim.workload.is_some() {
                let cause = "a claim that turns between workloads is about both of them";
                self.problems.report(&entry.place, cause).hint("leave `workload` out");
            }
            return;
        }
        let is_fixed = [&claim.subject, &claim.reference].into_iter().any(|side| match side {
            Claimed::Subject(_) => true,
            Claimed::Levels(levels) => levels.contains_key(&turn.of),
        });
        if is_fixed {
            let cause = format!("a side of the claim has one {} only", turn.of);
            self.problems
                .report(&entry.place, cause)
                .hint("name both sides by other levels: { scheduler = \"lab:bfs\" }");
            return;
        }
        for level in &turn.levels {
            let is_there = |one: &model::Subject, other: &model::Subject| {
                let has = |subject: &model::Subject| {
                    subject.levels.get(&turn.of).is_some_and(|known| known.as_str() == level)
                };
                has(one) && has(other) && claim.speaks_of(one, other)
            };
            let mut subjects = self.subjects.iter();
            if !subjects.any(|one| self.subjects.iter().any(|other| is_there(one, other))) {
                let cause = format!("no two subjects of {} = {level} are its two sides", turn.of);
                self.problems.report(&entry.place, cause);
            }
        }
    }
}
