//! What each subject of a plan is compared with.

use crate::{Comparisons, Group, Plan, Subject, groups};

impl Plan {
    /// What a subject is compared with first; a control with its twin. `None` of the
    /// reference itself, and of the reference of a group.
    pub fn compared_with(&self, id: &str) -> Option<&Subject> {
        if self.subject(id)?.is_control {
            return Some(self.reference());
        }
        // No list of all pairs: each subject asks, and pairs grow with the square of the subjects.
        match &self.comparisons {
            Comparisons::Reference | Comparisons::All => {
                let first = self.subjects.iter().find(|subject| !subject.is_control);
                first.filter(|first| first.id != id)
            }
            Comparisons::Within(factor) => {
                let groups = groups(&self.subjects, factor);
                let of_group = |group: &Group<'_>| group.others.iter().any(|other| other.id == id);
                groups.into_iter().find(of_group).and_then(|group| group.reference)
            }
        }
    }
}
