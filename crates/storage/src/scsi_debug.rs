//! A simulated SCSI disk in the kernel's memory with a declared time for each command
//! (drivers/scsi/scsi_debug.c, 5.10 to 6.18). Size and time are arguments of its module, so
//! that one guest has one kind of them; hosts come and go through `add_host`.

use contract::{Error, Held, Lost, NotHeld, Result};
use model::{StorageKind, StorageTarget};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::Machine;

const DRIVER: &str = "/sys/bus/pseudo/drivers/scsi_debug";
/// What it calls its disks (`inq_product_id`).
const MODEL: &str = "scsi_debug";
/// How long a disk may take to be found.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why none can be made here, and what to do; changes nothing.
pub(crate) fn refusal(machine: &Machine) -> Option<(String, String)> {
    let error = machine.check_writable(&format!("{DRIVER}/add_host")).err()?;
    let remedy = "use a virtual machine, which loads it; or load it (modprobe scsi_debug add_host=0 dev_size_mb=SIZE)";
    Some((error.to_string(), remedy.to_owned()))
}

/// The module's arguments for a disk of this size.
pub(crate) fn arguments(bytes: u64) -> String {
    format!("scsi_debug add_host=0 delay=0 dev_size_mb={}", bytes >> 20)
}

/// Makes one.
pub(crate) fn hold(machine: &Machine, bytes: u64, time_ns: u64) -> Result<Box<dyn Held>, NotHeld> {
    if let Some((why, remedy)) = refusal(machine) {
        return Err(Error::unsupported("cannot make a simulated SCSI disk", why, remedy).into());
    }
    let known = disks(machine);
    // With no host there may be a time; 0 completes in the caller's context.
    machine.write(&format!("{DRIVER}/ndelay"), &time_ns.to_string()).map_err(Error::from)?;
    machine.write(&format!("{DRIVER}/add_host"), "1").map_err(Error::from)?;
    let mut held = ScsiDisk {
        machine: machine.clone(),
        target: StorageTarget {
            kind: StorageKind::Device,
            path: String::new(),
            device: None,
            size_bytes: bytes,
            is_made: true,
            cached_by: None,
            identity: None,
        },
        is_released: false,
    };
    held.find(&known, bytes).map_err(NotHeld::Stopped)?;
    Ok(Box::new(held))
}

/// Its disks, by the kernel's names.
fn disks(machine: &Machine) -> Vec<String> {
    let is_ours = |name: &String| {
        let model = machine.read(&format!("/sys/block/{name}/device/model"));
        model.is_ok_and(|model| model.trim() == MODEL)
    };
    machine.list("/sys/block").unwrap_or_default().into_iter().filter(is_ours).collect()
}

struct ScsiDisk {
    machine: Machine,
    target: StorageTarget,
    is_released: bool,
}

impl ScsiDisk {
    fn find(&mut self, known: &[String], bytes: u64) -> Result<()> {
        let attempted = "cannot make a simulated SCSI disk";
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = disks(&self.machine).into_iter().find(|name| {
                !known.contains(name) && PathBuf::from(format!("/dev/{name}")).exists()
            });
            if let Some(name) = found {
                let actual = sys::device_bytes(&self.machine, &name).unwrap_or(0);
                crate::queue::settle(&self.machine, &name);
                self.target.path = format!("/dev/{name}");
                self.target.device = Some(name);
                if actual == bytes {
                    return Ok(());
                }
                let cause = format!(
                    "the module makes disks of {}, asked for {}",
                    model::format_size(actual),
                    model::format_size(bytes)
                );
                return Err(Error::unsupported(
                    attempted,
                    cause,
                    "give all subjects the same size",
                ));
            }
            if Instant::now() >= deadline {
                return Err(Error::environment(attempted, "none appeared within 10 s"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn take_away(&mut self) -> Result<()> {
        self.is_released = true;
        Ok(self.machine.write(&format!("{DRIVER}/add_host"), "-1")?)
    }
}

impl Drop for ScsiDisk {
    fn drop(&mut self) {
        if !self.is_released {
            // Nobody is left to tell.
            let _ = self.take_away();
        }
    }
}

impl Held for ScsiDisk {
    fn check(&mut self) -> Result<(), Lost> {
        let name = self.target.device.clone().unwrap_or_default();
        if disks(&self.machine).contains(&name) {
            return Ok(());
        }
        let detail = format!("the simulated disk {name} is gone");
        Err(Lost { rule: crate::target::TARGET_LOST, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = crate::target::facts(&self.target);
        let time = self.machine.read(&format!("{DRIVER}/ndelay")).unwrap_or_default();
        facts.push(("completion_ns".to_owned(), time.trim().to_owned()));
        facts
    }

    fn target(&self) -> Option<StorageTarget> {
        Some(self.target.clone())
    }

    fn release(mut self: Box<Self>) -> Result<()> {
        self.take_away()
    }
}
