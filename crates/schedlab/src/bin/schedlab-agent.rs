//! What goes into a guest: its first process, the agent, and the executor's roles.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(schedlab::run_agent(&std::env::args_os().collect::<Vec<_>>()))
}
