//! Results of iperf3's client (`--json`): each file is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::table::{ImportedRow, ImportedTable};
use crate::tool_settings::with_version;
use contract::Description;
use model::{CaveatCode, Direction, Metric, Reduction, Sample, Unit};
use outputs::Trouble;
use outputs::iperf3::{Flow, Iperf3Failure, Iperf3Report, Protocol};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "iperf3",
    summary: "iperf3's json: throughput and what was lost or sent again, each file a replicate",
    doc: "A file is what one execution of the client printed, and one replicate; where every file tells its time \
          (`timesecs`), executions are in that order, whatever that of the files. The dimension `direction` (out, from \
          the client to the server, or in) is covered by each execution. `throughput` is what the receiver counted in \
          a second; `retransmits` are the sender's segments that were sent again in a second, where its system tells \
          (ABSENT_VALUES). Of datagrams `messages_per_second` arrived, `lost` and `reordered` are parts of those up \
          to the last one that came, and `jitter` is that of RFC 3550. The lines of its intervals are not read. A \
          file of a client that failed is refused with what iperf3 said: it measured nothing.",
};

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        outputs::iperf3::FORMAT.words
    }

    fn most_bytes(&self) -> &'static model::ReaderLimit {
        &model::IMPORT_JSON_BYTES
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        _mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let report = Iperf3Report::parse(source.bytes).map_err(|failure| match failure {
            Iperf3Failure::Unreadable(trouble) => trouble,
            Iperf3Failure::Reported(said) => {
                Trouble::new(format!("iperf3 failed: {said}"), "leave this file out")
            }
        })?;
        table.declare(&["direction"], &[])?;
        let settings = with_version(&report.settings, Some(&report.version));
        table.settings(source.subject, &settings);
        let execution = table.next_execution();
        let began_s = report.began_unix_s.and_then(|seconds| i64::try_from(seconds).ok());
        table.note_time(&execution, began_s.and_then(|seconds| seconds.checked_mul(1_000)));
        for (level, flow) in [("out", &report.outwards), ("in", &report.inwards)] {
            let Some(flow) = flow else { continue };
            let samples = samples(flow, &format!("{} {level}", source.subject), table)?;
            let row = ImportedRow {
                subject: source.subject.to_owned(),
                levels: vec![level.to_owned()],
                execution: Some(execution.clone()),
                block: None,
                samples,
                failure: None,
            };
            table.push(None, row)?;
        }
        Ok(())
    }
}

fn samples(flow: &Flow, label: &str, table: &mut ImportedTable) -> Result<Vec<Sample>, Trouble> {
    let mut samples = Vec::new();
    let mut add = |table: &mut ImportedTable, id: &str, unit, better, summary: &str, value: f64| {
        let metric = Metric::new(id, unit, better, Reduction::Mean, summary);
        table.know(metric).map(|id| samples.push(Sample::values(&id, vec![value])))
    };
    let rate = flow.received.bytes as f64 / flow.received.seconds;
    let (higher, lower) = (Direction::Higher, Direction::Lower);
    let summary = "bytes received in a second";
    add(table, "throughput", Unit::BytesPerSecond, higher, summary, rate)?;
    table.judge("throughput");
    match &flow.protocol {
        Protocol::Tcp { retransmits: Some(count) } => {
            let summary = "segments sent again in a second";
            let rate = *count as f64 / flow.sent.seconds;
            add(table, "retransmits", Unit::PerSecond, lower, summary, rate)?;
        }
        Protocol::Tcp { retransmits: None } => {
            let what = "what the sender sent again, which its system does not tell";
            table.notice(CaveatCode::AbsentValues, what, label);
        }
        Protocol::Udp(datagrams) => {
            let arrived = (datagrams.expected - datagrams.lost) as f64;
            let rate = arrived / flow.received.seconds;
            let summary = "datagrams received in a second";
            add(table, "messages_per_second", Unit::PerSecond, higher, summary, rate)?;
            let part = |count: u64| count as f64 / datagrams.expected as f64;
            if datagrams.expected == 0 {
                let what = "parts of the datagrams that came, of which there were none";
                table.notice(CaveatCode::AbsentValues, what, label);
                return Ok(samples);
            }
            let lost = "datagrams that never came, as a part of all";
            add(table, "lost", Unit::Fraction, lower, lost, part(datagrams.lost))?;
            let late = "datagrams that came after a later one, as a part of all";
            add(table, "reordered", Unit::Fraction, lower, late, part(datagrams.reordered))?;
            let jitter = "smoothed change of the transit time";
            add(table, "jitter", Unit::Nanoseconds, lower, jitter, datagrams.jitter_ns)?;
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::{Expect, expect};

    macro_rules! golden {
        ($name:literal) => {
            &include_bytes!(concat!("../../outputs/tests/golden/iperf3/", $name, ".json"))[..]
        };
    }

    fn check(files: &[(&str, &[u8])], expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, &Mapping::default()).unwrap()));
    }

    #[test]
    fn what_the_client_was_asked_for_is_named_where_it_differs() {
        let tcp = golden!("tcp");
        let text = String::from_utf8_lossy(tcp);
        let told = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            let other = text.replace(from, to);
            settings_that_differ(&ENTRY, &[("a", tcp), ("b", other.as_bytes())])
        };
        assert_eq!(told("\"socket\":\t5", "\"socket\":\t7"), [""; 0]);
        assert_eq!(
            told("iperf 3.12", "iperf 3.18"),
            ["by the tool's own words: version (a: iperf 3.12; b: iperf 3.18)"]
        );
        assert_eq!(
            told("\"blksize\":\t131072", "\"blksize\":\t1448"),
            ["by the tool's own words: blksize (a: 131072; b: 1448)"]
        );
        assert_eq!(
            told("\"tos\":\t0", "\"tos\":\t8"),
            ["by the tool's own words: tos (a: 0; b: 8)"]
        );
        // What its sockets had, and what both sides say of congestion.
        for (name, from, to) in [
            ("tcp_mss_default", "32768", "1448"),
            ("sock_bufsize", "0", "65536"),
            ("sndbuf_actual", "16384", "131072"),
            ("rcvbuf_actual", "131072", "65536"),
            ("sender_tcp_congestion", "\"bbr\"", "\"cubic\""),
            ("receiver_tcp_congestion", "\"bbr\"", "\"cubic\""),
        ] {
            let field = |value: &str| format!("\"{name}\":\t{value}");
            let (a, b) = (from.trim_matches('"'), to.trim_matches('"'));
            assert_eq!(
                told(&field(from), &field(to)),
                [format!("by the tool's own words: {name} (a: {a}; b: {b})")]
            );
        }
    }

    #[test]
    fn each_direction_of_an_execution_is_a_row() {
        check(
            &[("a", golden!("tcp_bidir")), ("b", golden!("tcp"))],
            &expect![[r#"
            dimension direction covered
            metric throughput BytesPerSecond Higher Mean 0.02 judged
            metric retransmits PerSecond Lower Mean 0.02
            a [out] #0 throughput=847250532.4615362 retransmits=4.985969481877995
            a [in] #0 throughput=1390349836.9103827 retransmits=24.929847409389975
            b [out] #2 throughput=1894917783.5015497 retransmits=5.995024129972123
        "#]],
        );
    }

    #[test]
    fn datagrams_are_counted_by_the_receiver() {
        check(
            &[("a", golden!("udp_64_bytes"))],
            &expect![[r#"
            dimension direction covered
            metric throughput BytesPerSecond Higher Mean 0.02 judged
            metric messages_per_second PerSecond Higher Mean 0.02
            metric lost Fraction Lower Mean 0.02
            metric reordered Fraction Lower Mean 0.02
            metric jitter Nanoseconds Lower Mean 0.02
            a [out] #0 throughput=25046177.167295113 messages_per_second=391346.51823898614 lost=0.32544122716304724 reordered=0 jitter=812.1708308136878
        "#]],
        );
    }

    #[test]
    fn a_sender_that_does_not_tell_what_it_sent_again_is_noted() {
        let text = String::from_utf8(golden!("tcp").to_vec()).unwrap();
        let text = text.replace("\"retransmits\"", "\"unknown\"");
        check(
            &[("a", text.as_bytes())],
            &expect![[r#"
            dimension direction covered
            metric throughput BytesPerSecond Higher Mean 0.02 judged
            a [out] #0 throughput=1894917783.5015497
            caveat ABSENT_VALUES: what the sender sent again, which its system does not tell: a out
        "#]],
        );
    }

    #[test]
    fn a_client_that_failed_measured_nothing() {
        let told = refusal(&ENTRY, golden!("refused"), &Mapping::default());
        assert_eq!(told, "iperf3 failed: unable to connect to server: Connection refused");
    }
}
