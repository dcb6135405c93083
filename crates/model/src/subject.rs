//! An arm of an experiment, and its levels.

use crate::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One arm of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// kebab-case.
    pub id: String,
    /// Factor id to level; levels common to all subjects are included. A parameter of a
    /// workload that this subject has otherwise is `WORKLOAD.PARAMETER`, of the workload's id.
    pub levels: BTreeMap<String, Level>,
    /// Whether this is the A/A control: a second copy of the reference.
    pub is_control: bool,
}

impl Subject {
    /// Whether such a level is a parameter of a workload, which the workload itself is given,
    /// and not of a factor.
    pub fn is_parameter(id: &str) -> bool {
        id.contains('.')
    }

    /// Its levels of all other factors.
    pub fn levels_but(&self, factor: &str) -> BTreeMap<&str, &Level> {
        let others = self.levels.iter().filter(|(id, _)| *id != factor);
        others.map(|(id, level)| (id.as_str(), level)).collect()
    }
}
