//! The schedlab binary; see the library for what it does.

/// Results and the cache are for all to read and for their user to write.
const UMASK: u32 = 0o022;

fn main() -> std::process::ExitCode {
    // Roles and programs inherit it: what they write is the same wherever a run is started from.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(UMASK));
    std::process::ExitCode::from(schedlab::run(std::env::args_os().collect()))
}
