//! How an entry of the catalogue introduces itself.

/// Name and explanation of a catalogue entry; every listing and page is made from it.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// snake_case, stable for ever.
    pub id: &'static str,
    /// One line without a full stop.
    pub summary: &'static str,
    /// Markdown: what it means, what moves it, when it lies, and its sources.
    pub doc: &'static str,
}
