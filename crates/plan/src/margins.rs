//! Equivalence margins: what counts as no difference, declared before the run.

use contract::document::{ExperimentProblems, Node, SourceLocation, Value, values};
use model::{Metric, Reduction};
use std::collections::BTreeMap;

/// Twice the resolution of an HDR histogram with three significant digits
/// (0.1 %, docs/method.md#m-margin): a finer margin on a quantile cannot be judged.
const FINEST_QUANTILE_MARGIN: f64 = 0.002;

/// Margins of the experiment, or of one workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Margins {
    default: Option<Declared>,
    metrics: BTreeMap<String, Declared>,
}

#[derive(Debug, Clone)]
struct Declared {
    margin: f64,
    key: SourceLocation,
    value: SourceLocation,
}

impl Margins {
    /// `margin = "5%"`, or `margin = { default = "2%", METRIC = "5%" }`.
    pub(crate) fn read(node: &Node, problems: &mut ExperimentProblems) -> Self {
        let mut margins = Self::default();
        let Value::Table(table) = &node.value else {
            margins.default = declared(node, &node.place, problems);
            return margins;
        };
        for entry in &table.entries {
            let Some(margin) = declared(&entry.node, &entry.place, problems) else { continue };
            if entry.key == "default" {
                margins.default = Some(margin);
            } else {
                margins.metrics.insert(entry.key.clone(), margin);
            }
        }
        margins
    }

    /// Reports margins of metrics that do not exist among `known`.
    pub(crate) fn check_names(
        &self,
        known: &[String],
        whose: &str,
        problems: &mut ExperimentProblems,
    ) {
        for (name, margin) in &self.metrics {
            if !known.contains(name) {
                problems
                    .report(&margin.key, format!("`{name}` is not a metric of {whose}"))
                    .near(name, known.iter().map(String::as_str).chain(["default"]));
            }
        }
    }
}

fn declared(
    node: &Node,
    key: &SourceLocation,
    problems: &mut ExperimentProblems,
) -> Option<Declared> {
    let margin = values::margin(node, problems)?;
    Some(Declared { margin, key: key.clone(), value: node.place.clone() })
}

/// Gives a metric its margin. The nearest declaration that names the metric
/// wins, then the nearest default, then the metric's own.
pub(crate) fn apply(
    metric: &mut Metric,
    workload: &Margins,
    experiment: &Margins,
    problems: &mut ExperimentProblems,
) {
    let declared = workload
        .metrics
        .get(&metric.id)
        .or_else(|| experiment.metrics.get(&metric.id))
        .or(workload.default.as_ref())
        .or(experiment.default.as_ref());
    let Some(declared) = declared else { return };
    let is_quantile = matches!(metric.reduction, Reduction::Quantile(_));
    if is_quantile && declared.margin < FINEST_QUANTILE_MARGIN {
        let cause = format!(
            "a margin of {}% is finer than the histogram of a quantile resolves",
            percent(declared.margin)
        );
        problems
            .report(&declared.value, cause)
            .hint(format!("declare at least {}%", percent(FINEST_QUANTILE_MARGIN)));
        return;
    }
    metric.margin = declared.margin;
}

/// A fraction in percent without the noise of binary fractions.
pub(crate) fn percent(fraction: f64) -> f64 {
    (fraction * 1e6).round() / 1e4
}
