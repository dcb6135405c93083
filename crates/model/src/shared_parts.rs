//! What records that are read have in common, held once.

use crate::record::{ChainAnchor, Circumstances};
use crate::{Record, SampleData, SharedName};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Parts of the records that came before.
#[derive(Debug, Default)]
pub struct SharedParts {
    /// The last ones by subject, then by workload.
    circumstances: BTreeMap<String, BTreeMap<String, Arc<Circumstances>>>,
    anchor: Option<Arc<ChainAnchor>>,
    sources: BTreeSet<SharedName>,
}

impl SharedParts {
    /// Gives a record what an earlier one says alike, so that both hold it once, and takes room from
    /// it in which nothing stands. What it says stays the same.
    pub fn share(&mut self, record: &mut Record) {
        let known = self.circumstances.get(&record.subject).and_then(|of| of.get(&record.workload));
        match known {
            Some(known) if Arc::ptr_eq(known, &record.circumstances) => {}
            Some(known) if **known == *record.circumstances => {
                record.circumstances = Arc::clone(known);
            }
            _ => {
                let of_subject = self.circumstances.entry(record.subject.clone()).or_default();
                of_subject.insert(record.workload.clone(), Arc::clone(&record.circumstances));
            }
        }
        if let Some(chain) = &mut record.chain {
            match &self.anchor {
                Some(known) if **known == *chain.anchor => chain.anchor = Arc::clone(known),
                _ => self.anchor = Some(Arc::clone(&chain.anchor)),
            }
        }
        for invocation in &mut record.invocations {
            for sample in &mut invocation.samples {
                match self.sources.get(sample.source.as_str()) {
                    Some(known) => sample.source = known.clone(),
                    None => {
                        self.sources.insert(sample.source.clone());
                    }
                }
                if let SampleData::Values(values) = &mut sample.data {
                    values.fit();
                }
            }
            invocation.samples.fit();
        }
        record.invocations.fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Invocation, Outcome, Sample};

    #[test]
    fn records_that_say_the_same_hold_it_once_and_stay_what_they_are() {
        let record = |subject: &str, value: f64| {
            let samples = vec![Sample::values("m", vec![value])].into();
            let invocation = Invocation { samples, run: None, failure: None, disturbance: None };
            let said = Circumstances::of(subject, "w");
            Record { invocations: vec![invocation].into(), ..Record::from(said) }
        };
        let all = [record("a", 1.0), record("b", 2.0), record("a", 3.0), record("a", 3.0)];
        let mut shared = all.clone();
        shared[3].outcome = Outcome::Failed { reason: "it ended".to_owned() };
        let expected = shared.clone();
        let mut parts = SharedParts::default();
        shared.iter_mut().for_each(|record| parts.share(record));
        assert_eq!(shared, expected);
        let is_one = |one: usize, other: usize| {
            Arc::ptr_eq(&shared[one].circumstances, &shared[other].circumstances)
        };
        assert_eq!([is_one(0, 2), is_one(0, 1), is_one(2, 3)], [true, false, false]);
        // What is changed of one is changed of it alone.
        shared[0].boot_id = "other".to_owned();
        assert_eq!(shared[2], expected[2]);
    }
}
