//! Where threads ran and how often they woke each other, which decides how long anything takes.

use super::settings::{GatewaySettings, Route};
use super::usage::Usage;
use super::worker::Served;
use model::{Direction, Metric, Reduction, Sample, Unit};

/// Where its threads were and how often they woke each other: results of threads that run free
/// have as many modes as there are placements.
pub(super) fn metrics(settings: &GatewaySettings) -> Vec<Metric> {
    let share = |id: &str, direction, summary: &str| {
        let metric = Metric::new(id, Unit::Fraction, direction, Reduction::Proportion, summary);
        Metric { is_description: true, ..metric }
    };
    let mut metrics = vec![share(
        "on_generators_cpu",
        Direction::Higher,
        "Frames that workers had on the CPU where the generator was most",
    )];
    if settings.workers > 1 {
        metrics.push(share(
            "busiest_workers_sessions",
            Direction::Lower,
            "Sessions of the worker that has most: the kernel deals them out",
        ));
    }
    if settings.route != Route::Local {
        metrics.push(Metric::new(
            "rings",
            Unit::PerOperation,
            Direction::Lower,
            Reduction::Quotient,
            "Wake-ups of one worker by another for one request",
        ));
    }
    metrics
}

/// The samples of [`metrics`]: of the generator, the gateway, and all its workers together, over
/// so many requests.
pub(super) fn samples(
    settings: &GatewaySettings,
    (generator, served, gateway): (&Usage, &Served, &Usage),
    operations: f64,
) -> Vec<Sample> {
    let there = generator.most_on().map_or(0, |cpu| gateway.on(cpu));
    let mut samples = vec![Sample::proportion("on_generators_cpu", there, gateway.frames)];
    if settings.workers > 1 {
        let most = served.sessions.iter().copied().max().unwrap_or(0);
        let all = served.sessions.iter().sum();
        samples.push(Sample::proportion("busiest_workers_sessions", most, all));
    }
    if settings.route != Route::Local {
        samples.push(Sample::quotient("rings", served.rings as f64, operations));
    }
    samples
}
