//! `schedlab vm`: programs and shells in throw-away machines.

use super::signals::hear_signals;
use super::vm_host;
use crate::cli::Common;
use crate::cli::vm::{AcceleratorWord, SnapshotAction, VmAction, VmMachine};
use crate::environment::search_path;
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell, tell_lines};
use crate::terminal::{RawTerminal, size};
use contract::{BootSpec, Error, ErrorKind, Event, Factor, Interrupt, Knob, Result};
use model::{Accelerator, VmSettings, on_one_line};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use venues::{
    CommandLine, Execution, InputSource, KernelFactor, Origin, Streams, Vcpus, VmHost, snapshot,
};
use wire::{OutputStream, Pty};

/// Shells that a guest may have, the best first.
const SHELLS: [&str; 3] = ["bash", "busybox", "sh"];
/// What a person in a shell expects to find beside it.
const COMFORTS: [&str; 24] = [
    "cat", "chmod", "cp", "cut", "dmesg", "echo", "find", "free", "grep", "head", "ls", "lscpu",
    "mkdir", "mount", "mv", "nproc", "ps", "rm", "sed", "sleep", "tail", "taskset", "uname",
    "chrt",
];

pub(super) fn run(common: &Common, action: &VmAction) -> Result<ExitCode> {
    match action {
        VmAction::Exec(exec) => {
            Ok(program(booted(common, &exec.machine, exec.run.clone(), exec.tty)))
        }
        VmAction::Shell(shell) => Ok(program(
            shell_words(common).and_then(|words| booted(common, &shell.machine, words, true)),
        )),
        VmAction::Snapshot(SnapshotAction::Restore { name, run }) => {
            Ok(program(restored(common, name, run)))
        }
        VmAction::Snapshot(SnapshotAction::Create { name, machine }) => {
            create(common, name, machine)
        }
        VmAction::Snapshot(SnapshotAction::List(json)) => list(common, json.json),
        VmAction::Snapshot(SnapshotAction::Remove { name }) => {
            let removed = snapshot::remove(&vm_host(common)?, name)?;
            tell(&format!("removed {} ({})", removed.name, removed.kernel));
            Ok(ExitCode::Done)
        }
    }
}

/// The exit code of a program in a guest, or of what kept it from running.
fn program(outcome: Result<i32>) -> ExitCode {
    match outcome {
        Ok(status) => ExitCode::Program(status),
        Err(error) => {
            tell_lines(&format!("schedlab: {error}"));
            ExitCode::Program(ExitCode::OUR_FAILURE)
        }
    }
}

/// Runs a program in a machine that is booted for it.
fn booted(
    common: &Common,
    machine: &VmMachine,
    words: Vec<String>,
    has_terminal: bool,
) -> Result<i32> {
    let host = vm_host(common)?;
    let mut files = files(machine)?;
    let words = with_program(&host, words, &mut files)?;
    let origin =
        Origin::Boot { spec: spec(machine)?, settings: Box::new(settings(machine)?), files };
    execute(common, &host, origin, words, has_terminal, machine.console.clone())
}

/// Runs a program in a machine that was saved.
fn restored(common: &Common, name: &str, run: &[String]) -> Result<i32> {
    let host = vm_host(common)?;
    let origin = Origin::Snapshot(Box::new(snapshot::find(&host, name)?));
    if run.is_empty() {
        let words = with_program(&host, shell_words(common)?, &mut Vec::new())?;
        return execute(common, &host, origin, words, true, None);
    }
    let words = with_program(&host, run.to_vec(), &mut Vec::new())?;
    execute(common, &host, origin, words, false, None)
}

fn execute(
    common: &Common,
    host: &VmHost,
    origin: Origin,
    words: Vec<String>,
    has_terminal: bool,
    console: Option<PathBuf>,
) -> Result<i32> {
    if let Some(campaign) = super::host(common)?.running() {
        tell(&format!("a campaign runs here and will be disturbed ({campaign})"));
    }
    let terminal = has_terminal.then(size);
    let environment = environment(has_terminal);
    let execution = Execution { origin, words, environment, terminal, console };
    let interrupt = if has_terminal { Interrupt::default() } else { hear_signals()? };
    let mut streams =
        OwnStreams { has_terminal, raw: None, last_size: terminal, is_verbose: common.verbose };
    match (venues::execute(host, &execution, &mut streams, &interrupt), interrupt.signal()) {
        (Err(error), Some(signal)) if error.kind == ErrorKind::Interrupted => Ok(128 + signal),
        (outcome, _) => outcome,
    }
}

fn create(common: &Common, name: &str, machine: &VmMachine) -> Result<ExitCode> {
    let host = vm_host(common)?;
    let mut files = files(machine)?;
    // So that a shell can be had in it.
    if let Ok(words) = shell_words(common) {
        with_program(&host, words, &mut files)?;
    }
    let interrupt = hear_signals()?;
    let (spec, settings) = (spec(machine)?, settings(machine)?);
    let mut note = |event: Event| {
        if let Event::Notice(text) = event {
            tell(&text);
        }
    };
    let made = snapshot::create(&host, name, &spec, &settings, &files, &interrupt, &mut note)?;
    let mib = made.state_bytes as f64 / f64::from(1 << 20);
    tell(&format!("saved {} ({}, {mib:.0} MiB)", made.name, made.kernel));
    Ok(ExitCode::Done)
}

fn list(common: &Common, is_json: bool) -> Result<ExitCode> {
    let snapshots = snapshot::list(&VmHost::of(common)?)?;
    if is_json {
        let text = serde_json::to_string_pretty(&snapshots)
            .map_err(|error| Error::environment("cannot encode the snapshots", error))?;
        print_data(&format!("{text}\n"))?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for snapshot in &snapshots {
        let mib = snapshot.state_bytes as f64 / f64::from(1 << 20);
        let row = format!("{:<24} {:<32} {mib:>6.0} MiB", snapshot.name, snapshot.kernel);
        text.push_str(&(on_one_line(&row) + "\n"));
    }
    if snapshots.is_empty() {
        text.push_str("no machine was saved; schedlab vm snapshot create NAME KERNEL saves one\n");
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

/// The files to take along, by the paths they will have in the guest.
fn files(machine: &VmMachine) -> Result<Vec<PathBuf>> {
    let absolute = |path: &PathBuf| {
        let cannot = |error| {
            Error::usage(format!("cannot take {} into the guest", path.display()), error, "")
        };
        // A link keeps its own name there: `sh` is not `dash`.
        path.metadata().and_then(|_| std::path::absolute(path)).map_err(cannot)
    };
    machine.files.iter().map(absolute).collect()
}

fn spec(machine: &VmMachine) -> Result<BootSpec> {
    let mut spec = BootSpec::default();
    let words = [
        (&KernelFactor as &dyn Factor, Some(machine.kernel.as_str())),
        (&CommandLine, machine.cmdline.as_deref()),
        (&Vcpus, Some(machine.vcpus.as_str())),
    ];
    for (factor, text) in words {
        let Some(text) = text else { continue };
        let id = factor.describe().id;
        let level = factor.parse(text).map_err(|cause| {
            let examples = factor.examples().join(", ");
            Error::usage(
                format!("cannot read the {id} {text:?}"),
                cause,
                format!("for example {examples}"),
            )
        })?;
        if let Knob::Boot(knob) = factor.knob() {
            knob.contribute(&level, &mut spec)?;
        }
    }
    Ok(spec)
}

fn settings(machine: &VmMachine) -> Result<VmSettings> {
    let memory_bytes = model::parse_size(&machine.memory).map_err(|error| {
        Error::usage("cannot read --memory", error, "write a size such as 512MiB")
    })?;
    let boot_timeout_ns = model::parse_duration(&machine.boot_timeout).map_err(|error| {
        Error::usage("cannot read --boot-timeout", error, "write a time such as 60s")
    })?;
    if !VmSettings::MEMORY.contains(&memory_bytes) {
        let least = model::format_size(*VmSettings::MEMORY.start());
        return Err(Error::usage(
            "cannot use --memory",
            format!("a guest has at least {least}"),
            "",
        ));
    }
    Ok(VmSettings {
        accelerator: match machine.accelerator {
            AcceleratorWord::Auto => Accelerator::Auto,
            AcceleratorWord::Kvm => Accelerator::Kvm,
            AcceleratorWord::Tcg => Accelerator::Tcg,
        },
        memory_bytes,
        boot_timeout_ns,
        modules: machine.modules.clone(),
        tools: machine.tools.clone(),
        ..VmSettings::default()
    })
}

/// The best shell that this machine has.
fn shell_words(common: &Common) -> Result<Vec<String>> {
    let machine = super::machine(common)?;
    let shell = SHELLS.iter().find(|name| machine.program(name).is_some()).ok_or_else(|| {
        Error::unsupported(
            "cannot give a shell",
            "this machine has no bash, busybox or sh to copy",
            "apt-get install busybox-static",
        )
    })?;
    let words: &[&str] = if *shell == "busybox" { &["busybox", "sh"] } else { &[shell] };
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Names the program by its path, and takes it into the guest with what a shell is used for.
fn with_program(
    host: &VmHost,
    mut words: Vec<String>,
    files: &mut Vec<PathBuf>,
) -> Result<Vec<String>> {
    let machine = &host.host.machine;
    let name = words[0].clone();
    if let Some(path) = machine.program(&name) {
        let path = std::path::absolute(&path)
            .map_err(|error| Error::environment(format!("cannot find {name}"), error))?;
        words[0] = path.to_string_lossy().into_owned();
        files.push(path);
    }
    let is_shell = Path::new(&name)
        .file_name()
        .is_some_and(|file| SHELLS.iter().chain(&["dash"]).any(|shell| file == *shell));
    if is_shell {
        files.extend(COMFORTS.iter().filter_map(|comfort| machine.program(comfort)));
    }
    files.sort();
    files.dedup();
    Ok(words)
}

fn environment(has_terminal: bool) -> Vec<(String, String)> {
    let mut environment = vec![("PATH".to_owned(), search_path())];
    if let (true, Ok(term)) = (has_terminal, std::env::var("TERM")) {
        environment.push(("TERM".to_owned(), term));
    }
    environment
}

/// This program's own streams, passed through.
struct OwnStreams {
    has_terminal: bool,
    raw: Option<RawTerminal>,
    last_size: Option<Pty>,
    is_verbose: bool,
}

impl Streams for OwnStreams {
    fn input(&self) -> Option<Box<dyn InputSource>> {
        Some(Box::new(std::io::stdin()))
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) -> std::io::Result<()> {
        if self.has_terminal && self.raw.is_none() && std::io::stdin().is_terminal() {
            self.raw = RawTerminal::begin();
        }
        match stream {
            OutputStream::Output => {
                let mut output = std::io::stdout().lock();
                output.write_all(bytes)?;
                output.flush()
            }
            OutputStream::Error => std::io::stderr().lock().write_all(bytes),
        }
    }

    fn resized(&mut self) -> Option<Pty> {
        let last = self.last_size?;
        let now = size();
        self.last_size = Some(now);
        (now != last).then_some(now)
    }

    fn note(&mut self, event: &Event) {
        if let Event::Notice(text) = event {
            tell(text);
        } else if self.is_verbose {
            tell("booting");
        }
    }
}
