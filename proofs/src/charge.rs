//! A scheduler of the agent's in charge of this guest, and how soon it came and went.

use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::{KernelLog, Machine, SchedExt};

/// The agent is the first program of a guest; it has our schedulers as a role.
const AGENT: &str = "/init";
const ROLE: &str = "__scheduler";
const PATIENCE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(5);

pub struct Charge {
    machine: Machine,
    keeper: Option<Child>,
    log: KernelLog,
    reading: SchedExt,
    came_ms: u128,
}

impl Charge {
    /// Loads the scheduler and waits until it is in charge.
    pub fn take(scheduler: &str) -> Result<Self, String> {
        let machine = Machine::host("/run/prove");
        let log = KernelLog::from_now(&machine).map_err(|error| error.to_string())?;
        let began = Instant::now();
        let own = scheduler.strip_prefix("lab:");
        let keeper = own
            .map(|own| Command::new(AGENT).args([ROLE, own]).stdin(Stdio::piped()).spawn())
            .transpose()
            .map_err(|error| format!("cannot start {AGENT}: {error}"))?;
        if keeper.is_none() && scheduler != "fair" {
            return Err(format!("`{scheduler}` is neither fair nor one of ours"));
        }
        let reading = SchedExt::default();
        let mut charge = Self { machine, keeper, log, reading, came_ms: 0 };
        while charge.keeper.is_some() && !SchedExt::is_in_charge(&charge.machine) {
            charge.check_keeper()?;
            if began.elapsed() > PATIENCE {
                return Err(format!("{scheduler} is not in charge after {PATIENCE:?}"));
            }
            std::thread::sleep(INTERVAL);
        }
        charge.came_ms = began.elapsed().as_millis();
        charge.reading = SchedExt::read(&charge.machine);
        Ok(charge)
    }

    fn check_keeper(&mut self) -> Result<(), String> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        match keeper.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                Err(format!("its program ended with {status}: {}", self.log.messages().join("; ")))
            }
            Err(error) => Err(format!("cannot wait for its program: {error}")),
        }
    }

    /// Whether it has been in charge all the time.
    pub fn check(&mut self) -> Result<(), String> {
        let now = SchedExt::read(&self.machine);
        if now != self.reading {
            let said = self.log.messages().join("; ");
            return Err(format!("there was {}, now there is {now}: {said}", self.reading));
        }
        self.check_keeper()
    }

    /// Ends it and waits until it is gone.
    pub fn leave(mut self) -> Result<Value, String> {
        let began = Instant::now();
        if let Some(mut keeper) = self.keeper.take() {
            let pid = rustix::process::Pid::from_child(&keeper);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            while SchedExt::read(&self.machine).ops.is_some() {
                if began.elapsed() > PATIENCE {
                    return Err(format!("it is still in charge after {PATIENCE:?}"));
                }
                std::thread::sleep(INTERVAL);
            }
            keeper.wait().map_err(|error| format!("cannot wait for its program: {error}"))?;
        }
        let ops = self.reading.ops;
        Ok(json!({ "ops": ops, "came_ms": self.came_ms, "left_ms": began.elapsed().as_millis() }))
    }
}
