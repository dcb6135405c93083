//! The words of `schedlab vm`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXEC_HELP: &str = "\
The exit status is the command's own, 125 where schedlab or the guest failed.

Examples:
  schedlab vm exec debian:6.12 -- uname -r
  schedlab vm exec debian:6.1 --vcpus 4 --file ./my-test -- ./my-test --fast
  schedlab vm exec debian:6.18 --tools rt-tests -- cyclictest -D 5";

const SNAPSHOT_HELP: &str = "\
A snapshot holds the files that it was created with; a command must be among them.

Examples:
  schedlab vm snapshot create quick debian:6.12 --file /bin/uname
  schedlab vm snapshot restore quick -- /bin/uname -r
  schedlab vm snapshot remove quick";

const SHELL_HELP: &str = "\
Everything in it is gone when the shell ends.

Examples:
  schedlab vm shell debian:6.12
  schedlab vm shell debian:6.18 --cmdline 'preempt=full' --tools fio,procps";

/// A command of `schedlab vm`.
#[derive(Debug, Args)]
pub(crate) struct Vm {
    #[command(subcommand)]
    pub action: VmAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VmAction {
    /// Run a command in a throw-away machine
    #[command(after_help = EXEC_HELP)]
    Exec(VmExec),
    /// A shell in a throw-away machine
    #[command(after_help = SHELL_HELP)]
    Shell(VmShell),
    /// Machines saved after their boot
    #[command(subcommand, after_help = SNAPSHOT_HELP)]
    Snapshot(SnapshotAction),
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotAction {
    /// Boot a machine and save it
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        machine: VmMachine,
    },
    /// The saved machines
    List(crate::cli::Json),
    /// Go on from a saved machine, with a command or a shell; the snapshot stays as it is
    Restore {
        /// Its name
        name: String,
        /// The command and its arguments; a shell when left out
        #[arg(last = true, value_name = "COMMAND")]
        run: Vec<String>,
    },
    /// Remove a saved machine
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct VmExec {
    #[command(flatten)]
    pub machine: VmMachine,
    /// Give it a terminal
    #[arg(short = 't', long)]
    pub tty: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub run: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct VmShell {
    #[command(flatten)]
    pub machine: VmMachine,
}

#[derive(Debug, Args)]
pub(crate) struct VmMachine {
    /// The kernel: debian:6.12, path:IMAGE,modules=DIR, build:NAME, host
    pub kernel: String,
    /// Processors: 2, 4, or packages x cores x threads
    #[arg(long, default_value = "2")]
    pub vcpus: String,
    /// Memory
    #[arg(long, default_value = "512MiB")]
    pub memory: String,
    /// Words added to the kernel's command line
    #[arg(long)]
    pub cmdline: Option<String>,
    /// What executes the guest's instructions
    #[arg(long, value_enum, default_value = "auto")]
    pub accelerator: AcceleratorWord,
    /// A file of this machine, at the same path; a program brings its libraries; repeatable
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// Installed packages whose files the guest sees
    #[arg(long, value_name = "PACKAGE", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// A kernel module with its arguments; repeatable
    #[arg(long = "module", value_name = "MODULE")]
    pub modules: Vec<String>,
    /// Keep what the guest's console prints in this file
    #[arg(long, value_name = "FILE")]
    pub console: Option<PathBuf>,
    /// Time until a boot is given up and tried again
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub boot_timeout: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AcceleratorWord {
    /// KVM where it boots, emulation otherwise
    Auto,
    /// KVM or nothing
    Kvm,
    /// Emulation
    Tcg,
}
