//! Compiles our schedulers with clang, one object for each `src/own/NAME.bpf.c`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Debian's, newest first; `BPF_CLANG` goes before.
const COMPILERS: &[&str] = &["clang-19", "clang-16", "clang"];

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=src/own");
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return ExitCode::SUCCESS;
    }
    match compile_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error=cannot compile the schedulers: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn compile_all() -> Result<(), String> {
    let variable = |name: &str| env::var_os(name).ok_or(format!("cargo does not set {name}"));
    let sources = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("src/own");
    let objects = PathBuf::from(variable("OUT_DIR")?);
    // The headers of the libbpf that is linked: Debian's own are older than what we use.
    let headers = variable("DEP_BPF_INCLUDE")?;
    let compiler = compiler()?;
    let entries = std::fs::read_dir(&sources).map_err(|error| error.to_string())?;
    for entry in entries {
        let source = entry.map_err(|error| error.to_string())?.path();
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".bpf.c") {
            let object = objects.join(format!("{stem}.bpf.o"));
            compile(&compiler, &headers, &source, &object)?;
            strip(&object);
        }
    }
    Ok(())
}

fn compiler() -> Result<OsString, String> {
    let chosen = env::var_os("BPF_CLANG");
    let candidates = chosen.clone().into_iter().chain(COMPILERS.iter().map(OsString::from));
    for candidate in candidates {
        let answer = Command::new(&candidate).arg("--version").output();
        if answer.is_ok_and(|answer| answer.status.success()) {
            return Ok(candidate);
        }
        if chosen.is_some() {
            return Err(format!("BPF_CLANG is {}, which does not run", candidate.display()));
        }
    }
    Err("there is no clang: apt-get install clang-19, or build without our schedulers \
         (--no-default-features)"
        .to_owned())
}

fn compile(
    compiler: &OsString,
    headers: &OsString,
    source: &Path,
    object: &Path,
) -> Result<(), String> {
    // The lowest instruction set that has the atomic operations we use is v3; the target
    // macro is for libbpf's headers, which know registers by architecture.
    let status = Command::new(compiler)
        .args(["-g", "-O2", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3"])
        .arg("-D__TARGET_ARCH_x86")
        .arg("-I")
        .arg(headers)
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{} does not compile", source.display())) }
}

/// Takes DWARF out, which nobody reads; BTF stays. An object with it works as well.
fn strip(object: &Path) {
    for program in ["llvm-strip-19", "llvm-strip-16", "llvm-strip"] {
        if Command::new(program).arg("-g").arg(object).status().is_ok_and(|status| status.success())
        {
            return;
        }
    }
}
