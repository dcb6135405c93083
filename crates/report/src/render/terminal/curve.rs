//! A latency's percentiles as a curve of signs, one sign for each subject. Both axes are
//! logarithmic: each further nine of the percentile takes the same room.

use super::super::Page;
use super::shortened;
use crate::distributions::LEAST_BEYOND;
use crate::quantities::{digits, value};
use crate::wrap::wrapped;
use model::{Histogram, Unit};
use phrases::{Language, noted, say};
use unicode_width::UnicodeWidthStr;

/// What the curves are.
pub(super) const LEGEND: &str = noted!(
    "All runs of a subject together. A curve ends where fewer than ten values lie beyond it. Where \
     curves meet, their signs take turns."
);

/// Lines of a curve; labels stand at every third.
const HEIGHT: usize = 10;
const LABEL_EVERY: usize = 3;
/// Columns beyond which nothing more is seen.
const WIDEST: usize = 72;
/// Logarithm to the base ten of one in two: where the median stands.
const MEDIAN: f64 = std::f64::consts::LOG10_2;
/// The last percentile that is drawn: six nines.
const LAST: f64 = 6.0;
/// Values reach over at least 5 %, so that noise looks small.
const NEAREST: f64 = 0.05;
/// Signs that no verdict has.
const SIGNS: [char; 10] = ['●', '○', '■', '□', '◆', '◇', '★', '☆', '+', '*'];
const PLAIN: [char; 10] = ['*', 'o', '#', '+', '@', '%', '&', '$', 'a', 'b'];

/// One subject's latencies.
pub(super) struct Subject<'r> {
    pub(super) name: &'r str,
    pub(super) pooled: Histogram,
    pub(super) is_reference: bool,
}

impl Subject<'_> {
    /// How many nines its values support: 2 is the 99th percentile.
    fn reach(&self) -> f64 {
        (self.pooled.count() as f64 / LEAST_BEYOND).log10()
    }

    /// The value at so many nines.
    fn at(&self, nines: f64) -> Option<f64> {
        let share = 1.0 - 10_f64.powf(-nines);
        let is_supported = nines <= self.reach() + 1e-9;
        // Nothing has a logarithm at zero: what took no time took the least.
        let found = self.pooled.quantile(share).filter(|_| is_supported)?;
        Some(found.max(1) as f64)
    }
}

/// The lines of a figure: the curves, their axes and what the signs stand for; none where no
/// subject has values enough for a median.
pub(super) fn lines(
    subjects: &[Subject<'_>],
    unit: Unit,
    hides_absolute: bool,
    page: &Page,
    language: Language,
) -> Vec<String> {
    let far = subjects.iter().map(Subject::reach).fold(0.0, f64::max).min(LAST);
    if far <= MEDIAN {
        return Vec::new();
    }
    let drawn = &subjects[..subjects.len().min(SIGNS.len())];
    let reference = drawn.iter().find(|subject| subject.is_reference).unwrap_or(&drawn[0]);
    let base = reference.at(MEDIAN).unwrap_or(1.0);
    let label = |shown: f64| {
        if hides_absolute { format!("x{}", digits(shown / base)) } else { value(shown, unit) }
    };
    // Quantiles rise, so each curve is lowest at the median and highest at its end.
    let lowest = drawn.iter().filter_map(|subject| subject.at(MEDIAN));
    let highest = drawn.iter().filter_map(|subject| subject.at(subject.reach().min(far)));
    let low = lowest.fold(f64::INFINITY, f64::min);
    let high = highest.fold(low, f64::max);
    let scale = Scale::of(low, high);
    let labels: Vec<String> =
        (0..HEIGHT).step_by(LABEL_EVERY).map(|row| label(scale.value(row))).collect();
    let margin = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let room = page.width.saturating_sub(2 + margin + 2).clamp(8, WIDEST);
    let columns = columns(room, far);
    let signs = if page.is_unicode { SIGNS } else { PLAIN };
    let mut rows = vec![vec![' '; room]; HEIGHT];
    for (column, nines) in columns.iter().enumerate() {
        for turn in 0..drawn.len() {
            // The last one is seen where several meet: each in turn.
            let index = (turn + column) % drawn.len();
            if let Some(found) = drawn[index].at(*nines) {
                rows[scale.row(found)][column] = signs[index];
            }
        }
    }
    let [side, tick] = if page.is_unicode { ["│", "┤"] } else { ["|", "+"] };
    let mut lines: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(row, signs)| {
            let is_labelled = row % LABEL_EVERY == 0;
            let label = if is_labelled { labels[row / LABEL_EVERY].as_str() } else { "" };
            let signs: String = signs.iter().collect();
            let edge = if is_labelled { tick } else { side };
            let line = format!("{}{label} {edge}{signs}", " ".repeat(margin - label.width()));
            line.trim_end().to_owned()
        })
        .collect();
    lines.extend(axis(margin, room, far, page.is_unicode));
    lines.extend(legend(subjects, &signs, page.width.saturating_sub(2), language));
    lines
}

/// The nines at each column.
fn columns(room: usize, far: f64) -> Vec<f64> {
    let last = (room - 1) as f64;
    (0..room).map(|column| MEDIAN + (far - MEDIAN) * column as f64 / last).collect()
}

/// The percentiles below the curves.
fn axis(margin: usize, room: usize, far: f64, is_unicode: bool) -> [String; 2] {
    let [corner, line, tick] = if is_unicode { ['└', '─', '┬'] } else { ['+', '-', '+'] };
    let mut ruler = vec![line; room];
    let mut labels = vec![' '; margin + 2 + room];
    let named = [(MEDIAN, "50"), (1.0, "90"), (2.0, "99"), (3.0, "99.9"), (4.0, "99.99")];
    let further = [(5.0, "99.999"), (6.0, "99.9999")];
    for (nines, label) in named.into_iter().chain(further) {
        let place = ((nines - MEDIAN) / (far - MEDIAN) * (room - 1) as f64).round();
        if place > (room - 1) as f64 {
            break;
        }
        let place = place as usize;
        ruler[place] = tick;
        let start = (margin + 2 + place).saturating_sub(label.len() / 2);
        let start = start.min(labels.len() - label.len());
        if labels[start - 1..start + label.len()].iter().all(|known| *known == ' ') {
            for (at, letter) in label.chars().enumerate() {
                labels[start + at] = letter;
            }
        }
    }
    let ruler: String = ruler.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    [format!("{} {corner}{ruler}", " ".repeat(margin)), labels.trim_end().to_owned()]
}

/// What each sign stands for, and how many subjects have none.
fn legend(
    subjects: &[Subject<'_>],
    signs: &[char],
    width: usize,
    language: Language,
) -> Vec<String> {
    let mut words: Vec<String> = subjects
        .iter()
        .zip(signs)
        .map(|(subject, sign)| {
            let name = shortened(subject.name, width.saturating_sub(3).max(3));
            // Sign and name stay together.
            format!("{sign}\u{a0}{}", name.replace(' ', "\u{a0}"))
        })
        .collect();
    let more = subjects.len().saturating_sub(signs.len());
    if more > 0 {
        words.push(say!(language, "and {count} more that are not drawn", count = more));
    }
    wrapped(&words.join(" "), width)
}

/// The logarithmic scale of values.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(low: f64, high: f64) -> Self {
        let (low, high) = (low.ln(), high.ln());
        let lack = (NEAREST - (high - low)).max(0.0) / 2.0;
        Self { low: low - lack, high: high + lack }
    }

    /// The line of a value, from the top.
    fn row(&self, value: f64) -> usize {
        let share = (self.high - value.ln()) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (HEIGHT - 1) as f64).round() as usize
    }

    /// The value at the middle of a line.
    fn value(&self, row: usize) -> f64 {
        (self.high - (self.high - self.low) * row as f64 / (HEIGHT - 1) as f64).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page = Page {
        width: 60,
        is_colour: false,
        is_unicode: false,
        is_verbose: false,
        has_plots: true,
        fonts: &[],
    };

    fn subject(name: &str, count: u64, step: u64) -> Subject<'_> {
        let mut pooled = Histogram::new();
        (1..=count).for_each(|value| pooled.record(value * step));
        Subject { name, pooled, is_reference: step == 1 }
    }

    #[test]
    fn a_curve_ends_where_fewer_than_ten_values_lie_beyond() {
        let [long, short] = [subject("long", 100_000, 1), subject("short", 1_000, 50)];
        assert!(short.at(2.0).is_some() && short.at(2.01).is_none());
        assert!(long.at(4.0).is_some() && long.at(4.01).is_none());
        let lines = lines(&[long, short], Unit::Nanoseconds, false, &PAGE, Language::default());
        let last = |sign: char| lines[..HEIGHT].iter().filter_map(|line| line.rfind(sign)).max();
        assert!(last('*') > last('o').map(|end| end + 20), "{lines:#?}");
        assert!(lines[HEIGHT + 1].contains("99.99") && !lines[HEIGHT + 1].contains("99.999"));
    }

    #[test]
    fn too_few_values_for_a_median_are_no_curve() {
        let few = [subject("few", 19, 1)];
        assert!(lines(&few, Unit::Nanoseconds, false, &PAGE, Language::default()).is_empty());
        assert!(
            !lines(&[subject("few", 40, 1)], Unit::Nanoseconds, false, &PAGE, Language::default())
                .is_empty()
        );
    }

    #[test]
    fn hidden_values_are_ratios_to_the_median_of_the_reference() {
        let subjects = [subject("one", 1_000, 1), subject("two", 1_000, 4)];
        let text = lines(&subjects, Unit::Nanoseconds, true, &PAGE, Language::default()).join("\n");
        assert!(!text.contains(" ns") && !text.contains(" us"), "{text}");
        assert!(text.contains("x1.00") && text.contains("x7.9"), "{text}");
    }
}
