//! Files of other tools, imported as a campaign. The first line of an input is the
//! mapping as TOML, with `;` for the end of a line; what follows is two files,
//! divided by a line `----`, or one that two subjects share.

use crate::Reaction;
use importers::{Assembled, ImportFile, ImportSettings, Importer, Mapping};
use model::{Comparisons, Histogram, ImportedDesign, Outcome, Plan, Record, SampleData, Unit};
use std::collections::BTreeSet;

const DIVIDER: &str = "\n----\n";
/// Words of every import beside those of its format: of its mapping and between its files.
pub(crate) const WORDS: &[&str] = &[DIVIDER, ";"];

/// Imports with one format, and checks what every campaign promises.
pub(crate) fn import(importer: &dyn Importer, bytes: &[u8]) -> Reaction {
    let Some((mapping, sources)) = parts(bytes) else { return Reaction::Refused };
    let import = || importers::import(importer, &sources, &mapping, &settings());
    let imported = import();
    match &imported {
        Ok(campaign) => {
            check(campaign);
            assert!(import().as_ref() == Ok(campaign), "importing is not pure");
        }
        Err((file, trouble)) => {
            assert!(*file < sources.len(), "file {file} was not given");
            assert!(!trouble.cause.is_empty() && !trouble.remedy.is_empty(), "{trouble:?}");
            assert!(trouble.line != Some(0), "lines count from 1: {trouble}");
        }
    }
    Reaction::of(imported.ok().as_ref())
}

/// The mapping of an input and its files; nothing where there is no mapping.
fn parts(bytes: &[u8]) -> Option<(Mapping, [ImportFile<'_>; 2])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let mapping = std::str::from_utf8(&bytes[..end]).ok()?;
    let mapping = Mapping::from_toml(&mapping.replace(';', "\n")).ok()?;
    Some((mapping, sources(&bytes[end + 1..])))
}

fn sources(bytes: &[u8]) -> [ImportFile<'_>; 2] {
    let divided = bytes.windows(DIVIDER.len()).position(|window| window == DIVIDER.as_bytes());
    let (first, second) = match divided {
        Some(place) => (&bytes[..place], &bytes[place + DIVIDER.len()..]),
        None => (bytes, bytes),
    };
    [("first", first), ("second", second)].map(|(subject, bytes)| ImportFile {
        subject,
        execution: 1,
        bytes,
    })
}

fn settings() -> ImportSettings {
    ImportSettings {
        name: "fuzz".to_owned(),
        title: "Fuzz".to_owned(),
        files: "fuzz".to_owned(),
        reference: None,
        comparisons: Comparisons::All,
        margin: None,
        alpha: 0.05,
    }
}

fn check(campaign: &Assembled) {
    let plan = &campaign.plan;
    assert!(plan.subjects.len() >= 2, "nothing to compare");
    let subjects: BTreeSet<&str> =
        plan.subjects.iter().map(|subject| subject.id.as_str()).collect();
    assert_eq!(subjects.len(), plan.subjects.len(), "two subjects of one name");
    let labels: BTreeSet<&str> =
        plan.workloads.iter().map(|workload| workload.label.as_str()).collect();
    assert_eq!(labels.len(), plan.workloads.len(), "two workloads of one name");
    for workload in &plan.workloads {
        let metrics: BTreeSet<&str> =
            workload.metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(metrics.len(), workload.metrics.len(), "two metrics of one name");
        assert!(workload.primary.iter().all(|id| metrics.contains(id.as_str())));
    }
    let mut replicates = BTreeSet::new();
    for record in &campaign.records {
        assert!(subjects.contains(record.subject.as_str()), "{} is no subject", record.subject);
        let key = (record.subject.as_str(), record.workload.as_str(), record.block);
        assert!(replicates.insert(key), "{key:?} is there twice: one of them would be lost");
        check_record(plan, record);
    }
    let text = serde_json::to_string(plan).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Plan>(&text).ok().as_ref(), Some(plan));
}

fn check_record(plan: &Plan, record: &Record) {
    let Some(workload) = plan.workload(&record.workload) else {
        panic!("{} is no workload", record.workload)
    };
    let has_failure = record.invocations.iter().any(|invocation| invocation.failure.is_some());
    assert_eq!(record.outcome != Outcome::Completed, has_failure);
    for sample in record.invocations.iter().flat_map(|invocation| &invocation.samples) {
        let mut metrics =
            workload.metrics.iter().filter(|metric| metric.source == sample.source).peekable();
        let is_known = metrics.peek().is_some();
        match &sample.data {
            SampleData::Values(values) => {
                assert!(is_known, "{} belongs to no metric", sample.source);
                assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
                let is_plain = metrics.all(|metric| metric.unit == Unit::Plain);
                assert!(is_plain || values.iter().all(|value| *value >= 0.0), "{values:?}");
            }
            // A distribution may support no percentile.
            SampleData::Histogram(histogram) => assert_counts(histogram),
            other => panic!("{other:?} comes from no format"),
        }
    }
    if plan.imported.as_ref().map(|imported| &imported.design) == Some(&ImportedDesign::Blocked) {
        let sittings = &plan.blocks[record.block as usize].sittings;
        assert_eq!(sittings[record.position as usize].subject, record.subject);
    }
}

fn assert_counts(histogram: &Histogram) {
    assert_eq!(histogram.quantile(0.5).is_some(), histogram.count() > 0);
    assert!(histogram.clamped() <= histogram.count());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, corpus_folder, target};
    use fixtures::{assert_inert, assert_parts_are_inert, assert_values_are_inert};
    use importers::IMPORTERS;
    use model::Fingerprint;
    use report::{Inputs, Language, Page, RENDERERS, page_json, view};
    use std::collections::BTreeMap;
    use store::Campaign;

    /// Clears a screen, changes colours (C1), deletes, turns letters round and hides.
    const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{200b}\u{e0041}";
    /// The same as JSON has it, with the end of a line.
    const IN_JSON: &str = "\\u001b[2J\\n\\u009b31m\\u007f\\u202e\\u200b\\udb40\\udc41";
    /// What a name may hold, of which no format makes a control.
    const TURNED: &str = "\u{202e}\u{200b}";
    /// Longer examples are like the shorter ones.
    const LONGEST: usize = 9_000;
    /// Letters in a row that are a word where a file is no text.
    const WORD: usize = 3;

    /// Formats of whose examples more words than [`DEFAULT_LEAST_HOSTILE`] may be hostile: texts,
    /// names, and keys that their parsers pass over.
    const LEAST_HOSTILE: [(&str, usize); 11] = [
        ("benchfmt", 6),
        ("csv", 10),
        ("fio", 8),
        ("gatling", 8),
        ("google-benchmark", 8),
        ("hyperfine", 8),
        ("iozone", 2),
        ("iperf3", 4),
        ("perf-stat", 3),
        ("schbench", 2),
        ("tsv", 8),
    ];
    /// So many words are hostile in the examples of every other format, at least.
    const DEFAULT_LEAST_HOSTILE: usize = 1;
    /// The example that becomes slides: their pictures take seconds, and they are made of the same
    /// report whatever the format.
    const ON_SLIDES: &str = "csv/ok-replicates";

    fn is_part(letter: char) -> bool {
        letter.is_ascii_alphanumeric() || letter == '_'
    }

    /// The text with something behind a word, wherever that stands.
    fn behind(text: &str, word: &str, poison: &str) -> String {
        let mut changed = String::with_capacity(text.len() + poison.len());
        let mut rest = text;
        while let Some(at) = rest.find(word) {
            let end = at + word.len();
            changed.push_str(&rest[..end]);
            if !rest[..at].ends_with(is_part) && !rest[end..].starts_with(is_part) {
                changed.push_str(poison);
            }
            rest = &rest[end..];
        }
        changed + rest
    }

    /// The campaign of an input under hostile names of subjects, question and files.
    fn assembled(importer: &dyn Importer, input: &[u8]) -> Option<Assembled> {
        let (mapping, sources) = parts(input)?;
        let names = sources.map(|source| format!("{}{TURNED}", source.subject));
        let sources = [0, 1].map(|at| ImportFile { subject: &names[at], ..sources[at] });
        let settings = ImportSettings {
            title: format!("Fuzz{HOSTILE}"),
            files: format!("fuzz{HOSTILE}"),
            ..settings()
        };
        importers::import(importer, &sources, &mapping, &settings).ok()
    }

    /// The text with every word hostile that may be, and how many are.
    fn poisoned_text(importer: &dyn Importer, text: &str) -> (Vec<u8>, usize) {
        let (_, files) = text.split_once('\n').unwrap_or_default();
        let is_json = files.trim_start().starts_with('{');
        let poisons = [if is_json { IN_JSON } else { HOSTILE }, TURNED];
        let begins = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_alphabetic());
        let words = text.split(|letter: char| !is_part(letter)).filter(begins);
        let words: BTreeSet<&str> = words.collect();
        let (mut changed, mut count) = (text.to_owned(), 0);
        for word in words {
            let mut tried = poisons.iter().map(|poison| behind(&changed, word, poison));
            let is_accepted = |one: &String| assembled(importer, one.as_bytes()).is_some();
            if let Some(accepted) = tried.find(is_accepted) {
                changed = accepted;
                count += 1;
            }
        }
        (changed.into_bytes(), count)
    }

    /// The same where lengths of texts stand before them: a letter of each word is changed.
    fn poisoned_bytes(importer: &dyn Importer, input: &[u8]) -> (Vec<u8>, usize) {
        let first = input.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (mut changed, mut count, mut run) = (input.to_vec(), 0, 0);
        for (place, byte) in input.iter().enumerate().skip(first) {
            run = if byte.is_ascii_alphabetic() { run + 1 } else { 0 };
            if run != WORD {
                continue;
            }
            let before = std::mem::replace(&mut changed[place], 0x1b);
            if assembled(importer, &changed).is_some() {
                count += 1;
            } else {
                changed[place] = before;
            }
        }
        (changed, count)
    }

    /// Stores an import, judges it and draws it in every format.
    fn assert_is_drawn_inert(what: &str, format: &str, imported: Assembled) {
        let home = tempfile::tempdir().unwrap();
        let head = store::import_head(format);
        let mut campaign = Campaign::create(home.path(), &imported.plan, &head, 1, 1).unwrap();
        campaign.append_all(&imported.records).unwrap();
        campaign.mark_finished().unwrap();
        let loaded = lab::load(campaign.directory()).unwrap();
        let findings = lab::judge_records(&loaded);
        let report = view(&Inputs {
            plan: &loaded.plan,
            records: &loaded.records,
            values: &model::TrialValues::default(),
            findings: &findings,
            environment: &Fingerprint::default(),
            campaign: "fuzz",
            attempt: loaded.attempt,
            resumptions: 0,
            directory: "fuzz",
            origin: loaded.origin,
            store_caveats: &loaded.caveats,
            is_stopped_early: false,
            shares_few_boots: false,
            binding: loaded.binding,
            factors: &BTreeMap::new(),
            is_absolute: false,
            language: Language::default(),
        });
        let page = Page {
            width: 80,
            is_colour: false,
            is_unicode: true,
            is_verbose: true,
            has_plots: true,
            fonts: &[],
        };
        assert!(report.title.contains('\u{202e}'), "{what}: it is not hostile");
        for renderer in RENDERERS {
            let id = renderer.describe().id;
            let mut drawn = Vec::new();
            // The page is a script of our own around data, which are looked at below.
            if id == "html" || (id == "pptx" && what != ON_SLIDES) {
                continue;
            }
            // A format may refuse a campaign.
            if renderer.render(&report, &page, &mut drawn).is_err() {
                continue;
            }
            let what = format!("{what} as {id}");
            if renderer.is_text() {
                assert_inert(&what, &String::from_utf8(drawn).unwrap());
            } else {
                assert_parts_are_inert(&what, drawn);
            }
        }
        let data = page_json(&report).unwrap();
        assert_inert(what, &data);
        assert_values_are_inert(what, &serde_json::from_str(&data).unwrap());
    }

    #[test]
    fn whatever_a_file_of_any_format_says_is_drawn_inert() {
        let (mut few, mut slides) = (Vec::new(), 0);
        for importer in IMPORTERS {
            let id = importer.describe().id;
            let target = target(&format!("import-{id}")).unwrap();
            let corpus = Corpus::read(&corpus_folder(target)).unwrap();
            let is_example = |(name, input): &&(String, Vec<u8>)| {
                name.starts_with("ok") && input.len() <= LONGEST
            };
            let mut all = 0;
            for (name, input) in corpus.0.iter().filter(is_example) {
                let (changed, count) = match std::str::from_utf8(input) {
                    Ok(text) => poisoned_text(*importer, text),
                    Err(_) => poisoned_bytes(*importer, input),
                };
                all += count;
                let imported = assembled(*importer, &changed);
                let imported = imported.unwrap_or_else(|| panic!("{id}/{name} is refused"));
                let what = format!("{id}/{name}");
                slides += usize::from(what == ON_SLIDES);
                assert_is_drawn_inert(&what, id, imported);
            }
            let least = LEAST_HOSTILE.iter().find(|(format, _)| *format == id);
            let least = least.map_or(DEFAULT_LEAST_HOSTILE, |row| row.1);
            if all < least {
                few.push(format!("{id}: {all} words may be hostile, and {least} must"));
            }
        }
        assert!(few.is_empty(), "{few:?}");
        assert_eq!(slides, 1, "no example becomes slides");
    }
}
