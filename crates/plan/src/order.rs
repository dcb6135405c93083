//! The order of everything: randomised complete blocks from a recorded seed.

use crate::random::{shuffle, stream};
use crate::williams;
use model::{Block, Plan, SharedSittings, Sitting, Subject, Trial, WorkloadPlan};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Which rule gives the orders: a plan of another rule has another digest.
pub(crate) const RULE: &str = "serially balanced";
/// More arms than this have the rows of Williams designs.
const MOST_UNIFORM: usize = 4;
/// Blocks of two arms that one coin decides: an order that never changed could keep step with
/// something that happens at regular times. More balance carry-over better (docs/method.md#m-order).
const BLOCKS_OF_A_COIN: u32 = 2;

/// The blocks of a plan whose subjects need no boot, or share one machine's.
///
/// Every subject that any workload runs for sits once in each block.
pub(crate) fn blocks(
    seed: u64,
    count: u32,
    subjects: &[Subject],
    workloads: &[WorkloadPlan],
) -> Vec<Block> {
    let arms = running(subjects, workloads);
    let orders = orders(seed, &Purpose::arms(), count, arms.len());
    let mut known = SharedSittings::default();
    (0_u32..)
        .zip(orders)
        .map(|(index, order)| {
            let sittings = order.into_iter().map(|arm| (arms[arm], None)).collect();
            let mut own = block(seed, index, sittings, arms.len(), workloads);
            known.share(&mut own);
            own
        })
        .collect()
}

/// The blocks of a plan whose subjects boot a machine: boots are ordered as arms are,
/// and so are the sittings inside each. `boot_of` numbers the boots of a block from 0.
pub(crate) fn booted_blocks(
    seed: u64,
    count: u32,
    subjects: &[Subject],
    workloads: &[WorkloadPlan],
    boot_of: &BTreeMap<String, usize>,
) -> Vec<Block> {
    let arms = running(subjects, workloads);
    let boots = shared(&arms, boot_of);
    let boot_orders = orders(seed, &Purpose::boots(), count, boots.len());
    let inside: Vec<Vec<Vec<usize>>> = (0_usize..)
        .zip(&boots)
        .map(|(number, boot)| orders(seed, &Purpose::inside(number), count, boot.len()))
        .collect();
    let mut known = SharedSittings::default();
    (0_u32..)
        .zip(boot_orders)
        .map(|(index, order)| {
            let order_inside = |boot: usize| inside[boot][index as usize].as_slice();
            let sittings = seated(&boots, &order, order_inside);
            let mut own = block(seed, index, sittings, arms.len(), workloads);
            known.share(&mut own);
            own
        })
        .collect()
}

/// Arms by the boot that they share, in the order of their numbers.
fn shared<'s>(arms: &[&'s Subject], boot_of: &BTreeMap<String, usize>) -> Vec<Vec<&'s Subject>> {
    let mut boots: BTreeMap<usize, Vec<&Subject>> = BTreeMap::new();
    for arm in arms {
        boots.entry(boot_of.get(&arm.id).copied().unwrap_or(0)).or_default().push(arm);
    }
    boots.into_values().collect()
}

/// The sittings of one block: boots are numbered as they come.
fn seated<'s, 'o>(
    boots: &[Vec<&'s Subject>],
    order: &[usize],
    inside: impl Fn(usize) -> &'o [usize],
) -> Vec<(&'s Subject, Option<u32>)> {
    (0_u32..)
        .zip(order)
        .flat_map(|(number, boot)| {
            inside(*boot).iter().map(move |arm| (boots[*boot][*arm], Some(number)))
        })
        .collect()
}

/// Names of the random streams that decide one kind of order, so that none depends on
/// another.
struct Purpose {
    permutation: String,
    pairs: String,
    williams: String,
}

impl Purpose {
    fn arms() -> Self {
        Self::named("block", "pairs", "williams")
    }

    fn boots() -> Self {
        Self::named("boots", "boot pairs", "boot williams")
    }

    fn inside(boot: usize) -> Self {
        Self {
            permutation: format!("inside boot {boot}"),
            pairs: format!("pairs inside boot {boot}"),
            williams: format!("williams inside boot {boot}"),
        }
    }

    fn named(permutation: &str, pairs: &str, williams: &str) -> Self {
        let (permutation, pairs, williams) =
            (permutation.to_owned(), pairs.to_owned(), williams.to_owned());
        Self { permutation, pairs, williams }
    }
}

/// The order of so many arms in each block, as indices, serially balanced: an arm follows itself
/// as often as it follows each other one (of two, three times for five), so that what a sitting leaves behind for the next
/// favours none (docs/method.md#m-order).
///
/// A block begins with the arm that the block before it ended with. Two arms run as AB BA or
/// BA AB, which a coin decides after every two blocks; of three and four the rest of the
/// block is permuted; more have the rows of Williams designs, chained where they can be.
fn orders(seed: u64, purpose: &Purpose, count: u32, arms: usize) -> Vec<Vec<usize>> {
    if arms == 2 {
        let is_forward = |index: u32| {
            let mut coin = stream(seed, &purpose.pairs, index / BLOCKS_OF_A_COIN);
            (coin.below(2) == 0) == index.is_multiple_of(2)
        };
        return (0..count)
            .map(|index| if is_forward(index) { vec![0, 1] } else { vec![1, 0] })
            .collect();
    }
    if arms > MOST_UNIFORM {
        return williams::orders(seed, &purpose.williams, count as usize, arms);
    }
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(count as usize);
    for index in 0..count {
        let mut order = permutation(seed, &purpose.permutation, index, arms);
        let last = orders.last().and_then(|before| before.last());
        if let Some(place) = last.and_then(|last| order.iter().position(|arm| arm == last)) {
            // Whose places are exchanged is as random as the permutation was.
            order.swap(0, place);
        }
        orders.push(order);
    }
    orders
}

fn permutation(seed: u64, purpose: &str, index: u32, arms: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arms).collect();
    shuffle(&mut stream(seed, purpose, index), &mut order);
    order
}

/// Subjects for which any workload runs.
fn running<'s>(subjects: &'s [Subject], workloads: &[WorkloadPlan]) -> Vec<&'s Subject> {
    let is_running =
        |subject: &&Subject| workloads.iter().any(|workload| workload.runs_for(subject));
    subjects.iter().filter(is_running).collect()
}

/// A block of these sittings; its workloads run in one order for all of them.
fn block(
    seed: u64,
    index: u32,
    sittings: Vec<(&Subject, Option<u32>)>,
    arms: usize,
    workloads: &[WorkloadPlan],
) -> Block {
    let mut random = stream(seed, "block", index);
    // One stream draws a permutation of the arms and then that of the workloads.
    shuffle(&mut random, &mut vec![(); arms]);
    let mut workloads: Vec<&WorkloadPlan> = workloads.iter().collect();
    shuffle(&mut random, &mut workloads);
    let sittings = sittings
        .into_iter()
        .map(|(subject, boot)| Sitting {
            boot,
            subject: subject.id.as_str().into(),
            workloads: workloads
                .iter()
                .filter(|workload| workload.runs_for(subject))
                .map(|workload| workload.label.as_str())
                .collect(),
        })
        .collect();
    Block { index, sittings }
}

/// The same block to be run again under a new index, in a freshly randomised
/// order that the plan's seed and the new index decide. Sittings that shared a boot
/// share one again.
pub fn repeat_block(plan: &Plan, again: &Block, new_index: u32) -> Block {
    let sitting_of =
        |subject: &Subject| again.sittings.iter().find(|sitting| sitting.subject == subject.id);
    let arms: Vec<&Subject> =
        plan.subjects.iter().filter(|subject| sitting_of(subject).is_some()).collect();
    let drawn = |purpose: &str, arms| permutation(plan.seed, purpose, new_index, arms);
    let is_booted = again.sittings.iter().any(|sitting| sitting.boot.is_some());
    let sittings = if is_booted {
        let boot_of: BTreeMap<String, usize> = again
            .sittings
            .iter()
            .filter_map(|sitting| Some((sitting.subject.to_string(), sitting.boot? as usize)))
            .collect();
        let boots = shared(&arms, &boot_of);
        let order = drawn(&Purpose::boots().permutation, boots.len());
        let inside: Vec<Vec<usize>> = (0_usize..)
            .zip(&boots)
            .map(|(number, boot)| drawn(&Purpose::inside(number).permutation, boot.len()))
            .collect();
        seated(&boots, &order, |boot| inside[boot].as_slice())
    } else {
        let order = drawn(&Purpose::arms().permutation, arms.len());
        order.into_iter().map(|arm| (arms[arm], None)).collect()
    };
    block(plan.seed, new_index, sittings, arms.len(), &plan.workloads)
}

/// The seed of a trial. Every subject of a block gets the same one, so that all
/// arms meet the same load.
pub fn trial_seed(plan_seed: u64, block: u32, workload_label: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"schedlab trial");
    hash.update(plan_seed.to_le_bytes());
    hash.update(block.to_le_bytes());
    hash.update(workload_label.as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    digest[..8].iter().rev().fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}

/// The trials of a block in the order they run.
pub fn trials(plan: &Plan, block: &Block) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (position, sitting) in (0_u32..).zip(&block.sittings) {
        let Some(subject) = plan.subject(&sitting.subject) else { continue };
        let workloads = sitting.workloads.iter().filter_map(|label| plan.workload(label));
        for (place, workload) in workloads.enumerate() {
            trials.push(Trial {
                block: block.index,
                position,
                boot: sitting.boot,
                subject: subject.clone(),
                workload: workload.for_subject(subject),
                probes: plan.probes.clone(),
                seed: trial_seed(plan.seed, block.index, &workload.label),
                settle_ns: plan.settle_ns,
                rest_ns: if place == 0 { plan.rest_ns } else { 0 },
            });
        }
    }
    trials
}
