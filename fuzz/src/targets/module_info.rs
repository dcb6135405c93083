//! What a kernel module needs: names that become look-ups, never paths.

use super::{OwnTarget, Reaction};

pub const TARGET: OwnTarget = OwnTarget {
    name: "module-info",
    words: &["\u{7f}ELF", ".modinfo", "depends=", ",", "\0", "virtio-ring", "../"],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let names = kernels::depends(bytes).ok();
    for name in names.iter().flatten() {
        assert!(!name.is_empty() && !name.contains(['/', '-', '\0']), "{name:?}");
    }
    Reaction::of(names.as_ref())
}
