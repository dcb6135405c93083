//! The sheet of effects: every primary comparison with its interval, and a chart of them with
//! the intervals as error bars.

use super::super::table::{level, words};
use super::sheet::{Cell, Rows};
use crate::quantities::versus;
use crate::view::Report;
use model::{Effect, Finding, Role, Verdict};
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
/// Columns of the sheet that the chart refers to.
const LABEL: u16 = 0;
const EFFECT: u16 = 1;
const MINUS: u16 = 4;
const PLUS: u16 = 5;

/// How effects are drawn.
#[derive(Clone, Copy)]
struct Drawn {
    is_ratio: bool,
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

    fn name(self, language: Language) -> &'static str {
        if self.is_ratio {
            language.word("effect as a ratio, above 1 is better")
        } else {
            language.word("effect as a change, + is better")
        }
    }
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
    ];
    rows.titles(titles.map(str::to_owned).into())?;
    for (finding, effect) in &found {
        rows.row(row(finding, effect, drawn, language))?;
    }
    rows.skip();
    rows.note(&say!(
        language,
        "Intervals are {level}, unadjusted, each for its row alone; verdicts are corrected for all \
         comparisons of their family. An end without a bar is unbounded.",
        level = level(&report.findings, language)
    ))?;
    if found.len() > MOST_DRAWN {
        let note = say!(
            language,
            "The chart shows the {count} strongest of {all}.",
            count = MOST_DRAWN,
            all = found.len()
        );
        rows.note(&note)?;
    }
    rows.widths(&[48, 16, 14, 14, 14, 14, 22, 10])?;
    chart(&found, drawn, language, sheet)
}

fn row(finding: &Finding, effect: &Effect, drawn: Drawn, language: Language) -> Vec<Cell> {
    let question = &finding.question;
    let centre = drawn.number(effect.ratio);
    // Zero and infinity are what unbounded ends are stored as.
    let low = Some(effect.interval.low).filter(|low| *low > 0.0).map(|low| drawn.number(low));
    let high =
        Some(effect.interval.high).filter(|high| high.is_finite()).map(|high| drawn.number(high));
    let cell = |known: Option<f64>| known.map_or(Cell::Empty, |number| drawn.cell(number));
    let distance = |end: Option<f64>| end.map(|end| model::round_significant((end - centre).abs()));
    vec![
        format!("{} {}: {}", question.workload, question.metric, versus(question, language)).into(),
        drawn.cell(centre),
        cell(low),
        cell(high),
        cell(distance(low)),
        cell(distance(high)),
        words(finding, language).into(),
        Cell::Formatted(finding.margin, Format::new().set_num_format(PERCENT)),
    ]
}

/// Bars from no difference to the effect, with the interval as error bars.
fn chart(
    found: &[(&Finding, &Effect)],
    drawn: Drawn,
    language: Language,
    sheet: &mut Worksheet,
) -> Result<(), XlsxError> {
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
    chart.title().set_name(language.word("Effects with their intervals"));
    // Of lying bars the library's x axis is that of values. The first comparison stands at the
    // top, its label beside the chart and not on a bar.
    chart.y_axis().set_reverse().set_label_position(ChartAxisLabelPosition::Low);
    chart.x_axis().set_name(drawn.name(language));
    if drawn.is_ratio {
        // Within a factor of ten marks at tenfold steps would be none.
        let is_wide = found.iter().any(|(_, effect)| effect.log_mean.abs() > 10_f64.ln());
        let base = if is_wide { 10 } else { 2 };
        chart.x_axis().set_log_base(base).set_num_format("0.0##");
        chart.x_axis().set_crossing(ChartAxisCrossing::AxisValue(1.0));
    } else {
        chart.x_axis().set_num_format("+0%;-0%;0%");
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
