//! The guest's root: an initramfs made in memory from our own static binary, the modules
//! that are needed, the kernel's configuration, and files of the host where asked for.

use super::artefact_error;
use super::qemu::{SCRATCH_SERIAL, TOOLS_SERIAL, memory_file};
use artefacts::{Initramfs, Kernel, load_order};
use contract::{Error, Result};
use model::{Disk, VmSettings};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use wire::{GuestSettings, Mount};

/// Directories that a merged /usr makes links of.
const MERGED: [&str; 4] = ["bin", "sbin", "lib", "lib64"];
/// Where the tools image is mounted before it is laid over /usr.
const TOOLS: &str = "/tools";

/// What a guest's root is made of.
pub(crate) struct ImageOrder<'a> {
    /// Our own binary, as much of it as is loaded.
    pub agent: &'a [u8],
    pub kernel: &'a Kernel,
    pub settings: &'a VmSettings,
    /// Further files: path in the guest, path on the host.
    pub files: &'a [(PathBuf, PathBuf)],
    /// Controllers of groups that subjects limit their workloads with: an autogroup counts for
    /// nothing in a group with the CPU controller, so guests have it only where it is asked for.
    pub controllers: &'a [String],
    /// Modules that levels need, with their arguments.
    pub modules: &'a [String],
    /// Whether there is a disk of tools.
    pub has_tools: bool,
    /// Whether there is a disk for workloads' files.
    pub has_scratch: bool,
    /// Files whose content is at hand: path in the guest, content.
    pub texts: &'a [(String, Vec<u8>)],
}

/// The initramfs, in memory.
///
/// # Errors
/// When a file cannot be read, or a module is not there.
pub(crate) fn make(order: &ImageOrder<'_>) -> Result<File> {
    let mut image = Initramfs::new();
    fill(&mut image, order)?;
    let bytes = image.finish();
    let mut file = memory_file("schedlab-initramfs", 0)?;
    file.write_all(&bytes)
        .map_err(|error| Error::environment("cannot write the initramfs to memory", error))?;
    Ok(file)
}

fn fill(image: &mut Initramfs, order: &ImageOrder<'_>) -> Result<()> {
    let kernel = order.kernel;
    let build = |image: &mut Initramfs| -> artefacts::Result<Vec<(String, String)>> {
        for directory in ["dev", "proc", "sys", "run", "tmp", "root", "etc", "mnt", "var/tmp"] {
            image.directory(directory)?;
        }
        image.console()?;
        for name in MERGED {
            image.directory(&format!("usr/{name}"))?;
            image.symlink(name, &format!("usr/{name}"))?;
        }
        image.file("init", 0o755, order.agent.to_vec())?;
        image.file(
            "etc/passwd",
            0o644,
            b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n".to_vec(),
        )?;
        image.file("etc/group", 0o644, b"root:x:0:\nnogroup:x:65534:\n".to_vec())?;
        image.file("etc/hosts", 0o644, b"127.0.0.1 localhost schedlab\n".to_vec())?;
        if let Some(config) = &kernel.config {
            // sched_ext's programs read it (CONFIG_* externs); IKCONFIG is off in Debian.
            image.copy(&format!("boot/config-{}", kernel.release), 0o644, config)?;
        }
        let mut modules = Vec::new();
        for module in load_order(kernel, &wanted_modules(order))? {
            let name = module.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let path = format!("usr/lib/schedlab-modules/{name}");
            image.copy(&path, 0o644, &module.path)?;
            modules.push((format!("/{path}"), module.arguments));
        }
        for (guest, host) in order.files {
            let path = merged(guest);
            if !image.contains(&path) {
                image.copy(&path, 0o755, host)?;
            }
        }
        for (path, text) in order.texts {
            image.file(path, 0o644, text.clone())?;
        }
        Ok(modules)
    };
    let modules = build(image).map_err(artefact_error)?;
    let controllers = order.controllers.to_vec();
    let settings = GuestSettings { modules, mounts: mounts(order), controllers };
    let text = serde_json::to_vec(&settings)
        .map_err(|error| Error::environment("cannot encode the guest's settings", error))?;
    image
        .file(wire::SETTINGS_FILE.trim_start_matches('/'), 0o644, text)
        .map(drop)
        .map_err(artefact_error)
}

/// A path below the root with /bin, /sbin and /lib where they really are.
fn merged(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = text.trim_start_matches('/');
    let first = text.split('/').next().unwrap_or_default();
    if MERGED.contains(&first) { format!("usr/{text}") } else { text.to_owned() }
}

/// What the guest needs to be talked to, and what the experiment wants.
fn wanted_modules(order: &ImageOrder<'_>) -> Vec<String> {
    let mut wanted = vec!["virtio_pci".to_owned(), "virtio_console".to_owned()];
    let disks = &order.settings.disks;
    if order.has_tools
        || order.has_scratch
        || disks.iter().any(|disk| matches!(disk, Disk::VirtioBlk { .. }))
    {
        wanted.push("virtio_blk".to_owned());
    }
    if order.has_tools {
        wanted.extend(["squashfs".to_owned(), "overlay".to_owned()]);
    }
    if order.has_scratch {
        // Built into Debian's cloud kernels, a module elsewhere.
        wanted.push("?ext4".to_owned());
    }
    if order.settings.has_peer {
        wanted.push("virtio_net".to_owned());
    }
    wanted.extend(null_blk(disks));
    wanted.extend(order.modules.iter().cloned());
    wanted.extend(order.settings.modules.iter().cloned());
    wanted
}

/// The module of null block devices: all of a guest have the first one's size and time
/// (Documentation/block/null_blk.rst, 6.12: irqmode 2 completes by a timer).
fn null_blk(disks: &[Disk]) -> Option<String> {
    let mut null = disks.iter().filter_map(|disk| match disk {
        Disk::NullBlk { size_bytes, completion_ns } => Some((size_bytes >> 30, *completion_ns)),
        Disk::VirtioBlk { .. } => None,
    });
    let (gib, completion_ns) = null.next()?;
    let count = null.count() + 1;
    let timed = if completion_ns > 0 {
        format!(" irqmode=2 completion_nsec={completion_ns}")
    } else {
        String::new()
    };
    Some(format!("null_blk nr_devices={count} queue_mode=2 gb={}{timed}", gib.max(1)))
}

fn mounts(order: &ImageOrder<'_>) -> Vec<Mount> {
    let mount = |source: &str, target: &str, kind: &str, options: &str, is_read_only| Mount {
        source: source.to_owned(),
        target: target.to_owned(),
        kind: kind.to_owned(),
        options: options.to_owned(),
        is_read_only,
    };
    let of = |serial: &str| format!("{}{serial}", wire::BY_SERIAL);
    let mut mounts = Vec::new();
    if order.has_tools {
        let over = format!("lowerdir=/usr:{TOOLS}");
        mounts.push(mount(&of(TOOLS_SERIAL), TOOLS, "squashfs", "", true));
        mounts.push(mount("overlay", "/usr", "overlay", &over, true));
    }
    if order.modules.iter().any(|module| module.contains("configfs")) {
        mounts.push(mount("configfs", "/sys/kernel/config", "configfs", "", false));
    }
    if order.has_scratch {
        mounts.push(mount(&of(SCRATCH_SERIAL), wire::SCRATCH_DISK, "ext4", "", false));
    }
    mounts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_where_the_merged_directories_are() {
        assert_eq!(
            merged(Path::new("/lib64/ld-linux-x86-64.so.2")),
            "usr/lib64/ld-linux-x86-64.so.2"
        );
        assert_eq!(merged(Path::new("/usr/bin/true")), "usr/bin/true");
        assert_eq!(merged(Path::new("/opt/tool")), "opt/tool");
    }

    #[test]
    fn null_block_devices_become_one_module_with_its_arguments() {
        let null = Disk::NullBlk { size_bytes: 2 << 30, completion_ns: 50_000 };
        let disks = [null.clone(), Disk::VirtioBlk { size_bytes: 1 << 30 }, null];
        let expected = "null_blk nr_devices=2 queue_mode=2 gb=2 irqmode=2 completion_nsec=50000";
        assert_eq!(null_blk(&disks).as_deref(), Some(expected));
        assert_eq!(null_blk(&disks[1..2]), None);
    }
}
