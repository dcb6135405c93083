//! What fio is started with, word by word.

use super::Jobs;
use contract::{LaunchSpec, WordChoice};
use std::path::Path;
use workload_parts::storage::target::WorkloadFiles;

/// Names the job in the output.
const JOB: &str = "schedlab";
/// Latencies of each I/O from its submission on: time in the queue of the elevator is then
/// part of it.
const OUTPUT: [&str; 1] = ["--output-format=json+"];

/// A run with these parameters.
pub(super) fn own(jobs: &Jobs, launch: &LaunchSpec, target: &WorkloadFiles) -> Vec<String> {
    let mut words = program();
    words.extend(OUTPUT.map(str::to_owned));
    words.extend(job(jobs, launch, target));
    if let Some(duration_ns) = jobs.duration_ns {
        words.push("--time_based=1".to_owned());
        words.push(format!("--runtime={}us", duration_ns.div_ceil(1000)));
    }
    words
}

/// The same files, made and not used.
pub(super) fn layout(jobs: &Jobs, launch: &LaunchSpec, target: &WorkloadFiles) -> Vec<String> {
    let mut words = program();
    words.extend(job(jobs, launch, target));
    words.push("--create_only=1".to_owned());
    words
}

/// A user's jobs.
pub(super) fn of_file(path: &Path) -> Vec<String> {
    let mut words = program();
    words.extend(OUTPUT.map(str::to_owned));
    words.push(path.display().to_string());
    words
}

fn program() -> Vec<String> {
    vec!["fio".to_owned()]
}

fn job(jobs: &Jobs, launch: &LaunchSpec, target: &WorkloadFiles) -> Vec<String> {
    let (is_direct, size_bytes) = (jobs.is_direct, jobs.size_bytes);
    let seed = jobs.random_seed.unwrap_or(launch.seed >> 1);
    let mut words = vec![
        format!("--name={JOB}"),
        format!("--rw={}", jobs.pattern.word()),
        format!("--bs={}", jobs.block_bytes),
        format!("--size={size_bytes}"),
        format!("--ioengine={}", jobs.engine.word()),
        format!("--iodepth={}", jobs.queue_depth),
        format!("--numjobs={}", jobs.jobs),
        format!("--direct={}", u8::from(is_direct)),
        format!("--end_fsync={}", u8::from(!is_direct)),
        format!("--randseed={seed}"),
        "--group_reporting=1".to_owned(),
        "--lat_percentiles=1".to_owned(),
        "--clat_percentiles=0".to_owned(),
    ];
    if target.is_device() {
        words.push(format!("--filename={}", target.path().display()));
        words.push(format!("--offset_increment={size_bytes}"));
    } else {
        words.push(format!("--directory={}", target.path().display()));
    }
    words
}
