//! A read-only image of installed packages: what lies below /usr is laid over a guest's own,
//! links lead to the rest, such as configuration in /etc. Made from the files of this machine,
//! so a guest runs the same tools; nothing of it is run here.

use crate::libraries::{Content, SystemLibraries, begins_as_elf};
use crate::read_only_image::{Files, Packing, is_below_usr, make, maker};
use artefacts::guest_path;
use artefacts::lock::CacheLock;
use artefacts::programs::{Programs, command, output_of};
use artefacts::{Error, ErrorKind, Result, digest};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a guest never needs of a package.
const LEFT_OUT: &[&str] = &[
    "usr/share/doc",
    "usr/share/man",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/lintian",
    "usr/share/bug",
];
/// Raised when the same files become another image: 2 has the whole root instead of /usr.
const LAYOUT: &str = "layout 2";
/// Where the administrator's choice among programs of the same use is kept, and where links to
/// it are (update-alternatives(1)).
const ALTERNATIVES: &str = "/etc/alternatives";
const ALTERNATIVES_FROM: [&str; 2] = ["/usr/bin", "/usr/sbin"];

/// An image of packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsImage {
    /// Where it is.
    pub path: PathBuf,
    /// What of it is not below /usr, by its place below the root.
    pub elsewhere: Vec<PathBuf>,
}

/// The image of these packages, made where the cache does not hold it already.
/// Dependencies are not followed, but for the libraries that programs are linked with.
///
/// # Errors
/// When a package is not installed, or the system is not Debian's, or has no mksquashfs.
pub fn tools_image(packages: &[String], cache: &Path, search_path: &str) -> Result<ToolsImage> {
    let attempted = format!("cannot make an image of {}", packages.join(", "));
    let programs = Programs::new(search_path);
    let needs_dpkg = "tools images are made of Debian packages; give single files instead";
    let query = programs.need("dpkg-query", &attempted, needs_dpkg)?;
    let mksquashfs = maker(&programs, &attempted)?;
    // The order in which they are named must not matter.
    let packages: Vec<String> =
        packages.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let versions = installed(&query, &packages, &attempted)?;
    let files = files(&query, &packages, &programs, &attempted)?;
    let elsewhere = files.keys().filter(|place| !is_below_usr(place)).cloned().collect();
    let directory = cache.join("tools");
    let path = directory.join(format!("{}.squashfs", fingerprint(&versions, &files)));
    if path.is_file() {
        return Ok(ToolsImage { path, elsewhere });
    }
    let _lock = CacheLock::acquire(cache, &mut |_| {})?;
    make(&files, &directory, &mksquashfs, Packing::Compressed, &attempted, |made| {
        fs::rename(made, &path).map_err(|error| Error::file("move", made, error))
    })?;
    Ok(ToolsImage { path, elsewhere })
}

/// Names and versions, all installed.
fn installed(query: &Path, packages: &[String], attempted: &str) -> Result<String> {
    let is_name = |name: &String| {
        name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.:".contains(c))
    };
    if packages.is_empty() || !packages.iter().all(is_name) {
        return Err(Error::usage(attempted, "these are no names of packages", ""));
    }
    let mut versions = String::new();
    let mut missing = Vec::new();
    for package in packages {
        let format = "-f=${db:Status-Status} ${binary:Package} ${Version}\n";
        let output = command(query).args(["-W", format, package]).output();
        let output = output.map_err(|error| Error::environment(attempted, error))?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        match told.lines().find_map(|line| line.strip_prefix("installed ")) {
            Some(found) => versions.push_str(&format!("{found}\n")),
            None => missing.push(package.as_str()),
        }
    }
    if missing.is_empty() {
        return Ok(versions);
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        attempted,
        format!("not installed here: {}", missing.join(", ")),
        format!("apt-get install {}", missing.join(" ")),
    ))
}

/// Files of packages, of the libraries they need, and links to their programs.
fn files(query: &Path, packages: &[String], programs: &Programs, attempted: &str) -> Result<Files> {
    let listed = output_of(command(query).arg("-L").args(packages), attempted)?;
    let system = SystemLibraries::of(Path::new("/"));
    let mut files = Files::new();
    for line in String::from_utf8_lossy(&listed).lines().filter(|line| line.starts_with('/')) {
        let host = PathBuf::from(line);
        let Some(place) = wanted_place(&host) else { continue };
        let Ok(metadata) = host.symlink_metadata() else { continue };
        let has_content = metadata.is_file() || metadata.is_symlink();
        if !has_content || is_kept_from_us(&host) {
            continue;
        }
        files.insert(place, host.clone());
        if !metadata.is_file() || !begins_as_elf(&host) {
            continue;
        }
        for needed in system.closure_of_one(&host, programs)? {
            if let Content::File(host) = needed.content {
                files.entry(guest_path(&needed.guest)).or_insert(host);
            }
        }
    }
    // A package's directory may be a link here: what lies in it counts.
    let parents: Vec<PathBuf> =
        files.keys().flat_map(|place| place.ancestors().skip(1).map(Path::to_owned)).collect();
    for parent in parents {
        files.remove(&parent);
    }
    add_alternatives(Path::new("/"), &mut files);
    Ok(files)
}

/// Whether this user may not read a file, as of passwords' configuration: nor may what runs here.
fn is_kept_from_us(path: &Path) -> bool {
    let is_refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    path.is_file() && fs::File::open(path).is_err_and(is_refused)
}

/// Links by which programs of the image are found on this machine's search path.
fn add_alternatives(root: &Path, files: &mut Files) {
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    for directory in ALTERNATIVES_FROM {
        for entry in fs::read_dir(below(directory)).into_iter().flatten().flatten() {
            let link = entry.path();
            let is_one = fs::read_link(&link).is_ok_and(|to| to.starts_with(ALTERNATIVES));
            let chosen = below(ALTERNATIVES).join(entry.file_name());
            let Ok(real) = fs::canonicalize(chosen) else { continue };
            let inside = real.strip_prefix(root).unwrap_or(&real);
            if is_one && files.contains_key(&guest_path(inside)) {
                let place = guest_path(link.strip_prefix(root).unwrap_or(&link));
                files.entry(place).or_insert(link);
            }
        }
    }
}

/// Where a file lies in the image, where a guest has a use for it.
fn wanted_place(path: &Path) -> Option<PathBuf> {
    let place = guest_path(path);
    let is_left_out = LEFT_OUT.iter().any(|part| place.starts_with(part));
    (!is_left_out && place.components().next().is_some()).then_some(place)
}

/// Names and versions, and each file's size and time: a library may be upgraded
/// without the tools.
fn fingerprint(versions: &str, files: &Files) -> String {
    let mut text = format!("{LAYOUT}\n{versions}");
    for (place, host) in files {
        let (size, time) = host.metadata().map_or((0, 0), |found| (found.len(), found.mtime()));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {size} {time}", place.display());
    }
    digest::of_bytes(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_whole_root_is_wanted_but_for_what_people_read() {
        let place =
            |path: &str| wanted_place(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(place("/usr/bin/fio").as_deref(), Some("usr/bin/fio"));
        assert_eq!(place("/bin/ls").as_deref(), Some("usr/bin/ls"));
        assert_eq!(place("/etc/fio.conf").as_deref(), Some("etc/fio.conf"));
        assert_eq!(place("/usr/share/docking/x").as_deref(), Some("usr/share/docking/x"));
        assert_eq!(place("/usr/share/doc/fio/copyright"), None);
        assert_eq!(place("/."), None);
    }

    #[test]
    fn a_program_is_found_by_the_name_that_leads_to_it_here() {
        let root = tempfile::tempdir().unwrap();
        // The temporary directory may be behind a link.
        let root = fs::canonicalize(root.path()).unwrap();
        for directory in ["usr/bin", "etc/alternatives", "usr/lib/jvm/17/bin"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for (name, target) in [("java", "usr/lib/jvm/17/bin/java"), ("awk", "usr/bin/mawk")] {
            fs::write(root.join(target), "").unwrap();
            symlink(root.join(target), root.join("etc/alternatives").join(name)).unwrap();
            symlink(format!("/etc/alternatives/{name}"), root.join("usr/bin").join(name)).unwrap();
        }
        symlink("mawk", root.join("usr/bin/nawk")).unwrap();
        let java = PathBuf::from("usr/lib/jvm/17/bin/java");
        let mut files: Files = [(java.clone(), root.join(&java))].into();
        add_alternatives(&root, &mut files);
        let places: Vec<String> = files.keys().map(|place| place.display().to_string()).collect();
        assert_eq!(places, ["usr/bin/java", "usr/lib/jvm/17/bin/java"]);
    }

    #[test]
    fn a_machine_without_the_tools_is_told_what_to_install() {
        let cache = tempfile::tempdir().unwrap();
        let error = tools_image(&["coreutils".to_owned()], cache.path(), "").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }
}
