//! Whether what the manifest of a bundle says is so. Nothing binds a manifest but what lies beside
//! it: each of its fields is held against that, or is said not to be checked.

use store::{LoadedCampaign, Manifest, Redaction};

/// How the note that a redaction adds to its plan begins, behind its first word.
const NOTES: [&str; 2] = ["placeholders stand for ", Redaction::NOTHING];

/// How earlier versions began it where nothing was replaced.
const EARLIER_NOTHING: &str = "placeholders stand for nothing was found";

/// What came of one field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FieldOutcome {
    Agrees,
    /// It says what is not so: the field and both values.
    Differs(String),
    /// Nothing was there to hold it against.
    NotChecked(String),
}

/// What a redaction did, in one sentence.
pub(super) fn redaction_sentence(redaction: &Redaction) -> String {
    if *redaction == Redaction::default() {
        return "it is redacted by an earlier version; a note of its plan says what was replaced"
            .to_owned();
    }
    format!("it is redacted: {}", redaction.words())
}

/// What was redacted of a bundle's campaign, by the documents that its records bind; of redactions
/// that an earlier version made, by the manifest where that says what their note does.
pub(super) fn redaction_of(manifest: &Manifest, loaded: &LoadedCampaign) -> Option<Redaction> {
    let by_manifest = || match redaction(manifest, loaded) {
        FieldOutcome::Agrees => manifest.redaction.clone(),
        _ => None,
    };
    let is_noted = || note(loaded).map(|_| Redaction::default());
    match &loaded.redaction {
        Some(known) if *known != Redaction::default() => Some(known.clone()),
        Some(earlier) => by_manifest().or_else(|| Some(earlier.clone())),
        None => by_manifest().or_else(is_noted),
    }
}

/// What the manifest says of a redaction, against `state.json`, and where an earlier version wrote
/// that, against the note in `plan.json`.
pub(super) fn redaction(manifest: &Manifest, loaded: &LoadedCampaign) -> FieldOutcome {
    let packed = manifest.redaction.as_ref();
    let known = loaded.redaction.as_ref();
    let told = |redaction: Option<&Redaction>| match redaction {
        None => "absent".to_owned(),
        Some(one) if *one == Redaction::default() => "one of an earlier version".to_owned(),
        Some(redaction) => format!("`{}`", redaction.words()),
    };
    let differs = |there: String| {
        let packed = told(packed);
        FieldOutcome::Differs(format!("manifest.json: redaction is {packed}, and {there}"))
    };
    let is_of_earlier = known.is_none_or(|known| *known == Redaction::default());
    if !is_of_earlier {
        return if packed == known {
            FieldOutcome::Agrees
        } else {
            differs(format!("state.json gives {}", told(known)))
        };
    }
    match note(loaded) {
        // One that an earlier version made, and that was packed anew.
        _ if packed == known => FieldOutcome::Agrees,
        Some(note) if packed.is_some_and(|packed| is_said_by(packed, note)) => FieldOutcome::Agrees,
        Some(note) if packed.is_some() => differs(format!("a note of plan.json gives `{note}`")),
        None if known.is_some() => FieldOutcome::NotChecked(
            "what manifest.json says of the redaction: an earlier version made it".to_owned(),
        ),
        _ => differs(format!("state.json gives {}", told(known))),
    }
}

/// The note of a redaction in the plan, without its first word.
fn note(loaded: &LoadedCampaign) -> Option<&str> {
    let mut notes = loaded.plan.notes.iter().rev();
    let is_one = |note: &&str| NOTES.iter().any(|begin| note.starts_with(begin));
    notes.find_map(|note| note.strip_prefix("redacted: ").filter(is_one))
}

/// Whether a note says this of a redaction.
fn is_said_by(redaction: &Redaction, note: &str) -> bool {
    let words = redaction.words();
    match note.strip_prefix(EARLIER_NOTHING) {
        Some(rest) => words.strip_prefix(Redaction::NOTHING) == Some(rest),
        None => words == note,
    }
}

/// Whether its format is that in which `version` packs these files. Other versions may have had
/// others, and of them nothing is known.
pub(super) fn format(manifest: &Manifest, version: &str) -> FieldOutcome {
    let due = manifest.due_format();
    let format = &manifest.format;
    if format == due {
        FieldOutcome::Agrees
    } else if manifest.schedlab == version {
        FieldOutcome::Differs(format!(
            "manifest.json: format is {format}, and this version packs these files as {due}"
        ))
    } else {
        FieldOutcome::NotChecked(format!(
            "the format in manifest.json, {format}: another version made the bundle"
        ))
    }
}

/// Whether the campaign has the name that it was given when it was made. Its directory may have been
/// renamed since, and the name of a redaction has placeholders.
pub(super) fn campaign(manifest: &Manifest, loaded: &LoadedCampaign) -> FieldOutcome {
    let due = store::directory_stem(&loaded.plan.name, loaded.created_unix_ns).unwrap_or_default();
    let rest = manifest.campaign.strip_prefix(&due);
    if rest.is_some_and(|rest| rest.starts_with('-')) {
        return FieldOutcome::Agrees;
    }
    FieldOutcome::NotChecked(format!(
        "manifest.json: campaign is {}, and plan.json and state.json give {due}-...: its directory \
         was renamed, or its name was changed later",
        manifest.campaign
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const CAMPAIGN: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/golden/import-named-experiment");

    fn manifest(redaction: Option<Redaction>, loaded: &LoadedCampaign) -> Manifest {
        let stem = store::directory_stem(&loaded.plan.name, loaded.created_unix_ns).unwrap();
        Manifest::new("1".to_owned(), format!("{stem}-0a0b"), redaction)
    }

    fn redacted() -> Redaction {
        let replaced = [("hosts".to_owned(), 3)].into();
        Redaction { replaced, left_out: vec!["logs".to_owned()] }
    }

    #[test]
    fn a_redaction_is_held_against_the_state_and_against_the_note_of_an_earlier_one() {
        let mut loaded = store::load(Path::new(CAMPAIGN)).unwrap();
        let outcome = |loaded: &LoadedCampaign, packed: Option<Redaction>| {
            redaction(&manifest(packed, loaded), loaded)
        };
        let differs = |outcome: FieldOutcome, value: &str| match outcome {
            FieldOutcome::Differs(told) => assert!(told.contains(value), "{told}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(outcome(&loaded, None), FieldOutcome::Agrees);
        differs(outcome(&loaded, Some(redacted())), "hosts (3); left out: logs`, and state.json");
        assert_eq!(redaction_of(&manifest(Some(redacted()), &loaded), &loaded), None);
        loaded.redaction = Some(redacted());
        assert_eq!(outcome(&loaded, Some(redacted())), FieldOutcome::Agrees);
        differs(outcome(&loaded, None), "redaction is absent, and state.json gives `placeholders");
        // An earlier version left a note alone.
        loaded.redaction = Some(Redaction::default());
        let unknown = outcome(&loaded, Some(redacted()));
        assert!(matches!(unknown, FieldOutcome::NotChecked(_)), "{unknown:?}");
        loaded.plan.notes.push(format!("redacted: {}", redacted().words()));
        assert_eq!(outcome(&loaded, Some(redacted())), FieldOutcome::Agrees);
        let other = Redaction { left_out: Vec::new(), ..redacted() };
        differs(outcome(&loaded, Some(other)), "and a note of plan.json gives `placeholders");
        let told = redaction_of(&manifest(Some(redacted()), &loaded), &loaded);
        assert_eq!(told, Some(redacted()));
    }

    #[test]
    fn a_redaction_that_replaced_nothing_says_so() {
        let nothing = Redaction { replaced: std::collections::BTreeMap::new(), ..redacted() };
        let sentence = redaction_sentence(&nothing);
        assert_eq!(sentence, "it is redacted: nothing was found to replace; left out: logs");
        let sentence = redaction_sentence(&redacted());
        assert_eq!(sentence, "it is redacted: placeholders stand for hosts (3); left out: logs");
        let noted = |note: &str| {
            let mut loaded = store::load(Path::new(CAMPAIGN)).unwrap();
            loaded.redaction = Some(Redaction::default());
            loaded.plan.notes.push(format!("redacted: {note}"));
            redaction(&manifest(Some(nothing.clone()), &loaded), &loaded)
        };
        assert_eq!(noted(&nothing.words()), FieldOutcome::Agrees);
        let earlier = "placeholders stand for nothing was found; left out: logs";
        assert_eq!(noted(earlier), FieldOutcome::Agrees);
        let other = "placeholders stand for nothing was found; left out: traces";
        assert!(matches!(noted(other), FieldOutcome::Differs(_)));
        assert!(matches!(noted(&redacted().words()), FieldOutcome::Differs(_)));
    }

    #[test]
    fn format_and_name_are_those_that_a_bundle_of_such_files_gets() {
        let loaded = store::load(Path::new(CAMPAIGN)).unwrap();
        let mut packed = manifest(None, &loaded);
        assert_eq!(format(&packed, "1"), FieldOutcome::Agrees);
        assert_eq!(campaign(&packed, &loaded), FieldOutcome::Agrees);
        packed.format = "schedlab.bundle/1".to_owned();
        assert!(matches!(format(&packed, "1"), FieldOutcome::Differs(_)));
        assert!(matches!(format(&packed, "2"), FieldOutcome::NotChecked(_)));
        packed.campaign = "other".to_owned();
        assert!(matches!(campaign(&packed, &loaded), FieldOutcome::NotChecked(_)));
    }
}
