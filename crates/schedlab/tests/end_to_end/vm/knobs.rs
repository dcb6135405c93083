//! Every knob in real kernels: set, read back, put back.

use super::{Guests, has_guests, of};
use std::collections::{BTreeMap, BTreeSet};

type Configuration = (&'static str, &'static [(&'static str, &'static str)]);

/// The study's five configurations (suites/eevdf-configs.toml).
const EEVDF: [Configuration; 5] = [
    ("baseline", &[("base_slice", "2.25ms"), ("migration_cost", "500us"), ("nr_migrate", "32")]),
    ("low-latency", &[("base_slice", "750us"), ("migration_cost", "100us"), ("nr_migrate", "64")]),
    ("high-throughput", &[("base_slice", "6ms"), ("migration_cost", "2ms"), ("nr_migrate", "8")]),
    ("balanced", &[("base_slice", "1.5ms"), ("migration_cost", "750us"), ("nr_migrate", "24")]),
    (
        "minimal-migration",
        &[("base_slice", "2.25ms"), ("migration_cost", "5ms"), ("nr_migrate", "4")],
    ),
];

/// The same intents with the knobs of CFS.
const CFS: [Configuration; 5] = [
    (
        "baseline",
        &[
            ("sched_latency", "24ms"),
            ("min_granularity", "3ms"),
            ("wakeup_granularity", "4ms"),
            ("migration_cost", "500us"),
            ("nr_migrate", "32"),
        ],
    ),
    (
        "low-latency",
        &[
            ("sched_latency", "8ms"),
            ("min_granularity", "1ms"),
            ("wakeup_granularity", "500us"),
            ("migration_cost", "100us"),
            ("nr_migrate", "64"),
        ],
    ),
    (
        "high-throughput",
        &[
            ("sched_latency", "48ms"),
            ("min_granularity", "8ms"),
            ("wakeup_granularity", "10ms"),
            ("migration_cost", "2ms"),
            ("nr_migrate", "8"),
        ],
    ),
    (
        "balanced",
        &[
            ("sched_latency", "16ms"),
            ("min_granularity", "2ms"),
            ("wakeup_granularity", "2.5ms"),
            ("migration_cost", "750us"),
            ("nr_migrate", "24"),
        ],
    ),
    (
        "minimal-migration",
        &[
            ("sched_latency", "23ms"),
            ("min_granularity", "2.5ms"),
            ("wakeup_granularity", "3.5ms"),
            ("migration_cost", "5ms"),
            ("nr_migrate", "4"),
        ],
    ),
];

type Kernel = (&'static str, &'static [Configuration]);

/// The first and the last kernel; those between them are of a night.
const OUTER_KERNELS: [Kernel; 2] = [("5.10", &CFS), ("6.18", &EEVDF)];
const INNER_KERNELS: [Kernel; 2] = [("6.1", &CFS), ("6.12", &EEVDF)];

fn arm(kernel: &str, configuration: &str) -> String {
    format!("{configuration}-on-{}", kernel.replace('.', "-"))
}

#[test]
fn five_configurations_are_applied_read_back_and_put_back_in_two_kernels() {
    if has_guests() {
        five_configurations_are_put_back(OUTER_KERNELS);
    }
}

#[test]
fn five_configurations_are_put_back_in_the_kernels_between_too() {
    if has_guests() {
        five_configurations_are_put_back(INNER_KERNELS);
    }
}

fn five_configurations_are_put_back(kernels: [Kernel; 2]) {
    let guests = Guests::new();
    let mut text = String::new();
    for (kernel, configurations) in kernels {
        for (name, levels) in configurations {
            text += &format!("[subjects.{}]\nkernel = \"debian:{kernel}\"\n", arm(kernel, name));
            for (factor, level) in *levels {
                text += &format!("{factor} = \"{level}\"\n");
            }
        }
    }
    text += "[[workloads]]\nuse = \"pipe\"\nloops = 50\n";
    let file = guests.experiment("blocks = 1\nvcpus = 1", &text);
    guests.expect(0, &["run", &file]);
    let records = guests.records();
    let mut readings = 0;
    for (kernel, configurations) in kernels {
        let mut defaults = BTreeSet::new();
        for (name, levels) in configurations {
            let found = of(&records, &arm(kernel, name), "");
            let [record] = found[..] else { panic!("{} records of {name}", found.len()) };
            assert_eq!(record["outcome"]["kind"], "completed", "{record}");
            for (factor, level) in *levels {
                let reading = &record["levels"][factor];
                for moment in ["before", "after"] {
                    assert_eq!(reading[moment], *level, "{kernel} {name} {factor} {moment}");
                }
                readings += 1;
            }
            // The guest before and after the trial, where it differs from the reference's:
            // what one trial left would differ from what another left.
            let knobs: BTreeMap<String, String> = record["fingerprint_difference"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(key, _)| key.starts_with("knob."))
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect();
            defaults.insert(knobs);
        }
        assert_eq!(defaults.len(), 1, "{kernel}: a trial left a knob changed: {defaults:?}");
    }
    assert_eq!(readings, 5 * 3 + 5 * 5);
    guests.assert_nothing_is_left("after every knob");
}
