//! The records of iozone's binary report: a rate that is read is one.

use super::{Reaction, Target};
use outputs::iozone::Report;

pub const TARGET: Target = Target {
    name: "iozone-excel",
    words: &[
        "\x09\0\x04\0\x02\0\x10\0",
        "\x0a\0\0\0",
        "\x04\0\x08\x01",
        "\x03\0\x0f\0",
        "\x02\0\x09\0",
        "  Initial write ",
        "Record size = 8 kBytes ",
        "Output is in kBytes/sec",
        "\0\0\0",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let report = Report::parse(bytes);
    match &report {
        Ok(report) => {
            assert!(!report.cells.is_empty(), "a report without numbers");
            for cell in &report.cells {
                assert!(cell.rate.is_finite() && cell.rate > 0.0, "{cell:?}");
                assert!(cell.record_bytes > 0 && cell.file_bytes != Some(0), "{cell:?}");
                assert!(cell.least_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
        }
        Err(trouble) => assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty()),
    }
    Reaction::of(report.ok().as_ref())
}
