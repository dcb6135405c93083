//! Serial ports between a guest and its host (drivers/char/virtio_console.c, Linux 6.12).

use crate::Machine;
use std::path::PathBuf;

const PORTS: &str = "/sys/class/virtio-ports";

/// The device of the port of this name, where the machine has one.
pub fn virtio_port(machine: &Machine, name: &str) -> Option<PathBuf> {
    let mut ports = std::fs::read_dir(machine.path(PORTS)).ok()?.flatten();
    ports.find_map(|port| {
        let directory = port.file_name().to_string_lossy().into_owned();
        let told = machine.read(&format!("{PORTS}/{directory}/name")).ok()?;
        let device = machine.path(&format!("/dev/{directory}"));
        (told.trim() == name && device.exists()).then_some(device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name_once_its_device_is_there() {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::fake(root.path(), root.path()).unwrap();
        let at = |path: &str| root.path().join(path);
        assert_eq!(virtio_port(&machine, "b"), None);
        for (port, name) in [("vport1p1", "a\n"), ("vport1p2", "b\n")] {
            std::fs::create_dir_all(at("sys/class/virtio-ports").join(port)).unwrap();
            std::fs::write(at("sys/class/virtio-ports").join(port).join("name"), name).unwrap();
        }
        assert_eq!(virtio_port(&machine, "b"), None);
        std::fs::create_dir_all(at("dev")).unwrap();
        std::fs::write(at("dev/vport1p2"), "").unwrap();
        assert_eq!(virtio_port(&machine, "b"), Some(at("dev/vport1p2")));
    }
}
