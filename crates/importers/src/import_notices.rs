//! What is noticed of an import while its plan is made: facts that decide, and caveats that say them.

use crate::table::ImportedTable;
use model::{Caveat, DecidingFact, DecidingFacts, ImportFact};

/// What its table noticed, and what comes to it.
#[derive(Debug, Default)]
pub(crate) struct ImportNotices {
    pub(crate) facts: DecidingFacts<ImportFact>,
    pub(crate) caveats: Vec<Caveat>,
}

impl ImportNotices {
    /// What a table noticed.
    pub(crate) fn of(table: &ImportedTable) -> Self {
        Self { facts: table.facts.clone(), caveats: table.caveats.clone() }
    }

    /// Adds the one order that all blocks have, where they have one.
    pub(crate) fn add_fixed_order(&mut self, in_order: Option<String>) {
        let Some(told) = in_order else { return };
        let fact = ImportFact::FixedOrder { told: told.clone() };
        self.caveats.push(Caveat::new(fact.caveat_code(), told));
        self.facts.establish(fact);
    }

    /// Adds what is said of values that stand twice, where any do.
    pub(crate) fn add_copies(&mut self, caveats: Vec<Caveat>) {
        if !caveats.is_empty() {
            self.facts.establish(ImportFact::CopiedValues);
        }
        self.caveats.extend(caveats);
    }
}
