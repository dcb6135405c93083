//! What each execution has of the parameters, as the rows show it: one level, all, or some of them.

use crate::table::ImportedTable;
use crate::table_row::TableRow;
use std::collections::HashMap;

/// Parameters of a table, by how many of their levels its executions have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionLevels {
    /// An execution fixes these: none has two levels, or the format or the user says so.
    pub fixed: Vec<String>,
    /// Every execution has every level of these.
    pub whole: Vec<String>,
    /// Of these some execution has several levels, and some lacks one.
    pub partial: Vec<String>,
}

impl ExecutionLevels {
    /// Those of all rows. Blocks are executions of their own kind, and have none.
    pub(crate) fn of(table: &ImportedTable) -> Self {
        let mut found = Self::default();
        if table.dimensions.is_empty() || table.rows.iter().any(|row| row.block.is_some()) {
            return found;
        }
        let executions = numbers(&table.rows);
        for (place, name) in table.dimensions.iter().enumerate() {
            let held = Held::of(&table.rows, &executions, place);
            let names = if table.fixed.contains(name) || held.is_one_each() {
                &mut found.fixed
            } else if held.is_all_each() {
                &mut found.whole
            } else {
                &mut found.partial
            };
            names.push(name.clone());
        }
        found
    }
}

/// The number of each row's execution, from 0; a row that names none is one of its own.
fn numbers(rows: &[TableRow]) -> Vec<u32> {
    let mut known: HashMap<(&str, &str), u32> = HashMap::new();
    let mut next = 0;
    let mut numbers = Vec::with_capacity(rows.len());
    for row in rows {
        let number = match &row.execution {
            Some(name) => *known.entry((row.subject.as_str(), name.as_str())).or_insert(next),
            None => next,
        };
        next += u32::from(number == next);
        numbers.push(number);
    }
    numbers
}

/// How often executions and levels of one parameter meet.
struct Held {
    executions: usize,
    levels: usize,
    /// Different pairs of both.
    pairs: usize,
}

impl Held {
    fn of(rows: &[TableRow], executions: &[u32], place: usize) -> Self {
        let mut levels: HashMap<&str, u32> = HashMap::new();
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(rows.len());
        for (row, execution) in rows.iter().zip(executions) {
            let next = levels.len() as u32;
            let level = *levels.entry(row.levels[place].as_str()).or_insert(next);
            pairs.push((*execution, level));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let last = executions.iter().max();
        Self {
            executions: last.map_or(0, |last| *last as usize + 1),
            levels: levels.len(),
            pairs: pairs.len(),
        }
    }

    /// Whether no execution has two levels.
    fn is_one_each(&self) -> bool {
        self.pairs == self.executions
    }

    /// Whether each has all of them.
    fn is_all_each(&self) -> bool {
        self.pairs == self.executions.saturating_mul(self.levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use model::ImportedDesign;

    /// Parameters `p` and `q` of rows `subject run p q`, each a letter: what executions have of them.
    fn levels(rows: &str, replicate: &[&str]) -> (ExecutionLevels, Vec<String>) {
        let lines = rows.split_whitespace().map(|row| {
            let fields: Vec<String> = row.chars().map(String::from).collect();
            format!("{},1\n", fields.join(","))
        });
        let text = format!("s,run,p,q,v\n{}", lines.collect::<String>());
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            parameters: owned(&["p", "q"]),
            replicate: owned(replicate),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        let found = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
        let ImportedDesign::Unblocked { fixed, .. } = found.plan.imported.unwrap().design else {
            panic!("there are no blocks");
        };
        (found.executions, fixed)
    }

    #[test]
    fn what_no_execution_has_two_levels_of_is_fixed_whether_it_was_named_or_not() {
        for (rows, replicate, expected) in [
            // Runs are numbered over all, and each has one `p` and both `q`.
            (
                "a1xr a1xw a2yr a2yw b3xr b3xw b4yr b4yw",
                ["run"].as_slice(),
                [["p"].as_slice(), &["q"], &[]],
            ),
            ("a1xr a2yw b3yr b4xw", &["run"], [&["p", "q"], &[], &[]]),
            // Numbers that begin anew for each level are runs of each only where it was named.
            ("a1xr a1xw a1yr a1yw b1xr b1xw b1yr b1yw", &["p", "run"], [&["p"], &["q"], &[]]),
            ("a1xr a1xw a1yr a1yw b1xr b1xw b1yr b1yw", &["run"], [&[], &["p", "q"], &[]]),
            // A run of one subject is not that of another.
            ("a1xr a2yw b1yw b2xr", &["run"], [&["p", "q"], &[], &[]]),
            // One run with two levels of it is enough.
            ("a1xr a1yr a2xr b1xr b1yr b2xw", &["run"], [&["q"], &[], &["p"]]),
            ("a1xr a1yw b2xr b2yw", &[], [&["p", "q"], &[], &[]]),
        ] {
            let (found, fixed) = levels(rows, replicate);
            let names = [&found.fixed, &found.whole, &found.partial];
            assert_eq!(names.map(|names| names.join(",")), expected.map(|e| e.join(",")), "{rows}");
            assert_eq!(fixed, found.fixed, "{rows}");
        }
    }
}
