//! A plan for this crate's tests, which cannot use the crate `fixtures`: that one uses this crate.

/// The least that a stored plan has, of the third format.
pub const PLAN: &str = r#"{"format":"schedlab.plan/3","name":"n","title":"t","digest":"d","venue":"sim","seed":1,"is_seed_generated":false,"alpha":0.05,"is_quick":false,"subjects":[],"workloads":[],"blocks":[],"probes":[],"settle_ns":0,"notes":[]}"#;
