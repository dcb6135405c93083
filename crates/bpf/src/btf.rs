//! As much of the kernel's type description (Documentation/bpf/btf.rst) as the load
//! probe asks for. Read without libbpf, so that a build without it can tell, too.

const MAGIC: u16 = 0xeb9f;
const KIND_STRUCT: u32 = 4;
const KIND_FUNC: u32 = 12;
const KIND_FUNC_PROTO: u32 = 13;

/// Structs and functions, and how many parameters the functions have. A kernel describes more than
/// a hundred thousand types, of which a handful is asked for: names stay where they lie.
#[derive(Debug, Default)]
pub struct Btf<'b> {
    /// Names, each ended by a zero.
    strings: &'b [u8],
    /// Where the name of each struct begins.
    structs: Vec<u32>,
    /// Where the name of each function begins, and the number of its type.
    functions: Vec<(u32, u32)>,
    /// Numbers of types of functions, ascending, and how many parameters each has.
    parameters: Vec<(u32, u32)>,
}

impl<'b> Btf<'b> {
    /// Reads the description; malformed bytes are refused.
    pub fn parse(bytes: &'b [u8]) -> Result<Self, String> {
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
        let mut found = Self { strings: section(header(16)?, header(20)?)?, ..Self::default() };
        let (mut at, mut id) = (0, 1);
        while at < types.len() {
            let field = |index: usize| word(types, at + 4 * index).ok_or_else(short);
            let (name, info, target) = (field(0)?, field(1)?, field(2)?);
            let (kind, count) = (info >> 24 & 0x1f, info & 0xffff);
            match kind {
                KIND_STRUCT => found.structs.push(name),
                KIND_FUNC => found.functions.push((name, target)),
                KIND_FUNC_PROTO => found.parameters.push((id, count)),
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
        self.structs.iter().any(|at| self.is_called(*at, name))
    }

    /// How many parameters the function of this name has. Of several the last one counts.
    pub fn parameters_of(&self, function: &str) -> Option<u32> {
        let (_, own) = self.functions.iter().rfind(|(at, _)| self.is_called(*at, function))?;
        let place = self.parameters.binary_search_by_key(own, |(id, _)| *id).ok()?;
        Some(self.parameters[place].1)
    }

    /// Whether this name, and no longer one, begins there.
    fn is_called(&self, at: u32, name: &str) -> bool {
        let rest = self.strings.get(at as usize..).unwrap_or_default();
        rest.strip_prefix(name.as_bytes()).is_some_and(|after| after.first() == Some(&0))
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
        // Neither the beginning of a name nor a longer one is that name.
        assert!(!read.has_struct("task_") && !read.has_struct("task_struct_"));
        for length in 0..whole.len() {
            assert!(Btf::parse(&whole[..length]).is_err(), "{length}");
        }
        let mut unknown = whole;
        unknown[24 + 7] = 30;
        assert!(Btf::parse(&unknown).unwrap_err().contains("unknown kind 30"));
    }
}
