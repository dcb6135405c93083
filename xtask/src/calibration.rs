//! `cargo xtask calibrate`: the full calibration of our own statistics, by simulation, and the page
//! that has its table.

use crate::cargo::{Cargo, output};
use crate::harness::{Scale, product};
use crate::problems::{CommandResult, Problems};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The page of the table, below the workspace.
const PAGE: &str = "docs/calibration.md";
/// What a smoke run counts: some rows, and campaigns of each.
const SMOKE_ROW: &str = "clearly";
const SMOKE_CAMPAIGNS: &str = "20";
/// Letters of a digest that tell one build from another.
const DIGEST_LETTERS: usize = 16;

/// What stands in the page before the day of the run, and between that and the table.
const BEFORE_DAY: &str = "# Calibration\n\nWritten by `cargo xtask calibrate`: what `schedlab calibrate --full` prints, \
    line by line. The counts are those of one run, which ended on ";
const BEHIND_DAY: &str = ". The first line says how many simulated campaigns are in each row but the two that count \
    what is refused; they are planned, run on the simulator or drawn in the plan's order, and judged by the code that \
    users run, with committed seeds. A run takes most of an hour on two processors. A number before a row is its \
    [target](method.md#m-targets); rows without one are for comparison. The naive rows show what usual methods make of \
    the same data.\n\n";

/// Counts every row, and writes the page where its table is another one. A row that misses its
/// target leaves the page as it is. A smoke run counts some rows and writes nothing.
pub fn calibrate(cargo: &Cargo, scale: Scale) -> CommandResult {
    let program = product(cargo, scale)?;
    let mut command = Command::new(&program);
    command.arg("calibrate");
    if scale == Scale::Smoke {
        command.args(["--only", SMOKE_ROW, "--repetitions", SMOKE_CAMPAIGNS]);
        return counted(&mut command).and_then(|table| page_with(cargo, &table)).map(drop);
    }
    let checkpoint = checkpoint(cargo.root(), &program)?;
    let table = counted(command.arg("--full").arg("--checkpoint").arg(&checkpoint))?;
    if let Some(text) = page_with(cargo, &table)? {
        fs::write(cargo.root().join(PAGE), text)
            .map_err(|error| Problems::one(format!("cannot write {PAGE}: {error}")))?;
        println!("calibrate: wrote {PAGE}");
    }
    // All of it is in the page: a further run counts anew.
    fs::remove_file(&checkpoint)
        .map_err(|error| Problems::one(format!("cannot remove {}: {error}", checkpoint.display())))
}

/// The page with this table and the day of today; none where it has this table.
fn page_with(cargo: &Cargo, table: &str) -> Result<Option<String>, Problems> {
    let page = fs::read_to_string(cargo.root().join(PAGE))
        .map_err(|error| Problems::one(format!("cannot read {PAGE}: {error}")))?;
    Ok(written_anew(&page, table, &today()?))
}

/// From where this build goes on after an interruption. Another build has a file of its own: it may
/// count otherwise, and would be refused.
fn checkpoint(root: &Path, program: &Path) -> Result<PathBuf, Problems> {
    let (digest, _) = artefacts::digest::of_file(program).map_err(Problems::one)?;
    let build: String = digest.chars().take(DIGEST_LETTERS).collect();
    Ok(root.join(format!("target/calibration-{build}.jsonl")))
}

/// The table that a command prints. It is shown also where a row misses its target.
fn counted(command: &mut Command) -> Result<String, Problems> {
    let ended = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| Problems::one(format!("cannot start schedlab: {error}")))?;
    let table = String::from_utf8_lossy(&ended.stdout).into_owned();
    print!("{table}");
    if ended.status.success() {
        return Ok(table);
    }
    Err(Problems::one(format!("`schedlab calibrate` ended with {}", ended.status)))
}

/// The day in words, of the world's time (date(1)).
fn today() -> Result<String, Problems> {
    let mut date = Command::new("date");
    let day = output(date.args(["-u", "+%-d %B %Y"]).env("LC_ALL", "C"))?;
    Ok(day.trim_end().to_owned())
}

/// The page with this table, of this day; none where it was written with the same table.
fn written_anew(page: &str, table: &str, day: &str) -> Option<String> {
    let end = format!("{BEHIND_DAY}```\n{table}```\n");
    let is_same = page.starts_with(BEFORE_DAY) && page.ends_with(end.as_str());
    (!is_same).then(|| format!("{BEFORE_DAY}{day}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "full calibration\n 1  a row    4.8 %\n";

    #[test]
    fn the_page_gets_another_table_with_its_day_and_keeps_both_while_the_table_is_the_same() {
        let first = written_anew("# Calibration\n", TABLE, "2 May 2026").unwrap();
        assert!(first.starts_with("# Calibration\n\nWritten by"), "{first}");
        assert!(first.contains(" ended on 2 May 2026. The first line"), "{first}");
        assert!(first.ends_with("\n\n```\nfull calibration\n 1  a row    4.8 %\n```\n"), "{first}");
        assert_eq!(written_anew(&first, TABLE, "3 May 2026"), None);
        let other = TABLE.replace("4.8", "4.9");
        let second = written_anew(&first, &other, "3 May 2026").unwrap();
        assert!(second.contains(&other) && second.contains("3 May"), "{second}");
        assert!(!second.contains(TABLE) && !second.contains("2 May"), "{second}");
    }

    #[test]
    fn builds_have_checkpoints_of_their_own() {
        let home = tempfile::tempdir().unwrap();
        let of = |name: &str, bytes: &str| {
            let path = home.path().join(name);
            fs::write(&path, bytes).unwrap();
            checkpoint(home.path(), &path).unwrap()
        };
        let [one, same, other] = [of("a", "1"), of("b", "1"), of("c", "2")];
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert!(one.starts_with(home.path().join("target")), "{}", one.display());
    }
}
