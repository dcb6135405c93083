//! Logs of sockperf's client (`--full-log`): each file is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::table::{ImportedRow, ImportedTable};
use crate::tool_settings::{options, with_version};
use contract::Description;
use model::{CaveatCode, Metric, Reduction, Sample};
use outputs::sockperf::round_trips;
use outputs::{Percentile, Trouble};

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "sockperf",
    summary: "sockperf --full-log: the round trip of every message, each file a replicate",
    doc: "A file is the log of one execution of the client and one replicate. `round_trip` is the time from sending a \
          message until its reply, of every message in the log, from its two moments: where sockperf prints a \
          `latency` it is half of that. A percentile with fewer than ten messages beyond it becomes no metric \
          (INSUFFICIENT_TAIL). `ping-pong` waits for each reply, and a log does not say which test it is of: the load \
          is taken for closed-loop. Messages that were lost are in no log.",
};

/// Percentiles that become metrics.
const PERCENTILES: [Percentile; 4] =
    [Percentile::whole(50), Percentile::whole(90), Percentile::whole(99), Percentile::P999];
const NAME: &str = "round_trip";
/// What stands before its version, where the log holds what sockperf printed, too.
const VERSION: &str = "version #";
/// What stands before the options of a log.
const PARAMETERS: &str = "test was performed using the following parameters:";

/// The format.
pub(crate) struct Entry;

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        outputs::sockperf::FORMAT.words
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        _mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let remedy = "give the file that sockperf wrote with --full-log";
        let text =
            std::str::from_utf8(source.bytes).map_err(|_| Trouble::new("it is no text", remedy))?;
        let trips = round_trips(text)?;
        if trips.count() == 0 {
            return Err(Trouble::new("it has no messages", "leave this file out"));
        }
        table.declare(&[], &[])?;
        let said = text.lines().find_map(|line| line.split_once(PARAMETERS));
        let said = said.map(|(_, said)| options(said.split_whitespace())).unwrap_or_default();
        let version = text.split_once(VERSION).and_then(|(_, rest)| rest.split_whitespace().next());
        table.settings(source.subject, &with_version(&said, version));
        table.is_closed_loop = true;
        let label = source.subject;
        if trips.clamped() > 0 {
            table.notice(CaveatCode::Clamped, "round trips of more than an hour", label);
        }
        for percentile in PERCENTILES {
            if !percentile.has_tail(trips.count()) {
                let what = "fewer than 10 messages lie beyond these percentiles of a distribution";
                let item = format!("{label} {}", percentile.name());
                table.notice(CaveatCode::InsufficientTail, what, &item);
                continue;
            }
            let quantile = Reduction::Quantile(percentile.quantile());
            let metric = crate::percentile::metric(percentile, NAME, quantile);
            let id = table.know(Metric { source: NAME.to_owned(), resolution: 1.0, ..metric })?;
            if [Percentile::whole(50), Percentile::whole(99)].contains(&percentile) {
                table.judge(&id);
            }
        }
        let execution = table.next_execution();
        let row = ImportedRow {
            subject: source.subject.to_owned(),
            levels: Vec::new(),
            execution: Some(execution),
            block: None,
            samples: vec![Sample::histogram(NAME, trips)],
            failure: None,
        };
        table.push(None, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{picture, read, refusal, settings_that_differ};
    use expect_test::expect;

    const LOG: &str = include_str!("../../outputs/tests/golden/sockperf/under_load.csv");

    #[test]
    fn a_log_is_a_distribution_whose_tail_must_be_there() {
        let row = "0, 2.499678749, 2.499734474, 55.725\n";
        let long = LOG.replace(row, &row.repeat(1200));
        let files = [("a", long.as_bytes()), ("b", LOG.as_bytes())];
        let table = read(&ENTRY, &files, &Mapping::default()).unwrap();
        expect![[r#"
            metric round_trip_p50 Nanoseconds Lower Quantile(0.5) 0.02 judged
            metric round_trip_p90 Nanoseconds Lower Quantile(0.9) 0.05
            metric round_trip_p99 Nanoseconds Lower Quantile(0.99) 0.05 judged
            closed loop
            a [] #0 round_trip=n1204 p50:55743 p99:55743
            b [] #1 round_trip=n5 p50:27391 p99:55743
            caveat INSUFFICIENT_TAIL: fewer than 10 messages lie beyond these percentiles of a distribution: a p999, b p50, b p90, b p99, b p999
        "#]].assert_eq(&picture(&table));
    }

    #[test]
    fn another_size_of_messages_is_named() {
        let told = |from: &str, to: &str| {
            assert!(LOG.contains(from), "{from}");
            let other = LOG.replace(from, to);
            settings_that_differ(&ENTRY, &[("a", LOG.as_bytes()), ("b", other.as_bytes())])
        };
        assert_eq!(told("RunTime=1.000", "RunTime=1.001"), [""; 0]);
        assert_eq!(
            told("--msg-size=64", "--msg-size=1400"),
            ["by the tool's own words: --msg-size (a: 64; b: 1400)"]
        );
        let printed = |version: &str| format!("sockperf: == version #{version} == \n{LOG}");
        let (old, new) = (printed("3.7-no.git"), printed("3.10-no.git"));
        assert_eq!(
            settings_that_differ(&ENTRY, &[("a", old.as_bytes()), ("b", new.as_bytes())]),
            ["by the tool's own words: version (a: 3.7-no.git; b: 3.10-no.git)"]
        );
        assert_eq!(
            told(" --full-rtt", ""),
            ["by the tool's own words: --full-rtt (a: yes; b: not said)"]
        );
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let refused = |bytes: &[u8]| refusal(&ENTRY, bytes, &Mapping::default());
        assert_eq!(refused(b"\xff"), "it is no text");
        assert_eq!(refused(b"Summary: Latency is 4.771 usec"), "no heading of a table of messages");
        let heading = "packet, txTime(sec), rxTime(sec), rtt(usec)\n---\n";
        assert_eq!(refused(heading.as_bytes()), "it has no messages");
    }
}
