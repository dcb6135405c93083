//! What a guest costs: to boot, to talk to, to save and to restore.

use super::accelerator;
use super::boot::{Booter, NotBooted};
use super::guest::Lost;
use super::qemu::Engine;
use super::vm_host::VmHost;
use contract::{BootSpec, Error, Interrupt, Result};
use model::{Accelerator, VmSettings};
use serde::Serialize;
use std::time::{Duration, Instant};
use wire::{Bytes, WireAnswer, WireRequest};

/// Round trips that are timed.
const ROUND_TRIPS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(10);
/// No campaign's processes carry it.
const MARK: &str = "SCHEDLAB_MARK=bench-self";

/// Costs of one guest, times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuestCost {
    /// The kernel.
    pub kernel: String,
    /// `kvm` or `tcg`.
    pub engine: String,
    /// From nothing to the agent's first answer, the image made.
    pub boot_ns: u64,
    /// Size of the initramfs.
    pub image_bytes: u64,
    /// Memory that the agent has resident.
    pub agent_bytes: u64,
    /// Median of an echo's round trip.
    pub round_trip_p50_ns: u64,
    /// Its 99th percentile.
    pub round_trip_p99_ns: u64,
    /// Saving the running guest.
    pub save_ns: u64,
    /// From nothing to the restored agent's first answer.
    pub restore_ns: u64,
    /// Size of the saved state.
    pub state_bytes: u64,
}

/// Measures a guest under an accelerator; `None` where KVM is meant and does not work.
///
/// # Errors
/// When the guest does not boot.
pub fn guest_cost(
    host: &VmHost,
    kernel: &str,
    accelerator: Accelerator,
    interrupt: &Interrupt,
) -> Result<Option<GuestCost>> {
    let settings = VmSettings { accelerator, ..VmSettings::default() };
    let engine = match accelerator {
        Accelerator::Tcg => Engine::Tcg,
        _ if accelerator::probe(host, kernel, interrupt)?.why_not.is_none() => Engine::Kvm,
        _ => return Ok(None),
    };
    let mark = MARK.to_owned();
    let mut booter = Booter::new(host.clone(), settings, engine, mark, interrupt.clone());
    let spec = BootSpec { kernel: kernel.to_owned(), ..BootSpec::default() };
    let started = Instant::now();
    let mut booted = booter.boot(&spec, &mut |_| {}).map_err(NotBooted::into_error)?;
    let boot_ns = elapsed_ns(started);
    let image = booter.image(kernel)?;
    let image_bytes = image.initramfs.metadata().map_or(0, |metadata| metadata.len());
    let agent_bytes = booted.agent_bytes;
    let mut trips = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let sent = Instant::now();
        let request = WireRequest::Echo { payload: Bytes(b"ping".to_vec()) };
        match booted.guest.ask(&request, PATIENCE, interrupt) {
            Ok(WireAnswer::Echo { .. }) => trips.push(elapsed_ns(sent)),
            Ok(_) => return Err(lost(&Lost::Corrupt("the agent answered out of turn".to_owned()))),
            Err(error) => return Err(lost(&error)),
        }
    }
    trips.sort_unstable();
    let saving = Instant::now();
    let saved = booter.save(booted)?;
    let save_ns = elapsed_ns(saving);
    let restoring = Instant::now();
    let restored = booter.restore(&saved).map_err(NotBooted::into_error)?;
    let restore_ns = elapsed_ns(restoring);
    restored.guest.switch_off();
    Ok(Some(GuestCost {
        kernel: kernel.to_owned(),
        engine: engine.name().to_owned(),
        boot_ns,
        image_bytes,
        agent_bytes,
        round_trip_p50_ns: trips[ROUND_TRIPS / 2],
        round_trip_p99_ns: trips[ROUND_TRIPS * 99 / 100],
        save_ns,
        restore_ns,
        state_bytes: saved.file.metadata().map_or(0, |metadata| metadata.len()),
    }))
}

fn elapsed_ns(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn lost(lost: &Lost) -> Error {
    Error::environment("cannot talk to the guest", lost)
}
