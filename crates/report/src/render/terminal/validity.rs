//! Whether a campaign may be believed.

use super::{BOLD, Screen};
use crate::validity::{by_check, by_state};
use crate::view::Report;
use anstyle::Style;
use std::io;

impl Screen<'_> {
    /// The checks by their states; all with what was seen where more is asked for.
    pub(super) fn validity(&mut self, report: &Report) -> io::Result<()> {
        writeln!(self.output, "\n{}", self.styled(self.language.word("Validity"), BOLD))?;
        let lines = if self.page.is_verbose { by_check(report) } else { by_state(report) };
        for line in lines {
            self.paragraph(&line, "  ", Style::new())?;
        }
        Ok(())
    }
}
