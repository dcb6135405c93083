//! What a load over HTTP reports.

use model::{Direction, Metric, Reduction, Unit};

/// Right answers per second.
pub(super) const ANSWERS: &str = "answers_per_second";
/// The highest rate that is sustained.
pub(super) const CAPACITY: &str = "capacity";
/// The same as a factor of the scenario's rates.
pub(super) const CAPACITY_FACTOR: &str = "capacity_factor";

/// The percentiles of `latency`.
const QUANTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// The metrics of a scenario with kinds of these names.
pub(super) fn of_load(names: &[&str], is_open: bool) -> Vec<Metric> {
    let (lower, higher) = (Direction::Lower, Direction::Higher);
    let fraction = |id: String, summary: String| {
        Metric::new(id, Unit::Fraction, lower, Reduction::Proportion, summary)
    };
    let mut metrics = quantiles("latency", "Time from when a request was due to its answer");
    let summary = "Right answers per second";
    let rate = Reduction::Quotient;
    metrics.push(Metric::new(ANSWERS, Unit::PerSecond, higher, rate, summary));
    let summary = "Requests with a wrong answer, or none in time".to_owned();
    metrics.push(fraction("failed".to_owned(), summary));
    for name in names {
        metrics.extend(quantiles(
            &format!("{name}_latency"),
            &format!("Time from when a request `{name}` was due to its answer"),
        ));
        let summary = format!("Requests `{name}` with a wrong answer, or none in time");
        metrics.push(fraction(format!("{name}_failed"), summary));
    }
    if is_open {
        let mut described = |source: &str, summary: &str| {
            let quantiles = Metric::latency_quantiles(source, summary);
            metrics.extend(
                quantiles.into_iter().map(|metric| Metric { is_description: true, ..metric }),
            );
        };
        described("service_time", "Time from when a request got a connection to its answer");
        described("waited", "How much later than due a request got a connection");
        described("lateness", "How much later than due the generator saw a request");
    }
    let summary = "CPU time of the generator per request";
    metrics.push(Metric {
        is_description: true,
        ..Metric::new("generator_cpu", Unit::Nanoseconds, lower, rate, summary)
    });
    metrics
}

/// The metrics of a search of the highest rate.
pub(super) fn of_search() -> Vec<Metric> {
    let summary = "Highest rate of requests, all kinds together, that is sustained";
    let (unit, higher) = (Unit::PerSecond, Direction::Higher);
    let capacity = Metric::new(CAPACITY, unit, higher, Reduction::Median, summary);
    let summary = "The same as a factor of the scenario's rates";
    let factor = Metric::new(CAPACITY_FACTOR, Unit::Plain, higher, Reduction::Median, summary);
    vec![capacity, Metric { is_description: true, ..factor }]
}

/// More percentiles than [`Metric::latency_quantiles`] has: those that services promise.
fn quantiles(source: &str, summary: &str) -> Vec<Metric> {
    let metric = |(name, quantile): (&str, f64)| Metric {
        source: source.to_owned(),
        resolution: 1.0,
        ..Metric::new(
            format!("{source}_{name}"),
            Unit::Nanoseconds,
            Direction::Lower,
            Reduction::Quantile(quantile),
            format!("{summary}: the {}th percentile", quantile * 100.0),
        )
    };
    QUANTILES.into_iter().map(metric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_names_of_their_own() {
        let metrics = of_load(&["a", "latency", "b_latency"], true);
        let names: std::collections::BTreeSet<&str> =
            metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(names.len(), metrics.len());
        assert_eq!(metrics[0].id, "latency_p50");
        let p75 = metrics.iter().find(|metric| metric.id == "a_latency_p75").unwrap();
        assert_eq!((p75.source.as_str(), p75.reduction), ("a_latency", Reduction::Quantile(0.75)));
    }
}
