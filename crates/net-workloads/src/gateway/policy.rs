//! Scheduling policies as parameters spell them.

use sys::Policy;

/// Highest priority of SCHED_FIFO and SCHED_RR (sched_get_priority_max(2), Linux).
const HIGHEST: u32 = 99;

/// A policy as levels spell it: `fifo:10`.
pub(super) fn level_text(policy: Policy, priority: u32) -> String {
    match policy {
        Policy::Fifo | Policy::RoundRobin => format!("{}:{priority}", policy.name()),
        _ => policy.name().to_owned(),
    }
}

/// The policy that a text names.
///
/// # Errors
/// What was expected.
pub(super) fn read_policy(text: &str) -> Result<(Policy, u32), String> {
    let ranked = |policy, priority: &str| match priority.parse() {
        Ok(priority) if (1..=HIGHEST).contains(&priority) => Ok((policy, priority)),
        _ => Err(format!("a priority is 1 to {HIGHEST}")),
    };
    match text.split_once(':') {
        Some(("fifo", priority)) => ranked(Policy::Fifo, priority),
        Some(("rr", priority)) => ranked(Policy::RoundRobin, priority),
        None if text == "other" => Ok((Policy::Other, 0)),
        None if text == "batch" => Ok((Policy::Batch, 0)),
        None if text == "idle" => Ok((Policy::Idle, 0)),
        _ => Err("expected other, batch, idle, fifo:N or rr:N".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_told_alike() {
        for text in ["other", "batch", "idle", "fifo:1", "rr:99"] {
            let (policy, priority) = read_policy(text).unwrap();
            assert_eq!(level_text(policy, priority), text);
        }
        for text in ["fifo", "fifo:0", "fifo:100", "rr:", "other:1", "deadline", "ext", ""] {
            assert!(read_policy(text).is_err(), "{text}");
        }
    }
}
