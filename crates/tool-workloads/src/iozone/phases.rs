//! Which operations are done, and by which tests of iozone.

use outputs::iozone::Operation;

/// What each test (`-i`) does, in iozone's order.
const TESTS: [(u8, &[Operation]); 4] = [
    (0, &[Operation::Write, Operation::Rewrite]),
    (1, &[Operation::Read, Operation::Reread]),
    (2, &[Operation::RandomRead, Operation::RandomWrite]),
    (3, &[Operation::ReverseRead]),
];

/// The operations of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phases {
    /// Those that are asked for.
    pub(super) reported: Vec<Operation>,
    /// Numbers of the tests that do them; the first is always there, it makes the files, and
    /// writes on a device what others read: no block is read that was never written.
    pub(super) tests: Vec<u8>,
}

impl Phases {
    /// What these ids mean, and what is wrong with them.
    pub(super) fn of(ids: &[String]) -> (Self, Vec<String>) {
        let mut phases = Self { reported: Vec::new(), tests: vec![0] };
        let mut problems = Vec::new();
        for id in ids {
            let found = TESTS.iter().find_map(|(test, operations)| {
                let operation = operations.iter().find(|operation| operation.id() == id)?;
                Some((*test, *operation))
            });
            let Some((test, operation)) = found else {
                let known: Vec<&str> = TESTS
                    .iter()
                    .flat_map(|(_, operations)| operations.iter().map(|operation| operation.id()))
                    .collect();
                problems.push(format!(
                    "`{id}` is no operation of iozone's throughput mode; those are {}",
                    known.join(", ")
                ));
                continue;
            };
            if phases.reported.contains(&operation) {
                problems.push(format!("{id} is named twice"));
                continue;
            }
            phases.reported.push(operation);
            if !phases.tests.contains(&test) {
                phases.tests.push(test);
            }
        }
        phases.tests.sort_unstable();
        (phases, problems)
    }

    /// How many operations are done, asked for or not.
    pub(super) fn count(&self) -> u64 {
        let tests = TESTS.iter().filter(|(test, _)| self.tests.contains(test));
        tests.map(|(_, operations)| operations.len() as u64).sum()
    }
}
