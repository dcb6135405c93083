//! Debian's archive, through apt with a state of its own: the system's package
//! state is never changed, and apt verifies every index with Debian's keyring.

use crate::offer::{Indexed, Offer, assemble, indexed, is_of_a_kernel};
use crate::sources::{Mirror, mirrors_of_machine};
use artefacts::lock::CacheLock;
use artefacts::programs::{Programs, command, output_of};
use artefacts::{Error, ErrorKind, Result, read_entry, replace, sweep_drafts};
use model::CACHE_DOCUMENT_BYTES;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Suites that hold kernels worth comparing, oldest first. A mirror need not have all.
const SUITES: &[&str] = &["bullseye", "bookworm", "trixie", "trixie-backports", "sid"];
const SECURITY_SUITES: &[&str] = &["bullseye-security", "bookworm-security", "trixie-security"];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// An index older than this is fetched again: Debian publishes four times a day.
const FRESH_S: u64 = 24 * 3600;
/// What the indexes take while they are fetched (81 MB afterwards, measured).
const INDEX_BYTES: u64 = 120_000_000;
pub(crate) const ROOM: &str =
    "make room, remove a kernel (schedlab kernels remove), or choose another cache";
const FORMAT: &str = "schedlab.kernel-index/1";
const INDEX: &str = "kernels.json";
/// apt holds its own state of packages against this, and it is empty.
const STATUS: &str = "status";
const SOURCES: &str = "sources.d/debian.sources";
const CONFIGURATION: &str = "apt.conf";
/// What is written anew here; the rest is apt's.
const WRITTEN: [&str; 4] = [STATUS, SOURCES, CONFIGURATION, INDEX];
const NO_APT: &str = "give a kernel of your own: path:IMAGE,modules=DIR (the DIR that holds kernel/ and modules.builtin)";

/// The archive as this machine's apt sees it.
#[derive(Debug)]
pub(crate) struct Archive {
    directory: PathBuf,
    etc_apt: PathBuf,
    programs: Programs,
}

/// The kernels of all suites, as last fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Index {
    format: String,
    /// When it was fetched, seconds since 1970.
    formed_s: u64,
    /// What a person should know: suites the mirror lacks, errors.
    pub(crate) notes: Vec<String>,
    packages: Vec<Indexed>,
}

impl Index {
    pub(crate) fn offers(&self) -> Vec<Offer> {
        assemble(&self.packages)
    }
}

impl Archive {
    pub(crate) fn new(cache: &Path, programs: Programs) -> Self {
        Self { directory: cache.join("archive"), etc_apt: PathBuf::from("/etc/apt"), programs }
    }

    /// The index, fetched anew where there is none, where it is older than a day, or
    /// where that is asked for. An old one serves where no new one can be had.
    pub(crate) fn index(&self, is_refreshed: bool) -> Result<Index> {
        let stored = self.stored();
        if let Some(index) = &stored
            && !is_refreshed
            && now_s().saturating_sub(index.formed_s) < FRESH_S
        {
            return Ok(index.clone());
        }
        match (self.refresh(), stored) {
            (Err(error), Some(mut old)) if !is_refreshed => {
                let days = now_s().saturating_sub(old.formed_s) / 86_400;
                old.notes.push(format!(
                    "the index is {days} days old: {}: {}",
                    error.attempted, error.cause
                ));
                Ok(old)
            }
            (outcome, _) => outcome,
        }
    }

    fn stored(&self) -> Option<Index> {
        let text = read_entry(&self.index_path(), CACHE_DOCUMENT_BYTES.most).ok()?;
        let index: Index = serde_json::from_slice(&text).ok()?;
        (index.format == FORMAT).then_some(index)
    }

    fn index_path(&self) -> PathBuf {
        self.directory.join(INDEX)
    }

    /// Removes what killed processes left of the files that are written here; the cache is locked.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub(crate) fn sweep(&self, lock: &CacheLock) -> Result<()> {
        WRITTEN.iter().try_for_each(|name| sweep_drafts(&self.directory.join(name), lock))
    }

    /// Downloads exactly these packages into a directory.
    pub(crate) fn download(&self, wanted: &[String], into: &Path) -> Result<Command> {
        let apt = self.apt_get("cannot download packages")?;
        let mut download = command(&apt);
        download.arg("-c").arg(self.directory.join(CONFIGURATION)).arg("download").args(wanted);
        download.current_dir(into).stdout(Stdio::null());
        Ok(download)
    }

    fn apt_get(&self, attempted: &str) -> Result<PathBuf> {
        self.programs.need("apt-get", attempted, NO_APT)
    }

    /// Fetches the indexes and keeps what is about kernels.
    fn refresh(&self) -> Result<Index> {
        const ATTEMPT: &str = "cannot fetch the index of Debian's archive";
        let apt = self.apt_get(ATTEMPT)?;
        let mirrors = mirrors_of_machine(&self.etc_apt);
        let mut notes = Vec::new();
        self.check_space(ATTEMPT)?;
        self.configure(&mirrors)?;
        let output = command(&apt)
            .arg("-c")
            .arg(self.directory.join(CONFIGURATION))
            .args(["-q", "update"])
            .output()
            .map_err(|error| {
                Error::environment(ATTEMPT, format!("cannot run {}: {error}", apt.display()))
            })?;
        let told = String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<&str> = told
            .lines()
            .filter(|line| line.starts_with("E: ") || line.starts_with("W: "))
            .collect();
        let listed = self.listed(&apt)?;
        let failure = complaints.iter().find(|line| !is_absence(line));
        let is_full = told.contains("No space left on device");
        if listed.is_empty() || is_full || (failure.is_some() && self.stored().is_some()) {
            let cause =
                failure.or(complaints.first()).map_or("apt names no index", |line| &line[3..]);
            let remedy = if is_full {
                ROOM.to_owned()
            } else {
                format!("the mirror of this machine must serve Debian and be reachable; {NO_APT}")
            };
            return Err(Error::new(ErrorKind::Environment, ATTEMPT, cause, remedy));
        }
        let mut is_whole = failure.is_none();
        for suite in SUITES.iter().chain(SECURITY_SUITES) {
            if !listed.iter().any(|(found, _)| found == suite) {
                let (note, is_absent) = without(suite, &mirrors, &complaints);
                notes.push(note);
                is_whole &= is_absent;
            }
        }
        let mut packages = Vec::new();
        for (suite, file) in &listed {
            packages.extend(indexed(&self.kernels_in(file)?, suite));
        }
        // One that lacks something for a passing reason serves, and is soon asked for again.
        let formed_s = if is_whole { now_s() } else { 0 };
        let index = Index { format: FORMAT.to_owned(), formed_s, notes, packages };
        self.store(&index)?;
        Ok(index)
    }

    /// apt takes a full disk for a mirror that lacks suites.
    fn check_space(&self, attempted: &str) -> Result<()> {
        check_space_of(&self.directory, INDEX_BYTES, attempted)
    }

    fn store(&self, index: &Index) -> Result<()> {
        let path = self.index_path();
        let fail = |error: std::io::Error| Error::file("write", &path, error);
        let text = serde_json::to_vec(index).map_err(|error| fail(error.into()))?;
        replace(&path, &text).map_err(fail)
    }

    /// The index files that apt has, with their suites.
    fn listed(&self, apt: &Path) -> Result<Vec<(String, PathBuf)>> {
        let output = output_of(
            command(apt).arg("-c").arg(self.directory.join(CONFIGURATION)).args([
                "indextargets",
                "--format",
                "$(RELEASE) $(FILENAME)",
                "Created-By: Packages",
            ]),
            "cannot list the indexes of Debian's archive",
        )?;
        let text = String::from_utf8_lossy(&output);
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs
            .map(|(suite, file)| (suite.to_owned(), PathBuf::from(file)))
            .filter(|(_, file)| file.exists())
            .collect())
    }

    /// The stanzas of kernels in an index file, whatever it is compressed with.
    fn kernels_in(&self, file: &Path) -> Result<String> {
        let fail = |cause: String| Error::file("read the index", file, cause);
        let helper = Path::new("/usr/lib/apt/apt-helper");
        let mut child = command(helper)
            .arg("cat-file")
            .arg(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| fail(format!("cannot run {}: {error}", helper.display())))?;
        let mut kept = Vec::new();
        if let Some(output) = child.stdout.take() {
            keep_kernels(&mut BufReader::with_capacity(1 << 16, output), &mut kept)
                .map_err(|error| fail(error.to_string()))?;
        }
        let status = child.wait().map_err(|error| fail(error.to_string()))?;
        if !status.success() {
            return Err(fail(format!("{} ended with {status}", helper.display())));
        }
        Ok(String::from_utf8_lossy(&kept).into_owned())
    }

    /// Writes the private configuration and sources.
    fn configure(&self, mirrors: &[Mirror]) -> Result<()> {
        let directory = self.directory.display().to_string();
        if directory.contains(['"', '\n', ';']) {
            return Err(Error::usage(
                "cannot use the cache directory",
                format!("apt cannot be told the path {directory}"),
                "choose one without quotes, semicolons and line feeds",
            ));
        }
        let sources = sources(mirrors)?;
        for part in ["lists/partial", "cache/archives/partial", "state", "sources.d", "empty.d"] {
            let path = self.directory.join(part);
            fs::create_dir_all(&path).map_err(|error| Error::file("make", &path, error))?;
        }
        for (name, text) in [
            (STATUS, String::new()),
            (SOURCES, sources),
            (CONFIGURATION, configuration(&directory)),
        ] {
            let path = self.directory.join(name);
            replace(&path, text.as_bytes()).map_err(|error| Error::file("write", &path, error))?;
        }
        Ok(())
    }
}

/// Copies the stanzas of kernels; an index has no line feeds inside a name.
fn keep_kernels(index: &mut dyn BufRead, kept: &mut Vec<u8>) -> std::io::Result<()> {
    let mut line = Vec::new();
    let mut is_kept = false;
    loop {
        line.clear();
        if index.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.starts_with(b"Package:") {
            is_kept = is_of_a_kernel(&line);
        }
        if is_kept {
            kept.extend_from_slice(&line);
        }
    }
}

fn sources(mirrors: &[Mirror]) -> Result<String> {
    let main = mirrors.iter().find(|mirror| !mirror.is_security());
    let Some(main) = main else {
        return Err(Error::unsupported(
            "cannot find Debian's archive",
            "the apt sources of this machine name no mirror of Debian",
            NO_APT,
        ));
    };
    let mut text = stanza(main, SUITES)?;
    // Without one, each of its suites is told to be missing.
    if let Some(security) = mirrors.iter().find(|mirror| mirror.is_security()) {
        text.push_str(&stanza(security, SECURITY_SUITES)?);
    }
    Ok(text)
}

fn stanza(mirror: &Mirror, suites: &[&str]) -> Result<String> {
    // The distribution's keyring verifies every release; one that an entry names
    // may verify only its own.
    let keyring = [Some(PathBuf::from(KEYRING)), mirror.keyring.clone()]
        .into_iter()
        .flatten()
        .find(|path| path.exists());
    let Some(keyring) = keyring else {
        return Err(Error::unsupported(
            "cannot verify Debian's archive",
            format!("there is no keyring {KEYRING}"),
            "apt-get install debian-archive-keyring",
        ));
    };
    Ok(format!(
        "Types: deb\nURIs: {}\nSuites: {}\nComponents: main\nArchitectures: amd64\nSigned-By: {}\n\n",
        mirror.uri,
        suites.join(" "),
        keyring.display()
    ))
}

/// Whether apt says that an archive is not there, or cannot be trusted, rather than
/// that something failed on the way.
fn is_absence(complaint: &str) -> bool {
    [
        "does not have a Release file",
        "no longer has a Release file",
        "is not signed",
        "signatures",
        "NO_PUBKEY",
        "expired",
    ]
    .iter()
    .any(|words| complaint.contains(words))
}

/// Why a suite is left out, and whether that will stay so.
fn without(suite: &str, mirrors: &[Mirror], complaints: &[&str]) -> (String, bool) {
    let is_security = suite.ends_with("-security");
    let Some(mirror) = mirrors.iter().find(|mirror| mirror.is_security() == is_security) else {
        return (format!("without {suite}: the apt sources name no mirror of it"), true);
    };
    let names_it = |line: &&&str| line.split([' ', '/', '\'']).any(|word| word == suite);
    let about = complaints.iter().find(names_it);
    let why = about.map_or("apt does not say why", |line| &line[3..]);
    let is_absent = about.is_some_and(|line| is_absence(line));
    (format!("without {suite} of {}: {why}", mirror.uri), is_absent)
}

/// What the system's configuration says of the network stays; everything that
/// could change the system, or that is not needed, is switched off.
fn configuration(directory: &str) -> String {
    let sandbox =
        if rustix::process::geteuid().is_root() { "APT::Sandbox::User \"root\";\n" } else { "" };
    format!(
        "#clear APT::Update;\n#clear DPkg::Post-Invoke;\n#clear DPkg::Pre-Invoke;\n\
         #clear APT::Default-Release;\n#clear APT::Architectures;\n#clear Acquire::IndexTargets;\n\
         #clear Acquire::Languages;\n\
         APT::Architecture \"amd64\";\nAPT::Architectures {{ \"amd64\"; }};\n{sandbox}\
         Acquire::Languages {{ \"none\"; }};\nAcquire::GzipIndexes \"true\";\nAcquire::Retries \"3\";\n\
         Acquire::IndexTargets::deb::Packages {{\n\
         MetaKey \"$(COMPONENT)/binary-$(ARCHITECTURE)/Packages\";\nflatMetaKey \"Packages\";\n\
         ShortDescription \"Packages\";\n\
         Description \"$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Packages\";\nOptional \"false\";\n}};\n\
         Dir::Etc::SourceList \"/dev/null\";\nDir::Etc::SourceParts \"{directory}/sources.d\";\n\
         Dir::Etc::Preferences \"/dev/null\";\nDir::Etc::PreferencesParts \"{directory}/empty.d\";\n\
         Dir::State \"{directory}/state\";\nDir::State::Lists \"{directory}/lists\";\n\
         Dir::State::status \"{directory}/status\";\nDir::Cache \"{directory}/cache\";\n\
         Dir::Cache::Archives \"{directory}/cache/archives\";\n\
         Dir::Cache::pkgcache \"\";\nDir::Cache::srcpkgcache \"\";\n"
    )
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn check_space_of(directory: &Path, needed: u64, attempted: &str) -> Result<()> {
    fs::create_dir_all(directory).map_err(|error| Error::file("make", directory, error))?;
    let Ok(space) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let (needed, free) = (needed / 1_000_000, free / 1_000_000);
    let place = directory.display();
    Err(Error::new(
        ErrorKind::Environment,
        attempted,
        format!("it takes {needed} MB, and {place} has {free} MB free"),
        ROOM,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_does_not_fit_is_refused_with_both_sizes() {
        let home = tempfile::tempdir().unwrap();
        check_space_of(home.path(), 1, "cannot ask").unwrap();
        let error = check_space_of(home.path(), u64::MAX, "cannot ask").unwrap_err();
        assert_eq!((error.kind, &*error.remedy), (ErrorKind::Environment, ROOM));
        assert!(error.cause.starts_with("it takes 18446744073709 MB, and "), "{error}");
    }

    #[test]
    fn no_file_of_the_archive_is_written_through_a_link() {
        let home = tempfile::tempdir().unwrap();
        let other = home.path().join("other");
        fs::write(&other, "as it was").unwrap();
        let archive = Archive::new(&home.path().join("cache"), Programs::new(""));
        fs::create_dir_all(archive.directory.join("sources.d")).unwrap();
        for name in WRITTEN {
            std::os::unix::fs::symlink(&other, archive.directory.join(name)).unwrap();
        }
        let mirror = Mirror {
            uri: "http://mirror/debian".to_owned(),
            suite: "bookworm".to_owned(),
            keyring: Some(other.clone()),
        };
        archive.configure(&[mirror]).unwrap();
        let index = Index {
            format: FORMAT.to_owned(),
            formed_s: 0,
            notes: Vec::new(),
            packages: Vec::new(),
        };
        archive.store(&index).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
        assert!(WRITTEN.iter().all(|name| !archive.directory.join(name).is_symlink()));
    }

    #[test]
    fn only_stanzas_of_kernels_are_kept() {
        let index = "Package: bash\nSize: 1\n\nPackage: linux-image-6.1.0-56-cloud-amd64\nSize: 2\n\n\
            Package: linux-image-6.1.0-56-amd64\nSize: 3\n";
        let mut kept = Vec::new();
        keep_kernels(&mut index.as_bytes(), &mut kept).unwrap();
        assert_eq!(
            String::from_utf8(kept).unwrap(),
            "Package: linux-image-6.1.0-56-cloud-amd64\nSize: 2\n\n"
        );
    }

    #[test]
    fn sources_never_ask_for_trust_and_a_machine_without_debian_is_told_so() {
        let error = sources(&[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.remedy.contains("path:IMAGE"));
        assert!(!configuration("/x").to_lowercase().contains("trusted"));
    }

    #[test]
    fn a_suite_that_the_mirror_lacks_is_told_with_apts_reason() {
        let mirror = Mirror {
            uri: "http://mirror/debian".to_owned(),
            suite: "bookworm".to_owned(),
            keyring: None,
        };
        let complaint = "E: The repository 'http://mirror/debian bullseye Release' does not have a Release file.";
        let mirrors = [mirror];
        let (note, is_absent) = without("bullseye", &mirrors, &[complaint]);
        assert!(note.contains("does not have a Release file") && is_absent, "{note}");
        let failure =
            "E: Failed to fetch http://mirror/debian/dists/sid/InRelease  Hash Sum mismatch";
        let (note, is_absent) = without("sid", &mirrors, &[complaint, failure]);
        assert!(note.contains("Hash Sum mismatch") && !is_absent, "{note}");
    }
}
