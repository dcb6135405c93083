//! What a mix must look like from outside to deserve its name.

use super::mix::{Mix, MixKind};
use model::RunReport;
use std::ops::RangeInclusive;

/// The ranges a run must lie in.
#[derive(Debug, Clone)]
pub(super) struct Regime {
    mix: &'static str,
    cpu_share: RangeInclusive<f64>,
    io_share: RangeInclusive<f64>,
    switches: RangeInclusive<f64>,
}

/// What a run looked like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observed {
    /// CPU time over wall time and the CPUs the tasks can fill.
    cpu_share: f64,
    /// Time of the tasks spent in their writes.
    io_share: f64,
    /// Voluntary switches per second of one task.
    switches: f64,
}

impl Observed {
    pub(super) fn of(report: &RunReport, tasks: usize, cpus: usize, io_share: f64) -> Self {
        let wall_ns = report.wall_ns.max(1) as f64;
        let cpu_ns = (report.usage.user_ns + report.usage.system_ns) as f64;
        let switches = report.usage.voluntary_switches as f64;
        Self {
            cpu_share: cpu_ns / wall_ns / cpus.max(1) as f64,
            io_share,
            switches: switches / (wall_ns / 1e9) / tasks.max(1) as f64,
        }
    }
}

impl Regime {
    /// The ranges of each mix. They are wide on purpose: they tell a mix from
    /// another one, not a fast machine from a slow one or a busy one.
    pub(super) fn of(mix: &Mix) -> Self {
        match mix.kind {
            MixKind::CpuBound => Self {
                mix: "cpu_bound",
                cpu_share: 0.1..=1.1,
                io_share: 0.0..=0.01,
                switches: 0.0..=100.0,
            },
            MixKind::IoBound => Self {
                mix: "io_bound",
                cpu_share: 0.0..=0.6,
                io_share: 0.5..=1.0,
                switches: 5.0..=1e6,
            },
            MixKind::Mixed => Self {
                mix: "mixed",
                cpu_share: 0.03..=0.98,
                io_share: 0.02..=0.97,
                switches: 5.0..=1e6,
            },
            MixKind::HighContextSwitch => Self {
                mix: "high_context_switch",
                cpu_share: 0.02..=1.1,
                io_share: 0.0..=0.01,
                switches: 500.0..=1e7,
            },
            MixKind::Streaming => {
                let frames = 1e9 / mix.frame_interval_ns as f64;
                Self {
                    mix: "streaming",
                    cpu_share: 0.005..=0.95,
                    io_share: 0.0..=0.01,
                    switches: frames * 0.1..=frames * 4.0 + 100.0,
                }
            }
        }
    }

    /// # Errors
    /// Each figure that lies outside, with its range.
    pub(super) fn check(&self, observed: &Observed) -> Result<(), String> {
        let figures = [
            ("CPU share", observed.cpu_share, &self.cpu_share),
            ("I/O share", observed.io_share, &self.io_share),
            ("voluntary switches per second and task", observed.switches, &self.switches),
        ];
        let outside: Vec<String> = figures
            .into_iter()
            .filter(|(_, value, range)| !range.contains(value))
            .map(|(name, value, range)| {
                format!("{name} {value:.3} is outside {} to {}", range.start(), range.end())
            })
            .collect();
        if outside.is_empty() {
            return Ok(());
        }
        Err(format!("the run was not in the regime of {}: {}", self.mix, outside.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Usage;

    #[test]
    fn a_run_outside_its_regime_is_named_with_its_figures() {
        let mix = Mix {
            kind: MixKind::IoBound,
            tasks: Some(2),
            duration_ns: 1,
            operations: 1,
            footprint_bytes: 1,
            block_bytes: 512,
            frame_interval_ns: 1,
        };
        let report = |cpu_ns, voluntary_switches| RunReport {
            wall_ns: 1_000_000_000,
            operations: None,
            usage: Usage { user_ns: cpu_ns, voluntary_switches, ..Usage::default() },
        };
        let regime = Regime::of(&mix);
        let fine = Observed::of(&report(100_000_000, 2_000), 2, 2, 0.9);
        assert_eq!(regime.check(&fine), Ok(()));
        let in_memory = Observed::of(&report(1_900_000_000, 2), 2, 2, 0.95);
        let error = regime.check(&in_memory).unwrap_err();
        assert!(error.contains("CPU share 0.950 is outside 0 to 0.6"), "{error}");
        assert!(error.contains("voluntary switches per second and task 1.000"), "{error}");
        assert!(!error.contains("I/O share"), "{error}");
    }
}
