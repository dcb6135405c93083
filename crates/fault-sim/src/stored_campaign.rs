//! A small campaign on a simulated machine, whose files are edited behind its back.

use crate::machine::{DATA, SimulatedMachine};
use model::{Plan, Record, Sample};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use store::{Campaign, LoadedCampaign, load_on};

/// The campaign was made then, in nanoseconds since 1970, and with this number.
pub(crate) const MOMENT: (u64, u16) = (5, 1);

/// Where campaigns lie.
pub(crate) fn results() -> PathBuf {
    Path::new(DATA).join("results")
}

/// A plan of so many blocks, of one subject and one workload.
pub(crate) fn plan(blocks: u32) -> Plan {
    let workloads = vec![fixtures::workload("wakeup", Vec::new())];
    fixtures::plan(fixtures::subjects(&["baseline"]), workloads, blocks)
}

/// The record of this number, two of which a block has.
pub(crate) fn record(number: u32) -> Record {
    let mut record = fixtures::record("baseline", "wakeup");
    record.sequence = u64::from(number);
    record.block = number / 2;
    record.position = number % 2;
    let samples = vec![Sample::values("time", vec![1.0])];
    record.invocations = vec![fixtures::invocation(samples)].into();
    record
}

/// A campaign that was made on a machine of its own.
pub(crate) struct StoredCampaign {
    pub(crate) machine: SimulatedMachine,
    pub(crate) directory: PathBuf,
}

impl StoredCampaign {
    /// One of this plan, of which this is stored.
    pub(crate) fn of(plan: Plan, store: impl FnOnce(&mut Campaign)) -> Self {
        let machine = SimulatedMachine::new(1, false);
        let plan = Cow::Owned(plan);
        let mut campaign =
            Campaign::create_on(machine.files(), &results(), plan, "text", MOMENT).unwrap();
        let directory = campaign.directory().to_owned();
        store(&mut campaign);
        Self { machine, directory }
    }

    /// One of so many records, each of which was stored when it was there; ended or not.
    pub(crate) fn with_records(count: u32, is_ended: bool) -> Self {
        Self::of(plan(count.div_ceil(2)), |campaign| {
            for number in 0..count {
                campaign.append(&mut record(number)).unwrap();
            }
            if is_ended {
                campaign.mark_finished().unwrap();
            }
        })
    }

    /// It, to go on with.
    pub(crate) fn open(&self) -> Campaign {
        Campaign::open_on(self.machine.files(), &self.directory).unwrap()
    }

    /// What is read of it.
    pub(crate) fn load(&self) -> LoadedCampaign {
        load_on(&*self.machine.files(), &self.directory).unwrap()
    }

    /// What is told of its evidence, a sentence each.
    pub(crate) fn told(&self) -> Vec<String> {
        self.load().flaws.into_iter().map(|flaw| flaw.detail).collect()
    }

    /// The text of a file of it.
    pub(crate) fn text(&self, name: &str) -> String {
        let state = self.machine.state();
        let file = state.disk.file(&self.directory.join(name)).unwrap();
        String::from_utf8(state.disk.bytes(file).to_owned()).unwrap()
    }

    /// The lines of its records, with their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.text("records.jsonl").split_inclusive('\n').map(str::to_owned).collect()
    }

    /// Gives a file of it another text.
    pub(crate) fn edit(&self, name: &str, text: String) {
        let mut state = self.machine.state();
        let file = state.disk.file(&self.directory.join(name)).unwrap();
        state.disk.exchange(file, text.into_bytes());
    }

    /// Replaces what stands in a file of it, where it must stand.
    pub(crate) fn replace(&self, name: &str, old: &str, new: &str) {
        let text = self.text(name);
        assert!(text.contains(old), "{old}: {text}");
        self.edit(name, text.replacen(old, new, 1));
    }
}
