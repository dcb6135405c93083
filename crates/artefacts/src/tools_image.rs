//! A read-only image of installed packages, to be mounted at /usr in a guest whose
//! /bin, /sbin and /lib lead there. Made from the files of this machine, so a
//! guest runs the same tools; nothing of it is run here.

use crate::libraries::SystemLibraries;
use crate::lock::Lock;
use crate::programs::{Programs, command, output_of};
use crate::{Error, ErrorKind, Result, digest};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// What a guest never needs of a package.
const LEFT_OUT: &[&str] =
    &["share/doc/", "share/man/", "share/info/", "share/locale/", "share/lintian/", "share/bug/"];
const UNFINISHED: &str = ".unfinished-";

/// The image of these packages, made where the cache does not hold it already.
/// Dependencies are not followed, but for the libraries that programs are linked with.
///
/// # Errors
/// When a package is not installed, or the system is not Debian's, or has no mksquashfs.
pub fn tools_image(packages: &[String], cache: &Path, search_path: &str) -> Result<PathBuf> {
    let attempted = format!("cannot make an image of {}", packages.join(", "));
    let programs = Programs::new(search_path);
    let needs_dpkg = "tools images are made of Debian packages; give single files instead";
    let query = programs.need("dpkg-query", &attempted, needs_dpkg)?;
    let mksquashfs = programs.need("mksquashfs", &attempted, "apt-get install squashfs-tools")?;
    // The order in which they are named must not matter.
    let packages: Vec<String> =
        packages.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let versions = installed(&query, &packages, &attempted)?;
    let files = files(&query, &packages, &programs, &attempted)?;
    let directory = cache.join("tools");
    let image = directory.join(format!("{}.squashfs", fingerprint(&versions, &files)));
    if image.is_file() {
        return Ok(image);
    }
    let _lock = Lock::acquire(cache, &mut |_| {})?;
    fs::create_dir_all(&directory).map_err(|error| Error::file("make", &directory, error))?;
    sweep(&directory)?;
    let draft = directory.join(format!("{UNFINISHED}{}", std::process::id()));
    let outcome = stage(&files, &draft.join("usr"))
        .and_then(|()| squash(&mksquashfs, &draft, &attempted))
        .and_then(|made| {
            fs::rename(&made, &image).map_err(|error| Error::file("move", &made, error))
        });
    // The outcome matters; a later image sweeps again.
    let _ = fs::remove_dir_all(&draft);
    outcome.map(|()| image)
}

fn sweep(directory: &Path) -> Result<()> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED))
    {
        let path = entry.path();
        fs::remove_dir_all(&path).map_err(|error| Error::file("remove", &path, error))?;
    }
    Ok(())
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

/// Place in the image and place here, of packages and of the libraries they need.
fn files(
    query: &Path,
    packages: &[String],
    programs: &Programs,
    attempted: &str,
) -> Result<BTreeMap<PathBuf, PathBuf>> {
    let listed = output_of(command(query).arg("-L").args(packages), attempted)?;
    let system = SystemLibraries::of(Path::new("/"));
    let mut files = BTreeMap::new();
    for line in String::from_utf8_lossy(&listed).lines().filter(|line| line.starts_with('/')) {
        let host = PathBuf::from(line);
        let Some(place) = place_of(&host) else { continue };
        let Ok(metadata) = host.symlink_metadata() else { continue };
        if metadata.is_dir() {
            continue;
        }
        let is_program = metadata.is_file() && (metadata.mode() & 0o111 != 0 || is_library(&host));
        files.insert(place, host.clone());
        if is_program && begins_as_elf(&host) {
            for needed in system.closure(&host, programs)? {
                if let Some(place) = place_of(&needed.guest) {
                    files.entry(place).or_insert(needed.host);
                }
            }
        }
    }
    // A package's directory may be a link here: what lies in it counts.
    let parents: Vec<PathBuf> =
        files.keys().flat_map(|place| place.ancestors().skip(1).map(Path::to_owned)).collect();
    for parent in parents {
        files.remove(&parent);
    }
    Ok(files)
}

fn is_library(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"))
}

fn begins_as_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0_u8; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// Where a file lies below /usr, where a guest has it at all.
fn place_of(path: &Path) -> Option<PathBuf> {
    let inside = match path.strip_prefix("/usr") {
        Ok(inside) => inside,
        // Debian's directories are merged into /usr, whatever the package says.
        Err(_) => {
            let inside = path.strip_prefix("/").ok()?;
            let first = inside.components().next()?.as_os_str().to_str()?;
            ["bin", "sbin", "lib", "lib64", "lib32"].contains(&first).then_some(inside)?
        }
    };
    let text = inside.to_str()?;
    let is_wanted = !text.is_empty() && !LEFT_OUT.iter().any(|part| text.starts_with(part));
    is_wanted.then(|| inside.to_owned())
}

/// Names and versions, and each file's size and time: a library may be upgraded
/// without the tools.
fn fingerprint(versions: &str, files: &BTreeMap<PathBuf, PathBuf>) -> String {
    let mut text = versions.to_owned();
    for (place, host) in files {
        let (size, time) = host.metadata().map_or((0, 0), |found| (found.len(), found.mtime()));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {size} {time}", place.display());
    }
    digest::of_bytes(text.as_bytes())
}

fn stage(files: &BTreeMap<PathBuf, PathBuf>, usr: &Path) -> Result<()> {
    for (place, host) in files {
        let to = usr.join(place);
        let parent = to.parent().unwrap_or(usr);
        fs::create_dir_all(parent).map_err(|error| Error::file("make", parent, error))?;
        let fail = |error| Error::file("copy", host, error);
        let is_link = host.symlink_metadata().map_err(fail)?.is_symlink();
        let target = if is_link { Some(fs::read_link(host).map_err(fail)?) } else { None };
        match target {
            // A link to a neighbour stays one; what it leads to is staged on its own.
            Some(target) if target.components().count() == 1 && !is_library(host) => {
                symlink(&target, &to).map_err(fail)?;
            }
            // Alternatives and the like lead out of the image: the file itself is taken.
            _ if host.is_file() => {
                fs::copy(host, &to).map_err(fail)?;
            }
            Some(target) => symlink(&target, &to).map_err(fail)?,
            None => {}
        }
    }
    Ok(())
}

fn squash(mksquashfs: &Path, draft: &Path, attempted: &str) -> Result<PathBuf> {
    let made = draft.join("image");
    let mut squash = command(mksquashfs);
    // The same files give the same bytes: no owner, no times.
    squash.arg(draft.join("usr")).arg(&made).args([
        "-noappend",
        "-all-root",
        "-no-xattrs",
        "-no-exports",
        "-no-progress",
        "-quiet",
        "-reproducible",
        "-mkfs-time",
        "0",
        "-all-time",
        "0",
        "-comp",
        "zstd",
    ]);
    squash.env_remove("SOURCE_DATE_EPOCH");
    output_of(&mut squash, attempted)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_where_a_merged_usr_has_them() {
        let place = |path: &str| place_of(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(place("/usr/bin/fio").as_deref(), Some("bin/fio"));
        assert_eq!(place("/bin/ls").as_deref(), Some("bin/ls"));
        assert_eq!(
            place("/lib64/ld-linux-x86-64.so.2").as_deref(),
            Some("lib64/ld-linux-x86-64.so.2")
        );
        assert_eq!(place("/etc/fio.conf"), None);
        assert_eq!(place("/usr/share/doc/fio/copyright"), None);
    }

    #[test]
    fn a_machine_without_the_tools_is_told_what_to_install() {
        let cache = tempfile::tempdir().unwrap();
        let error = tools_image(&["coreutils".to_owned()], cache.path(), "").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }

    #[test]
    fn staged_links_lead_to_something() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("tool-1"), "tool").unwrap();
        symlink("tool-1", at("tool")).unwrap();
        symlink(at("tool-1"), at("alternative")).unwrap();
        let files = ["tool-1", "tool", "alternative"]
            .map(|name| (Path::new("bin").join(name), at(name)))
            .into();
        stage(&files, &at("usr")).unwrap();
        assert!(at("usr/bin/tool").is_symlink());
        assert_eq!(fs::read_to_string(at("usr/bin/tool")).unwrap(), "tool");
        assert!(!at("usr/bin/alternative").is_symlink());
    }
}
