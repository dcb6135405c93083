//! Tidy tables: a header, and in each row what was measured once.

use crate::importer::{Importer, Source};
use crate::mapping::{Direction, Mapping, ValueColumn};
use crate::metrics::{metric_id, number, unit};
use crate::table::{Row, Table};
use crate::trouble::Trouble;
use contract::Description;
use csv::StringRecord;
use model::{Caveat, CaveatCode, Reduction, Sample};
use std::collections::BTreeMap;

pub(crate) static CSV: Tidy = Tidy {
    delimiter: b',',
    description: Description {
        id: "csv",
        summary: "a table with a header: which column is the subject, a parameter, the replicate, a value",
        doc: DOC,
    },
};

pub(crate) static TSV: Tidy = Tidy {
    delimiter: b'\t',
    description: Description { id: "tsv", summary: "the same, separated by tabs", doc: DOC },
};

const DOC: &str = "Columns are named on the command line or in a mapping. `--subject` tells who was measured \
(the file's name where left out), `--parameter` what was run, `--value COLUMN:higher` what was measured and which \
way is better. `--replicate` names the columns that, with the subject, identify one execution: a parameter among \
them was fixed by the execution (it was started again for each level), the others were covered by it. Without it \
each row counts as an execution of its own, and REPLICATE_LEVEL_UNKNOWN says so. `--block` names the column of \
blocks, in each of which every subject ran: then the design's own analysis is used.";

/// A table with one delimiter.
pub(crate) struct Tidy {
    delimiter: u8,
    description: Description,
}

/// Where each thing stands in a row.
struct Columns {
    subject: Option<usize>,
    parameters: Vec<usize>,
    replicate: Vec<usize>,
    block: Option<usize>,
    order: Option<usize>,
    metric: Option<usize>,
    unit: Option<usize>,
    direction: Option<usize>,
    values: Vec<(usize, ValueColumn)>,
    /// Which way is better, by metric.
    better: BTreeMap<String, Direction>,
}

impl Importer for Tidy {
    fn describe(&self) -> &'static Description {
        match self.delimiter {
            b'\t' => &TSV.description,
            _ => &CSV.description,
        }
    }

    fn read(
        &self,
        source: &Source<'_>,
        mapping: &Mapping,
        table: &mut Table,
    ) -> Result<(), Trouble> {
        let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .trim(csv::Trim::All)
            .from_reader(bytes);
        let header = reader.headers().map_err(|error| broken(&error))?.clone();
        let columns = Columns::find(&header, mapping)?;
        let names = |places: &[usize]| -> Vec<String> {
            places.iter().map(|place| header[*place].to_owned()).collect()
        };
        let dimensions = names(&columns.parameters);
        let fixed = fixed(mapping, &dimensions);
        table.declare(
            &dimensions.iter().map(String::as_str).collect::<Vec<_>>(),
            &fixed.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
        if mapping.replicate.is_empty() && mapping.block.is_none() && table.caveats.is_empty() {
            let detail = "no column was named that identifies an execution: each row counts as one";
            table.caveats.push(Caveat::new(CaveatCode::ReplicateLevelUnknown, detail));
        }
        let first = table.rows.len();
        let mut orders = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| broken(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            if let Some(place) = columns.order {
                orders.push(record[place].to_owned());
            }
            let row = columns.row(source, &record, line, table)?;
            table.push(Some(line), row)?;
        }
        if table.rows.len() == first {
            return Err(Trouble::new("there is a header and no row", "give a file with rows"));
        }
        if columns.order.is_some() {
            sort(&mut table.rows[first..], &orders);
        }
        Ok(())
    }
}

/// Parameters that an execution fixes: those named as parts of the replicate; all of
/// them where each row is its own.
fn fixed(mapping: &Mapping, dimensions: &[String]) -> Vec<String> {
    let is_fixed =
        |name: &&String| mapping.replicate.is_empty() || mapping.replicate.contains(*name);
    dimensions.iter().filter(is_fixed).cloned().collect()
}

/// Puts rows in the order of a column, by number where all are numbers.
fn sort(rows: &mut [Row], orders: &[String]) {
    let numbers: Option<Vec<f64>> = orders.iter().map(|text| text.parse().ok()).collect();
    let mut places: Vec<usize> = (0..rows.len()).collect();
    match &numbers {
        Some(numbers) => places.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
        None => places.sort_by(|a, b| orders[*a].cmp(&orders[*b])),
    }
    let sorted: Vec<Row> = places.into_iter().map(|place| rows[place].clone()).collect();
    rows.clone_from_slice(&sorted);
}

fn broken(error: &csv::Error) -> Trouble {
    let line = error.position().map(csv::Position::line);
    let cause = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} fields, and the header {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    Trouble { line, cause, remedy: "correct the line, or choose csv or tsv as it is".to_owned() }
}

impl Columns {
    fn find(header: &StringRecord, mapping: &Mapping) -> Result<Self, Trouble> {
        let known: Vec<&str> = header.iter().collect();
        let find = |name: &String| -> Result<usize, Trouble> {
            let mut places = known.iter().enumerate().filter(|(_, column)| *column == name);
            let remedy = format!("its columns are {}", known.join(", "));
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (Some(_), Some(_)) => {
                    let cause = format!("two columns are called `{name}`");
                    Err(Trouble::at(1, cause, "rename one of them"))
                }
                (None, _) => Err(Trouble::at(1, format!("there is no column `{name}`"), remedy)),
            }
        };
        let optional = |name: &Option<String>| name.as_ref().map(&find).transpose();
        let all = |names: &[String]| names.iter().map(&find).collect::<Result<Vec<_>, _>>();
        if mapping.values.is_empty() {
            let remedy = format!("name one with --value COLUMN:higher; {}", known.join(", "));
            return Err(Trouble::new("no column of values was named", remedy));
        }
        if mapping.block.is_some() && !mapping.replicate.is_empty() {
            let remedy = "a block is the replicate: leave --replicate out";
            return Err(Trouble::new("both blocks and replicates were named", remedy));
        }
        let values = mapping
            .values
            .iter()
            .map(|value| Ok((find(&value.column)?, value.clone())))
            .collect::<Result<Vec<_>, Trouble>>()?;
        let columns = Self {
            subject: optional(&mapping.subject)?,
            parameters: all(&mapping.parameters)?,
            // The subject is part of every execution's name anyway.
            replicate: all(&mapping.replicate)?,
            block: optional(&mapping.block)?,
            order: optional(&mapping.order)?,
            metric: optional(&mapping.metric)?,
            unit: optional(&mapping.unit)?,
            direction: optional(&mapping.direction)?,
            values,
            better: mapping.better.clone(),
        };
        columns.refuse_twice(&known)?;
        Ok(columns)
    }

    /// A column is one thing; only a parameter may be part of the replicate too.
    fn refuse_twice(&self, known: &[&str]) -> Result<(), Trouble> {
        let single = [self.subject, self.block, self.metric, self.unit, self.direction];
        let values = self.values.iter().map(|(place, _)| *place);
        let mut seen = Vec::new();
        for place in
            single.into_iter().flatten().chain(self.parameters.iter().copied()).chain(values)
        {
            if seen.contains(&place) {
                let cause = format!("the column `{}` is named as two things", known[place]);
                return Err(Trouble::new(cause, "name each column once"));
            }
            seen.push(place);
        }
        Ok(())
    }

    fn row(
        &self,
        source: &Source<'_>,
        record: &StringRecord,
        line: u64,
        table: &mut Table,
    ) -> Result<Row, Trouble> {
        let text = |place: usize| record[place].to_owned();
        let mut samples = Vec::with_capacity(self.values.len());
        for (place, value) in &self.values {
            samples.push(self.sample(record, line, *place, value, table)?);
        }
        let execution: Vec<&str> = self.replicate.iter().map(|place| &record[*place]).collect();
        Ok(Row {
            subject: self.subject.map_or_else(|| source.subject.to_owned(), text),
            levels: self.parameters.iter().copied().map(text).collect(),
            execution: (!execution.is_empty()).then(|| execution.join(" ")),
            block: self.block.map(text),
            samples,
            failure: None,
        })
    }

    fn sample(
        &self,
        record: &StringRecord,
        line: u64,
        place: usize,
        value: &ValueColumn,
        table: &mut Table,
    ) -> Result<Sample, Trouble> {
        let name = self.metric.map_or(value.column.as_str(), |place| &record[place]);
        let direction = self.direction(record, line, value, name, table)?;
        let written = self.unit.map(|place| &record[place]).or(value.unit.as_deref());
        let (unit, scale) = unit(written.unwrap_or_default());
        let number = number(&record[place], line, &value.column)? * scale;
        if !number.is_finite() {
            let cause = format!("{} is too large for its unit", value.column);
            return Err(Trouble::at(line, cause, "correct the line, or its unit"));
        }
        let id = table
            .metric(name, unit, direction, Reduction::Mean)
            .map_err(|trouble| Trouble { line: Some(line), ..trouble })?;
        Ok(Sample::values(&id, vec![number]))
    }

    /// Declared for the column, for the metric, or in a column of its own.
    fn direction(
        &self,
        record: &StringRecord,
        line: u64,
        value: &ValueColumn,
        name: &str,
        table: &Table,
    ) -> Result<model::Direction, Trouble> {
        if let Some(place) = self.direction {
            return match record[place].to_ascii_lowercase().as_str() {
                "higher" => Ok(model::Direction::Higher),
                "lower" => Ok(model::Direction::Lower),
                other => {
                    let cause = format!("`{other}` is neither higher nor lower");
                    Err(Trouble::at(line, cause, "correct the column of directions"))
                }
            };
        }
        let id = metric_id(name);
        let named = self.better.get(name).or_else(|| self.better.get(&id));
        let declared = named.copied().or(value.direction);
        let known = table.metrics.iter().find(|metric| metric.id == id);
        match (declared, known) {
            (Some(direction), _) => Ok(direction.into()),
            (None, Some(known)) => Ok(known.direction),
            (None, None) => {
                let cause = format!("nobody said which way `{name}` is better");
                Err(Trouble::at(line, cause, format!("say --better {name}=higher or =lower")))
            }
        }
    }
}
