//! `cargo xtask tidy`: the rules of the house that no compiler checks.

mod circles;
mod citations;
mod formats;
mod house;
mod imports;
mod invariants;
mod layers;
mod manifest;
mod page;
mod phrases;
mod sizes;
mod test_names;
mod text;
mod tolerated_circles;
mod tree;
mod type_names;
mod venue_names;
mod words;

pub use tree::{SourceFile, files};

use crate::cargo::Cargo;
use crate::problems::{CommandResult, Problems};

/// Checks every rule and reports everything found.
pub fn tidy(cargo: &Cargo) -> CommandResult {
    let mut found = layers::check(&cargo.metadata()?);
    let files = files(cargo.root())
        .map_err(|error| Problems::one(format!("cannot read the workspace: {error}")))?;
    for file in &files {
        found.extend(text::check(file));
        if file.is_rust() {
            found.extend(sizes::check(file));
        }
    }
    found.extend(layers::check_page(&files));
    found.extend(formats::check(&files));
    found.extend(manifest::check(&files));
    found.extend(phrases::check(&files));
    found.extend(citations::check(&files, &|path| cargo.root().join(path).exists()));
    found.extend(circles::check(&files));
    found.extend(invariants::check(&files));
    found.extend(test_names::check(&files));
    found.extend(words::check(&files));
    found.extend(venue_names::check(&files));
    Problems::outcome(found)
}
