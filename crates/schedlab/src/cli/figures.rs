//! The words of `schedlab figures`.

use super::{CampaignArgument, Presentation};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Examples:
  schedlab figures last                                      every figure, into figures/ of the campaign
  schedlab figures last --list                               which there are, and what each found
  schedlab figures last --figure forest --output effects.svg
  schedlab figures last --format png --theme dark --output pictures/
  schedlab figures last --figure heat-0-0 --format png --output - > heat.png";

#[derive(Debug, Args)]
pub(crate) struct Figures {
    #[command(flatten)]
    pub campaign: CampaignArgument,
    /// What kind of file
    #[arg(long, value_enum, default_value = "svg")]
    pub format: Picture,
    /// Only this one; repeatable
    #[arg(long = "figure", value_name = "ID")]
    pub figures: Vec<String>,
    /// Tell which there are, and write nothing
    #[arg(long, conflicts_with = "output")]
    pub list: bool,
    /// With --list: JSON instead of text
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Its colours
    #[arg(long, value_enum, default_value = "light")]
    pub theme: Theme,
    /// Pixels across; of PNG twice as many are drawn
    #[arg(long, default_value_t = 960, value_parser = clap::value_parser!(u32).range(240..=4000))]
    pub width: u32,
    /// Directory to write to; of one figure its file, or `-` for standard output
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub presentation: Presentation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Picture {
    /// Lines and text that can be scaled and edited
    Svg,
    /// Pixels
    Png,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// For paper and slides
    Light,
    /// For dark pages
    Dark,
    /// Both, in files of their own
    Both,
}
