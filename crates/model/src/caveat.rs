//! Coded warnings that travel with a record or a finding.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A warning with its code and what was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Caveat {
    /// The stable code.
    pub code: CaveatCode,
    /// What was seen, in one sentence with its figures.
    pub detail: String,
}

impl Caveat {
    /// A caveat with its detail.
    pub fn new(code: CaveatCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

macro_rules! codes {
    ($($variant:ident $text:literal $meaning:literal,)*) => {
        /// The stable code of a caveat.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum CaveatCode {
            $(#[doc = $meaning] #[serde(rename = $text)] $variant,)*
        }

        impl CaveatCode {
            /// Every code, in order.
            pub const ALL: &'static [CaveatCode] = &[$(CaveatCode::$variant,)*];

            /// The code as written everywhere.
            pub fn as_str(self) -> &'static str {
                match self { $(CaveatCode::$variant => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(CaveatCode::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    AaFail "AA_FAIL" "The A/A control was judged better or worse than its twin: the set-up cannot be trusted for this metric.",
    AbsentValues "ABSENT_VALUES" "A trial completed and did not report this metric: its block is left out.",
    Autocorr "AUTOCORR" "Neighbouring blocks are not independent; where they resemble each other, the interval was widened.",
    Bimodal "BIMODAL" "Values fall into two groups; a median between them describes neither.",
    Clamped "CLAMPED" "Values exceeded the range of the histogram and were counted at its end.",
    ClosedLoop "CLOSED_LOOP" "The load waits for each answer, so tails are conditional on its own pauses.",
    ConditionalSuccess "CONDITIONAL_SUCCESS" "Some runs failed; the figures describe those that succeeded.",
    Contradicted "CONTRADICTED" "The source contradicts itself: what it says of its values is not what they give. The values count.",
    DefaultsDiffer "DEFAULTS_DIFFER" "The kernels differ in settings that the experiment asks nothing about: a difference between them may be that of a setting.",
    Degradation "DEGRADATION" "A metric got worse while the campaign went on, by more than its margin.",
    Degenerate "DEGENERATE" "The replicates do not vary: no test is possible.",
    DifferentialFailure "DIFFERENTIAL_FAILURE" "The subjects failed at different rates, or one failed often.",
    Drift "DRIFT" "The reference drifted over the campaign; blocking removes linear drift only.",
    FewBlocks "FEW_BLOCKS" "Fewer than five complete blocks: no verdict is given.",
    FewBoots "FEW_BOOTS" "Several blocks share each of fewer than five boots: the finding speaks of these boots.",
    FewReplicates "FEW_REPLICATES" "Fewer than five replicates of a subject: no verdict is given.",
    Fragile "FRAGILE" "The verdict hangs on one block or on the method.",
    HostCacheSuspected "HOST_CACHE_SUSPECTED" "The device answered faster than such a device can, or read again faster than at first although no cache of ours was used: the memory of a host was measured.",
    InsufficientTail "INSUFFICIENT_TAIL" "Too few samples beyond this percentile for a verdict.",
    Interference "INTERFERENCE" "Other programs used a noticeable share of the CPUs.",
    Interrupted "INTERRUPTED" "The campaign was interrupted and went on later: what outlives trials began anew, and no trend is sought across the gap.",
    Leak "LEAK" "Memory grew while the campaign went on, by more than the metric's margin.",
    Noisy "NOISY" "The noise is large for this margin: with so many blocks fewer than 80 in 100 campaigns would show equivalence.",
    NotComparable "NOT_COMPARABLE" "The subjects did not do the same work, so their latencies answer different questions.",
    NotSteady "NOT_STEADY" "Iterations were still settling inside the measured window.",
    ObserverCost "OBSERVER_COST" "A probe that acts on every event was attached; no latency question is answered.",
    OddsRatio "ODDS_RATIO" "The effect of a share is a ratio of odds, which is the ratio of shares only where they are small.",
    OrderConfounded "ORDER_CONFOUNDED" "One subject was measured after the other: whatever changed meanwhile looks like a difference between them.",
    OrderEffect "ORDER_EFFECT" "The result depends on which subject ran first; carry-over is suspected.",
    Outlier "OUTLIER" "A value lies far from the others; it is labelled and kept.",
    Overcommit "OVERCOMMIT" "The guest had more processors than the host had CPUs for them: the host's scheduler is measured too.",
    Quantised "QUANTISED" "The metric takes few distinct values or its step is coarse against the margin.",
    Quick "QUICK" "Run with --quick: a smaller experiment than declared (fewer blocks, sizes or workloads, shorter trials). It shows that all of it works, and seldom decides.",
    SetupBias "SETUP_BIAS" "Every process had the same layout in memory: a difference may be that of one lucky layout.",
    Simulated "SIMULATED" "The numbers come from the simulator, not from a machine.",
    Watched "WATCHED" "Somebody watched the dashboard meanwhile: it ran beside the trial, at the lowest priority.",
    ReplicateLevelUnknown "REPLICATE_LEVEL_UNKNOWN" "Nobody said what an independent replicate is: values that share an execution or a boot make the interval too narrow.",
    SingleBoot "SINGLE_BOOT" "All blocks ran in one boot: the finding speaks of this boot.",
    Steal "STEAL" "The hypervisor took CPU time away during a trial.",
    StoppedEarly "STOPPED_EARLY" "The campaign ended before its planned number of blocks.",
    Tcg "TCG" "An emulated processor ran the guest: an instruction takes as long as its emulation, not as a real processor needs for it, so no figure is that of real hardware.",
    Throttle "THROTTLE" "The CPU was throttled during a trial.",
    SummaryOnly "SUMMARY_ONLY" "Only a summary was given, not the values it was made from.",
    TornRecord "TORN_RECORD" "The last record was cut off by a crash and dropped.",
    UnblockedDesign "UNBLOCKED_DESIGN" "The numbers were not collected in randomised blocks.",
    UnequalShares "UNEQUAL_SHARES" "All processes were stopped when the first was ready, and the slowest had done less than half of its work: the sum over them is one of unequal work.",
    Unfinished "UNFINISHED" "The campaign is not finished: intervals hold however often one looks, and there is no verdict yet.",
    ZeroValue "ZERO_VALUE" "A value was zero or negative, so a ratio is not defined.",
}

impl fmt::Display for CaveatCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
