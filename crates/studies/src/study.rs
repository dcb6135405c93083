//! A study, read from its files.

use crate::check::Check;
use crate::row_selector::RowSelector;
use crate::table::{Better, Cells, Table};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A study that was published.
#[derive(Debug)]
pub struct Study {
    /// Its name here: `eevdf`.
    pub name: &'static str,
    /// What it asks, in a line.
    pub title: String,
    /// How it was measured, as far as it tells.
    pub design: String,
    /// Its tables, without their rows.
    pub tables: Vec<StudyTable>,
    /// Its claims, in the order of their ids.
    pub claims: Vec<StudyClaim>,
    /// Which of them suites ask; several claims of suites may ask one.
    pub asked: Vec<AskedClaim>,
    /// Where it says two things.
    pub contradictions: Vec<StudyContradiction>,
    pub(crate) data: Vec<Table>,
    pub(crate) checks: Vec<Check>,
}

/// What a table of a study holds.
#[derive(Debug, Clone, Serialize)]
pub struct StudyTable {
    /// Its file below the directory of the study, without `.csv`.
    pub name: String,
    /// What it holds, in a line.
    pub holds: String,
    /// How many rows it has.
    pub rows: usize,
}

/// What a study claims.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyClaim {
    /// Its id, which no other claim of any study has.
    pub id: String,
    /// What is claimed, in our words.
    pub claim: String,
    /// Which way: `EEVDF better`, `monotone`, `cause`.
    pub direction: String,
    /// The size, as it is printed, or `none`.
    pub size: String,
    /// What is compared with what.
    pub pair: String,
    /// Of which metrics, workloads or levels.
    pub cells: String,
    /// The sections of the study that say it.
    #[serde(rename = "where")]
    pub section: String,
    /// Why its own figures cannot judge it, or not all of it; empty where they can.
    pub not_judged: String,
}

/// A claim that a suite asks of a machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedClaim {
    /// The id of the claim.
    pub id: String,
    /// The suite, a file of `suites/` without `.toml`.
    pub suite: String,
    /// What the suite's own claim says.
    pub says: String,
}

/// Two statements of one study that do not agree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyContradiction {
    /// Its number within the study: `E1`.
    pub id: String,
    /// What both are about.
    pub what: String,
    /// The one place, and what stands there.
    pub one: String,
    /// The other place, and what stands there.
    pub other: String,
    /// What follows.
    pub comment: String,
    /// `figures`, `arithmetic`, `claim`, `design`, `prose` or another kind.
    pub kind: String,
}

/// The files of a study.
pub(crate) struct StudyText {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) claims: &'static str,
    pub(crate) asked: &'static str,
    pub(crate) contradictions: &'static str,
    pub(crate) checks: &'static str,
    /// Names and texts.
    pub(crate) tables: &'static [(&'static str, &'static str)],
}

/// `study.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    design: String,
    tables: Vec<AboutTable>,
}

/// What `study.toml` says of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutTable {
    name: String,
    holds: String,
    rows: usize,
    /// The column of its figures; none where checks ask it for none.
    value: Option<String>,
    /// Which way is better, where no column `better` says so.
    better: Option<Better>,
    /// The columns that tell its cells apart.
    #[serde(default)]
    keys: Vec<String>,
}

impl Study {
    /// The suites that ask its claims, in the order of these.
    #[must_use]
    pub fn suites(&self) -> Vec<&str> {
        let mut suites: Vec<&str> = Vec::new();
        for asked in &self.asked {
            if !suites.contains(&asked.suite.as_str()) {
                suites.push(&asked.suite);
            }
        }
        suites
    }

    /// Rows of one of its tables; at least one.
    pub(crate) fn cells(&self, selector: &RowSelector<'_>) -> Result<Cells<'_>, String> {
        let table = self.data.iter().find(|table| table.name == selector.table);
        table.ok_or_else(|| format!("there is no table {}", selector.table))?.cells(selector)
    }
}

impl StudyText {
    pub(crate) fn read(&self) -> Result<Study, String> {
        let about: About =
            toml::from_str(self.about).map_err(|error| format!("study.toml: {error}"))?;
        let mut data = Vec::new();
        for table in &about.tables {
            let (name, text) = (self.tables.iter())
                .find(|(name, _)| *name == table.name)
                .ok_or_else(|| format!("study.toml: there is no table {}", table.name))?;
            let value = table.value.as_deref();
            let read = Table::read(name, text, value, table.better, &table.keys)?;
            if read.rows.len() != table.rows {
                return Err(format!("{name} has {} rows, not {}", read.rows.len(), table.rows));
            }
            data.push(read);
        }
        if data.len() != self.tables.len() {
            return Err("study.toml: a table is not told".to_owned());
        }
        let tables = about.tables.into_iter();
        let tables =
            tables.map(|AboutTable { name, holds, rows, .. }| StudyTable { name, holds, rows });
        Ok(Study {
            name: self.name,
            title: about.title,
            design: about.design,
            tables: tables.collect(),
            claims: rows_of("claims.csv", self.claims)?,
            asked: rows_of("asked.csv", self.asked)?,
            contradictions: rows_of("contradictions.csv", self.contradictions)?,
            data,
            checks: rows_of("checks.csv", self.checks)?,
        })
    }
}

fn rows_of<T: DeserializeOwned>(name: &str, text: &str) -> Result<Vec<T>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|error| format!("{name}: {error}"))
}
