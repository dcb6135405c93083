//! What a guest's root is made of: an initial file system, programs with their libraries, and
//! read-only images of installed tools and of files that are too many for a guest's memory.
//!
//! This crate must not know what an experiment, a venue or a kernel is, and never runs what it
//! copies.

mod files_image;
mod initramfs;
mod libraries;
mod loadable;
mod read_only_image;
mod tools_image;

pub use files_image::files_image;
pub use initramfs::Initramfs;
pub use libraries::{Content, Linkage, NeededFile, linkage, with_libraries};
pub use loadable::loadable_part;
pub use tools_image::{ToolsImage, tools_image};
