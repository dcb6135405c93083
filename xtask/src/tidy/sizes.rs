//! Length of files and functions, tests apart.

use super::tree::SourceFile;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItemFn, ItemFn, ItemMod, Signature, TraitItemFn};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 70;

/// Files and functions that are too long.
pub fn check(file: &SourceFile) -> Vec<String> {
    let tree = match file.syntax() {
        Ok(tree) => tree,
        Err(error) => return vec![format!("{}: {error}", file.path.display())],
    };
    let mut sizes = Sizes { file, lines_of_tests: 0, found: Vec::new() };
    sizes.visit_file(tree);
    let lines = file.text.lines().count() - sizes.lines_of_tests;
    let is_test = file.path.components().any(|part| part.as_os_str() == "tests");
    if lines > LONGEST_FILE && !is_test {
        sizes.found.push(format!(
            "{}: {lines} lines without tests; {LONGEST_FILE} are enough for one idea",
            file.path.display()
        ));
    }
    sizes.found
}

struct Sizes<'a> {
    file: &'a SourceFile,
    lines_of_tests: usize,
    found: Vec<String>,
}

impl Sizes<'_> {
    fn function(&mut self, signature: &Signature, body: &Block) {
        let lines = lines_between(signature.span(), body.span());
        if lines > LONGEST_FUNCTION {
            self.found.push(format!(
                "{}: fn {} has {lines} lines; {LONGEST_FUNCTION} are enough",
                self.file.at(signature.span().start().line - 1),
                signature.ident
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Sizes<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if is_test(&module.attrs) {
            self.lines_of_tests += lines_between(module.span(), module.span());
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.function(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Whether an item is compiled for tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn lines_between(first: Span, last: Span) -> usize {
    last.end().line + 1 - first.start().line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: String) -> Vec<String> {
        check(&SourceFile::new(path, text))
    }

    fn function(lines: usize) -> String {
        format!("/// Doc.\nfn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines() {
        assert_eq!(found("a.rs", function(70)), Vec::<String>::new());
        assert_eq!(found("a.rs", function(71)), ["a.rs:2: fn long has 71 lines; 70 are enough"]);
        let method = format!("impl Thing {{\n{}}}\n", function(71));
        assert_eq!(found("a.rs", method).len(), 1);
    }

    #[test]
    fn tests_do_not_count_as_lines_of_a_file() {
        let item = "const A: u8 = 0;\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", item.repeat(100));
        let at_limit = format!("{}{tests}", item.repeat(600));
        assert_eq!(found("a.rs", at_limit.clone()), Vec::<String>::new());
        let too_long = format!("{item}{at_limit}");
        assert_eq!(found("a.rs", too_long.clone()).len(), 1);
        assert_eq!(found("crates/a/tests/b.rs", too_long), Vec::<String>::new());
    }
}
