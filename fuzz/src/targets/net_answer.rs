//! What the far side of network tests answers, which a stranger's may be.

use super::{OwnTarget, Reaction};

/// Bytes that were sent, and the longest span of the second in which they were that is believed.
const SENT: f64 = 1_048_576.0;
const LONGEST_S: f64 = 3.0;

pub const TARGET: OwnTarget = OwnTarget {
    name: "net-answer",
    words: &[
        "{\"report\":{\"answered\":0,\"received\":[",
        "],\"sent\":[]}}",
        "{\"connection\":0,",
        "\"total\":1048576,",
        "\"measured\":1048576,",
        "\"began_ns\":0,",
        "\"ended_ns\":1000000000,",
        "\"repeated\":0,",
        "\"reordered\":0}",
        "{\"accepted\":{\"port\":7171}}",
        "\"ready\"",
        "\"busy\"",
        "{\"refused\":{\"why\":\"\"}}",
        "18446744073709551615",
        "-1",
        "1e300",
        "null",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let received = net_workloads::network_stream_as_answered(bytes);
    match &received {
        Ok((bytes, seconds)) => {
            assert!((1.0..=SENT).contains(bytes), "{bytes} bytes");
            assert!(*seconds > 0.0 && *seconds <= LONGEST_S, "{seconds} s");
        }
        Err(why) => assert!(!why.is_empty(), "a refusal without a reason"),
    }
    Reaction::of(received.ok().as_ref())
}
