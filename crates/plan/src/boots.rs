//! Which subjects share a boot inside a block.

use contract::{Catalogue, Knob};
use model::{Comparisons, Level, Subject};
use std::collections::BTreeMap;

/// What a machine is booted with: the levels of the boot factors.
type Booted<'s> = BTreeMap<&'s str, &'s Level>;

/// The number of each subject's boot: subjects whose levels of all boot factors are
/// equal share one.
///
/// The A/A control is the exception. Where subjects of different boots are compared,
/// what differs between them includes what differs between any two boots, and a
/// control in the reference's own boot could never show that: it would vouch for a
/// comparison whose largest noise it does not have. It boots a machine of its own
/// then. Where all that are compared share a boot, the control shares the reference's.
pub(crate) fn boots(
    catalogue: &Catalogue,
    subjects: &[Subject],
    comparisons: &Comparisons,
) -> BTreeMap<String, usize> {
    let mut known: Vec<Booted<'_>> = Vec::new();
    let mut numbers = BTreeMap::new();
    for subject in subjects.iter().filter(|subject| !subject.is_control) {
        let booted = booted(catalogue, subject);
        let number = known.iter().position(|other| *other == booted).unwrap_or_else(|| {
            known.push(booted);
            known.len() - 1
        });
        numbers.insert(subject.id.clone(), number);
    }
    let pairs = comparisons.pairs(subjects);
    let crosses_boots = pairs.iter().any(|(a, b)| numbers.get(&a.id) != numbers.get(&b.id));
    // The reference comes first, so its boot is the first.
    let own = if crosses_boots { known.len() } else { 0 };
    for control in subjects.iter().filter(|subject| subject.is_control) {
        numbers.insert(control.id.clone(), own);
    }
    numbers
}

fn booted<'s>(catalogue: &Catalogue, subject: &'s Subject) -> Booted<'s> {
    let is_boot = |id: &str| {
        catalogue.factor(id).is_some_and(|factor| matches!(factor.knob(), Knob::Boot(_)))
    };
    subject
        .levels
        .iter()
        .filter(|(id, _)| is_boot(id))
        .map(|(id, level)| (id.as_str(), level))
        .collect()
}
