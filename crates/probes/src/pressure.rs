//! How long tasks waited for CPU, I/O and memory.

use crate::rate::{share, share_metric};
use contract::{AttachedProbe, Cost, Description, Error, Probe, ProbeTarget, Requirement, Result};
use model::{Metric, RunReport, Sample};
use sys::{Machine, Pressure};

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "pressure",
    summary: "the share of time in which tasks waited for CPU, I/O or memory (PSI)",
    doc: "\"Some\" is the share of the window in which at least one task waited for the resource, \"full\" \
          that in which all non-idle ones did. Read for the workload's own cgroup where it has one in \
          the unified hierarchy, else for the whole machine: which of the two depends on the machine, \
          not on the subject.\n\n\
          What moves it, and when it lies: CPU pressure rises with every runnable task that waits, also \
          for microseconds, so it is high on a saturated machine whatever the scheduler. For a group it \
          includes waiting because of `cpu_max`. CPU \"full\" has no meaning for a whole machine and is \
          left out. PSI itself costs a little on each task switch, in every arm alike.\n\n\
          Sources: Documentation/accounting/psi.rst, kernel/sched/psi.c (6.12).",
};

struct Resource {
    name: &'static str,
    some: &'static str,
    full: Option<&'static str>,
}

const RESOURCES: [Resource; 3] = [
    Resource { name: "cpu", some: "cpu_pressure_some", full: None },
    Resource { name: "io", some: "io_pressure_some", full: Some("io_pressure_full") },
    Resource { name: "memory", some: "memory_pressure_some", full: Some("memory_pressure_full") },
];

impl Probe for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        for resource in &RESOURCES {
            let summary = format!("share of time in which some task waited for {}", resource.name);
            metrics.push(share_metric(resource.some, &summary));
            if let Some(full) = resource.full {
                let summary =
                    format!("share of time in which every task waited for {}", resource.name);
                metrics.push(share_metric(full, &summary));
            }
        }
        metrics
    }

    fn cost(&self) -> Cost {
        Cost::BeforeAfter
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::check("pressure stall information", |machine| {
            for resource in &RESOURCES {
                read(machine, &system_file(resource)).map_err(|error| {
                    (
                        format!("{}: {}", error.attempted, error.cause),
                        "boot a kernel with CONFIG_PSI=y with psi=1 on its command line".to_owned(),
                    )
                })?;
            }
            Ok(())
        })]
    }

    fn attach(&self, machine: &Machine, target: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
        let file = |resource: &Resource| {
            let own = target
                .cgroups
                .last()
                .map(|group| group.file(&format!("{}.pressure", resource.name)));
            // A group's files can be switched off one by one (cgroup.pressure).
            own.filter(|path| machine.exists(path)).unwrap_or_else(|| system_file(resource))
        };
        let files = RESOURCES.iter().map(file).collect();
        Ok(Box::new(Waiting { machine: machine.clone(), files, before: Vec::new(), began_ns: 0 }))
    }
}

fn system_file(resource: &Resource) -> String {
    format!("/proc/pressure/{}", resource.name)
}

struct Waiting {
    machine: Machine,
    files: Vec<String>,
    before: Vec<Pressure>,
    began_ns: u64,
}

impl Waiting {
    fn read_all(&self) -> Result<Vec<Pressure>> {
        self.files.iter().map(|path| read(&self.machine, path)).collect()
    }
}

impl AttachedProbe for Waiting {
    fn start(&mut self) -> Result<()> {
        self.before = self.read_all()?;
        self.began_ns = sys::monotonic_ns();
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "times below 104 days are exact")]
    fn stop(&mut self, _report: &RunReport) -> Result<Vec<Sample>> {
        let window_us = (sys::monotonic_ns() - self.began_ns) as f64 / 1e3;
        let mut samples = Vec::new();
        for ((resource, before), after) in RESOURCES.iter().zip(&self.before).zip(self.read_all()?)
        {
            let waited = |now: u64, then: u64| now.saturating_sub(then) as f64;
            samples.extend(share(resource.some, waited(after.some_us, before.some_us), window_us));
            if let (Some(source), Some(then), Some(now)) =
                (resource.full, before.full_us, after.full_us)
            {
                samples.extend(share(source, waited(now, then), window_us));
            }
        }
        Ok(samples)
    }
}

fn read(machine: &Machine, path: &str) -> Result<Pressure> {
    let text = machine.read(path)?;
    Pressure::parse(&text).ok_or_else(|| {
        Error::environment(
            format!("cannot understand {path}"),
            format!("`{}` shows no totals", text.trim()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, FakeMachine};
    use sys::Cgroup;

    fn text(some_us: u64, full_us: u64) -> String {
        format!(
            "some avg10=0.00 avg60=0.00 avg300=0.00 total={some_us}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full_us}\n"
        )
    }

    #[test]
    fn the_workloads_group_is_read_where_there_is_one_and_the_machine_otherwise() {
        let initial = text(0, 0);
        let machine = FakeMachine::new(&[
            ("/proc/pressure/cpu", &initial),
            ("/proc/pressure/io", &initial),
            ("/proc/pressure/memory", &initial),
            ("/cg/cpu.pressure", &initial),
        ]);
        let mut target = fixture::target(1);
        target.cgroups = ["/load", "/cg"].map(|path| Cgroup { path: path.to_owned() }).into();
        let mut attached = Entry.attach(&machine, &target).unwrap();
        attached.start().unwrap();
        machine.write("/cg/cpu.pressure", &text(3_000, 0));
        machine.write("/proc/pressure/cpu", &text(9_000, 0));
        machine.write("/proc/pressure/io", &text(4_000, 2_000));
        let samples = attached.stop(&fixture::report()).unwrap();
        let of = |source| fixture::quotient(&samples, source).unwrap();
        // The window's length is the real one, so only ratios are exact.
        assert!((of("io_pressure_some") / of("cpu_pressure_some") - 4.0 / 3.0).abs() < 1e-9);
        assert!((of("io_pressure_some") / of("io_pressure_full") - 2.0).abs() < 1e-9);
        assert_eq!(samples.len(), 5);
    }

    #[test]
    fn a_kernel_without_it_says_how_to_get_it() {
        let machine = FakeMachine::new(&[]);
        let missing = Entry.requires()[0].met(&machine).unwrap_err();
        assert!(missing.remedy.contains("psi=1"), "{missing:?}");
    }
}
