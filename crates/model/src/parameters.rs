//! A workload's parameters, checked against its declaration by `plan`.

use crate::{format_duration, format_size};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A checked parameter: the declared kind decides the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterValue {
    /// A whole number.
    Count(u64),
    /// A duration in nanoseconds.
    Duration(u64),
    /// A size in bytes.
    Size(u64),
    /// A real number.
    Number(f64),
    /// One of the declared choices, or free text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A list of texts: a command and its arguments.
    Words(Vec<String>),
    /// Named texts: metrics and where to find them.
    Table(BTreeMap<String, BTreeMap<String, String>>),
}

impl ParameterValue {
    /// The one spelling of a value that is one word; none of lists and tables.
    pub fn word(&self) -> Option<String> {
        match self {
            ParameterValue::Count(value) => Some(value.to_string()),
            ParameterValue::Duration(value_ns) => Some(format_duration(*value_ns)),
            ParameterValue::Size(bytes) => Some(format_size(*bytes)),
            ParameterValue::Number(value) => Some(value.to_string()),
            ParameterValue::Text(text) => Some(text.clone()),
            ParameterValue::Flag(value) => Some(value.to_string()),
            ParameterValue::Words(_) | ParameterValue::Table(_) => None,
        }
    }
}

/// All parameters of one workload, defaults filled in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub BTreeMap<String, ParameterValue>);
