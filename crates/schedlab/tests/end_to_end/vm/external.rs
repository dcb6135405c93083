//! Schedulers that others publish, as subjects in real guests: what is cached is compared, and
//! where it is not that is said. `cargo xtask external` fetches and builds first.

use super::schedulers::{WORKLOADS, reading};
use super::{Guests, has_guests, of};
use crate::bench::errors;
use serde_json::Value;

/// The newest of Debian's series with sched_ext that every mirror of these years has.
const KERNEL: &str = "debian:6.18";
/// The four that suites compare; the first two are enabled within seconds.
const PUBLISHED: [&str; 4] = ["scx_bpfland", "scx_rusty", "scx_lavd", "scx_layered"];
/// What an ordinary run of the tests has the time for.
const QUICK: usize = 2;
/// Set by `cargo xtask external`: all four, fetched where they are not cached.
const EXTERNAL: &str = "SCHEDLAB_EXTERNAL";

#[test]
fn published_schedulers_take_over_a_guest_stay_and_leave() {
    if !has_guests() {
        return;
    }
    let guests = Guests::new();
    let is_external = std::env::var_os(EXTERNAL).is_some();
    if is_external {
        let output = guests.bench.run(&[&["schedulers", "fetch"], &PUBLISHED[..]].concat());
        assert!(output.status.success(), "{}", errors(&output));
        println!("{}", String::from_utf8_lossy(&output.stdout));
    }
    let count = if is_external { PUBLISHED.len() } else { QUICK };
    let (here, missing): (Vec<&str>, Vec<&str>) =
        PUBLISHED[..count].iter().partition(|name| is_cached(&guests, name));
    for name in missing {
        assert!(!is_external, "{name} was fetched and is not there");
        testing::unsupported(&format!(
            "running {name} needs it in the cache: schedlab schedulers fetch {name}"
        ));
    }
    if here.is_empty() {
        return;
    }
    let mut rest = String::from("memory = \"1GiB\"\n[subjects.fair]\nscheduler = \"fair\"\n");
    for name in &here {
        rest.push_str(&format!("[subjects.{}]\nscheduler = \"{name}\"\n", subject(name)));
    }
    rest.push_str(WORKLOADS);
    let keys = format!("blocks = 1\nvcpus = 1\nkernel = \"{KERNEL}\"");
    let (_, told) = guests.expect(0, &["run", &guests.experiment(&keys, &rest)]);
    let records = guests.records();
    assert_eq!(records.len(), 2 * (here.len() + 1), "{told}");
    for record in &records {
        assert_eq!(record["outcome"]["kind"], "completed", "{record}");
        assert_eq!(reading(record, "after"), reading(record, "before"), "{record}");
    }
    for record in of(&records, "fair", "") {
        assert_eq!(reading(record, "after"), "fair", "{record}");
    }
    for name in &here {
        for record in of(&records, subject(name), "") {
            assert!(reading(record, "after").starts_with(&format!("{name}@")), "{record}");
            let facts = &record["fingerprint_difference"];
            let fact = |key: &str| facts[key].as_str().unwrap_or_default();
            let ops = fact("scheduler.ops");
            assert!(ops.starts_with(subject(name)), "{record}");
            println!("{name}: {ops} in charge after {} ms", fact("scheduler.load_ms"));
        }
    }
    guests.assert_nothing_is_left("after published schedulers");
}

/// The word that distinguishes it, which is also how it calls itself.
fn subject(name: &str) -> &str {
    name.trim_start_matches("scx_")
}

fn is_cached(guests: &Guests, name: &str) -> bool {
    let shown = guests.bench.expect(0, &["schedulers", "show", name, "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    shown["cached"][0].is_object()
}
