//! Running a campaign from its plan to its findings.

use crate::pacing::{Clock, Pacing};
use crate::schedule::{Schedule, awaits_boot, is_hopeless};
use contract::{Error, ErrorKind, Event, Interrupt, Missing, Result, Venue, VenueSession};
use model::{Caveat, Findings, Plan, Record, STOPPED_AT_LOOK, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use store::{Attempts, Campaign, CampaignState};

/// Space set aside before a trial: more than any record of ours takes.
const RECORD_SPACE: u64 = 8 << 20;

/// What to run, and where.
pub struct Order<'a> {
    /// Directory of all campaigns.
    pub results: &'a Path,
    /// The plan.
    pub plan: &'a Plan,
    /// The experiment's text, kept beside the records.
    pub experiment: &'a str,
    /// Where trials run.
    pub venue: &'a dyn Venue,
    /// The wish to stop.
    pub interrupt: &'a Interrupt,
    /// Start anew even where a campaign could go on.
    pub is_fresh: bool,
    /// Civil time, for the directory's name.
    pub unix_ns: u64,
    /// Four hexadecimal digits of the directory's name.
    pub unique: u16,
    /// Where campaigns are counted; none are where it is absent.
    pub attempts: Option<Attempts>,
    /// Clients of the dashboard since the last call, if there were any: a record says so.
    pub watched: &'a dyn Fn() -> Option<Caveat>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The campaign's directory.
    pub directory: PathBuf,
    /// The signal that ended it, if one did; the campaign can go on.
    pub signal: Option<i32>,
    /// Which of its boots ended, counted from 1, where it goes on in another.
    pub awaits_boot: Option<u32>,
}

/// Runs a campaign, or goes on with one.
///
/// # Errors
/// When the venue lacks something (nothing has been changed then), when a record
/// cannot be stored, or when something could not be put back.
pub fn run(order: &Order<'_>, on_event: &mut dyn FnMut(Event)) -> Result<Ended> {
    let clock = Clock::since(order.unix_ns);
    // Before anything is judged: a CPU left offline would look like a missing one.
    for line in order.venue.recover()? {
        on_event(Event::Notice(format!("put back what an earlier run left: {line}")));
    }
    refuse_missing(order.venue, order.plan)?;
    let mut campaign = open_campaign(order, on_event)?;
    let directory = campaign.directory().to_owned();
    // A relative directory would mean another place to the guardian.
    let workspace = std::path::absolute(&directory).map_err(|error| {
        Error::environment(format!("cannot find {}", directory.display()), error)
    })?;
    tracing::debug!(directory = %workspace.display(), records = campaign.record_count(), "campaign");
    on_event(Event::CampaignOpened { directory: workspace.clone() });
    let is_new = campaign.record_count() == 0;
    let opened = order.venue.open(campaign.plan(), &workspace, order.interrupt, on_event);
    let mut session = match opened {
        Ok(session) => session,
        Err(error) if is_new => {
            // Nothing ran, so nothing of it should be found later as the last
            // campaign; an empty one that stays does no harm, the reason must be told.
            let _ = campaign.discard();
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    if is_new {
        count_attempt(order, &mut campaign, on_event)?;
    }
    let outcome = run_blocks(order, clock, &mut campaign, session.as_mut(), on_event);
    // Of a new one it was said when it was not counted.
    if let Err(error) = keep_count(order, &campaign)
        && !is_new
    {
        let why = error.one_line();
        on_event(Event::Notice(format!("the number of records is not remembered: {why}")));
    }
    let closed = session.close();
    let (signal, awaits_boot) = match (outcome, closed) {
        (_, Err(error)) => return Err(error),
        (Err(error), Ok(())) if error.kind == ErrorKind::Interrupted => {
            (order.interrupt.signal(), None)
        }
        (Err(error), Ok(())) => return Err(error),
        (Ok(awaits_boot), Ok(())) => (None, awaits_boot),
    };
    let goes_on = signal.is_some() || awaits_boot.is_some();
    if !goes_on && campaign.state() == CampaignState::Unfinished {
        campaign.mark_finished()?;
    }
    let records = store::load(&directory)?.records;
    on_event(Event::CampaignFinished {
        trials: records.len(),
        last: records.last().map(|record| record.outcome.clone()),
    });
    Ok(Ended { directory, signal, awaits_boot })
}

/// Judges the records of a campaign that was loaded and stores the findings in its directory. Its
/// records are not written, so they may be where nobody can write them.
///
/// # Errors
/// When the campaign is open elsewhere or the findings cannot be stored.
pub fn judge(loaded: &store::LoadedCampaign) -> Result<Findings> {
    let findings = judge_records(loaded);
    store::save_findings(&loaded.directory, &findings)?;
    Ok(findings)
}

/// Judges records that were loaded; nothing is written. A campaign that can still go on
/// has no verdict yet.
pub fn judge_records(loaded: &store::LoadedCampaign) -> Findings {
    qualified(verdicts(loaded), loaded)
}

/// Findings of records, qualified by what the other files of their campaign say: levels that differ
/// beside those that were set, and evidence that is not as it was written.
pub fn qualified(mut findings: Findings, loaded: &store::LoadedCampaign) -> Findings {
    // Imported numbers come from machines that nobody knows.
    if let Some(environment) = &loaded.environment {
        analysis::name_confounders(&mut findings, &loaded.plan, &loaded.records, environment);
    }
    analysis::withhold(&mut findings, &loaded.plan, &loaded.flaws);
    findings
}

fn verdicts(loaded: &store::LoadedCampaign) -> Findings {
    if loaded.state == CampaignState::Unfinished {
        return analysis::live(&loaded.plan, &loaded.records);
    }
    // Imported numbers were collected before anybody could stop.
    if loaded.state == CampaignState::StoppedEarly && loaded.plan.imported.is_none() {
        return analysis::ended(&loaded.plan, &loaded.records);
    }
    analysis::judge(&loaded.plan, &loaded.records)
}

fn refuse_missing(venue: &dyn Venue, plan: &Plan) -> Result<()> {
    let missing = venue.missing(plan);
    if missing.is_empty() {
        return Ok(());
    }
    let line = |missing: &Missing| {
        let remedy =
            if missing.remedy.is_empty() { String::new() } else { format!("; {}", missing.remedy) };
        format!("{}: {}{remedy}", missing.what, missing.why)
    };
    let refusal = Error::unsupported(
        format!("cannot run {} on the venue {}", plan.name, venue.describe().id),
        if missing.len() == 1 { "one thing is missing:" } else { "some things are missing:" },
        "nothing was changed and nothing ran; `schedlab doctor` shows what this machine can do",
    );
    Err(refusal.with_list(missing.iter().map(line)))
}

/// The newest campaign that can go on, or a new one, saying why.
fn open_campaign(order: &Order<'_>, on_event: &mut dyn FnMut(Event)) -> Result<Campaign> {
    if !order.is_fresh {
        let identity = order.venue.identity(order.plan)?;
        let (found, why_not) =
            store::find_unfinished(order.results, &order.plan.digest, &identity)?;
        if let Some(directory) = found {
            // A run writes into these by names, as root also into those of other users.
            store::check_own_directories(&directory)?;
            let campaign = Campaign::open(&directory)?;
            on_event(Event::Notice(format!(
                "going on with {} ({}; --fresh starts anew)",
                directory.display(),
                model::counted(campaign.record_count(), "record")
            )));
            return Ok(campaign);
        }
        let own = format!("{}-", order.plan.name);
        if let Some(why) = why_not.filter(|why| why.starts_with(&own)) {
            on_event(Event::Notice(format!("a new campaign: {why}")));
        }
    }
    Campaign::create(order.results, order.plan, order.experiment, order.unix_ns, order.unique)
}

/// Counts a campaign that begins. Where that cannot be done, nobody knows which attempt it is, and
/// that is no reason not to run it.
fn count_attempt(
    order: &Order<'_>,
    campaign: &mut Campaign,
    on_event: &mut dyn FnMut(Event),
) -> Result<()> {
    let Some(attempts) = &order.attempts else { return Ok(()) };
    let name = campaign.directory().file_name().unwrap_or_default().to_string_lossy().into_owned();
    match attempts.count(campaign.plan(), (order.results, &name), order.unix_ns) {
        Ok(attempt) => campaign.note_attempt(attempt),
        Err(error) => {
            on_event(Event::Notice(format!("{attempts}: attempts are not counted: {error}")));
            Ok(())
        }
    }
}

/// Counts a run that goes on with a campaign, and says which records of it are gone.
fn go_on(
    order: &Order<'_>,
    clock: Clock,
    campaign: &mut Campaign,
    boot_id: &str,
    on_event: &mut dyn FnMut(Event),
) -> Result<()> {
    if let Some(known) = campaign.resume(boot_id, clock.unix_ns(), order.attempts.as_ref())? {
        on_event(Event::Notice(format!(
            "this machine knew {} of the campaign, and the {} that are there are not these and more: \
             no verdict will rest on it",
            model::counted(known, "record"),
            campaign.record_count()
        )));
    }
    Ok(())
}

/// Lets the machine remember how far the campaign is. Where it cannot, records that are removed later
/// are not missed, and that is no reason not to go on.
fn keep_count(order: &Order<'_>, campaign: &Campaign) -> Result<()> {
    order.attempts.as_ref().map_or(Ok(()), |attempts| campaign.keep_count(attempts))
}

/// Runs what is due. `Some` where a part of the campaign is left for another boot: how many ran.
fn run_blocks(
    order: &Order<'_>,
    clock: Clock,
    campaign: &mut Campaign,
    session: &mut dyn VenueSession,
    on_event: &mut dyn FnMut(Event),
) -> Result<Option<u32>> {
    let fingerprint = session.fingerprint()?;
    let boot_id = fingerprint.0.get("boot.id").cloned().unwrap_or_default();
    let digest = campaign.save_fingerprint(&fingerprint)?;
    go_on(order, clock, campaign, &boot_id, on_event)?;
    let mut records = store::load(campaign.directory())?.records;
    let planned = order.plan.blocks.len();
    let mut schedule = Schedule::of(campaign.plan(), planned, &records, &boot_id);
    begin(campaign, &schedule, &records, on_event)?;
    let mut pacing = Pacing::of(campaign.plan(), &records, clock);
    let mut next = 0;
    while let Some(block) = campaign.plan().blocks.get(next).cloned() {
        next += 1;
        if schedule.is_cut_off(&block) {
            continue;
        }
        if let Some(why) = used_up(campaign.plan(), &block, &records, &schedule) {
            on_event(Event::Notice(why.clone()));
            campaign.mark_stopped_early(&why)?;
            break;
        }
        let trials = plan::trials(campaign.plan(), &block);
        let has_due = schedule.has_due(&trials, &records);
        let boots = awaits_boot(campaign.plan(), planned, &block, &records, &boot_id);
        if let Some(boots) = boots.filter(|_| has_due) {
            return Ok(Some(boots));
        }
        if let Some(pacing) = pacing.as_mut().filter(|_| has_due) {
            let blocks = campaign.plan().blocks.len();
            pacing.wait(block.index, blocks, order.interrupt, on_event)?;
        }
        tracing::debug!(block = block.index + 1, trials = trials.len(), "a block begins");
        for trial in trials {
            if !schedule.is_due(&trial, &records) {
                continue;
            }
            campaign.reserve(RECORD_SPACE)?;
            on_event(Event::TrialStarted {
                block: trial.block,
                subject: trial.subject.id.clone(),
                workload: trial.workload.label.clone(),
                trials_left: schedule.due_count(campaign.plan(), &records),
            });
            let pacing = pacing.as_mut();
            let record = run_trial(order, campaign, session, &trial, &digest, pacing, on_event)?;
            schedule.note(&record);
            on_event(Event::TrialFinished { record: Box::new(record.clone()) });
            records.push(record);
            announce_hopeless(&records, &trial, on_event);
        }
        // Where it cannot, that is told when the run ends.
        let _ = keep_count(order, campaign);
        if let Some(blocks) = look(campaign.plan(), &records) {
            stop(campaign, blocks, on_event)?;
            break;
        }
        if schedule.must_repeat(&block, &records) && !was_repeated(campaign, &block) {
            repeat(campaign, block.index, "a trial broke a validity rule", on_event)?;
            schedule.note_repeat();
        }
    }
    Ok(None)
}

/// Appends the blocks that were cut off, and says what is to run.
fn begin(
    campaign: &mut Campaign,
    schedule: &Schedule,
    records: &[Record],
    on_event: &mut dyn FnMut(Event),
) -> Result<()> {
    let mut repeated = Vec::new();
    for (block, why) in schedule.cut_off() {
        repeat(campaign, *block, why, &mut |event| repeated.push(event))?;
    }
    on_event(Event::CampaignStarted {
        plan: Box::new(campaign.plan().clone()),
        trials_done: schedule.done_count(),
        trials_left: schedule.due_count(campaign.plan(), records),
    });
    repeated.into_iter().for_each(&mut *on_event);
    Ok(())
}

/// Why no further block begins: the time that trials took leaves none for it. A block
/// that was begun is brought to its end.
fn used_up(
    plan: &Plan,
    block: &model::Block,
    records: &[Record],
    schedule: &Schedule,
) -> Option<String> {
    let budget_ns = plan.budget_ns?;
    let is_begun = block.sittings.iter().any(|sitting| {
        let mut workloads = sitting.workloads.iter();
        workloads.any(|workload| schedule.is_done(block.index, &sitting.subject, workload))
    });
    let trials_ns = model::sum_ns(records.iter().map(|record| record.duration_ns));
    let spent_ns = trials_ns.saturating_add(booting_ns(plan, records));
    let is_over = spent_ns.saturating_add(plan.block_expected_ns(block)) > budget_ns;
    (is_over && !is_begun && !records.is_empty()).then(|| {
        format!(
            "the budget of {} was used up before block {}",
            model::format_duration(budget_ns),
            block.index + 1
        )
    })
}

/// What the boots took, by their estimate: records say how often machines booted, not
/// for how long.
fn booting_ns(plan: &Plan, records: &[Record]) -> u64 {
    let boots: BTreeSet<(u32, &str)> =
        records.iter().map(|record| (record.block, record.boot_id.as_str())).collect();
    boots.len() as u64 * plan.boot_expected_ns()
}

/// The number of complete blocks, where an adaptive campaign is answered by them.
fn look(plan: &Plan, records: &[Record]) -> Option<u32> {
    let answered = analysis::answered_at(plan, records);
    if !plan.looks.is_empty() {
        tracing::debug!(looks = ?plan.looks, ?answered, "looked");
    }
    answered
}

/// Ends an adaptive campaign: what would still run is no longer planned.
fn stop(campaign: &mut Campaign, blocks: u32, on_event: &mut dyn FnMut(Event)) -> Result<()> {
    let most = campaign.plan().looks.last().copied().unwrap_or(blocks);
    if blocks < most {
        let note = format!(
            "{STOPPED_AT_LOOK}{blocks} of at most {most} blocks: every primary question is answered"
        );
        let mut plan = campaign.plan().clone();
        plan.notes.push(note.clone());
        plan.end_at_look(blocks);
        campaign.save_plan(&plan)?;
        on_event(Event::Notice(note));
    }
    Ok(())
}

/// Whether a resumed campaign appended this block's repetition already.
fn was_repeated(campaign: &Campaign, block: &model::Block) -> bool {
    campaign.plan().blocks_run_again().contains(&block.index)
}

/// Appends a block's repetition to the plan.
fn repeat(
    campaign: &mut Campaign,
    index: u32,
    cause: &str,
    on_event: &mut dyn FnMut(Event),
) -> Result<()> {
    let mut plan = campaign.plan().clone();
    let Some(block) = plan.blocks.iter().find(|block| block.index == index).cloned() else {
        return Ok(());
    };
    if was_repeated(campaign, &block) {
        return Ok(());
    }
    let again = plan.blocks.iter().map(|block| block.index).max().unwrap_or(0) + 1;
    plan.run_again(plan::repeat_block(&plan, &block, again), index, cause);
    tracing::debug!(block = index + 1, cause, again = again + 1, "a block runs again");
    campaign.save_plan(&plan)?;
    on_event(Event::BlockRepeated { block: index, again });
    Ok(())
}

fn run_trial(
    order: &Order<'_>,
    campaign: &mut Campaign,
    session: &mut dyn VenueSession,
    trial: &Trial,
    digest: &str,
    pacing: Option<&mut Pacing>,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record> {
    session.prepare(trial, on_event)?;
    // A trial that boots its machine has none before; one that shares a boot begins where
    // the trial before it ended.
    let mut difference = match trial.boot {
        Some(_) => BTreeMap::new(),
        None => campaign.fingerprint_difference(&session.fingerprint()?),
    };
    // Clients that were connected before are not of this trial.
    let _ = (order.watched)();
    let began_unix_ns = pacing.as_ref().map(|pacing| pacing.unix_ns());
    let mut record = session.run(trial, on_event)?;
    record.caveats.extend((order.watched)());
    if let (Some(pacing), Some(began_unix_ns)) = (pacing, began_unix_ns) {
        pacing.mark(&mut record, began_unix_ns);
    }
    record.sequence = campaign.record_count();
    let (subject, workload) = (&record.subject, &record.workload);
    tracing::debug!(block = record.block + 1, subject, workload, outcome = ?record.outcome, "a trial ended");
    let now = session.fingerprint()?;
    // A machine that was lost cannot say what it was: then its record does not either.
    if !now.0.is_empty() {
        digest.clone_into(&mut record.fingerprint);
        difference.extend(campaign.fingerprint_difference(&now));
    }
    record.fingerprint_difference.extend(difference);
    campaign.append(&mut record)?;
    Ok(record)
}

fn announce_hopeless(records: &[Record], trial: &Trial, on_event: &mut dyn FnMut(Event)) {
    let is_newly_hopeless = is_hopeless(records, &trial.subject.id);
    if let (true, Some(model::Outcome::Invalid { detail, .. })) =
        (is_newly_hopeless, records.last().map(|record| &record.outcome))
    {
        on_event(Event::Notice(format!(
            "the subject {} is given up: it cannot be had here ({detail})",
            trial.subject.id
        )));
    }
}
