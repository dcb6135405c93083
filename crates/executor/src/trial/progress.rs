//! What a trial has seen so far, and how its record comes to say it.

use crate::left_processes::LeftProcesses;
use contract::{Cost, TrialCatalogue};
use model::{Caveat, Invocation, Level, LevelReading, Record, TrialFact};
use std::collections::BTreeMap;

/// What a trial has seen so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) invocations: Vec<Invocation>,
    pub(super) levels: BTreeMap<String, LevelReading>,
    caveats: Vec<Caveat>,
    /// What its invocations left running.
    pub(super) left: LeftProcesses,
    /// What held levels turned out to be.
    pub(super) facts: BTreeMap<String, String>,
    /// The probe that was attached and acts on every event.
    observer: Option<&'static str>,
}

impl Progress {
    /// Notes that these probes were attached.
    pub(super) fn note_probes(&mut self, catalogue: &TrialCatalogue, probes: &[String]) {
        let mut attached = probes.iter().filter_map(|id| catalogue.probe(id));
        let observer = attached.find(|probe| probe.cost() == Cost::PerEvent);
        self.observer = observer.map(|probe| probe.describe().id);
    }

    /// Notes what levels are before a run, which the first one tells.
    pub(super) fn note_levels(&mut self, before: &BTreeMap<String, Level>) {
        for (factor, level) in before {
            self.levels.entry(factor.clone()).or_insert_with(|| LevelReading {
                before: level.clone(),
                during: Vec::new(),
                after: level.clone(),
            });
        }
    }

    /// One caveat of a code for a trial, with what was seen in each invocation.
    pub(super) fn merge_caveats(&mut self, caveats: Vec<Caveat>) {
        let merged = &mut self.caveats;
        for caveat in caveats {
            match merged.iter_mut().find(|known| known.code == caveat.code) {
                Some(known) => {
                    known.detail.push_str("; then ");
                    known.detail.push_str(&caveat.detail);
                }
                None => merged.push(caveat),
            }
        }
    }

    /// Puts what was seen into the record. A caveat that says what decides something, whatever of the
    /// trial it comes from, brings that fact with it.
    pub(super) fn note_in(self, record: &mut Record) {
        let left = self.left.caveat();
        record.invocations = self.invocations.into();
        record.levels = self.levels;
        record.fingerprint_difference = self.facts;
        if let Some(probe) = self.observer {
            record.note_fact(TrialFact::Observed, format!("the probe {probe}"));
        }
        for caveat in self.caveats.into_iter().chain(left) {
            record.note_caveat(caveat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{AttachedProbe, Description, Error, Probe, ProbeTarget, Requirement, Result};
    use model::{CaveatCode, Circumstances, Metric};
    use sys::Machine;

    /// A probe of this cost that nobody attaches.
    struct Costing(&'static Description, Cost);

    impl Probe for Costing {
        fn describe(&self) -> &'static Description {
            self.0
        }

        fn metrics(&self) -> Vec<Metric> {
            Vec::new()
        }

        fn cost(&self) -> Cost {
            self.1
        }

        fn requires(&self) -> Vec<Requirement> {
            Vec::new()
        }

        fn attach(&self, _: &Machine, _: &ProbeTarget) -> Result<Box<dyn AttachedProbe>> {
            Err(Error::usage("cannot attach a probe", "it is one of a test", ""))
        }
    }

    static PROBES: &[&dyn Probe] = &[
        &Costing(&Description { id: "counter", summary: "", doc: "" }, Cost::BeforeAfter),
        &Costing(&Description { id: "tracer", summary: "", doc: "" }, Cost::PerEvent),
    ];

    #[test]
    fn a_trial_with_a_probe_that_acts_on_every_event_was_observed_and_no_other() {
        let catalogue = TrialCatalogue { workloads: &[], factors: &[], probes: PROBES };
        let of = |probes: &[&str]| {
            let probes: Vec<String> = probes.iter().map(|id| (*id).to_owned()).collect();
            let mut progress = Progress::default();
            progress.note_probes(&catalogue, &probes);
            let mut record = Record::from(Circumstances::of("a", "w"));
            progress.note_in(&mut record);
            record
        };
        let counted = of(&["counter"]);
        assert!(counted.caveats.is_empty());
        assert!(!counted.facts.contain(&TrialFact::Observed));
        let observed = of(&["counter", "tracer"]);
        assert_eq!(observed.caveats, [Caveat::new(CaveatCode::ObserverCost, "the probe tracer")]);
        assert!(observed.facts.contain(&TrialFact::Observed));
    }

    #[test]
    fn a_caveat_of_a_trial_decides_although_the_record_gets_another_fact_later() {
        let caveat = Caveat::new(CaveatCode::ObserverCost, "a probe acts on every event");
        let progress = Progress { caveats: vec![caveat.clone()], ..Progress::default() };
        let mut record = Record::from(Circumstances::of("a", "w"));
        progress.note_in(&mut record);
        assert_eq!(record.caveats, [caveat]);
        assert!(record.facts.contain(&TrialFact::Observed));
        // As a campaign notes that it goes on; where facts are written, no caveat is asked for one.
        record.note_fact(TrialFact::Resumed, "after a pause");
        let stored = serde_json::to_string(&record).unwrap();
        let read: Record = serde_json::from_str(&stored).unwrap();
        assert!(read.facts.contain(&TrialFact::Observed), "{stored}");
    }
}
