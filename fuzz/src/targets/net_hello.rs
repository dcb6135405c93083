//! The first message on a control connection of network tests, which anybody may send.

use super::{OwnTarget, Reaction};

/// Ten minutes, and one before them.
const LONGEST_NS: u64 = 660_000_000_000;

pub const TARGET: OwnTarget = OwnTarget {
    name: "net-hello",
    words: &[
        "{\"magic\":\"schedlab-net\",\"version\":1,\"asked\":",
        "\"run\":1,",
        "\"test\":\"stream_both\",",
        "\"connections\":64,",
        "\"size\":1048576,",
        "\"rate\":1000000,",
        "\"warm_up_ns\":60000000000,",
        "\"duration_ns\":600000000000",
        "18446744073709551615",
        "-1",
        "1e300",
        "null",
        "[",
        "}}",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let asked = net_workloads::network_run_asked_for(bytes);
    match &asked {
        Ok([connections, size, rate, whole_ns]) => {
            assert!((1..=64).contains(connections), "{connections} connections");
            assert!((24..=1 << 20).contains(size), "messages of {size} bytes");
            assert!(*rate <= 1_000_000, "{rate} operations per second");
            assert!((1..=LONGEST_NS).contains(whole_ns), "a run of {whole_ns} ns");
        }
        Err(why) => {
            assert!(!why.is_empty() && why.len() < 1000, "a refusal of {} bytes", why.len())
        }
    }
    Reaction::of(asked.as_ref().ok())
}
