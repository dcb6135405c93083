//! The list of targets: one file, one line. What tools print is a target without either: `outputs`
//! lists its formats.

use outputs::{FORMATS, Format};

pub use outputs::Reaction;

/// A parser under test.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    /// kebab-case; also the name of its corpus folder.
    pub name: &'static str,
    /// Words its format is made of.
    pub words: &'static [&'static str],
    /// Parses, and panics where a claim about the result is broken.
    pub run: fn(&[u8]) -> Reaction,
}

/// Runs `parse` on bytes that are UTF-8; others no caller would pass on.
fn on_text(bytes: &[u8], parse: impl Fn(&str) -> Reaction) -> Reaction {
    std::str::from_utf8(bytes).map_or(Reaction::Refused, parse)
}

macro_rules! targets {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*

        const OWN: &[FuzzTarget] = &[$($module::TARGET),*];
    };
}

/// Every target.
pub static TARGETS: &[FuzzTarget] = &all::<{ OWN.len() + FORMATS.len() }>();

/// Our own targets, then the formats of tools.
const fn all<const COUNT: usize>() -> [FuzzTarget; COUNT] {
    let mut all = [OWN[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < OWN.len() {
            OWN[index]
        } else {
            let Format { name, words, run } = FORMATS[index - OWN.len()];
            FuzzTarget { name, words, run }
        };
        index += 1;
    }
    all
}

targets! {
    apt_sources,
    boot_image,
    bundle,
    control_file,
    cpu_list,
    cpu_time,
    elf_linkage,
    event_log,
    experiment,
    fake_rules,
    histogram,
    http_request,
    import_benchfmt,
    import_csv,
    import_fio,
    import_gatling,
    import_google_benchmark,
    import_hyperfine,
    import_iozone,
    import_perf_stat,
    import_schbench,
    import_wrk,
    journal,
    kernel_index,
    kernel_name,
    kernel_version,
    level,
    mapping,
    module_info,
    net_answer,
    net_hello,
    one_line,
    picked,
    plan_json,
    pressure,
    process_stat,
    quantity,
    record_line,
    scheduler_level,
    scheduler_trace,
    task_schedstat,
    wire_frames,
    words,
}

/// What an experiment may name.
fn catalogue() -> contract::Catalogue {
    contract::Catalogue {
        workloads: workloads::ENTRIES,
        factors: tunables::ENTRIES,
        probes: &[],
        venues: venues::ENTRIES,
    }
}

/// A target by name.
pub fn target(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}
