//! Executions that are evidently one, by what a tool says of when they began and for how long it
//! counted (docs/method.md#m-unblocked).

use std::collections::{BTreeMap, BTreeSet};

/// Times below this may be equal by chance.
const LEAST_NS: u64 = 1_000_000;
/// What begins is told to the second.
const SECOND_NS: f64 = 1e9;

/// What a tool says of the times of an execution.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExecutionTimes {
    /// When it began, as it is written: to the second.
    pub began: Option<String>,
    /// For how long each event was counted, in the order of the file.
    pub counted_ns: Vec<u64>,
    /// How long it took at least, where that is known.
    pub elapsed_ns: Option<f64>,
    /// Which file of its subject it is in.
    pub file: usize,
}

/// Executions of a subject that began in the same second, or of which nobody says when.
#[derive(Debug, Clone, Default, PartialEq)]
struct Simultaneous {
    counted_ns: BTreeSet<Vec<u64>>,
    files: BTreeSet<usize>,
    elapsed_ns: f64,
    longest_ns: f64,
    has_unknown: bool,
}

/// All executions by subject and beginning.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StartedExecutions(BTreeMap<(String, Option<String>), Simultaneous>);

impl StartedExecutions {
    /// Adds an execution of a subject.
    ///
    /// # Errors
    /// Why it is evidently no execution of its own.
    pub(crate) fn add(&mut self, subject: &str, times: ExecutionTimes) -> Result<(), String> {
        let ExecutionTimes { began, counted_ns, elapsed_ns, file } = times;
        let is_told = began.is_some();
        let others = self.0.entry((subject.to_owned(), began)).or_default();
        // A coarse clock has equal times without a reason; together with equal beginnings it has one.
        let is_fine = is_told || counted_ns.iter().any(|ns| !ns.is_multiple_of(LEAST_NS));
        let is_telling = is_fine && counted_ns.iter().any(|ns| *ns >= LEAST_NS);
        if is_telling && !others.counted_ns.insert(counted_ns) {
            return Err(format!(
                "it was counted for the same nanoseconds as another execution of {subject}: both \
                 are parts of one"
            ));
        }
        others.files.insert(file);
        others.has_unknown |= elapsed_ns.is_none();
        if let Some(elapsed_ns) = elapsed_ns.filter(|_| is_told) {
            others.elapsed_ns += elapsed_ns;
            others.longest_ns = others.longest_ns.max(elapsed_ns);
        }
        // All but the last of a row that begins in one second end in it.
        if others.elapsed_ns - others.longest_ns > SECOND_NS {
            return Err(format!(
                "it began in the same second as another execution of {subject}, and they took \
                 longer than that: they are parts of one, or ran at the same time"
            ));
        }
        Ok(())
    }

    /// Subjects of which several files began in the same second, where not all say how long they
    /// took: nothing shows that they are executions of their own.
    pub(crate) fn unsure(&self) -> BTreeSet<String> {
        self.subjects(|began, others| began.is_some() && others.has_unknown)
    }

    /// Subjects of which several files do not say when they began: nothing shows it either.
    pub(crate) fn without_beginning(&self) -> BTreeSet<String> {
        self.subjects(|began, _| began.is_none())
    }

    /// Subjects that have several files of one beginning, or of none, of which this holds.
    fn subjects(&self, holds: impl Fn(Option<&str>, &Simultaneous) -> bool) -> BTreeSet<String> {
        let all = self.0.iter().filter(|((_, began), others)| {
            others.files.len() > 1 && holds(began.as_deref(), others)
        });
        all.map(|((subject, _), _)| subject.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn times(
        began: &str,
        counted_ns: &[u64],
        elapsed_ms: Option<u64>,
        file: usize,
    ) -> ExecutionTimes {
        ExecutionTimes {
            began: (!began.is_empty()).then(|| began.to_owned()),
            counted_ns: counted_ns.to_vec(),
            elapsed_ns: elapsed_ms.map(|ms| (ms * MS) as f64),
            file,
        }
    }

    /// How many of these executions of one subject are accepted before one is refused, and why.
    fn accepted(all: &[ExecutionTimes]) -> (usize, String) {
        let mut started = StartedExecutions::default();
        for (index, one) in all.iter().enumerate() {
            if let Err(why) = started.add("a", one.clone()) {
                return (index, why);
            }
        }
        (all.len(), String::new())
    }

    #[test]
    fn what_counted_for_the_same_nanoseconds_is_one_execution() {
        let one = |began, ns: u64, file: usize| times(began, &[ns, ns], None, file);
        let (count, why) =
            accepted(&[one("10:00:00", 1000 * MS, 1), one("10:00:00", 1000 * MS, 2)]);
        assert_eq!(count, 1);
        assert!(why.contains("the same nanoseconds as another execution of a"), "{why}");
        assert_eq!(accepted(&[one("", 232_012_904, 1), one("", 232_012_904, 2)]).0, 1);
        for all in [
            // Another second, other times, too short a time, and a clock that ticks.
            [one("10:00:00", 1000 * MS, 1), one("10:00:05", 1000 * MS, 2)],
            [one("10:00:00", 232_012_904, 1), one("10:00:00", 232_012_905, 2)],
            [one("10:00:00", 7, 1), one("10:00:00", 7, 2)],
            [one("", 1000 * MS, 1), one("", 1000 * MS, 2)],
        ] {
            assert_eq!(accepted(&all).0, 2, "{all:?}");
        }
        let mut started = StartedExecutions::default();
        for subject in ["a", "b"] {
            started.add(subject, one("10:00:00", 232_012_904, 1)).unwrap();
        }
    }

    #[test]
    fn what_began_in_one_second_and_took_longer_is_no_row_of_executions() {
        let one =
            |ms: u64, file: usize| times("10:00:00", &[ms * MS + file as u64], Some(ms), file);
        // Parts of an execution of eight seconds.
        let (count, why) = accepted(&[one(8106, 1), one(412, 2), one(1533, 3)]);
        assert_eq!(count, 2, "412 ms fit in a second, with 1533 ms they do not");
        assert!(why.contains("they took longer than that"), "{why}");
        // Five of 0.2 s end in the second in which they began, and the sixth may be of any length.
        let row: Vec<ExecutionTimes> = (1..=5).map(|file| one(200, file)).collect();
        assert_eq!(accepted(&row).0, 5);
        assert_eq!(accepted(&[row, vec![one(9000, 6)]].concat()).0, 6);
        // Of what has no heading nobody knows that it began at once.
        let unknown = |ms: u64, file: usize| ExecutionTimes { began: None, ..one(ms, file) };
        assert_eq!(accepted(&[unknown(8106, 1), unknown(8207, 2)]).0, 2);
    }

    #[test]
    fn files_that_do_not_say_how_long_they_took_are_not_sure() {
        let unsure = |all: &[ExecutionTimes]| -> Vec<String> {
            let mut started = StartedExecutions::default();
            all.iter().for_each(|one| started.add("a", one.clone()).unwrap());
            started.unsure().union(&started.without_beginning()).cloned().collect()
        };
        let one = |began, ns: u64, file: usize| times(began, &[ns], None, file);
        assert_eq!(
            unsure(&[one("10:00:00", 5 * MS + 1, 1), one("10:00:00", 5 * MS + 2, 2)]),
            ["a"]
        );
        assert_eq!(
            unsure(&[one("", 5 * MS + 1, 1), one("", 5 * MS + 2, 2)]),
            ["a"],
            "without a heading nobody knows"
        );
        for all in [
            // In one file perf itself began each.
            [one("10:00:00", 5 * MS + 1, 1), one("10:00:00", 5 * MS + 2, 1)],
            [one("10:00:00", 5 * MS + 1, 1), one("10:00:01", 5 * MS + 2, 2)],
            [one("", 5 * MS + 1, 1), one("", 5 * MS + 2, 1)],
            [5, 6].map(|ms: u64| times("10:00:00", &[ms * MS], Some(ms), ms as usize)),
        ] {
            assert_eq!(unsure(&all), [""; 0], "{all:?}");
        }
    }
}
