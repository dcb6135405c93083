//! A plan in words: subjects, workloads, order, time, and every path.

use super::{build, host, venue};
use crate::cli::Common;
use crate::progress::human_duration;
use contract::{Catalogue, FIRST_KNOB, Footprint, Knob, Result};
use model::{Block, Comparisons, Level, Plan, Sitting, Subject, on_one_line};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use sys::{Cgroup, Machine};

/// Blocks whose order is printed in full.
const SHOWN_BLOCKS: usize = 12;

/// The plan in words: subjects, workloads, order, time, and every path.
pub(super) fn describe(common: &Common, plan: &Plan) -> Result<String> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = describe_into(&mut text, common, plan);
    let entry = crate::catalogue().venue_of(plan)?;
    if entry.facts().footprint != Footprint::Nothing {
        text.push_str(&leftovers(common)?);
    }
    for recipe in build::due(plan)? {
        let (what, at) = (&recipe.what, recipe.directory.display());
        let words = recipe.words.join(" ");
        let line = on_one_line(&format!("A run first builds {what}: {words}, in {at}"));
        let _ = writeln!(text, "\n{line}");
    }
    let missing = venue(common, plan)?.missing(plan);
    if missing.is_empty() {
        let as_far =
            if plan.boots_guests() { ", as far as can be told before a guest boots" } else { "" };
        let _ = writeln!(text, "\nEverything it needs is here{as_far}. Nothing has been changed.");
    } else {
        text.push_str("\nMissing here; the run would be refused:\n");
        for lack in missing {
            let head = on_one_line(&format!("{}: {}", lack.what, lack.why));
            let _ = writeln!(text, "  - {head}\n    {}", on_one_line(&lack.remedy));
        }
    }
    Ok(text)
}

/// What a run would put back before anything else; what it leaves open may look missing.
fn leftovers(common: &Common) -> Result<String> {
    let host = host(common)?;
    if let Some(campaign) = host.running().or_else(|| host.running_beside()) {
        let campaign = on_one_line(&campaign);
        return Ok(format!("\nA campaign runs here now ({campaign}): a run would be refused.\n"));
    }
    let pending = host.pending()?;
    if pending.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("\nA run first puts back what an interrupted one left: {}\n", pending.join("; ")))
}

fn describe_into(text: &mut String, common: &Common, plan: &Plan) -> std::fmt::Result {
    writeln!(text, "{}\n", on_one_line(&plan.title))?;
    let seed_origin =
        if plan.is_seed_generated { " (drawn; set seed = … to keep it)" } else { "" };
    let beside = if plan.has_peer() { ", a second guest beside each" } else { "" };
    let from_host = if has_load_from_host(plan) { ", load from this host" } else { "" };
    writeln!(text, "venue    {}{beside}{from_host}", plan.venue)?;
    writeln!(text, "seed     {}{seed_origin}", plan.seed)?;
    let boots: u64 = plan.blocks.iter().map(Block::boot_count).sum();
    let booted =
        if boots > 0 { format!(" and {}", model::counted(boots, "boot")) } else { String::new() };
    writeln!(
        text,
        "trials   {} in {}{booted}, about {}",
        plan.trial_count(),
        model::counted(plan.blocks.len(), "block"),
        human_duration(plan.expected_ns())
    )?;
    if !plan.looks.is_empty() {
        let looks: Vec<String> = plan.looks.iter().map(u32::to_string).collect();
        let budget = plan.budget_ns.map_or(String::new(), |budget_ns| {
            format!(", or when {} are used up", human_duration(budget_ns))
        });
        writeln!(
            text,
            "looks    after {} blocks; it stops when every primary question is answered{budget}",
            looks.join(", ")
        )?;
    }
    compared(text, plan)?;
    writeln!(text, "\nSubjects (the first is the reference)")?;
    for subject in &plan.subjects {
        writeln!(text, "  {:<24} {}", subject.id, on_one_line(&levels_text(subject)))?;
    }
    workloads(text, plan)?;
    asked_together(text, plan)?;
    writeln!(text, "\nOrder")?;
    for block in plan.blocks.iter().take(SHOWN_BLOCKS) {
        writeln!(text, "  block {:<3} {}", block.index + 1, order_text(block))?;
    }
    if plan.blocks.len() > SHOWN_BLOCKS {
        let more = model::counted(plan.blocks.len() - SHOWN_BLOCKS, "more block");
        writeln!(text, "  … and {more}")?;
    }
    for note in &plan.notes {
        writeln!(text, "\nNote: {}", on_one_line(note))?;
    }
    writeln!(text, "\nWritten")?;
    for path in paths(common, plan) {
        writeln!(text, "  {}", on_one_line(&path))?;
    }
    Ok(())
}

/// Which subjects are compared, where it is not each with the first.
fn compared(text: &mut String, plan: &Plan) -> std::fmt::Result {
    let factor = match &plan.comparisons {
        Comparisons::Reference => return Ok(()),
        Comparisons::All => return writeln!(text, "compared each subject with each, and ranked"),
        Comparisons::Within(factor) => factor,
    };
    writeln!(text, "compared within {factor}: each subject with the first of its level")?;
    for group in model::groups(&plan.subjects, factor) {
        let others: Vec<&str> = group.others.iter().map(|other| other.id.as_str()).collect();
        let reference = group.reference.map_or("nothing", |subject| subject.id.as_str());
        let level = group.level.map_or("none", Level::as_str);
        writeln!(text, "         {level}: {} with {reference}", others.join(", "))?;
    }
    Ok(())
}

/// The subjects as they come; those of one boot in brackets.
fn order_text(block: &Block) -> String {
    let of_boot = |sittings: &[Sitting]| {
        let ids: Vec<&str> = sittings.iter().map(|sitting| sitting.subject.as_str()).collect();
        let joined = ids.join(" -> ");
        if sittings.iter().any(|sitting| sitting.boot.is_some()) {
            format!("[{joined}]")
        } else {
            joined
        }
    };
    let boots = block.sittings.chunk_by(|a, b| a.boot == b.boot);
    boots.map(of_boot).collect::<Vec<_>>().join(" -> ")
}

/// What runs, and what is asked of it.
fn workloads(text: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(text, "\nWorkloads")?;
    for workload in &plan.workloads {
        let load = workload
            .background
            .as_ref()
            .map_or(String::new(), |load| format!(", beside {} CPU hogs", load.hogs));
        let arms = if workload.subjects.is_empty() {
            String::new()
        } else {
            format!(", for {}", workload.subjects.join(", "))
        };
        writeln!(
            text,
            "  {:<24} {} x {}{load}{arms}",
            workload.label,
            workload.invocations,
            human_duration(workload.expected_ns)
        )?;
        for id in &workload.primary {
            let metric = workload.metrics.iter().find(|metric| metric.id == *id);
            let margin = model::rounded_percent(metric.map_or(0.0, |metric| metric.margin));
            let direction = metric.map_or(String::new(), |metric| metric.direction.to_string());
            let pooled = if workload.pooled.contains(id) { ", of all blocks together" } else { "" };
            writeln!(
                text,
                "    primary: {id} ({direction}, equivalence margin {margin} %{pooled})"
            )?;
        }
    }
    Ok(())
}

/// Use cases and claims.
fn asked_together(text: &mut String, plan: &Plan) -> std::fmt::Result {
    if !plan.use_cases.is_empty() {
        writeln!(text, "\nUse cases")?;
    }
    for use_case in &plan.use_cases {
        let weight = |weight: &model::Weight| {
            let percent = model::round_significant((weight.weight * 1e4).round() / 100.0);
            format!("{percent} % {} {}", weight.workload, weight.metric)
        };
        let weights: Vec<String> = use_case.weights.iter().map(weight).collect();
        writeln!(text, "  {:<24} {}", use_case.id, weights.join(", "))?;
    }
    if !plan.claims.is_empty() {
        writeln!(text, "\nPublished claims that the records will confirm, refute or leave open")?;
    }
    for claim in &plan.claims {
        let workload = if claim.is_across_workloads() {
            format!("{} of {}:", claim.workloads.join(", then "), claim.subject)
        } else {
            claim.workload.clone().unwrap_or_else(|| "every workload's".to_owned())
        };
        writeln!(text, "  {} ({workload} {})", on_one_line(&claim.says), claim.metric)?;
    }
    Ok(())
}

pub(super) fn levels_text(subject: &Subject) -> String {
    let levels: Vec<String> =
        subject.levels.iter().map(|(id, level)| format!("{id}={level}")).collect();
    let control =
        if subject.is_control { "A/A control: a second copy of the reference" } else { "" };
    let text = if levels.is_empty() { "as the machine is".to_owned() } else { levels.join(" ") };
    if control.is_empty() { text } else { format!("{text} ({control})") }
}

/// Every path the campaign would write.
fn paths(common: &Common, plan: &Plan) -> Vec<String> {
    let mut paths = vec![format!("{}/{}-<time>-<id>/", common.results.display(), plan.name)];
    let footprint = crate::catalogue().venue(&plan.venue).map(|venue| venue.facts().footprint);
    if footprint.is_none_or(|footprint| footprint == Footprint::Nothing) {
        return paths;
    }
    if let Ok(machine) = super::machine(common) {
        paths.push(format!("{}/ (journal and lock)", machine.runtime().display()));
        let notice = executor::Lock::notice(&machine);
        paths.extend(notice.map(|path| format!("{path} (tells other users what runs)")));
        // What a guest's knobs are written in is the guest's.
        if footprint != Some(Footprint::Knobs) {
            return paths;
        }
        let catalogue: Catalogue = crate::catalogue();
        let mut files = BTreeSet::new();
        let machine = machine.clone().with_target(super::files_target(common, &machine));
        for subject in &plan.subjects {
            let machine = executor::with_target(&machine, &catalogue, subject);
            for (id, level) in &subject.levels {
                files.extend(files_of(&catalogue, &machine, id, level));
            }
        }
        paths.extend(files);
        paths.extend(cgroups(&catalogue, &machine, plan));
        for workload in &plan.workloads {
            let of = |one| match catalogue.configure(&workload.uses, one) {
                Ok(configured) => configured.facts().writes,
                Err(_) => Vec::new(),
            };
            let files: BTreeSet<&str> = workload.all_parameters().flat_map(of).collect();
            paths.extend(
                files.iter().map(|file| format!("{file} ({}, while it runs)", workload.label)),
            );
        }
    }
    paths
}

/// Whether services in guests get load from outside.
fn has_load_from_host(plan: &Plan) -> bool {
    let catalogue = crate::catalogue();
    plan.boots_guests()
        && catalogue.configured(plan).any(|(_, _, configured)| {
            let service = configured.service();
            service.is_some_and(|service| service.facts().host_load_port.is_some())
        })
}

/// The groups made for the workload, with the limits written into them.
fn cgroups(catalogue: &Catalogue, machine: &Machine, plan: &Plan) -> Vec<String> {
    let mut limited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    limited.extend(Cgroup::unified_root(machine).map(|root| (root, Vec::new())));
    for controller in catalogue.controllers(machine, plan) {
        let (root, name) = match controller {
            "io" => (Cgroup::io_root(machine), "I/O"),
            _ => (Cgroup::cpu_root(machine), "CPU"),
        };
        if let Some((_, root)) = root {
            limited.entry(root).or_default().push(name);
        }
    }
    let mut servers = BTreeSet::new();
    for (_, _, configured) in catalogue.configured(plan) {
        servers.extend(configured.service().into_iter().flat_map(|own| own.facts().servers));
    }
    let of_servers = servers.iter().map(|server| format!("schedlab.<id>.{server}/"));
    let paths: Vec<String> = ["schedlab.<id>/".to_owned()].into_iter().chain(of_servers).collect();
    let cgroups = if paths.len() > 1 { "cgroups" } else { "cgroup" };
    let text = |(root, names): (&str, Vec<&str>)| {
        let limits = match names.as_slice() {
            [] => String::new(),
            names => format!(", with its {} limits", names.join(" and ")),
        };
        format!("{root}/{} (the workload's {cgroups}{limits}, removed)", paths.join(", "))
    };
    limited.into_iter().map(text).collect()
}

/// Whether a file is of the device that stands for the one that each trial makes.
fn of_made(machine: &Machine, path: &str) -> bool {
    let made = machine.target().filter(|target| target.is_made);
    let device = made.and_then(|target| target.device.as_ref());
    device.is_some_and(|device| path.starts_with(&format!("/sys/block/{device}/")))
}

fn made_later(id: &str) -> String {
    format!("the queue of the device that each trial makes ({id})")
}

fn files_of(catalogue: &Catalogue, machine: &Machine, id: &str, level: &Level) -> Vec<String> {
    let Some(factor) = catalogue.factor(id) else { return Vec::new() };
    match factor.knob() {
        Knob::System(knob) => match knob.settings(machine, level) {
            Ok(settings) => {
                let set = settings.into_iter().map(|setting| setting.file.path);
                let moved = factor.moves(machine).into_iter().filter(|path| machine.exists(path));
                let all = set.chain(moved).map(|path| match of_made(machine, &path) {
                    true => made_later(id),
                    false => format!("{path} ({id}, put back)"),
                });
                all.collect()
            }
            // Its files come with the device that each trial makes.
            Err(_) if machine.target().is_some_and(|target| target.is_made) => {
                vec![made_later(id)]
            }
            Err(error) => vec![format!("{id}: {error}")],
        },
        Knob::Held(_) if factor.order() < FIRST_KNOB => {
            vec![format!("{level} ({id}, made for each trial and given back)")]
        }
        Knob::Held(_) | Knob::Launch(_) | Knob::Boot(_) | Knob::Simulated => Vec::new(),
    }
}
