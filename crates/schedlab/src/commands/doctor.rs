//! `schedlab doctor`: what this machine can do, what is missing, how to get it.
//! It opens files and tries attributes on a thread of its own; it changes nothing.

use super::machine;
use crate::browser;
use crate::cli::{Common, Json};
use crate::exit::ExitCode;
use crate::output::{print, print_data};
use crate::trusted_cache::trusted_cache;
use contract::{Catalogue, Error, Knob, Result, VenuePrerequisite};
use executor::{factor_needs, no_sched_ext};
use model::on_one_line;
use serde_json::{Value, json};
use sys::Machine;

/// Whether one thing works here.
struct Check {
    kind: &'static str,
    id: String,
    is_supported: bool,
    current: Option<String>,
    /// What of it does not work, where the rest does.
    limit: Option<String>,
    why: String,
    remedy: String,
}

pub(super) fn run(common: &Common, arguments: &Json) -> Result<ExitCode> {
    let machine = machine(common)?;
    let catalogue = crate::catalogue();
    let fingerprint = executor::fingerprint(&machine, &catalogue)?;
    let mut checks = factor_checks(&machine, &catalogue);
    checks.extend(probe_checks(&machine, &catalogue));
    checks.extend(workload_checks(&machine, &catalogue));
    checks.extend(venue_checks(common, &catalogue)?);
    checks.push(scheduler_check(common)?);
    checks.push(print_check());
    checks.push(journal_check(common)?);
    checks.push(cache_check(common));
    checks.push(judged(
        "state",
        "scheduler",
        Some(sys::SchedExt::read(&machine).to_string()),
        vec![no_sched_ext()],
        &machine,
    ));
    if arguments.json {
        let listed: Vec<Value> = checks.iter().map(to_json).collect();
        let all = json!({ "machine": fingerprint, "checks": listed });
        let text = serde_json::to_string_pretty(&all)
            .map_err(|error| Error::environment("cannot encode the result", error))?;
        print_data(&format!("{text}\n"))?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::from("This machine\n");
    for (key, value) in fingerprint.0.iter().filter(|(key, _)| !key.starts_with("knob.")) {
        text.push_str(&format!("  {key:<26} {value}\n"));
    }
    let user = if machine.is_root() { "root" } else { "not root: some factors need it" };
    text.push_str(&format!("  {:<26} {user}\n", "user"));
    let of_venues = catalogue.venues.iter().map(|venue| venue.describe().id);
    let of_venues = of_venues.filter(|id| checks.iter().any(|check| check.kind == *id));
    let others = ["schedulers", "report", "factor", "probe", "workload"];
    for kind in std::iter::once("state").chain(of_venues).chain(others) {
        text.push_str(&format!("\n{}\n", heading(kind, &catalogue)));
        for check in checks.iter().filter(|check| check.kind == kind) {
            text.push_str(&line(check));
        }
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn heading(kind: &str, catalogue: &Catalogue) -> &'static str {
    if let Some(venue) = catalogue.venue(kind) {
        return venue.facts().prerequisites;
    }
    match kind {
        "factor" => "Factors: what can be set here",
        "probe" => "Probes: what can be observed here",
        "workload" => "Workloads: what can run here",
        "report" => "Reports: what only some formats need",
        "schedulers" => "Published schedulers: what building them needs",
        _ => "State",
    }
}

fn line(check: &Check) -> String {
    let mark = if check.is_supported { "ok " } else { "-- " };
    let current = check.current.as_ref().map_or(String::new(), |current| match check.kind {
        "state" | "factor" | "probe" | "workload" => format!("now {current}"),
        _ => current.clone(),
    });
    let head = format!("  {mark} {:<20} {current}", check.id);
    let mut text = on_one_line(head.trim_end()) + "\n";
    if let Some(limit) = &check.limit {
        text.push_str(&format!("      but not {}\n", on_one_line(limit)));
    }
    if !check.is_supported {
        text.push_str(&format!("      {}\n", on_one_line(&check.why)));
        if !check.remedy.is_empty() {
            text.push_str(&format!("      {}\n", on_one_line(&check.remedy)));
        }
    }
    text
}

fn to_json(check: &Check) -> Value {
    json!({
        "kind": check.kind,
        "id": check.id,
        "supported": check.is_supported,
        "current": check.current,
        "limit": check.limit,
        "why": check.why,
        "remedy": check.remedy,
    })
}

fn supported(kind: &'static str, id: &str, current: Option<String>) -> Check {
    Check {
        kind,
        id: id.to_owned(),
        is_supported: true,
        current,
        limit: None,
        why: String::new(),
        remedy: String::new(),
    }
}

fn judged(
    kind: &'static str,
    id: &str,
    current: Option<String>,
    requirements: Vec<contract::Requirement>,
    machine: &Machine,
) -> Check {
    let missing = requirements.iter().find_map(|requirement| requirement.met(machine).err());
    match missing {
        None => supported(kind, id, current),
        Some(missing) => Check {
            is_supported: false,
            why: missing.to_string(),
            remedy: missing.remedy,
            ..supported(kind, id, current)
        },
    }
}

fn venue_checks(common: &Common, catalogue: &Catalogue) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for venue in catalogue.venues {
        let kind = venue.describe().id;
        let check = |(id, part): VenuePrerequisite| match part {
            Ok(current) => supported(kind, id, Some(current)),
            Err(lack) => Check {
                is_supported: false,
                why: lack.why,
                remedy: lack.remedy,
                ..supported(kind, id, None)
            },
        };
        checks.extend(venue.prerequisites(common)?.into_iter().map(check));
    }
    Ok(checks)
}

/// Only fetching a scheduler needs it: what is cached runs without.
fn scheduler_check(common: &Common) -> Result<Check> {
    let check = supported("schedulers", "toolchain", None);
    Ok(match super::schedulers::open(common)?.toolchain() {
        Ok(toolchain) => {
            let without = toolchain.without_seccomp();
            let limit = (!without.is_empty())
                .then(|| format!("{}: apt-get install libseccomp-dev", without.join(", ")));
            let versions = [&toolchain.cargo_version, &toolchain.clang_version];
            let current = versions.map(String::as_str).join(", ");
            let linking = toolchain.not_static.map(|why| format!("; nothing static: {why}"));
            let current = format!("{current}{}", linking.unwrap_or_default());
            Check { current: Some(current), limit, ..check }
        }
        Err(error) => {
            Check { is_supported: false, why: error.cause, remedy: error.remedy, ..check }
        }
    })
}

/// Only the format `pdf` needs it.
fn print_check() -> Check {
    let check = supported("report", "pdf", None);
    match browser::find() {
        Some(browser) => Check { current: Some(browser.display().to_string()), ..check },
        None => Check {
            is_supported: false,
            why: "no Chromium is installed here".to_owned(),
            remedy: browser::REMEDY.to_owned(),
            ..check
        },
    }
}

fn factor_checks(machine: &Machine, catalogue: &Catalogue) -> Vec<Check> {
    let real = catalogue
        .factors
        .iter()
        .filter(|factor| !matches!(factor.knob(), Knob::Boot(_) | Knob::Simulated));
    real.map(|factor| {
        let id = factor.describe().id;
        let current = match factor.knob() {
            Knob::System(knob) => knob.current(machine).ok().map(|level| level.to_string()),
            Knob::Held(_) | Knob::Launch(_) | Knob::Boot(_) | Knob::Simulated => None,
        };
        let levels = factor.examples().iter().filter_map(|example| factor.parse(example).ok());
        // The examples differ in what they need (policy=batch, policy=fifo:10):
        // the factor is supported when one of them is, and says what is not.
        let checks: Vec<Check> = levels
            .map(|level| {
                judged("factor", id, current.clone(), factor_needs(*factor, &level), machine)
            })
            .collect();
        let first_bad = checks.iter().position(|check| !check.is_supported);
        let has_good = checks.iter().any(|check| check.is_supported);
        match (first_bad, has_good) {
            (Some(bad), true) => {
                let example = factor.examples().get(bad).copied().unwrap_or_default();
                let limit = Some(format!("{example}: {}", checks[bad].why));
                Check { limit, ..supported("factor", id, current) }
            }
            (Some(bad), false) => {
                checks.into_iter().nth(bad).unwrap_or_else(|| supported("factor", id, None))
            }
            (None, _) => supported("factor", id, current),
        }
    })
    .collect()
}

fn probe_checks(machine: &Machine, catalogue: &Catalogue) -> Vec<Check> {
    let check = |probe: &&dyn contract::Probe| {
        judged("probe", probe.describe().id, None, probe.requires(), machine)
    };
    catalogue.probes.iter().map(check).collect()
}

fn workload_checks(machine: &Machine, catalogue: &Catalogue) -> Vec<Check> {
    let mut checks = Vec::new();
    for workload in catalogue.workloads {
        let configured = contract::Parameter::values(workload.parameters(), &[])
            .and_then(|defaults| workload.configure(&defaults));
        // One with a required parameter cannot be judged without it.
        let Ok(configured) = configured else {
            checks.push(supported("workload", workload.describe().id, None));
            continue;
        };
        let requirements = configured.facts().requirements;
        checks.push(judged("workload", workload.describe().id, None, requirements, machine));
    }
    checks
}

/// Whether programs of the cache may be run: guests and published schedulers are refused otherwise.
fn cache_check(common: &Common) -> Check {
    let check = supported("state", "cache", None);
    match trusted_cache(common.cache.as_deref()) {
        Ok(cache) => Check { current: Some(cache.display().to_string()), ..check },
        Err(error) => Check {
            is_supported: false,
            why: format!("{}: {}", error.attempted, error.cause),
            remedy: error.remedy,
            ..check
        },
    }
}

fn journal_check(common: &Common) -> Result<Check> {
    let mut current = "clean: nothing to put back".to_owned();
    let mut pending = Vec::new();
    for host in super::hosts_of_user(common)? {
        if let Some(campaign) = host.running() {
            current = format!("in use by a campaign ({campaign})");
            continue;
        }
        match host.pending() {
            Ok(lines) => pending.extend(lines),
            Err(error) => {
                return Ok(Check {
                    is_supported: false,
                    why: format!("{}: {}", error.attempted, error.cause),
                    remedy: error.remedy,
                    ..supported("state", "journal", None)
                });
            }
        }
    }
    let mut check = supported("state", "journal", Some(current));
    if !pending.is_empty() {
        check.is_supported = false;
        check.current = None;
        check.why = format!("an interrupted run left: {}", pending.join("; "));
        check.remedy = "run `schedlab restore`".to_owned();
    }
    Ok(check)
}
