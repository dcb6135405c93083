//! What this machine has for virtual machines, without booting one.

use super::vm_host::VmHost;
use super::{accelerator, qemu};
use contract::{Missing, Result, VenuePrerequisite};

/// Looks at everything; changes nothing and boots nothing.
///
/// # Errors
/// When the machine cannot tell its boot id.
pub fn inspect(host: &VmHost) -> Result<Vec<VenuePrerequisite>> {
    let machine = &host.host.machine;
    let missing = |what: &str, why: String, remedy: &str| {
        Err(Missing { what: what.to_owned(), why, remedy: remedy.to_owned() })
    };
    let qemu = match qemu::find(machine) {
        Some(path) => Ok(path.display().to_string()),
        None => {
            let error = qemu::no_qemu();
            missing("virtual machines", error.cause, &error.remedy)
        }
    };
    let kvm = match accelerator::known(host)? {
        accelerator::KvmStatus::Works => Ok("boots guests".to_owned()),
        accelerator::KvmStatus::Untried => {
            Ok("can be opened; the first guest tells whether it boots".to_owned())
        }
        accelerator::KvmStatus::Fails(why) => {
            missing("KVM", why, "guests are emulated instead: correct, slow, and marked TCG")
        }
    };
    let agent = if host.agent.is_file() {
        Ok(host.agent.display().to_string())
    } else {
        let why = format!("there is no {}", host.agent.display());
        missing("the agent", why, "it is built and installed beside schedlab")
    };
    let kernels = match host.kernels.cached() {
        Ok(kernels) if kernels.is_empty() => {
            missing("kernels", "none was fetched".to_owned(), "schedlab kernels fetch debian:6.12")
        }
        Ok(kernels) => {
            let names: Vec<String> = kernels.into_iter().map(|kernel| kernel.name).collect();
            Ok(names.join(", "))
        }
        Err(error) => missing("kernels", error.cause, &error.remedy),
    };
    let images = match machine.program("mksquashfs") {
        Some(path) => Ok(path.display().to_string()),
        None => missing(
            "tools images",
            "mksquashfs is not on PATH".to_owned(),
            "install it: apt-get install squashfs-tools",
        ),
    };
    Ok(vec![
        ("qemu", qemu),
        ("kvm", kvm),
        ("agent", agent),
        ("kernels", kernels),
        ("tools_images", images),
    ])
}
