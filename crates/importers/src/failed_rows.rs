//! Columns of a table that nobody named and that tell which rows failed (docs/method.md#m-failed-rows):
//! a time of a run that ended with an error is no time of the work.

use crate::column_text::ColumnText;
use crate::metrics::metric_id;
use crate::table::ImportedTable;

/// What columns of exit codes are called, whatever codes they have.
const EXIT_CODES: [&str; 5] = ["exit_code", "exitcode", "exit_status", "returncode", "return_code"];
/// The same of names that may mean something else: one of the rows must have ended well.
const SHORT_CODES: [&str; 2] = ["exit", "rc"];
/// The same of a name that holds codes of answers or words as often.
const STATUS: [&str; 1] = ["status"];
/// What columns are called that say yes where a row ended well.
const YES_IS_GOOD: [&str; 4] = ["success", "succeeded", "ok", "passed"];
/// What columns are called that say yes where a row failed.
const YES_IS_BAD: [&str; 3] = ["failed", "failure", "error"];
/// What columns are called that say in a word how a row ended.
const WORDS: [&str; 1] = ["outcome"];
/// Words of rows that ended well.
const GOOD_WORDS: [&str; 7] =
    ["ok", "okay", "pass", "passed", "success", "succeeded", "successful"];
/// Words of rows that failed.
const BAD_WORDS: [&str; 12] = [
    "fail",
    "failed",
    "failure",
    "error",
    "timeout",
    "timed_out",
    "timedout",
    "killed",
    "crash",
    "crashed",
    "aborted",
    "oom",
];
/// Codes of answers that succeeded: a column of these is no column of exit codes.
const HTTP_SUCCESS: std::ops::RangeInclusive<i64> = 200..=226;

/// A column that tells which rows failed, and why each did.
pub(crate) struct FailedRows {
    name: String,
    reasons: Vec<Option<String>>,
}

/// How the fields of a column are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    ExitCode,
    ShortCode,
    Status,
    YesIsGood,
    YesIsBad,
    Word,
}

impl FailedRows {
    /// Those of a column, where it is called so, all of its fields say how a row ended, and some say
    /// that one failed.
    pub(crate) fn of(name: &str, fields: &ColumnText) -> Option<Self> {
        let id = metric_id(name);
        let reading = Reading::of(&id)?;
        let mut reasons = Vec::with_capacity(fields.len());
        for field in fields.iter() {
            let level = field.trim().to_ascii_lowercase();
            let has_failed = reading.has_failed(&level)?;
            reasons.push(has_failed.then(|| format!("{id} {level}")));
        }
        let needs_good = matches!(reading, Reading::ShortCode | Reading::Status);
        let has_good = reasons.iter().any(Option::is_none);
        let has_bad = reasons.iter().any(Option::is_some);
        (has_bad && (has_good || !needs_good)).then(|| Self { name: name.to_owned(), reasons })
    }
}

impl Reading {
    fn of(id: &str) -> Option<Self> {
        let readings = [
            (&EXIT_CODES[..], Self::ExitCode),
            (&STATUS[..], Self::Status),
            (&SHORT_CODES[..], Self::ShortCode),
            (&YES_IS_GOOD[..], Self::YesIsGood),
            (&YES_IS_BAD[..], Self::YesIsBad),
            (&WORDS[..], Self::Word),
        ];
        let found = readings.into_iter().find(|(names, _)| names.contains(&id));
        found.map(|(_, reading)| reading)
    }

    /// Whether a row of this level failed; none where the level does not say how a row ended.
    fn has_failed(self, level: &str) -> Option<bool> {
        if GOOD_WORDS.contains(&level) {
            return Some(false);
        }
        if BAD_WORDS.contains(&level) {
            return Some(true);
        }
        match self {
            Self::ExitCode | Self::ShortCode => code(level).map(|code| code != 0),
            Self::Status => {
                let code = code(level).filter(|code| !HTTP_SUCCESS.contains(code));
                code.map(|code| code != 0)
            }
            Self::YesIsGood => is_yes(level).map(|is_yes| !is_yes),
            // A message that is empty tells of no error.
            Self::YesIsBad if matches!(level, "" | "none") => Some(false),
            Self::YesIsBad => is_yes(level),
            Self::Word => None,
        }
    }
}

/// A whole number; a column of which fields are missing is often written as `127.0`.
fn code(level: &str) -> Option<i64> {
    level.strip_suffix(".0").unwrap_or(level).parse().ok()
}

fn is_yes(level: &str) -> Option<bool> {
    match level {
        "1" | "1.0" | "true" | "yes" | "y" => Some(true),
        "0" | "0.0" | "false" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// Makes failures of the rows from this one on of which these columns say so. What they measured is
/// not used, as that of a tool's own failures is not.
pub(crate) fn fail_rows(columns: Vec<FailedRows>, first: usize, table: &mut ImportedTable) {
    for FailedRows { name, reasons } in columns {
        for (row, reason) in table.rows[first..].iter_mut().zip(reasons) {
            if reason.is_some() {
                row.samples.clear();
            }
            row.failure = row.failure.take().or(reason);
        }
        table.note(format!(
            "{name} tells which rows failed: these are failures, and what they measured is not used"
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use model::{Outcome, Record};

    /// The records of rows `subject run level value`, of which this column has the level.
    fn records(name: &str, levels: &[&str], parameters: &[&str]) -> (Vec<Record>, Vec<String>) {
        let rows = levels.iter().enumerate().map(|(run, level)| {
            let subject = if run % 2 == 0 { "a" } else { "b" };
            format!("{subject},{run},{level},{}.5\n", 100 + run)
        });
        let text = format!("s,run,{name},v\n{}", rows.collect::<String>());
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
            values: vec![Mapping::value("v:lower:ms").unwrap()],
            ..Mapping::default()
        };
        let found = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
        (found.records, found.plan.notes)
    }

    /// Why each record failed; empty where it did not.
    fn reasons(name: &str, levels: &[&str]) -> Vec<String> {
        let (mut records, _) = records(name, levels, &[]);
        records.sort_by_key(|record| record.sequence);
        let reason = |record: &Record| match &record.outcome {
            Outcome::Failed { reason } => {
                let mut samples = record.invocations.iter().flat_map(|one| &one.samples);
                assert!(samples.next().is_none(), "what a failure measured is not used");
                reason.clone()
            }
            _ => String::new(),
        };
        records.iter().map(reason).collect()
    }

    #[test]
    fn a_column_of_exit_codes_that_nobody_named_makes_failures_of_a_subject_that_always_fails() {
        let levels = ["0", "127", "0", "127"];
        assert_eq!(reasons("exit_code", &levels), ["", "exit_code 127", "", "exit_code 127"]);
        let (_, notes) = records("exit_code", &levels, &[]);
        assert!(notes[0].starts_with("exit_code tells which rows failed"), "{notes:?}");
        assert!(!notes[1].contains("exit_code"), "{notes:?}");
    }

    #[test]
    fn a_few_rows_that_failed_are_failures_by_whatever_name_and_word() {
        for (name, levels, failed) in [
            ("Exit Code", ["0", "0", "0", "1"], "exit_code 1"),
            ("rc", ["0", "0", "0", "124.0"], "rc 124.0"),
            ("status", ["ok", "ok", "OK", "Timeout"], "status timeout"),
            ("status", ["0", "0", "0", "2"], "status 2"),
            ("success", ["1", "1", "1", "0"], "success 0"),
            ("passed", ["True", "True", "True", "False"], "passed false"),
            ("failed", ["0", "0", "0", "1"], "failed 1"),
            ("error", ["", "", "", "killed"], "error killed"),
            ("outcome", ["pass", "pass", "pass", "fail"], "outcome fail"),
        ] {
            assert_eq!(reasons(name, &levels), ["", "", "", failed], "{name}");
        }
    }

    #[test]
    fn a_column_whose_levels_do_not_say_so_or_that_was_named_stays_what_it_was() {
        for (name, levels) in [
            ("status", ["running", "ok", "ok", "failed"]),
            ("status", ["200", "0", "200", "200"]),
            ("rc", ["1", "2", "1", "3"]),
            ("error", ["0.25", "0.5", "0.125", "0.75"]),
            ("outcome", ["0", "1", "0", "1"]),
            ("codes", ["0", "1", "0", "1"]),
            ("exit_code", ["0", "0", "0", "0"]),
        ] {
            assert_eq!(reasons(name, &levels), [""; 4], "{name} {levels:?}");
        }
        let (named, _) = records("exit_code", &["0", "0", "1", "1"], &["exit_code"]);
        assert!(named.iter().all(|record| record.outcome == Outcome::Completed));
    }
}
