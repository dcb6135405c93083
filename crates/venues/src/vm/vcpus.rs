//! The factor `vcpus`: the guest's processors.

use contract::{BootKnob, BootSpec, Description, Factor, Knob, Requirement, Result, Topology};
use model::{CpuList, Fingerprint, Level};

/// The factor.
pub struct Vcpus;

static DESCRIPTION: Description = Description {
    id: "vcpus",
    summary: "the guest's processors: how many, and in which packages, cores and threads",
    doc: "`4` is four cores of one package; `2x2x1` is two packages of two cores with one \
          thread each; `2x2x1/2` spreads the packages over two memory nodes. A guest has two \
          where nothing is said.\n\n\
          What moves with it, and when it lies: base_slice and the CFS latencies grow with the \
          logarithm of the number of processors (tunable_scaling, kernel/sched/fair.c), so set \
          them where counts are compared. More virtual processors than the host has free ones \
          measure the host's scheduler: four on two gave a spread of 193 % (measured, ADR \
          0011). The threads of a core share nothing in an emulated machine.\n\n\
          Source: QEMU -smp and -numa.",
};

/// Of a machine of the type `pc` (QEMU 7.2, hw/i386/pc_piix.c: 255).
const MOST: u32 = 255;

impl Factor for Vcpus {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a number of processors, or packages x cores x threads / nodes"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["2", "4", "2x2x1"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        topology(text).map(|topology| Level::canonical(topology.to_string()))
    }

    fn order(&self) -> u8 {
        2
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Boot(self)
    }
}

impl BootKnob for Vcpus {
    fn contribute(&self, level: &Level, boot: &mut BootSpec) -> Result<()> {
        boot.topology = topology(level.as_str()).map_err(|cause| {
            contract::Error::usage(format!("cannot read the processors {level}"), cause, "")
        })?;
        Ok(())
    }

    fn read_back(&self, guest: &Fingerprint, boot: &BootSpec, wanted: &Level) -> Level {
        let text = |key: &str| guest.0.get(key).map(String::as_str).unwrap_or_default();
        let count = |key: &str| text(key).parse().map_or(0, |list: CpuList| list.len());
        let Topology { sockets, cores, nodes, .. } = boot.topology;
        let found = format!(
            "{} online in {} packages and {} cores on {} nodes",
            count("cpu.online"),
            text("cpu.packages"),
            text("cpu.cores"),
            // A kernel that finds one node may not speak of nodes at all.
            count("memory.nodes").max(1),
        );
        let asked = format!(
            "{} online in {sockets} packages and {} cores on {nodes} nodes",
            boot.topology.vcpus(),
            sockets * cores,
        );
        if found == asked { wanted.clone() } else { Level::canonical(found) }
    }
}

fn topology(text: &str) -> Result<Topology, String> {
    let number = |part: &str| match part.trim().parse::<u32>() {
        Ok(number) if (1..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("`{part}` is no number from 1 to {MOST}")),
    };
    let (processors, nodes) = match text.split_once('/') {
        Some((processors, nodes)) => (processors, number(nodes)?),
        None => (text, 1),
    };
    let parts: Vec<u32> = processors.split('x').map(number).collect::<Result<_, _>>()?;
    let topology = match parts[..] {
        [cores] => Topology { sockets: 1, cores, threads: 1, nodes },
        [sockets, cores, threads] => Topology { sockets, cores, threads, nodes },
        _ => return Err("it has one number, or three".to_owned()),
    };
    let count =
        u64::from(topology.sockets) * u64::from(topology.cores) * u64::from(topology.threads);
    if count > u64::from(MOST) {
        return Err(format!("{count} processors; a guest has at most {MOST}"));
    }
    if topology.sockets % topology.nodes != 0 {
        return Err(format!(
            "{} packages cannot be spread evenly over {nodes} nodes",
            topology.sockets
        ));
    }
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_with_fewer_processors_online_or_in_other_packages_reads_back_otherwise() {
        let wanted = Level::canonical("2x1x1");
        let topology = topology("2x1x1").unwrap();
        let boot = BootSpec { topology, ..BootSpec::default() };
        let read = |online: &str, packages: &str, cores: &str| {
            let facts = [("cpu.online", online), ("cpu.packages", packages), ("cpu.cores", cores)];
            let guest = facts.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
            Vcpus.read_back(&Fingerprint(guest), &boot, &wanted).to_string()
        };
        assert_eq!(read("0-1", "2", "2"), "2x1x1");
        assert_eq!(read("0-1", "1", "2"), "2 online in 1 packages and 2 cores on 1 nodes");
        assert_eq!(read("0", "1", "1"), "1 online in 1 packages and 1 cores on 1 nodes");
    }

    #[test]
    fn processors_have_one_canonical_text() {
        let parse = |text| Vcpus.parse(text).map(|level| level.to_string());
        assert_eq!(parse("4").as_deref(), Ok("4"));
        assert_eq!(parse("1x4x1").as_deref(), Ok("4"));
        assert_eq!(parse("2x2x1").as_deref(), Ok("2x2x1"));
        assert_eq!(parse("2x2x1/2").as_deref(), Ok("2x2x1/2"));
        for wrong in ["0", "", "2x2", "99x99x1", "1x2x1/2", "-1", "a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
