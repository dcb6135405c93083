//! Campaigns of which some places are something else: numbers below zero and at edges, nothing
//! where something is expected, texts that are hostile. What is read is judged and drawn.

use super::event_log::campaign;
use super::{OwnTarget, Reaction};
use crate::choices::Choices;
use model::Fingerprint;
use report::{Inputs, Language, Page, RENDERERS, Renderer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

pub const TARGET: OwnTarget =
    OwnTarget { name: "shaped-campaign", words: &["0", "1", "20010", "30000", "4", "@@"], run };

/// Places that are changed in one campaign.
const MOST_CHANGES: usize = 8;

/// What may stand in any place.
fn replacements() -> [Value; 16] {
    [
        Value::Null,
        json!(-1),
        json!(-0.02),
        json!(0),
        json!(1e308),
        json!(5e-324),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(true),
        json!(""),
        json!("\u{1b}[2J\u{202e}"),
        json!("x".repeat(5_000)),
        json!([]),
        json!({}),
        json!([null]),
        json!({ "": [] }),
    ]
}

fn run(bytes: &[u8]) -> Reaction {
    let mut choices = Choices::of(bytes);
    let Ok(home) = tempfile::tempdir() else { return Reaction::Refused };
    let directory = home.path().join("effect");
    if campaign(&directory).and_then(|_| change(&directory, &mut choices)).is_err() {
        return Reaction::Refused;
    }
    let Ok(loaded) = lab::load(&directory) else { return Reaction::Refused };
    let findings = lab::judge_records(&loaded);
    let environment = Fingerprint::default();
    let report = report::view(&Inputs {
        plan: &loaded.plan,
        records: &loaded.records,
        values: &[],
        findings: &findings,
        environment: &environment,
        campaign: "effect",
        attempt: loaded.attempt,
        resumptions: loaded.resumptions.len() as u64,
        directory: "effect",
        origin: loaded.origin,
        store_caveats: &loaded.caveats,
        binding: loaded.binding,
        factors: &BTreeMap::new(),
        is_absolute: false,
        language: Language::default(),
    });
    let page = Page {
        width: 80,
        is_colour: false,
        is_unicode: true,
        is_verbose: true,
        has_plots: true,
        fonts: &[],
    };
    // The page is mostly a script of our own.
    let is_looked_at =
        |renderer: &&&dyn Renderer| renderer.is_text() && renderer.describe().id != "html";
    for renderer in RENDERERS.iter().filter(is_looked_at) {
        let mut drawn = Vec::new();
        // A format may refuse a campaign.
        let is_drawn = renderer.render(&report, &page, &mut drawn).is_ok();
        let id = renderer.describe().id;
        if is_drawn {
            let text = String::from_utf8_lossy(&drawn);
            let obeyed = |letter: char| letter != '\n' && model::is_obeyed(letter);
            assert!(!text.contains(obeyed), "{id} leaves a character that is obeyed");
        }
    }
    Reaction::Accepted
}

/// Changes the files of a campaign: how many places, then for each a document, a place in it, and
/// what stands there instead.
fn change(directory: &Path, choices: &mut Choices<'_>) -> io::Result<()> {
    let (plan, records) = (directory.join("plan.json"), directory.join("records.jsonl"));
    let state = directory.join("state.json");
    // Only a campaign that ended has verdicts.
    fs::write(&state, fs::read_to_string(&state)?.replace("unfinished", "finished"))?;
    let mut documents = vec![serde_json::from_str::<Value>(&fs::read_to_string(&plan)?)?];
    for line in fs::read_to_string(&records)?.lines() {
        documents.push(serde_json::from_str(line)?);
    }
    let replacements = replacements();
    for _ in 0..choices.below(MOST_CHANGES) {
        let count = documents.len();
        let document = &mut documents[choices.below(count)];
        let mut places = Vec::new();
        collect(document, "", &mut places);
        let place = places.get(choices.place(places.len())).cloned().unwrap_or_default();
        if let Some(value) = document.pointer_mut(&place) {
            *value = choices.one_of(&replacements).clone();
        }
    }
    let mut lines = documents.iter().map(Value::to_string);
    fs::write(&plan, lines.next().unwrap_or_default())?;
    fs::write(&records, lines.map(|line| line + "\n").collect::<String>())
}

/// Pointers (RFC 6901) to every place of a document but the whole of it, each before what is in it.
fn collect(value: &Value, pointer: &str, places: &mut Vec<String>) {
    let mut enter = |key: &str, one: &Value| {
        let place = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
        places.push(place.clone());
        collect(one, &place, places);
    };
    match value {
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(index, one)| enter(&index.to_string(), one));
        }
        Value::Object(all) => all.iter().for_each(|(key, one)| enter(key, one)),
        _ => {}
    }
}
