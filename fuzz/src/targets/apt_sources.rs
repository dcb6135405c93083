//! apt's sources in both forms: only Debian's own archive is a mirror.

use super::{OwnTarget, Reaction, on_text};

pub const TARGET: OwnTarget = OwnTarget {
    name: "apt-sources",
    words: &[
        "deb ",
        "[signed-by=/k]",
        "[",
        "]",
        "Types: deb\n",
        "URIs: ",
        "Suites: ",
        "Components: main",
        "Signed-By:\n -----BEGIN",
        "http://d/debian",
        "bookworm",
        "-security",
        " main",
        "#",
        "\n ",
        "\n\n",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let mut all = kernels::mirrors(text, true);
        all.extend(kernels::mirrors(text, false));
        for mirror in &all {
            let is_plain =
                mirror.uri.chars().chain(mirror.suite.chars()).all(|c| c.is_ascii_graphic());
            assert!(is_plain, "{mirror:?} would break the line it is written into");
        }
        Reaction::of(all.first())
    })
}
