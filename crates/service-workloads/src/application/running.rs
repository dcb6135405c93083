//! An application under load: its own processes, or long-lived ones.

use super::host_load::HostLoadClient;
use super::shared_application::LentApplication;
use super::usage::{Usage, since};
use super::warming::warm_up;
use super::{Application, Conduct, Drive, Inspection, Started};
use crate::http::HttpLoad;
use contract::{Error, ErrorKind, LaunchSpec, Load, Measurement, Result};
use model::{RunReport, Sample};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use sys::Machine;

/// How the directory of a program's report is called beside the trial's log.
const REPORT: &str = "report";

/// Whose processes serve.
enum Servers {
    /// The trial's own; none once they were stopped.
    Own(Option<Started>),
    /// Long-lived ones.
    Lent(LentApplication),
}

/// An application that serves.
pub(super) struct Running {
    machine: Machine,
    servers: Servers,
    conduct: Conduct,
    load: HttpLoad,
    /// What sends instead of it.
    program: Option<Box<dyn Drive>>,
    /// The load generator on the host, where that sends.
    host_load: Option<HostLoadClient>,
    inspection: Option<Box<dyn Inspection>>,
    log: PathBuf,
    /// Where what a program made for people is kept; nowhere in a guest, whose files go with it.
    report: Option<PathBuf>,
    /// What was measured before the run: times in nanoseconds by source.
    before: Vec<(&'static str, u64)>,
}

impl Running {
    /// Starts one for the trial, with its levels.
    ///
    /// # Errors
    /// What could not be started or set up, or did not become warm.
    pub(super) fn start(
        application: &dyn Application,
        machine: &Machine,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let conduct = application.conduct().clone();
        let began_ns = sys::monotonic_ns();
        let mut started = application.start(machine, launch, Some(launch))?;
        let mut before = vec![("ready_after", sys::monotonic_ns() - began_ns)];
        let mut load = application.load(started.address, launch)?;
        let mut inspection = application.inspection(started.address);
        let host_load = application.host_load(machine, launch);
        if host_load.is_none() {
            place_generator(&conduct)?;
        }
        load.set_up()?;
        if let Some(warming_ns) = conduct.warming_ns {
            before.push(("steady_after", warm_up(machine, &mut started, &mut load, warming_ns)?));
            // A fast subject has left more behind than a slow one: the load begins on data of its
            // own.
            rest(inspection.as_deref_mut())?;
            load.set_up()?;
        }
        Ok(Self {
            machine: machine.clone(),
            program: application.program(machine, launch)?,
            host_load,
            inspection,
            servers: Servers::Own(Some(started)),
            conduct,
            load,
            log: launch.log.clone(),
            report: report(machine, launch),
            before,
        })
    }

    /// Gives the long-lived application the levels of the trial.
    ///
    /// # Errors
    /// What it cannot be given, or that it has ended.
    pub(super) fn of_warm(
        application: &dyn Application,
        machine: &Machine,
        launch: &LaunchSpec,
    ) -> Result<Self> {
        let conduct = application.conduct().clone();
        let lent = LentApplication::of(launch)?;
        let mut load = application.load(lent.address, launch)?;
        let mut inspection = application.inspection(lent.address);
        // Before the generator has CPUs of its own: the others' are what it has by now.
        lent.impose(machine, launch)?;
        let host_load = application.host_load(machine, launch);
        if host_load.is_none() {
            place_generator(&conduct)?;
        }
        rest(inspection.as_deref_mut())?;
        load.set_up()?;
        let age_ns = sys::monotonic_ns().saturating_sub(lent.ready_at_ns);
        Ok(Self {
            machine: machine.clone(),
            servers: Servers::Lent(lent),
            conduct,
            load,
            program: application.program(machine, launch)?,
            host_load,
            inspection,
            log: launch.log.clone(),
            report: report(machine, launch),
            before: vec![("age", age_ns)],
        })
    }

    /// Answers of whatever kind since the set-up, where it is our load that asks.
    fn answered(&self) -> u64 {
        self.load.fates().values().flat_map(|fates| fates.answered.values()).sum()
    }

    /// # Errors
    /// That a server has ended, and what it said last.
    fn check_alive(&mut self) -> Result<()> {
        match &mut self.servers {
            Servers::Own(started) => {
                started.as_mut().and_then(Started::early_death).map_or(Ok(()), Err)
            }
            Servers::Lent(lent) => lent.check(&self.machine),
        }
    }

    /// Keeps what the program made for people. Where that fails the log says so: what was measured
    /// is none the worse.
    fn keep_report(&self) {
        let (Some(program), Some(directory)) = (&self.program, &self.report) else { return };
        if let Err(error) = program.keep(directory) {
            let _ = sys::remove_tree(directory);
            let log = File::options().create(true).append(true).open(&self.log);
            let told = format!("its report cannot be kept in {}: {error}", directory.display());
            // A disk that is full has no room for this either.
            let _ = log.and_then(|mut log| writeln!(log, "{told}"));
        }
    }

    /// What each server has used, by its name.
    fn usage(&self) -> Result<BTreeMap<String, Usage>> {
        let pids = match &self.servers {
            Servers::Own(started) => started.as_ref().map(Started::pids).unwrap_or_default(),
            Servers::Lent(lent) => lent.pids.clone(),
        };
        let used = |(name, pid): (String, i32)| Some((name, Usage::of(&self.machine, pid)?));
        let count = pids.len();
        let usage: BTreeMap<String, Usage> = pids.into_iter().filter_map(used).collect();
        if usage.len() == count {
            return Ok(usage);
        }
        Err(Error::environment("cannot see what the service uses", "its process is gone"))
    }

    /// The load, and what is seen around it.
    fn loaded(&mut self) -> Result<(Measurement, Vec<Sample>)> {
        if let Some(inspection) = &mut self.inspection {
            inspection.before()?;
        }
        let measurement = match (&mut self.program, &self.host_load) {
            (Some(program), _) => program.run()?,
            (None, Some(host_load)) => self.load.receive(&host_load.send()?)?,
            (None, None) => self.load.run()?,
        };
        let seen = self.inspection.as_mut().map(|inspection| inspection.after()).transpose()?;
        Ok((measurement, seen.unwrap_or_default()))
    }
}

impl Load for Running {
    fn generators(&self) -> Vec<i32> {
        self.program.iter().map(|program| program.pid()).collect()
    }

    fn run(&mut self) -> Result<Measurement> {
        let before = self.usage();
        // One that is gone is why something else failed.
        self.check_alive()?;
        let before = before?;
        let answered = self.answered();
        let outcome = self.loaded();
        self.check_alive()?;
        let (mut measurement, seen) = outcome?;
        let after = self.usage()?;
        // All that was answered in between, measured or not; some programs do not tell.
        let answers = match self.program {
            Some(_) => measurement.operations,
            None => Some(self.answered() - answered),
        };
        let answers = answers.filter(|answers| *answers > 0);
        for (name, used) in &after {
            let Some(spent) = before.get(name).map(|before| since(before, used)) else { continue };
            if let Some(answers) = answers {
                let per_answer = |what: &str, ns: u64| {
                    Sample::quotient(&format!("{name}_{what}"), ns as f64, answers as f64)
                };
                measurement.samples.push(per_answer("cpu", spent.cpu_ns));
                let waited = spent.waited_ns.map(|ns| per_answer("wait", ns));
                measurement.samples.extend(waited);
            }
            let resident = vec![used.resident_bytes as f64];
            measurement.samples.push(Sample::values(&format!("{name}_memory"), resident));
        }
        let times = self.before.iter();
        let times = times.map(|(source, ns)| Sample::values(source, vec![*ns as f64]));
        measurement.samples.extend(times.chain(seen));
        Ok(measurement)
    }

    fn verify(&mut self, report: &RunReport) -> Result<(), String> {
        // Of a trial that fails it is wanted most.
        self.keep_report();
        self.load.verify(report)?;
        if let Some(inspection) = &mut self.inspection {
            inspection.verify(self.load.fates())?;
        }
        match &mut self.servers {
            Servers::Own(started) => started.take().map_or(Ok(()), |started| {
                started.keep_output(&self.log)?;
                started.stop(self.conduct.stop_within)
            }),
            Servers::Lent(_) => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Servers::Own(Some(started)) = &self.servers {
            // What could not be kept was reported with its reason.
            let _ = started.keep_output(&self.log);
        }
    }
}

fn report(machine: &Machine, launch: &LaunchSpec) -> Option<PathBuf> {
    (!machine.is_throw_away()).then(|| launch.log.with_extension(REPORT))
}

/// Lets an application come to rest, where somebody looks into it.
fn rest(inspection: Option<&mut (dyn Inspection + '_)>) -> Result<()> {
    inspection.map_or(Ok(()), Inspection::rest)
}

/// Gives this process the CPUs that were named for the generator.
///
/// # Errors
/// When they are not online.
pub(super) fn place_generator(conduct: &Conduct) -> Result<()> {
    let Some(cpus) = &conduct.generator_cpus else { return Ok(()) };
    sys::set_affinity(0, cpus).map_err(|error| {
        let attempted = format!("cannot give the generator the CPUs {cpus}");
        Error::new(ErrorKind::Environment, attempted, error, "name CPUs that are online")
    })
}
