//! The order of everything: randomised complete blocks from a recorded seed.
//!
//! The shuffle is ours rather than a library's, so that a seed gives the same
//! order for as long as ChaCha20 and SHA-256 exist.

use crate::williams;
use model::{Block, Plan, Sitting, Subject, Trial, WorkloadPlan};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// More arms than this are balanced for carry-over.
const MOST_UNIFORM: usize = 4;

/// The blocks of a plan. Two arms run as AB and BA equally often (with an odd
/// number of blocks, a coin decides the last), three and four in uniform
/// permutations, more in Williams designs (STATISTICS 2.2).
pub(crate) fn blocks(
    seed: u64,
    count: u32,
    subjects: &[Subject],
    workloads: &[WorkloadPlan],
) -> Vec<Block> {
    let arms = running(subjects, workloads);
    let mut blocks: Vec<Block> =
        (0..count).map(|index| block(seed, index, &arms, workloads)).collect();
    if let [first, second] = arms.as_slice() {
        let mut random = stream(seed, "pairs", 0);
        let extra = below(&mut random, 2) == 0;
        let half = count / 2 + u32::from(count % 2 == 1 && extra);
        let mut is_forward: Vec<bool> = (0..count).map(|index| index < half).collect();
        shuffle(&mut random, &mut is_forward);
        for (block, is_forward) in blocks.iter_mut().zip(is_forward) {
            let leader = if is_forward { first } else { second };
            if block.sittings[0].subject != leader.id {
                block.sittings.swap(0, 1);
            }
        }
    } else if arms.len() > MOST_UNIFORM {
        let orders = williams::orders(seed, blocks.len(), arms.len());
        for (block, order) in blocks.iter_mut().zip(orders) {
            let place =
                |sitting: &Sitting| order.iter().position(|arm| arms[*arm].id == sitting.subject);
            block.sittings.sort_by_key(place);
        }
    }
    blocks
}

/// Subjects for which any workload runs.
fn running<'s>(subjects: &'s [Subject], workloads: &[WorkloadPlan]) -> Vec<&'s Subject> {
    let is_running =
        |subject: &&Subject| workloads.iter().any(|workload| workload.runs_for(subject));
    subjects.iter().filter(is_running).collect()
}

fn block(seed: u64, index: u32, arms: &[&Subject], workloads: &[WorkloadPlan]) -> Block {
    let mut random = stream(seed, "block", index);
    let mut arms = arms.to_vec();
    let mut workloads: Vec<&WorkloadPlan> = workloads.iter().collect();
    shuffle(&mut random, &mut arms);
    shuffle(&mut random, &mut workloads);
    let sittings = arms
        .into_iter()
        .map(|subject| Sitting {
            boot: None,
            subject: subject.id.clone(),
            workloads: workloads
                .iter()
                .filter(|workload| workload.runs_for(subject))
                .map(|workload| workload.label.clone())
                .collect(),
        })
        .collect();
    Block { index, sittings }
}

/// The same block to be run again under a new index, in a freshly randomised
/// order that the plan's seed and the new index decide.
pub fn repeat_block(plan: &Plan, again: &Block, new_index: u32) -> Block {
    let has_sitting =
        |subject: &&Subject| again.sittings.iter().any(|sitting| sitting.subject == subject.id);
    let arms: Vec<&Subject> = plan.subjects.iter().filter(has_sitting).collect();
    block(plan.seed, new_index, &arms, &plan.workloads)
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
        for workload in sitting.workloads.iter().filter_map(|label| plan.workload(label)) {
            trials.push(Trial {
                block: block.index,
                position,
                boot: sitting.boot,
                subject: subject.clone(),
                workload: workload.clone(),
                probes: plan.probes.clone(),
                seed: trial_seed(plan.seed, block.index, &workload.label),
                settle_ns: plan.settle_ns,
            });
        }
    }
    trials
}

/// Random numbers of their own for each purpose and index.
pub(crate) fn stream(seed: u64, purpose: &str, index: u32) -> ChaCha20Rng {
    let mut hash = Sha256::new();
    hash.update(b"schedlab order");
    hash.update(purpose.as_bytes());
    hash.update(seed.to_le_bytes());
    hash.update(index.to_le_bytes());
    ChaCha20Rng::from_seed(hash.finalize().into())
}

/// Fisher-Yates: every permutation is equally likely.
pub(crate) fn shuffle<T>(random: &mut ChaCha20Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last as u64 + 1) as usize);
    }
}

/// A uniform number below `bound`; draws that would favour small ones are thrown away.
fn below(random: &mut ChaCha20Rng, bound: u64) -> u64 {
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random.next_u64();
        if drawn < fair {
            return drawn % bound;
        }
    }
}
