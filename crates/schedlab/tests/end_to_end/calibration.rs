//! Our own statistics against their targets, through the real planner and judge.

use crate::bench::{Bench, errors, wait_until};
use model::CaveatCode;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::process::Stdio;

const TABLE: &str = include_str!("../../../../docs/calibration.md");
const METHOD: &str = include_str!("../../../../docs/method.md");
const MANUAL: &str = include_str!("../../../../docs/manual/statistics.md");
const DECISION: &str = include_str!("../../../../docs/adr/0027-orders-are-serially-balanced.md");

/// What a row is about, without what was counted and whether it holds.
#[derive(Debug, Clone, PartialEq)]
struct RowHead<'a> {
    /// Its number, where it has one.
    target: &'a str,
    name: &'a str,
    limit: &'a str,
}

/// `8  name   1.7 %  [  1.5,   2.0]  at most 5.0 %     holds`; none of a line that is no row.
fn head(line: &str) -> Option<RowHead<'_>> {
    let (counted, rest) = line.rsplit_once("  [")?;
    let (_, judged) = rest.split_once(']')?;
    let (target, named) = counted.split_at_checked(4)?;
    let (name, _) = named.strip_suffix(" %")?.rsplit_once(' ')?;
    let verdicts = ["holds", "MISSED", "too few to refuse"];
    let limit = verdicts.into_iter().find_map(|word| judged.strip_suffix(word));
    Some(RowHead {
        target: target.trim(),
        name: name.trim(),
        limit: limit.unwrap_or(judged).trim(),
    })
}

fn heads(table: &str) -> Vec<RowHead<'_>> {
    table.lines().filter_map(head).collect()
}

fn missed(table: &str) -> Vec<&str> {
    table.lines().filter(|line| line.ends_with("MISSED")).collect()
}

#[test]
fn no_row_of_the_document_misses_its_target_and_the_method_says_so() {
    assert_eq!(missed(TABLE), [""; 0]);
    assert!(TABLE.contains("\nfull calibration, 20000 simulated campaigns in each row; "));
    assert!(!TABLE.contains("too few to refuse"), "no row holds for want of campaigns");
    let (_, told) = METHOD.split_once("<a id=\"m-missed\"></a>").unwrap();
    let told = told.lines().next().unwrap_or_default();
    assert!(told.contains("None does"), "{told}");
}

/// So many campaigns of each row show a fault that is gross; a night counts as many as `--quick`.
#[test]
fn a_calibration_of_few_campaigns_misses_no_target() {
    misses_no_target(&["calibrate", "--quick", "--repetitions", "20"]);
}

#[test]
fn a_quick_calibration_misses_no_target() {
    misses_no_target(&["calibrate", "--quick"]);
}

fn misses_no_target(arguments: &[&str]) {
    let bench = Bench::new();
    let output = bench.run(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(missed(&text), [""; 0]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for target in 1..=13 {
        let begins = format!("{target:>2}  ");
        assert!(text.lines().any(|line| line.starts_with(&begins)), "{target} in {text}");
    }
}

#[test]
fn a_row_is_its_target_its_name_and_its_limit_whatever_was_counted() {
    let of = |target, name, limit| Some(RowHead { target, name, limit });
    for (line, expected) in [
        (
            " 3  power at +2 %, S1, 10 blocks    89.3 %  [ 88.7,  89.8]  at least 85.0 %   holds",
            of("3", "power at +2 %, S1, 10 blocks", "at least 85.0 %"),
        ),
        (
            "13  a table     100.0 %  [100.0, 100.0]  at most 6.5 %     MISSED",
            of("13", "a table", "at most 6.5 %"),
        ),
        (
            " 2  naive, S1     100.0 %  [ 13.1, 100.0]  at least 25.0 %   too few to refuse",
            of("2", "naive, S1", "at least 25.0 %"),
        ),
        (
            "    naive: means differ by 2 %, S1   4.3 %  [  3.6,   5.1]  for comparison",
            of("", "naive: means differ by 2 %, S1", "for comparison"),
        ),
        ("full calibration, 20000 simulated campaigns; [99 % interval of the count]", None),
    ] {
        assert_eq!(head(line), expected, "{line}");
    }
}

#[test]
fn the_document_has_the_rows_that_the_command_prints() {
    let bench = Bench::new();
    // Which rows there are does not depend on how many campaigns are counted.
    let output = bench.run(&["calibrate", "--quick", "--repetitions", "1"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (printed, written) = (heads(&text), heads(TABLE));
    assert!(printed.len() > 200, "{text}");
    let advice = "`cargo xtask calibrate` writes it anew";
    for row in &printed {
        assert!(written.contains(row), "docs/calibration.md lacks {row:?}: {advice}");
    }
    for row in &written {
        assert!(printed.contains(row), "only docs/calibration.md has {row:?}: {advice}");
    }
    assert_eq!(written, printed, "docs/calibration.md has another order: {advice}");
}

#[test]
fn the_same_calibration_gives_the_same_table() {
    let bench = Bench::new();
    let arguments =
        ["calibrate", "--quick", "--json", "--repetitions", "20", "--only", "S1, 10 blocks"];
    assert_eq!(bench.expect(0, &arguments), bench.expect(0, &arguments));
    bench.expect(2, &["calibrate", "--only", "no such row"]);
}

#[test]
fn an_interrupted_calibration_goes_on_from_its_checkpoint_and_another_one_is_refused() {
    let bench = Bench::new();
    let file = bench.path().join("calibration.jsonl");
    let path = file.display().to_string();
    let plain =
        |repetitions| vec!["calibrate", "--repetitions", repetitions, "--only", "false positives"];
    let kept = |repetitions| [plain(repetitions), vec!["--checkpoint", path.as_str()]].concat();
    let mut command = bench.command(&kept("60"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a cell of the calibration is counted", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() > 1)
    });
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = errors(&ended);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("The same command goes on from there"), "{said}");
    let other = bench.run(&kept("61"));
    let said = errors(&other);
    assert_eq!((other.status.code(), other.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("it has 60 campaigns in each row, and 61 are asked for"), "{said}");
    let whole = bench.run(&kept("60"));
    let said = errors(&whole);
    assert!(said.contains("are not counted again"), "{said}");
    let undisturbed = bench.run(&plain("60"));
    let [whole, undisturbed] =
        [whole, undisturbed].map(|output| String::from_utf8(output.stdout).unwrap());
    assert_eq!(whole, undisturbed);
    assert_eq!(heads(&whole).len(), 24 + 2 * 6, "{whole}");
}

/// What was counted of a row, in percent, as it stands there.
fn counted(name: &str) -> f64 {
    let of_row = |line: &&str| head(line).is_some_and(|row| row.name == name);
    let mut lines = TABLE.lines().filter(of_row);
    let line = lines.next().unwrap_or_else(|| panic!("docs/calibration.md has no row {name:?}"));
    assert_eq!(lines.next(), None, "two rows {name:?}");
    let (counted, _) = line.rsplit_once("  [").unwrap();
    let number = counted.trim_end_matches(" %").rsplit(' ').next().unwrap();
    number.parse().unwrap_or_else(|_| panic!("{line}"))
}

const OWN_BOOTS: &str = "different: an effect of 1 % of each boot, one boot, 10 blocks";
const OF_TEN_BOOTS: &str = "different: an effect of 1 % of each boot, 10 boots, 20 blocks";
const WANDERS_03: &str = "different: an effect that wanders, rho 0.3, 10 blocks";
const WANDERS_05: &str = "different: an effect that wanders, rho 0.5, 10 blocks";
const WANDERS_08: &str = "different: an effect that wanders, rho 0.8, 10 blocks";
const WANDERS_05_OF_40: &str = "different: an effect that wanders, rho 0.5, 40 blocks";
const WANDERS_08_OF_40: &str = "different: an effect that wanders, rho 0.8, 40 blocks";
const FOLLOW_05: &str = "different: runs that follow the past, rho 0.5, 10 of each";
const FOLLOW_08: &str = "different: runs that follow the past, rho 0.8, 10 of each";
const FOLLOW_05_OF_40: &str = "different: runs that follow the past, rho 0.5, 40 of each";
const FOLLOW_08_OF_40: &str = "different: runs that follow the past, rho 0.8, 40 of each";
const FELT_BY_ONE: &str = "different: carry-over of 3 % that one arm alone feels, 10 blocks";
const FELT_BY_ONE_OF_40: &str = "different: carry-over of 3 % that one arm alone feels, 40 blocks";
const HIDDEN_FROM_ONE: &str =
    "equivalent at the margin: carry-over of 3 % that one arm feels, 10 blocks";
const HIDDEN_FROM_ONE_OF_40: &str =
    "equivalent at the margin: carry-over of 3 % that one arm feels, 40 blocks";
const SPIKES: &str = "different: one arm with spikes, 10 blocks";
const SPIKES_WITHOUT_MARGIN: &str = "different: one arm with spikes, no margin, 10 blocks";

/// A sentence, in which `#` stands for the percentage of the next row, with how many digits, and the
/// rows.
type Citation = (&'static str, usize, &'static [&'static str]);

const CITED: &[Citation] = &[
    (
        "ten blocks were different in # % of campaigns, and of ten boots in # %",
        1,
        &[OWN_BOOTS, OF_TEN_BOOTS],
    ),
    ("an effect that each boot has of its own, in one boot (# %)", 1, &[OWN_BOOTS]),
    ("equal subjects differ in # of 100 campaigns of ten blocks in one boot", 1, &[OWN_BOOTS]),
    ("follows its own past, in ten blocks (# to # %)", 1, &[WANDERS_03, WANDERS_08]),
    ("that follow theirs, ten of each (# and # %)", 1, &[FOLLOW_05, FOLLOW_08]),
    (
        "in # and # of 100 tables at a correlation of 0.5 and 0.8, of 40 executions of each in # and #",
        0,
        &[FOLLOW_05, FOLLOW_08, FOLLOW_05_OF_40, FOLLOW_08_OF_40],
    ),
    (
        "(# % *better* or *worse* of equal subjects, # % *equivalent* at the margin)",
        1,
        &[FELT_BY_ONE, HIDDEN_FROM_ONE],
    ),
    (
        "equal subjects in #, # and # of 100 campaigns, because ten differences",
        0,
        &[WANDERS_03, WANDERS_05, WANDERS_08],
    ),
    (
        "40 blocks say so in # of 100 at 0.5, and in # at 0.8",
        0,
        &[WANDERS_05_OF_40, WANDERS_08_OF_40],
    ),
    (
        "a false difference is left in [# and # of 100 tables]",
        0,
        &[
            "different: blocks in a drawn order, carry-over of 1 %",
            "different: blocks in a drawn order, carry-over of 2 %",
        ],
    ),
    (
        "have a false difference in #, # and # % of tables where each run of one subject leaves \
             1, 2 and 3 % behind, and in # % without carry-over",
        1,
        &[
            "different: blocks in a drawn order, carry-over of 1 %",
            "different: blocks in a drawn order, carry-over of 2 %",
            "different: blocks in a drawn order, carry-over of 3 %",
            "different: blocks in a drawn order",
        ],
    ),
    (
        "differ in # of 100 campaigns of ten blocks and in # of 100 of 40 blocks",
        0,
        &[FELT_BY_ONE, FELT_BY_ONE_OF_40],
    ),
    (
        "ten blocks call one of the margin equivalent in # of 100 campaigns, 40 in #",
        0,
        &[HIDDEN_FROM_ONE, HIDDEN_FROM_ONE_OF_40],
    ),
    (
        "without a margin it differs in # and # of 100 campaigns",
        1,
        &[SPIKES_WITHOUT_MARGIN, "different: one arm with spikes, no margin, 20 blocks"],
    ),
    (
        "with one of 2 % there are # and # of 100",
        1,
        &[SPIKES, "different: one arm with spikes, 20 blocks"],
    ),
    (
        "three points less than was counted first; now #, # % | one boot; 10, 20 |",
        1,
        &[
            "shown to be equivalent: equal subjects, 10 blocks",
            "shown to be equivalent: equal subjects, 20 blocks",
        ],
    ),
    (
        "three points less than was counted first; now # % | one boot; 10 |",
        1,
        &["different: it is by 1.5 %, one boot, 10 blocks"],
    ),
    (
        "three points less than was counted first; now #, #, # % | in turns, shuffled, blocks in a drawn",
        1,
        &[
            "power at +1.5 %: a table in turns",
            "power at +1.5 %: a shuffled table",
            "power at +1.5 %: blocks in a drawn order",
        ],
    ),
    (
        "shown to be equivalent: three points less than was counted first; now # % | blocks in a drawn",
        1,
        &["shown to be equivalent: blocks in a drawn order"],
    ),
];

const CITED_BY_MANUAL: &[Citation] = &[
    (
        "differ in # of 100 campaigns of ten blocks in one boot, and in # where twenty blocks are",
        1,
        &[OWN_BOOTS, OF_TEN_BOOTS],
    ),
    (
        "*better* or *worse* in #, # and # of 100 campaigns",
        0,
        &[WANDERS_03, WANDERS_05, WANDERS_08],
    ),
    ("40 blocks are wrong in # at 0.5 and in # at 0.8", 0, &[WANDERS_05_OF_40, WANDERS_08_OF_40]),
    (
        "different in # of 100 campaigns, and a difference as large as the margin *equivalent* in #; \
             of 40 blocks in # and #",
        0,
        &[FELT_BY_ONE, HIDDEN_FROM_ONE, FELT_BY_ONE_OF_40, HIDDEN_FROM_ONE_OF_40],
    ),
    (
        "# of 100 campaigns of ten blocks are different with a margin of 2 %, and # without a margin",
        1,
        &[SPIKES, SPIKES_WITHOUT_MARGIN],
    ),
];

const CITED_BY_DECISION: &[Citation] = &[(
    "at a carry-over of 3 %, with the test: # % with two subjects and ten blocks, # % at twenty, # % \
     with three subjects, # % with six; at 2 % and two subjects # %",
    1,
    &[
        "different: carry-over of 3 %, 2 subjects, 10 blocks",
        "different: carry-over of 3 %, 2 subjects, 20 blocks",
        "different: carry-over of 3 %, 3 subjects, 10 blocks",
        "different: carry-over of 3 %, 6 subjects, 12 blocks",
        "different: carry-over of 2 %, 2 subjects, 10 blocks",
    ],
)];

#[test]
fn what_pages_cite_of_the_table_is_what_the_table_says() {
    for (page, text, citations) in [
        ("docs/method.md", METHOD, CITED),
        ("docs/manual/statistics.md", MANUAL, CITED_BY_MANUAL),
        ("docs/adr/0027-orders-are-serially-balanced.md", DECISION, CITED_BY_DECISION),
    ] {
        for &(cited, digits, rows) in citations {
            let mut said = cited.to_owned();
            for row in rows {
                said = said.replacen('#', &format!("{:.digits$}", counted(row)), 1);
            }
            assert!(!said.contains('#') && text.contains(&said), "{page}: {said}");
        }
    }
}

/// Both pages say of each of them how often it is wrong: docs/method.md#m-limits.
#[test]
fn rows_without_a_target_are_usual_methods_and_what_so_few_blocks_cannot_show() {
    let of_usual_methods = ["naive: ", "one subject after the other: "];
    let without = heads(TABLE).into_iter().filter(|row| row.target.is_empty());
    let of_ours = without
        .map(|row| row.name)
        .filter(|name| !of_usual_methods.iter().any(|begin| name.starts_with(begin)));
    let known = [
        HIDDEN_FROM_ONE,
        FELT_BY_ONE,
        WANDERS_03,
        WANDERS_05,
        WANDERS_08,
        OWN_BOOTS,
        FOLLOW_05,
        FOLLOW_08,
    ];
    assert_eq!(of_ours.collect::<Vec<&str>>(), known);
}

/// Codes of caveats in rows that begin, or end before a sentence, like this.
fn codes_of(
    table: &'static str,
    code: fn(&'static str) -> Option<&'static str>,
) -> BTreeSet<&'static str> {
    heads(table).into_iter().filter_map(|row| code(row.name)).collect()
}

#[test]
fn each_caveat_that_a_test_raises_has_a_rate_of_false_alarms_and_one_of_hits() {
    let alarms =
        codes_of(TABLE, |name| Some(name.strip_prefix("false alarm ")?.split_once(", ")?.0));
    let hits = codes_of(TABLE, |name| Some(name.split_once(" told of")?.0));
    let statistical = CaveatCode::ALL.iter().filter(|code| code.is_statistical());
    let statistical: BTreeSet<&str> = statistical.map(|code| code.as_str()).collect();
    assert_eq!(alarms, statistical, "rates of false alarms");
    assert_eq!(hits, statistical, "rates of hits");
}
