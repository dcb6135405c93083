//! Tables whose rows name their blocks: each block stands in the plan, too.

use super::{Bench, Case, check, noises, size, text};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A table of so many blocks of two subjects, 22 bytes in each row. After `different` of them the same
/// values come again.
fn table_of_blocks(path: &Path, blocks: usize, different: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "s,b,ms").unwrap();
    let mut of_rows = noises();
    for row in 0..2 * blocks {
        if row % (2 * different) == 0 {
            of_rows = noises();
        }
        let (subject, value) = (["a", "b"][row % 2], 100.0 + 10.0 * of_rows.next().unwrap());
        writeln!(file, "{subject},{:08},{value:.6}", row / 2).unwrap();
    }
    file.flush().unwrap();
}

/// Imports so many blocks, after so many of which the same values come again, and judges them.
pub(super) fn import_blocks(blocks: usize, different: usize) {
    let bench = Bench::new();
    let path = bench.path().join("blocks.csv");
    table_of_blocks(&path, blocks, different);
    let file = text(&path);
    let named = ["--subject", "s", "--block", "b", "--value", "ms:lower:ms"];
    let arguments: Vec<&str> = ["import", "csv", &file].into_iter().chain(named).collect();
    let case = Case {
        what: "a table of blocks",
        size_bytes: size(&path),
        arguments: &arguments,
        codes: &[0],
        word: "a replicate is a block",
    };
    check(&bench, &case);
    let campaign = bench.campaign();
    let files = ["plan.json", "records.jsonl"].map(|name| size(&campaign.join(name)));
    let again = Case {
        what: "its campaign",
        size_bytes: files.iter().sum(),
        arguments: &["judge", "last"],
        word: "b",
        ..case
    };
    check(&bench, &again);
}

#[test]
fn a_table_of_many_blocks_is_imported_and_judged_within_its_memory() {
    import_blocks(50_000, 1_000);
}
