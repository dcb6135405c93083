//! What draws reports: one file for each format.

mod bar;
mod grid;
mod inert;
mod ladder;
mod renderer;

pub use renderer::{Page, Renderer};

/// Declares the formats' modules and lists what draws each format.
macro_rules! renderers {
    ($($format:ident),* $(,)?) => {
        $(mod $format;)*

        /// Every renderer.
        pub static RENDERERS: &[&dyn Renderer] = &[$(&$format::Entry),*];
    };
}

renderers! {
    terminal,
    markdown,
    pull_request,
    mail,
    json,
    csv,
    benchfmt,
    xlsx,
    html,
    pptx,
}
