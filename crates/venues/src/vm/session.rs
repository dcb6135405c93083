//! A campaign in virtual machines: one boot serves the sittings that share it.

use super::boot::{ATTEMPTS, Booted, Booter, NotBooted, Saved, interrupted};
use super::boot_specs::boot_specs;
use super::cable::{CableEnd, cable};
use super::guest::Lost;
use super::patience::{PATIENCE, patience_for};
use super::peer::Peer;
use super::qemu::Engine;
use super::record::{
    self, Began, Crowd, NOT_BOOTED, read_back, set_times, stamp, unread, without_guest,
    without_peer,
};
use super::replay::{Replayed, replay};
use super::standstill::GuestStandstill;
use contract::{BootSpec, Error, ErrorKind, Event, Missing, NOT_PUT_BACK, Result, VenueSession};
use executor::GuardedMachine;
use model::{CpuList, Fingerprint, Outcome, Plan, Record, Trial};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use sys::{FileAccess, Files, HostFiles};
use wire::{FailureKind, WireAnswer, WireRequest};

/// Preflight, then a session: each kernel is booted once and asked what it lacks, before
/// anything counts. A kernel that serves all subjects goes on from there: trials share its guest.
///
/// # Errors
/// When a kernel does not boot, or lacks something the plan needs.
pub(crate) fn open(
    plan: &Plan,
    guarded: GuardedMachine,
    booter: Booter,
    facts: Fingerprint,
    on_event: &mut dyn FnMut(Event),
) -> Result<Box<dyn VenueSession>> {
    let specs = boot_specs(&booter.host.host.catalogue, plan)?;
    let peers_spec = specs.get(&plan.reference().id).cloned().unwrap_or_default();
    let mut session = VmSession {
        guarded,
        logs: booter.logs.clone(),
        booter,
        specs,
        peers_spec,
        facts,
        reference: Fingerprint::default(),
        state: State::Off,
        asked: None,
        saved: None,
    };
    match session.preflight(plan, on_event) {
        Ok(()) => Ok(Box::new(session)),
        Err(error) => {
            session.guarded.close()?;
            Err(error)
        }
    }
}

struct VmSession {
    guarded: GuardedMachine,
    booter: Booter,
    logs: Option<PathBuf>,
    /// By subject.
    specs: BTreeMap<String, BootSpec>,
    /// What a second guest boots with.
    peers_spec: BootSpec,
    facts: Fingerprint,
    /// The reference's guest, as it was before the first trial.
    reference: Fingerprint,
    state: State,
    /// The guest that was asked what it lacks, where all subjects boot the same: it serves the first
    /// trial.
    asked: Option<Box<Booted>>,
    /// The state that sittings of a boot begin with, and which boot that is.
    saved: Option<((u32, u32), Saved)>,
}

/// Block and boot, and the sitting where each begins from the saved state.
type Key = (u32, u32, Option<u32>);

enum State {
    Off,
    On {
        booted: Box<Booted>,
        /// The second guest, where workloads need one.
        peer: Option<Box<Peer>>,
        key: Key,
        boot_id: String,
        /// As it was when it was ready for its first trial.
        began: Box<Fingerprint>,
        /// A trial left something behind: the next one begins with another guest.
        is_spent: bool,
    },
    /// It ended under a trial.
    Lost,
    /// A trial's machine, gone already, and what it said of itself.
    Replayed(Box<Fingerprint>),
    /// It did not boot; the trials that share this boot are not tried again.
    Broken {
        key: Key,
        why: String,
    },
}

impl VenueSession for VmSession {
    fn prepare(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        if self.guarded.renew_guardian()? {
            on_event(Event::Notice("the guardian was killed; a new one watches".to_owned()));
        }
        if self.is_replay() {
            return Ok(());
        }
        let is_from_snapshot = self.booter.settings.is_from_snapshot;
        let key =
            (trial.block, trial.boot.unwrap_or(0), is_from_snapshot.then_some(trial.position));
        match &self.state {
            State::On { key: current, is_spent: false, .. }
            | State::Broken { key: current, .. }
                if *current == key =>
            {
                return Ok(());
            }
            _ => {}
        }
        self.switch_off();
        let spec = self.spec(trial)?;
        tracing::debug!(?key, kernel = spec.kernel, subject = trial.subject.id, "boots a guest");
        let booted = if is_from_snapshot {
            self.restored(&spec, key, on_event).map(|booted| (booted, None))
        } else if self.booter.settings.has_peer {
            self.with_peer(&spec, on_event)
        } else {
            self.boot(&spec, on_event).map(|booted| (booted, None))
        };
        self.state = match booted {
            Ok((booted, peer)) => self.opened(booted, peer, key, &trial.subject.id)?,
            Err(NotBooted::Silent(why)) => State::Broken { key, why },
            Err(NotBooted::Venue(error)) => return Err(error),
        };
        Ok(())
    }

    fn fingerprint(&mut self) -> Result<Fingerprint> {
        let State::On { booted, .. } = &mut self.state else {
            // Of a machine that is gone, or never was, nothing is known.
            return Ok(match &self.state {
                State::Off => self.reference.clone(),
                State::Replayed(guest) => guest.as_ref().clone(),
                _ => Fingerprint::default(),
            });
        };
        match describe(booted, &self.booter, &self.facts) {
            Ok(fingerprint) => Ok(fingerprint),
            Err(Lost::Interrupted(signal)) => Err(interrupted(signal)),
            // The trial that comes, or came, tells what happened to it.
            Err(_) => Ok(Fingerprint::default()),
        }
    }

    fn run(&mut self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<Record> {
        let began = Began::now();
        let engine = self.booter.engine;
        let crowd = self.crowd(trial)?;
        let interrupt = &self.booter.interrupt;
        if self.is_replay() {
            return self.replayed(trial, &began);
        }
        let mut record = match &mut self.state {
            State::Broken { why, .. } => {
                let outcome = Outcome::Invalid { rule: NOT_BOOTED.to_owned(), detail: why.clone() };
                without_guest(trial, &began, "not-booted", outcome)
            }
            State::Off | State::Lost | State::Replayed(_) => {
                return Err(Error::environment("cannot run a trial", "no guest was prepared"));
            }
            State::On { booted, peer, boot_id, began: guest_began, is_spent, .. } => {
                let mut still = GuestStandstill::begin(&mut booted.guest.qemu, peer.as_deref_mut());
                let logs = self.logs.as_deref();
                match converse(booted, trial, &self.booter, logs, &mut still, on_event) {
                    Ok((mut record, frames)) => {
                        *is_spent = record.fingerprint_difference.contains_key(NOT_PUT_BACK);
                        set_times(&mut record, &began);
                        explain(&mut record, booted.console.complaint());
                        still.end(&mut record, &mut booted.guest.qemu, peer.as_deref_mut());
                        let catalogue = &self.booter.host.host.catalogue;
                        match describe(booted, &self.booter, &self.facts) {
                            Ok(guest) => {
                                let readings = [guest_began.as_ref(), &guest];
                                read_back(&mut record, catalogue, trial, &booted.spec, readings);
                            }
                            Err(Lost::Interrupted(signal)) => return Err(interrupted(signal)),
                            Err(lost) => unread(&mut record, &lost),
                        }
                        let has_failed = matches!(record.outcome, Outcome::Failed { .. });
                        // A trial that ended too soon does not end the load that was sent to it.
                        let is_whole = record.outcome == Outcome::Completed;
                        *is_spent |= !is_whole && booted.guest.qemu.has_sender();
                        let why = peer.as_mut().and_then(|it| it.why_lost(has_failed, interrupt));
                        let why = why.or_else(|| booted.guest.qemu.why_sender_lost());
                        if let Some(why) = why {
                            without_peer(&mut record, why);
                            *is_spent = true;
                        }
                        stamp(&mut record, engine, crowd, frames);
                        return Ok(record);
                    }
                    Err(Lost::Interrupted(signal)) => return Err(interrupted(signal)),
                    Err(lost) => {
                        let words = booted.console.last_lines();
                        tracing::debug!(%lost, console = words, "the guest was lost");
                        let outcome = record::lost(engine, crowd.vcpus, &lost, &words);
                        let mut record = without_guest(trial, &began, boot_id, outcome);
                        still.end(&mut record, &mut booted.guest.qemu, peer.as_deref_mut());
                        record
                    }
                }
            }
        };
        stamp(&mut record, engine, crowd, 0);
        // A guest that was lost is not asked again; the next trial boots another.
        if matches!(self.state, State::On { .. }) {
            self.state = State::Lost;
        }
        Ok(record)
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.switch_off();
        if let Some(asked) = self.asked.take() {
            asked.guest.switch_off();
        }
        self.guarded.close()
    }
}

impl VmSession {
    /// Whether each trial is a machine of its own that nothing reaches.
    fn is_replay(&self) -> bool {
        matches!(self.booter.engine, Engine::Counting { .. })
    }

    /// A trial in a machine of its own; its record is as the guest wrote it, times included.
    fn replayed(&mut self, trial: &Trial, began: &Began) -> Result<Record> {
        let spec = self.spec(trial)?;
        let crowd = self.crowd(trial)?;
        self.booter.engine = Engine::Counting { seed: trial.seed };
        let mut record = match replay(&mut self.booter, trial, &spec)? {
            Ok(Replayed { mut record, frames_while_running, mut guest, logs }) => {
                guest.0.extend(self.facts.0.clone());
                for (name, text) in logs {
                    keep_log(self.logs.as_deref(), &name, &text, &mut |_| {});
                }
                let catalogue = &self.booter.host.host.catalogue;
                // Asked once, before its only trial and after it was opened.
                read_back(&mut record, catalogue, trial, &spec, [&guest, &guest]);
                stamp(&mut record, self.booter.engine, crowd, frames_while_running);
                self.state = State::Replayed(Box::new(guest));
                return Ok(record);
            }
            Err(reason) => {
                self.state = State::Lost;
                without_guest(trial, began, "not-booted", Outcome::Failed { reason })
            }
        };
        stamp(&mut record, self.booter.engine, crowd, 0);
        Ok(record)
    }

    fn spec(&self, trial: &Trial) -> Result<BootSpec> {
        self.specs.get(&trial.subject.id).cloned().ok_or_else(|| {
            Error::usage("cannot boot a guest", format!("no subject {}", trial.subject.id), "")
        })
    }

    /// Another guest, or the one that was asked and has served no trial.
    fn boot(
        &mut self,
        spec: &BootSpec,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Booted, NotBooted> {
        match self.asked.take() {
            Some(asked) => Ok(*asked),
            None => self.booter.boot(spec, on_event),
        }
    }

    /// A guest from the state that the first sitting of its boot began with.
    fn restored(
        &mut self,
        spec: &BootSpec,
        key: Key,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Booted, NotBooted> {
        let boot = (key.0, key.1);
        if self.saved.as_ref().is_none_or(|(saved_boot, _)| *saved_boot != boot) {
            let booted = self.boot(spec, on_event)?;
            let saved = self.booter.save(booted);
            let saved = saved.map_err(|error| NotBooted::Silent(error.one_line()))?;
            self.saved = Some((boot, saved));
        }
        match &self.saved {
            Some((_, saved)) => self.booter.restore(saved),
            None => Err(Error::environment("cannot restore a guest", "none was saved").into()),
        }
    }

    /// A guest, and the second one at the other end of a cable. That has what the reference boots
    /// with, whichever subject it serves.
    fn with_peer(
        &mut self,
        spec: &BootSpec,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(Booted, Option<Box<Peer>>), NotBooted> {
        let mut attempt = 1;
        loop {
            match self.both(spec, on_event) {
                Err(NotBooted::Silent(why)) if attempt < ATTEMPTS => {
                    on_event(Event::Notice(format!(
                        "two guests did not boot ({why}); trying again"
                    )));
                    attempt += 1;
                }
                Ok((booted, peer)) => return Ok((booted, Some(Box::new(peer)))),
                Err(other) => return Err(other),
            }
        }
    }

    fn both(
        &mut self,
        spec: &BootSpec,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(Booted, Peer), NotBooted> {
        let (subjects, peers) = self.cable(spec)?;
        let booted = self.booter.boot_at(spec, &subjects, 1, on_event)?;
        let peer = Peer::boot(&mut self.booter, &self.peers_spec, &peers, on_event)?;
        Ok((booted, peer))
    }

    /// What joins this guest and the second one.
    fn cable(&self, spec: &BootSpec) -> Result<(CableEnd, CableEnd)> {
        cable([spec, &self.peers_spec].map(|spec| spec.topology.vcpus() as usize))
    }

    /// The guests' processors, and the CPUs that they have.
    fn crowd(&self, trial: &Trial) -> Result<Crowd> {
        let online = self.booter.host.host.machine.online_cpus()?.len();
        let host_cpus = self.booter.settings.host_cpus.as_ref().map_or(online, CpuList::len);
        let peers = self.booter.settings.has_peer.then(|| self.peers_spec.topology.vcpus());
        let vcpus = self.spec(trial)?.topology.vcpus() + peers.unwrap_or(0);
        Ok(Crowd { vcpus: vcpus as usize, host_cpus })
    }

    /// Makes a guest ready for trials.
    fn opened(
        &self,
        mut booted: Booted,
        peer: Option<Box<Peer>>,
        key: Key,
        subject: &str,
    ) -> Result<State> {
        let purpose = format!("trials of {subject} in block {}", key.0 + 1);
        let interrupt = self.booter.interrupt.clone();
        match booted.guest.ask(&WireRequest::Open { purpose }, PATIENCE, &interrupt) {
            Ok(WireAnswer::Opened) => {
                let boot_id = booted.boot_id.clone();
                match describe(&mut booted, &self.booter, &self.facts) {
                    Ok(began) => {
                        let (booted, began) = (Box::new(booted), Box::new(began));
                        Ok(State::On { booted, peer, key, boot_id, began, is_spent: false })
                    }
                    Err(Lost::Interrupted(signal)) => Err(interrupted(signal)),
                    Err(lost) => Ok(State::Broken { key, why: lost.to_string() }),
                }
            }
            Ok(WireAnswer::Failed { failure }) => {
                Ok(State::Broken { key, why: failure.to_string() })
            }
            Ok(_) => Ok(State::Broken { key, why: "the agent answered out of turn".to_owned() }),
            Err(Lost::Interrupted(signal)) => Err(interrupted(signal)),
            Err(lost) => Ok(State::Broken { key, why: lost.to_string() }),
        }
    }

    fn switch_off(&mut self) {
        if let State::On { booted, .. } = std::mem::replace(&mut self.state, State::Off)
            && self.booter.interrupt.signal().is_none()
        {
            // One whose trial was interrupted is not asked, but ended.
            booted.guest.switch_off();
        }
    }

    /// Boots each kernel once: what it lacks, and how it describes itself.
    fn preflight(&mut self, plan: &Plan, on_event: &mut dyn FnMut(Event)) -> Result<()> {
        if let Some(notice) = self.booter.without_scratch() {
            on_event(Event::Notice(notice));
        }
        let mut seen: Vec<BootSpec> = Vec::new();
        let mut missing = Vec::new();
        for subject in &plan.subjects {
            let spec = self.specs[&subject.id].clone();
            if seen.contains(&spec) {
                continue;
            }
            on_event(Event::Notice(format!("asking {} what it lacks", spec.kernel)));
            // The end that the guest asks for; at the other one nobody is needed yet.
            let ends = self.booter.settings.has_peer.then(|| self.cable(&spec)).transpose()?;
            let booted = match &ends {
                Some((subjects, _)) => self.booter.boot_at(&spec, subjects, ATTEMPTS, on_event),
                None => self.booter.boot(&spec, on_event),
            };
            let mut booted = match booted {
                Ok(booted) => booted,
                Err(NotBooted::Venue(error)) => return Err(error),
                Err(NotBooted::Silent(why)) => {
                    return Err(Error::new(
                        ErrorKind::Environment,
                        format!("cannot boot {}", spec.kernel),
                        why,
                        format!(
                            "schedlab vm exec {} --cmdline loglevel=7 --console FILE -- true keeps all it says",
                            spec.kernel
                        ),
                    ));
                }
            };
            for complaint in &booted.complaints {
                on_event(Event::Notice(format!("in the guest of {}: {complaint}", spec.kernel)));
            }
            let lacks = self.lacks(&mut booted, plan, &spec)?;
            missing.extend(lacks.into_iter().map(|lack| (spec.kernel.clone(), lack)));
            if seen.is_empty() {
                let described = describe(&mut booted, &self.booter, &self.facts);
                self.reference = described.map_err(|lost| lost_in_preflight(&spec, &lost))?;
                if self.is_replay() {
                    // The only thing of this boot that another one has otherwise.
                    self.reference.0.remove("boot.id");
                }
            }
            seen.push(spec.clone());
            // Of several kernels none goes on: its first block would differ from that of the others.
            let is_only = self.specs.values().all(|other| *other == spec);
            if is_only && missing.is_empty() && ends.is_none() && !self.is_replay() {
                self.asked = Some(Box::new(booted));
            } else {
                booted.guest.switch_off();
            }
        }
        refuse(plan, &missing)
    }

    /// What the subjects of a boot need and it does not have.
    fn lacks(&self, booted: &mut Booted, plan: &Plan, spec: &BootSpec) -> Result<Vec<Missing>> {
        let mut part = plan.clone();
        part.subjects.retain(|subject| self.specs.get(&subject.id) == Some(spec));
        part.blocks.clear();
        part.workloads
            .retain(|workload| part.subjects.iter().any(|subject| workload.runs_for(subject)));
        let request = WireRequest::Missing { plan: Box::new(part) };
        match booted.guest.ask(&request, PATIENCE, &self.booter.interrupt) {
            Ok(WireAnswer::Missing { missing }) => Ok(missing),
            Ok(WireAnswer::Failed { failure }) => {
                Err(Error::environment(format!("cannot ask {}", spec.kernel), failure))
            }
            Ok(_) => Err(Error::environment(
                format!("cannot ask {}", spec.kernel),
                "the agent answered out of turn",
            )),
            Err(lost) => Err(lost_in_preflight(spec, &lost)),
        }
    }
}

/// A workload that failed while the guest's kernel complained has that as a reason too.
fn explain(record: &mut Record, complaint: Option<String>) {
    if let (Outcome::Failed { reason }, Some(complaint)) = (&mut record.outcome, complaint) {
        reason.push_str("; the guest's console: ");
        reason.push_str(&complaint);
    }
}

fn lost_in_preflight(spec: &BootSpec, lost: &Lost) -> Error {
    match lost {
        Lost::Interrupted(signal) => interrupted(*signal),
        _ => Error::environment(format!("cannot ask {}", spec.kernel), lost),
    }
}

fn refuse(plan: &Plan, missing: &[(String, Missing)]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let refusal = Error::new(
        ErrorKind::Unsupported,
        format!("cannot run {} in these guests", plan.name),
        "they lack something:",
        "nothing ran; choose other kernels or other levels",
    );
    Err(refusal.with_list(missing.iter().map(|(kernel, lack)| {
        format!("in {kernel}: {}: {}; {}", lack.what, lack.why, lack.remedy)
    })))
}

/// The guest as it says it is, with what only the venue knows.
fn describe(
    booted: &mut Booted,
    booter: &Booter,
    facts: &Fingerprint,
) -> Result<Fingerprint, Lost> {
    let mut fingerprint =
        match booted.guest.ask(&WireRequest::Fingerprint, PATIENCE, &booter.interrupt)? {
            WireAnswer::Fingerprint { fingerprint } => fingerprint,
            WireAnswer::Failed { failure } => return Err(Lost::Refused(failure)),
            _ => return Err(Lost::Corrupt("the agent answered out of turn".to_owned())),
        };
    fingerprint.0.extend(facts.0.clone());
    fingerprint.0.extend(booted.facts.clone());
    Ok(fingerprint)
}

/// Runs a trial in the guest: its record, and the frames that came or went during runs.
fn converse(
    booted: &mut Booted,
    trial: &Trial,
    booter: &Booter,
    logs: Option<&Path>,
    still: &mut GuestStandstill,
    on_event: &mut dyn FnMut(Event),
) -> Result<(Record, u64), Lost> {
    let guest = &mut booted.guest;
    guest.send(&WireRequest::Run { trial: Box::new(trial.clone()) })?;
    let mut deadline = Instant::now() + PATIENCE;
    let mut record = None;
    loop {
        let patience = deadline.saturating_duration_since(Instant::now());
        let answer = guest.receive(patience, &booter.interrupt)?;
        still.note(&answer);
        match answer {
            WireAnswer::Phase { phase } => {
                deadline = Instant::now() + patience_for(phase, trial);
                on_event(Event::TrialPhase(phase));
            }
            WireAnswer::Notice { text } => on_event(Event::Notice(text)),
            WireAnswer::Record { record: mut came, frames_while_running, run_lengths_ns } => {
                deadline = Instant::now() + PATIENCE;
                still.compare(&mut came, &run_lengths_ns);
                record = Some((*came, frames_while_running));
            }
            WireAnswer::Log { name, text } => keep_log(logs, &name, &text.0, on_event),
            WireAnswer::LogsSent => {
                return record.ok_or_else(|| Lost::Corrupt("logs came before a record".to_owned()));
            }
            WireAnswer::Failed { failure } => {
                return Err(match failure.kind {
                    FailureKind::Interrupted => {
                        Lost::Interrupted(booter.interrupt.signal().unwrap_or(0))
                    }
                    _ => Lost::Refused(failure),
                });
            }
            _ => return Err(Lost::Corrupt("the agent answered out of turn".to_owned())),
        }
    }
}

/// Keeps a log of the guest's beside the campaign's own.
fn keep_log(logs: Option<&Path>, name: &str, text: &[u8], on_event: &mut dyn FnMut(Event)) {
    let Some(logs) = logs else { return };
    // A name from outside is a file name or nothing.
    let Some(name) = Path::new(name).file_name() else { return };
    let written = HostFiles
        .open(&logs.join(name), FileAccess::Replace)
        .and_then(|mut file| file.write_all(text));
    if let Err(error) = written {
        on_event(Event::Notice(format!("cannot keep the guest's log {}: {error}", name.display())));
    }
}
