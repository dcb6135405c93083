//! Imports among the modules of a crate: they go one way.
//!
//! Modules with the same parent are checked, at every depth of every crate; what a submodule
//! imports counts as imported by the module that it is in. A module and its own submodules may
//! import each other, since a submodule sees what its parent keeps private; only where entries of
//! a registry lie in one folder, of a trial, and of what decides verdicts, their parent is checked
//! too.

use super::imports::{Import, ModulePath, crates, imports};
use super::tree::SourceFile;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// Parents of a registry's entries, of the parts of a trial, and of what decides verdicts: they may
/// import from their submodules, and these import nothing that they define.
const WITH_PARENT: &[(&str, &str)] = &[
    ("crates/analysis", "claims"),
    ("crates/analysis", "rulebook"),
    ("crates/analysis", "unblocked"),
    ("crates/executor", "trial"),
    ("crates/report", "checks"),
    ("crates/report", "render"),
    ("crates/schedlab", "commands"),
    ("crates/venues", "vm"),
];

/// The name of a parent among its submodules.
const PARENT: &str = "super";

/// For each module, those that it imports, each with the first place.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// Every circle of every crate.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in crates(files) {
        found.extend(levels(&folder, files).values().flat_map(circles));
    }
    found
}

/// The imports among the submodules of each module.
fn levels(folder: &Path, files: &[SourceFile]) -> BTreeMap<String, Imports> {
    let mut levels: BTreeMap<String, Imports> = BTreeMap::new();
    for Import { from, to, place } in imports(folder, files) {
        let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let parent = from[..shared].join("::");
        let has_parent =
            WITH_PARENT.iter().any(|(with, module)| folder == Path::new(with) && parent == *module);
        let name = |module: &ModulePath| {
            module.get(shared).cloned().or_else(|| has_parent.then(|| PARENT.to_owned()))
        };
        if let (Some(from), Some(to)) = (name(&from), name(&to)) {
            let level = levels.entry(parent).or_default();
            level.entry(from).or_default().entry(to).or_insert(place);
        }
    }
    levels
}

/// One circle through each module that is in one and not in those told before.
fn circles(imports: &Imports) -> Vec<String> {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for module in imports.keys() {
        let Some(circle) = shortest_way(imports, module, module) else { continue };
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

/// The modules of the shortest way from one module to another, without the last.
fn shortest_way<'a>(imports: &'a Imports, start: &'a str, end: &str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut due = VecDeque::from([start]);
    while let Some(module) = due.pop_front() {
        for next in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if next == end {
                let mut way = vec![module];
                while let Some(previous) = before.get(way[way.len() - 1]) {
                    way.push(*previous);
                }
                way.reverse();
                return Some(way);
            }
            if next != start && !before.contains_key(next.as_str()) {
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
        let file = |(path, text): &(&str, &str)| {
            SourceFile::new(Path::new("crates/analysis/src").join(path), *text)
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
    fn modules_of_every_depth_are_checked_and_parents_only_where_they_are_listed() {
        let circle = |crate_folder: &str, module: &str| {
            let file = |path: &str, text: &str| {
                SourceFile::new(Path::new(crate_folder).join("src").join(path), text)
            };
            let inner = |name: &str| format!("{module}/{name}.rs");
            check(&[
                file("lib.rs", &format!("mod {module};\n")),
                file(&format!("{module}.rs"), "mod a;\nmod b;\nfn f() { a::g() }\n"),
                file(&inner("a"), "use super::f;\nfn g() { super::b::h() }\n"),
                file(&inner("b"), "use crate::x::y;\npub fn h() {}\n"),
            ])
        };
        assert_eq!(circle("crates/report", "page"), Vec::<String>::new());
        for (folder, module) in [("crates/report", "render"), ("crates/analysis", "rulebook")] {
            let problems = circle(folder, module);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("a -> super -> a"), "{problems:?}");
        }
        for hidden in ["use super::a::g;", "pub use super::a::g;\nfn h() { g() }"] {
            let file = |path: &str, text: &str| SourceFile::new(path, text);
            let problems = check(&[
                file("fuzz/src/main.rs", "mod m;\n"),
                file("fuzz/src/m.rs", "mod a;\nmod b;\n"),
                file("fuzz/src/m/a.rs", "use super::b::h;\npub fn g() {}\n"),
                file("fuzz/src/m/b.rs", &format!("{hidden}\npub fn h() {{}}\n")),
            ]);
            assert_eq!(problems.len(), 1, "{hidden}: {problems:?}");
        }
    }
}
