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

/// The check of a report that a caveat speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaveatCheck {
    /// Every subject did the same work.
    SameWork,
    /// Subjects ran in blocks of random order.
    Design,
    /// Nothing drifted, and the order had no effect.
    OrderAndDrift,
    /// Nothing else disturbed the machine.
    QuietMachine,
    /// There are enough blocks and samples.
    EnoughData,
    /// No verdict hangs on one block or one method.
    RobustVerdicts,
    /// A real processor was measured.
    RealProcessor,
    /// A real device was measured.
    RealDevice,
    /// None of these: the control and the evidence have checks of their own, a trend is an answer, and how the load
    /// asks, how small the experiment is and what a ratio is of are told where they matter.
    Elsewhere,
}

/// What a caveat rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaveatBasis {
    /// A test of the measured values, or a rule that holds their noise against a limit.
    Test,
    /// What the plan, the source or a record states, or a count, of which no chance decides.
    Fact,
}

macro_rules! codes {
    ($($variant:ident $check:ident $basis:ident $text:literal $meaning:literal,)*) => {
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

            /// The check that it speaks against.
            pub fn check(self) -> CaveatCheck {
                match self { $(CaveatCode::$variant => CaveatCheck::$check,)* }
            }

            fn basis(self) -> CaveatBasis {
                match self { $(CaveatCode::$variant => CaveatBasis::$basis,)* }
            }

            /// Whether a test of the measured values raises it: chance may then raise it of values without
            /// the fault, and leave it out of values with it, and calibration counts both.
            pub fn is_statistical(self) -> bool {
                self.basis() == CaveatBasis::Test
            }
        }
    };
}

// Name, the check that it speaks against, what it rests on, code, and what it means.
codes! {
    AaFail Elsewhere Test "AA_FAIL" "The A/A control was judged better or worse than its twin: the set-up cannot be trusted for this metric.",
    AbsentValues EnoughData Fact "ABSENT_VALUES" "A value of this metric is absent: a trial did not report it, or the run itself is not there. What lacks it is left out.",
    Autocorr OrderAndDrift Test "AUTOCORR" "Neighbouring blocks, or executions of imported numbers, are not independent; where blocks resemble each other, the interval was widened.",
    Bimodal RobustVerdicts Test "BIMODAL" "Values fall into two groups; a median between them describes neither.",
    CarryOver OrderAndDrift Test "CARRY_OVER" "The values of a subject depend on whose come before them in the order that is known: what one leaves behind may reach the next.",
    Clamped RobustVerdicts Fact "CLAMPED" "Values exceeded the range of the histogram and were counted at its end.",
    ClosedLoop Elsewhere Fact "CLOSED_LOOP" "The load waits for each answer, so tails are conditional on its own pauses.",
    ConditionalSuccess SameWork Fact "CONDITIONAL_SUCCESS" "Some runs failed; the figures describe those that succeeded.",
    Copied Design Test "COPIED" "Values stand twice: one subject has those of another, all or most of them, a block is there once more, or executions of a subject are other ones of it.",
    Contradicted Design Fact "CONTRADICTED" "The source contradicts itself: what it says of its values is not what they give. The values count.",
    DefaultsDiffer SameWork Fact "DEFAULTS_DIFFER" "The kernels differ in settings that the experiment asks nothing about: a difference between them may be that of a setting.",
    Degradation Elsewhere Test "DEGRADATION" "A metric got worse while the campaign went on, by more than its margin.",
    Degenerate EnoughData Fact "DEGENERATE" "The replicates do not vary: no test is possible.",
    DifferentialFailure SameWork Test "DIFFERENTIAL_FAILURE" "The subjects failed at different rates, or one failed often.",
    Drift OrderAndDrift Test "DRIFT" "The reference drifted over the campaign; blocking removes linear drift only.",
    FewBlocks EnoughData Fact "FEW_BLOCKS" "Fewer than five complete blocks: no verdict is given.",
    FewBoots EnoughData Fact "FEW_BOOTS" "Several blocks share each of fewer than five boots: the finding speaks of these boots.",
    FewReplicates EnoughData Fact "FEW_REPLICATES" "Fewer than five replicates of a subject: no verdict is given.",
    EvidenceChanged Elsewhere Fact "EVIDENCE_CHANGED" "The plan, the experiment or the records are not as they were written: no verdict rests on them.",
    EvidenceUnbound Elsewhere Fact "EVIDENCE_UNBOUND" "Records are bound neither to the plan nor to each other, as in campaigns of an earlier version: nobody can know whether they were edited.",
    Fragile RobustVerdicts Test "FRAGILE" "The verdict hangs on one block.",
    HostCacheSuspected RealDevice Fact "HOST_CACHE_SUSPECTED" "The device answered faster than such a device can, or read again faster than at first although no cache of ours was used: the memory of a host was measured.",
    InsufficientTail EnoughData Fact "INSUFFICIENT_TAIL" "Too few samples beyond this percentile for a verdict.",
    Interference QuietMachine Fact "INTERFERENCE" "Other programs used a noticeable share of the CPUs.",
    Interrupted OrderAndDrift Fact "INTERRUPTED" "The campaign was interrupted and went on later: what outlives trials began anew, and no trend is sought across the gap.",
    Leak Elsewhere Test "LEAK" "Memory grew while the campaign went on, by more than the metric's margin.",
    LeftProcesses SameWork Fact "LEFT_PROCESSES" "Processes that the workload started were still there when its run was over, and were ended: what they still had to do is in no figure, and the CPU time may lack what they used.",
    Noisy EnoughData Test "NOISY" "The noise is large for this margin: with so many blocks fewer than 80 in 100 campaigns would show equivalence.",
    NotComparable SameWork Test "NOT_COMPARABLE" "The subjects did not do the same work, so their latencies answer different questions.",
    NotSteady RobustVerdicts Test "NOT_STEADY" "Iterations were still settling inside the measured window.",
    ObserverCost QuietMachine Fact "OBSERVER_COST" "A probe that acts on every event was attached; no latency question is answered.",
    OddsRatio Elsewhere Fact "ODDS_RATIO" "The effect of a share is a ratio of odds, which is the ratio of shares only where they are small.",
    OrderConfounded Design Test "ORDER_CONFOUNDED" "One subject comes after the other, or mostly so, in the order that is known, or no order is known: what changed meanwhile looks like a difference between them.",
    OrderEffect OrderAndDrift Test "ORDER_EFFECT" "The result depends on the places that the subjects have in their blocks, in the order that is known; carry-over is suspected.",
    Outlier RobustVerdicts Test "OUTLIER" "A value lies far from the others; it is labelled and kept.",
    Overcommit QuietMachine Fact "OVERCOMMIT" "The guest had more processors than the host had CPUs for them: the host's scheduler is measured too.",
    PostHocMargin Design Fact "POST_HOC_MARGIN" "The margin, the level or what is judged was given when the data were there: nobody can know that it was chosen before.",
    Quantised RobustVerdicts Test "QUANTISED" "The metric takes few distinct values or its step is coarse against the margin.",
    Quick Elsewhere Fact "QUICK" "Run with --quick: a smaller experiment than declared (fewer blocks, sizes or workloads, shorter trials). It shows that all of it works, and seldom decides.",
    SetupBias Design Fact "SETUP_BIAS" "Every process had the same layout in memory: a difference may be that of one lucky layout.",
    Simulated RealProcessor Fact "SIMULATED" "The numbers come from the simulator, not from a machine.",
    Watched QuietMachine Fact "WATCHED" "Somebody watched the dashboard meanwhile: it ran beside the trial, at the lowest priority.",
    ReplicateLevelUnknown Design Fact "REPLICATE_LEVEL_UNKNOWN" "Nobody said what an independent replicate is: values that share an execution or a boot make the interval too narrow.",
    SingleBoot EnoughData Fact "SINGLE_BOOT" "All blocks ran in one boot: the finding speaks of this boot.",
    SettingsDiffer SameWork Fact "SETTINGS_DIFFER" "A setting that a tool tells, or a column that nobody named, is another one for one subject than for another: it may not be the same work.",
    Skewed RobustVerdicts Test "SKEWED" "A test that asks nothing of the distribution of the differences disagrees with the t test: no verdict is called clear.",
    Steal QuietMachine Fact "STEAL" "The hypervisor took CPU time away during a trial.",
    StoppedEarly EnoughData Fact "STOPPED_EARLY" "The campaign ended before its planned number of blocks.",
    Tcg RealProcessor Fact "TCG" "An emulated processor ran the guest: an instruction takes as long as its emulation, not as a real processor needs for it, so no figure is that of real hardware.",
    Throttle QuietMachine Fact "THROTTLE" "The CPU was throttled during a trial.",
    SummaryOnly Design Fact "SUMMARY_ONLY" "Only a summary was given, not the values it was made from.",
    Suspended QuietMachine Fact "SUSPENDED" "A process of the trial was stopped, or the machine or guest stood still, while the trial ran: it has no numbers and runs again.",
    TornRecord EnoughData Fact "TORN_RECORD" "The last record was cut off by a crash and dropped.",
    UnblockedDesign Design Fact "UNBLOCKED_DESIGN" "The numbers were not collected in randomised blocks.",
    UnequalMix SameWork Test "UNEQUAL_MIX" "Rows of different kinds have unlike shares in the numbers of the subjects: what differs may be the mix, and not the subject.",
    UnequalShares SameWork Fact "UNEQUAL_SHARES" "All processes were stopped when the first was ready, and the slowest had done less than half of its work: the sum over them is one of unequal work.",
    Unfinished EnoughData Fact "UNFINISHED" "The campaign is not finished: intervals hold however often one looks, and there is no verdict yet.",
    ZeroValue EnoughData Fact "ZERO_VALUE" "A value was zero or negative, so a ratio is not defined.",
}

impl fmt::Display for CaveatCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
