//! A null block device that keeps what is written and takes a declared time for each request,
//! made through configfs (drivers/block/null_blk/main.c, 5.10 to 6.18). Only in a machine that
//! vanishes after its trials: nobody takes it away when we are killed.

use contract::{Error, Held, Lost, NotHeld, Result};
use model::{StorageKind, StorageTarget};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::Machine;

const DIRECTORY: &str = "/sys/kernel/config/nullb";
/// NULL_Q_MQ: through the block layer's queues, where elevators are.
const MULTI_QUEUE: u64 = 2;
/// NULL_IRQ_NONE and NULL_IRQ_TIMER.
const AT_ONCE: u64 = 0;
const BY_TIMER: u64 = 2;
/// How long udev or devtmpfs may take to make the node.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why none can be made here, and what to do; changes nothing.
pub(crate) fn refusal(machine: &Machine) -> Option<(String, String)> {
    if !machine.is_throw_away() {
        let why = "a null block device lies in the kernel's memory and would be left behind if schedlab were killed";
        return Some((why.to_owned(), crate::every_target::ELSEWHERE.to_owned()));
    }
    let error = machine.check_directory_writable(DIRECTORY).err()?;
    Some((error.to_string(), "choose a kernel with null_blk and configfs".to_owned()))
}

/// Makes one.
pub(crate) fn hold(
    machine: &Machine,
    bytes: u64,
    time_ns: u64,
    depth: u32,
) -> Result<Box<dyn Held>, NotHeld> {
    if let Some((why, remedy)) = refusal(machine) {
        return Err(Error::unsupported("cannot make a null block device", why, remedy).into());
    }
    let name = format!("schedlab{}", std::process::id());
    let group = format!("{DIRECTORY}/{name}");
    let made = std::fs::create_dir(machine.path(&group));
    made.map_err(|error| Error::environment(format!("cannot make {group}"), error))?;
    // From here on dropping it takes it away.
    let mut held = NullBlock {
        machine: machine.clone(),
        group,
        target: StorageTarget {
            kind: StorageKind::Device,
            path: String::new(),
            device: None,
            size_bytes: bytes,
            is_made: true,
            cached_by: None,
            identity: None,
        },
        time_ns,
        depth,
        is_released: false,
    };
    held.switch_on(&name).map_err(NotHeld::Stopped)?;
    Ok(Box::new(held))
}

struct NullBlock {
    machine: Machine,
    group: String,
    target: StorageTarget,
    time_ns: u64,
    depth: u32,
    is_released: bool,
}

impl NullBlock {
    fn switch_on(&mut self, name: &str) -> Result<()> {
        let irq = if self.time_ns > 0 { BY_TIMER } else { AT_ONCE };
        for (attribute, value) in [
            ("size", self.target.size_bytes >> 20),
            ("blocksize", 512),
            ("memory_backed", 1),
            ("queue_mode", MULTI_QUEUE),
            ("submit_queues", 1),
            ("hw_queue_depth", u64::from(self.depth)),
            ("irqmode", irq),
            ("completion_nsec", self.time_ns),
            ("power", 1),
        ] {
            self.machine.write(&format!("{}/{attribute}", self.group), &value.to_string())?;
        }
        // Named by its index up to 5.16 or so, by its directory since.
        let index = self.machine.read(&format!("{}/index", self.group)).unwrap_or_default();
        let names = [name.to_owned(), format!("nullb{}", index.trim())];
        let deadline = Instant::now() + PATIENCE;
        loop {
            for name in &names {
                let is_it = self.machine.exists(&format!("/sys/block/{name}/queue"))
                    && PathBuf::from(format!("/dev/{name}")).exists();
                if is_it {
                    crate::queue::settle(&self.machine, name);
                    self.target.path = format!("/dev/{name}");
                    self.target.device = Some(name.clone());
                    return Ok(());
                }
            }
            if Instant::now() >= deadline {
                let cause = format!("neither {} nor {} appeared", names[0], names[1]);
                return Err(Error::environment("cannot make a null block device", cause));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn take_away(&mut self) -> Result<()> {
        self.is_released = true;
        // One that was never switched on refuses, and goes all the same.
        let _ = self.machine.write(&format!("{}/power", self.group), "0");
        std::fs::remove_dir(self.machine.path(&self.group))
            .map_err(|error| Error::environment(format!("cannot remove {}", self.group), error))
    }
}

impl Drop for NullBlock {
    fn drop(&mut self) {
        if !self.is_released {
            // Nobody is left to tell.
            let _ = self.take_away();
        }
    }
}

impl Held for NullBlock {
    fn check(&mut self) -> Result<(), Lost> {
        let path = format!("{}/power", self.group);
        let now = self.machine.read(&path).unwrap_or_default();
        if now.trim() == "1" {
            return Ok(());
        }
        let detail = format!("{path} should be 1 and is `{}`", now.trim());
        Err(Lost { rule: crate::every_target::TARGET_LOST, detail })
    }

    fn group(&self) -> Option<i32> {
        None
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = crate::every_target::facts(&self.target);
        let time = self.machine.read(&format!("{}/completion_nsec", self.group));
        let shown = time.map(|time| time.trim().to_owned()).unwrap_or_default();
        facts.push((
            "completion_ns".to_owned(),
            if self.time_ns > 0 { shown } else { "0".to_owned() },
        ));
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

    #[test]
    fn none_is_made_where_it_could_be_left_behind() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("kernel-rules.json"), "{}").unwrap();
        std::fs::create_dir_all(root.path().join(&DIRECTORY[1..])).unwrap();
        let host = Machine::fake(root.path(), root.path().join("run")).unwrap();
        let (why, remedy) = refusal(&host).unwrap();
        assert!(why.contains("left behind"), "{why}");
        assert!(remedy.contains("venue = \"vm\""), "{remedy}");
        let Err(NotHeld::Stopped(error)) = hold(&host, 1 << 20, 0, 1) else { panic!("held") };
        assert_eq!(error.kind, contract::ErrorKind::Unsupported);
        assert_eq!(host.list(DIRECTORY).unwrap(), [""; 0]);
        let guest = host.thrown_away();
        assert_eq!(refusal(&guest), None);
        std::fs::remove_dir(guest.path(DIRECTORY)).unwrap();
        assert!(refusal(&guest).unwrap().1.contains("kernel"), "none of its kernel's");
    }
}
