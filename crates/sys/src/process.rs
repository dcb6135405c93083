//! Processes: their stat line, start time and marks.

use crate::environments::{PATIENCE, ProcessAnswers, ProcessQuestion, ask};
use crate::{Machine, MachineError};
use rustix::process::{Pid, WaitId, WaitIdOptions, geteuid, waitid};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Generations of processes that are looked through.
const DEEPEST: usize = 64;
/// No program is started with more bytes of arguments and environment: three quarters of `_STK_LIM`
/// (`bprm_stack_limits` of fs/exec.c, Linux 6.12). A process may say later that its environment is
/// all that it has mapped (PR_SET_MM_MAP of prctl(2)), which takes no memory of its own.
const LONGEST_ENVIRONMENT: u64 = 6 << 20;

/// A process that cannot be confused with a later one of the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot (field 22 of stat).
    pub start_ticks: u64,
}

/// The fields of `/proc/PID/stat` that are used (proc_pid_stat(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: i32,
    /// Name, at most 15 bytes.
    pub comm: String,
    /// State letter; `Z` is a zombie.
    pub state: char,
    /// Its parent.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// User time in clock ticks.
    pub user_ticks: u64,
    /// System time in clock ticks.
    pub system_ticks: u64,
    /// User and system time of children that it waited for.
    pub waited_for_ticks: u64,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// CPU it last ran on.
    pub processor: usize,
}

/// Whether a child of this process was stopped since this was asked last, whether it goes on again
/// or not: its parent is told of both (waitid(2)), however short the stop was. False of a process
/// that has ended or is no child.
pub fn was_stopped(child: i32) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
    let told = Pid::from_raw(child).map(|pid| waitid(WaitId::Pid(pid), options));
    matches!(told, Some(Ok(Some(_))))
}

impl ProcessStat {
    /// Parses a stat line; the name may hold spaces and parentheses.
    pub fn parse(text: &str) -> Option<Self> {
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        let fields: Vec<&str> = text.get(close + 1..)?.split_whitespace().collect();
        // fields[0] is field 3 (state).
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            pid: text.get(..open)?.trim().parse().ok()?,
            comm: text.get(open + 1..close)?.to_owned(),
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            user_ticks: field(14)?.parse().ok()?,
            system_ticks: field(15)?.parse().ok()?,
            waited_for_ticks: field(16)?
                .parse::<u64>()
                .ok()?
                .checked_add(field(17)?.parse().ok()?)?,
            start_ticks: field(22)?.parse().ok()?,
            processor: field(39)?.parse().ok()?,
        })
    }
}

impl Machine {
    /// Where the processes that we start are found: in the real `/proc`, because a machine of
    /// files runs nothing; those of a simulated machine are simulated, too.
    #[must_use]
    pub fn running(&self) -> Machine {
        let is_simulated = !self.files().has_processes();
        if is_simulated { self.clone() } else { Machine::host(self.runtime()) }
    }

    /// The stat line of a process; an error whose `is_absent` holds where it is gone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn process_stat(&self, pid: i32) -> Result<ProcessStat, MachineError> {
        let path = self.path(&format!("/proc/{pid}/stat"));
        let fail = |action, source| MachineError { action, path: path.clone(), source };
        // A name is whatever its process says, and need not be UTF-8.
        let bytes = std::fs::read(&path).map_err(|source| fail("read", source))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        ProcessStat::parse(&text)
            .ok_or_else(|| fail("understand", io::Error::new(io::ErrorKind::InvalidData, text)))
    }

    /// The user who started a process, its real one; `None` where it is gone. The effective one, to which
    /// its directory in `/proc` belongs, is root for a program with the set-user-ID bit, which any user
    /// can start by a link of any name.
    pub fn user_of_process(&self, pid: i32) -> Option<u32> {
        real_user(&self.read_with_names(&format!("/proc/{pid}/status")).ok()?)
    }

    /// A live process on the real machine; `None` of one that has ended, a zombie included.
    pub fn live_process(&self, pid: i32) -> Option<ProcessStat> {
        self.running().process_stat(pid).ok().filter(|stat| stat.state != 'Z')
    }

    /// The stat line of a process on the real machine, where it is there.
    pub fn running_stat(&self, pid: i32) -> Option<ProcessStat> {
        self.running().process_stat(pid).ok()
    }

    /// The ids of all processes.
    ///
    /// # Errors
    /// When `/proc` cannot be listed.
    pub fn process_ids(&self) -> Result<Vec<i32>, MachineError> {
        Ok(self.list("/proc")?.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Live processes of a group on the real machine, zombies left out.
    ///
    /// # Errors
    /// When `/proc` cannot be listed.
    pub fn group_members(&self, group: i32) -> Result<Vec<ProcessStat>, MachineError> {
        let running = self.running();
        let stats =
            running.process_ids()?.into_iter().filter_map(|pid| running.process_stat(pid).ok());
        Ok(stats.filter(|stat| stat.group == group && stat.state != 'Z').collect())
    }

    /// Live processes but this one whose environment holds `mark` (`NAME=value`), wherever
    /// their group or session has moved. Processes of other users are seen by root alone. One that
    /// does not show its environment is passed over ([`Self::unseen_environments`]).
    ///
    /// # Errors
    /// When `/proc` cannot be listed.
    pub fn marked_processes(&self, mark: &str) -> Result<Vec<ProcessStat>, MachineError> {
        let running = self.running();
        let known = self.unseen().silent();
        let starts = |pid: i32| running.process_stat(pid).ok().map(|stat| stat.start_ticks);
        let is_known = |pid: i32| {
            known.iter().any(|(silent, start)| *silent == pid && starts(pid) == Some(*start))
        };
        let this = std::process::id().cast_signed();
        let is_asked = |pid: &i32| *pid != this && !is_known(*pid);
        let asked: Vec<i32> = running.process_ids()?.into_iter().filter(is_asked).collect();
        let (directory, entry) = (running.path("/proc"), mark.to_owned());
        let question: ProcessQuestion = Arc::new(move |pid: i32| {
            let path = directory.join(format!("{pid}/environ"));
            File::open(path).is_ok_and(|environment| is_in_environment(environment, &entry))
        });
        let user = geteuid().as_raw();
        let is_own = |pid: i32| running.user_of_process(pid) == Some(user);
        let ProcessAnswers { found, silent, unasked } = ask(&asked, &question, &is_own, PATIENCE);
        let silent = silent.into_iter().filter_map(|pid| Some((pid, starts(pid)?)));
        self.unseen().note(silent.collect(), unasked);
        let stats = found.into_iter().filter_map(|pid| running.process_stat(pid).ok());
        Ok(stats.filter(|stat| stat.state != 'Z').collect())
    }

    /// Why not all marked processes may be known, in a sentence; nothing where they are. A process
    /// decides itself whether its environment can be read.
    pub fn unseen_environments(&self) -> Option<String> {
        self.unseen().told()
    }

    /// A process and those that it descends from, the nearest first, as far as they can be read.
    pub fn ancestors(&self, pid: i32) -> impl Iterator<Item = i32> {
        let parent = |pid: &i32| self.process_stat(*pid).ok().map(|stat| stat.parent);
        std::iter::successors(Some(pid), parent).take(DEEPEST)
    }

    /// How often a task has moved to another CPU since it began (`se.nr_migrations` of
    /// /proc/PID/sched, kernel/sched/debug.c); `None` where the kernel does not tell.
    pub fn migrations(&self, pid: i32) -> Option<u64> {
        migrations(&self.running().read_with_names(&format!("/proc/{pid}/sched")).ok()?)
    }

    /// The ids of a process's threads, on the real machine.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn thread_ids(&self, pid: i32) -> Result<Vec<i32>, MachineError> {
        let names = self.running().list(&format!("/proc/{pid}/task"))?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }
}

/// Whether an environment holds this entry within what a program can be started with. The processes
/// of all users are asked, and what one of them says of itself must not fill our memory.
fn is_in_environment(environment: impl Read, entry: &str) -> bool {
    let mut bytes = Vec::new();
    environment.take(LONGEST_ENVIRONMENT).read_to_end(&mut bytes).is_ok()
        && bytes.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
}

/// The first of the four of `/proc/PID/status`, in which a name has its ends of lines written out
/// (proc_pid_status(5)).
fn real_user(status: &str) -> Option<u32> {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().next()?.parse().ok()
}

fn migrations(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.split_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_those_of_the_task_and_not_of_its_memory() {
        let text = "latt (7, #threads: 1)\n------\nse.vruntime : 1.2\n\
                    se.nr_migrations                 :                   31\n\
                    numa_pages_migrated              :                    4\n";
        assert_eq!(migrations(text), Some(31));
        assert_eq!(migrations("numa_pages_migrated : 4\n"), None);
    }

    #[test]
    fn the_user_of_a_process_is_the_one_who_started_it() {
        let status = "Name:\tUid: 0\\n\nUmask:\t0022\nUid:\t1000\t0\t0\t0\nGid:\t7\t7\t7\t7\n";
        assert_eq!(real_user(status), Some(1000));
        assert_eq!(real_user("Name:\tx\n"), None);
    }

    #[test]
    fn an_environment_without_end_is_read_as_far_as_a_program_can_be_started_with_one() {
        let mark = "SCHEDLAB_MARK=0123456789";
        let own = format!("HOME=/\0{mark}\0PATH=/bin\0");
        assert!(is_in_environment(own.as_bytes(), mark));
        assert!(is_in_environment(own.as_bytes().chain(io::repeat(0)), mark), "behind it no end");
        for other in ["", "SCHEDLAB_MARK=01234567890\0", "A=SCHEDLAB_MARK=0123456789\0"] {
            assert!(!is_in_environment(other.as_bytes(), mark), "{other:?}");
        }
        assert!(!is_in_environment(io::repeat(b'x'), mark));
    }

    #[test]
    fn a_stop_of_a_child_is_told_once_and_also_when_it_is_over() {
        use rustix::process::{Signal, kill_process};
        let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let id = child.id().cast_signed();
        let pid = Pid::from_raw(id).unwrap();
        let is_in = |states: &[char]| {
            let machine = Machine::host("");
            machine.running_stat(id).is_some_and(|stat| states.contains(&stat.state))
        };
        let wait_for = |states: &[char]| {
            while !is_in(states) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        assert!(!was_stopped(id));
        kill_process(pid, Signal::STOP).unwrap();
        wait_for(&['T']);
        assert!(was_stopped(id), "it stands");
        assert!(!was_stopped(id), "the same stop");
        kill_process(pid, Signal::CONT).unwrap();
        wait_for(&['S', 'R']);
        assert!(was_stopped(id), "it stood");
        assert!(!was_stopped(id));
        // Over before anybody asks.
        kill_process(pid, Signal::STOP).unwrap();
        wait_for(&['T']);
        kill_process(pid, Signal::CONT).unwrap();
        wait_for(&['S', 'R']);
        assert!(was_stopped(id) && !was_stopped(id));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!was_stopped(id), "it has ended");
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let line = "1234 (a) b (c)) S 1 77 77 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 1 0 4242 \
                    1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0";
        let stat = ProcessStat::parse(line).unwrap();
        assert_eq!(stat.comm, "a) b (c)");
        assert_eq!((stat.pid, stat.state, stat.group), (1234, 'S', 77));
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.start_ticks), (5, 6, 4242));
        assert_eq!(stat.processor, 3);
        assert_eq!(ProcessStat::parse("1 (x"), None);
        assert_eq!(ProcessStat::parse(""), None);
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_process() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::fake(root.path(), root.path()).unwrap();
        std::fs::create_dir_all(root.path().join("proc/7")).unwrap();
        let line = b"7 (\xff) S 1 77 77 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 1 0 4242 \
                     1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0";
        std::fs::write(root.path().join("proc/7/stat"), line).unwrap();
        assert_eq!(machine.process_stat(7).unwrap().comm, "\u{fffd}");
    }
}
