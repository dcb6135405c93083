//! What `schedlab bundle --redact` knows to be secret, and which words give nothing away.

use crate::cli::Common;
use crate::environment::names;
use contract::{Error, ParameterKind, Result};
use std::collections::BTreeSet;
use store::{KnownSecrets, SecretKind};

/// Words of command lines that are everybody's, besides those of the catalogue.
const EVERYBODYS: [&str; 24] = [
    "and",
    "baseline",
    "bench",
    "benchmark",
    "bin",
    "config",
    "count",
    "false",
    "file",
    "for",
    "max",
    "median",
    "min",
    "not",
    "output",
    "quiet",
    "seed",
    "sleep",
    "test",
    "the",
    "true",
    "usr",
    "verbose",
    "with",
];

/// Names of this machine and its people, and what the user named.
pub(super) fn known(common: &Common, words: &[String]) -> Result<KnownSecrets> {
    if let Some(empty) = words.iter().find(|word| word.trim().is_empty()) {
        return Err(Error::usage(
            format!("cannot redact `{empty}`"),
            "it is no word",
            "name what is secret: --redact-word WORD",
        ));
    }
    let (hosts, users) = names(&super::machine(common)?);
    let mut secrets: Vec<(SecretKind, String)> =
        words.iter().map(|word| (SecretKind::Word, word.clone())).collect();
    secrets.extend(users.into_iter().map(|user| (SecretKind::User, user)));
    for host in hosts {
        let short = host.split('.').next().unwrap_or_default().to_owned();
        secrets.extend([host, short].map(|name| (SecretKind::Host, name)));
    }
    Ok(KnownSecrets { secrets, ordinary: ordinary() })
}

/// Every word of the catalogue's ids, parameters, what these may be, and summaries.
fn ordinary() -> BTreeSet<String> {
    let catalogue = crate::catalogue();
    let workloads = catalogue.workloads.iter().map(|entry| entry.describe());
    let factors = catalogue.factors.iter().map(|entry| entry.describe());
    let probes = catalogue.probes.iter().map(|entry| entry.describe());
    let parameters = catalogue
        .workloads
        .iter()
        .flat_map(|entry| entry.parameters())
        .flat_map(|parameter| [parameter.name, parameter.summary]);
    let words_of = |kind: ParameterKind| -> &'static [&'static str] {
        if let ParameterKind::Choice(words) = kind { words } else { &[] }
    };
    let choices = catalogue
        .workloads
        .iter()
        .flat_map(|entry| entry.parameters())
        .flat_map(|parameter| words_of(parameter.kind))
        .copied();
    let texts = workloads.chain(factors).chain(probes).flat_map(|one| [one.id, one.summary]);
    let of_text = |text: &'static str| text.split(|c: char| !c.is_alphanumeric());
    let ids = catalogue.factors.iter().map(|entry| entry.describe().id);
    texts
        .chain(parameters)
        .chain(choices)
        .flat_map(of_text)
        .chain(ids)
        .chain(EVERYBODYS)
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
