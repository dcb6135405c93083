//! What a plan's workloads are built of, built before the first trial.

use super::kernels::ProgressLine;
use crate::cli::Common;
use crate::environment::{build_variables, search_path};
use crate::progress::human_duration;
use artefacts::programs::Programs;
use builds::{BuildUser, FromSources};
use contract::{Catalogue, Footprint, Interrupt, Recipe, Result};
use model::Plan;
use std::time::{Duration, Instant};

/// Between lines where nothing can be drawn.
const WRITTEN_EVERY: Duration = Duration::from_secs(15);

/// The builds of a plan that are due, each once. None are on a venue that touches nothing of this
/// machine: it starts no program.
///
/// # Errors
/// When sources cannot be read, or the plan's venue is not in the catalogue.
pub(super) fn due(plan: &Plan) -> Result<Vec<Recipe>> {
    let catalogue: Catalogue = crate::catalogue();
    if catalogue.venue_of(plan)?.facts().footprint == Footprint::Nothing {
        return Ok(Vec::new());
    }
    let mut due: Vec<Recipe> = Vec::new();
    for (_, _, configured) in catalogue.configured(plan) {
        for recipe in configured.facts().recipes {
            // Without sources nothing is built; whether that matters is a requirement's to say.
            let has_sources = recipe.directory.is_dir();
            if has_sources
                && !due.contains(&recipe)
                && !of(&recipe).is_fresh().map_err(venues::artefact_error)?
            {
                due.push(recipe);
            }
        }
    }
    Ok(due)
}

/// Builds what is due.
///
/// # Errors
/// When a build fails, or a signal ends it.
pub(super) fn build(common: &Common, plan: &Plan, interrupt: &Interrupt) -> Result<()> {
    let due = due(plan)?;
    if due.is_empty() {
        return Ok(());
    }
    let user = BuildUser::find(&Programs::new(&search_path()), &build_variables());
    for recipe in due {
        let mut line = ProgressLine::new();
        if let Err(why) = &user {
            line.say(&format!("{} is built as root: {why}", recipe.what));
        }
        let words = recipe.words.join(" ");
        let (began, mut written_at) = (Instant::now(), Instant::now());
        line.say(&format!("building {} in {} ({words})", recipe.what, recipe.directory.display()));
        let as_user = user.as_ref().ok().and_then(Option::as_ref);
        let built = of(&recipe).build(&search_path(), as_user, &mut || {
            let passed = began.elapsed();
            let text =
                format!("building {}: {}", recipe.what, human_duration(passed.as_nanos() as u64));
            line.draw(&text);
            if !line.is_terminal && written_at.elapsed() > WRITTEN_EVERY {
                written_at = Instant::now();
                line.say(&text);
            }
            interrupt.signal().is_none()
        });
        line.clear();
        interrupt.check()?;
        built.map_err(venues::artefact_error)?;
        if common.verbose {
            line.say(&format!("{} is built", recipe.what));
        }
    }
    Ok(())
}

fn of(recipe: &Recipe) -> FromSources<'_> {
    let Recipe { what, directory, words, products, stamp } = recipe;
    FromSources { what, directory, words, products, stamp }
}
