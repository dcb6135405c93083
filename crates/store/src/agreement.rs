//! Whether the documents of a campaign agree with each other (docs/method.md#m-evidence): what its
//! first record says of its beginning, what its state says of its end, and which version wrote them.

use crate::compact_json::compact_text;
use crate::decisive_fields::{changed_fields, kept_fields};
use crate::documents::{
    CampaignState, OPEN_ENDED_STATE, REDACTED_STATE_FORMAT, STATE_FORMAT, StateDocument,
    UNBOUND_STATE, digest_of_end, hexadecimal,
};
use crate::json_digest::digest_of_json;
use model::{
    Attempt, CampaignBeginning, CaveatCode, FACTS_PLAN_FORMAT, GIVEN_PLAN_FORMAT,
    ORDERED_PLAN_FORMAT, PARTS_PLAN_FORMAT, PLAN_FORMAT, PLANS_BEFORE_BINDING, Plan,
    RESTED_PLAN_FORMAT, Record,
};

/// Formats of plans that no version had which bound no records. That of a campaign which a look
/// ended is none of them: one that such a version began gets it at its end.
const LATER_THAN_UNBOUND: [&str; 5] = [
    RESTED_PLAN_FORMAT,
    ORDERED_PLAN_FORMAT,
    PARTS_PLAN_FORMAT,
    GIVEN_PLAN_FORMAT,
    FACTS_PLAN_FORMAT,
];

/// What the first record is given of a campaign that begins; `records` where all there will be are
/// known.
pub(crate) fn beginning(
    plan: &Plan,
    state: &StateDocument,
    records: Option<u64>,
) -> CampaignBeginning {
    let (blocks, notes) = (plan.blocks.len(), plan.notes.len());
    CampaignBeginning {
        blocks: blocks as u64,
        notes: notes as u64,
        records,
        attempt: state.attempt,
        plan: digest_of_plan(plan, blocks, notes),
        state: digest_of_state(state),
        binds_end: true,
        fields: kept_fields(plan),
    }
}

/// What a plan says besides what decides results, with its first blocks and notes.
fn digest_of_plan(plan: &Plan, blocks: usize, notes: usize) -> String {
    let (blocks, notes) = (&plan.blocks[..blocks], &plan.notes[..notes]);
    digest_of_json(&(
        &plan.name,
        &plan.title,
        &plan.options,
        plan.is_seed_generated,
        plan.is_pilot,
        blocks,
        notes,
    ))
}

/// What a state says that never changes.
fn digest_of_state(state: &StateDocument) -> String {
    let mut said = vec![
        compact_text(&state.created_unix_ns),
        compact_text(&state.redaction_of),
        compact_text(&state.redaction),
        compact_text(&state.flaws),
    ];
    // What was redacted once has the digest that earlier versions gave it.
    if !state.redacted_before.is_empty() {
        said.push(compact_text(&state.redacted_before));
    }
    // So have redactions of earlier versions.
    if let Some(origin) = &state.redacted_origin {
        said.push(format!("{{\"origin\":{}}}", compact_text(origin)));
    }
    hexadecimal(format!("[{}]", said.join(",")).as_bytes())
}

/// What a directory holds of a campaign.
pub(crate) struct CampaignDocuments<'a> {
    pub plan: &'a Plan,
    pub state: &'a StateDocument,
    pub records: &'a [Record],
    /// How many of them are bound to nothing.
    pub loose: usize,
    /// The digest of its fingerprint.
    pub environment: Option<&'a str>,
    /// The name of the text that the plan was made from, and the digest of what lies there.
    pub origin: (&'a str, String),
}

impl CampaignDocuments<'_> {
    /// The fields of the plan that are not as the first record keeps them, in one sentence each with
    /// both values. They say more than the digests that no longer fit.
    pub(crate) fn other_fields(&self) -> Vec<String> {
        let Some(began) = self.began() else { return Vec::new() };
        let kept = began.fields.as_deref();
        kept.map(|kept| changed_fields(self.plan, kept, began.notes)).unwrap_or_default()
    }

    /// Whatever one of them says against another, in one sentence each.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut told = self.other_beginning();
        told.extend(self.other_end());
        told.extend(self.other_close());
        told.extend(self.other_environment());
        told.extend(self.other_origin());
        told.extend(self.other_version());
        told.extend(self.other_formats());
        told
    }

    /// What nothing binds, so that an edit of it would not be seen.
    pub(crate) fn unbound(&self) -> Vec<String> {
        let mut told = Vec::new();
        let loose = self.loose;
        match self.records.len() {
            0 => return told,
            all if loose == all => told.push(
                "no record is bound, neither to the plan nor to the one before it, as in campaigns \
                 of an earlier version: nobody can know whether they were edited"
                    .to_owned(),
            ),
            all if loose == 1 => told.push(format!(
                "1 of {all} records is bound neither to the plan nor to the one before it, as in \
                 campaigns of an earlier version: nobody can know whether it was edited"
            )),
            all if loose > 0 => told.push(format!(
                "{loose} of {all} records are bound neither to the plan nor to the one before them, \
                 as in campaigns of an earlier version: nobody can know whether they were edited"
            )),
            _ => {}
        }
        match self.began() {
            None => told.push(
                "the first record binds neither title, notes and options nor the number of the \
                 attempt, as in campaigns of an earlier version"
                    .to_owned(),
            ),
            Some(began) if !self.is_closed() => {
                match (self.plan.notes.len() as u64).saturating_sub(began.notes) {
                    0 => {}
                    1 => told
                        .push("a note that was added to plan.json later is not bound".to_owned()),
                    later => told.push(format!(
                        "{later} notes that were added to plan.json later are not bound"
                    )),
                }
            }
            Some(_) => {}
        }
        let is_ended = self.state.head.is_some();
        if is_ended && !self.is_closed() && loose < self.records.len() {
            told.push(
                "the version that ended the campaign bound neither how it ended and why nor the \
                 blocks that were added, and counted no run that went on"
                    .to_owned(),
            );
        }
        if self.state.redaction_of.is_some() && self.state.redacted_origin.is_none() {
            told.push(format!(
                "what the redaction left of {} is not bound, as in redactions of an earlier version",
                self.origin.0
            ));
        }
        told
    }

    /// Whether its end is bound.
    fn is_closed(&self) -> bool {
        self.state.head.as_ref().is_some_and(|head| head.end.is_some())
    }

    fn began(&self) -> Option<&CampaignBeginning> {
        self.records.first()?.chain.as_ref()?.beginning.as_ref()
    }

    /// What is not as the first record says that it was when it was stored.
    fn other_beginning(&self) -> Vec<String> {
        let Some(began) = self.began() else { return Vec::new() };
        let (plan, state) = (self.plan, self.state);
        let mut told = Vec::new();
        let mut counted = |name: &str, there: usize, then: u64| {
            if (there as u64) < then {
                told.push(format!(
                    "plan.json: the number of {name} is {there}, and was {then} when the first \
                     record was stored"
                ));
            }
            usize::try_from(then).unwrap_or(usize::MAX).min(there)
        };
        let blocks = counted("blocks", plan.blocks.len(), began.blocks);
        let notes = counted("notes", plan.notes.len(), began.notes);
        if told.is_empty() && digest_of_plan(plan, blocks, notes) != began.plan {
            told.push(
                "plan.json: name, title, options, notes, whether the seed was drawn, whether it is a \
                 pilot or the order of the blocks are not those that the first record names by their \
                 digest"
                    .to_owned(),
            );
        }
        let count = self.records.len() as u64;
        if let Some(all) = began.records.filter(|all| *all != count) {
            told.push(format!("{all} records were stored at once, and {count} are there"));
        }
        if state.attempt != began.attempt {
            told.push(format!(
                "state.json: the attempt is {}, and the first record names {}",
                words_of_attempt(state.attempt),
                words_of_attempt(began.attempt)
            ));
        }
        if digest_of_state(state) != began.state {
            told.push(
                "state.json: the time of creation, or what it says of a redaction, is not what the \
                 first record names by its digest"
                    .to_owned(),
            );
        }
        told
    }

    /// Whether the state says of the end what can be.
    fn other_end(&self) -> Option<String> {
        let state = self.state;
        let is_bound = self.loose < self.records.len();
        match (state.state, &state.head) {
            (CampaignState::Unfinished, Some(head)) => Some(format!(
                "state.json says that the campaign is unfinished, and that it ended with {}",
                model::counted(head.records, "record")
            )),
            (CampaignState::Finished | CampaignState::StoppedEarly, None) if is_bound => Some(
                "state.json says that the campaign ended, and does not name its last record"
                    .to_owned(),
            ),
            (CampaignState::Finished, _) => {
                let is_reason = |code| code == CaveatCode::StoppedEarly;
                let reason = state.caveats.iter().find(|caveat| is_reason(caveat.code))?;
                Some(format!(
                    "state.json says that the campaign is finished, and why it was not: {}",
                    reason.detail
                ))
            }
            _ => None,
        }
    }

    /// Whether plan and state say of an end what they said when it came.
    fn other_close(&self) -> Option<String> {
        let head = self.state.head.as_ref()?;
        match &head.end {
            Some(end) if *end != digest_of_end(self.plan, self.state, head) => Some(
                "state.json and plan.json: how the campaign ended and why, the runs that went on \
                 with it, its blocks, its notes, which blocks ran again or the look that ended it \
                 are not those that it ended with"
                    .to_owned(),
            ),
            None if self.began().is_some_and(|began| began.binds_end) => Some(
                "state.json does not bind the end of the campaign, and the version that began it \
                 does"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Whether the records were made on the machine that lies beside them.
    fn other_environment(&self) -> Option<String> {
        let is_other = |record: &&Record| {
            // Redactions of earlier versions wrote a placeholder for what was absent.
            let is_redacted =
                self.state.redaction_of.is_some() && record.fingerprint.starts_with("redacted-");
            !record.fingerprint.is_empty()
                && !is_redacted
                && Some(record.fingerprint.as_str()) != self.environment
        };
        let count = self.records.iter().filter(is_other).count();
        let there = match self.environment {
            Some(_) => "environment.json is not that",
            None => "environment.json is missing",
        };
        (count > 0).then(|| {
            format!(
                "{there}, and {count} of {} records name another by its digest",
                self.records.len()
            )
        })
    }

    /// Whether the text beside a redaction is what the redaction left: its records follow those of
    /// the campaign before, and not the text.
    fn other_origin(&self) -> Option<String> {
        let left = self.state.redacted_origin.as_ref()?;
        let (name, there) = &self.origin;
        (there != left).then(|| {
            format!(
                "{name} is not what the redaction left: its digest is {there}, and state.json names \
                 {left}"
            )
        })
    }

    /// What only a version that binds records writes, beside records that are not bound.
    fn other_version(&self) -> Option<String> {
        let (plan, state) = (self.plan, self.state);
        if self.records.first()?.chain.is_some() {
            return None;
        }
        // A campaign that an earlier version began is gone on with, and its records may be redacted.
        let is_whole = self.loose == self.records.len() && state.redaction_of.is_none();
        let later = if state.attempt.is_some() {
            "state.json says which attempt it is"
        } else if LATER_THAN_UNBOUND.contains(&plan.format.as_str()) {
            "plan.json is of a later format"
        } else if is_whole && state.head.is_some() {
            "state.json names the last record by its digest"
        } else if is_whole && state.format != UNBOUND_STATE {
            "state.json is of a later format"
        } else {
            return None;
        };
        Some(format!(
            "the records are those of a version that bound none, and {later}: no version wrote both"
        ))
    }
}

impl CampaignDocuments<'_> {
    /// The formats of plan and state that are not those in which what they hold is written.
    fn other_formats(&self) -> Vec<String> {
        let formats = [
            ("plan.json", self.plan.format.as_str(), self.due_format_of_plan()),
            ("state.json", self.state.format.as_str(), self.due_format_of_state()),
        ];
        let others = formats.into_iter().filter(|(_, there, due)| there != due);
        let words = |(name, there, due): (&str, &str, &str)| {
            format!("{name}: format is {there}, and what it holds is written as {due}")
        };
        others.map(words).collect()
    }

    /// Every version writes the oldest format whose readers understand all that a plan says.
    fn due_format_of_plan(&self) -> &str {
        let (there, due) = (self.plan.format.as_str(), self.plan.oldest_format());
        let is_earlier = due == PLAN_FORMAT && PLANS_BEFORE_BINDING.contains(&there);
        if is_earlier && !self.begins_bound() { there } else { due }
    }

    /// The same of a state. A version that binds more may have stored that of an earlier one again, with
    /// nothing in it that is new.
    fn due_format_of_state(&self) -> &str {
        let (state, began) = (self.state, self.began());
        let binds_end = self.is_closed() || began.is_some_and(|began| began.binds_end);
        let names_last = state.head.is_some() || state.attempt.is_some() || self.begins_bound();
        // While nothing is bound, a version that counts runs leaves the format of an earlier one.
        let counts_runs = self.loose == 0 && !state.resumptions.is_empty();
        let (due, later): (&str, &[&str]) = if state.redacted_origin.is_some() {
            (REDACTED_STATE_FORMAT, &[])
        } else if binds_end || counts_runs {
            (STATE_FORMAT, &[])
        } else if names_last && self.is_as_earlier_version_left() {
            (OPEN_ENDED_STATE, &[])
        } else if names_last {
            (OPEN_ENDED_STATE, &[STATE_FORMAT])
        } else {
            (UNBOUND_STATE, &[OPEN_ENDED_STATE, STATE_FORMAT])
        };
        let there = state.format.as_str();
        if later.contains(&there) { there } else { due }
    }

    /// Whether no version that binds the end can have stored the state of a campaign that is bound, whose
    /// end is not, and that no run went on with. Such a version stores one where it names a torn record,
    /// and where it ends a campaign, of which it gives the reason first.
    fn is_as_earlier_version_left(&self) -> bool {
        let state = self.state;
        let has = |code| state.caveats.iter().any(|caveat| caveat.code == code);
        let is_known = self.records.is_empty() || self.began().is_some();
        let is_ending = state.head.is_none() && has(CaveatCode::StoppedEarly);
        let is_stored_again = has(CaveatCode::TornRecord) || is_ending;
        self.loose == 0 && is_known && !is_stored_again
    }

    /// Whether the version that began the campaign bound records. Of one without a record, its end
    /// tells it.
    fn begins_bound(&self) -> bool {
        self.records.first().map_or_else(|| self.is_closed(), |first| first.chain.is_some())
    }
}

fn words_of_attempt(attempt: Option<Attempt>) -> String {
    match attempt {
        None => "not counted".to_owned(),
        Some(Attempt { of_plan, of_question, since_unix_ns }) => format!(
            "{of_plan} at its plan and {of_question} at its question, counted since {since_unix_ns} ns"
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::documents::{OPEN_ENDED_STATE, STATE_FORMAT, UNBOUND_STATE};
    use crate::fixtures::{fingerprint, plan, record};
    use crate::{Campaign, LoadedCampaign, load};
    use model::{Attempt, Binding, Caveat, CaveatCode};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A finished campaign of four records.
    fn finished(results: &Path) -> PathBuf {
        let plan = model::Plan { notes: vec!["planned".to_owned()], ..plan("demo", "digest") };
        let mut campaign = Campaign::create(results, &plan, "title = 1\n", 5, 1).unwrap();
        let attempt = Attempt { of_plan: 4, of_question: 9, since_unix_ns: 3 };
        campaign.note_attempt(attempt).unwrap();
        let digest = campaign.save_fingerprint(&fingerprint("6.12")).unwrap();
        for sequence in 0..4 {
            let mut record = record(sequence, vec![1.0]);
            record.fingerprint.clone_from(&digest);
            campaign.append(&mut record).unwrap();
        }
        campaign.mark_finished().unwrap();
        campaign.directory().to_owned()
    }

    fn edit(directory: &Path, name: &str, change: impl Fn(&mut Value)) {
        let path = directory.join(name);
        let mut document = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        change(&mut document);
        fs::write(path, document.to_string()).unwrap();
    }

    fn remove(document: &mut Value, key: &str) {
        document.as_object_mut().unwrap().remove(key).unwrap();
    }

    /// The records as an earlier version would have written them.
    fn unbind(directory: &Path) {
        let path = directory.join("records.jsonl");
        let unbound = |line: &str| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            remove(&mut record, "chain");
            record["format"] = "schedlab.record/2".into();
            format!("{record}\n")
        };
        let text: String = fs::read_to_string(&path).unwrap().lines().map(unbound).collect();
        fs::write(path, text).unwrap();
    }

    fn told(loaded: &LoadedCampaign) -> String {
        let details: Vec<&str> = loaded.flaws.iter().map(|flaw| flaw.detail.as_str()).collect();
        details.join("\n")
    }

    type Edit = (fn(&Path), &'static str);

    const EDITS: &[Edit] = &[
        (|at| edit(at, "state.json", |state| remove(state, "head")), "does not name its last"),
        (
            |at| edit(at, "state.json", |state| state["state"] = "unfinished".into()),
            "is unfinished, and that it ended with 4 records",
        ),
        (
            |at| {
                edit(at, "state.json", |state| {
                    state["caveats"] = json!([{"code": "STOPPED_EARLY", "detail": "by hand"}]);
                });
            },
            "is finished, and why it was not: by hand",
        ),
        (
            |at| edit(at, "state.json", |state| state["attempt"]["of_plan"] = 1.into()),
            "the attempt is 1 at its plan and 9 at its question, counted since 3 ns, and the first \
             record names 4 at its plan",
        ),
        (
            |at| edit(at, "state.json", |state| remove(state, "attempt")),
            "the attempt is not counted, and the first record names 4",
        ),
        (
            |at| edit(at, "state.json", |state| state["created_unix_ns"] = 6.into()),
            "the time of creation",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["name"] = "another".into()),
            "plan.json: name is `another`, and the first record gives `demo`",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["title"] = "Another question".into()),
            "plan.json: title is `Another question`, and the first record gives ",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["options"] = json!(["--set", "margin=15%"])),
            "plan.json: options is `--set, margin=15%`, and the first record gives absent",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["notes"] = json!(["other"])),
            "plan.json: notes is `other`, and the first record gives `planned`",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["notes"] = json!([])),
            "the number of notes is 0, and was 1",
        ),
        (
            |at| edit(at, "plan.json", |plan| plan["is_pilot"] = true.into()),
            "plan.json: is_pilot is true, and the first record gives false",
        ),
        (
            |at| {
                edit(at, "plan.json", |plan| {
                    plan["is_seed_generated"] = (plan["is_seed_generated"] != true).into();
                });
            },
            "notes, whether the seed was drawn, whether it is a pilot or the order of the blocks are",
        ),
        (
            |at| edit(at, "state.json", |state| state["state"] = "stopped_early".into()),
            "are not those that it ended with",
        ),
        (
            |at| {
                edit(at, "state.json", |state| {
                    state["caveats"] = json!([{"code": "EVIDENCE_UNBOUND", "detail": "by hand"}]);
                });
            },
            "are not those that it ended with",
        ),
        (
            |at| {
                edit(at, "plan.json", |plan| {
                    let empty = json!({"index": 9, "sittings": []});
                    plan["blocks"].as_array_mut().unwrap().push(empty);
                });
            },
            "are not those that it ended with",
        ),
        (
            |at| {
                edit(at, "plan.json", |plan| {
                    plan["notes"].as_array_mut().unwrap().push("block 3 runs again".into());
                });
            },
            "are not those that it ended with",
        ),
        (
            |at| {
                edit(at, "state.json", |state| {
                    remove(&mut state["head"], "end");
                    state["format"] = "schedlab.state/2".into();
                });
            },
            "does not bind the end of the campaign, and the version that began it does",
        ),
        (|at| fs::remove_file(at.join("environment.json")).unwrap(), "environment.json is missing"),
        (unbind, "and state.json says which attempt it is"),
        (
            |at| {
                unbind(at);
                edit(at, "state.json", |state| remove(state, "attempt"));
            },
            "and state.json names the last record",
        ),
        (
            |at| {
                unbind(at);
                edit(at, "state.json", |state| remove(state, "attempt"));
                edit(at, "state.json", |state| remove(state, "head"));
            },
            "and state.json is of a later format",
        ),
    ];

    #[test]
    fn documents_that_contradict_each_other_are_named() {
        for (change, words) in EDITS {
            let results = tempfile::tempdir().unwrap();
            let directory = finished(results.path());
            assert_eq!(load(&directory).unwrap().flaws, []);
            change(&directory);
            let told = told(&load(&directory).unwrap());
            assert!(told.contains(words), "{words}: {told}");
        }
    }

    #[test]
    fn no_known_format_but_that_of_what_it_holds_passes_in_a_plan_or_a_state() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        let documents: [(&str, &[&str], &str); 2] = [
            ("plan.json", &model::PLAN_FORMATS, model::PLAN_FORMAT),
            ("state.json", &crate::documents::STATE_FORMATS, STATE_FORMAT),
        ];
        for (name, known, written) in documents {
            for format in known {
                edit(&directory, name, |document| document["format"] = (*format).into());
                let told = told(&load(&directory).unwrap());
                let words = format!(
                    "{name}: format is {format}, and what it holds is written as {written}"
                );
                let expected = if *format == written { String::new() } else { words };
                assert_eq!(told, expected);
            }
            edit(&directory, name, |document| document["format"] = written.into());
        }
    }

    #[test]
    fn the_look_that_ended_a_campaign_is_bound_with_its_end() {
        let results = tempfile::tempdir().unwrap();
        let planned = model::Plan { looks: vec![6, 10, 16], ..plan("demo", "digest") };
        let mut campaign = Campaign::create(results.path(), &planned, "", 5, 1).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let mut stopped = planned;
        stopped.end_at_look(6);
        campaign.save_plan(&stopped).unwrap();
        campaign.mark_finished().unwrap();
        let directory = campaign.directory().to_owned();
        let loaded = load(&directory).unwrap();
        assert_eq!((loaded.plan.ending_look(), told(&loaded).as_str()), (Some(6), ""));
        let edits: [fn(&mut Value); 2] =
            [|plan| plan["ended_at_look"] = 10.into(), |plan| remove(plan, "ended_at_look")];
        for change in edits {
            let before = fs::read_to_string(directory.join("plan.json")).unwrap();
            edit(&directory, "plan.json", change);
            let told = told(&load(&directory).unwrap());
            assert!(told.contains("the look that ended it are not those"), "{told}");
            fs::write(directory.join("plan.json"), before).unwrap();
        }
    }

    #[test]
    fn blocks_that_ran_again_are_bound_with_the_end() {
        let results = tempfile::tempdir().unwrap();
        let planned = plan("demo", "digest");
        let mut campaign = Campaign::create(results.path(), &planned, "", 5, 1).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        let mut repeating = planned.clone();
        let first = planned.blocks[0].clone();
        repeating.run_again(model::Block { index: 90, ..first }, 0, "told");
        campaign.save_plan(&repeating).unwrap();
        campaign.mark_finished().unwrap();
        let directory = campaign.directory().to_owned();
        assert_eq!(told(&load(&directory).unwrap()), "");
        let edits: [fn(&mut Value); 2] = [
            |plan| plan["repeated_blocks"][0]["runs_again"] = 1.into(),
            |plan| remove(plan, "repeated_blocks"),
        ];
        for change in edits {
            let before = fs::read_to_string(directory.join("plan.json")).unwrap();
            edit(&directory, "plan.json", change);
            let told = told(&load(&directory).unwrap());
            assert!(told.contains("which blocks ran again"), "{told}");
            fs::write(directory.join("plan.json"), before).unwrap();
        }
    }

    #[test]
    fn a_stop_cannot_be_edited_into_an_end() {
        let results = tempfile::tempdir().unwrap();
        let mut campaign =
            Campaign::create(results.path(), &plan("demo", "digest"), "", 5, 1).unwrap();
        campaign.append(&mut record(0, vec![1.0])).unwrap();
        campaign.mark_stopped_early("the budget was used up").unwrap();
        let directory = campaign.directory().to_owned();
        assert_eq!(load(&directory).unwrap().flaws, []);
        edit(&directory, "state.json", |state| {
            state["state"] = "finished".into();
            state["caveats"] = json!([]);
        });
        edit(&directory, "plan.json", |plan| plan["notes"] = json!(["block 2 runs again"]));
        let told = told(&load(&directory).unwrap());
        assert!(told.contains("are not those that it ended with"), "{told}");
    }

    #[test]
    fn the_end_of_an_earlier_version_is_said_to_be_unbound() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        // As a version wrote it that bound records, and not the end.
        let path = directory.join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let mut first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        remove(&mut first["chain"]["beginning"], "binds_end");
        first["format"] = "schedlab.record/3".into();
        let line = format!("{first}\n");
        fs::write(&path, &line).unwrap();
        edit(&directory, "state.json", |state| {
            let digest = crate::chain::line_digest(line.as_bytes());
            state["head"] = json!({"records": 1, "digest": digest});
            state["format"] = "schedlab.state/2".into();
        });
        let loaded = load(&directory).unwrap();
        assert_eq!((told(&loaded).as_str(), loaded.binding), ("", Binding::Checked));
        assert!(loaded.unbound[0].contains("bound neither how it ended"), "{:?}", loaded.unbound);
        let format = |format: &str| {
            edit(&directory, "state.json", |state| state["format"] = format.into());
            told(&load(&directory).unwrap())
        };
        let named = |there: &str, due: &str| {
            format!("state.json: format is {there}, and what it holds is written as {due}")
        };
        let [first, second, third] = [UNBOUND_STATE, OPEN_ENDED_STATE, STATE_FORMAT];
        for other in [first, third] {
            assert_eq!(format(other), named(other, second));
        }
        // A version that binds the end stores it again where it names a torn record.
        edit(&directory, "state.json", |state| {
            state["caveats"] = json!([{"code": "TORN_RECORD", "detail": "line 2"}]);
        });
        assert_eq!([second, third].map(format), ["", ""]);
        // Such a version alone counts runs that go on.
        edit(&directory, "state.json", |state| {
            let run = json!({"boot_id": "", "unix_ns": 6, "records": 1, "digest": ""});
            state["resumptions"] = json!([run]);
        });
        assert_eq!(format(third), "");
        assert_eq!(format(second), named(second, third));
    }

    #[test]
    fn what_a_version_that_binds_the_end_makes_of_a_campaign_of_an_earlier_one_is_written_so() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        // The campaign of a version that bound records, and not the end, before its end came.
        let path = directory.join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let mut first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        remove(&mut first["chain"]["beginning"], "binds_end");
        first["format"] = "schedlab.record/3".into();
        fs::write(&path, format!("{first}\n")).unwrap();
        edit(&directory, "state.json", |state| {
            remove(state, "head");
            state["state"] = "unfinished".into();
            state["format"] = OPEN_ENDED_STATE.into();
        });
        let earlier = fs::read_to_string(directory.join("state.json")).unwrap();
        assert_eq!(told(&load(&directory).unwrap()), "");
        edit(&directory, "state.json", |state| state["format"] = STATE_FORMAT.into());
        let words = "state.json: format is schedlab.state/3, and what it holds is written as \
                     schedlab.state/2";
        assert_eq!(told(&load(&directory).unwrap()), words);
        // One that is killed after it gave the reason of an end, and one that goes on with it.
        let changes: [fn(&mut Campaign); 2] = [
            |campaign| {
                let why = Caveat::new(CaveatCode::StoppedEarly, "by hand");
                campaign.add_caveat(why).unwrap();
            },
            |campaign| {
                campaign.resume("boot", 7, None).unwrap();
            },
        ];
        for change in changes {
            fs::write(directory.join("state.json"), &earlier).unwrap();
            change(&mut Campaign::open(&directory).unwrap());
            let text = fs::read_to_string(directory.join("state.json")).unwrap();
            assert!(text.contains(STATE_FORMAT), "{text}");
            assert_eq!(told(&load(&directory).unwrap()), "");
        }
        edit(&directory, "state.json", |state| state["format"] = OPEN_ENDED_STATE.into());
        assert!(told(&load(&directory).unwrap()).ends_with("is written as schedlab.state/3"));
    }

    #[test]
    fn a_campaign_that_was_made_to_look_unfinished_does_not_end_anew() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        edit(&directory, "state.json", |state| state["state"] = "unfinished".into());
        let path = directory.join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let cut: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
        fs::write(&path, cut).unwrap();
        Campaign::open(&directory).unwrap().mark_stopped_early("by hand").unwrap();
        let told = told(&load(&directory).unwrap());
        assert!(told.contains("the campaign ended with 4 records, and 3 are there"), "{told}");
    }

    #[test]
    fn records_of_an_earlier_version_are_said_to_be_bound_to_nothing() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        assert_eq!(load(&directory).unwrap().unbound, [""; 0]);
        unbind(&directory);
        let earlier = json!({
            "format": "schedlab.state/1", "created_unix_ns": 5, "state": "unfinished", "caveats": []
        });
        fs::write(directory.join("state.json"), earlier.to_string()).unwrap();
        let is_said = || {
            let loaded = load(&directory).unwrap();
            assert_eq!(told(&loaded), "");
            assert_eq!(loaded.binding, Binding::Absent);
            assert!(
                loaded.unbound[0].contains("no record is bound, neither"),
                "{:?}",
                loaded.unbound
            );
            let has = |code| loaded.caveats.iter().any(|caveat| caveat.code == code);
            assert!(has(CaveatCode::EvidenceUnbound), "{:?}", loaded.caveats);
        };
        is_said();
        for format in model::PLANS_BEFORE_BINDING {
            edit(&directory, "plan.json", |plan| plan["format"] = format.into());
            is_said();
        }
        // What ends it now binds nothing that was written before.
        Campaign::open(&directory).unwrap().mark_stopped_early("by hand").unwrap();
        is_said();
    }

    #[test]
    fn a_campaign_that_an_earlier_version_began_is_not_bound_as_a_whole() {
        let results = tempfile::tempdir().unwrap();
        let directory = finished(results.path());
        unbind(&directory);
        let earlier = json!({
            "format": "schedlab.state/1", "created_unix_ns": 5, "state": "unfinished", "caveats": []
        });
        fs::write(directory.join("state.json"), earlier.to_string()).unwrap();
        let mut campaign = Campaign::open(&directory).unwrap();
        let mut last = record(4, vec![1.0]);
        last.fingerprint.clear();
        campaign.append(&mut last).unwrap();
        campaign.mark_finished().unwrap();
        let loaded = load(&directory).unwrap();
        assert_eq!((told(&loaded).as_str(), loaded.binding), ("", Binding::Absent));
        assert!(loaded.unbound[0].contains("4 of 5 records"), "{:?}", loaded.unbound);
    }
}
