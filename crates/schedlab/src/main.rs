//! The schedlab binary; see the library for what it does.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(schedlab::run(std::env::args_os().collect()))
}
