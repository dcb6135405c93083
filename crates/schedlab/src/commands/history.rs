//! `schedlab history`: a metric over campaigns, and where it changed.

use super::evidence;
use crate::cli::{Common, History};
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use contract::shared_names::DIRECTORY;
use contract::{Error, Result};
use model::{
    Background, BackgroundSession, Binding, CaveatCode, Direction, Finding, Findings, Imported,
    Interval, NumberOrigin, ParameterValue, Plan, Question, Role, Subject, inert,
    round_significant as round,
};
use report::{Language, confidence};
use serde::Serialize;
use stats::change_points;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use store::LoadedCampaign;

/// Heights of the sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Stands in a sparkline for a campaign that no change rests on.
const LEFT_OUT: char = '·';
/// The error rate of the interval of a change.
const CHANGE_ALPHA: f64 = 0.05;

/// Where numbers come from: those of one origin are never mixed with those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
enum HistoryOrigin {
    /// Trials ran on a real processor.
    Measured,
    /// Trials ran on an emulated one.
    Emulated,
    /// The simulator made them up.
    Simulated,
    /// They are numbers of others.
    Imported,
    /// Others measured them on an emulated processor.
    ImportedEmulated,
    /// Others simulated them.
    ImportedSimulated,
}

impl HistoryOrigin {
    /// The origin of the numbers that a finding rests on, as [`NumberOrigin`] decides it. That is one
    /// word, which live views say of a campaign; a series tells numbers of others from those of this
    /// program, too, whatever processor they are of.
    fn of(plan: &Plan, finding: &Finding) -> Self {
        match (NumberOrigin::of_finding(plan, finding), plan.imported.is_some()) {
            (NumberOrigin::Simulated, false) => Self::Simulated,
            (NumberOrigin::Simulated, true) => Self::ImportedSimulated,
            (NumberOrigin::Emulated, false) => Self::Emulated,
            (NumberOrigin::Emulated, true) => Self::ImportedEmulated,
            (NumberOrigin::Imported, _) => Self::Imported,
            // A finding rests on records, which say what the processor was: none is unknown.
            (NumberOrigin::Measured | NumberOrigin::Unknown, _) => Self::Measured,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Emulated => "emulated",
            Self::Simulated => "simulated",
            Self::Imported => "imported",
            Self::ImportedEmulated => "imported, emulated",
            Self::ImportedSimulated => "imported, simulated",
        }
    }
}

/// One question over campaigns: subject against the reference of the same campaign.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HistorySeries"))]
struct Series {
    workload: String,
    metric: String,
    subject: String,
    reference: String,
    /// The levels in which the subject is not as the reference, as text; empty without any.
    subject_levels: String,
    /// Those of the reference.
    reference_levels: String,
    /// Where its numbers come from.
    origin: HistoryOrigin,
    /// What tells it from other series of its names and origin, as text: `venue = vm`.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    conditions: String,
    /// Changes smaller than this do not count: the largest margin of campaigns that one may rest on.
    margin: f64,
    /// The smallest margin of these, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    least_margin: Option<f64>,
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
    /// The interval that reports of the campaign show.
    low: f64,
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    high: f64,
    /// The error rate of that interval.
    alpha: f64,
    blocks: usize,
    /// The campaign's own margin.
    margin: f64,
    /// Levels that both subjects share, as text: other ones are no other series.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    shared_levels: String,
    /// What forbids every verdict on it; no change rests on such a campaign.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    left_out: Option<String>,
    /// What forbids one verdict on it, that it differs or that it does not, and no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    withheld: Option<String>,
    /// Whether nobody can know if its records were edited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    is_unbound: bool,
}

impl Series {
    /// The campaigns that a change may rest on.
    fn counted(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.left_out.is_none())
    }

    /// What all its campaigns say together. The margin of one that no change rests on hides none.
    fn concluded(mut self) -> Self {
        let is_none_counted = self.counted().next().is_none();
        let asked = self.points.iter().filter(|one| is_none_counted || one.left_out.is_none());
        let margins = || asked.clone().map(|point| point.margin);
        let largest = margins().fold(0.0, f64::max);
        let smallest = margins().fold(largest, f64::min);
        self.margin = largest;
        self.least_margin = (smallest < largest).then_some(smallest);
        self.changes = changes(&self);
        self
    }
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

/// Every primary metric over all finished campaigns, `schedlab.history/2`, each loaded in this way.
#[cfg(feature = "server")]
pub(super) fn json(
    results: &Path,
    load: &dyn Fn(&Path) -> Result<LoadedCampaign>,
) -> Result<String> {
    let (series, problems) = collect(results, load, &|_| true)?;
    let document = Document { format: "schedlab.history/2", series, problems };
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
                "no finished campaign in {} has an estimate of it as a primary metric",
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

/// What the campaigns of a series have in common: subjects of one name may be set to other things,
/// and numbers of one name may come from elsewhere. Workload, metric, subject, reference, and the
/// levels of these two in which they differ; what both share cancels.
type Key = ([String; 6], HistoryOrigin);

/// How a question was measured, each condition with its name: venue, direction, size, and the work.
/// A ratio of other work, or of work that ran elsewhere, is another one.
type Conditions = Vec<(String, String)>;

/// Series by what they have in common: those of one key differ in conditions alone.
type ByQuestion = BTreeMap<Key, BTreeMap<Conditions, Series>>;

/// A campaign that was judged.
struct JudgedCampaign<'c> {
    name: &'c str,
    plan: &'c Plan,
    findings: &'c Findings,
    is_unbound: bool,
}

/// The series of primary metrics that are wanted, and why campaigns are left out.
fn collect(
    results: &Path,
    load: &dyn Fn(&Path) -> Result<LoadedCampaign>,
    is_wanted: &dyn Fn(&Finding) -> bool,
) -> Result<(Vec<Series>, Vec<String>)> {
    let mut by_question = ByQuestion::new();
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
        let judged = JudgedCampaign {
            name: &campaign,
            plan: &loaded.plan,
            findings: &findings,
            is_unbound: is_unbound(&loaded.plan, loaded.binding),
        };
        for finding in &findings.findings {
            if finding.question.role == Role::Primary && is_wanted(finding) {
                problems.extend(note(&mut by_question, &judged, finding));
            }
        }
    }
    Ok((all_series(by_question), problems))
}

/// Each series with all that its campaigns say together, and what tells it from others of its key.
fn all_series(by_question: ByQuestion) -> Vec<Series> {
    let of_key = |by_conditions: BTreeMap<Conditions, Series>| {
        let all: Vec<Conditions> = by_conditions.keys().cloned().collect();
        by_conditions.into_iter().map(move |(own, series)| {
            Series { conditions: told_apart(&own, &all), ..series }.concluded()
        })
    };
    by_question.into_values().flat_map(of_key).collect()
}

/// The conditions that not all of these have, as text.
fn told_apart(own: &[(String, String)], all: &[Conditions]) -> String {
    let is_shared = |one: &(String, String)| all.iter().all(|other| other.contains(one));
    let told: Vec<String> = own
        .iter()
        .filter(|one| !is_shared(one))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    told.join(", ")
}

/// Whether records of it, or of what it was imported from, are bound to nothing.
fn is_unbound(plan: &Plan, binding: Binding) -> bool {
    binding == Binding::Absent || plan.imported.as_ref().is_some_and(Imported::is_unbound)
}

fn is_meant(finding: &Finding, arguments: &History) -> bool {
    let question = &finding.question;
    let fits = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|text| text == own);
    question.metric == arguments.metric
        && fits(&arguments.workload, &question.workload)
        && fits(&arguments.subject, &question.subject)
}

/// Adds the campaign to its series; why not, where nothing was estimated.
fn note(
    by_question: &mut ByQuestion,
    judged: &JudgedCampaign<'_>,
    finding: &Finding,
) -> Option<String> {
    let question = &finding.question;
    let Question { workload, metric, .. } = question;
    let Some((effect, shown)) = finding.effect.as_ref().zip(finding.shown_interval()) else {
        let told = format!(
            "{} is left out of {workload} {metric}, {} against {}: {}",
            judged.name,
            question.subject,
            question.reference,
            why_left_out(finding)
        );
        // Names come from files: no end of a line in one begins another line.
        return Some(inert(&told).into_owned());
    };
    let arm = |id: &str| judged.plan.subjects.iter().find(|one| one.id == id);
    let (subject, reference) = (arm(&question.subject), arm(&question.reference));
    let names = [
        workload.clone(),
        metric.clone(),
        question.subject.clone(),
        question.reference.clone(),
        levels(subject, reference, false),
        levels(reference, subject, false),
    ];
    let origin = HistoryOrigin::of(judged.plan, finding);
    let of_key = by_question.entry((names.clone(), origin)).or_default();
    let series = of_key.entry(conditions(judged.plan, question, reference)).or_insert_with(|| {
        let [workload, metric, subject, reference, subject_levels, reference_levels] = names;
        Series {
            workload,
            metric,
            subject,
            reference,
            subject_levels,
            reference_levels,
            origin,
            conditions: String::new(),
            margin: 0.0,
            least_margin: None,
            points: Vec::new(),
            changes: Vec::new(),
        }
    });
    series.points.push(Point {
        campaign: judged.name.to_owned(),
        ratio: effect.ratio,
        low: shown.low,
        high: shown.high,
        alpha: judged.findings.shown_alpha(finding),
        blocks: finding.pairs,
        margin: finding.margin,
        shared_levels: levels(subject, reference, true),
        left_out: finding.is_forbidden().then(|| why_left_out(finding)),
        withheld: why_withheld(finding),
        is_unbound: judged.is_unbound,
    });
    None
}

/// How a question was measured. Parameters are those of the reference: where the subject has others,
/// they are levels. The directory that a program ran in is no part of its work.
fn conditions(plan: &Plan, question: &Question, reference: Option<&Subject>) -> Conditions {
    let direction = match question.direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    };
    let size = if plan.is_quick { "quick" } else { "whole" };
    let named = |name: &str, value: String| (name.to_owned(), value);
    let mut told = vec![
        named("venue", plan.venue.clone()),
        named("direction", direction.to_owned()),
        named("size", size.to_owned()),
    ];
    let Some(workload) = plan.workload(&question.workload) else { return told };
    told.push(named("workload", workload.uses.clone()));
    let parameters =
        reference.map_or(&workload.parameters, |reference| workload.parameters_for(reference));
    let own = parameters.0.iter().filter(|(name, _)| name.as_str() != DIRECTORY);
    told.extend(own.map(|(name, value)| (format!("{}.{name}", workload.uses), spelled(value))));
    told.extend(workload.background.as_ref().map(|load| named("declared load", load_told(load))));
    told
}

/// The one spelling of a parameter's value; lists and tables as JSON.
fn spelled(value: &ParameterValue) -> String {
    value.word().unwrap_or_else(|| serde_json::to_string(value).unwrap_or_default())
}

fn load_told(load: &Background) -> String {
    let session = match load.session {
        BackgroundSession::Same => "of the same session",
        BackgroundSession::Separate => "of a separate session",
    };
    let pinned = if load.is_pinned { ", pinned" } else { "" };
    format!("{} hogs {session}{pinned}", load.hogs)
}

/// The levels of a subject that another one has, too, or those that it has not, as canonical text.
fn levels(subject: Option<&Subject>, other: Option<&Subject>, is_shared: bool) -> String {
    let own = subject.into_iter().flat_map(|subject| &subject.levels);
    let wanted: Vec<String> = own
        .filter(|(factor, level)| {
            let of_other = other.and_then(|other| other.levels.get(*factor));
            (of_other == Some(*level)) == is_shared
        })
        .map(|(factor, level)| format!("{factor} = {level}"))
        .collect();
    wanted.join(", ")
}

fn why_left_out(finding: &Finding) -> String {
    let unnamed = if finding.is_forbidden() {
        "something forbids every verdict"
    } else {
        "nothing was estimated"
    };
    reason_or(finding, unnamed)
}

fn reason_or(finding: &Finding, unnamed: &str) -> String {
    finding.reason.as_deref().unwrap_or(unnamed).trim_end_matches('.').to_owned()
}

fn why_withheld(finding: &Finding) -> Option<String> {
    finding.obstacle.filter(|_| !finding.is_forbidden())?;
    Some(reason_or(finding, "something forbids one of its verdicts"))
}

fn changes(series: &Series) -> Vec<Change> {
    let counted: Vec<&Point> = series.counted().collect();
    let logs: Vec<f64> = counted.iter().map(|point| stats::ln(point.ratio)).collect();
    let found = change_points(&logs, stats::ln(1.0 + series.margin));
    let ratio = |log: f64| round(model::bounded_ratio(stats::exp(log)));
    found
        .into_iter()
        .map(|change| Change {
            after: counted[change.index - 1].campaign.clone(),
            before: counted[change.index].campaign.clone(),
            ratio: ratio(change.shift),
            low: ratio(change.shift - change.half_width),
            high: ratio(change.shift + change.half_width),
            p: round(change.p),
        })
        .collect()
}

/// A ratio with its interval and the level of that, each as text.
fn estimate(ratio: f64, [low, high]: [f64; 2], alpha: f64) -> [String; 2] {
    let (size, ends) = report::estimate(ratio, &Interval { low, high }, Language::default());
    let level = format!(" ({} %)", confidence(alpha));
    let level = if low < high { level.as_str() } else { "" };
    [size, format!("[{ends}]{level}")]
}

fn drawn(series: &Series) -> String {
    // Names come from files, and none of them holds the end of a line.
    let mut text = format!("{}\n  {}\n", inert(&heading(series)), sparkline(&series.points));
    let first = series.points.first().map(|point| &point.shared_levels);
    let tells_shared = series.points.iter().any(|point| Some(&point.shared_levels) != first);
    for point in &series.points {
        text += &line(point, tells_shared);
    }
    text += &found(series);
    if series.points.iter().any(|point| point.is_unbound) {
        let code = CaveatCode::EvidenceUnbound;
        text += &format!("  {code}: {}\n", code.meaning());
    }
    text.push('\n');
    text
}

fn heading(series: &Series) -> String {
    let named = |id: &str, levels: &str| match levels {
        "" => id.to_owned(),
        levels => format!("{id} ({levels})"),
    };
    let left_out = match series.points.len() - series.counted().count() {
        0 => String::new(),
        count => format!(", of which no change rests on {count} ({LEFT_OUT})"),
    };
    let conditions = match series.conditions.as_str() {
        "" => String::new(),
        conditions => format!(", {conditions}"),
    };
    format!(
        "{}{conditions}: {} {}: {} against {}, {}{left_out} (+ and × are better)",
        series.origin.words(),
        series.workload,
        series.metric,
        named(&series.subject, &series.subject_levels),
        named(&series.reference, &series.reference_levels),
        model::counted(series.points.len(), "campaign")
    )
}

/// One campaign, and what is to be known of it.
fn line(point: &Point, tells_shared: bool) -> String {
    let [effect, interval] = estimate(point.ratio, [point.low, point.high], point.alpha);
    let shared = Some(format!("both {}", point.shared_levels))
        .filter(|_| tells_shared && !point.shared_levels.is_empty());
    let left_out = point.left_out.as_ref().map(|why| format!("left out: {why}"));
    let withheld = point.withheld.as_ref().map(|why| format!("no verdict: {why}"));
    let unbound = point.is_unbound.then(|| CaveatCode::EvidenceUnbound.to_string());
    let all = [shared, left_out, withheld, unbound].into_iter().flatten();
    let notes: String = all.map(|note| format!("; {note}")).collect();
    format!(
        "  {:<40} {effect:>9}  {interval}  n={}{}\n",
        inert(&point.campaign),
        point.blocks,
        inert(&notes)
    )
}

/// Where the level changed, or that nothing of the kind was found.
fn found(series: &Series) -> String {
    let mut text = String::new();
    for change in &series.changes {
        let [size, interval] = estimate(change.ratio, [change.low, change.high], CHANGE_ALPHA);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  changed between {} and {}: {size} {interval}, {}; an alert to look closer, not a \
             verdict",
            inert(&change.after),
            inert(&change.before),
            model::p_equation(change.p)
        );
    }
    let percent = model::rounded_percent;
    if series.changes.is_empty() {
        let _ = writeln!(
            text,
            "  no change larger than {} % was found{}",
            percent(series.margin),
            if series.counted().count() < 10 {
                "; it takes at least ten campaigns to find one"
            } else {
                ""
            }
        );
    }
    if let Some(least) = series.least_margin {
        let (least, most) = (percent(least), percent(series.margin));
        let _ = writeln!(
            text,
            "  the campaigns have margins from {least} to {most} %; the largest is asked"
        );
    }
    text
}

/// The ratios' logarithms between the lowest and the highest of those that count.
fn sparkline(points: &[Point]) -> String {
    let log = |point: &Point| point.left_out.is_none().then(|| stats::ln(point.ratio));
    let logs: Vec<Option<f64>> = points.iter().map(log).collect();
    let counted = || logs.iter().copied().flatten();
    let low = counted().fold(f64::INFINITY, f64::min);
    let high = counted().fold(f64::NEG_INFINITY, f64::max);
    let height = |log: f64| {
        let share = if high > low { (log - low) / (high - low) } else { 0.5 };
        BARS[((share * 7.0).round() as usize).min(7)]
    };
    logs.iter().map(|log| log.map_or(LEFT_OUT, height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        DecidingInterval, Effect, ImportFact, ImportedDesign, ImportedOrder, Look, Obstacle,
        Verdict,
    };

    /// `b` against `a`, so many times better.
    fn finding(ratio: f64) -> Finding {
        let around = |width: f64| Interval { low: ratio / width, high: ratio * width };
        let effect = Effect {
            log_mean: ratio.ln(),
            log_sd: 0.01,
            standard_error: 0.004,
            degrees: 5.0,
            skew: 0.0,
            ratio,
            raw_ratio: 1.0 / ratio,
            interval: around(1.02),
            family_interval: around(1.03),
            p_difference: Some(0.2),
            p_equivalence: Some(0.2),
            adjusted_difference: Some(0.2),
            adjusted_equivalence: Some(0.2),
            deciding: None,
            is_sequence: false,
        };
        let question = fixtures::question("w", "m", "b", "a");
        Finding { effect: Some(effect), pairs: 6, ..fixtures::finding(question) }
    }

    fn forbidden(ratio: f64, obstacle: Obstacle) -> Finding {
        let reason = Some("Values of b stand twice.".to_owned());
        Finding { obstacle: Some(obstacle), reason, ..finding(ratio) }
    }

    /// With these levels of `a` and `b`.
    fn plan(of_a: &[(&str, &str)], of_b: &[(&str, &str)]) -> Plan {
        let subjects = vec![fixtures::subject("a", of_a), fixtures::subject("b", of_b)];
        fixtures::plan(subjects, Vec::new(), 6)
    }

    fn imported() -> Plan {
        imported_with(&[])
    }

    /// An import of which the importer established this.
    fn imported_with(facts: &[ImportFact]) -> Plan {
        let mut imported = fixtures::imported(ImportedDesign::Blocked, ImportedOrder::Rows);
        facts.iter().for_each(|fact| imported.facts.establish(fact.clone()));
        Plan { imported: Some(imported), ..plan(&[], &[]) }
    }

    /// The series of campaigns of one finding each, the oldest first, and why some are in none.
    fn collected(campaigns: &[(Plan, Findings)]) -> (Vec<Series>, Vec<String>) {
        let (mut by_question, mut problems) = (ByQuestion::new(), Vec::new());
        for (number, (plan, findings)) in campaigns.iter().enumerate() {
            let name = format!("night-{number:02}");
            let is_unbound = is_unbound(plan, Binding::Checked);
            let judged = JudgedCampaign { name: &name, plan, findings, is_unbound };
            problems.extend(note(&mut by_question, &judged, &findings.findings[0]));
        }
        (all_series(by_question), problems)
    }

    fn series(campaigns: &[(Plan, Findings)]) -> Vec<Series> {
        let (series, problems) = collected(campaigns);
        assert!(problems.is_empty(), "{problems:?}");
        series
    }

    /// The only series of campaigns of one plan.
    fn only(findings: Vec<Finding>) -> Series {
        let campaigns: Vec<(Plan, Findings)> = findings
            .into_iter()
            .map(|finding| (plan(&[], &[]), fixtures::findings(vec![finding])))
            .collect();
        let mut all = series(&campaigns);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn numbers_of_another_origin_are_another_series_and_the_heading_says_which() {
        // No finding has a caveat that says it.
        let of = |plan: Plan, is_emulated: bool| {
            let finding = Finding { is_emulated, ..finding(1.1) };
            (plan, fixtures::findings(vec![finding]))
        };
        let simulated = Plan { venue: "sim".to_owned(), ..plan(&[], &[]) };
        let all = series(&[
            of(plan(&[], &[]), false),
            of(plan(&[], &[]), true),
            of(simulated, false),
            of(imported(), false),
            of(imported(), true),
            of(imported_with(&[ImportFact::Simulated]), false),
        ]);
        let heads: Vec<String> = all.iter().map(heading).collect();
        let expected: Vec<String> = [
            "measured",
            "emulated",
            "simulated",
            "imported",
            "imported, emulated",
            "imported, simulated",
        ]
        .iter()
        .map(|origin| format!("{origin}: w m: b against a, 1 campaign (+ and × are better)"))
        .collect();
        assert_eq!(heads, expected);
        let told: Vec<String> =
            all.iter().map(|one| serde_json::to_string(&one.origin).unwrap()).collect();
        assert_eq!(told[0], "\"measured\"");
        assert_eq!(told[5], "\"imported_simulated\"");
    }

    #[test]
    fn of_several_origins_the_first_is_that_of_the_live_view() {
        let emulated = Finding { is_emulated: true, ..finding(1.1) };
        let findings = fixtures::findings(vec![emulated.clone()]);
        let simulated = imported_with(&[ImportFact::Simulated]);
        for (plan, origin, live) in [
            (simulated, HistoryOrigin::ImportedSimulated, NumberOrigin::Simulated),
            (imported(), HistoryOrigin::ImportedEmulated, NumberOrigin::Emulated),
        ] {
            assert_eq!(HistoryOrigin::of(&plan, &emulated), origin);
            assert_eq!(NumberOrigin::of(&plan, Some(&findings)), live);
        }
    }

    #[test]
    fn the_origin_of_a_series_is_the_word_of_live_views_behind_what_says_that_it_was_imported() {
        let simulated = Plan { venue: "sim".to_owned(), ..plan(&[], &[]) };
        let by_others = imported_with(&[ImportFact::Simulated]);
        for plan in [plan(&[], &[]), simulated, imported(), by_others] {
            for is_emulated in [false, true] {
                let finding = Finding { is_emulated, ..finding(1.1) };
                let word = NumberOrigin::of_finding(&plan, &finding).word();
                let words = HistoryOrigin::of(&plan, &finding).words();
                assert_eq!(words.rsplit(", ").next(), Some(word));
                assert_eq!(words.starts_with("imported"), plan.imported.is_some(), "{words}");
            }
        }
    }

    /// Four threads on the host, of which less is better.
    fn usual() -> (Plan, Finding) {
        let mut workload = fixtures::workload("w", Vec::new());
        workload.parameters.0.insert("threads".to_owned(), ParameterValue::Count(4));
        (Plan { workloads: vec![workload], ..plan(&[], &[]) }, finding(1.1))
    }

    #[test]
    fn what_was_measured_otherwise_is_another_series_and_the_heading_says_how() {
        type Change = fn(&mut Plan, &mut Finding);
        let cases: [(Change, [&str; 2]); 6] = [
            (|plan, _| plan.venue = "vm".to_owned(), ["venue = host", "venue = vm"]),
            (
                |_, finding| finding.question.direction = Direction::Higher,
                ["direction = higher", "direction = lower"],
            ),
            (|plan, _| plan.is_quick = true, ["size = quick", "size = whole"]),
            (
                |plan, _| plan.workloads[0].uses = "v".to_owned(),
                ["workload = v, v.threads = 4", "workload = w, w.threads = 4"],
            ),
            (
                |plan, _| {
                    let threads = ParameterValue::Count(64);
                    plan.workloads[0].parameters.0.insert("threads".to_owned(), threads);
                },
                ["w.threads = 4", "w.threads = 64"],
            ),
            (
                |plan, _| {
                    let session = BackgroundSession::Separate;
                    let load = Background { hogs: 2, session, is_pinned: true };
                    plan.workloads[0].background = Some(load);
                },
                ["", "declared load = 2 hogs of a separate session, pinned"],
            ),
        ];
        for (change, told) in cases {
            let campaign = |is_changed: bool| {
                let (mut plan, mut finding) = usual();
                if is_changed {
                    change(&mut plan, &mut finding);
                }
                (plan, fixtures::findings(vec![finding]))
            };
            let all = series(&[campaign(false), campaign(true), campaign(false)]);
            let mut heads: Vec<&str> = all.iter().map(|one| one.conditions.as_str()).collect();
            heads.sort_unstable();
            assert_eq!(heads, told);
            let told = format!("measured, {}: w m: b against a, ", told[1]);
            assert!(all.iter().any(|one| heading(one).starts_with(&told)), "{told}");
        }
        let of = |(plan, finding): (Plan, Finding)| (plan, fixtures::findings(vec![finding]));
        let alike = series(&[of(usual()), of(usual())]);
        assert_eq!(alike.len(), 1);
        assert!(heading(&alike[0]).starts_with("measured: w m: "), "{}", heading(&alike[0]));
    }

    #[test]
    fn a_list_has_one_spelling_and_the_directory_of_a_program_is_no_part_of_its_work() {
        let words = ["a b", "c"].map(str::to_owned).to_vec();
        assert_eq!(spelled(&ParameterValue::Words(words)), r#"{"words":["a b","c"]}"#);
        let night = |number: u32| {
            let (mut plan, finding) = usual();
            let directory = ParameterValue::Text(format!("/builds/{number}"));
            plan.workloads[0].parameters.0.insert(DIRECTORY.to_owned(), directory);
            (plan, fixtures::findings(vec![finding]))
        };
        assert_eq!(series(&[night(1), night(2)]).len(), 1);
    }

    #[test]
    fn subjects_of_one_name_with_other_levels_are_another_series() {
        let of = |of_a: &[(&str, &str)], of_b: &[(&str, &str)]| {
            (plan(of_a, of_b), fixtures::findings(vec![finding(1.1)]))
        };
        let all = series(&[
            of(&[], &[("nice", "5"), ("policy", "batch")]),
            of(&[], &[("nice", "10"), ("policy", "batch")]),
            of(&[("nice", "5")], &[("nice", "10"), ("policy", "batch")]),
        ]);
        let heads: Vec<String> = all.iter().map(heading).collect();
        assert_eq!(heads.len(), 3);
        let told = [
            "measured: w m: b (nice = 10, policy = batch) against a, 1 campaign ",
            "measured: w m: b (nice = 10, policy = batch) against a (nice = 5), 1 campaign ",
            "measured: w m: b (nice = 5, policy = batch) against a, 1 campaign ",
        ];
        for (head, told) in heads.iter().zip(told) {
            assert!(head.starts_with(told), "{head}");
        }
    }

    #[test]
    fn what_both_subjects_share_cancels_and_is_told_where_it_differs() {
        let of = |kernel: &str| {
            let plan = plan(&[("kernel", kernel)], &[("kernel", kernel), ("nice", "5")]);
            (plan, fixtures::findings(vec![finding(1.1)]))
        };
        let one = series(&[of("6.1"), of("6.1")]);
        assert!(one.len() == 1 && !drawn(&one[0]).contains("kernel"), "{}", drawn(&one[0]));
        let two = series(&[of("6.1"), of("6.12")]);
        assert_eq!(two.len(), 1);
        let text = drawn(&two[0]);
        assert!(text.contains("b (nice = 5) against a, 2 campaigns"), "{text}");
        assert!(text.contains("; both kernel = 6.1\n"), "{text}");
        assert!(text.contains("; both kernel = 6.12\n"), "{text}");
    }

    /// Six campaigns about 1, two of which nothing may be said, six about 1.2.
    #[test]
    fn no_change_rests_on_what_nothing_may_be_said_of_and_the_reason_is_told() {
        let nights: Vec<Finding> = (0..14)
            .map(|night| {
                let noise = 1.0 + 0.001 * f64::from(night % 3);
                match night {
                    0..6 => finding(noise),
                    6..8 => forbidden(3.0, Obstacle::CopiedValues),
                    _ => finding(1.2 * noise),
                }
            })
            .collect();
        let found = only(nights);
        let [change] = found.changes.as_slice() else { panic!("{}", drawn(&found)) };
        assert_eq!((change.after.as_str(), change.before.as_str()), ("night-05", "night-08"));
        assert!((1.19..1.21).contains(&change.ratio), "{}", change.ratio);
        let text = drawn(&found);
        assert!(text.contains("14 campaigns, of which no change rests on 2 (·) (+ and"), "{text}");
        assert_eq!(text.matches("; left out: Values of b stand twice\n").count(), 2, "{text}");
        assert!(text.lines().nth(1).unwrap().contains("··"), "{text}");

        let others = (0..7).map(|_| forbidden(1.2, Obstacle::FailedControl));
        let few = only((0..7).map(|_| finding(1.0)).chain(others).collect());
        assert!(few.changes.is_empty());
        assert!(drawn(&few).contains("it takes at least ten campaigns"), "seven count");
    }

    #[test]
    fn each_obstacle_that_forbids_every_verdict_leaves_a_campaign_out() {
        for obstacle in Obstacle::ALL {
            let found = only(vec![forbidden(1.1, *obstacle)]);
            let is_left_out = found.points[0].left_out.is_some();
            assert_eq!(is_left_out, obstacle.forbids_every_verdict(), "{obstacle:?}");
            assert_eq!(found.points[0].withheld.is_some(), !is_left_out, "{obstacle:?}");
            let told = if is_left_out { "; left out: Values" } else { "; no verdict: Values" };
            assert!(drawn(&found).contains(told), "{obstacle:?}: {}", drawn(&found));
        }
    }

    #[test]
    fn a_campaign_of_which_nothing_was_estimated_is_told_with_the_reason() {
        let none = Finding { effect: None, ..forbidden(1.1, Obstacle::NoValidBlock) };
        let unnamed = Finding { reason: None, ..none.clone() };
        let unforbidden = Finding { obstacle: None, ..unnamed.clone() };
        let campaigns: Vec<(Plan, Findings)> = [none, unnamed, unforbidden, finding(1.1)]
            .into_iter()
            .map(|finding| (plan(&[], &[]), fixtures::findings(vec![finding])))
            .collect();
        let (all, problems) = collected(&campaigns);
        assert!(all.len() == 1 && all[0].points.len() == 1);
        let expected = [
            "night-00 is left out of w m, b against a: Values of b stand twice",
            "night-01 is left out of w m, b against a: something forbids every verdict",
            "night-02 is left out of w m, b against a: nothing was estimated",
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn what_does_not_vary_has_no_interval_and_no_level_of_one() {
        assert_eq!(estimate(1.0, [1.0, 1.0], 0.05), ["0.0 %", "[no interval]"]);
        assert_eq!(estimate(1.1, [1.0, 1.2], 0.05), ["+10.0 %", "[0.0 to +20.0 %] (95 %)"]);
    }

    #[test]
    fn each_campaign_has_the_interval_that_reports_show_with_its_level() {
        let mut alike = finding(1.0);
        alike.verdict = Verdict::Equivalent;
        let interval = Interval { low: 0.99, high: 1.01 };
        alike.effect.as_mut().unwrap().deciding = Some(DecidingInterval { interval, alpha: 0.1 });
        let mut early = finding(1.1);
        early.look = Some(Look { number: 1, of: 2, blocks: 6, alpha: 0.0125 });
        let found = only(vec![alike, early, finding(1.1)]);
        let told: Vec<(f64, f64)> =
            found.points.iter().map(|point| (point.low, point.alpha)).collect();
        assert_eq!(told, [(0.99, 0.1), (1.1 / 1.02, 0.0125), (1.1 / 1.02, 0.05)]);
        let text = drawn(&found);
        for level in ["] (90 %)  n=6", "] (98.75 %)  n=6", "] (95 %)  n=6"] {
            assert!(text.contains(level), "{level} in {text}");
        }
    }

    #[test]
    fn the_largest_margin_is_asked_whichever_campaign_has_it() {
        let of = |margin: f64| Finding { margin, ..finding(1.1) };
        let found = only(vec![of(0.1), of(0.02)]);
        assert_eq!((found.margin, found.least_margin), (0.1, Some(0.02)));
        assert!(drawn(&found).contains("margins from 2 to 10 %; the largest"), "{}", drawn(&found));
        let found = only(vec![of(0.1), of(0.1)]);
        assert_eq!((found.margin, found.least_margin), (0.1, None));
    }

    #[test]
    fn the_margin_of_a_campaign_that_no_change_rests_on_is_not_asked() {
        let wide = |number| Finding { margin: 0.5, ..forbidden(number, Obstacle::CopiedValues) };
        let nights = (0..12).map(|night| {
            let level = if night < 6 { 1.0 } else { 1.2 };
            finding(level * (1.0 + 0.001 * f64::from(night % 3)))
        });
        let found = only(nights.chain([wide(1.2)]).collect());
        assert_eq!((found.margin, found.least_margin), (0.05, None));
        assert_eq!(found.changes.len(), 1, "{}", drawn(&found));
        let found = only(vec![wide(1.2), wide(1.3)]);
        assert_eq!(found.margin, 0.5, "it is all that there is");
    }

    #[test]
    fn evidence_that_nothing_binds_is_marked() {
        let loose = imported_with(&[ImportFact::UnboundEvidence]);
        assert!(is_unbound(&imported(), Binding::Absent));
        assert!(is_unbound(&loose, Binding::Checked));
        assert!(!is_unbound(&imported(), Binding::Checked));
        // No finding has the caveat.
        let found = fixtures::findings(vec![finding(1.1)]);
        let all = series(&[(imported(), found.clone()), (loose, found)]);
        let text = drawn(&all[0]);
        let marked: Vec<&str> =
            text.lines().filter(|line| line.ends_with("; EVIDENCE_UNBOUND")).collect();
        assert!(marked.len() == 1 && marked[0].contains("night-01"), "{text}");
        assert!(text.contains("  EVIDENCE_UNBOUND: Records are bound neither"), "{text}");
    }
}
