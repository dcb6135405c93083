//! The way of load from this host to the services of a guest: ports of this host's loopback that
//! QEMU forwards, a process that sends, and a serial port through which the guest asks for it.

use super::VmHost;
use super::qemu::pair;
use contract::{Catalogue, Error, OutsideSettings, Result};
use executor::Outside;
use model::{Parameters, Plan};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Where why requests failed is kept, beside the campaign's logs.
const LOG: &str = "outside.log";

/// What of a plan's load comes from this host.
#[derive(Debug, Default)]
pub(crate) struct FromHost {
    loads: Vec<(String, Parameters)>,
    ports: BTreeSet<u16>,
}

/// What a machine is started with for it.
#[derive(Debug)]
pub(crate) struct Way {
    /// QEMU's end of the serial port.
    pub port: OwnedFd,
    ours: OwnedFd,
    /// Where each port of the guest is reached.
    pub addresses: BTreeMap<u16, SocketAddr>,
}

impl FromHost {
    pub(crate) fn of(catalogue: &Catalogue, plan: &Plan) -> Self {
        let mut found = Self::default();
        for workload in &plan.workloads {
            let Some(entry) = catalogue.workload(&workload.uses) else { continue };
            for parameters in workload.all_parameters() {
                let Some(port) = entry.port_for_outside(parameters) else { continue };
                found.ports.insert(port);
                found.loads.push((workload.uses.clone(), parameters.clone()));
            }
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// What a machine needs for it; none where all of the load is in the guest. Ports that nobody
    /// has at this moment may be taken by the time that QEMU has started; then that says so.
    ///
    /// # Errors
    /// When this process has no more descriptors, or the host no more ports.
    pub(crate) fn way(&self) -> Result<Option<Way>> {
        if self.is_empty() {
            return Ok(None);
        }
        let failed = |error| Error::environment("cannot make a way to the guest's ports", error);
        // Held until all are known, so that each is another one.
        let mut held = Vec::new();
        let mut addresses = BTreeMap::new();
        for port in &self.ports {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
            addresses.insert(*port, listener.local_addr().map_err(failed)?);
            held.push(listener);
        }
        let (ours, port) = pair().map_err(failed)?;
        Ok(Some(Way { port, ours: ours.into(), addresses }))
    }

    /// Starts the process that sends, at our end of the way.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(
        &self,
        host: &VmHost,
        (mark, logs): (&str, &Path),
        way: Way,
    ) -> Result<Outside> {
        let settings = OutsideSettings {
            parent: std::process::id().cast_signed(),
            loads: self.loads.clone(),
            addresses: way.addresses,
            log: logs.join(LOG),
        };
        Outside::start(&host.host.executable, mark, &settings, way.ours)
    }
}
