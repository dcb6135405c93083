//! Bundles whose archive is sound where nothing else was chosen: entries of every kind and name,
//! sizes that are not true, contents that shrink to nothing.

use super::{OwnTarget, Reaction, bundle};
use crate::choices::Choices;

pub const TARGET: OwnTarget = OwnTarget {
    name: "shaped-bundle",
    words: &["0", "0000", "1000", "plan.json", "L", "x", "\u{1}"],
    run,
};

/// Entries of one archive; more are like these.
const MOST_ENTRIES: usize = 12;
const BLOCK: usize = 512;
/// Kinds of entries: file, link, symbolic link, device, directory, FIFO, and the extended headers
/// of GNU and POSIX (tar(5)).
const KINDS: &[u8] = b"0123456LKxgSVMN\0";
const NAMES: [&str; 10] = [
    "plan.json",
    "records.jsonl",
    "manifest.json",
    "report.html",
    "../plan.json",
    "/etc/passwd",
    "",
    ".",
    "plan.json/",
    "\u{202e}nosj.nalp\u{1b}[2J",
];
const MANIFESTS: [&str; 4] = [
    r#"{"format":"schedlab.bundle/2","schedlab":"0","campaign":"c","files":{}}"#,
    r#"{"format":"schedlab.bundle/2","schedlab":"0","campaign":"c","files":{"plan.json":{"size":1,"sha256":""},"records.jsonl":{"size":18446744073709551615,"sha256":""}}}"#,
    r#"{"format":"schedlab.bundle/9","schedlab":"0","campaign":"c","files":{}}"#,
    r#"{"format":"schedlab.bundle/2","schedlab":"\u001b[2J","campaign":"../c","files":{"../x":{"size":0,"sha256":""}}}"#,
];

fn run(bytes: &[u8]) -> Reaction {
    let mut choices = Choices::of(bytes);
    let manifest = choices.one_of(&MANIFESTS).as_bytes();
    let mut archive = Vec::new();
    entry(&mut archive, "manifest.json", b'0', manifest.len() as u64, manifest);
    for _ in 0..MOST_ENTRIES {
        if choices.is_over() {
            break;
        }
        let kind = *choices.one_of(KINDS);
        let name = *choices.one_of(&NAMES);
        let content = match choices.below(4) {
            0 => Vec::new(),
            1 => choices.bytes(64).to_vec(),
            // One line, which shrinks to a thousandth.
            2 => vec![b'n'; 1 << 20],
            _ => b"30 path=../../evil\n30 size=99999999999\n".to_vec(),
        };
        let size = choices.number(content.len() as u64);
        entry(&mut archive, name, kind, size, &content);
    }
    archive.extend([0_u8; 2 * BLOCK]);
    bundle::run(&archive)
}

/// A header (tar(5)) with its own checksum, and the content in whole blocks.
fn entry(archive: &mut Vec<u8>, name: &str, kind: u8, size: u64, content: &[u8]) {
    let mut header = [0_u8; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    // Eleven octal digits hold 8 GiB; larger ones are cut as a careless writer would.
    let digits = format!("{:011o}\0", size & 0o77_777_777_777);
    header[124..136].copy_from_slice(digits.as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive.extend(header);
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(BLOCK), 0);
}
