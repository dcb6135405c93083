//! What the numbers and bars of the verdict table are, as far as they stand in it.

use super::super::grid;
use super::{DIM, Screen};
use crate::emulated::why_hidden;
use crate::few_boots::few_boots;
use crate::verdict_table::{is_in_percent, percentages, signs_and_reading};
use crate::view::Report;
use anstyle::Style;
use model::{Finding, Role};
use phrases::say;
use std::io;

impl Screen<'_> {
    /// What the numbers and bars of these rows are, and those of use cases.
    pub(super) fn legend(&mut self, report: &Report, rows: &[&Finding]) -> io::Result<()> {
        let design = &report.design;
        let language = self.language;
        let of_use_cases = report.findings.use_cases.iter().flat_map(|one| &one.comparisons);
        let told = rows.iter().copied().chain(of_use_cases);
        let is_in_percent = told.clone().any(is_in_percent) || self.tells_percentages(report);
        let families = design.family_words(language);
        let told = signs_and_reading(&report.findings, told, &families, language);
        let mut legend = vec![told + &percentages(is_in_percent, language)];
        if !rows.is_empty() {
            let (band, zero) = if self.page.is_unicode { ('░', '│') } else { (':', '|') };
            legend.push(say!(
                language,
                "Bars share the axis below them: further right is better, {zero} is no difference, \
                 {band} the margin.",
                zero,
                band
            ));
        }
        if design.is_unblocked() {
            let counts = language.word("n counts the executions of the subject that has fewer.");
            legend.push(counts.to_owned());
        }
        self.paragraph(&legend.join(" "), "", DIM)?;
        if self.hides_absolute {
            self.paragraph(why_hidden(language), "", DIM)?;
        }
        if let Some(limit) = few_boots(report) {
            self.paragraph(&limit, "", Style::new())?;
        }
        Ok(())
    }

    /// Whether effects are told in percent elsewhere: in grids, and of secondary metrics.
    fn tells_percentages(&self, report: &Report) -> bool {
        let mut all = report.findings.findings.iter();
        let in_grids =
            report.grids.iter().any(|drawn| self.draws(drawn) && grid::tells_percentages(drawn));
        let is_screened = |finding: &Finding| finding.question.role == Role::Screen;
        in_grids || self.page.is_verbose && all.any(|one| is_screened(one) && is_in_percent(one))
    }
}
