//! A slide's shapes as XML (ECMA-376 part 1, 19.3 and 21.1).

use super::fit::{height, lines, places, shortened};
use super::slide::{
    BODY_HEIGHT, BODY_TOP, BODY_WIDTH, Body, CELL_EDGE, CELL_SIDE, HEIGHT, MARGIN, PARAGRAPH_GAP,
    Paged, Paragraph, PictureBody, Table, WIDTH,
};

use phrases::Language;

/// Points of a title of so many letters at most; longer ones are cut, their notes have the rest.
const TITLE_SIZES: [(usize, u32); 3] = [(60, 28), (120, 24), (170, 20)];
/// Points of what stands below a picture, and its height.
const CAPTION_POINTS: u32 = 12;
const CAPTION_HEIGHT: u64 = 594_360;
/// Points of the line at the lower edge.
const FOOTER_POINTS: u32 = 10;

/// Text that can stand anywhere in XML. Letters that XML cannot hold become a sign for that.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            // A number keeps its sign.
            ' ' if letters.peek() == Some(&'%') => out.push('\u{a0}'),
            letter if model::is_obeyed(letter) => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Text on a slide. Lines of Korean break behind a hyphen, and never behind a minus.
fn slide_text(text: &str, language: Language) -> String {
    if language.is_english() {
        return escaped(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_sign = letter == '-' && matches!(before, ' ' | '(' | '\n');
        let is_minus = is_sign && letters.peek().is_some_and(char::is_ascii_digit);
        shown.push(if is_minus { '−' } else { letter });
        before = letter;
    }
    escaped(&shown)
}

/// A slide's part. `footer` stands at the lower edge; it is written in `language`.
pub(super) fn slide(paged: &Paged, footer: &str, language: Language) -> String {
    let Paged { slide, points } = paged;
    let longest = TITLE_SIZES[TITLE_SIZES.len() - 1].0;
    let title = shortened(&slide.title, longest);
    let letters = places(&title);
    let size = TITLE_SIZES.iter().find(|(most, _)| letters <= *most).map_or(20, |(_, size)| *size);
    let shapes = match &slide.body {
        Body::Opening(text) => format!(
            "{}{}",
            placeholder(
                2,
                "Title",
                "ctrTitle",
                None,
                &run(&title, Some(size + 8), false, language)
            ),
            placeholder(3, "Subtitle", "subTitle", Some(1), &lines_of(text, language)),
        ),
        Body::Paragraphs(all) => format!(
            "{}{}",
            placeholder(2, "Title", "title", None, &run(&title, Some(size), false, language)),
            paragraphs(3, all, *points, language),
        ),
        Body::Table(table) => format!(
            "{}{}",
            placeholder(2, "Title", "title", None, &run(&title, Some(size), false, language)),
            self::table(3, &slide.title, table, *points, language),
        ),
        Body::Picture(picture) => format!(
            "{}{}{}",
            placeholder(2, "Title", "title", None, &run(&title, Some(size), false, language)),
            self::picture(3, picture),
            caption(4, &picture.caption, language),
        ),
    };
    let footer = match &slide.body {
        Body::Opening(_) => String::new(),
        _ => format!("{}{}", foot(8, footer, language), number(9, language)),
    };
    tree("sld", &format!("{shapes}{footer}"), "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>")
}

/// What a speaker sees.
pub(super) fn notes(text: &str, language: Language) -> String {
    let shapes = format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide\"/><p:cNvSpPr>\
         <a:spLocks noGrp=\"1\" noRot=\"1\" noChangeAspect=\"1\"/></p:cNvSpPr><p:nvPr>\
         <p:ph type=\"sldImg\"/></p:nvPr></p:nvSpPr><p:spPr/></p:sp>{}",
        placeholder(3, "Notes", "body", Some(1), &lines_of(text, language))
    );
    tree("notes", &shapes, "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>")
}

/// A part that holds shapes.
pub(super) fn tree(kind: &str, shapes: &str, rest: &str) -> String {
    format!(
        "{PROLOGUE}<p:{kind} {NAMESPACES}><p:cSld><p:spTree>{GROUP}{shapes}</p:spTree></p:cSld>\
         {rest}</p:{kind}>"
    )
}

pub(super) const PROLOGUE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
pub(super) const NAMESPACES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
     xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";
/// What every tree of shapes begins with.
pub(super) const GROUP: &str = "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>\
     <p:grpSpPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"0\" cy=\"0\"/><a:chOff x=\"0\" y=\"0\"/>\
     <a:chExt cx=\"0\" cy=\"0\"/></a:xfrm></p:grpSpPr>";

/// One run of text.
fn run(text: &str, points: Option<u32>, is_bold: bool, language: Language) -> String {
    format!("<a:p>{}</a:p>", letters(text, points, is_bold, language))
}

fn letters(text: &str, points: Option<u32>, is_bold: bool, language: Language) -> String {
    let size = points.map_or(String::new(), |points| format!(" sz=\"{}\"", points * 100));
    let bold = if is_bold { " b=\"1\"" } else { "" };
    let tag = language.tag();
    format!(
        "<a:r><a:rPr lang=\"{tag}\"{size}{bold}/><a:t>{}</a:t></a:r>",
        slide_text(text, language)
    )
}

fn lines_of(text: &str, language: Language) -> String {
    let all: String = text.lines().map(|line| run(line, None, false, language)).collect();
    if all.is_empty() { "<a:p/>".to_owned() } else { all }
}

/// A shape whose place and look the layout has.
fn placeholder(id: u32, name: &str, kind: &str, index: Option<u32>, text: &str) -> String {
    let index = index.map_or(String::new(), |index| format!(" idx=\"{index}\""));
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr>\
         <a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"{kind}\"{index}/></p:nvPr>\
         </p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>{text}</p:txBody></p:sp>"
    )
}

fn paragraphs(id: u32, all: &[Paragraph], points: u32, language: Language) -> String {
    let gap = PARAGRAPH_GAP / (super::fit::POINT / 100);
    let of = |one: &Paragraph| {
        let label = if one.label.is_empty() {
            String::new()
        } else {
            letters(&format!("{}: ", one.label), Some(points), true, language)
        };
        format!(
            "<a:p><a:pPr><a:spcAft><a:spcPts val=\"{gap}\"/></a:spcAft></a:pPr>{label}{}</a:p>",
            letters(&one.text, Some(points), false, language)
        )
    };
    let text: String = all.iter().map(of).collect();
    let text = if text.is_empty() { "<a:p/>".to_owned() } else { text };
    placeholder(id, "Text", "body", Some(1), &text)
}

/// A box of text with a place of its own.
fn text_box(id: u32, name: &str, place: [u64; 4], align: &str, inner: &str) -> String {
    let [left, top, width, height] = place;
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr txBox=\"1\"/><p:nvPr/>\
         </p:nvSpPr><p:spPr><a:xfrm><a:off x=\"{left}\" y=\"{top}\"/><a:ext cx=\"{width}\" \
         cy=\"{height}\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom><a:noFill/>\
         </p:spPr><p:txBody><a:bodyPr wrap=\"square\" lIns=\"0\" tIns=\"0\" rIns=\"0\" bIns=\"0\"/>\
         <a:lstStyle/><a:p><a:pPr algn=\"{align}\"/>{inner}</a:p></p:txBody></p:sp>"
    )
}

fn muted(text: &str, points: u32, language: Language) -> String {
    let tag = language.tag();
    format!(
        "<a:r><a:rPr lang=\"{tag}\" sz=\"{}\"><a:solidFill><a:schemeClr val=\"tx2\"/></a:solidFill>\
         </a:rPr><a:t>{}</a:t></a:r>",
        points * 100,
        slide_text(text, language)
    )
}

fn caption(id: u32, text: &str, language: Language) -> String {
    let top = BODY_TOP + BODY_HEIGHT - CAPTION_HEIGHT;
    let place = [MARGIN, top, BODY_WIDTH, CAPTION_HEIGHT];
    text_box(id, "How to read it", place, "l", &muted(text, CAPTION_POINTS, language))
}

const FOOT_TOP: u64 = HEIGHT - 365_760;

fn foot(id: u32, text: &str, language: Language) -> String {
    let place = [MARGIN, FOOT_TOP, BODY_WIDTH - MARGIN, 228_600];
    text_box(id, "Campaign", place, "l", &muted(&shortened(text, 120), FOOTER_POINTS, language))
}

/// The slide's number.
fn number(id: u32, language: Language) -> String {
    let place = [WIDTH - MARGIN - 457_200, FOOT_TOP, 457_200, 228_600];
    let tag = language.tag();
    let field = format!(
        "<a:fld id=\"{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}\" type=\"slidenum\">\
         <a:rPr lang=\"{tag}\" sz=\"{}\"/><a:t>‹#›</a:t></a:fld>",
        FOOTER_POINTS * 100
    );
    text_box(id, "Number", place, "r", &field)
}

/// A picture, as large as fits above its caption.
fn picture(id: u32, picture: &PictureBody) -> String {
    let room = (BODY_WIDTH, BODY_HEIGHT - CAPTION_HEIGHT - 91_440);
    let (across, down) = (u64::from(picture.pixels.0.max(1)), u64::from(picture.pixels.1.max(1)));
    let (width, height) = if room.0 * down <= room.1 * across {
        (room.0, room.0 * down / across)
    } else {
        (room.1 * across / down, room.1)
    };
    let left = MARGIN + (room.0 - width) / 2;
    format!(
        "<p:pic><p:nvPicPr><p:cNvPr id=\"{id}\" name=\"Figure\" descr=\"{}\"/><p:cNvPicPr>\
         <a:picLocks noChangeAspect=\"1\"/></p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill>\
         <a:blip r:embed=\"rId3\"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>\
         <a:xfrm><a:off x=\"{left}\" y=\"{BODY_TOP}\"/><a:ext cx=\"{}\" cy=\"{}\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>",
        escaped(&picture.description),
        width.max(1),
        height.max(1)
    )
}

/// A table that can be edited and read aloud.
fn table(id: u32, name: &str, table: &Table, points: u32, language: Language) -> String {
    let widths = table.widths();
    let grid: String = widths.iter().map(|width| format!("<a:gridCol w=\"{width}\"/>")).collect();
    let head: Vec<String> = table.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut whole = table.head_height(points);
    let mut rows = row(&head, table.head_height(points), points, true, language);
    for cells in &table.rows {
        let height = table.row_height(cells, points);
        whole += height;
        rows.push_str(&row(cells, height, points, false, language));
    }
    let across: u64 = widths.iter().sum();
    format!(
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"{id}\" name=\"Table\" descr=\"{}\"/>\
         <p:cNvGraphicFramePr><a:graphicFrameLocks noGrp=\"1\"/></p:cNvGraphicFramePr><p:nvPr/>\
         </p:nvGraphicFramePr><p:xfrm><a:off x=\"{MARGIN}\" y=\"{BODY_TOP}\"/><a:ext cx=\"{across}\" \
         cy=\"{whole}\"/></p:xfrm><a:graphic><a:graphicData \
         uri=\"http://schemas.openxmlformats.org/drawingml/2006/table\"><a:tbl>\
         <a:tblPr firstRow=\"1\"/><a:tblGrid>{grid}</a:tblGrid>{rows}</a:tbl></a:graphicData>\
         </a:graphic></p:graphicFrame>",
        escaped(name)
    )
}

fn row(cells: &[String], height: u64, points: u32, is_head: bool, language: Language) -> String {
    let line = if is_head { "tx1" } else { "accent6" };
    let cell = |text: &String| {
        format!(
            "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>{}</a:txBody><a:tcPr marL=\"{CELL_SIDE}\" \
             marR=\"{CELL_SIDE}\" marT=\"{CELL_EDGE}\" marB=\"{CELL_EDGE}\" anchor=\"t\">\
             <a:lnB w=\"9525\"><a:solidFill><a:schemeClr val=\"{line}\"/></a:solidFill></a:lnB>\
             <a:noFill/></a:tcPr></a:tc>",
            run(text, Some(points), is_head, language)
        )
    };
    format!("<a:tr h=\"{height}\">{}</a:tr>", cells.iter().map(cell).collect::<String>())
}

/// Whether a caption fits below its picture.
pub(super) fn is_caption(text: &str) -> bool {
    height(lines(text, CAPTION_POINTS, BODY_WIDTH), CAPTION_POINTS) <= CAPTION_HEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_number_is_not_torn_from_its_sign() {
        let korean: Language = "ko".parse().unwrap();
        assert_eq!(
            slide_text("-1.5 ~ -0.2 (-3), one-2 --a", korean),
            "−1.5 ~ −0.2 (−3), one-2 --a"
        );
        assert_eq!(slide_text("-1.5", Language::default()), "-1.5");
    }

    #[test]
    fn no_text_becomes_markup_and_none_breaks_the_part() {
        assert_eq!(
            escaped("</a:t><a:t>&\"\u{0}\u{b}\u{ffff}\n=1 %"),
            "&lt;/a:t&gt;&lt;a:t&gt;&amp;&quot;\u{fffd}\u{fffd}\u{fffd} =1\u{a0}%"
        );
    }
}
