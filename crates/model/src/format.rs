//! Versions of everything stored. A field added or changed bumps its format.

/// `plan.json`.
pub const PLAN_FORMAT: &str = "schedlab.plan/1";
/// A line of `records.jsonl`.
pub const RECORD_FORMAT: &str = "schedlab.record/1";
/// `findings.json`.
pub const FINDINGS_FORMAT: &str = "schedlab.findings/2";
/// The view model that every renderer draws.
pub const REPORT_FORMAT: &str = "schedlab.report/2";
