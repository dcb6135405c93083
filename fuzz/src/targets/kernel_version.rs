//! Kernel releases as `uname -r` prints them.

use super::{OwnTarget, Reaction, on_text};
use model::KernelVersion;

pub const TARGET: OwnTarget = OwnTarget {
    name: "kernel-version",
    words: &["6.12", ".", "-", "-rc1", "+deb13-amd64", "4294967296"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let version = text.parse::<KernelVersion>().ok();
        if let Some(version) = &version {
            assert_eq!(version.to_string().parse::<KernelVersion>().ok().as_ref(), Some(version));
        }
        Reaction::of(version.as_ref())
    })
}
