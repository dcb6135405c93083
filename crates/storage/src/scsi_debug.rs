//! A simulated SCSI disk in the kernel's memory with a declared time for each command
//! (drivers/scsi/scsi_debug.c, 5.10 to 6.18). Size and time are arguments of its module, so
//! that one guest has one kind of them; hosts come and go through `add_host`. Only in a machine
//! that vanishes after its trials: all disks share one memory and one time, `add_host` takes
//! away the last host, also another program's, and ours stays when we are killed.

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
    if !machine.is_throw_away() {
        let why = "simulated SCSI disks share their memory and settings with whoever else has one, and would be left behind if schedlab were killed";
        return Some((why.to_owned(), crate::every_target::ELSEWHERE.to_owned()));
    }
    let error = machine.check_writable(&format!("{DRIVER}/add_host")).err()?;
    Some((error.to_string(), "choose a kernel with scsi_debug".to_owned()))
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

    /// The kernel takes the last host: with our disk gone that would be somebody else's. One
    /// whose disk was never found is the last.
    fn take_away(&mut self) -> Result<()> {
        self.is_released = true;
        let listed = disks(&self.machine);
        if self.target.device.as_ref().is_some_and(|name| !listed.contains(name)) {
            return Ok(());
        }
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
        Err(Lost { rule: crate::every_target::TARGET_LOST, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = crate::every_target::facts(&self.target);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with the driver and the disk `sdx` of it.
    fn fake() -> (Machine, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("/kernel-rules.json", "{}"),
            (&format!("{DRIVER}/add_host"), "1\n"),
            (&format!("{DRIVER}/ndelay"), "0\n"),
            ("/sys/block/sdx/device/model", "scsi_debug      \n"),
        ] {
            let path = root.path().join(&path[1..]);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (Machine::fake(root.path(), root.path().join("run")).unwrap(), root)
    }

    #[test]
    fn none_is_made_where_it_could_be_left_behind() {
        let (host, _root) = fake();
        let (why, remedy) = refusal(&host).unwrap();
        assert!(why.contains("left behind"), "{why}");
        assert!(remedy.contains("venue = \"vm\""), "{remedy}");
        let Err(NotHeld::Stopped(error)) = hold(&host, 1 << 20, 0) else { panic!("held") };
        assert_eq!(error.kind, contract::ErrorKind::Unsupported);
        assert_eq!(host.read(&format!("{DRIVER}/add_host")).unwrap(), "1\n");
        assert_eq!(refusal(&host.thrown_away()), None);
    }

    #[test]
    fn nobody_elses_disk_is_taken_away_in_place_of_ours() {
        for (device, written) in [(Some("sdx"), "-1"), (Some("sdy"), "1"), (None, "-1")] {
            for is_dropped in [false, true] {
                let (machine, _root) = fake();
                let target = StorageTarget {
                    kind: StorageKind::Device,
                    path: String::new(),
                    device: device.map(str::to_owned),
                    size_bytes: 1 << 20,
                    is_made: true,
                    cached_by: None,
                    identity: None,
                };
                let machine = machine.thrown_away();
                let held =
                    Box::new(ScsiDisk { machine: machine.clone(), target, is_released: false });
                if is_dropped {
                    drop(held);
                } else {
                    held.release().unwrap();
                }
                let now = machine.read(&format!("{DRIVER}/add_host")).unwrap();
                assert_eq!(now.trim(), written, "{device:?}");
            }
        }
    }
}
