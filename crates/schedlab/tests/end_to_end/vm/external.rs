//! Programs that others publish, in real guests: what is cached is run, and where it is not that
//! is said. `cargo xtask external` fetches and builds first.

use super::{Guests, has_guests};
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

/// Starts the program that it is given, insists that it takes over within two minutes and stays
/// under a load for five seconds, and that it leaves when it is told to.
const SCRIPT: &str = "
    state() { cat /sys/kernel/sched_ext/state; }
    within() { i=0; while [ \"$(state)\" != $2 ]; do
        i=$((i + 1)); if [ $i -gt $1 ]; then echo \"not $2: $(state)\"; cat /tmp/told; exit 9; fi
        sleep 0.1; done; echo $2 after $i; }
    \"$0\" \"$@\" >/tmp/told 2>&1 & scheduler=$!
    within 1200 enabled
    cat /sys/kernel/sched_ext/root/ops
    (while :; do :; done) & one=$!
    (while :; do echo; done | while read -r line; do :; done) & two=$!
    sleep 5; echo then $(state); kill $one $two
    kill -TERM $scheduler; wait $scheduler; within 300 disabled";

#[test]
fn published_schedulers_take_over_a_guest_stay_and_leave() {
    let _exclusive = crate::bench::exclusive();
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
    for name in &PUBLISHED[..count] {
        let shown = guests.bench.expect(0, &["schedulers", "show", name, "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let Some(program) = shown["cached"][0]["program"].as_str() else {
            assert!(!is_external, "{name} was fetched and is not there");
            testing::unsupported(&format!(
                "running {name} needs it in the cache: schedlab schedulers fetch {name}"
            ));
            continue;
        };
        let mut words = vec!["vm", "exec", KERNEL, "--memory", "1GiB", "--cmdline", &guests.word];
        words.extend(["--file", program, "--", "sh", "-c", SCRIPT, program]);
        let arguments = shown["default_arguments"].as_array().unwrap();
        words.extend(arguments.iter().filter_map(Value::as_str));
        let (text, told) = guests.expect(0, &words);
        let ops = name.trim_start_matches("scx_");
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() == 4
                && lines[0].starts_with("enabled")
                && lines[1].starts_with(ops)
                && lines[2] == "then enabled"
                && lines[3].starts_with("disabled"),
            "{name}\n{text}\n{told}"
        );
        println!("{name}: {} (tenths of a second), {}", lines[0], lines[1]);
    }
    guests.assert_nothing_is_left("after published schedulers");
}
