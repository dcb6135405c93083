//! `schedlab studies`: published studies, and what their own figures bear.

use super::study_runs;
use super::study_text::{INDENT, push, state_of};
use crate::cli::Common;
use crate::cli::studies::{StudiesAction, StudyFormat};
use crate::exit::ExitCode;
use crate::output::{print, print_data};
use contract::{Error, Result};
use studies::{CheckOutcome, ClaimState, FigureSource, Study, StudyJudgement};

pub(super) fn run(common: &Common, action: &StudiesAction) -> Result<ExitCode> {
    match action {
        StudiesAction::Run(arguments) => return study_runs::run(common, arguments),
        StudiesAction::Compare { name, campaign } => {
            let judged = studies::judge(&studies::find(name)?)?;
            study_runs::compare(common, &judged, campaign)?;
        }
        StudiesAction::List => print(&listed()?)?,
        StudiesAction::Show { name } => print(&shown(&studies::find(name)?))?,
        StudiesAction::Judge { name, format } => {
            let judged = studies::judge(&studies::find(name)?)?;
            match format {
                StudyFormat::Text => print(&text_of(&judged))?,
                StudyFormat::Markdown => print_data(&markdown_of(&judged))?,
                StudyFormat::Json => print_data(&json_of(&judged)?)?,
            }
        }
    }
    Ok(ExitCode::Done)
}

fn listed() -> Result<String> {
    let mut text = String::new();
    for name in studies::names() {
        let study = studies::find(name)?;
        let line = format!("{name}: {} ({} claims)", study.title, study.claims.len());
        push(&mut text, 0, &line);
    }
    text.push_str("\nschedlab studies judge NAME tells what each study's own figures bear\n");
    Ok(text)
}

fn shown(study: &Study) -> String {
    let mut text = String::new();
    push(&mut text, 0, &format!("{}: {}", study.name, study.title));
    text.push('\n');
    push(&mut text, 0, &study.design);
    text.push_str("\ntables\n");
    for table in &study.tables {
        push(&mut text, INDENT, &format!("{}: {}; {} rows", table.name, table.holds, table.rows));
    }
    text.push_str("\nclaims\n");
    for claim in &study.claims {
        let line = format!(
            "{} {}. Direction: {}. Size: {}. Of: {}. Where: {} ({}).",
            claim.id,
            claim.claim,
            claim.direction,
            claim.size,
            claim.pair,
            claim.cells,
            claim.section
        );
        push(&mut text, INDENT, &line);
    }
    text
}

fn counts_of(judged: &StudyJudgement) -> String {
    let counts = ClaimState::ALL.map(|state| format!("{state}: {}", judged.count(state)));
    format!("{} claims; {}", judged.claims.len(), counts.join("; "))
}

/// Whether a check holds, and of whose figures.
fn mark(check: &CheckOutcome) -> &'static str {
    match (check.holds, check.source) {
        (Some(true), FigureSource::Own) => "holds",
        (Some(false), FigureSource::Own) => "does not hold",
        (Some(true), FigureSource::Elsewhere) => "holds elsewhere too",
        (Some(false), FigureSource::Elsewhere) => "does not hold elsewhere",
        (None, _) => "size",
    }
}

fn text_of(judged: &StudyJudgement) -> String {
    let mut text = String::new();
    push(&mut text, 0, &format!("{}: {}", judged.study, judged.title));
    text.push('\n');
    push(&mut text, 0, &judged.design);
    text.push('\n');
    push(&mut text, 0, &counts_of(judged));
    text.push_str("\nclaims\n");
    for claim in &judged.claims {
        let line = format!("{} {}: {}", claim.claim.id, claim.claim.claim, state_of(claim));
        push(&mut text, 0, &line);
        for check in &claim.checks {
            push(&mut text, INDENT, &format!("{}: {}", mark(check), check.told));
        }
        for asked in &claim.asked {
            let line = format!("asked by suites/{}.toml: {}", asked.suite, asked.says);
            push(&mut text, INDENT, &line);
        }
    }
    text.push_str("\nwhere the study says two things\n");
    for judged in &judged.contradictions {
        let of = &judged.contradiction;
        let line =
            format!("contradiction {} {}: {} / {} ({})", of.id, of.what, of.one, of.other, of.kind);
        push(&mut text, 0, &line);
        if judged.checks.is_empty() {
            push(&mut text, INDENT, "read, and not computed here");
        }
        for check in &judged.checks {
            push(&mut text, INDENT, &format!("{}: {}", mark(check), check.told));
        }
    }
    text
}

fn markdown_of(judged: &StudyJudgement) -> String {
    let told = |checks: &[CheckOutcome]| {
        let all = checks.iter().map(|check| format!("{}: {}", mark(check), check.told));
        cell(&all.collect::<Vec<_>>().join("; "))
    };
    let mut text = format!(
        "# {}: {}\n\n{}\n\n{}\n\n| id | claim | by its own figures | computed |\n|---|---|---|---|\n",
        judged.study,
        cell(&judged.title),
        cell(&judged.design),
        counts_of(judged)
    );
    for claim in &judged.claims {
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            claim.claim.id,
            cell(&claim.claim.claim),
            cell(&state_of(claim)),
            told(&claim.checks)
        ));
    }
    text.push_str(
        "\n| id | where it says two things | one | other | computed |\n|---|---|---|---|---|\n",
    );
    for judged in &judged.contradictions {
        let of = &judged.contradiction;
        let checks = if judged.checks.is_empty() {
            "read, and not computed here".to_owned()
        } else {
            told(&judged.checks)
        };
        text.push_str(&format!(
            "| contradiction {} | {} | {} | {} | {checks} |\n",
            of.id,
            cell(&of.what),
            cell(&of.one),
            cell(&of.other)
        ));
    }
    text
}

/// A text as a cell of Markdown's tables: on one line, and without what they and HTML obey.
fn cell(text: &str) -> String {
    let mut told = String::new();
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(letter, '|' | '<' | '>' | '*' | '_' | '`' | '\\' | '[' | ']' | '~') {
            told.push('\\');
        }
        told.push(letter);
    }
    told
}

fn json_of(judged: &StudyJudgement) -> Result<String> {
    serde_json::to_string_pretty(judged)
        .map(|text| text + "\n")
        .map_err(|error| Error::environment("cannot encode the judgement", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_written_in_each_format_with_all_its_claims() {
        for name in studies::names() {
            let judged = studies::judge(&studies::find(name).unwrap()).unwrap();
            let (text, markdown) = (text_of(&judged), markdown_of(&judged));
            for claim in &judged.claims {
                let id = &claim.claim.id;
                assert!(text.lines().any(|line| line.starts_with(&format!("{id} "))), "{id}");
                assert_eq!(markdown.matches(&format!("\n| {id} |")).count(), 1, "{id}");
            }
            let columns = |line: &str| line.replace("\\|", "").matches('|').count();
            for line in markdown.lines().filter(|line| line.starts_with('|')) {
                assert!([5, 6].contains(&columns(line)), "{line}");
            }
            let json: serde_json::Value = serde_json::from_str(&json_of(&judged).unwrap()).unwrap();
            assert_eq!(json["claims"].as_array().unwrap().len(), judged.claims.len());
            assert!(json["claims"][0]["state"].is_string() && json["claims"][0]["id"].is_string());
        }
    }

    #[test]
    fn what_was_not_computed_is_said() {
        let judged = studies::judge(&studies::find("bfs").unwrap()).unwrap();
        let text = text_of(&judged);
        assert!(text.contains("read, and not computed here"), "{text}");
        assert!(text.contains("cannot be judged: "), "{text}");
    }
}
