//! What is known of the order in which the rows of an import were measured
//! (docs/method.md#m-import-order).

use crate::table::ImportedTable;
use crate::table_row::TableRow;
use model::ImportedOrder;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the order of these rows: times of a tool tell it as a column of times does. Of rows
/// in blocks it is that of the subjects of each block, which needs all of a block in one file, and what
/// is one record of it in one piece.
pub(crate) fn row_order(table: &ImportedTable) -> ImportedOrder {
    let has_blocks = table.rows.iter().any(|row| row.block.is_some());
    if has_blocks && !(are_within_files(table) && are_in_one_piece(&table.rows)) {
        return ImportedOrder::Unknown;
    }
    if table.has_time_order {
        return ImportedOrder::Column;
    }
    match table.files.as_slice() {
        [only] if only.tells_order => ImportedOrder::Column,
        _ => ImportedOrder::Rows,
    }
}

/// Whether no block lies in two files.
fn are_within_files(table: &ImportedTable) -> bool {
    let mut files: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    table.rows.iter().enumerate().all(|(row, of_row)| {
        let file = table.files.partition_point(|one| one.first <= row);
        *files.entry(of_row.block.as_deref()).or_insert(file) == file
    })
}

/// Whether the rows of a block, a subject and its levels follow each other.
fn are_in_one_piece(rows: &[TableRow]) -> bool {
    let (mut seen, mut last) = (BTreeSet::new(), None);
    rows.iter().all(|row| {
        let place = (row.block.as_deref(), row.subject.as_str(), row.levels.as_slice());
        last.replace(place) == Some(place) || seen.insert(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;

    /// What is known of the order of these files, whose columns are subject, block and perhaps a time.
    fn known(files: &[&str], order: Option<&str>) -> (ImportedOrder, String) {
        let files: Vec<(&str, &[u8])> = files.iter().map(|text| ("x", text.as_bytes())).collect();
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            block: Some("b".to_owned()),
            order: order.map(str::to_owned),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        let plan = imported(&CSV, &files, &mapping).unwrap().plan;
        assert_eq!(plan.format, plan.oldest_format());
        (plan.imported.unwrap().order, plan.format)
    }

    const ORDERED: &str = "schedlab.plan/7";

    #[test]
    fn the_order_is_that_of_a_column_that_tells_it_and_else_that_of_the_rows() {
        let rows = "s,b,v\na,1,5\nb,1,6\nb,2,7\na,2,8\n";
        assert_eq!(known(&[rows], None), (ImportedOrder::Rows, ORDERED.to_owned()));
        let timed = "s,b,at,v\na,1,2026-01-01 10:00,5\nb,1,2026-01-01 10:01,6\n\
                     b,2,2026-01-01 10:02,7\na,2,2026-01-01 10:03,8\n";
        for named in [None, Some("at")] {
            assert_eq!(known(&[timed], named), (ImportedOrder::Column, ORDERED.to_owned()));
        }
        // What both subjects of a block share does not tell which of them came first.
        let days =
            "s,b,at,v\na,1,2026-01-01,5\nb,1,2026-01-01,6\nb,2,2026-01-02,7\na,2,2026-01-02,8\n";
        assert_eq!(known(&[days], Some("at")).0, ImportedOrder::Rows);
        assert_eq!(known(&[days], None).0, ImportedOrder::Rows);
        // Times of two files are not compared with each other.
        let later = "s,b,at,v\na,3,2026-01-03 10:00,5\nb,3,2026-01-03 10:01,6\n";
        assert_eq!(known(&[timed, later], None).0, ImportedOrder::Rows);
    }

    #[test]
    fn blocks_in_several_files_or_in_pieces_have_no_order() {
        let unknown = (ImportedOrder::Unknown, "schedlab.plan/3".to_owned());
        let of = |subject: &str| format!("s,b,v\n{subject},1,5\n{subject},2,7\n");
        assert_eq!(known(&[&of("a"), &of("b")], None), unknown);
        assert_eq!(known(&["s,b,v\na,1,5\nb,1,6\na,1,7\nb,1,8\n"], None), unknown);
        let repeated = "s,b,v\na,1,5\na,1,7\nb,1,6\nb,1,8\n";
        assert_eq!(known(&[repeated], None).0, ImportedOrder::Rows);
    }
}
