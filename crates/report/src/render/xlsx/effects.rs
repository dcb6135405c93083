//! The sheet of effects: every primary comparison with its interval, and a chart of them with
//! the intervals as error bars.

use super::chart::title;
use super::sheet::{Cell, Rows};
use crate::few_boots::few_boots;
use crate::quantities::versus;
use crate::verdict_table::{correction, intervals, percentages, words};
use crate::view::Report;
use model::{Effect, Finding, Interval, Role, Verdict};
use phrases::{Language, say};
use rust_xlsxwriter::{
    Chart, ChartAxisCrossing, ChartAxisLabelPosition, ChartErrorBars, ChartErrorBarsType,
    ChartFormat, ChartPoint, ChartRange, ChartSolidFill, ChartType, Color, Format, Worksheet,
    XlsxError,
};

/// More comparisons than this cannot be told apart in a chart.
const MOST_DRAWN: usize = 40;
/// From this factor on changes in percent hide all smaller ones: ratios are drawn on a
/// logarithmic axis then.
const LARGE: f64 = 3.0;
/// Drawn so large, in pixels: a row for each comparison below and beside the axes.
const WIDTH: u32 = 900;
const HEIGHT_OF_AXES: u32 = 120;
const HEIGHT_OF_ROW: u32 = 26;
const PERCENT: &str = "0.0%";
const LEVEL: &str = "0.0#%";
/// Columns of the sheet that the chart refers to.
const LABEL: u16 = 0;
const EFFECT: u16 = 1;
const MINUS: u16 = 4;
const PLUS: u16 = 5;

/// An interval is drawn as far as this many times the farthest effect: an enormous one would make
/// a line of all effects.
const MOST_REACH: f64 = 4.0;
/// And as far as this in any case: twice and half as good.
const LEAST_REACH: f64 = 2.0;
/// About so many marks stand on the axis.
const MARKS: f64 = 8.0;

/// How effects are drawn.
#[derive(Clone, Copy)]
struct Drawn {
    is_ratio: bool,
}

/// From where to where the axis of effects goes. Spreadsheets would choose it by the effects
/// alone, and cut their intervals.
#[derive(Debug, PartialEq)]
struct Axis {
    min: f64,
    max: f64,
    /// Distance of its marks; its base where it is logarithmic.
    step: f64,
    /// Whether an interval goes on beyond it.
    is_cut: bool,
}

impl Drawn {
    /// A ratio as it stands in a cell.
    fn number(self, ratio: f64) -> f64 {
        model::round_significant(if self.is_ratio { ratio } else { ratio - 1.0 })
    }

    fn cell(self, number: f64) -> Cell {
        let format = if self.is_ratio { "0.000" } else { PERCENT };
        Cell::Formatted(number, Format::new().set_num_format(format))
    }

    /// Around no difference, the ratios, and their intervals as far as they are drawn.
    fn axis(self, effects: &[(f64, Interval)]) -> Axis {
        let place = |ratio: f64| if self.is_ratio { ratio.ln() } else { ratio - 1.0 };
        let is_bound = |end: &f64| *end > 0.0 && end.is_finite();
        let points = || effects.iter().map(|(ratio, _)| place(*ratio));
        let ends = effects.iter().flat_map(|(_, interval)| [interval.low, interval.high]);
        let ends: Vec<f64> = ends.filter(is_bound).map(place).collect();
        let farthest = points().map(f64::abs).fold(0.0, f64::max);
        let reach = (farthest * MOST_REACH).max(place(LEAST_REACH));
        let is_cut = ends.iter().any(|end| end.abs() > reach);
        let drawn = || points().chain(ends.iter().map(|end| end.clamp(-reach, reach)));
        let (low, high) = (drawn().fold(0.0, f64::min), drawn().fold(0.0, f64::max));
        if !self.is_ratio {
            let step = round_step((high - low) / MARKS);
            let [min, max] = around(low / step, high / step);
            let [min, max] = [min, max].map(|steps| model::round_significant(steps * step));
            return Axis { min, max, step, is_cut };
        }
        // Within a factor of ten marks at tenfold steps would be none.
        let base: f64 = if high.max(-low) > 10_f64.ln() { 10.0 } else { 2.0 };
        let [min, max] = around(low / base.ln(), high / base.ln());
        let [min, max] = [min, max].map(|power| model::round_significant(base.powf(power)));
        Axis { min, max, step: base, is_cut }
    }

    fn name(self, language: Language) -> &'static str {
        if self.is_ratio {
            language.word("effect as a ratio, above 1 is better")
        } else {
            language.word("effect as a change, + is better")
        }
    }
}

/// The whole numbers around; what rounding made of one is that one.
fn around(low: f64, high: f64) -> [f64; 2] {
    const ROUNDING: f64 = 1e-9;
    [(low + ROUNDING).floor(), (high - ROUNDING).ceil().max(1.0)]
}

/// The next of 1, 2 and 5 times a power of ten; of nothing, a percent.
fn round_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 0.01;
    }
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= least).unwrap_or(10.0);
    model::round_significant(step * power)
}

/// The comparisons that have an effect: in their order, or where they are too many to draw
/// all, the strongest first.
pub(super) fn primary(report: &Report) -> Vec<(&Finding, &Effect)> {
    let findings = report.findings.findings.iter();
    let mut found: Vec<(&Finding, &Effect)> = findings
        .filter(|finding| finding.question.role == Role::Primary)
        .filter_map(|finding| Some((finding, finding.effect.as_ref()?)))
        .filter(|(_, effect)| effect.ratio.is_finite() && effect.ratio > 0.0)
        .collect();
    if found.len() > MOST_DRAWN {
        found.sort_by(|(_, one), (_, other)| other.log_mean.abs().total_cmp(&one.log_mean.abs()));
    }
    found
}

pub(super) fn write(report: &Report, sheet: &mut Worksheet) -> Result<(), XlsxError> {
    let found = primary(report);
    let is_large = |ratio: f64| !(1.0 / LARGE..=LARGE).contains(&ratio);
    let drawn = Drawn { is_ratio: found.iter().any(|(_, effect)| is_large(effect.ratio)) };
    let mut rows = Rows::of(sheet, report.language);
    let language = report.language;
    let titles = [
        language.word("comparison"),
        drawn.name(language),
        language.word("interval low"),
        language.word("interval high"),
        language.word("down to low"),
        language.word("up to high"),
        language.word("verdict"),
        language.word("margin"),
        language.word("level of the interval"),
    ];
    rows.titles(titles.map(str::to_owned).into())?;
    for (finding, effect) in &found {
        rows.row(row(finding, effect, drawn, report))?;
    }
    rows.skip();
    if let Some(note) = note(report, &found, drawn) {
        rows.note(&note)?;
    }
    if let Some(limit) = few_boots(report) {
        rows.note(&limit)?;
    }
    if found.len() > MOST_DRAWN {
        let note = say!(
            language,
            "The chart shows the {count} strongest of {all}.",
            count = MOST_DRAWN,
            all = found.len()
        );
        rows.note(&note)?;
    }
    rows.widths(&[48, 16, 14, 14, 14, 14, 22, 10, 14])?;
    chart(&found, drawn, report, sheet)
}

/// What stands below the comparisons: what their numbers are, where anything is to be said of them.
fn note(report: &Report, found: &[(&Finding, &Effect)], drawn: Drawn) -> Option<String> {
    let (language, findings) = (report.language, &report.findings);
    let families = report.design.family_words(language);
    let mut note: Vec<String> = correction(findings, &families, language).into_iter().collect();
    if let Some(intervals) = intervals(findings, found.iter().map(|(one, _)| *one), language) {
        note.insert(0, intervals);
        note.push(language.word("An end without a bar is unbounded.").to_owned());
    }
    // Of ratios there is no percentage, and that of a share is one of its odds.
    let is_in_percent = !drawn.is_ratio && found.iter().any(|(one, _)| !one.is_odds);
    let note = note.join(" ") + &percentages(is_in_percent, language);
    (!note.is_empty()).then(|| note.trim_start().to_owned())
}

fn row(finding: &Finding, effect: &Effect, drawn: Drawn, report: &Report) -> Vec<Cell> {
    let language = report.language;
    let level = model::round_significant(1.0 - report.findings.shown_alpha(finding));
    let question = &finding.question;
    let centre = drawn.number(effect.ratio);
    let ends = Some(shown(finding, effect)).filter(|ends| !ends.has_no_width());
    // Zero and infinity are what unbounded ends are stored as.
    let low = ends.map(|ends| ends.low).filter(|low| *low > 0.0).map(|low| drawn.number(low));
    let high =
        ends.map(|ends| ends.high).filter(|high| high.is_finite()).map(|high| drawn.number(high));
    let cell = |known: Option<f64>| known.map_or(Cell::Empty, |number| drawn.cell(number));
    let distance = |end: Option<f64>| end.map(|end| model::round_significant((end - centre).abs()));
    vec![
        format!("{} {}: {}", question.workload, question.metric, versus(question, language)).into(),
        drawn.cell(centre),
        if ends.is_none() { Cell::from(language.word("no interval")) } else { cell(low) },
        cell(high),
        cell(distance(low)),
        cell(distance(high)),
        words(finding, language).into(),
        Cell::Formatted(finding.margin, Format::new().set_num_format(PERCENT)),
        ends.map_or(Cell::Empty, |_| Cell::Formatted(level, Format::new().set_num_format(LEVEL))),
    ]
}

fn shown(finding: &Finding, effect: &Effect) -> Interval {
    finding.shown_interval().unwrap_or(effect.interval)
}

/// Bars from no difference to the effect, with the interval as error bars.
fn chart(
    found: &[(&Finding, &Effect)],
    drawn: Drawn,
    report: &Report,
    sheet: &mut Worksheet,
) -> Result<(), XlsxError> {
    let language = report.language;
    let count = u32::try_from(found.len().min(MOST_DRAWN)).unwrap_or(0);
    let name = sheet.name();
    let cells = |column: u16| (name.as_str(), 1, column, count, column);
    let mut chart = Chart::new(ChartType::Bar);
    let line = |column: u16| ChartRange::new_from_range(&name, 1, column, count, column);
    let bars =
        ChartErrorBars::new().set_type(ChartErrorBarsType::Custom(line(PLUS), line(MINUS))).clone();
    let points: Vec<ChartPoint> =
        found.iter().take(MOST_DRAWN).map(|(finding, _)| point(finding.verdict)).collect();
    chart
        .add_series()
        .set_name(drawn.name(language))
        .set_categories(cells(LABEL))
        .set_values(cells(EFFECT))
        .set_points(&points)
        .set_x_error_bars(&bars);
    let heading = language.word("Effects with their intervals");
    chart.title().set_name(title(heading, report).as_str());
    // Of lying bars the library's x axis is that of values. The first comparison stands at the
    // top, its label beside the chart and not on a bar.
    chart.y_axis().set_reverse().set_label_position(ChartAxisLabelPosition::Low);
    let effects: Vec<(f64, Interval)> = found
        .iter()
        .take(MOST_DRAWN)
        .map(|(finding, effect)| (effect.ratio, shown(finding, effect)))
        .collect();
    let axis = drawn.axis(&effects);
    let cut = language.word("longer intervals go on beyond the axis");
    let name = drawn.name(language);
    let name = if axis.is_cut { format!("{name}; {cut}") } else { name.to_owned() };
    chart.x_axis().set_name(&name).set_min(axis.min).set_max(axis.max);
    if drawn.is_ratio {
        let base = if axis.step > 2.0 { 10 } else { 2 };
        chart.x_axis().set_log_base(base).set_num_format("0.0##");
        chart.x_axis().set_crossing(ChartAxisCrossing::AxisValue(1.0));
    } else {
        let format = if axis.step < 0.01 { "+0.0%;-0.0%;0%" } else { "+0%;-0%;0%" };
        chart.x_axis().set_num_format(format).set_major_unit(axis.step);
    }
    chart.legend().set_hidden();
    chart.set_width(WIDTH).set_height(HEIGHT_OF_AXES + HEIGHT_OF_ROW * count);
    sheet.insert_chart(1, 9, &chart)?;
    Ok(())
}

/// The colours of heat maps; what was not decided is grey.
fn point(verdict: Verdict) -> ChartPoint {
    let colour = match verdict {
        Verdict::Better => 0x007A_B8DE,
        Verdict::Worse => 0x00E8_9B64,
        Verdict::Equivalent | Verdict::Inconclusive | Verdict::Invalid => 0x00C8_CBD0,
    };
    let fill = ChartSolidFill::new().set_color(Color::RGB(colour)).clone();
    ChartPoint::new().set_format(ChartFormat::new().set_solid_fill(&fill))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(is_ratio: bool, effects: &[[f64; 3]]) -> (f64, f64, f64, bool) {
        let effects: Vec<(f64, Interval)> = effects
            .iter()
            .map(|[low, ratio, high]| (*ratio, Interval { low: *low, high: *high }))
            .collect();
        let axis = Drawn { is_ratio }.axis(&effects);
        (axis.min, axis.max, axis.step, axis.is_cut)
    }

    #[test]
    fn an_axis_holds_the_intervals_and_not_only_the_effects() {
        assert_eq!(axis(false, &[[0.95, 1.02, 1.09]]), (-0.06, 0.1, 0.02, false));
        assert_eq!(axis(false, &[[0.7, 0.9, 1.3], [1.0, 1.1, 1.2]]), (-0.3, 0.3, 0.1, false));
        assert_eq!(axis(true, &[[0.2, 4.0, 9.0]]), (0.125, 16.0, 2.0, false));
        assert_eq!(axis(true, &[[0.2, 4.0, 90.0]]), (0.1, 100.0, 10.0, false));
    }

    #[test]
    fn an_enormous_interval_is_cut_and_an_unbounded_one_asks_for_nothing() {
        assert_eq!(axis(false, &[[0.5, 1.1, 80.0]]), (-0.6, 1.0, 0.2, true));
        assert_eq!(axis(false, &[[0.0, 1.1, f64::INFINITY]]), (0.0, 0.1, 0.02, false));
        assert_eq!(axis(true, &[[1e-30, 4.0, 1e30]]), (0.001, 1000.0, 10.0, true));
        assert_eq!(axis(false, &[[1.0, 1.0, 1.0]]), (0.0, 0.01, 0.01, false));
    }
}
