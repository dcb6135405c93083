//! Every format of a report, one line each.

use super::renderer::Renderer;
use super::{benchfmt, csv, html, json, mail, markdown, pptx, pull_request, terminal, xlsx};

/// Every renderer.
pub static RENDERERS: &[&dyn Renderer] = &[
    &terminal::Entry,
    &markdown::Entry,
    &pull_request::Entry,
    &mail::Entry,
    &json::Entry,
    &csv::Entry,
    &benchfmt::Entry,
    &xlsx::Entry,
    &html::Entry,
    &pptx::Entry,
];
