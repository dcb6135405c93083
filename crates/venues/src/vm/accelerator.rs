//! What executes the guest's instructions: KVM is believed when it has booted a guest, not
//! when its device file is there.

use super::boot::Booter;
use super::qemu::Engine;
use super::vm_host::VmHost;
use contract::{BootSpec, Error, Interrupt, Result, Topology};
use model::{Accelerator, VmSettings};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::time::Duration;
use sys::PrivateDirectory;

const DEVICE: &str = "/dev/kvm";
/// Remembers the answer until the next boot of the host.
const MEMO: &str = "kvm.json";
/// A guest answers in a second or two under KVM; what takes longer does not work.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KvmProbe {
    boot_id: String,
    /// Why KVM does not work; absent where it does.
    pub why_not: Option<String>,
}

/// The engine for the settings, tried with this kernel where it was not tried before.
///
/// # Errors
/// When KVM is asked for and does not work.
pub(crate) fn choose(
    host: &VmHost,
    settings: &VmSettings,
    seed: u64,
    kernel: &str,
    interrupt: &Interrupt,
) -> Result<Engine> {
    if settings.is_deterministic {
        return Ok(Engine::Counting { seed });
    }
    if settings.accelerator == Accelerator::Tcg {
        return Ok(Engine::Tcg);
    }
    let finding = probe(host, kernel, interrupt)?;
    match (finding.why_not, settings.accelerator) {
        (None, _) => Ok(Engine::Kvm),
        (Some(_), Accelerator::Auto | Accelerator::Tcg) => Ok(Engine::Tcg),
        (Some(why), Accelerator::Kvm) => Err(Error::unsupported(
            "cannot use KVM",
            why,
            "use accelerator = \"auto\", which emulates where KVM does not work",
        )),
    }
}

/// Whether KVM boots a guest here.
///
/// # Errors
/// When a signal came, or no machine can be started at all.
pub(crate) fn probe(host: &VmHost, kernel: &str, interrupt: &Interrupt) -> Result<KvmProbe> {
    if let Some(finding) = remembered(host)? {
        return Ok(finding);
    }
    let boot_id = host.host.machine.boot_id()?;
    if let Some(why) = unopened() {
        // Not remembered: a privilege may be given any time.
        return Ok(KvmProbe { boot_id, why_not: Some(why) });
    }
    let finding = KvmProbe { boot_id, why_not: try_kvm(host, kernel, interrupt)? };
    if let Ok(text) = serde_json::to_vec(&finding) {
        // Without it the next command tries again, no more.
        let directory = PrivateDirectory::make(host.host.machine.runtime());
        let _ = directory.and_then(|directory| directory.write(MEMO, &text));
    }
    Ok(finding)
}

/// What is known of KVM without booting anything.
pub(crate) enum KvmStatus {
    /// It booted a guest since the host's last start.
    Works,
    /// Its device can be opened; no guest was tried.
    Untried,
    /// Why it does not work.
    Fails(String),
}

/// What is known of KVM without booting anything.
///
/// # Errors
/// When the host does not tell its boot id.
pub(crate) fn known(host: &VmHost) -> Result<KvmStatus> {
    Ok(match (remembered(host)?, unopened()) {
        (_, Some(why)) => KvmStatus::Fails(why),
        (Some(KvmProbe { why_not: Some(why), .. }), None) => KvmStatus::Fails(why),
        (Some(KvmProbe { why_not: None, .. }), None) => KvmStatus::Works,
        (None, None) => KvmStatus::Untried,
    })
}

fn remembered(host: &VmHost) -> Result<Option<KvmProbe>> {
    let boot_id = host.host.machine.boot_id()?;
    let memo = PrivateDirectory::open(host.host.machine.runtime()).and_then(|directory| {
        let mut text = Vec::new();
        directory.read(MEMO)?.read_to_end(&mut text)?;
        Ok(text)
    });
    let known = memo.ok().and_then(|text| serde_json::from_slice(&text).ok());
    Ok(known.filter(|known: &KvmProbe| known.boot_id == boot_id))
}

fn unopened() -> Option<String> {
    let opened = File::options().read(true).write(true).open(DEVICE);
    opened.err().map(|error| format!("{DEVICE} cannot be opened: {error}"))
}

fn try_kvm(host: &VmHost, kernel: &str, interrupt: &Interrupt) -> Result<Option<String>> {
    let settings =
        VmSettings { boot_timeout_ns: PATIENCE.as_nanos() as u64, ..VmSettings::default() };
    let mark = "SCHEDLAB_MARK=kvm-probe".to_owned();
    let mut booter = Booter::new(host.clone(), settings, Engine::Kvm, mark, interrupt.clone());
    let spec = BootSpec {
        kernel: kernel.to_owned(),
        command_line: Vec::new(),
        topology: Topology { cores: 1, ..Topology::default() },
    };
    match booter.try_once(&spec)? {
        Ok(guest) => {
            guest.switch_off();
            Ok(None)
        }
        Err(lost) => Ok(Some(format!("a guest did not boot under it: {lost}"))),
    }
}
