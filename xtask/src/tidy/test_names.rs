//! Each test that a tier, a group, a guarantee or a page names is there: one that was renamed would
//! leave its tier in silence. And each end-to-end test is named by a guarantee: what it shows would
//! stand in no list.

use super::citations::outside_fences;
use super::page::{ARCHITECTURE, in_code};
use super::tree::SourceFile;
use proc_macro2::TokenTree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{Attribute, Expr, Item, Lit};

/// Filters of nextest.
const TIERS: &str = ".config/nextest.toml";
/// Guarantees, and what a change needs.
const GUIDE: &str = "xtask/tests.toml";
/// The binary whose tests each show a guarantee.
const END_TO_END: &str = "schedlab::end_to_end";
/// How a line of the guide begins that says where a guarantee is tested.
const GUARANTEED: &str = "tests = ";
/// Where a test that has its own `main` lists its cases by name.
const CASES: &str = "CASES";

/// The folder of pages.
const PAGES: &str = "docs";
/// Pages that lie elsewhere.
const OTHER_PAGES: [&str; 2] = [ARCHITECTURE, "CONTRIBUTING.md"];
/// The page that is written from the guide.
const PAGE_OF_GUIDE: &str = "docs/tests.md";
/// A test's name of so many words is told from every other name on a page: metrics have five at
/// most (`run_delay_of_runnable_time`), functions of the kernel four.
const LEAST_WORDS: usize = 6;

/// The tests of each binary, as nextest calls both. The name of a module that a macro makes ends
/// with `::`: its tests are not read.
pub type Tests = BTreeMap<String, BTreeSet<String>>;

/// Checks the tests of all files against what some of these files name.
pub fn check(files: &[SourceFile], tests: &Tests) -> Vec<String> {
    let of = |path: &str, lost: fn(&SourceFile, &Tests) -> Vec<String>| {
        let file = files.iter().find(|file| file.path == Path::new(path));
        file.map_or_else(|| vec![format!("{path}: is not there")], |file| lost(file, tests))
    };
    [of(TIERS, lost_in_filters), of(GUIDE, wrong_in_guide), lost_in_pages(files, tests)].concat()
}

/// What filters name and no source has. A test is of the binary that is named last before it.
fn lost_in_filters(file: &SourceFile, tests: &Tests) -> Vec<String> {
    let mut found = Vec::new();
    let mut binary = "";
    let lines = file.text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    for (number, line) in lines {
        let operands = line.split(" - ").flat_map(|part| part.split(['&', '+']));
        for named in operands.filter_map(named_by) {
            if let Named::Binary(id) = named {
                binary = id;
            }
            let problem = problem(&named, binary, tests);
            found.extend(problem.map(|problem| format!("{}: {problem}", file.at(number))));
        }
    }
    found
}

/// What is wrong with what a filter names of a binary.
fn problem(named: &Named<'_>, binary: &str, tests: &Tests) -> Option<String> {
    let Some(names) = tests.get(binary) else {
        return Some(format!("there is no binary `{binary}`"));
    };
    match named {
        Named::Binary(_) => None,
        Named::Test(name) => {
            (!names.contains(*name)).then(|| format!("{binary} has no test `{name}`"))
        }
        Named::Tests(pattern) => {
            let begins = |begin: &str| names.iter().any(|name| name.starts_with(begin));
            let mut lost = alternatives(pattern);
            lost.retain(|begin| !begins(begin));
            let lost = lost.join("`, `");
            (!lost.is_empty()).then(|| format!("no test of {binary} begins with `{lost}`"))
        }
        Named::Otherwise => Some("write `test(=NAME)` or `test(/^BEGINNING/)`".to_owned()),
    }
}

/// What one operand of a filter names.
enum Named<'l> {
    /// A binary.
    Binary(&'l str),
    /// One test.
    Test(&'l str),
    /// All that begin as a regular expression says.
    Tests(&'l str),
    /// Tests in another way, which this check does not read.
    Otherwise,
}

fn named_by(operand: &str) -> Option<Named<'_>> {
    let within = |begin: &str, end: &str| {
        let (_, rest) = operand.split_once(begin)?;
        rest.split_once(end).map(|(inside, _)| inside)
    };
    within("binary_id(", ")")
        .map(Named::Binary)
        .or_else(|| within("test(/^", "/)").map(Named::Tests))
        .or_else(|| within("test(=", ")").map(Named::Test))
        .or_else(|| operand.contains("test(").then_some(Named::Otherwise))
}

/// What a regular expression with one group at most stands for.
fn alternatives(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('(') else { return vec![pattern.to_owned()] };
    let (group, after) = rest.split_once(')').unwrap_or((rest, ""));
    group.split('|').map(|one| format!("{before}{one}{after}")).collect()
}

/// What the guide names and no source has, and what it does not name.
fn wrong_in_guide(file: &SourceFile, tests: &Tests) -> Vec<String> {
    [lost_in_guide(file, tests), without_guarantee(file, tests)].concat()
}

/// What the guide names and no source has: a binary, a path of modules in the tests of a crate, or
/// the beginning of a test anywhere.
fn lost_in_guide(file: &SourceFile, tests: &Tests) -> Vec<String> {
    let is_there = |name: &str| {
        let is_path = name.contains("::");
        let inside = format!("::{name}");
        let is_one = |known: &String| known.starts_with(name) || known.contains(&inside);
        let is_searched = |binary: &str| !is_path || binary.contains("::");
        let is_in = |(binary, names): (&String, &BTreeSet<String>)| {
            is_searched(binary) && names.iter().any(is_one)
        };
        tests.contains_key(name) || tests.iter().any(is_in)
    };
    let is_read = |line: &str| line.starts_with(GUARANTEED) || line.starts_with("run = ");
    let lines = file.text.lines().enumerate().filter(|(_, line)| is_read(line));
    lines
        .flat_map(|(number, line)| named_in_guide(line).map(move |name| (number, name)))
        .filter(|(_, name)| !is_there(name))
        .map(|(number, name)| format!("{}: there is no test `{name}`", file.at(number)))
        .collect()
}

/// What a line of the guide names of tests.
fn named_in_guide(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split([' ', ',', '`', '"', '\'']);
    words.filter(|word| word.contains("::") || word.contains('_'))
}

/// The end-to-end tests that no guarantee names, by a path or the beginning of one. What lies in no
/// module is left out.
fn without_guarantee(file: &SourceFile, tests: &Tests) -> Vec<String> {
    let lines = file.text.lines().filter(|line| line.starts_with(GUARANTEED));
    let named: Vec<&str> = lines.flat_map(named_in_guide).collect();
    let is_named = |test: &str| named.iter().any(|name| test.starts_with(*name));
    let names = tests.get(END_TO_END).into_iter().flatten();
    names
        .filter(|test| test.contains("::") && !is_named(test))
        .map(|test| format!("{GUIDE}: no guarantee names the test `{test}`"))
        .collect()
}

/// The tests that pages name and no source has: between backticks, by the whole name.
fn lost_in_pages(files: &[SourceFile], tests: &Tests) -> Vec<String> {
    let known: BTreeSet<&str> =
        tests.values().flatten().map(|name| without_modules(name)).collect();
    let lost_in_page = |file: &SourceFile| -> Vec<String> {
        let lines = outside_fences(&file.text);
        lines
            .flat_map(|(number, line)| in_code(line).map(move |name| (number, name)))
            .filter(|(_, name)| is_claim(name) && !known.contains(without_modules(name)))
            .map(|(number, name)| format!("{}: there is no test `{name}`", file.at(number)))
            .collect()
    };
    files.iter().filter(|file| is_page(&file.path)).flat_map(lost_in_page).collect()
}

/// Whether the tests that it names are looked for. The history names them as they were.
fn is_page(path: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|extension| extension == "md");
    let is_meant =
        path.starts_with(PAGES) || OTHER_PAGES.iter().any(|page| path == Path::new(page));
    is_markdown && is_meant && path != Path::new(PAGE_OF_GUIDE)
}

/// Whether a name is that of a test, alone or behind modules.
fn is_claim(name: &str) -> bool {
    let is_spelled = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_' | ':');
    let words = without_modules(name).split('_').filter(|word| !word.is_empty());
    name.chars().all(is_spelled) && words.count() >= LEAST_WORDS
}

fn without_modules(name: &str) -> &str {
    name.rsplit_once("::").map_or(name, |(_, name)| name)
}

/// The tests of these files.
pub fn tests(files: &[SourceFile]) -> Tests {
    let mut tests = Tests::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some((binary, modules)) = binary_and_modules(&file.path) else { continue };
        // What does not parse is told by the check of sizes.
        if let Ok(tree) = file.syntax() {
            collect(&tree.items, &modules, tests.entry(binary).or_default());
        }
    }
    tests
}

/// Adds the tests of other files.
pub fn add(all: &mut Tests, others: Tests) {
    for (binary, names) in others {
        all.entry(binary).or_default().extend(names);
    }
}

/// The binary of tests that a file is compiled into, and the path of its modules, with `::` after
/// each.
fn binary_and_modules(path: &Path) -> Option<(String, String)> {
    let path = path.with_extension("");
    let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    // Most crates lie together, those that are programs for developers on their own.
    let parts = parts.strip_prefix(&["crates"]).unwrap_or(&parts);
    let (binary, modules) = match parts {
        [package, "src", modules @ ..] => ((*package).to_owned(), modules),
        [package, "tests", binary, modules @ ..] => (format!("{package}::{binary}"), modules),
        _ => return None,
    };
    let modules: &[&str] = match modules {
        ["lib" | "main"] => &[],
        modules => modules,
    };
    Some((binary, modules.iter().map(|module| format!("{module}::")).collect()))
}

/// Adds the tests among these items, which lie in the module `above`.
fn collect(items: &[Item], above: &str, names: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Fn(one) if is_test(&one.attrs) => {
                names.insert(format!("{above}{}", one.sig.ident));
            }
            Item::Const(one) if one.ident == CASES => names.extend(cases(&one.expr)),
            Item::Mod(module) => {
                let inside = module.content.as_ref().map(|(_, items)| items.as_slice());
                collect(inside.unwrap_or_default(), &format!("{above}{}::", module.ident), names);
            }
            // A macro that makes a module of tests is given its name first.
            Item::Macro(call) if call.ident.is_none() => {
                if let Some(TokenTree::Ident(module)) = call.mac.tokens.clone().into_iter().next() {
                    names.insert(format!("{above}{module}::"));
                }
            }
            _ => {}
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("test"))
}

/// The names in a list of pairs of a name and a function.
fn cases(list: &Expr) -> Vec<String> {
    let Expr::Reference(list) = list else { return Vec::new() };
    let Expr::Array(list) = &*list.expr else { return Vec::new() };
    let name = |case: &Expr| {
        let Expr::Tuple(pair) = case else { return None };
        let Expr::Lit(name) = pair.elems.first()? else { return None };
        let Lit::Str(name) = &name.lit else { return None };
        Some(name.value())
    };
    list.elems.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of filters and of a guide beside some sources.
    fn told_of(filters: &str, guide: &str) -> Vec<String> {
        let files = [
            SourceFile::new(TIERS, filters),
            SourceFile::new(GUIDE, guide),
            SourceFile::new(
                "crates/a/tests/all/vm/kills.rs",
                "#[test]\nfn it_is_killed_at_once() {}\nfn helper() {}\n\
                 mod whole {\n#[test]\nfn it_is_killed() {}\n}\n\
                 storms! { long, check, [one two] }\n",
            ),
            SourceFile::new("crates/a/tests/all/main.rs", "mod vm;\n#[test]\nfn all() {}\n"),
            SourceFile::new(
                "crates/b/tests/cases.rs",
                "const CASES: &[(&str, fn())] = &[(\"io_once\", io::once)];\n",
            ),
            SourceFile::new(
                "fuzz/src/lib.rs",
                "mod tests {\n#[test]\nfn no_input_breaks_it() {}\n}\n",
            ),
        ];
        let mut all = Tests::new();
        // Each thread reads some of the files.
        for some in files.chunks(1) {
            add(&mut all, tests(some));
        }
        check(&files, &all)
    }

    #[test]
    fn what_is_there_is_told_nothing_of() {
        let filters = "# test(what a comment says)\n\
            default-filter = \"\"\"\nnot (binary(smoke) + binary_id(a::all) & (\n\
            \x20   test(/^vm::kills::(whole|long)::/)\n  + test(/^vm::kills::it_is_killed_at/)\n\
            ))\n\"\"\"\n\
            filter = \"binary_id(b::cases) & test(=io_once)\"\nfilter = \"binary_id(fuzz)\"\n\
            filter = \"binary_id(a::all) & test(=all)\"\ntest-group = \"machine\"\n";
        let guide = "tests = \"unit tests of `b-c`; `kills::`, `vm::kills::whole::it_is`, \
            `no_input_breaks_it`, `b::cases`; `cargo xtask soak`\"\n\
            run = \"cargo xtask test vm:: kills::\"\n\
            states = \"`no::such`\"\n";
        assert_eq!(told_of(filters, guide), [""; 0]);
    }

    #[test]
    fn each_filter_that_selects_nothing_is_told_with_its_line() {
        let filters = "filter = \"binary_id(a::all) - test(/^vm::kills::(whole|new|gone)::/)\"\n\
            filter = \"binary_id(a::all) & test(=vm::kills::helper)\"\n\
            filter = \"binary_id(b::cases) & test(/^vm::/)\"\n\
            filter = \"binary_id(c::none)\"\n\
            filter = \"binary_id(a::all) & test(vm)\"\n";
        let expected = [
            ".config/nextest.toml:1: no test of a::all begins with `vm::kills::new::`, \
             `vm::kills::gone::`",
            ".config/nextest.toml:2: a::all has no test `vm::kills::helper`",
            ".config/nextest.toml:3: no test of b::cases begins with `vm::`",
            ".config/nextest.toml:4: there is no binary `c::none`",
            ".config/nextest.toml:5: write `test(=NAME)` or `test(/^BEGINNING/)`",
        ];
        assert_eq!(told_of(filters, ""), expected);
    }

    #[test]
    fn each_test_of_the_guide_that_is_not_there_is_told_with_its_line() {
        // A path is one of the tests of a crate, not one of its unit tests.
        let guide = "tests = \"`vm::kills::`, `vm::lost::`, `it_was_killed`\"\n\
            run = \"cargo xtask test ills:: tests::no_input\"\n";
        let expected = [
            "xtask/tests.toml:1: there is no test `vm::lost::`",
            "xtask/tests.toml:1: there is no test `it_was_killed`",
            "xtask/tests.toml:2: there is no test `ills::`",
            "xtask/tests.toml:2: there is no test `tests::no_input`",
        ];
        assert_eq!(told_of("", guide), expected);
    }

    #[test]
    fn each_end_to_end_test_that_no_guarantee_names_is_told() {
        let names = [
            "at_the_top",
            "kill_soak::random_kills",
            "soak::a_leak",
            "vm::kills::one",
            "vm::kills::two",
            "vm::proofs::whole::",
            "vm::soak::one",
        ];
        let names = names.into_iter().map(str::to_owned).collect();
        let tests = Tests::from([(END_TO_END.to_owned(), names)]);
        let told_of = |guide: &str| without_guarantee(&SourceFile::new(GUIDE, guide), &tests);
        let of = |test: &str| format!("xtask/tests.toml: no guarantee names the test `{test}`");
        // The end of another path names none, nor does another test of its module, and a command
        // is no guarantee.
        let guide = "tests = \"`kill_soak::`, `vm::proofs::whole::`; `vm::soak::one`, \
            `vm::kills::t`\"\n\
            run = \"cargo xtask test soak:: vm::\"\n";
        assert_eq!(told_of(guide), ["soak::a_leak", "vm::kills::one"].map(of));
        let others = "tests = \"`soak::a_leak`, `vm::kills::`\"\n";
        assert_eq!(told_of(&format!("{guide}{others}")), [""; 0]);
    }

    #[test]
    fn each_test_that_a_page_names_and_no_source_has_is_told_with_its_line() {
        let source = SourceFile::new(
            "crates/a/src/lib.rs",
            "mod tests {\n#[test]\nfn what_is_read_stays_as_it_was() {}\n}\n",
        );
        let known = tests(&[source]);
        let text = "`what_is_read_stays_as_it_was`, `tests::what_is_read_stays_as_it_was`\n\
            `what_is_read_stays_as_it_is` and `a::what_is_lost_is_told_by_name`\n\
            `run_delay_of_runnable_time`, `a_B_is_no_name_of_tests`, `make one_of_a_b_c_d`\n\
            not_in_backticks_and_so_not_meant\n\
            ```\n`what_a_fence_has_is_no_name`\n```\n";
        let told_of = |page: &str| lost_in_pages(&[SourceFile::new(page, text)], &known);
        for page in ["docs/adr/000-template.md", "CONTRIBUTING.md", "ARCHITECTURE.md"] {
            let expected = [
                format!("{page}:2: there is no test `what_is_read_stays_as_it_is`"),
                format!("{page}:2: there is no test `a::what_is_lost_is_told_by_name`"),
            ];
            assert_eq!(told_of(page), expected);
        }
        for other in ["docs/tests.md", "docs/a.json", "CHANGELOG.md", "README.md"] {
            assert_eq!(told_of(other), [""; 0], "{other}");
        }
    }

    #[test]
    fn a_file_that_is_missing_is_told() {
        assert_eq!(
            check(&[], &Tests::new()),
            [".config/nextest.toml: is not there", "xtask/tests.toml: is not there"]
        );
    }
}
