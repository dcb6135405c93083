//! The user who builds, and what that user sees.

use artefacts::programs::Programs;
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::process::geteuid;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const USERS: &str = "/etc/passwd";
/// One that a machine has for this alone, else the one that every machine has (nobody(7) of
/// systemd: UID 65534).
const NAMES: [&str; 2] = ["schedlab-build", "nobody"];
/// Every user can look into a directory here that is made for that.
const BELOW: &str = "/tmp";
/// What setpriv(1) takes away beside the user: groups, capabilities, and the ways to get any back.
/// A change of user forgets that a process ends with its parent, so that is said again.
const DROPPED: [&str; 6] = [
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
    "--pdeathsig=TERM",
];
/// Variables of the caller that often hold credentials: a build gets none of them.
const CREDENTIALS: [&str; 12] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "NODE_AUTH_TOKEN",
    "NPM_TOKEN",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
];
/// Names that are tried for a directory: another build may have one, or somebody else put it there.
/// Most builds get the first: paths that are compiled in do not differ from one to the next.
const TRIES: u32 = 1_000;

/// A user without privileges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildUser {
    setpriv: PathBuf,
    name: String,
    uid: u32,
    gid: u32,
}

impl BuildUser {
    /// The user who builds instead of root; none where the caller is not root, and builds itself.
    ///
    /// # Errors
    /// Why there is none although the caller is root: a clause, as in "it is built as root: ..".
    pub fn find(programs: &Programs) -> Result<Option<Self>, String> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let setpriv =
            programs.find("setpriv").ok_or("this machine has no `setpriv` (package util-linux)")?;
        let users =
            fs::read_to_string(USERS).map_err(|error| format!("cannot read {USERS}: {error}"))?;
        let (name, uid, gid) = NAMES
            .iter()
            .find_map(|name| listed(&users, name))
            .ok_or_else(|| format!("{USERS} has no user {}", NAMES.join(" or ")))?;
        let user = Self { setpriv, name, uid, gid };
        user.try_out()?;
        Ok(Some(user))
    }

    /// The user's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the user a directory, which is made where it is missing. What lies in it is not
    /// touched: it is the user's, or was put there for reading.
    ///
    /// # Errors
    /// When it cannot be made or given.
    pub fn give(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        lchown(directory, Some(self.uid), Some(self.gid))
    }

    /// Whether this machine lets us do so: some containers have a root without capabilities.
    fn try_out(&self) -> Result<(), String> {
        let cannot = |error: io::Error| format!("cannot become {}: {error}", self.name);
        let views = Views::new(self).map_err(cannot)?;
        let mut command = views.command(&self.setpriv, Path::new("/")).map_err(cannot)?;
        let output = command.arg("--version").output().map_err(cannot)?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        Err(format!("cannot become {}: {}", self.name, told.trim()))
    }
}

/// Name, UID and GID of a user in the format of passwd(5); root under another name is none.
fn listed(users: &str, name: &str) -> Option<(String, u32, u32)> {
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.find(|fields| fields.first() == Some(&name))?;
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let (uid, gid) = (number(2)?, number(3)?);
    (uid != 0).then(|| (name.to_owned(), uid, gid))
}

/// Directories of the caller under paths that the user can reach, whatever lies above them: they
/// are mounted in a namespace of each command alone. Must live as long as its commands run.
#[derive(Debug)]
pub struct Views {
    user: BuildUser,
    root: PathBuf,
    home: PathBuf,
    /// What is mounted where, in order.
    binds: Vec<(CString, CString)>,
}

impl Views {
    /// None but an empty home.
    ///
    /// # Errors
    /// When no directory can be made for them.
    pub fn new(user: &BuildUser) -> io::Result<Self> {
        let root = fresh_directory()?;
        let home = root.join("home");
        let views = Self { user: user.clone(), root, home, binds: Vec::new() };
        // Whatever the umask is.
        fs::set_permissions(&views.root, Permissions::from_mode(0o755))?;
        user.give(&views.home)?;
        Ok(views)
    }

    /// Shows a directory under a name; the path by which the user sees it.
    ///
    /// # Errors
    /// When the name is taken, or there is no such directory.
    pub fn show(&mut self, name: &str, directory: &Path) -> io::Result<PathBuf> {
        let at = self.root.join(name);
        fs::create_dir(&at)?;
        self.cover(&at, directory)?;
        Ok(at)
    }

    /// Shows a directory instead of another one that is shown already.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn cover(&mut self, at: &Path, directory: &Path) -> io::Result<()> {
        self.binds.push((c_path(&fs::canonicalize(directory)?)?, c_path(at)?));
        Ok(())
    }

    /// A command of the user, to be started in a directory that the user can reach. It ends with the
    /// thread that starts it, speaks English, and reads nothing.
    ///
    /// # Errors
    /// When the directory's name cannot be passed on.
    pub fn command(&self, program: &Path, directory: &Path) -> io::Result<Command> {
        let directory = c_path(directory)?;
        let binds = self.binds.clone();
        let mut command = Command::new(&self.user.setpriv);
        command
            .arg(format!("--reuid={}", self.user.uid))
            .arg(format!("--regid={}", self.user.gid))
            .args(DROPPED)
            .arg("--")
            .arg(program)
            .env("HOME", &self.home)
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        for name in CREDENTIALS {
            command.env_remove(name);
        }
        // SAFETY: unshare(2), mount(2) and chdir(2) are async-signal-safe, nothing is allocated
        // between fork and exec, and the child shares nothing that the new namespace takes away.
        unsafe {
            command.pre_exec(move || {
                unshare_unsafe(UnshareFlags::NEWNS)?;
                // Nothing of what follows reaches the namespace that the caller is in.
                mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
                for (from, to) in &binds {
                    mount_bind(from.as_c_str(), to.as_c_str())?;
                }
                rustix::process::chdir(directory.as_c_str())?;
                Ok(())
            });
        }
        Ok(command)
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        // In this namespace nothing is mounted there: they are empty, but for the home.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A directory of ours that was not there before.
fn fresh_directory() -> io::Result<PathBuf> {
    for number in 0..TRIES {
        let path = Path::new(BELOW).join(format!("schedlab-build-{number}"));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::Error::other(format!("{BELOW} holds {TRIES} directories of other builds")))
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The user, where the test runs as root; says so where there is none.
    pub(crate) fn user() -> Option<BuildUser> {
        match BuildUser::find(&Programs::new("/usr/sbin:/usr/bin:/sbin:/bin")) {
            Ok(Some(user)) => return Some(user),
            Ok(None) => testing::skip("only root has privileges to give up"),
            Err(why) => testing::skip(&why),
        }
        None
    }

    fn output(views: &Views, script: &str, directory: &Path) -> String {
        let mut command = views.command(Path::new("/bin/sh"), directory).unwrap();
        let output = command.args(["-c", script]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}: {told}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn a_user_is_found_by_name_and_root_under_another_name_is_none() {
        let users = "root:x:0:0::/:/bin/sh\nnobody:x:65534:65533::/:/bin/false\ntoor:x:0:0::/:\n";
        assert_eq!(listed(users, "nobody"), Some(("nobody".to_owned(), 65534, 65533)));
        for name in ["root", "toor", "nobod", "absent"] {
            assert_eq!(listed(users, name), None, "{name}");
        }
    }

    #[test]
    fn a_command_has_no_privileges_and_cannot_get_any() {
        let Some(user) = user() else { return };
        let views = Views::new(&user).unwrap();
        let ids = output(&views, "id -u; id -G", Path::new("/"));
        assert_eq!(ids, format!("{}\n{}", user.uid, user.gid));
        let status = output(&views, "cat /proc/self/status", Path::new("/"));
        for line in ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"] {
            assert!(status.contains(line), "{line}: {status}");
        }
        let home = output(&views, "touch ~/mark && echo $HOME", Path::new("/"));
        assert!(home.starts_with(BELOW), "{home}");
        drop(views);
        assert!(!Path::new(&home).exists());
    }

    #[test]
    fn what_is_shown_can_be_read_below_a_closed_directory_and_only_what_is_given_written() {
        let Some(user) = user() else { return };
        // Of mode 0700, as a home directory is.
        let closed = tempfile::tempdir().unwrap();
        fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).unwrap();
        let [shown, given] = ["shown", "given"].map(|name| closed.path().join(name));
        fs::create_dir_all(shown.join("target")).unwrap();
        fs::write(shown.join("source"), "text").unwrap();
        user.give(&given).unwrap();
        let mut views = Views::new(&user).unwrap();
        let at = views.show("tree", &shown).unwrap();
        views.cover(&at.join("target"), &given).unwrap();
        assert_eq!(output(&views, "cat source; echo; pwd", &at), format!("text\n{}", at.display()));
        output(&views, "echo made > target/product", &at);
        assert_eq!(fs::read_to_string(given.join("product")).unwrap(), "made\n");
        let refused = "! touch source 2>/dev/null && ! touch new 2>/dev/null";
        output(&views, refused, &at);
        let original = shown.join("source").display().to_string();
        output(&views, &format!("! cat {original} 2>/dev/null"), &at);
        assert_eq!(fs::read_dir(&at).unwrap().count(), 0, "mounted for the command alone");
    }
}
