//! Runtime directories of a user who is not root. Where the session gave none it lies in `/tmp`,
//! where any user can make a directory of any name before its user does: what others have there is
//! passed over for the next name, and so stops nobody.

use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::Machine;

/// Where all users may make names, and none may remove or rename another's (sticky).
const TEMPORARY: &str = "/tmp";
/// The number of the name that ends in none.
const FIRST: u64 = 1;

/// The runtime directory of a user whose session gave none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryRuntime {
    /// Where it is, or is to be made.
    pub path: PathBuf,
    /// What is no directory of this user and has the name that would be taken otherwise.
    pub passed_over: Option<PathBuf>,
}

impl TemporaryRuntime {
    /// That of this process's user: the one that is there, else the first name that nothing has.
    /// Nothing is made.
    pub fn of_user() -> Self {
        Self::within(Path::new(TEMPORARY), geteuid().as_raw())
    }

    fn within(parent: &Path, user: u32) -> Self {
        let names = Names::within(parent, user);
        // One of this user's that is there holds the journal, although a lower name is free again.
        let number = names.own().next().unwrap_or_else(|| names.first_free());
        let passed_over = names.is_own.keys().find(|other| **other < number);
        Self {
            path: path_of(parent, user, number),
            passed_over: passed_over.map(|other| path_of(parent, user, *other)),
        }
    }
}

/// Runtime directories of this process's user that are there beside this machine's, and in which a
/// run can have left a journal, as when its session gave it another. None of root's, which has one,
/// and none of a machine of files.
pub fn other_runtime_directories(machine: &Machine) -> Vec<PathBuf> {
    let user = geteuid();
    if user.is_root() || machine.is_fake() {
        return Vec::new();
    }
    other_directories(own_directories(user.as_raw()), machine.runtime())
}

/// Those of these directories that are not this one, each once, by whatever names they are reached.
pub(crate) fn other_directories(all: Vec<PathBuf>, own: &Path) -> Vec<PathBuf> {
    let mut others: Vec<PathBuf> = Vec::new();
    for directory in all {
        let is_known = |known: &Path| is_same_directory(known, &directory);
        if !is_known(own) && !others.iter().any(|other| is_known(other)) {
            others.push(directory);
        }
    }
    others
}

/// Whether two names lead to one directory, through links, `..` and more than one slash, too.
pub(crate) fn is_same_directory(one: &Path, other: &Path) -> bool {
    one == other || identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// Device and inode of what a name leads to; none where nothing is there.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Runtime directories of a user that are there, as far as they can be guessed. Those of others do
/// not count: any user could make one and so stop every campaign and every restore.
pub(crate) fn own_directories(user: u32) -> Vec<PathBuf> {
    let session = PathBuf::from(format!("/run/user/{user}/schedlab"));
    let session = Some(session).filter(|path| is_directory_of(path, user));
    let parent = Path::new(TEMPORARY);
    let names = Names::within(parent, user);
    session.into_iter().chain(names.own().map(|number| path_of(parent, user, number))).collect()
}

/// Numbers of a user's names that something has, and whether that is a directory of this user.
struct Names {
    is_own: BTreeMap<u64, bool>,
}

impl Names {
    fn within(parent: &Path, user: u32) -> Self {
        let entries = parent.read_dir().into_iter().flatten().flatten();
        let is_own = entries.filter_map(|entry| {
            let number = number_of(entry.file_name().to_str()?, user)?;
            Some((number, is_directory_of(&entry.path(), user)))
        });
        Self { is_own: is_own.collect() }
    }

    fn own(&self) -> impl Iterator<Item = u64> {
        self.is_own.iter().filter(|(_, is_own)| **is_own).map(|(number, _)| *number)
    }

    fn first_free(&self) -> u64 {
        (FIRST..u64::MAX).find(|number| !self.is_own.contains_key(number)).unwrap_or(FIRST)
    }
}

/// Whether it is one, and no link to one.
fn is_directory_of(path: &Path, user: u32) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
}

fn path_of(parent: &Path, user: u32, number: u64) -> PathBuf {
    parent.join(name_of(user, number))
}

fn name_of(user: u32, number: u64) -> String {
    match number {
        FIRST => format!("schedlab-{user}"),
        _ => format!("schedlab-{user}-{number}"),
    }
}

fn number_of(name: &str, user: u32) -> Option<u64> {
    let rest = name.strip_prefix(&name_of(user, FIRST))?;
    let number = match rest.strip_prefix('-') {
        Some(digits) => digits.parse().ok()?,
        None => FIRST,
    };
    // `-0`, `-1`, `-02` and `-+2` are numbers and no names.
    (number >= FIRST && name_of(user, number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{chown, symlink};

    const STRANGER: u32 = 65_534;

    fn user() -> u32 {
        geteuid().as_raw()
    }

    fn chosen(parent: &Path) -> (String, Option<String>) {
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let runtime = TemporaryRuntime::within(parent, user());
        (name(runtime.path), runtime.passed_over.map(name))
    }

    /// What no directory of this user is: a stranger's directory where root runs this, and a link
    /// otherwise, which is passed over alike.
    fn put_foreign(path: &Path) {
        if user() == 0 {
            fs::create_dir(path).unwrap();
            chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
        } else {
            symlink("/", path).unwrap();
        }
    }

    fn remove_foreign(path: &Path) {
        fs::remove_dir(path).or_else(|_| fs::remove_file(path)).unwrap();
    }

    #[test]
    fn what_a_stranger_made_first_is_passed_over_and_told() {
        let parent = tempfile::tempdir().unwrap();
        let name = |number| name_of(user(), number);
        let at = |number| parent.path().join(name(number));
        assert_eq!(chosen(parent.path()), (name(1), None));
        put_foreign(&at(1));
        put_foreign(&at(2));
        assert_eq!(chosen(parent.path()), (name(3), Some(name(1))));
        assert!(!at(3).exists(), "nothing is made");
        // A file and a link of this user's are no directories of it either.
        fs::write(at(3), "").unwrap();
        symlink(parent.path(), at(4)).unwrap();
        assert_eq!(chosen(parent.path()), (name(5), Some(name(1))));
    }

    #[test]
    fn a_journal_is_found_where_it_was_written_when_the_stranger_has_gone() {
        let parent = tempfile::tempdir().unwrap();
        let name = |number| name_of(user(), number);
        let at = |number| parent.path().join(name(number));
        put_foreign(&at(1));
        fs::create_dir(at(2)).unwrap();
        assert_eq!(chosen(parent.path()), (name(2), Some(name(1))));
        remove_foreign(&at(1));
        assert_eq!(chosen(parent.path()), (name(2), None));
        // One of this user's that is there first stays the one, whatever others make later.
        fs::create_dir(at(1)).unwrap();
        put_foreign(&at(3));
        assert_eq!(chosen(parent.path()), (name(1), None));
        let own: Vec<u64> = Names::within(parent.path(), user()).own().collect();
        assert_eq!(own, [1, 2]);
    }

    #[test]
    fn a_directory_is_the_same_one_by_whatever_name_and_another_one_is_named_once() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        for name in ["run", "other"] {
            fs::create_dir(at(name)).unwrap();
        }
        symlink(parent.path(), at("link")).unwrap();
        let all = || vec![at("run"), at("other")];
        for name in ["run", "run/", "other/../run", "link/run", "link/other/../run"] {
            assert_eq!(other_directories(all(), &at(name)), [at("other")], "{name}");
        }
        assert_eq!(other_directories(all(), &at("absent")), all());
        let twice = vec![at("other"), at("link/other"), at("run")];
        assert_eq!(other_directories(twice, &at("absent")), [at("other"), at("run")]);
    }

    #[test]
    fn names_of_other_users_and_other_names_do_not_count() {
        let counted = [("schedlab-7", 1), ("schedlab-7-2", 2), ("schedlab-7-10", 10)];
        for (name, number) in counted {
            assert_eq!(number_of(name, 7), Some(number), "{name}");
            assert_eq!(number_of(name, 70), None, "{name}");
        }
        for rest in ["0", "-", "-0", "-1", "-02", "-+2", "-2-2"] {
            assert_eq!(number_of(&format!("schedlab-7{rest}"), 7), None, "{rest}");
        }
    }
}
