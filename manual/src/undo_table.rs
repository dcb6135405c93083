//! The table in docs/manual/restoring.md: how it is known of each factor that it can be undone.

use contract::{Factor, Knob, UndoCheck};
use std::fmt::Write;

/// A row for every factor of the catalogue.
pub fn table() -> String {
    let mut text = String::from("| factor | how it is known that it can be undone |\n|---|---|\n");
    for factor in schedlab::catalogue().factors {
        let _ = writeln!(text, "| `{}` | {} |", factor.describe().id, how(*factor));
    }
    text
}

fn how(factor: &dyn Factor) -> String {
    match factor.undo_check() {
        UndoCheck::DryWriteBack => "dry write-back of the present value".to_owned(),
        UndoCheck::KnownLimit(limit) => {
            format!("known limit: {}; {}", limit.takes, limit.why_not_written)
        }
        UndoCheck::Refused => "not known: refused".to_owned(),
        UndoCheck::EndsByItself => match factor.knob() {
            Knob::Held(_) => "ends with the process or device that holds it".to_owned(),
            Knob::Launch(_) => "ends with the workload's processes and groups".to_owned(),
            Knob::Boot(_) => "ends with the guest".to_owned(),
            Knob::System(_) | Knob::Simulated => "nothing is changed".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_that_changes_files_states_how_it_is_known_that_it_can_be_undone() {
        let mut of_files = 0;
        for factor in schedlab::catalogue().factors {
            let id = factor.describe().id;
            let is_of_files = matches!(factor.knob(), Knob::System(_));
            let is_stated = match factor.undo_check() {
                UndoCheck::DryWriteBack | UndoCheck::KnownLimit(_) => is_of_files,
                UndoCheck::EndsByItself => !is_of_files,
                UndoCheck::Refused => false,
            };
            assert!(is_stated, "{id}: {:?}", factor.undo_check());
            of_files += usize::from(is_of_files);
        }
        assert!(of_files > 10, "{of_files} factors");
    }
}
