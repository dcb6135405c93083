//! What outlives trials: a workload's service in a process of its own, started once and lent to
//! every trial that asks for the same.
//!
//! It has a mark, a process group and control groups of its own, so that the end of a trial
//! leaves it; for the length of a run its processes move into the workload's control groups, each
//! server's into its own, so that whatever is measured, limited or killed there includes them.

use crate::child::{RoleChild, Waited, answer, die_with_parent, receive};
use crate::context::{ExecutorContext, make_scratch};
use crate::groups::long_lived_groups;
use crate::guarded_machine::new_mark;
use crate::journal_entry::JournalEntry;
use crate::load_process::give_up_exemption;
use contract::{
    Error, Event, LaunchSpec, Phase, Problem, Result, ServerGroups, ServiceFacts, TrialCatalogue,
};
use model::{BackgroundSession, Parameters, Trial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use sys::{Cgroup, Controller, Machine, MachineError};

/// The role's name on the command line.
pub const LONG_LIVED_ROLE: &str = "__standing";

/// How long one wait for it lasts before signals are looked at.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// How long it may take to say whether it stands.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// How much longer than its servers it may take to end when asked to.
const ENDS_LATER: Duration = Duration::from_secs(5);
/// Longer than this nobody waits for it: a trial's levels may be in force meanwhile.
const LONGEST_END: Duration = Duration::from_secs(60);
/// Moving processes is repeated while they fork; this often at most.
const MOST_MOVES: u32 = 1000;

/// The first frame to the role.
#[derive(Debug, Serialize, Deserialize)]
struct LongLivedOrder {
    /// Process that must be alive for it to go on.
    parent: i32,
    /// Id of the workload.
    workload: String,
    /// Its parameters.
    parameters: Parameters,
    /// Where its files go.
    launch: LaunchSpec,
    /// Text of PATH for programs.
    search_path: String,
}

/// What the role answers to its order.
type StartAnswer = std::result::Result<LongLivedFacts, String>;

/// What is to be known of a long-lived service.
#[derive(Debug, Serialize, Deserialize)]
struct LongLivedFacts {
    facts: BTreeMap<String, String>,
    /// How long it may take to end when asked to.
    ends_within_ns: u64,
}

/// The process of a long-lived service.
struct LongLivedProcess {
    /// What it is: trials that ask for the same share it.
    id: String,
    child: RoleChild,
    mark: String,
    /// Of whatever is in none of its servers' groups.
    cgroup: Cgroup,
    servers: BTreeMap<String, ServerGroups>,
    stands: LongLivedFacts,
}

impl LongLivedProcess {
    /// Starts it and waits until it can be used. The journal knows of its groups already.
    ///
    /// # Errors
    /// What it could not do, in its words: outer of the user and the machine, inner of it.
    fn start(
        context: &mut ExecutorContext,
        (id, mark, cgroup): (String, String, Cgroup),
        order: &LongLivedOrder,
    ) -> Result<std::result::Result<Self, String>> {
        let marking = context.marking_as(&mark, &order.launch.log);
        let mut child = RoleChild::spawn(LONG_LIVED_ROLE, BackgroundSession::Same, &marking)?;
        let (machine, journal) = context.machine_and_journal();
        journal.append(&JournalEntry::LongLived { group: child.pid(), mark: mark.clone() })?;
        cgroup.add(machine, child.pid())?;
        child.send(order)?;
        let told = loop {
            match child.wait_frame::<StartAnswer>(LONGEST_WAIT)? {
                Waited::Frame(told) => break told,
                Waited::Ended(how) => break Err(format!("its process ended with {how}")),
                Waited::Nothing => context.check_interrupt()?,
            }
        };
        let servers = order.launch.server_groups.clone();
        Ok(told.map(|stands| Self { id, child, mark, cgroup, servers, stands }))
    }

    /// Whether it is what a trial asks for, and still stands.
    fn serves(&mut self, id: &str) -> bool {
        let asked = self.id == id && self.child.send(&()).is_ok();
        asked
            && matches!(
                self.child.wait_frame::<std::result::Result<(), String>>(ANSWERS_WITHIN),
                Ok(Waited::Frame(Ok(())))
            )
    }

    /// What the journal keeps while it stands.
    fn entries(&self) -> Vec<JournalEntry> {
        let servers = self.servers.values().filter_map(|groups| groups.unified.as_ref());
        let groups = servers.chain([&self.cgroup]);
        let own = JournalEntry::LongLived { group: self.child.pid(), mark: self.mark.clone() };
        let groups = groups.map(|cgroup| JournalEntry::Cgroup { cgroup: cgroup.clone() });
        [own].into_iter().chain(groups).collect()
    }

    /// Lends its processes to a workload's groups: those of its servers to those of the same
    /// name, the others to the workload's own.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn enter(
        &self,
        machine: &Machine,
        (own, servers): (&Cgroup, &BTreeMap<String, ServerGroups>),
    ) -> Result<()> {
        for (name, home) in &self.servers {
            let (Some(to), Some(home)) = (servers.get(name), &home.unified) else { continue };
            let members = || home.members(machine).unwrap_or_default();
            move_all(machine, members, |pid| to.add(machine, pid))?;
        }
        let role = self.child.pid();
        let homes = self.servers.values().filter_map(|groups| groups.unified.as_ref());
        let homes: Vec<&Cgroup> = homes.chain([&self.cgroup]).collect();
        let members = || {
            let members = homes.iter().flat_map(|home| home.members(machine).unwrap_or_default());
            members.filter(|pid| *pid != role).collect()
        };
        move_all(machine, members, |pid| own.add(machine, pid))
    }

    /// Takes them back before what is left in those groups is ended.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn leave(
        &self,
        machine: &Machine,
        (own, servers): (&Cgroup, &BTreeMap<String, ServerGroups>),
    ) -> Result<()> {
        let members = |group: &Cgroup| group.members(machine).unwrap_or_default();
        for (name, from) in servers {
            let Some(group) = &from.unified else { continue };
            let legacy = from.legacy.iter().filter_map(|group| self.legacy_home(machine, group));
            let unified = self.servers.get(name).and_then(|home| home.unified.clone());
            let unified = Some(unified.unwrap_or_else(|| self.cgroup.clone()));
            let home = ServerGroups { unified, legacy: legacy.collect() };
            // Every process in it is the server's: many programs write their title over their
            // environment, and our mark is gone.
            move_all(machine, || members(group), |pid| home.add(machine, pid))?;
        }
        // In the workload's own group the load's processes are too.
        let role = self.child.pid();
        let lent = || {
            let marked = machine.marked_processes(&self.mark).unwrap_or_default();
            let is_lent = |pid: &i32| {
                marked.iter().any(|process| process.pid == *pid)
                    || machine.ancestors(*pid).any(|ancestor| ancestor == role)
            };
            members(own).into_iter().filter(is_lent).collect()
        };
        move_all(machine, lent, |pid| self.cgroup.add(machine, pid))
    }

    /// Where its processes lie in the v1 hierarchy that this group is in, while they are not
    /// lent: where its first process is. None where that has ended.
    fn legacy_home(&self, machine: &Machine, lent: &Cgroup) -> Option<Cgroup> {
        let text = machine.read(&format!("/proc/{}/cgroup", self.child.pid())).ok()?;
        let hierarchies = [(Cgroup::cpu_root(machine), "cpu"), (Cgroup::io_root(machine), "blkio")];
        hierarchies.into_iter().find_map(|(hierarchy, name)| {
            let (controller, root) = hierarchy?;
            lent.path.strip_prefix(root)?.strip_prefix('/')?;
            let below = Cgroup::path_in(&text, controller, name)?;
            let path = format!("{root}{}", below.trim_end_matches('/'));
            (controller == Controller::Legacy).then_some(Cgroup { path })
        })
    }

    /// Ends it. What remains of it is ended by restoring, which it is no longer spared from.
    fn end(mut self) {
        let within = Duration::from_nanos(self.stands.ends_within_ns);
        self.child.finish(within.saturating_add(ENDS_LATER).min(LONGEST_END));
    }
}

/// The long-lived service that an executor has, or none.
#[derive(Default)]
pub(crate) struct LongLivedSlot(Option<LongLivedProcess>);

impl LongLivedSlot {
    /// Starts the long-lived service that the workload asks for, unless it runs already.
    ///
    /// # Errors
    /// Outer of the user and the machine; inner why it does not stand.
    pub(crate) fn stand(
        &mut self,
        context: &mut ExecutorContext,
        trial: &Trial,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<std::result::Result<(), String>> {
        let parameters = &trial.workload.parameters;
        // Why it cannot be configured tells its own process.
        let configured = context.catalogue().configure(&trial.workload.uses, parameters).ok();
        let service = configured.as_deref().and_then(|one| one.service());
        let ServiceFacts { servers, stands: wanted, .. } =
            service.map(|service| service.facts()).unwrap_or_default();
        if let (Some(process), Some(id)) = (&mut self.0, &wanted)
            && process.serves(id)
        {
            return Ok(Ok(()));
        }
        self.end();
        let Some(id) = wanted else { return Ok(Ok(())) };
        on_event(Event::TrialPhase(Phase::Starting));
        let mark = format!("SCHEDLAB_MARK={}", new_mark(context.machine().runtime())?);
        // Everybody can read what groups are called, and nobody else may learn the mark.
        let group_name = new_mark(context.machine().runtime())?;
        let (cgroup, server_groups) = long_lived_groups(context, &group_name, &servers)?;
        let scratch = context.scratch("long-lived");
        // Of the one before it.
        let _ = context.machine().files().remove_tree(&scratch);
        make_scratch(context.machine(), &scratch)?;
        let launch = LaunchSpec {
            seed: trial.seed,
            scratch,
            log: context.log("long-lived.log"),
            server_groups,
            ..LaunchSpec::default()
        };
        let order = LongLivedOrder {
            parent: std::process::id().cast_signed(),
            workload: trial.workload.uses.clone(),
            parameters: parameters.clone(),
            launch,
            search_path: context.machine().search_path().to_owned(),
        };
        let started = LongLivedProcess::start(context, (id, mark, cgroup), &order)?;
        Ok(started.map(|process| self.0 = Some(process)))
    }

    /// Lends the service to a workload, where there is one and the workload has a group of its
    /// own: the launch is told what its load needs to know.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn lend(
        &self,
        machine: &Machine,
        cgroups: &[Cgroup],
        launch: &mut LaunchSpec,
    ) -> Result<()> {
        if let (Some(process), Some(own)) = (&self.0, cgroups.first()) {
            process.enter(machine, (own, &launch.server_groups))?;
            launch.long_lived.clone_from(&process.stands.facts);
        }
        Ok(())
    }

    /// Takes it back before what is left in the workload's groups is ended.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn take_back(
        &self,
        machine: &Machine,
        cgroups: &[Cgroup],
        servers: &BTreeMap<String, ServerGroups>,
    ) -> Result<()> {
        match (&self.0, cgroups.first()) {
            (Some(process), Some(own)) => process.leave(machine, (own, servers)),
            _ => Ok(()),
        }
    }

    /// What the journal keeps while it stands.
    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        self.0.as_ref().map(LongLivedProcess::entries).unwrap_or_default()
    }

    /// Ends it; restoring ends what is left of it.
    pub(crate) fn end(&mut self) {
        if let Some(process) = self.0.take() {
            process.end();
        }
    }
}

/// Moves processes until none is left where they were: they may fork meanwhile.
fn move_all(
    machine: &Machine,
    members: impl Fn() -> Vec<i32>,
    add: impl Fn(i32) -> std::result::Result<(), MachineError>,
) -> Result<()> {
    for _ in 0..MOST_MOVES {
        let left = members();
        if left.is_empty() {
            return Ok(());
        }
        for pid in left {
            match add(pid) {
                Ok(()) => {}
                // One that ended meanwhile needs no moving.
                Err(_) if machine.process_stat(pid).is_err() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Err(Error::environment("cannot move what stands into another group", "it forks without end"))
}

/// Serves the role until its input ends. Returns the process's exit code.
pub fn serve_long_lived(catalogue: &TrialCatalogue, machine: &Machine) -> i32 {
    match serve(catalogue, machine) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

/// What stands, or why it does not.
fn started(
    catalogue: &TrialCatalogue,
    machine: &Machine,
    order: &LongLivedOrder,
) -> std::result::Result<Box<dyn contract::LongLivedService>, String> {
    let configured = catalogue.configure(&order.workload, &order.parameters);
    let configured = configured.map_err(|problems| Problem::joined(&problems))?;
    let service = configured.service().ok_or("each of its trials starts all it needs")?;
    service.stand(machine, &order.launch).map_err(|error| error.one_line())
}

fn serve(catalogue: &TrialCatalogue, machine: &Machine) -> std::io::Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let Some(order) = receive::<LongLivedOrder>(&mut input)? else { return Ok(()) };
    die_with_parent(order.parent)?;
    sys::reset_signal_dispositions();
    give_up_exemption(machine);
    let machine = machine.clone().with_search_path(order.search_path.clone());
    let mut service = match started(catalogue, &machine, &order) {
        Ok(service) => service,
        Err(reason) => return answer(&mut output, &StartAnswer::Err(reason)),
    };
    let ends_within_ns = u64::try_from(service.ends_within().as_nanos()).unwrap_or(u64::MAX);
    answer(
        &mut output,
        &StartAnswer::Ok(LongLivedFacts { facts: service.facts(), ends_within_ns }),
    )?;
    // Each question is whether it still stands.
    while receive::<()>(&mut input)?.is_some() {
        answer(&mut output, &service.check().map_err(|error| error.one_line()))?;
    }
    Ok(())
}
