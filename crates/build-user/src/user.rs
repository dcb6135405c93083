//! The user who builds, and what that user sees.

use crate::variables::BuildVariables;
use crate::view_root::ViewRoot;
use artefacts::programs::Programs;
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::process::{
    Signal, geteuid, getpgid, getppid, set_parent_process_death_signal, setpgid, setsid,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

const USERS: &str = "/etc/passwd";
/// One that a machine has for this alone, else the one that every machine has (nobody(7) of
/// systemd: UID 65534).
const NAMES: [&str; 2] = ["schedlab-build", "nobody"];
/// Every user can look into a directory here that is made for that.
const BELOW: [&str; 3] = ["/tmp", "/var/tmp", "/run"];
/// A PID namespace with a /proc of its own. When unshare(1) is killed, the kernel kills the init
/// process of the namespace, and with it all others (pid_namespaces(7)).
const NAMESPACE: [&str; 4] = ["--pid", "--fork", "--kill-child=KILL", "--mount-proc"];
/// What runs as init process of the namespace. It stays root's: the user could change one of its own
/// (ptrace(2)) so that it does not end, and an init process ignores signals that others die of.
const SHELL: &str = "/bin/sh";
/// Waits for the command, and reaps what is left to it meanwhile. When it ends, the kernel kills
/// whatever still runs in the namespace.
const INIT: &str = r#""$@"; exit "$?""#;
/// What setpriv(1) takes away beside the user: groups, capabilities, and the ways to get any back.
const DROPPED: [&str; 5] = [
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
];
/// A shell adds this to the number of the signal that a command died of (POSIX.1-2017, XCU 2.8.2).
const DIED_OF_SIGNAL: i32 = 128;
/// SIGRTMAX on x86-64 (signal(7)).
const LAST_SIGNAL: i32 = 64;

/// A user without privileges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildUser {
    unshare: PathBuf,
    setpriv: PathBuf,
    search_path: String,
    variables: BuildVariables,
    name: String,
    uid: u32,
    gid: u32,
}

impl BuildUser {
    /// The user who builds instead of root; none where the caller is not root, and builds itself.
    /// Its commands get these variables and the search path, and nothing else of the caller's
    /// environment.
    ///
    /// # Errors
    /// Why there is none although the caller is root: a clause, as in "it is built as root: ..".
    pub fn find(programs: &Programs, variables: &BuildVariables) -> Result<Option<Self>, String> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let need = |name: &str| {
            let lack = || format!("this machine has no `{name}` (package util-linux)");
            programs.find(name).ok_or_else(lack)
        };
        let (unshare, setpriv) = (need("unshare")?, need("setpriv")?);
        let users =
            fs::read_to_string(USERS).map_err(|error| format!("cannot read {USERS}: {error}"))?;
        let (name, uid, gid) = NAMES
            .iter()
            .find_map(|name| listed(&users, name))
            .ok_or_else(|| format!("{USERS} has no user {}", NAMES.join(" or ")))?;
        let (search_path, variables) = (programs.search_path(), variables.clone());
        let user = Self { unshare, setpriv, search_path, variables, name, uid, gid };
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
    root: ViewRoot,
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
        let [first, others @ ..] = BELOW.map(Path::new);
        let root = others.into_iter().fold(ViewRoot::within(first), |made, parent| {
            // The reason is that of the first one.
            made.or_else(|why| ViewRoot::within(parent).map_err(|_| why))
        })?;
        let home = root.path().join("home");
        let views = Self { user: user.clone(), root, home, binds: Vec::new() };
        // Whatever the umask is.
        fs::set_permissions(views.root.path(), Permissions::from_mode(0o755))?;
        user.give(&views.temporary())?;
        // What a build writes there is nobody else's business.
        fs::set_permissions(&views.home, Permissions::from_mode(0o700))?;
        user.give(&views.home)?;
        Ok(views)
    }

    /// Shows a directory under a name; the path by which the user sees it.
    ///
    /// # Errors
    /// When the name is taken, or there is no such directory.
    pub fn show(&mut self, name: &str, directory: &Path) -> io::Result<PathBuf> {
        let at = self.root.path().join(name);
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

    /// A command of the user, to be started in a directory that the user can reach. It speaks
    /// English, reads nothing, and has no terminal that it could type into.
    ///
    /// It is the leader of a process group. It, and whatever it started, has ended when it was waited
    /// for; also when its group is killed (SIGKILL: nothing else is certain to reach it), and when
    /// the thread that starts it ends. A signal that it dies of is told by [`Views::signal_of`].
    ///
    /// # Errors
    /// When the directory's name cannot be passed on.
    pub fn command(&self, program: &Path, directory: &Path) -> io::Result<Command> {
        let directory = c_path(directory)?;
        let binds = self.binds.clone();
        let mut command = Command::new(&self.user.unshare);
        command
            .args(NAMESPACE)
            .args(["--", SHELL, "-c", INIT, SHELL])
            .arg(&self.user.setpriv)
            .arg(format!("--reuid={}", self.user.uid))
            .arg(format!("--regid={}", self.user.gid))
            .args(DROPPED)
            .arg("--")
            .arg(program)
            .env_clear()
            .envs(self.user.variables.iter())
            .env("PATH", &self.user.search_path)
            .env("HOME", &self.home)
            .env("TMPDIR", self.temporary())
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        // SAFETY: prctl(2), setsid(2), getpgid(2), setpgid(2), unshare(2), mount(2) and chdir(2) are
        // async-signal-safe, nothing is allocated between fork and exec, and the child shares
        // nothing that the new namespace takes away.
        unsafe {
            command.pre_exec(move || {
                // unshare(1) holds SIGTERM back.
                set_parent_process_death_signal(Some(Signal::KILL))?;
                leave_terminal()?;
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

    /// The signal that a command of [`Views::command`] died of; none where it ended by itself.
    pub fn signal_of(status: ExitStatus) -> Option<i32> {
        let told = status.code().map(|code| code - DIED_OF_SIGNAL);
        status.signal().or(told.filter(|signal| (1..=LAST_SIGNAL).contains(signal)))
    }

    fn temporary(&self) -> PathBuf {
        self.home.join("tmp")
    }
}

/// Into a session and a process group of its own: a process in the session of root's terminal could
/// type into root's shell (TIOCSTI of ioctl_tty(2)). The leader of a group cannot (setsid(2)), so it
/// joins that of its parent first.
fn leave_terminal() -> io::Result<()> {
    if setsid().is_err() {
        setpgid(None, Some(getpgid(getppid())?))?;
        setsid()?;
    }
    Ok(())
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rustix::process::{Pid, getsid, kill_process_group};
    use std::time::{Duration, Instant};

    const SYSTEM: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

    /// The user, where the test runs as root; says so where there is none.
    pub(crate) fn user() -> Option<BuildUser> {
        user_with(&BuildVariables::default())
    }

    fn user_with(variables: &BuildVariables) -> Option<BuildUser> {
        match BuildUser::find(&Programs::new(SYSTEM), variables) {
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
        // Another build, of a test beside this one, may get the name that this one had.
        let mark = format!("mark-{}", std::process::id());
        let home = output(&views, &format!("touch ~/{mark} && echo $HOME"), Path::new("/"));
        assert!(BELOW.iter().any(|parent| home.starts_with(parent)), "{home}");
        let mode = fs::metadata(&home).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "others may look into it");
        let mark = Path::new(&home).join(mark);
        assert!(mark.exists(), "it is not in its home");
        drop(views);
        assert!(!mark.exists());
    }

    #[test]
    fn nothing_of_the_callers_environment_reaches_a_command_but_what_is_listed() {
        let given = [
            ("ACME_API_KEY", "made-up-secret"),
            ("CARGO_REGISTRIES_ACME_TOKEN", "made-up-secret"),
            ("https_proxy", "http://me:made-up-secret@proxy.example"),
            ("SCHEDLAB_UNHEARD_OF", "made-up-secret"),
            ("no_proxy", "localhost"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let Some(user) = user_with(&BuildVariables::of(given)) else { return };
        let views = Views::new(&user).unwrap();
        let script = "cat /proc/self/environ | tr '\\0' '\\n'; [ -w $TMPDIR ]";
        let text = output(&views, script, Path::new("/"));
        let mut names: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        // Shells set these themselves.
        names.retain(|name| !["OLDPWD", "PWD", "SHLVL", "_"].contains(name));
        names.sort_unstable();
        // The test's own, such as CARGO_MANIFEST_DIR of cargo, are not among them.
        assert_eq!(names, ["HOME", "LC_ALL", "PATH", "TMPDIR", "no_proxy"], "{text}");
        assert!(!text.contains("made-up-secret"), "{text}");
    }

    /// A command line that no other process has.
    fn marker(number: u32) -> String {
        format!("{}", 100_000_000 + 100 * std::process::id() + number)
    }

    /// A script that leaves a process in a session of its own, which closed all that it was given.
    fn leaving(marker: &str) -> String {
        let daemon = format!("touch {marker}; exec sleep {marker}");
        format!(
            "cd ~; setsid sh -c '{daemon}' </dev/null >/dev/null 2>&1 & \
             while [ ! -e ~/{marker} ]; do sleep 0.05; done"
        )
    }

    fn is_running(marker: &str) -> bool {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| String::from_utf8_lossy(&line).contains(marker))
    }

    fn ends(marker: &str) -> bool {
        let began = Instant::now();
        while is_running(marker) {
            if began.elapsed() > Duration::from_secs(60) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn shell(views: &Views, script: &str) -> Command {
        let mut command = views.command(Path::new("/bin/sh"), Path::new("/")).unwrap();
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_daemon_that_a_command_leaves_has_ended_when_the_command_has() {
        let Some(user) = user() else { return };
        let views = Views::new(&user).unwrap();
        let marker = marker(0);
        output(&views, &leaving(&marker), Path::new("/"));
        assert!(views.home.join(&marker).exists(), "it ran");
        assert!(!is_running(&marker), "at once: waiting for the command waits for it");
        let seen = output(&views, "ls -d /proc/[0-9]* | wc -l", Path::new("/"));
        assert!(seen.parse::<u32>().unwrap() < 10, "processes of others are not seen: {seen}");
    }

    #[test]
    fn everything_ends_with_the_process_group_and_with_the_thread_that_started_it() {
        let Some(user) = user() else { return };
        let views = Views::new(&user).unwrap();
        let (of_group, of_thread) = (marker(1), marker(2));
        let start = |marker: &str| {
            let mut command = shell(&views, &format!("{}; sleep 600; :", leaving(marker)));
            let child = command.process_group(0).spawn().unwrap();
            while !views.home.join(marker).exists() {
                std::thread::sleep(Duration::from_millis(20));
            }
            child
        };
        let mut child = start(&of_group);
        let pid = Pid::from_child(&child);
        assert_eq!(getsid(Some(pid)).unwrap(), pid, "it has no terminal");
        assert!(is_running(&of_group));
        kill_process_group(pid, Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(ends(&of_group));
        let mut child =
            std::thread::scope(|scope| scope.spawn(|| start(&of_thread)).join().unwrap());
        assert!(ends(&of_thread));
        child.wait().unwrap();
    }

    #[test]
    fn the_signal_that_a_command_died_of_is_told_and_an_exit_code_is_none() {
        let Some(user) = user() else { return };
        let views = Views::new(&user).unwrap();
        for (script, signal, code) in [
            ("kill -KILL $$", Some(9), None),
            ("kill -TERM $$", Some(15), None),
            ("exit 3", None, Some(3)),
            ("exit 255", None, Some(255)),
        ] {
            let output = shell(&views, script).output().unwrap();
            assert_eq!(Views::signal_of(output.status), signal, "{script}");
            assert!(code.is_none() || output.status.code() == code, "{script}");
        }
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
