//! What a mapping says about numbers that were imported: claims, in the words of an
//! experiment.

use crate::claims::{self, Asked};
use crate::document;
use crate::levels::{Levels, as_written};
use crate::problem::ExperimentProblem;
use crate::problems::into_sorted;
use contract::Catalogue;
use contract::document::ExperimentProblems;
use model::{Claim, ImportedDesign, ParameterValue, Plan, WorkloadPlan};
use std::collections::BTreeSet;

/// With more dimensions than this only single ones are margins, as in the analysis.
const MOST_CROSSED: usize = 3;

/// Reads the `[[claims]]` of a mapping. They are about the subjects, cells and margins of
/// `plan`, which imported numbers were made into: `workload = "operation:read,record:8k"`,
/// `"record:8k"` or `"overall"`; about every cell where it is left out.
///
/// # Errors
/// Every problem, by line of the mapping's text.
pub fn claims(
    text: &str,
    catalogue: &Catalogue,
    plan: &Plan,
) -> Result<Vec<Claim>, Vec<ExperimentProblem>> {
    let mut problems = ExperimentProblems::default();
    let table = document::read(text, &mut problems);
    let workloads: Vec<&WorkloadPlan> = plan.workloads.iter().collect();
    let asked = Asked {
        subjects: &plan.subjects,
        workloads: &workloads,
        margins: &margins(plan),
        comparisons: &plan.comparisons,
    };
    let mut levels = Levels::new(&as_written);
    let read =
        table.map(|table| claims::read(&table, catalogue, &asked, &mut levels, &mut problems));
    match read {
        Some(claims) if problems.is_empty() => Ok(claims),
        _ => Err(into_sorted(problems, text)),
    }
}

/// Labels of everything that is judged beside the cells.
fn margins(plan: &Plan) -> BTreeSet<String> {
    let design = plan.imported.as_ref().map(|imported| &imported.design);
    let Some(ImportedDesign::Unblocked { dimensions, .. }) = design else {
        return BTreeSet::new();
    };
    let count = dimensions.len();
    let patterns: Vec<usize> = if count <= MOST_CROSSED {
        (1..(1_usize << count).saturating_sub(1)).collect()
    } else {
        (0..count).map(|index| 1 << index).collect()
    };
    let mut labels = BTreeSet::new();
    for workload in &plan.workloads {
        for pattern in &patterns {
            let kept = (0..count).filter(|index| pattern >> index & 1 == 1);
            let parts: Vec<String> = kept
                .map(|index| match workload.parameters.0.get(&dimensions[index]) {
                    Some(ParameterValue::Text(level)) => format!("{}:{level}", dimensions[index]),
                    _ => format!("{}:", dimensions[index]),
                })
                .collect();
            labels.insert(parts.join(","));
        }
    }
    if count > 0 {
        labels.insert("overall".to_owned());
    }
    labels
}
