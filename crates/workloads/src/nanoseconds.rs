//! Short spellings for the declarations every workload makes.

use contract::{Parameter, ParameterKind};

/// A whole number within inclusive limits.
pub(crate) const fn count(
    name: &'static str,
    min: u64,
    max: u64,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Count { min, max }, default: Some(default), summary }
}

/// A duration; limits in nanoseconds.
pub(crate) const fn duration(
    name: &'static str,
    min: u64,
    max: u64,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Duration { min, max }, default: Some(default), summary }
}

/// A size; limits in bytes.
pub(crate) const fn size(
    name: &'static str,
    min: u64,
    max: u64,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Size { min, max }, default: Some(default), summary }
}

/// One of some words.
pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Choice(words), default: Some(default), summary }
}

/// Any text.
pub(crate) const fn text(
    name: &'static str,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Text, default: Some(default), summary }
}

/// true or false.
pub(crate) const fn flag(
    name: &'static str,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    Parameter { name, kind: ParameterKind::Flag, default: Some(default), summary }
}

/// One microsecond in nanoseconds.
pub(crate) const US: u64 = 1_000;
/// One millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;
/// One second in nanoseconds.
pub(crate) const S: u64 = 1_000_000_000;
