//! Cells of tables without what people and spreadsheets put around them.

use csv::StringRecord;

/// The record without blanks around its fields, and without the apostrophes that keep spreadsheets
/// from calculating text, as our own CSV has them. None where there is nothing of either.
pub(crate) fn cleaned(record: &StringRecord) -> Option<StringRecord> {
    if record.iter().all(|field| clean(field).len() == field.len()) {
        return None;
    }
    let mut without = StringRecord::new();
    record.iter().for_each(|field| without.push_field(clean(field)));
    without.set_position(record.position().cloned());
    Some(without)
}

fn clean(field: &str) -> &str {
    let field = field.trim();
    let text = field.strip_prefix('\'');
    text.filter(|text| text.starts_with(['=', '+', '-', '@', '\t', '\r'])).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_apostrophes_before_formulas_go_and_all_else_stays() {
        let plain = StringRecord::from(vec!["a b", "'a", "-1", "", "it's"]);
        assert_eq!(cleaned(&plain), None);
        let dirty = StringRecord::from(vec![" a b\t", "'-1", "\u{a0}'=x ", "", "'\tx", "' +"]);
        let clean = StringRecord::from(vec!["a b", "-1", "=x", "", "\tx", "' +"]);
        assert_eq!(cleaned(&dirty), Some(clean));
    }
}
