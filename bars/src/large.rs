//! Judging a large campaign, importing a large table, and simulating many small campaigns.

use crate::Bar;
use crate::binary::Binary;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

const WORKLOADS: usize = 200;
const SUBJECTS: usize = 5;
const BLOCKS: usize = 20;
const LONGEST_JUDGING_S: f64 = 1.0;
const LONGEST_PAGE_S: f64 = 2.0;
const LARGEST_PAGE_MB: f64 = 3.0;
const ROWS: usize = 500_000;
const LONGEST_IMPORT_S: f64 = 3.0;
const LARGEST_IMPORT_MB: f64 = 300.0;
const REPETITIONS: &str = "10000";
const SCENARIO: &str = "false positives, S1, 10 blocks";
const LONGEST_CALIBRATION_S: f64 = 60.0;
const LONGEST_QUICK_S: f64 = 40.0;

/// `schedlab judge` of 200 workloads, 5 subjects and 20 blocks, from its files to its
/// report.
pub fn judging(binary: &Binary) -> Result<Bar, String> {
    let file = binary.path().join("large.csv");
    std::fs::write(&file, table(binary.amount(WORKLOADS, 5))).map_err(|error| error.to_string())?;
    let file = file.display().to_string();
    let mapping = ["--subject", "subject", "--parameter", "workload", "--block", "block"];
    let measured = ["--value", "ms:lower:ms", "--pairs", "reference"];
    let arguments: Vec<&str> =
        ["import", "csv", &file].into_iter().chain(mapping).chain(measured).collect();
    binary.output(&arguments)?;
    let start_ns = sys::monotonic_ns();
    binary.output(&["judge"])?;
    let length_s = (sys::monotonic_ns() - start_ns) as f64 / 1e9;
    Ok(Bar {
        name: "judging 200 workloads, 5 subjects, 20 blocks",
        measured: format!("{length_s:.2} s"),
        limit: format!("{LONGEST_JUDGING_S} s"),
        holds: length_s < LONGEST_JUDGING_S,
    })
}

/// The page of that campaign, from its files.
pub fn page(binary: &Binary) -> Result<Bar, String> {
    let path = binary.path().join("large.html");
    let start_ns = sys::monotonic_ns();
    binary.output(&["report", "--format", "html", "--output", &path.display().to_string()])?;
    let length_s = (sys::monotonic_ns() - start_ns) as f64 / 1e9;
    let bytes = std::fs::metadata(&path).map_err(|error| error.to_string())?.len();
    let size_mb = bytes as f64 / 1e6;
    Ok(Bar {
        name: "the page of that campaign",
        measured: format!("{length_s:.2} s, {size_mb:.2} MB"),
        limit: format!("{LONGEST_PAGE_S} s, {LARGEST_PAGE_MB} MB"),
        holds: length_s < LONGEST_PAGE_S && size_mb < LARGEST_PAGE_MB,
    })
}

/// Values with a pattern for noise: only the amount of work matters.
fn table(workloads: usize) -> String {
    let mut text = "block,subject,workload,ms\n".to_owned();
    for block in 0..BLOCKS {
        for position in 0..SUBJECTS {
            let subject = (position + block) % SUBJECTS;
            for workload in 0..workloads {
                let noise = (block * 31 + subject * 17 + workload * 7) % 23;
                let value = 10.0 + noise as f64 * 0.01 + subject as f64 * 0.02;
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{block},s{subject},w{workload},{value}");
            }
        }
    }
    text
}

/// `schedlab import csv` of 500,000 rows of two subjects, from the file to the report. The memory is
/// that of the largest process of it, as the kernel counted it.
pub fn import(binary: &Binary) -> Result<Bar, String> {
    let path = binary.path().join("rows.csv");
    rows(&path, binary.amount(ROWS, 500))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let file = path.display().to_string();
    let named = ["--subject", "scheduler", "--replicate", "run", "--value", "latency_us:lower:us"];
    let arguments: Vec<&str> = ["import", "csv", &file].into_iter().chain(named).collect();
    let start_ns = sys::monotonic_ns();
    let child = binary.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.map_err(|error| format!("cannot start the import: {error}"))?;
    let (status, usage) = sys::wait_with_usage(child).map_err(|error| error.to_string())?;
    let length_s = (sys::monotonic_ns() - start_ns) as f64 / 1e9;
    if !status.success() {
        return Err(format!("the import ended with {status}"));
    }
    let size_mb = usage.peak_bytes as f64 / 1e6;
    Ok(Bar {
        name: "importing a table of 500,000 rows",
        measured: format!("{length_s:.2} s, {size_mb:.0} MB"),
        limit: format!("{LONGEST_IMPORT_S} s, {LARGEST_IMPORT_MB} MB"),
        holds: length_s < LONGEST_IMPORT_S && size_mb < LARGEST_IMPORT_MB,
    })
}

/// Two subjects in turns, each with its runs; written piece by piece, because the kernel counts what
/// lies here to what is started from here.
fn rows(path: &Path, count: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "scheduler,run,latency_us")?;
    for row in 0..count {
        // A pattern for noise with as many digits as clocks give.
        let noise = (row * 7_919 % 99_991) as f64 / 99_991.0;
        let subject = ["baseline", "modified"][row % 2];
        writeln!(file, "{subject},{:06},{:.4}", row / 2, 100.0 + 10.0 * noise)?;
    }
    file.flush()
}

/// 10,000 simulated campaigns of one scenario on one CPU.
pub fn calibrating(binary: &Binary) -> Result<Bar, String> {
    let repetitions = binary.amount(REPETITIONS, "20");
    let start_ns = sys::monotonic_ns();
    let status = Command::new("taskset")
        .args(["-c", "0"])
        .arg(binary.executable())
        .args(["calibrate", "--full", "--repetitions", repetitions, "--only", SCENARIO])
        .output()
        .map_err(|error| format!("cannot start taskset: {error}"))?
        .status;
    let length_s = (sys::monotonic_ns() - start_ns) as f64 / 1e9;
    Ok(Bar {
        name: "10,000 simulated campaigns on one CPU",
        measured: format!("{length_s:.1} s"),
        limit: format!("{LONGEST_CALIBRATION_S} s"),
        holds: status.success() && length_s < LONGEST_CALIBRATION_S,
    })
}

/// `schedlab calibrate --quick`, on all CPUs.
pub fn quick_calibration(binary: &Binary) -> Result<Bar, String> {
    let arguments: &[&str] = &["calibrate", "--quick"];
    let few: &[&str] = &["calibrate", "--quick", "--repetitions", "1", "--only", SCENARIO];
    let start_ns = sys::monotonic_ns();
    let status = Command::new(binary.executable())
        .args(binary.amount(arguments, few))
        .output()
        .map_err(|error| format!("cannot start the binary: {error}"))?
        .status;
    let length_s = (sys::monotonic_ns() - start_ns) as f64 / 1e9;
    Ok(Bar {
        name: "calibrate --quick",
        measured: format!("{length_s:.1} s"),
        limit: format!("{LONGEST_QUICK_S} s"),
        holds: status.success() && length_s < LONGEST_QUICK_S,
    })
}
