//! Before the evidence: the question with its answer, what was compared and what the words mean,
//! method, environment, and whether it may be believed.

use super::headline::{
    effect, main_caveat, main_finding, name_of_effect, primary, sentence, strongest_estimated,
    winner,
};
use super::slide::{Body, Paragraph, Slide, Table};
use crate::answer::in_percent;
use crate::attempt::{attempt, numbered};
use crate::checks::{CheckState, checks, trials};
use crate::counts;
use crate::few_boots::few_boots;
use crate::observed::{
    Provenance, has_declared_margins, has_drawn_order, tells_order, unset, whole_blocks,
};
use crate::quantities::{confidence, direction};
use crate::reservations::reservations;
use crate::verdict_table::{self, is_in_percent, judged, percentages};
use crate::view::{Report, SubjectView};
use model::Imported;
use phrases::{counted, say};

pub(super) fn slides(report: &Report) -> Vec<Slide> {
    let mut slides = vec![first(report), in_short(report), subjects(report)];
    slides.extend(factors(report));
    slides.extend(metrics(report));
    slides.extend([method(report), environment(report)]);
    slides.extend(differences(report));
    slides.push(validity(report));
    slides
}

fn slide(title: impl Into<String>, body: Body, notes: impl Into<String>) -> Slide {
    Slide { title: title.into(), body, notes: notes.into() }
}

/// What a reader must know before anything else.
fn banners(report: &Report) -> Vec<&'static str> {
    let design = &report.design;
    let language = report.language;
    [
        (report.is_simulated, language.word("Simulated: no machine was measured.")),
        (
            report.hides_absolute,
            language.word("Emulated processor: ratios may be read, values may not."),
        ),
        (design.is_quick, language.word("Quick: fewer blocks and shorter trials than declared.")),
    ]
    .into_iter()
    .filter(|(is_so, _)| *is_so)
    .map(|(_, text)| text)
    .collect()
}

fn first(report: &Report) -> Slide {
    let mut lines = vec![report.campaign.clone()];
    lines.extend(banners(report).into_iter().map(str::to_owned));
    // What the others were stands on the slide of the method, where there is room for it.
    lines.extend(numbered(report));
    slide(report.title.clone(), Body::Opening(lines.join("\n")), report.answer.clone())
}

fn in_short(report: &Report) -> Slide {
    let language = report.language;
    let main = main_finding(report);
    let title = main.map_or_else(|| report.answer.clone(), |one| sentence(one, language));
    // That of another finding where the one of the title has no estimate.
    let estimated = main.filter(|one| one.effect.is_some()).or_else(|| strongest_estimated(report));
    let shown = match (main, estimated) {
        (None, _) => language.word("nothing was compared").to_owned(),
        (_, None) => language.word("not known: no comparison has an estimate").to_owned(),
        (_, Some(finding)) => {
            format!("{}: {}", sentence(finding, language), effect(report, finding))
        }
    };
    let reading =
        language.word("effects are turned so that + and × are better, whatever the metric");
    let of_use_cases = report.findings.use_cases.iter().flat_map(|one| &one.comparisons);
    let is_in_percent = judged(&report.findings).chain(of_use_cases).any(is_in_percent);
    let reading = format!("{reading}.{}", percentages(is_in_percent, language));
    let mut paragraphs = vec![
        Paragraph::new(language.word("Question"), &report.title),
        Paragraph::new(language.word("Winner"), winner(report)),
        Paragraph::new(name_of_effect(report, estimated), shown),
    ];
    let limits = [reservations(&primary(report), language), few_boots(report)];
    paragraphs.extend(limits.into_iter().flatten().map(|limit| Paragraph::new("", limit)));
    paragraphs.extend([
        Paragraph::new(language.word("Main caveat"), main_caveat(report)),
        Paragraph::new(language.word("Read as"), reading),
    ]);
    let families = report.design.family_words(language);
    let told =
        verdict_table::reading(&report.findings, judged(&report.findings), &families, language);
    let notes = match told {
        Some(told) => format!("{}\n{told}", report.answer),
        None => report.answer.clone(),
    };
    slide(title, Body::Paragraphs(paragraphs), notes)
}

/// Levels as they are written in an experiment.
pub(super) fn levels(subject: &SubjectView, report: &Report) -> String {
    let set: Vec<String> =
        subject.levels.iter().map(|(factor, level)| format!("{factor} = {level}")).collect();
    if !set.is_empty() {
        return set.join(", ");
    }
    match Provenance::of(report) {
        Provenance::Ran => report.language.word("nothing: as the machine is").to_owned(),
        _ => unset(report).to_owned(),
    }
}

fn subjects(report: &Report) -> Slide {
    let language = report.language;
    let role = |subject: &SubjectView| match (subject.is_reference, subject.is_control) {
        (true, _) => language.word("reference"),
        (_, true) => language.word("control: the reference once more"),
        _ => language.word("compared"),
    };
    let row = |subject: &SubjectView| {
        vec![subject.id.clone(), levels(subject, report), role(subject).to_owned()]
    };
    let table = Table {
        columns: vec![
            (language.word("subject"), 3),
            (language.word("what is set"), 6),
            (language.word("role"), 3),
        ],
        rows: report.subjects.iter().map(row).collect(),
    };
    let workloads = &report.design.workloads;
    let title = say!(
        language,
        "Background: {subjects} are compared on {workloads}",
        subjects = counted!(language, report.subjects.len(), "1 subject", "{count} subjects"),
        workloads = counted!(language, workloads.len(), "1 workload", "{count} workloads")
    );
    let notes = say!(language, "Workloads: {workloads}.", workloads = workloads.join(", "));
    slide(title, Body::Table(table), notes)
}

fn factors(report: &Report) -> Option<Slide> {
    let language = report.language;
    let meaning = &report.meanings.factors;
    let row = |(id, text): (&String, &String)| vec![id.clone(), text.clone()];
    let table = Table {
        columns: vec![(language.word("factor"), 2), (language.word("what it means"), 10)],
        rows: meaning.iter().map(row).collect(),
    };
    let title = counted!(
        language,
        meaning.len(),
        "Background: what 1 factor means",
        "Background: what {count} factors mean"
    );
    (!meaning.is_empty()).then(|| {
        slide(
            title,
            Body::Table(table),
            language.word("From the catalogue; `schedlab list --explain ID` has all of it."),
        )
    })
}

fn metrics(report: &Report) -> Option<Slide> {
    let language = report.language;
    let meaning = &report.meanings.metrics;
    let rows: Vec<Vec<String>> = meaning
        .iter()
        .map(|metric| {
            vec![
                metric.workload.clone(),
                metric.id.replace('_', " "),
                metric.meaning.clone(),
                direction(metric.direction, language).to_owned(),
                format!("{} %", in_percent(metric.margin)),
            ]
        })
        .collect();
    let columns = vec![
        (language.word("workload"), 4),
        (language.word("metric"), 6),
        (language.word("what it means"), 10),
        (language.word("direction"), 4),
        (language.word("margin"), 3),
    ];
    let imported = report.design.imported.as_ref();
    let notes = if has_declared_margins(report) {
        language.word("The margin is the difference that would matter, declared before the run.")
    } else if imported.is_some_and(Imported::is_given_with_numbers) {
        language.word(
            "The margin is the difference that would matter. The margin, the level or what is judged \
             was given when the numbers were there.",
        )
    } else {
        language.word(
            "The margin is the difference that would matter. Nothing shows that it was chosen \
             before the numbers were there.",
        )
    };
    (!rows.is_empty()).then(|| {
        slide(
            language.word("Background: what the verdicts are about"),
            Body::Table(Table { columns, rows }),
            notes,
        )
    })
}

/// In which order runs were made, as far as the records show it.
fn order(report: &Report, blocks: &str) -> String {
    let language = report.language;
    let whole = whole_blocks(report);
    match Provenance::of(report) {
        Provenance::ImportedRows => language
            .word("numbers of others, without blocks: what changed between runs may be in them")
            .to_owned(),
        Provenance::ImportedBlocks if tells_order(report) => say!(
            language,
            "numbers of others, in {blocks} as the file names them; a column tells the order of \
             their runs, and nothing shows that it was drawn",
            blocks
        ),
        Provenance::ImportedBlocks => say!(
            language,
            "numbers of others, in {blocks} as the file names them; the order of their runs is not \
             known",
            blocks
        ),
        Provenance::Ran | Provenance::Simulated if !has_drawn_order(report) => {
            say!(language, "{blocks}; nothing shows that the order of their runs was drawn", blocks)
        }
        Provenance::Ran | Provenance::Simulated if !whole.is_all() => say!(
            language,
            "{blocks}, each in an order drawn anew (seed {seed}); {whole}",
            blocks,
            seed = report.design.seed_words(language),
            whole = counts::whole_blocks((whole.seen, whole.of), language)
        ),
        Provenance::Ran => say!(
            language,
            "{blocks}; in each, every subject ran once, in an order drawn anew (seed {seed})",
            blocks,
            seed = report.design.seed_words(language)
        ),
        Provenance::Simulated => say!(
            language,
            "{blocks}; in each, every subject was simulated once, in an order drawn anew (seed {seed})",
            blocks,
            seed = report.design.seed_words(language)
        ),
    }
}

fn method(report: &Report) -> Slide {
    let language = report.language;
    let design = &report.design;
    let blocks = design.block_words(language);
    let order = order(report, &blocks);
    let verdict = say!(
        language,
        "better or worse where the difference is shown at {level} % over {families}; equivalent \
         where it is shown to lie within the margin; else undecided",
        level = confidence(design.alpha),
        families = design.family_words(language)
    );
    let origin = Provenance::of(report);
    let ran = match origin {
        Provenance::Ran => say!(
            language,
            "{trials} on venue {venue}, {boots}, {duration}",
            trials = counted!(language, design.trials, "1 trial", "{count} trials"),
            venue = design.venue,
            boots = design.boot_words(language),
            duration = design.duration_words(language)
        ),
        Provenance::Simulated => language.word("nothing ran: the numbers are simulated").to_owned(),
        Provenance::ImportedBlocks | Provenance::ImportedRows => counted!(
            language,
            design.trials,
            "nothing ran here: 1 record of a file",
            "nothing ran here: {count} records of a file"
        ),
    };
    let replicate = match origin {
        Provenance::ImportedRows => {
            language.word("one execution, as far as the file tells them apart")
        }
        Provenance::ImportedBlocks => language.word("the block, as the file names it"),
        Provenance::Ran | Provenance::Simulated => {
            language.word("the block; iterations and invocations within a trial are none")
        }
    };
    let active = trials(report).detail;
    let mut paragraphs = vec![
        Paragraph::new(language.word("Order"), order),
        Paragraph::new(language.word("Replicate"), replicate),
        Paragraph::new(language.word("Verdict"), verdict),
        Paragraph::new(language.word("Ran"), ran),
        Paragraph::new(language.word("Active"), active),
    ];
    paragraphs.extend(attempt(report).map(|text| Paragraph::new(language.word("Attempt"), text)));
    let notes: Vec<&str> = report.notes.iter().map(String::as_str).collect();
    slide(method_title(report, &blocks), Body::Paragraphs(paragraphs), notes.join("\n"))
}

fn method_title(report: &Report, blocks: &str) -> String {
    let language = report.language;
    let subjects = counted!(language, report.design.subjects, "1 subject", "{count} subjects");
    match Provenance::of(report) {
        Provenance::Ran | Provenance::Simulated if has_drawn_order(report) => {
            say!(language, "Method: {blocks} of {subjects} in random order", blocks, subjects)
        }
        Provenance::Ran | Provenance::Simulated => {
            say!(language, "Method: {blocks} of {subjects}", blocks, subjects)
        }
        Provenance::ImportedBlocks => {
            say!(language, "Method: {blocks} of {subjects}, imported", blocks, subjects)
        }
        Provenance::ImportedRows => say!(language, "Method: {subjects}, imported", subjects),
    }
}

/// Facts that a reader asks for first, by the names that the executor's fingerprint gives them;
/// the page and the JSON have all.
const FACTS: [&str; 15] = [
    "kernel.release",
    "kernel.build",
    "kernel.scheduler",
    "kernel.command_line",
    "kernel.sched_ext",
    "machine.vendor",
    "machine.product",
    "machine.is_virtual",
    "cpu.model",
    "cpu.online",
    "cpu.frequency_driver",
    "clock.source",
    "memory.total",
    "storage.device",
    "storage.model",
];

fn environment(report: &Report) -> Slide {
    let language = report.language;
    let facts = &report.environment.0;
    let known: Vec<(&String, &String)> =
        facts.iter().filter(|(key, _)| FACTS.contains(&key.as_str())).collect();
    // Facts of other venues have other names: what there is, is shown.
    let shown = if known.len() >= 4 {
        known
    } else {
        facts.iter().filter(|(key, _)| !key.starts_with("knob.")).take(12).collect()
    };
    let mut rows: Vec<Vec<String>> =
        shown.into_iter().map(|(key, value)| vec![key.clone(), value.clone()]).collect();
    if rows.is_empty() {
        let nothing = [language.word("machine"), language.word("nothing was recorded of it")];
        rows.push(nothing.map(str::to_owned).into());
    }
    let columns = vec![(language.word("fact"), 3), (language.word("value"), 9)];
    let table = Table { columns, rows };
    let (title, notes) = match Provenance::of(report) {
        Provenance::Ran => (
            say!(
                language,
                "Environment: kernel {kernel}, CPUs {cpus}",
                kernel = report.design.kernel,
                cpus = report.design.cpus
            ),
            language.word("The machine when the campaign began."),
        ),
        Provenance::Simulated => (
            language.word("Environment: none, the numbers are simulated").to_owned(),
            language.word("What the simulator says of itself."),
        ),
        Provenance::ImportedBlocks | Provenance::ImportedRows => (
            language.word("Environment: not known").to_owned(),
            language.word("The file does not show what was measured on."),
        ),
    };
    slide(title, Body::Table(table), notes)
}

/// More differences than these are counters, not causes.
const MOST_DIFFERENCES: usize = 24;

fn differences(report: &Report) -> Option<Slide> {
    let language = report.language;
    let rows: Vec<Vec<String>> = report
        .differences
        .iter()
        .take(MOST_DIFFERENCES)
        .map(|(key, by_subject)| {
            let each: Vec<String> = by_subject
                .iter()
                .map(|(subject, seen)| {
                    let values: Vec<&str> = seen.iter().take(3).map(String::as_str).collect();
                    format!("{subject}: {}", values.join(" | "))
                })
                .collect();
            vec![key.clone(), super::fit::shortened(&each.join("; "), 300)]
        })
        .collect();
    let title = counted!(
        language,
        report.differences.len(),
        "Environment: 1 fact differed between trials",
        "Environment: {count} facts differed between trials"
    );
    let columns = vec![(language.word("fact"), 3), (language.word("seen"), 9)];
    let notes = language.word("What a subject sets differs on purpose.");
    (!report.differences.is_empty())
        .then(|| slide(title, Body::Table(Table { columns, rows }), notes))
}

fn validity(report: &Report) -> Slide {
    let language = report.language;
    let checks = checks(report);
    let word = |state: CheckState| match state {
        CheckState::Passed => language.word("■ passed"),
        CheckState::Warned => language.word("▲ look"),
        CheckState::Failed => language.word("✕ failed"),
        CheckState::NotShown => language.word("○ not shown"),
        CheckState::NotObserved => language.word("○ not observed"),
        CheckState::NotApplicable => language.word("not asked"),
    };
    let rows = checks
        .iter()
        .map(|check| vec![check.name.clone(), word(check.state).to_owned(), check.detail.clone()])
        .collect();
    let against = checks
        .iter()
        .filter(|check| matches!(check.state, CheckState::Warned | CheckState::Failed))
        .count();
    let title = match against {
        0 => language.word("Validity: nothing that was checked speaks against it").to_owned(),
        against => counted!(
            language,
            against,
            "Validity: 1 check speaks against it",
            "Validity: {count} checks speak against it"
        ),
    };
    let columns =
        vec![(language.word("what was checked"), 3), ("", 2), (language.word("what was seen"), 8)];
    let notes = language.word("Read this before believing any of it.");
    slide(title, Body::Table(Table { columns, rows }), notes)
}
