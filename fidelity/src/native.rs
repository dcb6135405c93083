//! A workload of ours: the release binary in the role that the executor starts.

use crate::comparison::{NativeLoad, ReferenceComparison, Switches};
use crate::context_switches::{counted, switches, tempfile};
use crate::device::LoopDevice;
use contract::LaunchSpec;
use executor::{LoadAnswer, LoadOrder};
use model::{Parameters, Sample, SampleData, StorageKind, StorageTarget};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// One run: the metric, and the context switches of the whole process or what stands for them.
pub fn run(
    cell: &ReferenceComparison,
    load: NativeLoad,
    binary: &Path,
    device: Option<&LoopDevice>,
) -> Result<(f64, f64), String> {
    let counts = tempfile("native")?;
    let mut child = counted(&counts, cell.prefix)
        .arg(binary)
        .arg(executor::LOAD_ROLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the workload's process has no pipes".to_owned());
    };
    let mut answers = BufReader::new(output).lines();
    let mut ask = |order: &str| -> Result<LoadAnswer, String> {
        writeln!(input, "{order}").map_err(|error| format!("cannot send an order: {error}"))?;
        let line = answers
            .next()
            .ok_or("the workload's process ended")?
            .map_err(|error| error.to_string())?;
        serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))
    };
    // perf runs the workload in its own process's child, so perf is the parent.
    let order = order(load, child.id(), device.filter(|_| cell.needs_device()))?;
    let order = serde_json::to_string(&order).map_err(|error| error.to_string())?;
    match ask(&order)? {
        LoadAnswer::Ready { .. } => {}
        other => return Err(format!("{} could not prepare: {other:?}", load.workload)),
    }
    let (samples, unfit) = match ask("null")? {
        LoadAnswer::Done { samples, unfit, .. } => (samples, unfit),
        other => return Err(format!("{} failed: {other:?}", load.workload)),
    };
    // The end of its input tells the process to go.
    drop(input);
    let value = value_of(load, &samples);
    finish(child)?;
    let switches = switches(&counts)?;
    if let Some(why) = unfit {
        return Err(format!("{} was not what it claims to be: {why}", load.workload));
    }
    Ok((value?, cpu_per_transfer(cell, &samples).unwrap_or(switches)))
}

/// Nanoseconds of CPU time for each transfer, where those are compared.
fn cpu_per_transfer(cell: &ReferenceComparison, samples: &[Sample]) -> Option<f64> {
    if !matches!(cell.switches, Switches::CpuPerTransfer) {
        return None;
    }
    let record = cell.parameters.iter().find(|(name, _)| *name == "record")?.1;
    let record = model::parse_size(record).ok()? as f64;
    let sample = samples.iter().find(|sample| sample.source == "cpu_per_byte")?;
    let SampleData::Quotient { numerator, denominator } = sample.data else { return None };
    Some(numerator / denominator * record)
}

fn finish(mut child: std::process::Child) -> Result<(), String> {
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the workload's process ended with {status}"))
    }
}

fn order(load: NativeLoad, parent: u32, device: Option<&LoopDevice>) -> Result<LoadOrder, String> {
    let catalogue = assembly::catalogue();
    let workload = catalogue
        .workload(load.workload)
        .ok_or_else(|| format!("no workload {}", load.workload))?;
    let mut parameters = Parameters::default();
    for parameter in workload.parameters() {
        let given =
            load.parameters.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| *text);
        let text = given
            .or(parameter.default)
            .ok_or_else(|| format!("{} needs {}", load.workload, parameter.name))?;
        let value = parameter.parse(text).map_err(|why| format!("{}: {why}", parameter.name))?;
        parameters.0.insert(parameter.name.to_owned(), value);
    }
    let target = device.map(|device| StorageTarget {
        kind: StorageKind::Device,
        path: device.node().to_owned(),
        device: device.node().strip_prefix("/dev/").map(str::to_owned),
        size_bytes: device.bytes(),
        is_made: true,
        cached_by: None,
        identity: None,
    });
    let launch = LaunchSpec {
        seed: 1,
        scratch: std::env::temp_dir(),
        log: "/dev/null".into(),
        target,
        ..LaunchSpec::default()
    };
    Ok(LoadOrder {
        parent: i32::try_from(parent).map_err(|error| error.to_string())?,
        workload: load.workload.to_owned(),
        parameters,
        launch,
        search_path: std::env::var("PATH").unwrap_or_default(),
    })
}

fn value_of(load: NativeLoad, samples: &[Sample]) -> Result<f64, String> {
    let source = load.metric.strip_suffix("_p50").unwrap_or(load.metric);
    let sample = samples.iter().find(|sample| sample.source == source);
    let value = sample.and_then(|sample| match &sample.data {
        SampleData::Values(values) => stats::median(values),
        SampleData::Quotient { numerator, denominator } => Some(numerator / denominator),
        SampleData::Histogram(histogram) => histogram.quantile(0.5).map(|value| value as f64),
        SampleData::Proportion { .. } => None,
    });
    value.ok_or_else(|| format!("{} reported no {}", load.workload, load.metric))
}
