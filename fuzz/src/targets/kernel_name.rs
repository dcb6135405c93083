//! Names of kernels, as a person writes them.

use super::{OwnTarget, Reaction, on_text};
use kernels::KernelName;

pub const TARGET: OwnTarget = OwnTarget {
    name: "kernel-name",
    words: &[
        "debian:",
        "path:",
        "build:",
        "host",
        "6.12",
        "6.1..6.18",
        "..",
        "cfs",
        "eevdf",
        "scx",
        "-1~deb12u1",
        "+deb12",
        ",modules=",
        ",config=",
        "/",
        ".",
        ":",
        "4294967296",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let name = text.parse::<KernelName>().ok();
        if let Some(name) = &name {
            let again = name.to_string().parse::<KernelName>();
            assert_eq!(again.ok().as_ref(), Some(name), "{name} does not read back");
        }
        Reaction::of(name.as_ref())
    })
}
