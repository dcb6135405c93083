//! What draws reports: one file for each format.

mod bar;
mod benchfmt;
mod csv;
mod grid;
mod html;
mod inert;
mod json;
mod ladder;
mod mail;
mod markdown;
mod pptx;
mod pull_request;
mod registry;
mod renderer;
mod terminal;
mod xlsx;

pub use registry::RENDERERS;
pub use renderer::{Page, Renderer};
