//! Which command does what the command line says: one line each.

#[cfg(feature = "server")]
use super::serve;
#[cfg(feature = "top")]
use super::top;
use super::{
    bench_self, bundle, calibrate, capacity, compare, doctor, explain, figures, gate, history,
    import, kernels, list, net, new, plan, reports, restore, run, schedulers, studies, vm, vs,
};
use crate::cli::{Action, Cli};
use crate::exit::ExitCode;
use crate::output::tell_lines;
use crate::reader_time::ReaderTime;
use clap::{CommandFactory, Parser};
use contract::Result;
use model::{on_one_line, written_out};
use std::ffi::OsString;

/// Parses the command line and does what it says.
pub(crate) fn dispatch(arguments: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            tell_misread(&error, arguments);
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Done };
        }
    };
    match act(&cli) {
        Ok(code) => code,
        Err(error) => {
            tell_lines(&format!("schedlab: {error}"));
            ExitCode::from(&error)
        }
    }
}

/// Says why the command line cannot be meant, or shows the help that it asks for. clap quotes
/// arguments as they are, and a shell's pattern names files of others: what is shown is the same
/// error of a command line in which a terminal obeys nothing.
fn tell_misread(error: &clap::Error, arguments: &[OsString]) {
    let legible = |argument: &OsString| {
        // An end of a line, too: what stands behind it would pass for a line of ours.
        on_one_line(&written_out(&argument.to_string_lossy()))
    };
    match Cli::try_parse_from(arguments.iter().map(legible)) {
        Err(shown) if shown.kind() == error.kind() => {
            // clap chooses the stream; there is nobody to tell when that fails.
            let _ = shown.print();
        }
        // Where it is no longer the same error, it is told without styles.
        _ => tell_lines(error.render().to_string().trim_end()),
    }
}

fn act(cli: &Cli) -> Result<ExitCode> {
    let common = &cli.common;
    let _time = only_reads(&cli.action).then(ReaderTime::bounded);
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
        Action::Verify(arguments) => bundle::verify(common, arguments),
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
        Action::Studies(arguments) => studies::run(common, &arguments.action),
        Action::Net(arguments) => net::run(&arguments.action),
        Action::Vm(arguments) => vm::run(common, &arguments.action),
        Action::BenchSelf(arguments) => bench_self::run(common, arguments),
        Action::Calibrate(arguments) => calibrate::run(arguments),
        Action::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "schedlab", &mut text);
            crate::output::print_data(&String::from_utf8_lossy(&text))?;
            Ok(ExitCode::Done)
        }
    }
}

/// Whether a command reads a campaign or a bundle, changes nothing of the machine, and stores only
/// what it can make again. `import` reads too, and says itself when.
fn only_reads(action: &Action) -> bool {
    matches!(
        action,
        Action::Judge(_)
            | Action::Report(_)
            | Action::Figures(_)
            | Action::Show(_)
            | Action::Compare(_)
            | Action::Verify(_)
            | Action::Explain(_)
            | Action::Gate(_)
    )
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
