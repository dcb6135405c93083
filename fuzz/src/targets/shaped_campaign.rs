//! Campaigns of which some places are something else: numbers below zero and at edges, nothing
//! where something is expected, texts that are hostile. What is read is judged and drawn. Half of
//! them are stored anew before their state, findings and environment are changed, so that records
//! are bound to each other and to their plan: only then is read what lies behind the chain.

use super::event_log::campaign;
use super::{OwnTarget, Reaction};
use crate::choices::Choices;
use model::Fingerprint;
use report::{Inputs, Language, Page, RENDERERS, Renderer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use store::Campaign;

pub const TARGET: OwnTarget =
    OwnTarget { name: "shaped-campaign", words: &["0", "1", "20010", "30000", "4", "@@"], run };

/// Places that are changed in one campaign, of plan and records and then of what is made of them.
const MOST_CHANGES: usize = 8;
/// What is made of plan and records, and changed after them where it is there.
const MADE: [&str; 3] = ["state.json", "findings.json", "environment.json"];
/// What the plan of a campaign is said to be made from that is stored anew, and when.
const ORIGIN: &str = "title = \"effect\"\n";
const BEGAN_UNIX_NS: u64 = 1_795_401_087_797_635_880;

/// Findings of the campaign as it is: judging takes longer than reading.
static FINDINGS: LazyLock<io::Result<String>> = LazyLock::new(|| {
    let home = tempfile::tempdir()?;
    let directory = home.path().join("effect");
    campaign(&directory)?;
    end(&directory)?;
    let loaded = lab::load(&directory).map_err(io::Error::other)?;
    Ok(serde_json::to_string(&lab::judge_records(&loaded))?)
});

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
    let changed = campaign(&directory).and_then(|_| change(&directory, &mut choices));
    let Ok(directory) = changed else { return Reaction::Refused };
    // The page is mostly a script of our own.
    let is_looked_at =
        |renderer: &dyn Renderer| renderer.is_text() && renderer.describe().id != "html";
    let findings = store::load_findings(&directory);
    match told(&directory, is_looked_at).and(findings.map(drop)) {
        Ok(()) => Reaction::Accepted,
        Err(_) => Reaction::Refused,
    }
}

/// Reads and judges a campaign, and draws it in these formats.
fn told(directory: &Path, is_meant: fn(&dyn Renderer) -> bool) -> contract::Result<()> {
    let loaded = lab::load(directory)?;
    let findings = lab::judge_records(&loaded);
    let environment = loaded.environment.clone().unwrap_or_default();
    let report = report::view(&Inputs {
        plan: &loaded.plan,
        records: &loaded.records,
        values: &model::TrialValues::default(),
        findings: &findings,
        environment: &environment,
        campaign: "effect",
        attempt: loaded.attempt,
        resumptions: loaded.resumptions.len() as u64,
        directory: "effect",
        origin: loaded.origin,
        store_caveats: &loaded.caveats,
        is_stopped_early: loaded.state == store::CampaignState::StoppedEarly,
        // So that its boots are looked at, whatever they are.
        shares_few_boots: true,
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
    for renderer in RENDERERS.iter().filter(|renderer| is_meant(**renderer)) {
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
    Ok(())
}

/// Changes the files of a campaign, and tells where it lies then: whether it is stored anew, what is
/// changed of plan and records before that, and of the other documents after it.
fn change(directory: &Path, choices: &mut Choices<'_>) -> io::Result<PathBuf> {
    let is_stored_anew = choices.below(2) == 1;
    let (plan, records) = (directory.join("plan.json"), directory.join("records.jsonl"));
    end(directory)?;
    let mut documents = vec![serde_json::from_str::<Value>(&fs::read_to_string(&plan)?)?];
    for line in fs::read_to_string(&records)?.lines() {
        documents.push(serde_json::from_str(line)?);
    }
    change_documents(&mut documents, choices);
    let mut lines = documents.iter().map(Value::to_string);
    fs::write(&plan, lines.next().unwrap_or_default())?;
    fs::write(&records, lines.map(|line| line + "\n").collect::<String>())?;
    let directory = if is_stored_anew {
        stored_anew(directory).map_err(io::Error::other)?
    } else {
        directory.to_owned()
    };
    let findings = FINDINGS.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    fs::write(directory.join("findings.json"), findings)?;
    let made = MADE.iter().map(|name| directory.join(name));
    let made: Vec<PathBuf> = made.filter(|path| path.is_file()).collect();
    let mut documents: Vec<Value> = Vec::new();
    for path in &made {
        documents.push(serde_json::from_str(&fs::read_to_string(path)?)?);
    }
    change_documents(&mut documents, choices);
    for (path, document) in made.iter().zip(&documents) {
        fs::write(path, document.to_string())?;
    }
    Ok(directory)
}

/// Only a campaign that ended has verdicts.
fn end(directory: &Path) -> io::Result<()> {
    let state = directory.join("state.json");
    fs::write(&state, fs::read_to_string(&state)?.replace("unfinished", "finished"))
}

/// Stores plan and records that can be read as a campaign of this version, beside the other one.
fn stored_anew(directory: &Path) -> contract::Result<PathBuf> {
    let loaded = store::load(directory)?;
    let results = directory.with_extension("results");
    let mut campaign = Campaign::create(&results, &loaded.plan, ORIGIN, BEGAN_UNIX_NS, 0)?;
    let release = ("kernel.release".to_owned(), "simulated".to_owned());
    let digest = campaign.save_fingerprint(&Fingerprint(BTreeMap::from([release])))?;
    let mut records = loaded.records.to_vec();
    for record in &mut records {
        model::RECORD_FORMAT.clone_into(&mut record.format);
        record.fingerprint.clone_from(&digest);
    }
    campaign.append_all(&records)?;
    campaign.mark_finished()?;
    Ok(campaign.directory().to_owned())
}

/// How many places, then for each a document, a place in it, and what stands there instead.
fn change_documents(documents: &mut [Value], choices: &mut Choices<'_>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// What stands in the place of a number; nothing takes the place away.
    const NUMBERS: [Option<&str>; 11] = [
        None,
        Some("null"),
        Some("-1"),
        Some("-0.02"),
        Some("0"),
        Some("NaN"),
        Some("1e999"),
        Some("1e308"),
        Some("5e-324"),
        Some("18446744073709551615"),
        Some("18446744073709551616"),
    ];
    /// What stands in the place of a list.
    const LISTS: [Option<&str>; 3] = [None, Some("null"), Some("[]")];
    const MARK: &str = "@@";

    /// A campaign that ended, with its directory.
    fn ended() -> (TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("effect");
        campaign(&directory).unwrap();
        change(&directory, &mut Choices::of(&[])).unwrap();
        (home, directory)
    }

    fn value(path: &Path) -> Value {
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    }

    /// Every edit of a number or a list: its place, what stands there and the document with it. Of each
    /// list the first two elements stand for all.
    fn edits(document: &Value) -> Vec<(String, Option<&'static str>, String)> {
        let mut places = Vec::new();
        collect(document, "", &mut places);
        let is_late = |name: &str| name.parse::<usize>().is_ok_and(|index| index > 1);
        places.retain(|place| !place.split('/').any(is_late));
        let edits_at = |place: String| {
            let texts: &[Option<&'static str>] = match document.pointer(&place).unwrap() {
                Value::Number(_) => &NUMBERS,
                Value::Array(_) => &LISTS,
                _ => &[],
            };
            let edit = |text: &Option<&'static str>| {
                (place.clone(), *text, edited(document, &place, *text))
            };
            texts.iter().map(edit).collect::<Vec<_>>()
        };
        places.into_iter().flat_map(edits_at).collect()
    }

    fn edited(document: &Value, place: &str, text: Option<&str>) -> String {
        let mut document = document.clone();
        let Some(text) = text else {
            let (above, name) = place.rsplit_once('/').unwrap();
            match document.pointer_mut(above).unwrap() {
                Value::Object(fields) => assert!(fields.remove(name).is_some()),
                Value::Array(items) => assert!(!items.remove(name.parse().unwrap()).is_null()),
                other => panic!("{above} holds nothing: {other}"),
            }
            return document.to_string();
        };
        *document.pointer_mut(place).unwrap() = MARK.into();
        document.to_string().replace(&Value::from(MARK).to_string(), text)
    }

    /// Whether a refusal names a field: the last of its place, or that which holds it.
    fn is_named(told: &str, place: &str) -> bool {
        let names = place.rsplit('/').filter(|name| name.parse::<usize>().is_err());
        names.filter(|name| !name.is_empty()).take(3).any(|name| told.contains(name))
    }

    /// Makes each edit of the first line of a file, and gives those that break what `read` promises.
    fn broken(path: &Path, read: impl Fn() -> contract::Result<()>) -> Vec<String> {
        let whole = fs::read_to_string(path).unwrap();
        let rest: String = whole.lines().skip(1).map(|line| line.to_owned() + "\n").collect();
        let mut broken = Vec::new();
        let mut refused = 0;
        for (place, text, line) in edits(&value(path)) {
            fs::write(path, format!("{line}\n{rest}")).unwrap();
            let what = format!("{place} {}", text.unwrap_or("absent"));
            match catch_unwind(AssertUnwindSafe(&read)) {
                Err(_) => broken.push(format!("{what}: it panics")),
                Ok(Err(error)) if !is_named(&error.to_string(), &place) => {
                    broken.push(format!("{what}: it is refused without its name: {error}"));
                }
                Ok(Err(_)) => refused += 1,
                Ok(Ok(())) => {}
            }
        }
        fs::write(path, whole).unwrap();
        assert!(refused > 0, "no edit of {} was refused", path.display());
        broken
    }

    fn is_text(renderer: &dyn Renderer) -> bool {
        renderer.describe().id == "terminal"
    }

    #[test]
    fn every_number_and_list_of_a_plan_is_read_and_told_or_refused_by_name() {
        let (_home, directory) = ended();
        told(&directory, is_text).unwrap();
        let broken = broken(&directory.join("plan.json"), || told(&directory, is_text));
        assert_eq!(broken, [""; 0]);
    }

    #[test]
    fn every_number_and_list_of_a_record_is_read_and_told_or_refused_by_name() {
        let (_home, directory) = ended();
        let broken = broken(&directory.join("records.jsonl"), || told(&directory, is_text));
        assert_eq!(broken, [""; 0]);
    }

    #[test]
    fn every_number_and_list_of_findings_is_read_or_refused_by_name() {
        let (_home, directory) = ended();
        let findings = lab::judge_records(&lab::load(&directory).unwrap());
        let path = directory.join("findings.json");
        fs::write(&path, serde_json::to_string(&findings).unwrap()).unwrap();
        let broken = broken(&path, || store::load_findings(&directory).map(drop));
        assert_eq!(broken, [""; 0]);
    }

    #[test]
    fn a_campaign_that_is_stored_anew_is_bound_and_what_was_changed_before_is_no_flaw() {
        let home = tempfile::tempdir().unwrap();
        // Stored anew; then one change: of the second document, the first record, the place of its
        // duration, to 0.
        let record = include_str!("campaign/records.jsonl").lines().next().unwrap();
        let mut places = Vec::new();
        collect(&serde_json::from_str(record).unwrap(), "", &mut places);
        let place = places.iter().position(|place| place == "/duration_ns").unwrap();
        let place = b'0' + u8::try_from(place).unwrap();
        let with_change = [b'1', b'1', b'1', b'0', place, b'3'];
        for (bytes, has_changed) in [(&b"1"[..], false), (&with_change[..], true)] {
            let directory = home.path().join(format!("effect-{has_changed}"));
            campaign(&directory).unwrap();
            let stored = change(&directory, &mut Choices::of(bytes)).unwrap();
            assert_ne!(stored, directory);
            let loaded = store::load(&stored).unwrap();
            assert_eq!(loaded.flaws, []);
            assert!(loaded.records.iter().all(|record| record.chain.is_some()));
            assert_eq!(loaded.records[0].duration_ns == 0, has_changed);
            assert!(loaded.environment.is_some());
            told(&stored, is_text).unwrap();
        }
        // Findings are changed where the first list of changes is empty.
        let directory = home.path().join("findings");
        campaign(&directory).unwrap();
        let changed = change(&directory, &mut Choices::of(b"0011000")).unwrap();
        assert!(store::load_findings(&changed).is_err(), "it has no format");
    }

    #[test]
    fn a_negative_margin_is_refused_by_field_and_value() {
        let (_home, directory) = ended();
        let path = directory.join("plan.json");
        let place = "/workloads/0/metrics/0/margin";
        for margin in ["-0.02", "-1", "0", "1e308"] {
            fs::write(&path, edited(&value(&path), place, Some(margin))).unwrap();
            let refusal = told(&directory, is_text).unwrap_err();
            let shown: f64 = margin.parse().unwrap();
            let words = format!("workloads messaging metrics makespan margin is {shown}");
            assert!(refusal.cause.contains(&words), "{refusal}");
        }
    }
}
