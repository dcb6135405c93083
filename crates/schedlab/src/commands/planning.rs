//! From an experiment's text and options to its plan.

use super::{import_mapping, kernels, schedulers, suites};
use crate::cli::{Common, Experiment, PlanOptions};
use crate::environment::random_u64;
use crate::output::tell_lines;
use contract::{Error, Result};
use model::{EXPERIMENT_BYTES, Plan};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A planned experiment and its text.
pub(super) struct Planned {
    pub plan: Plan,
    pub text: String,
}

/// Reads and plans an experiment; `None` when its problems were printed.
pub(super) fn read(common: &Common, experiment: &Experiment) -> Result<Option<Planned>> {
    make_named(common, &experiment.file, &name_of(&experiment.file)?, &experiment.options)
}

/// The name of the plan that a file makes.
pub(super) fn name_of(file: &Path) -> Result<String> {
    let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(store::planned_name(file)?.or_else(stem).unwrap_or_default())
}

/// Reads a file and plans it under a name; `None` when its problems were printed.
pub(super) fn make_named(
    common: &Common,
    file: &Path,
    name: &str,
    options: &PlanOptions,
) -> Result<Option<Planned>> {
    let text = experiment_text(file)?;
    make(common, &text, name, &file.display().to_string(), options)
}

/// The text of an experiment.
///
/// # Errors
/// When it cannot be read, or describes an import.
pub(super) fn experiment_text(file: &Path) -> Result<String> {
    let text = text_of(file).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => suites::remedy(file),
            _ => "see `schedlab list suites` for ready ones".to_owned(),
        };
        Error::usage(format!("cannot read the experiment {}", file.display()), error, remedy)
    })?;
    import_mapping::refuse(file, &text)?;
    Ok(text)
}

/// The text of a file that the user named, and that may be a pipe, or something that never ends.
pub(super) fn text_of(file: &Path) -> io::Result<String> {
    limited(File::open(file)?)
}

/// The text of a file that nobody named: where it is no file, nothing waits for it.
pub(super) fn text_of_regular(file: &Path) -> io::Result<String> {
    limited(sys::open_regular(file)?)
}

fn limited(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(EXPERIMENT_BYTES.most + 1).read_to_string(&mut text)?;
    let checked = EXPERIMENT_BYTES.check(text.len() as u64);
    checked.map_err(|over| io::Error::new(io::ErrorKind::FileTooLarge, over))?;
    Ok(text)
}

/// Plans an experiment's text; `None` when its problems were printed.
pub(super) fn make(
    common: &Common,
    text: &str,
    name: &str,
    shown_as: &str,
    options: &PlanOptions,
) -> Result<Option<Planned>> {
    // A wrong option must not hide what is wrong in the file.
    let (overrides, mut wrong): (Vec<_>, Vec<_>) =
        options.set.iter().map(|pair| split_pair(pair)).partition(Result::is_ok);
    let overrides: Vec<(String, String)> = overrides.into_iter().flatten().collect();
    let budget = options.budget.as_deref().map(model::parse_duration).transpose();
    let budget_ns = budget.unwrap_or_else(|error| {
        wrong.push(Err(Error::usage("cannot read --budget", error, "write a time such as 10min")));
        None
    });
    let request = plan::PlanRequest {
        text,
        name,
        overrides: &overrides,
        venue: options.venue.as_deref(),
        budget_ns,
        is_quick: options.quick,
        drawn_seed: random_u64()?,
        resolve: &|factor, text| resolve(common, factor, text),
    };
    match plan::plan(&crate::catalogue(), probes::DEFAULT, &request) {
        Ok(plan) if wrong.is_empty() => {
            let plan = Plan { options: words(options), ..plan };
            Ok(Some(Planned { plan, text: text.to_owned() }))
        }
        outcome => {
            for error in wrong.into_iter().filter_map(Result::err) {
                tell_lines(&format!("schedlab: {error}"));
            }
            if let Err(problems) = outcome {
                tell_lines(plan::render_problems(&problems, shown_as, text).trim_end());
            }
            Ok(None)
        }
    }
}

/// What a text stands for as a level of a factor: names of kernels and schedulers in the caches.
pub(super) fn resolve(
    common: &Common,
    factor: &str,
    text: &str,
) -> Option<std::result::Result<Vec<String>, String>> {
    kernels::stands_for(common, factor, text)
        .or_else(|| schedulers::stands_for(common, factor, text))
}

/// The options that changed the experiment.
fn words(options: &PlanOptions) -> Vec<String> {
    let mut words = Vec::new();
    for pair in &options.set {
        words.extend(["--set".to_owned(), pair.clone()]);
    }
    if let Some(venue) = &options.venue {
        words.extend(["--venue".to_owned(), venue.clone()]);
    }
    if let Some(budget) = &options.budget {
        words.extend(["--budget".to_owned(), budget.clone()]);
    }
    if options.quick {
        words.push("--quick".to_owned());
    }
    words
}

fn split_pair(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Error::usage(
            format!("cannot read --set {pair}"),
            "there is no `=`",
            "write --set key=value",
        )),
    }
}
