//! Control groups: of a workload, of each of its servers, of what outlives trials. For killing, for
//! statistics, and for limits of CPU time and I/O.

use crate::context::ExecutorContext;
use crate::journal_entry::JournalEntry;
use crate::limits::{limit_cpu, limit_io, set_weight};
use contract::{Error, IoGroup, LaunchSpec, Result, ServerGroups};
use std::collections::BTreeMap;
use sys::{Cgroup, Controller, Machine};

/// Where processes of the workload lie that join no other group of its own: no group may have
/// processes and hand a controller on (Documentation/admin-guide/cgroup-v2.rst, "No Internal
/// Process Constraint").
const MAIN: &str = "main";

/// The hierarchy of a controller.
type Hierarchy = (Controller, &'static str);

/// Hierarchies of the controllers that a trial needs.
struct Needed {
    cpu: Option<Hierarchy>,
    io: Option<Hierarchy>,
}

impl Needed {
    fn is_unified(&self) -> bool {
        [self.cpu, self.io].iter().any(|it| matches!(it, Some((Controller::Unified, _))))
    }
}

/// A group of the unified hierarchy for killing and statistics where we may make
/// one, one with the CPU or I/O controller where the levels ask for it, those of these
/// weights that the workload's processes will join, and those of these servers: the launch is
/// told of both. Returns those of the unified hierarchy, the workload's own first.
///
/// # Errors
/// When a group that is needed cannot be made or limited.
pub(crate) fn join_groups(
    context: &mut ExecutorContext,
    launch: &mut LaunchSpec,
    (weights, servers): (&[u64], &[&str]),
    pid: i32,
) -> Result<Vec<Cgroup>> {
    let machine = context.machine().clone();
    let name = group_name(context.group_name());
    let has_weights = !weights.is_empty();
    if has_weights && launch.needs_io_cgroup() {
        return Err(Error::usage(
            "cannot limit the workload's I/O as a whole",
            "its processes have I/O groups of their own",
            "leave out the factors io_weight and io_max, or the workload's weights",
        ));
    }
    let io = launch.needs_io_cgroup() || has_weights;
    let needed = Needed {
        cpu: wanted(Cgroup::cpu_root(&machine), launch.needs_cpu_cgroup(), "CPU time", "cpu")?,
        io: wanted(Cgroup::io_root(&machine), io, "I/O", "io")?,
    };
    let is_parent = has_weights && matches!(needed.io, Some((Controller::Unified, _)));
    let member = Some(pid).filter(|_| !is_parent);
    let own = make_unified(context, &name, member, needed.is_unified())?;
    let has_own = own.is_some();
    let mut groups: Vec<Cgroup> = own.iter().cloned().collect();
    if has_weights {
        let legacy = Needed { io: None, ..needed };
        limit(context, launch, &legacy, (&name, own.as_ref(), Some(pid)))?;
        if let Some((controller, root)) = needed.io {
            let parent = match own.filter(|_| controller == Controller::Unified) {
                Some(own) => own,
                None => make_group(context, root, &name, Some(pid))?,
            };
            launch.io_groups = make_io_groups(context, controller, &parent, weights, pid)?;
        }
    } else if servers.is_empty() {
        limit(context, launch, &needed, (&name, own.as_ref(), Some(pid)))?;
    }
    for server in servers {
        let name = format!("{name}.{server}");
        let unified = match has_own {
            true => make_unified(context, &name, None, needed.is_unified())?,
            false => None,
        };
        let legacy = limit(context, launch, &needed, (&name, unified.as_ref(), None))?;
        groups.extend(unified.clone());
        launch.server_groups.insert((*server).to_owned(), ServerGroups { unified, legacy });
    }
    Ok(groups)
}

/// A group for what outlives trials, and one for each of its servers.
///
/// # Errors
/// Where no group can be made: nothing else tells its processes from a trial's.
pub(crate) fn long_lived_groups(
    context: &mut ExecutorContext,
    name: &str,
    servers: &[&str],
) -> Result<(Cgroup, BTreeMap<String, ServerGroups>)> {
    let attempted = "cannot start what outlives trials";
    let remedy = "become root, or let each trial start it";
    let Some(root) = Cgroup::unified_root(context.machine()) else {
        let why = "no unified cgroup hierarchy is mounted";
        return Err(Error::unsupported(attempted, why, remedy));
    };
    let name = group_name(name);
    let mut make = |name: &str| {
        make_group(context, root, name, None)
            .map_err(|error| Error::unsupported(attempted, error.one_line(), remedy))
    };
    let own = make(&name)?;
    let mut groups = BTreeMap::new();
    for server in servers {
        let unified = Some(make(&format!("{name}.{server}"))?);
        groups.insert((*server).to_owned(), ServerGroups { unified, legacy: Vec::new() });
    }
    Ok((own, groups))
}

fn group_name(name: &str) -> String {
    format!("schedlab.{name}")
}

/// A group of the unified hierarchy; none where there is no such hierarchy, or we may not make
/// one that is not needed.
fn make_unified(
    context: &mut ExecutorContext,
    name: &str,
    member: Option<i32>,
    is_needed: bool,
) -> Result<Option<Cgroup>> {
    let Some(root) = Cgroup::unified_root(context.machine()) else { return Ok(None) };
    match make_group(context, root, name, member) {
        Ok(group) => Ok(Some(group)),
        Err(error) if is_needed => Err(error),
        Err(_) => Ok(None),
    }
}

/// Writes the limits into the group of that name: the unified one, or those that are made for it
/// in hierarchies of the controllers, which are returned.
fn limit(
    context: &mut ExecutorContext,
    launch: &LaunchSpec,
    needed: &Needed,
    (name, unified, member): (&str, Option<&Cgroup>, Option<i32>),
) -> Result<Vec<Cgroup>> {
    type Limit = fn(&Machine, Controller, &Cgroup, &LaunchSpec) -> Result<()>;
    let machine = context.machine().clone();
    let mut legacy = Vec::new();
    for (found, limit) in [(needed.cpu, limit_cpu as Limit), (needed.io, limit_io as Limit)] {
        match (found, unified) {
            (Some((Controller::Legacy, root)), _) => {
                let group = make_group(context, root, name, member)?;
                limit(&machine, Controller::Legacy, &group, launch)?;
                legacy.push(group);
            }
            (Some((Controller::Unified, _)), Some(group)) => {
                limit(&machine, Controller::Unified, group, launch)?;
            }
            (Some((Controller::Unified, _)), None) | (None, _) => {}
        }
    }
    Ok(legacy)
}

/// Groups of these weights below the workload's.
fn make_io_groups(
    context: &mut ExecutorContext,
    controller: Controller,
    parent: &Cgroup,
    weights: &[u64],
    pid: i32,
) -> Result<Vec<IoGroup>> {
    let machine = context.machine().clone();
    if controller == Controller::Unified {
        make_group(context, &parent.path, MAIN, Some(pid))?;
        machine.write(&parent.file("cgroup.subtree_control"), "+io")?;
    }
    let mut groups = Vec::new();
    for (index, weight) in weights.iter().enumerate() {
        let group = make_group(context, &parent.path, &format!("share-{index}"), None)?;
        set_weight(&machine, controller, &group, *weight)?;
        groups.push(IoGroup { group, controller, weight: *weight });
    }
    Ok(groups)
}

/// The hierarchy of a controller, where it is needed.
fn wanted(
    found: Option<Hierarchy>,
    is_needed: bool,
    what: &str,
    controller: &str,
) -> Result<Option<Hierarchy>> {
    match found {
        None if is_needed => Err(Error::unsupported(
            format!("cannot limit the workload's {what}"),
            format!("no cgroup hierarchy with the {controller} controller is mounted"),
            "use a virtual machine",
        )),
        found => Ok(found.filter(|_| is_needed)),
    }
}

fn make_group(
    context: &mut ExecutorContext,
    root: &str,
    name: &str,
    member: Option<i32>,
) -> Result<Cgroup> {
    let cgroup = Cgroup { path: format!("{root}/{name}") };
    let (machine, journal) = context.machine_and_journal();
    journal.append(&JournalEntry::Cgroup { cgroup: cgroup.clone() })?;
    if !machine.exists(&cgroup.path) {
        Cgroup::create(machine, root, name)?;
    }
    if let Some(pid) = member {
        cgroup.add(machine, pid)?;
    }
    Ok(cgroup)
}
