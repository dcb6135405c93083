//! What a virtual machine is made of: kernels from Debian's archive, from a path
//! or from source, the modules one needs in load order, an initial file system,
//! programs with their libraries, and read-only images of installed tools and of
//! files that are too many for a guest's memory.
//!
//! This crate must not know what an experiment, a venue or a guest is. It is
//! given a cache directory and a program search path and never looks for either;
//! it never changes the system's package state and never runs what it copies.

mod archive;
mod boot_image;
mod build;
mod control;
mod debian_version;
mod digest;
mod error;
mod fetch;
mod files_image;
mod fragment;
mod from_sources;
mod guest_path;
mod initramfs;
mod kernel;
mod kernel_name;
mod kernels;
mod libraries;
mod loadable;
mod lock;
mod modinfo;
mod modules;
mod offer;
mod programs;
mod read_only_image;
mod scheduler_name;
mod schedulers;
mod sources;
mod tools_image;
mod tree;

pub use boot_image::{read_release, release_of_image};
pub use build::{Build, KernelSource};
pub use control::{Stanza, stanzas};
pub use debian_version::compare_versions;
pub use error::{Error, ErrorKind, Result};
pub use fetch::FetchProgress;
pub use files_image::files_image;
pub use from_sources::FromSources;
pub use guest_path::{MERGED, guest_path};
pub use initramfs::Initramfs;
pub use kernel::{Kernel, Package, SchedulerClass};
pub use kernel_name::{KernelName, Selection};
pub use kernels::{Kernels, Offered};
pub use libraries::{Content, Linkage, NeededFile, linkage, with_libraries};
pub use loadable::loadable_part;
pub use modinfo::{depends, depends_of};
pub use modules::{Module, load_order};
pub use offer::{Offer, offers_of};
pub use scheduler_name::SchedulerName;
pub use schedulers::{Scheduler, SchedulerOffer, SchedulerProgress, Schedulers, Toolchain};
pub use sources::{Mirror, mirrors};
pub use tools_image::{ToolsImage, tools_image};
pub use tree::files_below;
