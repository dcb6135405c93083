//! Published studies of schedulers as data: the figures that each prints, its claims, and what its
//! own figures bear.
//!
//! This crate must not know campaigns, machines or reports. `studies/NAME/` at the top of the
//! project holds a study: `study.toml` tells its design and its tables, `claims.csv` its claims,
//! `asked.csv` which suites ask them of a machine, `contradictions.csv` where it says two things, and `checks.csv` how each of both is computed from
//! the tables. Nothing here says whether a scheduler is better: it says whether a sentence follows
//! from the figures that stand beside it.

mod check;
mod figure;
mod judge;
mod library;
mod measure;
mod row_selector;
mod study;
mod table;

pub use check::{CheckOutcome, FigureSource};
pub use judge::{ClaimState, JudgedClaim, JudgedContradiction, StudyJudgement, judge};
pub use library::{find, names};
pub use study::{AskedClaim, Study, StudyClaim, StudyContradiction, StudyTable};
