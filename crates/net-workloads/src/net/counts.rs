//! Whether what both sides counted is one run.

use super::control::{Received, Sent, Test};
use super::thread_result::NearReport;

/// Bytes that a connection may hold between both sides: its buffers (tcp_wmem and tcp_rmem have
/// 4 and 6 MiB at most by default) and a delay line's queue.
const UNDER_WAY: f64 = 48.0 * 1024.0 * 1024.0;
/// How much faster a receiver may seem, whose span is not exactly the sender's.
const MOST_FASTER: f64 = 1.25;
/// How much longer than the run a span within it may seem: what was on its way at its end.
const SLACK_NS: u64 = 2_000_000_000;

/// What does not agree, in one sentence.
pub(super) fn broken(test: Test, near: &NearReport) -> Option<String> {
    let report = &near.report;
    match test {
        Test::Connect => unequal("connections", near.made, report.answered),
        Test::Request => unequal("requests", near.made, report.answered),
        Test::Messages => {
            delivered(&near.sent, &report.received).or_else(|| spans(near, &report.received))
        }
        Test::Stream | Test::StreamBoth => delivered(&near.sent, &report.received)
            .or_else(|| delivered(&report.sent, &near.received))
            .or_else(|| spans(near, &report.received))
            .or_else(|| faster(&near.sent, &report.received))
            .or_else(|| faster(&report.sent, &near.received)),
        Test::Datagrams => {
            paired(&near.sent, &report.received).or_else(|| spans(near, &report.received))
        }
    }
}

fn unequal(what: &str, made: u64, answered: u64) -> Option<String> {
    (made != answered)
        .then(|| format!("{made} {what} were made, and the far side counted {answered}"))
}

/// TCP loses nothing.
fn delivered(sent: &[Sent], received: &[Received]) -> Option<String> {
    paired(sent, received).or_else(|| {
        let mut pairs = sent.iter().zip(received);
        let (one, other) = pairs.find(|(one, other)| one.total != other.total)?;
        Some(format!(
            "connection {} sent {}, and the other side counted {}",
            one.connection, one.total, other.total
        ))
    })
}

/// Both speak of the same connections, and nobody received more than was sent.
fn paired(sent: &[Sent], received: &[Received]) -> Option<String> {
    let numbers = |one: &Sent, other: &Received| one.connection == other.connection;
    if sent.len() != received.len() || !sent.iter().zip(received).all(|(a, b)| numbers(a, b)) {
        return Some(format!(
            "{} connections sent, and the other side received on {}",
            sent.len(),
            received.len()
        ));
    }
    let mut pairs = sent.iter().zip(received);
    let (one, other) = pairs.find(|(one, other)| {
        other.total > one.total || other.measured.max(other.reordered) > other.total
    })?;
    Some(format!(
        "connection {} sent {}, and the other side counted {}, {} of them measured and {} \
         out of order",
        one.connection, one.total, other.total, other.measured, other.reordered
    ))
}

/// A span of the far side lies within the run.
fn spans(near: &NearReport, received: &[Received]) -> Option<String> {
    let longest_ns = near.wall_ns.saturating_add(SLACK_NS);
    let strange = received.iter().find(|one| {
        one.ended_ns.checked_sub(one.began_ns).is_none_or(|span_ns| span_ns > longest_ns)
    })?;
    Some(format!(
        "connection {} was received from {} to {} ns of the far side's clock in a run of {} ns",
        strange.connection, strange.began_ns, strange.ended_ns, near.wall_ns
    ))
}

/// Nobody receives faster than is sent.
fn faster(sent: &[Sent], received: &[Received]) -> Option<String> {
    sent.iter().zip(received).find_map(|(one, other)| {
        let span_ns = one.ended_ns.saturating_sub(one.began_ns).max(1) as f64;
        let most = (one.measured as f64 * MOST_FASTER + UNDER_WAY) / span_ns;
        let seen =
            other.measured as f64 / other.ended_ns.saturating_sub(other.began_ns).max(1) as f64;
        let is_faster = other.measured > 0 && seen > most;
        is_faster.then(|| {
            format!(
                "connection {} was received with {seen:.3} bytes per nanosecond, more than the \
                 {most:.3} that can have been sent",
                one.connection
            )
        })
    })
}

/// Of all connections: what was measured, and over how long. None where that is nothing, or the
/// figures cannot be right.
pub(super) fn rate(received: &[Received]) -> Option<(f64, f64)> {
    let measured: f64 = received.iter().map(|one| one.measured as f64).sum();
    // One of which nothing came has no span.
    let counted = || received.iter().filter(|one| one.measured > 0);
    let began_ns = counted().map(|one| one.began_ns).min()?;
    let ended_ns = counted().map(|one| one.ended_ns).max()?;
    let span_ns = ended_ns.checked_sub(began_ns).filter(|span_ns| *span_ns > 0)?;
    Some((measured, span_ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::super::control::FarReport;
    use super::super::thread_result::ThreadResult;
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn sent(total: u64) -> Sent {
        Sent { total, measured: total, ended_ns: SECOND_NS, ..Sent::default() }
    }

    fn received(total: u64) -> Received {
        Received { total, measured: total, ended_ns: SECOND_NS, ..Received::default() }
    }

    fn near_report(made: u64, out: &[Sent], report: FarReport) -> NearReport {
        let part = |one: Option<Sent>| ThreadResult { made, sent: one, ..ThreadResult::none() };
        let parts: Vec<ThreadResult> = match out {
            [] => vec![part(None)],
            some => some.iter().map(|one| part(Some(*one))).collect(),
        };
        NearReport::of(&parts, SECOND_NS, report)
    }

    fn counted(received: &[Received]) -> FarReport {
        FarReport { received: received.to_vec(), ..FarReport::default() }
    }

    #[test]
    fn connections_and_requests_agree_on_both_sides() {
        for test in [Test::Connect, Test::Request] {
            let with =
                |answered| near_report(7, &[], FarReport { answered, ..FarReport::default() });
            assert_eq!(broken(test, &with(7)), None);
            assert!(broken(test, &with(6)).unwrap().contains("counted 6"));
        }
    }

    #[test]
    fn tcp_delivers_everything_and_udp_at_most_that() {
        for (test, fewer_is_right) in
            [(Test::Stream, false), (Test::Messages, false), (Test::Datagrams, true)]
        {
            let with = |total| near_report(0, &[sent(1000)], counted(&[received(total)]));
            assert_eq!(broken(test, &with(1000)), None, "{test:?}");
            assert_eq!(broken(test, &with(999)).is_none(), fewer_is_right, "{test:?}");
            assert!(broken(test, &with(1001)).is_some(), "{test:?}");
            let none = near_report(0, &[sent(1000)], counted(&[]));
            assert!(broken(test, &none).is_some(), "{test:?}");
            let reordered = Received { reordered: 1001, ..received(1000) };
            let disordered = near_report(0, &[sent(1000)], counted(&[reordered]));
            assert!(broken(test, &disordered).is_some(), "{test:?}");
            let other = Received { connection: 1, ..received(1000) };
            assert!(broken(test, &near_report(0, &[sent(1000)], counted(&[other]))).is_some());
        }
    }

    #[test]
    fn nobody_receives_faster_than_is_sent() {
        let large = 10 << 30;
        let with = |span_ns| {
            let one = Received { ended_ns: span_ns, ..received(large) };
            broken(Test::Stream, &near_report(0, &[sent(large)], counted(&[one])))
        };
        assert_eq!(with(SECOND_NS), None);
        assert!(with(SECOND_NS / 2).unwrap().contains("more than the"));
        // Backwards, and longer than the run.
        let backwards = Received { began_ns: 2, ended_ns: 1, ..received(large) };
        let near = near_report(0, &[sent(large)], counted(&[backwards]));
        assert!(broken(Test::Stream, &near).unwrap().contains("far side's clock"));
        assert!(with(10 * SECOND_NS).unwrap().contains("far side's clock"));
    }

    #[test]
    fn a_rate_is_that_of_all_connections_together() {
        let first = Received { began_ns: 5, ended_ns: 5 + SECOND_NS, ..received(3) };
        let second = Received { began_ns: 5 + SECOND_NS, ended_ns: 5 + 2 * SECOND_NS, ..first };
        assert_eq!(rate(&[first, second]), Some((6.0, 2.0)));
        assert_eq!(rate(&[first, Received::default()]), Some((3.0, 1.0)));
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[Received::default()]), None);
        assert_eq!(rate(&[Received { ended_ns: 5, ..first }]), None);
    }
}
