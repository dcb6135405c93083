//! As much of the kernel's type description (Documentation/bpf/btf.rst) as the load
//! probe asks for. Read without libbpf, so that a build without it can tell, too.

use std::collections::BTreeMap;

const MAGIC: u16 = 0xeb9f;
const KIND_STRUCT: u32 = 4;
const KIND_FUNC: u32 = 12;
const KIND_FUNC_PROTO: u32 = 13;

/// Names of structs and functions, and how many parameters the functions have.
#[derive(Debug, Default)]
pub struct Btf {
    structs: Vec<String>,
    functions: BTreeMap<String, u32>,
    parameters: BTreeMap<u32, u32>,
}

impl Btf {
    /// Reads the description; malformed bytes are refused.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let short = || "it is cut short".to_owned();
        let magic = bytes.get(..2).ok_or_else(short)?;
        if magic != MAGIC.to_ne_bytes() {
            return Err("it is no BTF".to_owned());
        }
        let header = |at| word(bytes, at).map(|value| value as usize).ok_or_else(short);
        let section = |offset: usize, length: usize| {
            let start = header(4)?.checked_add(offset).ok_or_else(short)?;
            let end = start.checked_add(length).ok_or_else(short)?;
            bytes.get(start..end).ok_or_else(short)
        };
        let types = section(header(8)?, header(12)?)?;
        let strings = section(header(16)?, header(20)?)?;
        let mut found = Self::default();
        let (mut at, mut id) = (0, 1);
        while at < types.len() {
            let field = |index: usize| word(types, at + 4 * index).ok_or_else(short);
            let (name, info, target) = (field(0)?, field(1)?, field(2)?);
            let (kind, count) = (info >> 24 & 0x1f, info & 0xffff);
            match kind {
                KIND_STRUCT => found.structs.extend(text(strings, name)),
                KIND_FUNC => {
                    found.functions.extend(text(strings, name).map(|name| (name, target)));
                }
                KIND_FUNC_PROTO => {
                    found.parameters.insert(id, count);
                }
                _ => {}
            }
            let more = following(kind, count as usize)
                .ok_or_else(|| format!("it has types of the unknown kind {kind}"))?;
            at += 12 + more;
            id += 1;
        }
        Ok(found)
    }

    /// Whether there is a struct of this name.
    pub fn has_struct(&self, name: &str) -> bool {
        self.structs.iter().any(|known| known == name)
    }

    /// How many parameters the function of this name has.
    pub fn parameters_of(&self, function: &str) -> Option<u32> {
        self.parameters.get(self.functions.get(function)?).copied()
    }
}

/// Bytes after the twelve that every type has (include/uapi/linux/btf.h, 7.2).
fn following(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        // INT, VAR, DECL_TAG.
        1 | 14 | 17 => 4,
        // ARRAY.
        3 => 12,
        // STRUCT, UNION, DATASEC, ENUM64.
        KIND_STRUCT | 5 | 15 | 19 => 12 * count,
        // ENUM, FUNC_PROTO.
        6 | KIND_FUNC_PROTO => 8 * count,
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG.
        2 | 7..=KIND_FUNC | 16 | 18 => 0,
        _ => return None,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn text(strings: &[u8], at: u32) -> Option<String> {
    let rest = strings.get(at as usize..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let name = std::str::from_utf8(&rest[..end]).ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// What to describe.
    #[derive(Clone, Copy)]
    pub enum BtfItem {
        /// A struct with so many members.
        Struct(u32),
        /// A function with so many parameters.
        Function(u32),
    }

    /// The description of these types.
    pub fn btf(types: &[(&str, BtfItem)]) -> Vec<u8> {
        let (mut body, mut strings, mut id) = (Vec::new(), vec![0], 0);
        let mut put = |words: &[u32]| {
            body.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        };
        for (name, kind) in types {
            let at = u32::try_from(strings.len()).unwrap();
            strings.extend(name.as_bytes());
            strings.push(0);
            match *kind {
                BtfItem::Struct(members) => {
                    put(&[at, KIND_STRUCT << 24 | members, 8 * members]);
                    put(&vec![0; 3 * members as usize]);
                    id += 1;
                }
                BtfItem::Function(parameters) => {
                    put(&[0, KIND_FUNC_PROTO << 24 | parameters, 0]);
                    put(&vec![0; 2 * parameters as usize]);
                    put(&[at, KIND_FUNC << 24, id + 1]);
                    id += 2;
                }
            }
        }
        let sizes = [body.len(), strings.len()].map(|length| u32::try_from(length).unwrap());
        let mut whole = MAGIC.to_ne_bytes().to_vec();
        whole.extend([1, 0]);
        for word in [24, 0, sizes[0], sizes[0], sizes[1]] {
            whole.extend(u32::to_ne_bytes(word));
        }
        whole.extend(body);
        whole.extend(strings);
        whole
    }

    #[test]
    fn functions_are_found_past_types_of_other_sizes_and_a_cut_is_noticed() {
        let whole = btf(&[
            ("task_struct", BtfItem::Struct(200)),
            ("schedule", BtfItem::Function(0)),
            ("scx_bpf_create_dsq", BtfItem::Function(2)),
        ]);
        let read = Btf::parse(&whole).unwrap();
        assert!(read.has_struct("task_struct") && !read.has_struct("schedule"));
        assert_eq!(read.parameters_of("scx_bpf_create_dsq"), Some(2));
        assert_eq!(read.parameters_of("schedule"), Some(0));
        assert_eq!(read.parameters_of("task_struct"), None);
        for length in 0..whole.len() {
            assert!(Btf::parse(&whole[..length]).is_err(), "{length}");
        }
        let mut unknown = whole;
        unknown[24 + 7] = 30;
        assert!(Btf::parse(&unknown).unwrap_err().contains("unknown kind 30"));
    }
}
