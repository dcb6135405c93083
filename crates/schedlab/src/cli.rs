//! The command line's words.

pub(crate) mod calibrate;
pub(crate) mod capacity;
pub(crate) mod compare;
pub(crate) mod figures;
pub(crate) mod kernels;
pub(crate) mod net;
pub(crate) mod schedulers;
pub(crate) mod studies;
mod venue;
pub(crate) mod vm;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use report::Language;
use std::path::PathBuf;

/// A laboratory for Linux schedulers: which scheduler, setting or kernel serves
/// this workload best, by how much, and how sure are we?
#[derive(Debug, Parser)]
#[command(name = "schedlab", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub action: Action,
}

/// The command, for completions and the man page.
pub fn command() -> clap::Command {
    Cli::command()
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Say more
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Directory of campaigns
    #[arg(long, global = true, default_value = "results", value_name = "DIR")]
    pub results: PathBuf,
    /// A machine made of files, for tests
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Where the journal and the lock live
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub runtime_dir: Option<PathBuf>,
    /// Where kernels and images are kept
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// A disk that `target = "device:…"` may overwrite: everything on it is lost
    #[arg(long, global = true, value_name = "DEVICE", hide_short_help = true)]
    pub destroy_data: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// What this machine can do, what is missing, how to get it; never changes anything
    Doctor(Json),
    /// What can be named in an experiment
    List(List),
    /// Write a commented experiment to start from
    New(New),
    /// The trials, their order, the time they will take, every path that will be written
    Plan(PlanArguments),
    /// Run an experiment, or go on with it; ends with the verdict table
    #[command(after_help = "Examples:\n  schedlab run suites/first-look.toml\n  \
        schedlab run suites/first-look.toml --set blocks=10 --budget 20m\n  \
        schedlab run suites/first-look.toml --live")]
    Run(Run),
    /// An experiment in one line, for any command
    #[command(
        after_help = "Examples:\n  schedlab vs baseline 'slice=0.5ms' -- ./my-bench --fast\n  \
        schedlab vs policy=other policy=batch --metric 'rate=regex:([0-9.]+) ops/s:higher' -- ./bench\n\n\
        A subject is `baseline`, or factor=level pairs joined by commas. The first is the reference."
    )]
    Vs(Vs),
    /// The highest rate of requests that a service sustains, and an experiment below it
    #[command(after_help = capacity::HELP)]
    Capacity(capacity::Capacity),
    /// Judge a campaign's records again
    Judge(Judge),
    /// Write a campaign's report again
    Report(ReportArguments),
    /// Write a campaign's figures as pictures, drawn by the same code as those of its page
    #[command(after_help = figures::HELP)]
    Figures(figures::Figures),
    /// Show a campaign's verdicts
    #[command(after_help = SHOW_HELP)]
    Show(ShowArguments),
    /// Two campaigns side by side, without a verdict across them
    #[command(after_help = compare::HELP)]
    Compare(compare::Compare),
    /// Pack a campaign into one file that others can verify, show and judge
    #[command(after_help = BUNDLE_HELP)]
    Bundle(Bundle),
    /// Recompute every number of a bundle; 1 when any differs, 5 when a report was not compared
    Verify(Verify),
    /// Why a finding says what it says, in plain words
    Explain(Explain),
    /// A primary metric over all finished campaigns, and where it changed
    History(History),
    /// The campaign that runs, in this terminal
    #[command(after_help = "Keys: q ends it, the arrows move through the comparisons.")]
    Top(Top),
    /// A dashboard of campaigns in a browser, and /metrics; read-only
    #[command(after_help = SERVE_HELP)]
    Serve(Serve),
    /// Does a change keep its budget? An exit code for continuous integration
    #[command(after_help = GATE_HELP)]
    Gate(Gate),
    /// Other people's numbers become a campaign, with the caveats they deserve
    #[command(after_help = IMPORT_HELP)]
    Import(Import),
    /// Put back whatever an interrupted run left
    Restore(Restore),
    /// Guest kernels: what is here, what Debian offers, fetch, show, remove
    #[command(after_help = kernels::HELP)]
    Kernels(kernels::Kernels),
    /// Published sched_ext schedulers: what is known and here, fetch, show, remove
    #[command(after_help = schedulers::HELP)]
    Schedulers(schedulers::Schedulers),
    /// Published studies, and what their own figures bear
    #[command(after_help = studies::HELP)]
    Studies(studies::Studies),
    /// The far side of network tests
    Net(net::Net),
    /// Throw-away virtual machines
    Vm(vm::Vm),
    /// What observing costs on this machine
    BenchSelf(Json),
    /// False positives and power of our own statistics, by simulation
    #[command(after_help = calibrate::HELP)]
    Calibrate(calibrate::Calibrate),
    /// Shell completions on standard output
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

const BUNDLE_HELP: &str = "\
--redact replaces names of hosts and users, paths, command lines, addresses, boot ids and serial numbers by
placeholders in everything that is packed, and leaves out comments and what programs said. Titles and names that you
gave stay, but for such words in them: read the report before you publish it, and name what else is secret.

  schedlab bundle last -o answer.schedlab.tar.gz
  schedlab bundle last --redact --redact-word acme --redact-word 'project x'";

#[derive(Debug, Args)]
pub(crate) struct Bundle {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// Replace what identifies machine, people and programs, consistently, before anything is judged and digested
    #[arg(long)]
    pub redact: bool,
    /// A further secret; repeatable
    #[arg(long = "redact-word", value_name = "WORD", requires = "redact")]
    pub words: Vec<String>,
    /// File to write; NAME.schedlab.tar.gz in this directory when left out
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Sign it with a key of OpenSSH, as ssh-keygen -Y sign does; writes FILE.sig beside it
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// What `schedlab bundle` wrote
    pub bundle: PathBuf,
    /// Only what this public key of OpenSSH signed verifies; the signature is FILE.sig beside it
    #[arg(long, value_name = "PUBLIC_KEY")]
    pub signed_by: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// SUBJECT/WORKLOAD/METRIC or a part of it, or with /REFERENCE behind it; every verdict when left out
    pub finding: Option<String>,
    #[command(flatten)]
    pub campaign: FromCampaign,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub(crate) struct FromCampaign {
    /// A campaign's directory, the beginning of its name, a bundle, or `last`
    #[arg(long, default_value = "last")]
    pub campaign: String,
}

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The metric
    pub metric: String,
    /// Only this workload
    #[arg(long)]
    pub workload: Option<String>,
    /// Only this subject
    #[arg(long)]
    pub subject: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// Print what it shows at this moment and end; so it does where no terminal reads it
    #[arg(long)]
    pub once: bool,
}

const SERVE_HELP: &str = "\
It listens on this machine alone, answers those who have the token that it prints, changes nothing and gives up
root's rights first. A browser on the measured machine is a load: from elsewhere,

  ssh -L 7777:127.0.0.1:7777 HOST     and there: schedlab serve --port 7777

Prometheus reads /metrics with the token as a bearer token; a dashboard for Grafana lies in docs/grafana.";

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Port; a free one when left out
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Address to listen on beside this machine's loopback; HTTP is not encrypted
    #[arg(long, value_name = "ADDRESS", requires = "i_understand_plain_http")]
    pub listen: Option<std::net::IpAddr>,
    /// Anybody on the way can read the token and what is shown
    #[arg(long)]
    pub i_understand_plain_http: bool,
    /// A name, beside this machine's loopback, by which browsers may ask; repeatable
    #[arg(long = "allow-host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Language of what is shown
    #[arg(long = "lang", value_name = "LANGUAGE", default_value_t)]
    pub language: Language,
    /// Beside a run: tells it who watches, and ends with it
    #[arg(long, hide = true)]
    pub beside: bool,
}

const GATE_HELP: &str = "\
Exit codes: 0 every limit was shown to be kept, 3 one was shown to be breached, 5 neither was shown.

  schedlab gate last --limit makespan=3%
  schedlab gate last --limit wakeup/latency_p99=5% --format junit --output gate.xml";

#[derive(Debug, Args)]
pub(crate) struct Gate {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// How much worse a primary metric may be: METRIC=3% or WORKLOAD/METRIC=3%; repeatable
    #[arg(long = "limit", value_name = "LIMIT", required = true)]
    pub limits: Vec<String>,
    /// How the result is written
    #[arg(long, value_enum, default_value = "text")]
    pub format: GateFormat,
    /// File to write; standard output when left out
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// For people
    Text,
    /// JUnit XML
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

const IMPORT_HELP: &str = "\
A replicate is one execution, never one row of it. `--replicate run,record_size` says that the program was started
again for each run and record size; what it then did for several levels of another parameter is averaged inside.

  schedlab import csv study.csv --subject scheduler --parameter record_size,operation \\
      --replicate record_size,run --value kBps:higher --margin 5%
  schedlab import hyperfine bench.json
  schedlab import iozone noop.csv deadline.csv cfq.csv --mapping claims.toml
  schedlab import google-benchmark old=a1.json old=a2.json new=b1.json new=b2.json";

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// csv, tsv, ...; `schedlab list imports` shows all
    pub format: String,
    /// Files; SUBJECT=PATH where the file does not name its subject
    #[arg(required = true, value_name = "[SUBJECT=]FILE")]
    pub files: Vec<String>,
    /// A mapping in TOML; the options add to it. Its [[claims]] are judged, written as in an experiment
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// Column that names the subject
    #[arg(long, value_name = "COLUMN")]
    pub subject: Option<String>,
    /// Columns that tell workloads apart
    #[arg(long = "parameter", value_name = "COLUMN", value_delimiter = ',')]
    pub parameters: Vec<String>,
    /// Columns that, with the subject, identify one execution
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub replicate: Vec<String>,
    /// Of these columns, or that of blocks: each level was an execution for itself, as you state
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub independent: Vec<String>,
    /// Column of blocks, in each of which every subject ran
    #[arg(long, value_name = "COLUMN")]
    pub block: Option<String>,
    /// Column that tells in which order rows were measured; the file's order when left out
    #[arg(long, value_name = "COLUMN")]
    pub order: Option<String>,
    /// Column of values, its direction and unit: kBps:higher, latency:lower:us; repeatable
    #[arg(long = "value", value_name = "COLUMN[:DIRECTION[:UNIT]]")]
    pub values: Vec<String>,
    /// Column that names the metric, where each row holds one
    #[arg(long, value_name = "COLUMN")]
    pub metric: Option<String>,
    /// Column that holds the unit
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// Column that holds `higher` or `lower`
    #[arg(long, value_name = "COLUMN")]
    pub direction: Option<String>,
    /// Which way a metric is better: METRIC=higher; repeatable
    #[arg(long, value_name = "METRIC=DIRECTION")]
    pub better: Vec<String>,
    /// Metric that is judged; the format's headline ones when left out; repeatable
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Subject that others are compared with; the first one when left out
    #[arg(long, value_name = "SUBJECT")]
    pub reference: Option<String>,
    /// Which subjects are compared
    #[arg(long, value_enum, default_value = "all")]
    pub pairs: Pairs,
    /// Equivalence margin: 5%; each metric's own when left out (2 %; of iozone 10 %)
    #[arg(long)]
    pub margin: Option<String>,
    /// Family-wise error rate
    #[arg(long, default_value_t = model::DEFAULT_ALPHA, value_parser = alpha)]
    pub alpha: f64,
    /// Name of the campaign; the file's when left out
    #[arg(long)]
    pub name: Option<String>,
    /// The question in your words
    #[arg(long)]
    pub title: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pairs {
    /// Each subject with each
    All,
    /// Each with the reference
    Reference,
}

fn alpha(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(alpha) if (0.001..=0.2).contains(&alpha) => Ok(alpha),
        _ => Err("a level lies between 0.001 and 0.2".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Json {
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Which kind; all of them when left out
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
    /// The full documentation of one entry
    #[arg(long, value_name = "ID")]
    pub explain: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListKind {
    /// What can run
    Workloads,
    /// What can be set
    Factors,
    /// What can be observed
    Probes,
    /// Where trials run
    Venues,
    /// How reports are written
    Formats,
    /// What can be imported
    Imports,
    /// Experiments that are ready to run
    Suites,
    /// Guest kernels in the cache
    Kernels,
    /// What the factor `scheduler` can name
    Schedulers,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// File to write; standard output when left out
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// The experiment
    #[arg(value_name = "EXPERIMENT")]
    pub file: PathBuf,
    #[command(flatten)]
    pub options: PlanOptions,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlanOptions {
    /// Set a key of the experiment, dotted: blocks=10, workloads.wakeup.duration=1s
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[arg(long, help = venue::help(), value_parser = venue::VenueName, hide_possible_values = true)]
    pub venue: Option<String>,
    /// Fit into this time: 20m
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Fewer blocks and shorter trials, and the part that [quick] names; the report says so
    #[arg(long)]
    pub quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub experiment: Experiment,
    /// Run a pilot (3 blocks of 3 invocations) and tell how many blocks the campaign needs
    #[arg(long)]
    pub pilot: bool,
    /// The plan, or what the pilot says, as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub experiment: Experiment,
    #[command(flatten)]
    pub execution: Execution,
}

#[derive(Debug, Args)]
pub(crate) struct Execution {
    /// Start anew even where a campaign could go on
    #[arg(long)]
    pub fresh: bool,
    /// Show what would be done and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Show it in a browser while it runs; its address is printed first
    #[arg(long)]
    pub live: bool,
    /// Port of that; a free one when left out
    #[arg(long, requires = "live", default_value_t = 0)]
    pub live_port: u16,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub(crate) struct Vs {
    /// Two or more subjects
    #[arg(required = true, num_args = 1.., value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub run: Vec<String>,
    /// A metric of the program's output: name=regex:PATTERN:higher, name=json:/pointer:lower, name=csv:column:lower
    #[arg(long = "metric", value_name = "SPEC")]
    pub metrics: Vec<String>,
    /// Metric the verdict is about; repeatable
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Load beside it: cpu:2
    #[arg(long)]
    pub load: Option<String>,
    /// Number of blocks
    #[arg(long)]
    pub blocks: Option<u32>,
    /// Executions in each trial
    #[arg(long)]
    pub invocations: Option<u32>,
    /// Equivalence margin: 5%
    #[arg(long)]
    pub margin: Option<String>,
    /// Longest time of one execution: 30s
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<String>,
    #[command(flatten)]
    pub options: PlanOptions,
    #[command(flatten)]
    pub execution: Execution,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignArgument {
    /// A campaign's directory, the beginning of its name, or `last`
    #[arg(default_value = "last")]
    pub campaign: String,
}

#[derive(Debug, Args)]
pub(crate) struct Judge {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// End an unfinished campaign for good, and judge what it has
    #[arg(long)]
    pub end: bool,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// Format; see `schedlab list formats`
    #[arg(long, default_value = "markdown")]
    pub format: String,
    /// File to write; into the campaign's directory when left out, `-` for standard output
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub presentation: Presentation,
}

/// How people are told.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Presentation {
    /// Show absolute values of emulated processors too: they are no real one's
    #[arg(long)]
    pub absolute: bool,
    /// Language of generated sentences: en, ko
    #[arg(long = "lang", value_name = "LANGUAGE", default_value_t)]
    pub language: Language,
}

const SHOW_HELP: &str = "\
Each comparison is a bar on one axis, right is better. --plots adds percentile curves and every run as a sparkline,
before the answer; -v adds secondary metrics and every place of a caveat. Colours end with NO_COLOR, letters of other
scripts with LC_ALL=C, lines at the terminal's width.

  schedlab show
  schedlab show first-look --plots
  schedlab show answer.schedlab.tar.gz --format markdown";

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// Format; see `schedlab list formats`
    #[arg(long, default_value = "terminal")]
    pub format: String,
    /// Draw percentile curves of latencies and every run of primary metrics too (format terminal)
    #[arg(long)]
    pub plots: bool,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Only tell what is left; exit 7 if anything is
    #[arg(long)]
    pub check: bool,
}
