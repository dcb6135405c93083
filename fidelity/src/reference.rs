//! The reference tools: invoked, never copied.

use crate::comparison::{DEVICE, Printed, ReferenceComparison};
use crate::context_switches::{counted, switches, tempfile};
use crate::device::LoopDevice;
use crate::native;
use std::path::Path;
use std::process::Stdio;

/// Tools, and the Debian packages that have them.
const TOOLS: [(&str, &str); 8] = [
    ("fio", "fio"),
    ("iperf3", "iperf3"),
    ("sockperf", "sockperf"),
    ("hackbench", "rt-tests"),
    ("cyclictest", "rt-tests"),
    ("perf", "linux-perf"),
    ("taskset", "util-linux"),
    ("chrt", "util-linux"),
];

/// Names every missing tool at once.
pub fn refuse_missing() -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let machine = sys::Machine::host("").with_search_path(path);
    let missing: Vec<String> = TOOLS
        .iter()
        .filter(|(tool, _)| machine.program(tool).is_none())
        .map(|(tool, package)| format!("{tool} (apt-get install {package})"))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("missing: {}", missing.join(", "))) }
}

/// One run: the result, and the context switches of the whole command or what stands for them.
pub fn run(
    cell: &ReferenceComparison,
    binary: &Path,
    device: Option<&LoopDevice>,
) -> Result<(f64, f64), String> {
    if let Printed::ByAdapter(load) = cell.printed {
        return native::run(cell, load, binary, device);
    }
    let node = device.map_or("", LoopDevice::node);
    let words: Vec<String> = cell.reference.iter().map(|word| word.replace(DEVICE, node)).collect();
    let counts = tempfile("reference")?;
    let mut command = counted(&counts, cell.prefix);
    let output = command
        .args(&words)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", cell.reference.join(" ")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!(
            "{} failed: {}",
            cell.reference.join(" "),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    if matches!(cell.printed, Printed::FioReads) {
        switches(&counts)?;
        return fio_reads(&text).ok_or_else(|| format!("fio printed no result:\n{text}"));
    }
    let value = match cell.printed {
        Printed::FioReads | Printed::ByAdapter(_) => None,
        Printed::HackbenchSeconds => number_after(&text, "Time:").map(|seconds| seconds * 1e9),
        Printed::MicrosecondsPerOperation => number_before(&text, "usecs/op").map(|us| us * 1e3),
        Printed::HistogramMedian => histogram_median(&text).map(|us| us * 1e3),
    };
    let value =
        value.ok_or_else(|| format!("{} printed no result:\n{text}", cell.reference.join(" ")))?;
    Ok((value, switches(&counts)?))
}

fn number_after(text: &str, label: &str) -> Option<f64> {
    text.lines().find_map(|line| line.trim().strip_prefix(label)?.trim().parse().ok())
}

fn number_before(text: &str, label: &str) -> Option<f64> {
    text.lines().find_map(|line| line.trim().strip_suffix(label)?.trim().parse().ok())
}

/// Bytes per second of fio's reads, and nanoseconds of CPU time for each. fio may print notes
/// before its JSON.
fn fio_reads(text: &str) -> Option<(f64, f64)> {
    let document: serde_json::Value = serde_json::from_str(&text[text.find('{')?..]).ok()?;
    let job = document["jobs"].get(0)?;
    let number = |value: &serde_json::Value| value.as_f64().filter(|value| *value > 0.0);
    let reads = &job["read"];
    let rate = number(&reads["io_bytes"])? / (number(&reads["runtime"])? / 1e3);
    let share = (job["usr_cpu"].as_f64()? + job["sys_cpu"].as_f64()?) / 100.0;
    let cpu_ns = share * number(&job["job_runtime"])? * 1e6;
    (job["error"] == 0).then_some((rate, cpu_ns / number(&reads["total_ios"])?))
}

/// Median of cyclictest's histogram. A bucket holds truncated microseconds, so
/// its middle is half a microsecond higher.
fn histogram_median(text: &str) -> Option<f64> {
    let row = |line: &str| {
        let mut fields = line.split_whitespace();
        let (value, count) = (fields.next()?, fields.next()?);
        if value.len() != 6 {
            return None;
        }
        Some((value.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    };
    let rows: Vec<(u64, u64)> = text.lines().filter_map(row).collect();
    let total: u64 = rows.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    rows.iter().find_map(|(value, count)| {
        below += count;
        (total > 0 && below * 2 >= total).then_some(*value as f64 + 0.5)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_outputs_are_read_and_nothing_found_is_not_zero() {
        let hackbench = "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\n\
                         Each sender will pass 100 messages of 100 bytes\nTime: 0.021\n";
        assert_eq!(number_after(hackbench, "Time:"), Some(0.021));
        let pipe = "# Executed 50000 pipe operations\n\n     Total time: 0.2 [sec]\n\n       5.404000 usecs/op\n";
        assert_eq!(number_before(pipe, "usecs/op"), Some(5.404));
        let histogram =
            "# Histogram\n000000 000000\n000010 000001\n000012 000003\n# Total: 000000004\n";
        assert_eq!(histogram_median(histogram), Some(12.5));
        let fio = "fio: a note\n{\"jobs\": [{\"error\": 0, \"usr_cpu\": 1.0, \"sys_cpu\": 4.0, \
                   \"job_runtime\": 2000, \"read\": {\"io_bytes\": 4096000, \"runtime\": 500, \
                   \"total_ios\": 1000}}]}";
        assert_eq!(fio_reads(fio), Some((8_192_000.0, 100_000.0)));
        assert_eq!(fio_reads(&fio.replace("\"error\": 0", "\"error\": 5")), None);
        assert_eq!(fio_reads(&fio.replace("4096000", "0")), None);
        for (found, text) in
            [(number_after("", "Time:"), ""), (histogram_median("# Histogram\n"), "")]
        {
            assert_eq!(found, None, "{text}");
        }
    }
}
