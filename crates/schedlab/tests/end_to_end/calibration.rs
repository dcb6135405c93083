//! Our own statistics against their targets, through the real planner and judge.

use crate::bench::Bench;

/// Rows whose target docs/calibration.md misses, and how docs/method.md#m-targets calls them; few
/// campaigns may not show it.
const KNOWN_MISSES: [(&str, &str); 2] = [
    (": a table of ten steps", "Tables whose clock has ten steps"),
    (": ten steps, blocks", "miss their target as well, with blocks and without"),
];
const TABLE: &str = include_str!("../../../../docs/calibration.md");
const METHOD: &str = include_str!("../../../../docs/method.md");

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
    let limit = ["holds", "MISSED"].into_iter().find_map(|word| judged.strip_suffix(word));
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
fn the_misses_that_are_known_are_those_of_the_table_and_the_method_tells_each() {
    let missed = missed(TABLE);
    let is_known = |line: &&str| KNOWN_MISSES.iter().any(|(row, _)| line.contains(row));
    let untold: Vec<&&str> = missed.iter().filter(|line| !is_known(line)).collect();
    assert!(untold.is_empty(), "{untold:?}");
    let (_, targets) = METHOD.split_once("<a id=\"m-targets\"></a>").unwrap();
    let (targets, _) = targets.split_once("<a id=\"m-limits\"></a>").unwrap();
    for (row, words) in KNOWN_MISSES {
        assert!(missed.iter().any(|line| line.contains(row)), "{row} misses nothing any more");
        assert!(targets.contains(words), "docs/method.md does not tell of {row}: {words}");
    }
}

#[test]
fn a_quick_calibration_misses_no_target_but_those_that_are_told() {
    let bench = Bench::new();
    let output = bench.run(&["calibrate", "--quick"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let missed = missed(&text);
    let expected = i32::from(!missed.is_empty());
    assert_eq!(output.status.code(), Some(expected), "a miss is told by the exit code");
    for target in 1..=13 {
        let begins = format!("{target:>2}  ");
        assert!(text.lines().any(|line| line.starts_with(&begins)), "{target} in {text}");
    }
    let is_known = |line: &&str| KNOWN_MISSES.iter().any(|(row, _)| line.contains(row));
    assert!(missed.iter().all(is_known), "{missed:?}");
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
    let advice = "write it anew by `schedlab calibrate --full`";
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
