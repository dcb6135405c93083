//! A directory that its user alone can put anything into: the journal and the lock lie in one.
//!
//! It counts only where it belongs to this process's user, and everything above it to root or to
//! that user, and nobody else can write there (`crate::untrusted`). What lies in it is looked at by
//! its descriptor before a byte is read, and no link is followed on the way.

use crate::clock::unix_ns;
use crate::files::OpenFile;
use crate::trusted_path::check_trusted_above;
use crate::untrusted::{
    ROOT, STICKY, WRITTEN_BY_OTHERS, is_untrusted, others_may_write, untrusted,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// Its user only, whatever the umask.
const DIRECTORY_MODE: u32 = 0o700;
/// The same of files in it.
const FILE_MODE: u32 = 0o600;
/// Permissions with the bits for set-user-ID, set-group-ID and sticky (inode(7)).
const ALL_MODES: u32 = 0o7777;
/// What is said of what is no file in place of one.
const NOT_PLAIN: &str = "it is not a plain file";
/// What is said of what is no directory where one must be.
const NO_DIRECTORY: &str = "a link or a file is where a directory must be";
/// Between two looks at a name that others of this user make and remove.
const MOST_TRIES: u32 = 100;

/// A directory of this process's user, open; nobody else can change what is in it.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    descriptor: OwnedFd,
}

impl PrivateDirectory {
    /// Opens it where it is there.
    ///
    /// # Errors
    /// Of kind `NotFound` where it is not; [`crate::is_untrusted`] where somebody else could have put
    /// something into it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (parent, name) = split(path)?;
        let own = Self::within(&trusted(parent)?, path, name)?;
        if rustix::fs::fstat(&own.descriptor)?.st_mode & WRITTEN_BY_OTHERS != 0 {
            return Err(untrusted(path, "others may write there"));
        }
        Ok(own)
    }

    /// Opens it, making it where it is not there; only its user may enter it from now on. One that
    /// others may write is left as it is: something could have been put into it, or removed, and who
    /// closes it answers for that.
    ///
    /// # Errors
    /// When it cannot be made; [`crate::is_untrusted`] where it, or what is above it, is somebody else's,
    /// or others may write there.
    pub fn make(path: &Path) -> io::Result<Self> {
        let (parent, name) = split(path)?;
        let above = existing(parent);
        let missing = parent.strip_prefix(above).map_err(io::Error::other)?;
        let parent = made_below(trusted(above)?, above, missing)?;
        make_unless_there(&parent, name)?;
        let own = Self::within(&parent, path, name)?;
        let mode = rustix::fs::fstat(&own.descriptor)?.st_mode;
        if mode & WRITTEN_BY_OTHERS != 0 {
            return Err(untrusted(path, "others may write there"));
        }
        // A file system that is read-only, or full and copies on write, keeps what is right.
        if mode & ALL_MODES != DIRECTORY_MODE {
            rustix::fs::fchmod(&own.descriptor, Mode::from_raw_mode(DIRECTORY_MODE))?;
        }
        Ok(own)
    }

    /// Refuses a place into which, or in place of which, another user could put something, and
    /// neither makes nor changes anything. Where nothing is there yet, what is above it is asked.
    ///
    /// # Errors
    /// [`crate::is_untrusted`] where it is refused; what the kernel answers where it cannot be looked at.
    pub fn check(path: &Path) -> io::Result<()> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => {
                return Err(untrusted(path, NO_DIRECTORY));
            }
            outcome => return outcome.map(drop),
        }
        let (parent, _) = split(path)?;
        trusted(existing(parent)).map(drop)
    }

    fn within(parent: &OwnedFd, path: &Path, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(parent, name, flags, Mode::empty())?;
        if rustix::fs::fstat(&descriptor)?.st_uid != geteuid().as_raw() {
            return Err(untrusted(path, "it belongs to another user"));
        }
        Ok(Self { path: path.to_owned(), descriptor })
    }

    /// Opens a file of it for reading.
    ///
    /// # Errors
    /// Of kind `NotFound` where there is none; [`crate::is_untrusted`] where it is no plain file of this
    /// user that nobody else may write.
    pub fn read(&self, name: &str) -> io::Result<File> {
        self.opened(name, OFlags::RDONLY)
    }

    /// Opens a file of it for reading and appending, making it where there is none.
    ///
    /// # Errors
    /// As [`Self::read`], and when it cannot be made.
    pub fn append(&self, name: &str) -> io::Result<File> {
        for _ in 0..MOST_TRIES {
            match self.opened(name, OFlags::RDWR | OFlags::APPEND) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                outcome => return outcome,
            }
            match self.created(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                outcome => return outcome,
            }
        }
        Err(io::Error::from(io::ErrorKind::ResourceBusy))
    }

    /// A new empty file of that name, for reading and appending, in place of what was there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self, name: &str) -> io::Result<File> {
        self.remove(name)?;
        self.created(name)
    }

    /// Puts a file with this text there in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        let next = format!("{name}.next");
        self.create(&next)?.write_all(text)?;
        self.rename(&next, name)
    }

    /// Gives a file of it another name, in place of what had that name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes a file of it; one that is not there is no error.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives another name in it to what has one of these names and is no plain file of this user that
    /// nobody else may write. One sentence for each, also where that fails.
    pub fn set_aside(&self, names: &[&str]) -> Vec<String> {
        let strange = names.iter().filter_map(|name| {
            let error = self.read(name).err().filter(is_untrusted)?;
            let aside = format!("{name}.aside-{}", unix_ns());
            Some(match self.rename(name, &aside) {
                Ok(()) => format!("{error}: it is {aside} now; look who made it, and remove it"),
                Err(why) => format!("{error}, and it cannot get another name: {why}"),
            })
        });
        strange.collect()
    }

    /// Whether this file still has that name in it.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn holds(&self, name: &str, file: &dyn OpenFile) -> io::Result<bool> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let own = file.identity()?;
        match rustix::fs::statat(&self.descriptor, name, flags) {
            Ok(named) => Ok((named.st_dev, named.st_ino) == own),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the names in it are stored.
    ///
    /// # Errors
    /// When they cannot be.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.descriptor)?)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn opened(&self, name: &str, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => return Err(untrusted(&self.path.join(name), "it is a link")),
            // A directory that was to be written, and a socket (open(2)).
            Err(Errno::ISDIR | Errno::NXIO) => {
                return Err(untrusted(&self.path.join(name), NOT_PLAIN));
            }
            Err(error) => return Err(error.into()),
        };
        check_file(file.as_fd(), &self.path.join(name))?;
        Ok(file)
    }

    fn created(&self, name: &str) -> io::Result<File> {
        let mode = Mode::from_raw_mode(FILE_MODE);
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.descriptor, name, flags, mode)?;
        rustix::fs::fchmod(&file, mode)?;
        Ok(File::from(file))
    }
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let parts = path.parent().zip(path.file_name());
    parts.filter(|_| path.is_absolute()).ok_or_else(|| {
        let told = format!("{} is not the absolute path of a directory", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, told)
    })
}

/// The nearest directory to this one that is there: itself, or one above it.
fn existing(directory: &Path) -> &Path {
    directory.ancestors().find(|above| above.exists()).unwrap_or(directory)
}

/// Opens a directory if it and all above it belong to root or to this user, and nobody else can
/// change what their names lead to, nor any link on the way.
fn trusted(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    check_trusted_above(path, None)?;
    let path = std::fs::canonicalize(path)?;
    let mut reached = PathBuf::from("/");
    let mut directory = rustix::fs::open("/", flags, Mode::empty())?;
    check_above(&directory, &reached)?;
    for component in path.components() {
        let Component::Normal(name) = component else { continue };
        directory = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
        reached.push(name);
        check_above(&directory, &reached)?;
    }
    Ok(directory)
}

/// Opens what is below an open directory that is trusted, making what is not there. Each step begins at
/// the directory that was opened and looked at in the one before: what another user puts in place of a
/// name meanwhile, as a sticky directory lets anybody do, is refused, and nothing is made where it leads.
fn made_below(mut directory: OwnedFd, above: &Path, missing: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut reached = above.to_owned();
    for component in missing.components() {
        let name = component.as_os_str();
        reached.push(name);
        make_unless_there(&directory, name)?;
        directory = match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(untrusted(&reached, NO_DIRECTORY)),
            opened => opened?,
        };
        check_above(&directory, &reached)?;
    }
    Ok(directory)
}

/// Makes a directory that its user alone may enter; one that another process of this user made
/// meanwhile is as good.
fn make_unless_there(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a directory of another user, and one whose names others can change.
pub(crate) fn check_above(directory: &OwnedFd, path: &Path) -> io::Result<()> {
    let stat = rustix::fs::fstat(directory)?;
    if stat.st_uid != ROOT && stat.st_uid != geteuid().as_raw() {
        return Err(untrusted(path, "it belongs to another user"));
    }
    // In a sticky directory others can only add names; what a name leads to is checked next.
    let is_sticky = stat.st_mode & STICKY != 0;
    if !is_sticky && others_may_write(path, stat.st_mode, (stat.st_uid, stat.st_gid)) {
        return Err(untrusted(path, "others may write there"));
    }
    Ok(())
}

fn check_file(file: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(untrusted(path, NOT_PLAIN));
    }
    if stat.st_uid != geteuid().as_raw() {
        return Err(untrusted(path, "it belongs to another user"));
    }
    if stat.st_mode & WRITTEN_BY_OTHERS != 0 {
        return Err(untrusted(path, "others may write it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn modes_are_the_same_whatever_the_umask() {
        for umask in [0o000, 0o022, 0o077] {
            // The umask belongs to a process's threads together, unless one leaves them.
            let made = std::thread::spawn(move || {
                let alone = rustix::thread::UnshareFlags::FS;
                // SAFETY: this thread shares no descriptors less than before, only its umask and
                // working directory become its own.
                unsafe { rustix::thread::unshare_unsafe(alone) }.unwrap();
                let place = tempfile::tempdir().unwrap();
                rustix::process::umask(Mode::from_raw_mode(umask));
                let path = place.path().join("run");
                let directory = PrivateDirectory::make(&path).unwrap();
                directory.append("journal").unwrap();
                directory.write("memo", b"text").unwrap();
                [mode(&path), mode(&path.join("journal")), mode(&path.join("memo"))]
            });
            assert_eq!(made.join().unwrap(), [0o700, 0o600, 0o600], "{umask:o}");
        }
    }

    #[test]
    fn what_others_could_have_put_there_is_never_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run");
        let directory = PrivateDirectory::make(&path).unwrap();
        directory.write("own", b"text").unwrap();
        assert!(directory.read("own").is_ok());
        set_mode(&path.join("own"), 0o666);
        assert!(is_untrusted(&directory.read("own").unwrap_err()));
        assert!(is_untrusted(&directory.append("own").unwrap_err()));
        symlink("own", path.join("link")).unwrap();
        assert!(is_untrusted(&directory.read("link").unwrap_err()));
        assert!(is_untrusted(&directory.append("link").unwrap_err()));
        fs::create_dir(path.join("directory")).unwrap();
        assert!(is_untrusted(&directory.read("directory").unwrap_err()));
        assert!(is_untrusted(&directory.append("directory").unwrap_err()));
        let _socket = std::os::unix::net::UnixListener::bind(path.join("socket")).unwrap();
        assert!(is_untrusted(&directory.read("socket").unwrap_err()));
        let absent = directory.read("absent").unwrap_err();
        assert!(!is_untrusted(&absent) && absent.kind() == io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_no_plain_file_of_its_user_gets_another_name_and_is_told() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run");
        let directory = PrivateDirectory::make(&path).unwrap();
        directory.write("own", b"text").unwrap();
        fs::create_dir(path.join("directory")).unwrap();
        fs::write(path.join("directory/kept"), "x").unwrap();
        symlink("own", path.join("link")).unwrap();
        let told = directory.set_aside(&["own", "directory", "link", "absent"]);
        assert_eq!(told.len(), 2, "{told:?}");
        for (name, told) in ["directory", "link"].into_iter().zip(&told) {
            assert!(told.contains(&format!("{name}: ")) && told.contains("aside-"), "{told}");
            assert!(fs::symlink_metadata(path.join(name)).is_err(), "{name}");
            directory.write(name, b"text").unwrap();
        }
        assert_eq!(directory.set_aside(&["own", "directory", "link"]), [""; 0]);
        // Nothing is removed.
        assert_eq!(fs::read_dir(&path).unwrap().count(), 5);
    }

    #[test]
    fn a_directory_counts_only_where_nobody_else_can_change_it_or_what_leads_to_it() {
        let place = tempfile::tempdir().unwrap();
        let above = place.path().join("above");
        let path = above.join("run");
        PrivateDirectory::make(&path).unwrap();
        assert!(PrivateDirectory::open(&path).is_ok());
        set_mode(&path, 0o777);
        assert!(is_untrusted(&PrivateDirectory::open(&path).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::make(&path).unwrap_err()));
        assert_eq!(mode(&path), 0o777, "its user closes it");
        set_mode(&path, 0o755);
        PrivateDirectory::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        set_mode(&above, 0o777);
        assert!(is_untrusted(&PrivateDirectory::open(&path).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::make(&path).unwrap_err()));
        set_mode(&above, 0o1777);
        assert!(PrivateDirectory::open(&path).is_ok(), "as in /tmp");
        symlink(&path, above.join("link")).unwrap();
        assert!(PrivateDirectory::open(&above.join("link")).is_err(), "no link is followed");
        assert!(PrivateDirectory::make(&above.join("link")).is_err(), "no link is followed");
    }

    /// A stranger has the time between the look at what is there and the making of what is not.
    #[test]
    fn nothing_is_made_where_what_was_put_in_place_meanwhile_leads() {
        let place = tempfile::tempdir().unwrap();
        let (above, elsewhere) = (place.path().join("above"), place.path().join("elsewhere"));
        for directory in [&above, &elsewhere] {
            fs::create_dir(directory).unwrap();
        }
        set_mode(&above, 0o1777);
        let seen = trusted(existing(&above.join("new/deep"))).unwrap();
        symlink(&elsewhere, above.join("new")).unwrap();
        let error = made_below(seen, &above, Path::new("new/deep")).unwrap_err();
        assert!(is_untrusted(&error) && error.to_string().contains("above/new"), "{error}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing was made there");
        // Nor where others may write by the time that it is reached.
        let seen = trusted(&above).unwrap();
        fs::create_dir(above.join("open")).unwrap();
        set_mode(&above.join("open"), 0o777);
        let error = made_below(seen, &above, Path::new("open/deep")).unwrap_err();
        assert!(is_untrusted(&error), "{error}");
        assert_eq!(fs::read_dir(above.join("open")).unwrap().count(), 0);
    }

    #[test]
    fn directories_inside_each_other_that_many_make_at_once_are_made_once_and_for_all() {
        let place = tempfile::tempdir().unwrap();
        let inner = ["run", "run/inner/run", "run/inner/run/inner", "other/../run/inner"];
        let start = std::sync::Barrier::new(2 * inner.len());
        std::thread::scope(|scope| {
            for name in inner.into_iter().chain(inner) {
                let (path, start) = (place.path().join(name), &start);
                scope.spawn(move || {
                    start.wait();
                    let directory = PrivateDirectory::make(&path).unwrap();
                    directory.append("lock").unwrap();
                });
            }
        });
        for name in ["other", "run", "run/inner", "run/inner/run", "run/inner/run/inner"] {
            assert_eq!(mode(&place.path().join(name)), 0o700, "{name}");
        }
        assert!(PrivateDirectory::open(&place.path().join("run/inner/run")).is_ok());
    }

    #[test]
    fn a_check_refuses_what_others_can_change_and_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let above = place.path().join("above");
        let path = above.join("run");
        assert!(PrivateDirectory::check(&path).is_ok(), "nothing is there yet");
        assert!(!above.exists(), "nothing was made");
        fs::create_dir_all(&path).unwrap();
        for open in [0o755, 0o700] {
            set_mode(&path, open);
            assert!(PrivateDirectory::check(&path).is_ok(), "{open:o}");
            assert_eq!(mode(&path), open);
        }
        for open in [0o777, 0o775, 0o1777] {
            set_mode(&path, open);
            assert!(is_untrusted(&PrivateDirectory::check(&path).unwrap_err()), "{open:o}");
            assert_eq!(mode(&path), open);
        }
        set_mode(&path, 0o755);
        for deep in [path.clone(), above.join("absent"), above.join("absent/deep")] {
            set_mode(&above, 0o777);
            assert!(is_untrusted(&PrivateDirectory::check(&deep).unwrap_err()));
            set_mode(&above, 0o1777);
            assert!(PrivateDirectory::check(&deep).is_ok(), "as in /tmp");
        }
        assert!(!above.join("absent").exists(), "nothing was made");
        symlink(&path, above.join("link")).unwrap();
        fs::write(above.join("file"), "").unwrap();
        for name in ["link", "file"] {
            let error = PrivateDirectory::check(&above.join(name)).unwrap_err();
            assert!(is_untrusted(&error) && error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn what_another_user_owns_is_not_trusted() {
        if !geteuid().is_root() {
            testing::skip("only root makes files of other users");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run");
        let directory = PrivateDirectory::make(&path).unwrap();
        directory.write("journal", b"text").unwrap();
        std::os::unix::fs::chown(path.join("journal"), Some(65_534), None).unwrap();
        assert!(is_untrusted(&directory.read("journal").unwrap_err()));
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        assert!(is_untrusted(&PrivateDirectory::open(&path).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::check(&path).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::check(&path.join("deeper/run")).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::make(&path).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::make(&path.join("deeper/run")).unwrap_err()));
        assert!(!path.join("deeper").exists(), "nothing was made there");
        // Who owns a link above it could lead to another journal by it.
        let link = place.path().join("link");
        symlink(place.path(), &link).unwrap();
        PrivateDirectory::make(&link.join("other")).unwrap();
        std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
        assert!(is_untrusted(&PrivateDirectory::open(&link.join("other")).unwrap_err()));
        assert!(is_untrusted(&PrivateDirectory::make(&link.join("other")).unwrap_err()));
    }
}
