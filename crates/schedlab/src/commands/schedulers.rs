//! `schedlab schedulers`: what is known, what is in the cache, and how it gets there.

use super::kernels::ProgressLine;
use super::signals::hear_signals;
use crate::cli::Common;
use crate::cli::schedulers::{
    SchedulersAction, SchedulersFetch, SchedulersList, SchedulersRemove, SchedulersShow,
};
use crate::environment::{bpf_clang, build_variables, cache_directory, search_path};
use crate::exit::ExitCode;
use crate::known_schedulers::{KnownScheduler, Origin, known_schedulers};
use crate::output::{print, print_data, print_line, tell, tell_lines};
use crate::trusted_cache::trusted_cache;
use builds::{Scheduler, SchedulerName, SchedulerOffer, SchedulerProgress, Schedulers};
use contract::{Error, Factor, Result, join_words, split_words};
use model::{Plan, on_one_line};
use schedulers::own::{Algorithm, Choice};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Before the name of one of ours.
const OWN: &str = "lab:";
/// How often a line of a build is written where nothing can be drawn.
const WRITTEN_EVERY: Duration = Duration::from_secs(30);

/// The cache that the command line means.
pub(super) fn open(common: &Common) -> Result<Schedulers> {
    let cache = cache_directory(common.cache.as_deref())?;
    let schedulers = Schedulers::open(&cache, &search_path(), bpf_clang());
    Ok(schedulers.with_variables(build_variables()))
}

/// What a level of the factor `scheduler` stands for here: a published name for its newest
/// version in the cache, else for the program on the search path; a path for the whole one.
/// What is not here stays as it was written: the venue says how to bring it.
pub(super) fn stands_for(
    common: &Common,
    factor: &str,
    text: &str,
) -> Option<std::result::Result<Vec<String>, String>> {
    if factor != schedulers::Entry.describe().id {
        return None;
    }
    // What cannot be split is told by the factor.
    let words = split_words(text).ok()?;
    let (first, arguments) = words.split_first()?;
    let with = |program: &str| {
        let words = [program].into_iter().chain(arguments.iter().map(String::as_str));
        Some(Ok(vec![join_words(words)]))
    };
    if first.contains('/') && !first.contains(':') {
        let whole = std::path::absolute(first).ok()?;
        return with(&whole.to_string_lossy());
    }
    let name: SchedulerName = first.parse().ok()?;
    let all = open(common).ok()?;
    match (all.resolve(&name), all.on_path(&name)) {
        (Ok(scheduler), _) => with(&scheduler.id()),
        // One that changed in the cache is told, and nothing stands in for it without a word.
        (Err(error), _) if all.find(&name).is_ok() => {
            Some(Err(format!("{}; {}", error.cause, error.remedy)))
        }
        (Err(_), Some(path)) if name.version.is_none() => with(&path.to_string_lossy()),
        (Err(_), _) => None,
    }
}

/// Whether subjects of a plan have schedulers of the cache: those are named with their version.
pub(super) fn starts_cached(plan: &Plan) -> bool {
    let factor = schedulers::Entry.describe().id;
    let is_cached = |text: &str| {
        let words = split_words(text).unwrap_or_default();
        let name = words.first().and_then(|first| first.parse::<SchedulerName>().ok());
        name.is_some_and(|name| name.version.is_some())
    };
    let levels = plan.subjects.iter().filter_map(|subject| subject.levels.get(factor));
    levels.map(ToString::to_string).any(|text| is_cached(&text))
}

pub(super) fn run(common: &Common, action: &SchedulersAction) -> Result<ExitCode> {
    let schedulers = open(common)?;
    if matches!(action, SchedulersAction::Fetch(_) | SchedulersAction::Remove(_)) {
        trusted_cache(common.cache.as_deref())?;
    }
    match action {
        SchedulersAction::List(arguments) if arguments.offered => offered(&schedulers, arguments),
        SchedulersAction::List(arguments) => list(&schedulers, arguments),
        SchedulersAction::Fetch(arguments) => fetch(&schedulers, arguments),
        SchedulersAction::Show(arguments) => show(&schedulers, arguments),
        SchedulersAction::Remove(arguments) => remove(&schedulers, arguments),
    }
}

/// A scheduler and what is here of it.
pub(super) struct Present {
    /// What it is called.
    pub id: String,
    /// What is known of it; nothing of one that only the cache knows.
    pub known: Option<KnownScheduler>,
    /// Its versions in the cache, newest last.
    pub cached: Vec<Scheduler>,
    /// A program of its name on the search path.
    pub path: Option<PathBuf>,
}

impl Present {
    /// What an experiment would use, in a few words.
    fn state(&self) -> String {
        if !self.is_of_registry() {
            let source = self.known.as_ref().map(|known| known.origin.source());
            return source.unwrap_or_default().to_owned();
        }
        let cached = self.cached.iter().rev().map(|one| format!("@{}", one.version));
        let path = self.path.iter().map(|path| path.display().to_string());
        let all: Vec<String> = cached.chain(path).collect();
        if all.is_empty() { "not fetched".to_owned() } else { all.join(" ") }
    }

    pub(super) fn summary(&self) -> String {
        let summary = self.known.as_ref().map_or("", |known| known.summary);
        format!("{summary} ({})", self.state())
    }

    /// What kind of scheduler it is, and what is here of it.
    pub(super) fn doc(&self) -> String {
        let kind = self.known.as_ref().map_or("Only the cache knows it.", |known| known.doc);
        match self.known.as_ref().map(|known| known.origin) {
            Some(Origin::Kernel) => kind.to_owned(),
            Some(Origin::Ours(algorithm)) => {
                format!("{}\n\n{}", algorithm.page(), parameters(algorithm))
            }
            _ => format!("{kind}\n\n{}", facts(self)),
        }
    }

    /// Whether it is fetched and built.
    fn is_of_registry(&self) -> bool {
        let origin = self.known.as_ref().map(|known| known.origin);
        matches!(origin, None | Some(Origin::Registry(_)))
    }

    fn default_arguments(&self) -> &'static [&'static str] {
        self.known.as_ref().map_or(&[], |known| match known.origin {
            Origin::Registry(published) => published.default_arguments,
            Origin::Kernel | Origin::Ours(_) => &[],
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let cached: Vec<Value> = self.cached.iter().map(scheduler_to_json).collect();
        json!({
            "name": self.id,
            "source": self.known.as_ref().map(|known| known.origin.source()),
            "summary": self.known.as_ref().map(|known| known.summary),
            "default_arguments": self.default_arguments(),
            "cached": cached,
            "path": self.path,
        })
    }
}

/// Everything that is known, then what only the cache knows.
pub(super) fn present(schedulers: &Schedulers) -> Result<Vec<Present>> {
    let present = |id: &str, known| Present {
        id: id.to_owned(),
        known,
        cached: Vec::new(),
        path: id.parse().ok().and_then(|name| schedulers.on_path(&name)),
    };
    let mut all: Vec<Present> = known_schedulers()
        .into_iter()
        .map(|known| present(&known.id.clone(), Some(known)))
        .collect();
    for scheduler in schedulers.cached().map_err(venues::artefact_error)? {
        let index = all.iter().position(|one| one.id == scheduler.name).unwrap_or_else(|| {
            all.push(present(&scheduler.name, None));
            all.len() - 1
        });
        all[index].cached.push(scheduler);
    }
    Ok(all)
}

fn encoded(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::environment("cannot encode the schedulers", error))
}

fn row(name: &str, state: &str, rest: &str) -> String {
    on_one_line(format!("{name:<18} {state:<14} {rest}").trim_end()) + "\n"
}

fn list(schedulers: &Schedulers, arguments: &SchedulersList) -> Result<ExitCode> {
    let all = present(schedulers)?;
    if arguments.json {
        let all: Vec<Value> = all.iter().map(Present::to_json).collect();
        print_data(&encoded(&json!({ "schedulers": all }))?)?;
        return Ok(ExitCode::Done);
    }
    let mut text: String = all
        .iter()
        .map(|one| row(&one.id, &one.state(), one.known.as_ref().map_or("", |known| known.summary)))
        .collect();
    if all.iter().all(|one| one.cached.is_empty()) {
        text.push_str(
            "no published one is cached; schedlab schedulers fetch scx_rusty builds one\n",
        );
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

/// Every published scheduler that is known.
fn all_names() -> Vec<SchedulerName> {
    known_schedulers()
        .iter()
        .filter(|known| matches!(known.origin, Origin::Registry(_)))
        .filter_map(|known| known.id.parse().ok())
        .collect()
}

fn names(texts: &[String]) -> Result<Vec<SchedulerName>> {
    texts.iter().map(|text| text.parse().map_err(venues::artefact_error)).collect()
}

fn offered(schedulers: &Schedulers, arguments: &SchedulersList) -> Result<ExitCode> {
    let mut offers = Vec::new();
    let mut first_error = None;
    for name in all_names() {
        match schedulers.offered(&name) {
            Ok(offer) => offers.push(offer),
            Err(error) => {
                tell(&format!("{}: {}", error.attempted, error.cause));
                first_error = first_error.or(Some(error));
            }
        }
    }
    // Some are better than none; none is a failure.
    if let (true, Some(error)) = (offers.is_empty(), first_error) {
        return Err(venues::artefact_error(error));
    }
    if arguments.json {
        print_data(&encoded(&json!({ "offers": offers }))?)?;
        return Ok(ExitCode::Done);
    }
    print(&offers.iter().map(offer_row).collect::<String>())?;
    Ok(ExitCode::Done)
}

fn offer_row(offer: &SchedulerOffer) -> String {
    let rust = offer.rust_version.as_ref().map(|version| format!(", needs Rust {version}"));
    let cached = if offer.is_cached { ", is cached" } else { "" };
    let rest = format!("{}{}{cached}", offer.license, rust.unwrap_or_default());
    row(&offer.name, &offer.version, &rest)
}

fn fetch(schedulers: &Schedulers, arguments: &SchedulersFetch) -> Result<ExitCode> {
    let names = if arguments.all { all_names() } else { names(&arguments.names)? };
    if arguments.dry_run {
        return would_fetch(schedulers, &names);
    }
    let mut line = FetchLine { line: ProgressLine::new(), written_at: Instant::now() };
    let interrupt = hear_signals()?;
    let is_to_stop = || interrupt.signal().is_some();
    let mut failures = Failures::default();
    for name in &names {
        let fetched = schedulers.fetch(name, &is_to_stop, &mut |progress| line.note(&progress));
        line.line.clear();
        if let (Err(_), Some(signal)) = (&fetched, interrupt.signal()) {
            tell(&format!("interrupted: {name} was not built"));
            return Ok(ExitCode::Signal(signal));
        }
        match fetched {
            Ok(scheduler) => {
                let version = format!("@{}", scheduler.version);
                print(&row(&scheduler.name, &version, linking(&scheduler)))?;
            }
            Err(error) => failures.note(name, error),
        }
    }
    Ok(failures.end(names.len(), "built"))
}

/// Those of several schedulers that failed: one does not keep the next from its turn.
#[derive(Default)]
struct Failures {
    names: Vec<String>,
    first: Option<ExitCode>,
}

impl Failures {
    fn note(&mut self, name: &SchedulerName, error: artefacts::Error) {
        let error = venues::artefact_error(error);
        tell_lines(&format!("schedlab: {error}"));
        self.first.get_or_insert(ExitCode::from(&error));
        self.names.push(name.to_string());
    }

    /// The exit code of all, which is that of the first that failed.
    fn end(self, total: usize, done: &str) -> ExitCode {
        let Some(first) = self.first else { return ExitCode::Done };
        if total > 1 {
            let count = total - self.names.len();
            tell(&format!("{count} of {total} {done}; not {}", self.names.join(", ")));
        }
        first
    }
}

fn linking(scheduler: &Scheduler) -> &'static str {
    if scheduler.is_static { "static" } else { "with this machine's libraries" }
}

fn would_fetch(schedulers: &Schedulers, names: &[SchedulerName]) -> Result<ExitCode> {
    let mut text = String::new();
    let mut count = 0;
    let mut failures = Failures::default();
    for name in names {
        match schedulers.offered(name) {
            Ok(offer) => {
                count += usize::from(!offer.is_cached);
                text.push_str(&offer_row(&offer));
            }
            Err(error) => failures.note(name, error),
        }
    }
    if count > 0 {
        let toolchain = schedulers.toolchain().map_err(venues::artefact_error)?;
        for words in [&toolchain.cargo_version, &toolchain.rustc_version, &toolchain.clang_version]
        {
            text.push_str(&format!("with {words}\n"));
        }
        if let Some(why) = &toolchain.not_static {
            text.push_str(&format!("not static: {why}\n"));
        }
    }
    text.push_str(&format!("{count} would be built\n"));
    print(&text)?;
    Ok(failures.end(names.len(), "are offered"))
}

fn show(schedulers: &Schedulers, arguments: &SchedulersShow) -> Result<ExitCode> {
    let asked = match arguments.name.strip_prefix(OWN) {
        Some(own) => format!("{OWN}{}", Choice::parse(own)?.algorithm().id),
        None => arguments.name.clone(),
    };
    if let Some(own) = known_schedulers().into_iter().find(|known| known.id == asked)
        && !matches!(own.origin, Origin::Registry(_))
    {
        let id = own.id.clone();
        return tell_of(
            &Present { id, known: Some(own), cached: Vec::new(), path: None },
            arguments,
        );
    }
    let name: SchedulerName = arguments.name.parse().map_err(|error| {
        let error = venues::artefact_error(error);
        match schedulers::meant(&arguments.name) {
            Some(meant) => Error { remedy: format!("did you mean `{meant}`?"), ..error },
            None => error,
        }
    })?;
    let found = present(schedulers)?.into_iter().find(|present| present.id == name.name);
    let mut shown = match found {
        Some(shown) if name.version.is_none() => shown,
        // One version must be here to be shown; so must one that nobody knows.
        found => {
            let here = schedulers.find(&name).map_err(venues::artefact_error);
            let scheduler = here.map_err(|error| Error {
                remedy: schedulers::how_to_get(&name.to_string()),
                ..error
            })?;
            let known = found.and_then(|present| present.known);
            Present { id: name.name.clone(), known, cached: vec![scheduler], path: None }
        }
    };
    for scheduler in &shown.cached {
        scheduler.verify().map_err(venues::artefact_error)?;
    }
    shown.cached.reverse();
    tell_of(&shown, arguments)
}

fn tell_of(shown: &Present, arguments: &SchedulersShow) -> Result<ExitCode> {
    let text = match &shown.known {
        Some(known) => format!("{}: {}\n\n{}", shown.id, known.summary, shown.doc()),
        None => format!("{}\n\n{}", shown.id, shown.doc()),
    };
    let text = format!("{}\n", text.trim_end());
    print_data(&if arguments.json { encoded(&shown.to_json())? } else { text })?;
    Ok(ExitCode::Done)
}

/// What can be set of one of ours, as it is written behind its name.
fn parameters(algorithm: &'static Algorithm) -> String {
    format!("With its defaults: {OWN}{}\n", Choice::of(algorithm).in_force())
}

/// What a person may want to know of what is here of a scheduler.
fn facts(shown: &Present) -> String {
    let mut text = String::new();
    let mut say =
        |key: &str, value: &str| text.push_str(&format!("{key:<12} {}\n", on_one_line(value)));
    for scheduler in &shown.cached {
        say("version", &scheduler.version);
        say("program", &scheduler.program.display().to_string());
        say("sha256", &scheduler.digest);
        say("linked", linking(scheduler));
        say("licence", &scheduler.license);
        for words in &scheduler.built_with {
            say("built with", words);
        }
        say("built in", &format!("{} s", scheduler.build_seconds));
    }
    if shown.cached.is_empty() {
        say("cached", &format!("no; schedlab schedulers fetch {} builds it", shown.id));
    }
    say("on PATH", &shown.path.as_ref().map_or("no".to_owned(), |path| path.display().to_string()));
    match shown.default_arguments() {
        [] => say("arguments", "none where none are given"),
        arguments => say("arguments", &join_words(arguments.iter().copied())),
    }
    text
}

fn scheduler_to_json(scheduler: &Scheduler) -> Value {
    json!({
        "version": scheduler.version,
        "program": scheduler.program,
        "sha256": scheduler.digest,
        "static": scheduler.is_static,
        "license": scheduler.license,
        "built_with": scheduler.built_with,
        "build_seconds": scheduler.build_seconds,
    })
}

fn remove(schedulers: &Schedulers, arguments: &SchedulersRemove) -> Result<ExitCode> {
    for name in names(&arguments.names)? {
        let scheduler = match arguments.dry_run {
            true => schedulers.find(&name),
            false => schedulers.remove(&name),
        };
        let scheduler = scheduler.map_err(venues::artefact_error)?;
        let word = if arguments.dry_run { "would remove" } else { "removed" };
        print_line(&format!("{word} {}", scheduler.id()))?;
    }
    Ok(ExitCode::Done)
}

/// Progress on standard error; where nothing can be drawn, a line now and then.
struct FetchLine {
    line: ProgressLine,
    written_at: Instant,
}

impl FetchLine {
    fn note(&mut self, progress: &SchedulerProgress) {
        match progress {
            SchedulerProgress::Building { scheduler, done, total, what } => {
                let counts = match total {
                    0 => String::new(),
                    total => format!("compiling {done} of {total}: "),
                };
                let text: String =
                    format!("{scheduler}: {counts}{what}").chars().take(78).collect();
                if self.line.is_terminal {
                    self.line.draw(&text);
                } else if self.written_at.elapsed() >= WRITTEN_EVERY {
                    self.line.say(&text);
                    self.written_at = Instant::now();
                }
            }
            SchedulerProgress::Resolving { name } => {
                self.line.draw(&format!("{name}: asking the registry"));
            }
            SchedulerProgress::Fetched { scheduler } => {
                self.line.say(&format!("{scheduler}: built"));
            }
            SchedulerProgress::Cached { scheduler } => {
                self.line.say(&format!("{scheduler}: is cached"));
            }
            SchedulerProgress::Note(text) => self.line.say(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_scheduler_can_be_fetched_by_its_name() {
        assert_eq!(all_names().len(), schedulers::PUBLISHED.len());
        for name in all_names() {
            assert!(schedulers::published(&name.name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_layers_of_scx_layered_are_json_and_the_last_takes_the_rest() {
        let layered = schedulers::published("scx_layered").unwrap();
        let [layers] = layered.default_arguments else { panic!("{layered:?}") };
        let layers: Vec<Value> = serde_json::from_str(layers).unwrap();
        assert_eq!(layers.len(), 3);
        assert_eq!(layers[2]["matches"], json!([[]]));
        for layer in &layers {
            let policy = layer["kind"].as_object().unwrap().values().next().unwrap();
            assert!(policy["slice_us"].is_u64() && policy["weight"].is_u64(), "{layer}");
        }
    }
}
