//! Stamps: a proof that depends on nothing but some bytes need not be repeated while these are
//! the same.

use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Where stamps are; `anew:` before the directory repeats every proof. Unset, there are none.
const STAMPS: &str = "SCHEDLAB_STAMPS";
const ANEW: &str = "anew:";

/// What a proof leaves when it has succeeded.
#[derive(Debug)]
pub struct Stamp {
    /// The file and the digest in it; nothing where no stamps are kept.
    place: Option<(PathBuf, String)>,
}

/// Whether a proof has to run: `None` where one of the same name succeeded with the same inputs,
/// and the reader was told so.
#[must_use]
pub fn stamp(name: &str, inputs: &[&[u8]]) -> Option<Stamp> {
    let Ok(setting) = std::env::var(STAMPS) else { return Some(Stamp { place: None }) };
    let stamp = stamp_in(&setting, name, inputs);
    if stamp.is_none() {
        super::tell("STAMPED", &format!("{name} was proved with the same inputs"));
    }
    stamp
}

fn stamp_in(setting: &str, name: &str, inputs: &[&[u8]]) -> Option<Stamp> {
    let (is_anew, directory) = match setting.strip_prefix(ANEW) {
        Some(directory) => (true, directory),
        None => (false, setting),
    };
    let digest = digest(inputs);
    let path = PathBuf::from(directory).join(name);
    if !is_anew && std::fs::read_to_string(&path).is_ok_and(|text| text == digest) {
        return None;
    }
    Some(Stamp { place: Some((path, digest)) })
}

impl Stamp {
    /// Leaves it: the proof has succeeded.
    pub fn leave(self) {
        let Some((path, digest)) = self.place else { return };
        // Without a stamp the proof runs again, which is all that can happen.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, digest);
    }
}

/// Of the inputs and their lengths, so that no byte moves from one to the next unnoticed.
fn digest(inputs: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for input in inputs {
        hash.update((input.len() as u64).to_le_bytes());
        hash.update(input);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_repeated_when_any_input_changed_or_when_all_are_wanted_anew() {
        let directory = std::env::temp_dir().join(format!("stamps-{}", std::process::id()));
        let setting = directory.display().to_string();
        let inputs: [&[u8]; 2] = [b"program", b"kernel"];
        // One that failed leaves no stamp.
        assert!(stamp_in(&setting, "bfs", &inputs).is_some());
        stamp_in(&setting, "bfs", &inputs).unwrap().leave();
        assert!(stamp_in(&setting, "bfs", &inputs).is_none());
        assert!(stamp_in(&setting, "bfs", &[b"programk", b"ernel"]).is_some());
        assert!(stamp_in(&setting, "cfs", &inputs).is_some());
        assert!(stamp_in(&format!("{ANEW}{setting}"), "bfs", &inputs).is_some());
        std::fs::remove_dir_all(directory).unwrap();
    }
}
