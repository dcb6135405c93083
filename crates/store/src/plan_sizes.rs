//! How much a plan's text holds of what is limited, counted before any of it is held.

use crate::plan_parts::{PlanParts, read_parts};
use crate::unread_json::most_unread;
use model::{OverLimit, PLAN_METRICS, PLAN_SUBJECTS, PLAN_TEXTS, PLAN_TRIALS};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Read;

/// Holds what a plan's text holds against its limits. Text that is no plan is counted as far as it can
/// be read: its parser holds as much of it before it says what is wrong.
///
/// # Errors
/// The first limit that it is beyond.
pub(crate) fn check(text: &[u8]) -> Result<(), OverLimit> {
    let mut sizes = PlanSizes::default();
    let walk = Walk { node: PlanNode::Plan, sizes: &mut sizes };
    // What cannot be read ends the walk, but not always its parser.
    let walked = walk.deserialize(&mut serde_json::Deserializer::from_slice(text));
    sizes.texts += most_unread(text, walked);
    sizes.check()
}

/// Whether a plan's text can be read to its end and is within its limits. It is never held whole.
pub(crate) fn is_within(text: &mut dyn Read) -> bool {
    let mut counted = CountedParts::default();
    read_parts(text, &mut counted).is_some() && counted.sizes.check().is_ok()
}

/// What there is of what is limited in the parts of a plan that were read.
#[derive(Debug, Default)]
struct CountedParts {
    sizes: PlanSizes,
    /// Trials of the blocks before the one that is read.
    trials_before: u64,
}

impl CountedParts {
    fn count(&mut self, node: PlanNode, text: &[u8]) -> Option<()> {
        let walk = Walk { node, sizes: &mut self.sizes };
        walk.deserialize(&mut serde_json::Deserializer::from_slice(text)).ok()
    }
}

impl PlanParts for CountedParts {
    fn take_sitting(&mut self, text: &[u8]) -> Option<()> {
        let trials_before = self.sizes.trials;
        self.count(PlanNode::Sitting, text)?;
        self.sizes.add(PlanNode::Sittings, trials_before);
        Some(())
    }

    fn take_block(&mut self, text: &[u8]) -> Option<()> {
        self.count(PlanNode::Block, text)?;
        self.sizes.add(PlanNode::Blocks, self.trials_before);
        self.trials_before = self.sizes.trials;
        Some(())
    }

    fn take_plan(&mut self, text: &[u8]) -> Option<()> {
        self.count(PlanNode::Plan, text)
    }
}

/// How many there are of what is limited.
#[derive(Debug, Default)]
struct PlanSizes {
    subjects: u64,
    metrics: u64,
    trials: u64,
    /// Values of any kind elsewhere.
    texts: u64,
}

/// Where in a plan a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanNode {
    Plan,
    Subjects,
    Workloads,
    Workload,
    Metrics,
    Blocks,
    Block,
    Sittings,
    Sitting,
    Trials,
    /// What is counted by what holds it, and has a size of its own.
    Counted,
    /// Anywhere else.
    Text,
}

impl PlanNode {
    /// Where the value of a key stands.
    fn of_key(self, key: &str) -> Self {
        match (self, key) {
            (Self::Plan, "subjects") => Self::Subjects,
            (Self::Plan, "workloads") => Self::Workloads,
            (Self::Plan, "blocks") => Self::Blocks,
            (Self::Workload, "metrics") => Self::Metrics,
            (Self::Block, "sittings") => Self::Sittings,
            (Self::Sitting, "workloads") => Self::Trials,
            (Self::Block | Self::Sitting, _) => Self::Counted,
            _ => Self::Text,
        }
    }

    /// Where an element of a list stands.
    fn of_element(self) -> Self {
        match self {
            Self::Workloads => Self::Workload,
            Self::Blocks => Self::Block,
            Self::Sittings => Self::Sitting,
            Self::Metrics | Self::Trials => Self::Counted,
            _ => Self::Text,
        }
    }

    /// Whether its keys tell where values stand.
    fn has_known_keys(self) -> bool {
        matches!(self, Self::Plan | Self::Workload | Self::Block | Self::Sitting)
    }
}

impl PlanSizes {
    fn check(&self) -> Result<(), OverLimit> {
        PLAN_SUBJECTS.check(self.subjects)?;
        PLAN_METRICS.check(self.metrics)?;
        PLAN_TRIALS.check(self.trials)?;
        PLAN_TEXTS.check(self.texts)
    }

    /// Counts an element of a list, before which there were so many trials. A block or a sitting
    /// without any is held, too, and counts as one.
    fn add(&mut self, list: PlanNode, trials_before: u64) {
        let is_bare = self.trials == trials_before;
        match list {
            PlanNode::Subjects => self.subjects += 1,
            PlanNode::Metrics => self.metrics += 1,
            PlanNode::Trials => self.trials += 1,
            PlanNode::Blocks | PlanNode::Sittings if is_bare => self.trials += 1,
            _ => {}
        }
    }
}

/// Counts a value and all that is in it.
struct Walk<'s> {
    node: PlanNode,
    sizes: &'s mut PlanSizes,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.node {
            PlanNode::Counted => {
                IgnoredAny::deserialize(deserializer)?;
                return Ok(());
            }
            PlanNode::Text => self.sizes.texts += 1,
            _ => {}
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let node = self.node.of_element();
        loop {
            let trials_before = self.sizes.trials;
            let element = list.next_element_seed(Walk { node, sizes: &mut *self.sizes })?;
            if element.is_none() {
                return Ok(());
            }
            self.sizes.add(self.node, trials_before);
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<(), A::Error> {
        loop {
            let key = if self.node.has_known_keys() {
                table.next_key::<String>()?.map(|key| self.node.of_key(&key))
            } else {
                table.next_key::<IgnoredAny>()?.map(|_| PlanNode::Text)
            };
            let Some(node) = key else { return Ok(()) };
            table.next_value_seed(Walk { node, sizes: &mut *self.sizes })?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of lists of so many subjects, metrics of two workloads, and workloads of two blocks' sittings.
    fn checked(subjects: usize, metrics: usize, workloads: usize) -> Result<(), &'static str> {
        let list = |count: usize, one: &str| format!("[{}]", vec![one; count].join(","));
        let workload = format!("{{\"label\":\"w\",\"metrics\":{}}}", list(metrics, "{}"));
        let sitting = format!("{{\"workloads\":{}}}", list(workloads, "\"w\""));
        let block = format!("{{\"sittings\":[{sitting}]}}");
        let text = format!(
            "{{\"format\":\"f\",\"subjects\":{},\"workloads\":{},\"blocks\":{}}}",
            list(subjects, "{\"id\":\"s\"}"),
            list(2, &workload),
            list(2, &block),
        );
        check(text.as_bytes()).map_err(|over| over.limit.name)
    }

    #[test]
    fn each_list_is_counted_before_it_is_held() {
        assert_eq!(checked(1_000, 50_000, 1_000_000), Ok(()));
        assert_eq!(checked(1_001, 1, 1), Err("PLAN_SUBJECTS"));
        assert_eq!(checked(1, 50_001, 1), Err("PLAN_METRICS"));
        assert_eq!(checked(1, 1, 1_000_001), Err("PLAN_TRIALS"));
        // What a block or a sitting without workloads takes is no less.
        for bare in ["{}", "{\"sittings\":[{}]}"] {
            let blocks = format!("{{\"blocks\":[{}]}}", vec![bare; 2_000_001].join(","));
            let beyond = check(blocks.as_bytes());
            assert_eq!(beyond.map_err(|over| over.limit.name), Err("PLAN_TRIALS"), "{bare}");
        }
        for other in ["", "[]", "{}", "{\"subjects\":1}", "{\"subjects\":[1,"] {
            assert_eq!(check(other.as_bytes()), Ok(()), "{other}");
        }
    }

    #[test]
    fn a_text_that_is_read_in_parts_is_within_its_limits_only_if_all_of_it_was_read() {
        let blocks = |count: usize| format!("{{\"blocks\":[{}]}}", vec!["{}"; count].join(","));
        let most = PLAN_TRIALS.most as usize;
        assert!(is_within(&mut blocks(most).as_bytes()));
        assert!(!is_within(&mut blocks(most + 1).as_bytes()));
        let sitting = format!("{{\"workloads\":[{}]}}", vec!["0"; most - 2].join(","));
        let sittings =
            |more: &str| format!("{{\"blocks\":[{{\"sittings\":[{sitting}{more}]}},{{}}]}}");
        assert!(is_within(&mut sittings(",{}").as_bytes()));
        assert!(!is_within(&mut sittings(",{},{}").as_bytes()));
        for unread in ["", "{\"subjects\":[1,", "{\"a\":1e999}", "{\"a\":\"\\ud800\"}"] {
            assert!(!is_within(&mut unread.as_bytes()), "{unread}");
        }
    }

    #[test]
    fn what_else_a_plan_holds_is_counted_wherever_it_stands() {
        let list = |count: usize| format!("[{}]", vec!["\"\""; count].join(","));
        let found = |before: &str, count: usize, behind: &str| {
            let text = format!("{before}{}{behind}", list(count));
            check(text.as_bytes()).map_err(|over| over.limit.name)
        };
        // The list itself counts, and so do those that hold it.
        for (before, behind, more) in [
            ("{\"notes\":", "}", 1),
            ("{\"options\":", "}", 1),
            ("{\"probes\":", "}", 1),
            ("{\"claims\":[{\"workloads\":", "}]}", 3),
            ("{\"workloads\":[{\"primary\":", "}]}", 1),
            ("{\"subjects\":[{\"levels\":{\"a\":", "}}]}", 3),
            ("{\"imported\":{\"parts\":", "}}", 2),
        ] {
            let most = PLAN_TEXTS.most as usize - more;
            assert_eq!(found(before, most, behind), Ok(()), "{before}");
            assert_eq!(found(before, most + 1, behind), Err("PLAN_TEXTS"), "{before}");
        }
        // What is wrong at its end does not hide what is before it.
        assert_eq!(found("{\"notes\":", 1_000_000, ",!"), Err("PLAN_TEXTS"));
    }

    #[test]
    fn what_only_its_parser_passes_over_hides_nothing_behind_it() {
        #[derive(Deserialize)]
        struct Probes {
            probes: Vec<String>,
        }
        let count = PLAN_TEXTS.most as usize + 1;
        let list = vec!["\"\""; count].join(",");
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for passed_over in ["1e999", "\"\\ud800\"", &deep] {
            let text = format!("{{\"unknown\":{passed_over},\"probes\":[{list}]}}");
            let read: Probes = serde_json::from_str(&text).unwrap();
            assert_eq!(read.probes.len(), count, "{passed_over}");
            let checked = check(text.as_bytes()).map_err(|over| over.limit.name);
            assert_eq!(checked, Err("PLAN_TEXTS"), "{passed_over}");
        }
    }
}
