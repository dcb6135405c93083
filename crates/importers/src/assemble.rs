//! From rows to a plan and its records.

use crate::digits::roundings;
use crate::duplicates::copied;
use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::post_hoc::choices;
use crate::row_order::row_order;
use crate::table::{ImportedRow, ImportedTable, over};
use model::{
    Block, Caveat, CaveatCode, Circumstances, Comparisons, IMPORT_COMPARISONS, Imported,
    ImportedDesign, Invocation, Metric, Outcome, PLAN_FORMAT, PLAN_METRICS, ParameterValue,
    Parameters, Plan, Record, Sitting, Subject, WorkloadPlan,
};
use outputs::Trouble;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Sittings times workloads; where each row is one of them there are as many as rows.
const MOST_TRIALS: usize = 4_000_000;

/// How a file becomes a campaign.
#[derive(Debug, Clone)]
pub struct ImportSettings {
    /// kebab-case: names the campaign's directory.
    pub name: String,
    /// The question in a person's words.
    pub title: String,
    /// Names of the files, for people.
    pub files: String,
    /// The subject that others are compared with; the first one where not said.
    pub reference: Option<String>,
    /// Which subjects are compared.
    pub comparisons: Comparisons,
    /// Equivalence margin as a fraction; each metric's own where not said.
    pub margin: Option<f64>,
    /// Family-wise error rate.
    pub alpha: f64,
}

/// A plan and the records that belong to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// The plan.
    pub plan: Plan,
    /// The records.
    pub records: Vec<Record>,
}

/// Imports files of one format.
///
/// # Errors
/// The file's index, and what is wrong with it.
pub fn import(
    importer: &dyn Importer,
    sources: &[ImportFile<'_>],
    mapping: &Mapping,
    settings: &ImportSettings,
) -> Result<Assembled, (usize, Trouble)> {
    let mut table = ImportedTable::default();
    for (index, source) in sources.iter().enumerate() {
        importer.read(source, mapping, &mut table).map_err(|trouble| (index, trouble))?;
    }
    table.compare_settings();
    table.notice_simultaneous();
    let constant = table.drop_constant_dimensions();
    let foreign = table.units.iter().filter(|(_, unit)| !unit.is_empty());
    let foreign = foreign.map(|(metric, unit)| format!("{metric} is in {unit}"));
    let notes = foreign.chain(constant).chain(table.notes.iter().cloned()).collect();
    let usual = table.choices.usual.clone().unwrap_or_else(|| table.primary.clone());
    if !mapping.primary.is_empty() {
        table.primary.clone_from(&mapping.primary);
    }
    let format = importer.describe().id;
    let digest = digest(sources, mapping, settings, format);
    let mut assembled =
        assemble(&table, settings, format, digest).map_err(|trouble| (0, trouble))?;
    assembled.plan.check_size().map_err(|found| (0, over(found)))?;
    let chosen = choices(settings.margin, &usual, &table.choices, &assembled.plan);
    // The records have what the rows had.
    drop(table);
    if let Some(imported) = &mut assembled.plan.imported {
        imported.caveats.extend(chosen);
    }
    assembled.plan.notes = notes;
    assembled.plan.oldest_format().clone_into(&mut assembled.plan.format);
    Ok(assembled)
}

/// SHA-256 (hex) of all that decides the plan.
fn digest(
    sources: &[ImportFile<'_>],
    mapping: &Mapping,
    settings: &ImportSettings,
    format: &str,
) -> [String; 2] {
    let hexadecimal = |hash: Sha256| -> String {
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let mut files = Sha256::new();
    for source in sources {
        files.update((source.subject.len() as u64).to_le_bytes());
        files.update(source.subject);
        files.update((source.bytes.len() as u64).to_le_bytes());
        files.update(source.bytes);
    }
    let files = hexadecimal(files);
    let mut all = Sha256::new();
    let decisive = serde_json::json!([
        format,
        files,
        mapping,
        settings.reference,
        settings.comparisons,
        settings.margin,
        settings.alpha,
    ]);
    all.update(decisive.to_string());
    [files, hexadecimal(all)]
}

fn assemble(
    table: &ImportedTable,
    settings: &ImportSettings,
    format: &str,
    [files, digest]: [String; 2],
) -> Result<Assembled, Trouble> {
    let subjects = subjects(table, settings)?;
    let primary = primary(table)?;
    let labels = Labels::of(table)?;
    refuse_many(table, subjects.len(), primary.len(), labels.all.len(), settings)?;
    let has_blocks = table.rows.iter().any(|row| row.block.is_some());
    let mut caveats = table.caveats.clone();
    let (records, blocks) = if has_blocks {
        blocked(table, &labels, &mut caveats)?
    } else {
        (unblocked(table, &labels), Vec::new())
    };
    caveats.extend(copied(&records, has_blocks));
    let template = workload(table, settings, format, &primary);
    let design = if has_blocks { ImportedDesign::Blocked } else { unblocked_design(table) };
    let plan = Plan {
        format: PLAN_FORMAT.to_owned(),
        name: settings.name.clone(),
        title: settings.title.clone(),
        digest,
        venue: "import".to_owned(),
        seed: 0,
        is_seed_generated: false,
        alpha: settings.alpha,
        is_quick: false,
        is_pilot: false,
        subjects,
        workloads: labels
            .all
            .iter()
            .map(|(levels, label)| WorkloadPlan {
                label: label.clone(),
                parameters: parameters(&table.dimensions, levels),
                ..template.clone()
            })
            .collect(),
        blocks,
        looks: Vec::new(),
        budget_ns: None,
        pace: None,
        boots: None,
        comparisons: settings.comparisons.clone(),
        use_cases: Vec::new(),
        claims: Vec::new(),
        imported: Some(Imported {
            format: format.to_owned(),
            file: settings.files.clone(),
            digest: files,
            design,
            order: row_order(table),
            caveats,
        }),
        probes: Vec::new(),
        settle_ns: 0,
        rest_ns: 0,
        setting_ns: BTreeMap::new(),
        sim: None,
        vm: None,
        venue_settings: model::VenueSettings::default(),
        options: Vec::new(),
        notes: Vec::new(),
    };
    Ok(Assembled { plan, records })
}

fn unblocked_design(table: &ImportedTable) -> ImportedDesign {
    ImportedDesign::Unblocked { dimensions: table.dimensions.clone(), fixed: table.fixed.clone() }
}

/// What all workloads share.
fn workload(
    table: &ImportedTable,
    settings: &ImportSettings,
    format: &str,
    primary: &[String],
) -> WorkloadPlan {
    let roundings = roundings(table);
    let with_margin = |metric: &Metric| Metric {
        margin: settings.margin.unwrap_or(metric.margin),
        resolution: roundings.get(&metric.id).copied().unwrap_or(metric.resolution),
        ..metric.clone()
    };
    WorkloadPlan {
        label: String::new(),
        uses: format.to_owned(),
        parameters: Parameters::default(),
        variants: BTreeMap::new(),
        invocations: 1,
        metrics: table.metrics.iter().map(with_margin).collect(),
        primary: primary.to_vec(),
        pooled: Vec::new(),
        background: None,
        subjects: Vec::new(),
        expected_ns: 0,
        time_limit_ns: 0,
        is_closed_loop: table.is_closed_loop,
    }
}

/// Subjects in order of appearance, the reference first.
fn subjects(table: &ImportedTable, settings: &ImportSettings) -> Result<Vec<Subject>, Trouble> {
    let mut ids: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for row in &table.rows {
        if known.insert(row.subject.as_str()) {
            ids.push(&row.subject);
        }
    }
    if let Some(reference) = &settings.reference {
        let Some(place) = ids.iter().position(|id| id == reference) else {
            let remedy = format!("its subjects are {}", ids[..ids.len().min(20)].join(", "));
            return Err(Trouble::new(format!("there is no subject `{reference}`"), remedy));
        };
        ids[..=place].rotate_right(1);
    }
    if ids.len() < 2 {
        let remedy = "name the column of subjects with --subject, or give a file for each: old=a.json new=b.json";
        let cause = format!("there is one subject, {}: nothing to compare", ids.join(""));
        return Err(Trouble::new(cause, remedy));
    }
    let subject =
        |id: &str| Subject { id: id.to_owned(), levels: BTreeMap::new(), is_control: false };
    Ok(ids.into_iter().map(subject).collect())
}

fn primary(table: &ImportedTable) -> Result<Vec<String>, Trouble> {
    let known: Vec<&str> = table.metrics.iter().map(|metric| metric.id.as_str()).collect();
    for wanted in &table.primary {
        if !known.contains(&wanted.as_str()) {
            let remedy = format!("its metrics are {}", known.join(", "));
            return Err(Trouble::new(format!("there is no metric `{wanted}`"), remedy));
        }
    }
    if table.primary.is_empty() {
        return Ok(known.into_iter().map(str::to_owned).collect());
    }
    Ok(table.primary.clone())
}

fn refuse_many(
    table: &ImportedTable,
    subjects: usize,
    metrics: usize,
    cells: usize,
    settings: &ImportSettings,
) -> Result<(), Trouble> {
    let pairs = match settings.comparisons {
        Comparisons::All => subjects.saturating_mul(subjects - 1) / 2,
        // Within a factor there are fewer still.
        Comparisons::Reference | Comparisons::Within(_) => subjects - 1,
    };
    let comparisons = pairs.saturating_mul(metrics).saturating_mul(cells);
    let planned = cells.saturating_mul(table.metrics.len());
    if let Err(over) = PLAN_METRICS.check(planned as u64) {
        let cause = format!(
            "{cells} combinations of {} with {} metrics each: {over}",
            table.dimensions.join(", "),
            table.metrics.len()
        );
        return Err(Trouble::new(cause, "name fewer parameters, or import fewer metrics"));
    }
    let Err(over) = IMPORT_COMPARISONS.check(comparisons as u64) else { return Ok(()) };
    let cause = format!(
        "{subjects} subjects, {metrics} metrics and {cells} combinations of {} make {comparisons} comparisons; the \
         limit is {}",
        table.dimensions.join(", "),
        over.limit.most
    );
    Err(Trouble::new(cause, over.limit.remedy))
}

/// A label for each combination of levels, in order of appearance.
struct Labels {
    all: Vec<(Vec<String>, String)>,
    places: BTreeMap<Vec<String>, usize>,
}

impl Labels {
    fn of(table: &ImportedTable) -> Result<Self, Trouble> {
        let mut known = BTreeSet::new();
        let mut labels = Self { all: Vec::new(), places: BTreeMap::new() };
        for row in &table.rows {
            if labels.places.contains_key(&row.levels) {
                continue;
            }
            let parts = table.dimensions.iter().zip(&row.levels);
            let parts: Vec<String> = parts.map(|(name, level)| format!("{name}:{level}")).collect();
            let label = if parts.is_empty() { "all".to_owned() } else { parts.join(",") };
            if !known.insert(label.clone()) {
                let cause = format!("two combinations of parameters would both be called {label}");
                return Err(Trouble::new(cause, "rename their levels"));
            }
            labels.places.insert(row.levels.clone(), labels.all.len());
            labels.all.push((row.levels.clone(), label));
        }
        Ok(labels)
    }

    fn of_row(&self, row: &ImportedRow) -> &str {
        &self.all[self.places[&row.levels]].1
    }
}

fn parameters(dimensions: &[String], levels: &[String]) -> Parameters {
    let named = dimensions.iter().zip(levels);
    Parameters(
        named.map(|(name, level)| (name.clone(), ParameterValue::Text(level.clone()))).collect(),
    )
}

/// Rows of one place of one execution in one record, in the order of first rows.
fn gathered<'t, K: Ord>(
    table: &'t ImportedTable,
    key: impl Fn(usize, &'t ImportedRow) -> K,
) -> Vec<(usize, Vec<&'t ImportedRow>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(usize, Vec<&ImportedRow>)> = Vec::new();
    for (index, row) in table.rows.iter().enumerate() {
        let place = *places.entry(key(index, row)).or_insert_with(|| {
            groups.push((index, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(row);
    }
    groups
}

/// One record for each execution and cell. Executions are numbered within their
/// subject and the levels that they fix.
fn unblocked(table: &ImportedTable, labels: &Labels) -> Vec<Record> {
    let fixed: Vec<usize> = (0..table.dimensions.len())
        .filter(|index| table.fixed.contains(&table.dimensions[*index]))
        .collect();
    let execution = |index: usize, row: &ImportedRow| match &row.execution {
        Some(name) => (name.clone(), 0),
        None => (String::new(), index),
    };
    let groups = gathered(table, |index, row| {
        (row.subject.as_str(), row.levels.as_slice(), execution(index, row))
    });
    let mut numbers: BTreeMap<_, BTreeMap<_, u32>> = BTreeMap::new();
    let mut records = Vec::with_capacity(groups.len());
    for (sequence, rows) in groups {
        let row = rows[0];
        let levels: Vec<&str> = fixed.iter().map(|index| row.levels[*index].as_str()).collect();
        let of_stratum = numbers.entry((row.subject.as_str(), levels)).or_default();
        let next = of_stratum.len() as u32;
        let number = *of_stratum.entry(execution(sequence, row)).or_insert(next);
        records.push(record(sequence as u64, number, 0, labels.of_row(row), &rows));
    }
    records
}

/// One record for each block, subject and cell; blocks in order of appearance.
fn blocked(
    table: &ImportedTable,
    labels: &Labels,
    caveats: &mut Vec<Caveat>,
) -> Result<(Vec<Record>, Vec<Block>), Trouble> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut orders: Vec<Vec<&str>> = Vec::new();
    let mut positions: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    for row in &table.rows {
        let next = numbers.len() as u32;
        let block = row.block.as_deref().unwrap_or_default();
        let number = *numbers.entry(block).or_insert(next);
        if number as usize == orders.len() {
            orders.push(Vec::new());
        }
        let order = &mut orders[number as usize];
        positions.entry((number, &row.subject)).or_insert_with(|| {
            order.push(&row.subject);
            order.len() as u32 - 1
        });
    }
    let trials = positions.len().saturating_mul(labels.all.len());
    if trials > MOST_TRIALS {
        let cause = format!("its blocks, subjects and parameters make {trials} trials");
        return Err(Trouble::new(cause, "name the column of blocks, and fewer parameters"));
    }
    let distinct: BTreeSet<&Vec<&str>> = orders.iter().collect();
    if distinct.len() == 1 && orders.len() > 1 {
        let detail = format!("every block ran {} in this order", orders[0].join(", "));
        caveats.push(Caveat::new(CaveatCode::OrderConfounded, detail));
    }
    let groups = gathered(table, |_, row| {
        (row.block.as_deref().unwrap_or_default(), row.subject.as_str(), row.levels.as_slice())
    });
    let records = groups
        .into_iter()
        .map(|(sequence, rows)| {
            let row = rows[0];
            let number = numbers[row.block.as_deref().unwrap_or_default()];
            let position = positions[&(number, row.subject.as_str())];
            record(sequence as u64, number, position, labels.of_row(row), &rows)
        })
        .collect();
    let all: Vec<String> = labels.all.iter().map(|(_, label)| label.clone()).collect();
    let block = |(index, order): (usize, &Vec<&str>)| Block {
        index: index as u32,
        sittings: order
            .iter()
            .map(|id| Sitting { subject: (*id).to_owned(), workloads: all.clone(), boot: None })
            .collect(),
    };
    Ok((records, orders.iter().enumerate().map(block).collect()))
}

fn record(
    sequence: u64,
    block: u32,
    position: u32,
    workload: &str,
    rows: &[&ImportedRow],
) -> Record {
    let mut said = Circumstances::of(&rows[0].subject, workload);
    if let Some(reason) = rows.iter().find_map(|row| row.failure.clone()) {
        said.outcome = Outcome::Failed { reason };
    }
    Record {
        sequence,
        block,
        position,
        invocations: rows
            .iter()
            .map(|row| Invocation {
                samples: row.samples.clone(),
                run: None,
                failure: row.failure.clone(),
                disturbance: None,
            })
            .collect(),
        ..Record::from(said)
    }
}
