//! `schedlab serve`: the dashboard and the metrics, and the same beside a run.

use super::campaign_loading::loader;
use super::signals::hear_signals;
use super::{evidence, history, machine, reports};
use crate::cli::{Common, Presentation, Serve};
use crate::dashboard::{LINGERS, ServeMessage};
use crate::exit::ExitCode;
use crate::output::{print, print_data, tell};
use crate::{priority, unprivileged};
use contract::{Error, Interrupt, Result};
use live::CampaignLoader;
use model::Findings;
use server::{Documents, ServerSettings, Shown, Token};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::LoadedCampaign;

pub(super) fn run(common: &Common, arguments: &Serve) -> Result<ExitCode> {
    let machine = machine(common)?;
    // Before the privileges and the directory of this process change.
    let attempts = evidence::attempts(common);
    let loader = loader(common, attempts.clone());
    // Before there is another thread: each would keep what it has.
    let results = unprivileged::drop_privileges(&common.results)?;
    if let Some(attempts) = &attempts
        && let Some(why) = attempts.unreadable()
    {
        tell(&format!(
            "records are not compared with what {attempts} has of them: without root's rights it \
             cannot be read ({why}); `schedlab judge` compares them"
        ));
    }
    let interrupt = if arguments.beside { Interrupt::default() } else { hear_signals()? };
    if arguments.beside {
        end_with_input(interrupt.clone())?;
    }
    let token = Token::draw()?;
    let secret = token.text().to_owned();
    let is_beside = arguments.beside;
    let shown = Shown {
        results,
        machine,
        hosts: hosts(arguments)?,
        token,
        loader: loader.clone(),
        documents: Arc::new(Written {
            results: common.results.clone(),
            loader,
            presentation: Presentation { language: arguments.language, ..Presentation::default() },
        }),
        on_watchers: Box::new(move |count| {
            if is_beside {
                answer(&ServeMessage::Watchers { count });
            }
        }),
    };
    let settings = ServerSettings {
        shown,
        listen: SocketAddr::new(
            arguments.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            arguments.port,
        ),
        interrupt: interrupt.clone(),
        lingers: if is_beside { LINGERS } else { Duration::ZERO },
    };
    server::serve(settings, |address| {
        let address = format!("http://{address}/login?t={secret}");
        if is_beside {
            answer(&ServeMessage::Ready { address });
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

/// The address itself is a name for it, where it is no loopback's. No browser asks for the one
/// that means all of them.
fn hosts(arguments: &Serve) -> Result<Vec<String>> {
    if arguments.hosts.is_empty()
        && arguments.listen.is_some_and(|address| address.is_unspecified())
    {
        return Err(Error::usage(
            "cannot listen on every address",
            "nothing says by which name browsers will ask, and other names are refused",
            "name them: --allow-host NAME",
        ));
    }
    let own = arguments.listen.map(|address| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    Ok(arguments.hosts.iter().cloned().chain(own).collect())
}

/// A line for the run. When nobody reads it the run is gone, which the input says as well.
fn answer(message: &ServeMessage) {
    if let Ok(line) = serde_json::to_string(message) {
        let _ = print_data(&format!("{line}\n"));
    }
}

/// Ends with the run. There is nothing to disturb then, and somebody may wait for the verdict.
fn end_with_input(interrupt: Interrupt) -> Result<()> {
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut rest = [0; 64];
            while std::io::stdin().read(&mut rest).is_ok_and(|length| length > 0) {}
            priority::leave_idle_policy();
            interrupt.request(signal_hook::consts::SIGTERM);
        })
        .map_err(|error| Error::environment("cannot start the dashboard", error))?;
    Ok(())
}

/// What the report and the history write.
struct Written {
    /// Campaigns as the user names them, whatever directory this process is in.
    results: PathBuf,
    loader: CampaignLoader,
    presentation: Presentation,
}

impl Documents for Written {
    fn page(&self, loaded: &LoadedCampaign, findings: &Findings) -> Result<String> {
        let name = loaded.directory.file_name().unwrap_or_default();
        let directory = self.results.join(name);
        report::page_json(&reports::view(loaded, &directory, findings, self.presentation))
            .map_err(|error| Error::environment("cannot write the page", error))
    }

    fn history(&self, results: &Path) -> Result<String> {
        history::json(results, &|directory: &Path| self.loader.load(directory))
    }

    fn words(&self) -> Option<String> {
        report::page_words(self.presentation.language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Language;

    #[test]
    fn an_address_that_is_listened_on_is_a_name_for_it() {
        let serve = |listen: Option<&str>| Serve {
            port: 0,
            listen: listen.map(|text| text.parse().unwrap()),
            i_understand_plain_http: true,
            hosts: vec!["lab".to_owned()],
            language: Language::default(),
            beside: false,
        };
        assert_eq!(hosts(&serve(None)).unwrap(), ["lab"]);
        assert_eq!(hosts(&serve(Some("192.0.2.7"))).unwrap(), ["lab", "192.0.2.7"]);
        assert_eq!(hosts(&serve(Some("2001:db8::7"))).unwrap(), ["lab", "[2001:db8::7]"]);
        let nameless = |address| hosts(&Serve { hosts: Vec::new(), ..serve(Some(address)) });
        assert!(nameless("0.0.0.0").is_err() && nameless("::").is_err());
        assert_eq!(nameless("192.0.2.7").unwrap(), ["192.0.2.7"]);
    }
}
