//! Environments of processes, which lie in memory of theirs: the kernel waits for a process that has
//! that locked (`environ_read` of fs/proc/base.c, Linux 6.12), and one that maps a file of a file
//! system of its own (FUSE) has it locked for as long as it likes. No other user keeps this process
//! waiting by it: a thread asks, and a process that does not answer in time is passed over.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long one process may keep this one waiting: an environment is read in microseconds, and ordinary
/// threads get a CPU once in a second whatever real-time ones do (sched(7), RT throttling).
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Processes that keep it waiting, one after the other.
const MOST_SILENT: usize = 4;

/// Whether something is so of the process of an id.
pub(crate) type ProcessQuestion = Arc<dyn Fn(i32) -> bool + Send + Sync>;

/// What came of a question.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessAnswers {
    /// Processes of which it is so, in the order in which they were asked.
    pub(crate) found: Vec<i32>,
    /// Those of other users that did not answer in time.
    pub(crate) silent: Vec<i32>,
    /// Those of other users that were not asked any more.
    pub(crate) unasked: Vec<i32>,
}

/// Asks about each of these processes. This user's own are not hostile, and are waited for. Where some
/// others did not answer, of the rest only own ones are asked: another user may have any number of
/// processes that do not.
pub(crate) fn ask(
    processes: &[i32],
    question: &ProcessQuestion,
    is_own: &dyn Fn(i32) -> bool,
    patience: Duration,
) -> ProcessAnswers {
    let mut answers = ProcessAnswers::default();
    let mut rest = processes.to_owned();
    while let Some(place) = first_silent(&rest, question, patience, &mut answers.found) {
        let process = rest[place];
        rest.drain(..=place);
        if is_own(process) {
            answers.found.extend(question(process).then_some(process));
            continue;
        }
        answers.silent.push(process);
        if answers.silent.len() >= MOST_SILENT {
            let (own, others): (Vec<i32>, Vec<i32>) =
                rest.into_iter().partition(|process| is_own(*process));
            answers.unasked = others;
            rest = own;
        }
    }
    answers
}

/// Asks one process after the other, and adds those of which it is so; the place of the first one
/// that does not answer in time, behind which none was asked.
fn first_silent(
    processes: &[i32],
    question: &ProcessQuestion,
    patience: Duration,
    found: &mut Vec<i32>,
) -> Option<usize> {
    if processes.is_empty() {
        return None;
    }
    let (sender, receiver) = channel();
    let (asked, is_so) = (processes.to_owned(), Arc::clone(question));
    let asking = move || {
        for process in asked {
            // Where nobody waits for an answer any more, none is looked for.
            if sender.send(is_so(process)).is_err() {
                return;
            }
        }
    };
    if thread::Builder::new().spawn(asking).is_err() {
        // No thread can be made: what has to be found is looked for all the same.
        found.extend(processes.iter().copied().filter(|process| question(*process)));
        return None;
    }
    for (place, process) in processes.iter().enumerate() {
        match receiver.recv_timeout(patience) {
            Ok(is_so) => found.extend(is_so.then_some(*process)),
            Err(_) => return Some(place),
        }
    }
    None
}

/// Processes of other users whose environments are not known; copies are the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnseenEnvironments(Arc<Mutex<Unseen>>);

#[derive(Debug, Default)]
struct Unseen {
    /// Those that did not answer, each with its start time. None is asked again: every time would cost
    /// a thread that waits for it.
    silent: Vec<(i32, u64)>,
    /// Those that were not asked the last time.
    unasked: Vec<i32>,
}

impl UnseenEnvironments {
    /// Those that are not asked again, each with its start time in clock ticks.
    pub(crate) fn silent(&self) -> Vec<(i32, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).silent.clone()
    }

    /// Notes those that are not to be asked again, and those that were not asked this time.
    pub(crate) fn note(&self, silent: Vec<(i32, u64)>, unasked: Vec<i32>) {
        let mut unseen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unseen.silent.extend(silent);
        unseen.unasked = unasked;
    }

    /// What is told of them; nothing where there are none.
    pub(crate) fn told(&self) -> Option<String> {
        let unseen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = unseen.silent.iter().map(|(process, _)| *process);
        let mut all = silent.chain(unseen.unasked.iter().copied());
        let first = all.next()?;
        let others = match all.count() {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        let seconds = PATIENCE.as_secs();
        Some(format!(
            "whether process {first}{others} is one of a trial is not known: its environment was not \
             shown within {seconds} s"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough for what answers at once.
    const SHORT: Duration = Duration::from_millis(300);

    /// Whether an id is odd, of which tens do not answer before the sender goes.
    fn question() -> (std::sync::mpsc::Sender<()>, ProcessQuestion) {
        let (release, held) = channel();
        let held = Mutex::new(held);
        let question = move |process: i32| {
            if process % 10 == 0 {
                // The end of its sender is what it waits for.
                let _ = held.lock().unwrap().recv();
            }
            process % 2 == 1
        };
        (release, Arc::new(question))
    }

    #[test]
    fn a_process_that_does_not_answer_costs_no_other_its_answer() {
        let (_release, question) = question();
        let answers = ask(&[1, 10, 2, 3, 20, 5], &question, &|_| false, SHORT);
        let (found, silent) = (vec![1, 3, 5], vec![10, 20]);
        assert_eq!(answers, ProcessAnswers { found, silent, unasked: Vec::new() });
        assert_eq!(ask(&[], &question, &|_| false, SHORT), ProcessAnswers::default());
    }

    #[test]
    fn where_many_do_not_answer_only_own_processes_are_asked() {
        let (_release, question) = question();
        let processes = [10, 20, 1, 30, 40, 3, 50, 5, 60, 7];
        let answers = ask(&processes, &question, &|process| [5, 7].contains(&process), SHORT);
        let (found, silent) = (vec![1, 5, 7], vec![10, 20, 30, 40]);
        assert_eq!(answers, ProcessAnswers { found, silent, unasked: vec![3, 50, 60] });
    }

    #[test]
    fn an_own_process_is_waited_for() {
        let question: ProcessQuestion = Arc::new(|process: i32| {
            thread::sleep(SHORT * 2);
            process == 8
        });
        let answers = ask(&[8], &question, &|process| process == 8, SHORT);
        assert_eq!(answers, ProcessAnswers { found: vec![8], ..ProcessAnswers::default() });
    }

    #[test]
    fn what_is_not_known_is_told_with_the_first_and_how_many_others() {
        let unseen = UnseenEnvironments::default();
        assert_eq!(unseen.told(), None);
        let end = "is one of a trial is not known: its environment was not shown within 2 s";
        unseen.clone().note(vec![(7, 1)], Vec::new());
        assert_eq!(unseen.told().unwrap(), format!("whether process 7 {end}"));
        unseen.note(vec![(8, 1)], vec![9]);
        assert_eq!(unseen.told().unwrap(), format!("whether process 7 (and 2 more) {end}"));
        assert_eq!(unseen.silent(), [(7, 1), (8, 1)]);
    }
}
