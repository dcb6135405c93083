//! What guests boot with, by the levels of subjects.

use contract::{BootSpec, Knob, Result, TrialCatalogue};
use model::{Plan, Subject};
use std::collections::BTreeMap;

/// What each subject boots with, by its id.
pub(super) fn boot_specs(
    catalogue: &TrialCatalogue,
    plan: &Plan,
) -> Result<BTreeMap<String, BootSpec>> {
    plan.subjects
        .iter()
        .map(|subject| Ok((subject.id.clone(), boot_spec(catalogue, subject)?)))
        .collect()
}

/// What one boots with.
pub(super) fn boot_spec(catalogue: &TrialCatalogue, subject: &Subject) -> Result<BootSpec> {
    let mut spec = BootSpec::default();
    for (id, level) in &subject.levels {
        if let Some(Knob::Boot(knob)) = catalogue.factor(id).map(|factor| factor.knob()) {
            knob.contribute(level, &mut spec)?;
        }
    }
    Ok(spec)
}
