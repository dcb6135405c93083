//! What a program of this machine needs to run elsewhere: its interpreter and the
//! shared libraries it is linked with, and theirs. Files are read, never run, so
//! this is safe for programs of any origin; what a program opens only when it runs
//! (dlopen, plug-ins) cannot be known.

use artefacts::files_below;
use artefacts::guest_path;
use artefacts::programs::Programs;
use artefacts::{Error, Result};
use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::{self, Read};
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
    /// Where the guest will look for it.
    pub guest: PathBuf,
    /// What is to be there.
    pub content: Content,
}

/// What is at a path of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A copy of this file of the machine.
    File(PathBuf),
    /// A copy of all that lies below this directory of the machine.
    Directory(PathBuf),
    /// A link to this path of the guest.
    Link(PathBuf),
}

/// A program with everything it is linked with, the program first; a link to a program stays
/// one, because programs look for what is theirs beside themselves. Programs named by scripts
/// as `/usr/bin/env NAME` are looked for on the search path. A directory comes as a whole, with
/// the libraries that programs in it are linked with.
///
/// # Errors
/// When a file cannot be read, is for another processor, or a library is nowhere.
pub fn with_libraries(path: &Path, search_path: &str) -> Result<Vec<NeededFile>> {
    let system = SystemLibraries::of(Path::new("/"));
    let programs = Programs::new(search_path);
    if path.is_dir() { system.directory(path, &programs) } else { system.closure(path, &programs) }
}

/// What becomes of libraries that are nowhere, and of files for another processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lack {
    /// The program could not run.
    Refused,
    /// It cannot run here either; or a plug-in counts on what its program has loaded, as the
    /// libraries of a Java machine do.
    PassedOver,
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
        self.closure_where(program, programs, Lack::Refused)
    }

    /// The same for one file of many, as far as what it needs is here.
    pub(crate) fn closure_of_one(
        &self,
        file: &Path,
        programs: &Programs,
    ) -> Result<Vec<NeededFile>> {
        self.closure_where(file, programs, Lack::PassedOver)
    }

    fn closure_where(
        &self,
        program: &Path,
        programs: &Programs,
        lack: Lack,
    ) -> Result<Vec<NeededFile>> {
        let mut found = Vec::new();
        let mut placed: BTreeSet<PathBuf> = BTreeSet::new();
        let mut work = VecDeque::new();
        let begin = |named: PathBuf, depth, found: &mut Vec<NeededFile>| {
            let real = self.behind_links(&named);
            if real != named {
                found.push(NeededFile { guest: named, content: Content::Link(real.clone()) });
            }
            (real.clone(), real, depth)
        };
        work.push_back(begin(program.to_owned(), 0, &mut found));
        while let Some((guest, file, depth)) = work.pop_front() {
            if !placed.insert(guest.clone()) {
                continue;
            }
            if placed.len() > MOST_FILES || depth > DEEPEST_SCRIPT {
                return Err(Error::environment(
                    format!("cannot collect what {} needs", program.display()),
                    "it needs more files than any program does",
                ));
            }
            let host = self.on_host(&file);
            let bytes = read_program(&host).map_err(|error| Error::file("read", &host, error))?;
            found.push(NeededFile { guest, content: Content::File(host) });
            if bytes.starts_with(b"#!") {
                for interpreter in self.interpreter(&bytes, &file, programs)? {
                    work.push_back(begin(interpreter, depth + 1, &mut found));
                }
                continue;
            }
            if !bytes.starts_with(b"\x7fELF") {
                continue;
            }
            let linkage = match (linkage(&bytes), lack) {
                (Ok(linkage), _) => linkage,
                (Err(_), Lack::PassedOver) => continue,
                (Err(cause), Lack::Refused) => {
                    return Err(Error::unsupported(
                        format!("cannot collect what {} needs", file.display()),
                        cause,
                        "guests are x86-64 machines",
                    ));
                }
            };
            for (guest, file) in self.needs(&file, &linkage, lack)? {
                work.push_back((guest, file, depth));
            }
        }
        Ok(found)
    }

    /// A directory, and the libraries that what is in it needs from elsewhere.
    fn directory(&self, directory: &Path, programs: &Programs) -> Result<Vec<NeededFile>> {
        let whole = Content::Directory(self.on_host(directory));
        let mut found = vec![NeededFile { guest: directory.to_owned(), content: whole }];
        let mut placed = BTreeSet::new();
        for inside in files_below(&self.on_host(directory))? {
            let file = directory.join(inside);
            if !begins_as_elf(&self.on_host(&file)) {
                continue;
            }
            let needed = self.closure_of_one(&file, programs)?;
            let outside = needed.into_iter().filter(|needed| !needed.guest.starts_with(directory));
            found.extend(outside.filter(|needed| placed.insert(needed.guest.clone())));
        }
        Ok(found)
    }

    /// Interpreter and libraries of one ELF file: guest path and path here.
    fn needs(&self, file: &Path, linkage: &Linkage, lack: Lack) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut all = Vec::new();
        if let Some(interpreter) = &linkage.interpreter {
            let path = PathBuf::from(interpreter);
            if lack == Lack::Refused || self.on_host(&path).is_file() {
                all.push((path.clone(), path));
            }
        }
        for name in &linkage.needed {
            let place = self.place_of(name, file, &linkage.search);
            match place.filter(|(_, file)| self.on_host(file).is_file()) {
                Some(place) => all.push(place),
                None if lack == Lack::PassedOver => {}
                None => {
                    return Err(Error::unsupported(
                        format!("cannot collect what {} needs", file.display()),
                        format!("the library {name} is nowhere on this machine"),
                        "install the package it is in",
                    ));
                }
            }
        }
        Ok(all)
    }

    /// Where a program really is, if a link leads there; as it was named where only the
    /// directories of a merged /usr do, which a guest has too.
    fn behind_links(&self, named: &Path) -> PathBuf {
        match self.real(named) {
            Some(real) if guest_path(&real) != guest_path(named) => real,
            _ => named.to_owned(),
        }
    }

    /// A path without links, as it is below the root.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let real = fs::canonicalize(self.on_host(path)).ok()?;
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }

    fn place_of(&self, name: &str, file: &Path, search: &[String]) -> Option<(PathBuf, PathBuf)> {
        if name.contains('/') {
            let path = PathBuf::from(name);
            return Some((path.clone(), path));
        }
        let exists = |path: &PathBuf| self.on_host(path).is_file();
        // $ORIGIN is where the file really is, not where a link to it is.
        let real = self.real(file);
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

/// The content of a program, library or script; nothing of other files, which may be large.
fn read_program(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(4).read_to_end(&mut bytes)?;
    if bytes == b"\x7fELF" || bytes.starts_with(b"#!") {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether a file is a program or a library; one that cannot be read is none.
pub(crate) fn begins_as_elf(path: &Path) -> bool {
    let mut magic = [0_u8; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
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
    use std::os::unix::fs::symlink;

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
        let is_here = |file: &NeededFile| match &file.content {
            Content::File(host) => host.is_file(),
            Content::Directory(_) => false,
            Content::Link(target) => guests.contains(&target.display().to_string()),
        };
        assert!(files.iter().all(is_here), "{files:?}");
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
    fn a_link_to_a_program_stays_one() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for directory in ["etc/alternatives", "usr/bin", "opt/java/bin"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        symlink("usr/bin", at("bin")).unwrap();
        fs::write(at("opt/java/bin/java"), "#!/bin/sh\n").unwrap();
        fs::write(at("usr/bin/dash"), "no ELF").unwrap();
        symlink("dash", at("usr/bin/sh")).unwrap();
        symlink("../../opt/java/bin/java", at("etc/alternatives/java")).unwrap();
        symlink("../../etc/alternatives/java", at("usr/bin/java")).unwrap();
        let system = SystemLibraries::of(root.path());
        let collect = |path: &str| {
            let files = system.closure(Path::new(path), &Programs::new("")).unwrap();
            let one = |file: NeededFile| match file.content {
                Content::File(_) => file.guest.display().to_string(),
                Content::Directory(_) => unreachable!(),
                Content::Link(to) => format!("{} -> {}", file.guest.display(), to.display()),
            };
            files.into_iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(
            collect("/bin/java"),
            [
                "/bin/java -> /opt/java/bin/java",
                "/opt/java/bin/java",
                "/bin/sh -> /usr/bin/dash",
                "/usr/bin/dash"
            ]
        );
        // A guest merges these directories too.
        assert_eq!(collect("/bin/dash"), ["/bin/dash"]);
    }

    #[test]
    fn a_directory_comes_whole_with_what_its_programs_need_from_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("bin")).unwrap();
        fs::copy("/bin/ls", directory.path().join("bin/tool")).unwrap();
        fs::write(directory.path().join("data.jar"), "PK").unwrap();
        // Of another processor, or damaged: it is data then.
        fs::write(directory.path().join("foreign.so"), "\x7fELF").unwrap();
        let files = with_libraries(directory.path(), "/usr/bin:/bin").unwrap();
        assert_eq!(files[0].guest, directory.path());
        assert_eq!(files[0].content, Content::Directory(directory.path().join("")));
        let guests = guests(&files);
        assert!(guests.iter().any(|path| path.ends_with("libc.so.6")), "{guests:?}");
        assert!(!guests[1..].iter().any(|path| path.contains("tool")), "{guests:?}");
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
