//! What our schedulers call of the kernel. The kernel answers a load that calls something it
//! lacks with the verifier's words; asked before, it is named.

use bpf::Unable;
use sys::Machine;

/// Functions without which ours do not load: of each group one has to be there.
const CALLED: &[&[&str]] = &[
    &["bpf_cpumask_test_cpu"],
    &["bpf_iter_num_destroy"],
    &["bpf_iter_num_new"],
    &["bpf_iter_num_next"],
    &["bpf_iter_scx_dsq_destroy"],
    &["bpf_iter_scx_dsq_new"],
    &["bpf_iter_scx_dsq_next"],
    &["bpf_task_from_pid"],
    &["bpf_task_release"],
    &["scx_bpf_create_dsq"],
    &["scx_bpf_dsq_insert"],
    // Which one is called depends on the kernel's types (scx.bpf.h, `insert_ordered`).
    &["scx_bpf_dsq_insert_vtime", "__scx_bpf_dsq_insert_vtime"],
    &["scx_bpf_dsq_move"],
    &["scx_bpf_dsq_nr_queued"],
    &["scx_bpf_error_bstr"],
    &["scx_bpf_get_online_cpumask"],
    &["scx_bpf_kick_cpu"],
    &["scx_bpf_nr_cpu_ids"],
    &["scx_bpf_pick_idle_cpu"],
    &["scx_bpf_put_cpumask"],
    &["scx_bpf_select_cpu_dfl"],
    &["scx_bpf_task_cpu"],
    &["scx_bpf_test_and_clear_cpu_idle"],
];

/// Whether this kernel can load ours.
///
/// # Errors
/// Why it cannot.
pub(crate) fn can_load(machine: &Machine) -> Result<(), Unable> {
    bpf::can_load_schedulers(machine, CALLED)
}

#[cfg(all(test, feature = "bpf"))]
mod tests {
    use super::*;
    use crate::own::ALGORITHMS;
    use object::{Object, ObjectSymbol};
    use std::collections::BTreeSet;

    /// What ours look for before they use it, and do without.
    const OPTIONAL: [&str; 2] = ["cpuhp_state", "scx_bpf_task_set_slice"];

    #[test]
    fn the_kernel_is_asked_for_what_the_objects_call_and_for_nothing_else() {
        let mut undefined = BTreeSet::new();
        for algorithm in ALGORITHMS {
            let file = object::File::parse(algorithm.object).unwrap();
            let symbols = file.symbols().filter(|symbol| symbol.is_undefined());
            undefined.extend(symbols.map(|symbol| symbol.name().unwrap().to_owned()));
        }
        undefined.remove("");
        let listed = CALLED.iter().copied().flatten().chain(&OPTIONAL);
        let listed: BTreeSet<String> = listed.map(|name| (*name).to_owned()).collect();
        assert_eq!(undefined, listed);
    }
}
