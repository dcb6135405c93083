//! Booting a guest: once, and again where it does not answer.

use super::cable::{CableEnd, Share};
use super::console::Console;
use super::files::GuestFiles;
use super::guest::{Greeting, Guest, Lost};
use super::host_load::HostLoadPlan;
use super::image::{self, ImageOrder};
use super::memfd::{new_memfd, reopened};
use super::qemu::{Engine, MachineOrder, Qemu, no_qemu};
use super::scratch;
use super::vm_host::VmHost;
use crate::errors::artefact_error;
use contract::{BootSpec, Error, ErrorKind, Event, Interrupt, Phase, Result};
use guest_images::ToolsImage;
use kernels::{Kernel, KernelName, unpack_kernel};
use model::{Disk, VmSettings};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A guest that does not answer is booted again so many times in all.
pub(crate) const ATTEMPTS: u32 = 3;

/// Words of every guest's command line: the console, and a panic that ends the machine.
const COMMAND_LINE: &str = "console=ttyS0 quiet panic=-1";
/// Emulated processors are slow enough to be taken for dead, and testing the kernel's own
/// cryptography and a source of random numbers that nothing here uses is a quarter of a boot
/// (Documentation/admin-guide/kernel-parameters.txt, 6.12; measured, ADR 0011). A kernel that is
/// entered unpacked lies where it was linked, so all do.
const EMULATED: &str = "nowatchdog rcupdate.rcu_cpu_stall_suppress=1 cryptomgr.notests=1 \
     initcall_blacklist=jent_mod_init nokaslr";
/// What `equalise` makes the same: every kernel from 6.1 has this clock source, preemption model,
/// task groups and mitigations (measured, ADR 0011).
const EQUALISED: &str = "tsc=reliable clocksource=tsc preempt=full noautogroup mitigations=off";
/// What makes a counted guest repeat itself.
const COUNTED: &str = "norandmaps mitigations=off";

/// A guest that answered.
pub(crate) struct Booted {
    pub guest: Guest,
    pub console: Console,
    pub spec: BootSpec,
    /// What its first process could not do.
    pub complaints: Vec<String>,
    pub boot_id: String,
    /// Memory that the agent had resident when it answered first.
    pub agent_bytes: u64,
    /// What only the host knows of it, for its fingerprint.
    pub facts: BTreeMap<String, String>,
}

/// A guest that was saved.
pub(crate) struct Saved {
    pub file: File,
    /// The disk it had, as it was then.
    pub scratch: Option<File>,
    pub spec: BootSpec,
    pub facts: BTreeMap<String, String>,
}

/// How a machine begins.
pub(crate) enum BootMode<'w> {
    /// It boots, and is talked to; with this end of a cable, where it has one.
    Boot(Option<&'w CableEnd>),
    /// It goes on from a saved state.
    Resume { state: &'w File, scratch: Option<&'w File> },
    /// It boots, does what a file tells it, and writes its answers into another.
    Orders { orders: Vec<u8>, answers: &'w File },
}

/// Why there is no guest.
pub(crate) enum NotBooted {
    /// It did not answer, however often it was tried.
    Silent(String),
    /// The venue cannot go on.
    Venue(Error),
}

impl NotBooted {
    /// In the words of an error, where no trial is to be recorded.
    pub(crate) fn into_error(self) -> Error {
        match self {
            NotBooted::Venue(error) => error,
            NotBooted::Silent(why) => Error::environment("cannot start the guest", why),
        }
    }

    /// In the words of a guest that is not the subject's.
    pub(crate) fn of_the_second(self) -> Self {
        match self {
            NotBooted::Silent(why) => NotBooted::Silent(format!("the second guest: {why}")),
            venue @ NotBooted::Venue(_) => venue,
        }
    }
}

impl From<Error> for NotBooted {
    fn from(error: Error) -> Self {
        Self::Venue(error)
    }
}

/// A kernel with all that it boots with.
pub(crate) struct Image {
    pub kernel: Kernel,
    /// What QEMU loads: the boot image, or the kernel that was packed in it.
    file: File,
    pub initramfs: File,
}

/// Boots guests with one set of settings.
pub(crate) struct Booter {
    pub host: VmHost,
    pub settings: VmSettings,
    pub engine: Engine,
    pub mark: String,
    /// Directory of consoles; in memory where there is none.
    pub logs: Option<PathBuf>,
    pub interrupt: Interrupt,
    /// The one file of all consoles, where there is no directory.
    pub console: Option<PathBuf>,
    /// Further files of the guest.
    pub files: GuestFiles,
    pub tools: Option<ToolsImage>,
    pub controllers: Vec<String>,
    pub modules: Vec<String>,
    /// What of the load comes from this host.
    pub from_host: HostLoadPlan,
    /// Whether guests get a disk for workloads' files.
    pub has_scratch: bool,
    images: BTreeMap<String, Image>,
    count: u32,
}

impl Booter {
    pub(crate) fn new(
        host: VmHost,
        settings: VmSettings,
        engine: Engine,
        mark: String,
        interrupt: Interrupt,
    ) -> Self {
        Self {
            host,
            settings,
            engine,
            mark,
            logs: None,
            interrupt,
            console: None,
            files: GuestFiles::default(),
            tools: None,
            controllers: Vec::new(),
            modules: Vec::new(),
            from_host: HostLoadPlan::default(),
            has_scratch: false,
            images: BTreeMap::new(),
            count: 0,
        }
    }

    /// Boots, a few times if need be.
    ///
    /// # Errors
    /// When the guest never answered, a signal came, or QEMU or a file is missing.
    pub(crate) fn boot(
        &mut self,
        spec: &BootSpec,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Booted, NotBooted> {
        self.boot_as(spec, None, ATTEMPTS, on_event)
    }

    /// Boots at an end of a cable, once if somebody is at the other: what a guest that was lost
    /// left in it would be in the way of another.
    pub(crate) fn boot_at(
        &mut self,
        spec: &BootSpec,
        end: &CableEnd,
        attempts: u32,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Booted, NotBooted> {
        self.boot_as(spec, Some(end), attempts, on_event)
    }

    fn boot_as(
        &mut self,
        spec: &BootSpec,
        end: Option<&CableEnd>,
        attempts: u32,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Booted, NotBooted> {
        on_event(Event::TrialPhase(Phase::Booting));
        let mut failures = Vec::new();
        for attempt in 1..=attempts {
            let (qemu, console) = self.start(spec, BootMode::Boot(end))?;
            match self.greeted(qemu) {
                Ok((guest, greeting)) => {
                    tracing::debug!(
                        kernel = spec.kernel,
                        attempt,
                        boot = greeting.boot_id,
                        "the agent answered"
                    );
                    let command_line = self.command_line(spec);
                    let facts = facts(&self.image(&spec.kernel)?.kernel, &command_line);
                    let Greeting { complaints, boot_id, agent_bytes, .. } = greeting;
                    let spec = spec.clone();
                    return Ok(Booted {
                        guest,
                        console,
                        spec,
                        complaints,
                        boot_id,
                        agent_bytes,
                        facts,
                    });
                }
                Err(Lost::Interrupted(signal)) => return Err(interrupted(signal).into()),
                Err(lost @ (Lost::Foreign(_) | Lost::Refused(_))) => {
                    let remedy = "build and install both programs together";
                    let attempted = format!("cannot use {}", self.host.agent.display());
                    return Err(Error::new(ErrorKind::Environment, attempted, lost, remedy).into());
                }
                Err(lost) => {
                    let words = console.last_lines();
                    tracing::debug!(kernel = spec.kernel, attempt, %lost, console = words, "did not boot");
                    if !console.has_begun() {
                        // QEMU itself refused, and would again.
                        return Err(NotBooted::Silent(format!("{lost}; {words}")));
                    }
                    failures.push(format!("{lost}; its console: {words}"));
                    if attempt < attempts {
                        on_event(Event::Notice(format!(
                            "{} did not boot ({lost}); trying again",
                            spec.kernel
                        )));
                    }
                }
            }
        }
        let last = failures.pop().unwrap_or_default();
        Err(NotBooted::Silent(match attempts {
            1 => last,
            _ => format!("it did not boot in {attempts} attempts: {last}"),
        }))
    }

    /// Saves a guest into memory; it is stopped then, and of no other use.
    ///
    /// # Errors
    /// When it cannot be saved.
    pub(crate) fn save(&mut self, mut booted: Booted) -> Result<Saved> {
        let file = new_memfd("schedlab-state", 0)?;
        booted.guest.qemu.control.save(&file)?;
        let scratch = booted.guest.qemu.scratch.take();
        Ok(Saved { file, scratch, spec: booted.spec, facts: booted.facts })
    }

    /// Starts a guest from its saved state.
    ///
    /// # Errors
    /// When it does not come back, or a signal came.
    pub(crate) fn restore(&mut self, saved: &Saved) -> Result<Booted, NotBooted> {
        // A descriptor of its own: reading moves the offset.
        let state = reopened(&saved.file)?;
        let way = BootMode::Resume { state: &state, scratch: saved.scratch.as_ref() };
        let (mut qemu, console) = self.start(&saved.spec, way)?;
        if let Err(error) = qemu.control.resume() {
            let words = console.last_lines();
            return Err(NotBooted::Silent(format!("{}; {words}", error.one_line())));
        }
        match self.greeted(qemu) {
            Ok((guest, greeting)) => Ok(Booted {
                guest,
                console,
                spec: saved.spec.clone(),
                complaints: Vec::new(),
                boot_id: greeting.boot_id,
                agent_bytes: greeting.agent_bytes,
                facts: saved.facts.clone(),
            }),
            Err(Lost::Interrupted(signal)) => Err(interrupted(signal).into()),
            Err(lost) => {
                let words = console.last_lines();
                Err(NotBooted::Silent(format!(
                    "it did not come back from its saved state: {lost}; its console: {words}"
                )))
            }
        }
    }

    /// Boots once, without a second attempt.
    pub(crate) fn try_once(&mut self, spec: &BootSpec) -> Result<Result<Guest, String>> {
        let (qemu, console) = self.start(spec, BootMode::Boot(None))?;
        match self.greeted(qemu) {
            Ok((guest, _)) => Ok(Ok(guest)),
            Err(Lost::Interrupted(signal)) => Err(interrupted(signal)),
            Err(lost) => Ok(Err(format!("{lost}; {}", console.last_lines()))),
        }
    }

    fn greeted(&self, qemu: Qemu) -> Result<(Guest, Greeting), Lost> {
        let mut guest = Guest::new(qemu);
        // Counted instructions take three times as long (measured, ADR 0011).
        let slowdown = if matches!(self.engine, Engine::Counting { .. }) { 3 } else { 1 };
        let patience = Duration::from_nanos(self.settings.boot_timeout_ns) * slowdown;
        let greeting = guest.greet(patience, &self.interrupt)?;
        if greeting.version != self.host.version {
            let why =
                format!("the agent is {}, and this is {}", greeting.version, self.host.version);
            return Err(Lost::Foreign(why));
        }
        Ok((guest, greeting))
    }

    /// Starts QEMU with everything that a specification asks for.
    pub(crate) fn start(&mut self, spec: &BootSpec, way: BootMode<'_>) -> Result<(Qemu, Console)> {
        self.count += 1;
        let console = self.console(spec)?;
        let disks = self.disks()?;
        let scratch = match &way {
            BootMode::Resume { scratch, .. } => scratch.map(scratch::copy).transpose()?,
            BootMode::Boot(_) | BootMode::Orders { .. } if self.has_scratch() => {
                scratch::make(&self.host.host.machine)?
            }
            BootMode::Boot(_) | BootMode::Orders { .. } => None,
        };
        let command_line = self.command_line(spec);
        let program = super::qemu::find(&self.host.host.machine).ok_or_else(no_qemu)?;
        self.image(&spec.kernel)?;
        let Image { kernel, file, initramfs: usual } = &self.images[&spec.kernel];
        let cable = match &way {
            BootMode::Boot(end) => *end,
            BootMode::Resume { .. } | BootMode::Orders { .. } => None,
        };
        let from_host = match &way {
            BootMode::Boot(_) => self.from_host.way()?,
            BootMode::Resume { .. } | BootMode::Orders { .. } => None,
        };
        let (incoming, answers, own) = match way {
            BootMode::Boot(_) => (None, None, None),
            BootMode::Resume { state, .. } => (Some(state), None, None),
            BootMode::Orders { orders, answers } => {
                let texts = [(wire::ORDERS_FILE.trim_start_matches('/').to_owned(), orders)];
                (None, Some(answers), Some(self.make_image(kernel, &texts)?))
            }
        };
        let initramfs = own.as_ref().unwrap_or(usual);
        let mut qemu = Qemu::start(&MachineOrder {
            program: &program,
            engine: self.engine,
            kernel: file,
            initramfs,
            command_line: &command_line,
            memory_bytes: self.settings.memory_bytes,
            topology: spec.topology,
            host_cpus: self.settings.host_cpus.as_ref(),
            disks: &disks,
            tools: self.tools.as_ref().map(|tools| tools.path.as_path()),
            files: self.files.disk.as_ref(),
            scratch: scratch.as_ref(),
            cable,
            from_host: from_host.as_ref(),
            console: console.file(),
            answers,
            incoming,
            mark: &self.mark,
            log: console.qemu_log(),
        })?;
        qemu.scratch = scratch;
        if let (Some(way), Some(logs)) = (from_host, &self.logs) {
            let around = (self.mark.as_str(), logs.as_path());
            qemu.host_load = Some(self.from_host.start(&self.host, around, way, &mut qemu)?);
        }
        let alone = || Share::alone(spec.topology.vcpus() as usize);
        let share = cable.map_or_else(alone, |end| end.share);
        match self.pin(&mut qemu, share) {
            // A machine that ended already tells why when it is greeted.
            Err(error) if qemu.ended().is_none() => Err(error),
            _ => Ok((qemu, console)),
        }
    }

    /// Gives each virtual processor a CPU of the host's where as many were named; fewer are
    /// shared by all threads of all guests.
    fn pin(&self, qemu: &mut Qemu, share: Share) -> Result<()> {
        let cpus = self.settings.host_cpus.as_ref().and_then(|cpus| share.of(cpus));
        let is_counted = matches!(self.engine, Engine::Counting { .. });
        // Counted processors take turns on one thread.
        let (Some(cpus), false) = (cpus, is_counted) else { return Ok(()) };
        for (thread, cpu) in qemu.control.processor_threads()?.into_iter().zip(cpus) {
            sys::set_affinity(thread, &[cpu].into_iter().collect()).map_err(|error| {
                Error::environment(format!("cannot give a processor of the guest CPU {cpu}"), error)
            })?;
        }
        Ok(())
    }

    fn disks(&self) -> Result<Vec<File>> {
        let mut disks = Vec::new();
        for disk in &self.settings.disks {
            if let Disk::VirtioBlk { size_bytes } = disk {
                disks.push(new_memfd("schedlab-disk", *size_bytes)?);
            }
        }
        Ok(disks)
    }

    pub(crate) fn command_line(&self, spec: &BootSpec) -> String {
        let mut words = vec![COMMAND_LINE.to_owned()];
        if self.engine != Engine::Kvm {
            words.push(EMULATED.to_owned());
        }
        if self.settings.is_equalised {
            words.push(EQUALISED.to_owned());
        }
        if let Engine::Counting { seed } = self.engine {
            // A word that nobody reads moves the whole trajectory (measured, ADR 0011); QEMU's
            // own seed does not.
            words.push(format!("{COUNTED} schedlab.seed={seed}"));
        }
        words.extend(spec.command_line.iter().cloned());
        words.join(" ")
    }

    /// Whether guests get a disk for workloads' files: asked for, and it can be made here.
    fn has_scratch(&self) -> bool {
        self.has_scratch && scratch::is_possible(&self.host.host.machine)
    }

    /// What to tell where guests should have a scratch disk and cannot.
    pub(crate) fn without_scratch(&self) -> Option<String> {
        (self.has_scratch && !self.has_scratch()).then(|| {
            "there is no mke2fs (package e2fsprogs): workloads' files lie in the guest's memory, \
             where nothing waits for a write"
                .to_owned()
        })
    }

    fn make_image(&self, kernel: &Kernel, texts: &[(String, Vec<u8>)]) -> Result<File> {
        // Whatever a counted guest does moves its whole trajectory.
        let is_counted = matches!(self.engine, Engine::Counting { .. });
        image::make(&ImageOrder {
            agent: &agent(&self.host.agent)?,
            kernel,
            settings: &self.settings,
            files: &self.files,
            controllers: &self.controllers,
            modules: &self.modules,
            tools: self.tools.as_ref(),
            has_scratch: self.has_scratch(),
            has_network: self.settings.has_peer || !self.from_host.is_empty(),
            log: self.host.log.as_deref().filter(|_| !is_counted),
            texts,
        })
    }

    fn console(&self, spec: &BootSpec) -> Result<Console> {
        let Some(logs) = &self.logs else {
            return self
                .console
                .as_ref()
                .map_or_else(Console::in_memory, |file| Console::in_file(file));
        };
        let name = spec.kernel.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let file = format!("console-{:03}-{name}.log", self.count);
        Console::in_files(&logs.join(file), &logs.join("qemu.log"))
    }

    /// The kernel and its initramfs, made once.
    pub(crate) fn image(&mut self, name: &str) -> Result<&Image> {
        if !self.images.contains_key(name) {
            let kernel = find_kernel(&self.host, name)?;
            kernel.verify().map_err(artefact_error)?;
            // Kept open: what was verified is what boots, whatever happens to its path.
            let file = sys::open_regular(&kernel.image).map_err(|error| {
                Error::environment(format!("cannot open {}", kernel.image.display()), error)
            })?;
            let file = match self.engine {
                Engine::Kvm => file,
                Engine::Tcg | Engine::Counting { .. } => unpacked(file, &kernel)?,
            };
            let initramfs = self.make_image(&kernel, &[])?;
            self.images.insert(name.to_owned(), Image { kernel, file, initramfs });
        }
        Ok(&self.images[name])
    }
}

/// The kernel that is packed in a boot image, where it can be entered: an emulated processor takes
/// a second to unpack it (ADR 0011).
fn unpacked(image: File, kernel: &Kernel) -> Result<File> {
    let mut file = new_memfd("schedlab-kernel", 0)?;
    match unpack_kernel(&mut BufReader::new(&image), &mut file) {
        Ok(true) => Ok(file),
        Ok(false) => Ok(image),
        Err(error) => {
            let attempted = format!("cannot unpack {}", kernel.image.display());
            Err(Error::environment(attempted, error))
        }
    }
}

/// What a kernel's configuration and command line say and the running kernel does not.
pub(crate) fn facts(kernel: &Kernel, command_line: &str) -> BTreeMap<String, String> {
    let is_set = |key: &str| kernel.config_value(key).as_deref() == Some("y");
    let first = |choices: &[(&str, &str)]| {
        choices.iter().find(|(key, _)| is_set(key)).map(|(_, name)| (*name).to_owned())
    };
    let preempt_models = [
        ("CONFIG_PREEMPT_LAZY", "lazy"),
        ("CONFIG_PREEMPT", "full"),
        ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
        ("CONFIG_PREEMPT_NONE", "none"),
    ];
    let ticks = [
        ("CONFIG_NO_HZ_FULL", "full"),
        ("CONFIG_NO_HZ_IDLE", "idle"),
        ("CONFIG_HZ_PERIODIC", "periodic"),
    ];
    // The kernel takes the last of several words.
    let mut mitigations =
        command_line.split(' ').filter_map(|word| word.strip_prefix("mitigations="));
    let mitigations = mitigations.next_back().unwrap_or("default").to_owned();
    let values = [
        ("vm.kernel_release", Some(kernel.release.clone())),
        ("kernel.hz", kernel.config_value("CONFIG_HZ")),
        // One that can be chosen while it runs is a knob, and read there.
        (
            "kernel.preempt_model",
            first(&preempt_models).filter(|_| !is_set("CONFIG_PREEMPT_DYNAMIC")),
        ),
        ("kernel.tick", first(&ticks)),
        ("kernel.config_digest", kernel.config_digest()),
        ("kernel.mitigations", Some(mitigations)),
    ];
    let known = values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    known.collect()
}

/// A kernel that is in the cache, or that a path names.
pub(crate) fn find_kernel(host: &VmHost, name: &str) -> Result<Kernel> {
    let parsed: KernelName =
        name.parse().map_err(|cause: artefacts::Error| artefact_error(cause))?;
    host.kernels.find(&parsed).map_err(artefact_error)
}

/// Our own binary, as much of it as is loaded.
fn agent(path: &Path) -> Result<Vec<u8>> {
    let program = std::fs::read(path)
        .map_err(|error| Error::environment(format!("cannot read {}", path.display()), error))?;
    guest_images::loadable_part(&program).map_err(artefact_error)
}

pub(crate) fn interrupted(signal: i32) -> Error {
    Error::new(ErrorKind::Interrupted, "stopped", format!("signal {signal}"), "")
}
