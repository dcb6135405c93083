//! After the evidence: the conclusion, which levels to set, and what it takes to check it all.

use super::headline::{effect, main_caveat, primary, sentence, winner};
use super::opening::levels;
use super::slide::{Body, Paragraph, Slide, Table};
use crate::emulated::mark;
use crate::few_boots::few_boots;
use crate::quantities::{bracketed, versus};
use crate::reservations::reservations;
use crate::verdict_table::{verdict, words};
use crate::view::{Report, SubjectView};
use model::{Finding, Question, Role, UseCaseFinding, Verdict};
use phrases::{Language, counted, say};
use std::collections::BTreeSet;

/// Findings that the appendix lists; the rest is in the other formats.
const MOST_FINDINGS: usize = 200;
/// Places of a caveat that are named.
const MOST_PLACES: usize = 2;
/// Workloads that a line of the guide names.
const MOST_NAMED: usize = 4;

pub(super) fn slides(report: &Report) -> Vec<Slide> {
    let mut slides = vec![conclusion(report)];
    slides.extend(guide(report));
    slides.push(again(report));
    slides.extend(findings(report));
    slides.extend(caveats(report));
    slides
}

fn conclusion(report: &Report) -> Slide {
    let language = report.language;
    let all = primary(report);
    let of = |verdict: Verdict| all.iter().filter(|one| one.verdict == verdict).count();
    let strongest = |verdict: Verdict| {
        let mut found: Vec<&&Finding> = all.iter().filter(|one| one.verdict == verdict).collect();
        found.sort_by(|one, other| other.size().total_cmp(&one.size()));
        found
            .into_iter()
            .take(2)
            .map(|one| format!("{}: {}", sentence(one, language), effect(report, one)))
            .collect::<Vec<_>>()
            .join("; ")
    };
    let mut paragraphs = vec![Paragraph::new(language.word("Winner"), winner(report))];
    let labels =
        [(Verdict::Better, language.word("Better")), (Verdict::Worse, language.word("Worse"))];
    for (verdict, label) in labels {
        if of(verdict) > 0 {
            paragraphs.push(Paragraph::new(label, strongest(verdict)));
        }
    }
    let rest = say!(
        language,
        "{alike} alike within the margin, {undecided} undecided, {invalid} without a valid answer, \
         of {comparisons}",
        alike = of(Verdict::Equivalent),
        undecided = of(Verdict::Inconclusive),
        invalid = of(Verdict::Invalid),
        comparisons = counted!(language, all.len(), "1 comparison", "{count} comparisons")
    );
    paragraphs.push(Paragraph::new(language.word("Else"), rest));
    let limits = [reservations(&all, language), few_boots(report)];
    paragraphs.extend(limits.into_iter().flatten().map(|limit| Paragraph::new("", limit)));
    paragraphs.push(Paragraph::new(language.word("Main caveat"), main_caveat(report)));
    Slide {
        title: say!(language, "Conclusion: {winner}", winner = winner(report)),
        body: Body::Paragraphs(paragraphs),
        notes: report.answer.clone(),
    }
}

/// Which levels to set for what, from declared use cases; else for each subject from its own
/// comparisons.
fn guide(report: &Report) -> Option<Slide> {
    let language = report.language;
    let use_cases = &report.findings.use_cases;
    let rows: Vec<Vec<String>> = if use_cases.is_empty() {
        let compared = report.subjects.iter().filter(|one| !one.is_reference && !one.is_control);
        compared.filter_map(|subject| by_subject(report, subject)).collect()
    } else {
        use_cases.iter().map(|use_case| by_use_case(report, use_case)).collect()
    };
    let first =
        if use_cases.is_empty() { language.word("to get this") } else { language.word("use case") };
    let columns = vec![
        (first, 4),
        (language.word("set"), 4),
        (language.word("effect"), 4),
        (language.word("worse for"), 4),
    ];
    let title = match use_cases.len() {
        0 => language
            .word("Tuning guide: what to set, from the comparisons that were decided")
            .to_owned(),
        count => counted!(
            language,
            count,
            "Tuning guide: what to set for 1 use case",
            "Tuning guide: what to set for {count} use cases"
        ),
    };
    (!rows.is_empty()).then(|| Slide {
        title,
        body: Body::Table(Table { columns, rows }),
        notes: say!(
            language,
            "Main caveat: {caveat}. Try it on the machine that it is for.",
            caveat = main_caveat(report)
        ),
    })
}

fn by_use_case(report: &Report, use_case: &UseCaseFinding) -> Vec<String> {
    let language = report.language;
    let best: Vec<&SubjectView> =
        report.subjects.iter().filter(|one| use_case.co_best.contains(&one.id)).collect();
    let set: Vec<String> =
        best.iter().map(|one| format!("{} ({})", one.id, levels(one, report))).collect();
    let set = if set.is_empty() {
        language.word("no subject has evidence").to_owned()
    } else {
        set.join(language.word("; or "))
    };
    let is_best = |id: &str| use_case.co_best.iter().any(|best| best == id);
    let effects: Vec<String> = use_case
        .comparisons
        .iter()
        .filter(|one| shows(one, Verdict::Better, &is_best))
        .take(MOST_NAMED)
        .map(|one| format!("{}: {}", pair(one, Verdict::Better, language), effect(report, one)))
        .collect();
    let effects = if effects.is_empty() {
        language.word("none shown to be better: keep what you have").to_owned()
    } else {
        effects.join("; ")
    };
    let is_component = |Question { workload, metric, .. }: &Question| {
        use_case.weights.iter().any(|one| one.workload == *workload && one.metric == *metric)
    };
    // Its own verdict alone tells that a component is worse: an estimate does not.
    let worse = primary(report)
        .into_iter()
        .filter(|one| is_component(&one.question) && shows(one, Verdict::Worse, &is_best))
        .map(|one| {
            let asked = question(one, Verdict::Worse, language);
            (-one.size(), format!("{asked} {}", effect(report, one)))
        })
        .collect();
    let worse = worst_first(worse, language);
    vec![
        format!("{}{}", mark(use_case.ranking.is_emulated, language), use_case.use_case),
        set,
        effects,
        worse.join("; "),
    ]
}

/// Whether a finding shows that one of these subjects is so: as the one that is compared, or as what
/// that one is compared with.
fn shows(finding: &Finding, expected: Verdict, is_own: &dyn Fn(&str) -> bool) -> bool {
    let turned = match expected {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    };
    let Question { subject, reference, .. } = &finding.question;
    (finding.verdict == expected && is_own(subject))
        || (finding.verdict == turned && is_own(reference))
}

/// Which subject is compared with which, and how that ended where it is read from the other side.
fn pair(finding: &Finding, expected: Verdict, language: Language) -> String {
    let pair = versus(&finding.question, language);
    if finding.verdict == expected {
        return pair;
    }
    format!("{pair}, {}", verdict(finding.verdict, language))
}

/// What was asked, and of which subjects.
fn question(finding: &Finding, expected: Verdict, language: Language) -> String {
    let Question { workload, metric, .. } = &finding.question;
    let pair = bracketed(&pair(finding, expected, language), language);
    format!("{workload} {}{pair}", metric.replace('_', " "))
}

/// The lowest first, each said once; how many more there are than are read.
fn worst_first(mut all: Vec<(f64, String)>, language: Language) -> Vec<String> {
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut before = BTreeSet::new();
    let texts = all.into_iter().map(|(_, text)| text);
    let mut said: Vec<String> = texts.filter(|text| before.insert(text.clone())).collect();
    let more = and_more(said.len(), MOST_NAMED, language);
    said.truncate(MOST_NAMED);
    said.extend(more);
    if said.is_empty() {
        said.push(language.word("nothing of it, as far as was shown").to_owned());
    }
    said
}

fn by_subject(report: &Report, subject: &SubjectView) -> Option<Vec<String>> {
    let language = report.language;
    let is_own = |id: &str| id == subject.id;
    let is_about =
        |Question { subject, reference, .. }: &Question| is_own(subject) || is_own(reference);
    let own: Vec<&Finding> =
        primary(report).into_iter().filter(|one| is_about(&one.question)).collect();
    let named = |expected: Verdict| {
        let found: Vec<&Finding> =
            own.iter().copied().filter(|one| shows(one, expected, &is_own)).collect();
        let read = || found.iter().take(MOST_NAMED);
        let mut names: Vec<String> = read().map(|one| question(one, expected, language)).collect();
        names.extend(and_more(found.len(), MOST_NAMED, language));
        let effects: Vec<String> = read().map(|one| effect(report, one)).collect();
        (names.join(", "), effects.join("; "))
    };
    let (better, effects) = named(Verdict::Better);
    let (worse, sizes) = named(Verdict::Worse);
    if better.is_empty() {
        return None;
    }
    let worse = if worse.is_empty() {
        language.word("nothing of it, as far as was shown").to_owned()
    } else {
        format!("{worse}: {sizes}")
    };
    let mark = mark(own.iter().any(|one| one.is_emulated), language);
    Some(vec![
        format!("{mark}{}", say!(language, "better {questions}", questions = better)),
        format!("{} ({})", levels(subject, report), subject.id),
        effects,
        worse,
    ])
}

/// How many are not named.
fn and_more(count: usize, named: usize, language: Language) -> Option<String> {
    (count > named).then(|| say!(language, "and {count} more", count = count - named))
}

fn again(report: &Report) -> Slide {
    let language = report.language;
    let labelled = |label: &str, text: &str| vec![label.to_owned(), text.to_owned()];
    let mut rows: Vec<Vec<String>> =
        report.reproduce.iter().map(|line| labelled(language.word("command"), line)).collect();
    rows.push(labelled(language.word("plan digest"), &report.plan_digest));
    if let Some(seed) = report.design.seed {
        rows.push(labelled(language.word("seed"), &seed.to_string()));
    }
    rows.push(labelled(language.word("campaign"), &report.campaign));
    rows.push(labelled(language.word("format"), &report.format));
    // No order of an import follows from a plan.
    let notes = if report.design.imported.is_some() {
        language.word("The same records give the same findings, and this deck, byte for byte.")
    } else {
        language.word(
            "The same plan, seed and catalogue give the same order; the same records give the same \
             findings, and this deck, byte for byte.",
        )
    };
    Slide {
        title: language.word("Appendix: how to run it again").to_owned(),
        body: Body::Table(Table { columns: vec![("", 2), ("", 10)], rows }),
        notes: notes.to_owned(),
    }
}

fn findings(report: &Report) -> Option<Slide> {
    let language = report.language;
    let asked: Vec<&Finding> =
        report.findings.findings.iter().filter(|one| one.question.role != Role::Screen).collect();
    let row = |one: &&Finding| {
        vec![
            format!("{} {}", one.question.workload, one.question.metric.replace('_', " ")),
            versus(&one.question, language),
            words(one, language),
            effect(report, one),
            one.pairs.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = asked.iter().take(MOST_FINDINGS).map(row).collect();
    let title = match asked.len() {
        count if count > MOST_FINDINGS => say!(
            language,
            "Appendix: {shown} of {count} findings; the workbook has all",
            shown = MOST_FINDINGS,
            count
        ),
        count => {
            counted!(language, count, "Appendix: the finding", "Appendix: all {count} findings")
        }
    };
    let replicates = if report.design.is_unblocked() {
        language.word("executions")
    } else {
        language.word("pairs")
    };
    let columns = vec![
        (language.word("question"), 8),
        (language.word("subjects"), 8),
        (language.word("verdict"), 5),
        (language.word("effect"), 9),
        (replicates, 3),
    ];
    let has_controls = asked.iter().any(|one| one.question.role == Role::Control);
    let notes = if has_controls {
        language.word("Controls are among them: the reference against itself.")
    } else {
        ""
    };
    (!rows.is_empty()).then(|| Slide {
        title,
        body: Body::Table(Table { columns, rows }),
        notes: notes.to_owned(),
    })
}

fn caveats(report: &Report) -> Option<Slide> {
    let language = report.language;
    let rows: Vec<Vec<String>> = report
        .caveats
        .iter()
        .map(|caveat| {
            let mut places: Vec<String> = caveat.places.iter().take(MOST_PLACES).cloned().collect();
            places.extend(and_more(caveat.places.len(), MOST_PLACES, language));
            vec![
                caveat.code.clone(),
                caveat.meaning.clone(),
                super::fit::shortened(&places.join("; "), 300),
            ]
        })
        .collect();
    let columns = vec![
        (language.word("caveat"), 3),
        (language.word("what it means"), 5),
        (language.word("where"), 5),
    ];
    let title = counted!(
        language,
        rows.len(),
        "Appendix: 1 caveat and where it applies",
        "Appendix: {count} caveats and where they apply"
    );
    let notes = language.word("Warnings that travel with records and findings.");
    (!rows.is_empty()).then(|| Slide {
        title,
        body: Body::Table(Table { columns, rows }),
        notes: notes.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first_and_each_is_said_once() {
        let of = |all: &[(f64, &str)]| {
            let all = all.iter().map(|(ratio, text)| (*ratio, (*text).to_owned())).collect();
            worst_first(all, Language::default())
        };
        assert_eq!(of(&[(0.9, "a"), (0.5, "b"), (0.9, "a"), (0.7, "c")]), ["b", "c", "a"]);
        assert_eq!(of(&[(0.9, "a"), (0.8, "b"), (0.9, "a")]), ["b", "a"]);
        assert_eq!(of(&[]), ["nothing of it, as far as was shown"]);
        let many: Vec<(f64, String)> =
            (0..9).map(|count| (1.0 - f64::from(count) / 10.0, count.to_string())).collect();
        let said = worst_first(many, Language::default());
        assert_eq!((said.len(), said[0].as_str(), said[4].as_str()), (5, "8", "and 5 more"));
    }
}
