//! What a machine is booted with: filled in by the boot factors of a subject.

use std::fmt;

/// One boot. Subjects whose specifications are equal share a boot inside a block.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BootSpec {
    /// The kernel's name: `debian:6.12.117-1`.
    pub kernel: String,
    /// Words added to the kernel's command line, in order.
    pub command_line: Vec<String>,
    /// The processors.
    pub topology: Topology,
}

/// The processors of a virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topology {
    /// Packages.
    pub sockets: u32,
    /// Cores in each package.
    pub cores: u32,
    /// Hardware threads in each core.
    pub threads: u32,
    /// Memory nodes over which packages are spread; 1 means none.
    pub nodes: u32,
}

impl Topology {
    /// Number of processors.
    pub fn vcpus(&self) -> u32 {
        self.sockets * self.cores * self.threads
    }
}

impl Default for Topology {
    /// Two cores of one package.
    fn default() -> Self {
        Self { sockets: 1, cores: 2, threads: 1, nodes: 1 }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (self.sockets, self.threads, self.nodes) == (1, 1, 1) {
            return write!(formatter, "{}", self.cores);
        }
        write!(formatter, "{}x{}x{}", self.sockets, self.cores, self.threads)?;
        if self.nodes > 1 {
            write!(formatter, "/{}", self.nodes)?;
        }
        Ok(())
    }
}
