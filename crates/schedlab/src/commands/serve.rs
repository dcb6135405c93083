//! `schedlab serve`: the dashboard and the metrics, and the same beside a run.

use super::{history, machine, reports};
use crate::cli::{Common, Serve, Values};
use crate::commands::run::hear_signals;
use crate::dashboard::{LINGERS, Told};
use crate::exit::ExitCode;
use crate::output::{print, tell};
use contract::{Error, ErrorKind, Interrupt, Result};
use model::Findings;
use rustix::process::{Gid, Uid};
use rustix::thread;
use server::{Documents, Settings, Token};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::Loaded;
use sys::{Policy, SchedulingAttributes};

/// Nobody's user and group on every Linux (the kernel's overflow ids).
const NOBODY: u32 = 65_534;
/// The weakest of the fair policies.
const LOWEST_NICE: i32 = 19;

pub(super) fn run(common: &Common, arguments: &Serve) -> Result<ExitCode> {
    let machine = machine(common)?;
    // Before there is another thread: each would keep what it has.
    let results = step_down(&common.results)?;
    let interrupt = if arguments.beside { Interrupt::default() } else { hear_signals()? };
    let watchers = Arc::new(AtomicUsize::new(0));
    if arguments.beside {
        end_with_input(interrupt.clone(), Arc::clone(&watchers))?;
    }
    let token = Token::draw()?;
    let secret = token.text().to_owned();
    let is_beside = arguments.beside;
    let settings = Settings {
        results,
        machine,
        listen: SocketAddr::new(
            arguments.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            arguments.port,
        ),
        hosts: hosts(arguments),
        token,
        documents: Arc::new(Written),
        interrupt: interrupt.clone(),
        on_watchers: Box::new(move |count| {
            watchers.store(count, Ordering::Relaxed);
            if is_beside {
                answer(&Told::Watchers { count });
            }
        }),
    };
    server::serve(settings, |address| {
        let address = format!("http://{address}/login?t={secret}");
        if is_beside {
            answer(&Told::Ready { address });
            return Ok(());
        }
        tell("open this in a browser; whoever has the address may look (Ctrl-C ends it)");
        print(&format!("{address}\n"))
    })?;
    Ok(match interrupt.signal() {
        Some(signal) if !is_beside => ExitCode::Signal(signal),
        _ => ExitCode::Done,
    })
}

/// The address itself is a name for it, where it is no loopback's.
fn hosts(arguments: &Serve) -> Vec<String> {
    let own = arguments.listen.map(|address| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    arguments.hosts.iter().cloned().chain(own).collect()
}

/// A line for the run. When nobody reads it the run is gone, which the input says as well.
fn answer(told: &Told) {
    if let Ok(line) = serde_json::to_string(told) {
        let _ = print(&format!("{line}\n"));
    }
}

/// Ends with the run. Whoever watches sees its end first.
fn end_with_input(interrupt: Interrupt, watchers: Arc<AtomicUsize>) -> Result<()> {
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut rest = [0; 64];
            while std::io::stdin().read(&mut rest).is_ok_and(|length| length > 0) {}
            if watchers.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(LINGERS);
            }
            interrupt.request(signal_hook::consts::SIGTERM);
        })
        .map_err(|error| Error::environment("cannot start the dashboard", error))?;
    Ok(())
}

/// Gives up root's rights and takes the lowest priority. Campaigns are then reached from the
/// working directory: those above it may be root's alone.
fn step_down(results: &Path) -> Result<PathBuf> {
    let attempted = || format!("cannot serve {}", results.display());
    let owner = std::fs::metadata(results).map_err(|error| {
        Error::new(
            ErrorKind::Usage,
            attempted(),
            error.to_string(),
            "give the directory of campaigns: --results DIR",
        )
    })?;
    let refused = |error: std::io::Error| Error::environment(attempted(), error);
    // Where this is refused it has the priority that its user has.
    let _ = sys::scheduling_attributes(0).and_then(|now| {
        let idle = SchedulingAttributes { policy: Policy::Idle, nice: LOWEST_NICE, ..now };
        sys::set_scheduling_attributes(0, &idle)
    });
    if !rustix::process::geteuid().is_root() {
        return Ok(results.to_owned());
    }
    let (uid, gid) = match (owner.uid(), owner.gid()) {
        (0, _) => (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY)),
        (uid, gid) => (Uid::from_raw(uid), Gid::from_raw(gid)),
    };
    std::env::set_current_dir(results).map_err(refused)?;
    thread::set_thread_groups(&[]).map_err(|error| refused(error.into()))?;
    thread::set_thread_res_gid(gid, gid, gid).map_err(|error| refused(error.into()))?;
    thread::set_thread_res_uid(uid, uid, uid).map_err(|error| refused(error.into()))?;
    thread::set_no_new_privs(true).map_err(|error| refused(error.into()))?;
    std::fs::read_dir(".").map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            attempted(),
            format!("without root's rights: {error}"),
            "let others read it, or give it to the user who is to look: chown, chmod",
        )
    })?;
    Ok(PathBuf::from("."))
}

/// What the report and the history write.
struct Written;

impl Documents for Written {
    fn page(&self, loaded: &Loaded, findings: &Findings) -> Result<String> {
        report::page_json(&reports::view(loaded, findings, Values::default()))
            .map_err(|error| Error::environment("cannot write the page", error))
    }

    fn history(&self, results: &Path) -> Result<String> {
        history::json(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_listened_on_is_a_name_for_it() {
        let serve = |listen: Option<&str>| Serve {
            port: 0,
            listen: listen.map(|text| text.parse().unwrap()),
            i_understand_plain_http: true,
            hosts: vec!["lab".to_owned()],
            beside: false,
        };
        assert_eq!(hosts(&serve(None)), ["lab"]);
        assert_eq!(hosts(&serve(Some("192.0.2.7"))), ["lab", "192.0.2.7"]);
        assert_eq!(hosts(&serve(Some("2001:db8::7"))), ["lab", "[2001:db8::7]"]);
    }
}
