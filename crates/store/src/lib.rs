//! The campaign directory: the plan, the records as they were appended, the
//! fingerprint, the findings and the reports (ARCHITECTURE.md#where-state-lives).
//!
//! This crate must not know how a trial runs or how records are judged. It
//! promises that a record which [`Campaign::append`] accepted is on disk, and
//! that whatever a crash leaves behind loads up to the last complete record.

mod agreement;
mod attempts;
mod bundle;
mod campaign;
mod chain;
mod compact_json;
mod decisive_fields;
mod documents;
mod durable;
mod held_records;
mod import_head;
mod json_digest;
mod json_file;
mod json_location;
mod json_text;
mod known_records;
mod load;
mod lookup;
mod own_directories;
mod plan_parts;
mod plan_sizes;
mod record_lines;
mod record_template;
mod record_weight;
mod records;
mod redaction;
mod resumptions;
mod stored_findings;
mod strange_keys;
mod unread_json;

#[cfg(test)]
mod fixtures;

pub use attempts::Attempts;
pub use bundle::{Manifest, OpenBundle, Packed, Unpacked, pack, pack_sealed, unpack};
pub use campaign::{Campaign, directory_stem};
pub use chain::{BrokenLink, LinkBreak, names_plan};
pub use decisive_fields::bound_name;
pub use documents::{CampaignState, Redaction, fingerprint_digest};
pub use durable::{failed, replace};
pub use held_records::{HeldRecords, StoredRecords, are_small};
pub use import_head::{import_head, is_import};
pub use json_file::{findings_text, plan_text};
pub use known_records::KnownRecords;
pub use load::{
    LoadedCampaign, is_origin_of_import, load, load_findings, load_held, load_on,
    load_without_records, planned_name,
};
pub use lookup::{CampaignEntry, all, find_unfinished, finished, resolve};
pub use own_directories::check_own_directories;
pub use records::ReadPosition;
pub use redaction::{KnownSecrets, SecretKind, redact};
pub use stored_findings::save_findings;
pub use strange_keys::{repeated_keys, unknown_keys};
