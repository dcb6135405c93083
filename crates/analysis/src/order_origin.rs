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
    /// The times that a tool wrote into its files.
    Times,
    /// The rows of the file alone, which may have been sorted since.
    Rows,
}

impl OrderOrigin {
    /// That of a plan's values.
    pub(crate) fn of(plan: &Plan) -> Self {
        let Some(imported) = &plan.imported else { return Self::Measured };
        match imported.order {
            ImportedOrder::Column if imported.is_table() => Self::Column,
            ImportedOrder::Column => Self::Times,
            ImportedOrder::Rows | ImportedOrder::Unknown => Self::Rows,
        }
    }

    /// The order, where something is said of it.
    pub(crate) fn in_order(self) -> &'static str {
        match self {
            Self::Measured => "in the order of the run",
            Self::Column => "in the order that a column of the file tells",
            Self::Times => "in the order of the times that the files hold",
            Self::Rows => "in the file's order",
        }
    }
}
