//! Gatling's log, binary or text: what is accepted has requests that end after they begin, and
//! each is in one kind.

use super::{Reaction, Target};
use outputs::gatling::Log;

pub const TARGET: Target = Target {
    name: "gatling-log",
    words: &[
        "RUN\tsim.Sim\tsim\t1795554545129\t \t3.10.3\n",
        "USER\ta\tSTART\t1795554545129\n",
        "USER\ta\tEND\t1795554545139\n",
        "REQUEST\t\tlist\t1795554545129\t1795554545139\tOK\t \n",
        "REQUEST\tcart,pay\tlist\t1795554545129\t1795554545139\tKO\tgone\n",
        "GROUP\tcart\t1795554545129\t1795554545139\t5\tOK\n",
        "ERROR\tgone\t1795554545129\n",
        "ASSERTION\tAAEC\n",
        "\0\0\0\0\x063.15.1\0",
        "\0\0\0\x063.13.0",
        "\x01\0\0\0\0\0\0\0\x01\0\0\0\x04list\0\0\0\0\x05\0\0\0\x09\x01\0\0\0\x02\0\0\0\0",
        "\x02\0\0\0\0\x01\0\0\0\x05",
        "\x03\0\0\0\0",
        "\x04\0\0\0\x01\0\0\0\x04gone\0\0\0\0\x05",
        "\x7f",
        "\0\0\0\x01",
    ],
    run,
};

fn run(bytes: &[u8]) -> Reaction {
    let log = Log::parse(bytes);
    match &log {
        Ok(log) => check(log),
        Err(trouble) => {
            assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty());
            assert!(trouble.line != Some(0), "lines count from 1: {trouble}");
        }
    }
    Reaction::of(log.ok().as_ref())
}

fn check(log: &Log) {
    assert!(log.users_ended <= log.users_began, "{} ended", log.users_ended);
    for request in &log.requests {
        assert!(request.start_ms <= request.end_ms, "{request:?}");
        assert!(!request.name.contains(char::is_control), "{request:?}");
    }
    let count = |window_ms| {
        let kinds = log.kinds(window_ms).into_iter();
        kinds.map(|kind| kind.latency.count() + kind.failed()).sum::<u64>()
    };
    let all = log.requests.len() as u64;
    assert_eq!(count(0..u64::MAX), all, "a request is in no kind, or in two");
    if let Some(span_ms) = log.span_ms() {
        let middle_ms = span_ms.start + (span_ms.end - span_ms.start) / 2;
        assert_eq!(count(0..middle_ms) + count(middle_ms..u64::MAX), all);
    }
}
