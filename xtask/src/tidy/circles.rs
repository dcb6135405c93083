//! Imports among the top-level modules of a crate: they go one way.
//!
//! A module imports another where its code, tests apart, names it by a path from the crate's root
//! (`crate::judge::judge_at`) or from a parent (`super::judge`). What the root re-exports counts
//! as the module that has it. Submodules count as the module that they are in.

use super::sizes::is_test;
use super::tree::SourceFile;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{File, Item, ItemMod, ItemUse, UseTree};

/// The crates that are checked so far.
const CHECKED: &[&str] = &["crates/analysis"];

/// For each module, those that it imports, each with the first place.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// Every circle of the checked crates.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    CHECKED.iter().flat_map(|folder| circles(&imports(Path::new(folder), files))).collect()
}

/// The imports of the crate in `folder`.
fn imports(folder: &Path, files: &[SourceFile]) -> Imports {
    let source = folder.join("src");
    let parsed: Vec<(&SourceFile, Vec<String>, File)> = files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(&source))
        // What does not parse is told by the check of sizes.
        .filter_map(|file| {
            Some((file, module_of(&file.path, &source)?, syn::parse_file(&file.text).ok()?))
        })
        .collect();
    let modules = parsed.iter().filter_map(|(_, module, _)| module.first().cloned()).collect();
    let mut root = Root { modules, for_tests: BTreeSet::new(), exports: BTreeMap::new() };
    for (_, _, tree) in parsed.iter().filter(|(_, module, _)| module.is_empty()) {
        root.note(tree);
    }
    let mut found = Imports::new();
    for (file, module, tree) in &parsed {
        let Some(own) = module.first().filter(|own| !root.for_tests.contains(*own)) else {
            continue;
        };
        let imports = found.entry(own.clone()).or_default();
        Search { file, root: &root, module: module.clone(), imports }.visit_file(tree);
    }
    found
}

/// The module of a file below the crate's `src`; nothing of the root's own file.
fn module_of(path: &Path, source: &Path) -> Option<Vec<String>> {
    let path = path.strip_prefix(source).ok()?.with_extension("");
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    Some(if is_root { Vec::new() } else { parts })
}

/// What stands at the crate's root.
struct Root {
    modules: BTreeSet<String>,
    /// Modules that only tests have.
    for_tests: BTreeSet<String>,
    /// The module of each name that the root uses.
    exports: BTreeMap<String, String>,
}

impl Root {
    fn note(&mut self, tree: &File) {
        for item in &tree.items {
            match item {
                Item::Mod(module) if is_test(&module.attrs) => {
                    self.for_tests.insert(module.ident.to_string());
                }
                Item::Use(item) => {
                    for path in paths(&item.tree) {
                        let names =
                            path.iter().skip_while(|name| *name == "self" || *name == "crate");
                        let names: Vec<&String> = names.collect();
                        if let [module, .., name] = names[..] {
                            self.exports.insert(name.clone(), module.clone());
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The top-level module that a path from inside `module` leads to.
    fn target(&self, path: &[String], module: &[String]) -> Option<String> {
        let mut base = module;
        let mut names = path.iter();
        match names.next()?.as_str() {
            "crate" => base = &[],
            "super" => base = base.split_last()?.1,
            _ => return None,
        }
        let mut rest = names.as_slice();
        while let [name, after @ ..] = rest
            && name == "super"
        {
            base = base.split_last()?.1;
            rest = after;
        }
        if let Some(top) = base.first() {
            return Some(top.clone());
        }
        let name = rest.first()?;
        if self.modules.contains(name) {
            return Some(name.clone());
        }
        self.exports.get(name).cloned()
    }
}

/// Looks through one file.
struct Search<'a> {
    file: &'a SourceFile,
    root: &'a Root,
    /// Where the code that is looked at lies.
    module: Vec<String>,
    imports: &'a mut BTreeMap<String, String>,
}

impl Search<'_> {
    fn note(&mut self, path: &[String], line: usize) {
        let target = self.root.target(path, &self.module);
        let is_other = |target: &String| {
            Some(target) != self.module.first() && !self.root.for_tests.contains(target)
        };
        if let Some(target) = target.filter(is_other) {
            let place = self.file.at(line - 1);
            self.imports.entry(target).or_insert(place);
        }
    }

    /// Paths among the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 1;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if path.last().is_none_or(|last| last != "::") {
                        self.note_tokens(&path, line);
                        path.clear();
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                }
                TokenTree::Punct(colon) if colon.as_char() == ':' && !path.is_empty() => {
                    match path.last().map(String::as_str) {
                        Some(":") => *path.last_mut().unwrap_or(&mut String::new()) = "::".into(),
                        _ => path.push(":".to_owned()),
                    }
                }
                other => {
                    self.note_tokens(&path, line);
                    path.clear();
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.note_tokens(&path, line);
    }

    fn note_tokens(&mut self, path: &[String], line: usize) {
        let names: Vec<String> =
            path.iter().filter(|part| !part.starts_with(':')).cloned().collect();
        self.note(&names, line);
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            self.module.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let line = item.use_token.span.start().line;
        for path in paths(&item.tree) {
            self.note(&path, line);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let line = path.segments.first().map_or(1, |first| first.ident.span().start().line);
        self.note(&names, line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, own: &'ast syn::Macro) {
        self.tokens(own.tokens.clone());
        visit::visit_macro(self, own);
    }
}

/// Every path of a `use`.
fn paths(tree: &UseTree) -> Vec<Vec<String>> {
    match tree {
        UseTree::Path(path) => {
            let rest = paths(&path.tree).into_iter();
            rest.map(|rest| [vec![path.ident.to_string()], rest].concat()).collect()
        }
        UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        UseTree::Rename(name) => vec![vec![name.ident.to_string()]],
        UseTree::Glob(_) => vec![Vec::new()],
        UseTree::Group(group) => group.items.iter().flat_map(paths).collect(),
    }
}

/// One circle through each module that is in one and not in those told before.
fn circles(imports: &Imports) -> Vec<String> {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for module in imports.keys() {
        let Some(circle) = shortest_circle(imports, module) else { continue };
        if circle.iter().any(|module| told.contains(module)) {
            continue;
        }
        told.extend(&circle);
        let next = circle.iter().skip(1).chain(circle.first());
        let places = circle.iter().zip(next.clone()).filter_map(|(one, other)| {
            Some(format!("{other} at {}", imports.get(*one)?.get(*other)?))
        });
        let places: Vec<String> = places.collect();
        let names = circle.iter().chain(circle.first()).copied().collect::<Vec<_>>();
        found.push(format!(
            "modules import each other in a circle: {} ({})",
            names.join(" -> "),
            places.join(", ")
        ));
    }
    found
}

/// The modules of the shortest way from a module back to itself.
fn shortest_circle<'a>(imports: &'a Imports, start: &'a str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut due = VecDeque::from([start]);
    while let Some(module) = due.pop_front() {
        for next in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut circle = vec![module];
                while let Some(previous) = before.get(circle[circle.len() - 1]) {
                    circle.push(*previous);
                }
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(next.as_str()) {
                before.insert(next, module);
                due.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: Path::new("crates/analysis/src").join(path),
            text: (*text).to_owned(),
        };
        check(&files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_circle_is_told_once_with_its_places() {
        let problems = found(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "//! A.\nuse crate::b::{self, one};\n"),
            ("b.rs", "use crate::c;\nuse crate::d::two;\n"),
            ("c.rs", "fn f() { crate::a::g() }\n"),
            ("d.rs", "use std::fmt;\n"),
        ]);
        let place = |module: &str, line: usize| format!("crates/analysis/src/{module}.rs:{line}");
        let expected = format!(
            "modules import each other in a circle: a -> b -> c -> a (b at {}, c at {}, a at {})",
            place("a", 2),
            place("b", 1),
            place("c", 1)
        );
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn imports_that_go_one_way_are_no_circle() {
        let problems = found(&[
            ("lib.rs", "mod a;\nmod b;\npub use a::judge;\n#[cfg(test)]\nmod fixtures;\n"),
            ("a.rs", "use crate::b::one;\nuse self::inner::two;\nmod inner { use super::three; }"),
            ("a/inner.rs", "use super::three;\nuse super::super::b::one;\n"),
            ("b.rs", "#[cfg(test)]\nmod tests { use super::*; use crate::{a, judge}; }"),
            ("fixtures.rs", "use crate::a::three;\n"),
        ]);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn what_is_hidden_in_submodules_macros_and_re_exports_is_found() {
        for hidden in [
            "fn f() { crate::judge() }",
            "fn f() { println!(\"{}\", crate::judge()) }",
            "fn f() { println!(\"{}\", super::a::judge()) }",
            "mod inner { use super::super::a::judge; }",
            "use super::{a::judge as decide};",
            "fn f(x: crate::a::X) {}",
        ] {
            let problems = found(&[
                ("lib.rs", "mod a;\nmod b;\npub use a::judge;\n"),
                ("a/inner.rs", "use crate::b::one;\n"),
                ("a.rs", "mod inner;\npub fn judge() {}\n"),
                ("b.rs", hidden),
            ]);
            assert_eq!(problems.len(), 1, "{hidden}: {problems:?}");
        }
    }

    #[test]
    fn other_crates_are_not_checked() {
        let file = |path: &str, text: &str| SourceFile { path: path.into(), text: text.into() };
        let problems = check(&[
            file("crates/report/src/a.rs", "use crate::b::one;"),
            file("crates/report/src/b.rs", "use crate::a::two;"),
        ]);
        assert_eq!(problems, Vec::<String>::new());
    }
}
