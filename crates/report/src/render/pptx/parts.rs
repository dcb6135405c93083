//! The parts that every deck has: theme, master, layouts, and the master of notes.

use super::shapes::{GROUP, NAMESPACES, PROLOGUE};
use super::slide::{BODY_HEIGHT, BODY_TOP, BODY_WIDTH, MARGIN, WIDTH};
use phrases::Language;

/// Layouts: the first slide, text, and what has only a title.
pub(super) const LAYOUTS: usize = 3;
/// Ids of masters and layouts share one range (ECMA-376 part 1, 19.7.3).
pub(super) const MASTER_ID: u64 = 2_147_483_648;

const COLOURS: [(&str, &str); 12] = [
    ("dk1", "1B2230"),
    ("lt1", "FFFFFF"),
    ("dk2", "5B6577"),
    ("lt2", "ECEFF4"),
    ("accent1", "0072B2"),
    ("accent2", "C24E00"),
    ("accent3", "7A2BE0"),
    ("accent4", "0F766E"),
    ("accent5", "B07A00"),
    ("accent6", "C9CFD8"),
    ("hlink", "0072B2"),
    ("folHlink", "7A2BE0"),
];

const MAP: &str = "<p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" accent2=\"accent2\" \
     accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
     folHlink=\"folHlink\"/>";

/// A fill alone is no background: PowerPoint repairs one without a list of effects.
const BACKGROUND: &str = "<p:bg><p:bgPr><a:solidFill><a:schemeClr val=\"bg1\"/></a:solidFill><a:effectLst/></p:bgPr></p:bg>";

pub(super) fn theme(language: Language) -> String {
    let colours: String = COLOURS
        .iter()
        .map(|(name, value)| format!("<a:{name}><a:srgbClr val=\"{value}\"/></a:{name}>"))
        .collect();
    let font = format!(
        "<a:latin typeface=\"Arial\"/><a:ea typeface=\"{}\"/><a:cs typeface=\"\"/>",
        language.typeface()
    );
    let fill = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>";
    let line = format!("<a:ln w=\"9525\">{fill}</a:ln>");
    let effect = "<a:effectStyle><a:effectLst/></a:effectStyle>";
    format!(
        "{PROLOGUE}<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
         name=\"schedlab\"><a:themeElements><a:clrScheme name=\"schedlab\">{colours}</a:clrScheme>\
         <a:fontScheme name=\"schedlab\"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}\
         </a:minorFont></a:fontScheme><a:fmtScheme name=\"schedlab\"><a:fillStyleLst>{}\
         </a:fillStyleLst><a:lnStyleLst>{}</a:lnStyleLst><a:effectStyleLst>{}</a:effectStyleLst>\
         <a:bgFillStyleLst>{}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>",
        fill.repeat(3),
        line.repeat(3),
        effect.repeat(3),
        fill.repeat(3)
    )
}

pub(super) fn master(language: Language) -> String {
    let layouts: String = (1..=LAYOUTS as u64)
        .map(|number| {
            format!("<p:sldLayoutId id=\"{}\" r:id=\"rId{number}\"/>", MASTER_ID + number)
        })
        .collect();
    let body = [MARGIN, BODY_TOP, BODY_WIDTH, BODY_HEIGHT];
    let shapes = format!(
        "{}{}",
        shape(2, "Title", "type=\"title\"", Some(TITLE), "anchor=\"b\"", "Title"),
        shape(3, "Text", "type=\"body\" idx=\"1\"", Some(body), "", "Text"),
    );
    // The theme's font for letters that Arial lacks.
    let eastern = if language.typeface().is_empty() { "" } else { "<a:ea typeface=\"+mn-ea\"/>" };
    let level = |points: u32, bold: &str, colour: &str| {
        format!(
            "<a:lvl1pPr algn=\"l\"><a:buNone/><a:defRPr sz=\"{points}00\"{bold}><a:solidFill>\
             <a:schemeClr val=\"{colour}\"/></a:solidFill><a:latin typeface=\"+mn-lt\"/>{eastern}</a:defRPr>\
             </a:lvl1pPr>"
        )
    };
    format!(
        "{PROLOGUE}<p:sldMaster {NAMESPACES}><p:cSld>{BACKGROUND}<p:spTree>{GROUP}{shapes}</p:spTree>\
         </p:cSld>{MAP}<p:sldLayoutIdLst>{layouts}</p:sldLayoutIdLst><p:txStyles><p:titleStyle>{}\
         </p:titleStyle><p:bodyStyle>{}</p:bodyStyle><p:otherStyle>{}</p:otherStyle></p:txStyles>\
         </p:sldMaster>",
        level(24, " b=\"1\"", "tx1"),
        level(18, "", "tx1"),
        level(12, "", "tx1")
    )
}

/// Left, top, width, height.
const TITLE: [u64; 4] = [MARGIN, 274_320, BODY_WIDTH, 914_400];

/// A layout by its number, from 1.
pub(super) fn layout(number: usize) -> String {
    let (kind, name, shapes) = match number {
        1 => (
            "title",
            "First",
            format!(
                "{}{}",
                shape(
                    2,
                    "Title",
                    "type=\"ctrTitle\"",
                    Some([MARGIN, 1_600_200, BODY_WIDTH, 1_828_800]),
                    "anchor=\"b\"",
                    "Title"
                ),
                shape(
                    3,
                    "Subtitle",
                    "type=\"subTitle\" idx=\"1\"",
                    Some([MARGIN, 3_520_440, BODY_WIDTH, 2_011_680]),
                    "",
                    "Text"
                ),
            ),
        ),
        2 => (
            "obj",
            "Text",
            format!(
                "{}{}",
                shape(2, "Title", "type=\"title\"", None, "", "Title"),
                shape(3, "Text", "type=\"body\" idx=\"1\"", None, "", "Text"),
            ),
        ),
        _ => ("titleOnly", "Title", shape(2, "Title", "type=\"title\"", None, "", "Title")),
    };
    // The bar of the first slide tells it from the others.
    let bar = if number == 1 { bar() } else { String::new() };
    format!(
        "{PROLOGUE}<p:sldLayout {NAMESPACES} type=\"{kind}\" preserve=\"1\"><p:cSld name=\"{name}\">\
         <p:spTree>{GROUP}{bar}{shapes}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/>\
         </p:clrMapOvr></p:sldLayout>"
    )
}

fn bar() -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"4\" name=\"Bar\"/><p:cNvSpPr/><p:nvPr userDrawn=\"1\"/></p:nvSpPr>\
         <p:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"{WIDTH}\" cy=\"182880\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom><a:solidFill><a:schemeClr val=\"accent1\"/>\
         </a:solidFill></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody></p:sp>"
    )
}

fn shape(
    id: u32,
    name: &str,
    kind: &str,
    place: Option<[u64; 4]>,
    body: &str,
    text: &str,
) -> String {
    let place = place.map_or(String::new(), |[left, top, width, height]| {
        format!(
            "<a:xfrm><a:off x=\"{left}\" y=\"{top}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm>\
             <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>"
        )
    });
    let inset = if place.is_empty() { "" } else { " lIns=\"0\" tIns=\"0\" rIns=\"0\" bIns=\"0\"" };
    let (inset, anchor) = match body {
        "" => (inset, String::new()),
        anchor => (inset, format!(" {anchor}")),
    };
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{name}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/>\
         </p:cNvSpPr><p:nvPr><p:ph {kind}/></p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr><p:txBody>\
         <a:bodyPr{inset}{anchor}/><a:lstStyle/><a:p><a:r><a:rPr lang=\"en-GB\"/><a:t>{text}</a:t>\
         </a:r></a:p></p:txBody></p:sp>"
    )
}

pub(super) fn notes_master() -> String {
    let image = "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide\"/><p:cNvSpPr><a:spLocks noGrp=\"1\" \
         noRot=\"1\" noChangeAspect=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"sldImg\"/></p:nvPr></p:nvSpPr>\
         <p:spPr><a:xfrm><a:off x=\"685800\" y=\"685800\"/><a:ext cx=\"5486400\" cy=\"3086100\"/></a:xfrm>\
         <a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:sp>";
    let text = shape(
        3,
        "Notes",
        "type=\"body\" idx=\"1\"",
        Some([685_800, 4_000_500, 5_486_400, 4_457_700]),
        "",
        "Notes",
    );
    format!(
        "{PROLOGUE}<p:notesMaster {NAMESPACES}><p:cSld>{BACKGROUND}<p:spTree>{GROUP}{image}{text}\
         </p:spTree></p:cSld>{MAP}</p:notesMaster>"
    )
}
