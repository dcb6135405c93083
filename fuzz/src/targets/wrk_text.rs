//! What wrk prints: what is accepted took time, and its percentiles ascend.

use super::{Reaction, Target, on_text};
use outputs::wrk::{Failure, Report};

pub const TARGET: Target = Target {
    name: "wrk-text",
    words: &[
        "Running 1s test @ http://127.0.0.1:8099/\n",
        "  1 threads and 10 connections\n",
        "    Latency   157.35us  521.87us   6.28ms   95.22%\n",
        "  Latency Distribution\n",
        "     50%   45.00us\n",
        "     99%    3.10ms\n",
        "  140014 requests in 1.10s, 8.55MB read\n",
        "  Socket errors: connect 0, read 1, write 0, timeout 2\n",
        "  Non-2xx or 3xx responses: 3\n",
        "Requests/sec: 127283.37\n",
        "Transfer/sec:      7.77MB\n",
        "unable to connect to 127.0.0.1:8096 Connection refused\n",
        "0.00us",
        "1.02m",
        "-nan%",
        "99999999.99h",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        let report = Report::parse(text);
        match &report {
            Ok(report) => check(report),
            Err(Failure::Reported(said)) => assert!(!said.is_empty()),
            Err(Failure::Unreadable(trouble)) => {
                assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty());
                assert!(trouble.line != Some(0), "lines count from 1: {trouble}");
            }
        }
        Reaction::of(report.ok().as_ref())
    })
}

fn check(report: &Report) {
    assert!(report.seconds > 0.0 && report.seconds.is_finite(), "{report:?}");
    assert!(report.rate.is_finite() && report.transfer.is_finite(), "{report:?}");
    assert!(report.right() <= report.answers && report.answers <= report.asked(), "{report:?}");
    if let Some(latency) = report.latency {
        assert!(latency.max.ns > 0, "zeros of nothing: {latency:?}");
        let times = latency.percentiles.into_iter().flatten().chain([latency.max]);
        assert!(times.map(|time| time.ns).is_sorted(), "{latency:?}");
    }
}
