//! Throw-away machines: QEMU boots a kernel and a small root of ours, the executor runs
//! inside, and nothing of it is left.

mod accelerator;
mod boot;
mod boot_specs;
mod cable;
mod command_line;
mod console;
mod control;
mod cost;
mod emulator;
mod entry;
mod execute;
mod files;
mod guest;
mod guest_layout;
mod host_load;
mod host_load_channel;
mod image;
mod inspect;
mod kernel;
mod memfd;
mod patience;
mod peer;
mod qemu;
mod record;
mod replay;
mod scratch;
mod session;
pub mod snapshot;
mod standstill;
mod table;
mod vcpus;
mod venue;
mod vm_host;

pub use command_line::CommandLine;
pub use cost::{GuestCost, guest_cost};
pub use entry::Entry;
pub use execute::{Execution, InputSource, Origin, Streams, execute};
pub use inspect::inspect;
pub use kernel::KernelFactor;
pub use vcpus::Vcpus;
pub use venue::Vm;
pub use vm_host::VmHost;
