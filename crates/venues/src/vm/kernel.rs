//! The factor `kernel`: which kernel a guest boots.

use contract::{BootKnob, BootSpec, Description, Factor, Knob, Requirement, Result};
use kernels::KernelName;
use model::{Fingerprint, Level};

/// The factor.
pub struct KernelFactor;

static DESCRIPTION: Description = Description {
    id: "kernel",
    summary: "the kernel that a guest boots",
    doc: "`debian:6.12` is the newest of that series that was fetched; an exact version, a range \
          (`debian:6.1..6.18`) and the classes `debian:cfs`, `debian:eevdf`, `debian:scx` are \
          names too, and the plan holds what they stood for. `path:IMAGE,modules=DIR` is a \
          kernel of your own, `build:NAME` one that was built here, `host` the one that runs \
          here. `schedlab kernels fetch debian:6.12` brings it.\n\n\
          What moves with it, and when it lies: everything. Kernels of different years differ in \
          clock source, autogroup, preemption model, mitigations and drivers, not in the \
          scheduler alone; `equalise = true` in [vm] makes the same what can be, and \
          DEFAULTS_DIFFER lists the rest. A kernel is booted anew in each block, so that its \
          boots are replicates (Kalibera and Jones, ISMM 2013).\n\n\
          Source: Debian's archive; Documentation/x86/boot.rst for images.",
};

impl Factor for KernelFactor {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn syntax(&self) -> &'static str {
        "the name of a kernel"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["debian:6.12", "debian:eevdf", "path:/boot/vmlinuz,modules=/lib/modules/6.12"]
    }

    fn parse(&self, text: &str) -> Result<Level, String> {
        let name: KernelName = text.parse().map_err(|error: artefacts::Error| {
            if error.remedy.is_empty() {
                error.cause
            } else {
                format!("{}; {}", error.cause, error.remedy)
            }
        })?;
        Ok(Level::canonical(name.to_string()))
    }

    /// Before everything else.
    fn order(&self) -> u8 {
        0
    }

    fn requires(&self, _level: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Boot(self)
    }
}

impl BootKnob for KernelFactor {
    fn contribute(&self, level: &Level, boot: &mut BootSpec) -> Result<()> {
        level.as_str().clone_into(&mut boot.kernel);
        Ok(())
    }

    /// The venue says which release that kernel has.
    fn read_back(&self, guest: &Fingerprint, _boot: &BootSpec, wanted: &Level) -> Level {
        let value = |key: &str| guest.0.get(key).map(String::as_str).unwrap_or_default();
        if value("kernel.release") == value("vm.kernel_release") {
            wanted.clone()
        } else {
            Level::canonical(value("kernel.release"))
        }
    }
}
