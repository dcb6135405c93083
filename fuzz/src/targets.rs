//! The list of targets: one file, one line. What tools print and what is imported are targets
//! without either: `outputs` lists its formats, `importers` its importers.

use importers::{IMPORTERS, Importer};
use outputs::FORMATS;
use std::sync::LazyLock;

pub use outputs::Reaction;

/// A parser under test.
pub struct FuzzTarget {
    /// kebab-case; also the name of its corpus folder.
    pub name: String,
    /// Words its format is made of.
    pub words: Vec<&'static str>,
    parser: Parser,
}

/// A target that has a file here.
#[derive(Clone, Copy)]
struct OwnTarget {
    name: &'static str,
    words: &'static [&'static str],
    run: fn(&[u8]) -> Reaction,
}

enum Parser {
    Function(fn(&[u8]) -> Reaction),
    Importer(&'static dyn Importer),
}

impl FuzzTarget {
    /// Parses, and panics where a claim about the result is broken.
    pub fn run(&self, bytes: &[u8]) -> Reaction {
        match self.parser {
            Parser::Function(run) => run(bytes),
            Parser::Importer(importer) => crate::imports::import(importer, bytes),
        }
    }

    pub(crate) fn of_function(
        name: &str,
        words: &[&'static str],
        run: fn(&[u8]) -> Reaction,
    ) -> Self {
        Self { name: name.to_owned(), words: words.to_vec(), parser: Parser::Function(run) }
    }

    fn of_importer(importer: &'static dyn Importer) -> Self {
        let words = importer.words().iter().chain(crate::imports::WORDS).copied();
        Self {
            name: format!("import-{}", importer.describe().id),
            words: words.collect(),
            parser: Parser::Importer(importer),
        }
    }
}

/// Runs `parse` on bytes that are UTF-8; others no caller would pass on.
fn on_text(bytes: &[u8], parse: impl Fn(&str) -> Reaction) -> Reaction {
    std::str::from_utf8(bytes).map_or(Reaction::Refused, parse)
}

macro_rules! targets {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*

        const OWN: &[OwnTarget] = &[$($module::TARGET),*];
    };
}

/// Every target.
pub static TARGETS: LazyLock<Vec<FuzzTarget>> = LazyLock::new(|| {
    let own = OWN.iter().map(|own| FuzzTarget::of_function(own.name, own.words, own.run));
    let printed =
        FORMATS.iter().map(|format| FuzzTarget::of_function(format.name, format.words, format.run));
    let imported = IMPORTERS.iter().map(|importer| FuzzTarget::of_importer(*importer));
    own.chain(printed).chain(imported).collect()
});

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
    shaped_bundle,
    shaped_campaign,
    shaped_histogram,
    shaped_journal,
    shaped_workbook,
    task_schedstat,
    wire_frames,
    words,
}

/// What an experiment may name.
fn catalogue() -> contract::Catalogue {
    let trials = contract::TrialCatalogue {
        workloads: assembly::trial_catalogue().workloads,
        factors: tunables::ENTRIES,
        probes: &[],
    };
    contract::Catalogue { trials, venues: venues::ENTRIES }
}

/// A target by name.
pub fn target(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A target by a name that a user gave.
///
/// # Errors
/// Where there is none of that name: all names that there are.
pub fn known(name: &str) -> Result<&'static FuzzTarget, String> {
    target(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name.as_str()).collect();
        format!("there is no target `{name}`; choose one of {}", names.join(", "))
    })
}
