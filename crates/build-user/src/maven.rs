//! Maven from a repository that holds nothing but what a lock file names.
//!
//! Maven of Debian 12 (3.8) compares what it fetches with nothing but a SHA-1 from the same server;
//! digests of one's own it takes from 3.9 on. So it builds offline, from a repository of the tree's
//! own. What is missing there is fetched into another one, by the build user, and taken over where
//! the lock file has its digest; anything else is refused by its name.
//!
//! To fetch, Maven runs plugins that it has just fetched: as the build user, and never as what is
//! then built with.

use crate::product::{open_below, take_file};
use crate::tree_build::{TreeBuild, TreeCommand};
use artefacts::{Error, ErrorKind, Result, digest, files_below, remove_tree};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Lines as of sha256sum(1): the digest and the path below the repository.
const LOCK: &str = "maven.lock";
/// Below the tree: what is built from.
const REPOSITORY: &str = "target/repository";
/// What was fetched and not yet compared.
const INCOMING: &str = "target/incoming";
/// How Maven is told of a repository.
const TOLD: &str = "-Dmaven.repo.local=";
/// Maven's own notes in a repository, and the checksums of servers.
const NOTES: [&str; 6] =
    [".lastUpdated", ".md5", ".properties", ".repositories", ".sha1", "maven-metadata"];
/// Refused artefacts that are named; the rest is counted.
const NAMED: usize = 5;
/// No artefact is larger; the PostgreSQL of the bank's tests, the largest, has 24 MB.
const LARGEST: u64 = 512 << 20;

/// What Maven says where an artefact is in no repository that it may ask.
pub const NOT_FETCHED: &str = "offline mode";

/// A Maven project with a lock file.
#[derive(Debug, Clone)]
pub struct LockedMaven {
    directory: PathBuf,
    /// Digests by path.
    lock: BTreeMap<PathBuf, String>,
}

impl LockedMaven {
    /// The project in a directory; none where it has no lock file.
    ///
    /// # Errors
    /// When the lock file cannot be read.
    pub fn of(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(LOCK);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| Error::file("read", &path, error))?,
        };
        let lock: Result<BTreeMap<PathBuf, String>, String> = text.lines().map(locked).collect();
        let lock = lock.map_err(|line| Error::file("understand", &path, line))?;
        Ok(Some(Self { directory: directory.to_owned(), lock }))
    }

    /// Maven without the network, from what the lock file names.
    ///
    /// # Errors
    /// When the build's directories cannot be made.
    pub fn offline(
        &self,
        maven: &Path,
        arguments: &[String],
        build: TreeBuild<'_>,
    ) -> Result<TreeCommand> {
        let repository = self.repository();
        fs::create_dir_all(&repository).map_err(|error| Error::file("make", &repository, error))?;
        let mut words = vec!["--offline".to_owned()];
        words.extend_from_slice(arguments);
        build.command(maven, &words, Some((TOLD, repository.as_path())))
    }

    /// Maven with the network, into an empty repository; [`LockedMaven::accept`] takes from it.
    ///
    /// # Errors
    /// When the build's directories cannot be made.
    pub fn fetching(
        &self,
        maven: &Path,
        arguments: &[String],
        build: TreeBuild<'_>,
    ) -> Result<TreeCommand> {
        let incoming = self.incoming();
        let fail = |error: io::Error| Error::file("make", &incoming, error);
        match remove_tree(&incoming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
            _ => fs::create_dir_all(&incoming).map_err(fail)?,
        }
        if let Some(user) = build.user {
            user.give(&incoming).map_err(fail)?;
        }
        build.command(maven, arguments, Some((TOLD, incoming.as_path())))
    }

    /// Takes what was fetched and is as the lock file has it, and says how much that was.
    ///
    /// # Errors
    /// When something was fetched that the lock file does not name, or has another digest.
    pub fn accept(&self) -> Result<usize> {
        let incoming = self.incoming();
        let mut refused = Vec::new();
        let mut taken = 0;
        for inside in artefacts_in(&incoming)? {
            match self.lock.get(&inside) {
                Some(wanted) => {
                    if self.take(&incoming, &inside, wanted)? {
                        taken += 1;
                    } else {
                        refused.push(format!("{} has another digest", inside.display()));
                    }
                }
                None => refused.push(format!("{} is not listed", inside.display())),
            }
        }
        remove_tree(&incoming).map_err(|error| Error::file("remove", &incoming, error))?;
        if refused.is_empty() {
            return Ok(taken);
        }
        let named = refused.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
        let more = match refused.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Err(Error::new(
            ErrorKind::Environment,
            format!("cannot build {} with what Maven fetched", self.directory.display()),
            format!("{LOCK} does not allow it: {named}{more}"),
            "where the project's dependencies were changed, write the lock file anew \
             (cargo xtask bank --lock) and read what changed; else a server gave something else",
        ))
    }

    /// Takes what the lock file names, and our repository lacks, from another repository of this
    /// machine, such as the caller's own. What differs there is left. Says how much it was.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn seed(&self, other: &Path) -> Result<usize> {
        let repository = self.repository();
        let mut taken = 0;
        for (inside, wanted) in &self.lock {
            let is_wanted = !repository.join(inside).exists() && other.join(inside).is_file();
            if is_wanted && self.take(other, inside, wanted)? {
                taken += 1;
            }
        }
        Ok(taken)
    }

    /// Removes from our repository what is not as the lock file has it: one that was written
    /// earlier, or was damaged. Says how much it was.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    pub fn sweep(&self) -> Result<usize> {
        let repository = self.repository();
        if !repository.is_dir() {
            return Ok(0);
        }
        let mut removed = 0;
        for inside in artefacts_in(&repository)? {
            let path = repository.join(&inside);
            let wanted = self.lock.get(&inside);
            if wanted
                .is_none_or(|wanted| digest::of_file(&path).map_or(true, |own| own.0 != *wanted))
            {
                fs::remove_file(&path).map_err(|error| Error::file("remove", &path, error))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Writes the lock file of a project anew, from what was fetched. Says how much it names.
    ///
    /// # Errors
    /// When something cannot be read, or the file not written.
    pub fn write_lock(&self) -> Result<usize> {
        let lines = lock_lines(&self.incoming())?;
        let path = self.directory.join(LOCK);
        fs::write(&path, lines.concat()).map_err(|error| Error::file("write", &path, error))?;
        Ok(lines.len())
    }

    /// Compares the lock file with what would be written of our repository, which may lack what was
    /// not needed yet. Says how much it has.
    ///
    /// # Errors
    /// When something cannot be read, or would be written that the lock file has not in its order.
    pub fn compare_lock(&self) -> Result<usize> {
        let lines = lock_lines(&self.repository())?;
        let path = self.directory.join(LOCK);
        let text = fs::read_to_string(&path).map_err(|error| Error::file("read", &path, error))?;
        let mut known = text.split_inclusive('\n');
        match lines.iter().find(|line| !known.any(|one| one == line.as_str())) {
            None => Ok(lines.len()),
            Some(line) => Err(Error::new(
                ErrorKind::Environment,
                format!("cannot find in {} what would be written there", path.display()),
                format!("it has not in its order: {}", line.trim_end()),
                "write it anew (cargo xtask bank --lock) and read what changed",
            )),
        }
    }

    fn repository(&self) -> PathBuf {
        self.directory.join(REPOSITORY)
    }

    fn incoming(&self) -> PathBuf {
        self.directory.join(INCOMING)
    }

    /// Takes one artefact over, where it has this digest.
    fn take(&self, from: &Path, inside: &Path, wanted: &str) -> Result<bool> {
        let to = self.repository().join(inside);
        // Compared is what lies in our repository, where nobody else writes.
        let fresh = to.with_added_extension("new");
        take_file(from, inside, &fresh, 0o644)?;
        if digest::of_file(&fresh)?.0 != wanted {
            fs::remove_file(&fresh).map_err(|error| Error::file("remove", &fresh, error))?;
            return Ok(false);
        }
        fs::rename(&fresh, &to).map_err(|error| Error::file("write", &to, error))?;
        Ok(true)
    }
}

/// A line of a lock file: digest and path, or the line itself where it is none.
fn locked(line: &str) -> Result<(PathBuf, String), String> {
    let parts = line.split_once("  ").filter(|(digest, path)| {
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_inside = Path::new(path)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        is_digest && is_inside && !path.is_empty()
    });
    let (digest, path) = parts.ok_or_else(|| line.to_owned())?;
    Ok((PathBuf::from(path), digest.to_owned()))
}

/// The artefacts of a repository, by their paths in it.
fn artefacts_in(repository: &Path) -> Result<Vec<PathBuf>> {
    let is_artefact = |inside: &PathBuf| {
        let name = inside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !NOTES.iter().any(|note| name.ends_with(note) || name.starts_with(note))
    };
    Ok(files_below(repository)?.into_iter().filter(is_artefact).collect())
}

/// The lines of a lock file that names all artefacts of a repository.
fn lock_lines(repository: &Path) -> Result<Vec<String>> {
    let line = |inside: PathBuf| -> Result<String> {
        let digest = digest::of_bytes(&bytes_of(repository, &inside)?);
        Ok(format!("{digest}  {}\n", inside.display()))
    };
    let mut artefacts = artefacts_in(repository)?;
    // In the order of the letters, as sort(1) has it and the lock file: a path would put `a/b` before
    // `a-b`.
    artefacts.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    artefacts.into_iter().map(line).collect()
}

fn bytes_of(directory: &Path, inside: &Path) -> Result<Vec<u8>> {
    let file = open_below(directory, inside)?;
    let mut bytes = Vec::new();
    file.take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::file("read", &directory.join(inside), error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::tests::user;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A project whose lock file names `a/a.jar` with the bytes `good`.
    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Self {
            let project = Self(tempfile::tempdir().unwrap());
            project.put(LOCK, &format!("{}  a/a.jar\n", digest::of_bytes(b"good")));
            project
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn put(&self, name: &str, text: &str) {
            let path = self.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn maven(&self) -> LockedMaven {
            LockedMaven::of(self.0.path()).unwrap().unwrap()
        }

        fn has(&self) -> bool {
            self.at("target/repository/a/a.jar").exists()
        }
    }

    #[test]
    fn what_was_fetched_is_taken_where_it_is_as_the_lock_file_has_it() {
        let project = Project::new();
        project.put("target/incoming/a/a.jar", "good");
        project.put("target/incoming/a/_remote.repositories", "");
        project.put("target/incoming/a/a.jar.sha1", "");
        assert_eq!(project.maven().accept().unwrap(), 1);
        assert!(project.has() && !project.at("target/incoming").exists());
    }

    #[test]
    fn what_differs_or_is_not_listed_is_refused_by_its_name_and_never_built_with() {
        for (name, told) in [("a/a.jar", "another digest"), ("b/b.pom", "not listed")] {
            let project = Project::new();
            project.put(&format!("target/incoming/{name}"), "evil");
            let error = project.maven().accept().unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(told), "{error}");
            assert!(!project.has());
            assert_eq!(files_below(project.0.path()).unwrap().len(), 1, "only the lock file");
        }
        let project = Project::new();
        project.put("elsewhere", "good");
        fs::create_dir_all(project.at("target/incoming/a")).unwrap();
        let link = project.at("target/incoming/a/a.jar");
        symlink(project.at("elsewhere"), link).unwrap();
        assert!(project.maven().accept().is_err(), "a link is not followed");
        assert!(!project.has());
    }

    #[test]
    fn another_repository_of_this_machine_serves_as_far_as_the_lock_file_goes() {
        let project = Project::new();
        project.put("other/a/a.jar", "evil");
        assert_eq!(project.maven().seed(&project.at("other")).unwrap(), 0);
        project.put("other/a/a.jar", "good");
        project.put("other/b/b.jar", "good");
        assert_eq!(project.maven().seed(&project.at("other")).unwrap(), 1);
        assert!(project.has() && !project.at("target/repository/b").exists());
        // What was damaged since, or is left of an earlier lock file, goes.
        assert_eq!(project.maven().sweep().unwrap(), 0);
        project.put("target/repository/a/a.jar", "evil");
        project.put("target/repository/b/b.jar", "good");
        assert_eq!(project.maven().sweep().unwrap(), 2);
        assert!(!project.has());
    }

    #[test]
    fn a_lock_file_is_written_as_it_is_read_and_a_path_outside_is_no_line_of_one() {
        let project = Project::new();
        project.put("target/incoming/a/a.jar", "good");
        let before = fs::read_to_string(project.at(LOCK)).unwrap();
        assert_eq!(project.maven().write_lock().unwrap(), 1);
        assert_eq!(fs::read_to_string(project.at(LOCK)).unwrap(), before);
        let digest = digest::of_bytes(b"good");
        for line in ["", "text", "0  a", &format!("{digest}  ../a"), &format!("{digest}  /a")] {
            assert_eq!(locked(line), Err(line.to_owned()));
        }
        let nothing = tempfile::tempdir().unwrap();
        assert!(LockedMaven::of(nothing.path()).unwrap().is_none());
    }

    #[test]
    fn a_lock_file_is_in_the_order_of_the_letters() {
        let project = Project::new();
        for name in ["a/b/c.jar", "a/b-d/c.jar", "a/b.jar"] {
            project.put(&format!("target/incoming/{name}"), "good");
        }
        project.maven().write_lock().unwrap();
        let text = fs::read_to_string(project.at(LOCK)).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split("  ").nth(1)).collect();
        assert_eq!(names, ["a/b-d/c.jar", "a/b.jar", "a/b/c.jar"]);
    }

    #[test]
    fn a_lock_file_has_what_would_be_written_of_the_repository() {
        let project = Project::new();
        fs::create_dir_all(project.at("target/repository")).unwrap();
        assert_eq!(project.maven().compare_lock().unwrap(), 0);
        project.put("target/repository/a/a.jar", "good");
        assert_eq!(project.maven().compare_lock().unwrap(), 1);
        for (name, text) in [("a/a.jar", "evil"), ("b/b.jar", "good")] {
            project.put("target/repository/a/a.jar", "good");
            project.put(&format!("target/repository/{name}"), text);
            let error = project.maven().compare_lock().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn maven_fetches_into_what_is_the_users_and_builds_from_what_is_not() {
        let Some(user) = user() else { return };
        let project = Project::new();
        // The tree itself must be open to the user, which a temporary directory is not.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(project.0.path(), open.clone()).unwrap();
        let build = TreeBuild { directory: project.0.path(), user: Some(&user) };
        // A stand-in for Maven: it writes an artefact, or tells that it cannot.
        let script = "for last in \"$@\"; do case $last in -Dmaven.repo.local=*) \
                      mkdir -p \"${last#*=}/a\" && printf good > \"${last#*=}/a/a.jar\" || exit 1;; esac; done";
        let run = |mut prepared: TreeCommand| prepared.command.status().unwrap().success();
        let arguments = ["package".to_owned()];
        let maven = project.at("mvn");
        project.put("mvn", &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&maven, open).unwrap();
        // By its path in the tree, as the user sees it.
        let seen = Path::new("./mvn");
        let locked = project.maven();
        assert!(!run(locked.offline(seen, &arguments, build).unwrap()), "it cannot be written to");
        assert!(run(locked.fetching(seen, &arguments, build).unwrap()));
        assert_eq!(locked.accept().unwrap(), 1);
        assert!(project.has());
    }
}
