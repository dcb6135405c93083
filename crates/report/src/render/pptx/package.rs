//! A deck as a package of parts (ECMA-376 part 2): every part is named once, has a type, and
//! every relation points at a part that is there.

use super::parts::{LAYOUTS, MASTER_ID, layout, master, notes_master, theme};
use super::shapes::{NAMESPACES, PROLOGUE, escaped, notes, slide};
use super::slide::{Body, HEIGHT, Paged, WIDTH};
use crate::view::Report;
use phrases::Language;
use std::io::{self, Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const TYPES: &str = "application/vnd.openxmlformats-officedocument";
/// Ids of slides begin here (ECMA-376 part 1, 19.7.13).
const FIRST_SLIDE: usize = 256;

/// One part: its path, its type where its ending does not tell it, its bytes.
struct Part {
    path: String,
    kind: Option<String>,
    bytes: Vec<u8>,
}

/// The deck as a file.
pub(super) fn packed(report: &Report, slides: &[Paged]) -> io::Result<Vec<u8>> {
    let mut parts = frame(&report.title, slides.len(), report.language);
    for (number, slide) in (1..).zip(slides) {
        add_slide(&mut parts, number, slide, report);
    }
    let types = content_types(&parts);
    let mut file = ZipWriter::new(Cursor::new(Vec::new()));
    // No clock and no owner: the same slides give the same bytes.
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut put = |path: &str, bytes: &[u8]| -> io::Result<()> {
        // Pictures are compressed already.
        let method = if path.ends_with(".png") {
            CompressionMethod::Stored
        } else {
            CompressionMethod::Deflated
        };
        file.start_file(path, options.compression_method(method)).map_err(io::Error::other)?;
        file.write_all(bytes)
    };
    put("[Content_Types].xml", types.as_bytes())?;
    for part in &parts {
        put(&part.path, &part.bytes)?;
    }
    Ok(file.finish().map_err(io::Error::other)?.into_inner())
}

fn xml(path: &str, kind: &str, text: String) -> Part {
    Part {
        path: path.to_owned(),
        kind: Some(format!("{TYPES}.{kind}+xml")),
        bytes: text.into_bytes(),
    }
}

/// Relations of a part, `rId1` onwards: the kind's last word and the target.
fn relations(path: &str, all: &[(&str, String)]) -> Part {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lines: String = (1..)
        .zip(all)
        .map(|(number, (kind, target)): (usize, _)| {
            format!(
                "<Relationship Id=\"rId{number}\" Type=\"{}\" Target=\"{target}\"/>",
                typed(kind)
            )
        })
        .collect();
    let text = format!(
        "{PROLOGUE}<Relationships xmlns=\"{PACKAGE}/relationships\">{lines}</Relationships>"
    );
    let separator = if folder.is_empty() { "" } else { "/" };
    Part {
        path: format!("{folder}{separator}_rels/{name}.rels"),
        kind: None,
        bytes: text.into_bytes(),
    }
}

fn typed(kind: &str) -> String {
    match kind {
        "core-properties" => format!("{PACKAGE}/relationships/metadata/core-properties"),
        kind => format!("{OFFICE}/{kind}"),
    }
}

/// Everything but the slides.
fn frame(title: &str, count: usize, language: Language) -> Vec<Part> {
    let of_slides = (1..=count).map(|number| ("slide", format!("slides/slide{number}.xml")));
    let mut of_deck = vec![
        ("slideMaster", "slideMasters/slideMaster1.xml".to_owned()),
        ("notesMaster", "notesMasters/notesMaster1.xml".to_owned()),
        ("theme", "theme/theme1.xml".to_owned()),
    ];
    of_deck.extend(of_slides);
    let mut of_master: Vec<(&str, String)> = (1..=LAYOUTS)
        .map(|number| ("slideLayout", format!("../slideLayouts/slideLayout{number}.xml")))
        .collect();
    of_master.push(("theme", "../theme/theme1.xml".to_owned()));
    let mut parts = vec![
        relations(
            "",
            &[
                ("officeDocument", "ppt/presentation.xml".to_owned()),
                ("core-properties", "docProps/core.xml".to_owned()),
            ],
        ),
        Part {
            path: "docProps/core.xml".to_owned(),
            kind: Some("application/vnd.openxmlformats-package.core-properties+xml".to_owned()),
            bytes: core(title).into_bytes(),
        },
        xml("ppt/presentation.xml", "presentationml.presentation.main", presentation(count)),
        relations("ppt/presentation.xml", &of_deck),
        xml("ppt/theme/theme1.xml", "theme", theme(language)),
        xml("ppt/theme/theme2.xml", "theme", theme(language)),
        xml("ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster", master(language)),
        relations("ppt/slideMasters/slideMaster1.xml", &of_master),
        xml("ppt/notesMasters/notesMaster1.xml", "presentationml.notesMaster", notes_master()),
        relations(
            "ppt/notesMasters/notesMaster1.xml",
            &[("theme", "../theme/theme2.xml".to_owned())],
        ),
    ];
    for number in 1..=LAYOUTS {
        let path = format!("ppt/slideLayouts/slideLayout{number}.xml");
        parts.push(xml(&path, "presentationml.slideLayout", layout(number)));
        let master = ("slideMaster", "../slideMasters/slideMaster1.xml".to_owned());
        parts.push(relations(&path, &[master]));
    }
    parts
}

fn presentation(count: usize) -> String {
    // Relations 1 to 3 are the masters and the theme.
    let slides: String = (0..count)
        .map(|number| {
            format!("<p:sldId id=\"{}\" r:id=\"rId{}\"/>", FIRST_SLIDE + number, number + 4)
        })
        .collect();
    format!(
        "{PROLOGUE}<p:presentation {NAMESPACES}><p:sldMasterIdLst><p:sldMasterId id=\"{MASTER_ID}\" \
         r:id=\"rId1\"/></p:sldMasterIdLst><p:notesMasterIdLst><p:notesMasterId r:id=\"rId2\"/>\
         </p:notesMasterIdLst><p:sldIdLst>{slides}</p:sldIdLst><p:sldSz cx=\"{WIDTH}\" \
         cy=\"{HEIGHT}\"/><p:notesSz cx=\"6858000\" cy=\"9144000\"/></p:presentation>"
    )
}

fn core(title: &str) -> String {
    format!(
        "{PROLOGUE}<cp:coreProperties xmlns:cp=\"{PACKAGE}/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{}</dc:title>\
         <dc:creator>schedlab</dc:creator></cp:coreProperties>",
        escaped(title)
    )
}

fn add_slide(parts: &mut Vec<Part>, number: usize, content: &Paged, report: &Report) {
    let language = report.language;
    let path = format!("ppt/slides/slide{number}.xml");
    let layout = match &content.slide.body {
        Body::Opening(_) => 1,
        Body::Paragraphs(_) => 2,
        Body::Table(_) | Body::Picture(_) => 3,
    };
    parts.push(xml(&path, "presentationml.slide", slide(content, &report.campaign, language)));
    let mut of_slide = vec![
        ("slideLayout", format!("../slideLayouts/slideLayout{layout}.xml")),
        ("notesSlide", format!("../notesSlides/notesSlide{number}.xml")),
    ];
    if let Body::Picture(picture) = &content.slide.body {
        let image = format!("media/image{number}.png");
        of_slide.push(("image", format!("../{image}")));
        parts.push(Part { path: format!("ppt/{image}"), kind: None, bytes: picture.png.clone() });
    }
    parts.push(relations(&path, &of_slide));
    let path = format!("ppt/notesSlides/notesSlide{number}.xml");
    parts.push(xml(&path, "presentationml.notesSlide", notes(&content.slide.notes, language)));
    parts.push(relations(
        &path,
        &[
            ("notesMaster", "../notesMasters/notesMaster1.xml".to_owned()),
            ("slide", format!("../slides/slide{number}.xml")),
        ],
    ));
}

/// The types of the parts that are there, and of no others.
fn content_types(parts: &[Part]) -> String {
    let overrides: String = parts
        .iter()
        .filter_map(|part| Some((part, part.kind.as_ref()?)))
        .map(|(part, kind)| {
            format!("<Override PartName=\"/{}\" ContentType=\"{kind}\"/>", part.path)
        })
        .collect();
    format!(
        "{PROLOGUE}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default \
         Extension=\"xml\" ContentType=\"application/xml\"/><Default Extension=\"png\" \
         ContentType=\"image/png\"/>{overrides}</Types>"
    )
}
