//! Adapters: workloads that run a program of others and read what it prints, and `command` for any
//! program.
//!
//! This crate must not know how output is parsed (`outputs` does), what starts a workload or what
//! is set around it. Each file holds one workload, or what two of them share.

mod program_stub;
mod transport_choice;

pub use program_stub::ProgramStub;

/// Declares the adapters' modules, and lists their entries and the stubs of their programs.
macro_rules! adapters {
    ($($adapter:ident),* $(,)?) => {
        contract::catalog!(dyn contract::Workload: $($adapter),*);

        /// The stub of each entry's program, in the order of the entries: tests run every adapter
        /// with a hostile program.
        pub const STUBS: &[ProgramStub] = &[$($adapter::STUB),*];
    };
}

adapters! { fio, iozone, iperf3, sockperf, command }

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Parameter, ProgramFile, Workload, WorkloadFacts};

    fn facts(entry: &dyn Workload, given: &[(&str, &str)]) -> WorkloadFacts {
        let parameters = Parameter::values(entry.parameters(), given).unwrap();
        entry.configure(&parameters).unwrap().facts()
    }

    /// Guests get the program and the fingerprint its digest, and a machine without it is told of.
    #[track_caller]
    fn assert_named(facts: &WorkloadFacts, program: &str) {
        let file = ProgramFile::Program(program.to_owned());
        assert!(facts.programs.contains(&file), "{program}: {:?}", facts.programs);
        let what = format!("the program {program}");
        let is_needed = facts.requirements.iter().any(|need| need.what() == what);
        assert!(is_needed, "{program}: {:?}", facts.requirements);
    }

    #[test]
    fn each_adapter_names_its_program_for_guests_and_fingerprints_and_among_its_requirements() {
        assert_eq!(ENTRIES.len(), STUBS.len());
        for (&entry, stub) in ENTRIES.iter().zip(STUBS) {
            assert_named(&facts(entry, stub.parameters), stub.program);
        }
    }

    #[test]
    fn the_program_of_a_command_is_the_first_word_of_its_parameter() {
        for (words, program) in [("one --of two", "one"), ("/opt/acme/two one", "/opt/acme/two")] {
            let given = [(contract::shared_names::COMMAND_LINE, words)];
            assert_named(&facts(&command::Entry, &given), program);
        }
    }
}
