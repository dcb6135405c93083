//! Beside the figures: ranks and claims, as tables.

use super::slide::{Body, Slide, Table};
use crate::rankings::{outcome, ranks};
use crate::view::Report;
use model::{ClaimFinding, ClaimOutcome};
use phrases::{counted, say};

pub(super) fn slides(report: &Report) -> Vec<Slide> {
    [ranking(report), claims(report)].into_iter().flatten().collect()
}

fn ranking(report: &Report) -> Option<Slide> {
    let language = report.language;
    let rankings = &report.findings.rankings;
    let rows: Vec<Vec<String>> = rankings
        .iter()
        .map(|ranking| {
            let what = format!("{} {}", ranking.workload, ranking.metric.replace('_', " "));
            vec![what, ranks(ranking, language)]
        })
        .collect();
    let title = counted!(
        language,
        rankings.len(),
        "Ranks: who is told apart in 1 question",
        "Ranks: who is told apart in {count} questions"
    );
    let columns = vec![(language.word("question"), 4), (language.word("ranks"), 8)];
    (!rows.is_empty()).then(|| Slide {
        title,
        body: Body::Table(Table { columns, rows }),
        notes: language.word("Subjects that are not told apart share a rank.").to_owned(),
    })
}

fn claims(report: &Report) -> Option<Slide> {
    let language = report.language;
    let claims = &report.findings.claims;
    let count =
        |is_one: fn(ClaimOutcome) -> bool| claims.iter().filter(|one| is_one(one.outcome)).count();
    let title = say!(
        language,
        "Published claims: {confirmed} confirmed, {refuted} refuted, {undecided} undecided",
        confirmed = count(|outcome| outcome == ClaimOutcome::Confirmed),
        refuted = count(ClaimOutcome::is_refuted),
        undecided = count(ClaimOutcome::is_open)
    );
    let row = |one: &ClaimFinding| {
        let sign = match one.outcome {
            ClaimOutcome::Confirmed => '■',
            outcome if outcome.is_refuted() => '✕',
            _ => '●',
        };
        vec![
            one.claim.says.clone(),
            format!("{sign} {}", outcome(one.outcome, language)),
            one.reason.clone(),
            one.claim.source.clone().unwrap_or_default(),
        ]
    };
    let columns = vec![
        (language.word("claim"), 4),
        (language.word("outcome"), 2),
        (language.word("why"), 5),
        (language.word("source"), 3),
    ];
    let notes = language.word("What others published, judged by the records of this campaign.");
    (!claims.is_empty()).then(|| Slide {
        title,
        body: Body::Table(Table { columns, rows: claims.iter().map(row).collect() }),
        notes: notes.to_owned(),
    })
}
