//! How much a plan's text holds of what is limited, counted before any of it is held.

use model::{OverLimit, PLAN_METRICS, PLAN_SUBJECTS, PLAN_TRIALS};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Holds the lists of a plan's text against their limits. Text that is no plan is passed over: its
/// parser says what is wrong with it.
///
/// # Errors
/// The first limit that it is beyond.
pub(crate) fn check(text: &[u8]) -> Result<(), OverLimit> {
    let Ok(sizes) = serde_json::from_slice::<PlanSizes>(text) else { return Ok(()) };
    PLAN_SUBJECTS.check(sizes.subjects.0)?;
    PLAN_METRICS.check(sizes.workloads.0)?;
    PLAN_TRIALS.check(sizes.blocks.0)
}

#[derive(Deserialize)]
struct PlanSizes {
    subjects: Total<IgnoredAny>,
    workloads: Total<WorkloadSize>,
    blocks: Total<BlockSize>,
}

#[derive(Deserialize)]
struct WorkloadSize {
    metrics: Total<IgnoredAny>,
}

#[derive(Deserialize)]
struct BlockSize {
    sittings: Total<SittingSize>,
}

#[derive(Deserialize)]
struct SittingSize {
    workloads: Total<IgnoredAny>,
}

/// How many there are of something in the elements of a list.
struct Total<T>(u64, PhantomData<T>);

/// How many of them an element has.
trait Size {
    fn size(&self) -> u64;
}

impl Size for IgnoredAny {
    fn size(&self) -> u64 {
        1
    }
}

impl Size for WorkloadSize {
    fn size(&self) -> u64 {
        self.metrics.0
    }
}

impl Size for BlockSize {
    fn size(&self) -> u64 {
        self.sittings.0
    }
}

impl Size for SittingSize {
    fn size(&self) -> u64 {
        self.workloads.0
    }
}

impl<'de, T: Size + Deserialize<'de>> Deserialize<'de> for Total<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: Size + Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Total<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Total<T>, A::Error> {
                let mut count: u64 = 0;
                while let Some(element) = list.next_element::<T>()? {
                    count = count.saturating_add(element.size());
                }
                Ok(Total(count, PhantomData))
            }
        }

        deserializer.deserialize_seq(List(PhantomData))
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
        assert_eq!(checked(1_000, 250_000, 2_000_000), Ok(()));
        assert_eq!(checked(1_001, 1, 1), Err("PLAN_SUBJECTS"));
        assert_eq!(checked(1, 250_001, 1), Err("PLAN_METRICS"));
        assert_eq!(checked(1, 1, 2_000_001), Err("PLAN_TRIALS"));
        for other in ["", "[]", "{}", "{\"subjects\":1}", "{\"subjects\":[1,"] {
            assert_eq!(check(other.as_bytes()), Ok(()), "{other}");
        }
    }
}
