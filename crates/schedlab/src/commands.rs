//! One file for each command.

mod bench_self;
mod build;
mod bundle;
mod calibrate;
mod capacity;
mod compare;
mod context;
mod doctor;
mod explain;
mod figures;
mod gate;
mod history;
mod import;
mod kernels;
mod list;
mod net;
mod new;
mod pilot;
mod plan;
mod reports;
mod restore;
mod run;
mod save;
mod schedulers;
mod secrets;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "top")]
mod top;
mod vm;
mod vs;

#[cfg(feature = "typescript")]
pub(crate) use history::visit_history;
pub(crate) use import::DEFAULT_ALPHA;
pub(crate) use reports::formats as report_formats;

use crate::cli::{Action, Cli, Common};
use crate::environment::{MachineChoice, cache_directory};
use crate::exit::ExitCode;
use crate::output::tell;
use builds::Schedulers;
use clap::{CommandFactory, Parser};
use contract::{Result, Venue};
use model::{Plan, StorageTarget};
use sys::Machine;
use venues::Host;

/// Parses the command line and does what it says.
pub(crate) fn run(arguments: Vec<std::ffi::OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // clap chooses the stream; there is nobody to tell when that fails.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Done };
        }
    };
    match act(&cli) {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("schedlab: {error}"));
            ExitCode::from(&error)
        }
    }
}

fn act(cli: &Cli) -> Result<ExitCode> {
    let common = &cli.common;
    match &cli.action {
        Action::Doctor(arguments) => doctor::run(common, arguments),
        Action::List(arguments) => list::run(common, arguments),
        Action::New(arguments) => new::run(arguments),
        Action::Plan(arguments) => plan::run(common, arguments),
        Action::Run(arguments) => run::run(common, arguments),
        Action::Vs(arguments) => vs::run(common, arguments),
        Action::Capacity(arguments) => capacity::run(common, arguments),
        Action::Judge(arguments) => reports::judge(common, arguments),
        Action::Report(arguments) => reports::report(common, arguments),
        Action::Figures(arguments) => figures::run(common, arguments),
        Action::Show(arguments) => reports::show(common, arguments),
        Action::Compare(arguments) => compare::run(common, arguments),
        Action::Bundle(arguments) => bundle::bundle(common, arguments),
        Action::Verify(arguments) => bundle::verify(arguments),
        Action::Explain(arguments) => explain::run(common, arguments),
        Action::History(arguments) => history::run(common, arguments),
        #[cfg(feature = "top")]
        Action::Top(arguments) => top::run(common, arguments),
        #[cfg(not(feature = "top"))]
        Action::Top(_) => Err(left_out("draw on a terminal", "top")),
        #[cfg(feature = "server")]
        Action::Serve(arguments) => serve::run(common, arguments),
        #[cfg(not(feature = "server"))]
        Action::Serve(_) => Err(left_out("serve a dashboard", "server")),
        Action::Gate(arguments) => gate::run(common, arguments),
        Action::Import(arguments) => import::run(common, arguments),
        Action::Restore(arguments) => restore::run(common, arguments),
        Action::Kernels(arguments) => kernels::run(common, &arguments.action),
        Action::Schedulers(arguments) => schedulers::run(common, &arguments.action),
        Action::Net(arguments) => net::run(&arguments.action),
        Action::Vm(arguments) => vm::run(common, &arguments.action),
        Action::BenchSelf(arguments) => bench_self::run(common, arguments),
        Action::Calibrate(arguments) => calibrate::run(arguments),
        Action::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "schedlab", &mut text);
            crate::output::print(&String::from_utf8_lossy(&text))?;
            Ok(ExitCode::Done)
        }
    }
}

/// Why a developer's build cannot do it.
#[cfg(not(all(feature = "top", feature = "server")))]
fn left_out(what: &str, feature: &str) -> contract::Error {
    contract::Error::unsupported(
        format!("cannot {what}"),
        format!("this binary was built without the feature `{feature}`"),
        format!("build schedlab with it: cargo build --release --features {feature}"),
    )
}

/// The machine that the command line means.
fn machine(common: &Common) -> Result<Machine> {
    let choice = MachineChoice {
        root: common.root.clone(),
        runtime: common.runtime_dir.clone(),
        programs: cache_directory(common.cache.as_deref())
            .ok()
            .map(|cache| Schedulers::programs_of(&cache)),
    };
    Ok(choice.machine()?.with_destroyable(common.destroy_data.clone()))
}

/// The host venue of that machine.
fn host(common: &Common) -> Result<Host> {
    Host::of(common)
}

/// Where files of workloads would lie: below the directory of campaigns, or where that would
/// be made.
fn files_target(common: &Common, machine: &Machine) -> StorageTarget {
    let results = std::path::absolute(&common.results).unwrap_or_else(|_| common.results.clone());
    let existing = results.ancestors().find(|path| path.is_dir()).unwrap_or(&results);
    sys::directory_target(machine, existing)
}

/// The venue of a plan.
fn venue(common: &Common, plan: &Plan) -> Result<Box<dyn Venue>> {
    crate::catalogue().venue_of(plan)?.venue(common)
}
