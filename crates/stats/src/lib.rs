//! Numerics only: distributions, tests, corrections, power.
//!
//! This crate must not know what a campaign is: it takes slices of numbers and
//! returns numbers. Logarithms and exponentials come from `libm`, so that their
//! bits do not depend on the CPU; sums run in the order given. The formulas are
//! those of docs/method.md, with their sources beside them.

mod adjust;
mod beta;
mod change_points;
mod confidence_sequence;
mod covariates;
mod distance_sums;
mod exact;
mod fisher;
mod harrell_davis;
mod inversions;
mod jackknife;
mod mann_whitney;
mod mann_whitney_null;
mod moments;
mod nested;
mod noncentral;
mod normal;
mod outlier;
mod pair_slopes;
mod power;
mod proportion;
mod selection;
mod serial;
mod shape;
mod sign_sequence;
mod signed_rank;
mod signed_rank_null;
mod spending;
mod steady;
mod stirling;
mod stretches;
mod student;
mod t_test;
mod trend;
mod variance_ratio;
mod walsh;
mod without_one;

pub use adjust::{benjamini_hochberg, holm};
pub use beta::{beta_quantile, beta_regularized};
pub use change_points::{ChangePoint, change_points};
pub use confidence_sequence::confidence_sequence_half_width;
pub use covariates::{JointTest, WithCovariates, coefficient_beside, neighbours_beside};
pub use exact::{exp, ln};
pub use fisher::fisher_exact;
pub use harrell_davis::harrell_davis;
pub use jackknife::jackknife;
pub use mann_whitney::mann_whitney;
pub use mann_whitney_null::{mann_whitney_cdf, mann_whitney_survival};
pub use moments::{mean, median, standard_deviation, variance};
pub use nested::{NestedVariance, VarianceComponent};
pub use noncentral::{noncentral_t_cdf, noncentral_t_survival};
pub use normal::{normal_cdf, normal_quantile, normal_survival};
pub use outlier::{OutlierLabels, label_outliers};
pub use power::{
    blocks_for_difference, blocks_for_equivalence, detectable_effect, equivalence_limit,
};
pub use proportion::{quantile_interval, wilson_interval};
pub use serial::{lag_one, von_neumann};
pub use shape::is_bimodal;
pub use sign_sequence::sign_sequence;
pub use signed_rank::{SignedRank, sign_flip};
pub use signed_rank_null::{signed_rank_cdf, signed_rank_survival};
pub use spending::spent_at_looks;
pub use steady::mser5_truncation;
pub use stretches::MonotoneTrend;
pub use student::{t_cdf, t_quantile, t_survival};
pub use t_test::TTest;
pub use trend::{mann_kendall, theil_sen};
pub use variance_ratio::{f_cdf, f_quantile, f_survival};
pub use without_one::{Rest, SumsWithoutEach};
