//! `schedlab vm`: programs and shells in throw-away machines.

use super::kernels;
use crate::cli::Common;
use crate::cli::vm::{AcceleratorWord, VmAction, VmMachine};
use crate::exit::ExitCode;
use crate::output::tell;
use crate::surroundings::{agent, cache_directory, machine_arguments, search_path};
use crate::terminal::{RawTerminal, size};
use contract::{BootSpec, Error, Event, Factor, Interrupt, Knob, Result};
use model::{Accelerator, VmSettings};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use venues::{CommandLine, Execution, HostSettings, InputSource, Kernel, Streams, Vcpus, VmHost};
use wire::{Pty, Stream};

/// Shells that a guest may have, the best first.
const SHELLS: [&str; 3] = ["bash", "busybox", "sh"];
/// What a person in a shell expects to find beside it.
const COMFORTS: [&str; 24] = [
    "cat", "chmod", "cp", "cut", "dmesg", "echo", "find", "free", "grep", "head", "ls", "lscpu",
    "mkdir", "mount", "mv", "nproc", "ps", "rm", "sed", "sleep", "tail", "taskset", "uname",
    "chrt",
];

/// What virtual machines are told of their surroundings.
pub(super) fn host(common: &Common) -> Result<VmHost> {
    let machine = super::machine(common)?;
    Ok(VmHost {
        host: HostSettings {
            machine_arguments: machine_arguments(&machine),
            machine,
            catalogue: crate::catalogue(),
            executable: crate::surroundings::executable(),
        },
        agent: agent(),
        cache: cache_directory(common.cache.as_deref())?,
        kernels: Rc::new(kernels::open(common)?),
        version: env!("CARGO_PKG_VERSION"),
    })
}

pub(super) fn run(common: &Common, action: &VmAction) -> Result<ExitCode> {
    let (machine, words, has_terminal) = match action {
        VmAction::Exec(exec) => (&exec.machine, exec.run.clone(), exec.tty),
        VmAction::Shell(shell) => (&shell.machine, shell_words(common)?, true),
    };
    let executed = execute(common, machine, words, has_terminal);
    match executed {
        Ok(status) => Ok(ExitCode::Program(status)),
        Err(error) => {
            tell(&format!("schedlab: {error}"));
            Ok(ExitCode::Program(ExitCode::OUR_FAILURE))
        }
    }
}

fn execute(
    common: &Common,
    machine: &VmMachine,
    words: Vec<String>,
    has_terminal: bool,
) -> Result<i32> {
    let host = host(common)?;
    if let Some(campaign) = super::host(common)?.running() {
        tell(&format!("a campaign runs here and will be disturbed ({campaign})"));
    }
    let mut files = machine.files.clone();
    let words = with_program(&host, words, &mut files)?;
    let terminal = if has_terminal { Some(size()) } else { None };
    let execution = Execution {
        spec: spec(machine)?,
        settings: settings(machine)?,
        words,
        environment: environment(has_terminal),
        files,
        terminal,
    };
    let interrupt = if has_terminal { Interrupt::default() } else { super::run::hear_signals()? };
    let mut streams =
        OwnStreams { has_terminal, raw: None, last_size: terminal, is_verbose: common.verbose };
    venues::execute(&host, &execution, &mut streams, &interrupt)
}

fn spec(machine: &VmMachine) -> Result<BootSpec> {
    let mut spec = BootSpec::default();
    let words = [
        (&Kernel as &dyn Factor, Some(machine.kernel.as_str())),
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

    fn output(&mut self, stream: Stream, bytes: &[u8]) -> std::io::Result<()> {
        if self.has_terminal && self.raw.is_none() && std::io::stdin().is_terminal() {
            self.raw = RawTerminal::begin();
        }
        match stream {
            Stream::Output => {
                let mut output = std::io::stdout().lock();
                output.write_all(bytes)?;
                output.flush()
            }
            Stream::Error => std::io::stderr().lock().write_all(bytes),
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
