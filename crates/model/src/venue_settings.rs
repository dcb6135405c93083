//! What a plan says about a venue that has no field of its own in it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a plan holds of a venue that has no field of its own in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VenueSettings {
    /// Whether its numbers say nothing about any machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// Whether trials run in guests that it boots.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub boots_guests: bool,
    /// Its settings: each a key and its value in one spelling.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

impl VenueSettings {
    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
