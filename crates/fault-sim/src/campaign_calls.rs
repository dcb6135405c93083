//! What the calls of an open campaign promise, on a simulated machine: what each keeps is there
//! when the campaign is read, and what it refuses says what to do.

use crate::faults::Faults;
use crate::machine::{DATA, SimulatedMachine};
use crate::stored_campaign::{MOMENT, StoredCampaign, plan, record, results};
use contract::{ErrorKind, Result};
use model::{
    Attempt, Block, Caveat, CaveatCode, DOCUMENT_BYTES, Fingerprint, Histogram, RECORD_BUCKETS,
    RECORD_VALUES, Record, Resumption, Sample,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use store::{Attempts, Campaign, CampaignState, failed, load_on};

/// More operations than opening, or making, a campaign without faults takes.
const OPERATIONS: u64 = 60;
/// What a simulated disk has left, in bytes.
const FREE_BYTES: u64 = 1 << 40;
/// Numbers of two bytes in a list that no version writes: 480 bytes are reckoned for each, of which 16
/// MB are free and 20 for each byte.
const LISTED: usize = 50_000;
/// Values that fill thousands of buckets of a histogram.
const COUNTED_VALUES: u64 = 100_000;

fn fingerprint(release: &str) -> Fingerprint {
    Fingerprint(BTreeMap::from([("kernel.release".to_owned(), release.to_owned())]))
}

fn attempts(machine: &SimulatedMachine) -> Attempts {
    Attempts::on(machine.files(), &Path::new(DATA).join("state"))
}

/// A campaign that is made in this directory by a process to which this happens.
fn made(machine: &SimulatedMachine, results: &Path, faults: Faults) -> Result<Campaign> {
    machine.begin_process(faults);
    let made = Campaign::create_on(machine.files(), results, Cow::Owned(plan(1)), "text", MOMENT);
    machine.end_process();
    made
}

#[test]
fn a_campaign_tells_where_it_lies_and_how_a_machine_differs_from_its_own() {
    let stored = StoredCampaign::of(plan(1), |campaign| {
        let other = fingerprint("other");
        assert_eq!(campaign.fingerprint_difference(&other), other.0, "there is none yet");
        let digest = campaign.save_fingerprint(&fingerprint("own")).unwrap();
        assert_eq!(digest, store::fingerprint_digest(&fingerprint("own")));
        assert_eq!(campaign.save_fingerprint(&other).unwrap(), digest, "the first one stays");
        assert_eq!(campaign.fingerprint_difference(&other), other.0);
        assert_eq!(campaign.fingerprint_difference(&fingerprint("own")), BTreeMap::new());
        let directory = results().join("test-19700101-000000-0001");
        assert_eq!(campaign.directory(), directory);
        assert_eq!(campaign.logs(), directory.join("logs"));
        assert_eq!(campaign.traces(), directory.join("traces"));
        assert_eq!(campaign.record_count(), 0);
        assert_eq!(*campaign.shared_plan(), plan(1));
    });
    assert_eq!(stored.load().environment, Some(fingerprint("own")));
}

#[test]
fn what_is_noted_of_a_campaign_is_there_when_it_is_read() {
    let attempt = Attempt { of_plan: 2, of_question: 3, since_unix_ns: 4 };
    let stored = StoredCampaign::of(plan(1), |campaign| {
        campaign.note_attempt(attempt).unwrap();
        campaign.append(&mut record(0)).unwrap();
        let mut longer = campaign.plan().clone();
        let sittings = longer.blocks[0].sittings.clone();
        longer.blocks.push(Block { index: 1, sittings });
        campaign.save_plan(&longer).unwrap();
        campaign.mark_stopped_early("nobody needs more").unwrap();
    });
    let loaded = stored.load();
    assert_eq!(loaded.attempt, Some(attempt));
    assert_eq!(loaded.plan.blocks.len(), 2);
    assert_eq!(loaded.state, CampaignState::StoppedEarly);
    let reason = Caveat::new(CaveatCode::StoppedEarly, "nobody needs more");
    assert_eq!(loaded.caveats, [reason]);
    assert_eq!(stored.told(), [""; 0]);
}

#[test]
fn a_campaign_is_discarded_with_all_that_was_made_for_it_unless_it_has_a_record() {
    let machine = SimulatedMachine::new(1, false);
    made(&machine, &results(), Faults::default()).unwrap().discard().unwrap();
    assert_eq!(machine.state().disk.node(&results()), None);
    let stored = StoredCampaign::with_records(1, false);
    let error = stored.open().discard().unwrap_err();
    assert_eq!(error.cause, "it holds 1 record");
    assert_eq!(stored.load().records.len(), 1);
}

#[test]
fn a_torn_record_is_cut_off_and_told_once_for_good() {
    let stored = StoredCampaign::with_records(2, false);
    let whole = stored.text("records.jsonl");
    for _ in 0..2 {
        stored.edit("records.jsonl", format!("{whole}{}", &whole[..40]));
        let torn = "line 3 of records.jsonl ended after 40 bytes and was dropped";
        let unbound = stored.load().unbound;
        assert_eq!(unbound, [format!("the record after number 2 is torn: {torn}")]);
        assert_eq!(stored.open().record_count(), 2);
        assert_eq!(stored.text("records.jsonl"), whole);
        let loaded = stored.load();
        assert_eq!(loaded.caveats, [Caveat::new(CaveatCode::TornRecord, torn)]);
        assert_eq!(loaded.unbound, [""; 0]);
    }
}

#[test]
fn zeros_tear_the_last_line_although_it_has_its_end_and_break_every_other_one() {
    let stored = StoredCampaign::with_records(2, false);
    let lines = stored.lines();
    stored.edit("records.jsonl", format!("{}half\0\n", lines.concat()));
    let torn = "line 3 of records.jsonl ended after 6 bytes and was dropped";
    assert_eq!(stored.load().caveats, [Caveat::new(CaveatCode::TornRecord, torn)]);
    assert_eq!(stored.open().record_count(), 2);
    assert_eq!(stored.lines(), lines);
    for (at, text) in [
        (1, format!("half\0\n{}", lines.concat())),
        (2, format!("{}{{}}\n{}", lines[0], lines[1])),
        (3, format!("{}{}{{}}\n", lines[0], lines[1])),
    ] {
        stored.edit("records.jsonl", text);
        let error = load_on(&*stored.machine.files(), &stored.directory).unwrap_err();
        let records = stored.directory.join("records.jsonl");
        let attempted = format!("cannot understand line {at} of {}", records.display());
        assert_eq!(error.attempted, attempted);
    }
}

#[test]
fn empty_lines_are_told_by_their_numbers_and_no_record_is_read_for_them() {
    let stored = StoredCampaign::with_records(3, false);
    let [one, two, three]: [String; 3] = stored.lines().try_into().unwrap();
    for (text, which) in [
        (format!("\n{one}{two}{three}"), "line 1 is"),
        (format!("{one}\n{two}{three}"), "line 2 is"),
        (format!("{one}{two}\n \t\n{three}"), "lines 3 to 4 are"),
    ] {
        stored.edit("records.jsonl", text);
        let error = load_on(&*stored.machine.files(), &stored.directory).unwrap_err();
        assert_eq!(error.cause, format!("{which} empty, and each line holds a record"));
    }
}

#[test]
fn records_that_list_more_than_their_bytes_allow_are_refused_with_the_last_line_that_was_read() {
    let stored = StoredCampaign::with_records(2, false);
    let last = stored.lines().remove(1);
    let listed = vec!["0"; LISTED].join(",");
    stored.edit("records.jsonl", format!("{{\"other\":[{listed}]}}\n{last}"));
    let error = load_on(&*stored.machine.files(), &stored.directory).unwrap_err();
    let records = stored.directory.join("records.jsonl");
    assert_eq!(error.attempted, format!("cannot understand line 2 of {}", records.display()));
    assert!(error.cause.contains("(limit CAMPAIGN_EXPANSION)"), "{error:?}");
}

#[test]
fn a_run_that_goes_on_is_named_by_the_state_and_by_the_first_record_that_it_stores() {
    let stored = StoredCampaign::with_records(2, false);
    let last = stored.load().digests[1].to_string();
    let mut campaign = stored.open();
    assert_eq!(campaign.resume("boot", 9, None).unwrap(), None);
    campaign.append(&mut record(2)).unwrap();
    campaign.append(&mut record(3)).unwrap();
    campaign.mark_finished().unwrap();
    drop(campaign);
    let loaded = stored.load();
    let boot_id = "boot".to_owned();
    let wanted = Resumption { boot_id, unix_ns: 9, records: 2, digest: last, known: None };
    assert_eq!(loaded.resumptions, [wanted]);
    let is_named =
        |record: &Record| record.chain.as_ref().is_some_and(|chain| chain.resumption.is_some());
    let named: Vec<bool> = loaded.records.iter().map(is_named).collect();
    assert_eq!(named, [false, false, true, false]);
    assert_eq!(stored.told(), [""; 0]);
}

#[test]
fn records_that_the_machine_knew_are_missed_by_the_run_that_goes_on() {
    let stored = StoredCampaign::with_records(3, false);
    let attempts = attempts(&stored.machine);
    stored.open().keep_count(&attempts).unwrap();
    stored.edit("records.jsonl", stored.lines()[..2].concat());
    let mut campaign = stored.open();
    assert_eq!(campaign.resume("boot", 9, Some(&attempts)).unwrap(), Some(3));
    campaign.append(&mut record(2)).unwrap();
    drop(campaign);
    let told = "records were removed before a run went on: the machine knew 3, and 2 were there";
    assert_eq!(stored.told(), [told]);
}

#[test]
fn a_campaign_that_was_counted_and_that_the_count_lacks_is_named() {
    let attempt = Attempt { of_plan: 1, of_question: 1, since_unix_ns: 4 };
    let stored = StoredCampaign::of(plan(1), |campaign| campaign.note_attempt(attempt).unwrap());
    let attempts = attempts(&stored.machine);
    let error = attempts.count(&plan(1), (&results(), "another"), 9).unwrap_err().to_string();
    let begin = "it does not know test-19700101-000000-0001, which was counted and lies in ";
    assert!(error.starts_with(begin), "{error}");
}

#[test]
fn a_campaign_that_was_made_to_look_unfinished_keeps_the_end_that_it_had() {
    let stored = StoredCampaign::with_records(2, true);
    stored.replace("state.json", "\"state\": \"finished\"", "\"state\": \"unfinished\"");
    let mut campaign = stored.open();
    campaign.append(&mut record(2)).unwrap();
    campaign.mark_finished().unwrap();
    drop(campaign);
    let ended = "the campaign ended with 2 records, and 3 are there".to_owned();
    let told = stored.told();
    assert!(told.contains(&ended), "{told:?}");
}

#[test]
fn space_that_was_reserved_is_there_when_the_disk_is_full_and_none_is_refused_before_a_trial() {
    let stored = StoredCampaign::with_records(1, false);
    let mut campaign = stored.open();
    stored.machine.begin_process(Faults::full());
    let full = campaign.reserve(64 << 10).unwrap_err();
    stored.machine.begin_process(Faults::default());
    campaign.reserve(64 << 10).unwrap();
    stored.machine.begin_process(Faults::full());
    campaign.append(&mut record(1)).unwrap();
    stored.machine.end_process();
    assert_eq!(full.kind, ErrorKind::Environment);
    assert!(full.remedy.starts_with("free space on that file system"), "{full:?}");
    drop(campaign);
    assert_eq!(stored.load().records.len(), 2);
}

#[test]
fn where_nothing_can_be_reserved_the_free_space_decides() {
    let stored = StoredCampaign::with_records(1, false);
    let mut campaign = stored.open();
    let mut reserved = |bytes: u64, number: i32| {
        stored.machine.begin_process(Faults::failing_with(1, number));
        let reserved = campaign.reserve(bytes);
        stored.machine.end_process();
        reserved
    };
    for number in [libc::EOPNOTSUPP, libc::ENOSYS, libc::EINVAL] {
        assert!(reserved(1, number).is_ok());
        assert!(reserved(FREE_BYTES, number).is_ok());
        let full = reserved(FREE_BYTES + 1, number).unwrap_err();
        assert!(full.remedy.starts_with("free space on that file system"), "{full:?}");
    }
    assert!(reserved(1, libc::EIO).is_err());
}

#[test]
fn what_is_no_number_or_too_much_for_a_record_is_refused_and_costs_no_other_record() {
    let quotient = |numerator, denominator| Sample::quotient("rate", numerator, denominator);
    let most = usize::try_from(RECORD_VALUES.most).unwrap();
    let no_number = "a value of rate is not a number";
    for (sample, cause) in [
        (Sample::values("rate", vec![1.0, f64::NAN]), no_number),
        (quotient(f64::INFINITY, 1.0), no_number),
        (quotient(1.0, f64::NAN), no_number),
        (Sample::values("rate", vec![0.0; most + 1]), "(limit RECORD_VALUES)"),
    ] {
        let stored = StoredCampaign::of(plan(1), |campaign| {
            let mut refused = record(0);
            refused.invocations = vec![fixtures::invocation(vec![sample])].into();
            let error = campaign.append(&mut refused).unwrap_err();
            let attempted = "cannot store the record of wakeup for baseline in block 0";
            assert_eq!(error.attempted, attempted);
            assert!(error.cause.contains(cause), "{error:?}");
            assert!(campaign.append_all(&[record(0), refused]).is_err());
            campaign.append(&mut record(0)).unwrap();
        });
        assert_eq!(stored.load().records.len(), 1);
        assert_eq!(stored.told(), [""; 0]);
    }
}

#[test]
fn a_record_with_more_filled_buckets_than_are_read_is_refused_and_costs_no_other_record() {
    let mut histogram = Histogram::new();
    (1..=COUNTED_VALUES).for_each(|value| histogram.record(value));
    histogram.shrink();
    let most = RECORD_BUCKETS.most / histogram.buckets().count() as u64;
    let with_histograms = |count: u64| {
        let samples = (0..count).map(|_| Sample::histogram("delay", histogram.clone())).collect();
        let mut filled = record(0);
        filled.invocations = vec![fixtures::invocation(samples)].into();
        filled
    };
    let stored = StoredCampaign::of(plan(1), |campaign| {
        let error = campaign.append(&mut with_histograms(most + 1)).unwrap_err();
        assert!(error.cause.contains("(limit RECORD_BUCKETS)"), "{error:?}");
        campaign.append(&mut with_histograms(1)).unwrap();
    });
    assert_eq!(stored.load().records.len(), 1);
    assert_eq!(stored.told(), [""; 0]);
}

#[test]
fn a_document_of_a_format_that_is_not_known_is_refused_with_both_formats() {
    let stored = StoredCampaign::with_records(1, false);
    stored.replace("state.json", "schedlab.state/3", "schedlab.state/99");
    let error = Campaign::open_on(stored.machine.files(), &stored.directory).unwrap_err();
    let cause = "its format is `schedlab.state/99`, this program reads `schedlab.state/3`, ";
    assert!(error.cause.starts_with(cause), "{error:?}");
}

#[test]
fn a_document_may_be_as_long_as_its_limit_and_no_longer() {
    let stored = StoredCampaign::with_records(1, false);
    let text = stored.text("state.json");
    let begin = text.trim_end().strip_suffix('}').unwrap();
    let most = usize::try_from(DOCUMENT_BYTES.most).unwrap();
    for (length, is_read) in [(most, true), (most + 1, false)] {
        let blanks = " ".repeat(length - begin.len() - 1);
        stored.edit("state.json", format!("{begin}{blanks}}}"));
        let opened = Campaign::open_on(stored.machine.files(), &stored.directory);
        assert_eq!(opened.is_ok(), is_read, "{length} bytes");
    }
}

#[test]
fn directories_that_are_made_for_a_campaign_survive_a_cut_of_power_with_it() {
    let deep = Path::new(DATA).join("of/many/results");
    for seed in 0..20 {
        let machine = SimulatedMachine::new(seed, false);
        let mut campaign = made(&machine, &deep, Faults::default()).unwrap();
        campaign.append(&mut record(0)).unwrap();
        let directory = campaign.directory().to_owned();
        drop(campaign);
        machine.lose_power();
        let loaded = load_on(&*machine.files(), &directory);
        assert_eq!(loaded.unwrap().records.len(), 1, "{seed}");
    }
}

#[test]
fn only_a_directory_of_somebody_else_above_the_results_need_not_be_synced() {
    // The operation that fails, and whether the results are there.
    for (number, is_there, wanted) in [
        (libc::EACCES, true, 1),
        (libc::EIO, true, 0),
        (libc::EACCES, false, 0),
        (libc::EIO, false, 0),
    ] {
        let passed = (1..=OPERATIONS).filter(|at| {
            let machine = SimulatedMachine::new(1, false);
            if is_there {
                machine.state().disk.make_directory(&results()).unwrap();
            }
            let created = made(&machine, &results(), Faults::failing_with(*at, number));
            created.is_ok() && machine.state().failures > 0
        });
        assert_eq!(passed.count(), wanted, "errno {number}, {is_there}");
    }
}

#[test]
fn the_remedy_of_an_operation_that_fails_is_that_of_its_error() {
    let space = "free space on that file system, then give the same command: a run resumes";
    let place = "look who put it there; give a file, or bring it back from a copy";
    let from = io::Error::from_raw_os_error;
    for (error, remedy) in [
        (from(libc::ENOSPC), space),
        (from(libc::EDQUOT), space),
        (
            from(libc::EFBIG),
            "raise the file size limit (ulimit -f), then give the same command: a run resumes",
        ),
        (from(libc::EACCES), "choose a results directory that you may write"),
        (from(libc::EROFS), "choose a results directory that you may write"),
        (from(libc::EEXIST), "give another name, or remove that one first"),
        (from(libc::EISDIR), "it is a directory: give the name of a file in it"),
        (from(libc::EINVAL), ""),
        (from(libc::EIO), ""),
        (io::Error::new(io::ErrorKind::InvalidInput, "it is a socket"), place),
    ] {
        let told = failed("write", Path::new("/x"), &error);
        assert_eq!(told.remedy, remedy, "{error}");
        assert_eq!(told.attempted, "cannot write /x");
    }
}

#[test]
fn what_cannot_be_made_or_written_where_it_should_lie_is_told_with_another_place() {
    let directory = "make the directory that it is to lie in, or give another path";
    let file = "it is a directory: give the name of a file in it";
    for (action, number, remedy) in [
        ("create", libc::ENOENT, directory),
        ("create", libc::ENOTDIR, directory),
        ("write", libc::ENOENT, directory),
        ("write", libc::ENOTDIR, directory),
        ("open", libc::ENOENT, ""),
        ("open", libc::ENOTDIR, ""),
        ("write", libc::EISDIR, file),
        ("open", libc::EISDIR, ""),
    ] {
        let told = failed(action, Path::new("/x"), &io::Error::from_raw_os_error(number));
        assert_eq!(told.remedy, remedy, "{action}, errno {number}");
    }
    let ours = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
    let told = failed("write", Path::new("/x"), &ours);
    assert!(told.remedy.starts_with("look who put it there"), "{told:?}");
}

#[test]
fn records_that_may_not_be_read_are_told_with_what_helps() {
    let stored = StoredCampaign::with_records(1, false);
    let refused = |number: i32| {
        let remedies = (1..=OPERATIONS).filter_map(|at| {
            stored.machine.begin_process(Faults::failing_with(at, number));
            let loaded = load_on(&*stored.machine.files(), &stored.directory);
            stored.machine.end_process();
            loaded.err().map(|error| error.remedy)
        });
        remedies.collect::<Vec<_>>()
    };
    let remedy = "read it as the user who ran the campaign, or have them let you read it";
    let told = refused(libc::EACCES);
    assert!(told.len() > 3 && told.iter().all(|told| told == remedy), "{told:?}");
    for number in [libc::EISDIR, libc::EINVAL] {
        let told = refused(number);
        assert!(told.len() > 3 && told.iter().all(String::is_empty), "{told:?}");
    }
}

#[test]
fn a_record_whose_storing_failed_is_stored_once_by_the_next_try_whichever_operation_failed() {
    type Storing = fn(&mut Campaign) -> Result<()>;
    let one: Storing = |campaign| campaign.append(&mut record(0));
    let all: Storing = |campaign| campaign.append_all(&[record(0)]).map(drop);
    for store in [one, all] {
        let mut failures = 0;
        for at in 1..=OPERATIONS {
            let stored = StoredCampaign::of(plan(1), |_| ());
            let mut campaign = stored.open();
            stored.machine.begin_process(Faults::failing_with(at, libc::EIO));
            let is_stored = store(&mut campaign).is_ok();
            stored.machine.begin_process(Faults::default());
            if !is_stored {
                failures += 1;
                assert_eq!(stored.text("records.jsonl"), "", "operation {at}");
                store(&mut campaign).unwrap();
            }
            stored.machine.end_process();
            drop(campaign);
            assert_eq!(stored.load().records.len(), 1, "operation {at}");
            assert_eq!(stored.told(), [""; 0], "operation {at}");
        }
        // It is written, synced, and its name is.
        assert!(failures >= 3, "{failures} operations failed");
    }
}
