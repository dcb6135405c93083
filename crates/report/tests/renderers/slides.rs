//! What stands in decks, read back from their parts. Each of what is known to make PowerPoint
//! offer a repair has its test.

use crate::campaigns::{Campaign, Draft, campaign, emulated, hostile, mixed, undecided};
use crate::html_pages::measured;
use crate::languages::korean;
use crate::multicore::multicore;
use crate::{has_page, page};
use model::{CaveatCode, Role, Verdict};
use report::{HAS_PAGE, RENDERERS, view};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::sync::OnceLock;

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn bytes(campaign: &Campaign) -> Vec<u8> {
    let renderer = RENDERERS.iter().find(|renderer| renderer.describe().id == "pptx").unwrap();
    let mut bytes = Vec::new();
    renderer.render(&view(&campaign.inputs()), &page(80), &mut bytes).unwrap();
    bytes
}

/// The parts of a deck by path, in the archive's order beside them.
pub struct Deck {
    order: Vec<String>,
    parts: BTreeMap<String, Vec<u8>>,
}

impl Deck {
    pub fn of(campaign: &Campaign) -> Self {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes(campaign))).unwrap();
        let (mut order, mut parts) = (Vec::new(), BTreeMap::new());
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            order.push(file.name().to_owned());
            assert!(parts.insert(file.name().to_owned(), bytes).is_none(), "{} twice", file.name());
        }
        Self { order, parts }
    }

    /// The parts that are XML.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_xml = |path: &str| path.ends_with(".xml") || path.ends_with(".rels");
        let texts = self.parts.iter().filter(move |(path, _)| is_xml(path));
        texts.map(|(path, bytes)| (path.as_str(), std::str::from_utf8(bytes).unwrap()))
    }

    pub fn text(&self, path: &str) -> &str {
        std::str::from_utf8(&self.parts[path]).unwrap()
    }

    /// All that a reader of slide `number` reads.
    fn words(&self, number: usize) -> String {
        let text = self.text(&format!("ppt/slides/slide{number}.xml"));
        let document = Document::parse(text).unwrap();
        let all = document.descendants().filter(|node| node.has_tag_name((A, "t")));
        all.filter_map(|node| node.text()).collect::<Vec<_>>().join(" ").replace('\u{a0}', " ")
    }

    /// The same by paragraph.
    pub fn lines(&self, number: usize) -> Vec<String> {
        let text = self.text(&format!("ppt/slides/slide{number}.xml"));
        let document = Document::parse(text).unwrap();
        let paragraphs = document.descendants().filter(|node| node.has_tag_name((A, "p")));
        let line = |paragraph: Node<'_, '_>| {
            let all = paragraph.descendants().filter(|node| node.has_tag_name((A, "t")));
            all.filter_map(|node| node.text()).collect::<String>().replace('\u{a0}', " ")
        };
        paragraphs.map(line).filter(|line| !line.is_empty()).collect()
    }

    pub fn slides(&self) -> usize {
        self.parts.keys().filter(|path| path.starts_with("ppt/slides/slide")).count()
    }
}

const A: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const P: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";

/// The decks of campaigns that have everything between them; none where there are no figures.
fn decks() -> &'static [Deck] {
    static DECKS: OnceLock<Vec<Deck>> = OnceLock::new();
    if !has_page() {
        return &[];
    }
    DECKS.get_or_init(|| {
        let all = [mixed(), hostile_names(), emulated(), undecided(), multicore(), measured()];
        let in_korean = [mixed(), emulated(), multicore(), measured()].map(korean);
        all.iter().chain(&in_korean).map(Deck::of).collect()
    })
}

/// Names that somebody chose to do harm with.
fn hostile_names() -> Campaign {
    let mut campaign = hostile();
    campaign.plan.title =
        "=cmd|' /C calc'!A0 </a:t></a:r><script>alert(1)</script> & \u{b}".to_owned();
    for finding in &mut campaign.findings.findings {
        finding.question.subject.insert_str(0, "\"><a:hlinkClick r:id=\"rId9\"/>]]>");
        finding.question.workload.insert_str(0, "=1+1 <img src=x onerror=alert(1)>");
    }
    campaign
}

fn each(mut check: impl FnMut(&Deck, &str, Node<'_, '_>)) {
    for deck in decks() {
        for (path, text) in deck.texts() {
            let document = Document::parse(text).unwrap_or_else(|error| panic!("{path}: {error}"));
            for node in document.descendants().filter(Node::is_element) {
                check(deck, path, node);
            }
        }
    }
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    if HAS_PAGE {
        assert!(bytes(&measured()) == bytes(&measured()));
    }
}

/// Making the decks takes seconds, so one test makes them and asks everything.
#[test]
fn decks_open_without_a_repair() {
    every_part_is_xml_with_a_type_and_every_type_has_its_part();
    every_relation_is_named_once_and_points_at_a_part();
    ids_are_used_once();
    every_shape_with_text_and_every_cell_has_its_body();
    no_line_is_empty_and_no_background_lacks_its_effects();
    nothing_has_a_negative_size_or_lies_outside_its_slide();
    anchors_of_cells_are_those_that_the_format_knows();
}

fn every_part_is_xml_with_a_type_and_every_type_has_its_part() {
    for deck in decks() {
        assert_eq!(deck.order[0], "[Content_Types].xml");
        let types = Document::parse(deck.text("[Content_Types].xml")).unwrap();
        let overrides: Vec<&str> = types
            .descendants()
            .filter(|node| node.tag_name().name() == "Override")
            .map(|node| node.attribute("PartName").unwrap().trim_start_matches('/'))
            .collect();
        let named: BTreeSet<&str> = overrides.iter().copied().collect();
        assert_eq!(named.len(), overrides.len(), "a part is named twice");
        for path in &named {
            assert!(deck.parts.contains_key(*path), "{path} has a type and is not there");
        }
        for (path, _) in deck.texts().filter(|(path, _)| path.ends_with(".xml")) {
            assert!(path == "[Content_Types].xml" || named.contains(path), "{path} has no type");
        }
        let masters = named.iter().filter(|path| path.contains("slideMaster")).count();
        assert_eq!(masters, 1, "phantom masters");
    }
}

fn every_relation_is_named_once_and_points_at_a_part() {
    for deck in decks() {
        for (path, text) in deck.texts().filter(|(path, _)| path.ends_with(".rels")) {
            let (folder, _) = path.split_once("_rels/").unwrap();
            let document = Document::parse(text).unwrap();
            let mut ids = BTreeSet::new();
            let all =
                document.descendants().filter(|node| node.tag_name().name() == "Relationship");
            for relation in all {
                assert!(ids.insert(relation.attribute("Id").unwrap().to_owned()), "{path}");
                assert_eq!(relation.attribute("TargetMode"), None, "{path} leads out of the deck");
                let mut place: Vec<&str> =
                    folder.split('/').filter(|part| !part.is_empty()).collect();
                for part in relation.attribute("Target").unwrap().split('/') {
                    match part {
                        ".." => drop(place.pop()),
                        part => place.push(part),
                    }
                }
                assert!(deck.parts.contains_key(&place.join("/")), "{path}: {}", place.join("/"));
            }
            let owner = path.replace("_rels/", "").replace(".rels", "");
            let Some(bytes) = deck.parts.get(&owner) else { continue };
            let owner = Document::parse(std::str::from_utf8(bytes).unwrap()).unwrap();
            let used = owner.descendants().flat_map(|node| {
                node.attributes()
                    .filter(|one| one.namespace() == Some(RELATIONS))
                    .collect::<Vec<_>>()
            });
            for attribute in used {
                assert!(ids.contains(attribute.value()), "{path} lacks {}", attribute.value());
            }
        }
    }
}

fn ids_are_used_once() {
    for deck in decks() {
        for (path, text) in deck.texts() {
            let document = Document::parse(text).unwrap();
            for name in ["cNvPr", "sldId", "sldLayoutId", "sldMasterId"] {
                let all: Vec<&str> = document
                    .descendants()
                    .filter(|node| node.has_tag_name((P, name)))
                    .filter_map(|node| node.attribute("id"))
                    .collect();
                let once: BTreeSet<&&str> = all.iter().collect();
                assert_eq!(once.len(), all.len(), "{path}: {name} {all:?}");
            }
        }
        let id = |path: &str, name: &str| -> Vec<u64> {
            let document = Document::parse(deck.text(path)).unwrap();
            let all = document.descendants().filter(|node| node.has_tag_name((P, name)));
            all.map(|node| node.attribute("id").unwrap().parse().unwrap()).collect()
        };
        let masters = id("ppt/presentation.xml", "sldMasterId");
        let layouts = id("ppt/slideMasters/slideMaster1.xml", "sldLayoutId");
        assert!(layouts.iter().all(|layout| !masters.contains(layout) && *layout >= 1 << 31));
        let slides = id("ppt/presentation.xml", "sldId");
        assert_eq!(slides.len(), deck.slides());
        assert!(slides.iter().all(|slide| (256..1 << 31).contains(slide)));
    }
}

fn every_shape_with_text_and_every_cell_has_its_body() {
    each(|_, path, node| {
        let is_picture = node.descendants().any(|one| one.attribute("type") == Some("sldImg"));
        if node.has_tag_name((P, "sp")) && !is_picture {
            assert!(node.children().any(|one| one.has_tag_name((P, "txBody"))), "{path}");
        }
        if node.has_tag_name((A, "tc")) {
            assert!(node.children().any(|one| one.has_tag_name((A, "txBody"))), "{path}");
        }
        if node.tag_name().name() == "txBody" {
            let names: Vec<&str> =
                node.children().filter(Node::is_element).map(|one| one.tag_name().name()).collect();
            assert_eq!(names[..2], ["bodyPr", "lstStyle"], "{path}");
            assert!(names.len() > 2 && names[2..].iter().all(|name| *name == "p"), "{path}");
        }
    });
}

fn no_line_is_empty_and_no_background_lacks_its_effects() {
    each(|_, path, node| {
        let children: Vec<&str> =
            node.children().filter(Node::is_element).map(|one| one.tag_name().name()).collect();
        if ["ln", "lnB"].contains(&node.tag_name().name()) {
            assert!(!children.is_empty(), "{path}");
        }
        if node.has_tag_name((P, "bgPr")) {
            assert_eq!(children, ["solidFill", "effectLst"], "{path}");
        }
    });
}

fn nothing_has_a_negative_size_or_lies_outside_its_slide() {
    each(|_, path, node| {
        if !node.has_tag_name((A, "xfrm")) && !node.has_tag_name((P, "xfrm")) {
            return;
        }
        let of = |name: &str, side: &str| -> i64 {
            let one = node.children().find(|one| one.has_tag_name((A, name))).unwrap();
            one.attribute(side).unwrap().parse().unwrap()
        };
        let (x, y, cx, cy) = (of("off", "x"), of("off", "y"), of("ext", "cx"), of("ext", "cy"));
        assert!(x >= 0 && y >= 0 && cx >= 0 && cy >= 0, "{path}");
        if path.starts_with("ppt/slides/") {
            assert!(x + cx <= 12_192_000 && y + cy <= 6_858_000, "{path}: {x}+{cx}, {y}+{cy}");
        }
    });
}

fn anchors_of_cells_are_those_that_the_format_knows() {
    each(|_, path, node| {
        if let Some(anchor) = node.attribute("anchor") {
            assert!(["t", "ctr", "b"].contains(&anchor), "{path}: {anchor}");
        }
        if node.has_tag_name((A, "tbl")) {
            let columns = node.descendants().filter(|one| one.has_tag_name((A, "gridCol"))).count();
            for row in node.children().filter(|one| one.has_tag_name((A, "tr"))) {
                let cells = row.children().filter(|one| one.has_tag_name((A, "tc"))).count();
                assert_eq!(cells, columns, "{path}");
            }
        }
    });
}

#[test]
fn names_are_texts_and_never_markup_links_or_formulas() {
    if !has_page() {
        return;
    }
    let deck = Deck::of(&hostile_names());
    for (path, text) in deck.texts() {
        assert!(!text.contains("<script") && !text.contains("<img"), "{path}");
        let document = Document::parse(text).unwrap();
        for name in ["hlinkClick", "hlinkHover", "script", "oleObj", "videoFile"] {
            assert!(
                document.descendants().all(|node| node.tag_name().name() != name),
                "{path}: {name}"
            );
        }
    }
    assert!(deck.words(1).contains("=cmd|' /C calc'!A0 </a:t></a:r><script>"), "{}", deck.words(1));
}

#[test]
fn a_reader_of_the_second_slide_knows_question_winner_effect_and_caveat() {
    if !has_page() {
        return;
    }
    let campaign = mixed();
    let deck = Deck::of(&campaign);
    let words = deck.words(2);
    assert!(
        words.starts_with("fifo is clearly better than baseline for cyclic latency p50"),
        "{words}"
    );
    assert!(words.contains(&campaign.plan.title), "{words}");
    for part in [
        "Winner:  fifo, better in 1 of 2 comparisons and worse in none",
        "×2.63 (95 % interval ×2.40 to ×2.88)",
        "Main caveat:",
    ] {
        assert!(words.contains(part), "{part} in {words}");
    }
}

#[test]
fn a_subject_that_loses_more_often_than_it_wins_is_no_winner() {
    if !has_page() {
        return;
    }
    let draft = |metric: &str, verdict, ratio: f64| {
        let draft = Draft::new("cyclic", metric, "fifo").decided(verdict, true);
        draft.effect(5.2e9, ratio, ratio * 0.9, ratio * 1.1).finding()
    };
    let findings = vec![
        draft("latency_p50", Verdict::Better, 3.0),
        draft("latency_p90", Verdict::Worse, 0.5),
        draft("latency_p99", Verdict::Worse, 0.6),
    ];
    let words = Deck::of(&campaign("Who wins?", findings, Vec::new())).words(2);
    assert!(
        words.contains("Winner:  none: no subject was shown to be better than its reference more"),
        "{words}"
    );
    assert!(words.starts_with("fifo is clearly worse"), "{words}");
}

#[test]
fn a_reference_that_is_worse_than_nobody_wins_and_wins_are_counted_on_both_sides() {
    if !has_page() {
        return;
    }
    let draft = |subject: &str, reference: &str, verdict, ratio: f64| {
        let draft = Draft::new("cyclic", "latency_p50", subject).decided(verdict, true);
        let mut finding = draft.effect(5.2e9, ratio, ratio * 0.9, ratio * 1.1).finding();
        finding.question.reference = reference.to_owned();
        finding
    };
    let words = |findings| Deck::of(&campaign("Who wins?", findings, Vec::new())).words(2);
    let worse = |subject: &str, reference: &str| draft(subject, reference, Verdict::Worse, 0.5);
    let told = words(vec![worse("fifo", "baseline"), worse("batch", "baseline")]);
    assert!(
        told.contains("Winner:  baseline, better in 2 of 2 comparisons and worse in none"),
        "{told}"
    );
    assert!(told.contains(" is clearly worse than baseline for cyclic latency p50"), "{told}");
    let better = draft("fifo", "baseline", Verdict::Better, 3.0);
    let told = words(vec![better, worse("batch", "fifo")]);
    assert!(told.contains("Winner:  fifo, better in 2 of 2 comparisons and worse in none"));
    assert!(told.starts_with("fifo is clearly better than baseline"), "{told}");
}

#[test]
fn the_main_caveat_is_one_of_the_finding_that_is_shown_first() {
    if !has_page() {
        return;
    }
    let draft = |metric: &str, verdict, ratio: f64| {
        Draft::new("cyclic", metric, "fifo").decided(verdict, true).effect(
            5.2e9,
            ratio,
            ratio * 0.9,
            ratio * 1.1,
        )
    };
    let findings = vec![
        draft("latency_p50", Verdict::Better, 3.0)
            .caveat(CaveatCode::Noisy, "sd 9 % against a margin of 5 %")
            .caveat(CaveatCode::FewBoots, "2 boots")
            .finding(),
        draft("latency_p99", Verdict::Equivalent, 1.0)
            .caveat(CaveatCode::Drift, "3 % over the campaign")
            .caveat(CaveatCode::StoppedEarly, "after 6 blocks")
            .finding(),
    ];
    let words = Deck::of(&campaign("Who wins?", findings, Vec::new())).words(2);
    let (_, caveat) = words.split_once("Main caveat:").unwrap();
    assert!(caveat.contains("enough data") && caveat.contains("(NOISY)"), "{caveat}");
    assert!(!caveat.contains("DRIFT") && !caveat.contains("STOPPED_EARLY"), "{caveat}");
}

#[test]
fn a_control_that_shows_nothing_is_the_main_caveat_where_nothing_speaks_against_a_finding() {
    if !has_page() {
        return;
    }
    let winner = Draft::new("cyclic", "latency_p50", "fifo").decided(Verdict::Better, true);
    let twin = Draft::new("cyclic", "latency_p50", "baseline-again").role(Role::Control);
    let findings = vec![
        winner.effect(5.2e9, 3.0, 2.7, 3.3).finding(),
        twin.effect(5e4, 1.01, 0.96, 1.07).finding(),
    ];
    let words = Deck::of(&campaign("Who wins?", findings, Vec::new())).words(2);
    let (_, caveat) = words.split_once("Main caveat:").unwrap();
    assert!(caveat.contains("A/A control: neither told apart from its twin"), "{caveat}");
}

#[test]
fn titles_say_what_was_found_and_pictures_say_what_they_show() {
    if !has_page() {
        return;
    }
    let deck = Deck::of(&measured());
    let all: Vec<String> = (1..=deck.slides()).map(|number| deck.words(number)).collect();
    let begins = |text: &str| all.iter().any(|words| words.starts_with(text));
    for title in [
        "Better in 1 of 5 comparisons, 1 worse",
        "Published claims: 1 confirmed",
        "Conclusion: fifo",
        "Tuning guide: what to set for 1 use case",
        "Background: what 1 factor means",
        "Method: ",
        "Environment: ",
        "Validity: ",
        "Appendix: all ",
    ] {
        assert!(begins(title), "{title} in {all:#?}");
    }
    for (path, text) in deck.texts() {
        let document = Document::parse(text).unwrap();
        for picture in document.descendants().filter(|node| node.has_tag_name((P, "pic"))) {
            let shape = picture.descendants().find(|node| node.has_tag_name((P, "cNvPr"))).unwrap();
            assert!(shape.attribute("descr").unwrap().len() > 20, "{path}");
        }
    }
}

#[test]
fn values_of_an_emulated_processor_are_on_no_slide() {
    if !has_page() {
        return;
    }
    let deck = Deck::of(&emulated());
    for number in 1..=deck.slides() {
        let words = deck.words(number);
        assert!(!words.contains("52.3"), "{words}");
    }
    assert!(deck.words(2).starts_with("emulated: "), "{}", deck.words(2));
}

#[test]
fn no_effect_is_called_the_strongest_that_has_no_estimate() {
    if !has_page() {
        return;
    }
    let undecided = || Draft::new("cyclic", "latency_p50", "fifo").finding();
    let invalid = Draft::new("cyclic", "latency_p99", "fifo").decided(Verdict::Invalid, false);
    let invalid = invalid.effect(5e4, 1.1, 1.05, 1.15).finding();
    let known = "no valid answer: fifo against baseline for cyclic latency p99: +10.0 % (";
    for (findings, expected) in [
        (vec![undecided()], "not known: no comparison has an estimate"),
        (vec![undecided(), invalid], known),
    ] {
        let words = Deck::of(&campaign("Which?", findings, Vec::new())).words(2);
        assert!(words.contains(&format!("Strongest effect:  {expected}")), "{words}");
        assert!(!words.contains("no estimate"), "{words}");
    }
}

#[test]
fn the_effect_that_is_shown_first_is_the_winners() {
    if !has_page() {
        return;
    }
    let words = Deck::of(&multicore()).words(2);
    let (_, winner) = words.split_once("Winner:  ").unwrap();
    let name = winner.split([',', ' ']).next().unwrap();
    assert!(words.starts_with(&format!("{name} is ")), "{words}");
    // Another is worse by more than the winner is better.
    assert!(words.contains(&format!("Winner's largest lead:  {name} is ")), "{words}");
    assert!(!words.contains("Strongest effect"), "{words}");
}

#[test]
fn an_effect_is_called_the_strongest_only_where_no_other_is_stronger() {
    if !has_page() {
        return;
    }
    let of = |metric: &str, subject: &str, verdict, ratio: f64| {
        let draft = Draft::new("cyclic", metric, subject).decided(verdict, false);
        draft.effect(5e4, ratio, 0.9 * ratio, 1.1 * ratio).finding()
    };
    let worse = || of("latency_p50", "batch", Verdict::Worse, 0.8);
    let better = |subject, ratio| of("latency_p99", subject, Verdict::Better, ratio);
    for (findings, name) in [
        (vec![worse()], "Strongest effect:  batch is worse"),
        (vec![better("fifo", 1.4), worse()], "Strongest effect:  fifo is better"),
        (vec![better("fifo", 1.1), worse()], "Winner's largest lead:  fifo is better"),
        // Nobody is better more often than worse.
        (vec![better("batch", 1.4), worse()], "Effect in the title:  batch is worse"),
    ] {
        let words = Deck::of(&campaign("Which?", findings, Vec::new())).words(2);
        assert!(words.contains(name), "{name}: {words}");
    }
}
