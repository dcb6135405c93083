//! A figure as a study prints it, and whether a number is what was rounded to it.

/// What binary fractions of decimal figures are apart, relative to them.
const FRACTION: f64 = 1e-9;
/// A table of a program shows a number of so many digits before its point with `.0` behind it,
/// whether or not the number was whole.
const SHOWN_DIGITS: usize = 6;

/// A printed figure: `1,154ms`, `+45.2%`, `5-7x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedFigure {
    low: f64,
    high: f64,
    /// One of its last digit.
    unit: f64,
}

/// How a number became a printed figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It rounds to it, or lies in its range.
    Rounded,
    /// Its further digits were cut off.
    Cut,
    /// It did not.
    Other,
}

impl PrintedFigure {
    /// Reads a figure, with its sign, separators of thousands and unit; of a range both ends.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no figure");
        let bare: String = text
            .trim_start_matches('~')
            .trim_end_matches(|letter: char| letter == '%' || letter.is_alphabetic())
            .chars()
            .filter(|letter| *letter != ',')
            .collect();
        let is_range = bare.get(1..).is_some_and(|rest| rest.contains('-'));
        let (low, high) = match bare.rsplit_once('-').filter(|_| is_range) {
            Some(ends) => ends,
            None => (bare.as_str(), bare.as_str()),
        };
        let digits = high.rsplit_once('.').map_or(0, |(whole, behind)| {
            let is_shown = behind == "0" && whole.len() >= SHOWN_DIGITS;
            if is_shown { 0 } else { behind.len() }
        });
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let (low, high) = (number(low).ok_or_else(wrong)?, number(high).ok_or_else(wrong)?);
        let digits = i32::try_from(digits).map_err(|_| wrong())?;
        Ok(Self { low, high, unit: 10_f64.powi(-digits) })
    }

    /// Whether this number is what was printed.
    pub(crate) fn agrees(&self, number: f64) -> Agreement {
        let slack = number.abs().max(self.high.abs()) * FRACTION;
        let half = self.unit / 2.0 + slack;
        if (self.low - half..=self.high + half).contains(&number) {
            return Agreement::Rounded;
        }
        let is_cut = self.low == self.high
            && (number < 0.0) == (self.low < 0.0)
            && number.abs() >= self.low.abs() - slack
            && number.abs() < self.low.abs() + self.unit - slack;
        if is_cut { Agreement::Cut } else { Agreement::Other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_agrees_with_the_figure_that_it_was_rounded_or_cut_to() {
        let cases = [
            ("+45.2%", 45.152, Agreement::Rounded),
            ("-67%", -68.06, Agreement::Other),
            ("+100%", 100.84, Agreement::Cut),
            ("1302", 1_302.74, Agreement::Cut),
            ("1303", 1_302.74, Agreement::Rounded),
            ("1,154ms", 1_154.0, Agreement::Rounded),
            ("-0.4%", -0.45, Agreement::Rounded),
            ("891179", 845_871.91, Agreement::Other),
            ("841121.6", 841_121.65, Agreement::Rounded),
            ("1090115.0", 1_090_115.4, Agreement::Rounded),
            ("32.0", 32.4, Agreement::Other),
            ("5-7x", 1.446, Agreement::Other),
            ("5-7x", 6.0, Agreement::Rounded),
            ("~30,700", 30_700.2, Agreement::Rounded),
            ("1", -1.0, Agreement::Other),
        ];
        for (printed, number, expected) in cases {
            let figure = PrintedFigure::of(printed).unwrap();
            assert_eq!(figure.agrees(number), expected, "{printed} {number}");
        }
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        for text in ["", "x", "5-", "-", "1.2.3", "inf"] {
            assert!(PrintedFigure::of(text).is_err(), "{text}");
        }
    }
}
