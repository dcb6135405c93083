//! The plan's identity: the same digest means that records can be joined.

use contract::{Catalogue, Parameter};
use model::Plan;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What the digest is made of. A later format of plans that adds what this one does not use
/// leaves it, and so the campaigns begun under it, as they are.
const IDENTITY: &str = "schedlab.plan/1";

/// SHA-256 over canonical JSON of all that decides results. Title, name, notes
/// and a generated seed do not; neither does the order, which the seed and the
/// number of blocks decide.
pub(crate) fn digest(plan: &Plan, catalogue: &Catalogue) -> String {
    let seed = (!plan.is_seed_generated).then_some(plan.seed);
    let mut decisive = json!({
        "format": IDENTITY,
        "catalogue": catalogue_version(plan, catalogue),
        "venue": plan.venue,
        "seed": seed,
        "alpha": plan.alpha,
        "is_quick": plan.is_quick,
        "subjects": plan.subjects,
        "workloads": plan.workloads,
        "blocks": plan.blocks.len(),
        "probes": plan.probes,
        "settle_ns": plan.settle_ns,
        "sim": plan.sim,
    });
    // What an experiment does not use is not part of its identity: campaigns begun
    // before there was such a key go on.
    for (key, is_used, value) in [
        ("looks", !plan.looks.is_empty(), json!(plan.looks)),
        ("comparisons", !plan.comparisons.is_default(), json!(plan.comparisons)),
        ("use_cases", !plan.use_cases.is_empty(), json!(plan.use_cases)),
        ("claims", !plan.claims.is_empty(), json!(plan.claims)),
        ("vm", plan.vm.is_some(), json!(plan.vm)),
        ("budget_ns", plan.budget_ns.is_some(), json!(plan.budget_ns)),
        ("pace", plan.pace.is_some(), json!(plan.pace)),
        ("venue_settings", !plan.venue_settings.is_empty(), json!(plan.venue_settings)),
    ] {
        if is_used {
            decisive[key] = value;
        }
    }
    hexadecimal(&Sha256::digest(decisive.to_string().as_bytes()))
}

/// A digest of the declarations of the entries that the plan uses. Entries that
/// it does not use may change without separating it from its records.
fn catalogue_version(plan: &Plan, catalogue: &Catalogue) -> String {
    let workloads: Vec<Value> = plan
        .workloads
        .iter()
        .filter_map(|workload| catalogue.workload(&workload.uses))
        .map(|workload| {
            let parameters: Vec<String> = workload.parameters().iter().map(declaration).collect();
            json!([workload.describe().id, parameters])
        })
        .collect();
    let mut factors: Vec<&str> = plan
        .subjects
        .iter()
        .flat_map(|subject| subject.levels.keys().map(String::as_str))
        .collect();
    factors.sort_unstable();
    factors.dedup();
    let factors: Vec<Value> = factors
        .into_iter()
        .filter_map(|id| catalogue.factor(id))
        .map(|factor| json!([factor.describe().id, factor.syntax(), factor.order()]))
        .collect();
    let probes: Vec<Value> = plan
        .probes
        .iter()
        .filter_map(|id| catalogue.probe(id))
        .map(|probe| json!([probe.describe().id, probe.metrics()]))
        .collect();
    let version = json!([workloads, factors, probes]).to_string();
    hexadecimal(&Sha256::digest(version.as_bytes()))
}

fn declaration(parameter: &Parameter) -> String {
    format!("{}:{:?}={:?}", parameter.name, parameter.kind, parameter.default)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
