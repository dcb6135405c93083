//! An archive's index of packages: what is offered can be fetched and named.

use super::{OwnTarget, Reaction, on_text};
use kernels::KernelName;

pub const TARGET: OwnTarget = OwnTarget {
    name: "kernel-index",
    words: &[
        "Package: linux-image-",
        "6.12.1+deb13",
        "-cloud-amd64",
        "-unsigned",
        "Version: ",
        "6.12.1-1",
        "Depends: ",
        "linux-binary-",
        "linux-modules-",
        " (= ",
        ")",
        "Size: ",
        "SHA256: ",
        "~",
        "\n\n",
        "\n ",
        "Architecture: amd64",
        "18446744073709551615",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let offers = kernels::offers_of(text, "suite");
        for offer in &offers {
            assert!(!offer.is_complete() || !offer.packages.is_empty(), "{offer:?}");
            for package in &offer.packages {
                let is_plain = |text: &str| !text.contains(['/', ' ', '=', '\n']);
                assert!(is_plain(&package.name) && is_plain(&package.version), "{package:?}");
            }
            assert!(!offer.release.contains('/'), "{offer:?}");
        }
        // Versions that no kernel of Debian has need not be names.
        let named = offers.iter().find(|offer| offer.name.parse::<KernelName>().is_ok());
        Reaction::of(named)
    })
}
