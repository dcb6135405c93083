//! Workbooks: archives of some kilobytes whose cells and texts are many.

use super::{Bench, Case, check, size, text};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// 1 MB.
const LONG: usize = 1 << 20;

/// Something so many times, between what stands before and behind it.
type Repeated<'a> = (&'a str, &'a str, usize, &'a str);

/// A workbook of one sheet with the texts that its cells share.
fn workbook(path: &Path, shared: Repeated<'_>, rows: Repeated<'_>) {
    let sheet = r#"<sheet name="noop" sheetId="1" r:id="r1"/>"#;
    let list = format!(r#"<workbook xmlns:r="r"><sheets>{sheet}</sheets></workbook>"#);
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet";
    let link = format!(
        r#"<Relationships><Relationship Id="r1" Type="{kind}" Target="worksheets/sheet1.xml"/></Relationships>"#
    );
    let mut writer = ZipWriter::new(BufWriter::new(File::create(path).unwrap()));
    for (name, (before, one, count, behind)) in [
        ("xl/workbook.xml", (list.as_str(), "", 0, "")),
        ("xl/_rels/workbook.xml.rels", (link.as_str(), "", 0, "")),
        ("xl/sharedStrings.xml", shared),
        ("xl/worksheets/sheet1.xml", rows),
    ] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(before.as_bytes()).unwrap();
        for _ in 0..count {
            writer.write_all(one.as_bytes()).unwrap();
        }
        writer.write_all(behind.as_bytes()).unwrap();
    }
    writer.finish().unwrap().flush().unwrap();
}

#[test]
fn small_workbooks_of_many_cells_and_texts_are_answered_within_their_memory() {
    let bench = Bench::new();
    let path = bench.path().join("noop.xlsx");
    let file = text(&path);
    let (sheet, end) = ("<worksheet><sheetData>", "</sheetData></worksheet>");
    let cell = r#"<c t="s"><v>0</v></c>"#;
    let row = format!("<row>{}</row>", cell.repeat(2_000));
    // All in one place of one row.
    let place = r#"<c r="A1" t="s"><v>0</v></c>"#;
    let in_a_row = (format!("{sheet}<row>"), format!("</row>{end}"));
    let short = "<si><t>x</t></si>";
    let cases = [
        (
            "one long text in 10,000 cells",
            ("<sst><si><t>", "x", LONG, "</t></si></sst>"),
            (sheet, row.as_str(), 5, end),
            "WORKBOOK_CELL_BYTES",
        ),
        (
            "blanks in 10,000 cells",
            ("<sst><si><t>", " ", LONG, "</t></si></sst>"),
            (sheet, row.as_str(), 5, end),
            "WORKBOOK_CELL_BYTES",
        ),
        (
            "short texts of 20 MB",
            ("<sst>", short, 1_200_000, "</sst>"),
            (sheet, "", 0, end),
            "WORKBOOK_EXPANSION",
        ),
        (
            "short texts of 10 MB",
            ("<sst>", short, 600_000, "</sst>"),
            (sheet, "", 0, end),
            "cannot",
        ),
        (
            "190,000 cells of one row",
            ("<sst><si><t>", "x", 200, "</t></si></sst>"),
            (in_a_row.0.as_str(), place, 190_000, in_a_row.1.as_str()),
            "cannot",
        ),
        (
            "a cell too many in one row",
            ("<sst><si><t>", "x", 200, "</t></si></sst>"),
            (in_a_row.0.as_str(), place, 200_001, in_a_row.1.as_str()),
            "WORKBOOK_CELLS",
        ),
    ];
    for (what, shared, rows, word) in cases {
        workbook(&path, shared, rows);
        let size_bytes = size(&path);
        assert!(size_bytes < 1 << 20, "{what}: {size_bytes} bytes");
        let arguments = ["import", "iozone", &file];
        check(&bench, &Case { what, size_bytes, arguments: &arguments, codes: &[2], word });
    }
}
