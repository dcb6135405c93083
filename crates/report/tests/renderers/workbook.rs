//! What stands in workbooks, read back from their parts (ECMA-376 part 1, 18.3 and 18.4).

use crate::campaigns::{Campaign, emulated, hostile, mixed, undecided};
use crate::grid::{BLOCKS, OPERATIONS, grid, imported_grid};
use crate::multicore::multicore;
use crate::page;
use crate::stored::{in_blocks, measured, simulated};
use model::{Caveat, CaveatCode, Verdict};
use report::{RENDERERS, view};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

fn bytes(campaign: &Campaign) -> Vec<u8> {
    let renderer = RENDERERS.iter().find(|renderer| renderer.describe().id == "xlsx").unwrap();
    assert!(!renderer.is_text());
    let mut bytes = Vec::new();
    renderer.render(&view(&campaign.inputs()), &page(80), &mut bytes).unwrap();
    bytes
}

/// One cell: its text, whether it is a string, and the number of its format.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub text: String,
    is_string: bool,
    format: u32,
}

impl Cell {
    fn number(&self) -> f64 {
        assert!(!self.is_string, "{self:?}");
        self.text.parse().unwrap()
    }
}

type Sheet = BTreeMap<(u32, u32), Cell>;

pub struct Workbook {
    names: Vec<String>,
    sheets: Vec<Sheet>,
    parts: BTreeMap<String, String>,
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let start = text.find(before)? + before.len();
    Some(&text[start..start + text[start..].find(after)?])
}

fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// `B3` as row and column, from 0.
fn place(reference: &str) -> (u32, u32) {
    let digits = reference.find(|c: char| c.is_ascii_digit()).unwrap();
    let column =
        reference[..digits].bytes().fold(0, |column, c| column * 26 + u32::from(c - b'A') + 1);
    (reference[digits..].parse::<u32>().unwrap() - 1, column - 1)
}

impl Workbook {
    pub fn of(campaign: &Campaign) -> Self {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes(campaign))).unwrap();
        let mut parts = BTreeMap::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let name = file.name().to_owned();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            parts.insert(name, text);
        }
        let shared = parts.get("xl/sharedStrings.xml").map_or("", String::as_str);
        let strings: Vec<String> = shared
            .split("<si>")
            .skip(1)
            .map(|item| plain(between(&item[item.find("<t").unwrap()..], ">", "</t>").unwrap()))
            .collect();
        let names: Vec<String> = parts["xl/workbook.xml"]
            .split("<sheet ")
            .skip(1)
            .map(|sheet| plain(between(sheet, "name=\"", "\"").unwrap()))
            .collect();
        let sheet = |number: usize| {
            let text = &parts[&format!("xl/worksheets/sheet{number}.xml")];
            assert!(!text.contains("<f>"), "nothing is a formula");
            let cells = text.split("<c ").skip(1).filter_map(|cell| {
                let value = between(cell, "<v>", "</v>")?;
                let is_string = cell.contains("t=\"s\"");
                let text = if is_string {
                    strings[value.parse::<usize>().unwrap()].clone()
                } else {
                    value.to_owned()
                };
                let format = between(cell, " s=\"", "\"").map_or(0, |s| s.parse().unwrap());
                Some((
                    place(between(cell, "r=\"", "\"").unwrap()),
                    Cell { text, is_string, format },
                ))
            });
            cells.collect()
        };
        let sheets = (1..=names.len()).map(sheet).collect();
        Self { names, sheets, parts }
    }

    pub fn sheet(&self, name: &str) -> &Sheet {
        &self.sheets[self.names.iter().position(|known| known == name).unwrap()]
    }
}

pub fn row(sheet: &Sheet, row: u32) -> Vec<&str> {
    let cells = sheet.range((row, 0)..(row + 1, 0));
    cells.map(|(_, cell)| cell.text.as_str()).collect()
}

fn rows(sheet: &Sheet) -> u32 {
    sheet.keys().map(|(row, _)| row + 1).max().unwrap_or(0)
}

#[test]
fn means_have_a_chart_of_every_subject_but_the_control() {
    let book = Workbook::of(&grid());
    let charts: Vec<&String> = book
        .parts
        .iter()
        .filter(|(name, _)| name.starts_with("xl/charts/chart"))
        .map(|(_, text)| text)
        .filter(|text| !text.contains("Effects with their intervals"))
        .collect();
    assert_eq!(charts.len(), 2, "{:?}", book.parts.keys());
    // Record sizes are numbers, operations are not.
    assert!(charts[0].contains("<c:lineChart>") && charts[1].contains("<c:barChart>"));
    for chart in charts {
        assert_eq!(chart.matches("<c:ser>").count(), 4, "{chart}");
        assert!(chart.contains("Geometric mean by "), "{chart}");
    }
}

#[test]
fn it_opens_on_the_findings() {
    let book = Workbook::of(&grid());
    let findings = book.names.iter().position(|name| name == "findings").unwrap();
    let active = format!("activeTab=\"{findings}\"");
    assert!(book.parts["xl/workbook.xml"].contains(&active), "{}", book.parts["xl/workbook.xml"]);
}

#[test]
fn the_same_report_gives_the_same_bytes_without_a_clock() {
    for campaign in [grid(), mixed(), undecided(), hostile(), multicore(), emulated()] {
        assert_eq!(bytes(&campaign), bytes(&campaign));
    }
    let properties = &Workbook::of(&grid()).parts["docProps/core.xml"];
    assert!(properties.contains("2000-01-01T00:00:00Z"), "{properties}");
    assert_eq!(properties.matches("2000-01-01").count(), properties.matches("W3CDTF").count());
}

#[test]
fn a_grid_has_a_sheet_for_each_subject_its_means_and_its_heat_maps() {
    let expected = [
        "mq-deadline",
        "none",
        "bfq",
        "kyber",
        "mq-deadline-again",
        "findings",
        "effects",
        "size table",
        "operation table",
        "heat map",
        "raw",
    ];
    assert_eq!(Workbook::of(&grid()).names, expected);
    assert_eq!(Workbook::of(&imported_grid()).names, expected);
    assert_eq!(
        Workbook::of(&mixed()).names,
        ["baseline", "fifo", "batch", "baseline-again", "findings", "effects", "raw"]
    );
}

#[test]
fn a_subject_has_every_run_by_operation_and_record_and_a_missing_one_stays_empty() {
    let campaign = grid();
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("none");
    assert_eq!(
        row(sheet, 0),
        [
            "operation",
            "record",
            "run 1",
            "run 2",
            "run 3",
            "run 4",
            "run 5",
            "run 6",
            "mean (geometric)",
            "mean (arithmetic)",
            "unit"
        ]
    );
    assert_eq!(rows(sheet), 1 + 7 * 9);
    let mut seen = 0;
    for line in 1..rows(sheet) {
        let (operation, record) = (&sheet[&(line, 0)].text, &sheet[&(line, 1)].text);
        let runs: Vec<f64> = (0..BLOCKS)
            .filter_map(|block| {
                let value = campaign.values.iter().find(|one| {
                    (one.block, one.subject.as_str()) == (block, "none")
                        && one.workload == format!("record-{record}")
                        && one.metric == format!("{operation}_throughput")
                });
                let cell = sheet.get(&(line, 2 + block));
                assert_eq!(value.is_some(), cell.is_some(), "{operation} {record} {block}");
                let (value, cell) = (value?, cell?);
                assert_eq!(cell.number(), value.value);
                Some(value.value)
            })
            .collect();
        seen += runs.len();
        let count = runs.len() as f64;
        let geometric = (runs.iter().map(|run| run.ln()).sum::<f64>() / count).exp();
        assert!((sheet[&(line, 8)].number() / geometric - 1.0).abs() < 1e-9);
        let arithmetic = runs.iter().sum::<f64>() / count;
        assert!((sheet[&(line, 9)].number() / arithmetic - 1.0).abs() < 1e-9);
        assert_eq!(sheet[&(line, 10)].text, "B/s");
    }
    assert_eq!(seen, 7 * 9 * 6 - 1, "one run failed");
    let kyber = workbook.sheet("kyber");
    let last = row(kyber, 63);
    assert_eq!(last, ["random_write", "16MiB", "B/s"], "a cell without a value has no mean");
}

#[test]
fn means_are_both_labelled_and_say_what_they_are_over() {
    let campaign = grid();
    let workbook = Workbook::of(&campaign);
    let found = view(&campaign.inputs()).grids.remove(0);
    for (name, is_by_row) in [("size table", true), ("operation table", false)] {
        let sheet = workbook.sheet(name);
        let titles = row(sheet, 0);
        assert_eq!(titles.len(), 1 + 3 * 5);
        assert_eq!(
            titles[10..13],
            ["kyber: geometric mean", "kyber: arithmetic mean", "kyber: cells"]
        );
        let kyber = found.subject("kyber").unwrap();
        let means = if is_by_row { &kyber.row_means } else { &kyber.column_means };
        for (line, mean) in (1..).zip(means) {
            let mean = mean.unwrap();
            assert_eq!(sheet[&(line, 10)].number(), mean.geometric);
            assert_eq!(sheet[&(line, 11)].number(), mean.arithmetic);
            assert_eq!(sheet[&(line, 12)].text, format!("{} of {}", mean.cells, mean.of));
        }
        let whole = &sheet[&(1, 10)];
        let partial = &sheet[&(means.len() as u32, 10)];
        assert_ne!(whole.format, partial.format, "an incomplete mean does not look like another");
        let notes: Vec<&str> = sheet.values().map(|cell| cell.text.as_str()).collect();
        assert!(notes.iter().any(|note| note.contains("follows the fastest cells")), "{notes:?}");
    }
}

#[test]
fn heat_maps_hold_numbers_coloured_by_verdict_and_nothing_where_nothing_was_found() {
    let campaign = grid();
    let found = view(&campaign.inputs()).grids.remove(0);
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("heat map");
    let mut formats: BTreeMap<String, u32> = BTreeMap::new();
    let mut line = 3;
    for comparison in &found.comparisons {
        let title = &sheet[&(line, 0)].text;
        assert!(title.contains(&format!("{} against mq-deadline", comparison.subject)), "{title}");
        assert_eq!(row(sheet, line + 1)[1..=7], OPERATIONS);
        for (down, effects) in (line + 2..).zip(&comparison.cells) {
            for (across, effect) in (1..).zip(effects) {
                let effect = effect.as_ref().unwrap();
                let cell = sheet.get(&(down, across));
                let Some(ratio) = effect.ratio else {
                    assert_eq!(cell, None, "missing");
                    continue;
                };
                let cell = cell.unwrap();
                assert!((cell.number() - (ratio - 1.0)).abs() < 1e-9);
                let verdict = format!("{:?}", effect.verdict);
                assert_eq!(*formats.entry(verdict).or_insert(cell.format), cell.format);
            }
        }
        // A heading, titles, nine rows, their means, an empty row.
        line += 13;
    }
    let mut distinct: Vec<u32> = formats.values().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((formats.len(), distinct.len()), (4, 4), "{formats:?}");
    assert_eq!(rows(sheet) + 1, line);
}

#[test]
fn findings_are_all_there_with_their_verdicts() {
    let campaign = grid();
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("findings");
    // Titles, the findings, an empty row, where the numbers come from and which attempt it is.
    let last = campaign.findings.findings.len() as u32 + 3;
    assert_eq!(rows(sheet), 1 + last);
    assert!(
        row(sheet, last)[0].starts_with("Attempt 5 with these subjects and workloads"),
        "{:?}",
        row(sheet, last)
    );
    let titles = row(sheet, 0);
    let column = |title: &str| titles.iter().position(|known| *known == title).unwrap() as u32;
    for (line, finding) in (1..).zip(&campaign.findings.findings) {
        assert_eq!(sheet[&(line, column("workload"))].text, finding.question.workload);
        assert_eq!(sheet[&(line, column("n"))].number(), finding.pairs as f64);
        let adjusted = finding.effect.as_ref().and_then(|effect| effect.adjusted_difference);
        let cell = sheet.get(&(line, column("adjusted p difference")));
        assert_eq!(cell.map(Cell::number), adjusted);
        let shown = finding.shown_interval();
        let low = sheet.get(&(line, column("interval low"))).map(Cell::number);
        assert_eq!(low, shown.map(|interval| interval.low));
        let verdict = &sheet[&(line, column("verdict"))].text;
        assert_eq!(verdict.ends_with("worse"), finding.verdict == Verdict::Worse, "{verdict}");
    }
    // An interval without an end is said in words, not as an error.
    let wild = Workbook::of(&hostile());
    let texts: Vec<&str> = wild.sheet("findings").values().map(|cell| cell.text.as_str()).collect();
    assert!(texts.contains(&"unbounded"), "{texts:?}");
}

#[test]
fn text_that_looks_like_a_formula_is_text() {
    let mut campaign = grid();
    campaign.plan.subjects[1].id = "=1+1".to_owned();
    campaign.plan.subjects[2].id = "@a/very:long*name?that[no]sheet\\has-room-for".to_owned();
    let workbook = Workbook::of(&campaign);
    assert_eq!(workbook.names[1..3], ["=1+1", "@a_very_long_name_that_no_sheet"]);
    let raw = workbook.sheet("raw");
    let reason = raw.values().find(|cell| cell.text.starts_with("=cmd")).unwrap();
    assert!(reason.is_string);
    let failed = (1..rows(raw)).filter(|line| raw[&(*line, 7)].text == "failed").count();
    assert_eq!(failed, 1);
    let values = (1..rows(raw)).filter(|line| raw.contains_key(&(*line, 5))).count();
    assert_eq!(values, campaign.values.len());
}

#[test]
fn a_name_like_a_cell_is_no_reference_from_a_chart() {
    let mut campaign = grid();
    campaign.plan.subjects[2].id = "costs!A1".to_owned();
    let workbook = Workbook::of(&campaign);
    let charts = workbook.parts.iter().filter(|(name, _)| name.starts_with("xl/charts/chart"));
    let mut literals = 0;
    for (name, text) in charts {
        let references =
            text.split("<c:f>").skip(1).map(|rest| rest.split("</c:f>").next().unwrap());
        for reference in references {
            let sheet = plain(reference.rsplit_once('!').unwrap().0);
            let known = workbook.names.iter().any(|name| name == sheet.trim_matches('\''));
            assert!(known, "{name}: {reference}");
        }
        literals += text.matches("<c:v>costs!A1 </c:v>").count();
    }
    assert!(literals > 0);
}

#[test]
fn values_of_an_emulated_processor_are_hidden_where_people_look() {
    let mut campaign = grid();
    for finding in &mut campaign.findings.findings {
        finding.note_caveat(Caveat::new(CaveatCode::Tcg, "QEMU's TCG"));
        finding.is_emulated = true;
    }
    for record in &mut campaign.records {
        record.caveats.push(Caveat::new(CaveatCode::Tcg, "QEMU's TCG"));
    }
    let workbook = Workbook::of(&campaign);
    for name in ["none", "mq-deadline", "size table", "operation table"] {
        let sheet = workbook.sheet(name);
        assert_eq!(rows(sheet), 1, "{name}");
        assert!(sheet[&(0, 0)].text.contains("--absolute shows them"));
    }
    let findings = workbook.sheet("findings");
    assert!(!findings.contains_key(&(1, 19)) && !findings.contains_key(&(1, 20)));
    assert!(findings[&(1, 16)].text.starts_with("emulated: "));
    assert!(rows(workbook.sheet("heat map")) > 40, "ratios are shown");
    let raw = workbook.sheet("raw");
    let is_flagged = |line: u32| raw[&(line, 8)].text.split(' ').any(|code| code == "TCG");
    assert!((1..rows(raw)).all(is_flagged));
}

#[test]
fn without_a_grid_a_subject_has_its_metrics_by_workload() {
    let mut campaign = mixed();
    let value = |block, metric: &str, value| model::TrialValue {
        block,
        subject: "fifo".into(),
        workload: "cyclic".into(),
        metric: metric.into(),
        value,
    };
    campaign.values = vec![
        value(0, "latency_p50", 20_000.0),
        value(2, "latency_p50", 5_000.0),
        value(2, "exit_free", 0.0),
    ]
    .into();
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("fifo");
    assert_eq!(row(sheet, 1), ["cyclic", "latency_p50", "20000", "5000", "10000", "12500", "ns"]);
    assert_eq!(row(sheet, 2), ["cyclic", "exit_free", "0", "0"], "zero has no geometric mean");
    assert_eq!(sheet[&(2, 3)].text, "0", "in the column of its block");
    assert_eq!(rows(workbook.sheet("baseline")), 1, "titles only");
}

/// The chart of effects.
fn effects_chart(workbook: &Workbook) -> &str {
    let is_it = |text: &&String| text.contains("Effects with their intervals");
    let mut charts = workbook.parts.iter().filter(|(name, _)| name.starts_with("xl/charts/"));
    charts.find_map(|(_, text)| Some(text).filter(is_it)).unwrap()
}

#[test]
fn effects_are_drawn_with_their_intervals_as_error_bars() {
    let campaign = mixed();
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("effects");
    let primary: Vec<&model::Finding> = campaign
        .findings
        .findings
        .iter()
        .filter(|finding| finding.question.role == model::Role::Primary && finding.effect.is_some())
        .collect();
    assert_eq!(primary.len(), 4);
    for (line, finding) in (1..).zip(&primary) {
        let effect = finding.effect.as_ref().unwrap();
        let label = &sheet[&(line, 0)];
        assert!(label.is_string && label.text.contains(&finding.question.subject), "{label:?}");
        let number = |column| sheet[&(line, column)].number();
        assert!((number(1) - (effect.ratio - 1.0)).abs() < 1e-9);
        let shown = finding.shown_interval().unwrap();
        assert!((number(1) - number(4) - (shown.low - 1.0)).abs() < 1e-9);
        assert!((number(1) + number(5) - (shown.high - 1.0)).abs() < 1e-9);
    }
    let chart = effects_chart(&workbook);
    let formula = |element: &str| {
        let behind = &chart[chart.find(element).unwrap()..];
        between(behind, "<c:f>", "</c:f>").unwrap().to_owned()
    };
    assert_eq!(formula("<c:cat>"), "effects!$A$2:$A$5");
    assert_eq!(formula("<c:val>"), "effects!$B$2:$B$5");
    assert_eq!(formula("<c:minus>"), "effects!$E$2:$E$5");
    assert_eq!(formula("<c:plus>"), "effects!$F$2:$F$5");
    assert!(chart.contains("<c:errBarType val=\"both\"/>") && chart.contains("val=\"cust\""));
    assert!(chart.contains("effect as a change, + is better"), "{chart}");
    for bound in ["<c:min val=", "<c:max val="] {
        // Of categories none, of effects one: spreadsheets would cut the intervals.
        assert_eq!(chart.matches(bound).count(), 1, "{chart}");
    }
    assert!(!chart.contains("<c:logBase"), "nothing beyond a factor of three");
}

#[test]
fn each_chart_says_in_its_title_where_its_numbers_come_from() {
    const TOLD: [&str; 3] = ["Simulated: ", "Emulated processor: ", "Imported from "];
    for (campaign, expected) in [
        (simulated(), [true, false, false]),
        (emulated(), [false, true, false]),
        (in_blocks(), [false, false, true]),
        (imported_grid(), [false, false, true]),
        (measured(), [false; 3]),
        (grid(), [false; 3]),
    ] {
        let workbook = Workbook::of(&campaign);
        let charts = workbook.parts.iter().filter(|(name, _)| name.starts_with("xl/charts/chart"));
        let titles: Vec<&str> = charts
            .map(|(_, text)| between(text, "<c:title>", "</c:title>").unwrap())
            .map(|title| between(title, "<a:t>", "</a:t>").unwrap())
            .collect();
        assert!(!titles.is_empty());
        for title in titles {
            let found = TOLD.map(|sentence| title.contains(&format!(". {sentence}")));
            assert_eq!(found, expected, "{title}");
        }
    }
}

#[test]
fn large_effects_are_ratios_and_unbounded_ends_have_no_bar() {
    let workbook = Workbook::of(&hostile());
    let sheet = workbook.sheet("effects");
    let chart = effects_chart(&workbook);
    assert!(chart.contains("<c:logBase val=\"10\"/>"), "{chart}");
    assert!(chart.contains("effect as a ratio, above 1 is better"), "{chart}");
    assert_eq!(sheet[&(1, 1)].number(), 103.0);
    let wild = (1..rows(sheet)).find(|line| sheet[&(*line, 0)].text.contains("wild")).unwrap();
    for column in 2..=5 {
        assert!(!sheet.contains_key(&(wild, column)), "column {column}");
    }
}

#[test]
fn the_strongest_of_many_effects_are_drawn_and_names_stay_text() {
    let mut campaign = grid();
    for finding in &mut campaign.findings.findings {
        finding.question.subject = format!("=HYPERLINK({})", finding.question.subject);
    }
    let workbook = Workbook::of(&campaign);
    let sheet = workbook.sheet("effects");
    let chart = effects_chart(&workbook);
    assert!(chart.contains("effects!$B$2:$B$41"), "forty are drawn");
    let texts: Vec<&Cell> = sheet.values().filter(|cell| cell.text.contains("=HYPER")).collect();
    assert!(texts.len() > 40 && texts.iter().all(|cell| cell.is_string));
    let sizes: Vec<f64> = (1..=41).map(|line| sheet[&(line, 1)].number().ln().abs()).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9), "{sizes:?}");
}
