//! The log of every message that sockperf writes, and what it prints beside it.

use super::{Reaction, Target, on_text};
use outputs::sockperf::{Failure, Report, round_trips};

pub const TARGET: Target = Target {
    name: "sockperf-log",
    words: &[
        "packet, txTime(sec), rxTime(sec), rtt(usec)\n",
        "0, 2.499678749, 2.499734474, 55.725\n",
        "------------------------------\n",
        "version #3.7-no.git ",
        "sockperf: [Valid Duration] RunTime=0.400 sec; SentMessages=401; ReceivedMessages=5\n",
        "sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n",
        "\u{1b}[2;35m",
        "\u{1b}[0m",
        "18446744073709551615",
        "-1",
        "nan",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    on_text(bytes, |text| {
        match Report::parse(text) {
            Ok(report) => assert!(report.seconds > 0.0 && report.seconds.is_finite()),
            Err(Failure::Reported(_)) => {}
            Err(Failure::Unreadable(trouble)) => assert!(!trouble.cause.is_empty()),
        }
        let trips = round_trips(text);
        if let Err(trouble) = &trips {
            assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty());
        }
        Reaction::of(trips.ok().as_ref())
    })
}
