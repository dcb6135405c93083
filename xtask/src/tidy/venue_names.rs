//! No file outside of the `venues` crate asks for a venue by its name: its entry in the catalogue
//! says what others want to know, and a plan that is stored says it of itself.

use super::sizes::is_test;
use super::tree::SourceFile;
use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ItemMod, Lit, Macro, Pat};

/// The crate that may: its entries are what is asked.
const OWN: &str = "crates/venues";
/// Where its entries are listed, by modules of the venues' names.
const LIST: &str = "crates/venues/src/lib.rs";
const BEFORE_NAMES: &str = "catalog!(dyn contract::VenueEntry:";

/// Files in which such a word is the name of something else.
const OTHER_MEANINGS: &[(&str, &str)] = &[
    ("crates/kernels/src/kernel_name.rs", "`host` is a kernel: the one that runs here"),
    ("crates/service-workloads/src/application.rs", "`host` is where a load generator runs"),
    ("crates/service-workloads/src/service.rs", "`host` is where a load generator runs"),
];

/// The names of venues, which one of these files lists, or that none does.
pub fn listed(files: &[SourceFile]) -> Result<Vec<String>, String> {
    let missing = || format!("{LIST}: no list of venues begins with `{BEFORE_NAMES}`");
    files.iter().find_map(names).ok_or_else(missing)
}

/// Where these files compare one of the names.
pub fn check(files: &[SourceFile], names: &[String]) -> Vec<String> {
    files.iter().filter(|file| is_checked(&file.path)).flat_map(|file| of(file, names)).collect()
}

/// The names of venues, where this is the file that lists them.
fn names(file: &SourceFile) -> Option<Vec<String>> {
    let list = file.text.split_once(BEFORE_NAMES).filter(|_| file.path == Path::new(LIST))?.1;
    let names = list.split_once(')')?.0.split(',').map(str::trim);
    Some(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn is_checked(path: &Path) -> bool {
    let is_test = path.iter().any(|part| part == "tests");
    let is_other = OTHER_MEANINGS.iter().any(|(name, _)| path == Path::new(name));
    !is_test && !is_other && !path.starts_with(OWN)
}

fn of(file: &SourceFile, names: &[String]) -> Vec<String> {
    let is_page = file.path.extension().is_some_and(|ending| ending == "ts" || ending == "tsx");
    if is_page {
        let lines = file.text.lines().enumerate();
        let asks = |line: &str| line.contains("venue === \"") || line.contains("venue !== \"");
        return lines.filter(|(_, line)| asks(line)).map(|(at, _)| refused(&file.at(at))).collect();
    }
    // What does not parse is told by the check of sizes.
    let Some(tree) = file.is_rust().then(|| file.syntax().ok()).flatten() else {
        return Vec::new();
    };
    let mut search = Search { file, names, found: Vec::new() };
    search.visit_file(tree);
    search.found
}

fn refused(place: &str) -> String {
    format!(
        "{place}: compares the name of a venue; ask its entry (`contract::VenueEntry`), or the \
         plan for a fact (`Plan::is_simulated`, `Plan::boots_guests`)"
    )
}

struct Search<'a> {
    file: &'a SourceFile,
    names: &'a [String],
    found: Vec<String>,
}

impl Search<'_> {
    fn is_name(&self, literal: &Lit) -> bool {
        matches!(literal, Lit::Str(text) if self.names.contains(&text.value()))
    }

    fn is_name_expression(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Lit(literal) => self.is_name(&literal.lit),
            Expr::Reference(reference) => self.is_name_expression(&reference.expr),
            _ => false,
        }
    }

    fn refuse(&mut self, line: usize) {
        self.found.push(refused(&self.file.at(line - 1)));
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let is_comparison = matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        let sides = [&binary.left, &binary.right];
        if is_comparison && sides.iter().any(|side| self.is_name_expression(side)) {
            self.refuse(binary.span().start().line);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Lit(literal) = pattern
            && self.is_name(&literal.lit)
        {
            self.refuse(literal.span().start().line);
        }
        visit::visit_pat(self, pattern);
    }

    /// What a macro is given is no expression and no pattern to the parser.
    fn visit_macro(&mut self, called: &'ast Macro) {
        let is_pattern = called.path.is_ident("matches");
        if self.is_compared(called.tokens.clone(), is_pattern) {
            self.refuse(called.span().start().line);
        }
    }
}

impl Search<'_> {
    /// Whether a name stands in these tokens: anywhere in a pattern, beside `==` or `!=` elsewhere.
    fn is_compared(&self, tokens: TokenStream, is_pattern: bool) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_operator = |at: Option<usize>| {
            let pair = at.and_then(|at| tokens.get(at..at + 2));
            pair.is_some_and(|pair| {
                matches!(pair[0].to_string().as_str(), "=" | "!") && pair[1].to_string() == "="
            })
        };
        tokens.iter().enumerate().any(|(at, token)| match token {
            TokenTree::Group(group) => self.is_compared(group.stream(), is_pattern),
            TokenTree::Literal(literal) => {
                let is_name =
                    self.names.iter().any(|name| literal.to_string() == format!("\"{name}\""));
                let is_beside = is_operator(at.checked_sub(2)) || is_operator(Some(at + 1));
                is_name && (is_pattern || is_beside)
            }
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let list = file(LIST, "contract::catalog!(dyn contract::VenueEntry: host, vm, ssh);\n");
        let files = [list, file(path, text)];
        check(&files, &listed(&files).unwrap())
    }

    #[test]
    fn comparisons_patterns_and_matches_with_a_listed_name_are_refused() {
        for code in [
            "plan.venue == \"vm\"",
            "\"host\" != plan.venue",
            "venue == &\"ssh\"",
            "match venue { \"ssh\" => 1, _ => 2 }",
            "match venue { \"a\" | \"vm\" if x => 1, _ => 2 }",
            "if let (\"vm\", 1) = pair { 1 } else { 2 }",
            "matches!(venue, \"vm\")",
            "matches!(venue, Some(\"vm\"))",
            "assert!(venue == \"vm\")",
            "assert!(f(\"host\" != venue))",
        ] {
            let told = found("crates/plan/src/a.rs", &format!("fn f() {{\n    {code};\n}}\n"));
            assert_eq!(told.len(), 1, "{code}: {told:?}");
            assert!(told[0].starts_with("crates/plan/src/a.rs:2: "), "{told:?}");
        }
        let page = "const isBooted = page.design.venue === \"vm\";\n";
        assert_eq!(found("web/src/a.tsx", page).len(), 1);
    }

    #[test]
    fn other_words_tests_and_the_venues_themselves_are_free() {
        let code = "fn f() { venue == \"vm\"; }\n";
        for path in [
            "crates/venues/src/vm.rs",
            "crates/plan/tests/a.rs",
            "crates/kernels/src/kernel_name.rs",
        ] {
            assert_eq!(found(path, code), [""; 0], "{path}");
        }
        for code in [
            "fn f() { venue == \"moon\"; g(\"vm\"); let a = [\"host\"]; }\n",
            "fn f() -> &'static str { match kind { Kind::Host => \"host\" } }\n",
            "#[cfg(test)]\nmod tests { fn f() { venue == \"vm\"; } }\n",
        ] {
            assert_eq!(found("crates/plan/src/a.rs", code), [""; 0], "{code}");
        }
        assert!(listed(&[]).is_err(), "a list that is not found is told");
    }
}
