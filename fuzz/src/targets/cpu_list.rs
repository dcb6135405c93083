//! CPU lists: what is printed reads back as the same set.

use super::{OwnTarget, Reaction, on_text};
use model::CpuList;

pub const TARGET: OwnTarget =
    OwnTarget { name: "cpu-list", words: &["0-3", "-", ",", "8191", "8192", "0"], run };

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let list = text.parse::<CpuList>().ok();
        if let Some(list) = &list {
            assert_eq!(list.to_string().parse::<CpuList>().as_ref(), Ok(list));
            assert_eq!(list.iter().count(), list.len());
        }
        Reaction::of(list.as_ref())
    })
}
