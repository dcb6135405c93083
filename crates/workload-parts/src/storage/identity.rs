//! Whether an open device is the one that was allowed.

use contract::{Error, ErrorKind, Result};
use model::DeviceIdentity;
use std::os::fd::AsFd;

/// To be asked before the first byte is written: a name can mean another device than it did
/// when somebody gave that one up.
///
/// # Errors
/// When it is another one, or the kernel does not tell.
pub fn check(device: impl AsFd, wanted: DeviceIdentity, path: &str) -> Result<()> {
    let attempted = || format!("cannot use the device {path}");
    let found =
        sys::device_identity(device).map_err(|error| Error::environment(attempted(), error))?;
    if found == wanted {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Environment,
        attempted(),
        "another device, or another medium, has its name since the trial began",
        "see what happened to it (dmesg); nothing was written to this one",
    ))
}
