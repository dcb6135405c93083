//! Which order of a table's rows is asked where the user names one: a column that somebody chose may
//! put the subjects in turns that they never had (docs/method.md#m-import-order).

use crate::column_text::ColumnText;
use crate::mixing::{Clock, Mixing, mixing, places_in_order};
use crate::table_row::TableRow;
use crate::unnamed::{holds_times, numbers_runs};

/// The order that is asked.
#[derive(Debug, PartialEq)]
pub(crate) enum AskedOrder<'a> {
    /// That of the column that the user names.
    Named,
    /// That of a column of times or of numbers of runs, which the named one contradicts.
    Times { told: String, times: &'a ColumnText },
    /// That of the rows, which it contradicts.
    Rows { told: String },
}

/// The order to ask of rows for which this column was named, and whether naming it was a choice that
/// nothing but the user's word supports: it holds no times, is not the order of the file, and numbers no
/// runs, or these in an order that mixes the subjects more than the file does. What times say is asked of
/// every column, what numbers of runs say of all that hold no times and are none, and what the rows say of
/// such a choice alone: rows may have been sorted, and times tell so.
pub(crate) fn asked_order<'a>(
    name: &str,
    orders: &ColumnText,
    clocks: &[Clock<'a>],
    rows: &[TableRow],
) -> (AskedOrder<'a>, bool) {
    let named = places_in_order(orders);
    let of_rows: Vec<usize> = (0..rows.len()).collect();
    let (of_named, of_file) = (mixing(rows, &named), mixing(rows, &of_rows));
    let is_sorted = named.windows(2).all(|two| two[0] < two[1]);
    let is_told =
        holds_times(name, orders, rows) || numbers_runs(name, orders) && of_named >= of_file;
    let is_chosen = !is_sorted && !is_told;
    for Clock { name: clock, fields: times, is_of_numbers } in clocks {
        let places = places_in_order(times);
        let of_clock = mixing(rows, &places);
        let (is_hidden, what, these) = if *is_of_numbers {
            (!is_told && of_clock > of_named, "numbers of runs", "numbers")
        } else {
            (of_clock != Mixing::Mixed, "times", "times")
        };
        if is_hidden && falls(times, &places, &named) {
            let told = format!(
                "rows are in the order of the {what} in {clock}, in which the subjects are not mixed; the order of \
                 {name} contradicts these {these}"
            );
            return (AskedOrder::Times { told, times }, is_chosen);
        }
    }
    if is_chosen && of_file != Mixing::Mixed {
        let told = format!(
            "rows are in the order of the file, in which the subjects are not mixed; the order of {name} contradicts \
             it, and nothing shows that {name} tells when a row was measured (times, or a column called sequence, do)"
        );
        return (AskedOrder::Rows { told }, is_chosen);
    }
    (AskedOrder::Named, is_chosen)
}

/// Whether times, of which these are the places in order, fall somewhere along another order.
fn falls(times: &ColumnText, places: &[usize], along: &[usize]) -> bool {
    // Rows of one time have one rank.
    let (mut ranks, mut rank) = (vec![0; places.len()], 0);
    for (index, place) in places.iter().enumerate() {
        if index > 0 && times.at(places[index - 1]) != times.at(*place) {
            rank += 1;
        }
        ranks[*place] = rank;
    }
    along.windows(2).any(|two| ranks[two[1]] < ranks[two[0]])
}

#[cfg(test)]
mod tests {
    use crate::mapping::Mapping;
    use crate::picture::imported;
    use crate::tidy::CSV;
    use model::{CaveatCode, ImportedOrder};
    use std::fmt::Write;

    /// What an import of these subjects, row by row, says of their order where this column is named:
    /// the subjects in the order of the records, what is known of it, whether naming it was a choice,
    /// and what is told. `at` rises from row to row; `odd` holds the rows in another order, by turns;
    /// `seq`, which only a table has that names it, numbers them backwards.
    fn asked(
        subjects: &str,
        has_times: bool,
        named: &str,
    ) -> (String, ImportedOrder, bool, String) {
        let has_sequence = named == "seq";
        let of_times = if has_times { ",at" } else { "" };
        let mut text =
            format!("s,run,v,odd,{}{of_times}\n", if has_sequence { "seq" } else { "x" });
        let half = subjects.len() / 2;
        for (row, subject) in subjects.chars().enumerate() {
            let odd = if row < half { 20 * row } else { 20 * (row - half) + 10 * (row % 2) + 5 };
            let seq = if has_sequence { subjects.len() - row } else { 1 };
            write!(text, "{subject},{row},{},{odd},{seq}", 100 + row).unwrap();
            let time = if has_times { format!(",2026-01-01 10:{row:02}") } else { String::new() };
            writeln!(text, "{time}").unwrap();
        }
        let mapping = Mapping {
            subject: Some("s".to_owned()),
            replicate: vec!["run".to_owned()],
            order: Some(named.to_owned()),
            values: vec![Mapping::value("v:lower").unwrap()],
            ..Mapping::default()
        };
        let campaign = imported(&CSV, &[("x", text.as_bytes())], &mapping).unwrap();
        let order = campaign.records.iter().map(|record| record.subject.as_str()).collect();
        let of_import = campaign.plan.imported.unwrap();
        let is_chosen = of_import.caveats.iter().any(|caveat| {
            caveat.code == CaveatCode::PostHocMargin && caveat.detail.contains("order of rows")
        });
        (order, of_import.order, is_chosen, campaign.plan.notes.join("; "))
    }

    const SORTED: &str = "aaaaaaaaaaaabbbbbbbbbbbb";
    const ALTERNATING: &str = "abababababababababababab";
    const MIXED: &str = "abbaabbabaabbaabbaababba";

    #[test]
    fn an_order_that_hides_what_the_times_say_is_not_asked() {
        for subjects in [SORTED, ALTERNATING] {
            let (order, known, is_chosen, told) = asked(subjects, true, "odd");
            assert_eq!((order.as_str(), known, is_chosen), (subjects, ImportedOrder::Column, true));
            assert!(told.contains("the order of odd contradicts these times"), "{told}");
        }
        // Where the times are mixed they hide nothing, and the choice is told.
        let (order, _, is_chosen, _) = asked(MIXED, true, "odd");
        assert_ne!(order, MIXED);
        assert!(is_chosen);
        let (order, _, is_chosen, told) = asked(SORTED, true, "at");
        assert_eq!((order.as_str(), is_chosen), (SORTED, false));
        assert!(!told.contains("contradicts"), "{told}");
    }

    #[test]
    fn an_order_that_nothing_supports_does_not_hide_that_of_the_rows() {
        for subjects in [SORTED, ALTERNATING] {
            let (order, known, is_chosen, told) = asked(subjects, false, "odd");
            assert_eq!((order.as_str(), known, is_chosen), (subjects, ImportedOrder::Rows, true));
            assert!(told.contains("nothing shows that odd tells when"), "{told}");
        }
        // The file's own order is no choice, and a sequence tells the order of rows that were sorted.
        assert!(!asked(SORTED, false, "run").2);
        let (order, known, is_chosen, _) = asked(SORTED, false, "seq");
        let turned: String = SORTED.chars().rev().collect();
        assert_eq!((order, known, is_chosen), (turned, ImportedOrder::Column, false));
    }
}
