//! The published sched_ext schedulers: what each is, how long it may take to take over, and
//! what it is started with where nothing is said. Fetching them is no matter of this crate.

use contract::nearest;
use std::time::Duration;

/// A scheduler that others publish as a crate of its name.
#[derive(Debug, Clone, Copy)]
pub struct Published {
    /// Crate and program: `scx_rusty`.
    pub name: &'static str,
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: what kind of scheduler it is.
    pub doc: &'static str,
    /// From its start until the kernel says `enabled`, in an emulated guest of two processors: for
    /// estimates.
    pub attach: Duration,
    /// What it is started with where the level gives no arguments.
    pub default_arguments: &'static [&'static str],
}

/// Before the name of every published one.
pub(crate) const PREFIX: &str = "scx_";

/// Measured: 0.6 to 3.4 s, the most on a busy host.
const ATTACH: Duration = Duration::from_millis(1500);
/// `scx_lavd` takes 11 to 46 s and `scx_layered` 10 to 54 s, the most on a busy host: their
/// programs are large, and it is the kernel's verifier that takes the time (measured).
const ATTACH_LARGE: Duration = Duration::from_secs(11);

/// Layers that mean something on any machine: by nice value, without cgroups. One line, for it is
/// an argument and stands in records; docs/manual/schedulers.md explains it.
const LAYERS: &str = include_str!("layered.json").trim_ascii_end();

/// Every published scheduler that is known here, by name.
pub static PUBLISHED: &[Published] = &[
    Published {
        name: "scx_beerland",
        summary: "Deadline queues for each CPU, pulled from only when the machine is full",
        doc: "Each CPU has a queue of its own, ordered by deadline. A task may move when it wakes \
              up while there is room; only on a saturated machine do CPUs pull from the queues of \
              others, the earliest deadline first. Made for loads that live from their caches, and \
              for many CPUs.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_bpfland",
        summary: "Virtual run time with preference for interactive tasks, all in BPF",
        doc: "Orders tasks by a deadline made of their weighted run time and of how often they \
              give up the CPU by themselves, so that tasks that sleep a lot run first. It prefers \
              idle CPUs near the last one, whole idle cores first. All decisions are made in BPF; \
              user space only reads options and counters.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_cake",
        summary: "Short waits for games and general use, from activity and topology",
        doc: "Tries to keep tasks from waiting without giving up warm caches or fair shares: \
              placement by what a task did lately and by the machine's topology, with a preference \
              for idle CPUs. It takes its name, not its algorithm, from a queue discipline for \
              networks.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_chaos",
        summary: "Finds races: a scheduler that disturbs on demand, and as it starts does not",
        doc: "A tool for tests: on top of the queues of scx_p2dq it delays tasks at random, changes \
              frequencies or slows tasks down, as its arguments say. Without arguments it disturbs \
              nothing and is a baseline for itself. Never compare performance with its traits on.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_cosmos",
        summary: "Keeps tasks on their CPU until the machine is full, then goes by deadline",
        doc: "While there are idle CPUs a task stays where its cache is warm, in queues local to \
              each CPU, which also avoids locks. Once the machine is saturated, tasks are ordered \
              by deadline in a shared queue, so that interactive ones run soon at the price of \
              migrations.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_flash",
        summary: "Earliest deadline first, with deadlines from used time: even and predictable",
        doc: "A task's deadline is its weighted run time plus what it ran since it last slept, so \
              that short bursts come early and shares stay fair in the long run. The credit of \
              sleepers is limited. Made for even latency under load, such as audio.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_lavd",
        summary: "Deadlines from how latency-critical a task is; packs work on few cores",
        doc: "Estimates from which task wakes which how critical a task's latency is, and gives \
              critical ones earlier virtual deadlines and others longer slices. When the load is low it \
              gathers work on few cores to save power, which is a decision that a benchmark of \
              throughput sees; `--performance` turns that off. Made for games.",
        attach: ATTACH_LARGE,
        default_arguments: &[],
    },
    Published {
        name: "scx_layered",
        summary: "Classes of tasks by rules, each with its own CPUs, slice and preemption",
        doc: "Sorts tasks into layers by rules on cgroup, name, nice value and more, and gives each \
              layer a policy: confined to CPUs that grow with its load, grouped on them, or open. \
              It has no behaviour without a configuration. Ours has three layers: nice above 0, \
              which grows to half of the machine and weighs little; nice below 0, which may run \
              anywhere and preempts; and the rest. What it does for you is decided by a \
              configuration of your own.",
        attach: ATTACH_LARGE,
        default_arguments: &[LAYERS],
    },
    Published {
        name: "scx_p2dq",
        summary: "Several queues in each cache domain, balanced by the better of two at random",
        doc: "Keeps queues for tasks of different slices in each last-level cache, and balances \
              between caches by looking at two chosen at random and taking the fuller one, which is \
              cheap and close to the best. Decisions are made in BPF.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_pandemonium",
        summary: "Prices decisions in time against a bound, which a control loop adapts",
        doc: "Judges slice, placement and preemption by measured quantities: service, backlog and \
              waiting time, with CoDel's control of the time in queue. A loop in user space adapts \
              the bound each second; `--no-adaptive` leaves that out. Versioned apart from the rest \
              of the family.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_rlfifo",
        summary: "First in, first out in user space: a template, not for use",
        doc: "The least that decides in user space: tasks are taken in order, with slices that \
              shrink as more wait. Its authors expect it to be evicted under load. It takes no \
              arguments. Useful as the floor of what user space costs.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_rustland",
        summary: "Virtual run time with preference for interactive tasks, decided in user space",
        doc: "The policy runs in a process of its own: BPF hands over each task that becomes \
              runnable and takes back where it shall run. It orders by deadline and prefers tasks \
              that use little of their slices, as scx_bpfland, its descendant in BPF. What it loses \
              against that one is the price of user space.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_rusty",
        summary: "A queue for each cache domain, balanced by load from user space",
        doc: "Tasks queue by virtual run time in the domain of a last-level cache. User space looks \
              at loads every 2 s and moves tasks between domains, and tells every 100 ms which CPUs \
              may pull. On a machine with one domain it is a plain fair queue, and its balancing \
              shows only where there are several.",
        attach: ATTACH,
        default_arguments: &[],
    },
    Published {
        name: "scx_tickless",
        summary: "One CPU schedules for all others, which then need no tick",
        doc: "All events go through a pool of primary CPUs, by default one, that deal tasks out and \
              send preemptions, so that other CPUs can run without ticks. That needs a kernel \
              booted with `nohz_full`. For computing and virtual machines, not for latency; \
              experimental.",
        attach: ATTACH,
        default_arguments: &[],
    },
];

impl Published {
    /// What the kernel calls it while it is in charge, but for its version (seen of all of them).
    pub fn ops(&self) -> &'static str {
        self.name.trim_start_matches(PREFIX)
    }
}

/// The published scheduler of a name.
pub fn published(name: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|known| known.name == name)
}

/// What brings the program of this name here, as advice: a command, or the published name
/// that may be meant where the name is none.
pub fn how_to_get(name: &str) -> String {
    let bare = name.split_once('@').map_or(name, |(bare, _)| bare);
    let names = PUBLISHED.iter().map(|known| known.name);
    match nearest(bare, names).filter(|_| published(bare).is_none()) {
        Some(meant) => format!("did you mean `{meant}`? `schedlab schedulers list` tells all"),
        None => format!("schedlab schedulers fetch {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_each_is_explained() {
        assert!(PUBLISHED.windows(2).all(|pair| pair[0].name < pair[1].name));
        for known in PUBLISHED {
            assert!(known.name.starts_with(PREFIX), "{known:?}");
            assert!(!known.summary.ends_with('.') && known.doc.ends_with('.'), "{known:?}");
        }
        assert!(published("scx_rusty").is_some() && published("scx_none").is_none());
    }

    #[test]
    fn a_slip_of_a_published_name_is_not_to_be_fetched() {
        for (name, advice) in [
            ("scx_rusty", "schedlab schedulers fetch scx_rusty"),
            ("scx_rusty@1.1.4", "schedlab schedulers fetch scx_rusty@1.1.4"),
            ("scx_rsty@1.1.4", "did you mean `scx_rusty`? `schedlab schedulers list` tells all"),
            ("scx_of_mine", "schedlab schedulers fetch scx_of_mine"),
        ] {
            assert_eq!(how_to_get(name), advice);
        }
    }

    #[test]
    fn an_argument_is_one_line() {
        let all = PUBLISHED.iter().flat_map(|known| known.default_arguments);
        assert!(all.into_iter().all(|argument| !argument.is_empty() && !argument.contains('\n')));
    }
}
