//! How late the kernel may make the workload's timed sleeps.

use crate::thread_levels;
use contract::{Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::Level;
use std::collections::BTreeMap;
use std::io;
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "timer_slack",
    summary: "how late the kernel may make the workload's timed sleeps",
    doc: "prctl(PR_SET_TIMERSLACK): the kernel may delay the timers of nanosleep, poll, epoll, select and \
          futex timeouts by up to this to wake several tasks at once. The default of a fair task is \
          50 us, which is most of what cyclictest measures under SCHED_OTHER on an idle machine.\n\n\
          What moves with it, and when it lies: threads and children inherit it; a program may set its \
          own, and it is read back during the run. Real-time and deadline tasks have none. Absolute and \
          relative sleeps are both delayed; timerfd and POSIX timers are not. Smaller slack means more \
          wake-ups and more energy, never a faster scheduler.\n\n\
          Sources: PR_SET_TIMERSLACK(2const), kernel/time/hrtimer.c, fs/select.c (6.12).",
};

/// Longer slack than a second is no timer any more; the kernel has no limit.
const HIGHEST_NS: u64 = 1_000_000_000;

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "a duration from 1ns to 1s, such as 50us"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["1us", "50us"]
    }

    fn default_level(&self) -> Option<&'static str> {
        Some("50us")
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let slack_ns = model::parse_duration(text).map_err(|error| error.to_string())?;
        // Zero would ask for the inherited default.
        if (1..=HIGHEST_NS).contains(&slack_ns) {
            return Ok(Level::canonical(model::format_duration(slack_ns)));
        }
        Err(format!("{} is outside 1ns to 1s", model::format_duration(slack_ns)))
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        vec![Requirement::check("read the timer slack of another process", |machine| {
            // Another thread's file needs the privilege that the workload's will need.
            let own = std::process::id();
            let path = format!("/proc/{own}/timerslack_ns");
            let read = thread_levels::in_throwaway_thread(|| {
                machine
                    .read(&path)
                    .map_err(|error| io::Error::new(error.source.kind(), error.to_string()))
            });
            read.map(drop).map_err(|error| {
                (
                    error.to_string(),
                    "run as root or with CAP_SYS_NICE: without reading back no level is claimed"
                        .to_owned(),
                )
            })
        })]
    }

    fn conflict(&self, _level: &Level, others: &BTreeMap<String, Level>) -> Option<String> {
        let policy = others.get("policy")?.as_str();
        let is_fair = ["other", "batch", "idle"].contains(&policy);
        (!is_fair).then(|| format!("tasks of policy {policy} have no timer slack"))
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Launch(self)
    }
}

impl LaunchKnob for Entry {
    fn contribute(
        &self,
        _machine: &Machine,
        level: &Level,
        launch: &mut LaunchSpec,
    ) -> contract::Result<()> {
        let slack_ns = model::parse_duration(level.as_str()).map_err(|error| {
            contract::Error::usage(format!("cannot use the timer slack {level}"), error, "")
        })?;
        launch.timer_slack_ns = Some(slack_ns);
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("timer_slack", threads, wanted, |thread| {
            let path = format!("/proc/{thread}/timerslack_ns");
            let Some(text) = thread_levels::alive_text(machine, &path)? else { return Ok(None) };
            let slack_ns: u64 = text.trim().parse().map_err(|_| {
                contract::Error::environment(
                    format!("cannot understand {path}"),
                    format!("`{}` is not a number", text.trim()),
                )
            })?;
            Ok(Some(Level::canonical(model::format_duration(slack_ns))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for text in ["1ns", "1us", "50us", "1s"] {
            crate::layouts::launch_round_trip(&Entry, text);
        }
    }

    #[test]
    fn zero_is_not_a_level_because_it_asks_for_the_default() {
        assert!(Entry.parse("0").is_err());
        assert!(Entry.parse("2s").is_err());
    }
}
