//! JSON of iperf3's client: what is accepted has a rate, and a refusal says why.

use super::{Reaction, Target};
use outputs::iperf3::{Failure, Protocol, Report};

pub const TARGET: Target = Target {
    name: "iperf3-json",
    words: &[
        "{\"start\": {\"version\": \"iperf 3.12\", \"test_start\": {",
        "\"protocol\": \"TCP\"",
        "\"protocol\": \"UDP\"",
        "\"reverse\": 1",
        "\"end\": {",
        "\"sum_sent\": {",
        "\"sum_received\": {",
        "\"sum_sent_bidir_reverse\": {",
        "\"sum_received_bidir_reverse\": {",
        "\"bytes\": 4096",
        "\"seconds\": 1.5",
        "\"retransmits\": 3",
        "\"packets\": 9",
        "\"lost_packets\": 2",
        "\"jitter_ms\": 0.5",
        "\"streams\": [{\"udp\": {\"out_of_order\": 1, \"sender\": true}}]",
        "\"error\": \"refused\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "-1",
        "1e308",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let report = Report::parse(bytes);
    match &report {
        Ok(report) => {
            assert!(report.outwards.is_some() || report.inwards.is_some(), "no direction");
            for flow in [&report.outwards, &report.inwards].into_iter().flatten() {
                let rate = flow.received.bytes as f64 / flow.received.seconds;
                assert!(flow.received.seconds > 0.0 && !rate.is_nan(), "{flow:?}");
                if let Protocol::Udp(datagrams) = &flow.protocol {
                    assert!(datagrams.lost <= datagrams.expected, "{datagrams:?}");
                    assert!(datagrams.jitter_ns >= 0.0 && datagrams.jitter_ns.is_finite());
                }
            }
        }
        Err(Failure::Reported(_)) => {}
        Err(Failure::Unreadable(trouble)) => {
            assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty());
        }
    }
    Reaction::of(report.ok().as_ref())
}
