//! `schedlab studies run` and `compare`: what was published beside what was measured here.

use super::study_text::{INDENT, push, state_of};
use super::{planning, reports, run, suites};
use crate::cli::studies::StudyRun;
use crate::cli::{Common, Experiment};
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::{Error, Result};
use model::{ClaimFinding, NumberOrigin, counted};
use report::{Language, claim_outcome};
use studies::{JudgedClaim, Study, StudyJudgement};

pub(super) fn run(common: &Common, arguments: &StudyRun) -> Result<ExitCode> {
    let study = studies::find(&arguments.name)?;
    let judged = studies::judge(&study)?;
    let mut code = ExitCode::Done;
    for suite in chosen(&study, arguments.suite.as_deref())? {
        let file = suites::file_of(suite)?;
        tell(&format!("studies: {} asks claims of `{}`", file.display(), study.name));
        let experiment = Experiment { file, options: arguments.options.clone() };
        let Some(planned) = planning::read(common, &experiment)? else {
            return Ok(ExitCode::Usage);
        };
        if arguments.execution.dry_run {
            run::execute(common, &planned, &arguments.execution)?;
            continue;
        }
        let directory = match run::record(common, &planned, &arguments.execution)? {
            Ok(directory) => directory,
            Err(stopped) => return Ok(stopped),
        };
        let ended = run::conclude(common, &directory, arguments.execution.presentation)?;
        if ended != ExitCode::Done {
            code = ended;
        }
        compare(common, &judged, &directory.display().to_string())?;
    }
    Ok(code)
}

/// The suites of a study, or the one of them that is asked for.
fn chosen<'s>(study: &'s Study, wanted: Option<&str>) -> Result<Vec<&'s str>> {
    let suites = study.suites();
    let Some(wanted) = wanted else { return Ok(suites) };
    match suites.iter().find(|suite| **suite == wanted) {
        Some(suite) => Ok(vec![*suite]),
        None => Err(Error::usage(
            format!("cannot run the suite `{wanted}` for the study `{}`", study.name),
            "it asks no claim of this study",
            format!("its suites are {}", suites.join(", ")),
        )),
    }
}

/// Prints what a study published beside what a campaign measured.
pub(super) fn compare(common: &Common, judged: &StudyJudgement, campaign: &str) -> Result<()> {
    let (loaded, findings) = reports::judged(common, campaign)?;
    let origin = NumberOrigin::of(&loaded.plan, Some(&findings));
    print(&beside(judged, &loaded.plan.name, origin, &findings.claims)?)
}

/// Each claim that a campaign asks, as it was published and as it ended, by numbers of this origin.
fn beside(
    judged: &StudyJudgement,
    campaign: &str,
    origin: NumberOrigin,
    ended: &[ClaimFinding],
) -> Result<String> {
    let origin = origin.word();
    let of = |claim: &JudgedClaim| -> Vec<&ClaimFinding> {
        let is_asked = |finding: &&ClaimFinding| {
            let says = &finding.claim.says;
            claim.asked.iter().any(|asked| asked.suite == campaign && asked.says == *says)
        };
        ended.iter().filter(is_asked).collect()
    };
    let mut text = format!("\n{}: published, and {origin} by {campaign}\n\n", judged.study);
    let mut others = 0;
    for claim in &judged.claims {
        let found = of(claim);
        if found.is_empty() {
            others += 1;
            continue;
        }
        push(&mut text, 0, &format!("{} {}", claim.claim.id, claim.claim.claim));
        let published = format!("published: {} ({})", claim.claim.size, claim.claim.pair);
        push(&mut text, INDENT, &published);
        push(&mut text, INDENT, &format!("by its own figures: {}", state_of(claim)));
        for finding in found {
            let source = finding.claim.source.as_deref().unwrap_or("no source is named");
            let outcome = claim_outcome(finding, Language::default());
            push(&mut text, INDENT, &format!("{origin} ({source}): {outcome}"));
        }
    }
    if others == judged.claims.len() {
        return Err(Error::usage(
            format!("cannot compare `{campaign}` with the study `{}`", judged.study),
            "no claim of this campaign is one of that study",
            format!("run one of its suites: schedlab studies run {}", judged.study),
        ));
    }
    text.push('\n');
    push(
        &mut text,
        0,
        &format!("not asked by {campaign}: {} of this study", counted(others, "claim")),
    );
    Ok(text)
}
