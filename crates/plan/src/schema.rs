//! The published schema of experiments, made from the catalogue.

use crate::limits::BLOCK_LIMIT;
use crate::settable;
use crate::settings::INVOCATION_LIMIT;
use contract::{Catalogue, Factor, Parameter, ParameterKind, Workload};
use serde_json::{Map, Value, json};

const DURATION: &str = r"^(0|[0-9]+(\.[0-9]+)? *(ns|us|ms|s|m|min|h))$";
const PERCENT: &str = r"^[+]?[0-9]*\.?[0-9]+ *%$";
const SUBJECT: &str = "^[a-z0-9]+(--?[a-z0-9]+)*$";

/// JSON Schema (2020-12) of an experiment. What a schema cannot say (names that
/// must exist elsewhere in the file, impossible combinations) `plan` checks.
pub fn schema(catalogue: &Catalogue) -> Value {
    let mut levels: Map<String, Value> = catalogue
        .factors
        .iter()
        .map(|factor| (factor.describe().id.to_owned(), level(*factor)))
        .collect();
    let several = |item: Value| json!({ "type": "array", "items": item, "minItems": 1 });
    let reference = |id: &String| json!({ "$ref": format!("#/$defs/level/properties/{id}") });
    let mut crossed: Map<String, Value> =
        levels.keys().map(|id| (id.clone(), several(reference(id)))).collect();
    let workloads: Vec<Value> = catalogue.workloads.iter().map(|entry| workload(*entry)).collect();
    let mut properties = top_level(catalogue);
    properties.extend(levels.keys().map(|id| (id.clone(), reference(id))));
    for entry in catalogue.workloads {
        let id = entry.describe().id;
        let own = entry.parameters().iter().filter(|declared| settable::is_level(declared));
        let own: Vec<(&str, Value)> = own.map(|one| (one.name, parameter(one))).collect();
        let lists = own.iter().map(|(name, value)| (*name, several(value.clone()))).collect();
        levels.insert(id.to_owned(), parameters_of(id, own.clone()));
        crossed.insert(id.to_owned(), parameters_of(id, lists));
    }
    let mut definitions = values();
    definitions.extend(claims());
    for (name, definition) in [
        (
            "level",
            json!({
                "type": "object",
                "properties": levels,
                "additionalProperties": false,
            }),
        ),
        (
            "crossing",
            json!({
                "type": "object",
                "properties": crossed,
                "minProperties": 1,
                "additionalProperties": false,
            }),
        ),
        ("workload", json!({ "oneOf": workloads })),
    ] {
        definitions.insert(name.to_owned(), definition);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "schedlab.experiment/1",
        "title": "A schedlab experiment",
        "type": "object",
        "properties": properties,
        "required": ["workloads"],
        "anyOf": [{ "required": ["subjects"] }, { "required": ["factors"] }],
        "dependentRequired": { "every": ["duration"] },
        "dependentSchemas": { "duration": { "not": { "required": ["blocks"] } } },
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Values that several keys take.
fn values() -> Map<String, Value> {
    object(json!({
        "duration": { "type": "string", "pattern": DURATION, "examples": ["30s", "0.75ms"] },
        "percent": { "type": "string", "pattern": PERCENT, "examples": ["5%"] },
        "margin": {
            "oneOf": [
                { "$ref": "#/$defs/percent" },
                {
                    "type": "object",
                    "properties": { "default": { "$ref": "#/$defs/percent" } },
                    "additionalProperties": { "$ref": "#/$defs/percent" },
                },
            ],
        },
        "names": {
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
            ],
        },
        "use_cases": {
            "type": "object",
            "description": "Weights over WORKLOAD or WORKLOAD/METRIC that add up to 1",
            "propertyNames": { "pattern": SUBJECT, "maxLength": 64 },
            "additionalProperties": {
                "type": "object",
                "additionalProperties": { "type": "number", "minimum": 0, "maximum": 1 },
                "minProperties": 1,
            },
            "maxProperties": 16,
        },
        "load": {
            "oneOf": [
                { "type": "string", "pattern": "^cpu:[0-9]+$" },
                {
                    "type": "object",
                    "properties": {
                        "cpu": { "type": "integer", "minimum": 1, "maximum": 1024 },
                        "session": { "enum": ["same", "separate"], "default": "same" },
                        "pinned": { "type": "boolean", "default": true },
                    },
                    "required": ["cpu"],
                    "additionalProperties": false,
                },
            ],
        },
    }))
}

/// What others have published, and its two sides.
fn claims() -> Map<String, Value> {
    object(json!({
        "claim": {
            "type": "object",
            "properties": {
                "says": { "type": "string", "maxLength": 200 },
                "source": { "type": "string", "maxLength": 200 },
                "workload": { "type": "string" },
                "workloads": {
                    "description": "Each is compared with the one before it, inside each subject",
                    "type": "array",
                    "items": { "type": "string" },
                    "minItems": 2,
                    "uniqueItems": true,
                },
                "metric": { "$ref": "#/$defs/names" },
                "subject": { "$ref": "#/$defs/claimed" },
                "reference": { "$ref": "#/$defs/claimed" },
                "where": {
                    "description": "Levels that both sides have: the cell that the claim is about",
                    "allOf": [{ "$ref": "#/$defs/level" }],
                    "minProperties": 1,
                },
                "order": {
                    "description": "Subjects of which each is compared with the next",
                    "type": "array",
                    "items": { "type": "string" },
                    "minItems": 2,
                    "uniqueItems": true,
                },
                "over": {
                    "description": "Over what it holds: every comparison, most of them, their mean",
                    "enum": ["every", "most", "overall"],
                },
                "turns": {
                    "description": "Two levels of a factor, or two workloads, between which the difference of the sides turns",
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": { "type": "array", "minItems": 2, "maxItems": 2 },
                },
                "effect": {
                    "type": "string",
                    "pattern": r"^(better|worse|same|[-+]?[0-9]*\.?[0-9]+ *%)$",
                    "examples": ["+45%", "better"],
                },
            },
            "required": ["says", "metric", "effect"],
            "anyOf": [
                { "required": ["subject"] },
                { "required": ["workloads"] },
                { "required": ["order"] },
            ],
            "additionalProperties": false,
        },
        "claimed": {
            "description": "A subject, or every subject of these levels",
            "oneOf": [
                { "type": "string" },
                { "allOf": [{ "$ref": "#/$defs/level" }], "minProperties": 1 },
            ],
        },
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn top_level(catalogue: &Catalogue) -> Map<String, Value> {
    let probes: Vec<&str> = catalogue.probes.iter().map(|probe| probe.describe().id).collect();
    let venues: Vec<&str> = catalogue.venue_ids().collect();
    let properties = json!({
        "title": { "type": "string", "maxLength": 200, "description": "The question in a person's words" },
        "venue": { "enum": venues, "default": venues.first() },
        "seed": { "type": "integer", "minimum": 0 },
        "alpha": { "type": "number", "minimum": 0.001, "maximum": 0.2, "default": 0.05 },
        "margin": { "$ref": "#/$defs/margin" },
        "control": { "enum": [true, false, "auto"], "default": "auto" },
        "order": { "const": "randomised" },
        "comparisons": {
            "enum": comparisons(catalogue),
            "default": "reference",
            "description": "Each subject with the first, each with each and ranked, or each with the first of its own level of a factor",
        },
        "use_cases": { "$ref": "#/$defs/use_cases" },
        "claims": {
            "type": "array",
            "description": "What others have published; the report says what became of it",
            "items": { "$ref": "#/$defs/claim" },
            "maxItems": 64,
        },
        "probes": { "type": "array", "items": { "enum": probes }, "uniqueItems": true },
        "settle": { "$ref": "#/$defs/duration" },
        "rest": { "$ref": "#/$defs/duration" },
        "boots": {
            "type": "integer",
            "minimum": 1,
            "maximum": BLOCK_LIMIT,
            "description": "Boots of the machine itself that the blocks are spread over: after each part the same command goes on in another boot",
        },
        "invocations": { "type": "integer", "minimum": 1, "maximum": INVOCATION_LIMIT, "default": 3 },
        "budget": { "$ref": "#/$defs/duration" },
        "quick": quick(),
        "subjects": {
            "type": "object",
            "propertyNames": { "pattern": SUBJECT, "maxLength": 64 },
            "additionalProperties": { "$ref": "#/$defs/level" },
            "minProperties": 1,
            "description": "The arms; the first is the reference",
        },
        "factors": { "$ref": "#/$defs/crossing", "description": "All combinations; the first is the reference" },
        "workloads": {
            "type": "array",
            "items": { "$ref": "#/$defs/workload" },
            "minItems": 1,
            "maxItems": 64,
        },
    });
    let mut properties = object(properties);
    properties.extend(size());
    let with_table = catalogue.venues.iter().filter_map(|venue| Some((venue, venue.schema()?)));
    properties.extend(with_table.map(|(venue, table)| (venue.describe().id.to_owned(), table)));
    properties
}

/// How large a campaign is: a number of blocks, or a time.
fn size() -> Map<String, Value> {
    object(json!({
        "blocks": {
            "description": "A number, or the block counts at which to look and perhaps stop",
            "oneOf": [
                { "type": "integer", "minimum": 1, "maximum": BLOCK_LIMIT },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 5, "maximum": BLOCK_LIMIT },
                    "minItems": 1,
                    "maxItems": 10,
                    "uniqueItems": true,
                },
            ],
            "default": 10,
        },
        "duration": {
            "$ref": "#/$defs/duration",
            "description": "In place of blocks: how long a soak campaign goes on",
        },
        "every": {
            "$ref": "#/$defs/duration",
            "default": "1h",
            "description": "From the beginning of a block of a soak campaign to that of the next",
        },
    }))
}

fn comparisons(catalogue: &Catalogue) -> Vec<String> {
    let within = catalogue.factors.iter().map(|factor| format!("within {}", factor.describe().id));
    ["reference", "all"].into_iter().map(str::to_owned).chain(within).collect()
}

/// Parameters that subjects have otherwise.
fn parameters_of(workload: &str, each: Vec<(&str, Value)>) -> Value {
    let properties: Map<String, Value> =
        each.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({
        "type": "object",
        "description": format!("Parameters of every workload that uses {workload}"),
        "properties": properties,
        "additionalProperties": false,
    })
}

/// What `--quick` keeps.
fn quick() -> Value {
    json!({
        "type": "object",
        "description": "The part of the experiment that --quick keeps",
        "properties": {
            "subjects": { "$ref": "#/$defs/names" },
            "workloads": { "$ref": "#/$defs/names" },
            "blocks": { "type": "integer", "minimum": 5, "maximum": BLOCK_LIMIT, "default": 6 },
            "parameters": {
                "type": "object",
                "description": "Parameters of every workload that has them",
            },
        },
        "additionalProperties": false,
    })
}

fn level(factor: &dyn Factor) -> Value {
    let description = factor.describe();
    json!({
        "type": ["string", "number", "boolean"],
        "description": format!("{}: {}", description.summary, factor.syntax()),
        "examples": factor.examples(),
    })
}

fn workload(entry: &dyn Workload) -> Value {
    let description = entry.describe();
    let mut properties = Map::new();
    properties.insert("use".to_owned(), json!({ "const": description.id }));
    for (name, value) in [
        ("label", json!({ "type": "string", "maxLength": 64 })),
        ("invocations", json!({ "type": "integer", "minimum": 1, "maximum": INVOCATION_LIMIT })),
        ("primary", json!({ "$ref": "#/$defs/names" })),
        ("pooled", json!({ "$ref": "#/$defs/names" })),
        ("load", json!({ "$ref": "#/$defs/load" })),
        ("subjects", json!({ "$ref": "#/$defs/names" })),
        ("time_limit", json!({ "$ref": "#/$defs/duration" })),
        ("margin", json!({ "$ref": "#/$defs/margin" })),
    ] {
        properties.insert(name.to_owned(), value);
    }
    let mut required = vec!["use"];
    for declared in entry.parameters() {
        properties.insert(declared.name.to_owned(), parameter(declared));
        if declared.default.is_none() {
            required.push(declared.name);
        }
    }
    json!({
        "type": "object",
        "description": description.summary,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn parameter(declared: &Parameter) -> Value {
    let mut value = match declared.kind {
        // A text is accepted too: `4_000`, or what --set gives.
        ParameterKind::Count { min, max } => {
            json!({ "type": ["integer", "string"], "minimum": min, "maximum": max })
        }
        ParameterKind::Duration { .. } => json!({ "$ref": "#/$defs/duration" }),
        ParameterKind::Size { min, max } => {
            json!({ "type": ["integer", "string"], "minimum": min, "maximum": max })
        }
        ParameterKind::Number { min, max } => {
            json!({ "type": "number", "minimum": min, "maximum": max })
        }
        ParameterKind::Choice(choices) => json!({ "enum": choices }),
        ParameterKind::Text => json!({ "type": "string" }),
        ParameterKind::Flag => json!({ "type": "boolean" }),
        // Arguments may repeat; names may not.
        ParameterKind::Words => json!({ "oneOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
        ParameterKind::Table => json!({
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
        }),
    };
    value["description"] = json!(declared.summary);
    if let Some(default) = declared.default {
        let is_word = matches!(
            declared.kind,
            ParameterKind::Count { .. } | ParameterKind::Number { .. } | ParameterKind::Flag
        );
        let typed = serde_json::from_slice(default.as_bytes()).ok().filter(|_| is_word);
        value["default"] = typed.unwrap_or_else(|| json!(default));
    }
    value
}
