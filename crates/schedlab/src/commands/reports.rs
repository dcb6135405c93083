//! `schedlab judge`, `report` and `show`: again from the records.

use super::evidence;
use super::manifest_fields::{self, FieldOutcome, redaction_sentence};
use super::save::save;
use super::signals::hear_signals;
use super::unpacked_bundle::{opened, temporary};
use crate::browser;
use crate::cli::{Common, Judge, Presentation, ReportArguments, ShowArguments};
use crate::environment::FONTS;
use crate::exit::ExitCode;
use crate::output::{is_read_by_a_person, legible, page, print_bytes, print_written, tell};
use contract::{Description, Error, ErrorKind, Result};
use model::{Findings, Fingerprint, Plan, TrialValues};
use report::{Inputs, Page, RENDERERS, Renderer, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use store::{Campaign, CampaignState, LoadedCampaign};

/// The format for terminals.
const TERMINAL: &str = "terminal";
/// The format that has all records: of an import its text is larger than what it is made from.
const WHOLE: &str = "json";

/// Reports in files.
const FILE_PAGE: Page = Page {
    width: 100,
    is_colour: false,
    is_unicode: true,
    is_verbose: true,
    has_plots: false,
    fonts: FONTS,
};

/// Said of a campaign that lost its records.
const EMPTIED: &str =
    "records.jsonl holds no record and findings.json has findings: they do not belong together";

pub(super) fn judge(common: &Common, arguments: &Judge) -> Result<ExitCode> {
    let campaign = &arguments.campaign.campaign;
    if Path::new(campaign).is_file() {
        return Err(Error::usage(
            format!("cannot judge {campaign}"),
            "it is a file, not a campaign's directory; a bundle stays what was verified",
            "`schedlab show` judges a bundle anew; unpack it to store findings and reports",
        ));
    }
    let directory = store::resolve(&common.results, campaign)?;
    if is_emptied(&directory) {
        return Err(Error::new(
            ErrorKind::Environment,
            format!("cannot judge {}", directory.display()),
            EMPTIED,
            "bring records.jsonl back from a copy, or remove findings.json to judge nothing",
        ));
    }
    if arguments.end {
        end(&directory)?;
    }
    let loaded = evidence::load(common, &directory)?;
    let (findings, values) = with_values(&loaded, || lab::judge(&loaded))?;
    deliver(common, &loaded, (&findings, values), arguments.presentation)?;
    Ok(ExitCode::Done)
}

/// Ends a campaign on purpose: it is judged by what it has, and not resumed.
fn end(directory: &Path) -> Result<()> {
    let mut campaign = Campaign::open(directory)?;
    if campaign.state() == CampaignState::Unfinished {
        let trials = model::counted(campaign.record_count(), "trial");
        let why = format!("ended on purpose after {trials}");
        campaign.mark_stopped_early(&why)?;
    }
    Ok(())
}

pub(super) fn report(common: &Common, arguments: &ReportArguments) -> Result<ExitCode> {
    let (loaded, findings) = judged_for(common, &arguments.campaign.campaign, &arguments.format)?;
    if arguments.output.as_deref() == Some(Path::new("-")) {
        let shown = Shown::of(common, arguments.presentation);
        send(&loaded, &findings, &arguments.format, shown)?;
        return Ok(ExitCode::Done);
    }
    let (format, output) = (&arguments.format, arguments.output.as_deref());
    if output.is_none() && Path::new(&arguments.campaign.campaign).is_file() {
        return Err(Error::usage(
            "cannot write a report into a bundle",
            "it stays what was verified",
            "say where: --output FILE, or - for standard output",
        ));
    }
    let path = write(&loaded, &findings, format, output, arguments.presentation)?;
    tell(&format!("wrote {}", path.display()));
    Ok(ExitCode::Done)
}

pub(super) fn show(common: &Common, arguments: &ShowArguments) -> Result<ExitCode> {
    let (loaded, findings) = judged_for(common, &arguments.campaign.campaign, &arguments.format)?;
    let shown = Shown { has_plots: arguments.plots, ..Shown::of(common, arguments.presentation) };
    send(&loaded, &findings, &arguments.format, shown)?;
    Ok(ExitCode::Done)
}

/// A campaign with its findings, judged anew: stored ones may be another version's,
/// or edited. Nothing is written.
pub(super) fn judged(common: &Common, campaign: &str) -> Result<(LoadedCampaign, Findings)> {
    judged_for(common, campaign, TERMINAL)
}

/// The same for a report of this format: the whole one has what binds each record, too.
fn judged_for(common: &Common, campaign: &str, format: &str) -> Result<(LoadedCampaign, Findings)> {
    if Path::new(campaign).is_file() {
        return of_bundle(common, Path::new(campaign), format);
    }
    let directory = store::resolve(&common.results, campaign)?;
    let loaded = drawn_from(evidence::load_linked(common, &directory)?, format);
    let findings = lab::judge_records(&loaded);
    let stored = store::load_findings(&directory).ok().flatten();
    // Those of an earlier format lack what it did not have.
    let is_other = |stored: Findings| stored.format == findings.format && stored != findings;
    if is_emptied(&directory) {
        tell(&format!("{EMPTIED}: bring records.jsonl back from a copy"));
    } else if loaded.is_finished && stored.is_some_and(is_other) {
        tell("the stored findings are not what the records say: `schedlab judge` writes them anew");
    }
    Ok((loaded, findings))
}

/// Whether findings are left of records that are not: to judge anew would lose them, too.
fn is_emptied(directory: &Path) -> bool {
    let rests_on_records =
        |stored: Findings| stored.findings.iter().any(|finding| finding.pairs > 0);
    let stored = || store::load_findings(directory).ok().flatten();
    let records = std::fs::metadata(directory.join("records.jsonl"));
    records.is_ok_and(|file| file.is_file() && file.len() == 0)
        && stored().is_some_and(rests_on_records)
}

/// What a report of this format is drawn from, once the evidence was looked at.
fn drawn_from(loaded: LoadedCampaign, format: &str) -> LoadedCampaign {
    if format == WHOLE { loaded } else { evidence::without_links(loaded) }
}

/// The campaign in a bundle, judged anew for a report of this format.
fn of_bundle(common: &Common, file: &Path, format: &str) -> Result<(LoadedCampaign, Findings)> {
    let home = temporary()?;
    let unpacked = store::unpack(file, home.path())?;
    if let Some(problem) = unpacked.problems.first() {
        tell(&format!("{problem}: `schedlab verify {}` says more", file.display()));
    }
    let manifest = unpacked.manifest;
    let loaded = drawn_from(opened(common, home.path(), &manifest)?.loaded, format);
    if let FieldOutcome::Differs(problem) = manifest_fields::redaction(&manifest, &loaded) {
        tell(&format!("{problem}: `schedlab verify {}` says more", file.display()));
    }
    if let Some(redaction) = manifest_fields::redaction_of(&manifest, &loaded) {
        tell(&format!("{}: {}", file.display(), redaction_sentence(&redaction)));
    }
    let findings = lab::judge_records(&loaded);
    Ok((loaded, findings))
}

/// How much a person wants to see.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    is_verbose: bool,
    has_plots: bool,
    presentation: Presentation,
}

impl Shown {
    pub(super) fn of(common: &Common, presentation: Presentation) -> Self {
        Self { is_verbose: common.verbose, has_plots: false, presentation }
    }

    fn page(self) -> Page {
        Page { has_plots: self.has_plots, ..page(self.is_verbose) }
    }
}

/// A report on standard output, whatever its format. What is no text would leave a terminal
/// in disorder, and tells nobody anything.
fn send(loaded: &LoadedCampaign, findings: &Findings, format: &str, shown: Shown) -> Result<()> {
    let kind = Format::named(format)?;
    if !kind.is_text() && is_read_by_a_person() {
        let id = kind.describe().id;
        return Err(Error::usage(
            format!("cannot show the format `{id}`"),
            "it is binary, and standard output is a terminal",
            format!("write it to a file: schedlab report --format {id} --output FILE"),
        ));
    }
    if let Format::Drawn(renderer) = kind
        && renderer.describe().id == WHOLE
    {
        let report = view(loaded, &loaded.directory, findings, shown.presentation);
        return print_written(|output| renderer.render(&report, &shown.page(), output));
    }
    print_bytes(&for_output(loaded, findings, kind, shown)?)
}

/// A report for standard output. Only the table for terminals heeds a locale of plain ASCII; what
/// goes elsewhere is read elsewhere.
fn for_output(
    loaded: &LoadedCampaign,
    findings: &Findings,
    format: Format,
    shown: Shown,
) -> Result<Vec<u8>> {
    let mut presentation = shown.presentation;
    if format.describe().id == TERMINAL {
        presentation.language = legible(presentation.language);
    }
    render(loaded, findings, format, &shown.page(), presentation)
}

/// What judging gives, and the value of each trial that reports show: both are computed at once. Of an
/// import each needs half as much memory as its records, so that one follows the other.
pub(super) fn with_values(
    loaded: &LoadedCampaign,
    judge: impl FnOnce() -> Result<Findings>,
) -> Result<(Findings, TrialValues)> {
    if loaded.plan.imported.is_some() {
        let findings = judge()?;
        sys::return_freed_memory();
        return Ok((findings, analysis::values(&loaded.plan, &loaded.records).into()));
    }
    thread::scope(|scope| {
        let values = scope.spawn(|| analysis::values(&loaded.plan, &loaded.records));
        let findings = judge()?;
        Ok((findings, values.join().unwrap_or_else(|panic| resume_unwind(panic)).into()))
    })
}

/// Writes `report.md` and beside it `report.html`, and `report.xlsx` where a campaign spans a
/// grid: its tables are what readers calculate on with. Then shows the table for terminals. Gives
/// the path of the one to read. What beside `report.md` cannot be written costs no verdict.
///
/// All are drawn from one view, and the page, which takes longest, meanwhile.
pub(super) fn deliver(
    common: &Common,
    loaded: &LoadedCampaign,
    (findings, values): (&Findings, TrialValues),
    presentation: Presentation,
) -> Result<PathBuf> {
    let report = &view_of(loaded, &loaded.directory, (findings, &values), presentation);
    let beside = |format: &str, drawn: Result<Vec<u8>>| {
        drawn
            .and_then(|bytes| keep(loaded, Format::named(format)?, &bytes))
            .map_err(|error| {
                tell(&format!("the report as {format} is not written: {}", error.one_line()))
            })
            .ok()
    };
    let (path, table) = thread::scope(|scope| -> Result<_> {
        let page = report::HAS_PAGE
            .then(|| scope.spawn(move || drawn(report, Format::named("html")?, &FILE_PAGE)));
        let markdown = Format::named("markdown")?;
        let text = keep(loaded, markdown, &drawn(report, markdown, &FILE_PAGE)?)?;
        if report::has_grid(&loaded.plan) {
            beside("xlsx", Format::named("xlsx").and_then(|it| drawn(report, it, &FILE_PAGE)));
        }
        let shown = Shown::of(common, presentation);
        let table = if presentation.language.is_english() {
            drawn(report, Format::named(TERMINAL)?, &shown.page())
        } else {
            // It may be in another language there.
            for_output(loaded, findings, Format::named(TERMINAL)?, shown)
        };
        let page = page.map(|page| page.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let page = page.and_then(|page| beside("html", page));
        Ok((page.unwrap_or(text), table))
    })?;
    print_bytes(&table?)?;
    Ok(path)
}

/// Puts a report into the campaign's directory. A link there is replaced and not followed: the
/// owner of the directory may have put it there.
fn keep(loaded: &LoadedCampaign, format: Format, bytes: &[u8]) -> Result<PathBuf> {
    let name = format!("report.{}", format.extension());
    store::replace(&loaded.directory, &name, bytes)?;
    Ok(loaded.directory.join(name))
}

/// A report as it stands in files.
pub(super) fn document(
    loaded: &LoadedCampaign,
    findings: &Findings,
    format: &str,
) -> Result<Vec<u8>> {
    render(loaded, findings, Format::named(format)?, &FILE_PAGE, Presentation::default())
}

/// Writes a report into the campaign's directory, or where it is told.
pub(super) fn write(
    loaded: &LoadedCampaign,
    findings: &Findings,
    format: &str,
    output: Option<&Path>,
    presentation: Presentation,
) -> Result<PathBuf> {
    let kind = Format::named(format)?;
    let bytes = render(loaded, findings, kind, &FILE_PAGE, presentation)?;
    let Some(path) = output else { return keep(loaded, kind, &bytes) };
    save(path, &bytes)?;
    Ok(path.to_owned())
}

/// What is said of each format, in the order in which they are listed.
pub(crate) fn formats() -> impl Iterator<Item = &'static Description> {
    Format::all().map(Format::describe)
}

/// How a report is written.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Drawn(&'static dyn Renderer),
    /// The page, printed by a browser.
    Pdf,
}

impl Format {
    /// All of them, in the order in which they are listed.
    pub(super) fn all() -> impl Iterator<Item = Format> {
        RENDERERS.iter().map(|renderer| Format::Drawn(*renderer)).chain([Format::Pdf])
    }

    fn named(name: &str) -> Result<Self> {
        let is_it = |one: &Format| one.describe().id == name || one.extension() == name;
        Format::all().find(is_it).ok_or_else(|| {
            let known: Vec<&str> = Format::all().map(|one| one.describe().id).collect();
            Error::usage(
                format!("cannot write the format `{name}`"),
                "there is no such format",
                format!(
                    "choose one of {}; `schedlab figures` writes SVG and PNG",
                    known.join(", ")
                ),
            )
        })
    }

    pub(super) fn describe(self) -> &'static Description {
        match self {
            Format::Drawn(renderer) => renderer.describe(),
            Format::Pdf => &browser::PDF,
        }
    }

    pub(super) fn extension(self) -> &'static str {
        match self {
            Format::Drawn(renderer) => renderer.extension(),
            Format::Pdf => "pdf",
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Format::Drawn(renderer) if renderer.is_text())
    }
}

fn render(
    loaded: &LoadedCampaign,
    findings: &Findings,
    format: Format,
    page: &Page,
    presentation: Presentation,
) -> Result<Vec<u8>> {
    drawn(&view(loaded, &loaded.directory, findings, presentation), format, page)
}

/// A view as a format draws it.
fn drawn(report: &Report, format: Format, page: &Page) -> Result<Vec<u8>> {
    let renderer = match format {
        Format::Drawn(renderer) => renderer,
        Format::Pdf => {
            let html = drawn(report, Format::named("html")?, page)?;
            return browser::printed(&html, &hear_signals()?);
        }
    };
    let mut bytes = Vec::new();
    renderer.render(report, page, &mut bytes).map_err(|error| not_drawn(&error))?;
    Ok(bytes)
}

fn not_drawn(error: &std::io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<figures::Error>()) {
        Some(inner) => refused(inner.clone()),
        None => Error::environment("cannot draw the report", error),
    }
}

/// Why there is no figure, as an error that says what to do.
pub(super) fn refused(error: figures::Error) -> Error {
    match error {
        figures::Error::NotBuilt => Error::unsupported(
            "cannot draw the figures",
            error,
            "build it with them: `cargo xtask ui`, then build schedlab again",
        ),
        figures::Error::LeftOut => Error::unsupported(
            "cannot draw the figures",
            error,
            "build schedlab with the feature: cargo build --release --features pictures",
        ),
        error => Error::environment("cannot draw the figures", error),
    }
}

/// What every renderer draws; `directory` is where the campaign lies for the reader.
pub(super) fn view(
    loaded: &LoadedCampaign,
    directory: &Path,
    findings: &Findings,
    presentation: Presentation,
) -> Report {
    let values = analysis::values(&loaded.plan, &loaded.records).into();
    view_of(loaded, directory, (findings, &values), presentation)
}

/// The same with the values of the campaign's trials; without them no value is drawn.
pub(super) fn view_of(
    loaded: &LoadedCampaign,
    directory: &Path,
    (findings, values): (&Findings, &TrialValues),
    presentation: Presentation,
) -> Report {
    let nothing = Fingerprint::default();
    let campaign =
        directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    report::view(&Inputs {
        plan: &loaded.plan,
        records: &loaded.records,
        values,
        findings,
        environment: loaded.environment.as_ref().unwrap_or(&nothing),
        campaign: &campaign,
        directory: &directory.display().to_string(),
        origin: loaded.origin,
        store_caveats: &loaded.caveats,
        is_stopped_early: loaded.state == CampaignState::StoppedEarly,
        shares_few_boots: analysis::shares_few_boots(&loaded.plan, &loaded.records),
        binding: loaded.binding,
        attempt: loaded.attempt,
        resumptions: loaded.resumptions.len() as u64,
        factors: &factors(&loaded.plan),
        is_absolute: presentation.absolute,
        language: presentation.language,
    })
}

/// What the factors of a plan mean, from the catalogue: the summary, and the doc's first paragraph.
fn factors(plan: &Plan) -> BTreeMap<String, String> {
    let catalogue = crate::catalogue();
    let ids: BTreeSet<&String> = plan.subjects.iter().flat_map(|one| one.levels.keys()).collect();
    let meaning = |id: &String| {
        if let Some((workload, name)) = id.split_once('.') {
            let declared = catalogue.workload(workload)?.parameters();
            let declared = declared.iter().find(|known| known.name == name)?;
            return Some((id.clone(), declared.summary.to_owned()));
        }
        let description = catalogue.factor(id)?.describe();
        let doc = description.doc.split("\n\n").next().unwrap_or_default();
        Some((id.clone(), format!("{}. {doc}", description.summary)))
    };
    ids.into_iter().filter_map(meaning).collect()
}
