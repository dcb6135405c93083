//! How a check names rows of a table: `results:section=7.1;config!=balanced`.

use std::fmt;

/// Columns whose values say nothing without their names.
const NAMED: [&str; 3] = ["section", "cores", "record_size"];

/// Rows of a table, by what their columns say.
#[derive(Debug, Clone)]
pub(crate) struct RowSelector<'t> {
    pub(crate) table: &'t str,
    pub(crate) conditions: Vec<RowCondition<'t>>,
}

/// What a column says, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowCondition<'t> {
    pub(crate) column: &'t str,
    pub(crate) value: &'t str,
    pub(crate) is_equal: bool,
}

impl<'t> RowSelector<'t> {
    pub(crate) fn of(text: &'t str) -> Result<Self, String> {
        let (table, conditions) =
            text.split_once(':').ok_or_else(|| format!("`{text}` names no table"))?;
        let conditions = conditions.split(';').map(|condition| {
            let is_equal = !condition.contains("!=");
            let (column, value) = condition
                .split_once(if is_equal { "=" } else { "!=" })
                .ok_or_else(|| format!("`{condition}` is no condition"))?;
            Ok(RowCondition { column, value, is_equal })
        });
        Ok(Self { table, conditions: conditions.collect::<Result<_, String>>()? })
    }

    /// The same rows for every value of this column.
    pub(crate) fn without(&self, column: &str) -> Self {
        let mut selector = self.clone();
        selector.conditions.retain(|condition| condition.column != column);
        selector
    }

    /// What this selector and another have alike, then what each has alone.
    pub(crate) fn apart(&self, other: &Self) -> [Self; 3] {
        let kept = |of: &Self, among: &Self, is_shared: bool| {
            let mut selector = of.clone();
            selector
                .conditions
                .retain(|condition| among.conditions.contains(condition) == is_shared);
            selector
        };
        [kept(self, other, true), kept(self, other, false), kept(other, self, false)]
    }
}

impl fmt::Display for RowCondition<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_equal { "" } else { "not " };
        if NAMED.contains(&self.column) {
            write!(formatter, "{} ", self.column.replace('_', " "))?;
        }
        write!(formatter, "{sign}{}", self.value)
    }
}

impl fmt::Display for RowSelector<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.conditions.iter().map(RowCondition::to_string).collect();
        formatter.write_str(if told.is_empty() { "all" } else { "" })?;
        formatter.write_str(&told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_says_which_rows_it_means_or_why_it_means_none() {
        let selector = RowSelector::of("results:section=7.1;config!=balanced").unwrap();
        assert_eq!(selector.table, "results");
        assert_eq!(selector.to_string(), "section 7.1, not balanced");
        assert_eq!(selector.without("section").to_string(), "not balanced");
        let other = RowSelector::of("results:section=7.2;config!=balanced").unwrap();
        let apart = selector.apart(&other).map(|selector| selector.to_string());
        assert_eq!(apart, ["not balanced", "section 7.1", "section 7.2"]);
        assert_eq!(selector.apart(&selector)[1].to_string(), "all");
        assert_eq!(RowSelector::of("results").unwrap_err(), "`results` names no table");
        assert_eq!(RowSelector::of("results:x").unwrap_err(), "`x` is no condition");
    }
}
