//! From rows to a plan and its records.

mod blocked;

use crate::digits::roundings;
use crate::duplicates::copied;
use crate::executions::ExecutionLevels;
use crate::import_notices::ImportNotices;
use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::measured_rows::MeasuredRows;
use crate::post_hoc::{choices, given};
use crate::row_order::row_order;
use crate::table::{ImportedTable, over};
use crate::table_row::TableRow;
use blocked::blocked;
use model::{
    Comparisons, GivenChoices, IMPORT_COMPARED_VALUES, IMPORT_COMPARISONS, ImportFact, Imported,
    ImportedDesign, ImportedOrder, Metric, PLAN_FORMAT, PLAN_METRICS, PLAN_SUBJECTS,
    PLAN_WORKLOADS, ParameterValue, Parameters, Plan, Record, SharedName, Subject, WorkloadPlan,
};
use outputs::Trouble;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// Sittings times workloads, as many as a plan may have (`PLAN_TRIALS`); where each row is one of them
/// there are as many as rows.
const MOST_TRIALS: usize = 2_000_000;

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
    /// What executions have of the parameters.
    pub executions: ExecutionLevels,
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
    let file_bytes = sources.iter().map(|source| source.bytes.len() as u64).sum();
    let mut table = ImportedTable::of_files(file_bytes);
    for (index, source) in sources.iter().enumerate() {
        importer.read(source, mapping, &mut table).map_err(|trouble| (index, trouble))?;
        table.release_document();
    }
    table.compare_settings();
    table.note_counted_shares();
    table.notice_simultaneous();
    table.notice_shared_levels();
    table.notice_origins();
    let constant = table.drop_constant_dimensions();
    let foreign = table.units.iter().filter(|(_, unit)| !unit.is_empty());
    let foreign = foreign.map(|(metric, unit)| format!("{metric} is in {unit}"));
    let mut notes: Vec<String> = foreign.chain(constant).collect();
    let usual = table.choices.usual.clone().unwrap_or_else(|| table.primary.clone());
    if !mapping.primary.is_empty() {
        table.primary.clone_from(&mapping.primary);
    }
    let format = importer.describe().id;
    let digest = digest(sources, mapping, settings, format);
    let mut assembled =
        assemble(&mut table, settings, format, digest).map_err(|trouble| (0, trouble))?;
    assembled.plan.check_size().map_err(|found| (0, over(found)))?;
    table.origins.mark_emulated(&mut assembled.records);
    let chosen = choices(settings.margin, &usual, &table.choices, &assembled.plan);
    let given = given(&table.choices, &table.metrics, &assembled.plan);
    if let Some(imported) = &mut assembled.plan.imported {
        if !chosen.is_empty() {
            imported.facts.establish(ImportFact::GivenWithNumbers);
        }
        imported.caveats.extend(chosen);
        imported.given = given;
    }
    notes.append(&mut table.notes);
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

/// The plan and the records of a table, whose rows these take.
fn assemble(
    table: &mut ImportedTable,
    settings: &ImportSettings,
    format: &str,
    [files, digest]: [String; 2],
) -> Result<Assembled, Trouble> {
    let (subjects, primary) = (subjects(table, settings)?, primary(table)?);
    let (labels, executions) = (Labels::of(table)?, ExecutionLevels::of(table));
    table.fixed.clone_from(&executions.fixed);
    refuse_many(table, &subjects, primary.len(), labels.all.len(), settings)?;
    let has_blocks = table.rows.iter().any(|row| row.block.is_some());
    let mut notices = ImportNotices::of(table);
    let template = workload(table, settings, format, &primary);
    let (rows, order) = ordered_rows(table);
    let (records, blocks) = if has_blocks {
        blocked(rows, &labels, order, &mut notices)?
    } else {
        (unblocked(rows, &labels, &fixed_places(table)), Vec::new())
    };
    let copies = copied(&records, has_blocks);
    notices.add_copies(copies.caveats);
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
        workloads: workloads(&template, &labels, &table.dimensions),
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
            design: if has_blocks { ImportedDesign::Blocked } else { unblocked_design(table) },
            order,
            caveats: notices.caveats,
            parts: table.parts.clone(),
            copied: copies.subjects.into_iter().collect(),
            mixes: std::mem::take(&mut table.kinds).unlike(&template.metrics),
            absent_runs: table.numbers.absent(),
            given: GivenChoices::default(),
            facts: notices.facts,
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
        ended_at_look: None,
        repeated_blocks: Vec::new(),
    };
    Ok(Assembled { plan, records, executions })
}

/// The rows of a table in the order of their times, where these tell it, and what is known of the order.
/// Subjects and workloads were listed before, in the order of the files: the first is the reference.
fn ordered_rows(table: &mut ImportedTable) -> (Vec<TableRow>, ImportedOrder) {
    table.put_in_time_order();
    let order = row_order(table);
    (table.take_rows(), order)
}

fn unblocked_design(table: &ImportedTable) -> ImportedDesign {
    ImportedDesign::Unblocked { dimensions: table.dimensions.clone(), fixed: table.fixed.clone() }
}

/// One for each label.
fn workloads(template: &WorkloadPlan, labels: &Labels, dimensions: &[String]) -> Vec<WorkloadPlan> {
    let workload = |(levels, label): &(Vec<SharedName>, String)| WorkloadPlan {
        label: label.clone(),
        parameters: parameters(dimensions, levels),
        ..template.clone()
    };
    labels.all.iter().map(workload).collect()
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
    all: &[Subject],
    metrics: usize,
    cells: usize,
    settings: &ImportSettings,
) -> Result<(), Trouble> {
    let subjects = all.len();
    let pairs = match settings.comparisons {
        // Subjects of an import set no factor, so that all are compared within it.
        Comparisons::All | Comparisons::Within(_) => subjects.saturating_mul(subjects - 1) / 2,
        Comparisons::Reference => subjects - 1,
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
    if let Err(over) = IMPORT_COMPARISONS.check(comparisons as u64) {
        let cause = format!(
            "{subjects} subjects, {metrics} metrics and {cells} combinations of {}: {over}",
            table.dimensions.join(", "),
        );
        return Err(Trouble::new(cause, over.limit.remedy));
    }
    PLAN_SUBJECTS.check(subjects as u64).map_err(over)?;
    PLAN_WORKLOADS.check(cells as u64).map_err(over)?;
    refuse_long(table, all, settings)
}

/// Refuses what takes long to judge for the values that its comparisons read together.
fn refuse_long(
    table: &ImportedTable,
    subjects: &[Subject],
    settings: &ImportSettings,
) -> Result<(), Trouble> {
    let of_rows = |is_asked: &dyn Fn(&TableRow) -> bool| -> u64 {
        let asked = table.rows.iter().filter(|row| is_asked(row));
        asked.map(|row| row.samples.len() as u64).sum()
    };
    let all = of_rows(&|_| true);
    let others = (subjects.len() as u64).saturating_sub(1);
    let read = match settings.comparisons {
        // Each subject's values are read with those of every other one.
        Comparisons::All | Comparisons::Within(_) => all.saturating_mul(others),
        Comparisons::Reference => {
            let id = subjects.first().map_or("", |reference| &reference.id);
            let own = of_rows(&|row| row.subject.as_str() == id);
            all.saturating_add(own.saturating_mul(others.saturating_sub(1)))
        }
    };
    // Everything, the cells, and the margins: of more than three parameters those over one alone.
    let families = match table.dimensions.len() as u64 {
        few @ 0..=3 => 1_u64 << few,
        many => many + 2,
    };
    IMPORT_COMPARED_VALUES.check(read.saturating_mul(families)).map_err(over)
}

/// A label for each combination of levels, in order of appearance.
struct Labels {
    all: Vec<(Vec<SharedName>, String)>,
    places: BTreeMap<Vec<SharedName>, u32>,
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
            labels.places.insert(row.levels.clone(), labels.all.len() as u32);
            labels.all.push((row.levels.clone(), label));
        }
        Ok(labels)
    }

    /// The label of a number.
    fn name(&self, number: u32) -> &str {
        &self.all[number as usize].1
    }
}

fn parameters(dimensions: &[String], levels: &[SharedName]) -> Parameters {
    let named = dimensions.iter().zip(levels);
    Parameters(
        named
            .map(|(name, level)| (name.clone(), ParameterValue::Text(level.to_string())))
            .collect(),
    )
}

/// Numbers of things in the order in which they came; there are hundreds of thousands.
struct Numbering<K>(HashMap<K, u32>);

impl<K: Eq + Hash> Numbering<K> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn of(&mut self, thing: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }
}

/// Subject or block, label and execution of a row, by number.
type RowPlace = [u32; 3];

/// Rows of one place of one execution in one record, in the order of first rows.
struct RowGroups {
    /// Numbers of rows, those of a group behind each other.
    rows: Vec<u32>,
    /// Where each group begins and ends among these.
    groups: Vec<[u32; 2]>,
}

impl RowGroups {
    fn of(places: &[RowPlace]) -> Self {
        let mut sorted: Vec<(RowPlace, u32)> = places.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let (mut groups, mut begin) = (Vec::new(), 0);
        for of_one in sorted.chunk_by(|one, other| one.0 == other.0) {
            let end = begin + of_one.len() as u32;
            groups.push((of_one[0].1, [begin, end]));
            begin = end;
        }
        groups.sort_unstable_by_key(|(first, _)| *first);
        // Collected in the place of what was sorted, of which this returns what is left.
        let mut rows: Vec<u32> = sorted.into_iter().map(|(_, row)| row).collect();
        let mut groups: Vec<[u32; 2]> = groups.into_iter().map(|(_, ends)| ends).collect();
        rows.shrink_to_fit();
        groups.shrink_to_fit();
        Self { rows, groups }
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.groups.iter().map(|[begin, end]| &self.rows[*begin as usize..*end as usize])
    }
}

/// Numbers of the executions of a subject and the levels that they fix, in the order in which they came.
#[derive(Default)]
struct ExecutionNumbers {
    /// Those that rows name. Any other one has a single record, for which it is asked once.
    named: HashMap<u32, u32>,
    next: u32,
}

impl ExecutionNumbers {
    fn of(&mut self, execution: u32, is_named: bool) -> u32 {
        let next = self.next;
        let number = if is_named { *self.named.entry(execution).or_insert(next) } else { next };
        self.next += u32::from(number == next);
        number
    }
}

/// Where the dimensions stand that an execution fixes.
fn fixed_places(table: &ImportedTable) -> Vec<usize> {
    (0..table.dimensions.len())
        .filter(|index| table.fixed.contains(&table.dimensions[*index]))
        .collect()
}

/// One record for each execution and cell. Executions are numbered within their
/// subject and the levels that they fix.
fn unblocked(rows: Vec<TableRow>, labels: &Labels, fixed: &[usize]) -> Vec<Record> {
    let mut strata = Numbering::new();
    let stratum_of: Vec<u32> = labels
        .all
        .iter()
        .map(|(levels, _)| strata.of(fixed.iter().map(|at| &levels[*at]).collect::<Vec<_>>()))
        .collect();
    let (places, subjects) = places_without_blocks(&rows, labels);
    let mut measured = MeasuredRows::of(rows, subjects);
    let groups = RowGroups::of(&places);
    let mut numbers: BTreeMap<[u32; 2], ExecutionNumbers> = BTreeMap::new();
    let mut records = Vec::with_capacity(groups.groups.len());
    for of_record in groups.iter() {
        let [subject, label, execution] = places[of_record[0] as usize];
        let stratum = [subject, stratum_of[label as usize]];
        // Those that rows name are numbered behind the rows.
        let is_named = execution as usize >= places.len();
        let number = numbers.entry(stratum).or_default().of(execution, is_named);
        let record = measured.record(of_record, [subject, label], labels.name(label));
        records.push(Record { block: number, ..record });
    }
    records
}

/// Subject, label and execution of each row, and the names of the subjects by their numbers; a row that
/// names no execution is one of its own.
fn places_without_blocks(rows: &[TableRow], labels: &Labels) -> (Vec<RowPlace>, Vec<SharedName>) {
    let mut names = Vec::new();
    let (mut subjects, mut executions) = (Numbering::new(), Numbering::new());
    let mut places = Vec::with_capacity(rows.len());
    for (index, row) in (0..).zip(rows) {
        let execution = match &row.execution {
            Some(name) => rows.len() as u32 + executions.of(name.as_str()),
            None => index,
        };
        let subject = subjects.of(row.subject.as_str());
        if subject as usize == names.len() {
            names.push(row.subject.clone());
        }
        places.push([subject, labels.places[&row.levels], execution]);
    }
    (places, names)
}
