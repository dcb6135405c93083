//! Imports that close a circle and are not refused.

/// Those among the submodules of one module.
pub struct Tangle {
    /// The crate's folder.
    pub folder: &'static str,
    /// The parent of all these modules; nothing of the crate's root.
    pub parent: &'static str,
    /// The module that imports, what it imports, and why.
    pub imports: &'static [(&'static str, &'static str, &'static str)],
}

/// Without these imports no crate has a circle. A new circle is refused, and so is a row that is
/// not needed any more.
pub const TOLERATED: &[Tangle] = &[Tangle {
    folder: "crates/contract",
    parent: "",
    imports: &[("venue_entry", "catalogue", "a venue is opened with the catalogue it is in")],
}];
