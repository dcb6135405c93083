//! Kernels: from Debian's archive or from a path, in a cache, with the modules one needs in load
//! order.
//!
//! This crate must not know what an experiment, a venue or a guest is, nor how a kernel is built.

mod archive;
mod boot_image;
pub mod cache_entry;
mod control;
mod debian_version;
mod fetch;
mod kernel;
mod kernel_name;
mod kernels;
mod modinfo;
mod modules;
mod offer;
mod sources;
mod uncompressed;

pub use boot_image::{read_release, release_of_image};
pub use control::{Stanza, stanzas};
pub use debian_version::compare_versions;
pub use fetch::FetchProgress;
pub use kernel::{Kernel, Package, SchedulerClass};
pub use kernel_name::{KernelName, Selection, is_build_name};
pub use kernels::{Kernels, Offered};
pub use modinfo::{depends, depends_of};
pub use modules::{Module, load_order};
pub use offer::{Offer, offers_of};
pub use sources::{Mirror, mirrors};
pub use uncompressed::unpack_kernel;
