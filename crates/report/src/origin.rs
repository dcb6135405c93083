//! Where the numbers come from: the line at the head of a report.

use crate::counts;
use crate::view::Report;
use phrases::{Language, say};

/// How many numbers of what, and where they were measured, as far as that is known.
pub(crate) fn origin(report: &Report, language: Language) -> String {
    let design = &report.design;
    if let Some(imported) = &design.imported {
        return say!(
            language,
            "imported from {file} ({format}): {subjects}, {records} of {workloads}",
            file = imported.file,
            format = imported.format,
            subjects = counts::subjects(design.subjects, language),
            records = counts::records(design.trials, language),
            workloads = counts::workloads(design.workloads.len(), language)
        );
    }
    let quick = if design.is_quick { language.word("quick mode, ") } else { "" };
    let duration = design.duration_words(language);
    let place = if report.is_simulated {
        say!(language, "{duration} of simulated time; no real machine", duration)
    } else {
        say!(
            language,
            "{duration}; {venue} with kernel {kernel}, CPUs {cpus}",
            duration,
            venue = design.venue,
            kernel = design.kernel,
            cpus = design.cpus
        )
    };
    let blocks = match design.blocks {
        Some(_) => design.block_words(language),
        None => language.word("not observed blocks").to_owned(),
    };
    say!(
        language,
        "{quick}{blocks} of {subjects}, {trials} in {place}; seed {seed}",
        quick,
        blocks,
        subjects = counts::subjects(design.subjects, language),
        trials = counts::trials(design.trials as u64, language),
        place,
        seed = design.seed_words(language)
    )
}
