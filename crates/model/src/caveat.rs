//! Coded warnings that travel with a record or a finding, and obstacles, which forbid an answer to a
//! question whatever its numbers say. What is said of either anywhere follows from its row here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl CaveatCheck {
    /// The checks that these caveats speak against. It is asked where they are established, and of
    /// what is stored without these checks. Of the processor other facts say it: whether numbers
    /// are simulated or emulated.
    pub fn of(caveats: &[Caveat]) -> BTreeSet<Self> {
        let all = caveats.iter().map(|caveat| caveat.code.check());
        all.filter(|check| !matches!(check, Self::RealProcessor | Self::Elsewhere)).collect()
    }
}

/// What a caveat rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaveatBasis {
    /// A test of the measured values, or a rule that holds their noise against a limit.
    Test,
    /// What the plan, the source or a record states, or a count, of which no chance decides.
    Fact,
}

/// What the detail of a caveat has besides our own words and numbers, and what its campaign has
/// anyway: names of subjects, workloads, metrics and columns, values of its plan. It stands behind the
/// first colon and blank of the detail, but for `Quoted`, and a redaction takes out all that stands
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailWords {
    /// Nothing.
    Ours,
    /// Names of programs that were seen.
    Programs,
    /// Settings that a tool tells, or values of a table's columns.
    Settings,
    /// What a program said of a failure.
    Messages,
    /// Values that a redaction replaces by the place at which a document has them, or parts of values,
    /// each as [`quoted`] writes it.
    Quoted,
}

/// A value in the detail of a caveat, between two signs (U+0060) that no other value there has in it.
#[must_use]
pub fn quoted(value: &str) -> String {
    format!("`{}`", value.replace('`', "'"))
}

/// How a caveat comes about, in the markup of docs/method.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaveatRule {
    /// What raises it, or a link to the section that defines that.
    pub text: &'static str,
    /// Who found the rule; empty where it is our own.
    pub source: &'static str,
}

macro_rules! codes {
    ($($variant:ident $check:ident $basis:ident $words:ident $text:literal $meaning:literal
        ko $korean:literal $(forbids $obstacle:ident)?
        $(=> $rule:literal $(from $source:literal)?)?,)*) => {
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

            /// The same in a language by its code (ISO 639-1); in English where it is said in no
            /// such language.
            pub fn meaning_in(self, language: &str) -> &'static str {
                match language {
                    "ko" => match self { $(CaveatCode::$variant => $korean,)* },
                    _ => self.meaning(),
                }
            }

            /// The check that it speaks against.
            pub fn check(self) -> CaveatCheck {
                match self { $(CaveatCode::$variant => CaveatCheck::$check,)* }
            }

            /// The obstacle that it tells by itself, with no other caveat beside it.
            pub fn obstacle(self) -> Option<Obstacle> {
                let told: &[Obstacle] =
                    match self { $(CaveatCode::$variant => &[$(Obstacle::$obstacle)?],)* };
                told.first().copied()
            }

            /// Its rule (docs/method.md#m-warnings); every caveat that a test raises has one.
            pub fn rule(self) -> Option<CaveatRule> {
                let told: &[CaveatRule] = match self {
                    $(CaveatCode::$variant => {
                        &[$(CaveatRule { text: $rule, source: concat!($($source)?) })?]
                    })*
                };
                told.first().copied()
            }

            /// What its detail has of words of others.
            pub fn detail_words(self) -> DetailWords {
                match self { $(CaveatCode::$variant => DetailWords::$words,)* }
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

// Name, the check that it speaks against, what it rests on, what its detail has of words of others,
// code, and what it means; `ko` with the same in Korean. Then, where it forbids a verdict by itself,
// `forbids` with the obstacle; of a `Test`, and of a fact that has one, `=>` with its rule as
// docs/method.md tells it, and `from` with the source of that. A new row goes to the end of the list
// (CONTRIBUTING.md): caveats are sorted by its order.
codes! {
    AaFail Elsewhere Test Ours "AA_FAIL" "The A/A control was judged better or worse than its twin: the set-up cannot be trusted for this metric."
        ko "A/A 대조가 자신의 복제본보다 더 좋거나 더 나쁘다고 판정되었습니다. 이 지표에서는 이 구성을 신뢰할 수 없습니다." forbids FailedControl => "[m-control](#m-control)",
    AbsentValues EnoughData Fact Ours "ABSENT_VALUES" "A value of this metric is absent: a trial did not report it, or the run itself is not there. What lacks it is left out."
        ko "이 지표의 값이 없습니다. 시행이 이 지표를 보고하지 않았거나 실행 자체가 없습니다. 값이 없는 부분은 제외했습니다.",
    Autocorr OrderAndDrift Test Ours "AUTOCORR" "Neighbouring blocks, or executions of imported numbers, are not independent; where blocks resemble each other, the interval was widened or there is none."
        ko "이웃한 블록 또는 가져온 수치의 이웃한 실행이 서로 독립이 아닙니다. 블록이 서로 닮은 경우에는 구간을 넓혔거나 구간이 없습니다." => "of the replicates' d: r₁ above −1/B + z s or below −1/B − 2.58 s, with s = (B − 2)/(B √(B − 1)) and z = 1.75 + 60/B², at most 2.6. The correlation is r = (B r₁ + 1)/(B − 4), at most 0.95. Where r > 0 the t takes n_eff = B (1 − r)/(1 + r) for B; at n_eff ≤ 2 there is no test" from "Moran 1948 for mean and variance of r₁; Marriott and Pope 1954 for r; Bayley and Hammersley 1946 for n_eff",
    Bimodal RobustVerdicts Test Ours "BIMODAL" "Values fall into two groups; a median between them describes neither."
        ko "값이 두 무리로 나뉩니다. 그 사이의 중앙값은 어느 쪽도 나타내지 못합니다." => "from 12 values: the largest gap exceeds 3 times the second largest and leaves a fifth on each side; or from 20: Sarle's coefficient > 0.555, that of the uniform distribution" from "SAS/STAT manual, CLUSTER",
    CarryOver OrderAndDrift Test Ours "CARRY_OVER" "The values of a subject depend on whose come before them in the order that is known: what one leaves behind may reach the next."
        ko "비교 대상의 값이 알려진 순서에서 어느 대상의 값 뒤에 오는지에 따라 달라집니다. 앞선 것이 남긴 영향이 다음 것에 미쳤을 수 있습니다." => "whose values come before, F test p < 0.04: [m-carry-over](#m-carry-over)" from "least squares; Grizzle, Biometrics 1965, for carry-over",
    Clamped RobustVerdicts Fact Ours "CLAMPED" "Values exceeded the range of the histogram and were counted at its end."
        ko "히스토그램 범위를 넘는 값이 있어 범위의 끝값으로 셌습니다." => "[m-quantiles](#m-quantiles)",
    ClosedLoop Elsewhere Fact Ours "CLOSED_LOOP" "The load waits for each answer, so tails are conditional on its own pauses."
        ko "부하가 응답마다 기다리므로, 꼬리 지연은 부하 자신의 멈춤에 좌우됩니다." => "[m-quantiles](#m-quantiles)",
    ConditionalSuccess SameWork Fact Messages "CONDITIONAL_SUCCESS" "Some runs failed; the figures describe those that succeeded."
        ko "일부 실행이 실패했으며, 수치는 성공한 실행에 대한 것입니다.",
    Copied Design Test Ours "COPIED" "Values stand twice: one subject has those of another, all or most of them, a block is there once more, or executions of a subject are other ones of it."
        ko "같은 값이 두 번 나옵니다. 한 대상의 값 전부나 대부분이 다른 대상의 값이거나, 같은 블록이 한 번 더 있거나, 한 대상의 실행이 그 대상의 다른 실행과 같습니다." => "[m-copies](#m-copies)",
    Contradicted Design Fact Ours "CONTRADICTED" "The source contradicts itself: what it says of its values is not what they give. The values count."
        ko "원본이 스스로 모순됩니다. 값에 대한 설명과 실제 값이 맞지 않아 값을 따릅니다.",
    DefaultsDiffer SameWork Fact Ours "DEFAULTS_DIFFER" "The kernels differ in settings that the experiment asks nothing about: a difference between them may be that of a setting."
        ko "실험에서 묻지 않은 설정이 커널마다 다릅니다. 커널 사이의 차이는 그 설정 때문일 수 있습니다.",
    Degradation Elsewhere Test Ours "DEGRADATION" "A metric got worse while the campaign went on, by more than its margin."
        ko "캠페인이 진행되는 동안 어떤 지표가 마진을 넘어 나빠졌습니다." => "[m-trends](#m-trends)",
    Degenerate EnoughData Fact Ours "DEGENERATE" "The replicates do not vary: no test is possible."
        ko "반복 사이에 변동이 없어 검정할 수 없습니다.",
    DifferentialFailure SameWork Test Ours "DIFFERENTIAL_FAILURE" "The subjects failed at different rates, or one failed often."
        ko "비교 대상마다 실패율이 다르거나, 한쪽이 자주 실패했습니다." forbids UnequalFailures => "[m-failures](#m-failures)",
    Drift OrderAndDrift Test Ours "DRIFT" "The reference drifted over the campaign, or values of imported numbers in their order; blocks remove linear drift only."
        ko "캠페인 동안 기준에, 또는 가져온 수치의 순서를 따라 그 값에 추세 변동이 있었습니다. 블록 설계는 선형 변동만 없앱니다." => r"Mann-Kendall p < 0.01 over the reference's logs, or p < 0.05 and \|Theil-Sen slope × (B − 1)\| > θ: a slope alone lies beyond a margin of 2 % in a quarter to a half of campaigns that do not drift (own measurement)" from "Mann 1945, Kendall 1938; Theil 1950, Sen 1968",
    FewBlocks EnoughData Fact Ours "FEW_BLOCKS" "Fewer than five complete blocks: no verdict is given."
        ko "온전한 블록이 다섯 개보다 적어 판정하지 않습니다." forbids FewPairs,
    FewBoots EnoughData Fact Ours "FEW_BOOTS" "Several blocks share each of fewer than five boots: the finding speaks of these boots."
        ko "부팅이 다섯 번보다 적고 부팅마다 여러 블록이 실행되었으므로, 결과는 이 부팅들에 대한 것입니다.",
    FewReplicates EnoughData Fact Ours "FEW_REPLICATES" "Fewer than five replicates of a subject: no verdict is given."
        ko "비교 대상의 반복이 다섯 번보다 적어 판정하지 않습니다." forbids FewReplicates,
    EvidenceChanged Elsewhere Fact Quoted "EVIDENCE_CHANGED" "The plan, the experiment or the records are not as they were written: no verdict rests on them."
        ko "계획, 실험 또는 기록이 쓰인 그대로가 아닙니다. 이를 근거로 판정하지 않습니다.",
    EvidenceUnbound Elsewhere Fact Ours "EVIDENCE_UNBOUND" "Records are bound neither to the plan nor to each other, as in campaigns of an earlier version: nobody can know whether they were edited."
        ko "이전 버전의 캠페인에서처럼 기록이 계획에도 서로에도 묶여 있지 않습니다. 편집되었는지는 아무도 알 수 없습니다.",
    Fragile RobustVerdicts Test Ours "FRAGILE" "The verdict hangs on one block."
        ko "판정이 블록 하나에 달려 있습니다." => "[m-fragility](#m-fragility)",
    HostCacheSuspected RealDevice Fact Ours "HOST_CACHE_SUSPECTED" "The device answered faster than such a device can, or read again faster than at first although no cache of ours was used: the memory of a host was measured."
        ko "장치가 그런 장치로는 불가능한 속도로 응답했거나, 이쪽 캐시를 쓰지 않았는데도 다시 읽을 때 더 빨랐습니다. 호스트의 메모리를 측정한 것입니다.",
    InsufficientTail EnoughData Fact Ours "INSUFFICIENT_TAIL" "Too few samples beyond this percentile for a verdict."
        ko "이 백분위수를 넘는 표본이 너무 적어 판정할 수 없습니다." forbids ShortTail,
    Interference QuietMachine Fact Ours "INTERFERENCE" "Other programs used a noticeable share of the CPUs."
        ko "다른 프로그램이 CPU를 눈에 띄게 사용했습니다." => "more than 2 % of CPU time used by others, in windows of at least 250 ms on each CPU",
    Interrupted OrderAndDrift Fact Ours "INTERRUPTED" "The campaign was interrupted and went on later: what outlives trials began anew, and no trend is sought across the gap."
        ko "캠페인이 중단되었다가 나중에 이어졌습니다. 시행보다 오래 가는 것은 새로 시작되었으므로, 중단을 사이에 둔 추세는 찾지 않습니다.",
    Leak Elsewhere Test Ours "LEAK" "Memory grew while the campaign went on, by more than the metric's margin."
        ko "캠페인이 진행되는 동안 메모리가 지표의 마진을 넘어 늘어났습니다." => "[m-trends](#m-trends)",
    LeftProcesses SameWork Fact Programs "LEFT_PROCESSES" "Processes that the workload started were still there when its run was over, and were ended: what they still had to do is in no figure, and the CPU time may lack what they used."
        ko "워크로드가 시작한 프로세스가 실행이 끝난 뒤에도 남아 있어 종료했습니다. 그 프로세스가 마저 할 일은 어떤 수치에도 들어 있지 않고, CPU 시간에는 그것이 쓴 만큼이 빠져 있을 수 있습니다." => "a process of the workload is still there 100 ms after the load process had its sign to end and ended, or took longer than 2 s to; servers, which have no end of their own, are left out",
    Noisy EnoughData Test Ours "NOISY" "The noise is large for this margin: with so many blocks fewer than 80 in 100 campaigns would show equivalence."
        ko "동등 한계(마진)에 비해 잡음이 큽니다. 이 블록 수로는 캠페인 100번 중 80번도 동등을 보이지 못합니다." => "s_d > c_B θ ([m-power](#m-power)); removed where the verdict is *equivalent*",
    NotComparable SameWork Test Ours "NOT_COMPARABLE" "The subjects did not do the same work, so their latencies answer different questions."
        ko "비교 대상들이 같은 일을 하지 않았으므로, 지연 시간은 서로 다른 질문에 대한 답입니다." forbids UnequalWork => "[m-comparable](#m-comparable)",
    NotSteady RobustVerdicts Test Ours "NOT_STEADY" "Iterations were still settling inside the measured window."
        ko "측정 구간 안에서 반복이 아직 안정되지 않았습니다." => "[m-steady](#m-steady)",
    ObserverCost QuietMachine Fact Ours "OBSERVER_COST" "A probe that acts on every event was attached; no latency question is answered."
        ko "모든 이벤트마다 동작하는 프로브가 붙어 있었으므로, 지연 시간에 대한 질문에는 답하지 않습니다.",
    OddsRatio Elsewhere Fact Ours "ODDS_RATIO" "The effect of a share is a ratio of odds, which is the ratio of shares only where they are small."
        ko "비중의 효과는 오즈비이며, 비중이 작을 때만 비중의 비율과 같습니다.",
    OrderConfounded Design Test Ours "ORDER_CONFOUNDED" "One subject comes after the other, or mostly so, in the order that is known, or no order is known: what changed meanwhile looks like a difference between them."
        ko "알려진 순서에서 비교 대상이 거의 하나씩 차례로 나오거나 순서가 알려져 있지 않으므로, 그사이에 바뀐 것이 둘의 차이처럼 보입니다." => "of imports, with blocks [m-import-order](#m-import-order), without [m-unblocked](#m-unblocked)",
    OrderEffect OrderAndDrift Test Ours "ORDER_EFFECT" "The result depends on the places that the subjects have in their blocks, in the order that is known; carry-over is suspected."
        ko "알려진 순서에서 비교 대상이 블록의 몇 번째에 오는지에 따라 결과가 달라집니다. 이월 효과가 의심됩니다." => "the places that the subjects have in their blocks, p < 0.01: [m-position](#m-position)" from "Welch 1947; least squares; Williams 1949, and Jones and Kenward, Design and Analysis of Cross-Over Trials, for periods",
    Outlier RobustVerdicts Test Ours "OUTLIER" "A value lies far from the others; it is labelled and kept."
        ko "다른 값에서 멀리 떨어진 이상치가 있습니다. 표시만 하고 제외하지 않았습니다." => r"\|d_b − median\| > 5 · 1.4826 · b_B · MAD, where b_B corrects the MAD of a small sample (1.200 of 6 blocks, B/(B − 0.8) above 9); labelled and kept. MAD = 0 labels nothing" from "Hampel 1974; Croux and Rousseeuw 1992 for b_B",
    Overcommit QuietMachine Fact Ours "OVERCOMMIT" "The guest had more processors than the host had CPUs for them: the host's scheduler is measured too."
        ko "게스트의 프로세서 수가 호스트에서 쓸 수 있는 CPU 수보다 많았으므로, 호스트의 스케줄러까지 함께 측정되었습니다.",
    PostHocMargin Design Fact Ours "POST_HOC_MARGIN" "The margin, the level or what is judged was given when the data were there: nobody can know that it was chosen before."
        ko "동등 한계(마진)나 유의 수준, 판정할 대상이 데이터와 함께 주어졌습니다. 미리 정한 것인지 알 수 없습니다.",
    Quantised RobustVerdicts Test Ours "QUANTISED" "The metric takes few distinct values or its step is coarse against the margin."
        ko "지표가 취하는 값의 종류가 적거나 그 간격이 동등 한계(마진)에 비해 큽니다." => "the values are [coarse](#m-resolution): their declared step exceeds θ/4, or an inferred one θ/2, or no value varies and no step is known; or of at least 10 values of both subjects fewer than min(10, half) are distinct",
    Quick Elsewhere Fact Ours "QUICK" "Run with --quick: a smaller experiment than declared (fewer blocks, sizes or workloads, shorter trials). It shows that all of it works, and seldom decides."
        ko "--quick으로 실행한, 선언한 것보다 작은 실험입니다(블록, 크기, 워크로드가 적거나 시행이 짧음). 전체가 동작함을 보여 줄 뿐 결론을 내리기에는 대개 부족합니다.",
    SetupBias Design Fact Ours "SETUP_BIAS" "Every process had the same layout in memory: a difference may be that of one lucky layout."
        ko "모든 프로세스의 메모리 배치가 같았으므로, 차이는 우연히 유리한 배치 때문일 수 있습니다." => "the kernel gives every process the same layout (randomize_va_space = 0)" from "Mytkowicz and others 2009",
    Simulated RealProcessor Fact Ours "SIMULATED" "The numbers come from the simulator, not from a machine."
        ko "수치는 기계가 아니라 시뮬레이터에서 나온 것입니다.",
    Watched QuietMachine Fact Ours "WATCHED" "Somebody watched the dashboard meanwhile: it ran beside the trial, at the lowest priority."
        ko "실행 중에 누군가 대시보드를 보았습니다. 대시보드는 가장 낮은 우선순위로 시행과 함께 돌았습니다.",
    ReplicateLevelUnknown Design Fact Ours "REPLICATE_LEVEL_UNKNOWN" "Nobody said what an independent replicate is: values that share an execution or a boot make the interval too narrow."
        ko "독립적인 반복이 무엇인지 명시되지 않았습니다. 같은 실행이나 부팅에서 나온 값은 구간을 지나치게 좁힙니다.",
    SingleBoot EnoughData Fact Ours "SINGLE_BOOT" "All blocks ran in one boot: the finding speaks of this boot."
        ko "모든 블록이 한 번의 부팅에서 실행되었으므로, 결과는 이 부팅에 대한 것입니다.",
    SettingsDiffer SameWork Fact Settings "SETTINGS_DIFFER" "A setting that a tool tells, or a column that nobody named, is another one for one subject than for another: it may not be the same work."
        ko "도구가 밝힌 실행 설정이나 아무도 지정하지 않은 열의 값이 비교 대상마다 다릅니다. 같은 작업이 아닐 수 있습니다.",
    Skewed RobustVerdicts Test Ours "SKEWED" "A test that asks nothing of the distribution of the differences disagrees with the t test: no verdict is called clear."
        ko "차이의 분포를 가정하지 않는 검정이 t 검정과 다른 말을 합니다. 어떤 판정도 뚜렷하다고 하지 않습니다." => "[m-fragility](#m-fragility)",
    Steal QuietMachine Fact Ours "STEAL" "The hypervisor took CPU time away during a trial."
        ko "시행 중에 하이퍼바이저가 CPU 시간을 가져갔습니다(스틸 시간)." => "more than 0.5 % of CPU time stolen in an invocation",
    StoppedEarly EnoughData Fact Ours "STOPPED_EARLY" "The campaign ended before its planned number of blocks."
        ko "캠페인이 계획한 블록 수를 채우기 전에 끝났습니다.",
    Tcg RealProcessor Fact Ours "TCG" "An emulated processor ran the guest: an instruction takes as long as its emulation, not as a real processor needs for it, so no figure is that of real hardware."
        ko "에뮬레이션한 프로세서에서 게스트를 실행했습니다. 명령 하나에 걸리는 시간은 실제 프로세서가 아니라 에뮬레이션에 따르므로, 어떤 수치도 실제 하드웨어의 값이 아닙니다.",
    Throttle QuietMachine Fact Ours "THROTTLE" "The CPU was throttled during a trial."
        ko "시행 중에 CPU가 스로틀링되었습니다." => "the throttle counters rose",
    SummaryOnly Design Fact Ours "SUMMARY_ONLY" "Only a summary was given, not the values it was made from."
        ko "요약만 있고 그 바탕이 된 값이 없습니다.",
    Suspended QuietMachine Fact Programs "SUSPENDED" "A process of the trial was stopped, or the machine or guest stood still, while the trial ran: it has no numbers and runs again."
        ko "시행 중에 시행의 프로세스가 정지되었거나 기계 또는 게스트가 멈춰 있었습니다. 이 시행은 수치가 없으며 다시 실행됩니다." => "something [stood still](#m-suspended); the trial is invalid",
    TornRecord EnoughData Fact Ours "TORN_RECORD" "The last record was cut off by a crash and dropped."
        ko "마지막 기록이 비정상 종료로 잘려서 제외했습니다.",
    UnblockedDesign Design Fact Ours "UNBLOCKED_DESIGN" "The numbers were not collected in randomised blocks."
        ko "수치를 무작위 블록으로 수집하지 않았습니다.",
    UnequalMix SameWork Test Ours "UNEQUAL_MIX" "Rows of different kinds have unlike shares in the numbers of the subjects: what differs may be the mix, and not the subject."
        ko "종류가 다른 행의 비율이 대상마다 다릅니다. 차이가 대상이 아니라 이 구성의 차이일 수 있습니다." forbids UnequalMixes => "[m-mix](#m-mix)",
    UnequalShares SameWork Fact Ours "UNEQUAL_SHARES" "All processes were stopped when the first was ready, and the slowest had done less than half of its work: the sum over them is one of unequal work."
        ko "첫 프로세스가 끝났을 때 모두 중단했는데 가장 느린 프로세스는 작업을 절반도 마치지 못했습니다. 따라서 합계는 서로 다른 양의 작업을 더한 값입니다.",
    Unfinished EnoughData Fact Ours "UNFINISHED" "The campaign is not finished: intervals hold however often one looks, and there is no verdict yet."
        ko "캠페인이 끝나지 않았습니다. 구간은 몇 번을 보더라도 유효하며, 아직 판정은 없습니다.",
    ZeroValue EnoughData Fact Ours "ZERO_VALUE" "A value was zero or negative, so a ratio is not defined."
        ko "값이 0이거나 음수여서 비율을 정의할 수 없습니다." forbids ZeroValue,
}

impl fmt::Display for CaveatCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Fewer replicates give no verdict (docs/method.md#m-verdict).
pub const LEAST_REPLICATES: usize = 5;

macro_rules! obstacles {
    ($($variant:ident $forbidden:ident $in_sum:ident $meaning:literal
        => $raised:literal [$($code:ident)*],)*) => {
        /// A fact that forbids an answer, the strongest first: where several stand in the way of
        /// one question, the first of them decides and gives the reason.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Obstacle {
            $(#[doc = $meaning] $variant,)*
        }

        impl Obstacle {
            /// Every obstacle, the strongest first.
            pub const ALL: &'static [Obstacle] = &[$(Obstacle::$variant,)*];

            /// What it forbids.
            pub fn forbids(self) -> Forbidden {
                match self { $(Obstacle::$variant => Forbidden::$forbidden,)* }
            }

            /// What becomes of it in a sum.
            pub fn in_sum(self) -> InSum {
                match self { $(Obstacle::$variant => InSum::$in_sum,)* }
            }

            /// What raises it, in the markup of docs/method.md.
            pub fn raised_where(self) -> &'static str {
                match self { $(Obstacle::$variant => $raised,)* }
            }

            /// The caveats that tell it.
            pub fn caveats(self) -> &'static [CaveatCode] {
                match self { $(Obstacle::$variant => &[$(CaveatCode::$code),*],)* }
            }
        }
    };
}

// Name, what it forbids, what becomes of it in a sum, and which signal raises it. Then `=>` with that
// as docs/method.md tells it, and the caveats that tell it. The place in the list is its strength.
obstacles! {
    ObservedLatency AnyAnswer Stopping "A latency was measured while a probe that acts on every event was attached. Forbids any answer: the comparison is invalid." => "a quantile in nanoseconds, and a probe that acts on every event was attached. The planner refuses such a question too" [ObserverCost],
    NoValidBlock AnyAnswer Stopping "Blocks broke validity rules, and none is left to pair. Forbids any answer: the comparison is invalid." => "there is no pair, and trials broke validity rules" [],
    ChangedEvidence EveryVerdict ImposedOnBoth "The plan, the experiment or the records are not as they were written. Forbids every verdict." => "[m-evidence](#m-evidence)" [EvidenceChanged],
    CopiedValues EveryVerdict Stopping "Of an import, values of either subject stand twice, under another subject, in another block or in another execution. Forbids every verdict." => "of an import, values of either subject [stand twice](#m-copies)" [Copied],
    FailedControl EveryVerdict ImposedOnBoth "The A/A control of a workload and metric that the question rests on was judged better or worse than its twin. Forbids every verdict." => "the A/A control of that workload and metric was judged better or worse" [AaFail],
    UnequalFailures EveryVerdict Stopping "The subjects failed or broke validity rules at different rates, or one failed often. Forbids every verdict." => "[m-failures](#m-failures)" [DifferentialFailure],
    ZeroValue EveryVerdict Stopping "A value was zero or negative, so that a ratio is not defined. Forbids every verdict." => "a value was zero or negative in any block" [ZeroValue],
    NothingToCompare EveryVerdict Stopping "No block has a value of both subjects, or one has no value at all. Forbids every verdict." => "the metric was not reported, or no block has both subjects" [],
    UnequalMixes EveryVerdict Stopping "Of an import, the numbers of the subjects hold unlike shares of rows of different kinds, or without blocks some workloads have values of one subject only, so that the two means are over different mixes. Forbids every verdict." => "of an import, the rows of two subjects are [unlike mixes](#m-mix), or without blocks some cells have values of one subject only" [UnequalMix AbsentValues],
    ExecutionParts EveryVerdict Stopping "Of an import, what counts as executions may be parts of one, and nobody said that each is an execution for itself. Forbids every verdict." => "of an import, a column that counts as executions may tell [parts of one](#m-parts) apart, and nobody said that it does not" [ReplicateLevelUnknown],
    FewReplicates EveryVerdict Stopping "Without blocks, the subject that has fewer replicates has less than five. Forbids every verdict." => "without blocks, fewer than five replicates of a subject" [FewReplicates],
    FewPooledBlocks EveryVerdict Stopping "A percentile of all blocks together rests on fewer than ten of them. Forbids every verdict." => "a [pooled](#m-pooled) quantile over fewer than ten blocks" [FewBlocks],
    DriftInOrder EveryVerdict Stopping "The reference drifted while the order was not randomised: the drift may be the difference. Forbids every verdict." => "the order was not randomised, or of blocks is not known (imported), and the reference drifted" [Drift OrderConfounded],
    UnequalWork EveryVerdict Stopping "The subjects did not do the same work while their latencies were measured. Forbids every verdict." => "[m-comparable](#m-comparable)" [NotComparable],
    CarryOver EveryVerdict Stopping "The values depend on what came before, and beside that dependence no difference in this direction is shown. Forbids every verdict." => "the values [depend on what came before](#m-carry-over), and beside that no difference in this direction is shown" [CarryOver],
    CorrelatedBlocks EveryVerdict Stopping "The differences of neighbouring blocks, or without blocks neighbouring executions of a subject, resemble each other by more than a test allows for. Forbids every verdict." => "`AUTOCORR` with a lag-one correlation above 0.4; [without blocks](#m-unblocked) above 0.5, or where a wider test shows less" [Autocorr],
    ShortTail EveryVerdict Stopping "Fewer than ten samples lie beyond the percentile in the smallest trial. Forbids every verdict." => "[m-quantiles](#m-quantiles)" [InsufficientTail],
    LoneReplicate EveryVerdict Stopping "Without blocks, a stratum has one replicate, which says nothing about noise. Forbids every verdict." => "without blocks, a stratum has one replicate" [],
    Component EveryVerdict Stopping "A component of the use case gives no verdict by itself. Forbids every verdict." => "a component of a [use case](#m-use-cases) gives no verdict" [],
    FewPairs EveryVerdict AskedAgain "Fewer than five pairs of blocks, or of boots where blocks share them, are complete. Forbids every verdict." => "fewer than five pairs of blocks, or of boots where blocks share them" [FewBlocks],
    SurvivorsOnly Difference Stopping "Trials failed, and a test that counts each failure as the worst result does not show the difference. Forbids better and worse." => "trials failed, and the [worst-rank analysis](#m-failures) does not show the same" [],
    DriftAlone Difference AskedAgain "Of an import, the order of the executions is not mixed, and beside a drift no such difference is shown. Forbids better and worse." => "of an import, [without blocks](#m-unblocked) or [with them](#m-import-order), an order that is not mixed, and beside a drift no such difference is shown" [OrderConfounded],
    OrderAlone Difference AskedAgain "Less than half of the difference is left beside what sittings may leave behind for the next, or what is left is not shown, or one subject alone feels what came before and no such difference is shown without that. Forbids better and worse." => "less than half of the difference is left beside [what ran before](#m-carry-over), or what is left is not shown, or one subject alone feels what ran before" [CarryOver],
    OneStep Difference PassedOn "The values' steps are coarse against the margin, and the difference is no larger than one of them, or one subject never varies, nothing tells its step, and the difference is less than two-fold. Forbids better and worse." => "the values are [coarse](#m-resolution), and the means differ by no more than one step; or one subject never varies and nothing shows its step, and they differ by less than two-fold" [Quantised],
    GivenLevel Difference AskedAgain "Of an import, a level looser than 0.05 was given together with the numbers, and at 0.05 no difference is shown. Forbids better and worse." => "of an import, a level looser than 0.05 [came with the numbers](#m-given), and at 0.05 no difference is shown" [PostHocMargin],
    HidingFailures Equivalence PassedOn "Trials failed, and a test that counts each failure as the worst result does not show the difference to lie inside the margin, or to be no worse than it. Forbids equivalence." => "trials failed, and the [worst-rank analysis](#m-failures) does not show that the difference lies inside the margin, or is no worse than it" [],
    HidingDrift Equivalence AskedAgain "Of an import, the order of the executions is not mixed while values drifted, and beside that no equivalence is shown. Forbids equivalence." => "an import's order that is not mixed, as of `drift_alone`, while values drifted, and beside that no equivalence is shown" [OrderConfounded Drift],
    HidingOrder Equivalence AskedAgain "All blocks together show the difference to lie inside the margin, or to be no worse than it, and what is left beside what came before does not, or of one subject that alone feels it what is left without that. Forbids equivalence." => "all blocks together show the difference to lie inside the margin, or to be no worse than it, and what is left beside [what ran before](#m-carry-over), or without what one subject alone feels of it, does not" [],
    CoarseSteps Equivalence PassedOn "The declared step of the values is more than a quarter of the margin, or an inferred one more than half of it, of either subject, or all values of one or of both are the same and nothing else tells their step. Forbids equivalence." => "the values of either subject are [coarse](#m-resolution), or all the same and of no known step" [Quantised],
    FewDistinctValues Equivalence Nothing "The metric took few distinct values, and an interval that holds at every look decides. Forbids equivalence." => "few distinct values, and an interval that holds at every look decides" [Quantised],
    GivenMargin Equivalence AskedAgain "Of an import, a margin or a level was given together with the numbers, and at those that nobody chose no equivalence is shown. Forbids equivalence." => "of an import, a margin or a level [came with the numbers](#m-given), and at those that nobody chose no equivalence is shown" [PostHocMargin],
}

/// How much an obstacle forbids, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forbidden {
    /// The comparison is invalid.
    AnyAnswer,
    /// Better, worse and equivalent: it stays inconclusive.
    EveryVerdict,
    /// Better and worse: what would be, stays inconclusive.
    Difference,
    /// Equivalent: what would be, stays inconclusive.
    Equivalence,
}

/// What becomes in a sum of an obstacle that stands in the way of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InSum {
    /// The sum has no verdict either.
    Stopping,
    /// What the sum's own numbers say decides: its pairs, its differences, its order. A sum has no more
    /// pairs than its parts; differences of order and drift may cancel in it, or be seen in it alone.
    /// A part that needs more than its sum does says nothing of the sum.
    AskedAgain,
    /// The facts behind it are those of the sum, each part by its weight.
    PassedOn,
    /// It is imposed on findings that have their verdict, and on those of sums by themselves.
    ImposedOnBoth,
    /// It is none of what sums rest on: of intervals that hold at every look, which sums do not have.
    Nothing,
}

impl Obstacle {
    /// Whether it leaves no claim at all: neither a verdict, nor that a limit was kept, nor that a
    /// published claim holds. More blocks of the same kind would change nothing, but for their
    /// number.
    pub fn forbids_every_verdict(self) -> bool {
        self.forbids() <= Forbidden::EveryVerdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_obstacle_comes_first_and_the_order_is_that_of_what_is_forbidden() {
        assert!(Obstacle::ALL.is_sorted());
        let forbidden = Obstacle::ALL.iter().map(|obstacle| (*obstacle, obstacle.forbids()));
        let forbidden: Vec<(Obstacle, Forbidden)> = forbidden.collect();
        assert!(forbidden.iter().map(|(_, forbids)| forbids).is_sorted());
        assert_eq!(
            forbidden,
            [
                (Obstacle::ObservedLatency, Forbidden::AnyAnswer),
                (Obstacle::NoValidBlock, Forbidden::AnyAnswer),
                (Obstacle::ChangedEvidence, Forbidden::EveryVerdict),
                (Obstacle::CopiedValues, Forbidden::EveryVerdict),
                (Obstacle::FailedControl, Forbidden::EveryVerdict),
                (Obstacle::UnequalFailures, Forbidden::EveryVerdict),
                (Obstacle::ZeroValue, Forbidden::EveryVerdict),
                (Obstacle::NothingToCompare, Forbidden::EveryVerdict),
                (Obstacle::UnequalMixes, Forbidden::EveryVerdict),
                (Obstacle::ExecutionParts, Forbidden::EveryVerdict),
                (Obstacle::FewReplicates, Forbidden::EveryVerdict),
                (Obstacle::FewPooledBlocks, Forbidden::EveryVerdict),
                (Obstacle::DriftInOrder, Forbidden::EveryVerdict),
                (Obstacle::UnequalWork, Forbidden::EveryVerdict),
                (Obstacle::CarryOver, Forbidden::EveryVerdict),
                (Obstacle::CorrelatedBlocks, Forbidden::EveryVerdict),
                (Obstacle::ShortTail, Forbidden::EveryVerdict),
                (Obstacle::LoneReplicate, Forbidden::EveryVerdict),
                (Obstacle::Component, Forbidden::EveryVerdict),
                (Obstacle::FewPairs, Forbidden::EveryVerdict),
                (Obstacle::SurvivorsOnly, Forbidden::Difference),
                (Obstacle::DriftAlone, Forbidden::Difference),
                (Obstacle::OrderAlone, Forbidden::Difference),
                (Obstacle::OneStep, Forbidden::Difference),
                (Obstacle::GivenLevel, Forbidden::Difference),
                (Obstacle::HidingFailures, Forbidden::Equivalence),
                (Obstacle::HidingDrift, Forbidden::Equivalence),
                (Obstacle::HidingOrder, Forbidden::Equivalence),
                (Obstacle::CoarseSteps, Forbidden::Equivalence),
                (Obstacle::FewDistinctValues, Forbidden::Equivalence),
                (Obstacle::GivenMargin, Forbidden::Equivalence),
            ]
        );
    }

    #[test]
    fn the_manual_tells_of_each_warning_that_forbids_every_verdict_that_it_does() {
        const MANUAL: &str = include_str!("../../../docs/manual/statistics.md");
        let (_, warnings) = MANUAL.split_once("## Warnings about quality").unwrap();
        let (rules, rest) = warnings.split_once("What each of these withholds:").unwrap();
        let always = rest.lines().find(|line| line.ends_with("| every verdict |")).unwrap();
        for code in CaveatCode::ALL {
            let name = format!("`{code}`");
            let is_forbidding = code.obstacle().is_some();
            if rules.contains(&format!("\n| {name}")) {
                assert_eq!(always.contains(&name), is_forbidding, "{code}");
            }
        }
        let drift = rules.lines().find(|line| line.starts_with("| `DRIFT`")).unwrap();
        assert!(drift.contains("p < 0.05 and"), "a slope alone is no drift");
    }

    #[test]
    fn every_caveat_that_a_test_raises_has_its_rule_and_what_forbids_by_itself_is_told_by_it() {
        for code in CaveatCode::ALL {
            assert!(!code.is_statistical() || code.rule().is_some(), "{code} has no rule");
            if let Some(obstacle) = code.obstacle() {
                assert!(obstacle.caveats().contains(code), "{code}: {obstacle:?}");
            }
        }
    }
}
