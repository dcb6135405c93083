//! A stub of the program that an adapter runs.

/// What tests put in the place of an adapter's program: a script that says the version that it is
/// asked for, and then prints what the test makes it print.
#[derive(Debug, Clone, Copy)]
pub struct ProgramStub {
    /// The name under which the adapter looks for its program.
    pub program: &'static str,
    /// The first argument by which the adapter asks for the version, and an answer that it takes;
    /// none where it does not ask.
    pub version: Option<(&'static str, &'static str)>,
    /// Values of the adapter's parameters by name, with which it starts the stub and nothing else.
    pub parameters: &'static [(&'static str, &'static str)],
}
