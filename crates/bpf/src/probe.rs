//! Whether this kernel can load sched_ext schedulers, told before anything is loaded:
//! the kernel itself answers a load it cannot do with a bare EINVAL.

use crate::btf::Btf;
use std::fmt;
use std::fs;
use sys::Machine;

const SCHED_EXT: &str = "/sys/kernel/sched_ext";
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Why no sched_ext scheduler can be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unable {
    /// The build has no libbpf in it.
    NotBuilt,
    /// The kernel was built without sched_ext (CONFIG_SCHED_CLASS_EXT).
    NoSchedExt,
    /// The kernel does not describe its types, or not legibly.
    NoTypes {
        /// What was wrong.
        cause: String,
    },
    /// The types do not describe sched_ext, or without its kfuncs.
    TypesLackSchedExt {
        /// The missing type or function.
        name: &'static str,
    },
    /// It has sched_ext, but not all functions that the schedulers call.
    LacksFunctions {
        /// The missing ones.
        names: Vec<&'static str>,
    },
    /// The types show kfuncs with the argument that only the verifier may see.
    ImplicitArguments,
}

impl Unable {
    /// What would help, in one line.
    pub fn remedy(&self) -> &'static str {
        match self {
            Unable::NotBuilt => "build with the default features (needs clang, libelf and zlib)",
            Unable::NoSchedExt => {
                "choose a kernel from 6.18 on that was built with CONFIG_SCHED_CLASS_EXT (in a virtual machine)"
            }
            Unable::LacksFunctions { .. } => "choose a kernel from 6.18 on (in a virtual machine)",
            Unable::NoTypes { .. } | Unable::TypesLackSchedExt { .. } => {
                "choose a kernel that was built with CONFIG_DEBUG_INFO_BTF (in a virtual machine)"
            }
            Unable::ImplicitArguments => {
                "choose another build of this kernel (in a virtual machine)"
            }
        }
    }
}

impl fmt::Display for Unable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unable::NotBuilt => crate::Error::NotBuilt.fmt(formatter),
            Unable::NoSchedExt => {
                write!(formatter, "this kernel has no sched_ext ({SCHED_EXT} is absent)")
            }
            Unable::NoTypes { cause } => write!(formatter, "cannot read {BTF}: {cause}"),
            Unable::TypesLackSchedExt { name } => {
                write!(formatter, "its BTF ({BTF}) does not describe {name}")
            }
            Unable::LacksFunctions { names } => {
                write!(formatter, "this kernel lacks what the schedulers call: {}", names.join(", "))
            }
            Unable::ImplicitArguments => formatter.write_str(
                "its BTF carries implicit kfunc arguments (kernel built with pahole older than 1.26)",
            ),
        }
    }
}

impl std::error::Error for Unable {}

/// Looks whether this kernel can load sched_ext schedulers that call these functions, of each
/// group any one; changes nothing.
///
/// # Errors
/// Why it cannot.
pub fn can_load_schedulers(machine: &Machine, called: &[&[&'static str]]) -> Result<(), Unable> {
    if !machine.exists(SCHED_EXT) {
        return Err(Unable::NoSchedExt);
    }
    let bytes = fs::read(machine.path(BTF))
        .map_err(|error| Unable::NoTypes { cause: error.to_string() })?;
    let btf = Btf::parse(&bytes).map_err(|cause| Unable::NoTypes { cause })?;
    if !btf.has_struct("sched_ext_ops") {
        return Err(Unable::TypesLackSchedExt { name: "sched_ext_ops" });
    }
    // A kfunc that every version has, with the same two parameters in 6.12 to 7.3.
    match btf.parameters_of("scx_bpf_create_dsq") {
        None => return Err(Unable::TypesLackSchedExt { name: "scx_bpf_create_dsq" }),
        Some(2) => {}
        // Debian's 7.2.12: the third is `const struct bpf_prog_aux *aux`, which the
        // verifier fills in itself and which pahole from 1.26 on leaves out.
        Some(_) => return Err(Unable::ImplicitArguments),
    }
    let is_there = |name: &&str| btf.parameters_of(name).is_some();
    let absent = called.iter().filter(|group| !group.iter().any(is_there));
    let names: Vec<&str> = absent.filter_map(|group| group.first().copied()).collect();
    if !names.is_empty() {
        return Err(Unable::LacksFunctions { names });
    }
    if cfg!(feature = "libbpf") { Ok(()) } else { Err(Unable::NotBuilt) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::tests::{BtfItem, btf};

    fn probe(types: Option<Vec<u8>>, has_sched_ext: bool) -> Result<(), Unable> {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::fake(directory.path(), directory.path().join("run")).unwrap();
        let kernel = directory.path().join("sys/kernel");
        fs::create_dir_all(kernel.join("btf")).unwrap();
        if has_sched_ext {
            fs::create_dir_all(kernel.join("sched_ext")).unwrap();
        }
        if let Some(types) = types {
            fs::write(kernel.join("btf/vmlinux"), types).unwrap();
        }
        can_load_schedulers(&machine, CALLED)
    }

    const CALLED: &[&[&str]] =
        &[&["scx_bpf_create_dsq"], &["scx_bpf_dsq_insert"], &["vtime", "__vtime"]];

    #[test]
    fn each_kernel_that_cannot_is_told_apart() {
        let ops = ("sched_ext_ops", BtfItem::Struct(30));
        let create = |parameters| ("scx_bpf_create_dsq", BtfItem::Function(parameters));
        assert_eq!(probe(None, false), Err(Unable::NoSchedExt));
        assert!(matches!(probe(None, true), Err(Unable::NoTypes { .. })));
        assert!(matches!(probe(Some(b"junk".to_vec()), true), Err(Unable::NoTypes { .. })));
        assert_eq!(
            probe(Some(btf(&[create(2)])), true),
            Err(Unable::TypesLackSchedExt { name: "sched_ext_ops" })
        );
        assert_eq!(
            probe(Some(btf(&[ops])), true),
            Err(Unable::TypesLackSchedExt { name: "scx_bpf_create_dsq" })
        );
        let debian_7_2_12 = probe(Some(btf(&[ops, create(3)])), true).unwrap_err();
        assert_eq!(debian_7_2_12, Unable::ImplicitArguments);
        assert!(debian_7_2_12.to_string().contains("pahole older than 1.26"));
        let function = |name| (name, BtfItem::Function(2));
        let linux_6_12 = probe(Some(btf(&[ops, create(2)])), true).unwrap_err();
        let names = vec!["scx_bpf_dsq_insert", "vtime"];
        assert_eq!(linux_6_12, Unable::LacksFunctions { names });
        assert!(linux_6_12.to_string().ends_with("call: scx_bpf_dsq_insert, vtime"));
        assert!(linux_6_12.remedy().contains("6.18"));
        let (insert, either) = (function("scx_bpf_dsq_insert"), function("__vtime"));
        let able = probe(Some(btf(&[ops, create(2), insert, either])), true);
        assert_eq!(able.is_ok(), cfg!(feature = "libbpf"), "{able:?}");
    }
}
