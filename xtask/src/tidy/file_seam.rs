//! Executor and store reach files by `sys::Files` alone, in whose place the simulator of faults has
//! its own (docs/adr/0046-one-seam-for-faults-of-files.md): what goes past it no schedule reaches.
//! What may go past it is in one table, with the reason.

use super::imports::uses;
use super::sizes::is_test;
use super::tree::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::replace;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprMethodCall, ExprPath, ImplItemFn, Item, ItemFn, ItemMod, ItemUse, Macro, Token,
};

/// Sources that the rule is for.
const CHECKED: [&str; 2] = ["crates/executor/src", "crates/store/src"];
/// Modules whose functions and types ask the kernel for files.
const MODULES: [&[&str]; 3] = [&["std", "fs"], &["std", "os", "unix", "fs"], &["rustix", "fs"]];
/// A descriptor that somebody has becomes a file: nothing is opened.
const OF_DESCRIPTOR: [&str; 4] = ["std", "fs", "File", "from"];
/// Functions of `sys` that do, and types with such functions.
const OF_SYS: [&str; 6] =
    ["Draft", "append_to", "open_regular", "read_regular", "remove_tree", "write_named"];
/// Methods of a path that do; those of `sys::Files` have arguments.
const OF_PATHS: [&str; 10] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// A file, or one function of it, that may go past `sys::Files`.
struct Permitted {
    path: &'static str,
    /// All of the file where it is empty.
    function: &'static str,
    why: &'static str,
}

const fn permitted(path: &'static str, function: &'static str, why: &'static str) -> Permitted {
    Permitted { path, function, why }
}

const LOG: &str = "a process that is started inherits its log; a simulated machine starts none";
const COPY: &str = "a copy for others, which is made again from the campaign, never appended to";
const CHOICE: &str = "which directory is a user's own; a simulated machine is given one";
const READ: &str = "a user asks; what is only read loses nothing";

/// All of them.
const PERMITTED: &[Permitted] = &[
    permitted("crates/executor/src/child.rs", "", LOG),
    permitted("crates/executor/src/guardian.rs", "start", LOG),
    permitted("crates/executor/src/host_load.rs", "", LOG),
    permitted("crates/executor/src/supervisor.rs", "", LOG),
    permitted("crates/executor/src/user_directories.rs", "", CHOICE),
    permitted(
        "crates/executor/src/lock.rs",
        "noticed",
        "other users look whose notice it is; a simulated machine has one user",
    ),
    permitted(
        "crates/executor/src/trial/invocation.rs",
        "refuse_full",
        "asks how full a disk is, after a process failed; a simulated machine starts none",
    ),
    permitted("crates/store/src/bundle.rs", "", COPY),
    permitted("crates/store/src/redaction.rs", "", COPY),
    permitted("crates/store/src/lookup.rs", "resolve", READ),
    permitted("crates/store/src/strange_keys.rs", "in_records", READ),
];

/// Checks the files of one crate.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    check_with(files, PERMITTED)
}

fn check_with(files: &[SourceFile], permitted: &[Permitted]) -> Vec<String> {
    let is_checked = |file: &&SourceFile| {
        file.is_rust() && CHECKED.iter().any(|folder| file.path.starts_with(folder))
    };
    let checked: Vec<&SourceFile> = files.iter().filter(is_checked).collect();
    let for_tests: BTreeSet<PathBuf> = checked.iter().copied().flat_map(modules_of_tests).collect();
    let mut found = Vec::new();
    for file in checked.into_iter().filter(|file| !for_tests.contains(&file.path)) {
        let own = permitted.iter().filter(|one| file.path == Path::new(one.path));
        let own: Vec<&Permitted> = own.collect();
        let uses = uses_past_the_seam(file);
        let is_of = |one: &Permitted, used: &PastUse| {
            one.function.is_empty() || one.function == used.function
        };
        let refused = uses.iter().filter(|used| !own.iter().any(|one| is_of(one, used)));
        found.extend(refused.map(|used| {
            format!(
                "{}: `{}` goes past `sys::Files`, so that no schedule of faults reaches it; take \
                 it from the machine, or give the reason in xtask/src/tidy/file_seam.rs",
                file.at(used.line - 1),
                used.name
            )
        }));
        let unused = own.iter().filter(|one| !uses.iter().any(|used| is_of(one, used)));
        found.extend(unused.map(|one| {
            format!(
                "xtask/src/tidy/file_seam.rs: nothing in {} {} goes past `sys::Files` any more \
                 ({})",
                one.path, one.function, one.why
            )
        }));
    }
    found
}

/// The files of modules that only tests have, which this file declares.
fn modules_of_tests(file: &SourceFile) -> Vec<PathBuf> {
    let is_root = ["lib.rs", "main.rs"].iter().any(|root| file.path.ends_with(root));
    let folder = match file.path.parent() {
        Some(parent) if is_root => parent.to_owned(),
        _ => file.path.with_extension(""),
    };
    // What does not parse is told by the check of sizes.
    let Ok(tree) = file.syntax() else { return Vec::new() };
    let name = |item: &Item| match item {
        Item::Mod(module) if module.content.is_none() && is_test(&module.attrs) => {
            Some(folder.join(format!("{}.rs", module.ident)))
        }
        _ => None,
    };
    tree.items.iter().filter_map(name).collect()
}

/// A use of a file that no `sys::Files` answers.
struct PastUse {
    name: String,
    /// The function that it stands in; empty outside of any.
    function: String,
    /// From 1.
    line: usize,
}

fn uses_past_the_seam(file: &SourceFile) -> Vec<PastUse> {
    let Ok(tree) = file.syntax() else { return Vec::new() };
    let mut names = BroughtNames::default();
    names.visit_file(tree);
    let mut search = Search { names: names.0, function: String::new(), found: Vec::new() };
    search.visit_file(tree);
    search.found
}

/// What each name that a `use` brings stands for.
#[derive(Default)]
struct BroughtNames(BTreeMap<String, Vec<String>>);

impl<'ast> Visit<'ast> for BroughtNames {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for used in uses(&item.tree) {
            if let Some(name) = used.name {
                self.0.insert(name, used.path);
            }
        }
    }
}

struct Search {
    names: BTreeMap<String, Vec<String>>,
    function: String,
    found: Vec<PastUse>,
}

impl Search {
    fn note(&mut self, name: String, line: usize) {
        let function = self.function.clone();
        self.found.push(PastUse { name, function, line });
    }

    /// What a macro is given, where that is a list of expressions.
    fn arguments(&mut self, called: &Macro) {
        let parse = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(expressions) = called.parse_body_with(parse) {
            for expression in &expressions {
                self.visit_expr(expression);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_test(&function.attrs) {
            let outer = replace(&mut self.function, function.sig.ident.to_string());
            visit::visit_item_fn(self, function);
            self.function = outer;
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_test(&function.attrs) {
            let outer = replace(&mut self.function, function.sig.ident.to_string());
            visit::visit_impl_item_fn(self, function);
            self.function = outer;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for used in uses(&item.tree) {
            if used.name.is_none() && MODULES.iter().any(|module| used.path == **module) {
                let line = item.use_token.span.start().line;
                self.note(format!("use {}::*", used.path.join("::")), line);
            }
        }
    }

    fn visit_expr_path(&mut self, expression: &'ast ExprPath) {
        let segments = &expression.path.segments;
        let written: Vec<String> = segments.iter().map(|one| one.ident.to_string()).collect();
        let brought = written.first().and_then(|first| self.names.get(first));
        let whole = match (brought, written.get(1..)) {
            (Some(path), Some(rest)) => [path.as_slice(), rest].concat(),
            _ => written.clone(),
        };
        if is_past(&whole) {
            let line = segments.first().map_or(1, |first| first.ident.span().start().line);
            self.note(written.join("::"), line);
        }
        visit::visit_expr_path(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.to_string();
        if call.args.is_empty() && OF_PATHS.contains(&name.as_str()) {
            self.note(format!(".{name}()"), call.method.span().start().line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.arguments(called);
    }
}

/// Whether this path is of a function that asks the kernel for a file.
fn is_past(path: &[String]) -> bool {
    let is_of_module = |module: &&[&str]| {
        path.len() > module.len() && path.iter().zip(module.iter()).all(|(one, other)| one == other)
    };
    match path {
        [first, name, ..] if first == "sys" => OF_SYS.contains(&name.as_str()),
        _ => path != OF_DESCRIPTOR && MODULES.iter().any(is_of_module),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/store/src/a.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        check_with(&[SourceFile::new(path, text)], &[permitted(PATH, "noted", "is asked")])
    }

    /// The same without what is told of the table.
    fn refused(path: &str, text: &str) -> Vec<String> {
        let mut found = found(path, text);
        found.retain(|problem| problem.contains("goes past `sys::Files`,"));
        found
    }

    #[test]
    fn a_file_that_is_reached_past_the_seam_is_refused_with_its_line() {
        for code in [
            "std::fs::read(path)",
            "fs::remove_file(path)",
            "File::open(path)",
            "path.map(File::create)",
            "OpenOptions::new().open(path)",
            "rustix::fs::statvfs(path)",
            "symlink(one, other)",
            "sys::append_to(path)",
            "sys::Draft::beside(path)",
            "open_regular(path)",
            "path.exists()",
            "home.join(name).is_file()",
            "assert!(fs::read(path).is_ok())",
            "f(|| { g(fs::read(path)) })",
        ] {
            let text = format!(
                "use std::fs::{{self, File, OpenOptions}};\nuse std::os::unix::fs::symlink;\n\
                 use sys::open_regular;\nfn f() {{\n    {code};\n}}\n"
            );
            for path in [PATH, "crates/executor/src/trial/b.rs"] {
                let told = refused(path, &text);
                assert_eq!(told.len(), 1, "{code}: {told:?}");
                assert!(told[0].starts_with(&format!("{path}:5: `")), "{told:?}");
            }
        }
        assert_eq!(refused(PATH, "use std::fs::*;\n").len(), 1);
    }

    #[test]
    fn the_seam_tests_and_other_crates_are_free() {
        for code in [
            "files.open(path, FileAccess::Append)",
            "files.exists(path)",
            "File::from(descriptor)",
            "let file: Option<File> = None",
            "sys::unix_ns()",
            "json!({ \"a\": path })",
        ] {
            let text = format!("use std::fs::File;\nfn f() {{\n    {code};\n}}\n");
            assert_eq!(refused(PATH, &text), [""; 0], "{code}");
        }
        let code = "fn f() { std::fs::read(path); }\n";
        let test = format!("#[cfg(test)]\nmod tests {{ {code} }}\n");
        assert_eq!(refused(PATH, &test), [""; 0]);
        for path in ["crates/sys/src/a.rs", "crates/store/tests/a.rs", "crates/store/src/a.txt"] {
            assert_eq!(refused(path, code), [""; 0], "{path}");
        }
        let files = [
            SourceFile::new("crates/store/src/lib.rs", "#[cfg(test)]\nmod fixtures;\nmod load;\n"),
            SourceFile::new("crates/store/src/fixtures.rs", code),
            SourceFile::new("crates/store/src/load.rs", "#[cfg(test)]\nmod made;\n"),
            SourceFile::new("crates/store/src/load/made.rs", code),
        ];
        assert_eq!(check_with(&files, &[]), [""; 0]);
    }

    #[test]
    fn what_the_table_names_is_permitted_there_alone_and_has_to_be_there() {
        let text = "fn noted() { std::fs::read(path); }\n";
        assert_eq!(found(PATH, text), [""; 0]);
        let elsewhere = "fn noted() { std::fs::read(path); }\nfn f() { std::fs::read(path); }\n";
        assert_eq!(found(PATH, elsewhere).len(), 1);
        let gone = found(PATH, "fn noted() {}\n");
        assert_eq!(gone.len(), 1, "{gone:?}");
        assert!(gone[0].contains("a.rs noted goes past `sys::Files` any more (is asked)"));
        let whole = [permitted(PATH, "", "is asked")];
        assert_eq!(check_with(&[SourceFile::new(PATH, elsewhere)], &whole), [""; 0]);
        assert!(PERMITTED.iter().all(|one| !one.why.is_empty()));
    }
}
