//! `[vm]`: the virtual machines of an experiment, alike for every boot.

use contract::document::{ExperimentProblems, Node, Table, TreeEntry, Value, values};
use model::{Accelerator, CpuList, Disk, VmSettings};
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Keys of `[vm]`.
const KEYS: [&str; 11] = [
    "accelerator",
    "memory",
    "host_cpus",
    "disks",
    "boot_timeout",
    "equalise",
    "snapshot",
    "deterministic",
    "modules",
    "files",
    "tools",
];
const ACCELERATORS: [&str; 3] = ["auto", "kvm", "tcg"];
const DISKS: [&str; 2] = ["virtio", "null"];

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const VIRTIO_SIZE: RangeInclusive<u64> = MIB..=(1024 * GIB);
/// null_blk takes its size in whole gibibytes (`gb`).
const NULL_SIZE: RangeInclusive<u64> = GIB..=(1024 * GIB);
/// null_blk's `completion_nsec` is an unsigned long; a second each is beyond any disk.
const COMPLETION: RangeInclusive<u64> = 0..=SECOND_NS;
/// A PCI bus has 32 slots, and the machine itself takes some.
const DISK_LIMIT: usize = 16;
const LIST_LIMIT: usize = 256;
const SECOND_NS: u64 = 1_000_000_000;
const BOOT_TIMEOUT: RangeInclusive<u64> = SECOND_NS..=(3_600 * SECOND_NS);

/// The settings; the second guest is the plan's to add.
pub(super) fn read(table: &Table, problems: &mut ExperimentProblems) -> VmSettings {
    let mut settings = VmSettings::default();
    for entry in &table.entries {
        read_key(entry, &mut settings, problems);
    }
    if settings.is_deterministic {
        be_deterministic(table, &mut settings, problems);
    }
    settings
}

/// JSON Schema of the table.
pub(super) fn schema() -> serde_json::Value {
    let names = |description: &str| json!({ "$ref": "#/$defs/names", "description": description });
    json!({
        "type": "object",
        "description": "The virtual machines of venue vm, alike for every boot",
        "properties": {
            "accelerator": { "enum": ACCELERATORS, "default": "auto" },
            "memory": { "type": "string", "default": "512MiB", "examples": ["512MiB", "2GiB"] },
            "host_cpus": { "type": "string", "examples": ["0-1"], "description": "CPUs of this machine that it may use" },
            "disks": {
                "type": ["string", "array"],
                "items": { "type": "string", "pattern": "^(virtio:[^:]+|null:[^:]+(:[^:]+)?)$" },
                "maxItems": 16,
                "examples": [["virtio:1GiB", "null:1GiB", "null:1GiB:50us"]],
            },
            "boot_timeout": { "$ref": "#/$defs/duration", "default": "60s" },
            "equalise": { "type": "boolean", "default": false, "description": "Make clock source, autogroup, preemption model and mitigations the same for all kernels" },
            "snapshot": { "type": "boolean", "default": false, "description": "Start every sitting from the same saved state" },
            "deterministic": { "type": "boolean", "default": false, "description": "Count instructions: the same seed gives the same bytes; no measurement of performance" },
            "modules": names("Further kernel modules with their arguments: null_blk gb=1"),
            "files": names("Files of this machine, at the same path in the guest; programs with their libraries"),
            "tools": names("Installed packages of this machine that make the read-only tools image"),
        },
        "additionalProperties": false,
    })
}

fn read_key(entry: &TreeEntry, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    let node = &entry.node;
    match entry.key.as_str() {
        "accelerator" => read_accelerator(node, settings, problems),
        "memory" => read_memory(node, settings, problems),
        "host_cpus" => read_host_cpus(node, settings, problems),
        "disks" => read_disks(node, settings, problems),
        "boot_timeout" => {
            if let Some(timeout_ns) = values::duration(node, "boot_timeout", BOOT_TIMEOUT, problems)
            {
                settings.boot_timeout_ns = timeout_ns;
            }
        }
        "equalise" => read_flag(entry, &mut settings.is_equalised, problems),
        "snapshot" => read_flag(entry, &mut settings.is_from_snapshot, problems),
        "deterministic" => read_flag(entry, &mut settings.is_deterministic, problems),
        "modules" => settings.modules = read_names(entry, &MODULES, problems),
        "files" => settings.files = read_names(entry, &FILES, problems),
        "tools" => settings.tools = read_names(entry, &TOOLS, problems),
        other => {
            problems
                .report(&entry.place, format!("unknown key `{other}` in [vm]"))
                .near(other, KEYS)
                .hint(format!("[vm] takes {}", KEYS.join(", ")));
        }
    }
}

fn read_accelerator(node: &Node, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    let Some(text) = values::text(node, "accelerator", problems) else { return };
    settings.accelerator = match text {
        "auto" => Accelerator::Auto,
        "kvm" => Accelerator::Kvm,
        "tcg" => Accelerator::Tcg,
        other => {
            problems
                .report(&node.place, format!("unknown accelerator `{other}`"))
                .near(other, ACCELERATORS)
                .hint("\"auto\" takes KVM where it boots, \"tcg\" emulates the processor");
            return;
        }
    };
}

fn read_flag(entry: &TreeEntry, flag: &mut bool, problems: &mut ExperimentProblems) {
    if let Some(value) = values::flag(&entry.node, &entry.key, problems) {
        *flag = value;
    }
}

fn read_memory(node: &Node, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    let parsed = match &node.value {
        Value::Text(text) => model::parse_size(text).map_err(|error| error.to_string()),
        _ => Err(format!("a size is a text such as \"512MiB\", not {}", node.kind())),
    };
    match parsed.and_then(|bytes| within(bytes, VmSettings::MEMORY)) {
        // QEMU takes memory in mebibytes.
        Ok(bytes) if bytes.is_multiple_of(MIB) => settings.memory_bytes = bytes,
        Ok(_) => {
            problems.report(&node.place, "`memory` is whole mebibytes, such as \"512MiB\"");
        }
        Err(cause) => {
            problems.report(&node.place, format!("`memory`: {cause}"));
        }
    }
}

fn within(bytes: u64, limits: RangeInclusive<u64>) -> Result<u64, String> {
    if limits.contains(&bytes) {
        return Ok(bytes);
    }
    let shown = model::format_size;
    Err(format!(
        "{} is outside {} to {}",
        shown(bytes),
        shown(*limits.start()),
        shown(*limits.end())
    ))
}

fn read_host_cpus(node: &Node, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    let Some(text) = values::text(node, "host_cpus", problems) else { return };
    match text.parse::<CpuList>() {
        Ok(cpus) => settings.host_cpus = Some(cpus),
        Err(error) => {
            problems.report(&node.place, format!("`host_cpus`: {error}"));
        }
    }
}

fn read_disks(node: &Node, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    let Some(written) = values::texts(node, "disks", problems) else { return };
    if written.len() > DISK_LIMIT {
        let cause = format!("{} disks; the limit is {DISK_LIMIT}", written.len());
        problems.report(&node.place, cause);
        return;
    }
    settings.disks.clear();
    for (text, node) in written {
        match disk(text) {
            Ok(disk) => settings.disks.push(disk),
            Err(cause) => {
                let kind = text.split(':').next().unwrap_or_default();
                problems
                    .report(&node.place, format!("`{text}` is not a disk: {cause}"))
                    .near(kind, DISKS)
                    .hint("write virtio:SIZE, null:SIZE or null:SIZE:TIME, such as \"null:1GiB:50us\"");
            }
        }
    }
}

/// `virtio:1GiB`, `null:1GiB`, `null:1GiB:50us`.
fn disk(text: &str) -> Result<Disk, String> {
    let size = |text: &str, limits| {
        let bytes = model::parse_size(text).map_err(|error| error.to_string())?;
        within(bytes, limits)
    };
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        ["virtio", bytes] => {
            let size_bytes = size(bytes, VIRTIO_SIZE)?;
            if !size_bytes.is_multiple_of(MIB) {
                return Err("its size is whole mebibytes".to_owned());
            }
            Ok(Disk::VirtioBlk { size_bytes })
        }
        ["null", bytes, rest @ ..] if rest.len() < 2 => {
            let size_bytes = size(bytes, NULL_SIZE)?;
            if !size_bytes.is_multiple_of(GIB) {
                return Err("its size is whole gibibytes".to_owned());
            }
            let completion_ns = match rest {
                [time] => model::parse_duration(time).map_err(|error| error.to_string())?,
                _ => 0,
            };
            if !COMPLETION.contains(&completion_ns) {
                return Err("a request takes at most 1s".to_owned());
            }
            Ok(Disk::NullBlk { size_bytes, completion_ns })
        }
        ["virtio" | "null"] => Err("it has no size".to_owned()),
        ["virtio" | "null", ..] => Err("there is too much after its size".to_owned()),
        _ => Err("its kind is unknown".to_owned()),
    }
}

/// What a list of names may hold.
struct Names {
    is_name: fn(&str) -> bool,
    what: &'static str,
    hint: &'static str,
}

const MODULES: Names = Names {
    is_name: |text| {
        let name = text.split(' ').next().unwrap_or_default();
        is_made_of(name, "_-") && !text.chars().any(char::is_control)
    },
    what: "a module with its arguments",
    hint: "for example \"null_blk gb=1\"",
};
const FILES: Names = Names {
    is_name: |text| {
        let has_step_up = text.split('/').any(|part| part == "..");
        text.starts_with('/') && !has_step_up && !text.chars().any(char::is_control)
    },
    what: "an absolute path without `..`",
    hint: "the guest gets it at the same path; a program brings its libraries along",
};
const TOOLS: Names = Names {
    is_name: |text| is_made_of(text, "+-."),
    what: "the name of a package",
    hint: "an installed package of this machine, for example \"rt-tests\"",
};

fn is_made_of(text: &str, further: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || further.contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_fine)
}

fn read_names(entry: &TreeEntry, names: &Names, problems: &mut ExperimentProblems) -> Vec<String> {
    let written = values::texts(&entry.node, &entry.key, problems).unwrap_or_default();
    if written.len() > LIST_LIMIT {
        let cause = format!("`{}` names more than {LIST_LIMIT}", entry.key);
        problems.report(&entry.node.place, cause);
        return Vec::new();
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (text, node) in &written {
        if !(names.is_name)(text) {
            problems
                .report(&node.place, format!("{text:?} is not {}", names.what))
                .hint(names.hint);
        } else if !seen.insert(text) {
            problems.report(&node.place, format!("`{text}` is named twice"));
        }
    }
    written.into_iter().map(|(text, _)| text.to_owned()).collect()
}

/// Instructions are counted by the emulator alone.
fn be_deterministic(table: &Table, settings: &mut VmSettings, problems: &mut ExperimentProblems) {
    if let (true, Some(entry)) = (settings.is_from_snapshot, table.get("snapshot")) {
        problems
            .report(
                &entry.node.place,
                "`deterministic` boots a machine for each trial, so nothing is saved",
            )
            .hint("remove `snapshot` or `deterministic`");
    }
    match (settings.accelerator, table.get("accelerator")) {
        (Accelerator::Kvm, Some(entry)) => {
            problems
                .report(
                    &entry.node.place,
                    "`deterministic` counts the instructions of an emulated processor, which KVM does not have",
                )
                .hint("write accelerator = \"tcg\", or remove one of the two");
        }
        _ => settings.accelerator = Accelerator::Tcg,
    }
}
