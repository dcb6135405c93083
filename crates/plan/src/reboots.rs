//! `boots`: blocks on the machine itself that are spread over several boots of it.

use contract::Footprint;
use contract::document::{ExperimentProblems, Table, values};
use model::Pace;

/// Number of boots that the blocks are spread over; none where whatever boot there is will do.
pub(crate) fn read(
    table: &Table,
    footprint: Footprint,
    pace: Option<Pace>,
    blocks: u32,
    problems: &mut ExperimentProblems,
) -> Option<u32> {
    let entry = table.get("boots")?;
    let boots = values::count(&entry.node, "boots", 1..=u64::from(u32::MAX), problems)?;
    let boots = u32::try_from(boots).ok().filter(|boots| *boots > 1)?;
    let (cause, hint) = if footprint != Footprint::Knobs {
        ("`boots` is about the machine itself, and no trial runs on it here", "remove `boots`")
    } else if pace.is_some() {
        ("`boots` and `duration` exclude each other", "a soak campaign goes on in one boot")
    } else if boots > blocks {
        ("each boot runs a block at least", "use no more boots than blocks")
    } else {
        return Some(boots);
    };
    problems.report(&entry.node.place, cause).hint(hint);
    None
}
