//! The page's figures where there is no page: data in, SVG and PNG out.
//!
//! This crate must not know what a report is, or where its data come from: it is given
//! `schedlab.page/1` as text, runs the script of the page's own figures (`web::FIGURES`) in an
//! engine that can reach nothing, and draws what that writes. The same data give the same bytes.

#[cfg(feature = "pictures")]
mod engine;
mod error;
mod figure;
#[cfg(not(feature = "pictures"))]
mod left_out;
#[cfg(feature = "pictures")]
mod picture;

#[cfg(feature = "pictures")]
pub use engine::Figures;
pub use error::Error;
pub use figure::{Figure, Picture, Theme, lacking};
#[cfg(not(feature = "pictures"))]
pub use left_out::{Figures, Pictures};
#[cfg(feature = "pictures")]
pub use picture::Pictures;
