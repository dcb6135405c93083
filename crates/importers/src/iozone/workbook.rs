//! Workbooks (.xlsx): each sheet a table of one subject.
//!
//! Cells are taken as they come and never as a rectangle, because a file of a few bytes
//! may have one in the last row and column, and one row is held at a time. What the archive
//! really holds is measured before it is opened. A text that cells share is never copied: a cell of
//! some bytes may name one of a megabyte.

use super::study::Study;
use super::xml_tags::TagCounter;
use crate::table::over;
use calamine::{DataRef, Reader, Xlsx};
use model::{
    OverLimit, WORKBOOK_BYTES, WORKBOOK_CELL_BYTES, WORKBOOK_CELLS, WORKBOOK_EXPANSION,
    WORKBOOK_FREE_BYTES, WORKBOOK_TAG_ATTRIBUTES,
};
use outputs::Trouble;
use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zip::ZipArchive;

/// A study's workbook has a hundredth of them.
const MOST_PARTS: usize = 2000;
const MEDIA: &str = "xl/media/";
/// What begins a part's entry in the directory of an archive, the record that ends an archive, and of an
/// archive with many parts the record before that and its locator (APPNOTE.TXT 6.3.10, 4.3.12 to 4.3.16).
const ENTRY_MARK: &[u8] = b"PK\x01\x02";
const END_MARK: &[u8] = b"PK\x05\x06";
const LARGE_END_MARK: &[u8] = b"PK\x06\x06";
const LOCATOR_MARK: &[u8] = b"PK\x06\x07";
/// Where such a record has the number of parts, in eight bytes.
const LARGE_COUNT_AT: usize = 32;
const MOST_SHEETS: usize = 200;
/// Operation, record, runs and mean fit many times.
const MOST_COLUMNS: u32 = 2000;
const UNREADABLE: &str = "it is no workbook that can be opened";
const REMEDY: &str = "save it again as .xlsx, or each sheet as .csv";

pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The tables of its sheets, in its order; empty ones are passed over.
pub(super) fn studies(bytes: &[u8]) -> Result<Vec<Study>, Trouble> {
    measure(bytes)?;
    // The reader is somebody else's: what would make it panic is refused like the rest.
    let read = catch_unwind(AssertUnwindSafe(|| all(bytes)));
    let studies = read.unwrap_or_else(|_| Err(Trouble::new(UNREADABLE, REMEDY)))?;
    if studies.is_empty() {
        return Err(Trouble::new("none of its sheets holds anything", REMEDY));
    }
    Ok(studies)
}

/// Refuses what would fill the memory, and tags whose attributes would take the reader long. Every
/// part is looked at but pictures, whatever its name: the workbook says which ones are read.
fn measure(bytes: &[u8]) -> Result<(), Trouble> {
    let wrong =
        |error: &dyn std::fmt::Display| Trouble::new(format!("{UNREADABLE}: {error}"), REMEDY);
    check_parts(bytes)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| wrong(&error))?;
    let mut unpacked = 0;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| wrong(&error))?;
        // One byte more than there may be, whatever the size that the archive declares.
        let left = WORKBOOK_BYTES.most.saturating_sub(unpacked) + 1;
        let is_picture = is_picture(part.name());
        let mut tags = TagCounter::default();
        let mut unread = std::io::sink();
        let to: &mut dyn Write = if is_picture { &mut unread } else { &mut tags };
        let length = std::io::copy(&mut part.take(left), to);
        unpacked += length.map_err(|error| wrong(&error))?;
        check_unpacked(unpacked, bytes.len() as u64).map_err(over)?;
        WORKBOOK_TAG_ATTRIBUTES.check(tags.most_attributes()).map_err(over)?;
    }
    Ok(())
}

/// Whether a part lies where pictures do, whose bytes may look like a tag: the reader takes sheets from
/// other folders only, and everything else by its name.
fn is_picture(name: &str) -> bool {
    name.get(..MEDIA.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MEDIA))
}

/// Refuses too many parts before any of them is held. They are counted by the marks in front of their
/// entries, because the reader tries whatever could be the end of an archive, and holds as many entries
/// as that says. Where it says more than there are, it makes room for all of them.
fn check_parts(bytes: &[u8]) -> Result<(), Trouble> {
    let is_large = |mark: usize| {
        let count = bytes.get(mark + LARGE_COUNT_AT..).and_then(|rest| rest.first_chunk::<8>());
        count.is_some_and(|count| u64::from_le_bytes(*count) > MOST_PARTS as u64)
    };
    let has_many = |mark| marks(bytes, mark).nth(MOST_PARTS).is_some();
    let is_located = || marks(bytes, LOCATOR_MARK).next().is_some();
    let declares_many = || marks(bytes, LARGE_END_MARK).any(is_large) && is_located();
    if has_many(ENTRY_MARK) || has_many(END_MARK) || declares_many() {
        let cause = format!("it has more than {MOST_PARTS} parts (limit WORKBOOK_PARTS)");
        return Err(Trouble::new(cause, REMEDY));
    }
    Ok(())
}

/// Where the mark stands.
fn marks<'b>(bytes: &'b [u8], mark: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let windows = bytes.windows(mark.len()).enumerate();
    windows.filter(move |(_, window)| *window == mark).map(|(at, _)| at)
}

/// Whether the parts may have so many bytes together, of a file of so many.
fn check_unpacked(unpacked: u64, file_bytes: u64) -> Result<(), OverLimit> {
    WORKBOOK_BYTES.check(unpacked)?;
    let beyond = unpacked.saturating_sub(WORKBOOK_FREE_BYTES);
    WORKBOOK_EXPANSION.check(beyond.div_ceil(file_bytes.max(1)))
}

fn all(bytes: &[u8]) -> Result<Vec<Study>, Trouble> {
    let wrong =
        |error: &dyn std::fmt::Display| Trouble::new(format!("{UNREADABLE}: {error}"), REMEDY);
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| wrong(&error))?;
    let names = workbook.sheet_names();
    if names.len() > MOST_SHEETS {
        let cause = format!("it has more than {MOST_SHEETS} sheets (limit WORKBOOK_SHEETS)");
        return Err(Trouble::new(cause, REMEDY));
    }
    let mut studies = Vec::new();
    let mut left = WORKBOOK_CELLS.most;
    for name in names {
        let mut study = None;
        let mut open = OpenRow::default();
        let mut cells = workbook.worksheet_cells_reader(&name).map_err(|error| wrong(&error))?;
        while let Some(cell) = cells.next_cell().map_err(|error| wrong(&error))? {
            let (row, column) = cell.get_position();
            let at = |cause: String| {
                let place = address(row, column);
                Trouble::new(format!("sheet {name}, cell {place}: {cause}"), "correct it")
            };
            let text = text(cell.get_value()).map_err(at)?;
            if text.is_empty() {
                continue;
            }
            left = left.checked_sub(1).ok_or_else(|| {
                over(OverLimit { limit: &WORKBOOK_CELLS, read: WORKBOOK_CELLS.most + 1 })
            })?;
            if column >= MOST_COLUMNS {
                return Err(at("it stands beside the table".to_owned()));
            }
            if open.row > row {
                return Err(at("it follows a later row".to_owned()));
            }
            let study = study.get_or_insert_with(|| Study::of(name.clone(), Some(name.clone())));
            if open.row < row {
                open.close(study)?;
                open.row = row;
            }
            open.cells.push((column, text));
        }
        if let Some(mut study) = study {
            open.close(&mut study)?;
            studies.push(study);
        }
    }
    Ok(studies)
}

/// The row that is being read.
#[derive(Default)]
struct OpenRow<'a> {
    /// Its number, from 0.
    row: u32,
    /// Its cells that hold something, by their columns.
    cells: Vec<(u32, Cow<'a, str>)>,
}

impl OpenRow<'_> {
    /// Hands the row on, where it holds anything.
    fn close(&mut self, study: &mut Study) -> Result<(), Trouble> {
        if !self.cells.is_empty() {
            study.row(u64::from(self.row) + 1, &in_columns(&self.cells))?;
            self.cells.clear();
        }
        Ok(())
    }
}

/// The cells of a row where they stand, with nothing between them. One row at a time: each may have
/// its only cell in the last column.
fn in_columns<'c>(cells: &'c [(u32, Cow<'_, str>)]) -> Vec<&'c str> {
    let width = cells.iter().map(|(column, _)| *column as usize + 1).max().unwrap_or(0);
    let mut row = vec![""; width];
    for (column, text) in cells {
        row[*column as usize] = text.as_ref();
    }
    row
}

/// A cell as somebody would write it down.
fn text<'a>(value: &DataRef<'a>) -> Result<Cow<'a, str>, String> {
    match value {
        DataRef::Empty => Ok(Cow::Borrowed("")),
        DataRef::Int(number) => Ok(Cow::Owned(number.to_string())),
        DataRef::Float(number) => Ok(Cow::Owned(number.to_string())),
        DataRef::String(text) => {
            check_length(text)?;
            Ok(Cow::Owned(text.trim().to_owned()))
        }
        DataRef::SharedString(text) => {
            let shared: &'a str = text;
            check_length(shared)?;
            Ok(Cow::Borrowed(shared.trim()))
        }
        DataRef::Error(error) => Err(format!("it shows the error {error}")),
        DataRef::Bool(_) => Err("it is true or false, and no number".to_owned()),
        DataRef::DateTime(_) | DataRef::DateTimeIso(_) | DataRef::DurationIso(_) => {
            Err("it is a date or a time, and no number".to_owned())
        }
    }
}

/// Whether a cell may hold so long a text: it is compared, and many cells may share it.
fn check_length(text: &str) -> Result<(), String> {
    WORKBOOK_CELL_BYTES.check(text.len() as u64).map_err(|over| over.to_string())
}

/// `C5`.
fn address(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        letters.push((b'A' + ((rest - 1) % 26) as u8) as char);
        rest = (rest - 1) / 26;
    }
    format!("{}{}", letters.iter().rev().collect::<String>(), u64::from(row) + 1)
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::Mapping;
    use crate::picture::{picture, read, refusal};
    use expect_test::expect;
    use std::fmt::Write as _;
    use zip::write::SimpleFileOptions;

    /// A workbook of sheets whose cells are XML.
    fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
        workbook_sharing("", sheets)
    }

    /// The same, whose cells may share texts (`<si><t>..</t></si>`).
    fn workbook_sharing(texts: &str, sheets: &[(&str, &str)]) -> Vec<u8> {
        let (mut list, mut links) = (String::new(), String::new());
        for (number, (name, _)) in (1..).zip(sheets) {
            let _ = write!(list, r#"<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>"#);
            let _ = write!(
                links,
                r#"<Relationship Id="r{number}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{number}.xml"/>"#
            );
        }
        let mut parts = vec![
            (
                "xl/workbook.xml".to_owned(),
                format!(r#"<workbook xmlns:r="r"><sheets>{list}</sheets></workbook>"#),
            ),
            (
                "xl/_rels/workbook.xml.rels".to_owned(),
                format!("<Relationships>{links}</Relationships>"),
            ),
        ];
        for (number, (_, rows)) in (1..).zip(sheets) {
            let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
            parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
        }
        if !texts.is_empty() {
            parts.push(("xl/sharedStrings.xml".to_owned(), format!("<sst>{texts}</sst>")));
        }
        archive(&parts)
    }

    fn archive(parts: &[(String, String)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    /// So many attributes, each of another name.
    fn attributes(count: usize) -> String {
        (0..count).map(|number| format!(" a{number}=''")).collect()
    }

    fn row(number: usize, cells: &[&str]) -> String {
        let mut text = format!(r#"<row r="{number}">"#);
        for (column, cell) in (0..).zip(cells) {
            let place = address(number as u32 - 1, column);
            let _ = match cell.parse::<f64>() {
                Ok(_) => write!(text, r#"<c r="{place}"><v>{cell}</v></c>"#),
                Err(_) => write!(text, r#"<c r="{place}" t="str"><v>{cell}</v></c>"#),
            };
        }
        text + "</row>"
    }

    fn sheet(first: &str) -> String {
        row(1, &["Operation", "record", "run 1", "run 2", "mean"])
            + &row(2, &["Read", "8k", first, "102.5", "101.25"])
            + &row(4, &["write", "8k", "50", "51", "50.5"])
    }

    #[test]
    fn each_sheet_is_a_subject() {
        let (noop, cfq) = (sheet("100"), sheet("90"));
        let bytes = workbook(&[("noop", &noop), ("notes", ""), ("cfq", &cfq)]);
        let table = read(&ENTRY, &[("book", &bytes)], &Mapping::default()).unwrap();
        expect![[r#"
            dimension operation covered
            dimension record fixed
            metric throughput BytesPerSecond Higher Mean 0.1 judged
            closed loop
            noop [read, 8k] #0.1 throughput=102400
            noop [read, 8k] #0.2 throughput=104960
            noop [write, 8k] #0.1 throughput=51200
            noop [write, 8k] #0.2 throughput=52224
            cfq [read, 8k] #4.1 throughput=92160
            cfq [read, 8k] #4.2 throughput=104960
            cfq [write, 8k] #4.1 throughput=51200
            cfq [write, 8k] #4.2 throughput=52224
            caveat CONTRADICTED: means that do not follow from their runs, which count: cfq read 8k (101.25 written; 96.25 of the runs)
        "#]].assert_eq(&picture(&table));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_sheet_and_cell() {
        let refused =
            |rows: &str| refusal(&ENTRY, &workbook(&[("noop", rows)]), &Mapping::default());
        let good = sheet("100");
        for (old, new, cause) in [
            (r#"<v>100</v>"#, "", "sheet noop, row 2: run 1 is empty, which is not zero"),
            (r#"<v>100</v>"#, "<v>0</v>", "sheet noop, row 2: run 1 is 0, which is no rate"),
            (r#"<c r="C2">"#, r#"<c r="C2" t="b">"#, "sheet noop, cell C2: it is true or false"),
            (
                r#"<c r="D2"><v>102.5"#,
                r##"<c r="D2" t="e"><v>#DIV/0!"##,
                "sheet noop, cell D2: it shows the error #DIV/0!",
            ),
            (
                r#"<c r="E4">"#,
                r#"<c r="XFD1048576">"#,
                "sheet noop, cell XFD1048576: it stands beside the table",
            ),
            (r#"<c r="A4""#, r#"<c r="A1""#, "sheet noop, cell A1: it follows a later row"),
            (
                "run 2",
                "second",
                "sheet noop, row 1: its columns are operation, record, run 1, second, mean",
            ),
        ] {
            assert!(good.contains(old), "{old}");
            let found = refused(&good.replacen(old, new, 1));
            assert!(found.starts_with(cause), "{found}");
        }
        let empty = refusal(&ENTRY, &workbook(&[("noop", "")]), &Mapping::default());
        assert_eq!(empty, "none of its sheets holds anything");
    }

    #[test]
    fn every_part_of_a_workbook_is_refused() {
        let whole = workbook(&[("noop", &sheet("100"))]);
        for length in 4..whole.len() {
            refusal(&ENTRY, &whole[..length], &Mapping::default());
        }
    }

    #[test]
    fn a_workbook_that_would_fill_the_memory_is_refused() {
        let blanks = " ".repeat(WORKBOOK_BYTES.most as usize + 1);
        let bytes = workbook(&[("noop", &blanks)]);
        let found = refusal(&ENTRY, &bytes, &Mapping::default());
        assert!(found.contains("limit WORKBOOK_BYTES"), "{found}");
    }

    #[test]
    fn too_many_parts_are_refused_before_the_directory_of_the_archive_is_held() {
        let refused = |bytes: &[u8]| refusal(&ENTRY, bytes, &Mapping::default());
        let of = |mark: &[u8], length: usize, count: usize| {
            let entry = [mark, vec![0; length - mark.len()].as_slice()].concat();
            [b"PK\x03\x04".as_slice(), &entry.repeat(count)].concat()
        };
        // No reader finds an archive in these, which is what was said of them.
        for (mark, length) in [(ENTRY_MARK, 46), (END_MARK, 22)] {
            let found = refused(&of(mark, length, MOST_PARTS + 1));
            assert!(found.contains("more than 2000 parts (limit WORKBOOK_PARTS)"), "{found}");
            let found = refused(&of(mark, length, MOST_PARTS));
            assert!(found.starts_with(UNREADABLE), "{found}");
        }
        let mut declared = of(LARGE_END_MARK, 56, 1);
        let at = declared.len() - 56 + LARGE_COUNT_AT;
        declared[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        assert!(refused(&declared).starts_with(UNREADABLE), "chance makes such bytes, too");
        declared.extend_from_slice(LOCATOR_MARK);
        assert!(refused(&declared).contains("more than 2000 parts (limit WORKBOOK_PARTS)"));
    }

    #[test]
    fn a_text_that_cells_share_is_read_and_a_long_one_is_refused_wherever_it_is_named() {
        let shared = |index: usize| format!(r#"<c t="s"><v>{index}</v></c>"#);
        let rows = format!(
            "<row>{}{}{}</row><row>{}{}<c><v>100</v></c></row>",
            shared(0),
            shared(1),
            shared(2),
            shared(3),
            shared(4)
        );
        let sharing = |texts: [&str; 5]| {
            let texts = texts.map(|text| format!("<si><t>{text}</t></si>")).concat();
            workbook_sharing(&texts, &[("noop", &rows), ("cfq", &rows)])
        };
        let bytes = sharing(["operation", "record", "run 1", " read ", "8k"]);
        let table = read(&ENTRY, &[("book", &bytes)], &Mapping::default()).unwrap();
        assert!(picture(&table).contains("noop [read, 8k] #0.1 throughput=102400"));
        let long = "x".repeat(1 << 20);
        let blank = " ".repeat(1 << 20);
        for text in [long.as_str(), blank.as_str()] {
            let bytes = sharing(["operation", "record", "run 1", text, "8k"]);
            let found = refusal(&ENTRY, &bytes, &Mapping::default());
            assert!(found.starts_with("sheet noop, cell A2: "), "{found}");
            assert!(found.contains("limit WORKBOOK_CELL_BYTES"), "{found}");
        }
    }

    #[test]
    fn parts_may_be_larger_than_their_file_so_far_as_honest_ones_are() {
        let name = |unpacked: u64, file_bytes: u64| {
            check_unpacked(unpacked, file_bytes).map_err(|over| over.limit.name)
        };
        assert_eq!(name(WORKBOOK_FREE_BYTES, 1), Ok(()));
        assert_eq!(name(WORKBOOK_FREE_BYTES + 5, 1), Err("WORKBOOK_EXPANSION"));
        assert_eq!(name(WORKBOOK_FREE_BYTES + (4 << 20), 1 << 20), Ok(()));
        assert_eq!(name(WORKBOOK_BYTES.most, 64 << 20), Ok(()), "pictures do not shrink");
        assert_eq!(name(WORKBOOK_BYTES.most + 1, 64 << 20), Err("WORKBOOK_BYTES"));
        let texts = "<si><t>x</t></si>".repeat(1 << 20);
        let bytes = workbook_sharing(&texts, &[("noop", &sheet("100"))]);
        let found = refusal(&ENTRY, &bytes, &Mapping::default());
        assert!(found.contains("limit WORKBOOK_EXPANSION"), "{found}");
    }

    #[test]
    fn a_tag_of_very_many_attributes_is_refused_before_the_reader_compares_them() {
        let rows = format!("<row{}></row>", attributes(400_000));
        let bytes = workbook(&[("noop", &rows)]);
        let found = refusal(&ENTRY, &bytes, &Mapping::default());
        assert!(found.contains("limit WORKBOOK_TAG_ATTRIBUTES"), "{found}");
    }

    #[test]
    fn no_part_and_nothing_before_it_hides_a_tag_of_too_many_attributes() {
        let most = WORKBOOK_TAG_ATTRIBUTES.most as usize;
        let refused = |part: &str, before: &str, count: usize| {
            let text = format!("{before}<row{}>", attributes(count));
            refusal(&ENTRY, &archive(&[(part.to_owned(), text)]), &Mapping::default())
        };
        let parts = [
            "xl/workbook.xml",
            "xl/_rels/workbook.xml.rels",
            "xl/styles.xml",
            "xl/sharedStrings.xml",
            "xl/worksheets/sheet1.xml",
            "XL/Worksheets/sheet",
            "[Content_Types].xml",
            "another",
        ];
        for part in parts {
            for before in
                ["", "\u{feff}", "<a b='>'>", "<!-- <a ' -->", "<![CDATA[\"]]>", "<?a ' ?>"]
            {
                let found = refused(part, before, most + 1);
                assert!(
                    found.contains("limit WORKBOOK_TAG_ATTRIBUTES"),
                    "{part} {before}: {found}"
                );
                // No workbook, which is what is then said of it.
                let found = refused(part, before, most);
                assert!(found.starts_with(UNREADABLE), "{part} {before}: {found}");
            }
        }
        let found = refused("xl/media/image1.bmp", "", most + 1);
        assert!(found.starts_with(UNREADABLE), "{found}");
    }

    #[test]
    fn of_a_row_whose_only_cell_is_the_last_one_nothing_else_is_held() {
        let cells = [(3, Cow::from("d")), (0, Cow::from("a")), (3, Cow::from("e"))];
        assert_eq!(in_columns(&cells), ["a", "", "", "e"]);
        assert_eq!(in_columns(&[]), [""; 0]);
    }

    #[test]
    fn a_cell_has_its_address() {
        for (row, column, text) in [(0, 0, "A1"), (4, 25, "Z5"), (0, 26, "AA1"), (0, 16383, "XFD1")]
        {
            assert_eq!(address(row, column), text);
        }
    }
}
