//! What draws a report in one format.

use crate::view::Report;
use contract::Description;
use std::io::{self, Write};

/// How a report is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns.
    pub width: usize,
    /// Whether colours are wanted.
    pub is_colour: bool,
    /// Whether more than ASCII can be shown.
    pub is_unicode: bool,
    /// Whether secondary metrics are shown too.
    pub is_verbose: bool,
    /// Whether curves and sparklines are drawn too, where a format has any.
    pub has_plots: bool,
    /// Folders with fonts for letters that our own lacks, where pictures are drawn.
    pub fonts: &'static [&'static str],
}

/// Something that draws reports.
pub trait Renderer: Sync {
    /// Name and explanation.
    fn describe(&self) -> &'static Description;

    /// The file name's ending, without the dot.
    fn extension(&self) -> &'static str;

    /// Whether what it draws is text; anything else must not reach a terminal.
    fn is_text(&self) -> bool {
        true
    }

    /// Whether programs read what it draws: it has the codes of caveats and no sentences, and is the
    /// same in every language, but for texts that `json` keeps of findings.
    fn is_for_programs(&self) -> bool {
        false
    }

    /// Draws a report.
    ///
    /// # Errors
    /// When writing fails.
    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()>;
}
