//! What the page of a report is given, `schedlab.page/1`: what figures are drawn from, made
//! small. A page must stay light whatever was recorded, so it has quantiles in place of
//! histograms, and points of figures have six significant digits. Effects and the values beside
//! them have the digits of the findings: what is rounded once more for people must not have been
//! rounded before, or the page says +11.1 % where the text says +11.0 %.

mod curves;
mod timeline;
mod trends;

use crate::attempt::attempt;
use crate::breakdown::Breakdown;
use crate::caveats::CaveatView;
use crate::checks::{Check, checks};
use crate::compare::design;
use crate::ejections::Ejections;
use crate::few_boots::few_boots;
use crate::grid::{Axis, Grid};
use crate::ladder::Ladder;
use crate::observed::has_fingerprints;
use crate::premises::evidence_below_attempt;
use crate::series::{Series, series};
use crate::view::{Design, Report, SubjectView};
use curves::{Curves, curves};
use model::{
    ClaimFinding, ClaimOutcome, Direction, Finding, Fingerprint, Ranking, Role, Strength, Unit,
    UseCaseFinding, Verdict, Weight,
};
use phrases::Language;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Not;
use timeline::Timeline;
use trends::{Course, course};

/// The format's name and version.
const FORMAT: &str = "schedlab.page/1";

/// Everything a page shows.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct PageData<'r> {
    format: &'static str,
    /// ISO 639-1.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    language: Language,
    /// What the page says in place of its English; absent in English.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    words: BTreeMap<&'static str, &'static str>,
    campaign: &'r str,
    title: &'r str,
    answer: &'r str,
    /// Whether the campaign could still go on when it was judged.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_unfinished: bool,
    /// Which attempt it is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    attempt: Option<String>,
    /// What else speaks against its evidence, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    evidence: Vec<String>,
    design: &'r Design,
    /// The design in words, by name: what two campaigns are compared by.
    facts: Vec<(String, String)>,
    /// Of the order; as text, for a script's numbers lose the last digits of 64 bits.
    seed: String,
    subjects: &'r [SubjectView],
    checks: Vec<Check>,
    findings: Vec<Effect<'r>>,
    /// What verdicts of so few boots cannot show, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    few_boots: Option<String>,
    rankings: &'r [Ranking],
    use_cases: Vec<UseCase<'r>>,
    claims: Vec<Claim<'r>>,
    ladders: &'r [Ladder],
    grids: Vec<Map<'r>>,
    breakdowns: Vec<Parts<'r>>,
    /// How metrics went over a soak campaign.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    trends: Vec<Course<'r>>,
    ejections: &'r [Ejections],
    curves: Option<Curves>,
    series: Vec<Series>,
    /// Absent where nothing was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    timeline: Option<Timeline>,
    caveats: &'r [CaveatView],
    environment: &'r Fingerprint,
    differences: &'r BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Whether the machine of each trial was compared with that of the campaign's beginning.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_machine_compared: bool,
    notes: &'r [String],
    reproduce: &'r [String],
    plan_digest: &'r str,
    /// Whether its numbers were simulated, here or by others of whom they were imported.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_simulated: bool,
    /// Whether any verdict rests on an emulated processor, whether its values are shown or not.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_emulated: bool,
    hides_absolute: bool,
}

/// One comparison, with what its figure and its table say.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Finding"))]
struct Effect<'r> {
    workload: &'r str,
    metric: &'r str,
    unit: Unit,
    direction: Direction,
    subject: &'r str,
    reference: &'r str,
    role: Role,
    verdict: Verdict,
    strength: Option<Strength>,
    reason: Option<&'r str>,
    /// Whether something forbids every verdict, so that its numbers are evidence of nothing.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_forbidden: bool,
    /// Whether the effect is a ratio of odds, as that of a share is.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_odds: bool,
    margin: f64,
    pairs: usize,
    /// The error rate of its interval.
    alpha: f64,
    /// Whether that holds at every look together.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_sequence: bool,
    subject_value: Option<f64>,
    reference_value: Option<f64>,
    effect: Option<Ratio>,
    caveats: Vec<&'static str>,
}

/// An oriented ratio, above one is better, with its interval for this comparison alone.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct Ratio {
    ratio: f64,
    low: f64,
    /// `null` where unbounded.
    high: Option<f64>,
    /// Of no difference, adjusted over the family.
    adjusted_p: Option<f64>,
}

/// What serves a use case, by rank.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct UseCase<'r> {
    use_case: &'r str,
    weights: &'r [Weight],
    ranking: &'r Ranking,
    co_best: &'r [String],
    without_evidence: &'r [String],
}

/// What somebody has published, and what these data say of it.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct Claim<'r> {
    says: &'r str,
    source: Option<&'r str>,
    outcome: ClaimOutcome,
    reason: &'r str,
}

/// A breakdown, with what it says in words.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Breakdown"))]
struct Parts<'r> {
    #[serde(rename = "said")]
    sentences: Vec<String>,
    #[serde(flatten)]
    breakdown: &'r Breakdown,
}

fn parts(breakdown: &Breakdown, language: Language) -> Parts<'_> {
    Parts { sentences: breakdown.sentences(language), breakdown }
}

/// A grid without its runs.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Grid"))]
struct Map<'r> {
    measure: &'r str,
    unit: Unit,
    direction: Direction,
    rows: &'r Axis,
    columns: &'r Axis,
    /// Geometric means of runs by subject, by row, then by column.
    subjects: Vec<MapSubject<'r>>,
    comparisons: Vec<MapComparison<'r>>,
}

/// The values of one subject.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GridSubject"))]
struct MapSubject<'r> {
    subject: &'r str,
    cells: Vec<Vec<Option<f64>>>,
}

/// The effects of one comparison.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GridComparison"))]
struct MapComparison<'r> {
    subject: &'r str,
    reference: &'r str,
    is_control: bool,
    cells: Vec<Vec<Option<MapCell>>>,
}

/// What one cell says.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GridCell"))]
struct MapCell {
    verdict: Verdict,
    effect: Option<Ratio>,
    /// Whether the effect is a ratio of odds, as that of a share is.
    #[serde(skip_serializing_if = "Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_odds: bool,
}

/// What the page says in a language in place of its English, as JSON; nothing in English.
pub fn page_words(language: Language) -> Option<String> {
    #[derive(Serialize)]
    struct Words {
        language: Language,
        words: BTreeMap<&'static str, &'static str>,
    }
    let words = Words { language, words: language.page().collect() };
    (!language.is_english()).then(|| serde_json::to_string(&words).ok()).flatten()
}

/// Shows the types of what the page is given to what declares them for the front end.
#[cfg(feature = "typescript")]
pub fn visit_page(visitor: &mut impl ts_rs::TypeVisitor) {
    visitor.visit::<PageData<'static>>();
}

/// What the page of a report is given, as JSON.
///
/// # Errors
/// When it cannot be encoded.
pub fn page_json(report: &Report) -> io::Result<String> {
    Ok(model::inert_json(&serde_json::to_string(&page_data(report))?))
}

/// What the page of this report is given; of an emulated processor no value, which would be
/// that of no real one.
fn page_data(report: &Report) -> PageData<'_> {
    let findings = &report.findings;
    let asked = findings.findings.iter().filter(|one| one.question.role != Role::Screen);
    let is_shown = !report.hides_absolute;
    PageData {
        format: FORMAT,
        language: report.language,
        words: report.language.page().collect(),
        campaign: &report.campaign,
        title: &report.title,
        answer: &report.answer,
        is_unfinished: findings.is_unfinished,
        attempt: attempt(report),
        evidence: evidence_below_attempt(report),
        design: &report.design,
        facts: design(report),
        seed: report.design.seed_words(report.language),
        subjects: &report.subjects,
        checks: checks(report),
        findings: asked
            .map(|finding| effect(finding, findings.alpha_of(finding), is_shown))
            .collect(),
        few_boots: few_boots(report),
        rankings: &findings.rankings,
        use_cases: findings.use_cases.iter().map(use_case).collect(),
        claims: findings.claims.iter().map(claim).collect(),
        ladders: &report.ladders,
        breakdowns: report.breakdowns.iter().map(|one| parts(one, report.language)).collect(),
        grids: report.grids.iter().map(|grid| map(grid, is_shown)).collect(),
        trends: findings.trends.iter().map(|trend| course(trend, report)).collect(),
        ejections: &report.ejections,
        curves: is_shown.then(|| curves(report)).flatten(),
        series: if is_shown { series(report) } else { Vec::new() },
        timeline: None,
        caveats: &report.caveats,
        environment: &report.environment,
        differences: &report.differences,
        is_machine_compared: has_fingerprints(report),
        notes: &report.notes,
        reproduce: &report.reproduce,
        plan_digest: &report.plan_digest,
        is_simulated: report.is_simulated,
        is_emulated: findings.findings.iter().any(|finding| finding.is_emulated),
        hides_absolute: report.hides_absolute,
    }
}

fn effect(finding: &Finding, alpha: f64, is_shown: bool) -> Effect<'_> {
    let question = &finding.question;
    Effect {
        workload: &question.workload,
        metric: &question.metric,
        unit: question.unit,
        direction: question.direction,
        subject: &question.subject,
        reference: &question.reference,
        role: question.role,
        verdict: finding.verdict,
        strength: finding.strength,
        reason: finding.reason.as_deref(),
        is_forbidden: finding.is_forbidden(),
        is_odds: finding.is_odds,
        margin: finding.margin,
        pairs: finding.pairs,
        alpha: finding.deciding_alpha().unwrap_or(alpha),
        is_sequence: finding.is_sequence(),
        subject_value: finding.subject_value.filter(|_| is_shown),
        reference_value: finding.reference_value.filter(|_| is_shown),
        effect: finding
            .effect
            .as_ref()
            .zip(finding.shown_interval())
            .map(|(effect, shown)| ratio(effect.ratio, shown, effect.adjusted_difference)),
        caveats: finding.caveats.iter().map(|caveat| caveat.code.as_str()).collect(),
    }
}

fn ratio(ratio: f64, interval: model::Interval, adjusted_p: Option<f64>) -> Ratio {
    Ratio {
        ratio,
        low: interval.low,
        high: interval.high.is_finite().then_some(interval.high),
        adjusted_p,
    }
}

fn use_case(finding: &UseCaseFinding) -> UseCase<'_> {
    UseCase {
        use_case: &finding.use_case,
        weights: &finding.weights,
        ranking: &finding.ranking,
        co_best: &finding.co_best,
        without_evidence: &finding.without_evidence,
    }
}

fn claim(finding: &ClaimFinding) -> Claim<'_> {
    Claim {
        says: &finding.claim.says,
        source: finding.claim.source.as_deref(),
        outcome: finding.outcome,
        reason: &finding.reason,
    }
}

fn map(grid: &Grid, is_shown: bool) -> Map<'_> {
    let shown = grid.subjects.iter().filter(|subject| is_shown && !subject.is_control);
    Map {
        measure: &grid.measure,
        unit: grid.unit,
        direction: grid.direction,
        rows: &grid.rows,
        columns: &grid.columns,
        subjects: shown
            .map(|subject| MapSubject {
                subject: &subject.subject,
                cells: of_cells(&subject.cells, |value| value.mean),
            })
            .collect(),
        comparisons: grid
            .comparisons
            .iter()
            .map(|comparison| MapComparison {
                subject: &comparison.subject,
                reference: &comparison.reference,
                is_control: comparison.is_control,
                cells: of_cells(&comparison.cells, |cell| MapCell {
                    verdict: cell.verdict,
                    effect: cell
                        .ratio
                        .zip(cell.interval)
                        .map(|(value, interval)| ratio(value, interval, cell.adjusted_difference)),
                    is_odds: cell.is_odds,
                }),
            })
            .collect(),
    }
}

fn of_cells<T, U>(cells: &[Vec<Option<T>>], mut of: impl FnMut(&T) -> U) -> Vec<Vec<Option<U>>> {
    let row = |row: &Vec<Option<T>>| row.iter().map(|cell| cell.as_ref().map(&mut of)).collect();
    cells.iter().map(row).collect()
}
