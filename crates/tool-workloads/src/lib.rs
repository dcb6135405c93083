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
