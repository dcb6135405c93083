//! The view model of a campaign's report, and what draws it.
//!
//! This crate must not know how findings came about: it turns a plan, records
//! and findings into one [`Report`], and each renderer draws that and nothing
//! else. The same inputs give the same bytes.

mod answer;
mod attempt;
mod breakdown;
mod caveats;
mod checks;
mod compare;
mod counts;
mod devices;
mod distributions;
mod effect_words;
mod ejections;
mod emulated;
mod explain;
mod failure_reasons;
mod few_boots;
mod grid;
mod growing_width;
mod inputs;
mod ladder;
mod observed;
mod origin;
mod over_time;
mod page;
mod premises;
mod quantities;
mod rankings;
mod render;
mod reservations;
mod series;
mod trial_codes;
mod validity;
mod verdict_table;
mod view;
mod wrap;

pub use breakdown::{BlockMean, Breakdown, BreakdownPart, Divided};
pub use caveats::CaveatView;
pub use compare::{Comparison, Fact, Facts, compare};
pub use ejections::Ejections;
pub use explain::{ExplainContext, explain};
pub use few_boots::few_boots_of;
pub use grid::{
    Axis, CellQuestion, Cells, Grid, GridComparison, GridEffect, GridMean, GridRatio, GridRun,
    GridSubject, GridValue, has_grid,
};
pub use inputs::Inputs;
pub use ladder::{Ladder, LadderCell, LadderRatio, Rung};
pub use observed::Provenance;
#[cfg(feature = "typescript")]
pub use page::visit_page;
pub use page::{page_json, page_words};
pub use phrases::Language;
pub use premises::{Premise, premises};
pub use quantities::{confidence, effects_found, estimate, percent, value};
pub use rankings::claim_outcome;
pub use render::{Page, RENDERERS, Renderer};
pub use view::{Design, Meanings, MetricMeaning, Report, SubjectView, view};
/// Whether this binary has the page of reports, or only one that says how to get it.
pub use web::IS_BUILT as HAS_PAGE;
/// Which page that is: the beginning of the digest of its sources.
pub use web::SOURCES as PAGE_SOURCES;
pub use wrap::wrapped;
