//! Workbooks whose archive is sound where nothing else was chosen: texts that many cells share, cells
//! in any place and of any kind, parts that shrink to nothing, sizes that are not true.

use super::{OwnTarget, Reaction};
use crate::choices::Choices;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use importers::IMPORTERS;
use std::fmt::Write as _;
use std::io::Write as _;

pub const TARGET: OwnTarget =
    OwnTarget { name: "shaped-workbook", words: &["0", "000000", "1", "12", "2", "@"], run };

/// How a part is stored: as it is, deflated, or in a way that nobody knows (APPNOTE.TXT 4.4.5).
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const UNKNOWN: u16 = 99;
/// The sound table.
const TABLE: [[&str; 5]; 3] = [
    ["operation", "record", "run 1", "run 2", "mean"],
    ["read", "8k", "100", "102", "101"],
    ["Initial write", "8k", "50", "52.5", "51.25"],
];
/// The file of the other subject, behind the line that divides two files.
const OTHER: &str = "\n----\noperation,record,run 1,run 2,mean\nread,8k,90,102,101\n\
                     Initial write,8k,50,52.5,99\n";
/// Where a cell says that it is: nowhere, in the first place, in the last one, where no cell is.
const PLACES: [&str; 4] = ["", r#" r="A1""#, r#" r="XFD1048576""#, r#" r="1A""#];
/// Times that a row is repeated.
const REPEATED: [usize; 3] = [1, 2, 2_000];
/// Bytes of what shrinks to nothing.
const LONG: usize = 1 << 20;
/// More than a small workbook may unpack to.
const TOO_LONG: usize = 14 << 20;

fn run(bytes: &[u8]) -> Reaction {
    let mut choices = Choices::of(bytes);
    let first = match choices.below(3) {
        0 => "operation".to_owned(),
        1 => "x".repeat(LONG),
        _ => " ".repeat(LONG),
    };
    let mut texts = format!("<sst><si><t>{first}</t></si>");
    for text in ["record", "", "\u{202e}\u{1b}[2J", "<![CDATA[", "1e308"] {
        let _ = write!(texts, "<si><t>{}</t></si>", text.replace('<', "&lt;"));
    }
    if choices.below(2) == 1 {
        texts.push_str(&"<si><t>x</t></si>".repeat(TOO_LONG / 17));
    }
    texts.push_str("</sst>");
    let sheet = sheet(&mut choices);
    let list = r#"<workbook xmlns:r="r"><sheets><sheet name="noop" sheetId="1" r:id="r1"/></sheets></workbook>"#;
    let links = r#"<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
    let mut archive = Archive::default();
    for (name, text) in [
        ("xl/workbook.xml", list),
        ("xl/_rels/workbook.xml.rels", links),
        ("xl/sharedStrings.xml", texts.as_str()),
        ("xl/worksheets/sheet1.xml", sheet.as_str()),
    ] {
        archive.part(name, text.as_bytes(), &mut choices);
    }
    let mut input = b"\n".to_vec();
    input.extend(archive.finished(&mut choices));
    input.extend(OTHER.as_bytes());
    let importer = IMPORTERS.iter().find(|importer| importer.describe().id == "iozone");
    importer.map_or(Reaction::Refused, |importer| crate::imports::import(*importer, &input))
}

/// Its rows: for each cell of the table what stands in it and where, and how often the row stands.
fn sheet(choices: &mut Choices<'_>) -> String {
    let mut sheet = "<worksheet><sheetData>".to_owned();
    for row in TABLE {
        let mut cells = String::new();
        for sound in row {
            let kind = choices.below(6);
            let place = choices.one_of(&PLACES);
            let _ = match kind {
                0 if sound.parse::<f64>().is_ok() => write!(cells, "<c{place}><v>{sound}</v></c>"),
                0 => write!(cells, r#"<c{place} t="str"><v>{sound}</v></c>"#),
                1 => write!(cells, r#"<c{place} t="s"><v>{}</v></c>"#, choices.below(6)),
                2 => write!(cells, r#"<c{place} t="inlineStr"><is><t>{sound}</t></is></c>"#),
                3 => write!(cells, r##"<c{place} t="e"><v>#DIV/0!</v></c>"##),
                4 => write!(cells, r#"<c{place} t="b"><v>1</v></c>"#),
                _ => write!(cells, "<c{place}/>"),
            };
        }
        let row = format!("<row>{cells}</row>");
        sheet.push_str(&row.repeat(*choices.one_of(&REPEATED)));
    }
    sheet + "</sheetData></worksheet>"
}

/// An archive that is being written (APPNOTE.TXT 4.3).
#[derive(Default)]
struct Archive {
    parts: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Archive {
    fn part(&mut self, name: &str, content: &[u8], choices: &mut Choices<'_>) {
        let method = *choices.one_of(&[DEFLATED, STORED, UNKNOWN]);
        let packed = if method == DEFLATED { deflated(content) } else { content.to_vec() };
        let mut sum = Crc::new();
        sum.update(content);
        let offset = choices.number(self.parts.len() as u64) as u32;
        // What both headers say alike: flags, method, time and date, sum, both sizes, lengths.
        let mut said: Vec<u8> = Vec::new();
        for number in [0, method, 0, 0x21] {
            said.extend(number.to_le_bytes());
        }
        for number in [u64::from(sum.sum()), packed.len() as u64, content.len() as u64] {
            said.extend((choices.number(number) as u32).to_le_bytes());
        }
        said.extend((name.len() as u16).to_le_bytes());
        said.extend([0_u8; 2]);
        self.parts.extend(b"PK\x03\x04\x14\0");
        self.parts.extend(&said);
        self.parts.extend(name.as_bytes());
        self.parts.extend(packed);
        self.directory.extend(b"PK\x01\x02\x14\0\x14\0");
        self.directory.extend(said);
        // No comment, on the first disk, no attributes.
        self.directory.extend([0_u8; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
    }

    fn finished(mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let offset = self.parts.len() as u64;
        let count = choices.number(u64::from(self.count)) as u16;
        let (size, offset) = (choices.number(self.directory.len() as u64), choices.number(offset));
        self.parts.extend(self.directory);
        self.parts.extend(b"PK\x05\x06\0\0\0\0");
        self.parts.extend(count.to_le_bytes());
        self.parts.extend(count.to_le_bytes());
        self.parts.extend((size as u32).to_le_bytes());
        self.parts.extend((offset as u32).to_le_bytes());
        self.parts.extend([0_u8; 2]);
        self.parts
    }
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(content).and_then(|()| encoder.finish());
    packed.unwrap_or_default()
}
