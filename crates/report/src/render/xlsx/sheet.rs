//! Writing a sheet row by row.

use model::Unit;
use phrases::Language;
use rust_xlsxwriter::{Color, Format, FormatAlign, Worksheet, XlsxError};

/// A cell holds at most 32 767 characters (Microsoft, "Excel specifications and limits").
const LONGEST: usize = 32_000;
/// Widest a column is drawn, in characters.
const WIDEST: f64 = 60.0;

/// What stands in a cell.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    /// Nothing.
    Empty,
    /// Text, whatever it begins with: never a formula.
    Text(String),
    /// A number; where it is not finite, its name.
    Number(f64),
    /// The same, drawn as this format says.
    Formatted(f64, Format),
    /// Text drawn as this format says.
    FormattedText(String, Format),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Number(count as f64)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Number(f64::from(count))
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(known: Option<T>) -> Self {
        known.map_or(Self::Empty, Into::into)
    }
}

/// A value in its unit: whole nanoseconds and bytes are grouped by thousands.
pub(super) fn value(number: f64, unit: Unit) -> Cell {
    match unit {
        Unit::Nanoseconds | Unit::Bytes | Unit::BytesPerSecond => {
            Cell::Formatted(number, Format::new().set_num_format("#,##0"))
        }
        _ => Cell::Number(number),
    }
}

/// Text that a cell can hold, and of which nothing is obeyed instead of shown.
pub(super) fn limited(text: &str) -> String {
    let text = model::inert_lines(text);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}

/// A sheet and its next row.
pub(super) struct Rows<'a> {
    sheet: &'a mut Worksheet,
    language: Language,
    next: u32,
}

impl<'a> Rows<'a> {
    pub(super) fn of(sheet: &'a mut Worksheet, language: Language) -> Self {
        Self { sheet, language, next: 0 }
    }

    /// Titles, bold on grey. Those of the first row stay in sight.
    pub(super) fn titles(&mut self, titles: Vec<String>) -> Result<(), XlsxError> {
        if self.next == 0 {
            self.sheet.set_freeze_panes(1, 0)?;
        }
        let format = Format::new()
            .set_bold()
            .set_background_color(Color::RGB(0x00EE_EFF2))
            .set_align(FormatAlign::Left);
        let cells = titles.into_iter().map(|title| Cell::FormattedText(title, format.clone()));
        self.row(cells.collect())
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) -> Result<(), XlsxError> {
        for (column, cell) in cells.into_iter().enumerate() {
            let column = u16::try_from(column).map_err(|_| XlsxError::RowColumnLimitError)?;
            self.put(column, cell)?;
        }
        self.next += 1;
        Ok(())
    }

    /// A bold line of text that runs over the cells beside it.
    pub(super) fn heading(&mut self, text: &str) -> Result<(), XlsxError> {
        self.row(vec![Cell::FormattedText(text.to_owned(), Format::new().set_bold())])
    }

    /// A line of text that runs over the cells beside it.
    pub(super) fn note(&mut self, text: &str) -> Result<(), XlsxError> {
        self.row(vec![Cell::from(text)])
    }

    /// A row without anything.
    pub(super) fn skip(&mut self) {
        self.next += 1;
    }

    /// The number of the next row.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Whether nothing was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Widths of the columns, in characters.
    pub(super) fn widths(&mut self, widths: &[usize]) -> Result<(), XlsxError> {
        for (column, width) in (0_u16..).zip(widths) {
            self.sheet.set_column_width(column, (*width as f64 + 2.0).min(WIDEST))?;
        }
        Ok(())
    }

    fn put(&mut self, column: u16, cell: Cell) -> Result<(), XlsxError> {
        let (sheet, row) = (&mut *self.sheet, self.next);
        match cell {
            Cell::Empty => {}
            Cell::Text(text) => {
                sheet.write_string(row, column, limited(&text))?;
            }
            Cell::FormattedText(text, format) => {
                sheet.write_string_with_format(row, column, limited(&text), &format)?;
            }
            Cell::Number(number) if number.is_finite() => {
                sheet.write_number(row, column, number)?;
            }
            Cell::Formatted(number, format) if number.is_finite() => {
                sheet.write_number_with_format(row, column, number, &format)?;
            }
            // A sheet has no infinity.
            Cell::Number(_) | Cell::Formatted(..) => {
                sheet.write_string(row, column, self.language.word("unbounded"))?;
            }
        }
        Ok(())
    }
}
