//! Where the numbers come from: the line at the head of a report.

use crate::view::Report;
use phrases::{Language, say};

/// How many numbers of what, and where they were measured, as far as that is known.
pub(crate) fn origin(report: &Report, language: Language) -> String {
    let design = &report.design;
    if let Some(imported) = &design.imported {
        return say!(
            language,
            "imported from {file} ({format}): {subjects} subjects, {records} records of \
             {workloads} workloads",
            file = imported.file,
            format = imported.format,
            subjects = design.subjects,
            records = design.trials,
            workloads = design.workloads.len()
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
    say!(
        language,
        "{quick}{blocks} blocks of {subjects} subjects, {trials} trials in {place}; seed \
         {seed}",
        quick,
        blocks = design.block_count(language),
        subjects = design.subjects,
        trials = design.trials,
        place,
        seed = design.seed_words(language)
    )
}
