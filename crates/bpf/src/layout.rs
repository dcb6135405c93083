//! Where the named variables of a BPF object lie. libbpf keeps a section of
//! variables as one map with one value; the symbols say which bytes are whose.

use crate::{Error, Result};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::ops::Range;

/// The variables of an object by name.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    variables: BTreeMap<String, Variable>,
}

/// A variable's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// `.rodata`, `.data` or `.bss`.
    pub section: String,
    /// Its bytes within the section.
    pub bytes: Range<usize>,
}

impl Layout {
    /// Reads the symbols of an object.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self> {
        let file = object::File::parse(bytes)
            .map_err(|error| Error::malformed(name, format!("it is no ELF file: {error}")))?;
        let mut variables = BTreeMap::new();
        for symbol in file.symbols() {
            let Some(index) = symbol.section_index() else { continue };
            let Ok(section) = file.section_by_index(index) else { continue };
            let (Ok(section), Ok(symbol_name)) = (section.name(), symbol.name()) else { continue };
            if ![".rodata", ".data", ".bss"].contains(&section) || symbol.size() == 0 {
                continue;
            }
            let place = usize::try_from(symbol.address())
                .ok()
                .zip(usize::try_from(symbol.size()).ok())
                .and_then(|(start, size)| Some(start..start.checked_add(size)?));
            if let Some(bytes) = place {
                let variable = Variable { section: section.to_owned(), bytes };
                variables.insert(symbol_name.to_owned(), variable);
            }
        }
        Ok(Self { variables })
    }

    /// Where a variable lies.
    pub fn variable(&self, object: &str, name: &str) -> Result<&Variable> {
        self.variables
            .get(name)
            .ok_or_else(|| Error::malformed(object, format!("it has no variable {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_refused_and_nothing_is_read_past_its_end() {
        assert!(Layout::read("x", b"").is_err());
        assert!(Layout::read("x", b"\x7fELF\x02\x01\x01").is_err());
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in [64, 1000, own.len() / 2] {
            let _ = Layout::read("x", &own[..length]);
        }
        let missing = Layout::default().variable("bfs", "quota").unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the BPF object bfs is not usable: it has no variable quota"
        );
    }
}
