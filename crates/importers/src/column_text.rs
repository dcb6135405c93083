//! What the rows of a table have in one column, held without room between.

/// Fields one behind the other. A file has at most 256 MiB, and so have its fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ColumnText {
    text: String,
    /// Where each field ends in the text.
    ends: Vec<u32>,
}

impl ColumnText {
    /// Appends the field of one more row.
    pub(crate) fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.ends.push(self.text.len() as u32);
    }

    /// How many fields there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The field of a row.
    pub(crate) fn at(&self, row: usize) -> &str {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[begin..self.ends[row] as usize]
    }

    /// Whether two rows have different fields.
    pub(crate) fn varies(&self) -> bool {
        self.iter().skip(1).any(|field| field != self.at(0))
    }

    /// The fields in the order of the rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.at(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_were() {
        let fields = ["a", "", "µs", "b,c"];
        let mut column = ColumnText::default();
        fields.iter().for_each(|field| column.push(field));
        assert_eq!(column.iter().collect::<Vec<_>>(), fields);
        assert_eq!((column.len(), column.at(2)), (4, "µs"));
        assert!(column.varies());
        let mut same = ColumnText::default();
        for _ in 0..2 {
            same.push("a");
            assert!(!same.varies());
        }
    }
}
