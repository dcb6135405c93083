//! Experiments in virtual machines: what kernels' names are taken as, and which subject boots when.

use crate::{plan, request};
use model::{Block, Plan, VmSettings};
use plan::PlanRequest;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const MACHINES: &str = r#"
venue = "vm"
blocks = 6
[vm]
memory = "1GiB"
equalise = true

[subjects.old]
kernel = "debian:6.1"
[subjects.old-tuned]
kernel = "debian:6.1"
base_slice = "1ms"
[subjects.new]
kernel = "debian:6.18"

[[workloads]]
use = "wakeup"
[[workloads]]
use = "messaging"
"#;

fn planned(text: &str) -> Plan {
    plan(request(text))
        .unwrap_or_else(|problems| panic!("{}", plan::render_problems(&problems, "vm.toml", text)))
}

#[test]
fn machines_belong_to_the_digest_and_simulated_ones_are_ignored() {
    let digest = |text: &str| planned(text).digest;
    let base = digest(MACHINES);
    for (from, to) in [
        ("memory = \"1GiB\"", "memory = \"2GiB\""),
        ("equalise = true\n", ""),
        ("debian:6.18", "debian:7.2"),
    ] {
        assert_ne!(base, digest(&MACHINES.replacen(from, to, 1)), "{to}");
    }
    assert_eq!(base, digest(&MACHINES.replacen("1GiB", "1024MiB", 1)));
    let simulated = plan(PlanRequest { venue: Some("sim"), ..request(MACHINES) }).unwrap();
    assert_eq!(simulated.vm, None);
    let mut sittings = simulated.blocks.iter().flat_map(|block| &block.sittings);
    assert!(sittings.all(|sitting| sitting.boot.is_none()));
}

#[test]
fn a_kernels_name_is_pinned_and_told_once() {
    let text =
        MACHINES.replace("debian:6.1\"", "debian:6.12\"").replace("debian:6.18", "debian:eevdf");
    let plan = planned(&text);
    assert_eq!(plan.subject("old").unwrap().levels["kernel"].as_str(), "debian:6.12.117-1");
    assert_eq!(plan.subject("new").unwrap().levels["kernel"].as_str(), "debian:6.18.15-1");
    assert_eq!(
        plan.notes,
        [
            "kernel = debian:6.12 means debian:6.12.117-1",
            "kernel = debian:eevdf is taken as debian:6.18.15-1, the newest of \
             debian:6.12.117-1, debian:6.18.15-1",
        ]
    );
}

#[test]
fn a_class_of_kernels_is_crossed_as_its_members() {
    let text = "venue = \"vm\"\n[factors]\nkernel = [\"debian:6.1\", \"debian:eevdf\"]\n\
                nice = [0, 5]\n[[workloads]]\nuse = \"wakeup\"\n";
    let plan = planned(text);
    let ids: Vec<&str> =
        plan.subjects.iter().filter(|s| !s.is_control).map(|s| s.id.as_str()).collect();
    assert_eq!(ids.len(), 6);
    assert_eq!(ids[5], "kernel-debian-6-18-15-1--nice-5");
    let told = "kernel = debian:eevdf means debian:6.12.117-1, debian:6.18.15-1";
    assert_eq!(plan.notes, [told]);
}

#[test]
fn the_control_boots_alone_where_kernels_are_compared_and_never_elsewhere() {
    let plan = planned(MACHINES);
    let boots = boots_of(&plan.blocks[0]);
    assert_eq!(boots.len(), 3);
    assert!(boots.values().any(|ids| *ids == BTreeSet::from(["old", "old-tuned"])));
    assert!(boots.values().any(|ids| *ids == BTreeSet::from(["old-again"])));
    assert_eq!(plan.blocks[0].boot_count(), 3);
    let workloads_ns = plan.blocks[0].sittings.len() as u64 * trial_ns(&plan);
    assert_eq!(
        plan.block_expected_ns(&plan.blocks[0]),
        workloads_ns + 3 * VmSettings::default().boot_expected_ns()
    );
    let one = planned(&MACHINES.replace("debian:6.18\"", "debian:6.1\"\nnice = 3"));
    assert!(one.blocks.iter().all(|block| boots_of(block).len() == 1));
    let lines = planned(&MACHINES.replace("base_slice = \"1ms\"", "cmdline = \"quiet\""));
    assert_eq!(boots_of(&lines.blocks[0]).len(), 4, "another command line is another boot");
    let trials = plan::trials(&plan, &plan.blocks[0]);
    for trial in &trials {
        let sitting = &plan.blocks[0].sittings[trial.position as usize];
        assert_eq!(trial.boot, sitting.boot);
        assert_eq!(trial.subject.id, sitting.subject);
    }
}

fn trial_ns(plan: &Plan) -> u64 {
    let of_workload = |w: &model::WorkloadPlan| w.expected_ns * u64::from(w.invocations);
    plan.workloads.iter().map(|workload| of_workload(workload) + plan.settle_ns).sum()
}

/// The subjects of each boot.
fn boots_of(block: &Block) -> BTreeMap<u32, BTreeSet<&str>> {
    let mut boots: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for sitting in &block.sittings {
        boots.entry(sitting.boot.unwrap()).or_default().insert(&sitting.subject);
    }
    boots
}

fn experiment(kernels: u32, tuned: u32, blocks: u32, control: bool, seed: u64) -> String {
    let mut text =
        format!("venue = \"vm\"\nblocks = {blocks}\nseed = {seed}\ncontrol = {control}\n");
    for kernel in 0..kernels {
        for slice in 0..=tuned {
            text += &format!(
                "[subjects.k{kernel}-{slice}]\nkernel = \"debian:{kernel}\"\nnice = {slice}\n"
            );
        }
    }
    text + "[[workloads]]\nuse = \"wakeup\"\n[[workloads]]\nuse = \"messaging\"\n"
}

/// Sittings of a boot are neighbours, boots are numbered as they come, everyone sits once.
fn assert_grouped(plan: &Plan, block: &Block) {
    let numbers: Vec<u32> = block.sittings.iter().map(|sitting| sitting.boot.unwrap()).collect();
    let mut distinct = numbers.clone();
    distinct.dedup();
    assert_eq!(distinct, (0..distinct.len() as u32).collect::<Vec<u32>>(), "{numbers:?}");
    let ids: BTreeSet<&str> = block.sittings.iter().map(|s| s.subject.as_str()).collect();
    assert_eq!((ids.len(), block.sittings.len()), (plan.subjects.len(), plan.subjects.len()));
    let workloads = &block.sittings[0].workloads;
    assert!(block.sittings.iter().all(|sitting| sitting.workloads == *workloads));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sittings_are_grouped_by_boot_and_repeated_blocks_too(
        kernels in 2..7_u32, tuned in 0..4_u32, blocks in 1..9_u32, control: bool, seed in 0..1_000_000_u64,
    ) {
        let planned = planned(&experiment(kernels, tuned, blocks, control, seed));
        let boots = |block| boots_of(block).into_values().collect::<BTreeSet<_>>();
        for block in &planned.blocks {
            assert_grouped(&planned, block);
            prop_assert_eq!(block.boot_count(), u64::from(kernels + u32::from(control)));
            prop_assert_eq!(boots(block), boots(&planned.blocks[0]));
        }
        let again = plan::repeat_block(&planned, &planned.blocks[0], blocks);
        assert_grouped(&planned, &again);
        prop_assert_eq!(boots(&again), boots(&planned.blocks[0]));
        prop_assert_eq!(&again, &plan::repeat_block(&planned, &planned.blocks[0], blocks));
    }

    #[test]
    fn two_kernels_boot_first_equally_often_and_so_do_two_sittings_of_each(
        blocks in 1..40_u32, seed in 0..1_000_000_u64,
    ) {
        let planned = planned(&experiment(2, 1, blocks, false, seed));
        let halves = [(blocks / 2) as usize, (blocks.div_ceil(2)) as usize];
        let before = |block: &Block, first: &str, second: &str| {
            let place = |id: &str| block.sittings.iter().position(|s| s.subject == id);
            place(first) < place(second)
        };
        for (first, second) in [("k0-0", "k1-0"), ("k0-0", "k0-1"), ("k1-0", "k1-1")] {
            let leads = planned.blocks.iter().filter(|b| before(b, first, second)).count();
            prop_assert!(halves.contains(&leads), "{first} {leads} of {blocks}");
        }
    }
}

#[test]
fn the_order_of_boots_and_that_inside_them_do_not_depend_on_each_other() {
    let planned = planned(&experiment(2, 1, 1_000, false, 3));
    let mut seen: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for block in &planned.blocks {
        let order = block.sittings.iter().map(|sitting| sitting.subject.as_str()).collect();
        *seen.entry(order).or_default() += 1;
    }
    // 1000 draws over 8 orders: 125 each, standard deviation 10.5.
    assert_eq!(seen.len(), 8);
    assert!(seen.values().all(|count| (80..=170).contains(count)), "{seen:?}");
}

#[test]
fn many_kernels_follow_each_other_equally_often() {
    let planned = planned(&experiment(6, 0, 6, false, 3));
    let mut follows: BTreeSet<(&str, &str)> = BTreeSet::new();
    for block in &planned.blocks {
        for pair in block.sittings.windows(2) {
            assert!(follows.insert((&pair[0].subject, &pair[1].subject)), "twice");
        }
    }
    assert_eq!(follows.len(), 30);
}

#[test]
fn a_budget_counts_the_boots() {
    let text = MACHINES.replace("blocks = 6", "blocks = 20");
    let block = planned(&text);
    let block_ns = block.block_expected_ns(&block.blocks[0]);
    let budgeted = plan(PlanRequest { budget_ns: Some(block_ns * 7), ..request(&text) }).unwrap();
    assert_eq!(budgeted.blocks.len(), 7);
}
