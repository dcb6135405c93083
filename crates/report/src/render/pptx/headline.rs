//! What a reader should take home: the winner, by how much, how sure, and what speaks against it.

use crate::checks::{CheckState, CheckWithCaveats, checks_with_caveats};
use crate::counts;
use crate::emulated::mark;
use crate::observed::Provenance;
use crate::quantities::{NO_INTERVAL, bracketed, confidence, estimate};
use crate::view::Report;
use model::{Finding, Question, Role, Strength, Verdict};
use phrases::{Language, counted, say};
use std::collections::{BTreeMap, BTreeSet};

/// The findings that verdicts are about.
pub(super) fn primary(report: &Report) -> Vec<&Finding> {
    let all = report.findings.findings.iter();
    all.filter(|finding| finding.question.role == Role::Primary).collect()
}

/// The strongest of these.
fn strongest<'r>(all: impl Iterator<Item = &'r Finding>) -> Option<&'r Finding> {
    all.max_by(|one, other| one.size().total_cmp(&other.size()))
}

/// The strongest of all that have an estimate.
pub(super) fn strongest_estimated(report: &Report) -> Option<&Finding> {
    strongest(primary(report).into_iter().filter(|one| one.effect.is_some()))
}

/// What the effect is that the deck opens with: the strongest of all, or only that by which the winner
/// leads most, or that of the title, beside which another is stronger.
pub(super) fn name_of_effect(report: &Report, shown: Option<&Finding>) -> &'static str {
    let language = report.language;
    let all = primary(report);
    let most = strongest_estimated(report).map_or(0.0, Finding::size);
    if shown.is_none_or(|finding| finding.size() >= most) {
        return language.word("Strongest effect");
    }
    match winning(&all) {
        Some(_) => language.word("Winner's largest lead"),
        None => language.word("Effect in the title"),
    }
}

/// An effect with its interval: `+10.6 % (95 % interval +8.9 to +12.3 %)`.
pub(super) fn effect(report: &Report, finding: &Finding) -> String {
    let language = report.language;
    let Some((effect, shown)) = finding.effect.as_ref().zip(finding.shown_interval()) else {
        return language.word("no estimate").to_owned();
    };
    let (effect, interval) = estimate(effect.ratio, &shown, language);
    let effect =
        if finding.is_odds { say!(language, "odds {change}", change = effect) } else { effect };
    if shown.has_no_width() {
        return format!("{effect}{}", bracketed(language.word(NO_INTERVAL), language));
    }
    say!(
        language,
        "{effect} ({level} % interval {interval})",
        effect,
        level = confidence(report.findings.shown_alpha(finding)),
        interval
    )
}

/// A finding as a sentence, without its numbers.
pub(super) fn sentence(finding: &Finding, language: Language) -> String {
    let Question { subject, reference, workload, metric, .. } = &finding.question;
    let metric = metric.replace('_', " ");
    let is_clear = finding.strength == Some(Strength::Clearly);
    let sentence = match finding.verdict {
        Verdict::Better if is_clear => say!(
            language,
            "{subject} is clearly better than {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Better => say!(
            language,
            "{subject} is better than {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Worse if is_clear => say!(
            language,
            "{subject} is clearly worse than {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Worse => say!(
            language,
            "{subject} is worse than {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Equivalent => say!(
            language,
            "{subject} is like {reference} within the margin for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Inconclusive => say!(
            language,
            "undecided: {subject} against {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
        Verdict::Invalid => say!(
            language,
            "no valid answer: {subject} against {reference} for {workload} {metric}",
            subject,
            reference,
            workload,
            metric
        ),
    };
    let is_marked = finding.is_emulated && finding.verdict != Verdict::Invalid;
    format!("{}{sentence}", mark(is_marked, language))
}

/// The finding that the deck opens with: the winner's strongest; where nobody wins, what is
/// worse, else alike.
pub(super) fn main_finding(report: &Report) -> Option<&Finding> {
    let all = primary(report);
    let of = |verdict: Verdict| all.iter().copied().filter(move |one| one.verdict == verdict);
    if let Some(winner) = winning(&all) {
        let is_own = |one: &&Finding| one.question.subject == winner.subject;
        let is_won = |one: &&Finding| of_side(one, winner.subject) == Some(Verdict::Better);
        return strongest(of(Verdict::Better).filter(is_own))
            .or_else(|| strongest(all.iter().copied().filter(is_won)));
    }
    [Verdict::Worse, Verdict::Equivalent, Verdict::Inconclusive, Verdict::Invalid]
        .into_iter()
        .find_map(|verdict| strongest(of(verdict)))
}

/// How often a subject is better and worse, of how many comparisons, on either side of them.
struct Tally<'r> {
    subject: &'r str,
    better: usize,
    worse: usize,
    asked: usize,
}

/// What a verdict says of one of its two sides; nothing of anybody else.
fn of_side(finding: &Finding, name: &str) -> Option<Verdict> {
    let Question { subject, reference, .. } = &finding.question;
    match finding.verdict {
        verdict if subject == name => Some(verdict),
        _ if reference != name => None,
        Verdict::Better => Some(Verdict::Worse),
        Verdict::Worse => Some(Verdict::Better),
        verdict => Some(verdict),
    }
}

/// How often each is better and worse, with how far the strongest lies from no difference where it is
/// better.
fn tallies<'r>(all: &[&'r Finding]) -> BTreeMap<&'r str, (Tally<'r>, f64)> {
    let mut tallies = BTreeMap::new();
    for finding in all {
        for subject in [&finding.question.subject, &finding.question.reference] {
            let none = Tally { subject: subject.as_str(), better: 0, worse: 0, asked: 0 };
            let (tally, most) = tallies.entry(none.subject).or_insert((none, 0.0_f64));
            tally.asked += 1;
            match of_side(finding, subject) {
                Some(Verdict::Better) => {
                    tally.better += 1;
                    *most = f64::max(*most, finding.size());
                }
                Some(Verdict::Worse) => tally.worse += 1,
                _ => {}
            }
        }
    }
    tallies
}

/// The subject that is better more often than worse; of several, the one with the largest lead. What
/// is a reference alone is in more comparisons than the others: it wins where none of them does, and
/// it is worse in none.
fn winning<'r>(all: &[&'r Finding]) -> Option<Tally<'r>> {
    let compared: BTreeSet<&str> = all.iter().map(|one| one.question.subject.as_str()).collect();
    let ahead = tallies(all).into_values().filter(|(tally, _)| tally.better > tally.worse);
    let (own, references): (Vec<_>, Vec<_>) =
        ahead.partition(|(tally, _)| compared.contains(tally.subject));
    let unbeaten = references.into_iter().filter(|(tally, _)| tally.worse == 0);
    let candidates = if own.is_empty() { unbeaten.collect() } else { own };
    let lead = |one: &Tally<'_>| one.better as f64 - one.worse as f64;
    let largest = candidates.into_iter().max_by(|one, other| {
        lead(&one.0).total_cmp(&lead(&other.0)).then(one.1.total_cmp(&other.1))
    });
    largest.map(|(tally, _)| tally)
}

/// The winner, and how often it wins: never by one number over workloads that differ in kind.
pub(super) fn winner(report: &Report) -> String {
    let language = report.language;
    let all = primary(report);
    let winner = match winning(&all) {
        None => language
            .word(
                "none: no subject was shown to be better than its reference more often than worse",
            )
            .to_owned(),
        Some(Tally { subject, better, worse: 0, asked }) => say!(
            language,
            "{subject}, better in {better} of {comparisons} and worse in none",
            subject,
            better,
            comparisons = counts::comparisons(asked, language)
        ),
        Some(Tally { subject, better, worse, asked }) => say!(
            language,
            "{subject} at most: better in {better} of {comparisons}, and worse in {worse}",
            subject,
            better,
            comparisons = counts::comparisons(asked, language),
            worse
        ),
    };
    format!("{}{winner}", mark(all.iter().any(|finding| finding.is_emulated), language))
}

/// Whether a caveat is one of the finding that the deck opens with.
fn is_of_main(report: &Report, code: &str) -> bool {
    main_finding(report)
        .is_some_and(|finding| finding.caveats.iter().any(|one| one.code.as_str() == code))
}

/// What a check saw, of the finding that the deck opens with where it saw something there. A code
/// says nothing to a reader of slides alone.
fn seen(report: &Report, check: &CheckWithCaveats) -> String {
    let is_of_main = |code: &str| is_of_main(report, code);
    let is_about_main = check.caveats.iter().any(|code| is_of_main(code));
    let told = report.caveats.iter().filter(|one| {
        check.caveats.contains(&one.code.as_str()) && (!is_about_main || is_of_main(&one.code))
    });
    let meanings: Vec<String> =
        told.map(|one| format!("{} ({})", one.meaning.trim_end_matches('.'), one.code)).collect();
    if meanings.is_empty() { check.check.detail.clone() } else { meanings.join("; ") }
}

/// What speaks most against believing it.
pub(super) fn main_caveat(report: &Report) -> String {
    let language = report.language;
    if report.is_simulated {
        return language.word("simulated: no machine was measured").to_owned();
    }
    if report.hides_absolute {
        return language
            .word("an emulated processor: only ratios may be read, and they are no real one's")
            .to_owned();
    }
    let checks = checks_with_caveats(report);
    let is_about_main =
        |check: &&CheckWithCaveats| check.caveats.iter().any(|code| is_of_main(report, code));
    let warned = || checks.iter().filter(|one| one.check.state == CheckState::Warned);
    let failed = checks.iter().find(|one| one.check.state == CheckState::Failed);
    // What speaks against the finding that the deck opens with comes before what speaks
    // against others.
    let speaks = failed.or_else(|| warned().find(is_about_main)).or_else(|| warned().next());
    if let Some(check) = speaks {
        return format!("{}: {}", check.check.name, seen(report, check));
    }
    if report.design.is_quick {
        return language
            .word("a quick run: fewer blocks and shorter trials than declared")
            .to_owned();
    }
    match report.caveats.first() {
        Some(caveat) => format!("{}: {}", caveat.code, caveat.meaning),
        None => without_caveat(report, &checks),
    }
}

/// What is left to say where nothing speaks against it: what was not shown, else what nobody looked
/// at, and of what it holds.
fn without_caveat(report: &Report, checks: &[CheckWithCaveats]) -> String {
    let language = report.language;
    let not_shown = checks.iter().find(|one| one.check.state == CheckState::NotShown);
    if let Some(check) = not_shown {
        return format!("{}: {}", check.check.name, seen(report, check));
    }
    let unseen = checks.iter().filter(|one| one.check.state == CheckState::NotObserved).count();
    let unseen = counted!(language, unseen, "1 check not observed", "{count} checks not observed");
    if Provenance::of(report) == Provenance::Ran {
        return say!(
            language,
            "no check failed, {unseen}; it holds for this machine, kernel {kernel} and these \
             workloads",
            unseen,
            kernel = report.design.kernel
        );
    }
    say!(language, "no check failed, {unseen}; what was measured on is not known", unseen)
}
