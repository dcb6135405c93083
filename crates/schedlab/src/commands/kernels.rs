//! `schedlab kernels`: guest kernels, here and in Debian's archive.

use crate::cli::Common;
use crate::cli::kernels::{
    KernelsAction, KernelsBuild, KernelsFetch, KernelsList, KernelsRemove, KernelsShow,
};
use crate::environment::{build_variables, cache_directory, search_path};
use crate::exit::ExitCode;
use crate::output::{clear_drawn, draw, is_drawn_on, print, print_data, print_line, tell};
use crate::trusted_cache::trusted_cache;
use builds::{Build, KernelSource};
use contract::{Error, Factor, Result};
use kernels::{FetchProgress, Kernel, KernelName, Kernels, Offer, Selection};
use model::on_one_line;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The cache that the command line means.
pub(super) fn open(common: &Common) -> Result<Kernels> {
    Ok(Kernels::open(cache_directory(common.cache.as_deref())?, &search_path()))
}

/// The kernels of the cache that a level of the factor `kernel` stands for. What is not
/// there stays as it was written: the venue says how to bring it.
pub(super) fn stands_for(
    common: &Common,
    factor: &str,
    text: &str,
) -> Option<std::result::Result<Vec<String>, String>> {
    if factor != venues::KernelFactor.describe().id {
        return None;
    }
    let name: KernelName = text.parse().ok()?;
    let found = open(common).ok()?.resolve_cached(&name);
    match found {
        Ok(kernels) => Some(Ok(kernels.into_iter().map(|kernel| kernel.name).collect())),
        Err(error) if name.is_plural() => Some(Err(format!("{}; {}", error.cause, error.remedy))),
        Err(_) => None,
    }
}

pub(super) fn run(common: &Common, action: &KernelsAction) -> Result<ExitCode> {
    let kernels = open(common)?;
    let is_only_read = match action {
        KernelsAction::List(arguments) => !arguments.offered,
        KernelsAction::Show(_) => true,
        KernelsAction::Fetch(_) | KernelsAction::Build(_) | KernelsAction::Remove(_) => false,
    };
    if !is_only_read {
        trusted_cache(common.cache.as_deref())?;
    }
    match action {
        KernelsAction::List(arguments) if arguments.offered => offered(&kernels, arguments),
        KernelsAction::List(arguments) => list(&kernels, arguments),
        KernelsAction::Fetch(arguments) => fetch(&kernels, arguments),
        KernelsAction::Build(arguments) => build(&kernels, arguments),
        KernelsAction::Show(arguments) => show(&kernels, arguments),
        KernelsAction::Remove(arguments) => remove(&kernels, arguments),
    }
}

fn names(texts: &[String]) -> Result<Vec<KernelName>> {
    texts.iter().map(|text| text.parse().map_err(venues::artefact_error)).collect()
}

fn encoded(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::environment("cannot encode the kernels", error))
}

fn list(kernels: &Kernels, arguments: &KernelsList) -> Result<ExitCode> {
    let cached = kernels.cached().map_err(venues::artefact_error)?;
    if arguments.json {
        let all: Vec<Value> = cached.iter().map(to_json).collect();
        print_data(&encoded(&json!({ "kernels": all }))?)?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for kernel in &cached {
        text.push_str(&row(&kernel.name, &kernel.class().to_string(), &kernel.release, ""));
    }
    if cached.is_empty() {
        text.push_str("no kernel is cached; schedlab kernels fetch debian:6.12 brings one\n");
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn row(name: &str, class: &str, release: &str, rest: &str) -> String {
    let row = format!("{name:<32} {class:<10} {release:<32} {rest}");
    // Pages of the cache say what they like: what stands behind the end of a line is no kernel.
    on_one_line(row.trim_end()) + "\n"
}

fn offered(kernels: &Kernels, arguments: &KernelsList) -> Result<ExitCode> {
    let offered = kernels.offered(arguments.refresh).map_err(venues::artefact_error)?;
    for note in &offered.notes {
        tell(note);
    }
    let newest: BTreeMap<(u32, u32), &Offer> = offered
        .offers
        .iter()
        .filter(|offer| offer.is_complete())
        .map(|offer| (offer.series(), offer))
        .collect();
    let shown: Vec<&Offer> = if arguments.all {
        offered.offers.iter().collect()
    } else {
        newest.into_values().collect()
    };
    if arguments.json {
        print_data(&encoded(&json!({ "offers": shown, "notes": offered.notes }))?)?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for offer in &shown {
        let mut rest = match offer.is_complete() {
            true => format!("{:>4} MB", megabytes(offer.download_bytes())),
            false => format!("gone: {}", offer.missing.join(", ")),
        };
        if offer.is_cached {
            rest.push_str("  cached");
        }
        if let Some(trouble) = &offer.trouble {
            rest.push_str(&format!("  {trouble}"));
        }
        text.push_str(&row(&offer.name, &offer.class.to_string(), &offer.release, &rest));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

fn fetch(kernels: &Kernels, arguments: &KernelsFetch) -> Result<ExitCode> {
    let names = names(&arguments.names)?;
    if arguments.dry_run {
        return would_fetch(kernels, &names);
    }
    let mut line = ProgressLine::new();
    for name in &names {
        let fetched = kernels.fetch(name, &mut |progress| line.note(&progress));
        line.clear();
        let lines: Vec<String> = fetched
            .map_err(venues::artefact_error)?
            .iter()
            .map(|kernel| row(&kernel.name, &kernel.class().to_string(), &kernel.release, ""))
            .collect();
        print(&lines.concat())?;
    }
    Ok(ExitCode::Done)
}

fn would_fetch(kernels: &Kernels, names: &[KernelName]) -> Result<ExitCode> {
    let mut all: BTreeMap<String, Offer> = BTreeMap::new();
    for name in names {
        for offer in kernels.resolve(name).map_err(venues::artefact_error)? {
            all.insert(offer.name.clone(), offer);
        }
    }
    let (mut text, mut total) = (String::new(), 0);
    for offer in all.values() {
        if offer.is_cached {
            text.push_str(&row(&offer.name, &offer.class.to_string(), "is cached", ""));
            continue;
        }
        total += offer.download_bytes();
        text.push_str(&row(&offer.name, &offer.class.to_string(), &offer.release, ""));
        for package in &offer.packages {
            let line = format!(
                "  {} {} from {}, {} MB",
                package.name,
                package.version,
                package.suite,
                megabytes(package.size)
            );
            text.push_str(&(on_one_line(&line) + "\n"));
        }
    }
    text.push_str(&format!("{} MB would be downloaded\n", megabytes(total)));
    print(&text)?;
    Ok(ExitCode::Done)
}

fn build(kernels: &Kernels, arguments: &KernelsBuild) -> Result<ExitCode> {
    let source = match arguments.source.strip_prefix("debian:") {
        None => KernelSource::Directory(arguments.source.clone().into()),
        Some(_) => match arguments.source.parse().map_err(venues::artefact_error)? {
            KernelName::Debian(Selection::Series(major, minor)) => {
                KernelSource::Debian(major, minor)
            }
            _ => {
                return Err(Error::usage(
                    format!("cannot build {}", arguments.source),
                    "Debian has one source for each series",
                    "name a series, as in debian:6.12",
                ));
            }
        },
    };
    let jobs = arguments.jobs.or_else(|| Some(std::thread::available_parallelism().ok()?.get()));
    let build = Build {
        name: arguments.name.clone(),
        source,
        fragments: arguments.fragments.clone(),
        jobs: jobs.unwrap_or(1),
    };
    let mut line = ProgressLine::new();
    let variables = build_variables();
    let built = builds::build(kernels, &build, &variables, &mut |progress| line.note(&progress));
    line.clear();
    print(&details(&built.map_err(venues::artefact_error)?))?;
    Ok(ExitCode::Done)
}

fn show(kernels: &Kernels, arguments: &KernelsShow) -> Result<ExitCode> {
    let name: KernelName = arguments.name.parse().map_err(venues::artefact_error)?;
    let kernel = kernels.find(&name).map_err(venues::artefact_error)?;
    kernel.verify().map_err(venues::artefact_error)?;
    print_data(&if arguments.json { encoded(&to_json(&kernel))? } else { details(&kernel) })?;
    Ok(ExitCode::Done)
}

/// What a person may want to know of a kernel.
pub(super) fn details(kernel: &Kernel) -> String {
    let mut text = String::new();
    let mut say =
        |key: &str, value: String| text.push_str(&format!("{key:<12} {}\n", on_one_line(&value)));
    let path = |path: &Option<std::path::PathBuf>| {
        path.as_ref().map_or("none".to_owned(), |path| path.display().to_string())
    };
    say("name", kernel.name.clone());
    say("release", kernel.release.clone());
    say("class", kernel.class().to_string());
    say("image", kernel.image.display().to_string());
    say("sha256", kernel.digest.clone());
    say("modules", path(&kernel.modules));
    say("config", path(&kernel.config));
    for key in SHOWN_OPTIONS {
        if let Some(value) = kernel.config_value(key) {
            say("", format!("{key}={value}"));
        }
    }
    if let Some(origin) = &kernel.origin {
        say("origin", origin.clone());
    }
    for package in &kernel.packages {
        say("package", format!("{} {} ({})", package.name, package.version, package.suite));
    }
    text
}

/// Options that a comparison of schedulers turns on.
const SHOWN_OPTIONS: [&str; 7] = [
    "CONFIG_HZ",
    "CONFIG_PREEMPT_DYNAMIC",
    "CONFIG_SCHED_CLASS_EXT",
    "CONFIG_SCHED_AUTOGROUP",
    "CONFIG_SCHEDSTATS",
    "CONFIG_NO_HZ_FULL",
    "CONFIG_DEBUG_INFO_BTF",
];

fn to_json(kernel: &Kernel) -> Value {
    let options: serde_json::Map<String, Value> = SHOWN_OPTIONS
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), Value::from(kernel.config_value(key)?))))
        .collect();
    json!({
        "name": kernel.name,
        "release": kernel.release,
        "version": kernel.version.to_string(),
        "class": kernel.class().to_string(),
        "image": kernel.image,
        "sha256": kernel.digest,
        "modules": kernel.modules,
        "config": kernel.config,
        "config_sha256": kernel.config_digest(),
        "options": options,
        "packages": kernel.packages,
        "origin": kernel.origin,
    })
}

fn remove(kernels: &Kernels, arguments: &KernelsRemove) -> Result<ExitCode> {
    for name in names(&arguments.names)? {
        let kernel = match arguments.dry_run {
            true => kernels.find(&name),
            false => kernels.remove(&name),
        };
        let kernel = kernel.map_err(venues::artefact_error)?;
        let word = if arguments.dry_run { "would remove" } else { "removed" };
        print_line(&format!("{word} {}", kernel.name))?;
    }
    Ok(ExitCode::Done)
}

/// Progress on standard error: one line that rewrites itself on a terminal.
pub(super) struct ProgressLine {
    /// Something can be drawn.
    pub is_terminal: bool,
    is_drawn: bool,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self { is_terminal: is_drawn_on(), is_drawn: false }
    }

    fn note(&mut self, progress: &FetchProgress) {
        match progress {
            FetchProgress::Downloading { kernel, done, total } => {
                self.draw(&format!("{kernel}: {} of {} MB", done / 1_000_000, megabytes(*total)));
            }
            FetchProgress::Building { kernel, step } => {
                self.draw(&format!("{kernel}: {step}"));
            }
            FetchProgress::Unpacking { kernel } => self.draw(&format!("{kernel}: unpacking")),
            FetchProgress::Resolving { name } => self.draw(&format!("{name}: asking the archive")),
            FetchProgress::Fetched { kernel } => self.say(&format!("{kernel}: fetched")),
            FetchProgress::Cached { kernel } => self.say(&format!("{kernel}: is cached")),
            FetchProgress::Note(text) => self.say(text),
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.clear();
        tell(text);
    }

    pub(super) fn draw(&mut self, text: &str) {
        if self.is_terminal {
            draw(text);
            self.is_drawn = true;
        }
    }

    pub(super) fn clear(&mut self) {
        if self.is_drawn {
            clear_drawn();
            self.is_drawn = false;
        }
    }
}
