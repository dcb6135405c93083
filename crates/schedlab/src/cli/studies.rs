//! The words of `schedlab studies`.

use super::{Execution, PlanOptions};
use clap::{Args, Subcommand, ValueEnum};

pub(crate) const HELP: &str = "\
`judge` asks the figures that a study prints: no machine is asked, and nothing is measured. A claim that follows
from them is not shown by that: most studies print neither a spread nor a number of runs. `run` asks this machine.

Examples:
  schedlab studies list
  schedlab studies show gateway
  schedlab studies judge iozone
  schedlab studies judge eevdf --format markdown > eevdf.md
  schedlab studies run gateway --quick
  schedlab studies compare gateway last";

/// A command of `schedlab studies`.
#[derive(Debug, Args)]
pub(crate) struct Studies {
    #[command(subcommand)]
    pub action: StudiesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudiesAction {
    /// The studies that are delivered
    List,
    /// How a study was made, its tables and its claims
    Show {
        /// Its name, as `schedlab studies list` tells it
        name: String,
    },
    /// Whether each claim of a study follows from the figures that the study prints
    Judge {
        /// Its name, as `schedlab studies list` tells it
        name: String,
        /// How the answer is written
        #[arg(long, value_enum, default_value_t = StudyFormat::Text)]
        format: StudyFormat,
    },
    /// Run the suites that repeat a study, or go on with them; ends with what was published
    /// beside what was measured
    Run(StudyRun),
    /// What a study published beside what a campaign of one of its suites measured
    Compare {
        /// Its name, as `schedlab studies list` tells it
        name: String,
        /// A campaign's directory, the beginning of its name, a bundle, or `last`
        #[arg(value_name = "CAMPAIGN", default_value = "last")]
        campaign: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StudyRun {
    /// Its name, as `schedlab studies list` tells it
    pub name: String,
    /// Of its suites this one alone
    #[arg(long, value_name = "SUITE")]
    pub suite: Option<String>,
    #[command(flatten)]
    pub options: PlanOptions,
    #[command(flatten)]
    pub execution: Execution,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StudyFormat {
    /// Lines for a terminal
    Text,
    /// Tables of Markdown
    Markdown,
    /// Everything, for programs
    Json,
}
