//! The keys at the top of an experiment, apart from subjects and workloads.

use crate::limits::{BLOCK_LIMIT, LEAST_BLOCKS};
use crate::margins::Margins;
use crate::venue::ChosenVenue;
use crate::{pace, reboots, venue};
use contract::Catalogue;
use contract::document::{ExperimentProblems, Node, Table, TreeEntry, Value, values};
use model::{Comparisons, Pace};

/// More looks than this spend too little at each.
const LOOK_LIMIT: usize = 10;
/// A TOML integer has 63 bits for it.
pub(crate) const LARGEST_SEED: u64 = i64::MAX as u64;

/// Keys of the top level; every factor's id is one too, and that of a venue with settings.
const KEYS: [&str; 23] = [
    "title",
    "venue",
    "blocks",
    "boots",
    "duration",
    "every",
    "seed",
    "alpha",
    "margin",
    "control",
    "order",
    "probes",
    "settle",
    "rest",
    "invocations",
    "budget",
    "quick",
    "comparisons",
    "subjects",
    "factors",
    "workloads",
    "use_cases",
    "claims",
];

/// The default campaign has 10 blocks of 3 invocations (docs/method.md#m-defaults).
const DEFAULT_BLOCKS: u32 = 10;
const DEFAULT_INVOCATIONS: u32 = 3;
/// Invocations are no replicates; more of them buy next to nothing (docs/method.md#m-defaults).
pub(crate) const INVOCATION_LIMIT: u64 = 100;
const DEFAULT_SETTLE_NS: u64 = 100_000_000;
const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const TITLE_LIMIT: usize = 200;

/// Whether the A/A control arm runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// Unless the budget cannot hold it.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Everything the top level declares.
pub(crate) struct ExperimentSettings {
    pub(crate) title: Option<String>,
    pub(crate) venue: ChosenVenue,
    pub(crate) blocks: u32,
    pub(crate) looks: Vec<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) comparisons: Comparisons,
    pub(crate) alpha: f64,
    pub(crate) margins: Margins,
    pub(crate) control: Control,
    pub(crate) probes: Vec<String>,
    pub(crate) settle_ns: u64,
    pub(crate) rest_ns: u64,
    pub(crate) invocations: u32,
    pub(crate) budget_ns: Option<u64>,
    pub(crate) pace: Option<Pace>,
    pub(crate) boots: Option<u32>,
}

impl ExperimentSettings {
    fn defaults(venue: ChosenVenue, default_probes: Vec<String>) -> Self {
        Self {
            title: None,
            venue,
            blocks: DEFAULT_BLOCKS,
            looks: Vec::new(),
            seed: None,
            comparisons: Comparisons::Reference,
            alpha: 0.05,
            margins: Margins::default(),
            control: Control::Auto,
            probes: default_probes,
            settle_ns: DEFAULT_SETTLE_NS,
            rest_ns: 0,
            invocations: DEFAULT_INVOCATIONS,
            budget_ns: None,
            pace: None,
            boots: None,
        }
    }
}

/// Whether that is a key of the top level, and no factor.
pub(crate) fn is_key(key: &str, catalogue: &Catalogue) -> bool {
    KEYS.contains(&key) || venue::has_table(key, catalogue)
}

/// Reads the top level; keys that are factors, subjects or workloads are left
/// to their own readers. Nothing where there is no venue at all.
pub(crate) fn read(
    table: &Table,
    catalogue: &Catalogue,
    default_probes: &[&str],
    venue_option: Option<&str>,
    problems: &mut ExperimentProblems,
) -> Option<ExperimentSettings> {
    let defaults = default_probes
        .iter()
        .filter(|id| catalogue.probe(id).is_some())
        .map(|id| (*id).to_owned())
        .collect();
    let venue = ChosenVenue::read(table, catalogue, venue_option, problems)?;
    let mut settings = ExperimentSettings::defaults(venue, defaults);
    for entry in &table.entries {
        let is_known = is_key(&entry.key, catalogue) || catalogue.factor(&entry.key).is_some();
        if is_known {
            read_key(entry, catalogue, &mut settings, problems);
        } else {
            let factors = catalogue.factors.iter().map(|factor| factor.describe().id);
            problems
                .report(&entry.place, format!("unknown key `{}`", entry.key))
                .near(&entry.key, KEYS.into_iter().chain(venue::tables(catalogue)).chain(factors))
                .hint("`schedlab list factors` shows what can be set for all subjects");
        }
    }
    let paced = pace::read(table, problems);
    settings.pace = paced.pace;
    if let Some(blocks) = paced.blocks {
        settings.blocks = blocks;
        settings.looks.clear();
    }
    let footprint = settings.venue.entry.facts().footprint;
    settings.boots = reboots::read(table, footprint, settings.pace, settings.blocks, problems);
    Some(settings)
}

fn read_key(
    entry: &TreeEntry,
    catalogue: &Catalogue,
    settings: &mut ExperimentSettings,
    problems: &mut ExperimentProblems,
) {
    let node = &entry.node;
    match entry.key.as_str() {
        "title" => read_title(node, settings, problems),
        "blocks" => read_blocks(node, settings, problems),
        "seed" => settings.seed = values::count(node, "seed", 0..=LARGEST_SEED, problems),
        "alpha" => {
            // Below one in a thousand no affordable number of blocks decides anything.
            if let Some(alpha) = values::number(node, "alpha", 0.001..=0.2, problems) {
                settings.alpha = alpha;
            }
        }
        "margin" => settings.margins = Margins::read(node, problems),
        "control" => read_control(node, settings, problems),
        "order" => read_order(node, problems),
        "comparisons" => read_comparisons(node, catalogue, settings, problems),
        "probes" => read_probes(node, catalogue, settings, problems),
        "settle" => {
            if let Some(settle_ns) = values::duration(node, "settle", 0..=60 * SECOND_NS, problems)
            {
                settings.settle_ns = settle_ns;
            }
        }
        "rest" => {
            if let Some(rest_ns) = values::duration(node, "rest", 0..=600 * SECOND_NS, problems) {
                settings.rest_ns = rest_ns;
            }
        }
        "invocations" => {
            if let Some(count) = invocations(node, problems) {
                settings.invocations = count;
            }
        }
        "budget" => {
            settings.budget_ns =
                values::duration(node, "budget", SECOND_NS..=30 * 86_400 * SECOND_NS, problems);
        }
        _ => {}
    }
}

fn read_title(node: &Node, settings: &mut ExperimentSettings, problems: &mut ExperimentProblems) {
    let Some(title) = values::text(node, "title", problems) else { return };
    if title.chars().count() > TITLE_LIMIT || title.chars().any(char::is_control) {
        let cause = format!("`title` is one line of at most {TITLE_LIMIT} characters");
        problems.report(&node.place, cause);
    } else {
        settings.title = Some(title.to_owned());
    }
}

fn read_blocks(node: &Node, settings: &mut ExperimentSettings, problems: &mut ExperimentProblems) {
    if let Value::List(items) = &node.value {
        read_looks(node, items, settings, problems);
    } else if let Some(blocks) = values::count(node, "blocks", 1..=BLOCK_LIMIT, problems) {
        settings.blocks = u32::try_from(blocks).unwrap_or(DEFAULT_BLOCKS);
    }
}

/// Block counts at which the campaign is judged and may stop.
fn read_looks(
    node: &Node,
    items: &[Node],
    settings: &mut ExperimentSettings,
    problems: &mut ExperimentProblems,
) {
    let least = u64::from(LEAST_BLOCKS);
    let before = problems.len();
    let counts: Vec<u32> = items
        .iter()
        .filter_map(|item| values::count(item, "blocks", least..=BLOCK_LIMIT, problems))
        .filter_map(|count| u32::try_from(count).ok())
        .collect();
    if problems.len() > before {
        return;
    }
    let is_ascending = counts.windows(2).all(|pair| pair[0] < pair[1]);
    match counts.last() {
        Some(last) if is_ascending && counts.len() <= LOOK_LIMIT => {
            settings.blocks = *last;
            settings.looks = counts;
        }
        _ => {
            problems
                .report(&node.place, format!("looks are one to {LOOK_LIMIT} ascending block counts"))
                .hint("for example blocks = [6, 10, 16, 24, 32]: it stops at the first that answers everything");
        }
    }
}

/// Invocations inside a trial.
pub(crate) fn invocations(node: &Node, problems: &mut ExperimentProblems) -> Option<u32> {
    let count = values::count(node, "invocations", 1..=INVOCATION_LIMIT, problems)?;
    u32::try_from(count).ok()
}

fn read_control(node: &Node, settings: &mut ExperimentSettings, problems: &mut ExperimentProblems) {
    settings.control = match &node.value {
        Value::Flag(true) => Control::On,
        Value::Flag(false) => Control::Off,
        Value::Text(text) if text == "auto" => Control::Auto,
        _ => {
            problems
                .report(&node.place, "`control` is true, false or \"auto\"")
                .hint("\"auto\" runs the A/A control unless the budget cannot hold it");
            return;
        }
    };
}

fn read_order(node: &Node, problems: &mut ExperimentProblems) {
    let Some(order) = values::text(node, "order", problems) else { return };
    if order != "randomised" {
        problems
            .report(&node.place, format!("the order `{order}` is refused"))
            .near(order, ["randomised"])
            .hint(
                "a fixed order confounds the subjects with whatever drifts on the machine; \
                 only \"randomised\" is offered",
            );
    }
}

fn read_comparisons(
    node: &Node,
    catalogue: &Catalogue,
    settings: &mut ExperimentSettings,
    problems: &mut ExperimentProblems,
) {
    let Some(comparisons) = values::text(node, "comparisons", problems) else { return };
    settings.comparisons = match comparisons.split_once(' ') {
        None if comparisons == "reference" => Comparisons::Reference,
        None if comparisons == "all" => Comparisons::All,
        Some(("within", factor)) if catalogue.factor(factor.trim()).is_some() => {
            Comparisons::Within(factor.trim().to_owned())
        }
        Some(("within", other)) => {
            problems
                .report(&node.place, format!("unknown factor `{}`", other.trim()))
                .near(other.trim(), catalogue.factors.iter().map(|factor| factor.describe().id))
                .hint("`schedlab list factors` shows what can be set");
            return;
        }
        _ => {
            problems
                .report(&node.place, format!("unknown comparisons `{comparisons}`"))
                .near(comparisons, ["reference", "all"])
                .hint(
                    "\"reference\" compares each subject with the first, \"all\" each with each and ranks \
                     them, \"within FACTOR\" each with the first of its own level of a factor",
                );
            return;
        }
    };
}

fn read_probes(
    node: &Node,
    catalogue: &Catalogue,
    settings: &mut ExperimentSettings,
    problems: &mut ExperimentProblems,
) {
    let Some(named) = values::texts(node, "probes", problems) else { return };
    settings.probes.clear();
    for (id, node) in named {
        if catalogue.probe(id).is_none() {
            problems
                .report(&node.place, format!("unknown probe `{id}`"))
                .near(id, catalogue.probes.iter().map(|probe| probe.describe().id))
                .hint("`schedlab list probes` shows all");
        } else if settings.probes.iter().any(|known| known == id) {
            problems.report(&node.place, format!("the probe `{id}` is named twice"));
        } else {
            settings.probes.push(id.to_owned());
        }
    }
}
