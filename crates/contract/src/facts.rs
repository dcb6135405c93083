//! What is known of a configured workload before it runs, as plain data.

use crate::{Recipe, Requirement};
use std::path::PathBuf;
use sys::Machine;

/// What planning, venues and the executor want to know.
#[derive(Debug)]
pub struct WorkloadFacts {
    /// Expected length of one invocation in nanoseconds, preparation included.
    pub expected_ns: u64,
    /// How much longer than ten times that an invocation may take by what was declared, in
    /// nanoseconds: servers that may be slow to start, to become warm, to end.
    pub patience_ns: u64,
    /// Whether the load waits for each answer before it sends again: tails are then conditional on
    /// its own pauses.
    pub is_closed_loop: bool,
    /// What it needs of the machine.
    pub requirements: Vec<Requirement>,
    /// The user's files that decide what runs: with other contents it is another workload.
    pub programs: Vec<ProgramFile>,
    /// What has to be built from sources before it can run.
    pub recipes: Vec<Recipe>,
    /// Files of the machine it writes while it runs, which its end undoes.
    pub writes: Vec<&'static str>,
    /// Weights (1 to 1000) of I/O groups that its processes will join, one group each: made before
    /// it starts, given to it as [`crate::LaunchSpec::io_groups`], removed after it.
    pub io_weights: Vec<u64>,
    /// Whether its far side is a second guest beside the subject's ([`crate::peers_address`]),
    /// which a venue of virtual machines boots for it.
    pub needs_peer: bool,
}

impl WorkloadFacts {
    /// Of one that needs nothing and sends whatever becomes of what it sent before.
    pub fn open_loop(expected_ns: u64) -> Self {
        Self {
            expected_ns,
            patience_ns: 0,
            is_closed_loop: false,
            requirements: Vec::new(),
            programs: Vec::new(),
            recipes: Vec::new(),
            writes: Vec::new(),
            io_weights: Vec::new(),
            needs_peer: false,
        }
    }

    /// Of one that needs nothing and waits for each answer before it sends again.
    pub fn closed_loop(expected_ns: u64) -> Self {
        Self { is_closed_loop: true, ..Self::open_loop(expected_ns) }
    }

    /// Absolute paths of its [`Self::programs`] on this machine. What cannot be found is left out;
    /// [`Self::requirements`] name it.
    pub fn files(&self, machine: &Machine) -> Vec<PathBuf> {
        let found = self.programs.iter().filter_map(|file| file.find(machine));
        found.filter_map(|path| std::path::absolute(path).ok()).collect()
    }
}

/// A file that decides what a workload is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFile {
    /// A program by its name, wherever the search path has it, or by its path.
    Program(String),
    /// A file or directory.
    File(PathBuf),
    /// What a program of this name interprets, nothing where there is no such program.
    Script {
        /// The program.
        interpreter: String,
        /// The file.
        path: PathBuf,
    },
}

impl ProgramFile {
    fn find(&self, machine: &Machine) -> Option<PathBuf> {
        match self {
            Self::Program(name) => machine.program(name),
            Self::File(path) => Some(path.clone()),
            Self::Script { interpreter, path } => {
                machine.program(interpreter).map(|_| path.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_left_out() {
        let machine = Machine::host("/nonexistent").with_search_path("/bin");
        let script = |interpreter: &str| ProgramFile::Script {
            interpreter: interpreter.to_owned(),
            path: PathBuf::from("/srv/load.sh"),
        };
        let programs = vec![
            ProgramFile::Program("sh".to_owned()),
            ProgramFile::Program("no-such-program".to_owned()),
            ProgramFile::File(PathBuf::from("/srv/scenario.toml")),
            script("sh"),
            script("no-such-program"),
        ];
        let facts = WorkloadFacts { programs, ..WorkloadFacts::open_loop(1) };
        let files = facts.files(&machine);
        assert_eq!(files, ["/bin/sh", "/srv/scenario.toml", "/srv/load.sh"].map(PathBuf::from));
    }
}
