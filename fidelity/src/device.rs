//! The loop device that both sides read.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Larger than any cell reads.
const BYTES: u64 = 512 << 20;

/// A loop device with direct I/O over a file of the temporary directory, gone when dropped.
pub struct LoopDevice {
    node: String,
    file: PathBuf,
}

impl LoopDevice {
    /// Makes one.
    ///
    /// # Errors
    /// Without root, or where the directory's file system cannot do direct I/O.
    pub fn make() -> Result<Self, String> {
        let file =
            std::env::temp_dir().join(format!("schedlab-fidelity-device-{}", std::process::id()));
        let made = std::fs::File::create_new(&file).and_then(|image| image.set_len(BYTES));
        made.map_err(|error| format!("cannot make {}: {error}", file.display()))?;
        match attach(&file) {
            Ok(node) => Ok(Self { node, file }),
            Err(why) => {
                let _ = std::fs::remove_file(&file);
                Err(format!("cannot attach a loop device (this needs root): {why}"))
            }
        }
    }

    /// Its node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        BYTES
    }
}

fn attach(file: &Path) -> Result<String, String> {
    let output = Command::new("losetup")
        .args(["--find", "--show", "--direct-io=on"])
        .arg(file)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.node).status();
        if !detached.is_ok_and(|status| status.success()) {
            eprintln!("fidelity: cannot detach {}: losetup --detach {0}", self.node);
        }
        let _ = std::fs::remove_file(&self.file);
    }
}
