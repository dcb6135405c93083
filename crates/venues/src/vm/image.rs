//! The guest's root: an initramfs made in memory from our own static binary, the modules
//! that are needed, the kernel's configuration, and files of the host where asked for.

use super::files::GuestFiles;
use super::guest_layout::{DIRECTORIES, FILES_PLACE, TOOLS_PLACE, way_into};
use super::memfd::new_memfd;
use super::qemu::{FILES_SERIAL, SCRATCH_SERIAL, TOOLS_SERIAL};
use crate::errors::artefact_error;
use artefacts::{MERGED, guest_path};
use contract::{Error, Result};
use guest_images::{Initramfs, ToolsImage};
use kernels::{Kernel, load_order};
use model::{Disk, VmSettings};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use wire::{GuestSettings, Mount};

/// Files that programs of any kind look into, and what a machine without a network says there.
const CONFIGURATION: [(&str, &str); 4] = [
    ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"),
    ("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
    ("etc/hosts", "127.0.0.1 localhost schedlab\n"),
    // Without it the C library asks a name server first that is not there (nsswitch.conf(5)).
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
];

/// What a guest's root is made of.
pub(crate) struct ImageOrder<'a> {
    /// Our own binary, as much of it as is loaded.
    pub agent: &'a [u8],
    pub kernel: &'a Kernel,
    pub settings: &'a VmSettings,
    /// Further files.
    pub files: &'a GuestFiles,
    /// Controllers of groups that subjects limit their workloads with: an autogroup counts for
    /// nothing in a group with the CPU controller, so guests have it only where it is asked for.
    pub controllers: &'a [String],
    /// Modules that levels need, with their arguments.
    pub modules: &'a [String],
    /// The disk of tools.
    pub tools: Option<&'a ToolsImage>,
    /// Whether there is a disk for workloads' files.
    pub has_scratch: bool,
    /// Whether there is a second guest, or load from the host.
    pub has_network: bool,
    /// What the agent logs.
    pub log: Option<&'a str>,
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
    let mut file = new_memfd("schedlab-initramfs", 0)?;
    file.write_all(&bytes)
        .map_err(|error| Error::environment("cannot write the initramfs to memory", error))?;
    Ok(file)
}

fn fill(image: &mut Initramfs, order: &ImageOrder<'_>) -> Result<()> {
    let kernel = order.kernel;
    let build = |image: &mut Initramfs| -> artefacts::Result<Vec<(String, String)>> {
        for directory in DIRECTORIES {
            image.directory(directory)?;
        }
        image.console()?;
        for name in MERGED {
            image.directory(&format!("usr/{name}"))?;
            image.symlink(name, &format!("usr/{name}"))?;
        }
        image.file("init", 0o755, order.agent.to_vec())?;
        for (path, text) in CONFIGURATION {
            image.file(path, 0o644, text.as_bytes().to_vec())?;
        }
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
        put_files(image, order)?;
        for (path, text) in order.texts {
            image.file(path, 0o644, text.clone())?;
        }
        Ok(modules)
    };
    let modules = build(image).map_err(artefact_error)?;
    let controllers = order.controllers.to_vec();
    let directory = order.files.directory.clone();
    let log = order.log.map(str::to_owned);
    let settings = GuestSettings { modules, mounts: mounts(order), controllers, directory, log };
    let text = serde_json::to_vec(&settings)
        .map_err(|error| Error::environment("cannot encode the guest's settings", error))?;
    image
        .file(wire::SETTINGS_FILE.trim_start_matches('/'), 0o644, text)
        .map(drop)
        .map_err(artefact_error)
}

/// Copies of files and links, the first at a path.
fn put_files(image: &mut Initramfs, order: &ImageOrder<'_>) -> artefacts::Result<()> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    for (guest, host) in &order.files.copies {
        let path = text(&guest_path(guest));
        if !image.contains(&path) {
            image.take(&path, host)?;
        }
    }
    let of_tools = order.tools.into_iter().flat_map(|tools| &tools.elsewhere);
    let of_tools = of_tools.filter_map(|place| way_into(TOOLS_PLACE, place));
    for (guest, target) in order.files.links.iter().cloned().chain(of_tools) {
        let path = text(&guest_path(&guest));
        if !image.contains(&path) {
            image.symlink(&path, &text(&target))?;
        }
    }
    Ok(())
}

/// What the guest needs to be talked to, and what the experiment wants.
fn wanted_modules(order: &ImageOrder<'_>) -> Vec<String> {
    let mut wanted = vec!["virtio_pci".to_owned(), "virtio_console".to_owned()];
    let disks = &order.settings.disks;
    let has_images = order.tools.is_some() || order.files.disk.is_some();
    if has_images
        || order.has_scratch
        || disks.iter().any(|disk| matches!(disk, Disk::VirtioBlk { .. }))
    {
        wanted.push("virtio_blk".to_owned());
    }
    if has_images {
        wanted.extend(["squashfs".to_owned(), "overlay".to_owned()]);
    }
    if order.has_scratch {
        // Built into Debian's cloud kernels, a module elsewhere.
        wanted.push("?ext4".to_owned());
    }
    if order.has_network {
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
    let mut over = "lowerdir=/usr".to_owned();
    let images = [
        (order.files.disk.is_some(), FILES_SERIAL, FILES_PLACE),
        (order.tools.is_some(), TOOLS_SERIAL, TOOLS_PLACE),
    ];
    for (_, serial, place) in images.into_iter().filter(|(is_there, ..)| *is_there) {
        mounts.push(mount(&of(serial), place, "squashfs", "", true));
        over.push_str(&format!(":{place}/usr"));
    }
    if !mounts.is_empty() {
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

    fn kernel() -> Kernel {
        Kernel {
            name: "path:/boot/vmlinuz".to_owned(),
            release: "6.12.1".to_owned(),
            version: model::KernelVersion::series(6, 12),
            image: "/boot/vmlinuz".into(),
            modules: None,
            config: None,
            digest: String::new(),
            modules_digest: None,
            packages: Vec::new(),
            origin: None,
        }
    }

    #[test]
    fn read_only_disks_are_mounted_laid_over_usr_and_linked_into() {
        let kernel = kernel();
        let mut files = GuestFiles {
            copies: vec![("/srv/tool".into(), "/dev/null".into())],
            links: vec![
                ("/usr/bin/java".into(), "/usr/lib/jvm/bin/java".into()),
                ("/srv/tool".into(), "/usr/bin/tool".into()),
            ],
            ..GuestFiles::default()
        };
        let tools = ToolsImage { path: "/x".into(), elsewhere: vec!["etc/java/x.conf".into()] };
        let made = |files: &GuestFiles, tools: Option<&ToolsImage>| {
            let settings = VmSettings::default();
            let order = ImageOrder {
                agent: b"",
                kernel: &kernel,
                settings: &settings,
                files,
                controllers: &[],
                modules: &[],
                tools,
                has_scratch: false,
                has_network: false,
                log: None,
                texts: &[],
            };
            let mut image = Initramfs::new();
            fill(&mut image, &order).unwrap();
            (image, mounts(&order))
        };
        let (image, none) = made(&files, None);
        assert_eq!(none, []);
        assert!(image.contains("etc/nsswitch.conf") && image.contains("usr/bin/java"));
        assert!(!image.contains("etc/java"));
        files.disk = Some(File::open("/dev/null").unwrap());
        let (image, mounts) = made(&files, Some(&tools));
        assert!(image.contains("etc/java/x.conf"));
        let shown: Vec<String> =
            mounts.iter().map(|it| format!("{} {} {}", it.source, it.target, it.options)).collect();
        assert_eq!(
            shown,
            [
                "serial:files /schedlab/files ",
                "serial:tools /schedlab/tools ",
                "overlay /usr lowerdir=/usr:/schedlab/files/usr:/schedlab/tools/usr"
            ]
        );
        // What was copied is there, and no link beside it.
        let bytes = String::from_utf8_lossy(&image.finish()).into_owned();
        assert!(bytes.contains("/usr/lib/jvm/bin/java") && !bytes.contains("/usr/bin/tool"));
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
