//! The words of `schedlab compare`.

use super::Presentation;
use clap::Args;

pub(crate) const HELP: &str = "\
What differs between campaigns was not drawn by lot, and the machine changes with time: put what you want to compare
into one campaign. A is the first one, B the second; -v shows secondary metrics and everything else that is left out.

Examples:
  schedlab compare first-look-20261121 last
  schedlab compare mine.schedlab.tar.gz theirs.schedlab.tar.gz
  schedlab compare before after -v | less";

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// A campaign's directory, the beginning of its name, a bundle, or `last`
    #[arg(value_name = "CAMPAIGN")]
    pub one: String,
    /// The campaign beside it
    #[arg(value_name = "CAMPAIGN")]
    pub other: String,
    #[command(flatten)]
    pub presentation: Presentation,
}
