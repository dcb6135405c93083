//! What a level can be of: a factor, or a parameter of a workload that differs between subjects.

use contract::document::{Table, TreeEntry, Value};
use contract::{Catalogue, Factor, Parameter, ParameterKind, Workload};
use model::Level;

/// Something that a subject has a level of.
#[derive(Clone, Copy)]
pub(crate) enum Settable {
    /// A factor, by its own id.
    Factor(&'static dyn Factor),
    /// A parameter of every workload that uses this one, as `WORKLOAD.PARAMETER`.
    Parameter(&'static dyn Workload, &'static Parameter),
}

impl Settable {
    /// What is called so; nothing where nothing is.
    pub(crate) fn named(key: &str, catalogue: &Catalogue) -> Option<Self> {
        let Some((workload, parameter)) = key.split_once('.') else {
            return catalogue.factor(key).map(Self::Factor);
        };
        let workload = catalogue.workload(workload)?;
        let declared = workload.parameters().iter().find(|one| one.name == parameter)?;
        is_level(declared).then_some(Self::Parameter(workload, declared))
    }

    /// Its id, as subjects know it.
    pub(crate) fn id(self) -> String {
        match self {
            Self::Factor(factor) => factor.describe().id.to_owned(),
            Self::Parameter(workload, declared) => key(workload.describe().id, declared.name),
        }
    }

    /// A text as a level in its one spelling.
    pub(crate) fn parse(self, text: &str) -> Result<Level, String> {
        match self {
            Self::Factor(factor) => factor.parse(text),
            Self::Parameter(_, declared) => {
                let word = declared.parse(text)?.word().ok_or("a level is one word")?;
                Ok(Level::canonical(word))
            }
        }
    }

    /// What may be written, in words.
    pub(crate) fn syntax(self) -> &'static str {
        match self {
            Self::Factor(factor) => factor.syntax(),
            Self::Parameter(_, declared) => match declared.kind {
                ParameterKind::Count { .. } => "a whole number",
                ParameterKind::Duration { .. } => "a duration",
                ParameterKind::Size { .. } => "a size",
                ParameterKind::Number { .. } => "a number",
                ParameterKind::Choice(_) => "one of its words",
                ParameterKind::Flag => "true or false",
                ParameterKind::Text | ParameterKind::Words | ParameterKind::Table => "a text",
            },
        }
    }

    /// Levels that it could have.
    pub(crate) fn examples(self) -> Vec<&'static str> {
        match self {
            Self::Factor(factor) => factor.examples().to_vec(),
            Self::Parameter(_, declared) => match declared.kind {
                ParameterKind::Choice(choices) => choices.to_vec(),
                ParameterKind::Flag => vec!["true", "false"],
                _ => declared.default.into_iter().filter(|text| !text.is_empty()).collect(),
            },
        }
    }

    /// Whether it names what was probably meant itself.
    pub(crate) fn suggests(self) -> bool {
        match self {
            Self::Factor(factor) => factor.suggests(),
            Self::Parameter(..) => false,
        }
    }
}

/// How subjects call a workload's parameter.
pub(crate) fn key(workload: &str, parameter: &str) -> String {
    format!("{workload}.{parameter}")
}

/// A level is one value; a table of metrics is none.
pub(crate) fn is_level(declared: &Parameter) -> bool {
    !matches!(declared.kind, ParameterKind::Words | ParameterKind::Table)
}

/// The entries of a table of levels: `gateway = { workers = 2 }`, which is `gateway.workers = 2`
/// as well, is one of that name.
pub(crate) fn entries(table: &Table, catalogue: &Catalogue) -> Vec<TreeEntry> {
    let mut all = Vec::new();
    for entry in &table.entries {
        match &entry.node.value {
            Value::Table(own) if catalogue.workload(&entry.key).is_some() => {
                all.extend(
                    own.entries
                        .iter()
                        .map(|one| TreeEntry { key: key(&entry.key, &one.key), ..one.clone() }),
                );
            }
            _ => all.push(entry.clone()),
        }
    }
    all
}

/// What could be meant by such an entry.
pub(crate) fn near(entry: &TreeEntry, catalogue: &Catalogue) -> Vec<String> {
    let Some((workload, _)) = entry.key.split_once('.') else {
        return match entry.node.value {
            Value::Table(_) => {
                catalogue.workloads.iter().map(|one| one.describe().id).map(str::to_owned).collect()
            }
            _ => catalogue.factors.iter().map(|one| one.describe().id).map(str::to_owned).collect(),
        };
    };
    let declared = catalogue.workload(workload).map_or(&[][..], |found| found.parameters());
    declared.iter().filter(|one| is_level(one)).map(|one| key(workload, one.name)).collect()
}

/// Where to read what such a key may be.
pub(crate) fn hint(wanted: &str) -> String {
    match wanted.split_once('.') {
        Some((workload, _)) => format!("`schedlab list --explain {workload}` shows its parameters"),
        None => "`schedlab list factors` shows what can be set".to_owned(),
    }
}
