//! Whether a stored plan is that which the experiment beside it gives (docs/method.md#m-evidence).
//!
//! The experiment is planned again, with the options that the plan recorded. Where that cannot be
//! done, or another version planned it, nothing is said against the plan: it is *not re-planned*.

use super::excerpts::excerpts;
use super::import_evidence;
use super::planning::resolve;
use crate::cli::Common;
use crate::environment::state_directory;
use contract::{Factor, Result};
use model::{Binding, Caveat, CaveatCode, Level, Plan, Record, Subject, quoted};
use serde_json::Value;
use std::path::Path;
use store::{Attempts, HeldRecords, KnownRecords, LinkBreak, LoadedCampaign};

/// The key of a workload's parameters in a plan.
const PARAMETERS: &str = "parameters";
/// Keys that name an element of a list in a plan.
const NAMES: [&str; 3] = ["id", "label", "subject"];

/// A campaign with what speaks against its evidence.
pub(super) struct Examined {
    pub loaded: LoadedCampaign,
    /// Why its plan was not compared with its experiment, where it was not.
    pub not_replanned: Option<String>,
}

/// Loads a campaign, and compares its plan with its experiment, and its records with what this
/// machine knows of them. What binds its records is left out where all of them are bound.
///
/// # Errors
/// Those of [`lab::load`].
pub(super) fn load(common: &Common, directory: &Path) -> Result<LoadedCampaign> {
    load_knowing(common, attempts(common).as_ref(), directory)
}

/// The same with what binds each record to the one before it, which the whole report tells.
///
/// # Errors
/// Those of [`lab::load`].
pub(super) fn load_linked(common: &Common, directory: &Path) -> Result<LoadedCampaign> {
    // Before the records: a run may store more of them meanwhile.
    let known = known(common, directory);
    let loaded = lab::load(directory)?;
    Ok(examine(common, directory, loaded, known.as_ref()).loaded)
}

/// The same as [`load`] with what this machine knows of its campaigns.
///
/// # Errors
/// Those of [`lab::load`].
pub(super) fn load_knowing(
    common: &Common,
    attempts: Option<&Attempts>,
    directory: &Path,
) -> Result<LoadedCampaign> {
    // Before the records: a run may store more of them meanwhile.
    let known = attempts.and_then(|attempts| attempts.known_records(directory));
    let loaded = lab::load(directory)?;
    Ok(without_links(examine(common, directory, loaded, known.as_ref()).loaded))
}

/// The same of a campaign whose records this process has just stored and holds.
///
/// # Errors
/// Those of [`lab::load_held`].
pub(super) fn load_held(
    common: &Common,
    directory: &Path,
    held: HeldRecords,
) -> Result<LoadedCampaign> {
    let known = known(common, directory);
    let loaded = lab::load_held(directory, held)?;
    let loaded = without_links(examine(common, directory, loaded, known.as_ref()).loaded);
    sys::return_freed_memory();
    Ok(loaded)
}

/// A campaign without the digests of its records' lines and without what binds each record to the one
/// before: these were held against each other and against what the machine knows, and half a million
/// of them take 50 MB. The first one still says how the campaign began. Where some records are bound
/// to nothing, a report says which.
pub(super) fn without_links(mut loaded: LoadedCampaign) -> LoadedCampaign {
    if loaded.binding == Binding::Checked {
        loaded.digests = Vec::new();
        loaded.records.iter_mut().skip(1).for_each(|record| record.chain = None);
    }
    loaded
}

/// What this machine knows of its campaigns; nothing where there is no directory of state. Another user
/// finds another one, so a process asks before it gives up its privileges.
pub(super) fn attempts(common: &Common) -> Option<Attempts> {
    let state = state_directory(common.runtime_dir.as_deref())?;
    let attempts = Attempts::of(&std::path::absolute(&state).unwrap_or(state));
    Some(attempts.with_defaults(crate::catalogue().default_levels()))
}

/// What this machine knows of the records of a campaign that lies in a directory, wherever it ran.
pub(super) fn known(common: &Common, directory: &Path) -> Option<KnownRecords> {
    attempts(common)?.known_records(directory)
}

/// Compares the plan of a campaign that lies in a directory with the experiment beside it, and its
/// records with what this machine knows of them.
pub(super) fn examine(
    common: &Common,
    directory: &Path,
    loaded: LoadedCampaign,
    known: Option<&KnownRecords>,
) -> Examined {
    let mut examined = compared_with_origin(common, directory, loaded);
    let loaded = &mut examined.loaded;
    if let Some(flaw) = known.and_then(|known| known.contradiction(loaded)) {
        let flaw = Caveat::new(CaveatCode::EvidenceChanged, flaw);
        // A redaction may have it from the campaign that it is one of.
        if !loaded.flaws.contains(&flaw) {
            loaded.flaws.push(flaw);
        }
    }
    examined
}

/// Compares the plan of a campaign with what it was made from.
fn compared_with_origin(common: &Common, directory: &Path, mut loaded: LoadedCampaign) -> Examined {
    if loaded.plan.imported.is_some() && loaded.redaction.is_none() {
        let mapping =
            super::planning::text_of_regular(&directory.join(loaded.origin)).unwrap_or_default();
        let told =
            import_evidence::differences(&loaded.plan, &loaded.records, &mapping, loaded.origin);
        // The first record may have named the same.
        let named: Vec<Caveat> = told
            .into_iter()
            .map(|one| Caveat::new(CaveatCode::EvidenceChanged, one))
            .filter(|one| !loaded.flaws.contains(one))
            .collect();
        loaded.flaws.splice(..0, named);
    }
    let not_replanned = match replanned(common, directory, &loaded, false) {
        Ok(again) if stands_for_others(&loaded.plan, &again) => Some(
            "its kernels or schedulers are named by what a cache holds, and here that is another"
                .to_owned(),
        ),
        Ok(again) => {
            let mut differences = differences(&loaded, &again);
            // Where the plan is not that of its records, its seed may be the reason.
            if !loaded.flaws.is_empty() {
                let declared = replanned(common, directory, &loaded, true).ok();
                differences.extend(declared.and_then(|plan| other_seed(&loaded, &plan)));
            }
            let is_of_this_version = again.digest == loaded.plan.digest;
            let is_other_text = has_another_text(&loaded);
            let (declared, other): (Vec<_>, Vec<_>) = differences.into_iter().partition(|one| {
                is_of_this_version || one.is_declared() || (is_other_text && one.is_in_text())
            });
            // A field with both its values says more than a digest that no longer fits.
            let named = declared
                .iter()
                .map(|one| Caveat::new(CaveatCode::EvidenceChanged, one.words(loaded.origin)));
            loaded.flaws.splice(..0, named.collect::<Vec<_>>());
            let is_known = is_of_this_version || !declared.is_empty();
            (!is_known).then(|| match other.first() {
                Some(first) => format!(
                    "another version planned it, or its plan was changed: {}",
                    first.words(loaded.origin)
                ),
                None => {
                    "another version planned it: what it uses of the catalogue differs".to_owned()
                }
            })
        }
        Err(why) => Some(why),
    };
    Examined { loaded, not_replanned }
}

/// The plan that the experiment gives now, or why there is none: with the plan's own seed, which may
/// have been set on the command line, or with that which the experiment declares.
fn replanned(
    common: &Common,
    directory: &Path,
    loaded: &LoadedCampaign,
    is_declared_seed: bool,
) -> std::result::Result<Plan, String> {
    let plan = &loaded.plan;
    if plan.imported.is_some() {
        return Err("its numbers were imported".to_owned());
    }
    if loaded.redaction.is_some() {
        return Err("it is redacted".to_owned());
    }
    let path = directory.join(loaded.origin);
    let text = super::planning::text_of_regular(&path)
        .map_err(|error| format!("{} cannot be read: {error}", loaded.origin))?;
    let Options { mut overrides, budget_ns, venue } = options(&plan.options)?;
    if !plan.is_seed_generated && !is_declared_seed {
        overrides.retain(|(key, _)| key != "seed");
        overrides.push(("seed".to_owned(), plan.seed.to_string()));
    }
    // A text without a title has the name for one: of a name that was edited nothing is said of the
    // text.
    let name = loaded.records.first().and_then(store::bound_name);
    let request = plan::PlanRequest {
        text: &text,
        name: name.as_deref().unwrap_or(&plan.name),
        overrides: &overrides,
        venue: Some(venue.as_deref().unwrap_or(&plan.venue)),
        budget_ns,
        is_quick: plan.is_quick,
        drawn_seed: plan.seed,
        resolve: &|factor, text| resolve(common, factor, text),
    };
    plan::plan(&crate::catalogue(), probes::DEFAULT, &request).map_err(|problems| {
        let first = problems.first().map(|problem| problem.cause.clone()).unwrap_or_default();
        format!("this version does not plan {}: {first}", loaded.origin)
    })
}

/// Whether the text beside a campaign is not that which its first record was made from.
fn has_another_text(loaded: &LoadedCampaign) -> bool {
    loaded.broken_links.iter().any(|link| link.kind == LinkBreak::OtherText)
}

/// The options that a plan recorded. Versions before recorded neither the venue nor a seed that was
/// set.
#[derive(Default)]
struct Options {
    overrides: Vec<(String, String)>,
    budget_ns: Option<u64>,
    venue: Option<String>,
}

fn options(words: &[String]) -> std::result::Result<Options, String> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let unknown = || format!("the plan records an option that is not known: {word}");
        match word.as_str() {
            "--quick" => {}
            "--set" => {
                let (key, value) =
                    words.next().and_then(|pair| pair.split_once('=')).ok_or_else(unknown)?;
                options.overrides.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            "--venue" => options.venue = Some(words.next().ok_or_else(unknown)?.clone()),
            "--budget" => {
                let value = words.next().ok_or_else(unknown)?;
                options.budget_ns = Some(model::parse_duration(value).map_err(|_| unknown())?);
            }
            _ => return Err(unknown()),
        }
    }
    Ok(options)
}

/// A place where two plans differ.
struct Difference {
    /// Names of keys and of the elements of lists, from the outermost.
    place: Vec<String>,
    stored: String,
    planned: String,
}

impl Difference {
    /// Whether the experiment's text decides it, whatever the version that plans it.
    fn is_declared(&self) -> bool {
        let [first, rest @ ..] = self.place.as_slice() else { return false };
        let last = rest.last().map(String::as_str);
        match first.as_str() {
            "reference" | "subjects" | "alpha" | "seed" | "blocks" => true,
            "workloads" => last.is_none_or(|last| matches!(last, "margin" | "primary")),
            _ => false,
        }
    }

    /// Whether a text can say it, as it does a parameter, and not the catalogue alone. What a text
    /// that was changed gives otherwise is told, even where another version may do so as well.
    fn is_in_text(&self) -> bool {
        let [first, rest @ ..] = self.place.as_slice() else { return false };
        match first.as_str() {
            "workloads" => rest.iter().any(|key| key == "parameters"),
            "format" | "catalogue" | "probes" => false,
            _ => true,
        }
    }

    fn words(&self, origin: &str) -> String {
        let Self { place, stored, planned } = self;
        // Nothing in it passes for the beginning of a value.
        let place = place.join(" ").replace('`', "'");
        format!("plan.json: {place} is {stored}, and {origin} gives {planned}")
    }
}

fn differences(loaded: &LoadedCampaign, again: &Plan) -> Vec<Difference> {
    let stored = &loaded.plan;
    let mut found = Vec::new();
    let whole = |plan: &Plan| plan.decisive("", None, 0);
    compare(&mut Vec::new(), &whole(stored), &whole(again), &mut found);
    // What a budget leaves follows from times that another version may expect otherwise.
    let asks_as_many = found.is_empty() || has_another_text(loaded);
    let mut note = |name: &str, stored: String, planned: String| {
        if stored != planned {
            found.push(Difference { place: vec![name.to_owned()], stored, planned });
        }
    };
    let reference =
        |plan: &Plan| plan.subjects.first().map(|one| one.id.clone()).unwrap_or_default();
    note("reference", reference(stored), reference(again));
    note("title", stored.title.clone(), again.title.clone());
    // Blocks that ran again stand behind those that were planned.
    let count = stored.blocks.len().min(again.blocks.len());
    if stored.blocks[..count] != again.blocks[..count] {
        let drawn = "the order that its seed draws".to_owned();
        note("order of the blocks", "another".to_owned(), drawn);
    }
    // The first record says how many were planned: those of them that the experiment lacks were not
    // added to run others again.
    let planned = planned_blocks(loaded).filter(|_| asks_as_many).unwrap_or(count);
    note("blocks", planned.to_string(), again.blocks.len().to_string());
    // Where a block runs again, the seed and its number decide the order.
    for (block, original) in lab::repetitions(stored, again.blocks.len()) {
        if original.is_some_and(|one| plan::repeat_block(stored, one, block.index) != *block) {
            let name = format!("order of block {}, which ran again,", u64::from(block.index) + 1);
            note(&name, "another".to_owned(), "the order that its seed draws".to_owned());
        }
    }
    found
}

/// How many blocks were planned before any of them ran again, as far as the plan still has them;
/// nothing where no record says it.
fn planned_blocks(loaded: &LoadedCampaign) -> Option<usize> {
    let chain = loaded.records.first()?.chain.as_ref()?;
    let planned = usize::try_from(chain.beginning.as_ref()?.blocks).ok()?;
    Some(planned.min(loaded.plan.blocks.len()))
}

/// The seed that the experiment declares, where the records were made by it and not by that of the
/// plan, or where the text is another than theirs. A seed that was set on the command line is no
/// edit, and versions before did not record it.
fn other_seed(loaded: &LoadedCampaign, declared: &Plan) -> Option<Difference> {
    let stored = &loaded.plan;
    let made_by = |seed: u64| {
        let is_of = |record: &&Record| {
            plan::trial_seed(seed, record.block, &record.workload) == record.seed
        };
        loaded.records.iter().filter(is_of).count()
    };
    let is_set = options(&stored.options)
        .is_ok_and(|options| options.overrides.iter().any(|(key, _)| key == "seed"));
    let is_edited = || has_another_text(loaded) && !is_set;
    let is_other = !declared.is_seed_generated
        && stored.seed != declared.seed
        && (is_edited() || made_by(declared.seed) > made_by(stored.seed));
    is_other.then(|| Difference {
        place: vec!["seed".to_owned()],
        stored: stored.seed.to_string(),
        planned: declared.seed.to_string(),
    })
}

/// Whether subjects have levels that stand for what a cache holds, and that is something else here:
/// then their names and levels may be others without an edit. The records' binding covers them. Where
/// these levels are the same, a name that is another was edited.
fn stands_for_others(stored: &Plan, again: &Plan) -> bool {
    let factors = [venues::KernelFactor.describe().id, schedulers::Entry.describe().id];
    let resolved = |plan: &Plan| {
        let of_subject =
            |subject: &Subject| factors.map(|factor| subject.levels.get(factor).cloned());
        let has_any = |levels: &[Option<Level>; 2]| levels.iter().any(Option::is_some);
        let mut levels: Vec<[Option<Level>; 2]> =
            plan.subjects.iter().map(of_subject).filter(has_any).collect();
        levels.sort();
        levels
    };
    resolved(stored) != resolved(again)
}

fn compare(place: &mut Vec<String>, stored: &Value, planned: &Value, found: &mut Vec<Difference>) {
    let mut inside = |name: &str, stored: &Value, planned: &Value| {
        place.push(name.to_owned());
        compare(place, stored, planned, found);
        place.pop();
    };
    match (stored, planned) {
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                inside(key, value, other.get(key).unwrap_or(&Value::Null));
            }
            for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
                inside(key, &Value::Null, value);
            }
        }
        (Value::Array(one), Value::Array(other))
            if names(one) == names(other) && one.iter().all(Value::is_object) =>
        {
            for (at, (value, other)) in one.iter().zip(other).enumerate() {
                let name = name_of(value).map_or_else(|| at.to_string(), str::to_owned);
                inside(&name, value, other);
            }
        }
        _ if stored == planned => {}
        _ => {
            let [stored, planned] = told(place, [stored, planned]);
            found.push(Difference { place: place.clone(), stored, planned });
        }
    }
}

/// What the elements of a list are called, or how many there are.
fn names(list: &[Value]) -> Vec<Option<&str>> {
    list.iter().map(name_of).collect()
}

fn name_of(value: &Value) -> Option<&str> {
    NAMES.iter().find_map(|key| value.get(key)?.as_str())
}

/// Two values in one line each. What a redaction replaces by its place in a plan is quoted, and so is a
/// part of a value: a part of a secret is not known for one.
fn told(place: &[String], values: [&Value; 2]) -> [String; 2] {
    let [(one, is_one_quoted), (other, is_other_quoted)] =
        values.map(|value| text_of(place, value));
    let [(one, is_part_of_one), (other, is_part_of_other)] = excerpts([one, other]);
    let shown = |text: String, is_quoted: bool| if is_quoted { quoted(&text) } else { text };
    [shown(one, is_one_quoted || is_part_of_one), shown(other, is_other_quoted || is_part_of_other)]
}

/// A value in one line; of a list of things with names, these. Whether it is quoted.
fn text_of(place: &[String], value: &Value) -> (String, bool) {
    let is_level = place.last().is_some_and(|name| Subject::is_parameter(name));
    let is_of_parameters = is_level || place.iter().any(|name| name == PARAMETERS);
    match value {
        Value::Null => ("absent".to_owned(), false),
        Value::String(text) => (text.clone(), is_of_parameters),
        Value::Array(list) if !list.is_empty() && names(list).iter().all(Option::is_some) => {
            (names(list).into_iter().flatten().collect::<Vec<_>>().join(", "), false)
        }
        Value::Array(list) => {
            (value.to_string(), is_of_parameters || list.iter().any(Value::is_object))
        }
        Value::Object(_) => (value.to_string(), true),
        Value::Bool(_) | Value::Number(_) => (value.to_string(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of a version that bound no records.
    const UNBOUND: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/golden/import-named-experiment");

    #[test]
    fn what_binds_records_is_let_go_when_it_was_looked_at_unless_some_are_bound_to_nothing() {
        let home = tempfile::tempdir().unwrap();
        let common = Common {
            verbose: false,
            results: home.path().join("results"),
            root: None,
            runtime_dir: Some(home.path().join("run")),
            cache: None,
            destroy_data: Vec::new(),
        };
        let workloads = vec![fixtures::workload("w", Vec::new())];
        let plan = fixtures::plan(fixtures::subjects(&["a"]), workloads, 2);
        let mut campaign = store::Campaign::create(&common.results, &plan, "", 1, 1).unwrap();
        for number in 0..2 {
            let mut record = fixtures::record("a", "w");
            (record.sequence, record.block) = (u64::from(number), number);
            campaign.append(&mut record).unwrap();
        }
        let loaded = load(&common, campaign.directory()).unwrap();
        assert_eq!((loaded.binding, loaded.records.len()), (Binding::Checked, 2));
        assert!(loaded.digests.is_empty());
        let is_linked = |record: &Record| record.chain.is_some();
        assert_eq!([0, 1].map(|at| is_linked(&loaded.records[at])), [true, false]);
        let unbound = load(&common, Path::new(UNBOUND)).unwrap();
        assert_eq!(unbound.binding, Binding::Absent);
        assert_eq!(unbound.digests.len(), unbound.records.len());
    }

    fn plan(id: &str, factor: &str, level: &str) -> Plan {
        fixtures::plan(vec![fixtures::subject(id, &[(factor, level)])], Vec::new(), 0)
    }

    #[test]
    fn a_cache_that_holds_another_kernel_is_no_edit() {
        let here = plan("debian-6-12-118", "kernel", "debian:6.12.118-1");
        let elsewhere = plan("debian-6-12-120", "kernel", "debian:6.12.120-1");
        assert!(stands_for_others(&here, &elsewhere));
        assert!(!stands_for_others(&here, &here));
        let renamed = plan("mine", "kernel", "debian:6.12.118-1");
        assert!(!stands_for_others(&renamed, &here), "it stands for the same under another name");
        let edited = plan("tuned", "base_slice", "1ms");
        assert!(!stands_for_others(&plan("tuned", "base_slice", "2ms"), &edited));
    }

    #[test]
    fn what_a_redaction_would_not_know_for_a_secret_is_quoted() {
        let told = |place: &[&str], value: Value| -> String {
            let place: Vec<String> = place.iter().map(|name| (*name).to_owned()).collect();
            let [told, _] = told(&place, [&value, &Value::Null]);
            told
        };
        let directory = ["workloads", "a", "parameters", "directory", "text"];
        assert_eq!(told(&directory, "acme/x`y".into()), "`acme/x'y`");
        assert_eq!(told(&directory, Value::Null), "absent");
        assert_eq!(
            told(&["subjects", "a", "levels", "command.directory"], "acme".into()),
            "`acme`"
        );
        assert_eq!(told(&["workloads", "a", "variants", "b"], json!({"x": 1})), "`{\"x\":1}`");
        assert_eq!(told(&["looks"], json!([{"x": 1}])), "`[{\"x\":1}]`");
        let long = told(&["title"], "t".repeat(61).into());
        assert_eq!(long, format!("`{}...`", "t".repeat(60)));
        let long = |end: &str| Value::from(format!("{}{end}", "t".repeat(90)));
        let [one, other] = super::told(&["title".to_owned()], [&long("one"), &long("two")]);
        assert!(one.ends_with("tone`") && other.ends_with("ttwo`"), "{one} {other}");
        // These are replaced wherever they stand.
        assert_eq!(told(&["subjects"], json!([{"id": "a"}, {"id": "b"}])), "a, b");
        assert_eq!(told(&["subjects", "a", "levels", "nice"], "5".into()), "5");
        assert_eq!(told(&["workloads", "a", "primary"], json!(["p50"])), "[\"p50\"]");
        assert_eq!(told(&["workloads", "a", "parameters", "pairs", "count"], 7.into()), "7");
    }
}
