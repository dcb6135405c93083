//! The campaign: a plan times a venue gives records
