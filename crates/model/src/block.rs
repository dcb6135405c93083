//! The blocks of a plan. There are hundreds of thousands, which name few subjects and workloads:
//! what they have in common is held once.

use crate::fitted_list::fit;
use crate::name_list::KnownNames;
use crate::{NameList, SharedName};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

/// One replicate: every subject once, in a freshly randomised order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// From 0; a block run again after an invalid sitting gets a new index.
    pub index: u32,
    /// The sittings in the order they run.
    #[serde(deserialize_with = "read_sittings")]
    pub sittings: Vec<Sitting>,
}

impl Block {
    /// How many machines boot for it; none on venues that boot nothing.
    pub fn boot_count(&self) -> u64 {
        let last = self.sittings.iter().filter_map(|sitting| sitting.boot).max();
        last.map_or(0, |last| u64::from(last) + 1)
    }
}

/// A block that was added while a campaign ran, and the one that it runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedBlock {
    /// Index of the block that was added.
    pub index: u32,
    /// Index of the block that it runs again.
    pub runs_again: u32,
}

/// All that runs for one subject in one block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitting {
    /// Subject id.
    pub subject: SharedName,
    /// Workload labels in the order they run; the same for all sittings of a block.
    pub workloads: NameList,
    /// Which boot of its block it shares, from 0: neighbouring sittings of one number run in
    /// one boot. Absent on venues that boot nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<u32>,
}

/// Names and lists of names of the sittings that came before.
#[derive(Debug, Default)]
pub struct SharedSittings {
    names: KnownNames,
    lists: BTreeSet<NameList>,
}

impl SharedSittings {
    /// Gives a block what earlier ones name alike, so that all hold it once, and takes room from it
    /// in which nothing stands. What it says stays the same.
    pub fn share(&mut self, block: &mut Block) {
        for sitting in &mut block.sittings {
            self.share_sitting(sitting);
        }
        fit(&mut block.sittings);
    }

    /// Gives a sitting what earlier ones name alike, so that all hold it once.
    pub fn share_sitting(&mut self, sitting: &mut Sitting) {
        self.names.share(&mut sitting.subject);
        match self.lists.get(&sitting.workloads) {
            Some(known) => sitting.workloads.clone_from(known),
            None => {
                sitting.workloads.share(&mut self.names);
                self.lists.insert(sitting.workloads.clone());
            }
        }
    }
}

/// Reads the blocks of a plan, each of which shares what it names with those before it.
pub(crate) fn read_blocks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Block>, D::Error> {
    let mut shared = SharedSittings::default();
    deserializer.deserialize_seq(ListReader::of(|block: &mut Block| shared.share(block)))
}

/// Reads the sittings of a block, of which there may be a million in one.
fn read_sittings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Sitting>, D::Error> {
    let mut shared = SharedSittings::default();
    let share = |sitting: &mut Sitting| shared.share_sitting(sitting);
    deserializer.deserialize_seq(ListReader::of(share))
}

/// Reads a list, each element of which is changed before the next one is read.
struct ListReader<T, F> {
    change: F,
    element: PhantomData<T>,
}

impl<T, F: FnMut(&mut T)> ListReader<T, F> {
    fn of(change: F) -> Self {
        Self { change, element: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(&mut T)> Visitor<'de> for ListReader<T, F> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while let Some(mut element) = list.next_element::<T>()? {
            (self.change)(&mut element);
            elements.push(element);
        }
        fit(&mut elements);
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use crate::fixtures::PLAN;

    const BLOCKS: &str = r#"[{"index":0,"sittings":[{"subject":"a","workloads":["v","w"]},{"subject":"b","workloads":["v","w"],"boot":1}]},{"index":1,"sittings":[{"subject":"b","workloads":["w","v"]},{"subject":"a","workloads":[]}]}]"#;

    /// The plan of the fixtures with these blocks.
    fn read(blocks: &str) -> serde_json::Result<Plan> {
        let mut plan: serde_json::Value = serde_json::from_str(PLAN).unwrap();
        plan["blocks"] = serde_json::from_str(blocks).unwrap();
        serde_json::from_str(&plan.to_string())
    }

    #[test]
    fn blocks_that_are_read_hold_once_what_they_name_alike_and_are_written_as_they_were() {
        let blocks = read(BLOCKS).unwrap().blocks;
        assert_eq!(serde_json::to_string(&blocks).unwrap(), BLOCKS);
        let [one, other] = [0, 1].map(|block: usize| &blocks[block].sittings);
        let is_one = |one: &str, other: &str| std::ptr::eq(one, other);
        assert!(is_one(&one[0].subject, &other[1].subject));
        assert!(is_one(&one[1].subject, &other[0].subject));
        assert!(std::ptr::eq(&*one[0].workloads, &*one[1].workloads));
        // Another list, of the same names.
        assert!(!std::ptr::eq(&*one[0].workloads, &*other[0].workloads));
        assert!(is_one(&one[0].workloads[0], &other[0].workloads[1]));
        assert_eq!(blocks.capacity(), 2);
        assert!(blocks.iter().all(|block| block.sittings.capacity() == 2));
    }

    #[test]
    fn a_block_shares_what_it_names_with_those_before_it_and_stays_what_it_is() {
        let sitting = |subject: &str| Sitting {
            subject: subject.into(),
            workloads: ["v", "w"].into_iter().collect(),
            boot: None,
        };
        let made = |index| Block { index, sittings: vec![sitting("a"), sitting("b")] };
        let mut blocks = [made(0), made(1)];
        let mut shared = SharedSittings::default();
        blocks.iter_mut().for_each(|block| shared.share(block));
        assert_eq!(blocks, [made(0), made(1)]);
        let [one, other] = &blocks;
        assert!(std::ptr::eq(&*one.sittings[0].workloads, &*other.sittings[1].workloads));
        let is_one = std::ptr::eq(&*one.sittings[0].subject, &*other.sittings[0].subject);
        assert!(is_one, "equal names are held once");
    }

    #[test]
    fn a_sitting_holds_no_more_than_two_pointers_and_its_boot() {
        assert_eq!(size_of::<Sitting>(), 2 * size_of::<usize>() + size_of::<Option<u32>>());
    }

    #[test]
    fn blocks_and_sittings_that_are_no_lists_are_refused_by_what_is_expected() {
        for (blocks, told) in [
            ("7", "invalid type: integer `7`, expected a sequence"),
            (r#"[{"index":0,"sittings":"x"}]"#, "invalid type: string \"x\", expected a sequence"),
            (r#"[{"index":0}]"#, "missing field `sittings`"),
            (
                r#"[{"index":0,"sittings":[{"subject":1,"workloads":[]}]}]"#,
                "invalid type: integer `1`, expected a string",
            ),
        ] {
            let error = read(blocks).unwrap_err().to_string();
            assert!(error.starts_with(told), "{blocks}: {error}");
        }
    }
}
