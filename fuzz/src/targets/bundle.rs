//! Bundles, the archive inside: whatever it holds, nothing but the files of a campaign is made,
//! and nothing outside of the directory that it was unpacked into.

use super::{OwnTarget, Reaction};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;

pub const TARGET: OwnTarget = OwnTarget {
    name: "bundle",
    words: &[
        "manifest.json",
        "plan.json",
        "../",
        "/",
        "ustar\x0000",
        "ustar  \0",
        "schedlab.bundle/1",
        "\"files\"",
        "0000644\0",
        "77777777777\0",
        "\0\0\0\0",
        "L",
        "x",
    ],
    run,
};

pub(super) fn run(bytes: &[u8]) -> Reaction {
    let Ok(home) = tempfile::tempdir() else { return Reaction::Refused };
    let (file, target) = (home.path().join("bundle"), home.path().join("out"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let written = packed.and_then(|packed| fs::write(&file, packed));
    if written.and_then(|()| fs::create_dir(&target)).is_err() {
        return Reaction::Refused;
    }
    let unpacked = store::unpack(&file, &target);
    let names = |directory: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(home.path()).len(), 2, "something was made beside it");
    for name in names(&target) {
        let metadata = fs::symlink_metadata(target.join(&name));
        assert!(metadata.is_ok_and(|metadata| metadata.is_file()), "`{name}` is no file");
    }
    if let Err(error) = &unpacked {
        assert!(!error.to_string().contains('\n') || !error.remedy.is_empty());
    }
    Reaction::of(unpacked.ok().filter(|unpacked| unpacked.problems.is_empty()).as_ref())
}
