//! `schedlab list`: what can be named in an experiment.

use super::planning::text_of_regular;
use super::reports::Format;
use crate::cli::{Common, List, ListKind};
use crate::exit::ExitCode;
use crate::output::{print, print_data};
use contract::{Catalogue, Description, Error, Result};
use model::on_one_line;
use serde_json::{Value, json};

/// Every kind, in the order it is listed.
const KINDS: [(ListKind, &str); 9] = [
    (ListKind::Workloads, "workloads"),
    (ListKind::Factors, "factors"),
    (ListKind::Probes, "probes"),
    (ListKind::Venues, "venues"),
    (ListKind::Formats, "formats"),
    (ListKind::Imports, "imports"),
    (ListKind::Suites, "suites"),
    (ListKind::Kernels, "kernels"),
    (ListKind::Schedulers, "schedulers"),
];

/// One listed thing.
struct Entry {
    id: String,
    summary: String,
    doc: String,
    details: Value,
}

impl Entry {
    /// Its line of the list. Pages of the cache and names of files say what they like: what stands
    /// behind the end of a line is no entry.
    fn row(&self) -> String {
        on_one_line(&format!("  {:<20} {}", self.id, self.summary)) + "\n"
    }
}

pub(super) fn run(common: &Common, arguments: &List) -> Result<ExitCode> {
    let catalogue = crate::catalogue();
    let kinds =
        KINDS.iter().filter(|(kind, _)| arguments.kind.is_none_or(|wanted| wanted == *kind));
    let mut listed: Vec<(&str, Vec<Entry>)> = Vec::new();
    for (kind, name) in kinds {
        let found = match kind {
            ListKind::Kernels => kernels(common)?,
            ListKind::Schedulers => schedulers(common)?,
            kind => entries(&catalogue, *kind),
        };
        listed.push((*name, found));
    }
    if let Some(id) = &arguments.explain {
        return explain(&listed, id, arguments.json);
    }
    if arguments.json {
        let mut all = serde_json::Map::new();
        for (name, entries) in &listed {
            all.insert((*name).to_owned(), entries.iter().map(to_json).collect());
        }
        print_data(&pretty(&Value::Object(all))?)?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for (name, entries) in &listed {
        text.push_str(&format!("{name}\n"));
        for entry in entries {
            text.push_str(&entry.row());
        }
        if entries.is_empty() {
            text.push_str("  none found\n");
        }
        text.push('\n');
    }
    text.push_str("schedlab list --explain ID tells all about one of them\n");
    print(&text)?;
    Ok(ExitCode::Done)
}

fn explain(listed: &[(&str, Vec<Entry>)], id: &str, is_json: bool) -> Result<ExitCode> {
    let Some(entry) = listed.iter().flat_map(|(_, entries)| entries).find(|entry| entry.id == id)
    else {
        return Err(Error::usage(
            format!("cannot explain `{id}`"),
            "there is no entry of that id",
            "see `schedlab list`",
        ));
    };
    if is_json {
        print_data(&pretty(&to_json(entry))?)?;
    } else {
        let heading = on_one_line(&format!("{}: {}", entry.id, entry.summary));
        let mut text = format!("{heading}\n\n{}\n", entry.doc.trim());
        for (key, value) in entry.details.as_object().into_iter().flatten() {
            text.push_str(&format!("\n{key}\n"));
            match value {
                Value::Array(items) => {
                    for item in items {
                        text.push_str(&format!("  {}\n", on_one_line(&plain(item))));
                    }
                }
                other => text.push_str(&format!("  {}\n", on_one_line(&plain(other)))),
            }
        }
        print(&text)?;
    }
    Ok(ExitCode::Done)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn to_json(entry: &Entry) -> Value {
    json!({ "id": entry.id, "summary": entry.summary, "doc": entry.doc, "details": entry.details })
}

fn pretty(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::environment("cannot encode the list", error))
}

fn entry(description: &Description, details: Value) -> Entry {
    Entry {
        id: description.id.to_owned(),
        summary: description.summary.to_owned(),
        doc: description.doc.to_owned(),
        details,
    }
}

fn entries(catalogue: &Catalogue, kind: ListKind) -> Vec<Entry> {
    match kind {
        ListKind::Workloads => catalogue
            .workloads
            .iter()
            .map(|workload| {
                let parameters: Vec<String> = workload
                    .parameters()
                    .iter()
                    .map(|parameter| {
                        let default = parameter
                            .default
                            .map_or("required".to_owned(), |text| format!("default `{text}`"));
                        format!("{}: {} ({default})", parameter.name, parameter.summary)
                    })
                    .collect();
                entry(workload.describe(), json!({ "parameters": parameters }))
            })
            .collect(),
        ListKind::Factors => catalogue
            .factors
            .iter()
            .map(|factor| {
                entry(
                    factor.describe(),
                    json!({ "levels": factor.syntax(), "examples": factor.examples() }),
                )
            })
            .collect(),
        ListKind::Probes => catalogue
            .probes
            .iter()
            .map(|probe| {
                let metrics: Vec<String> = probe
                    .metrics()
                    .iter()
                    .map(|metric| format!("{}: {}", metric.id, metric.summary))
                    .collect();
                entry(
                    probe.describe(),
                    json!({ "metrics": metrics, "cost": probe.cost().to_string() }),
                )
            })
            .collect(),
        ListKind::Venues => {
            catalogue.venues.iter().map(|venue| entry(venue.describe(), json!({}))).collect()
        }
        ListKind::Formats => Format::all()
            .map(|format| entry(format.describe(), json!({ "extension": format.extension() })))
            .collect(),
        ListKind::Imports => importers::IMPORTERS
            .iter()
            .map(|importer| entry(importer.describe(), json!({})))
            .collect(),
        ListKind::Suites => suites(),
        ListKind::Kernels | ListKind::Schedulers => Vec::new(),
    }
}

/// Guest kernels that are in the cache.
fn kernels(common: &Common) -> Result<Vec<Entry>> {
    let cached = super::kernels::open(common)?.cached().map_err(venues::artefact_error)?;
    let to_entry = |kernel: &kernels::Kernel| Entry {
        id: kernel.name.clone(),
        summary: format!("{}, {}", kernel.release, kernel.class()),
        doc: super::kernels::details(kernel),
        details: json!({}),
    };
    Ok(cached.iter().map(to_entry).collect())
}

/// What the factor `scheduler` can name, and what is here of it.
fn schedulers(common: &Common) -> Result<Vec<Entry>> {
    let present = super::schedulers::present(&super::schedulers::open(common)?)?;
    let to_entry = |one: super::schedulers::Present| Entry {
        summary: one.summary(),
        doc: one.doc(),
        details: json!({}),
        id: one.id,
    };
    Ok(present.into_iter().map(to_entry).collect())
}

/// Experiments that are ready, with their titles.
fn suites() -> Vec<Entry> {
    let mut suites: Vec<Entry> = super::suites::files()
        .into_iter()
        .map(|path| {
            let text = text_of_regular(&path).unwrap_or_default();
            let title =
                text.lines().find_map(|line| line.strip_prefix("title")).unwrap_or_default();
            let title = title.trim_start_matches([' ', '=']).trim_matches('"').to_owned();
            Entry { id: path.display().to_string(), summary: title, doc: text, details: json!({}) }
        })
        .collect();
    suites.sort_by(|a, b| a.id.cmp(&b.id));
    suites
}
