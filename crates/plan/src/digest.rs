//! The plan's identity: the same digest means that records can be joined.

use contract::{Catalogue, Parameter};
use model::Plan;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// SHA-256 over canonical JSON of all that decides results; a generated seed does not.
pub(crate) fn digest(plan: &Plan, catalogue: &Catalogue) -> String {
    let seed = (!plan.is_seed_generated).then_some(plan.seed);
    let decisive = plan.decisive(&catalogue_version(plan, catalogue), seed, plan.blocks.len());
    hexadecimal(&Sha256::digest(decisive.to_string().as_bytes()))
}

/// A digest of the rule of orders and of the declarations of the entries that the plan uses. Entries that
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
    let version = json!([workloads, factors, probes, crate::order::RULE]).to_string();
    hexadecimal(&Sha256::digest(version.as_bytes()))
}

fn declaration(parameter: &Parameter) -> String {
    format!("{}:{:?}={:?}", parameter.name, parameter.kind, parameter.default)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
