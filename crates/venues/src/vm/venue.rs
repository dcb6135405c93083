//! The venue: what a plan needs of it, what is the same in each of its boots, and its session.

use super::boot::{self, Booter};
use super::boot_specs::{boot_spec, boot_specs};
use super::files::{GuestFiles, is_large, with_libraries};
use super::host_load::HostLoadPlan;
use super::qemu::{self, Engine};
use super::vm_host::{VmHost, tools_image};
use super::{accelerator, session};
use crate::Host;
use crate::errors::artefact_error;
use crate::programs::{self, Programs, of_levels};
use contract::{
    BootSpec, Description, Error, Event, Interrupt, Missing, Result, Venue, VenueSession,
};
use executor::{ExecutorSettings, GuardedMachine, LONGEST_STANDSTILL};
use guest_images::ToolsImage;
use model::{CpuList, Fingerprint, Plan};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// Where programs that a level only names lie in a guest.
const GUEST_PROGRAMS: &str = "/usr/bin";

/// Trials in virtual machines.
pub struct Vm {
    host: VmHost,
    engine: OnceCell<Engine>,
}

pub(super) static DESCRIPTION: Description = Description {
    id: "vm",
    summary: "throw-away virtual machines: any kernel, every knob, nothing left behind",
    doc: "Each block boots each kernel once, in random order, and runs the subjects that share \
          it. The same executor runs inside: knobs are set, read back and put back as on the \
          host. With KVM figures are those of a virtual machine on this processor; without it \
          QEMU emulates one (TCG): then every record carries `TCG`, verdicts begin with \
          `emulated:`, absolute units are hidden, and no gate is passed or failed.",
};

impl Vm {
    /// The venue of a machine.
    pub fn new(host: VmHost) -> Self {
        Self { host, engine: OnceCell::new() }
    }

    /// What executes instructions: found out once.
    fn engine(&self, plan: &Plan, interrupt: &Interrupt) -> Result<Engine> {
        if let Some(engine) = self.engine.get() {
            return Ok(*engine);
        }
        let settings = plan.vm.clone().unwrap_or_default();
        let kernel = boot_spec(&self.host.host.catalogue, plan.reference())?.kernel;
        let engine = accelerator::choose(&self.host, &settings, plan.seed, &kernel, interrupt)?;
        Ok(*self.engine.get_or_init(|| engine))
    }

    /// What must be the same for a campaign to go on, and is part of each fingerprint.
    fn facts(&self, plan: &Plan, engine: Engine) -> Result<Fingerprint> {
        let mut facts = Programs::of(&self.host.host, plan).digests()?;
        facts.0.insert("vm.engine".to_owned(), engine.name().to_owned());
        facts.0.insert("vm.qemu".to_owned(), qemu::version(&self.host.host.machine)?);
        let named = plan.vm.iter().flat_map(|vm| &vm.files).map(PathBuf::from);
        let files: Vec<PathBuf> = named.chain([self.host.agent.clone()]).collect();
        facts.0.extend(Programs::at(files).digests()?.0);
        if let Some(image) = self.tools(plan)? {
            // Its name is the digest of what is in it.
            let name = image.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            facts.0.insert("vm.tools".to_owned(), name);
        }
        let specs = boot_specs(&self.host.host.catalogue, plan)?;
        for spec in specs.values() {
            let kernel = boot::find_kernel(&self.host, &spec.kernel)?;
            facts.0.insert(format!("vm.kernel.{}", spec.kernel), kernel.digest);
        }
        if let (true, Some(spec)) = (plan.has_peer(), specs.get(&plan.reference().id)) {
            let words: Vec<&str> = spec.command_line.iter().map(String::as_str).collect();
            let what = format!("{}, vcpus={} {}", spec.kernel, spec.topology, words.join(" "));
            facts.0.insert("vm.second_guest".to_owned(), what.trim_end().to_owned());
        }
        Ok(facts)
    }
}

impl Venue for Vm {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn recover(&self) -> Result<Vec<String>> {
        Host::new(self.host.host.clone()).recover()
    }

    fn missing(&self, plan: &Plan) -> Vec<Missing> {
        let mut missing = Vec::new();
        if qemu::find(&self.host.host.machine).is_none() {
            missing.push(lack("virtual machines", qemu::no_qemu()));
        }
        if !self.host.agent.is_file() {
            missing.push(Missing {
                what: "the agent".to_owned(),
                why: format!("there is no {}", self.host.agent.display()),
                remedy: "it is built and installed beside schedlab: cargo build --package schedlab"
                    .to_owned(),
            });
        }
        missing.extend(self.absent(plan));
        let machine = &self.host.host.machine;
        let catalogue = &self.host.host.catalogue;
        missing.extend(HostLoadPlan::of(catalogue, plan).missing(catalogue, machine));
        match boot_specs(&self.host.host.catalogue, plan) {
            Err(error) => missing.push(lack("boot settings", error)),
            Ok(specs) => {
                let names: std::collections::BTreeSet<&str> =
                    specs.values().map(|spec| spec.kernel.as_str()).collect();
                for name in names {
                    let found = boot::find_kernel(&self.host, name).and_then(|kernel| {
                        kernel.verify_all().map_err(artefact_error)?;
                        Ok(kernel)
                    });
                    match found {
                        Err(error) => missing.push(lack(&format!("the kernel {name}"), error)),
                        Ok(kernel) => missing.extend(unreplayable(plan, &kernel, specs.values())),
                    }
                }
            }
        }
        missing
    }

    fn identity(&self, plan: &Plan) -> Result<Fingerprint> {
        self.facts(plan, self.engine(plan, &Interrupt::default())?)
    }

    fn open(
        &self,
        plan: &Plan,
        workspace: &Path,
        interrupt: &Interrupt,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Box<dyn VenueSession>> {
        let engine = self.engine(plan, interrupt)?;
        let facts = self.facts(plan, engine)?;
        let settings = ExecutorSettings {
            machine: self.host.host.machine.clone(),
            catalogue: self.host.host.catalogue,
            executable: self.host.host.executable.clone(),
            machine_arguments: self.host.host.machine_arguments.clone(),
            logs: workspace.join("logs"),
            scratch: workspace.join("scratch"),
            purpose: format!("campaign {} in {}", plan.name, workspace.display()),
            longest_standstill: LONGEST_STANDSTILL,
        };
        let logs = settings.logs.clone();
        let guarded = GuardedMachine::open(settings)?;
        let vm = plan.vm.clone().unwrap_or_default();
        let mark = guarded.mark().to_owned();
        let mut booter = Booter::new(self.host.clone(), vm, engine, mark, interrupt.clone());
        booter.logs = Some(logs);
        booter.files = self.files(plan)?;
        booter.tools = self.tools(plan)?;
        booter.has_scratch = !matches!(engine, Engine::Counting { .. });
        let host = &self.host.host;
        let controllers = host.catalogue.controllers(&host.machine, plan);
        booter.controllers = controllers.into_iter().map(str::to_owned).collect();
        booter.modules = self.modules(plan);
        booter.from_host = HostLoadPlan::of(&host.catalogue, plan);
        session::open(plan, guarded, booter, facts, on_event)
    }
}

impl Vm {
    /// CPUs and files of the host that the plan names and that are not there.
    fn absent(&self, plan: &Plan) -> Vec<Missing> {
        let Some(vm) = &plan.vm else { return Vec::new() };
        let mut absent = Vec::new();
        let online = self.host.host.machine.online_cpus().unwrap_or_default();
        let wanted = vm.host_cpus.iter().flat_map(CpuList::iter);
        let offline: CpuList = wanted.filter(|cpu| !online.iter().any(|it| it == *cpu)).collect();
        if !offline.is_empty() {
            absent.push(Missing {
                what: format!("the host's CPUs {offline}"),
                why: format!("online are {online}"),
                remedy: "change host_cpus in [vm]".to_owned(),
            });
        }
        for file in vm.files.iter().filter(|file| !Path::new(file).exists()) {
            absent.push(Missing {
                what: format!("the file {file}"),
                why: "it does not exist here".to_owned(),
                remedy: "change files in [vm]".to_owned(),
            });
        }
        let is_image_needed =
            !vm.tools.is_empty() || self.named(plan).iter().any(|path| is_large(path));
        if is_image_needed && self.host.host.machine.program("mksquashfs").is_none() {
            absent.push(Missing {
                what: "images of packages, directories and large files".to_owned(),
                why: "mksquashfs is not on PATH".to_owned(),
                remedy: "install it: apt-get install squashfs-tools".to_owned(),
            });
        }
        // A tools image may have them.
        if vm.tools.is_empty() {
            absent.extend(programs::absent(&self.host.host, plan));
        }
        absent
    }

    /// Files and directories that the plan's guests need: what it names, and what its
    /// workloads run.
    fn named(&self, plan: &Plan) -> Vec<PathBuf> {
        let mut named: Vec<PathBuf> =
            plan.vm.iter().flat_map(|vm| &vm.files).map(PathBuf::from).collect();
        for (_, _, configured) in self.host.host.catalogue.configured(plan) {
            named.extend(configured.facts().files(&self.host.host.machine));
        }
        named
    }

    /// What is named, and the programs of levels, with their libraries.
    fn files(&self, plan: &Plan) -> Result<GuestFiles> {
        let mut files = with_libraries(&self.host, &self.named(plan))?;
        for (path, level) in of_levels(&self.host.host, plan) {
            let is_named_whole = level.to_string().starts_with('/');
            let mut of_level = with_libraries(&self.host, std::slice::from_ref(&path))?;
            if let (Some(name), false) = (path.file_name(), is_named_whole) {
                // A level that is a name finds its program on the guest's search path.
                for file in of_level.iter_mut().filter(|file| file.guest == path) {
                    file.guest = Path::new(GUEST_PROGRAMS).join(name);
                }
            }
            files.extend(of_level);
        }
        GuestFiles::of(&self.host, files, std::env::current_dir().ok().as_deref())
    }

    /// Kernel modules that levels need.
    fn modules(&self, plan: &Plan) -> Vec<String> {
        let mut modules = Vec::new();
        for (id, level) in plan.subjects.iter().flat_map(|subject| &subject.levels) {
            let factor = self.host.host.catalogue.factor(id);
            for module in factor.map(|factor| factor.modules(level)).unwrap_or_default() {
                if !modules.contains(&module) {
                    modules.push(module);
                }
            }
        }
        modules
    }

    fn tools(&self, plan: &Plan) -> Result<Option<ToolsImage>> {
        let packages = plan.vm.as_ref().map(|vm| vm.tools.as_slice()).unwrap_or_default();
        tools_image(&self.host, packages)
    }
}

/// Why a kernel cannot be replayed with the processors it is to have: 5.10 and 6.1 wait for
/// ever for their second one where instructions are counted, 6.12 and 6.18 do not (measured,
/// ADR 0011).
fn unreplayable<'s>(
    plan: &Plan,
    kernel: &kernels::Kernel,
    specs: impl IntoIterator<Item = &'s BootSpec>,
) -> Option<Missing> {
    let is_replay = plan.vm.as_ref().is_some_and(|vm| vm.is_deterministic);
    let is_old = kernel.version < model::KernelVersion::series(6, 12);
    let mut own = specs.into_iter().filter(|spec| spec.kernel == kernel.name);
    let has_several = own.any(|spec| spec.topology.vcpus() > 1);
    (is_replay && is_old && has_several).then(|| Missing {
        what: format!("a replay of {} with several processors", kernel.name),
        why: "kernels before 6.12 do not start a second one while instructions are counted"
            .to_owned(),
        remedy: "write vcpus = 1 for it, or use a later kernel".to_owned(),
    })
}

fn lack(what: &str, error: Error) -> Missing {
    Missing { what: what.to_owned(), why: error.cause, remedy: error.remedy }
}
