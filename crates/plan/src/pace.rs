//! `duration` and `every`: campaigns that go on for a time, with a block each hour.

use crate::limits::{BLOCK_LIMIT, LEAST_BLOCKS};
use contract::document::{ExperimentProblems, SourceLocation, Table, TreeEntry, values};
use model::Pace;

const HOUR_NS: u64 = 3_600_000_000_000;
/// Nobody waits for more than a month.
const LONGEST_NS: u64 = 30 * 24 * HOUR_NS;
/// A block is seldom shorter; it bounds how often the clock is looked at.
const SHORTEST_NS: u64 = 100_000_000;

/// What the keys `duration`, `every` and `blocks` say together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Paced {
    /// When blocks begin, where the campaign goes on for a time.
    pub(crate) pace: Option<Pace>,
    /// How many there are then.
    pub(crate) blocks: Option<u32>,
}

/// Reads them. A key of the command line wins over one of the file that excludes it: it was
/// written to change the experiment.
pub(crate) fn read(table: &Table, problems: &mut ExperimentProblems) -> Paced {
    let (duration, every) = (table.get("duration"), table.get("every"));
    let every_ns = match every {
        None => Some(HOUR_NS),
        Some(entry) => values::duration(&entry.node, "every", SHORTEST_NS..=LONGEST_NS, problems),
    };
    let Some(duration) = duration else {
        if let Some(every) = every {
            problems
                .report(
                    &every.place,
                    "`every` says when blocks begin, and no `duration` says how long",
                )
                .hint("add duration = \"24h\", or leave `every` out");
        }
        return Paced::default();
    };
    let duration_ns =
        values::duration(&duration.node, "duration", SHORTEST_NS..=LONGEST_NS, problems);
    if let Some(blocks) = table.get("blocks") {
        match (is_option(blocks), is_option(duration)) {
            (true, false) => return Paced::default(),
            (false, true) => {}
            _ => {
                problems
                    .report(&duration.place, "`duration` and `blocks` exclude each other")
                    .hint("a campaign goes on for a time, or for a number of blocks");
                return Paced::default();
            }
        }
    }
    let (Some(duration_ns), Some(every_ns)) = (duration_ns, every_ns) else {
        return Paced::default();
    };
    let pace = Pace { duration_ns, every_ns };
    Paced { pace: Some(pace), blocks: count(pace, &duration.place, problems) }
}

/// As many blocks as begin and could end in the time.
fn count(pace: Pace, place: &SourceLocation, problems: &mut ExperimentProblems) -> Option<u32> {
    let blocks = pace.duration_ns / pace.every_ns;
    let makes = format!(
        "a block every {} for {} makes {blocks}",
        Pace::words(pace.every_ns),
        Pace::words(pace.duration_ns)
    );
    if blocks < u64::from(LEAST_BLOCKS) {
        problems
            .report(place, format!("{makes}; a trend needs at least {LEAST_BLOCKS}"))
            .hint("give a longer `duration`, or a shorter time with `every`");
    } else if blocks > BLOCK_LIMIT {
        problems
            .report(place, format!("{makes}; the limit EXPERIMENT_BLOCKS is {BLOCK_LIMIT} blocks"))
            .hint("give a shorter `duration`, or a longer time with `every`");
    }
    u32::try_from(blocks).ok()
}

fn is_option(entry: &TreeEntry) -> bool {
    matches!(entry.place, SourceLocation::Option(_))
        || matches!(entry.node.place, SourceLocation::Option(_))
}

/// What a plan says of its blocks' beginnings, one of which is expected to take `block_ns`.
pub(crate) fn note(pace: Pace, blocks: u32, block_ns: u64) -> String {
    let every = Pace::words(pace.every_ns);
    if block_ns <= pace.every_ns {
        let last = Pace::words(pace.every_ns * u64::from(blocks.saturating_sub(1)));
        return format!(
            "a block begins every {every}: the first at once, the last of {blocks} after {last}"
        );
    }
    let seconds = block_ns.div_ceil(1_000_000_000);
    format!(
        "a block is expected to take {seconds}s, longer than every = {every}: blocks follow each \
         other without a pause, and all {blocks} take longer than {}",
        Pace::words(pace.duration_ns)
    )
}
