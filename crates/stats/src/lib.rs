//! Numerics only: distributions, tests, corrections, power.
//!
//! This crate must not know what a campaign is: it takes slices of numbers and
//! returns numbers. Logarithms and exponentials come from `libm`, so that their
//! bits do not depend on the CPU; sums run in the order given. The formulas are
//! those of the statistical design, with their sources beside them.

mod adjust;
mod change_points;
mod exact;
mod fisher;
mod mann_whitney;
mod moments;
mod outlier;
mod power;
mod serial;
mod shape;
mod signed_rank;
mod spending;
mod steady;
mod student;
mod t_test;
mod trend;

pub use adjust::{benjamini_hochberg, holm};
pub use change_points::{ChangePoint, change_points};
pub use exact::{exp, ln};
pub use fisher::fisher_exact;
pub use mann_whitney::mann_whitney;
pub use moments::{mean, median, standard_deviation, variance};
pub use outlier::{OutlierLabels, label_outliers};
pub use power::{
    blocks_for_difference, blocks_for_equivalence, detectable_effect, equivalence_limit,
};
pub use serial::{lag_one, von_neumann};
pub use shape::is_bimodal;
pub use signed_rank::{SignedRank, sign_flip};
pub use spending::spent_at_looks;
pub use steady::mser5_truncation;
pub use student::{noncentral_t_cdf, t_cdf, t_quantile};
pub use t_test::TTest;
pub use trend::{mann_kendall, theil_sen};
