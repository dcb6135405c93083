//! Counts of `perf stat -x,`: each execution of the program is a replicate.

use crate::importer::{ImportFile, Importer};
use crate::mapping::Mapping;
use crate::metrics::{metric_id, number, unit};
use crate::started::ExecutionTimes;
use crate::table::{ImportedRow, ImportedTable};
use crate::time_order::of_ctime;
use contract::Description;
use model::{CaveatCode, Direction, Reduction, Sample, Unit};
use outputs::Trouble;

pub(crate) static ENTRY: Entry = Entry;

static DESCRIPTION: Description = Description {
    id: "perf-stat",
    summary: "perf stat -x, (or ; | or a tab): counts of a fixed job, each execution a replicate",
    doc: "Each execution of `perf stat -x,` is a replicate. A file may hold many, each below the heading `# started on` \
          that perf writes (`perf stat -x, -o FILE --append` in a loop), and several files of one subject may be \
          given; an event that comes again without a heading is refused, and so are files of one subject that are evidently \
          parts of one execution: they began in the same second and counted for the same time, or took longer than that \
          second. Files of one subject without the heading may be such parts (REPLICATE_LEVEL_UNKNOWN): write them \
          with -o. Where every heading tells its time, executions are in that order, whatever that of the files. \
          The counts are those of a fixed job: events that cost (time, cycles, switches, faults, misses) are \
          better where they are lower; others, such as instructions, are no metrics unless `--better \
          instructions=lower` says which way. An event that was not counted or is not supported is absent, never zero \
          (ABSENT_VALUES). `-r N` leaves only means (SUMMARY_ONLY); run perf N times instead. Rows by interval (-I), \
          CPU (-A), socket or control group are refused: they are parts of one execution. Lines of the program itself are passed \
          over where they have no separators. Of events that were counted for a part of the time only (multiplexing) a \
          note tells the least share: their counts are estimates of perf's own, unless it ran with --no-scale.",
};

/// Events of which a fixed job should have fewer.
const COSTS: [&str; 32] = [
    "duration_time",
    "user_time",
    "system_time",
    "task-clock",
    "cpu-clock",
    "cycles",
    "cpu-cycles",
    "ref-cycles",
    "bus-cycles",
    "context-switches",
    "cs",
    "cpu-migrations",
    "migrations",
    "page-faults",
    "faults",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "cache-misses",
    "branch-misses",
    "L1-dcache-load-misses",
    "L1-icache-load-misses",
    "LLC-load-misses",
    "LLC-store-misses",
    "dTLB-load-misses",
    "dTLB-store-misses",
    "iTLB-load-misses",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "power/energy-pkg/",
    "power/energy-cores/",
];
/// The first of these that was counted is judged; the first event otherwise.
const HEADLINES: [&str; 2] = ["duration_time", "task-clock"];
/// What begins each execution in a file that perf appends to.
const HEADING: &str = "# started on ";
/// What may separate the fields.
const SEPARATORS: [char; 4] = [',', ';', '|', '\t'];
/// An execution counts fewer events than this.
const MOST_EVENTS: usize = 1_000;
/// Value, unit, event, run time and share of time: every line has these.
const FEWEST_FIELDS: usize = 5;
/// No line of perf's has so many.
const MOST_FIELDS: usize = 100;

/// The format.
pub(crate) struct Entry;

/// What perf counted in one execution.
struct Execution<'a> {
    /// When its heading says that it began.
    began: Option<&'a str>,
    events: Vec<Counted<'a>>,
}

/// A line of one event.
struct Counted<'a> {
    line: u64,
    /// None where it was not counted.
    value: Option<f64>,
    unit: &'a str,
    event: &'a str,
    is_mean: bool,
    /// For how long it was counted.
    counted_ns: Option<u64>,
    /// For what share of the time it was enabled it was counted, in percent.
    counted_percent: Option<f64>,
    /// How many CPUs it kept busy at most, as far as the digits go; of a clock alone.
    cpus: Option<f64>,
}

impl Importer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "3,,cycles,7,100.00,,\n",
            "3;;faults;7;100.00;;\n",
            "<not counted>",
            "<not supported>",
            "msec",
            "task-clock",
            "duration_time",
            "ns",
            "0.50%",
            "CPU0,",
            "S0,2,",
            "# started on Tue\n",
            ",,,,,0.55,x\n",
            ",",
            "|",
            "\t",
            "\n",
            "better = {instructions = \"lower\"}",
            "instructions",
            "NaN",
            "-1",
            "1e308",
            "1,5",
        ]
    }

    fn read(
        &self,
        source: &ImportFile<'_>,
        mapping: &Mapping,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let bytes = source.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source.bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = outputs::line_of(bytes, error.valid_up_to());
            Trouble::at(line, "it is not UTF-8", "give the file that perf stat -x wrote")
        })?;
        let separator = separator(text).ok_or_else(|| {
            let remedy = "write it with perf stat -x, -o FILE";
            Trouble::new("it has no line of perf stat with separated fields", remedy)
        })?;
        let executions = executions(text, separator)?;
        refuse_unequal(&executions)?;
        table.declare(&[], &[])?;
        judge_headline(&executions, mapping, table)?;
        for execution in &executions {
            let began_ms = execution.began.and_then(of_ctime);
            let name = table.next_execution();
            table.note_time(&name, began_ms);
            append(&execution.events, source, mapping, table)?;
            execution.note_times(source, table)?;
        }
        Ok(())
    }
}

/// The events of each execution: perf begins each with a heading where it appends to a file. An event
/// that comes again without one may be another execution or another part of the same.
fn executions(text: &str, separator: char) -> Result<Vec<Execution<'_>>, Trouble> {
    let mut executions: Vec<Execution<'_>> = Vec::new();
    let (mut began, mut has_begun) = (None, true);
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(when) = text.strip_prefix(HEADING) {
            began = Some(when.trim());
            has_begun = true;
        }
        let Some(counted) = Counted::of(line, text, separator)? else { continue };
        match executions.last_mut().filter(|_| !has_begun) {
            Some(open) if open.events.iter().any(|known| known.event == counted.event) => {
                let event = counted.event;
                let cause = format!("{event} comes again, and no heading begins another execution");
                let remedy = "let perf write the heading (-o FILE --append), or give a file for each execution";
                return Err(Trouble::at(line, cause, remedy));
            }
            Some(open) if open.events.len() >= MOST_EVENTS => {
                let cause =
                    format!("more than {MOST_EVENTS} events in one execution (limit PERF_EVENTS)");
                return Err(Trouble::at(line, cause, "count fewer events"));
            }
            Some(open) => open.events.push(counted),
            None => executions.push(Execution { began: began.take(), events: vec![counted] }),
        }
        has_begun = false;
    }
    Ok(executions)
}

impl Execution<'_> {
    /// How long it took at least: what perf says of it, or its time on CPUs by how many of them it
    /// kept busy.
    fn elapsed_ns(&self) -> Option<f64> {
        let ns = |counted: &Counted<'_>| counted.counted_ns.map(|ns| ns as f64);
        let duration = self.events.iter().find(|one| one.plain_event() == "duration_time");
        let by_clock = || self.events.iter().find_map(|one| Some(ns(one)? / one.cpus?));
        duration.and_then(ns).or_else(by_clock)
    }

    /// Refuses what is evidently a part of another execution.
    fn note_times(
        &self,
        source: &ImportFile<'_>,
        table: &mut ImportedTable,
    ) -> Result<(), Trouble> {
        let times = ExecutionTimes {
            began: self.began.map(str::to_owned),
            counted_ns: self.events.iter().filter_map(|one| one.counted_ns).collect(),
            elapsed_ns: self.elapsed_ns(),
            file: source.execution,
        };
        table.note_times(source.subject, times).map_err(|cause| Trouble {
            line: self.events.first().map(|counted| counted.line),
            cause,
            remedy:
                "give of each execution one file; of its control groups, count all together or \
                     compare one of them alone"
                    .to_owned(),
        })
    }
}

/// The separator of the first line that is one of perf's.
fn separator(text: &str) -> Option<char> {
    text.lines().find_map(|line| {
        let is_perf = |separator: &char| begins(line, *separator, FEWEST_FIELDS, is_value);
        let is_per_part = |separator: &char| begins(line, *separator, FEWEST_FIELDS + 1, is_part);
        let found = SEPARATORS.into_iter().find(is_perf);
        found.or_else(|| SEPARATORS.into_iter().find(is_per_part))
    })
}

/// Whether a line has so many fields at least, and the first is one of these.
fn begins(line: &str, separator: char, fields: usize, is_first: fn(&str) -> bool) -> bool {
    let mut split = line.split(separator);
    let first = split.next();
    split.take(fields - 1).count() == fields - 1 && first.is_some_and(is_first)
}

/// A number, or what stands in place of one.
fn is_value(field: &str) -> bool {
    let field = field.trim();
    is_absent(field) || (!field.is_empty() && number(field, 0, "").is_ok())
}

fn is_absent(field: &str) -> bool {
    matches!(field, "<not counted>" | "<not supported>")
}

/// The largest number that is written so: with half of its last digit more.
fn at_most(text: &str) -> Option<f64> {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(number + 0.5 * 10_f64.powi(-(digits.min(9) as i32)))
}

/// A CPU, core, die, socket or node that a row is about.
fn is_part(field: &str) -> bool {
    let name = field.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_named = ["CPU", "S", "D", "C", "N"].iter().any(|part| field.trim().starts_with(part));
    is_named && name.starts_with(|c: char| c.is_ascii_digit())
}

impl<'a> Counted<'a> {
    /// None for a line that is none of perf's.
    fn of(line: u64, text: &'a str, separator: char) -> Result<Option<Self>, Trouble> {
        let fields = text.split(separator).map(str::trim);
        let fields: Vec<&str> = fields.take(MOST_FIELDS).collect();
        // `,,,,,,0.55,stalled cycles per insn`: a second derived figure of the event before.
        let is_derived = fields.len() >= FEWEST_FIELDS && fields[..3].iter().all(|f| f.is_empty());
        let is_foreign = fields.len() < 3 && !(fields.len() == 2 && is_value(fields[0]));
        if text.starts_with('#') || is_derived || is_foreign {
            return Ok(None);
        }
        let refused = |cause: &str, remedy: &str| Err(Trouble::at(line, cause, remedy));
        if is_part(fields[0]) {
            let cause = "it counts a CPU, core or socket, which is a part of one execution";
            return refused(cause, "run perf stat without -A and --per-…");
        }
        if fields.len() < FEWEST_FIELDS {
            let cause = format!(
                "it has {} fields; perf stat writes {FEWEST_FIELDS} at least",
                fields.len()
            );
            return refused(&cause, "let perf write into a file of its own (-o FILE)");
        }
        if is_value(fields[0]) && is_value(fields[1]) {
            let cause = "it begins with a time stamp: intervals (-I) are parts of one execution, or its numbers have \
                         a decimal comma";
            return refused(cause, "run perf stat without -I, and with LC_ALL=C");
        }
        let (value, unit, event) = (fields[0], fields[1], fields[2]);
        if event.is_empty() || number(event, 0, "").is_ok() {
            return refused(
                "its third field names no event",
                "let perf write into a file of its own (-o FILE)",
            );
        }
        let is_known = |field: &str| field.is_empty() || field.ends_with('%') || is_value(field);
        if !is_known(fields[3]) {
            let cause = "its fourth field is neither a run time nor a share: a control group (-G, --for-each-cgroup) is a \
                         part of one execution";
            return refused(
                cause,
                "count the whole of each execution, or one group alone: of each execution the lines of that group, \
                 without the column of its name (old=old-1.txt old=old-2.txt new=new-1.txt ..). Several groups of one \
                 execution are no executions of one subject",
            );
        }
        let value = match is_absent(value) {
            true => None,
            false => Some(number(value, line, "the count")?),
        };
        if value.is_some_and(|value| value < 0.0) {
            return refused("the count is negative", "correct the line, or remove it");
        }
        let is_mean = fields[3].ends_with('%');
        let of_time = if is_mean { 4 } else { 3 };
        let counted_ns = fields.get(of_time).and_then(|ns| ns.parse().ok());
        // A language may write a comma.
        let counted_percent =
            fields.get(of_time + 1).and_then(|percent| percent.replace(',', ".").parse().ok());
        let cpus = fields.windows(2).find(|pair| pair[1] == "CPUs utilized");
        let cpus = cpus.and_then(|pair| at_most(pair[0])).filter(|cpus| *cpus > 0.0);
        Ok(Some(Self { line, value, unit, event, is_mean, counted_ns, counted_percent, cpus }))
    }

    /// The event without what was asked about it: `cycles:u`, `cpu_core/cycles/`.
    fn plain_event(&self) -> &'a str {
        let name = self.event.split_once(':').map_or(self.event, |(name, _)| name);
        let inner =
            ["cpu/", "cpu_core/", "cpu_atom/"].iter().find_map(|pmu| name.strip_prefix(pmu));
        inner.and_then(|name| name.strip_suffix('/')).unwrap_or(name)
    }

    /// Which way it is better; an event of which nobody said so is no metric.
    fn direction(&self, mapping: &Mapping) -> Option<Direction> {
        mapping.direction_of(self.event).or_else(|| self.is_cost().then_some(Direction::Lower))
    }

    /// Whether the format itself says that fewer are better.
    fn is_cost(&self) -> bool {
        COSTS.contains(&self.plain_event())
    }
}

/// Every execution has the same events: otherwise one was counted twice, or the file is torn.
fn refuse_unequal(executions: &[Execution<'_>]) -> Result<(), Trouble> {
    let names = |execution: &Execution<'_>| -> Vec<String> {
        let events = execution.events.iter();
        let mut names: Vec<_> = events.map(|counted| counted.event.to_owned()).collect();
        names.sort();
        names
    };
    let Some(first) = executions.first() else { return Ok(()) };
    let expected = names(first);
    let Some(other) = executions.iter().find(|execution| names(execution) != expected) else {
        return Ok(());
    };
    let cause = "the execution that begins here has other events than the first one";
    let remedy = "count the same events in every execution, each of them once";
    Err(Trouble::at(other.events[0].line, cause, remedy))
}

/// Chooses what is judged; the choice of the first file stands.
fn judge_headline(
    executions: &[Execution<'_>],
    mapping: &Mapping,
    table: &mut ImportedTable,
) -> Result<(), Trouble> {
    let each = || executions.iter().flat_map(|execution| &execution.events);
    let all = || each().filter(|counted| counted.value.is_some());
    let metrics: Vec<&Counted<'_>> = all().filter(|c| c.direction(mapping).is_some()).collect();
    let Some(first) = metrics.first() else {
        let cause = "it has no count of which it is known which way is better";
        let remedy = match all().next() {
            Some(counted) => format!("say --better {}=lower or =higher", counted.event),
            None => "nothing was counted: give another file".to_owned(),
        };
        return Err(Trouble::new(cause, remedy));
    };
    let is_headline = |name: &str| metrics.iter().find(|counted| counted.plain_event() == name);
    let chosen = HEADLINES.iter().find_map(|name| is_headline(name)).unwrap_or(first);
    if table.primary.is_empty() {
        let id = metric_of(chosen, mapping, table)?.map(|(id, _)| id);
        table.primary.extend(id);
        let own = metrics.iter().find(|counted| counted.is_cost());
        if let Some(own) = own.filter(|_| !chosen.is_cost()) {
            table.choices.usual = Some(vec![metric_id(own.event)]);
        }
    }
    Ok(())
}

/// The id of an event's metric, and by what its counts are multiplied.
fn metric_of(
    counted: &Counted<'_>,
    mapping: &Mapping,
    table: &mut ImportedTable,
) -> Result<Option<(String, f64)>, Trouble> {
    let Some(direction) = counted.direction(mapping) else { return Ok(None) };
    let (unit, scale) = match counted.unit {
        "" => (Unit::Count, 1.0),
        "Joules" => (Unit::Joules, 1.0),
        written => unit(written),
    };
    let id = table
        .metric(counted.event, unit, direction, Reduction::Mean)
        .map_err(|trouble| Trouble { line: Some(counted.line), ..trouble })?;
    if counted.is_cost() && direction == Direction::Higher {
        table.choices.turned.insert(id.clone());
    }
    Ok(Some((id, scale)))
}

fn append(
    execution: &[Counted<'_>],
    source: &ImportFile<'_>,
    mapping: &Mapping,
    table: &mut ImportedTable,
) -> Result<(), Trouble> {
    let mut samples = Vec::new();
    for counted in execution {
        let Some(value) = counted.value else {
            if counted.direction(mapping).is_some() {
                let what = "events that were not counted in an execution";
                table.notice(CaveatCode::AbsentValues, what, counted.event);
            }
            continue;
        };
        let Some((id, scale)) = metric_of(counted, mapping, table)? else { continue };
        let value = value * scale;
        if !value.is_finite() {
            let cause = "the count is too large for its unit";
            return Err(Trouble::at(counted.line, cause, "correct the line, or remove it"));
        }
        if counted.is_mean {
            let what = "means of several executions (-r)";
            table.notice(CaveatCode::SummaryOnly, what, source.subject);
        }
        if let Some(percent) = counted.counted_percent {
            table.counted_share(&id, percent);
        }
        samples.push(Sample::values(&id, vec![value]));
    }
    let row = ImportedRow {
        subject: source.subject.to_owned(),
        levels: Vec::new(),
        execution: Some(table.next_execution()),
        block: None,
        samples,
        failure: None,
    };
    table.push(execution.first().map(|counted| counted.line), row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MappingDirection as Better;
    use crate::picture::{imported, picture, read, refusal};
    use expect_test::{Expect, expect};

    const THREE: &[u8] = include_bytes!("../tests/golden/perf-stat/6.1-three-executions.csv");
    const HACKBENCH: &[u8] = include_bytes!("../tests/golden/perf-stat/with_perf_stat_x.txt");
    const REPEATED: &[u8] = include_bytes!("../tests/golden/perf-stat/6.1-repeated.csv");
    const INTERVALS: &[u8] = include_bytes!("../tests/golden/perf-stat/6.1-intervals.csv");
    const BY_CPU: &[u8] = include_bytes!("../tests/golden/perf-stat/6.1-by-cpu.csv");

    fn check(files: &[(&str, &[u8])], mapping: &Mapping, expected: &Expect) {
        expected.assert_eq(&picture(&read(&ENTRY, files, mapping).unwrap()));
    }

    fn refused(text: &str) -> String {
        refusal(&ENTRY, text.as_bytes(), &Mapping::default())
    }

    #[test]
    fn a_heading_begins_the_next_execution_and_an_event_that_comes_again_does_not() {
        let once = "3,,cycles,7,100.00,,\n";
        assert_eq!(
            refused(&format!("{once}{once}")),
            "line 2: cycles comes again, and no heading begins another execution"
        );

        check(
            &[("a", THREE)],
            &Mapping::default(),
            &expect![[r#"
            metric duration_time Nanoseconds Lower Mean 0.02 judged
            metric task_clock Nanoseconds Lower Mean 0.02
            metric context_switches Count Lower Mean 0.02
            metric page_faults Count Lower Mean 0.02
            a [] #0 duration_time=1452165 task_clock=600000 context_switches=1 page_faults=50
            a [] #1 duration_time=974594 task_clock=500000 context_switches=0 page_faults=49
            a [] #2 duration_time=1050026 task_clock=560000 context_switches=1 page_faults=51
            caveat ABSENT_VALUES: events that were not counted in an execution: cycles
        "#]],
        );
    }

    #[test]
    fn lines_of_the_program_are_passed_over() {
        // Another execution is counted for another time.
        let again = String::from_utf8_lossy(HACKBENCH).replace("232012904", "232013377");
        check(
            &[("a", HACKBENCH), ("a", again.as_bytes())],
            &Mapping::default(),
            &expect![[r#"
            metric task_clock Nanoseconds Lower Mean 0.02 judged
            metric context_switches Count Lower Mean 0.02
            metric cpu_migrations Count Lower Mean 0.02
            metric page_faults Count Lower Mean 0.02
            a [] #0 context_switches=7298 cpu_migrations=60 page_faults=1220 task_clock=232010000
            a [] #1 context_switches=7298 cpu_migrations=60 page_faults=1220 task_clock=232010000
        "#]],
        );
    }

    #[test]
    fn repetitions_of_perf_itself_are_a_summary() {
        check(
            &[("a", REPEATED)],
            &Mapping::default(),
            &expect![[r#"
            metric duration_time Nanoseconds Lower Mean 0.02 judged
            metric task_clock Nanoseconds Lower Mean 0.02
            metric context_switches Count Lower Mean 0.02
            a [] #0 task_clock=570000 context_switches=1 duration_time=11102609
            caveat SUMMARY_ONLY: means of several executions (-r): a
        "#]],
        );
    }

    #[test]
    fn an_event_without_a_known_direction_is_no_metric_until_it_is_declared() {
        let text = "5,,instructions:u,7,100.00,,\n9,,cycles:u,7,100.00,,\n";
        check(
            &[("a", text.as_bytes())],
            &Mapping::default(),
            &expect![[r#"
            metric cycles_u Count Lower Mean 0.02 judged
            a [] #0 cycles_u=9
        "#]],
        );
        let mapping = Mapping {
            better: [("instructions:u".to_owned(), Better::Lower)].into(),
            ..Mapping::default()
        };
        check(
            &[("a", text.as_bytes())],
            &mapping,
            &expect![[r#"
            metric instructions_u Count Lower Mean 0.02 judged
            metric cycles_u Count Lower Mean 0.02
            a [] #0 instructions_u=5 cycles_u=9
        "#]],
        );
        let found = refused("5,,instructions,7,100.00,,\n");
        assert_eq!(found, "it has no count of which it is known which way is better");
    }

    #[test]
    fn events_that_were_not_counted_all_the_time_are_told_with_the_least_share() {
        let of = |second: u64, share: &str, of_misses: &str| {
            let ns = 2_000_000 + second;
            format!(
                "{HEADING}Tue Jun  3 10:00:{second:02} 2025\n\n\
                 {ns},ns,duration_time,{ns},100.00,,\n\
                 {ns},,cycles,{ns},{share},,\n\
                 {second},,branch-misses,{ns},{of_misses},,\n\
                 5,,instructions,{ns},12.00,,\n\
                 <not counted>,,cache-misses,{ns},20.00,,\n\
                 <not supported>,,bus-cycles,0,30.00,,\n"
            )
        };
        let told = |one: &str, other: &str| -> Vec<String> {
            let files = [("a", one.as_bytes()), ("b", other.as_bytes())];
            let plan = imported(&ENTRY, &files, &Mapping::default()).unwrap().plan;
            plan.notes.into_iter().filter(|note| note.contains("did not count")).collect()
        };
        let (whole, next) = (of(1, "100.00", "100.00"), of(2, "100.00", "100.00"));
        assert_eq!(told(&whole, &next), [""; 0]);
        let part = format!("{}{}", of(2, "45.23", "100.00"), of(3, "66.67", "99.99"));
        assert_eq!(
            told(&whole, &part),
            [
                "events that perf did not count all the time, with the least share of it in an execution: cycles 45.23 %, \
                 branch_misses 99.99 %; unless perf ran with --no-scale, their counts are its estimates from that share"
            ]
        );
        // What was not counted has no number, whatever its share.
        let table = read(&ENTRY, &[("b", part.as_bytes())], &Mapping::default()).unwrap();
        for row in &table.rows {
            let sources: Vec<&str> = row.samples.iter().map(|one| &*one.source).collect();
            assert_eq!(sources, ["duration_time", "cycles", "branch_misses"]);
        }
    }

    #[test]
    fn the_share_stands_behind_the_deviation_of_repetitions() {
        let text = "3,,cycles,0.78%,7,25.00,,\n";
        let mut table = read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap();
        table.note_counted_shares();
        assert!(table.notes[0].contains(": cycles 25.00 %; "), "{:?}", table.notes);
    }

    #[test]
    fn any_of_four_separators_is_found() {
        for separator in [",", ";", "|", "\t"] {
            let text = "x y\n3,,context-switches,7,100.00,,\n".replace(',', separator);
            let table = read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap();
            assert_eq!(table.rows[0].samples, [Sample::values("context_switches", vec![3.0])]);
        }
    }

    #[test]
    fn parts_of_an_execution_are_refused() {
        let found = refusal(&ENTRY, INTERVALS, &Mapping::default());
        assert!(found.starts_with("line 3: it begins with a time stamp"), "{found}");
        let found = refusal(&ENTRY, BY_CPU, &Mapping::default());
        assert!(found.starts_with("line 3: it counts a CPU, core or socket"), "{found}");
        assert!(refused("S0-D0-C0,1,5,,cycles,7,100.00,,").starts_with("line 1: it counts a CPU"));
        // One execution of five groups was taken for five replicates.
        let by_group = "3,,cycles,system.slice,7,100.00,,\n3,,cycles,user.slice,7,100.00,,\n";
        assert!(refused(by_group).starts_with("line 1: its fourth field is neither"));
    }

    /// Five control groups of one execution, each in a file without the column of its name.
    #[test]
    fn parts_of_an_execution_in_files_of_their_own_are_no_replicates() {
        let began = format!("{HEADING}Tue Jun  3 10:00:00 2025\n\n");
        let of_group = |ms: &str, switches: u32, ns: &str| {
            format!(
                "{began}{ms},msec,cpu-clock,{ns},100.00,1.0,CPUs utilized\n\
                 {switches},,context-switches,{ns},100.00,1.0,/sec\n"
            )
        };
        let groups = [
            of_group("8106.20", 2398, "8106200000"),
            of_group("412.75", 911, "412750000"),
            of_group("1533.10", 57, "1533100000"),
        ];
        let refused = |files: &[(&str, &[u8])]| {
            let trouble = read(&ENTRY, files, &Mapping::default()).unwrap_err();
            assert!(trouble.remedy.contains("compare one of them alone"), "{trouble}");
            trouble.to_string()
        };
        let files = groups.each_ref().map(|group| ("fair", group.as_bytes()));
        let found = refused(&files);
        assert!(
            found.contains("it began in the same second as another execution of fair"),
            "{found}"
        );
        // Each group alone, and each as a subject of its own.
        let subjects = ["system", "user", "init"];
        let apart: Vec<(&str, &[u8])> =
            subjects.iter().zip(&groups).map(|(id, group)| (*id, group.as_bytes())).collect();
        assert_eq!(read(&ENTRY, &apart, &Mapping::default()).unwrap().rows.len(), 3);

        // Without a clock: counted for the same time, or nobody knows how long it took.
        let switches =
            |count: u32, ns: u64| format!("{began}{count},,context-switches,{ns},100.00,,\n");
        let (one, two) = (switches(9942, 1_000_000_000), switches(8977, 1_000_000_000));
        let found = refused(&[("a", one.as_bytes()), ("a", two.as_bytes())]);
        assert!(found.contains("counted for the same nanoseconds"), "{found}");
        let other = switches(8977, 1_000_000_007);
        let files = [("a", one.as_bytes()), ("a", other.as_bytes())];
        let mut table = read(&ENTRY, &files, &Mapping::default()).unwrap();
        table.notice_simultaneous();
        let told: Vec<&str> = table.caveats.iter().map(|caveat| caveat.detail.as_str()).collect();
        assert_eq!(
            told,
            ["files that began in the same second and may be parts of one execution: a"]
        );
        assert_eq!(table.caveats[0].code, CaveatCode::ReplicateLevelUnknown);
    }

    #[test]
    fn files_without_a_heading_may_be_parts_of_one_execution() {
        let of = |count: u32, ns: u64| format!("{count},,context-switches,{ns},100.00,,\n");
        let files = [of(9942, 1_000_000_000), of(8977, 1_000_000_007)];
        let of_one: Vec<(&str, &[u8])> = files.iter().map(|file| ("a", file.as_bytes())).collect();
        let mut table = read(&ENTRY, &of_one, &Mapping::default()).unwrap();
        table.notice_simultaneous();
        let told: Vec<&str> = table.caveats.iter().map(|caveat| caveat.detail.as_str()).collect();
        assert_eq!(
            told,
            ["files that do not say when they began and may be parts of one execution: a"]
        );
        assert_eq!(table.caveats[0].code, CaveatCode::ReplicateLevelUnknown);
        let of_each = [("a", files[0].as_bytes()), ("b", files[1].as_bytes())];
        let mut table = read(&ENTRY, &of_each, &Mapping::default()).unwrap();
        table.notice_simultaneous();
        assert_eq!(table.caveats, []);
    }

    #[test]
    fn a_second_derived_figure_is_no_event() {
        let text = "3,,cycles,7,100.00,1.5,GHz\n,,,,,0.55,stalled cycles per insn\n";
        let table = read(&ENTRY, &[("a", text.as_bytes())], &Mapping::default()).unwrap();
        assert_eq!(table.rows.len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let good = "3,,cycles,7,100.00,,\n";
        for (line, cause) in [
            ("232,01,msec,task-clock,7,100.00,,", "it begins with a time stamp"),
            ("-3,,faults,7,100.00,,", "the count is negative"),
            ("3,,,7,100.00,,", "its third field names no event"),
            ("NaN,,faults,7,100.00,,", "the count is `NaN`"),
            ("3,,faults", "it has 3 fields"),
            ("3,x", "it has 2 fields"),
            ("1e305,s,duration_time,7,100.00,,", "the count is too large"),
        ] {
            let found = refused(&format!("{good}{line}\n"));
            assert!(found.starts_with(&format!("line 2: {cause}")), "{line}: {found}");
        }
        let found = refused(&format!("{good}{HEADING}Tue\n3,msec,cycles,7,100.00,,\n"));
        assert!(found.starts_with("line 3: `cycles` has another unit"), "{found}");
        for text in ["", "Time: 0.143\n", "232,01;msec;task-clock;7;100,00;;\n"] {
            assert_eq!(refused(text), "it has no line of perf stat with separated fields");
        }
        let found = refusal(&ENTRY, b"3,,cycles,7,100,,\n\xff", &Mapping::default());
        assert_eq!(found, "line 2: it is not UTF-8");
    }

    #[test]
    fn executions_with_other_events_are_refused() {
        let torn = "3,,cycles,7,1,,\n3,,faults,7,1,,\n# started on Tue\n3,,cycles,7,1,,\n";
        assert_eq!(
            refused(torn),
            "line 4: the execution that begins here has other events than the first one"
        );
    }
}
