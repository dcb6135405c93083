//! `schedlab capacity`: the highest rate that a service sustains, and an experiment below it.

use super::planning::{experiment_text, make, name_of};
use super::run::record;
use crate::cli::capacity::Capacity;
use crate::cli::{Common, Execution, PlanOptions, Presentation};
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::{Error, ErrorKind, RateSearch, Result};
use model::{
    Outcome, Record, SampleData, format_duration, on_one_line, parse_duration, written_out,
};
use std::io::Write;
use std::path::Path;
use toml::{Table, Value};

/// Parts of the highest rate at which subjects are compared: differences show from about two
/// thirds on, and beyond 1 queues grow for as long as the load lasts.
const PARTS: [(&str, f64); 5] =
    [("at-30", 0.3), ("at-60", 0.6), ("at-80", 0.8), ("at-95", 0.95), ("at-120", 1.2)];
/// Keys of an experiment that speak of workloads or metrics which a search does not have.
const OF_OTHERS: [&str; 8] =
    ["quick", "claims", "use_cases", "margin", "blocks", "boots", "invocations", "comparisons"];

/// The workload whose highest rate is searched.
#[derive(Debug, Clone, Copy)]
struct Searched<'e> {
    /// As the experiment has it.
    workload: &'e Table,
    /// How it is told to search.
    by: &'static RateSearch,
}

pub(super) fn run(common: &Common, arguments: &Capacity) -> Result<ExitCode> {
    if let Some(path) = &arguments.write {
        check_writable(path, &arguments.options)?;
    }
    let text = experiment_text(&arguments.file)?;
    // What is wrong with the experiment is told as everywhere.
    let shown_as = arguments.file.display().to_string();
    let name = name_of(&arguments.file)?;
    if make(common, &text, &name, &shown_as, &arguments.options)?.is_none() {
        return Ok(ExitCode::Usage);
    }
    let experiment: Table = toml::from_str(&text)
        .map_err(|error| Error::usage(format!("cannot read {shown_as}"), error, ""))?;
    let searched = chosen(&experiment, arguments.workload.as_deref())?;
    let label = label_of(searched.workload).to_owned();
    let search = encode(&search(&experiment, searched, arguments))?;
    let name = format!("{name}-capacity");
    let Some(planned) = make(common, &search, &name, &name, &arguments.options)? else {
        return Ok(ExitCode::Usage);
    };
    let execution = Execution {
        fresh: false,
        dry_run: false,
        live: false,
        live_port: 0,
        presentation: Presentation::default(),
    };
    let directory = match record(common, &planned, &execution)? {
        Ok(directory) => directory,
        Err(code) => return Ok(code),
    };
    let records = store::load(&directory)?.records;
    let RateSearch { rate, factor, .. } = searched.by;
    let (rates, factors) = (sorted(&records, rate), sorted(&records, factor));
    let (Some(rate), Some(factor)) = (middle(&rates), middle(&factors)) else {
        let reason = records.iter().find_map(|record| match &record.outcome {
            Outcome::Failed { reason } => Some(reason.clone()),
            _ => None,
        });
        let cause = reason.unwrap_or_else(|| "no search came to its end".to_owned());
        let remedy = format!("see {}", directory.display());
        return Err(Error::new(
            ErrorKind::Environment,
            "cannot tell the highest rate",
            cause,
            remedy,
        ));
    };
    print(&format!(
        "highest sustained rate of `{label}`, 99th percentile within {}: {rate:.0} requests per \
         second\n({:.0} to {:.0} in {} searches; {factor:.3} times the scenario's rates)\n",
        arguments.target,
        rates[0],
        rates[rates.len() - 1],
        rates.len(),
    ))?;
    tell(&format!("the searches' records are in {}; no verdict uses them", directory.display()));
    if let Some(path) = &arguments.write {
        write(path, &below(&experiment, searched, factor), &arguments.file)?;
        tell(&format!("written: {}; run it with schedlab run {}", path.display(), path.display()));
    }
    Ok(ExitCode::Done)
}

/// The workload that is searched.
fn chosen<'e>(experiment: &'e Table, label: Option<&str>) -> Result<Searched<'e>> {
    let all = experiment.get("workloads").and_then(Value::as_array).into_iter().flatten();
    let all: Vec<&Table> = all.filter_map(Value::as_table).collect();
    let found = match label {
        Some(label) => all.iter().copied().find(|workload| label_of(workload) == label),
        None => all.iter().copied().find(|workload| rate_search(workload).is_some()),
    };
    let attempted = "cannot search the highest rate";
    match found.map(|workload| (workload, rate_search(workload))) {
        Some((workload, Some(by))) => Ok(Searched { workload, by }),
        Some((workload, None)) => {
            let cause = format!("{} sends no requests at rates of ours", label_of(workload));
            let all = crate::catalogue().workloads;
            let able = all.iter().filter(|entry| entry.rate_search().is_some());
            let able: Vec<&str> = able.map(|entry| entry.describe().id).collect();
            Err(Error::usage(attempted, cause, format!("name one that does: {}", able.join(", "))))
        }
        None => {
            let labels: Vec<&str> = all.iter().map(|workload| label_of(workload)).collect();
            let cause = match label {
                Some(label) => format!("there is no workload {label:?}"),
                None => "none of its workloads sends requests at rates".to_owned(),
            };
            Err(Error::usage(attempted, cause, format!("it has {}", labels.join(", "))))
        }
    }
}

/// How a workload of an experiment searches its highest rate; none of one that sends no requests at
/// rates of ours.
fn rate_search(workload: &Table) -> Option<&'static RateSearch> {
    let text = |key: &str| workload.get(key).and_then(Value::as_str);
    let by = crate::catalogue().workload(text("use")?)?.rate_search()?;
    match &by.sender {
        // Of other generators the rate is their own affair.
        Some((sender, ours)) if text(sender.name).is_some_and(|name| name != *ours) => None,
        _ => Some(by),
    }
}

fn label_of(workload: &Table) -> &str {
    let text = |key: &str| workload.get(key).and_then(Value::as_str);
    text("label").or_else(|| text("use")).unwrap_or_default()
}

/// The experiment that searches: the first subject, one workload.
fn search(experiment: &Table, searched: Searched<'_>, arguments: &Capacity) -> Table {
    let mut search = without(experiment);
    let text = |text: &str| Value::String(text.to_owned());
    search.insert("title".into(), text("The highest rate that is sustained"));
    search.insert("blocks".into(), Value::Integer(i64::from(arguments.blocks)));
    search.insert("invocations".into(), Value::Integer(1));
    // Of one subject there is nothing but its control to compare.
    search.insert("control".into(), Value::Boolean(true));
    let subjects = experiment.get("subjects").and_then(Value::as_table);
    let first = subjects.and_then(|subjects| subjects.iter().next());
    let first = first.map(|(id, levels)| (id.clone(), levels.clone()));
    search.insert("subjects".into(), Value::Table(first.into_iter().collect()));
    let Searched { workload, by } = searched;
    let mut one = workload.clone();
    one.remove("subjects");
    let (test, to_search) = &by.test;
    for (key, value) in [
        (test.name, *to_search),
        (by.target.name(), arguments.target.as_str()),
        (by.duration.name(), arguments.step.as_str()),
        ("primary", by.rate),
    ] {
        one.insert(key.into(), text(value));
    }
    search.insert("workloads".into(), Value::Array(vec![Value::Table(one)]));
    search
}

/// The experiment that compares at parts of a factor.
fn below(experiment: &Table, searched: Searched<'_>, factor: f64) -> Table {
    let Searched { workload, by } = searched;
    let mut below = without(experiment);
    for key in ["margin", "blocks", "invocations", "comparisons"] {
        if let Some(value) = experiment.get(key) {
            below.insert(key.into(), value.clone());
        }
    }
    let at = |(label, part): (&str, f64)| {
        let mut one = workload.clone();
        one.insert("label".into(), Value::String(label.to_owned()));
        // Four digits: a search tells no more.
        let scale: f64 = format!("{:.3e}", factor * part).parse().unwrap_or(factor * part);
        one.insert(by.scale.name().into(), Value::Float(scale));
        if let Some(duration) = lengthened(searched, scale) {
            one.insert(by.duration.name().into(), Value::String(duration));
        }
        if part > 1.0 {
            // Where queues grow, latency is how long the load lasted.
            one.insert("primary".into(), Value::String(by.answers.to_owned()));
        }
        Value::Table(one)
    };
    below.insert("workloads".into(), Value::Array(PARTS.map(at).to_vec()));
    below
}

/// How long a load takes that sends as many requests as the workload's own, at this lower scale: of
/// fewer than five of a kind the planner says that they say nothing. None where the scale is no
/// lower.
fn lengthened(searched: Searched<'_>, scale: f64) -> Option<String> {
    let Searched { workload, by } = searched;
    let number = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_float().or(value.as_integer().map(|whole| whole as f64)),
    };
    let own = workload.get(by.scale.name()).and_then(number).unwrap_or(1.0);
    let declared = by.duration.declared();
    let duration = workload.get(declared.name).and_then(Value::as_str).or(declared.default)?;
    let duration_ns = parse_duration(duration).ok()? as f64 * own / scale;
    // Whole milliseconds read well.
    let longer_ms = (duration_ns / 1e6).ceil() as u64;
    (scale < own).then(|| format_duration(longer_ms.saturating_mul(1_000_000)))
}

fn without(experiment: &Table) -> Table {
    let kept = experiment.iter().filter(|(key, _)| !OF_OTHERS.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn encode(experiment: &Table) -> Result<String> {
    toml::to_string(experiment)
        .map_err(|error| Error::environment("cannot write the experiment", error))
}

/// Before the search, which takes minutes: whether what it finds can be written there.
///
/// # Errors
/// That something is there already, or the experiment that is written would not be the one that
/// was searched.
fn check_writable(path: &Path, options: &PlanOptions) -> Result<()> {
    let attempted = format!("cannot write {}", path.display());
    if path.symlink_metadata().is_ok() {
        let remedy = "choose another name, or remove it";
        return Err(Error::usage(attempted, "it exists already", remedy));
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let cause = format!("there is no directory {}", directory.display());
        return Err(Error::usage(attempted, cause, "create it, or choose another place"));
    }
    if !options.set.is_empty() || options.venue.is_some() {
        let cause = "--set and --venue would be missing in it";
        return Err(Error::usage(attempted, cause, "change them in the experiment itself"));
    }
    Ok(())
}

/// What stands above an experiment that was made. The path is somebody's text: a comment ends with
/// its line, and TOML has no controls in it.
fn heading(origin: &Path) -> String {
    let origin = on_one_line(&written_out(&origin.display().to_string()));
    format!(
        "# Made from {origin} by `schedlab capacity`: its subjects at parts of the highest rate that\n\
         # was sustained on the machine where it was made.\n"
    )
}

fn write(path: &Path, experiment: &Table, origin: &Path) -> Result<()> {
    let text = format!("{}\n{}", heading(origin), encode(experiment)?);
    // One that came meanwhile is somebody's work.
    let mut options = std::fs::File::options();
    let file = options.write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Error::environment(format!("cannot write {}", path.display()), error))
}

/// All values of a source in completed trials, from the lowest.
fn sorted(records: &[Record], source: &str) -> Vec<f64> {
    let completed = records.iter().filter(|record| record.outcome == Outcome::Completed);
    let samples = completed.flat_map(|record| &record.invocations).flat_map(|one| &one.samples);
    let values = samples.filter(|sample| sample.source == source);
    let mut values: Vec<f64> = values
        .flat_map(|sample| match &sample.data {
            SampleData::Values(values) => values.to_vec(),
            _ => Vec::new(),
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median, the lower one of two.
fn middle(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        title = "t"
        blocks = 7
        margin = { default = "2%", latency_p99 = "5%" }
        [quick]
        workloads = ["plain"]
        [subjects.a]
        [subjects.b]
        nice = 5
        [[workloads]]
        use = "messaging"
        [[workloads]]
        use = "http"
        label = "plain"
        address = "127.0.0.1:80"
        scenario = "x.toml"
        scale = 2
        primary = ["latency_p99"]
    "#;

    #[test]
    fn what_is_compared_lies_at_parts_of_what_was_found() {
        let experiment: Table = toml::from_str(TEXT).unwrap();
        let searched = chosen(&experiment, None).unwrap();
        assert_eq!(label_of(searched.workload), "plain");
        let below = below(&experiment, searched, 12.3456);
        let workloads = below["workloads"].as_array().unwrap();
        let scales: Vec<f64> =
            workloads.iter().map(|one| one["scale"].as_float().unwrap()).collect();
        assert_eq!(scales, [3.704, 7.407, 9.876, 11.73, 14.81]);
        assert_eq!(workloads[4]["primary"].as_str(), Some("answers_per_second"));
        assert_eq!(below["blocks"].as_integer(), Some(7));
        assert_eq!(below["subjects"].as_table().unwrap().len(), 2);
        assert!(!below.contains_key("quick"));
    }

    #[test]
    fn a_service_slower_than_its_scenario_is_asked_as_often_and_for_longer() {
        let experiment: Table = toml::from_str(TEXT).unwrap();
        let Searched { workload, by } = chosen(&experiment, None).unwrap();
        let durations = |workload: &Table, factor: f64| -> Vec<Option<String>> {
            let below = below(&experiment, Searched { workload, by }, factor);
            let all = below["workloads"].as_array().unwrap().iter();
            all.map(|one| one.get("duration").map(|text| text.as_str().unwrap().to_owned()))
                .collect()
        };
        // A fifth of its own rates for five times as long; its own duration where it is as fast.
        let mut own = workload.clone();
        own.insert("duration".into(), Value::String("400ms".to_owned()));
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(durations(&own, 0.4)[0], told("6.667s"), "at a scale of 0.12 instead of 2");
        assert_eq!(durations(&own, 4.0)[4], told("400ms"));
        own.insert("scale".into(), Value::String("2".to_owned()));
        assert_eq!(durations(&own, 0.4)[0], told("6.667s"), "a number may be written as text");
        assert_eq!(durations(workload, 4.0)[1..], [None, None, None, None]);
        assert_eq!(durations(workload, 0.4)[0], told("83.334s"), "5 s by default");
    }

    #[test]
    fn a_workload_without_rates_is_refused_and_labels_are_told() {
        let experiment: Table = toml::from_str(TEXT).unwrap();
        let why = |label| chosen(&experiment, label).unwrap_err().to_string();
        assert!(why(Some("messaging")).contains("no requests at rates of ours"));
        assert!(why(Some("plian")).contains("messaging, plain"), "{}", why(Some("plian")));
    }

    #[test]
    fn the_path_of_an_experiment_stays_in_the_comment_whatever_it_holds() {
        let hostile = Path::new("a\nvenue = \"host\"\r\nb\u{1b}[2J\u{202e}\u{2028}\u{7f}.toml");
        let text = heading(hostile);
        assert_eq!(toml::from_str::<Table>(&text).unwrap(), Table::new());
        assert!(text.lines().count() == 2 && text.ends_with('\n'), "{text:?}");
        let shown = r#"a\nvenue = "host"\u000d\nb\u001b[2J\u202e\u2028\u007f.toml"#;
        assert!(text.contains(shown), "{text:?}");
        assert!(heading(Path::new("x.toml")).starts_with("# Made from x.toml by "));
    }

    #[test]
    fn the_middle_is_one_that_was_found() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[1.0]), Some(1.0));
        assert_eq!(middle(&[1.0, 2.0]), Some(1.0));
        assert_eq!(middle(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}
