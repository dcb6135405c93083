//! What a reader has to know before any verdict, where no report stands around it.

use crate::attempt::{attempt_and_resumptions, is_unbound};
use crate::few_boots::few_boots;
use crate::view::Report;
use model::{CaveatCode, Imported};
use phrases::say;

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
pub(crate) fn origins(report: &Report) -> Vec<String> {
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
    against_evidence(report, is_unbound(report) || is_import_unbound(report))
}

/// The same but for what stands at its head already, beside which attempt it is
/// ([`crate::attempt::attempt`]).
pub(crate) fn evidence_below_attempt(report: &Report) -> Vec<String> {
    against_evidence(report, is_import_unbound(report) && !is_unbound(report))
}

/// Whether nothing bound records that its numbers were imported from.
fn is_import_unbound(report: &Report) -> bool {
    report.design.imported.as_ref().is_some_and(Imported::is_unbound)
}

/// That it is not as it was written (`findings.is_evidence_changed`), and, where that is to be
/// said, that nothing binds its records.
fn against_evidence(report: &Report, says_unbound: bool) -> Vec<String> {
    let facts = [
        (report.is_evidence_changed(), CaveatCode::EvidenceChanged),
        (says_unbound, CaveatCode::EvidenceUnbound),
    ];
    let said = facts.into_iter().filter(|(is_so, _)| *is_so);
    let language = report.language.code();
    said.map(|(_, code)| format!("{code}: {}", code.meaning_in(language))).collect()
}
