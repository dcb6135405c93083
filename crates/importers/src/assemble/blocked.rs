//! Records and blocks of rows that name their blocks. There are hundreds of thousands of both, so
//! nothing is held longer than it is asked.

use super::{Labels, MOST_TRIALS, Numbering, RowGroups, RowPlace};
use crate::import_notices::ImportNotices;
use crate::measured_rows::MeasuredRows;
use crate::row_order::{are_in_one_piece, in_one_order};
use crate::subject_places::{SubjectPlace, first_places, mean_places, place_of, subject_orders};
use crate::table_row::TableRow;
use model::{Block, ImportedOrder, NameList, Record, SharedName, Sitting};
use outputs::Trouble;

/// One record for each block, subject and cell; blocks in order of appearance. Where a column tells
/// the order and rows of subjects lie among each other in a block, all of it has one place among
/// the others: what its sittings followed is not said, and subjects have places inside it by the
/// means of their rows.
pub(super) fn blocked(
    rows: Vec<TableRow>,
    labels: &Labels,
    order: ImportedOrder,
    notices: &mut ImportNotices,
) -> Result<(Vec<Record>, Vec<Block>), Trouble> {
    let (places, names) = places_in_blocks(&rows, labels);
    let firsts = first_places(places.iter().map(|[block, subject, _]| [*block, *subject]));
    let trials = firsts.len().saturating_mul(labels.all.len());
    if trials > MOST_TRIALS {
        let cause = format!("its blocks, subjects and parameters make {trials} trials");
        return Err(Trouble::new(cause, "name the column of blocks, and fewer parameters"));
    }
    let is_mingled = order == ImportedOrder::Column && !are_in_one_piece(&rows);
    let mingled = is_mingled.then(|| MingledBlocks::of(&places));
    let measured = MeasuredRows::of(rows, names.clone());
    let records = records_of_blocks(measured, places, labels, (&firsts, mingled));
    let orders = subject_orders(&firsts, &names);
    drop(firsts);
    notices.add_fixed_order(if is_mingled { None } else { in_one_order(&orders, order) });
    let all: NameList = labels.all.iter().map(|(_, label)| label.as_str()).collect();
    let block = |(index, order): (usize, Vec<SharedName>)| Block {
        index: index as u32,
        sittings: order
            .into_iter()
            .map(|subject| Sitting { subject, workloads: all.clone(), boot: None })
            .collect(),
    };
    Ok((records, orders.into_iter().enumerate().map(block).collect()))
}

/// Block, subject and label of each row, and the names of the subjects by their numbers.
fn places_in_blocks(rows: &[TableRow], labels: &Labels) -> (Vec<RowPlace>, Vec<SharedName>) {
    let mut names = Vec::new();
    let (mut blocks, mut subjects) = (Numbering::new(), Numbering::new());
    let mut places = Vec::with_capacity(rows.len());
    for row in rows {
        let block = blocks.of(row.block.as_deref().unwrap_or_default());
        let subject = subjects.of(row.subject.as_str());
        if subject as usize == names.len() {
            names.push(row.subject.clone());
        }
        places.push([block, subject, labels.places[&row.levels]]);
    }
    (places, names)
}

/// Blocks in which the rows of subjects lie among each other.
struct MingledBlocks {
    /// The first row of each.
    begins: Vec<u64>,
    places: Vec<SubjectPlace>,
}

impl MingledBlocks {
    fn of(rows: &[RowPlace]) -> Self {
        let mut begins = Vec::new();
        for (at, [block, ..]) in (0..).zip(rows) {
            if *block as usize == begins.len() {
                begins.push(at);
            }
        }
        let places = mean_places(rows.iter().map(|[block, subject, _]| [*block, *subject]));
        Self { begins, places }
    }
}

/// The records of all blocks. What they are made of is freed before anything else is made.
fn records_of_blocks(
    mut measured: MeasuredRows,
    rows: Vec<RowPlace>,
    labels: &Labels,
    (firsts, mingled): (&[SubjectPlace], Option<MingledBlocks>),
) -> Vec<Record> {
    let places = mingled.as_ref().map_or(firsts, |mingled| mingled.places.as_slice());
    let groups = RowGroups::of(&rows);
    let of_record = |of_record: &[u32]| {
        let [block, subject, label] = rows[of_record[0] as usize];
        let position = place_of(places, [block, subject]);
        let record = measured.record(of_record, [subject, label], labels.name(label));
        let begin = mingled.as_ref().map(|mingled| mingled.begins[block as usize]);
        let sequence = begin.unwrap_or(record.sequence);
        Record { block, position, sequence, ..record }
    };
    groups.iter().map(of_record).collect()
}
