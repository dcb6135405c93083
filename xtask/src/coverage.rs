//! `cargo xtask fuzz --coverage`: inputs that are guided by the code that they reach.
//!
//! The program of `fuzz/coverage` is built on its own, with counters in everything that is compiled
//! for it and libFuzzer as its main loop; the crate `fuzz` starts it once for each target.

use crate::cargo::{Cargo, PLATFORM, succeed};
use crate::harness::{self, Scale};
use crate::problems::{CommandResult, Problems};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where it is built, and where inputs are kept that reach more than the corpora do; both below the
/// workspace.
const BUILT: &str = "target/coverage/build";
const FINDS: &str = "target/coverage/finds";
/// What is built.
const PROGRAM: &str = "fuzz-coverage";
/// The counters that libFuzzer reads; stable compilers can add them, too. These flags stand in place
/// of those in `.cargo/config.toml`: the library of C++ that libFuzzer needs is linked dynamically.
const FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// Between flags of the compiler, as cargo takes them from a variable.
const BETWEEN_FLAGS: &str = "\u{1f}";
/// Compilers of C++: the one that comes with the clang of BPF programs, and the machine's own.
const COMPILERS: [&str; 2] = ["clang++-19", "c++"];
/// A smoke run: a target that has always been there, and so many inputs of it.
const SMOKE_TARGET: &str = "cpu-list";
const SMOKE_INPUTS: u64 = 1_000;
/// Where a smoke run compiles a sample, what that is, and the section of an object that has its
/// counters.
const SAMPLED: &str = "target/tests/counters";
const SAMPLE: &str = "#[no_mangle]\npub extern \"C\" fn sample(number: u32) -> u32 {\n    \
    if number > 3 { number / 3 } else { 7 }\n}\n";
const COUNTERS: &str = "__sancov_cntrs";

/// Builds the program, and guides these targets, or all.
///
/// A smoke run builds no program, because that takes minutes. It looks whether the compiler still
/// adds counters, and has one target for a moment, with the program that the last whole run built;
/// where there is none, it says so.
pub fn fuzz(
    cargo: &Cargo,
    scale: Scale,
    seconds: u64,
    seed: u64,
    targets: &[String],
) -> CommandResult {
    if scale == Scale::Smoke {
        return smoke(cargo);
    }
    build(cargo)?;
    let mut words = words(cargo);
    words.extend([format!("--seconds={seconds}"), format!("--seed={seed}")]);
    words.extend(targets.iter().cloned());
    harness::run(cargo, scale, "fuzz", words)
}

fn smoke(cargo: &Cargo) -> CommandResult {
    sample(cargo)?;
    if !program(cargo).is_file() {
        // Also where skips are refused: no machine has it before its first night.
        println!(
            "test: UNSUPPORTED HERE: a guided target needs what is built at night or by \
             `cargo xtask fuzz --coverage`"
        );
        return Ok(());
    }
    let mut words = words(cargo);
    words.extend([format!("--inputs={SMOKE_INPUTS}"), SMOKE_TARGET.to_owned()]);
    harness::run(cargo, Scale::Smoke, "fuzz", words)
}

/// Compiles a sample as the program is compiled, and looks whether it has counters.
fn sample(cargo: &Cargo) -> CommandResult {
    let directory = cargo.root().join(SAMPLED);
    let cannot = |error: std::io::Error| {
        Problems::one(format!("cannot compile in {}: {error}", directory.display()))
    };
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).map_err(cannot)?;
    let (source, object) = (directory.join("sample.rs"), directory.join("sample.o"));
    fs::write(&source, SAMPLE).map_err(cannot)?;
    let mut command = Command::new("rustc");
    command.args(["--edition=2021", "--crate-type=lib", "--emit=obj", "--target", PLATFORM]);
    command.args(["-Copt-level=2", "-Ccodegen-units=1"]).args(FLAGS);
    succeed(command.arg("-o").arg(&object).arg(&source))?;
    let bytes = fs::read(&object).map_err(cannot)?;
    if bytes.windows(COUNTERS.len()).any(|some| some == COUNTERS.as_bytes()) {
        return Ok(());
    }
    Err(Problems::one(format!("the compiler adds no counters with {}", FLAGS.join(" "))))
}

/// What `fuzz` is told of every guided run.
fn words(cargo: &Cargo) -> Vec<String> {
    let finds = cargo.root().join(FINDS);
    vec![format!("--guided={}", program(cargo).display()), format!("--finds={}", finds.display())]
}

fn program(cargo: &Cargo) -> PathBuf {
    cargo.root().join(BUILT).join(PLATFORM).join("release").join(PROGRAM)
}

fn build(cargo: &Cargo) -> CommandResult {
    let compiler = compiler()?;
    // With the platform named, build scripts have no counters.
    let mut command =
        cargo.coverage().command(["build", "--release", "--locked", "--target", PLATFORM]);
    command.arg("--target-dir").arg(cargo.root().join(BUILT));
    command.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join(BETWEEN_FLAGS)).env("CXX", compiler);
    succeed(&mut command)
}

/// The compiler that libFuzzer is built with: the one that somebody chose, or the first that runs.
fn compiler() -> Result<OsString, Problems> {
    let chosen = std::env::var_os("CXX");
    let known = COMPILERS.iter().map(OsString::from);
    chosen.into_iter().chain(known).find(|compiler| runs(compiler)).ok_or_else(|| {
        Problems::one(
            "there is no compiler of C++, which libFuzzer is built with: `./setup --night`, or \
             name one in CXX",
        )
    })
}

fn runs(compiler: &OsStr) -> bool {
    let mut command = Command::new(compiler);
    command.arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}
