//! What a reader has to know before any verdict, where no report stands around it.

use crate::attempt::{attempt_and_resumptions, is_unbound};
use crate::few_boots::few_boots;
use crate::view::Report;
use model::CaveatCode;
use phrases::say;
use std::collections::BTreeMap;

/// How codes of caveats begin that speak against the evidence itself.
const OF_EVIDENCE: &str = "EVIDENCE_";

/// One thing that has to be known before a verdict is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Premise {
    /// What it is about, one word for programs: `origin`, `quick`, `evidence`, `attempt` or `boots`.
    pub about: &'static str,
    /// The sentences. Names in them come from files.
    pub text: String,
}

/// Where the numbers of a campaign come from, unless they were measured; that it is smaller than
/// declared; what speaks against its evidence; which attempt it is; and what few boots cannot show.
pub fn premises(report: &Report) -> Vec<Premise> {
    let told = [
        ("origin", origins(report)),
        ("quick", quick(report).into_iter().collect()),
        ("evidence", evidence(report)),
        ("attempt", attempt_and_resumptions(report).into_iter().collect()),
        ("boots", few_boots(report).into_iter().collect()),
    ];
    let each = |(about, texts): (&'static str, Vec<String>)| {
        texts.into_iter().map(move |text| Premise { about, text })
    };
    told.into_iter().flat_map(each).collect()
}

/// Where its numbers come from; nothing of those that a real machine gave here.
fn origins(report: &Report) -> Vec<String> {
    let language = report.language;
    let imported = report.design.imported.as_ref().map(|from| {
        say!(language, "Imported from {file} ({format}).", file = from.file, format = from.format)
    });
    let is_simulated = report.is_simulated;
    let simulated =
        is_simulated.then(|| language.word("Simulated: no machine was measured.").to_owned());
    let is_emulated = report.findings.findings.iter().any(|finding| finding.is_emulated);
    let emulated = is_emulated.then(|| {
        language.word("Emulated processor: ratios may be read, values may not.").to_owned()
    });
    [imported, simulated, emulated].into_iter().flatten().collect()
}

/// That `--quick` made it smaller.
fn quick(report: &Report) -> Option<String> {
    let told = || report.language.word("Quick: fewer blocks and shorter trials than declared.");
    report.design.is_quick.then(|| told().to_owned())
}

/// What speaks against its evidence, each with its code.
fn evidence(report: &Report) -> Vec<String> {
    let caveats = report.caveats.iter().filter(|caveat| caveat.code.starts_with(OF_EVIDENCE));
    let mut meanings: BTreeMap<&str, &str> =
        caveats.map(|caveat| (caveat.code.as_str(), caveat.meaning.as_str())).collect();
    if is_unbound(report) {
        let code = CaveatCode::EvidenceUnbound;
        meanings.insert(code.as_str(), code.meaning_in(report.language.code()));
    }
    meanings.iter().map(|(code, meaning)| format!("{code}: {meaning}")).collect()
}
