//! A slide before it is XML, and how one that is too full becomes several.

use super::fit::{height, lines};
use phrases::{Language, say};

/// A slide: 13⅓ by 7½ inches.
pub(super) const WIDTH: u64 = 12_192_000;
pub(super) const HEIGHT: u64 = 6_858_000;
/// Room around everything.
pub(super) const MARGIN: u64 = 502_920;
/// Where what stands below the title begins, and how high it may be.
pub(super) const BODY_TOP: u64 = 1_325_880;
pub(super) const BODY_HEIGHT: u64 = 4_983_480;
pub(super) const BODY_WIDTH: u64 = WIDTH - 2 * MARGIN;

/// Points of tables and of paragraphs: the largest at which all fits on one slide, else the
/// smallest on several.
const CELL_POINTS: [u32; 3] = [16, 14, 12];
const TEXT_POINTS: [u32; 3] = [24, 20, 18];
/// Room left and right in a cell, above and below its text, and between paragraphs.
pub(super) const CELL_SIDE: u64 = 73_152;
pub(super) const CELL_EDGE: u64 = 36_576;
pub(super) const PARAGRAPH_GAP: u64 = 101_600;

/// A slide, or several of one title.
#[derive(Debug, Clone)]
pub(super) struct Slide {
    pub title: String,
    pub body: Body,
    /// What a speaker says, and how to read it.
    pub notes: String,
}

/// A slide that is not too full, with the points of its text.
#[derive(Debug)]
pub(super) struct Paged {
    pub slide: Slide,
    pub points: u32,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    /// The first slide: what stands below the title.
    Opening(String),
    Paragraphs(Vec<Paragraph>),
    Table(Table),
    Picture(Box<PictureBody>),
}

/// `label` stands before the text in bold type.
#[derive(Debug, Clone)]
pub(super) struct Paragraph {
    pub label: String,
    pub text: String,
}

impl Paragraph {
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }

    /// As it is read.
    pub fn whole(&self) -> String {
        if self.label.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.label, self.text)
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Names of columns with their shares of the width.
    pub columns: Vec<(&'static str, u32)>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
pub(super) struct PictureBody {
    pub png: Vec<u8>,
    pub pixels: (u32, u32),
    /// For those who do not see it.
    pub description: String,
    /// How to read it, below it.
    pub caption: String,
}

impl Table {
    /// Widths of columns; together that of the body.
    pub fn widths(&self) -> Vec<u64> {
        let whole: u64 = self.columns.iter().map(|(_, share)| u64::from(*share)).sum();
        self.columns
            .iter()
            .map(|(_, share)| BODY_WIDTH * u64::from(*share) / whole.max(1))
            .collect()
    }

    /// Height of a row.
    pub fn row_height(&self, cells: &[String], points: u32) -> u64 {
        let widths = self.widths();
        let of_cell = |(cell, width): (&String, &u64)| {
            lines(cell, points, width.saturating_sub(2 * CELL_SIDE))
        };
        let most = cells.iter().zip(&widths).map(of_cell).max().unwrap_or(1);
        height(most, points) + 2 * CELL_EDGE
    }

    /// Height of the names of columns.
    pub fn head_height(&self, points: u32) -> u64 {
        height(1, points) + 2 * CELL_EDGE
    }
}

/// The slides that one becomes: nothing reaches beyond the lower edge.
pub(super) fn paged(slide: &Slide, language: Language) -> Vec<Paged> {
    let (bodies, points) = match &slide.body {
        Body::Table(table) => {
            fitted(&CELL_POINTS, |points| table_pages(table, points), Body::Table)
        }
        Body::Paragraphs(all) => {
            fitted(&TEXT_POINTS, |points| text_pages(all, points), Body::Paragraphs)
        }
        other => (vec![other.clone()], 0),
    };
    let count = bodies.len();
    let of_page = |(number, body): (usize, Body)| Paged {
        slide: Slide {
            title: match count {
                1 => slide.title.clone(),
                _ => say!(
                    language,
                    "{title} ({number} of {count})",
                    title = slide.title,
                    number = number + 1,
                    count
                ),
            },
            body,
            notes: slide.notes.clone(),
        },
        points,
    };
    bodies.into_iter().enumerate().map(of_page).collect()
}

fn fitted<T>(
    sizes: &[u32],
    of_size: impl Fn(u32) -> Vec<T>,
    body: impl Fn(T) -> Body,
) -> (Vec<Body>, u32) {
    let smallest = sizes.last().copied().unwrap_or(0);
    let points =
        sizes.iter().copied().find(|points| of_size(*points).len() == 1).unwrap_or(smallest);
    (of_size(points).into_iter().map(body).collect(), points)
}

fn table_pages(table: &Table, points: u32) -> Vec<Table> {
    let room = BODY_HEIGHT - table.head_height(points);
    pages(&table.rows, room, |row| table.row_height(row, points))
        .into_iter()
        .map(|rows| Table { columns: table.columns.clone(), rows })
        .collect()
}

fn text_pages(all: &[Paragraph], points: u32) -> Vec<Vec<Paragraph>> {
    let height_of =
        |one: &Paragraph| height(lines(&one.whole(), points, BODY_WIDTH), points) + PARAGRAPH_GAP;
    pages(all, BODY_HEIGHT, height_of)
}

fn pages<T: Clone>(all: &[T], room: u64, height_of: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let mut pages: Vec<Vec<T>> = vec![Vec::new()];
    let mut used = 0;
    for one in all {
        let height = height_of(one);
        if used > 0 && used + height > room {
            pages.push(Vec::new());
            used = 0;
        }
        used += height;
        if let Some(page) = pages.last_mut() {
            page.push(one.clone());
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_too_long_goes_on_with_its_head() {
        let row = |number: usize| vec![number.to_string(), "text ".repeat(number)];
        let table =
            Table { columns: vec![("n", 1), ("text", 4)], rows: (0..60).map(row).collect() };
        let slide =
            Slide { title: "All".to_owned(), body: Body::Table(table), notes: String::new() };
        let pages = paged(&slide, Language::default());
        assert!(pages.len() > 1);
        let mut rows = 0;
        for (number, page) in pages.iter().enumerate() {
            let Body::Table(table) = &page.slide.body else { panic!("{page:?}") };
            let height: u64 = table.rows.iter().map(|row| table.row_height(row, page.points)).sum();
            assert!(height + table.head_height(page.points) <= BODY_HEIGHT);
            assert_eq!(page.slide.title, format!("All ({} of {})", number + 1, pages.len()));
            rows += table.rows.len();
        }
        assert_eq!(rows, 60);
    }
}
