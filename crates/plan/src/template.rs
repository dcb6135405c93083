//! `schedlab new`: an experiment to start from, made from the catalogue.

use crate::settable;
use crate::toml_text::{key, quoted};
use contract::{Catalogue, Factor, Parameter, Workload};
use model::format_duration;
use std::collections::BTreeMap;

/// Workloads worth starting with, best first; any that needs no parameter will do.
const PREFERRED_WORKLOADS: [&str; 3] = ["wakeup", "messaging", "cyclic"];
/// Factors that need no privilege to try, best first.
const PREFERRED_FACTORS: [&str; 3] = ["policy", "slice", "timer_slack"];

const HEAD: &str = r#"# An experiment: which subject serves these workloads best, and how sure are we?
# `schedlab plan FILE` shows what it would do, `schedlab run FILE` does it.

title = "What is the question?"
"#;

const SIZE: &str = r#"blocks = 10               # replicates; 6 is quick, 20 is for publication, below 5 gives no verdict
                          # [6, 10, 16, 24, 32] looks after so many and stops when every question is answered
                          # duration = "24h" with every = "1h" in its place: a soak campaign, which looks
                          # for leaks and degradation
# seed = 42               # decides the order; drawn and recorded when left out
# alpha = 0.05            # family-wise error rate of all primary comparisons
# control = "auto"        # a second copy of the reference: true, false, or when time allows
# invocations = 3         # executions inside a trial; they are not replicates
# comparisons = "all"     # each subject with each, and ranked; "reference": each with the first;
                          # "within FACTOR": each with the first of its own level of a factor
# settle = "100ms"        # pause after knobs are set
# rest = "2s"             # idle time before each sitting, for what the one before leaves behind
# budget = "20m"          # cut blocks, then the control, to fit this time; with looks: stop then

# A difference smaller than its margin is no difference that matters. Declared
# before the run; without it each metric has a default of its own.
# margin = { default = "2%", SOME_METRIC = "5%" }
"#;

/// Where comments of the top level begin, and no line of them is longer.
const COMMENTS: usize = 26;
const LONGEST_LINE: usize = 100;

/// The template. It plans without problems wherever the catalogue has a
/// workload that needs no parameter and a factor.
pub fn template(catalogue: &Catalogue) -> String {
    let mut text = HEAD.to_owned();
    text += &venues(catalogue);
    text += SIZE;
    text += &asked_together(catalogue);
    text += &quick_part(catalogue);
    text += "\n# A factor may be set for all subjects here, above the first [table].\n";
    text += "\n# The arms; the first is the reference. No level means the machine as it is.\n";
    text += "[subjects.baseline]\n\n[subjects.other]\n";
    if let Some((factor, level)) = first_level(catalogue) {
        text += &format!("{} = {}\n", key(factor), quoted(level));
    }
    text += "\n# What else can be set:\n";
    for factor in catalogue.factors.iter().filter(|factor| is_for_first(**factor, catalogue)) {
        let description = factor.describe();
        let example = factor.examples().first().copied().unwrap_or_default();
        let assignment = format!("{} = {}", key(description.id), quoted(example));
        text += &format!("# {assignment:32} # {}\n", description.summary);
    }
    text += &own_parameter(catalogue);
    text += "\n# Instead of naming subjects, all combinations of some factors:\n# [factors]\n";
    if let Some(factor) = catalogue.factors.iter().find(|factor| factor.examples().len() > 1) {
        let examples: Vec<String> = factor.examples().iter().map(|level| quoted(level)).collect();
        text += &format!("# {} = [{}]\n", key(factor.describe().id), examples.join(", "));
    }
    text += &machines(catalogue);
    text += "\n# What runs; every subject runs every workload in every block.\n";
    if let Some(workload) = first_workload(catalogue) {
        text += &workload_text(workload);
    }
    text += "\n# Other workloads:\n";
    for workload in catalogue.workloads {
        let description = workload.describe();
        text += &format!("# use = {:16} # {}\n", quoted(description.id), description.summary);
    }
    text
}

/// A parameter of a workload that the subject above has otherwise.
fn own_parameter(catalogue: &Catalogue) -> String {
    let Some(workload) = first_workload(catalogue) else { return String::new() };
    let mut declared = workload.parameters().iter().filter(|one| settable::is_level(one));
    let Some((declared, default)) = declared.find_map(|one| Some((one, one.default?))) else {
        return String::new();
    };
    let id = settable::key(workload.describe().id, declared.name);
    let assignment = format!("{id} = {}", quoted(default));
    format!("\n# Parameters of a workload, for this subject alone:\n# {assignment}\n")
}

/// The part that `--quick` keeps.
fn quick_part(catalogue: &Catalogue) -> String {
    let Some(workload) = first_workload(catalogue) else { return String::new() };
    format!(
        "\n# What --quick keeps of a large experiment, beside fewer blocks and shorter trials.\n\
         # quick = {{ subjects = [\"baseline\", \"other\"], workloads = [{}], blocks = 5 }}\n",
        quoted(workload.describe().id)
    )
}

/// What may be asked of all workloads together, and of others' numbers.
fn asked_together(catalogue: &Catalogue) -> String {
    let Some(workload) = first_workload(catalogue) else { return String::new() };
    let metrics = workload.usual_metrics();
    let Some(metric) = metrics.first() else { return String::new() };
    let id = key(workload.describe().id);
    format!(
        "\n# What the subjects are wanted for: weights over WORKLOAD or \"WORKLOAD/METRIC\" that add\n\
         # up to 1. The report says which subjects serve each use best, and where they do worst.\n\
         # use_cases = {{ web-server = {{ {id} = 1.0 }} }}\n\n\
         # What others have published; the report says confirmed, refuted or undecided. An effect\n\
         # is better, worse, same, or a change of the value itself such as \"-20%\". Without a\n\
         # workload it is about all that ask the metric, and subject = {{ FACTOR = \"LEVEL\" }} is about\n\
         # every subject of that level. `order`, `over` and `turns` put comparisons together.\n\
         # claims = [{{ says = \"it is better\", metric = {}, subject = \"other\", effect = \"better\" }}]\n",
        quoted(&metric.id)
    )
}

/// The first venue, with what each of them is.
fn venues(catalogue: &Catalogue) -> String {
    let Some(first) = catalogue.venues.first() else { return String::new() };
    let mut text = format!("{:COMMENTS$}#", format!("venue = {}", quoted(first.describe().id)));
    let mut column = text.len();
    for (index, venue) in catalogue.venues.iter().enumerate() {
        let end = if index + 1 < catalogue.venues.len() { ";" } else { "" };
        let word = format!(" {}: {}{end}", venue.describe().id, venue.facts().gist);
        if column + word.len() > LONGEST_LINE {
            text += &format!("\n{:COMMENTS$}#", "");
            column = COMMENTS + 1;
        }
        column += word.len();
        text += &word;
    }
    text + "\n"
}

/// What venues take that the first one does not: their factors, and their tables.
fn machines(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    for venue in catalogue.venues {
        let Some(example) = venue.facts().example else { continue };
        text += &format!("\n# {}:\n", example.heading);
        let is_its_own = |factor: &&&dyn Factor| {
            !is_for_first(**factor, catalogue) && venue.accepts(**factor).is_ok()
        };
        for factor in catalogue.factors.iter().filter(is_its_own) {
            let description = factor.describe();
            let level = factor.examples().first().copied().unwrap_or_default();
            let assignment = format!("{} = {}", key(description.id), quoted(level));
            text += &format!("#   {assignment:30} # {}\n", description.summary);
        }
        text += example.table;
    }
    text
}

/// Whether the venue that the template names accepts it.
fn is_for_first(factor: &dyn Factor, catalogue: &Catalogue) -> bool {
    catalogue.venues.first().is_none_or(|venue| venue.accepts(factor).is_ok())
}

fn first_level(catalogue: &Catalogue) -> Option<(&'static str, &'static str)> {
    let preferred = PREFERRED_FACTORS.iter().filter_map(|id| catalogue.factor(id));
    preferred
        .chain(catalogue.factors.iter().copied())
        .filter(|factor| is_for_first(*factor, catalogue))
        .find_map(|factor| {
            let examples = factor.examples();
            let level = examples.get(1).or(examples.first())?;
            let parsed = factor.parse(level).ok()?;
            let is_free = factor.conflict(&parsed, &BTreeMap::new()).is_none();
            is_free.then(|| (factor.describe().id, *level))
        })
}

fn first_workload(catalogue: &Catalogue) -> Option<&'static dyn Workload> {
    let preferred = PREFERRED_WORKLOADS.iter().filter_map(|id| catalogue.workload(id));
    preferred
        .chain(catalogue.workloads.iter().copied())
        .find(|workload| workload.parameters().iter().all(|parameter| parameter.default.is_some()))
}

fn workload_text(workload: &dyn Workload) -> String {
    let description = workload.describe();
    let mut text =
        format!("[[workloads]]\nuse = {} # {}\n", quoted(description.id), description.summary);
    for parameter in workload.parameters() {
        let default = parameter.default.unwrap_or_default();
        let value = match parameter.kind {
            contract::ParameterKind::Count { .. }
            | contract::ParameterKind::Number { .. }
            | contract::ParameterKind::Flag => default.to_owned(),
            contract::ParameterKind::Table => "{}".to_owned(),
            _ => quoted(default),
        };
        let assignment = format!("{} = {value}", key(parameter.name));
        text += &format!("# {assignment:32} # {}\n", parameter.summary);
    }
    let defaults = Parameter::values(workload.parameters(), &[]);
    let Ok(configured) = defaults.and_then(|defaults| workload.configure(&defaults)) else {
        return text;
    };
    let own = configured.metrics();
    let metrics: Vec<String> = own.iter().map(|metric| quoted(&metric.id)).collect();
    text += "# label = \"another-name\"           # needed when a workload is used twice\n";
    let quantile =
        own.iter().rev().find(|metric| matches!(metric.reduction, model::Reduction::Quantile(_)));
    if let Some(metric) = quantile {
        let assignment = format!("pooled = [{}]", quoted(&metric.id));
        text += &format!(
            "# {assignment:32} # of all blocks together, where blocks have too few samples\n"
        );
    }
    text += "# load = \"cpu:2\"                  # busy loops beside it\n";
    text += "# subjects = [\"other\"]            # only for some arms; the reference always runs\n";
    text += &format!(
        "# One invocation takes about {}. Its metrics, of which the primary get verdicts:\n",
        format_duration(configured.facts().expected_ns)
    );
    text += &format!("# primary = [{}]\n", metrics.join(", "));
    text
}
