//! Whatever stands in the files of a campaign, nothing of it is obeyed by what shows a report:
//! every text of a plan, its records, findings and environment is made hostile, in every format.

use crate::campaigns::Campaign;
use crate::{has_page, page, stored};
use figures::{Figures, Theme};
use fixtures::{assert_inert, assert_parts_are_inert, assert_values_are_inert};
use report::{Page, RENDERERS, compare, page_json, view};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Cursor;

/// What stands around each text of a campaign.
pub struct Poison {
    pub before: &'static str,
    pub behind: &'static str,
}

impl Poison {
    fn of(&self, text: &str) -> String {
        format!("{}{text}{}", self.before, self.behind)
    }

    /// Puts beside each entry of a map one whose key is hostile.
    fn add_keys<T: Clone>(&self, map: &mut BTreeMap<String, T>) {
        let added: Vec<(String, T)> =
            map.iter().map(|(key, value)| (self.of(key), value.clone())).collect();
        map.extend(added);
    }

    /// Makes every key of a map hostile that is not yet.
    fn change_keys<T>(&self, map: &mut BTreeMap<String, T>) {
        let renamed = |key: String| if key.ends_with(self.behind) { key } else { self.of(&key) };
        *map = std::mem::take(map).into_iter().map(|(key, one)| (renamed(key), one)).collect();
    }
}

/// What a terminal, a browser or an office program obeys without showing it.
pub const OBEYED: Poison = Poison { before: "", behind: HOSTILE };

/// Stands behind each text: C0, DEL, C1, a bell, directions of text, signs without width, tags,
/// variation selectors of Mongolian and ideographs, code points kept free for such signs, and
/// noncharacters, with which a document of XML is none.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{7f}\u{9b}31m\u{85}\u{202e}\u{2066}\u{200f}\u{200b}\u{feff}\u{e0041}\u{180b}\u{e0100}\u{fff0}\u{fffe}\u{ffff}\r\u{8}";
/// More figures than this are like the ones before.
const FIGURES: usize = 6;

/// Every text of a document with the pointer to it (RFC 6901).
fn texts(value: &Value, pointer: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((pointer.to_owned(), text.clone())),
        Value::Array(all) => {
            for (index, one) in all.iter().enumerate() {
                texts(one, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(all) => {
            for (key, one) in all {
                let key = key.replace('~', "~0").replace('/', "~1");
                texts(one, &format!("{pointer}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// Which texts of a document may be anything: with a hostile one in each place it is still read.
fn note_free<T: DeserializeOwned>(
    document: &Value,
    poison: &Poison,
    free: &mut BTreeMap<String, bool>,
) {
    let mut found = Vec::new();
    texts(document, "", &mut found);
    note_free_of::<T>(&mut document.clone(), &found, poison, free);
}

/// The same of some texts: of all at once where a document with all of them hostile is read, else of
/// the halves.
fn note_free_of<T: DeserializeOwned>(
    document: &mut Value,
    found: &[(String, String)],
    poison: &Poison,
    free: &mut BTreeMap<String, bool>,
) {
    let is_asked = |(_, text): &&(String, String)| free.get(text) != Some(&false);
    if !found.iter().any(|one| is_asked(&one)) {
        return;
    }
    for (pointer, text) in found {
        *document.pointer_mut(pointer).unwrap() = json!(poison.of(text));
    }
    let is_read = T::deserialize(&*document).is_ok();
    for (pointer, text) in found {
        *document.pointer_mut(pointer).unwrap() = json!(text);
    }
    match found {
        [(_, text)] => *free.entry(text.clone()).or_insert(true) &= is_read,
        all if is_read => {
            for (_, text) in all {
                free.entry(text.clone()).or_insert(true);
            }
        }
        all => {
            let (first, second) = all.split_at(all.len() / 2);
            note_free_of::<T>(document, first, poison, free);
            note_free_of::<T>(document, second, poison, free);
        }
    }
}

/// The document with every free text made hostile, so that equal ones stay equal.
fn hostile(value: &Value, of: &dyn Fn(&str) -> String, has_keys: bool) -> Value {
    match value {
        Value::String(text) => Value::String(of(text)),
        Value::Array(all) => all.iter().map(|one| hostile(one, of, has_keys)).collect(),
        Value::Object(all) => {
            let entry = |(key, one): (&String, &Value)| {
                let key = if has_keys { of(key) } else { key.clone() };
                (key, hostile(one, of, has_keys))
            };
            Value::Object(all.iter().map(entry).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn changed<T: DeserializeOwned + Serialize>(original: &T, of: &dyn Fn(&str) -> String) -> T {
    let document = serde_json::to_value(original).unwrap();
    // A name may be the key of a map; where it is that of a field as well, only values change.
    serde_json::from_value(hostile(&document, of, true))
        .or_else(|_| serde_json::from_value(hostile(&document, of, false)))
        .unwrap()
}

/// The campaign with the poison around each text that may be anything, around the names of factors,
/// and around keys of facts of the machine beside those that are known.
pub fn made_hostile(mut campaign: Campaign, poison: &Poison) -> Campaign {
    let mut free = BTreeMap::new();
    note_free::<model::Plan>(&serde_json::to_value(&campaign.plan).unwrap(), poison, &mut free);
    for record in &campaign.records {
        note_free::<model::Record>(&serde_json::to_value(record).unwrap(), poison, &mut free);
    }
    let findings = serde_json::to_value(&campaign.findings).unwrap();
    note_free::<model::Findings>(&findings, poison, &mut free);
    let environment = serde_json::to_value(&campaign.environment).unwrap();
    note_free::<model::Fingerprint>(&environment, poison, &mut free);
    let count = free.values().filter(|is_free| **is_free).count();
    assert!(count >= 5, "{count} texts may be anything: {free:?}");
    let of = |text: &str| match free.get(text) {
        Some(true) => poison.of(text),
        _ => text.to_owned(),
    };
    campaign.plan = changed(&campaign.plan, &of);
    campaign.records = campaign.records.iter().map(|record| changed(record, &of)).collect();
    campaign.findings = changed(&campaign.findings, &of);
    campaign.environment = changed(&campaign.environment, &of);
    poison.add_keys(&mut campaign.environment.0);
    for subject in &mut campaign.plan.subjects {
        poison.change_keys(&mut subject.levels);
    }
    for record in &mut campaign.records {
        poison.add_keys(&mut record.fingerprint_difference);
    }
    assert!(campaign.plan.title.ends_with(poison.behind), "{:?}", campaign.plan.title);
    campaign
}

#[test]
#[should_panic(expected = "nothing has no XML")]
fn a_file_without_any_text_does_not_pass_for_an_inert_one() {
    let empty = zip::ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap();
    assert_parts_are_inert("nothing", empty.into_inner());
}

#[test]
fn nothing_in_the_files_of_a_campaign_is_obeyed_by_what_shows_its_report() {
    for (origin, campaign) in stored::of_each_origin() {
        let campaign = made_hostile(campaign, &OBEYED);
        let report = view(&campaign.inputs());
        let wide = Page { is_verbose: true, has_plots: true, ..page(100) };
        for renderer in RENDERERS {
            let what = format!("{origin} as {}", renderer.describe().id);
            let mut bytes = Vec::new();
            // A format may refuse a campaign, and without the page there is no deck.
            if renderer.render(&report, &wide, &mut bytes).is_err() {
                continue;
            }
            match renderer.describe().id {
                // Its data are looked at below; its script is our own.
                "html" => {}
                _ if renderer.is_text() => assert_inert(&what, &String::from_utf8(bytes).unwrap()),
                _ => assert_parts_are_inert(&what, bytes),
            }
        }
        let data = page_json(&report).unwrap();
        assert_inert(origin, &data);
        assert_values_are_inert(origin, &serde_json::from_str(&data).unwrap());
        let mut bytes = Vec::new();
        compare(&report, &report).draw(&wide, &mut bytes).unwrap();
        assert_inert("compared", &String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn a_figure_as_a_file_of_its_own_is_inert() {
    if !has_page() {
        return;
    }
    let campaign = made_hostile(stored::measured(), &OBEYED);
    let figures = Figures::of(&page_json(&view(&campaign.inputs())).unwrap()).unwrap();
    for place in 0..figures.described().len().min(FIGURES) {
        let svg = figures.svg(place, Theme::Light, 700).unwrap();
        assert_inert("figure", &svg.replace(['\r', '\t'], " "));
    }
}
