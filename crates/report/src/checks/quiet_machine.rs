//! Whether the machine did nothing else meanwhile, as the records show it of each run.

use super::state::{CheckState, NO_TRIAL, NOTHING_RAN, not_observed, passed};
use crate::counts;
use crate::observed::{Extent, Provenance, disturbance, disturbed};
use crate::view::Report;
use model::Disturbance;
use phrases::{noted, say};

/// Each part of it that the records show in every invocation.
pub(super) fn state(report: &Report) -> (CheckState, String) {
    let language = report.language;
    match Provenance::of(report) {
        Provenance::Simulated => return not_observed(report, NOTHING_RAN),
        Provenance::ImportedBlocks | Provenance::ImportedRows => {
            let nothing = noted!("the file does not show what else the machine did");
            return not_observed(report, nothing);
        }
        Provenance::Ran if report.records.is_empty() => return not_observed(report, NO_TRIAL),
        Provenance::Ran => {}
    }
    let noticed = noticed(report);
    if !noticed.is_empty() {
        return (CheckState::Warned, noticed.join("; "));
    }
    let parts = [
        (disturbance(report, |one| one.foreign_share.is_some()), noted!("foreign load")),
        (disturbance(report, |one| one.stolen_share.is_some()), noted!("stolen time")),
        (disturbance(report, |one| one.throttles.is_some()), noted!("throttling")),
    ];
    let listed = |is_seen: bool| {
        let chosen = parts.iter().filter(|(extent, _)| extent.is_all() == is_seen);
        let words: Vec<&str> = chosen.map(|(_, name)| language.word(name)).collect();
        words.join(", ")
    };
    let (seen, unseen) = (listed(true), listed(false));
    if unseen.is_empty() {
        return passed(report, noted!("no foreign load, no stolen time, no throttling"));
    }
    let [(extent, _), ..] = parts;
    if !extent.is_all() {
        let (seen, all) = (extent.seen, extent.of);
        let detail = if extent.is_about_one() {
            say!(
                language,
                "not read in every run ({seen} of {all} has a reading of foreign load): {unseen}",
                seen,
                all,
                unseen
            )
        } else {
            say!(
                language,
                "not read in every run ({seen} of {all} have a reading of foreign load): {unseen}",
                seen,
                all,
                unseen
            )
        };
        return (CheckState::NotObserved, detail);
    }
    let detail = say!(language, "none of {seen}; not read in every run: {unseen}", seen, unseen);
    (CheckState::Passed, detail)
}

/// What was more than nothing in any run, by the limits of the executor's own warnings.
fn noticed(report: &Report) -> Vec<String> {
    let language = report.language;
    let share = |(extent, most): (Extent, f64), name: &'static str| {
        let what = language.word(name);
        let most = model::percent(most, 1);
        (extent.seen > 0).then(|| {
            say!(
                language,
                "{what} in {seen} of {runs}, up to {most} % of the CPUs' time",
                what,
                seen = extent.seen,
                runs = counts::runs(extent.of, language),
                most
            )
        })
    };
    let (throttled, _) = disturbed(report, |one| one.noticeable_throttles().map(|all| all as f64));
    let throttling = (throttled.seen > 0).then(|| {
        say!(
            language,
            "throttling in {seen} of {runs}",
            seen = throttled.seen,
            runs = counts::runs(throttled.of, language)
        )
    });
    let parts = [
        share(disturbed(report, Disturbance::noticeable_load), noted!("foreign load")),
        share(disturbed(report, Disturbance::noticeable_steal), noted!("stolen time")),
        throttling,
    ];
    parts.into_iter().flatten().collect()
}
