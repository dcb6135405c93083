//! `schedlab judge`, `report` and `show`: again from the records.

use crate::cli::{Common, Judge, ReportArguments, ShowArguments, Values};
use crate::exit::ExitCode;
use crate::output::{is_read_by_a_person, page, print, print_bytes, tell};
use contract::{Error, Result};
use model::{Findings, Fingerprint};
use report::{Inputs, Page, RENDERERS, Renderer, Report};
use std::path::{Path, PathBuf};
use store::{Campaign, CampaignState, Loaded};

/// Reports in files.
const FILE_PAGE: Page =
    Page { width: 100, is_colour: false, is_unicode: true, is_verbose: true, has_plots: false };

pub(super) fn judge(common: &Common, arguments: &Judge) -> Result<ExitCode> {
    let directory = store::resolve(&common.results, &arguments.campaign.campaign)?;
    if arguments.end {
        end(&directory)?;
    }
    let findings = lab::judge(&directory)?;
    let loaded = store::load(&directory)?;
    let shown = Shown::of(common, arguments.values);
    write_all(&loaded, &findings, arguments.values)?;
    print(&text(&loaded, &findings, "terminal", shown)?)?;
    Ok(ExitCode::Done)
}

/// Ends a campaign on purpose: it is judged by what it has, and not resumed.
fn end(directory: &Path) -> Result<()> {
    let mut campaign = Campaign::open(directory)?;
    if campaign.state() == CampaignState::Unfinished {
        let why = format!("ended on purpose after {} trials", campaign.record_count());
        campaign.mark_stopped_early(&why)?;
    }
    Ok(())
}

pub(super) fn report(common: &Common, arguments: &ReportArguments) -> Result<ExitCode> {
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    if arguments.output.as_deref() == Some(Path::new("-")) {
        let shown = Shown::of(common, arguments.values);
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
    let path = write(&loaded, &findings, format, output, arguments.values)?;
    tell(&format!("wrote {}", path.display()));
    Ok(ExitCode::Done)
}

pub(super) fn show(common: &Common, arguments: &ShowArguments) -> Result<ExitCode> {
    let (loaded, findings) = judged(common, &arguments.campaign.campaign)?;
    let shown = Shown { has_plots: arguments.plots, ..Shown::of(common, arguments.values) };
    send(&loaded, &findings, &arguments.format, shown)?;
    Ok(ExitCode::Done)
}

/// A campaign with its findings, judged anew: stored ones may be another version's,
/// or edited. Nothing is written.
pub(super) fn judged(common: &Common, campaign: &str) -> Result<(Loaded, Findings)> {
    if Path::new(campaign).is_file() {
        return of_bundle(Path::new(campaign));
    }
    let directory = store::resolve(&common.results, campaign)?;
    let loaded = store::load(&directory)?;
    let findings = lab::judge_records(&loaded);
    let stored = store::load_findings(&directory).ok().flatten();
    // Those of an earlier format lack what it did not have.
    let is_other = |stored: Findings| stored.format == findings.format && stored != findings;
    if loaded.is_finished && stored.is_some_and(is_other) {
        tell("the stored findings are not what the records say: `schedlab judge` writes them anew");
    }
    Ok((loaded, findings))
}

/// The campaign in a bundle, judged anew.
fn of_bundle(file: &Path) -> Result<(Loaded, Findings)> {
    let home = super::bundle::temporary()?;
    let unpacked = store::unpack(file, home.path())?;
    if let Some(problem) = unpacked.problems.first() {
        tell(&format!("{problem}: `schedlab verify {}` says more", file.display()));
    }
    if let Some(redaction) = &unpacked.manifest.redaction {
        tell(&format!("{}: {}", file.display(), super::bundle::of(redaction)));
    }
    let loaded = super::bundle::opened(home.path(), &unpacked.manifest)?;
    let findings = lab::judge_records(&loaded);
    Ok((loaded, findings))
}

/// How much a person wants to see.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    is_verbose: bool,
    has_plots: bool,
    values: Values,
}

impl Shown {
    pub(super) fn of(common: &Common, values: Values) -> Self {
        Self { is_verbose: common.verbose, has_plots: false, values }
    }

    fn page(self) -> Page {
        Page { has_plots: self.has_plots, ..page(self.is_verbose) }
    }
}

/// A report as text, for standard output.
pub(super) fn text(
    loaded: &Loaded,
    findings: &Findings,
    format: &str,
    shown: Shown,
) -> Result<String> {
    let renderer = renderer(format)?;
    let bytes = render(loaded, findings, renderer, &shown.page(), shown.values)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A report on standard output, whatever its format. What is no text would leave a terminal
/// in disorder, and tells nobody anything.
fn send(loaded: &Loaded, findings: &Findings, format: &str, shown: Shown) -> Result<()> {
    let renderer = renderer(format)?;
    if !renderer.is_text() && is_read_by_a_person() {
        let id = renderer.describe().id;
        return Err(Error::usage(
            format!("cannot show the format `{id}`"),
            "it is binary, and standard output is a terminal",
            format!("write it to a file: schedlab report --format {id} --output FILE"),
        ));
    }
    print_bytes(&render(loaded, findings, renderer, &shown.page(), shown.values)?)
}

/// Writes `report.md` and beside it `report.html`, and `report.xlsx` where a campaign spans a
/// grid: its tables are what readers calculate on with. Gives the path of the one to read. What
/// beside `report.md` cannot be written costs no verdict.
pub(super) fn write_all(loaded: &Loaded, findings: &Findings, values: Values) -> Result<PathBuf> {
    let text = write(loaded, findings, "markdown", None, values)?;
    let beside = |format: &str| {
        write(loaded, findings, format, None, values)
            .map_err(|error| tell(&format!("the report as {format} is not written: {error}")))
            .ok()
    };
    if report::has_grid(&loaded.plan) {
        beside("xlsx");
    }
    if !report::HAS_PAGE {
        return Ok(text);
    }
    Ok(beside("html").unwrap_or(text))
}

/// A report as it stands in files.
pub(super) fn document(loaded: &Loaded, findings: &Findings, format: &str) -> Result<Vec<u8>> {
    render(loaded, findings, renderer(format)?, &FILE_PAGE, Values::default())
}

/// Writes a report into the campaign's directory, or where it is told.
pub(super) fn write(
    loaded: &Loaded,
    findings: &Findings,
    format: &str,
    output: Option<&Path>,
    values: Values,
) -> Result<PathBuf> {
    let renderer = renderer(format)?;
    let bytes = render(loaded, findings, renderer, &FILE_PAGE, values)?;
    let name = format!("report.{}", renderer.extension());
    let path = output.map_or_else(|| loaded.directory.join(name), Path::to_owned);
    std::fs::write(&path, bytes)
        .map_err(|error| Error::environment(format!("cannot write {}", path.display()), error))?;
    Ok(path)
}

fn renderer(format: &str) -> Result<&'static dyn Renderer> {
    let found = RENDERERS
        .iter()
        .copied()
        .find(|renderer| renderer.describe().id == format || renderer.extension() == format);
    found.ok_or_else(|| {
        let known: Vec<&str> = RENDERERS.iter().map(|renderer| renderer.describe().id).collect();
        Error::usage(
            format!("cannot write the format `{format}`"),
            "there is no such format",
            format!("choose one of {}", known.join(", ")),
        )
    })
}

fn render(
    loaded: &Loaded,
    findings: &Findings,
    renderer: &dyn Renderer,
    page: &Page,
    values: Values,
) -> Result<Vec<u8>> {
    let report = view(loaded, &loaded.directory, findings, values);
    let mut bytes = Vec::new();
    renderer
        .render(&report, page, &mut bytes)
        .map_err(|error| Error::environment("cannot draw the report", error))?;
    Ok(bytes)
}

/// What every renderer draws; `directory` is where the campaign lies for whoever reads it.
pub(super) fn view(
    loaded: &Loaded,
    directory: &Path,
    findings: &Findings,
    values: Values,
) -> Report {
    let nothing = Fingerprint::default();
    let campaign =
        directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let trial_values = analysis::values(&loaded.plan, &loaded.records);
    report::view(&Inputs {
        plan: &loaded.plan,
        records: &loaded.records,
        values: &trial_values,
        findings,
        environment: loaded.environment.as_ref().unwrap_or(&nothing),
        campaign: &campaign,
        directory: &directory.display().to_string(),
        store_caveats: &loaded.caveats,
        is_absolute: values.absolute,
    })
}
