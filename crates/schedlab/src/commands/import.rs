//! `schedlab import`: other people's numbers become a campaign.

use super::import_evidence::{BETWEEN_FILES, usual_title};
use super::planning::text_of;
use super::run::deliver;
use super::{evidence, refuse_foreign_runtime, reports};
use crate::cli::{Common, Import, Pairs, Presentation};
use crate::environment::random_u64;
use crate::exit::ExitCode;
use crate::output::{tell, tell_lines};
use crate::reader_time::ReaderTime;
use contract::{Error, Result};
use importers::{
    ExecutionLevels, IMPORTERS, ImportFile, ImportSettings, Importer, Mapping, Trouble,
};
use model::{Claim, Comparisons, DEFAULT_ALPHA, Findings, Imported, Plan, ReaderLimit, Record};
use std::io::Read;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use store::{Campaign, HeldRecords, StoredRecords};

/// One file as given: `[SUBJECT=]PATH`.
struct File {
    subject: String,
    path: PathBuf,
    bytes: Vec<u8>,
    /// Which file of its subject it is, from 1.
    execution: usize,
}

pub(super) fn run(common: &Common, arguments: &Import) -> Result<ExitCode> {
    // Columns of megabytes come and go while rows are read and judged.
    sys::return_large_memory_when_freed();
    let reading = ReaderTime::bounded();
    let importer = importer(&arguments.format)?;
    let mapping = mapping(arguments)?;
    let files = files(&arguments.files, importer.most_bytes())?;
    let settings = settings(arguments, &files)?;
    let sources: Vec<ImportFile<'_>> = files
        .iter()
        .map(|file| ImportFile {
            subject: &file.subject,
            execution: file.execution,
            bytes: &file.bytes,
        })
        .collect();
    let imported = importers::import(importer, &sources, &mapping, &settings);
    let mut imported =
        imported.map_err(|(index, trouble)| refused(&files[index].path, &trouble))?;
    if let Some(path) = arguments.mapping.as_ref().filter(|_| !mapping.claims.is_empty()) {
        let claims = claims(path, &imported.plan)?;
        imported.plan.claim(claims);
    }
    imported.plan.oldest_format().clone_into(&mut imported.plan.format);
    imported.plan.options = words(arguments);
    let text = own_words(arguments, &mapping)?;
    refuse_foreign_runtime(common)?;
    let unix_ns = sys::unix_ns();
    // A campaign that is being stored is stored whole.
    drop(reading);
    let moment = (unix_ns, (random_u64()? & 0xffff) as u16);
    let mut campaign = Campaign::create_with(&common.results, imported.plan, &text, moment)?;
    count_attempt(common, &mut campaign, &files, unix_ns)?;
    // Nothing is held that judging does not need.
    drop(sources);
    drop(files);
    sys::return_freed_memory();
    let is_table = campaign.plan().imported.as_ref().is_some_and(Imported::is_table);
    let directory = campaign.directory().to_owned();
    let records = imported.records;
    let (stored, judged) = stored_and_judged(common, campaign, &records)?;
    sys::return_freed_memory();
    let format = (importer.describe().id, is_table);
    tell(&replicates(&mapping, format, &imported.executions));
    let _judging = ReaderTime::bounded();
    // The records are judged as they were stored, and not read again: `judge` does.
    let held = HeldRecords::new(records, stored);
    let loaded = evidence::load_held(common, &directory, held)?;
    let findings = || match judged {
        Some(findings) => lab::qualified(findings, &loaded),
        None => lab::judge_records(&loaded),
    };
    let (findings, values) = reports::with_values(&loaded, || Ok(findings()))?;
    store::save_findings(&directory, &findings)?;
    sys::return_freed_memory();
    let ended = deliver(common, &loaded, (&findings, values), Presentation::default());
    // The process ends: the kernel takes hundreds of thousands of records at once.
    std::mem::forget(loaded);
    ended
}

/// Stores records, all of a campaign. Those that are judged as they are held are judged meanwhile.
fn stored_and_judged(
    common: &Common,
    campaign: Campaign,
    records: &[Record],
) -> Result<(StoredRecords, Option<Findings>)> {
    let plan = campaign.shared_plan();
    thread::scope(|scope| {
        let judging =
            store::are_small(records).then(|| scope.spawn(move || analysis::judge(&plan, records)));
        let stored = stored(common, campaign, records);
        // It may be judged later: what takes too long is ended no sooner.
        let _judging = ReaderTime::bounded();
        let judged =
            judging.map(|judged| judged.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok((stored?, judged))
    })
}

/// Stores records and ends their campaign.
fn stored(common: &Common, mut campaign: Campaign, records: &[Record]) -> Result<StoredRecords> {
    match campaign.append_all(records) {
        Ok(stored) => {
            campaign.mark_finished()?;
            keep_count(common, &campaign);
            Ok(stored)
        }
        Err(error) => {
            // Nothing of it is on disk; a directory without records helps nobody, and the reason
            // must be told.
            let _ = campaign.discard();
            Err(error)
        }
    }
}

/// Counts an import, which can be repeated under other choices as a run can. Where that cannot be
/// done, nobody knows which attempt it is, and that is no reason not to import it.
fn count_attempt(
    common: &Common,
    campaign: &mut Campaign,
    files: &[File],
    unix_ns: u64,
) -> Result<()> {
    let Some(attempts) = evidence::attempts(common) else { return Ok(()) };
    let name = campaign.directory().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes: Vec<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    match attempts.count_import(campaign.plan(), &bytes, (&common.results, &name), unix_ns) {
        Ok(attempt) => campaign.note_attempt(attempt),
        Err(error) => {
            tell(&format!("{attempts}: attempts are not counted: {error}"));
            Ok(())
        }
    }
}

/// Lets the machine remember which records there are, so that others are missed later. Where it
/// cannot, that is no reason not to import them.
fn keep_count(common: &Common, campaign: &Campaign) {
    let Some(attempts) = evidence::attempts(common) else { return };
    if let Err(error) = campaign.keep_count(&attempts) {
        tell(&format!("{attempts}: the number of records is not remembered: {}", error.one_line()));
    }
}

/// What counts as a replicate of a format, which may be a table; said before any verdict.
fn replicates(
    mapping: &Mapping,
    (format, is_table): (&str, bool),
    executions: &ExecutionLevels,
) -> String {
    match (&mapping.block, mapping.replicate.as_slice()) {
        (Some(block), _) => format!("a replicate is a block, as the file names them ({block})"),
        (None, []) if !is_table => {
            format!("what a replicate is, `schedlab list imports --explain {format}` tells")
        }
        (None, []) => {
            "each row counts as a replicate; --replicate names the columns that identify one \
                       execution"
                .to_owned()
        }
        (None, columns) => {
            let told = |what: &str, names: &[String]| {
                let own = names.iter().filter(|name| !columns.contains(name));
                let own: Vec<&str> = own.map(String::as_str).collect();
                if own.is_empty() {
                    String::new()
                } else {
                    format!("; {what} {}", own.join(" and "))
                }
            };
            let subject = mapping.subject.as_deref().unwrap_or("file");
            format!(
                "a replicate is one execution: {subject}, {}{}{}{}",
                columns.join(", "),
                told("each has one", &executions.fixed),
                told("each covers every", &executions.whole),
                told("some cover several, but not every", &executions.partial)
            )
        }
    }
}

fn importer(id: &str) -> Result<&'static dyn Importer> {
    let found = IMPORTERS.iter().copied().find(|importer| importer.describe().id == id);
    found.ok_or_else(|| {
        let known: Vec<&str> = IMPORTERS.iter().map(|importer| importer.describe().id).collect();
        Error::usage(
            format!("cannot import the format `{id}`"),
            "there is no such format",
            format!("choose one of {}", known.join(", ")),
        )
    })
}

/// The mapping of a file, completed by the command line.
fn mapping(arguments: &Import) -> Result<Mapping> {
    let wrong = |trouble: Trouble| {
        Error::usage("cannot read the mapping", &trouble, trouble.remedy.clone())
    };
    let mut mapping = match &arguments.mapping {
        None => Mapping::default(),
        Some(path) => Mapping::from_toml(&mapping_text(path)?).map_err(|trouble| {
            let attempted = format!("cannot read the mapping {}", path.display());
            Error::usage(attempted, &trouble, trouble.remedy.clone())
        })?,
    };
    let set = |known: &mut Option<String>, given: &Option<String>| {
        if given.is_some() {
            known.clone_from(given);
        }
    };
    set(&mut mapping.subject, &arguments.subject);
    set(&mut mapping.block, &arguments.block);
    set(&mut mapping.order, &arguments.order);
    set(&mut mapping.metric, &arguments.metric);
    set(&mut mapping.unit, &arguments.unit);
    set(&mut mapping.direction, &arguments.direction);
    mapping.parameters.extend(arguments.parameters.iter().cloned());
    mapping.replicate.extend(arguments.replicate.iter().cloned());
    mapping.independent.extend(arguments.independent.iter().cloned());
    mapping.primary.extend(arguments.primary.iter().cloned());
    for text in &arguments.values {
        mapping.values.push(Mapping::value(text).map_err(wrong)?);
    }
    for text in &arguments.better {
        let (metric, direction) = text.rsplit_once('=').unwrap_or((text, ""));
        let direction = match direction {
            "higher" => importers::MappingDirection::Higher,
            "lower" => importers::MappingDirection::Lower,
            _ => {
                return Err(Error::usage(
                    format!("cannot read --better {text}"),
                    "it does not say which way is better",
                    "write METRIC=higher or METRIC=lower",
                ));
            }
        };
        mapping.better.insert(metric.to_owned(), direction);
    }
    Ok(mapping)
}

fn mapping_text(path: &Path) -> Result<String> {
    text_of(path).map_err(|error| {
        Error::usage(format!("cannot read the mapping {}", path.display()), error, "")
    })
}

/// What the mapping claims of the numbers that were imported.
fn claims(path: &Path, plan: &Plan) -> Result<Vec<Claim>> {
    let text = mapping_text(path)?;
    plan::claims_of_import(&text, &crate::catalogue(), plan).map_err(|problems| {
        tell_lines(plan::render_problems(&problems, &path.display().to_string(), &text).trim_end());
        let count: usize = problems.iter().map(|problem| problem.stands_for).sum();
        Error::usage(
            format!("cannot read the claims of {}", path.display()),
            format!("it has {}", model::counted(count, "problem")),
            "claims are written as in an experiment: says, subject, reference, metric, effect",
        )
    })
}

fn files(given: &[String], limit: &'static ReaderLimit) -> Result<Vec<File>> {
    let mut files: Vec<File> = Vec::new();
    for text in given {
        let (subject, path) = match text.split_once('=') {
            Some((subject, path)) if !Path::new(text).exists() => {
                (subject.to_owned(), PathBuf::from(path))
            }
            _ => {
                let path = PathBuf::from(text);
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_else(|| text.clone()), path)
            }
        };
        let attempted = || format!("cannot read {}", path.display());
        let remedy = "give the path of a file that you may read, or SUBJECT=PATH";
        let size =
            std::fs::metadata(&path).map_err(|error| Error::usage(attempted(), error, remedy))?;
        if !size.is_file() {
            return Err(Error::usage(attempted(), "it is no file", remedy));
        }
        let before: u64 = files.iter().map(|file| file.bytes.len() as u64).sum();
        let within = |bytes: u64| {
            limit
                .check(before + bytes)
                .map_err(|over| Error::usage(attempted(), over, over.limit.remedy))
        };
        within(size.len())?;
        let mut bytes = Vec::with_capacity(size.len() as usize + 1);
        sys::open_regular(&path)
            .and_then(|file| file.take(limit.most + 1).read_to_end(&mut bytes))
            .map_err(|error| Error::usage(attempted(), error, remedy))?;
        // It may have grown meanwhile.
        within(bytes.len() as u64)?;
        if let Some(same) = files.iter().find(|one| one.subject == subject && one.bytes == bytes) {
            return Err(Error::usage(
                format!("cannot import {} for {subject}", path.display()),
                format!("it holds the same bytes as {}", same.path.display()),
                "give each execution's file once: evidence does not double",
            ));
        }
        let execution = 1 + files.iter().filter(|known| known.subject == subject).count();
        files.push(File { subject, path, bytes, execution });
    }
    Ok(files)
}

fn settings(arguments: &Import, files: &[File]) -> Result<ImportSettings> {
    let margin = match &arguments.margin {
        None => None,
        Some(text) => {
            let margin = model::parse_percent(text).ok().filter(|m| *m > 0.0 && *m <= 1.0);
            Some(margin.ok_or_else(|| {
                Error::usage(
                    format!("cannot read the margin `{text}`"),
                    "it is no percentage above 0% and up to 100%",
                    "write --margin 5%",
                )
            })?)
        }
    };
    let names: Vec<String> = files
        .iter()
        .map(|file| {
            let name = file.path.file_name().unwrap_or(file.path.as_os_str());
            name.to_string_lossy().into_owned()
        })
        .collect();
    let stem = files.first().map_or("import", |file| file.subject.as_str());
    let stem = files
        .first()
        .and_then(|file| file.path.file_stem())
        .map_or_else(|| stem.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let name = plan::name_of(arguments.name.as_deref().unwrap_or(&stem));
    let files = names.join(BETWEEN_FILES);
    Ok(ImportSettings {
        title: arguments.title.clone().unwrap_or_else(|| usual_title(&files)),
        name: if name.is_empty() { "import".to_owned() } else { name },
        files,
        reference: arguments.reference.clone(),
        comparisons: match arguments.pairs {
            Pairs::All => Comparisons::All,
            Pairs::Reference => Comparisons::Reference,
        },
        margin,
        alpha: arguments.alpha,
    })
}

/// The files and the options that are not part of the mapping, to repeat the import.
fn words(arguments: &Import) -> Vec<String> {
    let mut words = arguments.files.clone();
    let mut put = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            words.extend([name.to_owned(), value.clone()]);
        }
    };
    put("--reference", &arguments.reference);
    put("--margin", &arguments.margin);
    put("--name", &arguments.name);
    put("--title", &arguments.title);
    if arguments.pairs == Pairs::Reference {
        words.extend(["--pairs".to_owned(), "reference".to_owned()]);
    }
    if arguments.alpha != DEFAULT_ALPHA {
        words.extend(["--alpha".to_owned(), arguments.alpha.to_string()]);
    }
    words
}

fn refused(path: &Path, trouble: &Trouble) -> Error {
    Error::usage(format!("cannot import {}", path.display()), trouble, trouble.remedy.clone())
}

/// The mapping as a file that repeats the import: kept where a run keeps its experiment.
fn own_words(arguments: &Import, mapping: &Mapping) -> Result<String> {
    let mapping =
        mapping.to_toml().map_err(|error| Error::environment("cannot write the mapping", error))?;
    Ok(format!("{}{mapping}", store::import_head(&arguments.format)))
}
