//! What planner and command line ask of the venue `vm`.

use super::venue::{DESCRIPTION, Vm};
use super::vm_host::VmHost;
use super::{inspect, table};
use crate::refusals;
use contract::document::{ExperimentProblems, Table};
use contract::{
    ConfiguredVenue, Description, Factor, Footprint, Knob, Neighbour, Refusal, RequiredFactor,
    Result, Venue, VenueContext, VenueEntry, VenueExample, VenueFacts, VenuePrerequisite,
};
use model::{Plan, VmSettings};

/// The entry of the catalogue.
pub struct Entry;

const EXAMPLE: &str = r#"# and these hold for every boot:
# [vm]
#   accelerator = "auto"           # kvm, or tcg: an emulated processor, whose figures are no real ones
#   memory = "512MiB"
#   host_cpus = "0-1"              # CPUs of this machine that it may use; all when left out
#   disks = ["virtio:1GiB", "null:1GiB:50us"] # vda, vdb, … and nullb0, nullb1, …
#   boot_timeout = "60s"           # then it is tried again
#   equalise = true                # clock source, autogroup, preemption and mitigations alike
#   snapshot = true                # every sitting from the same saved state
#   deterministic = true           # instructions are counted: replay, no measurement
#   modules = ["null_blk gb=1"]    # further kernel modules
#   files = ["/usr/bin/stress-ng"] # copied to the same path, programs with their libraries
#   tools = ["rt-tests"]           # installed packages, as a read-only image
"#;

/// The same on every machine, whatever accelerates guests there.
const BRIEF: &str = "kernel = \"debian:6.12\"\n[vm]\naccelerator = \"tcg\"\n";

/// Every machine needs a kernel, which is a factor like any other.
const KERNEL: RequiredFactor = RequiredFactor {
    id: "kernel",
    cause: "no kernel is named for",
    hint: "write kernel = \"debian:6.12\" at the top of the file, or one in each subject",
};

impl VenueEntry for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn facts(&self) -> VenueFacts {
        VenueFacts {
            gist: "throw-away virtual machines of any kernel",
            is_simulated: false,
            boots_guests: true,
            footprint: Footprint::Processes,
            required: &[KERNEL],
            example: Some(VenueExample {
                heading: "With venue = \"vm\", what a machine boots is a factor as well",
                table: EXAMPLE,
            }),
            prerequisites: "Virtual machines: what guests need",
        }
    }

    fn accepts(&self, factor: &dyn Factor) -> Result<(), Refusal> {
        match factor.knob() {
            Knob::Simulated => Err(refusals::simulated(factor)),
            Knob::System(_) | Knob::Held(_) | Knob::Launch(_) | Knob::Boot(_) => Ok(()),
        }
    }

    fn schema(&self) -> Option<serde_json::Value> {
        Some(table::schema())
    }

    fn configure(
        &self,
        table: Option<&Table>,
        problems: &mut ExperimentProblems,
    ) -> Box<dyn ConfiguredVenue> {
        let settings = table.map_or_else(VmSettings::default, |table| table::read(table, problems));
        Box::new(Configured(settings))
    }

    fn brief(&self) -> Option<&'static str> {
        Some(BRIEF)
    }

    fn prerequisites(&self, context: &dyn VenueContext) -> Result<Vec<VenuePrerequisite>> {
        inspect(&VmHost::of(context)?)
    }

    fn venue(&self, context: &dyn VenueContext) -> Result<Box<dyn Venue>> {
        Ok(Box::new(Vm::new(VmHost::of(context)?)))
    }
}

struct Configured(VmSettings);

impl ConfiguredVenue for Configured {
    fn refuses(&self, neighbour: Neighbour) -> Option<Refusal> {
        let what = match neighbour {
            Neighbour::SecondGuest => "a second guest",
            Neighbour::HostLoad => "load from the host",
        };
        if self.0.is_from_snapshot {
            let cause = format!("{what} has no part in the state that `snapshot` saves");
            return Some(Refusal::new(cause, "remove `snapshot`"));
        }
        self.0.is_deterministic.then(|| {
            let cause = format!("`deterministic` lets nothing reach a guest, {what} neither");
            Refusal::new(cause, "remove `deterministic`")
        })
    }

    fn write(&self, plan: &mut Plan, has_peer: bool) {
        plan.vm = Some(VmSettings { has_peer, ..self.0.clone() });
    }
}
