//! Records of small campaigns that somebody edited, and what a reader tells of them where a
//! schedule seldom comes: records that are bound to nothing, another plan, many flaws, and imports.

use crate::stored_campaign::{StoredCampaign, plan, record};
use model::{Binding, Caveat, CaveatCode, ImportedDesign, ImportedOrder, Plan, Record};
use store::HeldRecords;

/// The text of a record's length that nobody measured.
const LENGTH: &str = "\"duration_ns\":0,";
/// The same when somebody changed it.
const OTHER_LENGTH: &str = "\"duration_ns\":7,";
/// Records of an import.
const IMPORTED: u32 = 6;

/// A line without what binds it.
fn loose(line: &str) -> String {
    let (before, _) = line.split_once(",\"chain\":").unwrap();
    format!("{before}}}\n")
}

/// A campaign of three records, of which this line is bound to nothing any more.
fn with_loose_line(at: usize) -> StoredCampaign {
    let campaign = StoredCampaign::with_records(3, true);
    let mut lines = campaign.lines();
    lines[at] = loose(&lines[at]);
    campaign.edit("records.jsonl", lines.concat());
    campaign
}

#[test]
fn a_record_that_is_bound_to_nothing_is_told_and_one_of_an_earlier_version_is_not() {
    for at in [0, 1] {
        let campaign = with_loose_line(at);
        let line = at + 1;
        let wanted = format!(
            "the record in line {line} (block 1, baseline, wakeup) is not bound to the record \
             before it"
        );
        let told = campaign.told();
        assert!(told.contains(&wanted), "{told:?}");
        let loaded = campaign.load();
        assert_eq!(loaded.binding, Binding::Absent);
        let caveat = Caveat::new(CaveatCode::EvidenceUnbound, "1 of 3 records");
        assert!(loaded.caveats.contains(&caveat), "{:?}", loaded.caveats);
    }
    let campaign = with_loose_line(0);
    campaign.replace("records.jsonl", model::RECORD_FORMAT, "schedlab.record/2");
    let told = campaign.told().join("\n");
    assert!(!told.contains("is not bound to"), "{told}");
}

#[test]
fn another_plan_is_told_once_and_by_both_digests() {
    let campaign = StoredCampaign::with_records(4, true);
    campaign.replace("plan.json", "\"seed\": 1,", "\"seed\": 2,");
    let begin = "plan.json is not the plan that the records were made by: its digest is ";
    let told = campaign.told();
    let told: Vec<&str> = told.iter().filter_map(|flaw| flaw.strip_prefix(begin)).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let between = ", and the record in line 1 (block 1, baseline, wakeup) names ";
    let (there, named) = told[0].split_once(between).unwrap();
    assert_ne!(there, named);
    for digest in [there, named] {
        assert_eq!(digest.len(), 12, "{digest}");
        assert!(digest.bytes().all(|digit| digit.is_ascii_hexdigit()), "{digest}");
    }
}

#[test]
fn of_many_flaws_the_first_are_told_and_the_others_are_counted() {
    let campaign = StoredCampaign::with_records(24, false);
    let lines: Vec<String> = campaign.lines().into_iter().rev().collect();
    campaign.edit("records.jsonl", lines.concat());
    let told = campaign.told();
    assert_eq!(told.len(), 21, "{told:?}");
    assert_eq!(told[20], "4 more flaws of the records are not told one by one");
    let name = "the record in line 20 (block 3, baseline, wakeup)";
    assert_eq!(told[19], format!("{name} is not where it was written"));
    assert_eq!(campaign.load().broken_links.len(), 20);
}

#[test]
fn a_last_record_that_is_another_is_not_told_as_lost() {
    let campaign = StoredCampaign::with_records(4, true);
    let mut lines = campaign.lines();
    assert!(lines[3].contains(LENGTH), "{}", lines[3]);
    lines[3] = lines[3].replacen(LENGTH, OTHER_LENGTH, 1);
    lines.remove(1);
    campaign.edit("records.jsonl", lines.concat());
    let ended = "the campaign ended with 4 records, and 3 are there".to_owned();
    let told = campaign.told();
    assert!(told.contains(&ended), "{told:?}");
}

/// An import of records with these numbers of their rows.
fn import(design: ImportedDesign, numbers: &[u64]) -> StoredCampaign {
    let from = fixtures::imported(design, ImportedOrder::Rows);
    let mut plan = Plan { imported: Some(from), ..plan(3) };
    plan.oldest_format().clone_into(&mut plan.format);
    StoredCampaign::of(plan, |campaign| {
        let numbered = |(place, number): (u32, &u64)| Record { sequence: *number, ..record(place) };
        let records: Vec<Record> = (0..).zip(numbers).map(numbered).collect();
        let stored = campaign.append_all(&records).unwrap();
        campaign.mark_finished().unwrap();
        let held = format!("{:?}", HeldRecords::new(records, stored));
        assert!(
            held.contains("CampaignBeginning"),
            "the first one says what it is bound to: {held}"
        );
    })
}

#[test]
fn broken_links_of_an_import_are_told_by_digests_and_without_blocks_where_it_has_none() {
    let unblocked = ImportedDesign::Unblocked { dimensions: Vec::new(), fixed: Vec::new() };
    for design in [ImportedDesign::Blocked, unblocked] {
        let is_blocked = design == ImportedDesign::Blocked;
        let numbers: Vec<u64> = (0..u64::from(IMPORTED)).map(|number| number * 3).collect();
        let campaign = import(design, &numbers);
        assert_eq!(campaign.told(), [""; 0]);
        assert_eq!(campaign.load().records.len(), IMPORTED as usize);
        let lines = campaign.lines();
        let told = |order: &[usize]| {
            let text: String = order.iter().map(|at| lines[*at].as_str()).collect();
            campaign.edit("records.jsonl", text);
            let mut told = campaign.told();
            told.retain(|flaw| flaw.starts_with("the record in") || flaw.starts_with("what the"));
            told
        };
        let name = |line: usize, place: usize| {
            let block =
                if is_blocked { format!("block {}, ", place / 2 + 1) } else { String::new() };
            format!("the record in line {line} ({block}baseline, wakeup)")
        };
        let apart = |line: usize, place: usize| {
            format!(
                "{} does not follow the record that it was written after, which stands elsewhere",
                name(line, place)
            )
        };
        assert_eq!(
            told(&[0, 1, 3, 4, 5]),
            [format!("what {} was written after was changed, or is missing", name(3, 3))]
        );
        assert_eq!(told(&[0, 1, 3, 2, 4, 5]), [apart(3, 3), apart(4, 2), apart(5, 4)]);
        let not_first = format!("{} is not where it was written", name(2, 0));
        assert_eq!(told(&[1, 0, 2, 3, 4, 5]), [apart(1, 1), not_first, apart(3, 2)]);
        campaign.edit("records.jsonl", lines.concat());
        campaign.edit("import.toml", "other".to_owned());
        let other =
            format!("{} was made from another text than that which lies beside it", name(1, 0));
        assert_eq!(campaign.told(), [other]);
    }
}

#[test]
fn records_that_an_import_lacks_at_its_end_are_named_where_their_numbers_are_no_rows() {
    let behind = ": the last 4, numbers 3 to 6, are missing";
    for (rows, words) in [(1, behind), (3, "")] {
        let numbers: Vec<u64> = (0..u64::from(IMPORTED)).map(|number| number * rows).collect();
        let campaign = import(ImportedDesign::Blocked, &numbers);
        campaign.edit("records.jsonl", campaign.lines()[..2].concat());
        let ended = format!("the campaign ended with 6 records, and 2 are there{words}");
        let told = campaign.told();
        assert!(told.contains(&ended), "{told:?}");
        let all = "6 records were stored at once, and 2 are there".to_owned();
        assert!(told.contains(&all), "{told:?}");
    }
}
