//! The report as slides (PresentationML, ECMA-376 part 1, 13 and 19), by a small writer of our
//! own: what a deck needs and no more, because each needless part is one that an office program
//! may want to repair.

mod closing;
mod evidence;
mod fit;
mod headline;
mod opening;
mod package;
mod parts;
mod pictures;
mod shapes;
mod slide;

use super::{Page, Renderer};
use crate::view::Report;
use contract::Description;
use slide::Slide;
use std::io::{self, Write};

pub(super) struct Entry;

static DESCRIPTION: Description = Description {
    id: "pptx",
    summary: "slides: question, answer, method, a slide for each figure, claims, conclusion",
    doc: "A deck that stands on its own: the question with its winner, effect, interval and main \
          caveat; what was compared, and what its factors and metrics mean; method and environment; \
          a slide for each figure, whose title is what was found; claims; the conclusion; which \
          levels to set for which use case; and every finding with the commands to repeat them. \
          Titles are made from verdicts. Speaker notes say how to read a slide, and pictures have \
          a description. It is binary: write it to a file or a pipe.",
};

impl Renderer for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn extension(&self) -> &'static str {
        "pptx"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn render(&self, report: &Report, page: &Page, output: &mut dyn Write) -> io::Result<()> {
        let figures = pictures::drawn(report, page.fonts)?;
        let mut slides: Vec<Slide> = opening::slides(report);
        slides.extend(pictures::slides(report, figures));
        slides.extend(evidence::slides(report));
        slides.extend(closing::slides(report));
        let pages =
            slides.iter().flat_map(|one| slide::paged(one, report.language)).collect::<Vec<_>>();
        output.write_all(&package::packed(report, &pages)?)
    }
}
