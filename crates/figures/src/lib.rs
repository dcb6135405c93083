//! The page's figures where there is no page: data in, SVG and PNG out.
//!
//! This crate must not know what a report is, or where its data come from: it is given
//! `schedlab.page/1` as text, runs the script of the page's own figures (`web::FIGURES`) in an
//! engine that can reach nothing, and draws what that writes. The same data give the same bytes.

mod engine;
mod error;
mod picture;

pub use engine::{Figure, Figures, Theme};
pub use error::Error;
pub use picture::{Picture, Pictures, lacking};
