//! What is known of the order in which values were measured, and how it is called.

use model::{ImportedOrder, Plan};

/// What tells the order in which values were measured: a sentence about that order says no more than
/// this shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OrderOrigin {
    /// The sittings of the campaign, which ran in it.
    #[default]
    Measured,
    /// A column of the imported file.
    Column,
    /// The rows of that file alone, which may have been sorted since.
    Rows,
}

impl OrderOrigin {
    /// That of a plan's values.
    pub(crate) fn of(plan: &Plan) -> Self {
        match plan.imported.as_ref().map(|imported| imported.order) {
            None => Self::Measured,
            Some(ImportedOrder::Column) => Self::Column,
            Some(ImportedOrder::Rows | ImportedOrder::Unknown) => Self::Rows,
        }
    }

    /// The order, where something is said of it.
    pub(crate) fn in_order(self) -> &'static str {
        match self {
            Self::Measured => "in the order of the run",
            Self::Column => "in the order that a column of the file tells",
            Self::Rows => "in the file's order",
        }
    }
}
