//! Digests of JSON that is never held as a whole: as values, lists of a plan's blocks would be ten
//! times as large as the blocks.

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// SHA-256 (hex) of the JSON text of something, which is that of its values: their keys stay in order
/// (`preserve_order`). Of nothing where it cannot be written.
pub(crate) fn digest_of_json(said: &impl Serialize) -> String {
    digest_of(&mut |hashed| serde_json::to_writer(hashed, said))
}

fn digest_of(write: &mut dyn FnMut(&mut Hashed) -> serde_json::Result<()>) -> String {
    let mut hashed = Hashed(Sha256::new());
    if write(&mut hashed).is_err() {
        hashed = Hashed(Sha256::new());
    }
    hashed.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is written into a digest.
struct Hashed(Sha256);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::hexadecimal;
    use model::{Block, Sitting};

    #[test]
    fn a_digest_is_that_of_the_values_that_are_not_held() {
        let sitting = |subject: &str| Sitting {
            subject: subject.into(),
            workloads: ["w"].into_iter().collect(),
            boot: Some(1),
        };
        let block = |index| Block { index, sittings: vec![sitting("b"), sitting("a")] };
        let blocks = [block(0), block(1)];
        let notes = ["a \u{1b} note".to_owned()];
        let values = serde_json::json!(["name", null, true, 7, blocks, notes]);
        let said = ("name", None::<u8>, true, 7, &blocks, &notes);
        assert_eq!(digest_of_json(&said), hexadecimal(values.to_string().as_bytes()));
    }
}
