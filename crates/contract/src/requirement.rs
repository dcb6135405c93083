//! What an entry needs of a machine, checked before anything is changed.

use model::Missing;
use std::fmt;
use sys::{Cgroup, Controller, Machine};

type Check = Box<dyn Fn(&Machine) -> Result<(), Missing>>;

/// A need, in words and as a check that changes nothing.
pub struct Requirement {
    what: String,
    is_taken_along: bool,
    check: Check,
}

impl Requirement {
    /// Any check; it returns why and the remedy.
    pub fn check(
        what: impl Into<String>,
        check: impl Fn(&Machine) -> Result<(), (String, String)> + 'static,
    ) -> Self {
        let what = what.into();
        let named = what.clone();
        Self {
            what,
            is_taken_along: false,
            check: Box::new(move |machine| {
                check(machine).map_err(|(why, remedy)| Missing { what: named.clone(), why, remedy })
            }),
        }
    }

    /// At least one of these files can be opened for writing. The remedy tells
    /// lockdown, missing privilege and missing kernel feature apart.
    pub fn writable(paths: Vec<String>) -> Self {
        let what = format!("write {}", paths.join(" or "));
        Self::check(what, move |machine| {
            let mut errors = Vec::new();
            for path in &paths {
                match machine.check_writable(path) {
                    Ok(()) => return Ok(()),
                    Err(error) => errors.push(error),
                }
            }
            let is_root = machine.is_root();
            let telling = errors.iter().find(|error| error.is_refused()).or(errors.first());
            let Some(error) = telling else { return Ok(()) };
            let remedy = if error.is_refused() && is_root {
                "the kernel refuses this even to root (lockdown or a restricted guest): use a virtual machine"
            } else if error.is_refused() {
                "run as root, or use a virtual machine"
            } else if error.path.starts_with("/sys/kernel/debug")
                && !machine.exists("/sys/kernel/debug/sched")
            {
                "mount debugfs as root (mount -t debugfs none /sys/kernel/debug), or use a kernel that has this knob"
            } else {
                "this kernel does not have the knob: choose another kernel (in a virtual machine)"
            };
            Err((error.to_string(), remedy.to_owned()))
        })
    }

    /// A program on the search path, and the Debian package that has it.
    pub fn program(name: impl Into<String>, package: &'static str) -> Self {
        let name = name.into();
        Self::check(format!("the program {name}"), move |machine| {
            if machine.program(&name).is_some() {
                return Ok(());
            }
            let remedy = if package.is_empty() {
                "check the spelling and PATH".to_owned()
            } else {
                format!("install it: apt-get install {package}")
            };
            Err((format!("{name} is not on PATH"), remedy))
        })
    }

    /// At least this many CPUs online.
    pub fn cpus(count: usize) -> Self {
        Self::check(format!("{count} CPUs online"), move |machine| {
            let online =
                machine.online_cpus().map_err(|error| (error.to_string(), String::new()))?.len();
            if online >= count {
                return Ok(());
            }
            Err((
                format!("{online} online"),
                "use a machine with more CPUs, or other parameters".to_owned(),
            ))
        })
    }

    /// A group with the CPU controller can be made.
    pub fn cpu_group() -> Self {
        Self::group("cpu", Cgroup::cpu_root)
    }

    /// A group with the I/O controller can be made.
    pub fn io_group() -> Self {
        Self::group("io", Cgroup::io_root)
    }

    /// A group can be made that outlives trials: nothing else tells the processes in it from those
    /// of a trial.
    pub fn long_lived_group() -> Self {
        Self::check("make a cgroup for what outlives trials", |machine| {
            let remedy = |first: &str| format!("{first}, or let each trial start it");
            let Some(root) = Cgroup::unified_root(machine) else {
                let why = "no unified cgroup hierarchy is mounted";
                return Err((why.to_owned(), remedy("mount cgroup2")));
            };
            machine
                .check_directory_writable(root)
                .map_err(|error| (error.to_string(), remedy("run as root")))
        })
    }

    /// Making a group to find out would be a change, so the directory's permission is asked
    /// for instead.
    fn group(name: &'static str, root: fn(&Machine) -> Option<(Controller, &'static str)>) -> Self {
        Self::check(format!("make a cgroup with the {name} controller"), move |machine| {
            let Some((controller, root)) = root(machine) else {
                return Err((
                    format!("no cgroup hierarchy with the {name} controller is mounted"),
                    "mount cgroup2, or use a virtual machine".to_owned(),
                ));
            };
            if controller == Controller::Unified {
                let path = format!("{root}/cgroup.subtree_control");
                let enabled =
                    machine.read(&path).map_err(|error| (error.to_string(), String::new()))?;
                if !enabled.split_whitespace().any(|enabled| enabled == name) {
                    return Err((
                        format!("{path} does not pass the {name} controller on to children"),
                        format!("echo +{name} > {path}"),
                    ));
                }
            }
            machine.check_directory_writable(root).map_err(|error| {
                (error.to_string(), "run as root, or use a virtual machine".to_owned())
            })
        })
    }

    /// This need is a file of [`crate::Factor::programs`]: a venue that takes those to another
    /// machine can say beforehand that there is none.
    pub fn taken_along(self) -> Self {
        Self { is_taken_along: true, ..self }
    }

    /// Whether [`Self::taken_along`] was said.
    pub fn is_taken_along(&self) -> bool {
        self.is_taken_along
    }

    /// What is needed, in words.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Checks it; changes nothing.
    ///
    /// # Errors
    /// What is missing and what would help.
    pub fn met(&self, machine: &Machine) -> Result<(), Missing> {
        (self.check)(machine)
    }
}

impl fmt::Debug for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Requirement").field("what", &self.what).finish_non_exhaustive()
    }
}
