//! What a program is linked with, from files of any origin.

use super::{OwnTarget, Reaction};

pub const TARGET: OwnTarget = OwnTarget {
    name: "elf-linkage",
    words: &["\u{7f}ELF", "\0", "$ORIGIN/../lib", "libc.so.6", "/lib64/ld-linux-x86-64.so.2"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let linkage = guest_images::linkage(bytes).ok();
    if let Some(linkage) = &linkage {
        assert!(linkage.needed.iter().all(|name| !name.is_empty()), "{linkage:?}");
    }
    Reaction::of(linkage.as_ref())
}
