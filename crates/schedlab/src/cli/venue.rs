//! `--venue`: the names of the catalogue, for help and completions.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;

/// What help says: `host, vm or sim, instead of the experiment's venue`.
pub(super) fn help() -> String {
    let ids: Vec<&str> = crate::catalogue().venue_ids().collect();
    let names = match ids.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        few => few.concat(),
    };
    format!("{names}, instead of the experiment's venue")
}

/// Any text: a wrong name is told with everything else that is wrong in the experiment. Completions
/// offer what there is.
#[derive(Clone)]
pub(super) struct VenueName;

impl TypedValueParser for VenueName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let venues = crate::catalogue().venues.iter().map(|venue| venue.describe());
        Some(Box::new(venues.map(|one| PossibleValue::new(one.id).help(one.summary))))
    }
}
