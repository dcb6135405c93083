//! Where each of the three runs and under which policy, and whether it really did.

use super::policy::{level_text, read_policy};
use super::usage::Usage;
use contract::{Key, Problem, Requirement};
use model::{CpuList, Parameters};
use std::io;
use sys::Policy;

/// What was declared of one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Role {
    /// CPUs of its threads, the nth on the nth; none leaves it to the scheduler.
    cpus: Option<CpuList>,
    /// Policy and priority; none leaves those of the workload.
    policy: Option<(Policy, u32)>,
}

impl Role {
    /// What these two parameters say.
    ///
    /// # Errors
    /// What of it cannot be meant.
    pub(super) fn of(
        parameters: &Parameters,
        cpus: &Key<str>,
        policy: &Key<str>,
    ) -> Result<Self, Vec<Problem>> {
        let of_cpus = declared(cpus, parameters, |text| {
            text.parse::<CpuList>().map_err(|error| error.to_string())
        });
        let of_policy = declared(policy, parameters, read_policy);
        match (of_cpus, of_policy) {
            (Ok(cpus), Ok(policy)) => Ok(Self { cpus, policy }),
            (cpus, policy) => Err(cpus.err().into_iter().chain(policy.err()).collect()),
        }
    }

    /// Puts the calling thread where the nth one belongs.
    ///
    /// # Errors
    /// What the kernel answers, with the CPU or policy.
    pub(super) fn enter(&self, index: usize) -> io::Result<()> {
        if let Some(cpus) = &self.cpus {
            workload_parts::placement::pin_to_nth(cpus, index).map_err(io::Error::other)?;
        }
        let Some((policy, priority)) = self.policy else { return Ok(()) };
        let mut attributes = sys::scheduling_attributes(0)?;
        (attributes.policy, attributes.priority) = (policy, priority);
        // What was read is the base slice; written back it would be one of the thread's own.
        attributes.runtime_ns = 0;
        sys::set_scheduling_attributes(0, &attributes).map_err(|error| {
            let named = format!("cannot enter {}: {error}", level_text(policy, priority));
            io::Error::new(error.kind(), named)
        })
    }

    /// What a machine must let its threads do: run there, and under that policy.
    pub(super) fn requirements(self, name: &'static str) -> Vec<Requirement> {
        let cpus = self.cpus.map(|cpus| {
            Requirement::check(format!("CPU {cpus} for the {name}"), move |_| {
                let wanted = cpus.clone();
                // Tried, and not looked up: an isolated CPU (isolcpus) is in nobody's affinity until
                // it is asked for.
                let got = in_a_thread(move || {
                    sys::set_affinity(0, &wanted)?;
                    sys::affinity(0)
                });
                let why = match got {
                    Ok(got) if got == cpus => return Ok(()),
                    Ok(got) => format!("the kernel lets a task run on {got} of them"),
                    Err(error) => format!("the kernel refuses: {error}"),
                };
                let remedy =
                    format!("name CPUs of this machine, for example --set ...{name}_cpus=0");
                Err((why, remedy))
            })
        });
        let policy = self.policy.map(|(policy, priority)| {
            Requirement::check(format!("the policy {}", level_text(policy, priority)), move |_| {
                let role = Self { cpus: None, policy: Some((policy, priority)) };
                let outcome = in_a_thread(move || role.enter(0));
                let remedy =
                    "run as root, and not in a group without real-time budget (cpu.rt_runtime_us)";
                outcome.map_err(|error| (error.to_string(), remedy.to_owned()))
            })
        });
        cpus.into_iter().chain(policy).collect()
    }

    /// What of the nth thread was not as declared, in one sentence.
    pub(super) fn broken(&self, thread: &str, index: usize, usage: &Usage) -> Option<String> {
        self.elsewhere(thread, index, usage).or_else(|| {
            let (policy, priority) = self.policy?;
            let wanted = level_text(policy, priority);
            let is_other = usage.policy != wanted;
            is_other.then(|| {
                format!("{thread} should run under {wanted} and ran under {}", usage.policy)
            })
        })
    }

    fn elsewhere(&self, thread: &str, index: usize, usage: &Usage) -> Option<String> {
        let cpus = self.cpus.as_ref()?;
        let pinned = cpus.iter().nth(index % cpus.len().max(1))?;
        let all = usage.by_cpu.iter();
        let elsewhere: u64 = all.filter(|(cpu, _)| **cpu != pinned).map(|(_, count)| count).sum();
        let is_there = usage.allowed == pinned.to_string() && elsewhere == 0;
        (!is_there).then(|| {
            format!(
                "{thread} was pinned to CPU {pinned}, may run on {} and dealt with {elsewhere} of \
                 {} frames elsewhere",
                usage.allowed, usage.frames
            )
        })
    }
}

/// What a text says; nothing where it is empty.
fn declared<T>(
    key: &Key<str>,
    parameters: &Parameters,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Problem> {
    let text = key.of(parameters);
    if text.is_empty() {
        return Ok(None);
    }
    read(text).map(Some).map_err(|why| format!("{} = {text:?}: {why}", key.name()).into())
}

/// Tries something in a thread of its own: what it takes on ends with it.
fn in_a_thread<T: Send + 'static>(
    attempt: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let tried = std::thread::spawn(attempt).join();
    tried.unwrap_or_else(|_| Err(io::Error::other("the attempt ended unheard")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ran_elsewhere_or_under_another_policy_is_told() {
        let role = Role { cpus: Some("1,3".parse().unwrap()), policy: Some((Policy::Fifo, 10)) };
        let mut usage = Usage::default();
        (usage.frames, usage.by_cpu) = (5, [(3, 5)].into());
        (usage.allowed, usage.policy) = ("3".to_owned(), "fifo:10".to_owned());
        assert_eq!(role.broken("worker 1", 1, &usage), None);
        let elsewhere = role.broken("worker 0", 0, &usage).unwrap();
        assert!(elsewhere.contains("pinned to CPU 1, may run on 3"), "{elsewhere}");
        usage.policy = "other".to_owned();
        let other = role.broken("worker 1", 1, &usage).unwrap();
        assert!(other.contains("should run under fifo:10 and ran under other"), "{other}");
    }
}
