//! What became of a run of tests, from the report of nextest, for a reader and for a pipeline that
//! counts.

use crate::problems::Problems;
use quick_junit::{Report, TestCase, TestCaseStatus};
use std::path::Path;

/// So many of the slowest tests are named.
const SLOWEST: usize = 20;
/// The words by which tests tell what they did not do (crates/testing).
const SKIPPED: &str = "SKIPPED: ";
const UNSUPPORTED: &str = "UNSUPPORTED HERE: ";
const STAMPED: &str = "STAMPED: ";

/// One test.
#[derive(Debug, PartialEq)]
struct Test {
    name: String,
    seconds: f64,
    has_failed: bool,
    /// How often it was tried again.
    again: usize,
    /// The lines by which it tells what it did not do.
    notes: Vec<String>,
}

/// Prints the slowest, what was skipped, what was tried again, and the counts.
///
/// Returns the tests that skipped, each as `BINARY TEST`.
pub fn print(path: &Path, seconds: f64) -> Result<Vec<String>, Problems> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Problems::one(format!("cannot read {}: {error}", path.display())))?;
    let report = Report::deserialize_from_str(&text)
        .map_err(|error| Problems::one(format!("cannot read {}: {error}", path.display())))?;
    let tests = tests(&report);
    print!("{}", summary(&tests, seconds));
    Ok(skipped(&tests).map(|test| test.name.clone()).collect())
}

fn tests(report: &Report) -> Vec<Test> {
    let of_suite = |suite: &quick_junit::TestSuite| {
        let name = suite.name.as_str().to_owned();
        suite.test_cases.iter().map(move |case| test(&name, case)).collect::<Vec<_>>()
    };
    report.test_suites.iter().flat_map(of_suite).collect()
}

fn test(suite: &str, case: &TestCase) -> Test {
    let (has_failed, again) = match &case.status {
        TestCaseStatus::Success { flaky_runs } => (false, flaky_runs.len()),
        TestCaseStatus::NonSuccess { reruns, .. } => (true, reruns.runs.len()),
        TestCaseStatus::Skipped { .. } => (false, 0),
    };
    let streams = [case.system_out.as_ref(), case.system_err.as_ref()];
    let lines = streams.into_iter().flatten().flat_map(|stream| stream.as_str().lines());
    let words = [SKIPPED, UNSUPPORTED, STAMPED];
    let notes = lines.filter(|line| words.iter().any(|word| line.starts_with(word)));
    Test {
        name: format!("{suite} {}", case.name.as_str()),
        seconds: case.time.map_or(0.0, |time| time.as_secs_f64()),
        has_failed,
        again,
        notes: notes.map(str::to_owned).collect(),
    }
}

/// Whether a test tells what it did not do by a line that begins so.
fn has(test: &Test, word: &str) -> bool {
    test.notes.iter().any(|note| note.starts_with(word))
}

/// The tests that skipped and did not fail.
fn skipped(tests: &[Test]) -> impl Iterator<Item = &Test> {
    tests.iter().filter(|test| !test.has_failed && has(test, SKIPPED))
}

fn summary(tests: &[Test], seconds: f64) -> String {
    let mut lines = Vec::new();
    for test in tests {
        let is_told = |note: &&String| !note.starts_with(STAMPED);
        lines
            .extend(test.notes.iter().filter(is_told).map(|note| format!("{}: {note}", test.name)));
    }
    // A repetition passes only where the emulator failed the try before it (testing::begin).
    for test in tests.iter().filter(|test| test.again > 0 && !test.has_failed) {
        lines.push(format!("{}: tried again, the emulator had failed it", test.name));
    }
    let count = |is_counted: &dyn Fn(&&Test) -> bool| tests.iter().filter(is_counted).count();
    let failed = count(&|test| test.has_failed);
    let skipped = skipped(tests).count();
    let stamped = count(&|test| !test.has_failed && has(test, STAMPED));
    if stamped > 0 {
        lines.push(format!("{stamped} proofs not repeated: what they depend on is unchanged"));
    }
    let mut slowest: Vec<&Test> = tests.iter().collect();
    slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    lines.push("the slowest:".to_owned());
    let slowest = slowest.iter().take(SLOWEST);
    lines.extend(slowest.map(|test| format!("{:7.1} s  {}", test.seconds, test.name)));
    lines.push(format!("with building {seconds:.0} s"));
    let mut text: String = lines.iter().map(|line| format!("tests: {line}\n")).collect();
    let passed = tests.len() - failed - skipped;
    text.push_str(&format!("tests: {passed} passed, {failed} failed, {skipped} skipped\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nextest 0.9.151 writes it, shortened.
    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="4" failures="1" errors="0" time="3.0">
  <testsuite name="p::t" tests="4" disabled="0" errors="0" failures="1">
    <testcase name="fast" classname="p::t" time="0.5"></testcase>
    <testcase name="skips" classname="p::t" time="0.1">
      <system-err>
SKIPPED: no root
</system-err>
    </testcase>
    <testcase name="proof" classname="p::t" time="0.2">
      <flakyFailure type="test failure" time="7"></flakyFailure>
      <system-err>STAMPED: proof was proved</system-err>
    </testcase>
    <testcase name="bad" classname="p::t" time="2.0">
      <failure type="test failure"/>
      <system-err>SKIPPED: no root</system-err>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn skipped_stamped_and_repeated_tests_are_told_and_the_last_line_counts() {
        let report = Report::deserialize_from_str(REPORT).unwrap();
        let text = summary(&tests(&report), 9.0);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.contains(&"tests: p::t skips: SKIPPED: no root"), "{text}");
        assert!(lines.contains(&"tests: p::t proof: tried again, the emulator had failed it"));
        assert!(lines.iter().any(|line| line.starts_with("tests: 1 proofs not repeated")));
        let slowest = lines.iter().position(|line| *line == "tests: the slowest:").unwrap();
        assert_eq!(lines[slowest + 1], "tests:     2.0 s  p::t bad");
        assert_eq!(lines.last(), Some(&"tests: 2 passed, 1 failed, 1 skipped"));
    }

    #[test]
    fn a_test_that_skips_is_counted_and_one_that_fails_or_covers_less_is_not() {
        let mut tests = tests(&Report::deserialize_from_str(REPORT).unwrap());
        assert_eq!(skipped(&tests).count(), 1);
        tests.retain(|test| test.name != "p::t skips");
        tests[0].notes.push(format!("{UNSUPPORTED}a clamp"));
        assert_eq!(skipped(&tests).count(), 0);
    }
}
