//! What a comparison of a native workload with its reference tool says, and what several say alike.

/// Stands for the loop device in a command.
pub const DEVICE: &str = "{device}";

/// The band that most comparisons have.
pub const TEN_PERCENT: (f64, f64) = (0.9, 1.1);
/// The placement of everything that shares one CPU.
pub const ON_CPU_0: &[&str] = &["taskset", "-c", "0"];

/// One comparison of a native workload with its reference tool.
pub struct ReferenceComparison {
    /// For the table.
    pub name: &'static str,
    /// Words before both commands: placement and policy.
    pub prefix: &'static [&'static str],
    /// The reference's command; its name alone where a workload runs it.
    pub reference: &'static [&'static str],
    /// How the reference prints its result.
    pub printed: Printed,
    /// The native workload's id.
    pub workload: &'static str,
    /// Its parameters, where they are not the defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Id of its metric, in nanoseconds or bytes per second as the reference's.
    pub metric: &'static str,
    /// The whole interval of the ratio must lie here.
    pub band: (f64, f64),
    /// What its context switches must do.
    pub switches: Switches,
}

/// A workload of ours, and what is read of it.
#[derive(Debug, Clone, Copy)]
pub struct NativeLoad {
    /// Its id.
    pub workload: &'static str,
    /// Its parameters, where they are not the defaults.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Id of its metric.
    pub metric: &'static str,
}

impl ReferenceComparison {
    /// The native side.
    pub fn native(&self) -> NativeLoad {
        NativeLoad { workload: self.workload, parameters: self.parameters, metric: self.metric }
    }

    /// The program that the reference is.
    pub fn program(&self) -> &'static str {
        self.reference.first().copied().unwrap_or_default()
    }

    /// Whether both sides read a block device.
    pub fn needs_device(&self) -> bool {
        self.reference.iter().any(|word| word.contains(DEVICE))
    }
}

/// How the context switches of a run are compared.
pub enum Switches {
    /// Their ratio must be one within this share.
    Agree(f64),
    /// Shown and not judged: under the fair class runs of the reference differ from
    /// each other by far more than any limit (ADR 0008).
    Vary,
    /// Shown and not judged: the reference has threads that the native workload
    /// has no need of.
    OtherThreads,
    /// Not compared: the CPU time of one transfer is, which must not be shown to be higher.
    CpuPerTransfer,
}

/// How a reference prints its result.
pub enum Printed {
    /// `Time: 1.234`, in seconds.
    HackbenchSeconds,
    /// `1.234 usecs/op`.
    MicrosecondsPerOperation,
    /// A histogram of microseconds, `000123 000004` on each line: its median.
    HistogramMedian,
    /// fio's JSON: bytes per second of its reads, and its own CPU time.
    FioReads,
    /// A workload of ours runs the reference, with its server, and reads what it prints.
    ByAdapter(NativeLoad),
}
