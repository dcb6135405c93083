//! The machine: files of /proc and /sys under a given root, control files in
//! the forms the kernel gives them, processes, cgroups and the scheduler's
//! system calls.
//!
//! This crate must not know what a factor, a workload or a campaign is. Every
//! path goes through [`Machine`], so tests build a machine in a directory.

mod block;
mod cgroup;
mod child_usage;
mod clock;
mod control_file;
mod cpu_time;
mod draft;
mod environments;
mod fake_kernel;
mod files;
mod freed_memory;
mod host_files;
mod io_priority;
mod kernel_log;
mod links;
mod lock_file;
mod machine;
mod machine_error;
mod named_file;
mod own_directory;
mod perf_event;
mod pressure;
mod private_directory;
mod process;
mod program_text;
mod regular_file;
mod resource_usage;
mod route_request;
mod sched_ext;
mod schedstat;
mod scheduling;
mod signals;
mod trusted_path;
mod untrusted;
mod virtio_port;

pub use block::{
    device_below, device_bytes, device_identity, device_number, directory_target, free_bytes,
    is_rotating, memory_file_system, named_identity, partitions, user_of_device, whole_device,
};
pub use cgroup::{Cgroup, Controller};
pub use child_usage::{ChildUsage, wait_with_usage};
pub use clock::{cpu_time, is_timer_prompt, monotonic_ns, suspended_ns, unix_ns};
pub use control_file::{ControlFile, FileForm};
pub use cpu_time::{CpuTime, clock_tick_ns};
pub use draft::{Draft, draft_name, is_draft_name, sweep_drafts_of_files};
pub use fake_kernel::{FakeRule, FakeRules};
pub use files::{DraftFile, FileAccess, Files, OpenFile, PrivateFiles};
pub use freed_memory::{return_freed_memory, return_large_memory_when_freed};
pub use host_files::{HostFiles, append_to};
pub use io_priority::{io_priority, set_io_priority};
pub use kernel_log::KernelLog;
pub use links::Links;
pub use machine::Machine;
pub use machine_error::MachineError;
pub use named_file::write_named;
pub use perf_event::{PerfCounter, PerfEvent, PerfReading};
pub use pressure::Pressure;
pub use private_directory::PrivateDirectory;
pub use process::{Process, ProcessStat, was_stopped};
pub use program_text::return_program_text;
pub use regular_file::{open_regular, read_regular};
pub use removal::{GRACE_PERIOD, open_directory, remove_tree, sweep_left};
pub use resource_usage::{resource_usage, thread_major_faults, usage_between};
pub use sched_ext::SchedExt;
pub use schedstat::{TaskSchedstat, ThreadSchedstat, waited_ns_by_cpu};
pub use scheduling::{
    Policy, SchedulingAttributes, affinity, nice_of_autogroup, scheduling_attributes, set_affinity,
    set_scheduling_attributes, set_timer_slack, timer_slack,
};
pub use signals::{Termination, reset_signal_dispositions};
pub use trusted_path::{check_trusted, check_trusted_above, through_own_links};
pub use untrusted::is_untrusted;
pub use virtio_port::virtio_port;
