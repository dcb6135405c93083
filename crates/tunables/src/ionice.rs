//! Class and level of I/O priority of the workload's tasks.

use crate::thread_levels;
use contract::{APART, Description, Factor, Knob, LaunchKnob, LaunchSpec, Requirement};
use model::{IoPriority, Level};
use sys::Machine;

pub(crate) struct Entry;

static DESCRIPTION: Description = Description {
    id: "ionice",
    summary: "class and level of I/O priority of the workload's tasks",
    doc: "`be:0` to `be:7` is the default class, best effort, with 0 first; `rt:0` to `rt:7` is served \
          before it, `idle` when nobody else asks. Set by ioprio_set(2) and inherited.\n\n\
          What moves with it, and when it lies: the elevator decides what it means. bfq turns levels \
          into weights (be:0 weighs 80, be:7 10), mq-deadline serves classes in order since 5.14 and \
          does not see levels, kyber and none do not look. Buffered writes are sent by the kernel's own \
          writers, which have their own priority. Threads to which a workload itself gives a priority \
          (`stream_priority` of io_mix) keep that one. Without contention it does nothing.\n\n\
          Sources: ioprio_set(2), bfq_ioprio_to_weight in block/bfq-iosched.c, dd_insert_request in \
          block/mq-deadline.c (6.12).",
};

impl Factor for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "be:0 to be:7, rt:0 to rt:7 or idle"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["be:0", "be:7", "idle"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        text.parse::<IoPriority>().map(|priority| Level::canonical(priority.to_string()))
    }

    fn requires(&self, level: &Level) -> Vec<Requirement> {
        let Ok(priority) = level.as_str().parse::<IoPriority>() else { return Vec::new() };
        vec![Requirement::check(format!("the I/O priority {level}"), move |_machine| {
            let tried = thread_levels::in_throwaway_thread(|| {
                sys::set_io_priority(0, priority)?;
                sys::io_priority(0)
            });
            match tried {
                Ok(now) if now == Some(priority) => Ok(()),
                Ok(now) => Err((format!("the kernel made it {now:?}"), String::new())),
                Err(error) => Err((
                    format!("ioprio_set: {error}"),
                    "run as root, or use a virtual machine: rt needs CAP_SYS_NICE".to_owned(),
                )),
            }
        })]
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
        let priority = level.as_str().parse::<IoPriority>().map_err(|why| {
            contract::Error::usage(format!("cannot use the I/O priority {level}"), why, "")
        })?;
        launch.io_priority = Some(priority);
        Ok(())
    }

    fn read_back(
        &self,
        machine: &Machine,
        threads: &[i32],
        wanted: &Level,
    ) -> contract::Result<Level> {
        thread_levels::uniform("ionice", threads, wanted, |thread| {
            let name = thread_levels::alive_text(machine, &format!("/proc/{thread}/comm"))?;
            if name.is_none_or(|name| name.trim() == APART) {
                return Ok(None);
            }
            let priority = thread_levels::alive("ionice", thread, sys::io_priority(thread))?;
            let text = |priority: Option<IoPriority>| {
                priority.map_or_else(|| "none".to_owned(), |priority| priority.to_string())
            };
            Ok(priority.map(|priority| Level::canonical(text(priority))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launch_sets_is_what_reads_back_from_the_kernel() {
        for text in ["be:0", "be:7", "idle", "rt:3"] {
            crate::layouts::launch_round_trip(&Entry, text);
        }
    }

    #[test]
    fn other_classes_and_levels_are_refused() {
        for text in ["be:8", "rt", "best:1", "be:-1", "none"] {
            assert!(Entry.parse(text).is_err(), "{text}");
        }
    }
}
