//! The header of a boot image: its release becomes part of paths.

use super::{OwnTarget, Reaction};
use std::io::Cursor;

pub const TARGET: OwnTarget =
    OwnTarget { name: "boot-image", words: &["HdrS", "\0", "6.12.0 ", "/", "../", "\u{1}"], run };

fn run(bytes: &[u8]) -> Reaction {
    let release = kernels::read_release(&mut Cursor::new(bytes)).ok();
    if let Some(release) = &release {
        assert!(!release.contains(['/', '\0', ' ']) && !release.starts_with('.'), "{release:?}");
    }
    Reaction::of(release.as_ref())
}
