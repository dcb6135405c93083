//! What a program of this machine needs to run elsewhere: its interpreter and the
//! shared libraries it is linked with, and theirs. Files are read, never run, so
//! this is safe for programs of any origin; what a program opens only when it runs
//! (dlopen, plug-ins) cannot be known.

use crate::programs::Programs;
use crate::{Error, Result};
use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Where ld.so looks when it has no cache (Debian's and Fedora's defaults).
const DEFAULT_DIRECTORIES: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
/// A script's interpreter may be a script; the kernel goes four deep (fs/exec.c).
const DEEPEST_SCRIPT: usize = 4;
/// Files one program may bring along; the largest programs have some hundred.
const MOST_FILES: usize = 4096;

/// A file that belongs to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededFile {
    /// Where the guest's loader will look for it.
    pub guest: PathBuf,
    /// Where it is here.
    pub host: PathBuf,
}

/// A program with everything it is linked with, the program first. Programs named by
/// scripts as `/usr/bin/env NAME` are looked for on the search path.
///
/// # Errors
/// When a file cannot be read, is for another processor, or a library is nowhere.
pub fn with_libraries(program: &Path, search_path: &str) -> Result<Vec<NeededFile>> {
    let system = SystemLibraries::of(Path::new("/"));
    system.closure(program, &Programs::new(search_path))
}

/// What an ELF file says that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    /// The program that loads it, of a program.
    pub interpreter: Option<String>,
    /// Names of libraries.
    pub needed: Vec<String>,
    /// Directories in which it wants them to be looked for.
    pub search: Vec<String>,
}

/// Reads what an ELF file needs.
///
/// # Errors
/// When it is no ELF file for x86-64, or a damaged one.
pub fn linkage(bytes: &[u8]) -> Result<Linkage, String> {
    let damaged = |error: object::Error| format!("it is no ELF file for x86-64: {error}");
    let header = FileHeader64::<Endianness>::parse(bytes).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    if header.e_machine.get(endian) != elf::EM_X86_64 {
        return Err("it is not for x86-64".to_owned());
    }
    let segments = header.program_headers(endian, bytes).map_err(damaged)?;
    let mut linkage = Linkage::default();
    let mut dynamic = None;
    for segment in segments {
        if let Some(name) = segment.interpreter(endian, bytes).map_err(damaged)? {
            linkage.interpreter = Some(text(name)?);
        }
        dynamic = segment.dynamic(endian, bytes).map_err(damaged)?.or(dynamic);
    }
    let Some(dynamic) = dynamic else { return Ok(linkage) };
    let value = |tag| {
        let entry = dynamic.iter().find(|entry| entry.tag(endian) == tag);
        entry.map(|entry| entry.val(endian))
    };
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return Ok(linkage);
    };
    let strings = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
        .find_map(|segment| segment.data_range(endian, bytes, address, size).ok().flatten())
        .ok_or("its table of names lies outside of it")?;
    for entry in dynamic {
        let name = || {
            let start = usize::try_from(entry.val(endian)).ok();
            let rest = start.and_then(|start| strings.get(start..));
            let end = rest.and_then(|rest| rest.iter().position(|byte| *byte == 0));
            match (rest, end) {
                (Some(rest), Some(end)) => text(&rest[..end]),
                _ => Err("a name lies outside of its table".to_owned()),
            }
        };
        match entry.tag(endian) {
            tag if tag == elf::DT_NEEDED => linkage.needed.push(name()?),
            tag if tag == elf::DT_RUNPATH || tag == elf::DT_RPATH => {
                linkage.search.extend(name()?.split(':').map(str::to_owned));
            }
            _ => {}
        }
    }
    Ok(linkage)
}

fn text(bytes: &[u8]) -> Result<String, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && !text.contains('\n') => Ok(text.to_owned()),
        _ => Err("it holds a name that is no text".to_owned()),
    }
}

/// Where this machine keeps libraries.
#[derive(Debug)]
pub(crate) struct SystemLibraries {
    root: PathBuf,
    directories: Vec<PathBuf>,
}

impl SystemLibraries {
    pub(crate) fn of(root: &Path) -> Self {
        let mut directories: Vec<PathBuf> = DEFAULT_DIRECTORIES.iter().map(PathBuf::from).collect();
        configured(root, &root.join("etc/ld.so.conf"), 0, &mut directories);
        Self { root: root.to_owned(), directories }
    }

    fn on_host(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A program and what it needs, the program first, each guest path once.
    pub(crate) fn closure(&self, program: &Path, programs: &Programs) -> Result<Vec<NeededFile>> {
        let mut found = Vec::new();
        let mut placed: BTreeMap<PathBuf, ()> = BTreeMap::new();
        let mut work = VecDeque::from([(program.to_owned(), program.to_owned(), 0)]);
        while let Some((guest, file, depth)) = work.pop_front() {
            if placed.insert(guest.clone(), ()).is_some() {
                continue;
            }
            if placed.len() > MOST_FILES || depth > DEEPEST_SCRIPT {
                return Err(Error::environment(
                    format!("cannot collect what {} needs", program.display()),
                    "it needs more files than any program does",
                ));
            }
            let host = self.on_host(&file);
            let bytes = fs::read(&host).map_err(|error| Error::file("read", &host, error))?;
            found.push(NeededFile { guest, host });
            if bytes.starts_with(b"#!") {
                for interpreter in self.interpreter(&bytes, &file, programs)? {
                    work.push_back((interpreter.clone(), interpreter, depth + 1));
                }
                continue;
            }
            if !bytes.starts_with(b"\x7fELF") {
                continue;
            }
            let linkage = linkage(&bytes).map_err(|cause| {
                Error::unsupported(
                    format!("cannot collect what {} needs", file.display()),
                    cause,
                    "guests are x86-64 machines",
                )
            })?;
            for (guest, file) in self.needs(&file, &linkage)? {
                work.push_back((guest, file, depth));
            }
        }
        Ok(found)
    }

    /// Interpreter and libraries of one ELF file: guest path and path here.
    fn needs(&self, file: &Path, linkage: &Linkage) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut all = Vec::new();
        if let Some(interpreter) = &linkage.interpreter {
            all.push((PathBuf::from(interpreter), PathBuf::from(interpreter)));
        }
        for name in &linkage.needed {
            let place = self.place_of(name, file, &linkage.search).ok_or_else(|| {
                Error::unsupported(
                    format!("cannot collect what {} needs", file.display()),
                    format!("the library {name} is nowhere on this machine"),
                    "install the package it is in",
                )
            })?;
            all.push(place);
        }
        Ok(all)
    }

    fn place_of(&self, name: &str, file: &Path, search: &[String]) -> Option<(PathBuf, PathBuf)> {
        if name.contains('/') {
            let path = PathBuf::from(name);
            return Some((path.clone(), path));
        }
        let exists = |path: &PathBuf| self.on_host(path).is_file();
        // $ORIGIN is where the file really is, not where a link to it is.
        let real = fs::canonicalize(self.on_host(file)).ok();
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let real = real.and_then(|path| Some(Path::new("/").join(path.strip_prefix(root).ok()?)));
        let origin = real.as_deref().unwrap_or(file).parent().unwrap_or(Path::new("/"));
        for directory in search {
            let directory = directory
                .replace("$ORIGIN", &origin.to_string_lossy())
                .replace("${ORIGIN}", &origin.to_string_lossy());
            let path = plain(&Path::new(&directory).join(name));
            if path.is_absolute() && exists(&path) {
                return Some((path.clone(), path));
            }
        }
        let path = self.directories.iter().map(|directory| directory.join(name)).find(exists)?;
        // The guest has no ld.so.cache: only the default directories are searched.
        let directory = path.parent()?;
        let is_default = DEFAULT_DIRECTORIES.iter().any(|known| Path::new(known) == directory);
        let guest = if is_default { path.clone() } else { Path::new("/usr/lib").join(name) };
        Some((guest, path))
    }

    /// The interpreter of a script, and what `env` starts.
    fn interpreter(&self, script: &[u8], file: &Path, programs: &Programs) -> Result<Vec<PathBuf>> {
        let line = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(&line[2..]).into_owned();
        let mut words = line.split_whitespace();
        let Some(interpreter) = words.next().filter(|path| path.starts_with('/')) else {
            return Err(Error::unsupported(
                format!("cannot collect what {} needs", file.display()),
                "its first line names no interpreter by its path",
                "",
            ));
        };
        let mut all = vec![PathBuf::from(interpreter)];
        if Path::new(interpreter).file_name().is_some_and(|name| name == "env")
            && let Some(name) = words.find(|word| !word.starts_with('-') && !word.contains('='))
        {
            let attempted = format!("cannot collect what {} needs", file.display());
            all.push(programs.need(name, &attempted, "install it")?);
        }
        Ok(all)
    }
}

/// A path without `..`: RUNPATH often goes up from `$ORIGIN`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Directories of /etc/ld.so.conf and of what it includes.
fn configured(root: &Path, file: &Path, depth: usize, directories: &mut Vec<PathBuf>) {
    let Ok(text) = fs::read_to_string(file) else { return };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if let Some(pattern) = line.strip_prefix("include ") {
            // Distributions include a whole directory: `/etc/ld.so.conf.d/*.conf`.
            let pattern = Path::new(pattern.trim());
            let parent = pattern.parent().unwrap_or(Path::new("/etc/ld.so.conf.d"));
            let parent = root.join(parent.strip_prefix("/").unwrap_or(parent));
            let mut parts: Vec<PathBuf> = fs::read_dir(parent)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "conf"))
                .collect();
            parts.sort();
            for part in parts.iter().filter(|_| depth < 4) {
                configured(root, part, depth + 1, directories);
            }
        } else if line.starts_with('/') && !directories.iter().any(|known| known == Path::new(line))
        {
            directories.push(PathBuf::from(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guests(files: &[NeededFile]) -> Vec<String> {
        files.iter().map(|file| file.guest.display().to_string()).collect()
    }

    #[test]
    fn a_program_of_this_machine_comes_with_its_loader_and_libraries() {
        let files = with_libraries(Path::new("/bin/ls"), "/usr/bin:/bin").unwrap();
        let guests = guests(&files);
        assert_eq!(guests[0], "/bin/ls");
        for wanted in ["ld-linux-x86-64.so.2", "libc.so.6", "libselinux.so.1"] {
            // ls of another distribution may not know SELinux.
            let is_there = guests.iter().any(|path| path.ends_with(wanted));
            assert!(is_there || wanted.starts_with("libselinux"), "{wanted} in {guests:?}");
        }
        assert!(files.iter().all(|file| file.host.is_file()));
    }

    #[test]
    fn a_script_comes_with_its_interpreter_and_what_env_starts() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        fs::write(&script, "#!/usr/bin/env -S sh -e\ntrue\n").unwrap();
        let guests = guests(&with_libraries(&script, "/bin").unwrap());
        assert!(guests.contains(&"/usr/bin/env".to_owned()), "{guests:?}");
        assert!(guests.contains(&"/bin/sh".to_owned()), "{guests:?}");
        fs::write(&script, "#!/usr/bin/env no-such-program\n").unwrap();
        assert!(with_libraries(&script, "/bin").unwrap_err().cause.contains("no-such-program"));
    }

    #[test]
    fn configured_directories_are_followed_and_land_where_the_guest_looks() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("etc/ld.so.conf", "# x\ninclude /etc/ld.so.conf.d/*.conf\n");
        write("etc/ld.so.conf.d/own.conf", "/opt/own/lib\n");
        write("opt/own/lib/libown.so.1", "");
        write("opt/app/lib/libapp.so", "");
        write("opt/app/bin/app", "");
        let system = SystemLibraries::of(root.path());
        let place = |name: &str, search: &[&str]| {
            let search: Vec<String> = search.iter().map(|text| (*text).to_owned()).collect();
            system.place_of(name, Path::new("/opt/app/bin/app"), &search)
        };
        assert_eq!(
            place("libown.so.1", &[]),
            Some((
                PathBuf::from("/usr/lib/libown.so.1"),
                PathBuf::from("/opt/own/lib/libown.so.1")
            ))
        );
        let app = PathBuf::from("/opt/app/lib/libapp.so");
        assert_eq!(place("libapp.so", &["$ORIGIN/../lib"]), Some((app.clone(), app)));
        assert_eq!(place("libapp.so", &[]), None);
    }

    #[test]
    fn rubbish_is_refused() {
        assert!(linkage(b"").is_err());
        assert!(linkage(b"\x7fELF").is_err());
        assert!(with_libraries(Path::new("/no/such/program"), "").is_err());
    }
}
