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

/// Asking for a parameter that was not declared, or as another kind, is a
/// programmer's error: `plan` has checked every value against the declaration.
impl Parameters {
    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            ParameterValue::Count(value) => *value,
            other => wrong_kind(name, other),
        }
    }

    /// Nanoseconds.
    pub fn duration_ns(&self, name: &str) -> u64 {
        match self.get(name) {
            ParameterValue::Duration(value) => *value,
            other => wrong_kind(name, other),
        }
    }

    /// Bytes.
    pub fn size(&self, name: &str) -> u64 {
        match self.get(name) {
            ParameterValue::Size(value) => *value,
            other => wrong_kind(name, other),
        }
    }

    /// A real number.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            ParameterValue::Number(value) => *value,
            other => wrong_kind(name, other),
        }
    }

    /// Text or a choice.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            ParameterValue::Text(value) => value,
            other => wrong_kind(name, other),
        }
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            ParameterValue::Flag(value) => *value,
            other => wrong_kind(name, other),
        }
    }

    /// A list of texts.
    pub fn words(&self, name: &str) -> &[String] {
        match self.get(name) {
            ParameterValue::Words(value) => value,
            other => wrong_kind(name, other),
        }
    }

    /// Named tables of texts.
    pub fn table(&self, name: &str) -> &BTreeMap<String, BTreeMap<String, String>> {
        match self.get(name) {
            ParameterValue::Table(value) => value,
            other => wrong_kind(name, other),
        }
    }

    fn get(&self, name: &str) -> &ParameterValue {
        match self.0.get(name) {
            Some(value) => value,
            None => panic!("parameter `{name}` was not declared"),
        }
    }
}

fn wrong_kind(name: &str, value: &ParameterValue) -> ! {
    panic!("parameter `{name}` was declared as another kind than {value:?}")
}
