//! `schedlab history`: a metric over campaigns, and where it changed.

use super::evidence;
use crate::cli::{Common, History};
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use contract::{Error, Result};
use model::{Finding, Interval, Role, inert, round_significant as round};
use report::Language;
use serde::Serialize;
use stats::change_points;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use store::LoadedCampaign;

/// Heights of the sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One question over campaigns: subject against the reference of the same campaign.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HistorySeries"))]
struct Series {
    workload: String,
    metric: String,
    subject: String,
    reference: String,
    /// Whether its campaigns ran on an emulated processor: never mixed with real ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_emulated: bool,
    /// Changes smaller than this fraction do not count.
    margin: f64,
    points: Vec<Point>,
    changes: Vec<Change>,
}

/// One campaign of a series.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HistoryPoint"))]
struct Point {
    campaign: String,
    /// Oriented ratio to the reference: above 1 is better.
    ratio: f64,
    low: f64,
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    high: f64,
    /// The error rate of that interval.
    alpha: f64,
    blocks: usize,
}

/// Where the level of a series changed.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HistoryChange"))]
struct Change {
    /// The last campaign before it.
    after: String,
    /// The first one behind it.
    before: String,
    /// Oriented ratio of the new level to the old one, with its 95 % interval.
    ratio: f64,
    low: f64,
    high: f64,
    p: f64,
}

/// What the dashboard shows.
#[cfg(any(feature = "server", feature = "typescript"))]
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "History"))]
struct Document {
    format: &'static str,
    series: Vec<Series>,
    problems: Vec<String>,
}

/// Shows the types of the history to what declares them for the front end.
#[cfg(feature = "typescript")]
pub(crate) fn visit_history(visitor: &mut impl ts_rs::TypeVisitor) {
    visitor.visit::<Document>();
}

/// Every primary metric over all finished campaigns, `schedlab.history/1`, each loaded in this way.
#[cfg(feature = "server")]
pub(super) fn json(
    results: &Path,
    load: &dyn Fn(&Path) -> Result<LoadedCampaign>,
) -> Result<String> {
    let (series, problems) = collect(results, load, &|_| true)?;
    let document = Document { format: "schedlab.history/1", series, problems };
    // Names come from files.
    serde_json::to_string(&document)
        .map(|json| model::inert_json(&json))
        .map_err(|error| Error::environment("cannot encode the history", error))
}

pub(super) fn run(common: &Common, arguments: &History) -> Result<ExitCode> {
    let load = |directory: &Path| evidence::load(common, directory);
    let is_wanted = |finding: &Finding| is_meant(finding, arguments);
    let (series, problems) = collect(&common.results, &load, &is_wanted)?;
    problems.iter().for_each(|problem| tell(problem));
    if series.is_empty() {
        return Err(Error::usage(
            format!("cannot tell the history of {}", arguments.metric),
            format!(
                "no finished campaign in {} has it as a primary metric",
                common.results.display()
            ),
            "`schedlab show CAMPAIGN` shows what a campaign asked",
        ));
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&series)
            .map_err(|error| Error::environment("cannot encode the result", error))?;
        print_data(&format!("{text}\n"))?;
    } else {
        for one in &series {
            print(&drawn(one))?;
        }
    }
    Ok(ExitCode::Done)
}

type Key = (String, String, String, String, bool);

/// The series of primary metrics that are wanted, and why campaigns are left out.
fn collect(
    results: &Path,
    load: &dyn Fn(&Path) -> Result<LoadedCampaign>,
    is_wanted: &dyn Fn(&Finding) -> bool,
) -> Result<(Vec<Series>, Vec<String>)> {
    let mut by_question: BTreeMap<Key, Series> = BTreeMap::new();
    let mut problems = Vec::new();
    for directory in store::finished(results)? {
        let loaded = match load(&directory) {
            Ok(loaded) => loaded,
            Err(error) => {
                let place = directory.display();
                problems.push(format!("{place} is left out: {}", error.one_line()));
                continue;
            }
        };
        if loaded.plan.is_pilot {
            continue;
        }
        if let Some(flaw) = loaded.flaws.first() {
            problems.push(format!("{} is left out: {}", directory.display(), flaw.detail));
            continue;
        }
        let campaign = directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let findings = lab::judge_records(&loaded);
        for finding in &findings.findings {
            if finding.question.role == Role::Primary && is_wanted(finding) {
                note(&mut by_question, &campaign, finding, findings.alpha_of(finding));
            }
        }
    }
    let mut all: Vec<Series> = by_question.into_values().collect();
    for series in &mut all {
        series.changes = changes(series);
    }
    Ok((all, problems))
}

fn is_meant(finding: &Finding, arguments: &History) -> bool {
    let question = &finding.question;
    let fits = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|text| text == own);
    question.metric == arguments.metric
        && fits(&arguments.workload, &question.workload)
        && fits(&arguments.subject, &question.subject)
}

fn note(by_question: &mut BTreeMap<Key, Series>, campaign: &str, finding: &Finding, alpha: f64) {
    let question = &finding.question;
    let Some(effect) = &finding.effect else { return };
    let key = (
        question.workload.clone(),
        question.metric.clone(),
        question.subject.clone(),
        question.reference.clone(),
        finding.is_emulated,
    );
    let series = by_question.entry(key).or_insert_with(|| Series {
        workload: question.workload.clone(),
        metric: question.metric.clone(),
        subject: question.subject.clone(),
        reference: question.reference.clone(),
        is_emulated: finding.is_emulated,
        margin: finding.margin,
        points: Vec::new(),
        changes: Vec::new(),
    });
    series.margin = finding.margin;
    series.points.push(Point {
        campaign: campaign.to_owned(),
        ratio: effect.ratio,
        low: effect.interval.low,
        high: effect.interval.high,
        alpha,
        blocks: finding.pairs,
    });
}

fn changes(series: &Series) -> Vec<Change> {
    let logs: Vec<f64> = series.points.iter().map(|point| stats::ln(point.ratio)).collect();
    let found = change_points(&logs, stats::ln(1.0 + series.margin));
    let ratio = |log: f64| round(stats::exp(log));
    found
        .into_iter()
        .map(|change| Change {
            after: series.points[change.index - 1].campaign.clone(),
            before: series.points[change.index].campaign.clone(),
            ratio: ratio(change.shift),
            low: ratio(change.shift - change.half_width),
            high: ratio(change.shift + change.half_width),
            p: round(change.p),
        })
        .collect()
}

fn drawn(series: &Series) -> String {
    let estimate = |ratio: f64, low: f64, high: f64| {
        report::estimate(ratio, &Interval { low, high }, Language::default())
    };
    let head = format!(
        "{}{} {}: {} against {}, {} campaigns (+ and × are better)",
        if series.is_emulated { "emulated: " } else { "" },
        series.workload,
        series.metric,
        series.subject,
        series.reference,
        series.points.len()
    );
    // Names come from files, and none of them holds the end of a line.
    let mut text = format!("{}\n  {}\n", inert(&head), sparkline(&series.points));
    // Writing to a string cannot fail.
    for point in &series.points {
        let (effect, interval) = estimate(point.ratio, point.low, point.high);
        let _ = writeln!(
            text,
            "  {:<40} {effect:>9}  [{interval}]  n={}",
            inert(&point.campaign),
            point.blocks
        );
    }
    for change in &series.changes {
        let (size, interval) = estimate(change.ratio, change.low, change.high);
        let _ = writeln!(
            text,
            "  changed between {} and {}: {size} [{interval}], {}; an alert to look closer, not a \
             verdict",
            inert(&change.after),
            inert(&change.before),
            model::p_equation(change.p)
        );
    }
    if series.changes.is_empty() {
        let _ = writeln!(
            text,
            "  no change larger than {} % was found{}",
            round(100.0 * series.margin),
            if series.points.len() < 10 {
                "; it takes at least ten campaigns to find one"
            } else {
                ""
            }
        );
    }
    text.push('\n');
    text
}

/// The ratios' logarithms between the lowest and the highest.
fn sparkline(points: &[Point]) -> String {
    let logs: Vec<f64> = points.iter().map(|point| stats::ln(point.ratio)).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |log: f64| {
        let share = if high > low { (log - low) / (high - low) } else { 0.5 };
        BARS[((share * 7.0).round() as usize).min(7)]
    };
    logs.iter().map(|log| height(*log)).collect()
}
