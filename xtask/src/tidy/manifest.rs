//! Every shared dependency has a reason and a user, what may only be used in some crates is used in
//! no other, and what is installed is optimised.

use super::tree::SourceFile;
use std::path::Path;
use toml::{Table, Value};

/// Crates that tell what they decide (`SCHEDLAB_LOG`). None of them runs where something is timed:
/// workloads, probes and all that these are made of must not be able to.
const MAY_TELL: &[&str] = &["agent", "assembly", "executor", "lab", "schedulers", "venues"];
/// Dependencies that only these crates may have.
const RESTRICTED: [(&str, &[&str]); 2] =
    [("tracing", MAY_TELL), ("tracing-subscriber", &["assembly"])];

/// A crate that has the standard library's checks of pointers although nothing in it is unsafe: its
/// tests tell by them whether they are optimised.
const ASKS_FOR_CHECKS: &str = "schedlab";
/// The `opt-level` of all that is installed.
const FULL: i64 = 3;
/// What code that is unsafe begins with.
const UNSAFE: [&str; 3] = ["unsafe {", "unsafe fn ", "unsafe impl "];

/// Checks the workspace's manifest against the crates'.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let is_manifest = |file: &&SourceFile| file.path.ends_with("Cargo.toml");
    let Some(root) = files.iter().find(|file| file.path == Path::new("Cargo.toml")) else {
        return vec!["Cargo.toml: the workspace has no manifest".to_owned()];
    };
    let users: Vec<&SourceFile> =
        files.iter().filter(is_manifest).filter(|file| file.path != root.path).collect();
    let mut found: Vec<String> = users.iter().flat_map(|user| forbidden(user)).collect();
    found.extend(checked_otherwise(files, root));
    found.extend(installed_unoptimised(root));
    let mut is_inside = false;
    for (number, line) in root.text.lines().enumerate() {
        if line.starts_with('[') {
            is_inside = line == "[workspace.dependencies]";
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_inside) else { continue };
        let name = name.trim();
        let is_ours = value.contains("path =");
        let reason = value.rsplit_once('#').map_or("", |(_, reason)| reason.trim());
        if reason.is_empty() && !is_ours {
            found.push(format!("{}: {name} has no reason beside it", root.at(number)));
        }
        if !is_ours && !users.iter().any(|user| uses(&user.text, name)) {
            found.push(format!("{}: no crate uses {name}", root.at(number)));
        }
    }
    found
}

/// Crates with unsafe code that tests run without the checks of pointers, and others with them.
fn checked_otherwise(files: &[SourceFile], root: &SourceFile) -> Vec<String> {
    let is_checked = |name: &str| {
        let table = format!("[profile.dev.package.{name}]");
        let lines = root.text.lines().skip_while(|line| *line != table).skip(1);
        lines
            .take_while(|line| !line.starts_with('['))
            .any(|line| line == "debug-assertions = true")
    };
    let is_unsafe = |folder: &str| {
        let sources = files.iter().filter(|file| file.path.extension().is_some_and(|e| e == "rs"));
        let mut lines = sources
            .filter(|file| file.path.starts_with(Path::new("crates").join(folder).join("src")))
            .flat_map(|file| file.text.lines());
        lines.any(|line| {
            !line.trim_start().starts_with("//") && UNSAFE.iter().any(|word| line.contains(word))
        })
    };
    let manifests = files
        .iter()
        .filter(|file| file.path.starts_with("crates") && file.path.ends_with("Cargo.toml"));
    let names = manifests.filter_map(|file| file.path.parent()?.file_name()?.to_str());
    names
        .filter(|name| *name != ASKS_FOR_CHECKS)
        .filter_map(|name| match (is_unsafe(name), is_checked(name)) {
            (true, false) => Some(format!(
                "Cargo.toml: {name} has unsafe code, and profile.dev.package.{name} no \
                 `debug-assertions = true`"
            )),
            (false, true) => Some(format!(
                "Cargo.toml: {name} has no unsafe code, and profile.dev.package.{name} has \
                 `debug-assertions = true`"
            )),
            _ => None,
        })
        .collect()
}

/// Packages that `release` optimises less to build sooner, and `dist`, which inherits their tables,
/// not in full.
fn installed_unoptimised(root: &SourceFile) -> Vec<String> {
    let manifest: Table = match toml::from_str(&root.text) {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("{}: {error}", root.path.display())],
    };
    let unoptimised = installed_without_level(&manifest).map(|what| {
        format!("{}: {what} is installed, and not optimised in full", root.path.display())
    });
    let Some(released) = packages(&manifest, "release") else { return unoptimised.collect() };
    let installed = packages(&manifest, "dist");
    let is_less = |package: &Value| package.get("opt-level").is_some_and(|level| !is_full(level));
    let is_installed_in_full = |name: &str| {
        let package = installed.and_then(|packages| packages.get(name));
        package.and_then(|package| package.get("opt-level")).is_some_and(is_full)
    };
    released
        .iter()
        .filter(|(name, package)| is_less(package) && !is_installed_in_full(name))
        .map(|(name, _)| {
            format!(
                "{}: profile.release.package.{name} is not optimised in full, and \
                 profile.dist.package.{name} has no `opt-level = {FULL}`",
                root.path.display()
            )
        })
        .chain(unoptimised)
        .collect()
}

/// What `dist` itself does not optimise in full: all that has no table of its own, and packages.
fn installed_without_level(manifest: &Table) -> impl Iterator<Item = String> {
    let is_less = |of: &Value| of.get("opt-level").is_some_and(|level| !is_full(level));
    let dist = manifest.get("profile").and_then(|profiles| profiles.get("dist"));
    let is_whole = dist.is_none_or(|dist| dist.get("opt-level").is_some_and(is_full));
    let whole = (!is_whole).then(|| "profile.dist".to_owned());
    let lowered = packages(manifest, "dist").into_iter().flatten();
    let lowered = lowered.filter(move |(_, package)| is_less(package));
    whole.into_iter().chain(lowered.map(|(name, _)| format!("profile.dist.package.{name}")))
}

/// The packages that have a table of their own in a profile.
fn packages<'m>(manifest: &'m Table, profile: &str) -> Option<&'m Table> {
    manifest.get("profile")?.get(profile)?.get("package")?.as_table()
}

/// Whether a level of optimisation, a number or `s` or `z`, is the highest.
fn is_full(level: &Value) -> bool {
    level.as_integer() == Some(FULL)
}

/// What this crate's manifest has and only others may.
fn forbidden(manifest: &SourceFile) -> Vec<String> {
    let folder = manifest.path.parent().and_then(Path::file_name).unwrap_or_default();
    let is_refused = |(name, crates): &&(&str, &[&str])| {
        uses(&manifest.text, name) && !crates.iter().any(|one| folder == *one)
    };
    RESTRICTED
        .iter()
        .filter(is_refused)
        .map(|(name, crates)| {
            let path = manifest.path.display();
            format!(
                "{path}: {name} is for {} alone: nothing that is timed may tell",
                crates.join(", ")
            )
        })
        .collect()
}

fn uses(manifest: &str, name: &str) -> bool {
    manifest.lines().any(|line| {
        line.strip_prefix(name).is_some_and(|rest| {
            rest.starts_with(".workspace") || rest.trim_start().starts_with('=')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_needs_a_reason_and_a_user() {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let root = file(
            "Cargo.toml",
            "[workspace.dependencies]\nlibc = \"1\" # calls\nregex = \"1\"\ncsv = \"1\" # tables\n\
             model = { path = \"crates/model\" }\n[profile.release]\nlto = true\n",
        );
        let user =
            file("crates/a/Cargo.toml", "libc.workspace = true\nregex = { workspace = true }\n");
        assert_eq!(
            check(&[root, user]),
            ["Cargo.toml:3: regex has no reason beside it", "Cargo.toml:4: no crate uses csv"]
        );
    }

    #[test]
    fn what_is_unsafe_and_nothing_else_is_tested_with_checks_of_pointers() {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let root = file(
            "Cargo.toml",
            "[workspace.dependencies]\n[profile.dev.package.a]\nopt-level = 1\n\
             [profile.dev.package.b]\ndebug-assertions = true\n\
             [profile.dev.package.c]\ndebug-assertions = true\n",
        );
        let [a, b, c] = ["a", "b", "c"].map(|name| file(&format!("crates/{name}/Cargo.toml"), ""));
        let call = "    unsafe { call() }\n";
        let [a1, b1] = [("a", call), ("b", call)]
            .map(|(name, text)| file(&format!("crates/{name}/src/lib.rs"), text));
        let c1 = file("crates/c/src/lib.rs", "// Without unsafe { } it is safe.\n");
        let found = check(&[root, a, b, c, a1, b1, c1]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("a has unsafe code") && found[1].contains("c has no"),
            "{found:?}"
        );
    }

    /// What is told of a manifest with these profiles.
    fn told_of(profiles: &str) -> Vec<String> {
        check(&[SourceFile::new("Cargo.toml", format!("[workspace.dependencies]\n{profiles}"))])
    }

    #[test]
    fn what_a_release_optimises_less_is_optimised_where_it_is_installed() {
        let release = "[profile.release.package.a]\nopt-level = 0\n\
            [profile.release.package.b]\nopt-level = \"s\"\n\
            [profile.release.package.c]\nopt-level = 2\n\
            [profile.release.package.d]\nopt-level = 3\n\
            [profile.release.package.e]\ncodegen-units = 1\n";
        let dist = |level: &str| {
            let table = |name: &str| format!("[profile.dist.package.{name}]\n{level}\n");
            format!("[profile.dist]\nopt-level = 3\n{}", ["a", "b", "c"].map(table).concat())
        };
        assert_eq!(told_of(&format!("{release}{}", dist("opt-level = 3"))), [""; 0]);
        for (level, expected) in [("opt-level = 2", 6), ("codegen-units = 4", 3)] {
            let found = told_of(&format!("{release}{}", dist(level)));
            assert_eq!(found.len(), expected, "{level}: {found:?}");
        }
    }

    #[test]
    fn each_package_that_is_installed_unoptimised_is_named() {
        let [of_a, of_b] = ["a", "b"].map(|name| {
            format!(
                "Cargo.toml: profile.release.package.{name} is not optimised in full, and \
                 profile.dist.package.{name} has no `opt-level = 3`"
            )
        });
        let release = "[profile.release.package.a]\nopt-level = 0\n\
            [profile.release.package.b]\nopt-level = 1\n";
        assert_eq!(told_of(release), [of_a.as_str(), of_b.as_str()]);
        let dist = "[profile.dist]\nopt-level = 3\n[profile.dist.package.b]\nopt-level = 3\n";
        assert_eq!(told_of(&format!("{release}{dist}")), [of_a]);
        let lowered = "[profile.dist]\nlto = \"thin\"\n[profile.dist.package.c]\nopt-level = 1\n";
        let told =
            |what: &str| format!("Cargo.toml: {what} is installed, and not optimised in full");
        assert_eq!(told_of(lowered), [told("profile.dist"), told("profile.dist.package.c")]);
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_told() {
        let found = told_of("[profile.release.package.a\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("Cargo.toml: "), "{found:?}");
    }

    #[test]
    fn nothing_that_is_timed_can_tell_what_it_does() {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let root = file(
            "Cargo.toml",
            "[workspace.dependencies]\ntracing = \"0.1\" # told\ntracing-subscriber = \"0.3\" # read\n",
        );
        let lines = "tracing.workspace = true\ntracing-subscriber.workspace = true\n";
        let crates = ["workloads", "executor", "assembly"]
            .map(|name| file(&format!("crates/{name}/Cargo.toml"), lines));
        let [workloads, executor, assembly] = crates;
        let found = check(&[root, workloads, executor, assembly]);
        let of = |name: &str| found.iter().filter(|one| one.contains(name)).count();
        assert_eq!((found.len(), of("crates/workloads/"), of("crates/executor/")), (3, 2, 1));
    }
}
