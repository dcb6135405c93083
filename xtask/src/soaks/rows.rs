//! What became of each series of a soak: its tests write a row each, and the soak prints them as a
//! table of the pages in `docs`.

use crate::problems::{CommandResult, Problems};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Where the tests write their rows; below the target directory.
const FILE: &str = "target/tests/soak-rows.jsonl";
const HEAD: &str = "| kind | count | left over | records lost | seconds | not available here |\n\
                    |---|---|---|---|---|---|\n";

/// One series, as its test wrote it (`KillSeries` of the tests of `schedlab`).
#[derive(Debug, Deserialize)]
struct SeriesRow {
    kind: String,
    wanted: u64,
    count: u64,
    left: u64,
    lost: u64,
    seconds: f64,
    absent: Vec<String>,
}

impl SeriesRow {
    /// A line of the table.
    fn line(&self) -> String {
        let Self { kind, wanted, count, left, lost, seconds, absent } = self;
        let count =
            if count == wanted { count.to_string() } else { format!("{count} of {wanted}") };
        // A pipe would end the cell.
        let absent = absent.join("; ").replace('|', "/");
        format!("| {kind} | {count} | {left} | {lost} | {seconds:.0} | {absent} |\n")
    }

    /// Why it has not shown that nothing is left and lost.
    fn problem(&self) -> Option<String> {
        let Self { kind, wanted, count, left, lost, .. } = self;
        let is_shown = count == wanted && *left == 0 && *lost == 0;
        let told = || format!("{kind}: {count} of {wanted}, {left} left over, {lost} records lost");
        (!is_shown).then(told)
    }
}

/// The file of rows of one soak.
pub(super) struct RowFile(PathBuf);

impl RowFile {
    /// Begins without rows.
    pub(super) fn begin(root: &Path) -> Result<Self, Problems> {
        let path = root.join(FILE);
        let failed = |error: std::io::Error| {
            Problems::one(format!("cannot write {}: {error}", path.display()))
        };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        std::fs::write(&path, "").map_err(failed)?;
        Ok(Self(path))
    }

    /// As the tests are told of it.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Prints the table; a problem is every series that is missing or has not shown what it is for.
    pub(super) fn print(&self, seed: u64, wanted: usize) -> CommandResult {
        let text = std::fs::read_to_string(&self.0)
            .map_err(|error| Problems::one(format!("cannot read {}: {error}", self.0.display())))?;
        let rows = parsed(&text)?;
        println!("\nsoak: seed {seed}\n\n{}", table(&rows));
        let mut found: Vec<String> = rows.iter().filter_map(SeriesRow::problem).collect();
        if rows.len() < wanted {
            let missing = wanted - rows.len();
            found.push(format!("{missing} of {wanted} series did not reach their end"));
        }
        Problems::outcome(found)
    }
}

fn parsed(text: &str) -> Result<Vec<SeriesRow>, Problems> {
    let read = |line: &str| {
        serde_json::from_str::<SeriesRow>(line)
            .map_err(|error| Problems::one(format!("`{line}`: {error}")))
    };
    let mut rows: Vec<SeriesRow> = Vec::new();
    for line in text.lines() {
        let row = read(line)?;
        // A test that the emulator failed is tried again: the last row of a kind counts.
        rows.retain(|earlier| earlier.kind != row.kind);
        rows.push(row);
    }
    Ok(rows)
}

fn table(rows: &[SeriesRow]) -> String {
    let lines: String = rows.iter().map(SeriesRow::line).collect();
    format!("{HEAD}{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = r#"{"kind":"random kills","wanted":2,"count":2,"left":0,"lost":0,"seconds":3.4,"absent":["cpu_max: no|group"]}
{"kind":"double kills","wanted":2,"count":1,"left":1,"lost":0,"seconds":1.0,"absent":[]}
"#;

    #[test]
    fn each_series_is_a_line_and_what_was_left_or_not_done_a_problem() {
        let rows = parsed(ROWS).unwrap();
        let text = table(&rows);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| random kills | 2 | 0 | 0 | 3 | cpu_max: no/group |",
                "| double kills | 1 of 2 | 1 | 0 | 1 |  |"
            ]
        );
        let problems: Vec<_> = rows.iter().filter_map(SeriesRow::problem).collect();
        assert_eq!(problems, ["double kills: 1 of 2, 1 left over, 0 records lost"]);
    }

    #[test]
    fn a_series_without_a_row_is_a_problem() {
        let root = tempfile::tempdir().unwrap();
        let file = RowFile::begin(root.path()).unwrap();
        std::fs::write(file.path(), ROWS.lines().next().unwrap()).unwrap();
        assert!(file.print(1, 1).is_ok());
        let told = file.print(1, 3).unwrap_err().to_string();
        assert_eq!(told, "2 of 3 series did not reach their end\n");
    }
}
