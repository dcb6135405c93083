//! The load generator on the host of a guest: a process for each boot. It waits
//! for the guest's orders, and sends nothing but what the plan has.

use crate::child::die_with_parent;
use contract::{
    Error, HOST_LOAD_ROLE, HostLoadAnswer, HostLoadOrder, HostLoadSettings, LaunchSpec, Problem,
    Result, TrialCatalogue,
};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use sys::Termination;

/// A longer line is no order.
const LONGEST_ORDER: u64 = 16 << 20;

/// The process; dropping ends it.
#[derive(Debug)]
pub struct HostLoadProcess {
    child: Child,
}

impl HostLoadProcess {
    /// Starts it at its end of the guest's serial port; `mark` is `NAME=value` of its environment.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        executable: &Path,
        mark: &str,
        settings: &HostLoadSettings,
        port: OwnedFd,
    ) -> Result<Self> {
        let attempted = || format!("cannot start {} {HOST_LOAD_ROLE}", executable.display());
        let failed = |error: io::Error| Error::environment(attempted(), error);
        let log = sys::append_to(&settings.log).map_err(|error| {
            Error::environment(format!("cannot open {}", settings.log.display()), error)
        })?;
        let (name, value) = mark.split_once('=').unwrap_or((mark, ""));
        let mut child = Command::new(executable)
            .arg(HOST_LOAD_ROLE)
            .env(name, value)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::from(port))
            .stderr(Stdio::from(log))
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        let role = Self { child };
        let text = serde_json::to_vec(settings).map_err(|error| failed(error.into()))?;
        // Closed at once: what is told is all there is.
        input.map_or(Ok(()), |mut input| input.write_all(&text)).map_err(failed)?;
        Ok(role)
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<Termination> {
        self.child.try_wait().ok().flatten().map(Termination::from)
    }
}

impl Drop for HostLoadProcess {
    fn drop(&mut self) {
        // One that ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves the role until the guest is gone. Returns the process's exit code.
pub fn serve_host_load(catalogue: &TrialCatalogue) -> i32 {
    let Err(error) = serve(catalogue) else { return 0 };
    // Its log; where that cannot be written, nobody can be told.
    let _ = writeln!(io::stderr(), "{}", end_line(&error));
    1
}

/// Why it ends, for its log: a guest's order may be quoted in it, of which a terminal obeys nothing.
fn end_line(error: &io::Error) -> String {
    model::legible_lines(&format!("the generator on the host ends: {error}")).into_owned()
}

fn serve(catalogue: &TrialCatalogue) -> io::Result<()> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    let settings: HostLoadSettings = serde_json::from_slice(&text)?;
    die_with_parent(settings.parent)?;
    sys::reset_signal_dispositions();
    let cpus = sys::affinity(0)?;
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut orders = BufReader::new(output.try_clone()?);
    loop {
        let mut line = Vec::new();
        if orders.by_ref().take(LONGEST_ORDER).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        // The sender of what is no order would wait for an answer in vain.
        let order: HostLoadOrder = serde_json::from_slice(&line)?;
        let outcome = carry_out(catalogue, &settings, &order);
        sys::set_affinity(0, &cpus)?;
        let mut answer = serde_json::to_vec(&HostLoadAnswer { id: order.id, outcome })?;
        answer.push(b'\n');
        output.write_all(&answer)?;
    }
}

/// The guest is not trusted: it chooses among the loads of the plan.
fn carry_out(
    catalogue: &TrialCatalogue,
    settings: &HostLoadSettings,
    order: &HostLoadOrder,
) -> std::result::Result<String, String> {
    let HostLoadOrder { workload: id, parameters, seed, .. } = order;
    let is_planned = settings.loads.iter().any(|(one, of)| one == id && of == parameters);
    if !is_planned {
        return Err("the guest asks for a load that the plan does not have".to_owned());
    }
    let configured = catalogue.configure(id, parameters).map_err(|why| Problem::joined(&why))?;
    let service = configured.service().ok_or("all of its load is beside what is loaded")?;
    let port = service.facts().host_load_port;
    let to = port.and_then(|port| settings.addresses.get(&port));
    let to = to.ok_or("no way leads to the port of the guest")?;
    let launch = LaunchSpec { seed: *seed, log: settings.log.clone(), ..LaunchSpec::default() };
    service.send_from_host(*to, &launch).map_err(|error| error.one_line())
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{
        Configured, Description, Load, LongLivedService, Parameter, Service, ServiceFacts,
        Workload, WorkloadFacts,
    };
    use model::{Metric, ParameterValue, Parameters};
    use std::collections::BTreeMap;
    use std::net::SocketAddr;
    use sys::Machine;

    contract::keys! {
        PARAMETERS;
        PORT: u64 = count("port", 1, 65_535, "80", "Port of the guest"),
    }

    /// One that says where it was sent.
    struct Sender;

    impl Workload for Sender {
        fn describe(&self) -> &'static Description {
            &Description { id: "sender", summary: "none", doc: "" }
        }

        fn parameters(&self) -> &'static [Parameter] {
            PARAMETERS
        }

        fn brief(&self) -> &'static [(&'static str, &'static str)] {
            &[]
        }

        fn configure(
            &self,
            parameters: &Parameters,
        ) -> std::result::Result<Box<dyn Configured>, Vec<Problem>> {
            Ok(Box::new(To(u16::try_from(PORT.of(parameters)).ok())))
        }
    }

    /// One with its port.
    struct To(Option<u16>);

    impl Configured for To {
        fn metrics(&self) -> Vec<Metric> {
            Vec::new()
        }

        fn facts(&self) -> WorkloadFacts {
            WorkloadFacts::open_loop(0)
        }

        fn service(&self) -> Option<&dyn Service> {
            Some(self)
        }

        fn prepare(&self, _: &Machine, _: &LaunchSpec) -> Result<Box<dyn Load>> {
            unreachable!("nothing is beside what is loaded")
        }
    }

    impl Service for To {
        fn facts(&self) -> ServiceFacts {
            ServiceFacts { host_load_port: self.0, ..ServiceFacts::default() }
        }

        fn stand(&self, _: &Machine, _: &LaunchSpec) -> Result<Box<dyn LongLivedService>> {
            unreachable!("nothing stands")
        }

        fn send_from_host(&self, to: SocketAddr, launch: &LaunchSpec) -> Result<String> {
            Ok(format!("{to} {}", launch.seed))
        }
    }

    fn to_port(port: u64) -> Parameters {
        Parameters([(PORT.name().to_owned(), ParameterValue::Count(port))].into())
    }

    #[test]
    fn a_terminal_that_shows_the_log_obeys_nothing_of_it() {
        let told = end_line(&io::Error::other("a\u{1b}[2J\u{202e}"));
        assert_eq!(told, "the generator on the host ends: a\\u001b[2J\\u202e");
    }

    #[test]
    fn a_guest_gets_loads_of_the_plan_at_its_own_ports_and_no_others() {
        let catalogue = TrialCatalogue { workloads: &[&Sender], factors: &[], probes: &[] };
        let at: SocketAddr = "127.0.0.1:40000".parse().unwrap();
        let settings = HostLoadSettings {
            parent: 0,
            loads: vec![("sender".to_owned(), to_port(80)), ("sender".to_owned(), to_port(81))],
            addresses: BTreeMap::from([(80, at)]),
            log: "/dev/null".into(),
        };
        let ask = |workload: &str, port| {
            let workload = workload.to_owned();
            let order = HostLoadOrder { id: 1, workload, parameters: to_port(port), seed: 7 };
            carry_out(&catalogue, &settings, &order)
        };
        assert_eq!(ask("sender", 80).unwrap(), "127.0.0.1:40000 7");
        assert!(ask("sender", 82).unwrap_err().contains("plan"));
        assert!(ask("other", 80).unwrap_err().contains("plan"));
        assert!(ask("sender", 81).unwrap_err().contains("no way"));
    }
}
