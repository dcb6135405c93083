//! Soak campaigns: a duration in place of a number of blocks.

use crate::{EXPERIMENT, plan, request};
use model::{Pace, Plan};
use plan::{PlanRequest, render_problems};

const HOUR_NS: u64 = 3_600_000_000_000;

fn soak(keys: &str) -> String {
    EXPERIMENT.replace("blocks = 10", keys)
}

fn planned(keys: &str) -> Plan {
    plan(request(&soak(keys))).unwrap()
}

fn with(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_duration_makes_a_block_each_hour_and_says_when() {
    let day = planned("duration = \"24h\"");
    assert_eq!(day.format, "schedlab.plan/4");
    assert_eq!(day.pace, Some(Pace { duration_ns: 24 * HOUR_NS, every_ns: HOUR_NS }));
    assert_eq!(day.blocks.len(), 24);
    let last_ns = day.block_expected_ns(&day.blocks[23]);
    assert_eq!(day.expected_ns(), 23 * HOUR_NS + last_ns, "pauses are part of it");
    let note = "a block begins every 1h: the first at once, the last of 24 after 23h";
    assert_eq!(day.notes, [note]);
    let often = planned("duration = \"90min\"\nevery = \"10min\"");
    assert_eq!((often.blocks.len(), often.pace.unwrap().every_ns), (9, HOUR_NS / 6));
    // Order and seed are those of any campaign of so many blocks.
    let ordinary = planned("blocks = 24");
    assert_eq!((ordinary.format.as_str(), ordinary.pace), ("schedlab.plan/3", None));
    assert_eq!(ordinary.blocks, day.blocks);
    assert_ne!(ordinary.digest, day.digest, "a campaign without pauses is another one");
}

#[test]
fn blocks_that_take_longer_than_their_time_are_told_before_they_run() {
    let tight = planned("duration = \"60s\"\nevery = \"10s\"");
    let block_ns = tight.block_expected_ns(&tight.blocks[0]);
    assert!(block_ns > 10_000_000_000, "{block_ns}");
    assert_eq!(tight.expected_ns(), 6 * block_ns);
    let [note] = &tight.notes[..] else { panic!("{:?}", tight.notes) };
    assert!(note.contains("longer than every = 10s: blocks follow each other"), "{note}");
    assert!(note.contains("all 6 take longer than 1min"), "{note}");
}

#[test]
fn quick_leaves_the_pauses_out() {
    let text = soak("duration = \"24h\"");
    let quick = plan(PlanRequest { is_quick: true, ..request(&text) }).unwrap();
    assert_eq!((quick.blocks.len(), quick.pace.unwrap().every_ns), (6, 0));
    assert!(quick.expected_ns() < HOUR_NS / 10, "{}", quick.expected_ns());
    let note = "--quick: blocks follow each other without a pause, and not every 1h: what takes \
                hours to show cannot show";
    assert!(quick.notes.iter().any(|known| known == note), "{:?}", quick.notes);
    assert!(quick.notes.iter().all(|note| !note.contains("begins every")), "{:?}", quick.notes);
}

#[test]
fn a_budget_cuts_the_time_that_it_goes_on() {
    let text = soak("duration = \"24h\"");
    let within = |budget_ns| plan(PlanRequest { budget_ns: Some(budget_ns), ..request(&text) });
    let half = within(12 * HOUR_NS).unwrap();
    assert_eq!(half.blocks.len(), 12);
    assert!(half.expected_ns() <= 12 * HOUR_NS && half.subjects[1].is_control);
    let problems = within(4 * HOUR_NS).unwrap_err();
    assert_eq!(problems[0].cause, "even 5 blocks need 18000s");
    let told = render_problems(&problems, "soak.toml", &text);
    assert!(told.contains("or give a shorter `every`"), "{told}");
}

#[test]
fn the_command_line_wins_over_the_key_that_it_excludes() {
    let text = soak("duration = \"24h\"\nevery = \"30min\"");
    let fixed = with(&[("blocks", "3")]);
    let fixed = plan(PlanRequest { overrides: &fixed, ..request(&text) }).unwrap();
    assert_eq!((fixed.blocks.len(), fixed.pace), (3, None));
    let adaptive = soak("blocks = [6, 10]");
    let longer = with(&[("duration", "6h"), ("every", "20min")]);
    let longer = plan(PlanRequest { overrides: &longer, ..request(&adaptive) }).unwrap();
    assert_eq!((longer.blocks.len(), longer.looks.len()), (18, 0));
    let both = with(&[("duration", "6h"), ("blocks", "8")]);
    assert!(plan(PlanRequest { overrides: &both, ..request(&adaptive) }).is_err());
}
