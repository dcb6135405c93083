//! Versions of everything stored. A field added or changed bumps its format; what an
//! earlier version means unchanged is read on.

/// `plan.json`.
pub const PLAN_FORMAT: &str = "schedlab.plan/3";
/// `plan.json` of a soak campaign: it has a pace. A reader of the version before would run its
/// blocks without pauses, so it must refuse them; all other plans are what they were to it.
pub const PACED_PLAN_FORMAT: &str = "schedlab.plan/4";
/// Versions of it that are read. The third has no pace. The second has claims about one metric each and none across
/// workloads; the first has no comparisons within a factor, and claims about one comparison
/// each.
pub const PLAN_FORMATS: [&str; 4] =
    [PLAN_FORMAT, "schedlab.plan/2", "schedlab.plan/1", PACED_PLAN_FORMAT];
/// A line of `records.jsonl`.
pub const RECORD_FORMAT: &str = "schedlab.record/1";
/// `findings.json`.
pub const FINDINGS_FORMAT: &str = "schedlab.findings/4";
/// `findings.json` of a soak campaign: it has trends.
pub const TREND_FINDINGS_FORMAT: &str = "schedlab.findings/5";
/// Versions of it that are read. The fourth has no trends. The third has claims as the second format of plans; the
/// second has claims about one comparison each, and does
/// not count broken rules.
pub const FINDINGS_FORMATS: [&str; 4] =
    [FINDINGS_FORMAT, "schedlab.findings/3", "schedlab.findings/2", TREND_FINDINGS_FORMAT];
/// The view model that every renderer draws.
pub const REPORT_FORMAT: &str = "schedlab.report/4";
/// The view model of a soak campaign: its findings have trends.
pub const TREND_REPORT_FORMAT: &str = "schedlab.report/5";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Findings, Pace, Plan};

    const PLAN: &str = r#"{"format":"schedlab.plan/3","name":"n","title":"t","digest":"d","venue":"sim","seed":1,"is_seed_generated":false,"alpha":0.05,"is_quick":false,"subjects":[],"workloads":[],"blocks":[],"probes":[],"settle_ns":0,"notes":[]}"#;
    const FINDINGS: &str = r#"{"format":"schedlab.findings/4","plan_digest":"d","seed":1,"alpha":0.05,"families":{},"findings":[],"failures":[],"caveats":[]}"#;

    #[test]
    fn what_has_no_pace_and_no_trends_is_written_as_before() {
        let plan: Plan = serde_json::from_str(PLAN).unwrap();
        assert_eq!(plan.pace, None);
        assert_eq!(serde_json::to_string(&plan).unwrap(), PLAN);
        let findings: Findings = serde_json::from_str(FINDINGS).unwrap();
        assert_eq!(serde_json::to_string(&findings).unwrap(), FINDINGS);
    }

    #[test]
    fn a_pace_is_read_again_and_refused_by_readers_that_know_none() {
        let mut plan: Plan = serde_json::from_str(PLAN).unwrap();
        plan.pace = Some(Pace { duration_ns: 24, every_ns: 1 });
        PACED_PLAN_FORMAT.clone_into(&mut plan.format);
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains(r#""pace":{"duration_ns":24,"every_ns":1}"#), "{text}");
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        let known_before = ["schedlab.plan/3", "schedlab.plan/2", "schedlab.plan/1"];
        assert!(!known_before.contains(&PACED_PLAN_FORMAT));
        assert!(known_before.iter().all(|known| PLAN_FORMATS.contains(known)));
        assert!(PLAN_FORMATS.contains(&PACED_PLAN_FORMAT));
        assert!(FINDINGS_FORMATS.contains(&TREND_FINDINGS_FORMAT));
    }
}
