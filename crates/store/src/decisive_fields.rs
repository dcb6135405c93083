//! What decides results in a plan, and what it says besides but for its blocks, field by field, as the
//! first record keeps it (docs/method.md#m-evidence). A digest tells that a field was changed; only its
//! former value tells which one, and what it was.
//!
//! The fields are kept in hexadecimal digits. A search and replacement that renames a subject in every
//! file of a campaign would rename it there as well if it could be read there.

use crate::compact_json::compact_text;
use crate::documents::hexadecimal;
use model::{ImportFact, Imported, Plan, Record, quoted};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes of a field that are kept as they are; of a longer one its digest is kept.
const LONGEST_KEPT: usize = 2048;
/// Characters of a value that are told.
const LONGEST_TOLD: usize = 60;
/// Characters that are told before the first one that differs.
const TOLD_BEFORE: usize = 20;
/// Base of the digits.
const HEXADECIMAL: u32 = 16;

/// Fields of which a redaction replaces values by their place in a plan, and those that may say
/// anything.
const QUOTED: [&str; 8] =
    ["claims", "imported caveats", "imported file", "levels", NAME, "notes", "options", "title"];
/// The field of what the experiment is called: its file is called so, and no text says it.
const NAME: &str = "name";

/// The values of each field, by its name.
type Fields = BTreeMap<String, Vec<String>>;

/// The fields of a plan as the first record keeps them; nothing where they cannot be written.
pub(crate) fn kept_fields(plan: &Plan) -> Option<String> {
    let text = serde_json::to_vec(&fields_of(plan, plan.notes.len())).ok()?;
    Some(text.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Each field that a plan has otherwise than the first record keeps it, with both values. A field
/// that an earlier version did not keep is passed over: the digest of the plan covers it. So many
/// notes were there when it was stored; others may have been added since.
pub(crate) fn changed_fields(plan: &Plan, kept: &str, notes: u64) -> Vec<String> {
    let Some(kept) = read(kept) else {
        return vec![
            "what the first record keeps of the fields of plan.json cannot be read".to_owned(),
        ];
    };
    let there = fields_of(plan, usize::try_from(notes).unwrap_or(usize::MAX));
    let changed = |(name, values): (&String, &Vec<String>)| {
        let then = kept.get(name).filter(|then| *then != values)?;
        Some(difference(name, values, then))
    };
    there.iter().filter_map(changed).collect()
}

/// What the experiment was called when the first record was stored; nothing where that record keeps
/// none, as those of earlier versions do.
#[must_use]
pub fn bound_name(first: &Record) -> Option<String> {
    let kept = first.chain.as_ref()?.beginning.as_ref()?.fields.as_deref()?;
    read(kept)?.remove(NAME)?.pop()
}

fn read(kept: &str) -> Option<Fields> {
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
        u8::from_str_radix(digits, HEXADECIMAL).ok()
    };
    let text: Option<Vec<u8>> = kept.as_bytes().chunks(2).map(byte).collect();
    serde_json::from_slice(&text?).ok()
}

/// Names stand in fields of their own: what is renamed is told there, and not with each of its
/// levels and margins as well. Of the notes so many of the first.
fn fields_of(plan: &Plan, notes: usize) -> Fields {
    let subjects = || plan.subjects.iter().map(|subject| subject.id.clone());
    let metrics = || plan.workloads.iter().flat_map(|workload| &workload.metrics);
    let mut fields: Vec<(&str, Vec<String>)> = vec![
        (NAME, vec![plan.name.clone()]),
        ("title", vec![plan.title.clone()]),
        ("venue", vec![plan.venue.clone()]),
        ("options", plan.options.clone()),
        ("notes", plan.notes.iter().take(notes).cloned().collect()),
        ("is_seed_generated", vec![plan.is_seed_generated.to_string()]),
        ("is_pilot", vec![plan.is_pilot.to_string()]),
        ("reference", subjects().take(1).collect()),
        ("subjects", subjects().collect()),
        ("is_control", plan.subjects.iter().map(|one| one.is_control.to_string()).collect()),
        ("levels", plan.subjects.iter().map(|subject| text_of(&subject.levels)).collect()),
        ("alpha", vec![plan.alpha.to_string()]),
        ("seed", vec![plan.seed.to_string()]),
        ("is_quick", vec![plan.is_quick.to_string()]),
        ("comparisons", vec![text_of(&plan.comparisons)]),
        ("looks", plan.looks.iter().map(u32::to_string).collect()),
        ("workloads", plan.workloads.iter().map(|workload| workload.label.clone()).collect()),
        ("uses", plan.workloads.iter().map(|workload| workload.uses.clone()).collect()),
        ("invocations", plan.workloads.iter().map(|one| one.invocations.to_string()).collect()),
        ("metrics", metrics().map(|metric| metric.id.clone()).collect()),
        ("sources", metrics().map(|metric| metric.source.clone()).collect()),
        ("resolutions", metrics().map(|metric| metric.resolution.to_string()).collect()),
        ("units", metrics().map(|metric| text_of(&metric.unit)).collect()),
        ("directions", metrics().map(|metric| text_of(&metric.direction)).collect()),
        ("margins", metrics().map(|metric| metric.margin.to_string()).collect()),
        ("primary", plan.workloads.iter().flat_map(|one| one.primary.iter().cloned()).collect()),
        ("claims", plan.claims.iter().map(text_of).collect()),
    ];
    fields.extend(fields_of_import(plan.imported.as_ref()));
    fields.into_iter().map(|(name, values)| (name.to_owned(), bounded(values))).collect()
}

/// What an import says of itself; of a campaign that ran, each of these without a value.
fn fields_of_import(imported: Option<&Imported>) -> Vec<(&'static str, Vec<String>)> {
    let one = |value: fn(&Imported) -> String| -> Vec<String> {
        imported.map(value).into_iter().collect()
    };
    let list = |values: fn(&Imported) -> Vec<String>| -> Vec<String> {
        imported.map(values).unwrap_or_default()
    };
    let mut fields = vec![
        ("imported format", one(|imported| imported.format.clone())),
        ("imported file", one(|imported| imported.file.clone())),
        ("imported digest", one(|imported| imported.digest.clone())),
        ("imported design", one(|imported| text_of(&imported.design))),
        ("imported order", one(|imported| text_of(&imported.order))),
        ("imported caveats", list(|imported| imported.caveats.iter().map(text_of).collect())),
        ("imported parts", list(|imported| imported.parts.clone())),
        ("imported copied", list(|imported| imported.copied.clone())),
    ];
    // Without any the first record keeps what it kept before there were facts. What was given with
    // the numbers is none of them: redactions kept the facts of earlier imports without it. The
    // digest of the plan covers it.
    let facts = list(|imported| {
        let kept = imported.facts.iter().filter(|fact| **fact != ImportFact::GivenWithNumbers);
        kept.map(text_of).collect()
    });
    fields.extend((!facts.is_empty()).then_some(("imported facts", facts)));
    fields
}

/// JSON, and of what is one text that text alone.
fn text_of(value: &impl Serialize) -> String {
    bare_text(serde_json::to_string(value))
}

fn bare_text(encoded: serde_json::Result<String>) -> String {
    match encoded {
        Ok(text) if text.starts_with('"') => {
            serde_json::from_slice(text.as_bytes()).unwrap_or(text)
        }
        Ok(text) => text,
        Err(error) => error.to_string(),
    }
}

/// The values, or how many there are and their digest, where they are long.
fn bounded(values: Vec<String>) -> Vec<String> {
    if values.iter().map(String::len).sum::<usize>() <= LONGEST_KEPT {
        return values;
    }
    let digest = hexadecimal(compact_text(&values).as_bytes());
    vec![format!("{} of the digest {digest}", values.len())]
}

/// What is said of a field: the whole of both values, or of long ones where they first differ.
fn difference(name: &str, there: &[String], then: &[String]) -> String {
    let said = |place: &str, [there, then]: [&str; 2]| {
        let [there, then] = shown(name, there, then);
        format!("plan.json: {place} is {there}, and the first record gives {then}")
    };
    let whole = [there, then].map(|values| values.join(", "));
    if whole.iter().all(|text| text.chars().count() <= LONGEST_TOLD) {
        return said(name, [&whole[0], &whole[1]]);
    }
    let at = there.iter().zip(then).take_while(|(one, other)| one == other).count();
    let value = |values: &[String]| values.get(at).cloned().unwrap_or_default();
    let place = if there.len().max(then.len()) > 1 {
        format!("{name}, number {},", at + 1)
    } else {
        name.to_owned()
    };
    said(&place, [&value(there), &value(then)])
}

/// Two values of a field in one line each, of long ones the part around the first character that
/// differs.
fn shown(name: &str, there: &str, then: &str) -> [String; 2] {
    let same = there.chars().zip(then.chars()).take_while(|(one, other)| one == other).count();
    [there, then].map(|text| {
        let count = text.chars().count();
        if text.is_empty() {
            return "absent".to_owned();
        }
        if count <= LONGEST_TOLD {
            return if QUOTED.contains(&name) { quoted(text) } else { text.to_owned() };
        }
        let from = same.saturating_sub(TOLD_BEFORE);
        let part: String = text.chars().skip(from).take(LONGEST_TOLD).collect();
        let before = if from > 0 { "..." } else { "" };
        let behind = if from + LONGEST_TOLD < count { "..." } else { "" };
        // A part of a secret is not known for one.
        quoted(&format!("{before}{part}{behind}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::{plan, subjects, workload};
    use model::{Direction, Metric, Reduction, Unit};

    fn changed_fields(plan: &Plan, kept: &str) -> Vec<String> {
        super::changed_fields(plan, kept, plan.notes.len() as u64)
    }

    fn metric(id: &str) -> Metric {
        Metric::new(id, Unit::Nanoseconds, Direction::Lower, Reduction::Median, id)
    }

    fn planned(ids: &[&str]) -> Plan {
        plan(subjects(ids), vec![workload("pipe", vec![metric("p50"), metric("p99")])], 3)
    }

    #[test]
    fn each_field_is_named_with_both_values_and_one_that_is_the_same_is_not() {
        let kept = kept_fields(&planned(&["a", "b"])).unwrap();
        assert_eq!(changed_fields(&planned(&["a", "b"]), &kept), [""; 0]);
        let swapped = [
            "plan.json: reference is b, and the first record gives a",
            "plan.json: subjects is b, a, and the first record gives a, b",
        ];
        assert_eq!(changed_fields(&planned(&["b", "a"]), &kept), swapped);
        let mut other = planned(&["a", "b"]);
        other.workloads[0].label = "pipes".to_owned();
        other.workloads[0].metrics[1].id = "p90".to_owned();
        other.workloads[0].metrics[0].margin = 0.5;
        other.alpha = 0.2;
        other.is_quick = true;
        let told = changed_fields(&other, &kept);
        assert_eq!(told.len(), 5, "{told:?}");
        for words in [
            "is_quick is true, and the first record gives false",
            "alpha is 0.2, and the first record gives 0.05",
            "margins is 0.5, ",
            "metrics is p50, p90, and the first record gives p50, p99",
            "workloads is pipes, and the first record gives pipe",
        ] {
            assert!(told.iter().any(|one| one.contains(words)), "{words}: {told:?}");
        }
    }

    #[test]
    fn a_name_and_a_title_are_named_with_both_values_unless_an_earlier_version_kept_neither() {
        let before =
            Plan { name: "first".to_owned(), title: "Is it so?".into(), ..planned(&["a"]) };
        let kept = kept_fields(&before).unwrap();
        let other = Plan { name: "other".to_owned(), title: "Is it?".into(), ..before };
        let told = [
            "plan.json: name is `other`, and the first record gives `first`",
            "plan.json: title is `Is it?`, and the first record gives `Is it so?`",
        ];
        assert_eq!(changed_fields(&other, &kept), told);
        let mut earlier = read(&kept).unwrap();
        earlier.retain(|field, _| field != "name" && field != "title");
        let earlier = serde_json::to_vec(&earlier).unwrap();
        let earlier: String = earlier.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(changed_fields(&other, &earlier), [""; 0]);
    }

    #[test]
    fn options_notes_and_what_else_a_plan_says_are_named_with_both_values() {
        let notes = vec!["seed drawn: 4".to_owned()];
        let before =
            Plan { notes, options: vec!["--set".into(), "nice=1".into()], ..planned(&["a"]) };
        let kept = kept_fields(&before).unwrap();
        let mut other = before.clone();
        other.options[1] = "nice=2".to_owned();
        other.notes[0] = "seed drawn: 5".to_owned();
        other.is_seed_generated = !before.is_seed_generated;
        other.is_pilot = true;
        let seed = before.is_seed_generated;
        let told = [
            "plan.json: is_pilot is true, and the first record gives false".to_owned(),
            format!("plan.json: is_seed_generated is {}, and the first record gives {seed}", !seed),
            "plan.json: notes is `seed drawn: 5`, and the first record gives `seed drawn: 4`"
                .into(),
            "plan.json: options is `--set, nice=2`, and the first record gives `--set, nice=1`"
                .into(),
        ];
        assert_eq!(changed_fields(&other, &kept), told);
        // A note that came later is bound by the campaign's end.
        let later = vec!["seed drawn: 4".to_owned(), "block 1 runs again".to_owned()];
        let later = Plan { notes: later, ..before };
        assert_eq!(super::changed_fields(&later, &kept, 1), [""; 0]);
        let removed = Plan { notes: Vec::new(), ..later };
        let told = "plan.json: notes is absent, and the first record gives `seed drawn: 4`";
        assert_eq!(super::changed_fields(&removed, &kept, 1), [told]);
    }

    #[test]
    fn units_directions_and_claims_are_named_with_both_values() {
        let of_claims = fixtures::claim("a", "b", model::ClaimedEffect::Same);
        let claim = |says: &str| model::Claim { says: says.to_owned(), ..of_claims.clone() };
        let before = Plan { claims: vec![claim("a is faster")], ..planned(&["a"]) };
        let kept = kept_fields(&before).unwrap();
        let mut other = before.clone();
        other.claims = vec![claim("a is slower")];
        other.workloads[0].metrics[0].direction = Direction::Higher;
        other.workloads[0].metrics[1].unit = Unit::Bytes;
        let told = changed_fields(&other, &kept);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("a is slower") && told[0].contains("a is faster"), "{told:?}");
        let of_metrics = [
            "plan.json: directions is higher, lower, and the first record gives lower, lower",
            "plan.json: units is nanoseconds, bytes, and the first record gives nanoseconds, \
             nanoseconds",
        ];
        assert_eq!(told[1..], of_metrics);
    }

    #[test]
    fn sources_resolutions_invocations_controls_and_the_venue_are_named_with_both_values() {
        let before = planned(&["a", "b"]);
        let kept = kept_fields(&before).unwrap();
        let mut other = before.clone();
        other.venue = "elsewhere".to_owned();
        other.subjects[1].is_control = true;
        other.workloads[0].invocations = 7;
        other.workloads[0].metrics[0].resolution = 0.5;
        other.workloads[0].metrics[1].source = "wall".to_owned();
        let then = &before.venue;
        let told = [
            "plan.json: invocations is 7, and the first record gives 1".to_owned(),
            "plan.json: is_control is false, true, and the first record gives false, false".into(),
            "plan.json: resolutions is 0.5, 0, and the first record gives 0, 0".into(),
            "plan.json: sources is p50, wall, and the first record gives p50, p99".into(),
            format!("plan.json: venue is elsewhere, and the first record gives {then}"),
        ];
        assert_eq!(changed_fields(&other, &kept), told);
        let mut earlier = read(&kept).unwrap();
        let later = ["invocations", "is_control", "resolutions", "sources", "venue"];
        earlier.retain(|field, _| !later.contains(&field.as_str()));
        let earlier = serde_json::to_vec(&earlier).unwrap();
        let earlier: String = earlier.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(changed_fields(&other, &earlier), [""; 0]);
    }

    #[test]
    fn no_name_can_be_read_in_what_is_kept_and_of_long_lists_a_digest_is() {
        let kept = kept_fields(&planned(&["baseline", "faster"])).unwrap();
        assert!(kept.bytes().all(|digit| digit.is_ascii_hexdigit()), "{kept}");
        let ids: Vec<String> = (0..2_000).map(|number| format!("subject-{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let kept = kept_fields(&planned(&ids)).unwrap();
        assert!(kept.len() < 20_000, "{}", kept.len());
        let told = changed_fields(&planned(&ids[1..]), &kept).join("\n");
        assert!(told.contains("reference is subject-1, and the first record gives subject-0"));
        assert!(told.contains("subjects is ") && told.contains("of the digest"), "{told}");
    }

    #[test]
    fn of_long_values_the_place_where_they_differ_is_told() {
        let names = |last: &str| {
            let mut names: Vec<String> = (0..9).map(|number| format!("subject-{number}")).collect();
            names.push(last.to_owned());
            names
        };
        assert_eq!(
            difference("subjects", &names("x"), &names("y")),
            "plan.json: subjects, number 10, is x, and the first record gives y"
        );
        let long = |end: &str| vec![format!("{}{end}", "z".repeat(90))];
        let told = difference("levels", &long("one"), &long("two"));
        assert!(told.contains("zzzone`, and") && told.ends_with("zzztwo`"), "{told}");
    }

    #[test]
    fn what_a_redaction_would_not_know_for_a_secret_is_quoted() {
        let named = |name: &str| difference(name, &["u`.csv".to_owned()], &[]);
        assert_eq!(
            named("imported file"),
            "plan.json: imported file is `u'.csv`, and the first record gives absent"
        );
        assert!(named("subjects").contains("subjects is u`.csv, and"));
        let caveats =
            [[r#"{"code":"SETTINGS_DIFFER","detail":"a: b"}"#.to_owned()].to_vec(), vec![]];
        let told = difference("imported caveats", &caveats[0], &caveats[1]);
        assert!(told.contains("is `{\"code\":") && told.contains("}`, and"), "{told}");
    }

    #[test]
    fn facts_of_an_import_are_kept_and_an_import_without_any_keeps_what_it_kept_before() {
        let design = model::ImportedDesign::Blocked;
        let imported = fixtures::imported(design, model::ImportedOrder::Rows);
        let mut plan = Plan { imported: Some(imported), ..planned(&["a", "b"]) };
        let before = kept_fields(&plan).unwrap();
        assert!(!read(&before).unwrap().contains_key("imported facts"));
        let establish = |plan: &mut Plan, fact| {
            plan.imported.as_mut().unwrap().facts.establish(fact);
        };
        establish(&mut plan, ImportFact::CopiedValues);
        // Of a version that kept none.
        assert_eq!(changed_fields(&plan, &before), [""; 0]);
        let kept = kept_fields(&plan).unwrap();
        establish(&mut plan, ImportFact::GivenWithNumbers);
        assert_eq!(changed_fields(&plan, &kept), [""; 0], "the digest of the plan covers it");
        establish(&mut plan, ImportFact::Simulated);
        let told = "plan.json: imported facts is copied_values, simulated, and the first record gives \
                    copied_values";
        assert_eq!(changed_fields(&plan, &kept), [told]);
    }

    #[test]
    fn what_cannot_be_read_is_said_to_be_so() {
        for kept in ["", "7", "zz", "+f", "7b7d7"] {
            let told = changed_fields(&planned(&["a"]), kept);
            assert!(told.len() == 1 && told[0].contains("cannot be read"), "{kept}: {told:?}");
        }
        // A version that kept no field.
        assert_eq!(changed_fields(&planned(&["a"]), "7b7d"), [""; 0]);
    }
}
