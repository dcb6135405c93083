//! The order of executions by the times that a tool wrote into its files: these tell it, whatever the
//! order in which the files were given (docs/method.md#m-import-order).

use crate::table_row::TableRow;
use std::collections::{BTreeMap, BTreeSet};

/// Months as C's `asctime` writes them.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Days from the first of March of the year 0 to the beginning of 1970.
const DAYS_BEFORE_1970: i64 = 719_468;

/// When executions began, or were written, by their names: milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolTimes(BTreeMap<String, i64>);

impl ToolTimes {
    /// Notes when an execution of this name was. A file without a row leaves its name to the next one.
    pub(crate) fn note(&mut self, execution: &str, at_ms: Option<i64>) {
        match at_ms {
            Some(at_ms) => self.0.insert(execution.to_owned(), at_ms),
            None => self.0.remove(execution),
        };
    }

    /// Puts rows in the order of these times where all have one and they tell the order of the
    /// subjects. Whether they do; otherwise nothing is moved.
    pub(crate) fn put_in_order(&self, rows: &mut Vec<TableRow>) -> bool {
        let time = |row: &TableRow| self.0.get(row.execution.as_deref()?).copied();
        let Some(times) = rows.iter().map(time).collect::<Option<Vec<i64>>>() else {
            return false;
        };
        if !tells_order(rows, &times) {
            return false;
        }
        let mut timed: Vec<(i64, TableRow)> = times.into_iter().zip(std::mem::take(rows)).collect();
        timed.sort_by_key(|(at_ms, _)| *at_ms);
        rows.extend(timed.into_iter().map(|(_, row)| row));
        true
    }
}

/// Whether times of rows tell the order of their subjects: no two subjects share one, and a subject of
/// several executions has several. One time for all of them is that of a copy or of one moment.
fn tells_order(rows: &[TableRow], times: &[i64]) -> bool {
    let mut subject_at: BTreeMap<i64, &str> = BTreeMap::new();
    let mut known: BTreeMap<&str, (BTreeSet<i64>, BTreeSet<&str>)> = BTreeMap::new();
    for (row, at_ms) in rows.iter().zip(times) {
        let subject = row.subject.as_str();
        if *subject_at.entry(*at_ms).or_insert(subject) != subject {
            return false;
        }
        let (times, executions) = known.entry(subject).or_default();
        times.insert(*at_ms);
        executions.extend(row.execution.as_deref());
    }
    known.values().all(|(times, executions)| times.len() > 1 || executions.len() < 2)
}

/// The time that C's `asctime` writes, `Sat Nov 21 11:35:05 2026`, as if the local time were that of
/// Greenwich: it is compared with others of one clock alone.
pub(crate) fn of_ctime(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, time, year] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|known| known == month)? as i64 + 1;
    unix_ms([digits(year)?, month, digits(day)?], time)
}

/// A date and a time of ISO 8601 to the second, `2026-11-21T11:26:17+00:00`, or as older tools write
/// it: `2017/01/31-12:00:00`. Without an offset it is taken for that of Greenwich.
pub(crate) fn of_date(text: &str) -> Option<i64> {
    let mut day = text.get(..10)?.split(['-', '/']).map(digits);
    let (year, month, of_month) = (day.next()??, day.next()??, day.next()??);
    let is_separated = ["T", " ", "-"].contains(&text.get(10..11)?);
    if day.next().is_some() || !is_separated {
        return None;
    }
    let local_ms = unix_ms([year, month, of_month], text.get(11..19)?)?;
    Some(local_ms - 1_000 * offset_s(text.get(19..)?)?)
}

/// Seconds by which a local time is before that of Greenwich: `Z`, `+02:00`, or nothing.
fn offset_s(text: &str) -> Option<i64> {
    if text.is_empty() || text == "Z" {
        return Some(0);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    Some(sign * (3_600 * digits(hours)? + 60 * digits(minutes)?))
}

/// Milliseconds from 1970 to a time of a year, a month and a day, each as people count them.
fn unix_ms([year, month, day]: [i64; 3], time: &str) -> Option<i64> {
    let mut parts = time.split(':').map(digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let is_time = parts.next().is_none() && hour < 24 && minute < 60 && second < 61;
    let is_day = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_time || !is_day {
        return None;
    }
    // A year that begins in March has its leap day at its end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year - DAYS_BEFORE_1970;
    Some(1_000 * (86_400 * days + 3_600 * hour + 60 * minute + second))
}

/// A number of one to four digits.
fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::importer::Importer;
    use crate::mapping::Mapping;
    use crate::picture::imported;
    use model::ImportedOrder;

    const IOZONE: &str =
        include_str!("../../outputs/tests/golden/iozone/t1_r8k_s32m_I_R__idle.txt");
    const FIO: &str = include_str!("../tests/golden/fio/two_jobs_group.json");
    const BENCHMARK: &str =
        include_str!("../tests/golden/google-benchmark/1.7-aggregates-only.json");
    const IPERF3: &str = include_str!("../../outputs/tests/golden/iperf3/tcp.json");
    const ORDER: &str = "executions are in the order of the times that the files hold";

    /// A file of a tool as it would be of this second, below 60; without one it holds no time.
    type OfSecond = fn(Option<u32>) -> String;

    fn replaced(text: &str, from: &str, to: &str) -> String {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    }

    fn no_time() -> String {
        "\"x\" : 1".to_owned()
    }

    fn fio(second: Option<u32>) -> String {
        let text = replaced(FIO, "\"timestamp\"", "\"before\"");
        let of = |second: u32| format!("\"timestamp_ms\" : 17952079{second:02}751");
        replaced(&text, "\"timestamp_ms\" : 1795207921751", &second.map_or_else(no_time, of))
    }

    fn fio_to_the_second(second: Option<u32>) -> String {
        let text = replaced(FIO, "\"timestamp_ms\"", "\"precise\"");
        let of = |second: u32| format!("\"timestamp\" : 17952079{second:02}");
        replaced(&text, "\"timestamp\" : 1795207921", &second.map_or_else(no_time, of))
    }

    fn perf(second: Option<u32>) -> String {
        let heading =
            second.map(|second| format!("# started on Sat Nov 21 11:35:{second:02} 2026\n\n"));
        let count = second.unwrap_or(77);
        format!("{}{count},,cycles,10{count}000007,100.00,,\n", heading.unwrap_or_default())
    }

    fn benchmark(second: Option<u32>) -> String {
        let of = |second: u32| format!("11:26:{second:02}+00:00");
        replaced(BENCHMARK, "11:26:17+00:00", &second.map_or("noon".to_owned(), of))
    }

    fn iperf3(second: Option<u32>) -> String {
        let of = |second: u32| format!("17952082{second:02}");
        replaced(IPERF3, "1795208240", &second.map_or("\"now\"".to_owned(), of))
    }

    fn iozone(second: Option<u32>) -> String {
        let of = |second: u32| format!("20:54:{second:02} 2026");
        replaced(IOZONE, "20:54:03 2026", &second.map_or("noon".to_owned(), of))
    }

    fn gatling(second: Option<u32>) -> String {
        let began = 1_795_554_500_000 + 1_000 * u64::from(second.unwrap_or(77));
        let (start, end) = (began + 1, began + 9);
        let request = format!("REQUEST\t\tlist\t{start}\t{end}\tOK\t \n");
        format!("RUN\tsim.Sim\tsim\t{began}\t \t3.10.3\n{}", request.repeat(60))
    }

    /// Formats whose files tell when they were measured, and whether one may lack it.
    static FORMATS: [(&dyn Importer, OfSecond, bool); 7] = [
        (&crate::fio::ENTRY, fio, true),
        (&crate::fio::ENTRY, fio_to_the_second, true),
        (&crate::perf_stat::ENTRY, perf, true),
        (&crate::google_benchmark::ENTRY, benchmark, true),
        (&crate::iperf3::ENTRY, iperf3, true),
        (&crate::iozone::ENTRY, iozone, true),
        (&crate::gatling::ENTRY, gatling, false),
    ];

    /// Subjects in the order of the records of their first workload, the subjects of the plan, what is
    /// known of the order, and whether that is told.
    fn order(
        importer: &dyn Importer,
        files: &[(&str, String)],
    ) -> (String, String, ImportedOrder, bool) {
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(subject, text)| (*subject, text.as_bytes())).collect();
        let found = imported(importer, &files, &Mapping::default()).unwrap();
        let first = &found.plan.workloads[0].label;
        let of_first = found.records.iter().filter(|record| record.workload == *first);
        let subjects = found.plan.subjects.iter().map(|subject| subject.id.as_str());
        (
            of_first.map(|record| record.subject.as_str()).collect(),
            subjects.collect(),
            found.plan.imported.unwrap().order,
            found.plan.notes.iter().any(|note| note == ORDER),
        )
    }

    #[test]
    fn times_of_the_tool_tell_the_order_whatever_that_of_the_files() {
        for (importer, text, _) in FORMATS {
            let id = importer.describe().id;
            let of = |files: &[(&'static str, u32)]| {
                let files = files.iter().map(|(subject, second)| (*subject, text(Some(*second))));
                order(importer, &files.collect::<Vec<_>>())
            };
            let told = |order: &str, subjects: &str| {
                (order.to_owned(), subjects.to_owned(), ImportedOrder::Column, true)
            };
            // All of one before all of the other, in files that are given by turns.
            let by_turns = of(&[("b", 24), ("a", 10), ("a", 11), ("b", 25), ("b", 26), ("a", 12)]);
            assert_eq!(by_turns, told("aaabbb", "ba"), "{id}");
            // By turns, in files that are given one subject after the other.
            let by_name = of(&[("a", 10), ("a", 13), ("a", 15), ("b", 11), ("b", 12), ("b", 16)]);
            assert_eq!(by_name, told("abbaab", "ab"), "{id}");
        }
    }

    #[test]
    fn times_that_some_lack_or_that_two_subjects_share_tell_no_order() {
        for (importer, text, may_lack) in FORMATS {
            let id = importer.describe().id;
            let of = |seconds: [Option<u32>; 4]| {
                let files = ["b", "a", "a", "b"].into_iter().zip(seconds);
                order(
                    importer,
                    &files.map(|(subject, second)| (subject, text(second))).collect::<Vec<_>>(),
                )
            };
            let rows = ("baab".to_owned(), "ba".to_owned(), ImportedOrder::Rows, false);
            if may_lack {
                assert_eq!(of([Some(24), Some(10), None, Some(25)]), rows, "{id}");
            }
            if id != "perf-stat" {
                assert_eq!(of([Some(24), Some(24), Some(10), Some(25)]), rows, "{id}");
                assert_eq!(of([Some(24), Some(10), Some(10), Some(24)]), rows, "{id}: copies");
            }
        }
    }

    #[test]
    fn a_time_is_read_as_it_is_written_and_only_so() {
        assert_eq!(of_ctime("Thu Jan  1 00:00:00 1970"), Some(0));
        assert_eq!(of_ctime("Fri Nov 20 20:57:20 2026"), Some(1_795_208_240_000));
        assert_eq!(of_date("2026-11-20T20:57:20+00:00"), Some(1_795_208_240_000));
        assert_eq!(of_date("2026-11-20T22:57:20+02:00"), Some(1_795_208_240_000));
        assert_eq!(of_date("2026/11/20-20:57:20"), Some(1_795_208_240_000));
        assert_eq!(of_date("2024-02-29 00:00:00Z"), Some(1_709_164_800_000));
        assert_eq!(of_date("2024-03-01 00:00:00"), Some(1_709_251_200_000));
        for text in [
            "",
            "Tue",
            "Fri Nov 20 20:57 2026",
            "Fri Now 20 20:57:20 2026",
            "Fri Nov 0 20:57:20 2026",
        ] {
            assert_eq!(of_ctime(text), None, "{text}");
        }
        for text in [
            "",
            "2026-11-20",
            "2026-13-20T20:57:20",
            "2026-11-20T24:57:20",
            "2026-11-20T20:57:20é",
            "1-1-1-1-1T20:57:20",
        ] {
            assert_eq!(of_date(text), None, "{text}");
        }
    }
}
