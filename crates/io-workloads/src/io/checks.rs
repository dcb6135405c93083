//! Whether a run was what it claims to be.

use super::settings::IoSettings;
use super::worker::Worker;

/// Each thread moved what was asked, each record once.
pub(super) fn counts(settings: &IoSettings, workers: &[Worker]) -> Result<(), String> {
    let asked = u64::from(settings.records());
    let may_stop = settings.is_stonewalled && settings.threads > 1;
    for (index, operation) in settings.operations.iter().enumerate() {
        let name = operation.name();
        let is_anyone_done = workers.iter().any(|worker| worker.shares[index].records == asked);
        for (thread, worker) in workers.iter().enumerate() {
            let share = &worker.shares[index];
            if share.repeated > 0 {
                return Err(format!(
                    "{name}: thread {thread} touched {} records more than once",
                    share.repeated
                ));
            }
            if share.records != asked && !(may_stop && is_anyone_done) {
                return Err(format!(
                    "{name}: thread {thread} moved {} of {asked} records",
                    share.records
                ));
            }
        }
    }
    Ok(())
}

/// Everything that was read is what had been written, and all of it was compared.
pub(super) fn data(settings: &IoSettings, workers: &[Worker]) -> Result<(), String> {
    let passes = (0..settings.operations.len()).filter(|index| settings.is_audited_after(*index));
    let asked = passes.count() as u64 * u64::from(settings.records());
    for (thread, worker) in workers.iter().enumerate() {
        let Some(fault) = &worker.faults.first_fault else { continue };
        return Err(format!(
            "{} of {} records of thread {thread} were read wrongly; {fault}",
            worker.faults.faults, worker.faults.records
        ));
    }
    match workers.iter().find(|worker| worker.audited != asked) {
        Some(worker) => {
            Err(format!("{} of {asked} records were compared as a whole", worker.audited))
        }
        None => Ok(()),
    }
}
