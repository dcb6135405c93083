//! What is known of the order in which the rows of an import were measured
//! (docs/method.md#m-import-order).

use crate::table::ImportedTable;
use crate::table_row::TableRow;
use model::{ImportedOrder, SharedName};
use std::collections::{BTreeMap, BTreeSet};

/// So many rows are asked before all are, which takes longer.
const FIRST_ROWS: usize = 1_000;

/// What is known of the order of these rows: times of a tool tell it as a column of times does. Of rows
/// in blocks it is that of the subjects of each block, which needs all of a block in one file and, where
/// no column tells it, what is one record of it in one piece.
pub(crate) fn row_order(table: &ImportedTable) -> ImportedOrder {
    let has_blocks = table.rows.iter().any(|row| row.block.is_some());
    if has_blocks && !are_within_files(table) {
        return ImportedOrder::Unknown;
    }
    if table.has_time_order || matches!(table.files.as_slice(), [only] if only.tells_order) {
        // Where subjects take turns in a block, all of it lies at one place along the file.
        let is_told = !has_blocks || are_in_one_piece(&table.rows) || are_blocks_apart(&table.rows);
        return if is_told { ImportedOrder::Column } else { ImportedOrder::Unknown };
    }
    if has_blocks && !are_in_one_piece(&table.rows) {
        return ImportedOrder::Unknown;
    }
    ImportedOrder::Rows
}

/// Whether no block lies in two files.
fn are_within_files(table: &ImportedTable) -> bool {
    if table.files.len() < 2 {
        return true;
    }
    let mut files: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    table.rows.iter().enumerate().all(|(row, of_row)| {
        let file = table.files.partition_point(|one| one.first <= row);
        *files.entry(of_row.block.as_deref()).or_insert(file) == file
    })
}

/// Whether the rows of a block, a subject and its levels follow each other.
pub(crate) fn are_in_one_piece(rows: &[TableRow]) -> bool {
    are_together(rows, |row| (row.block.as_deref(), row.subject.as_str(), row.levels.as_slice()))
}

/// Whether the rows of a block follow each other, those of all of its subjects.
fn are_blocks_apart(rows: &[TableRow]) -> bool {
    are_together(rows, |row| row.block.as_deref())
}

/// Whether rows of one key follow each other.
fn are_together<'r, K: Ord>(rows: &'r [TableRow], key: impl Fn(&'r TableRow) -> K) -> bool {
    // Where some do not, the first ones mostly tell.
    let begin = &rows[..rows.len().min(FIRST_ROWS)];
    have_one_piece_each(begin, &key) && have_one_piece_each(rows, &key)
}

/// The same of all rows. There are hundreds of thousands of pieces, of whose keys a set would be as
/// large as the rows.
fn have_one_piece_each<'r, K: Ord>(rows: &'r [TableRow], key: &impl Fn(&'r TableRow) -> K) -> bool {
    let (mut pieces, mut last) = (Vec::new(), None);
    for row in rows {
        let own = Some(key(row));
        if own != last {
            pieces.push(row);
        }
        last = own;
    }
    pieces.sort_unstable_by_key(|row| key(row));
    pieces.windows(2).all(|two| key(two[0]) != key(two[1]))
}

/// What is said of blocks that all have their subjects in one order.
pub(crate) fn in_one_order(orders: &[Vec<SharedName>], known: ImportedOrder) -> Option<String> {
    let subjects = common_order(orders)?;
    let is_whole = orders
        .iter()
        .all(|order| order.iter().map(|name| name.as_str()).eq(subjects.iter().copied()));
    let is_column = known == ImportedOrder::Column;
    let list = subjects.join(", ");
    let told = match (subjects.as_slice(), is_whole, is_column) {
        (_, true, true) => format!("every block ran {list} in this order"),
        (_, true, false) => format!("the rows of every block have {list} in this order"),
        ([one, other], _, true) => {
            format!("in every block that holds both, {one} ran before {other}")
        }
        ([one, other], ..) => {
            format!(
                "in every block that holds both, the rows of {one} come before those of {other}"
            )
        }
        (_, _, true) => {
            format!("every block that holds two or more of {list} ran them in this order")
        }
        _ => format!(
            "in every block that holds two or more of {list}, their rows come in this order"
        ),
    };
    let unknown = "and no file of all rows shows that they ran in it: one with a column of times, or of the \
                   sequence of the runs (--order), would";
    Some(if is_column { told } else { format!("{told}, {unknown}") })
}

/// The order that all blocks have in common: of two blocks those subjects are compared that both hold, so
/// that a block that lacks one hides nothing, and no other is named. None where two subjects stand in unlike orders, or no two
/// share two blocks.
fn common_order(orders: &[Vec<SharedName>]) -> Option<Vec<&str>> {
    let (mut numbers, mut names) = (BTreeMap::<&str, usize>::new(), Vec::<&str>::new());
    for name in orders.iter().flatten() {
        numbers.entry(name.as_str()).or_insert_with(|| {
            names.push(name.as_str());
            names.len() - 1
        });
    }
    let mut comes_before = vec![vec![false; names.len()]; names.len()];
    let (mut known, mut compared) = (BTreeSet::new(), BTreeSet::new());
    for order in orders {
        if !known.insert(order) {
            if order.len() > 1 {
                compared.extend(order.iter().map(|name| numbers[name.as_str()]));
            }
            continue;
        }
        let places: Vec<usize> = order.iter().map(|name| numbers[name.as_str()]).collect();
        for (place, later) in places.iter().enumerate() {
            for earlier in &places[..place] {
                if comes_before[*later][*earlier] {
                    return None;
                }
                if std::mem::replace(&mut comes_before[*earlier][*later], true) {
                    compared.extend([*earlier, *later]);
                }
            }
        }
    }
    let mut left: Vec<usize> = (0..names.len()).filter(|_| !compared.is_empty()).collect();
    let mut in_order = Vec::with_capacity(compared.len());
    while !left.is_empty() {
        let is_first = |one: &usize| left.iter().all(|other| !comes_before[*other][*one]);
        let first = left.iter().position(is_first)?;
        let next = left.remove(first);
        if compared.contains(&next) {
            in_order.push(names[next]);
        }
    }
    (!compared.is_empty()).then_some(in_order)
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
        let mut plan = imported(&CSV, &files, &mapping).unwrap().plan;
        assert_eq!(plan.format, plan.oldest_format());
        // Facts have a format of their own.
        let mut of_import = plan.imported.take().unwrap();
        of_import.facts = model::DecidingFacts::default();
        plan.imported = Some(of_import.clone());
        (of_import.order, plan.oldest_format().to_owned())
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
        // A column tells it, however the subjects lie in a block.
        let turns = "s,b,sequence,v\na,1,1,5\nb,1,2,6\nb,1,3,7\na,1,4,8\n";
        assert_eq!(known(&[turns], Some("sequence")).0, ImportedOrder::Column);
        // Each pass (a, b, b, a) runs through both blocks, so neither block has a place of its own.
        let passes = "s,b,sequence,v\na,1,1,5\na,2,2,7\nb,1,3,6\nb,2,4,8\n\
                      b,1,5,6\nb,2,6,8\na,1,7,5\na,2,8,7\n";
        assert_eq!(known(&[passes], Some("sequence")), unknown);
        let repeated = "s,b,v\na,1,5\na,1,7\nb,1,6\nb,1,8\n";
        assert_eq!(known(&[repeated], None).0, ImportedOrder::Rows);
    }

    #[test]
    fn rows_behind_the_first_ones_are_in_pieces_or_not_as_those_are() {
        let row = |subject: &str, block: usize| format!("{subject},{block},{}\n", 5 + block % 4);
        let count = FIRST_ROWS / 2 + 100;
        let rows: String =
            (0..count).flat_map(|block| [row("a", block), row("b", block)]).collect();
        let of = |last: String| known(&[&format!("s,b,v\n{rows}{last}")], None).0;
        assert_eq!(of(row("a", count)), ImportedOrder::Rows);
        assert_eq!(of(row("b", count - 1)), ImportedOrder::Rows);
        assert_eq!(of(row("a", count - 1)), ImportedOrder::Unknown);
        assert_eq!(of(row("b", 3)), ImportedOrder::Unknown);
    }

    #[test]
    fn a_block_that_lacks_a_subject_does_not_hide_that_the_others_have_one_order() {
        let of = |orders: &[&str]| {
            let name = |letter: char| SharedName::from(letter.to_string());
            let orders: Vec<Vec<SharedName>> =
                orders.iter().map(|order| order.chars().map(name).collect()).collect();
            common_order(&orders).map(|names| names.concat())
        };
        let same = |orders: &[&str], order: &str| assert_eq!(of(orders).as_deref(), Some(order));
        same(&["ab", "ab"], "ab");
        same(&["b", "ab", "a", "ab"], "ab");
        same(&["bc", "abc", "ac", "ab"], "abc");
        same(&["abc", "ab", "c"], "ab");
        same(&["ab", "ab", "cd"], "ab");
        for unlike in [
            &["ab", "ba", "ab"][..],
            &["abc", "acb"],
            &["ab", "a", "b", "ba"],
            // No two subjects share two blocks.
            &["ab", "cd"],
            &["ab", "a", "b"],
            &["a", "a", "b"],
            // Each two have one order, and there is none of all three.
            &["ab", "ab", "bc", "ca"],
            &[],
        ] {
            assert_eq!(of(unlike), None, "{unlike:?}");
        }
    }

    /// One file for each subject, each of which lacks a block.
    #[test]
    fn files_of_one_subject_each_are_told_as_one_order_whatever_blocks_they_lack() {
        let of = |subject: &str, lacks: u32| {
            let rows = (0..10).filter(|block| *block != lacks);
            let row = |block: u32| format!("{subject},{block},{}\n", 100 + block * 7 % 10);
            format!("s,b,v\n{}", rows.map(row).collect::<String>())
        };
        let (a, b) = (of("a", 3), of("b", 7));
        let files: [(&str, &[u8]); 2] = [("x", a.as_bytes()), ("y", b.as_bytes())];
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            block: Some("b".to_owned()),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        let imported = imported(&CSV, &files, &mapping).unwrap().plan.imported.unwrap();
        assert_eq!(imported.order, ImportedOrder::Unknown);
        let mut caveats = imported.caveats.iter();
        let told = caveats.find(|one| one.code == model::CaveatCode::OrderConfounded).unwrap();
        let words =
            "in every block that holds both, the rows of a come before those of b, and no file";
        assert!(told.detail.starts_with(words), "{}", told.detail);
        assert!(told.detail.contains("a column of times"), "{}", told.detail);
    }
}
