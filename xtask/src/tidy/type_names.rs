//! Types by name: a public name has one meaning in the whole workspace.

use super::sizes::is_test;
use super::tree::SourceFile;
use std::collections::BTreeMap;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Ident, Item, Visibility};

/// Public types that several crates may define, and why.
const SHARED: &[(&str, &str)] = &[
    ("Entry", "the unit struct of a file of a catalogue, which no other crate names"),
    ("Error", "each crate's own error: it is named with its crate, as `std::io::Error` is"),
    ("ErrorKind", "the kinds of a crate's own error"),
    ("Result", "shorthand for a crate's own error"),
];

/// A type that a file defines, outside of its tests.
pub struct TypeName {
    /// Its name.
    pub name: String,
    /// Where it is defined, for a message.
    pub place: String,
    is_public: bool,
    /// The directory of its crate; none of what is no crate's source.
    own_crate: Option<String>,
}

/// The types of these files.
pub fn types(files: &[SourceFile]) -> Vec<TypeName> {
    let mut all = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        // What does not parse is told by the check of sizes.
        if let Ok(tree) = file.syntax() {
            let mut types = Types { file, all: &mut all };
            types.visit_file(tree);
        }
    }
    all
}

struct Types<'a> {
    file: &'a SourceFile,
    all: &'a mut Vec<TypeName>,
}

impl Types<'_> {
    fn note(&mut self, visibility: &Visibility, name: &Ident) {
        self.all.push(TypeName {
            name: name.to_string(),
            place: self.file.at(name.span().start().line - 1),
            is_public: matches!(visibility, Visibility::Public(_)),
            own_crate: crate_of(&self.file.path),
        });
    }
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(one) => self.note(&one.vis, &one.ident),
            Item::Enum(one) => self.note(&one.vis, &one.ident),
            Item::Union(one) => self.note(&one.vis, &one.ident),
            Item::Trait(one) => self.note(&one.vis, &one.ident),
            Item::Type(one) => self.note(&one.vis, &one.ident),
            Item::Mod(module) if !is_test(&module.attrs) => visit::visit_item_mod(self, module),
            _ => {}
        }
    }
}

/// The directory of the crate whose source a file is.
fn crate_of(path: &Path) -> Option<String> {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let source = parts.iter().position(|part| part == "src")?;
    Some(parts[..source].join("/"))
}

/// Public names that several crates define.
pub fn check(types: &[TypeName]) -> Vec<String> {
    let mut places: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for one in types.iter().filter(|one| one.is_public && !is_shared(&one.name)) {
        if let Some(own_crate) = &one.own_crate {
            places.entry(&one.name).or_default().entry(own_crate).or_insert(&one.place);
        }
    }
    let mut found = Vec::new();
    for (name, crates) in places {
        let places: Vec<&str> = crates.into_values().collect();
        if let [first, others @ ..] = places.as_slice()
            && !others.is_empty()
        {
            found.push(format!(
                "{first}: `{name}` is public elsewhere too; one name has one meaning ({})",
                others.join(", ")
            ));
        }
    }
    found
}

fn is_shared(name: &str) -> bool {
    SHARED.iter().any(|(shared, _)| *shared == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile::new(path, *text);
        check(&types(&files.iter().map(file).collect::<Vec<_>>()))
    }

    #[test]
    fn a_public_name_of_two_crates_is_refused() {
        let problems = found(&[
            ("crates/a/src/x.rs", "//! Doc.\npub struct Report;\n"),
            ("proofs/src/y.rs", "pub mod inner { pub enum Report {} }"),
        ]);
        assert_eq!(
            problems,
            ["crates/a/src/x.rs:2: `Report` is public elsewhere too; one name has one meaning \
              (proofs/src/y.rs:1)"]
        );
    }

    #[test]
    fn what_only_its_own_crate_can_name_is_not() {
        for text in [
            "struct Report;",
            "pub(crate) trait Report {}",
            "pub enum Error {}",
            "#[cfg(test)]\nmod tests { pub struct Report; }",
            "fn f() { pub struct Report; }",
        ] {
            let both = [("crates/a/src/x.rs", text), ("crates/b/src/y.rs", text)];
            assert_eq!(found(&both), Vec::<String>::new(), "{text}");
        }
        let text = "pub type Ring = u8;";
        let parallel = [("crates/a/src/with.rs", text), ("crates/a/src/without.rs", text)];
        assert_eq!(found(&parallel), Vec::<String>::new());
        let tests = [("crates/a/src/x.rs", text), ("crates/b/tests/y.rs", text)];
        assert_eq!(found(&tests), Vec::<String>::new());
    }
}
