//! The factor `scheduler`.

use crate::in_charge::{Fair, InCharge, Start};
use crate::level::Scheduler;
use crate::own::can_load;
use crate::published::{Published, how_to_get, published};
use contract::{
    Description, Factor, Held, HeldKnob, Knob, NotHeld, Program, Requirement, Supervisor,
    join_words,
};
use model::Level;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use sys::{Machine, SchedExt};

/// The factor.
pub struct Entry;

static DESCRIPTION: Description = Description {
    id: "scheduler",
    summary: "which scheduler is in charge of ordinary tasks",
    doc: "`fair` is the kernel's own (EEVDF from 6.6, CFS before). `scx_NAME`, with its arguments, is \
          a published sched_ext scheduler that `schedlab schedulers fetch` built or that is on PATH; \
          `scx_NAME@VERSION` is exactly that version, and a name alone is pinned to the newest one \
          here when the experiment is planned. An absolute path is any program that loads one; what \
          has the file name of a published one gets its default arguments and is held against its name. \
          `lab:NAME` is one of ours, `lab:NAME?parameter=value&parameter=value` with parameters: \
          textbook algorithms on one and the same kernel (`schedlab schedulers show lab:bfs`).\n\n\
          For each trial the scheduler's program is started before the workload and ended after it. \
          It counts as in force when /sys/kernel/sched_ext/state is `enabled`, `switch_all` is 1 and \
          `root/ops` names it; `enable_seq`, `nr_rejected` and the program are watched while the \
          workload runs. A scheduler that the kernel throws out (its watchdog, an error) or that ends \
          makes the trial invalid (`EJECTED`) with the kernel's reason: never a number of the fair \
          class under its name.\n\n\
          What moves with it, and when it lies: fair-class settings (base_slice and the like) mean \
          nothing while another scheduler is in charge, and cannot be combined with one. Real-time \
          and deadline tasks stay above it. The program's own CPU time is part of its price and no \
          interference. With --partial a scheduler takes only tasks of the policy SCHED_EXT: refused, \
          since the workload has another. On an emulated processor loading takes from a second to a \
          minute; none of it is measured.\n\n\
          Sources: Documentation/scheduler/sched-ext.rst and kernel/sched/ext.c (6.18).",
};

/// The role of the process that keeps one of ours in charge (`own::serve`).
pub const SCHEDULER_ROLE: &str = "__scheduler";
/// What ours take to come and go on an emulated processor (measured).
const LOAD_NS: u64 = 1_500_000_000;
/// Settings of the fair class, which is not in charge then.
const OF_FAIR: [&str; 8] = [
    "base_slice",
    "migration_cost",
    "min_granularity",
    "nr_migrate",
    "sched_features",
    "sched_latency",
    "slice",
    "wakeup_granularity",
];

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "fair, scx_NAME[@VERSION] [ARGUMENTS], lab:NAME[?PARAMETER=VALUE&...] or /PATH [ARGUMENTS]"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["fair", "lab:bfs", "scx_rusty --slice-us-overutil 1000", "lab:bfs?rr_interval=10ms"]
    }

    fn suggests(&self) -> bool {
        true
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        Scheduler::parse(text).map(|scheduler| scheduler.level())
    }

    // After hotplug, which would end some schedulers, and after everything else.
    fn order(&self) -> u8 {
        90
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        match scheduler(level) {
            Ok(Scheduler::Fair) | Err(_) => Vec::new(),
            Ok(Scheduler::Own(_)) => vec![loadable(), root()],
            Ok(found) => vec![sched_ext(), root(), program(found)],
        }
    }

    fn setting_ns(&self, level: &Level) -> u64 {
        match scheduler(level) {
            Ok(Scheduler::Fair) | Err(_) => 0,
            Ok(scheduler) => {
                known(&scheduler).map_or(LOAD_NS, |known| known.attach.as_nanos() as u64)
            }
        }
    }

    fn programs(&self, machine: &Machine, level: &Level) -> Vec<PathBuf> {
        let found = scheduler(level).ok().and_then(|scheduler| file(machine, &scheduler));
        found.into_iter().collect()
    }

    fn conflict(&self, level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        if matches!(scheduler(level), Ok(Scheduler::Fair)) {
            return None;
        }
        let of_fair = OF_FAIR.into_iter().find(|id| others.contains_key(*id))?;
        Some(format!("{of_fair} is a setting of the fair class, which is not in charge then"))
    }

    fn owners(&self) -> &'static [&'static str] {
        &["scx_loader"]
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Held(self)
    }
}

impl HeldKnob for Entry {
    fn acquire(
        &self,
        machine: &Machine,
        level: &Level,
        supervisor: &mut dyn Supervisor,
    ) -> Result<Box<dyn Held>, NotHeld> {
        let scheduler = scheduler(level).map_err(NotHeld::Refused)?;
        if scheduler == Scheduler::Fair {
            return Ok(Box::new(Fair::acquire(machine)?));
        }
        let start = start(machine, &scheduler).map_err(NotHeld::Refused)?;
        let mut in_charge = InCharge::acquire(machine, &start, supervisor)?;
        if let Scheduler::Own(choice) = &scheduler {
            in_charge.note("in_force", choice.in_force());
        }
        if let Program::File(path) = &start.program {
            let words = start.arguments.iter().map(|word| word.to_string_lossy().into_owned());
            let words: Vec<String> = words.collect();
            in_charge.note("program", path.display().to_string());
            in_charge.note("arguments", join_words(words.iter().map(String::as_str)));
        }
        Ok(Box::new(in_charge))
    }
}

fn scheduler(level: &Level) -> Result<Scheduler, String> {
    Scheduler::parse(&level.to_string())
}

/// What is started for a scheduler that is not the kernel's own.
fn start(machine: &Machine, scheduler: &Scheduler) -> Result<Start, String> {
    let arguments = match scheduler {
        Scheduler::Fair => return Err("the kernel's own is not started".to_owned()),
        Scheduler::Own(choice) => {
            return Ok(Start {
                program: Program::Own(SCHEDULER_ROLE),
                arguments: vec![choice.to_string().into()],
                ops: Some(choice.algorithm().id.to_owned()),
            });
        }
        Scheduler::Named { arguments, .. } | Scheduler::File { arguments, .. } => arguments,
    };
    let path = file(machine, scheduler)
        .ok_or_else(|| format!("there is no program for {} here", scheduler.level()))?;
    let known = known(scheduler);
    let defaults = known.map_or(&[][..], |known| known.default_arguments);
    let arguments = match arguments.as_slice() {
        [] => defaults.iter().map(OsString::from).collect(),
        given => given.iter().map(OsString::from).collect(),
    };
    let ops = known.map(|known| known.ops().to_owned());
    Ok(Start { program: Program::File(path), arguments, ops })
}

/// What is known of a published one, however it was named: a name is the whole path where
/// its program was found on PATH.
fn known(scheduler: &Scheduler) -> Option<&'static Published> {
    match scheduler {
        Scheduler::Fair | Scheduler::Own(_) => None,
        Scheduler::Named { name, .. } => published(name),
        Scheduler::File { path, .. } => {
            let file = path.file_name()?.to_str()?;
            published(file.split_once('@').map_or(file, |(name, _)| name))
        }
    }
}

/// The program of one that is not ours, where it is here.
fn file(machine: &Machine, scheduler: &Scheduler) -> Option<PathBuf> {
    match scheduler {
        Scheduler::File { path, .. } => path.is_file().then(|| path.clone()),
        Scheduler::Named { .. } => machine.program(&scheduler.program()?),
        Scheduler::Fair | Scheduler::Own(_) => None,
    }
}

/// A kernel that can load one of ours; looking at its types takes a moment.
fn loadable() -> Requirement {
    Requirement::check("a kernel that can load schedulers", |machine| {
        can_load(machine).map_err(|unable| (unable.to_string(), unable.remedy().to_owned()))
    })
}

fn sched_ext() -> Requirement {
    Requirement::check("a kernel with sched_ext", |machine| {
        if SchedExt::is_there(machine) {
            return Ok(());
        }
        let remedy = "use a kernel that has it, in a virtual machine: kernel = \"debian:6.18\" \
                      (`schedlab kernels list --offered` marks them scx)";
        Err(("there is no /sys/kernel/sched_ext".to_owned(), remedy.to_owned()))
    })
}

fn root() -> Requirement {
    Requirement::check("root, to load a scheduler", |machine| {
        if machine.is_root() {
            return Ok(());
        }
        Err((
            "loading BPF programs needs it".to_owned(),
            "run as root, or use a virtual machine".to_owned(),
        ))
    })
}

fn program(scheduler: Scheduler) -> Requirement {
    let level = scheduler.level();
    let what = match &scheduler {
        Scheduler::File { path, .. } => format!("the scheduler {}", path.display()),
        _ => format!("the scheduler {}", scheduler.program().unwrap_or_default()),
    };
    Requirement::check(what, move |machine| {
        if file(machine, &scheduler).is_some() {
            return Ok(());
        }
        Err(match (&scheduler, scheduler.program()) {
            (Scheduler::Named { .. }, Some(program)) => {
                ("it is neither in the cache nor on PATH".to_owned(), how_to_get(&program))
            }
            _ => (format!("there is no file for {level}"), "check the path".to_owned()),
        })
    })
    .taken_along()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn level(text: &str) -> Level {
        Entry.parse(text).unwrap()
    }

    #[test]
    fn settings_of_the_fair_class_go_with_the_fair_class_only() {
        let slice = BTreeMap::from([("base_slice".to_owned(), Level::canonical("3ms"))]);
        assert_eq!(Entry.conflict(&level("fair"), &slice), None);
        assert!(Entry.conflict(&level("scx_rusty"), &slice).unwrap().contains("base_slice"));
        let nice = BTreeMap::from([("nice".to_owned(), Level::canonical("5"))]);
        assert_eq!(Entry.conflict(&level("scx_rusty"), &nice), None);
    }

    #[test]
    fn a_program_that_is_not_here_is_named_with_the_command_that_gets_it() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path()).unwrap();
        let needs = Entry.requires(&level("scx_rusty@1.1.4 -v"));
        let missing: Vec<_> = needs.iter().filter_map(|need| need.met(&machine).err()).collect();
        assert!(missing.iter().any(|missing| missing.what == "a kernel with sched_ext"));
        let program = missing.iter().find(|missing| missing.what.contains("scx_rusty")).unwrap();
        assert_eq!(program.remedy, "schedlab schedulers fetch scx_rusty@1.1.4");
        assert!(Entry.requires(&level("fair")).is_empty(), "every kernel has its own");
    }

    fn program(directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, "").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        path
    }

    #[test]
    fn a_published_one_is_known_by_its_file_name_too() {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path()).unwrap();
        let layered = published("scx_layered").unwrap();
        for name in ["scx_layered", "scx_layered@1.1.4"] {
            let path = program(directory.path(), name).display().to_string();
            let of = |text: &str| start(&machine, &Scheduler::parse(text).unwrap()).unwrap();
            let known = of(&path);
            assert_eq!(known.arguments, layered.default_arguments, "{name}");
            assert_eq!(known.ops.as_deref(), Some("layered"), "{name}");
            let usual_ns = layered.attach.as_nanos() as u64;
            assert_eq!(Entry.setting_ns(&level(&path)), usual_ns, "{name}");
            assert_eq!(of(&format!("{path} --run-example")).arguments, ["--run-example"]);
        }
        let mine = program(directory.path(), "mine").display().to_string();
        let unknown = start(&machine, &Scheduler::parse(&mine).unwrap()).unwrap();
        assert_eq!((unknown.arguments.len(), unknown.ops), (0, None));
    }

    #[test]
    fn versions_are_found_by_their_file_names_and_layers_come_with_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = program(directory.path(), "scx_layered@1.1.4");
        let machine = Machine::fake(directory.path(), directory.path())
            .unwrap()
            .with_search_path(directory.path().display().to_string());
        assert_eq!(Entry.programs(&machine, &level("scx_layered@1.1.4")), vec![path]);
        let of = |text: &str| start(&machine, &Scheduler::parse(text).unwrap()).unwrap().arguments;
        assert!(!of("scx_layered@1.1.4").is_empty(), "it does nothing without layers");
        assert_eq!(of("scx_layered@1.1.4 --run-example"), ["--run-example"]);
    }
}
