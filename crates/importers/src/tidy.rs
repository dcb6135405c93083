//! Tidy tables: a header, and in each row what was measured once.

use crate::asked_order::{AskedOrder, asked_order};
use crate::clean_cells::cleaned;
use crate::column_text::ColumnText;
use crate::failed_rows::fail_rows;
use crate::importer::{ImportFile, Importer};
use crate::last_digits::last_digit;
use crate::mapping::{Mapping, MappingDirection, ValueColumn};
use crate::metrics::{can_be_negative, metric_id, number, unit};
use crate::mixing::sort_rows;
use crate::own_table::place_of_caveats;
use crate::shared_levels::SharedLevels;
use crate::table::{ImportedTable, RowNames, TableFile, over};
use crate::unnamed::UnnamedColumns;
use contract::Description;
use csv::StringRecord;
use model::{Caveat, CaveatCode, IMPORT_COLUMNS, ImportFact, Reduction, Sample, SharedName, Unit};
use outputs::Trouble;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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
them, or one of which no execution has two levels, was fixed by the execution (it was started again for each level), \
the others were covered by it. Without it \
each row counts as an execution of its own, and REPLICATE_LEVEL_UNKNOWN says so. `--block` names the column of \
blocks, in each of which every subject ran: then the design's own analysis is used. `--independent COLUMN` \
states of one of these columns that each of its levels was an execution for itself, where nothing in the table shows \
it: REPLICATE_LEVEL_UNKNOWN says of which, and without that word there is no verdict. `--order` names the column \
that tells in which order rows were measured; where it hides an order that the times or the rows have and in which \
the subjects are not mixed, that one is asked instead, and said. Without it a column of times is used (a date, seconds since 1970, or a column called timestamp, started, sequence, ..), or else one of numbers of runs (run, trial, iteration, ..) that no two rows share, and said, unless the file mixes the subjects less. A column that tells parts of an execution apart (thread, cpu, cgroup, part, ..) or counts what it repeats (iteration, invocation, sample, ..) is refused as a replicate, and so are one that numbers the rows of each subject and is called i, n, index, session, batch or client, and one that nobody named and that sorts the rows of every \
subject; a column that nobody named and that tells which rows failed (exit_code, success, ..) makes failures of these, and is \
said; one that has one value for each subject, and not the same for all, raises SETTINGS_DIFFER, unless these are versions or dates or stand in the names of the subjects, and so does a column of sessions (session, boot, day, ..) of which each subject has its own; what other columns nobody named is said.";

/// Said of columns of which nothing shows that they tell executions apart.
const CROSSED: &str = "columns that have the same levels in every execution, as its parts do";

/// Said of columns that alone name executions and have the same levels for all subjects.
const SHARED: &str =
    "columns whose levels every subject has, and which nothing shows to be executions";

/// Said of columns that name machines.
const MACHINES: &str = "columns of machines, which may be unlike each other whatever they ran";

/// Said of such columns that nobody named.
const NAMELESS: &str =
    "columns that nobody named, and that every subject has the same levels of, as of parts";

/// A table with one delimiter.
pub(crate) struct Tidy {
    delimiter: u8,
    description: Description,
}

/// Metrics that are looked for before a name is made an id again.
const MOST_KNOWN: usize = 32;

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
    better: BTreeMap<String, MappingDirection>,
}

/// What a row said of a metric, and what followed: the same of every row that says the same.
struct KnownMetric {
    /// Place of the column of values.
    place: usize,
    /// What stands in the columns of metrics, units and directions, where there are such.
    name: Option<String>,
    unit_text: Option<String>,
    direction: Option<String>,
    id: SharedName,
    unit: Unit,
    /// By what numbers are multiplied.
    scale: f64,
}

/// The last ones.
type KnownMetrics = Vec<KnownMetric>;

impl Importer for Tidy {
    fn describe(&self) -> &'static Description {
        match self.delimiter {
            b'\t' => &TSV.description,
            _ => &CSV.description,
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "subject = \"s\"",
            "parameters = [\"p\"]",
            "replicate = [\"r\"]",
            "independent = [\"r\"]",
            "block = \"b\"",
            "order = \"o\"",
            "metric = \"m\"",
            "unit = \"u\"",
            "direction = \"d\"",
            "values = [{column = \"v\", direction = \"lower\"}]",
            "primary = [\"v\"]",
            "\"",
            ",",
            "\t",
            "\n",
            "\r\n",
            "\u{feff}",
            "higher",
            "ms",
            "1e308",
            "NaN",
            "-1",
        ]
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
        check_columns(bytes, self.delimiter)?;
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .trim(csv::Trim::Headers)
            .from_reader(bytes);
        let header = reader.headers().map_err(|error| broken(bytes, &error))?.clone();
        let columns = Columns::find(&header, mapping)?;
        let names = |places: &[usize]| -> Vec<String> {
            places.iter().map(|place| header[*place].to_owned()).collect()
        };
        let dimensions = names(&columns.parameters);
        let fixed = mapping.fixed(&dimensions);
        table.declare(
            &dimensions.iter().map(String::as_str).collect::<Vec<_>>(),
            &fixed.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
        let is_each_row_one = mapping.replicate.is_empty() && mapping.block.is_none();
        if is_each_row_one && !table.facts.contain(&ImportFact::UnknownReplicates) {
            let detail = "no column was named that identifies an execution: each row counts as one";
            table.caveats.push(Caveat::new(CaveatCode::ReplicateLevelUnknown, detail));
            table.facts.establish(ImportFact::UnknownReplicates);
        }
        let first = table.rows.len();
        let mut orders = ColumnText::default();
        let mut known = KnownMetrics::new();
        let caveats = place_of_caveats(&header);
        let named: Vec<usize> = columns.named().into_iter().chain(caveats).collect();
        let mut unnamed = UnnamedColumns::of(&header, &named, mapping);
        let mut read = StringRecord::new();
        while reader.read_record(&mut read).map_err(|error| broken(bytes, &error))? {
            let without = cleaned(&read);
            let record = without.as_ref().unwrap_or(&read);
            let line = record.position().map_or(0, |position| line(bytes, position));
            if let Some(place) = columns.order {
                orders.push(filled(record, line, place, "it tells no order")?);
            }
            columns.row(source, record, line, (&mut known, &mut *table))?;
            if let (Some(place), Some(row)) = (caveats, table.rows.last()) {
                table.origins.add(&record[place], &row.subject);
            }
            unnamed.add(record).map_err(|found| Trouble { line: Some(line), ..found })?;
        }
        if table.rows.len() == first {
            return Err(Trouble::new("there is a header and no row", "give a file with rows"));
        }
        let failed = unnamed.take_failed();
        unnamed.refuse_parts(mapping, &table.rows[first..])?;
        fail_rows(failed, first, table);
        tell_doubts(&unnamed, mapping, first, table);
        if caveats.is_none() {
            unnamed.add_settings(mapping, first, table);
        }
        let rows = &table.rows[first..];
        table.kinds.add(&unnamed.kinds(rows), rows);
        table.numbers.add(unnamed.numbering(mapping), rows);
        let left_out = unnamed.measured(&table.rows[first..]).into_iter().map(str::to_owned);
        table.choices.left_out.extend(left_out);
        let (used, tells_order) = put_in_order(&unnamed, mapping, &orders, first, table)?;
        table.files.push(TableFile { first, tells_order });
        unnamed.told(used).into_iter().for_each(|told| table.note(told));
        Ok(())
    }
}

/// Says which columns that name executions, or that nobody named, may tell parts of one apart, and which
/// of them are executions by the user's word.
fn tell_doubts(
    unnamed: &UnnamedColumns,
    mapping: &Mapping,
    first: usize,
    table: &mut ImportedTable,
) {
    let rows = &table.rows[first..];
    let is_doubted = |name: &str| !mapping.independent.iter().any(|own| own == name);
    let crossed = unnamed.crossed(rows);
    let is_each_row_one = mapping.replicate.is_empty() && mapping.block.is_none();
    let nameless = if is_each_row_one { unnamed.nameless(rows) } else { Vec::new() };
    let mut levels = SharedLevels::default();
    for (what, columns) in [(SHARED, unnamed.alone()), (NAMELESS, nameless)] {
        for (name, fields) in columns.into_iter().filter(|(name, _)| is_doubted(name)) {
            levels.add(what, name, rows.iter().map(|row| &row.subject).zip(fields.iter()));
        }
    }
    // What a file of one subject shares with others, only these tell.
    let is_of_one = rows.windows(2).all(|pair| pair[0].subject == pair[1].subject);
    for name in unnamed.machines().into_iter().filter(|name| is_doubted(name)) {
        table.establish(ImportFact::UnknownReplicates, MACHINES, name);
    }
    for name in crossed.into_iter().filter(|name| is_doubted(name)) {
        table.notice_parts(CROSSED, name);
    }
    if is_of_one {
        table.levels.append(levels);
    } else {
        levels.found().for_each(|(what, name)| table.notice_parts(what, name));
    }
    for name in &mapping.independent {
        table.note(format!("by the user's word, each {name} is an execution of its own"));
    }
}

/// Puts the rows from this one on in the order that is asked. The times that tell it, where nobody
/// named them, and whether the order of the subjects is told by a column.
fn put_in_order<'a>(
    unnamed: &'a UnnamedColumns,
    mapping: &Mapping,
    orders: &ColumnText,
    first: usize,
    table: &mut ImportedTable,
) -> Result<(Option<&'a ColumnText>, bool), Trouble> {
    let rows = &table.rows[first..];
    let Some(name) = &mapping.order else {
        let Some((told, times)) = unnamed.times(rows)? else { return Ok((None, false)) };
        let tells_order = times.is_some_and(|times| sort_rows(&mut table.rows[first..], times));
        table.note(told);
        return Ok((times, tells_order));
    };
    let (asked, is_chosen) = asked_order(name, orders, &unnamed.clocks(rows), rows);
    if is_chosen {
        table.choices.orders.insert(name.clone());
    }
    Ok(match asked {
        AskedOrder::Named => (None, sort_rows(&mut table.rows[first..], orders)),
        AskedOrder::Times { told, times } => {
            table.note(told);
            (Some(times), sort_rows(&mut table.rows[first..], times))
        }
        AskedOrder::Rows { told } => {
            table.note(told);
            (None, false)
        }
    })
}

/// Whether a number is one of its unit.
fn check_range(
    number: f64,
    (unit, written): (Unit, Option<&str>),
    text: &str,
    (line, value): (u64, &ValueColumn),
) -> Result<(), Trouble> {
    if !number.is_finite() {
        let cause = format!("{} is too large for its unit", value.column);
        return Err(Trouble::at(line, cause, "correct the line, or its unit"));
    }
    if number < 0.0 && !can_be_negative(unit) {
        let written = written.unwrap_or_default();
        let cause = format!("{} is {text}, and {written} cannot be negative", value.column);
        return Err(Trouble::at(line, cause, "correct the line, or remove it"));
    }
    Ok(())
}

/// A field that must not be empty.
fn filled<'r>(
    record: &'r StringRecord,
    line: u64,
    place: usize,
    why: &str,
) -> Result<&'r str, Trouble> {
    let text = &record[place];
    if text.is_empty() {
        let cause = format!("field {} is empty: {why}", place + 1);
        return Err(Trouble::at(line, cause, "fill it, or remove the line"));
    }
    Ok(text)
}

/// The line a record begins in. Its position is where the record before it ended, and
/// empty lines lie between.
pub(crate) fn line(bytes: &[u8], position: &csv::Position) -> u64 {
    let rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    let between = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + between.filter(|byte| **byte == b'\n').count() as u64
}

/// Refuses a line of more columns than a table has: the parser needs eight bytes for each, several
/// times over, before anybody counts them.
pub(crate) fn check_columns(bytes: &[u8], delimiter: u8) -> Result<(), Trouble> {
    let (mut line, mut columns) = (1, 1);
    for byte in bytes {
        match byte {
            b'\n' => (line, columns) = (line + 1, 1),
            b'\r' => columns = 1,
            byte if *byte == delimiter => {
                columns += 1;
                IMPORT_COLUMNS
                    .check(columns)
                    .map_err(|found| Trouble { line: Some(line), ..over(found) })?;
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn broken(bytes: &[u8], error: &csv::Error) -> Trouble {
    let line = error.position().map(|position| line(bytes, position));
    let cause = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} fields, and the header {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    };
    Trouble { line, cause, remedy: "correct the line, or choose csv or tsv as it is".to_owned() }
}

/// What is said of a column that a mapping names and that is not there.
fn absent(name: &str, known: &[&str]) -> Trouble {
    let spelled = if name.contains(':') {
        "; behind a column of values stands :higher or :lower, and then its unit"
    } else {
        ""
    };
    let remedy = format!("its columns are {}{spelled}", known.join(", "));
    Trouble::at(1, format!("there is no column `{name}`"), remedy)
}

impl Columns {
    fn find(header: &StringRecord, mapping: &Mapping) -> Result<Self, Trouble> {
        let known: Vec<&str> = header.iter().collect();
        // A mapping may name very many, and a header of a few names may be long.
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, column) in known.iter().enumerate() {
            places.entry(*column).or_default().push(place);
        }
        let find = |name: &String| -> Result<usize, Trouble> {
            match places.get(name.as_str()).map(Vec::as_slice) {
                Some([place]) => Ok(*place),
                Some(_) => {
                    let cause = format!("two columns are called `{name}`");
                    Err(Trouble::at(1, cause, "rename one of them"))
                }
                None => Err(absent(name, &known)),
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
        let of_executions: BTreeSet<&String> =
            mapping.replicate.iter().chain(&mapping.block).collect();
        if let Some(name) = mapping.independent.iter().find(|name| !of_executions.contains(name)) {
            let cause =
                format!("`{name}` is said to be independent and identifies no execution or block");
            return Err(Trouble::new(cause, "name it with --replicate or --block as well"));
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

    /// Where columns stand that the mapping names.
    fn named(&self) -> Vec<usize> {
        let single = [self.subject, self.block, self.order, self.metric, self.unit, self.direction];
        let several = self.parameters.iter().chain(&self.replicate).copied();
        let values = self.values.iter().map(|(place, _)| *place);
        single.into_iter().flatten().chain(several).chain(values).collect()
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
        let measured: Vec<usize> = self
            .values
            .iter()
            .map(|(place, _)| *place)
            .chain([self.metric, self.unit, self.direction].into_iter().flatten())
            .collect();
        for (index, place) in self.replicate.iter().enumerate() {
            if measured.contains(place) || self.replicate[..index].contains(place) {
                let cause =
                    format!("the column `{}` cannot be part of the replicate", known[*place]);
                let remedy = "name columns that identify an execution, each once, and none of what it measured";
                return Err(Trouble::new(cause, remedy));
            }
        }
        Ok(())
    }

    /// Appends a row to the table.
    fn row(
        &self,
        source: &ImportFile<'_>,
        record: &StringRecord,
        line: u64,
        (known, table): (&mut KnownMetrics, &mut ImportedTable),
    ) -> Result<(), Trouble> {
        let mut samples = Vec::with_capacity(self.values.len());
        for (place, value) in &self.values {
            samples.push(self.sample(record, line, (*place, value), (&mut *known, &mut *table))?);
        }
        let named = |place: &usize| filled(record, line, *place, "it identifies no execution");
        let names = RowNames {
            subject: self.subject.map_or(source.subject, |place| &record[place]),
            levels: self.parameters.iter().map(|place| &record[*place]).collect(),
            execution: match self.replicate.as_slice() {
                [] => None,
                [only] => Some(Cow::Borrowed(named(only)?)),
                // Quoted, so that `a b, c` is not `a, b c`.
                several => {
                    let several = several.iter().map(named).collect::<Result<Vec<_>, _>>()?;
                    Some(Cow::Owned(format!("{several:?}")))
                }
            },
            block: self.block.map(|place| &record[place]),
        };
        table.push_named(Some(line), &names, samples)
    }

    fn sample(
        &self,
        record: &StringRecord,
        line: u64,
        (place, value): (usize, &ValueColumn),
        (known, table): (&mut KnownMetrics, &mut ImportedTable),
    ) -> Result<Sample, Trouble> {
        let of_row = |place: Option<usize>| place.map(|place| &record[place]);
        // What a row says of a metric, most rows before it said, too.
        let says = |known: &&KnownMetric| {
            known.place == place
                && known.name.as_deref() == of_row(self.metric)
                && known.unit_text.as_deref() == of_row(self.unit)
                && known.direction.as_deref() == of_row(self.direction)
        };
        if let Some(known) = known.iter().find(says) {
            let number = number(&record[place], line, &value.column)? * known.scale;
            let written = of_row(self.unit).or(value.unit.as_deref());
            check_range(number, (known.unit, written), &record[place], (line, value))?;
            if let Some(digit) = last_digit(&record[place]) {
                table.last_digit(&known.id, digit * known.scale);
            }
            return Ok(Sample::value(known.id.clone(), number));
        }
        let name = match self.metric {
            Some(place) => filled(record, line, place, "it names no metric")?,
            None => value.column.as_str(),
        };
        let direction = self.direction(record, line, value, name, table)?;
        let written = of_row(self.unit).or(value.unit.as_deref());
        let (unit, scale) = unit(written.unwrap_or_default());
        let number = number(&record[place], line, &value.column)? * scale;
        if unit == Unit::Plain {
            table
                .foreign_unit(name, written.unwrap_or_default())
                .map_err(|trouble| Trouble { line: Some(line), ..trouble })?;
        }
        check_range(number, (unit, written), &record[place], (line, value))?;
        let id = table
            .metric(name, unit, direction, Reduction::Mean)
            .map_err(|trouble| Trouble { line: Some(line), ..trouble })?;
        if let Some(digit) = last_digit(&record[place]) {
            table.last_digit(&id, digit * scale);
        }
        if known.len() == MOST_KNOWN {
            known.clear();
        }
        let owned = |place: Option<usize>| of_row(place).map(str::to_owned);
        let id = table.shared(&id);
        known.push(KnownMetric {
            place,
            name: owned(self.metric),
            unit_text: owned(self.unit),
            direction: owned(self.direction),
            id: id.clone(),
            unit,
            scale,
        });
        Ok(Sample::value(id, number))
    }

    /// Declared for the column, for the metric, or in a column of its own.
    fn direction(
        &self,
        record: &StringRecord,
        line: u64,
        value: &ValueColumn,
        name: &str,
        table: &ImportedTable,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{campaign, imported, picture, read, refusal};
    use crate::{Assembled, ImportSettings};
    use expect_test::{Expect, expect};
    use model::{Comparisons, ImportedOrder};

    /// `subject=a parameters=b,c values=v:lower`: what the command line would say.
    fn mapping(words: &str) -> Mapping {
        let mut mapping = Mapping::default();
        for word in words.split_whitespace() {
            let (key, value) = word.split_once('=').unwrap();
            let one = Some(value.to_owned());
            let all = value.split(',').map(str::to_owned).collect();
            match key {
                "subject" => mapping.subject = one,
                "parameters" => mapping.parameters = all,
                "replicate" => mapping.replicate = all,
                "block" => mapping.block = one,
                "order" => mapping.order = one,
                "metric" => mapping.metric = one,
                "unit" => mapping.unit = one,
                "direction" => mapping.direction = one,
                "primary" => mapping.primary = all,
                "values" => {
                    mapping.values =
                        value.split(',').map(|text| Mapping::value(text).unwrap()).collect();
                }
                _ => panic!("{key} is no key"),
            }
        }
        mapping
    }

    fn check(words: &str, text: &[u8], expected: &Expect) {
        expected.assert_eq(&picture(&read(&CSV, &[("file", text)], &mapping(words)).unwrap()));
    }

    fn check_campaign(words: &str, text: &str, expected: &Expect) {
        expected.assert_eq(&campaign(&assembled(words, text)));
    }

    fn assembled(words: &str, text: &str) -> Assembled {
        imported(&CSV, &[("file", text.as_bytes())], &mapping(words)).unwrap()
    }

    fn refused(words: &str, text: impl AsRef<[u8]>) -> String {
        refusal(&CSV, text.as_ref(), &mapping(words))
    }

    const PLAIN: &str = "subject=s values=v:lower:ms";

    /// Where each name is looked for among all columns, or these are told for each, this ends at the
    /// time limit.
    #[test]
    fn columns_that_a_mapping_names_very_often_are_looked_up() {
        let text = format!("s,v,{}\na,1,0\nb,2,0\n", "x".repeat(4 << 20));
        let often = |name: &str, count: usize| vec![name.to_owned(); count];
        let values = vec![mapping(PLAIN).values[0].clone(); 300_000];
        let named = Mapping { values, ..mapping(PLAIN) };
        let found = refusal(&CSV, text.as_bytes(), &named);
        assert!(found.contains("the column `v` is named as two things"), "{found}");
        let mut replicate = often("x", 300_000);
        replicate.push("r".to_owned());
        let named = Mapping { replicate, independent: often("r", 300_000), ..mapping(PLAIN) };
        let found = refusal(&CSV, text.as_bytes(), &named);
        assert!(found.contains("there is no column `x`"), "{found}");
    }

    #[test]
    fn a_line_of_more_columns_than_a_table_has_is_refused_before_it_is_parsed() {
        let most = usize::try_from(IMPORT_COLUMNS.most).unwrap();
        let found = refused(PLAIN, format!("s,v\na,1{}\n", ",1".repeat(most)));
        assert!(
            found.starts_with("line 2: more than 10000 columns (limit IMPORT_COLUMNS)"),
            "{found}"
        );
        let lines = format!("s,v\r{}b,2", "a,1\r".repeat(most));
        assert_eq!(check_columns(lines.as_bytes(), b','), Ok(()));
    }

    #[test]
    fn rows_count_as_executions_by_no_word_of_anybody_whatever_else_was_noticed() {
        let mut table = ImportedTable::default();
        table.notice(CaveatCode::AbsentValues, "runs that failed", "a");
        let source = ImportFile { subject: "file", execution: 1, bytes: b"s,v\na,1\nb,2\n" };
        CSV.read(&source, &mapping(PLAIN), &mut table).unwrap();
        assert!(table.facts.contain(&ImportFact::UnknownReplicates), "{:?}", table.caveats);
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        for (text, cause) in [
            ("s,w\na,1\n", "line 1: there is no column `v`"),
            ("s,v,v\na,1,2\n", "line 1: two columns are called `v`"),
            ("s,v\na,1\nb,2,3\n", "line 3: it has 3 fields, and the header 2"),
            ("s,v\na\n", "line 2: it has 1 fields, and the header 2"),
            ("s,v\na,1\na,NaN\n", "line 3: v is `NaN`, which is no finite number"),
            ("s,v\na,-inf\n", "line 2: v is `-inf`, which is no finite number"),
            ("s,v\na,1e999\n", "line 2: v is `1e999`, which is no finite number"),
            ("s,v\na,1e305\n", "line 2: v is too large for its unit"),
            ("s,v\na,-5\n", "line 2: v is -5, and ms cannot be negative"),
            ("s,v\na,\n", "line 2: v is empty, which is not zero"),
            ("s,v\na,\"1,5\"\n", "line 2: v is `1,5`, which is no finite number"),
            ("s,v\r\n\r\na\r\n", "line 3: it has 1 fields, and the header 2"),
            ("s,v\n\n\n,1\n", "line 4: \"\" is no name of a subject, level or execution"),
            ("s,v\n\"a\nb\",1\n", "line 2: \"a\\nb\" is no name of a subject, level or execution"),
            ("s,v\n", "there is a header and no row"),
            ("", "line 1: there is no column `v`"),
        ] {
            assert_eq!(refused(PLAIN, text), cause, "{text:?}");
        }
        let long = format!("s,v\n{},1\n", "x".repeat(201));
        assert!(refused(PLAIN, long).starts_with("line 2: \"xxx"));
    }

    #[test]
    fn an_apostrophe_that_kept_a_spreadsheet_from_calculating_is_no_content() {
        check(
            PLAIN,
            b"s,v\n'=1+1,1\n'tis,2\n-x,3\n",
            &expect![[r#"
                metric v Nanoseconds Lower Mean 0.02 judged
                =1+1 [] #? v=1000000
                'tis [] #? v=2000000
                -x [] #? v=3000000
                caveat REPLICATE_LEVEL_UNKNOWN: no column was named that identifies an execution: each row counts as one
            "#]],
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        assert_eq!(refused(PLAIN, b"s,v\na,1\n\xff,1\n"), "line 3: it is not UTF-8");
        assert_eq!(refused(PLAIN, b"s,\xff\na,1\n"), "line 1: it is not UTF-8");
    }

    #[test]
    fn what_the_mapping_lacks_is_said() {
        assert_eq!(refused("subject=s", "s,v\na,1\n"), "no column of values was named");
        assert_eq!(
            refused("subject=s values=v", "s,v\na,1\n"),
            "line 2: nobody said which way `v` is better"
        );
        assert_eq!(
            refused("subject=s block=b replicate=b values=v:lower", "s,b,v\na,1,1\n"),
            "both blocks and replicates were named"
        );
        assert_eq!(
            refused("subject=s parameters=s values=v:lower", "s,v\na,1\n"),
            "the column `s` is named as two things"
        );
    }

    #[test]
    fn a_byte_order_mark_carriage_returns_quotes_and_blanks_are_no_content() {
        let text = b"\xef\xbb\xbf s , v\r\n\"a, \"\"b\"\"\", 1.5 \r\n\r\nc,2\r\n";
        check(
            PLAIN,
            text,
            &expect![[r#"
            metric v Nanoseconds Lower Mean 0.02 judged
            a, "b" [] #? v=1500000
            c [] #? v=2000000
            caveat REPLICATE_LEVEL_UNKNOWN: no column was named that identifies an execution: each row counts as one
        "#]],
        );
    }

    #[test]
    fn a_table_may_be_separated_by_tabs() {
        let table = read(&TSV, &[("x", b"v\tw\n1\t2\n")], &mapping("values=w:higher")).unwrap();
        assert_eq!(table.rows[0].samples, [Sample::values("w", vec![2.0])]);
        assert_eq!(table.rows[0].subject, "x");
    }

    #[test]
    fn each_row_is_a_replicate_of_unknown_level_where_nobody_says() {
        let text = b"s,p,v\na,1,5\na,1,6\nb,1,7\n";
        check(
            "subject=s parameters=p values=v:higher",
            text,
            &expect![[r#"
            dimension p fixed
            metric v Plain Higher Mean 0.02 judged
            a [1] #? v=5
            a [1] #? v=6
            b [1] #? v=7
            caveat REPLICATE_LEVEL_UNKNOWN: no column was named that identifies an execution: each row counts as one
        "#]],
        );
    }

    #[test]
    fn several_columns_of_values_are_several_metrics() {
        let text = b"s,run,t,r\na,1,5,70\nb,1,6,80\n";
        check(
            "subject=s replicate=run values=t:lower:ms,r:higher:1/s",
            text,
            &expect![[r#"
            metric t Nanoseconds Lower Mean 0.02 judged
            metric r PerSecond Higher Mean 0.02 judged
            a [] #1 t=5000000 r=70
            b [] #1 t=6000000 r=80
        "#]],
        );
    }

    #[test]
    fn a_long_table_names_metric_unit_and_direction_in_columns() {
        let words = "subject=s replicate=run metric=m unit=u direction=d values=v";
        let text =
            b"s,run,m,u,d,v\na,1,lat,us,lower,5\na,1,rate,ops/s,Higher,70\nb,1,lat,us,lower,6\n";
        check(
            words,
            text,
            &expect![[r#"
            metric lat Nanoseconds Lower Mean 0.02 judged
            metric rate PerSecond Higher Mean 0.02 judged
            a [] #1 lat=5000
            a [] #1 rate=70
            b [] #1 lat=6000
        "#]],
        );
        for (row, cause) in [
            ("a,1,lat,us,better,5", "`better` is neither higher nor lower"),
            ("a,1,lat,us,,5", "`` is neither higher nor lower"),
            ("a,1,,us,lower,5", "field 3 is empty: it names no metric"),
            ("a,1,lat,ms,higher,5", "`lat` has another unit or direction than before"),
            ("a,1,lat,B,lower,5", "`lat` has another unit or direction than before"),
            ("a,1,Lat,us,lower,5", "`Lat` and `lat` would both be called lat"),
        ] {
            let text = format!("s,run,m,u,d,v\na,1,lat,us,lower,5\n{row}\n");
            assert_eq!(refused(words, text), format!("line 3: {cause}"));
        }
    }

    #[test]
    fn rows_come_in_the_order_of_a_column() {
        let order = |text: &str| -> Vec<String> {
            let words = "subject=s order=o values=v:lower";
            let table = read(&CSV, &[("x", text.as_bytes())], &mapping(words)).unwrap();
            table.rows.into_iter().map(|row| row.subject.to_string()).collect()
        };
        assert_eq!(order("s,o,v\nc,10,1\na,9,1\nb,9.5,1\n"), ["a", "b", "c"]);
        assert_eq!(order("s,o,v\nb,2026-01-02,1\na,2026-01-01,1\n"), ["a", "b"]);
        assert_eq!(
            refused("subject=s order=o values=v:lower", "s,o,v\na,1,1\nb,,1\n"),
            "line 3: field 2 is empty: it tells no order"
        );
    }

    #[test]
    fn an_execution_is_numbered_within_its_subject_and_what_it_fixes() {
        // Run 1 and 2 are started again for each size, and cover both operations.
        let words = "subject=s parameters=size,op replicate=size,run values=v:higher";
        let text = "s,size,op,run,v\n\
                    a,4k,r,1,10\na,4k,w,1,11\na,4k,r,2,12\na,64k,r,1,13\n\
                    b,4k,r,7,14\nb,4k,r,9,15\nb,4k,r,7,16\n";
        check_campaign(
            words,
            text,
            &expect![[r#"
            subjects a; b
            workloads size:4k,op:r; size:4k,op:w; size:64k,op:r
            unblocked over ["size", "op"], fixed ["size"]
            0 a size:4k,op:r replicate 0 position 0: v=10
            1 a size:4k,op:w replicate 0 position 0: v=11
            2 a size:4k,op:r replicate 1 position 0: v=12
            3 a size:64k,op:r replicate 0 position 0: v=13
            4 b size:4k,op:r replicate 0 position 0: v=14 v=16
            5 b size:4k,op:r replicate 1 position 0: v=15
        "#]],
        );
    }

    #[test]
    fn names_of_executions_are_not_run_together() {
        let words = "subject=s replicate=x,y values=v:lower";
        let numbers = |text: &str| -> Vec<u32> {
            assembled(words, text).records.iter().map(|record| record.block).collect()
        };
        assert_eq!(numbers("s,x,y,v\na,p q,r,1\na,p,q r,2\nb,p,q,3\n"), [0, 1, 0]);
        assert_eq!(
            refused(words, "s,x,y,v\na,p,,1\n"),
            "line 2: field 3 is empty: it identifies no execution"
        );
    }

    #[test]
    fn a_block_holds_every_subject_once_in_the_order_of_the_file() {
        let words = "subject=s parameters=p block=b values=v:lower";
        let text = "s,p,b,v\na,1,x,5\nb,1,x,6\nb,1,y,7\na,1,y,8\na,2,y,9\n";
        check_campaign(
            words,
            text,
            &expect![[r#"
            subjects a; b
            workloads p:1; p:2
            blocked
            block 0: a, b
            block 1: b, a
            0 a p:1 replicate 0 position 0: v=5
            1 b p:1 replicate 0 position 1: v=6
            2 b p:1 replicate 1 position 0: v=7
            3 a p:1 replicate 1 position 1: v=8
            4 a p:2 replicate 1 position 1: v=9
        "#]],
        );
    }

    #[test]
    fn blocks_that_all_run_in_one_order_are_confounded_with_it() {
        let words = "subject=s block=b values=v:lower";
        let text = "s,b,v\na,x,5\nb,x,6\na,y,7\nb,y,8\n";
        check_campaign(
            words,
            text,
            &expect![[r#"
            subjects a; b
            workloads all
            blocked
            caveat ORDER_CONFOUNDED: the rows of every block have a, b in this order, and no file of all rows shows that they ran in it: one with a column of times, or of the sequence of the runs (--order), would
            block 0: a, b
            block 1: a, b
            0 a all replicate 0 position 0: v=5
            1 b all replicate 0 position 1: v=6
            2 a all replicate 1 position 0: v=7
            3 b all replicate 1 position 1: v=8
        "#]],
        );
    }

    #[test]
    fn blocks_are_said_to_have_run_in_an_order_only_where_a_column_tells_it() {
        let told = |words: &str, text: &str| {
            let imported = assembled(words, text).plan.imported.unwrap();
            let is_of_order = |one: &&Caveat| one.code == CaveatCode::OrderConfounded;
            let detail = imported.caveats.iter().find(is_of_order).unwrap().detail.clone();
            (imported.order, detail)
        };
        let words = "subject=s block=b values=v:lower";
        assert_eq!(
            told(
                &format!("{words} order=sequence"),
                "s,b,sequence,v\na,x,1,5\nb,x,2,6\na,y,3,7\nb,y,4,8\n"
            ),
            (ImportedOrder::Column, "every block ran a, b in this order".to_owned())
        );
        let unknown = "the rows of every block have a, b in this order, and no file of all rows shows that they ran in it: \
                       one with a column of times, or of the sequence of the runs (--order), would";
        for (text, order) in [
            ("s,b,v\na,x,5\nb,x,6\na,y,7\nb,y,8\n", ImportedOrder::Rows),
            ("s,b,v\na,x,5\na,y,7\nb,x,6\nb,y,8\n", ImportedOrder::Rows),
            ("s,b,v\na,x,5\nb,x,6\na,x,7\na,y,7\nb,y,8\n", ImportedOrder::Unknown),
        ] {
            assert_eq!(told(words, text), (order, unknown.to_owned()), "{text}");
        }
    }

    #[test]
    fn too_many_comparisons_are_refused() {
        let mut text = "s,p,v\n".to_owned();
        for index in 0..25_001 {
            text.push_str(&format!("a,{index},1\n"));
        }
        text.push_str("b,1,1\nc,1,1\n");
        let words = mapping("subject=s parameters=p values=v:lower");
        let files: [(&str, &[u8]); 1] = [("x", text.as_bytes())];
        let (file, trouble) = imported(&CSV, &files, &words).unwrap_err();
        assert_eq!(
            (file, trouble.to_string().as_str()),
            (
                0,
                "3 subjects, 1 metrics and 25001 combinations of p: more than 20000 comparisons (limit IMPORT_COMPARISONS): \
                 75003 were found"
            )
        );
    }

    /// So many subjects, levels of a parameter, and rows of each of both.
    fn crossed(subjects: usize, levels: usize, rows: usize) -> String {
        let mut text = "s,p,v\n".to_owned();
        for place in 0..rows * levels * subjects {
            let (subject, level) = (place % subjects, place / subjects % levels);
            text.push_str(&format!("s{subject},{level},{}\n", 100 + place % 7));
        }
        text
    }

    #[test]
    fn products_are_refused_by_the_names_of_their_limits_and_honest_tables_are_not() {
        let read = |subjects, levels, rows| {
            let text = crossed(subjects, levels, rows);
            let files: [(&str, &[u8]); 1] = [("x", text.as_bytes())];
            imported(&CSV, &files, &mapping("subject=s parameters=p values=v:lower"))
                .map(|found| found.records.len())
                .map_err(|(_, trouble)| trouble.to_string())
        };
        assert_eq!(read(40, 20, 2), Ok(1_600));
        assert_eq!(read(10, 200, 5), Ok(10_000));
        let refused = |subjects, levels, rows| read(subjects, levels, rows).unwrap_err();
        let comparisons = refused(64, 20, 2);
        assert!(comparisons.contains("limit IMPORT_COMPARISONS): 40320 were"), "{comparisons}");
        assert!(refused(2, 2_001, 1).contains("limit PLAN_WORKLOADS"));
        assert!(refused(140, 2, 170).contains("limit IMPORT_COMPARED_VALUES"));
    }

    #[test]
    fn fields_that_nobody_named_are_refused_by_the_name_of_the_limit() {
        let columns: Vec<String> = (0..9_000).map(|number| format!("c{number}")).collect();
        let mut text = format!("s,v,{}\n", columns.join(","));
        for row in 0..600 {
            text.push_str(&format!("{},1{}\n", ["a", "b"][row % 2], ",".repeat(9_000)));
        }
        let found = refused(PLAIN, text);
        assert!(found.contains("line 446: more than 4000000 fields"), "{found}");
        assert!(found.contains("limit IMPORT_FIELDS"), "{found}");
    }

    #[test]
    fn one_subject_two_shapes_and_unknown_names_are_refused() {
        let cause = |files: &[(&str, &[u8])], words: &str| {
            let (file, trouble) = imported(&CSV, files, &mapping(words)).unwrap_err();
            format!("{file}: {trouble}")
        };
        let one: &[u8] = b"p,q,v\n1,1,1\n";
        assert_eq!(
            cause(&[("a", one)], "values=v:lower"),
            "0: there is one subject, a: nothing to compare"
        );
        assert_eq!(
            cause(&[("a", one), ("b", b"v\nx\n")], "values=v:lower"),
            "1: line 2: v is `x`, which is no finite number"
        );
        assert_eq!(
            cause(&[("a", one), ("b", one)], "values=v:lower primary=w"),
            "0: there is no metric `w`"
        );
        assert_eq!(
            cause(
                &[("a", b"p,q,v\n\"1,q:1\",1,1\n1,\"1,q:1\",1\n"), ("b", one)],
                "parameters=p,q values=v:lower"
            ),
            "0: two combinations of parameters would both be called p:1,q:1,q:1"
        );
    }

    #[test]
    fn the_reference_comes_first_and_must_exist() {
        let text = b"s,v\na,1\nb,1\nc,1\n";
        let settings = |reference: &str| ImportSettings {
            reference: Some(reference.to_owned()),
            comparisons: Comparisons::All,
            ..crate::picture::settings()
        };
        let source = ImportFile { subject: "x", execution: 1, bytes: text };
        let import = |reference| {
            crate::import(
                &CSV,
                &[source],
                &mapping("subject=s values=v:lower"),
                &settings(reference),
            )
        };
        let subjects = import("b").unwrap().plan.subjects;
        let ids: Vec<&str> = subjects.iter().map(|subject| subject.id.as_str()).collect();
        assert_eq!(ids, ["b", "a", "c"]);
        let (_, trouble) = import("z").unwrap_err();
        assert_eq!(trouble.remedy, "its subjects are a, b, c");
    }
}
