//! The words of `schedlab studies`.

use clap::{Args, Subcommand, ValueEnum};

pub(crate) const HELP: &str = "\
A study is judged by the figures that it prints: no machine is asked, and nothing is measured. A claim that follows
from them is not shown by that: most studies print neither a spread nor a number of runs.

Examples:
  schedlab studies list
  schedlab studies show gateway
  schedlab studies judge iozone
  schedlab studies judge eevdf --format markdown > eevdf.md";

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
