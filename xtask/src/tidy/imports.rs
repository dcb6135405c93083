//! Which module of a crate imports which, read from its source.
//!
//! A file imports another of its crate where its code, tests apart, names what the other defines:
//! by a path from the crate's root (`crate::judge::judge_at`), from a parent (`super::judge`), or
//! from itself (`judge::judge_at`). A name that a module re-exports counts as a name of the file
//! that defines it, and the re-export itself as no import.

use super::sizes::is_test;
use super::tree::SourceFile;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{File, Item, ItemMod, ItemUse, UseTree, Visibility};

/// The names of modules from the crate's root; none is the root itself.
pub type ModulePath = Vec<String>;

/// One file of a crate that names what another defines.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// The module that names it.
    pub from: ModulePath,
    /// The module that defines it.
    pub to: ModulePath,
    /// Path and line of the name.
    pub place: String,
}

/// The folder of every crate among the files.
pub fn crates(files: &[SourceFile]) -> BTreeSet<PathBuf> {
    let roots = files
        .iter()
        .filter(|file| ["src/lib.rs", "src/main.rs"].iter().any(|root| file.path.ends_with(root)));
    roots.filter_map(|file| Some(file.path.parent()?.parent()?.to_owned())).collect()
}

/// Every import of the crate in `folder`, in order of its files and lines.
pub fn imports(folder: &Path, files: &[SourceFile]) -> Vec<Import> {
    let source = folder.join("src");
    let parsed: Vec<(&SourceFile, ModulePath, &File)> = files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(&source))
        // What does not parse is told by the check of sizes.
        .filter_map(|file| Some((file, module_of(&file.path, &source)?, file.syntax().ok()?)))
        .collect();
    let mut crate_names = CrateNames::default();
    for (_, module, _) in &parsed {
        crate_names.modules.entry(module.clone()).or_default();
    }
    for (_, module, tree) in &parsed {
        crate_names.note(module, tree);
    }
    let mut found = Vec::new();
    for (file, module, tree) in &parsed {
        if !crate_names.is_for_tests(module) {
            let (from, scope) = (module, module.clone());
            Search { file, names: &crate_names, from, scope, imports: &mut found }.visit_file(tree);
        }
    }
    found
}

/// The module of a file below the crate's `src`.
fn module_of(path: &Path, source: &Path) -> Option<ModulePath> {
    let path = path.strip_prefix(source).ok()?.with_extension("");
    let parts: ModulePath = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    Some(if is_root { Vec::new() } else { parts })
}

/// What the modules of a crate define and re-export.
#[derive(Default)]
struct CrateNames {
    modules: BTreeMap<ModulePath, ModuleNames>,
    /// Modules that only tests have.
    for_tests: BTreeSet<ModulePath>,
}

#[derive(Default)]
struct ModuleNames {
    /// Each name that a `use` brings, with its path as written.
    used: BTreeMap<String, Vec<String>>,
    /// The paths of `use path::*`.
    globs: Vec<Vec<String>>,
    /// What the file defines, modules apart.
    items: BTreeSet<String>,
}

impl CrateNames {
    fn is_for_tests(&self, module: &[String]) -> bool {
        (1..=module.len()).any(|length| self.for_tests.contains(&module[..length]))
    }

    fn note(&mut self, module: &[String], tree: &File) {
        let names = self.modules.entry(module.to_vec()).or_default();
        for item in &tree.items {
            match item {
                Item::Mod(inner) if is_test(&inner.attrs) => {
                    self.for_tests.insert([module, &[inner.ident.to_string()]].concat());
                }
                Item::Use(item) => {
                    for used in uses(&item.tree) {
                        match used.name {
                            Some(name) => {
                                names.used.insert(name, used.path);
                            }
                            None => names.globs.push(used.path),
                        }
                    }
                }
                other => names.items.extend(name_of(other)),
            }
        }
    }

    /// The module of the file that defines what a path inside `scope` names; nothing where that
    /// is no file of this crate, or where only the compiler could say.
    fn definer(&self, path: &[String], scope: &[String]) -> Option<ModulePath> {
        self.definer_within(path, scope, 8)
    }

    /// `steps` bounds re-exports of re-exports.
    fn definer_within(&self, path: &[String], scope: &[String], steps: u8) -> Option<ModulePath> {
        let steps = steps.checked_sub(1)?;
        let mut base = scope;
        let mut rest = path;
        while let [name, after @ ..] = rest {
            match name.as_str() {
                "crate" => base = &[],
                "super" => base = base.split_last()?.1,
                "self" => {}
                _ => break,
            }
            rest = after;
        }
        let is_relative = rest.len() == path.len();
        // A module in braces belongs to its file.
        let mut module = base.to_vec();
        while !self.modules.contains_key(&module) {
            module.pop()?;
        }
        let mut is_module = false;
        while let [name, after @ ..] = rest {
            module.push(name.clone());
            if !self.modules.contains_key(&module) {
                module.pop();
                break;
            }
            (rest, is_module) = (after, true);
        }
        let Some(name) = rest.first() else {
            // A lone word that is also a module's name is a variable.
            return (!is_relative || path.len() > 1).then_some(module);
        };
        let names = self.modules.get(&module)?;
        if names.items.contains(name) {
            return Some(module);
        }
        if let Some(used) = names.used.get(name) {
            let is_itself = used.first() == Some(name);
            return if is_itself { None } else { self.definer_within(used, &module, steps) };
        }
        let through_glob = names.globs.iter().find_map(|glob| {
            let definer = self.definer_within(&[glob.as_slice(), rest].concat(), &module, steps)?;
            self.modules.get(&definer)?.items.contains(name).then_some(definer)
        });
        // What a macro defines is seen nowhere.
        through_glob.or_else(|| (!is_relative || is_module).then_some(module))
    }
}

/// The name that an item defines.
fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// One path of a `use`.
pub struct Used {
    /// Its names, from the first.
    pub path: Vec<String>,
    /// The name that it brings; nothing of `*`.
    pub name: Option<String>,
}

/// All paths of a `use`.
pub fn uses(tree: &UseTree) -> Vec<Used> {
    match tree {
        UseTree::Path(outer) => {
            let outer_name = outer.ident.to_string();
            let mut all = uses(&outer.tree);
            for used in &mut all {
                if used.path.first().is_some_and(|first| first == "self") {
                    // `use outer::{self}`
                    used.path.clear();
                    used.name = used.name.take().filter(|name| name != "self");
                    used.name.get_or_insert_with(|| outer_name.clone());
                }
                used.path.insert(0, outer_name.clone());
            }
            all
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            vec![Used { path: vec![name.clone()], name: Some(name) }]
        }
        UseTree::Rename(name) => {
            let path = vec![name.ident.to_string()];
            vec![Used { path, name: Some(name.rename.to_string()) }]
        }
        UseTree::Glob(_) => vec![Used { path: Vec::new(), name: None }],
        UseTree::Group(group) => group.items.iter().flat_map(uses).collect(),
    }
}

/// Looks through one file.
struct Search<'a> {
    file: &'a SourceFile,
    names: &'a CrateNames,
    /// The file's module.
    from: &'a ModulePath,
    /// Where the code that is looked at lies: in the file's module or in one in braces.
    scope: ModulePath,
    imports: &'a mut Vec<Import>,
}

impl Search<'_> {
    fn note(&mut self, path: &[String], line: usize) {
        if let Some(to) = self.names.definer(path, &self.scope)
            && to != *self.from
            && !self.names.is_for_tests(&to)
        {
            let place = self.file.at(line - 1);
            self.imports.push(Import { from: self.from.clone(), to, place });
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

    /// A lone word among tokens may be anything.
    fn note_tokens(&mut self, path: &[String], line: usize) {
        let names: Vec<String> =
            path.iter().filter(|part| !part.starts_with(':')).cloned().collect();
        if names.len() > 1 {
            self.note(&names, line);
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            self.scope.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.scope.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            let line = item.use_token.span.start().line;
            for used in uses(&item.tree) {
                self.note(&used.path, line);
            }
        }
    }

    /// `pub(super)` names no definition.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

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
