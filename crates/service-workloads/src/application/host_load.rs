//! Load from the host of the guest that an application is in.

use super::Conduct;
use contract::{
    Error, ErrorKind, HOST_LOAD_PORT, HostLoadAnswer, HostLoadOrder, LaunchSpec, Result,
};
use model::Parameters;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use sys::Machine;

/// A longer line is no answer: it has a histogram for each kind of request.
const LONGEST_ANSWER: u64 = 256 << 20;

/// Whether load comes from there: not where the application runs on the host itself.
pub(crate) fn is_used(machine: &Machine, conduct: &Conduct) -> bool {
    conduct.is_loaded_from_host && sys::virtio_port(machine, HOST_LOAD_PORT).is_some()
}

/// The client of the load generator on the host.
pub(crate) struct HostLoadClient {
    port: PathBuf,
    order: HostLoadOrder,
}

impl HostLoadClient {
    /// Of this workload with these parameters; none where the load is sent from here.
    pub(crate) fn of(
        machine: &Machine,
        conduct: &Conduct,
        (workload, parameters): (&str, &Parameters),
        launch: &LaunchSpec,
    ) -> Option<Self> {
        let port = sys::virtio_port(machine, HOST_LOAD_PORT);
        let port = port.filter(|_| conduct.is_loaded_from_host)?;
        let (workload, parameters) = (workload.to_owned(), parameters.clone());
        // No two orders of a boot are of one moment; a trial that runs again has its seed again.
        let id = sys::monotonic_ns();
        let order = HostLoadOrder { id, workload, parameters, seed: launch.seed };
        Some(Self { port, order })
    }

    /// Has the load sent, and returns what is told of it.
    ///
    /// # Errors
    /// How it failed, or that nobody is there.
    pub(super) fn send(&self) -> Result<String> {
        let failed = |cause: String| {
            let attempted = "the generator on the host failed";
            Error::new(ErrorKind::Environment, attempted, cause, "")
        };
        let outcome = self.ask().map_err(|error| failed(error.to_string()))?;
        outcome.map_err(failed)
    }

    fn ask(&self) -> std::io::Result<std::result::Result<String, String>> {
        let mut port = File::options().read(true).write(true).open(&self.port)?;
        let mut line = serde_json::to_vec(&self.order)?;
        line.push(b'\n');
        // Where nobody is at the other end, a write that waits waits for ever
        // (drivers/char/virtio_console.c, Linux 6.12: `wait_port_writable`).
        rustix::io::ioctl_fionbio(&port, true)?;
        port.write_all(&line).map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => std::io::Error::other("nobody is there"),
            _ => error,
        })?;
        rustix::io::ioctl_fionbio(&port, false)?;
        let mut answers = BufReader::new(port);
        loop {
            let mut line = Vec::new();
            if answers.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line)? == 0 {
                return Err(std::io::Error::other("it has ended"));
            }
            let answer: HostLoadAnswer = serde_json::from_slice(&line)?;
            // One to an order before this one may be left.
            if answer.id == self.order.id {
                return Ok(answer.outcome);
            }
        }
    }
}
