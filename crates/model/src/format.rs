//! Versions of everything stored. A field added or changed bumps its format; what an
//! earlier version means unchanged is read on.

/// `plan.json`.
pub const PLAN_FORMAT: &str = "schedlab.plan/3";
/// Versions of it that are read. The second has claims about one metric each and none across
/// workloads; the first has no comparisons within a factor, and claims about one comparison
/// each.
pub const PLAN_FORMATS: [&str; 3] = [PLAN_FORMAT, "schedlab.plan/2", "schedlab.plan/1"];
/// A line of `records.jsonl`.
pub const RECORD_FORMAT: &str = "schedlab.record/1";
/// `findings.json`.
pub const FINDINGS_FORMAT: &str = "schedlab.findings/4";
/// Versions of it that are read. The third has claims as the second format of plans; the
/// second has claims about one comparison each, and does
/// not count broken rules.
pub const FINDINGS_FORMATS: [&str; 3] =
    [FINDINGS_FORMAT, "schedlab.findings/3", "schedlab.findings/2"];
/// The view model that every renderer draws.
pub const REPORT_FORMAT: &str = "schedlab.report/4";
