//! The metric that a percentile of somebody else becomes.

use model::{Direction, Metric, Reduction, Unit};
use outputs::Percentile;

/// The metric of a latency's percentile, with the margin of a quantile even where
/// the tool took it.
pub(crate) fn metric(percentile: Percentile, latency: &str, reduction: Reduction) -> Metric {
    let id = format!("{latency}_{}", percentile.name());
    let quantile = Reduction::Quantile(percentile.quantile());
    let metric =
        Metric::new(id.clone(), Unit::Nanoseconds, Direction::Lower, quantile, id.as_str());
    Metric { reduction, ..metric }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_percentile_has_the_margin_of_a_quantile() {
        let margin =
            |text: &str| metric(Percentile::parse(text).unwrap(), "clat", Reduction::Mean).margin;
        assert_eq!([margin("50"), margin("99"), margin("99.9")], [0.02, 0.05, 0.10]);
    }
}
