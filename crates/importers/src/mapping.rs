//! What the user says about a file: which column is what, and which way is better.

use crate::metrics::metric_id;
use outputs::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MappingDirection {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
}

impl From<MappingDirection> for model::Direction {
    fn from(direction: MappingDirection) -> Self {
        match direction {
            MappingDirection::Lower => Self::Lower,
            MappingDirection::Higher => Self::Higher,
        }
    }
}

/// A column of measured values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueColumn {
    /// Its name in the header.
    pub column: String,
    /// Which way is better; may also come from [`Mapping::direction`] or [`Mapping::better`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<MappingDirection>,
    /// `ms`, `kB/s`, …; may also come from [`Mapping::unit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// Which column is what. Formats with fixed names use `better`, `primary` and `claims` alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mapping {
    /// The column that names the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Columns that tell workloads apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// Columns that, with the subject, identify one execution. A parameter among them
    /// is fixed by an execution; the others are covered by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicate: Vec<String>,
    /// Columns of [`Mapping::replicate`] or [`Mapping::block`] of which the user states that each
    /// level was an execution for itself, although nothing in the table shows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub independent: Vec<String>,
    /// The column that names the block, where every subject was run in each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The column that tells in which order rows were measured; the file's order
    /// without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The column that names the metric, where each row holds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The column that holds the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The column that holds `higher` or `lower`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Metrics that are judged; a format's headline ones where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primary: Vec<String>,
    /// Columns of values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueColumn>,
    /// Which way is better, by metric.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub better: BTreeMap<String, MappingDirection>,
    /// What others have published of these numbers, as an experiment writes it. The crate that
    /// knows how experiments are written reads it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<toml::Table>,
}

impl Mapping {
    /// Reads a mapping from TOML.
    ///
    /// # Errors
    /// When it is longer than a mapping may be, is not TOML or names an unknown key; with the line.
    pub fn from_toml(text: &str) -> Result<Self, Trouble> {
        contract::document::check_size(text)
            .map_err(|over| Trouble::new(over.to_string(), over.limit.remedy))?;
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| {
                let before = text.get(..span.start).unwrap_or(text);
                before.matches('\n').count() as u64 + 1
            });
            let remedy = "keys are subject, parameters, replicate, independent, block, order, metric, unit, \
                          direction, values, better, primary and claims";
            Trouble { line, cause: error.message().to_owned(), remedy: remedy.to_owned() }
        })
    }

    /// The mapping as TOML, which [`Mapping::from_toml`] reads.
    ///
    /// # Errors
    /// When it cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Those of these parameters that an execution fixes: those named as parts of the replicate; all
    /// of them where each row is its own.
    pub(crate) fn fixed(&self, dimensions: &[String]) -> Vec<String> {
        let is_fixed = |name: &&String| self.replicate.is_empty() || self.replicate.contains(*name);
        dimensions.iter().filter(is_fixed).cloned().collect()
    }

    /// Which way a metric is better, where the user said so by its name or its id.
    pub(crate) fn direction_of(&self, name: &str) -> Option<model::Direction> {
        let named = self.better.get(name).or_else(|| self.better.get(&metric_id(name)));
        named.copied().map(Into::into)
    }

    /// `COLUMN`, `COLUMN:higher` or `COLUMN:lower:UNIT`.
    ///
    /// # Errors
    /// When the column has no name.
    pub fn value(text: &str) -> Result<ValueColumn, Trouble> {
        let split = |direction: &str| -> Option<(&str, &str)> {
            let (column, rest) = text.rsplit_once(&format!(":{direction}"))?;
            (rest.is_empty() || rest.starts_with(':')).then_some((column, rest))
        };
        let (column, rest, direction) = match (split("higher"), split("lower")) {
            (Some((column, rest)), _) => (column, rest, Some(MappingDirection::Higher)),
            (None, Some((column, rest))) => (column, rest, Some(MappingDirection::Lower)),
            (None, None) => (text, "", None),
        };
        if column.is_empty() {
            let remedy = "write COLUMN, COLUMN:higher or COLUMN:lower:UNIT";
            return Err(Trouble::new(format!("`{text}` names no column"), remedy));
        }
        let unit = rest.strip_prefix(':').filter(|unit| !unit.is_empty()).map(str::to_owned);
        Ok(ValueColumn { column: column.to_owned(), direction, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_column_may_carry_its_direction_and_unit() {
        let read = |text: &str| {
            let value = Mapping::value(text).unwrap();
            (value.column, value.direction, value.unit)
        };
        let owned = |text: &str| text.to_owned();
        assert_eq!(read("kBps"), (owned("kBps"), None, None));
        assert_eq!(read("kBps:higher"), (owned("kBps"), Some(MappingDirection::Higher), None));
        assert_eq!(
            read("a:b:lower:us"),
            (owned("a:b"), Some(MappingDirection::Lower), Some(owned("us")))
        );
        assert!(Mapping::value(":higher").is_err());
    }

    #[test]
    fn a_mapping_comes_back_from_its_text() {
        let mapping = Mapping {
            subject: Some("scheduler".to_owned()),
            parameters: vec!["size".to_owned(), "a \"quoted\" name".to_owned()],
            values: vec![Mapping::value("kBps:higher:kB/s").unwrap()],
            better: BTreeMap::from([("x".to_owned(), MappingDirection::Lower)]),
            primary: vec!["kbps".to_owned()],
            claims: vec![toml::from_str("says = 'a'\nsubject = 'b'\n").unwrap()],
            ..Mapping::default()
        };
        assert_eq!(Mapping::from_toml(&mapping.to_toml().unwrap()), Ok(mapping));
    }

    #[test]
    fn what_a_mapping_claims_is_part_of_the_digest_of_the_plan() {
        let text = "subject,ms\na,1.0\nb,2.0\na,1.1\nb,2.1\n";
        let digest = |claims: &str| {
            let text_of_mapping = format!("subject = 'subject'\n{claims}");
            let mut mapping = Mapping::from_toml(&text_of_mapping).unwrap();
            mapping.values = vec![Mapping::value("ms:lower:ms").unwrap()];
            let files: [(&str, &[u8]); 1] = [("x", text.as_bytes())];
            crate::picture::imported(&crate::tidy::CSV, &files, &mapping).unwrap().plan.digest
        };
        let claim = |effect: &str| format!("[[claims]]\nsays = 'so'\neffect = '{effect}'\n");
        assert_eq!(digest(&claim("better")), digest(&claim("better")));
        assert_ne!(digest(&claim("better")), digest(""));
        assert_ne!(digest(&claim("better")), digest(&claim("worse")));
    }

    #[test]
    fn a_mapping_of_more_words_than_are_held_is_refused_by_the_name_of_the_limit() {
        let values = "1,".repeat(300_000);
        let error = Mapping::from_toml(&format!("primary = [{values}]\n")).unwrap_err();
        assert!(error.cause.contains("limit EXPERIMENT_WORDS"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = Mapping::from_toml("subject = \"a\"\nsubjct = \"b\"\n").unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(error.cause.contains("subjct"), "{error}");
    }
}
