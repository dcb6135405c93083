//! Which modules a guest must load for what it wants, in which order. Packages hold
//! no `modules.dep`; each module says itself what it needs.

use crate::Kernel;
use crate::modinfo::{depends_of, normal};
use artefacts::{Error, ErrorKind, Result, read_regular};
use model::{CACHE_DOCUMENT_BYTES, OverLimit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Ends of a module's file name, plain and compressed.
const ENDINGS: &[&str] = &[".ko", ".ko.xz", ".ko.zst", ".ko.gz"];
/// Deepest directory below a kernel's modules; the kernel's own tree has six.
const DEEPEST: usize = 16;

/// A module to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// As the kernel writes it, with underscores.
    pub name: String,
    /// Its file, plain or compressed.
    pub path: PathBuf,
    /// Its arguments: `gb=1 nr_devices=1`.
    pub arguments: String,
}

/// The modules to load for those wanted, each after what it needs. An item is a name
/// and its arguments, `null_blk gb=1`; a `?` before it makes it optional. What is
/// built into the kernel is left out.
///
/// # Errors
/// When a wanted module, or one that it needs, is neither there nor built in.
pub fn load_order(kernel: &Kernel, wanted: &[String]) -> Result<Vec<Module>> {
    let Some(directory) = &kernel.modules else {
        return without_modules(kernel, wanted);
    };
    let mut order = Order {
        files: files(directory)?,
        built_in: built_in(directory)?,
        seen: BTreeSet::new(),
        modules: Vec::new(),
    };
    let mut arguments_of = BTreeMap::new();
    for item in wanted {
        let item = item.trim();
        let (item, is_optional) = match item.strip_prefix('?') {
            Some(item) => (item.trim_start(), true),
            None => (item, false),
        };
        let (name, arguments) = item.split_once(char::is_whitespace).unwrap_or((item, ""));
        let name = normal(name);
        if is_optional && !order.files.contains_key(&name) {
            continue;
        }
        if !arguments.trim().is_empty() {
            arguments_of.insert(name.clone(), arguments.trim().to_owned());
        }
        if let Err(missing) = order.add(&name)? {
            return Err(order.refusal(kernel, &name, &missing));
        }
    }
    for module in &mut order.modules {
        module.arguments = arguments_of.remove(&module.name).unwrap_or_default();
    }
    // What is left is built in.
    if let Some((name, arguments)) = arguments_of.first_key_value() {
        return Err(built_in_arguments(kernel, name, arguments));
    }
    Ok(order.modules)
}

/// A kernel without modules has everything built in, or does not work.
fn without_modules(kernel: &Kernel, wanted: &[String]) -> Result<Vec<Module>> {
    match wanted.iter().find(|item| !item.trim_start().starts_with('?')) {
        // A small kernel of one's own has no modules: nothing can be known of it but by booting.
        Some(item) if kernel.name.starts_with("debian:") => Err(Error::environment(
            format!("cannot load {item} in {}", kernel.name),
            "the kernel has no modules",
        )),
        _ => match wanted.iter().find_map(|item| item.trim().split_once(' ')) {
            Some((name, arguments)) => Err(built_in_arguments(kernel, name, arguments)),
            None => Ok(Vec::new()),
        },
    }
}

/// Arguments of a module that is built in would have to stand on the command line.
fn built_in_arguments(kernel: &Kernel, name: &str, arguments: &str) -> Error {
    Error::usage(
        format!("cannot give `{arguments}` to the module {name} of {}", kernel.name),
        "it is built into this kernel",
        format!("put it on the kernel's command line, as {name}.ARGUMENT=VALUE"),
    )
}

struct Order {
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
    seen: BTreeSet<String>,
    modules: Vec<Module>,
}

impl Order {
    /// Adds a module after what it needs, or tells what is missing.
    fn add(&mut self, name: &str) -> Result<Result<(), String>> {
        // Not recursive: a hostile module could name itself through thousands of others.
        let mut work = vec![(name.to_owned(), false)];
        while let Some((name, is_ready)) = work.pop() {
            let Some(path) = self.files.get(&name).cloned() else {
                if self.built_in.contains(&name) {
                    continue;
                }
                return Ok(Err(name));
            };
            if is_ready {
                self.modules.push(Module { name, path, arguments: String::new() });
                continue;
            }
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let needs = depends_of(&path)?;
            work.push((name, true));
            work.extend(needs.into_iter().rev().map(|need| (need, false)));
        }
        Ok(Ok(()))
    }

    fn refusal(&self, kernel: &Kernel, wanted: &str, missing: &str) -> Error {
        let needed =
            if wanted == missing { String::new() } else { format!(", which {wanted} needs,") };
        let alike: Vec<&str> = self
            .files
            .keys()
            .filter(|name| name.starts_with(missing) || missing.starts_with(name.as_str()))
            .map(String::as_str)
            .take(3)
            .collect();
        let remedy = if alike.is_empty() {
            "leave it out, or choose a kernel that has it".to_owned()
        } else {
            format!("there is {}", alike.join(", "))
        };
        Error::new(
            ErrorKind::Unsupported,
            format!("cannot load {wanted} in {}", kernel.name),
            format!("the module {missing}{needed} is neither there nor built in"),
            remedy,
        )
    }
}

/// Every module's file by its name.
fn files(directory: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut work = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = work.pop() {
        let fail = |error| Error::file("read", &directory, error);
        for entry in fs::read_dir(&directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry.file_type().map_err(fail)?;
            if kind.is_dir() && depth < DEEPEST {
                work.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && let Some(name) = module_name(&entry.file_name().to_string_lossy())
            {
                found.insert(name, entry.path());
            }
        }
    }
    Ok(found)
}

fn module_name(file: &str) -> Option<String> {
    ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).map(normal)
}

/// The modules that are part of the kernel itself.
fn built_in(directory: &Path) -> Result<BTreeSet<String>> {
    let path = directory.join("modules.builtin");
    let text = read_regular(&path, CACHE_DOCUMENT_BYTES.most)
        .map_err(|error| Error::file("read", &path, by_limit(error)))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(|line| module_name(line.trim().rsplit('/').next()?)).collect())
}

/// The refusal of what is too long, by the name of the limit.
fn by_limit(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::InvalidData {
        return error;
    }
    let limit = &CACHE_DOCUMENT_BYTES;
    io::Error::new(error.kind(), OverLimit { limit, read: limit.most + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A module that needs others, as small as an ELF file can be.
    pub(crate) fn elf(depends: &str) -> Vec<u8> {
        let mut modinfo = b"license=GPL\0depends=".to_vec();
        modinfo.extend_from_slice(depends.as_bytes());
        modinfo.extend_from_slice(b"\0name=x\0");
        let names = b"\0.modinfo\0.shstrtab\0";
        let header = 64_u64;
        let (modinfo_at, names_at) = (header, header + modinfo.len() as u64);
        let sections_at = (names_at + names.len() as u64).next_multiple_of(8);
        let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        for half in [1_u16, 62] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        for word in [0, 0, sections_at] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        for half in [64_u16, 0, 0, 64, 3, 2] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        bytes.extend_from_slice(&modinfo);
        bytes.extend_from_slice(names);
        bytes.resize(usize::try_from(sections_at).unwrap(), 0);
        let mut section = |name: u32, kind: u32, at: u64, size: usize| {
            bytes.extend_from_slice(&name.to_le_bytes());
            bytes.extend_from_slice(&kind.to_le_bytes());
            for word in [0, 0, at, size as u64, 0, 1, 0] {
                let word: u64 = word;
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            let end = bytes.len();
            bytes.truncate(end);
        };
        section(0, 0, 0, 0);
        section(1, 1, modinfo_at, modinfo.len());
        section(10, 3, names_at, names.len());
        bytes
    }

    fn kernel(modules: &[(&str, &str)], built_in: &str) -> (tempfile::TempDir, Kernel) {
        let directory = tempfile::tempdir().unwrap();
        for (file, depends) in modules {
            let path = directory.path().join("kernel").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let bytes = elf(depends);
            if file.ends_with(".gz") {
                let file = fs::File::create(&path).unwrap();
                let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                encoder.write_all(&bytes).unwrap();
                encoder.finish().unwrap();
            } else {
                fs::write(&path, bytes).unwrap();
            }
        }
        fs::write(directory.path().join("modules.builtin"), built_in).unwrap();
        let kernel = Kernel {
            name: "path:/vmlinuz".to_owned(),
            release: "6.1.0".to_owned(),
            version: "6.1.0".parse().unwrap(),
            image: PathBuf::from("/vmlinuz"),
            modules: Some(directory.path().to_owned()),
            config: None,
            digest: String::new(),
            modules_digest: None,
            packages: Vec::new(),
            origin: None,
        };
        (directory, kernel)
    }

    fn order(kernel: &Kernel, wanted: &[&str]) -> Result<Vec<String>> {
        let wanted: Vec<String> = wanted.iter().map(|item| (*item).to_owned()).collect();
        Ok(load_order(kernel, &wanted)?
            .into_iter()
            .map(|module| format!("{} {}", module.name, module.arguments).trim().to_owned())
            .collect())
    }

    #[test]
    fn each_module_comes_after_what_it_needs_and_once() {
        let (_directory, kernel) = kernel(
            &[
                ("drivers/virtio/virtio.ko", ""),
                ("drivers/virtio/virtio_ring.ko.gz", "virtio"),
                ("drivers/virtio_console.ko", "virtio,virtio-ring,crc"),
                ("block/null_blk/null_blk.ko", ""),
            ],
            "kernel/lib/crc.ko\n",
        );
        assert_eq!(
            order(
                &kernel,
                &["virtio_console", "null-blk gb=1 bs=4096", "virtio", "?absent", "crc"]
            )
            .unwrap(),
            ["virtio", "virtio_ring", "virtio_console", "null_blk gb=1 bs=4096"]
        );
    }

    #[test]
    fn what_is_missing_is_named_with_what_needs_it() {
        let (_directory, kernel) = kernel(&[("a.ko", "gone"), ("kyber-iosched.ko", "")], "");
        let error = order(&kernel, &["a"]).unwrap_err();
        assert!(error.cause.contains("gone, which a needs"), "{error}");
        let error = order(&kernel, &["kyber"]).unwrap_err();
        assert_eq!(error.remedy, "there is kyber_iosched");
        assert_eq!(error.kind, ErrorKind::Unsupported);
    }

    #[test]
    fn a_list_of_what_is_built_in_is_read_up_to_its_limit_and_refused_beyond_by_its_name() {
        let (directory, kernel) = kernel(&[("a.ko", "")], "");
        let list = fs::File::create(directory.path().join("modules.builtin")).unwrap();
        // Sparse: it reads as zeros and takes no room.
        list.set_len(CACHE_DOCUMENT_BYTES.most).unwrap();
        assert_eq!(order(&kernel, &["a"]).unwrap(), ["a"]);
        list.set_len(CACHE_DOCUMENT_BYTES.most + 1).unwrap();
        let error = order(&kernel, &["a"]).unwrap_err();
        assert!(error.cause.contains("more than 16777216 bytes"), "{error}");
        assert!(error.cause.contains("limit CACHE_DOCUMENT_BYTES"), "{error}");
    }

    #[test]
    fn a_circle_ends_and_rubbish_is_refused() {
        let (directory, kernel) = kernel(&[("a.ko", "b"), ("b.ko", "a")], "");
        assert_eq!(order(&kernel, &["a"]).unwrap(), ["b", "a"]);
        for (name, bytes) in [
            ("x.ko", &b"rubbish"[..]),
            ("y.ko.xz", b"rubbish"),
            ("z.ko.zst", b"rubbish"),
            ("g.ko.gz", b""),
        ] {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        for name in ["x", "y", "z", "g"] {
            assert!(order(&kernel, &[name]).unwrap_err().attempted.contains("read the module"));
        }
    }

    #[test]
    fn arguments_of_what_is_built_in_are_refused() {
        let (_directory, kernel) = kernel(&[], "kernel/drivers/block/loop.ko\n");
        assert_eq!(order(&kernel, &["loop"]).unwrap(), [""; 0]);
        assert!(order(&kernel, &["loop max_loop=8"]).unwrap_err().remedy.contains("loop."));
    }
}
