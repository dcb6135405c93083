//! Factors: one file for each thing that can be set, and the few shapes they share.
//!
//! This crate must not know experiments, trials or journals: a factor says what
//! its levels are, where the kernel keeps them and what this machine lacks. It
//! never writes; the executor does, journalled.

mod block_queue;
mod choice_file;
mod hotplug;
mod io_group;
mod kernel_file;
mod number_file;
mod task_group;
mod thread_levels;

#[cfg(test)]
mod layouts;

contract::catalog!(dyn contract::Factor:
    affinity,
    autogroup,
    base_slice,
    cpu_max,
    cpu_weight,
    elevator,
    elevator_param,
    governor,
    io_max,
    io_weight,
    ionice,
    migration_cost,
    min_granularity,
    nice,
    nr_migrate,
    nr_requests,
    online_cpus,
    policy,
    preempt,
    read_ahead,
    rotational,
    sched_features,
    sched_latency,
    slice,
    smt,
    thp,
    timer_slack,
    uclamp,
    wakeup_granularity,
    wbt,
);

/// Programs that write the fair scheduler's settings themselves, by comm: tuned's
/// `scheduler` plug-in writes them (tuned/plugins/plugin_scheduler.py), and
/// `scx_loader` replaces the scheduler they belong to.
const FAIR_OWNERS: &[&str] = &["tuned", "scx_loader"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_snake_case_and_documented() {
        let mut ids = BTreeSet::new();
        for factor in ENTRIES {
            let description = factor.describe();
            assert!(ids.insert(description.id), "{} is listed twice", description.id);
            assert!(
                description.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{}",
                description.id
            );
            assert!(!description.summary.ends_with('.'), "{}", description.id);
            assert!(description.doc.contains("Sources:"), "{} names no source", description.id);
            assert!(description.doc.contains("when it lies"), "{}", description.id);
        }
    }

    #[test]
    fn what_moves_with_a_knob_is_a_file_that_some_factor_writes() {
        let system = |factor: &&dyn contract::Factor| match factor.knob() {
            contract::Knob::System(knob) => knob.writes(),
            _ => Vec::new(),
        };
        let written: Vec<String> = ENTRIES.iter().flat_map(system).collect();
        assert!(written.iter().all(|path| path.starts_with("/sys/") || path.starts_with("/proc/")));
        let queue = ["nr_requests", "wbt_lat_usec", "iosched/x"]
            .map(|name| format!("/sys/block/sda/queue/{name}"));
        let rescaled = hotplug::RESCALED.iter().map(|path| (*path).to_owned());
        for path in rescaled.chain(queue) {
            assert!(written.iter().any(|it| contract::is_file_of(it, &path)), "{path}");
        }
    }

    #[test]
    fn examples_parse_and_their_canonical_text_parses_to_itself() {
        for factor in ENTRIES {
            let id = factor.describe().id;
            assert!(!factor.examples().is_empty(), "{id}");
            if let Some(default) = factor.default_level() {
                assert_eq!(factor.parse(default).unwrap().as_str(), default, "{id}");
            }
            for example in factor.examples() {
                let level =
                    factor.parse(example).unwrap_or_else(|error| panic!("{id} {example}: {error}"));
                assert_eq!(factor.parse(level.as_str()).as_ref(), Ok(&level), "{id} {example}");
            }
        }
    }

    #[test]
    fn hostile_text_is_refused_by_every_factor() {
        for factor in ENTRIES {
            for text in
                ["", " ", "nonsense words", "-", "\0", "99999999999999999999999", "[on]", "../../x"]
            {
                assert!(factor.parse(text).is_err(), "{} takes {text:?}", factor.describe().id);
            }
        }
    }

    #[test]
    fn every_example_says_what_it_needs_in_words() {
        for factor in ENTRIES {
            for example in factor.examples() {
                let level = factor.parse(example).unwrap();
                assert!(
                    !factor.requires(&level).is_empty(),
                    "{} needs nothing?",
                    factor.describe().id
                );
                for need in factor.requires(&level) {
                    assert!(!need.what().is_empty(), "{}", factor.describe().id);
                }
            }
        }
    }
}
