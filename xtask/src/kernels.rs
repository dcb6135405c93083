//! The kernels that guests of the tests boot, fetched before any test waits for them.

use crate::cargo::{Cargo, succeed};
use crate::problems::CommandResult;
use std::process::Command;

/// Two with CFS and two with EEVDF; the last has sched_ext. As in the tests with guests.
const KERNELS: [&str; 4] = ["debian:5.10", "debian:6.1", "debian:6.12", "debian:6.18"];

/// Fetches what is not in the cache. Without QEMU nothing boots, and the tests say so.
pub fn fetch(cargo: &Cargo) -> CommandResult {
    let path = std::env::var("PATH").unwrap_or_default();
    let has_qemu = std::env::split_paths(&path).any(|at| at.join("qemu-system-x86_64").is_file());
    if !has_qemu {
        println!("test: no guests without qemu-system-x86_64: apt-get install qemu-system-x86");
        return Ok(());
    }
    succeed(Command::new(cargo.built("schedlab")).args(["kernels", "fetch"]).args(KERNELS))
}
